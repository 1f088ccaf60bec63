/* SPDX-License-Identifier: MIT */
/* What the columns of a typed table hold: by its header, else by what stands in them. */
#include "text/onoff_table.h"

#include <stdio.h>

int ww_onoff_bad(const struct ww_onoff_parse *t, const char *what, const struct ww_field *f,
		 const char *help)
{
	return ww_fail(t->err, -EINVAL, "%s:%zu: '%.*s' %s%s%s", t->name, t->line,
		       f->n < 60 ? (int)f->n : 60, f->p, what, *help ? "; " : "", help);
}

static const struct {
	const char *word;
	enum column kind;
	double scale;
} heads[] = {{"watts", C_WATTS, 1},	{"watt", C_WATTS, 1},
	     {"power", C_WATTS, 1},	{"reading", C_WATTS, 1},
	     {"power_w", C_WATTS, 1},	{"p_w", C_WATTS, 1},
	     {"reading_w", C_WATTS, 1}, {"p", C_WATTS, 1},
	     {"va", C_VA, 1},		{"apparent power", C_VA, 1},
	     {"pf", C_PF, 1},		{"power factor", C_PF, 1},
	     {"cos phi", C_PF, 1},	{"volts", C_V, 1},
	     {"volt", C_V, 1},		{"voltage", C_V, 1},
	     {"amps", C_A, 1},		{"current", C_A, 1},
	     {"time", C_TIME, 1},	{"t_s", C_TIME, 1},
	     {"time_s", C_TIME, 1},	{"t", C_TIME, 1},
	     {"min", C_TIME, 60},	{"time_min", C_TIME, 60},
	     {"minutes", C_TIME, 60},	{"seconds", C_TIME, 1},
	     {"nr", C_PASS, 1},		{"no", C_PASS, 1},
	     {"no.", C_PASS, 1},	{"#", C_PASS, 1},
	     {"note", C_PASS, 1},	{"notes", C_PASS, 1},
	     {"comment", C_PASS, 1},	{"remark", C_PASS, 1},
	     {"uncertainty", C_UU, 1},	{"u95", C_UU, 1},
	     {"\xc2\xb1", C_UU, 1},	{"+-", C_UU, 1},
	     {"+/-", C_UU, 1},		{"w", C_WATTS, 1},
	     {"kw", C_WATTS, 1e3},	{"kva", C_VA, 1e3}};

/* Single letters and prefixes mean what they mean in their case. */
static const struct {
	const char *word;
	enum column kind;
	double scale;
} exact[] = {{"u", C_U, 1},	{"u_W", C_U, 1},   {"U", C_UU, 1},
	     {"U_W", C_UU, 1},	{"V", C_V, 1},	   {"A", C_A, 1},
	     {"mA", C_A, 1e-3}, {"W", C_WATTS, 1}, {"mW", C_WATTS, 1e-3}};

static bool equals(const struct ww_field *f, const char *word)
{
	return f->n == strlen(word) && memcmp(f->p, word, f->n) == 0;
}

/* "Power (mW)", "Power [mW]": the unit in brackets, if any. */
static struct ww_field bracketed(const struct ww_field *f)
{
	struct ww_field in = {f->p, 0, false};

	for (size_t i = 0; i + 1 < f->n; i++)
		if ((f->p[i] == '(' || f->p[i] == '[') &&
		    (f->p[f->n - 1] == ')' || f->p[f->n - 1] == ']'))
			return (struct ww_field){f->p + i + 1, f->n - i - 2, false};
	return in;
}

static enum column head_kind(const struct ww_field *f, double *scale)
{
	struct ww_field in = bracketed(f);

	*scale = 1;
	for (int pass = 0; pass < 2; pass++) {
		const struct ww_field *g = pass ? f : &in;

		for (size_t i = 0; g->n && i < WW_COUNTOF(exact); i++)
			if (equals(g, exact[i].word))
				return *scale = exact[i].scale, exact[i].kind;
		for (size_t i = 0; g->n && i < WW_COUNTOF(heads); i++)
			if (ww_field_is(g, heads[i].word))
				return *scale = heads[i].scale, heads[i].kind;
	}
	return C_DEVICE;
}

bool ww_onoff_is_number(const struct ww_field *f)
{
	struct ww_onoff_number n;

	for (const char *unit = "W\0VA\0V\0A\0"; *unit; unit += strlen(unit) + 1)
		if (ww_onoff_number(f->p, f->n, unit, 1, &n) == 1)
			return true;
	return false;
}

bool ww_onoff_is_bit(const struct ww_field *f)
{
	return f->n == 1 && (*f->p == '0' || *f->p == '1');
}

/* A state in form B other than a word of one's own. */
static bool is_state(const struct ww_field *f)
{
	static const char *const word[] = {"on", "off", "x", "-", "yes", "no", "true", "false"};

	for (size_t i = 0; i < WW_COUNTOF(word); i++)
		if (ww_field_is(f, word[i]))
			return true;
	return ww_onoff_is_bit(f) || f->n == 0;
}

