/* SPDX-License-Identifier: MIT */
/* Lines of a typed table in their fields, whatever divides them. */
#include "text/onoff_table.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A comment behind a reading: a blank, '#', and a blank or the end ("disk #2" is a name). */
static size_t without_comment(const char *p, size_t n)
{
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		quoted ^= p[i] == '"';
		if (!quoted && p[i] == '#' && i > 0 && is_blank(p[i - 1]) &&
		    (i + 1 == n || is_blank(p[i + 1])))
			return i;
	}
	return n;
}

size_t ww_onoff_line(const char *p, size_t n, size_t *len)
{
	size_t step = ww_csv_line(p, n, len);

	if (step == 0)
		return 0;
	if (ww_csv_blank(p, *len)) {
		*len = 0;
		return step;
	}
	*len = without_comment(p, *len);
	while (*len && is_blank(p[*len - 1]))
		(*len)--;
	return step;
}

/*
 * Whether `sep` divides this line, outside of quotes. A comma between digits may be a
 * decimal one: not where there are points too, many of them, or columns of 0 and 1.
 */
static bool has(const char *p, size_t n, char sep)
{
	bool quoted = false, point = false;
	size_t inside = 0;

	for (size_t i = 0; i < n; i++) {
		quoted ^= p[i] == '"';
		point |= !quoted && p[i] == '.';
		if (quoted || p[i] != sep)
			continue;
		if (sep != ',' || i == 0 || i + 1 == n || !ww_is_digit(p[i - 1]) ||
		    !ww_is_digit(p[i + 1]))
			return true;
		inside++;
	}
	return inside > 2 || (inside && point) ||
	       (inside && (*p == '0' || *p == '1') && p[1] == ',');
}

/* Columns of 0 and 1 divided by blanks: "1 0 0 26". */
static bool is_bits(const char *p, size_t n)
{
	struct ww_csv blank = {' ', false};
	struct ww_field f[FIELDS];
	size_t k = ww_csv_split(&blank, p, n, f, FIELDS);

	if (k < 2 || k > FIELDS || !ww_onoff_is_bit(&f[0]))
		return false;
	for (size_t i = 1; i < k; i++)
		if (!ww_onoff_is_number(&f[i]))
			return false;
	return true;
}

void ww_onoff_dialect(struct ww_onoff_parse *t, const char *text, size_t n)
{
	static const char seps[] = ";\t|,";
	size_t count[sizeof(seps)] = {0}, lines = 0, bits = 0, step, len;
	bool headed = false;

	for (size_t at = 0; (step = ww_onoff_line(text + at, n - at, &len)) > 0; at += step) {
		if (len == 0)
			continue;
		lines++;
		bits += is_bits(text + at, len);
		for (size_t i = 0; seps[i]; i++) {
			bool divides = has(text + at, len, seps[i]);

			/* What divides the names of the columns divides them all. */
			headed |= lines == 1 && seps[i] == ',' && divides;
			count[i] += divides ||
				    (headed && seps[i] == ',' && memchr(text + at, ',', len));
		}
	}
	for (size_t i = 0; seps[i]; i++) {
		if (2 * count[i] > lines) {
			t->dialect.sep = seps[i];
			return;
		}
	}
	t->dialect.sep = ' ';
	t->by_blank = 2 * bits <= lines;
}

/* "13.5 W +USB disk": the longest beginning before a blank that is a reading. */
static size_t split_first(const char *p, size_t n, struct ww_field *f)
{
	struct ww_onoff_number num;
	size_t found = 0, words = 0;

	for (size_t i = 1; i < n && words < 6; i++) {
		if (!is_blank(p[i]) || is_blank(p[i - 1]))
			continue;
		words++;
		if (ww_onoff_number(p, i, "W", 1, &num) == 1)
			found = i;
	}
	f[0] = (struct ww_field){p, n, false};
	if (found == 0)
		return 1;
	f[1] = (struct ww_field){p, found, false};
	while (found < n && is_blank(p[found]))
		found++;
	f[0] = (struct ww_field){p + found, n - found, false};
	return 2;
}

/* "+USB disk 13.5 W": the longest end behind a blank that is a reading. */
static size_t split_last(const char *p, size_t n, struct ww_field *f)
{
	struct ww_onoff_number num;
	size_t found = n, words = 0;

	for (size_t i = n; i-- > 1 && words < 6;) {
		if (!is_blank(p[i - 1]) || is_blank(p[i]))
			continue;
		words++;
		if (ww_onoff_number(p + i, n - i, "W", 1, &num) == 1)
			found = i;
	}
	f[0] = (struct ww_field){p, found, false};
	if (found == n)
		return split_first(p, n, f);
	/* Some lines may have a comma there, and others none. */
	while (f[0].n && (is_blank(p[f[0].n - 1]) || strchr(",;|", p[f[0].n - 1])))
		f[0].n--;
	f[1] = (struct ww_field){p + found, n - found, false};
	return 2;
}

size_t ww_onoff_split(const struct ww_onoff_parse *t, const char *line, size_t n,
		      struct ww_field *f)
{
	size_t k;

	if (t->by_blank)
		return split_last(line, n, f);
	k = ww_csv_split(&t->dialect, line, n, f, FIELDS);
	return k < FIELDS ? k : FIELDS;
}
