/* SPDX-License-Identifier: MIT */
/* One number of a field, exactly as it was written. */
#include "text/csv.h"

#include <math.h>
#include <stdio.h>

#define CODE_MOST     ((INT64_MAX - 9) / 10) /* one more digit still fits */
#define EXPONENT_MOST 9999

struct reader {
	const char *p, *end;
	int64_t code;
	int32_t decimals;
	bool digits; /* there was one */
	bool minus;
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_word(const char *p, size_t n, const char *word)
{
	size_t i = 0;

	for (; i < n && word[i]; i++)
		if (lower(p[i]) != word[i])
			return false;
	return i == n && !word[i];
}

bool ww_field_is(const struct ww_field *f, const char *word)
{
	size_t i = 0;

	for (; i < f->n && word[i]; i++)
		if (lower(f->p[i]) != lower(word[i]))
			return false;
	return i == f->n && !word[i];
}

static int word_kind(const char *p, size_t n)
{
	static const struct {
		const char *word;
		int kind;
	} words[] = {{"nan", WW_NUM_MISSING},
		     {"-nan", WW_NUM_MISSING},
		     {"n/a", WW_NUM_MISSING},
		     {"na", WW_NUM_MISSING},
		     {"null", WW_NUM_MISSING},
		     {"none", WW_NUM_MISSING},
		     {"[n/a]", WW_NUM_MISSING},
		     {"[not supported]", WW_NUM_MISSING},
		     {"unavailable", WW_NUM_MISSING},
		     {"unknown", WW_NUM_MISSING},
		     {"-", WW_NUM_MISSING},
		     {"--", WW_NUM_MISSING},
		     {"---", WW_NUM_MISSING},
		     {"----", WW_NUM_MISSING},
		     {"?", WW_NUM_MISSING},
		     {"inf", WW_NUM_OVER},
		     {"+inf", WW_NUM_OVER},
		     {"infinity", WW_NUM_OVER},
		     {"-infinity", WW_NUM_UNDER},
		     {"-inf", WW_NUM_UNDER},
		     {"ol", WW_NUM_OVER},
		     {"overload", WW_NUM_OVER}};

	for (size_t i = 0; i < WW_COUNTOF(words); i++)
		if (is_word(p, n, words[i].word))
			return words[i].kind;
	return WW_NUM_TEXT;
}

static void add_digit(struct reader *r, char c, bool fraction)
{
	r->digits = true;
	if (r->code > CODE_MOST) {
		if (!fraction)
			r->decimals--;
		return;
	}
	r->code = r->code * 10 + (c - '0');
	if (fraction)
		r->decimals++;
}

/* Do exactly three digits follow, and then none? */
static bool group_at(const char *p, const char *end)
{
	return end - p >= 3 && ww_is_digit(p[0]) && ww_is_digit(p[1]) && ww_is_digit(p[2]) &&
	       (end - p == 3 || !ww_is_digit(p[3]));
}

/* Digits before the decimals. false: groups that may as well be decimals. */
static bool read_whole(struct reader *r, char point, char group)
{
	const char *begin = r->p;
	unsigned groups = 0;

	for (; r->p < r->end; r->p++) {
		if (ww_is_digit(*r->p)) {
			add_digit(r, *r->p, false);
		} else if (*r->p == group && r->p > begin && *begin != '0' &&
			   r->p - begin <= 3 + 4 * (int)groups && group_at(r->p + 1, r->end)) {
			groups++;
		} else {
			break;
		}
	}
	/* A single group is told from decimals by what follows. */
	return groups != 1 || (r->p < r->end && *r->p == point);
}

static bool read_exponent(struct reader *r)
{
	const char *p = r->p;
	bool minus = false;
	int e = 0;

	if (p == r->end || lower(*p) != 'e')
		return true;
	p++;
	if (p < r->end && (*p == '+' || *p == '-'))
		minus = *p++ == '-';
	if (p == r->end || !ww_is_digit(*p))
		return true; /* the first letter of a unit */
	for (; p < r->end && ww_is_digit(*p); p++)
		e = e < EXPONENT_MOST ? e * 10 + (*p - '0') : e;
	r->decimals += minus ? e : -e;
	r->p = p;
	return true;
}

static void read_sign(struct reader *r)
{
	static const char minus[] = "\xe2\x88\x92"; /* U+2212 */

	if (r->p < r->end && (*r->p == '+' || *r->p == '-'))
		r->minus = *r->p++ == '-';
	else if (r->end - r->p > 3 && memcmp(r->p, minus, 3) == 0) {
		r->minus = true;
		r->p += 3;
	}
}

/* What follows a number must be able to be a unit. */
static bool read_unit(struct reader *r, struct ww_num *out)
{
	while (r->p < r->end && (*r->p == ' ' || *r->p == '\t'))
		r->p++;
	if (r->end - r->p >= 2 && memcmp(r->p, "\xc2\xa0", 2) == 0)
		r->p += 2;
	out->unit = r->p;
	out->unit_n = (size_t)(r->end - r->p);
	return r->p == r->end || (lower(*r->p) >= 'a' && lower(*r->p) <= 'z') || *r->p == '%' ||
	       (unsigned char)*r->p >= 0x80;
}

static double value_of(const struct ww_num *v)
{
	static const double ten[] = {1e0,  1e1,	 1e2,  1e3,  1e4,  1e5,	 1e6,  1e7,
				     1e8,  1e9,	 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	char buf[48];

	if (v->code == 0)
		return 0;
	/* Both exact: one rounding. */
	if (llabs(v->code) < (INT64_C(1) << 53) && v->decimals >= 0 && v->decimals <= 22)
		return (double)v->code / ten[v->decimals];
	snprintf(buf, sizeof(buf), "%llde%d", (long long)v->code, -v->decimals);
	return ww_strtod(buf, NULL);
}

int ww_num_read(const char *p, size_t n, bool comma, struct ww_num *out)
{
	struct reader r = {.p = p, .end = p + n};
	char point = comma ? ',' : '.', group = comma ? '.' : ',';

	*out = (struct ww_num){.unit = p + n};
	if (n == 0)
		return WW_NUM_EMPTY;
	read_sign(&r);
	if (r.p == r.end || !(ww_is_digit(*r.p) || *r.p == point || *r.p == '.'))
		return word_kind(p, n);
	if (!read_whole(&r, point, group))
		return WW_NUM_TEXT;
	/* A point is one in any dialect, where it cannot be a group. */
	if (r.p < r.end && (*r.p == point || *r.p == '.'))
		for (r.p++; r.p < r.end && ww_is_digit(*r.p); r.p++)
			add_digit(&r, *r.p, true);
	if (!r.digits)
		return word_kind(p, n);
	if (!read_exponent(&r) || !read_unit(&r, out))
		return WW_NUM_TEXT;
	out->code = r.minus ? -r.code : r.code;
	out->decimals = r.decimals;
	out->value = value_of(out);
	if (isinf(out->value))
		return out->value > 0 ? WW_NUM_OVER : WW_NUM_UNDER;
	return WW_NUM_OK;
}

bool ww_num_comma(const char *p, size_t n)
{
	for (size_t i = n; i-- > 0;)
		if (p[i] == ',' || p[i] == '.')
			return p[i] == ',';
	return false;
}

size_t ww_num_sign(const char *p, size_t n, size_t *len)
{
	static const char *const forms[] = {"\xc2\xb1", "+-", "+/-"};

	for (size_t i = 1; i < n; i++) {
		for (size_t k = 0; k < WW_COUNTOF(forms); k++) {
			*len = strlen(forms[k]);
			if (n - i >= *len && memcmp(p + i, forms[k], *len) == 0)
				return i;
		}
	}
	*len = 0;
	return n;
}
