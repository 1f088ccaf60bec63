/* SPDX-License-Identifier: MIT */
/* The procedures: when a mode counts as stable, and which stretch is its mean. */
#include "analysis/noise.h"
#include "analysis/standby.h"
#include "base/stats.h"

#include <math.h>

#define HOUR	   3600.0
#define SAMPLING_S 900.0  /* edition 2, sampling: least length */
#define WARM_UP_S  1800.0 /* edition 2, average reading and direct: before anything is read */
#define COMPARE_S  600.0  /* least length of a comparison period, least time between readings */
#define WITHIN_S   300.0  /* edition 1: within 5 % over this */
#define WITHIN	   0.05
#define AFTER_S	   900.0 /* computer specification: from the log-in to the mean */
#define MEAN_S	   300.0
#define LONGER	   2.0 /* a cycle that much longer is another */

/* Of the procedure, in W/h. */
static double slope_limit(double watts)
{
	return watts > 1 ? 0.01 * watts : 0.01;
}

/*
 * A trace is read to `t` where a reading at or after it is there, or, where nothing more
 * comes, the last one's share reaches so far (900 readings, the first at 0 s, are 15 min).
 */
static bool reaches(const struct ww_standby_data *d, double t)
{
	double last = d->n ? d->t[d->n - 1] : 0;

	return last >= t || (!d->live && last + 1.5 * d->dt >= t);
}

/*
 * Verdict on a slope. Where 2 u exceeds the limit the readings cannot tell whether it is
 * kept (a slope below it passes by luck), unless the slope is too large by more than that.
 */
static int on_slope(struct ww_standby *s, const struct ww_standby_fit *f, double length)
{
	struct ww_standby_result *r = &s->r;
	double slope = fabs(f->slope), limit = slope_limit(f->mean);

	r->slope_limit = limit;
	if (2 * f->u_slope <= limit)
		return slope < limit ? WW_STANDBY_STABLE : WW_STANDBY_NOT_STABLE;
	if (slope < limit && isnan(r->lucky_s))
		r->lucky_s = length;
	return slope - 2 * f->u_slope >= limit ? WW_STANDBY_NOT_STABLE : WW_STANDBY_NOT_RESOLVED;
}

/* Whole cycles where there are any. @return verdict, -1 where the mode does not cycle */
static int by_cycles(struct ww_standby *s, struct ww_standby_data *d, double from, double to)
{
	ww_standby_find_cycles(d, from, to, &s->cycle);
	if (!s->cycle.found && s->opt.cyclic)
		return ww_standby_line(d, from, to, &s->fit) ? WW_STANDBY_NOT_RESOLVED
							     : WW_STANDBY_TOO_SHORT;
	if (!s->cycle.found)
		return -1;
	if (!ww_standby_by_cycles(d, from, to, &s->cycle, &s->fit)) {
		/* Not one whole cycle in the stretch that counts: all that was read. */
		if (!ww_standby_by_cycles(d, 0, to, &s->cycle, &s->fit) &&
		    !ww_standby_line(d, from, to, &s->fit))
			return WW_STANDBY_TOO_SHORT;
		return WW_STANDBY_NOT_RESOLVED;
	}
	if (s->fit.n < WW_STANDBY_CYCLES)
		return WW_STANDBY_NOT_RESOLVED;
	return on_slope(s, &s->fit, to);
}

/* Edition 2, sampling: one test with the first `to` seconds. */
static int test_sampling(struct ww_standby *s, struct ww_standby_data *d, double to)
{
	double from = to / 3;
	int verdict = by_cycles(s, d, from, to);

	if (verdict >= 0)
		return verdict;
	if (!ww_standby_line(d, from, to, &s->fit))
		return WW_STANDBY_TOO_SHORT;
	ww_standby_line_u(d, &s->fit);
	return on_slope(s, &s->fit, to);
}

/* Edition 2, average reading: two periods of equal length after the warm-up. */
static int test_average(struct ww_standby *s, struct ww_standby_data *d, double to)
{
	double middle = (WARM_UP_S + to) / 2, apart = to - middle;
	struct ww_standby_fit a, b;
	int verdict = by_cycles(s, d, WARM_UP_S, to);

	if (verdict >= 0)
		return verdict;
	if (!ww_standby_line(d, WARM_UP_S, middle, &a))
		return WW_STANDBY_TOO_SHORT;
	ww_standby_line_u(d, &a);
	if (!ww_standby_line(d, middle, to, &b))
		return WW_STANDBY_TOO_SHORT;
	ww_standby_line_u(d, &b);
	s->fit = b;
	s->fit.a = a.a;
	s->fit.from = a.from;
	s->fit.n = a.n + b.n;
	s->fit.mean = (a.mean + b.mean) / 2;
	s->fit.slope = (b.mean - a.mean) / apart * HOUR;
	s->fit.dof = fmin(a.dof, b.dof);
	s->fit.u_noise = hypot(a.u_noise, b.u_noise) / 2;
	s->fit.u_q = fmax(a.u_q, b.u_q);
	s->fit.u_slope = hypot(hypot(a.u_noise, b.u_noise), hypot(a.u_q, b.u_q)) / apart * HOUR;
	return on_slope(s, &s->fit, to);
}

