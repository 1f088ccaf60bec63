/* SPDX-License-Identifier: MIT */
/*
 * The JSON that `hyperfine --export-json` writes: {"results": [{"command": "...",
 * "times": [s, ...], "exit_codes": [0, ...]}, ...]}. Everything else is passed over.
 */
#include "text/csv.h"
#include "text/numbers.h"

#include <math.h>

struct scan {
	const char *p, *end, *start, *name;
	struct ww_error *err;
	bool bad;
};

static void blanks(struct scan *s)
{
	while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r'))
		s->p++;
}

static bool take(struct scan *s, char c)
{
	blanks(s);
	if (s->p >= s->end || *s->p != c)
		return false;
	s->p++;
	return true;
}

static void broken(struct scan *s, const char *what)
{
	size_t line = 1;

	for (const char *q = s->start; q < s->p; q++)
		line += *q == '\n';
	if (!s->bad)
		ww_fail(s->err, -EINVAL, "%s:%zu: %s; this is not the JSON of hyperfine", s->name,
			line, what);
	s->bad = true;
}

/* A string; escapes other than of quotes and backslashes stay as they are. */
static void string(struct scan *s, struct ww_str *out)
{
	if (!take(s, '"')) {
		broken(s, "a text was expected");
		return;
	}
	while (s->p < s->end && *s->p != '"') {
		if (*s->p == '\\' && s->p + 1 < s->end) {
			s->p++;
			if (out && *s->p != '"' && *s->p != '\\' && *s->p != '/')
				ww_str_add(out, "\\");
		}
		if (out)
			ww_str_addn(out, s->p, 1);
		s->p++;
	}
	if (s->p >= s->end)
		broken(s, "a text has no end");
	else
		s->p++;
}

/* Any value, passed over: brackets are counted, texts skipped. */
static void skip(struct scan *s)
{
	size_t depth = 0;

	do {
		blanks(s);
		if (s->p >= s->end) {
			broken(s, "it ends in the middle");
		} else if (*s->p == '"') {
			string(s, NULL);
		} else if (*s->p == '{' || *s->p == '[') {
			depth++;
			s->p++;
		} else if (*s->p == '}' || *s->p == ']') {
			if (depth == 0) {
				broken(s, "a value was expected");
				return;
			}
			depth--;
			s->p++;
		} else if (depth > 0 && (*s->p == ',' || *s->p == ':')) {
			s->p++;
		} else if (strchr(",:", *s->p)) {
			broken(s, "a value was expected");
		} else {
			while (s->p < s->end && !strchr(",:{}[]\" \t\r\n", *s->p))
				s->p++;
		}
	} while (!s->bad && depth > 0);
}

static double value(struct scan *s)
{
	char buf[64];
	size_t n = 0;
	const char *end;
	double v;

	blanks(s);
	while (s->p < s->end && n + 1 < sizeof(buf) && strchr("+-.0123456789eEnul", *s->p) && *s->p)
		buf[n++] = *s->p++;
	buf[n] = '\0';
	if (strcmp(buf, "null") == 0)
		return NAN;
	v = ww_strtod(buf, &end);
	if (n == 0 || *end || !(fabs(v) <= WW_NUMBERS_MOST))
		broken(s, "a number was expected");
	return v;
}

/* An array of numbers into list `which` of x. */
static void numbers(struct scan *s, struct ww_numbers *x, size_t which)
{
	double when = 0;

	if (!take(s, '[')) {
		broken(s, "a list of numbers was expected");
		return;
	}
	if (take(s, ']'))
		return;
	do {
		double v = value(s);

		if (!s->bad && ww_numbers_add(x, which, v, ++when) < 0) {
			ww_fail_nomem(s->err);
			s->bad = true;
		}
	} while (!s->bad && take(s, ','));
	if (!s->bad && !take(s, ']'))
		broken(s, "a list has no end");
}

/* The times of one command, and which of its runs failed. */
static int one(struct ww_numbers *x, struct ww_numbers *got, const char *label)
{
	const struct ww_numbers_list *t = &got->list[0], *code = &got->list[1];
	int group = ww_numbers_group(x, label, "time", "s");

	for (size_t i = 0; group >= 0 && i < t->n; i++) {
		bool failed = code->n == t->n && code->value[i] != 0;

		if (ww_numbers_add(x, (size_t)group, failed ? NAN : t->value[i], (double)i + 1) < 0)
			group = -ENOMEM;
	}
	return group < 0 ? group : 0;
}

static void result(struct scan *s, struct ww_numbers *x)
{
	struct ww_numbers got = {0};
	struct ww_str key = {0}, label = {0};
	int rc = 0;

	if (ww_numbers_group(&got, "times", "", "") < 0 ||
	    ww_numbers_group(&got, "exit_codes", "", "") < 0)
		rc = -ENOMEM;
	if (rc == 0 && !take(s, '{'))
		broken(s, "a result was expected");
	while (rc == 0 && !s->bad && !take(s, '}')) {
		ww_str_reset(&key);
		string(s, &key);
		if (!s->bad && !take(s, ':'))
			broken(s, "a colon was expected");
		if (s->bad)
			break;
		if (key.p && strcmp(key.p, "command") == 0)
			string(s, &label);
		else if (key.p && strcmp(key.p, "times") == 0)
			numbers(s, &got, 0);
		else if (key.p && strcmp(key.p, "exit_codes") == 0)
			numbers(s, &got, 1);
		else
			skip(s);
		if (!s->bad && !take(s, ',') && (s->p >= s->end || *s->p != '}'))
			broken(s, "a comma was expected");
	}
	if (rc == 0 && !s->bad)
		rc = key.bad || label.bad ? -ENOMEM : one(x, &got, label.p ? label.p : "");
	if (rc < 0) {
		ww_fail(s->err, rc, rc == -ENOMEM ? "out of memory" : "%s: too many commands",
			s->name);
		s->bad = true;
	}
	for (size_t i = 0; i < got.n; i++) {
		free(got.list[i].label);
		free(got.list[i].measure);
		free(got.list[i].unit);
		free(got.list[i].value);
		free(got.list[i].when);
	}
	free(got.list);
	ww_str_free(&key);
	ww_str_free(&label);
}

bool ww_hyperfine_is(const char *text, size_t n)
{
	struct scan s = {.p = text, .end = text + n, .start = text};

	s.p += ww_csv_bom(text, n);
	return take(&s, '{');
}

int ww_hyperfine_parse(const char *text, size_t n, const char *name, struct ww_numbers *x,
		       struct ww_error *err)
{
	struct scan s = {.p = text, .end = text + n, .start = text, .name = name, .err = err};
	struct ww_str key = {0};

	s.p += ww_csv_bom(text, n);
	take(&s, '{');
	while (!s.bad && !take(&s, '}')) {
		ww_str_reset(&key);
		string(&s, &key);
		if (!s.bad && !take(&s, ':'))
			broken(&s, "a colon was expected");
		if (s.bad)
			break;
		if (key.p && strcmp(key.p, "results") == 0 && take(&s, '[')) {
			while (!s.bad && !take(&s, ']')) {
				result(&s, x);
				take(&s, ',');
			}
		} else {
			skip(&s);
		}
		take(&s, ',');
	}
	if (!s.bad && key.bad)
		ww_fail_nomem(err);
	s.bad = s.bad || key.bad;
	ww_str_free(&key);
	if (s.bad)
		return err && err->code ? err->code : -EINVAL;
	ww_note(&x->notes, "%s: the times of each run, as hyperfine stored them", name);
	return 0;
}
