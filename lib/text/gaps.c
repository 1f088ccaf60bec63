/* SPDX-License-Identifier: MIT */
/* Idle gaps as text: one a line, or a column of CSV. */
#include "text/csv.h"

#include <math.h>

#define LINE_MAX_BYTES 4096
#define FIELDS	       64

struct parse {
	const char *name;
	size_t line;
	char sep;      /* between columns; 0 not known yet */
	size_t column; /* from 0 */
	bool chosen;   /* by a head, or by the only column */
	double unit;   /* s */
	double *gap;
	size_t n, cap;
};

struct field {
	const char *p;
	size_t n;
};

static struct field trim(const char *p, size_t n)
{
	while (n && (*p == ' ' || *p == '\t' || *p == '"'))
		p++, n--;
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '"' || p[n - 1] == '\r'))
		n--;
	return (struct field){p, n};
}

/* ';' and tab before ',': a comma beside them is a decimal one. */
static char separator(const char *p, size_t n)
{
	static const char sep[] = ";\t,";

	for (const char *s = sep; *s; s++)
		if (memchr(p, *s, n))
			return *s;
	return 0;
}

static size_t split(const char *p, size_t n, char sep, struct field *f)
{
	size_t k = 0;

	while (k < FIELDS) {
		const char *end = sep ? memchr(p, sep, n) : NULL;
		size_t len = end ? (size_t)(end - p) : n;

		f[k++] = trim(p, len);
		if (!end)
			break;
		p += len + 1;
		n -= len + 1;
	}
	return k;
}

/* @return false: not a number alone */
static bool number(struct field f, char sep, double *v)
{
	char text[64];
	const char *end;

	if (f.n == 0 || f.n >= sizeof(text))
		return false;
	memcpy(text, f.p, f.n);
	text[f.n] = '\0';
	if (sep != ',' && !memchr(text, '.', f.n))
		for (char *c = text; *c; c++)
			*c = *c == ',' ? '.' : *c;
	*v = ww_strtod(text, &end);
	if (end == text)
		return false;
	while (*end == ' ')
		end++;
	return *end == '\0' || strcmp(end, "s") == 0;
}

static bool begins(struct field f, const char *word)
{
	size_t n = strlen(word);

	if (f.n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char c = f.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != word[i])
			return false;
	}
	return true;
}

static bool holds(struct field f, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= f.n; i++)
		if (begins((struct field){f.p + i, f.n - i}, word))
			return true;
	return false;
}

/* The head names the column, and perhaps milliseconds. @return false: which one is unknown */
static bool take_head(struct parse *z, const struct field *f, size_t k)
{
	static const char *const word[] = {"gap", "idle", "duration", "seconds"};

	z->chosen = k == 1;
	for (size_t w = 0; w < WW_COUNTOF(word) && !z->chosen; w++)
		for (size_t i = 0; i < k && !z->chosen; i++)
			if (begins(f[i], word[w])) {
				z->column = i;
				z->chosen = true;
			}
	if (z->chosen && (holds(f[z->column], "_ms") || holds(f[z->column], "(ms)") ||
			  holds(f[z->column], "[ms]")))
		z->unit = 1e-3;
	return z->chosen;
}

static int add(struct parse *z, double v, struct ww_error *err)
{
	if (z->n == z->cap) {
		size_t cap = z->cap ? 2 * z->cap : 256;
		double *more = realloc(z->gap, cap * sizeof(*more));

		if (!more)
			return ww_fail_nomem(err);
		z->gap = more;
		z->cap = cap;
	}
	z->gap[z->n++] = v * z->unit;
	return 0;
}

static int refuse(const struct parse *z, struct field f, struct ww_error *err)
{
	return ww_fail(err, -EINVAL,
		       "%s:%zu:%zu: '%.*s' is not an idle gap in seconds (one number a line, or "
		       "a column 'gap')",
		       z->name, z->line, z->column + 1, (int)(f.n < 40 ? f.n : 40), f.p);
}

static int take_line(struct parse *z, const char *p, size_t n, struct ww_error *err)
{
	struct field f[FIELDS], whole = trim(p, n);
	double v = NAN;
	size_t k;

	if (whole.n == 0 || *whole.p == '#')
		return 0;
	if (whole.n > LINE_MAX_BYTES)
		return ww_fail(err, -EINVAL, "%s:%zu: a line of %zu bytes", z->name, z->line,
			       whole.n);
	if (!z->chosen) {
		z->sep = separator(whole.p, whole.n);
		k = split(whole.p, whole.n, z->sep, f);
		if (!number(f[0], z->sep, &v) || (k > 1 && !number(f[k - 1], z->sep, &v))) {
			/* "1 2 x" is no name of a column. */
			if (!strchr("+-.0123456789", *whole.p) && take_head(z, f, k))
				return 0;
			return refuse(z, whole, err);
		}
		/* "1,5" alone is one and a half. */
		if (k == 2 && z->sep == ',' && number(whole, 0, &v)) {
			z->sep = 0;
			k = 1;
		}
		if (k > 1)
			return ww_fail(
				err, -EINVAL,
				"%s:%zu: %zu columns without a head: name the one of the gaps "
				"'gap' in a first line",
				z->name, z->line, k);
		z->chosen = true;
	}
	k = split(whole.p, whole.n, z->sep, f);
	if (z->column >= k || !number(f[z->column], z->sep, &v) || !(v >= 0) || !isfinite(v))
		return refuse(z, z->column < k ? f[z->column] : whole, err);
	return add(z, v, err);
}

int64_t ww_gaps_parse(const char *name, const char *text, size_t n, double **gap,
		      struct ww_error *err)
{
	struct parse z = {.name = name, .unit = 1};
	size_t bom = ww_csv_bom(text, n);
	int rc = 0;

	text += bom;
	n -= bom;
	*gap = NULL;
	while (n && rc == 0) {
		const char *end = memchr(text, '\n', n);
		size_t len = end ? (size_t)(end - text) : n;

		z.line++;
		rc = take_line(&z, text, len, err);
		text += len + (end != NULL);
		n -= len + (end != NULL);
	}
	if (rc == 0 && z.n == 0)
		rc = ww_fail(err, -ENODATA, "%s: no idle gap in it (seconds, one a line)", name);
	if (rc < 0) {
		free(z.gap);
		return rc;
	}
	*gap = z.gap;
	return (int64_t)z.n;
}
