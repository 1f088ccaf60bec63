/* SPDX-License-Identifier: MIT */
#include "text/heading.h"

#define TOKENS 12

/* Units as they are written, with their case; then words, in any case. */
static const struct unit {
	const char *text;
	bool word;
	const char *quantity; /* "": a time */
	const char *base;
	int exponent;
	int seconds;
} units[] = {
	{"W", false, "power", "W", 0, 0},
	{"mW", false, "power", "W", -3, 0},
	{"uW", false, "power", "W", -6, 0},
	{"\xc2\xb5W", false, "power", "W", -6, 0},
	{"\xce\xbcW", false, "power", "W", -6, 0},
	{"nW", false, "power", "W", -9, 0},
	{"kW", false, "power", "W", 3, 0},
	{"KW", false, "power", "W", 3, 0},
	{"VA", false, "apparent_power", "VA", 0, 0},
	{"kVA", false, "apparent_power", "VA", 3, 0},
	{"V", false, "voltage", "V", 0, 0},
	{"mV", false, "voltage", "V", -3, 0},
	{"uV", false, "voltage", "V", -6, 0},
	{"\xc2\xb5V", false, "voltage", "V", -6, 0},
	{"kV", false, "voltage", "V", 3, 0},
	{"A", false, "current", "A", 0, 0},
	{"mA", false, "current", "A", -3, 0},
	{"uA", false, "current", "A", -6, 0},
	{"\xc2\xb5"
	 "A",
	 false, "current", "A", -6, 0},
	{"\xce\xbc"
	 "A",
	 false, "current", "A", -6, 0},
	{"nA", false, "current", "A", -9, 0},
	{"Wh", false, "energy", "Wh", 0, 0},
	{"mWh", false, "energy", "Wh", -3, 0},
	{"kWh", false, "energy", "Wh", 3, 0},
	{"KWh", false, "energy", "Wh", 3, 0},
	{"kwh", false, "energy", "Wh", 3, 0},
	{"J", false, "energy", "J", 0, 0},
	{"mJ", false, "energy", "J", -3, 0},
	{"uJ", false, "energy", "J", -6, 0},
	{"\xc2\xb5J", false, "energy", "J", -6, 0},
	{"nJ", false, "energy", "J", -9, 0},
	{"kJ", false, "energy", "J", 3, 0},
	{"Hz", false, "frequency", "Hz", 0, 0},
	{"s", false, "", "s", 0, 1},
	{"ms", false, "", "s", -3, 1},
	{"us", false, "", "s", -6, 1},
	{"\xc2\xb5s", false, "", "s", -6, 1},
	{"\xce\xbcs", false, "", "s", -6, 1},
	{"ns", false, "", "s", -9, 1},
	{"min", false, "", "s", 0, 60},
	{"h", false, "", "s", 0, 3600},
	{"watt", true, "power", "W", 0, 0},
	{"watts", true, "power", "W", 0, 0},
	{"milliwatt", true, "power", "W", -3, 0},
	{"milliwatts", true, "power", "W", -3, 0},
	{"microwatts", true, "power", "W", -6, 0},
	{"kilowatt", true, "power", "W", 3, 0},
	{"kilowatts", true, "power", "W", 3, 0},
	{"volt", true, "voltage", "V", 0, 0},
	{"volts", true, "voltage", "V", 0, 0},
	{"millivolts", true, "voltage", "V", -3, 0},
	{"amp", true, "current", "A", 0, 0},
	{"amps", true, "current", "A", 0, 0},
	{"ampere", true, "current", "A", 0, 0},
	{"amperes", true, "current", "A", 0, 0},
	{"milliamps", true, "current", "A", -3, 0},
	{"microamps", true, "current", "A", -6, 0},
	{"kwh", true, "energy", "Wh", 3, 0},
	{"joule", true, "energy", "J", 0, 0},
	{"joules", true, "energy", "J", 0, 0},
	{"millijoules", true, "energy", "J", -3, 0},
	{"microjoules", true, "energy", "J", -6, 0},
	{"hz", true, "frequency", "Hz", 0, 0},
	{"hertz", true, "frequency", "Hz", 0, 0},
	{"sec", true, "", "s", 0, 1},
	{"secs", true, "", "s", 0, 1},
	{"second", true, "", "s", 0, 1},
	{"seconds", true, "", "s", 0, 1},
	{"msec", true, "", "s", -3, 1},
	{"millis", true, "", "s", -3, 1},
	{"milliseconds", true, "", "s", -3, 1},
	{"usec", true, "", "s", -6, 1},
	{"micros", true, "", "s", -6, 1},
	{"microseconds", true, "", "s", -6, 1},
	{"nanoseconds", true, "", "s", -9, 1},
	{"minutes", true, "", "s", 0, 60},
	{"hours", true, "", "s", 0, 3600},
};