/*
 * Length of the next test after one of `to`: a minute more. A mode with cycles is
 * looked at beyond 3 h too, a quarter of a cycle at a time, until enough are whole.
 */
static double longer(const struct ww_standby *s, double to)
{
	double more = WW_STANDBY_STEP_S;

	if (to + more <= WW_STANDBY_LONGEST_S)
		return to + more;
	if (s->cycle.found)
		return to + fmax(more, more * ceil(s->cycle.period / 4 / more));
	return s->opt.cyclic ? to + 15 * more : INFINITY;
}

/* Verdict of the tests, longer and longer, until stable, 3 h or the end. */
static void until_stable(struct ww_standby *s, struct ww_standby_data *d, double first,
			 int (*test)(struct ww_standby *, struct ww_standby_data *, double))
{
	struct ww_standby_result *r = &s->r;

	r->verdict = WW_STANDBY_TOO_SHORT;
	for (double to = first; isfinite(to) && reaches(d, to); to = longer(s, to)) {
		r->verdict = test(s, d, to);
		r->tested_s = to;
		if (r->verdict == WW_STANDBY_STABLE)
			return;
	}
}

/* Where there was not enough for a test: what there is, for information. */
static int what_there_is(struct ww_standby *s, struct ww_standby_data *d, double from,
			 struct ww_error *err)
{
	/* Past the last reading, whatever the interval between them. */
	double to = nextafter(d->t[d->n - 1], INFINITY);

	ww_standby_find_cycles(d, from, to, &s->cycle);
	if (s->cycle.found && ww_standby_by_cycles(d, from, to, &s->cycle, &s->fit))
		return 0;
	if (!ww_standby_line(d, from, to, &s->fit) && !ww_standby_line(d, 0, to, &s->fit))
		return ww_fail(err, -ENODATA, "%zu readings are too few for a mean and its slope",
			       d->n);
	ww_standby_line_u(d, &s->fit);
	return 0;
}

/* Edition 2, direct: two single readings, each pair tried no more often than once a minute. */
static void run_direct(struct ww_standby *s, struct ww_standby_data *d, double noise)
{
	struct ww_standby_result *r = &s->r;
	double next = WARM_UP_S + COMPARE_S;
	size_t a = ww_standby_at(d, WARM_UP_S);

	r->verdict = WW_STANDBY_TOO_SHORT;
	for (size_t b = a + 1; b < d->n && d->t[b] <= WW_STANDBY_LONGEST_S; b++) {
		double apart, u1;

		while (a + 1 < b && d->t[a + 1] <= d->t[b] - COMPARE_S)
			a++;
		apart = d->t[b] - d->t[a];
		if (apart < COMPARE_S || d->t[b] < next)
			continue;
		next = d->t[b] + WW_STANDBY_STEP_S;
		/* A reading stands for what lies within half a step of it. */
		u1 = hypot(noise, d->q / sqrt(12));
		s->fit = (struct ww_standby_fit){.a = a,
						 .b = b + 1,
						 .from = d->t[a],
						 .to = d->t[b],
						 .n = 2,
						 .mean = (d->v[a] + d->v[b]) / 2,
						 .slope = (d->v[b] - d->v[a]) / apart * HOUR,
						 .u_noise = noise / sqrt(2),
						 .u_q = d->q / sqrt(12),
						 .u_slope = sqrt(2) * u1 / apart * HOUR,
						 .dof = INFINITY,
						 .s = noise,
						 .tau = 1};
		r->tested_s = d->t[b];
		r->verdict = on_slope(s, &s->fit, d->t[b]);
		if (r->verdict == WW_STANDBY_STABLE)
			return;
	}
}

/* Edition 1: (max - min)/mean of the 5 min before `to`. */
static int test_within(struct ww_standby *s, struct ww_standby_data *d, double to)
{
	double lo = INFINITY, hi = -INFINITY;
	int cyclic = by_cycles(s, d, to - WITHIN_S, to);

	if (cyclic >= 0)
		return s->fit.n >= 1 ? WW_STANDBY_NOT_STABLE : cyclic;
	if (!ww_standby_line(d, to - WITHIN_S, to, &s->fit))
		return WW_STANDBY_TOO_SHORT;
	for (size_t i = s->fit.a; i < s->fit.b; i++) {
		lo = fmin(lo, d->v[i]);
		hi = fmax(hi, d->v[i]);
	}
	s->r.variation = (hi - lo) / s->fit.mean;
	if (!(s->r.variation < WITHIN))
		return WW_STANDBY_NOT_STABLE;
	ww_standby_line_u(d, &s->fit);
	return d->q < WITHIN * s->fit.mean ? WW_STANDBY_STABLE : WW_STANDBY_NOT_RESOLVED;
}

