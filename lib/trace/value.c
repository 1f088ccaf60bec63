/* SPDX-License-Identifier: MIT */
#include "trace/value.h"

#include <math.h>

#define DECIMALS_MAX 12

/* v as k / 10^decimals, where that division gives v again to the last bit. */
static bool as_decimal(double v, int decimals, int64_t *k)
{
	double ten = 1, scaled;

	for (int i = 0; i < decimals; i++)
		ten *= 10;
	scaled = v * ten;
	if (!(fabs(scaled) < 9e15))
		return false;
	*k = (int64_t)llround(scaled);
	return (double)*k / ten == v;
}

struct ww_digits ww_digits_of(double scale, double offset, double resolution)
{
	int64_t k;
	struct ww_digits d = {.value = ww_scale_of(scale, offset), .decimals = -1};

	for (int i = 0; i <= DECIMALS_MAX; i++)
		if (as_decimal(scale, i, &d.k) && as_decimal(offset, i, &d.k0)) {
			d.decimals = i;
			break;
		}
	d.least = d.decimals;
	for (int i = 0; i < d.decimals && resolution > 0; i++)
		if (as_decimal(resolution, i, &k)) {
			d.least = i;
			break;
		}
	return d;
}

/* Digits of v, with a point before the last `decimals`. */
static void add_scaled(struct ww_str *s, int64_t v, int decimals)
{
	char buf[40], *end = buf + sizeof(buf), *p = end;
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;

	for (int i = 0; u || i <= decimals; i++, u /= 10) {
		if (i == decimals && decimals > 0)
			*--p = '.';
		*--p = (char)('0' + u % 10);
	}
	if (v < 0)
		*--p = '-';
	ww_str_addn(s, p, (size_t)(end - p));
}

void ww_str_int(struct ww_str *s, int64_t v)
{
	add_scaled(s, v, 0);
}

bool ww_str_value(struct ww_str *s, const struct ww_digits *d, int64_t code)
{
	int64_t v;

	if (code < WW_CODE_MIN)
		return false;
	if (d->decimals >= 0 && !__builtin_mul_overflow(code, d->k, &v) &&
	    !__builtin_add_overflow(v, d->k0, &v)) {
		add_scaled(s, v, d->decimals);
		for (int i = d->decimals; i > d->least && !s->bad && s->p[s->n - 1] == '0'; i--)
			s->p[--s->n] = '\0';
		if (!s->bad && s->p[s->n - 1] == '.')
			s->p[--s->n] = '\0';
	} else {
		ww_str_num(s, ww_code_value(&d->value, code));
	}
	return true;
}
