/* SPDX-License-Identifier: MIT */
#include "analysis/integral.h"

#include <math.h>

void ww_counter_init(struct ww_counter *k)
{
	*k = (struct ww_counter){.from = WW_TIME_MIN,
				 .to = WW_TIME_MAX,
				 .min = INT64_MAX,
				 .max = INT64_MIN,
				 .begin = 1};
}

/*
 * The register fell. Round its end, or set back to nothing? Round, if it then
 * counted no more than is credible: by the wattmeter beside it, else by its own
 * pace so far, else a tenth of its range.
 */
static bool wrapped(const struct ww_counter *k, int64_t dt, int64_t counts, double expect)
{
	if (counts < 0 || counts > k->wrap / 2)
		return false;
	if (isnan(expect) && k->counted_ns > 0)
		expect = (double)k->counted / (double)k->counted_ns * (double)dt;
	if (isnan(expect))
		return counts <= k->wrap / 10;
	return (double)counts <= 10 * expect + 10;
}

static void interval(struct ww_counter *k, int64_t t, int64_t code, double expect)
{
	int64_t dt = t - k->t1, counts, a, b;

	k->t0 = k->t1;
	k->last_ok = !__builtin_sub_overflow(code, k->c1, &counts);
	a = k->t0 > k->from ? k->t0 : k->from;
	b = t < k->to ? t : k->to;
	if (k->last_ok && counts < 0) {
		k->last_ok = k->wrap > 0 && wrapped(k, dt, counts + k->wrap, expect);
		if (k->last_ok)
			counts += k->wrap;
		if (a < b || dt == 0) {
			k->wraps += k->last_ok;
			k->resets += !k->last_ok;
		}
	}
	/* From a reset on nothing is known of what it had counted before. */
	k->last = k->last_ok ? counts : 0;
	if (k->last_ok) {
		k->counted += counts;
		k->counted_ns += dt;
	}
	if (a > b)
		return;
	if (k->begin > k->end)
		k->begin = a;
	k->end = b;
	if (a == k->t0 && b == t)
		k->sum += k->last;
	else if (dt > 0)
		ww_sum_add(&k->cut, (double)k->last * ((double)(b - a) / (double)dt));
}

void ww_counter_add(struct ww_counter *k, int64_t t, int64_t code, double expect)
{
	bool inside = t >= k->from && t <= k->to;

	if (k->done)
		return;
	if (code == WW_MISSING) {
		k->missing += inside;
		return;
	}
	if (k->any)
		interval(k, t, code, expect);
	if (inside) {
		k->n++;
		if (k->begin > k->end)
			k->begin = k->end = t;
		if (code < k->min)
			k->min = code;
		if (code > k->max)
			k->max = code;
	}
	k->any = true;
	k->t1 = t;
	k->c1 = code;
	k->done = t >= k->to;
}

double ww_counter_get(const struct ww_counter *k)
{
	return (double)k->sum + ww_sum_get(&k->cut);
}
