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

/* What it should have counted in dt: by the wattmeter, else by its own pace. */
static double expected(const struct ww_counter *k, int64_t dt, double expect)
{
	if (isnan(expect) && k->counted_ns > 0)
		expect = (double)k->counted / (double)k->counted_ns * (double)dt;
	return expect;
}

/*
 * The register fell. Round its end, or set back to nothing? Round, if it then
 * counted no more than is credible: by the wattmeter beside it, else by its own
 * pace so far, else a tenth of its range.
 */
static bool wrapped(const struct ww_counter *k, int64_t dt, int64_t counts, double expect)
{
	if (counts < 0)
		return false;
	expect = expected(k, dt, expect);
	if (isnan(expect))
		return counts <= k->wrap / 10;
	if (counts > k->wrap / 2)
		return fabs((double)counts - expect) <= expect / 4;
	return (double)counts <= 10 * expect + 10;
}

/* The counts of an interval that may hold a turn or a reset; last_ok: for sure. */
static int64_t judge(struct ww_counter *k, int64_t dt, int64_t counts, double expect, bool matters)
{
	double wrap = (double)k->wrap, due = expected(k, dt, expect);

	if (k->told_reset) {
		k->last_ok = false;
		k->resets += matters;
		return 0;
	}
	/* Near a whole turn: the likely number of them, but not for sure. */
	if (k->wrap > 0 && due > 0.75 * wrap && due < 4e18) {
		double turns = fmax(counts < 0, round((due - (double)counts) / wrap));

		k->last_ok = false;
		k->turns_unknown += matters;
		k->wraps += matters ? (uint64_t)turns : 0;
		return counts + (int64_t)turns * k->wrap;
	}
	if (counts >= 0)
		return counts;
	/* Some registers count back what flows back. */
	if (expect < 0 && fabs((double)counts - expect) <= 2 - expect / 4)
		return counts;
	k->last_ok = k->wrap > 0 && wrapped(k, dt, counts + k->wrap, expect);
	k->wraps += matters && k->last_ok;
	k->resets += matters && !k->last_ok;
	/* From a reset on nothing is known of what it had counted before. */
	return k->last_ok ? counts + k->wrap : 0;
}

static void interval(struct ww_counter *k, int64_t t, int64_t code, double expect)
{
	int64_t dt = t - k->t1, counts, a, b;

	k->t0 = k->t1;
	k->last_ok = !__builtin_sub_overflow(code, k->c1, &counts);
	a = k->t0 > k->from ? k->t0 : k->from;
	b = t < k->to ? t : k->to;
	k->last = k->last_ok ? judge(k, dt, counts, expect, a < b || dt == 0) : 0;
	if (k->last_ok) {
		k->counted += k->last;
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
	if (code < WW_CODE_MIN) { /* beyond its range tells no more than none */
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
	k->told_reset = false;
	k->t1 = t;
	k->c1 = code;
	k->done = t >= k->to;
}

double ww_counter_get(const struct ww_counter *k)
{
	return (double)k->sum + ww_sum_get(&k->cut);
}