/* Words for what is measured, and its usual unit. */
static const struct word {
	const char *text;
	int kind;
	const char *quantity, *unit;
	bool wide;
} words[] = {
	{"power", WW_HEAD_VALUE, "power", "W", false},
	{"wattage", WW_HEAD_VALUE, "power", "W", false},
	{"pwr", WW_HEAD_VALUE, "power", "W", false},
	{"leistung", WW_HEAD_VALUE, "power", "W", false},
	{"wirkleistung", WW_HEAD_VALUE, "power", "W", false},
	{"p", WW_HEAD_VALUE, "power", "W", true},
	{"w", WW_HEAD_VALUE, "power", "W", true},
	{"voltage", WW_HEAD_VALUE, "voltage", "V", false},
	{"vbus", WW_HEAD_VALUE, "voltage", "V", false},
	{"spannung", WW_HEAD_VALUE, "voltage", "V", false},
	{"u", WW_HEAD_VALUE, "voltage", "V", true},
	{"v", WW_HEAD_VALUE, "voltage", "V", true},
	{"current", WW_HEAD_VALUE, "current", "A", false},
	{"strom", WW_HEAD_VALUE, "current", "A", false},
	{"i", WW_HEAD_VALUE, "current", "A", true},
	{"a", WW_HEAD_VALUE, "current", "A", true},
	{"va", WW_HEAD_VALUE, "apparent_power", "VA", false},
	{"energy", WW_HEAD_VALUE, "energy", "Wh", false},
	{"frequency", WW_HEAD_VALUE, "frequency", "Hz", false},
	{"freq", WW_HEAD_VALUE, "frequency", "Hz", false},
	{"pf", WW_HEAD_VALUE, "power_factor", "1", false},
	{"powerfactor", WW_HEAD_VALUE, "power_factor", "1", false},
	{"cosphi", WW_HEAD_VALUE, "power_factor", "1", false},
	{"time", WW_HEAD_TIME, "", "s", false},
	{"timestamp", WW_HEAD_TIME, "", "s", false},
	{"datetime", WW_HEAD_TIME, "", "s", false},
	{"epoch", WW_HEAD_TIME, "", "s", false},
	{"unixtime", WW_HEAD_TIME, "", "s", false},
	{"elapsed", WW_HEAD_TIME, "", "s", false},
	{"zeit", WW_HEAD_TIME, "", "s", false},
	{"ts", WW_HEAD_TIME, "", "s", false},
	{"t", WW_HEAD_TIME, "", "s", true},
	{"date", WW_HEAD_DATE, "", "", false},
	{"datum", WW_HEAD_DATE, "", "", false},
	{"delta", WW_HEAD_STEP, "", "s", true},
	{"dt", WW_HEAD_STEP, "", "s", true},
	{"mark", WW_HEAD_LABEL, "", "", false},
	{"marks", WW_HEAD_LABEL, "", "", false},
	{"marker", WW_HEAD_LABEL, "", "", false},
	{"markers", WW_HEAD_LABEL, "", "", false},
	{"label", WW_HEAD_LABEL, "", "", false},
	{"labels", WW_HEAD_LABEL, "", "", false},
	{"event", WW_HEAD_LABEL, "", "", false},
	{"events", WW_HEAD_LABEL, "", "", false},
	{"note", WW_HEAD_LABEL, "", "", false},
	{"notes", WW_HEAD_LABEL, "", "", false},
	{"comment", WW_HEAD_LABEL, "", "", false},
	{"comments", WW_HEAD_LABEL, "", "", false},
	{"annotation", WW_HEAD_LABEL, "", "", false},
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same(const char *p, size_t n, const char *text, bool any_case)
{
	size_t i = 0;

	for (; i < n && text[i]; i++)
		if ((any_case ? lower(p[i]) : p[i]) != text[i])
			return false;
	return i == n && !text[i];
}

bool ww_unit_read(const char *p, size_t n, struct ww_heading *out)
{
	for (size_t i = 0; i < WW_COUNTOF(units); i++) {
		const struct unit *u = &units[i];

		if (!same(p, n, u->text, u->word))
			continue;
		out->kind = *u->quantity ? WW_HEAD_VALUE : WW_HEAD_TIME;
		out->has_unit = true;
		out->quantity = u->quantity;
		out->unit = u->base;
		out->exponent = u->exponent;
		out->seconds = u->seconds ? u->seconds : 1;
		return true;
	}
	return false;
}

struct token {
	const char *p;
	size_t n;
	bool boxed; /* stood in brackets, or behind a slash */
	bool unit;
	const struct word *word;
};

static bool is_part(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (unsigned char)c >= 0x80;
}

static const struct word *word_of(const struct token *t)
{
	/* "V1", "I1" and "P1": the channels of an instrument. */
	if (t->n == 2 && strchr("VIP", *t->p) && t->p[1] >= '1' && t->p[1] <= '9')
		return word_of(&(struct token){.p = t->p, .n = 1});
	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (same(t->p, t->n, words[i].text, true))
			return &words[i];
	return NULL;
}

/* "PkgWatt" is two words: where the second one begins, or n. */
static size_t second_word(const char *p, size_t n)
{
	static const char *const last[] = {"Watt", "Watts", "Volts", "Amps"};

	for (size_t i = 0; i < WW_COUNTOF(last); i++) {
		size_t len = strlen(last[i]);

		if (n > len && memcmp(p + n - len, last[i], len) == 0)
			return n - len;
	}
	return n;
}

static size_t split(const char *text, struct token *t)
{
	size_t n = 0;
	bool boxed = false;

	while (*text && n < TOKENS) {
		const char *from = text;

		while (is_part(*text))
			text++;
		if (text > from)
			text = from + second_word(from, (size_t)(text - from));
		if (text > from) {
			t[n] = (struct token){.p = from,
					      .n = (size_t)(text - from),
					      .boxed = boxed};
			t[n].word = word_of(&t[n]);
			n++;
			continue;
		}
		boxed = *text == '(' || *text == '[' || *text == '/' ||
			(boxed && *text != ')' && *text != ']');
		text++;
	}
	return n;
}

/* The unit stands in brackets or last. */
static void find_unit(struct token *t, size_t n, struct ww_heading *out)
{
	for (size_t i = n; i-- > 0;)
		if (t[i].boxed && ww_unit_read(t[i].p, t[i].n, out)) {
			t[i].unit = true;
			return;
		}
	if (n > 0 && ww_unit_read(t[n - 1].p, t[n - 1].n, out))
		t[n - 1].unit = true;
}

/* A word that names the quantity: a whole one before a single letter. */
static const struct word *find_word(const struct token *t, size_t n)
{
	const struct word *found = NULL;
	bool power = false, clock = false;

	for (size_t i = 0; i < n; i++) {
		clock |= same(t[i].p, t[i].n, "cpu", true) || same(t[i].p, t[i].n, "gpu", true) ||
			 same(t[i].p, t[i].n, "core", true);
		power |= same(t[i].p, t[i].n, "power", true);
		if (power && same(t[i].p, t[i].n, "factor", true))
			return word_of(&(struct token){.p = "pf", .n = 2});
		if (power && i > 0 && same(t[i - 1].p, t[i - 1].n, "apparent", true))
			return word_of(&(struct token){.p = "va", .n = 2});
		if (!t[i].unit && t[i].word && (!found || (found->wide && !t[i].word->wide)))
			found = t[i].word;
	}
	/* Of a processor's clock, not of the mains. */
	if (found && clock && strcmp(found->quantity, "frequency") == 0)
		return NULL;
	return found && found->wide && n > 2 ? NULL : found;
}

static void make_name(const struct token *t, size_t n, struct ww_heading *out)
{
	size_t k = 0;
	bool other = false;

	for (size_t i = 0; i < n; i++) {
		if (t[i].unit)
			continue;
		other |= !t[i].word;
		for (size_t c = 0; c <= t[i].n && k + 1 < sizeof(out->name); c++)
			if (c > 0 || k > 0)
				out->name[k++] = c ? lower(t[i].p[c - 1]) : '_';
	}
	out->name[other ? k : 0] = '\0';
}

/* "THD (%)", "voltage_crest": figures of the wave, by their name. */
static bool of_the_wave(const char *text, struct token *t, size_t n, struct ww_heading *out)
{
	bool thd = false, crest = false;

	for (size_t i = 0; i < n; i++) {
		thd |= same(t[i].p, t[i].n, "thd", true);
		crest |= same(t[i].p, t[i].n, "crest", true);
	}
	if (!thd && !crest)
		return false;
	out->kind = WW_HEAD_VALUE;
	out->quantity = "other";
	out->unit = thd ? "%" : "1";
	out->has_unit = thd && strchr(text, '%');
	for (size_t i = 0; i < n; i++)
		t[i].word = NULL; /* all of it is the name */
	make_name(t, n, out);
	return true;
}

void ww_heading_read(const char *text, struct ww_heading *out)
{
	struct token t[TOKENS];
	size_t n = split(text, t);
	const struct word *w;

	*out = (struct ww_heading){.quantity = "", .unit = "", .seconds = 1};
	for (size_t i = 0; i < n; i++)
		out->utc |= same(t[i].p, t[i].n, "utc", true) || same(t[i].p, t[i].n, "gmt", true);
	if (of_the_wave(text, t, n, out))
		return;
	find_unit(t, n, out);
	w = find_word(t, n);
	make_name(t, n, out);
	if (w && out->has_unit &&
	    (w->kind == WW_HEAD_STEP ? *out->quantity : strcmp(w->quantity, out->quantity) != 0) &&
	    w->kind != WW_HEAD_LABEL) {
		/* "phase A", "power min": the last part is no unit after all. */
		if (w->wide)
			return;
		*out = (struct ww_heading){.quantity = w->quantity,
					   .unit = w->unit,
					   .kind = w->kind,
					   .seconds = 1};
		for (size_t i = 0; i < n; i++)
			t[i].unit = false;
		make_name(t, n, out);
		return;
	}
	if (w) {
		out->kind = w->kind;
		if (!out->has_unit) {
			out->quantity = w->quantity;
			out->unit = w->unit;
			out->wide = w->wide;
		}
	} else if (out->kind == WW_HEAD_TIME) {
		out->wide = *out->name != '\0';
	}
}
