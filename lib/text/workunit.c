/* SPDX-License-Identifier: MIT */
/* Numbers and units as programs print them: 1,234 bytes; 3,10MB/s; 25 fps. */
#include "text/work.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

static bool separator(char c)
{
	return c == '.' || c == ',' || c == '\'';
}

/* Digits and separators between them: where they are, and how the last group looks. */
struct shape {
	size_t n;      /* bytes */
	size_t seps;   /* separators */
	size_t last;   /* of the last one */
	size_t lead;   /* digits before the first one */
	bool alike;    /* all are the same character */
	bool threes;   /* all groups but the first have three digits */
	bool but_last; /* the same for all groups but the last, too */
};

static struct shape look(const char *p, size_t n)
{
	struct shape s = {.alike = true, .threes = true, .but_last = true};
	size_t group = 0;

	for (; s.n < n; s.n++) {
		if (ww_is_digit(p[s.n])) {
			group++;
			continue;
		}
		if (!separator(p[s.n]) || group == 0 || s.n + 1 == n || !ww_is_digit(p[s.n + 1]))
			break;
		if (s.seps == 0)
			s.lead = group;
		else
			s.threes = s.but_last = s.but_last && group == 3;
		s.alike = s.alike && (s.seps == 0 || p[s.n] == p[s.last]);
		s.seps++;
		s.last = s.n;
		group = 0;
	}
	s.threes = s.threes && (s.seps == 0 || (group == 3 && s.lead <= 3));
	return s;
}

/* Where the decimal separator is, s.n: none; -1: it can be read in two ways. */
static int decimal_at(const char *p, const struct shape *s, enum ww_work_number form)
{
	if (s->seps == 0)
		return (int)s->n;
	if (form == WW_WORK_WHOLE && s->threes)
		return (int)s->n;
	if (s->seps > 1 && s->alike)
		return s->threes ? (int)s->n : -1;
	if (s->seps > 1)
		return s->but_last && p[s->last] != '\'' ? (int)s->last : -1;
	if (p[s->last] == '\'')
		return s->threes ? (int)s->n : -1;
	/* 1,234: a thousand or one and a bit; 0,234 and 1.234 are clear enough. */
	if (p[s->last] == ',' && s->threes && p[0] != '0')
		return -1;
	return (int)s->last;
}

static size_t exponent(const char *p, size_t n)
{
	size_t i = 1;

	if (n < 2 || (p[0] != 'e' && p[0] != 'E'))
		return 0;
	if (p[i] == '+' || p[i] == '-')
		i++;
	if (i >= n || !ww_is_digit(p[i]))
		return 0;
	while (i < n && ww_is_digit(p[i]))
		i++;
	return i;
}

int ww_work_number(const char *p, size_t n, enum ww_work_number form, double *value, double *place)
{
	char buf[128];
	struct shape s = look(p, n < 64 ? n : 64);
	int point = decimal_at(p, &s, form), decimals = 0;
	size_t k = 0, e = exponent(p + s.n, n - s.n < 8 ? n - s.n : 8);
	const char *end;

	if (s.n == 0 || s.n >= 64)
		return 0;
	if (point < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++) {
		if (ww_is_digit(p[i]))
			buf[k++] = p[i];
		else if (i == (size_t)point)
			buf[k++] = '.';
		decimals += ww_is_digit(p[i]) && i > (size_t)point;
	}
	memcpy(buf + k, p + s.n, e);
	buf[k + e] = '\0';
	*value = ww_strtod(buf, &end);
	*place = decimals == 0 && e == 0 ? 0 : pow(10, -decimals);
	if (e)
		*place *= pow(10, ww_strtod(buf + k + 1, &end));
	return isfinite(*value) ? (int)(s.n + e) : 0;
}

/* ---- units ---- */

static bool is(const char *p, size_t n, const char *word)
{
	return strlen(word) == n && strncmp(p, word, n) == 0;
}

static bool any_of(const char *p, size_t n, const char *const *words)
{
	for (; *words; words++)
		if (is(p, n, *words))
			return true;
	return false;
}

