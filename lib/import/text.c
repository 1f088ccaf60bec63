/* SPDX-License-Identifier: MIT */
/* Lines of the file that is imported, and what is said of them. */
#include "import/import.h"

#include <stdarg.h>
#include <stdio.h>

struct ww_lines ww_import_lines(const struct ww_import *im)
{
	size_t bom = ww_csv_bom(im->text, im->n);

	return (struct ww_lines){im->text + bom, im->n - bom};
}

int ww_import_line(struct ww_import *im, struct ww_lines *l, const char **line, size_t *len,
		   struct ww_error *err)
{
	size_t used = l->left ? ww_csv_line(l->p, l->left, len) : 0;

	if (used == 0)
		return 0;
	im->line++;
	if (*len > WW_CSV_LINE)
		return ww_import_fail(im, err,
				      "a line of %zu bytes; no table of readings has more than %u",
				      *len, WW_CSV_LINE);
	*line = l->p;
	l->p += used;
	l->left -= used;
	return 1;
}

void ww_import_bad(struct ww_import *im, const char *why, const char *what, size_t n)
{
	struct ww_str s = {0};

	if (im->bad++ > 0)
		return;
	im->bad_first = im->line;
	ww_field_text(&(struct ww_field){what, n < 40 ? n : 40, false}, &s);
	snprintf(im->bad_why, sizeof(im->bad_why), "'%s%s' %s", s.p ? s.p : "", n > 40 ? "..." : "",
		 why);
	ww_str_free(&s);
}

int ww_import_fail(const struct ww_import *im, struct ww_error *err, const char *fmt, ...)
{
	char text[WW_ERROR_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (im->line)
		return ww_fail(err, -EINVAL, "%s:%zu: %s", im->path, im->line, text);
	return ww_fail(err, -EINVAL, "%s: %s", im->path, text);
}

bool ww_import_ns(const struct ww_num *v, int exponent, int seconds, int64_t *ns)
{
	int by = 9 + exponent - v->decimals;
	__int128 x = (__int128)v->code * seconds;
	/* Far from the ends of the axis, so that differences never overflow. */
	const __int128 most = INT64_MAX / 2;

	for (; by > 0 && x != 0; by--) {
		x *= 10;
		if (x > most || x < -most)
			return false;
	}
	for (; by < 0 && x != 0; by++)
		x = by == -1 ? (x + (x < 0 ? -5 : 5)) / 10 : x / 10;
	if (x > most || x < -most)
		return false;
	*ns = (int64_t)x;
	return true;
}