/* Edition 1; failing stability, the energy over all of it (or whole cycles) by its time. */
static int run_edition1(struct ww_standby *s, struct ww_standby_data *d, struct ww_error *err)
{
	struct ww_standby_result *r = &s->r;

	until_stable(s, d, WITHIN_S, test_within);
	r->slope_limit = r->lucky_s = NAN;
	if (r->verdict == WW_STANDBY_STABLE || r->verdict == WW_STANDBY_NOT_RESOLVED)
		return 0;
	return what_there_is(s, d, 0, err);
}

static int run_energystar(struct ww_standby *s, struct ww_standby_data *d, struct ww_error *err)
{
	struct ww_standby_result *r = &s->r;

	if (!reaches(d, AFTER_S + MEAN_S)) {
		r->verdict = WW_STANDBY_TOO_SHORT;
		return what_there_is(s, d, d->t[d->n - 1] < MEAN_S ? 0 : d->t[d->n - 1] - MEAN_S,
				     err);
	}
	r->verdict = WW_STANDBY_NO_TEST;
	r->tested_s = AFTER_S + MEAN_S;
	ww_standby_find_cycles(d, AFTER_S, AFTER_S + MEAN_S, &s->cycle);
	if (!ww_standby_line(d, AFTER_S, AFTER_S + MEAN_S, &s->fit))
		return what_there_is(s, d, 0, err);
	ww_standby_line_u(d, &s->fit);
	return 0;
}

static int run(struct ww_standby *s, struct ww_standby_data *d, struct ww_error *err)
{
	struct ww_standby_fit all;
	int rc = 0;

	switch (s->opt.procedure) {
	case WW_STANDBY_SAMPLING:
		until_stable(s, d, SAMPLING_S, test_sampling);
		break;
	case WW_STANDBY_AVERAGE:
		until_stable(s, d, WARM_UP_S + 2 * COMPARE_S, test_average);
		break;
	case WW_STANDBY_DIRECT:
		/* What single readings scatter is seen where there are enough of them. */
		if (ww_standby_line(d, WARM_UP_S, INFINITY, &all) && all.n >= 16)
			run_direct(s, d, all.s);
		else
			run_direct(s, d, 0);
		if (s->r.verdict != WW_STANDBY_TOO_SHORT)
			return 0;
		break;
	case WW_STANDBY_EDITION1:
		return run_edition1(s, d, err);
	default:
		return run_energystar(s, d, err);
	}
	if (s->r.verdict == WW_STANDBY_TOO_SHORT)
		rc = what_there_is(s, d, d->t[d->n - 1] / 3, err);
	if (rc == 0)
		s->r.slope_limit = slope_limit(s->fit.mean);
	return rc;
}

/*
 * A cycle that only the stretch as a whole shows: a flat part of it passes every test,
 * and its mean is not that of the mode. Whole cycles are, of what follows the warm-up.
 */
static void by_later(struct ww_standby *s, struct ww_standby_data *d)
{
	struct ww_standby_result *r = &s->r;
	struct ww_standby_fit f;
	double to = nextafter(d->t[d->n - 1], INFINITY), from = to / 3;
	int p = s->opt.procedure;

	if (p == WW_STANDBY_AVERAGE || p == WW_STANDBY_DIRECT)
		from = WARM_UP_S;
	else if (p == WW_STANDBY_EDITION1)
		from = 0;
	if ((!ww_standby_by_cycles(d, from, to, &s->later, &f) || f.n < WW_STANDBY_CYCLES) &&
	    !ww_standby_by_cycles(d, from = 0, to, &s->later, &f))
		return;
	s->early_s = r->tested_s;
	s->early_verdict = r->verdict;
	s->early_watts = s->fit.mean;
	s->fit = f;
	s->cycle = s->later;
	r->tested_s = d->length;
	r->lucky_s = r->variation = NAN;
	if (p == WW_STANDBY_EDITION1 || p == WW_STANDBY_DIRECT)
		r->verdict = WW_STANDBY_NOT_STABLE;
	else if (f.n < WW_STANDBY_CYCLES || from == 0)
		r->verdict = WW_STANDBY_NOT_RESOLVED;
	else
		r->verdict = on_slope(s, &f, to);
	r->slope_limit = p == WW_STANDBY_EDITION1 ? (double)NAN : slope_limit(f.mean);
}

int ww_standby_run(struct ww_standby *s, struct ww_standby_data *d, struct ww_error *err)
{
	int rc = run(s, d, err);

	s->early_s = NAN;
	if (rc < 0)
		return rc;
	ww_standby_find_cycles(d, 0, d->t[d->n - 1], &s->later);
	if (s->cycle.found && !(s->later.period > LONGER * s->cycle.period))
		s->later.found = false;
	/* While it grows nobody knows what is to come. */
	if (s->later.found && !d->live && s->r.verdict != WW_STANDBY_TOO_SHORT &&
	    s->opt.procedure != WW_STANDBY_ENERGYSTAR)
		by_later(s, d);
	return 0;
}