/* "/s", "/min", " per second" at the end: bytes of it, and the seconds of one. */
static size_t per_time(const char *p, size_t n, double *seconds)
{
	static const char *const words[][9] = {{"s", "sec", "sec.", "secs", "second", "seconds",
						"\xe7\xa7\x92", NULL},
					       {"min", "min.", "mins", "minute", "minutes", NULL},
					       {"h", "hr", "hour", "hours", NULL}};
	static const double length[] = {1, 60, 3600};

	for (size_t i = n; i-- > 0;) {
		bool word = n - i > 5 && strncmp(p + i, " per ", 5) == 0;
		size_t k = i + (word ? 5 : 1);

		if (!word && p[i] != '/')
			continue;
		for (size_t j = 0; j < WW_COUNTOF(words); j++)
			if (any_of(p + k, n - k, words[j])) {
				*seconds = length[j];
				return n - i;
			}
		return 0;
	}
	return 0;
}

/* A decimal or binary prefix; an upper-case K is a thousand as well. */
static size_t prefix(const char *p, size_t n, double *factor)
{
	static const char letters[] = "kMGTP";
	const char *at = n ? strchr("kMGTPK", p[0]) : NULL;
	size_t power;

	*factor = 1;
	if (!at || !p[0])
		return 0;
	power = p[0] == 'K' ? 1 : (size_t)(strchr(letters, p[0]) - letters) + 1;
	if (n > 1 && p[1] == 'i') {
		*factor = pow(1024, (double)power);
		return 2;
	}
	*factor = pow(1000, (double)power);
	return 1;
}

/* The words that stand for a byte or a bit. */
static const char *size_word(const char *p, size_t n)
{
	static const char *const bytes[] = {"B",     "byte",  "bytes",	"Byte",
					    "Bytes", "octet", "octets", NULL};
	static const char *const bits[] = {"b", "bit", "bits", "Bit", "Bits", NULL};

	if (any_of(p, n, bytes))
		return "B";
	return any_of(p, n, bits) ? "bit" : NULL;
}

/* "Mbps", "fps": per second without a stroke. */
static bool short_rate(const char *p, size_t n, struct ww_work_unit *out)
{
	size_t k = prefix(p, n, &out->factor);
	const char *name = NULL;

	if (n >= k && is(p + k, n - k, "bps"))
		name = "bit";
	else if (n >= k && is(p + k, n - k, "Bps"))
		name = "B";
	else if (is(p, n, "fps") || is(p, n, "FPS"))
		name = "frame";
	else if (is(p, n, "pps"))
		name = "packet";
	if (!name)
		return false;
	out->factor = strcmp(name, "bit") == 0 || strcmp(name, "B") == 0 ? out->factor : 1;
	out->rate = out->known = true;
	snprintf(out->name, sizeof(out->name), "%s", name);
	return true;
}

/* Things that are counted, in the singular: J/frame reads well. */
static const char *counted(const char *p, size_t n)
{
	static const struct {
		const char *text, *name;
	} words[] = {{"frame", "frame"},
		     {"frames", "frame"},
		     {"Frames", "frame"},
		     {"packet", "packet"},
		     {"packets", "packet"},
		     {"op", "op"},
		     {"ops", "op"},
		     {"it", "iteration"},
		     {"iter", "iteration"},
		     {"iteration", "iteration"},
		     {"iterations", "iteration"},
		     {"Iterations", "iteration"},
		     {"request", "request"},
		     {"requests", "request"},
		     {"file", "file"},
		     {"files", "file"}};

	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (is(p, n, words[i].text))
			return words[i].name;
	return NULL;
}

bool ww_work_unit(const char *text, size_t n, struct ww_work_unit *out)
{
	const char *word;
	double seconds = 1;
	size_t k;

	*out = (struct ww_work_unit){.factor = 1};
	while (n && (*text == ' ' || *text == '\t'))
		text++, n--;
	while (n && strchr(" \t,;:)", text[n - 1]))
		n--;
	if (short_rate(text, n, out))
		return true;
	k = per_time(text, n, &seconds);
	out->rate = k > 0;
	n -= k;
	/* ms/frame: neither an amount nor a rate. */
	if (memchr(text, '/', n))
		return false;
	k = prefix(text, n, &out->factor);
	word = size_word(text + k, n - k);
	if (!word) {
		/* A prefix alone: 17.8k is seventeen thousand eight hundred. */
		out->factor = k && n == k ? out->factor : 1;
		word = k && n == k ? "" : counted(text, n);
	}
	out->factor /= seconds;
	out->known = out->rate || (word && *word);
	if (word)
		return snprintf(out->name, sizeof(out->name), "%s", word) >= 0;
	if (n >= sizeof(out->name))
		return false;
	memcpy(out->name, text, n);
	return true;
}
