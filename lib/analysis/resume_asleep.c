/* SPDX-License-Identifier: MIT */
/*
 * How far the DUT's own figure of a sleep can be believed. A kernel that keeps no clock
 * through suspend takes the time from an RTC, in steps of a second, and nothing in the
 * beats says so. The bench has two estimates of its own. Surely: the machine slept
 * within the silence of its line, and the silence was no longer than the sleep and what
 * MONOTONIC counted from the last beat before to the first after. Closer: the offset
 * of the DUT's clock moved by the sleep (skew.c). Figures that agree with the bench in
 * every cycle where chance would not have it so are exact; others are as good as an RTC.
 */
#include "analysis/resume.h"

#include <math.h>

#define RTC_NS	 (1e9)
#define CHANCE	 .05
#define SLACK_NS 5e6 /* a UART sends what its FIFO holds while the machine goes to sleep */
#define ROUND_NS 10e6

struct bound {
	double lo, hi; /* ns; lo > hi: none */
};

static const struct bound none = {1, 0};

/* Sure: see above. 500 ppm is more than any quartz is off. */
static struct bound by_the_wire(const struct ww_cycle_out *o)
{
	const struct ww_interval *e = o->c.event;
	struct ww_interval quiet = ww_iv_since(e[WW_EV_UART], e[WW_EV_LAST_BEAT]);
	double awake = (double)o->awake_us * 1e3 * (1 + 500e-6);

	if (!ww_iv_ok(quiet) || quiet.lo_ns == WW_TIME_MIN || quiet.hi_ns == WW_TIME_MAX)
		return none;
	return (struct bound){fmax((double)quiet.lo_ns - awake - SLACK_NS, 0),
			      (double)quiet.hi_ns + SLACK_NS};
}

/* The stretch of the DUT's clock that this cycle's sleep began, 0 none. */
static size_t stretch_of(const struct ww_resume *r, const struct ww_cycle_out *o)
{
	const struct ww_skew *k = &r->scan.skew;
	int64_t back = o->c.event[WW_EV_FIRST_BEAT].hi_ns;

	if (!ww_iv_ok(o->c.event[WW_EV_FIRST_BEAT]))
		return 0;
	for (size_t i = 1; i < k->n; i++)
		if (k->stretch[i].r0_ns >= back)
			return k->stretch[i].slept_us == o->slept_us ? i : 0;
	return 0;
}

/* A stream's beats wait behind a queue of unknown length: its offsets tell nothing. */
static struct bound by_the_clock(const struct ww_resume *r, const struct ww_cycle_out *o)
{
	size_t i = stretch_of(r, o);
	double at = ww_skew_slept(&r->scan.skew, r->skew, i), sum = 0, u;

	if (r->scan.mode == WW_BEAT_STREAM || i == 0 || isnan(at) || isnan(r->skew_u))
		return none;
	for (size_t p = 0; p < WW_SKEW_PARTS; p++) {
		const struct ww_skew *k = &r->scan.part[p];
		double d = k->n == r->scan.skew.n ? ww_skew_slept(k, r->part_skew[p], i) - at : NAN;

		sum += d * d;
	}
	u = 3 * sqrt(sum / WW_SKEW_PARTS) + 2 * (double)r->scan.cadence.width_ns + 1e6;
	return isnan(u) ? none : (struct bound){at - u, at + u};
}

static struct bound bench(const struct ww_resume *r, const struct ww_cycle_out *o)
{
	struct bound a = by_the_wire(o), b = by_the_clock(r, o), both;

	if (a.lo > a.hi || b.lo > b.hi)
		return a.lo > a.hi ? b : a;
	both = (struct bound){fmax(a.lo, b.lo), fmin(a.hi, b.hi)};
	return both.lo <= both.hi ? both : a;
}

/* Half-width of all figures: that of an RTC, or what they were seen to be off. */
static double judge(struct ww_resume *r)
{
	double chance = 1, worst = RTC_NS, rate = isnan(r->skew) ? 1 : 1 + r->skew;
	size_t checked = 0;
	bool agree = true;

	for (size_t i = 0; i < r->cycles; i++) {
		const struct ww_cycle_out *o = &r->cycle[i];
		double claim = (double)o->slept_us * 1e3 * rate, off;
		struct bound b = o->slept_us >= 0 ? bench(r, o) : none;

		if (b.lo > b.hi)
			continue;
		off = claim < b.lo ? claim - b.lo : claim > b.hi ? claim - b.hi : 0;
		agree = agree && off == 0;
		chance *= fmin((b.hi - b.lo) / 2 / RTC_NS, 1);
		worst = fmax(worst, fmax(claim - b.lo, b.hi - claim));
		r->rtc_off[0] = checked++ ? fmin(r->rtc_off[0], off) : off;
		r->rtc_off[1] = checked > 1 ? fmax(r->rtc_off[1], off) : off;
	}
	return agree && chance < CHANCE ? 0 : ceil(worst / ROUND_NS) * ROUND_NS;
}

void ww_resume_asleep(struct ww_resume *r)
{
	r->rtc_ns = (int64_t)judge(r);
	for (size_t i = 0; i < r->cycles; i++) {
		struct ww_cycle_out *o = &r->cycle[i];
		int64_t half = r->rtc_ns ? r->rtc_ns : 1000, at = o->slept_us * 1000;

		if (o->slept_us < 0)
			continue;
		o->c.latency[WW_LAT_DUT_ASLEEP] =
			(struct ww_interval){at > half ? at - half : 0, at + half};
	}
}