/* A first line that names the columns: no number in it, and no change. */
bool ww_onoff_is_header(const struct ww_field *f, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ww_onoff_is_number(&f[i]))
			return false;
	for (size_t i = 0; i < n; i++) {
		double scale;

		if (i > 0 && head_kind(&f[i], &scale) == C_WATTS)
			return true;
	}
	return n > 1 && f[0].n && !strchr("+-=", *f[0].p) && f[0].p[0] != '\xe2' &&
	       !memchr(f[0].p, '=', f[0].n) && !ww_field_is(&f[0], "all unplugged") &&
	       !ww_field_is(&f[0], "all off");
}

/* Volts, amperes, VA and power factors. */
static bool is_figure(enum column k)
{
	return k == C_VA || k == C_PF || k == C_V || k == C_A;
}

/* The column of readings. @return its index, -EINVAL */
static int find_watts(struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	int found = -1;

	for (size_t i = 0; i < n; i++) {
		if (t->kind[i] == C_WATTS && found >= 0)
			return ww_onoff_bad(t, "is a second column of watts", &f[i],
					    "name it otherwise");
		found = t->kind[i] == C_WATTS ? (int)i : found;
	}
	if (found >= 0)
		return found;
	for (size_t i = n; i-- > 0;) {
		if (t->kind[i] == C_PASS || t->kind[i] == C_TIME)
			continue;
		if (is_figure(t->kind[i]))
			return ww_onoff_bad(t, "is not watts, and no column is", &f[i],
					    "watts do not follow from it: name a column W");
		return (int)i; /* "step; Ablesung": what it is called in any language */
	}
	return (int)n - 1;
}

int ww_onoff_header(struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	static const enum column after[] = {C_VA, C_PF, C_V, C_A};
	size_t named = 0, first;
	int watts;

	for (size_t i = 0; i < n; i++)
		t->kind[i] = head_kind(&f[i], &t->scale[i]);
	watts = find_watts(t, f, n);
	if (watts < 0)
		return watts;
	first = t->watts = (size_t)watts;
	t->kind[first] = C_WATTS;
	for (size_t i = 0; i < first; i++) {
		/* A device may be called "A" or "p": only behind the watts are they figures. */
		if (t->kind[i] != C_TIME && t->kind[i] != C_PASS &&
		    !(is_figure(t->kind[i]) && f[i].n > 1))
			t->kind[i] = C_DEVICE;
		named += t->kind[i] == C_DEVICE;
	}
	/* Where the watts come first, what was on stands behind them. */
	for (size_t i = first + 1, k = 0, before = named; i < n; i++) {
		if (t->kind[i] == C_DEVICE && before > 0)
			t->kind[i] = f[i].n || k >= 4 ? C_PASS : after[k++];
		named += t->kind[i] == C_DEVICE;
	}
	if (named == 0)
		return ww_onoff_bad(t, "has no column beside it that says what was on", &f[first],
				    "");
	t->headed = true;
	t->columns = n;
	t->form_b = named > 1;
	memcpy(t->head, f, n * sizeof(*f));
	return 0;
}

/* Form B is 0 and 1 from its first line on; then the header's names are devices. */
int ww_onoff_first(struct ww_onoff_parse *t, const struct ww_field *f, size_t n)
{
	t->known = true;
	for (size_t i = 0; i < t->columns; i++) {
		if (t->kind[i] != C_DEVICE)
			continue;
		t->form_b = t->form_b || (i < n && is_state(&f[i]) && f[i].n);
	}
	for (size_t i = 0; t->form_b && i < t->columns; i++) {
		const struct ww_field *h = &t->head[i];

		if (t->kind[i] != C_DEVICE)
			continue;
		t->device[i] = ww_onoff_device(t->o, h->p, h->n, t->err);
		if (t->device[i] < 0)
			return ww_fail(t->err, t->device[i], "%s:%zu: a column without a name",
				       t->name, t->line);
		for (size_t k = 0; k < i; k++)
			if (t->device[k] == t->device[i])
				return ww_onoff_bad(t, "names two columns", h, "");
	}
	return 0;
}

/* The columns that a table without a header has, from all its rows. */
int ww_onoff_decide(struct ww_onoff_parse *t, const char *text, size_t n)
{
	static const char *const none = "%s: no line with a reading; write one a line, such as "
					"'all unplugged, 1' and '+box, 13'";
	size_t bits = FIELDS, least = FIELDS, len, step;
	bool any = false;

	for (size_t at = 0; (step = ww_onoff_line(text + at, n - at, &len)) > 0; at += step) {
		struct ww_field f[FIELDS];
		size_t k, b = 0;

		if (len == 0)
			continue;
		k = ww_onoff_split(t, text + at, len, f);
		any = true;
		while (b < k && ww_onoff_is_bit(&f[b]))
			b++;
		bits = b < bits ? b : bits;
		least = k < least ? k : least;
	}
	if (!any)
		return ww_fail(t->err, -EINVAL, none, t->name);
	if (bits > 0 && least > 1) {
		t->form_b = true;
		t->watts = bits < least ? bits : least - 1;
		for (size_t i = 0; i < t->watts; i++) {
			char name[32];

			snprintf(name, sizeof(name), "device %zu", i + 1);
			t->device[i] = ww_onoff_device(t->o, name, strlen(name), t->err);
			if (t->device[i] < 0)
				return t->device[i];
		}
		ww_note(&t->o->notes, "%s: its columns have no names: device 1, device 2 and so on",
			t->name);
	} else {
		t->watts = 1;
	}
	t->known = true;
	return 0;
}
