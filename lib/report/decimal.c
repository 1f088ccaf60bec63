/* SPDX-License-Identifier: MIT */
/* Times as exact decimals, and lengths as quantities with what bounds them. */
#include "report/length.h"
#include "trace/value.h"

#include <math.h>

static void trim(struct ww_str *s, size_t from)
{
	if (!s->p || !memchr(s->p + from, '.', s->n - from))
		return;
	while (s->n > from && s->p[s->n - 1] == '0')
		s->p[--s->n] = '\0';
	if (s->n > from && s->p[s->n - 1] == '.')
		s->p[--s->n] = '\0';
}

void ww_str_decimal(struct ww_str *s, int64_t v, int digits)
{
	char text[24];
	uint64_t a = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	size_t n = sizeof(text);
	bool any = false;

	for (int i = 0; i < digits || a > 0 || i == digits; i++) {
		char c = (char)('0' + a % 10);

		if (i == digits && any)
			text[--n] = '.';
		any |= i < digits && c != '0';
		if (i >= digits || any)
			text[--n] = c;
		a /= 10;
	}
	if (v < 0)
		text[--n] = '-';
	ww_str_addn(s, text + n, sizeof(text) - n);
}

/* The comma and the key come from ww_json, the digits from here. */
static void raw(struct ww_json *j, const char *key)
{
	ww_json_int(j, key, 0);
	j->s->n -= j->s->bad ? 0 : 1;
}

void ww_json_decimal(struct ww_json *j, const char *key, int64_t v, int digits)
{
	raw(j, key);
	ww_str_decimal(j->s, v, digits);
}

void ww_json_trimmed(struct ww_json *j, const char *key, double v, int decimals)
{
	size_t from;

	if (!isfinite(v)) {
		ww_json_null(j, key);
		return;
	}
	raw(j, key);
	from = j->s->n;
	ww_str_fixed(j->s, v, decimals);
	trim(j->s, from);
}

static void end(struct ww_json *j, const char *key, int64_t ns, int64_t open)
{
	if (ns == open)
		ww_json_null(j, key);
	else
		ww_json_decimal(j, key, ns, 6);
}

/* Standard uncertainty, ns: of an interval that holds it surely, or of two stamps. */
static double u_of(struct ww_interval t, double res_ns)
{
	double half = ((double)t.hi_ns - (double)t.lo_ns) / 2;

	return half > 0 ? half / sqrt(3) : res_ns > 0 ? res_ns / sqrt(6) : (double)NAN;
}

void ww_json_length(struct ww_json *j, const char *key, struct ww_interval t, double res_ns)
{
	bool open = t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX;
	double u = u_of(t, res_ns) / 1e6;

	if (!ww_iv_ok(t)) {
		ww_json_null(j, key);
		return;
	}
	ww_json_open(j, key, '{');
	if (open)
		ww_json_null(j, "value");
	else
		ww_json_decimal(j, "value", ww_iv_mid(t), 6);
	if (open || isnan(u)) {
		ww_json_null(j, "u");
		ww_json_text(j, "why",
			     open ? "only a bound is known" : "its resolution is not known");
	} else {
		ww_json_trimmed(j, "u", u, ww_decimals_for(u, 4) + 1);
	}
	if (t.lo_ns < t.hi_ns) {
		end(j, "lo", t.lo_ns, WW_TIME_MIN);
		end(j, "hi", t.hi_ns, WW_TIME_MAX);
	}
	ww_json_close(j, '}');
}

/* Decimals of ms that a resolution leaves: 1 us three, 1 ms none. */
int ww_ms_decimals(double res_ns)
{
	return res_ns < 5e3 ? 3 : res_ns < 5e4 ? 2 : res_ns < 5e5 ? 1 : 0;
}

/* Width to three digits where it is as good as a point. */
static double step_of(double half)
{
	double step = 1e-3;

	while (step * 100 <= half)
		step *= 10;
	return step;
}

void ww_put_length(struct ww_str *s, struct ww_interval t, double res_ns)
{
	double lo = (double)t.lo_ns / 1e6, hi = (double)t.hi_ns / 1e6, half = (hi - lo) / 2, mid,
	       step;
	int d;

	if (!ww_iv_ok(t))
		return;
	if (t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX) {
		bool below = t.lo_ns == WW_TIME_MIN;

		if (below && t.hi_ns == WW_TIME_MAX)
			return;
		ww_str_add(s, below ? "\xe2\x89\xa4 " : "\xe2\x89\xa5 ");
		ww_str_fixed(s, below ? hi : lo, ww_ms_decimals(res_ns));
		return;
	}
	/*
	 * As good as the stamps of a kernel are; its own figures are so beside a logger's stamps
	 * too. It cuts them off: a half goes down, so that they are shown as it wrote them.
	 */
	if (half < 2.5e-3) {
		mid = half > 0 ? (lo + hi) / 2 - 1e-6 : lo;
		ww_str_fixed(s, mid, ww_ms_decimals(half > 0 ? fmin(res_ns, 2e6 * half) : res_ns));
		return;
	}
	step = step_of(half);
	d = step > .5 ? 0 : step > .05 ? 1 : step > .005 ? 2 : 3;
	/* What the middle loses by rounding the half-width gains: still sure. */
	mid = round((lo + hi) / 2 / step) * step;
	half = ceil(fmax(hi - mid, mid - lo) / step - 1e-6) * step;
	if (t.lo_ns == 0) /* and from nothing on */
		mid = half = ceil(hi / 2 / step - 1e-6) * step;
	ww_str_fixed(s, mid, d);
	ww_str_add(s, " \xc2\xb1 ");
	ww_str_fixed(s, half, d);
}
