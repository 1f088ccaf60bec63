/* SPDX-License-Identifier: MIT */
/* Whether a level drifts as the whole trace does, or settles after a change. */
#include "analysis/steps_core.h"

#include <math.h>

#define NEARLY 0.4  /* time constant, in parts of the level, of which the end can be told */
#define STEEP  16.0 /* variances: a slope that is beyond doubt */

/* Slope at t, per s. */
static double slope_at(const struct ww_step_fit *f, double t)
{
	if (f->shape == WW_LEVEL_LINE)
		return f->a;
	if (f->shape == WW_LEVEL_SETTLING)
		return -f->a / f->tau_s * exp(-(t - f->t0) / f->tau_s);
	return 0;
}

bool ww_step_drifts(const struct ww_step_fit *f, const struct ww_step_fit *before)
{
	double was, is;

	if (f->shape == WW_LEVEL_LINE)
		return f->a * f->a > 9 * f->s2 * f->tau * f->cov[1][1];
	if (f->shape == WW_LEVEL_CONSTANT || f->tau_s <= WW_STEP_FADED * (f->t1 - f->t0))
		return false;
	if (!before)
		return true;
	was = slope_at(before, f->t0);
	is = slope_at(f, f->t0);
	return before->drifts && was * is > 0 && fabs(is) < 5 * fabs(was);
}

double ww_step_when(const struct ww_step_fit *f, bool drifts, double t)
{
	if (drifts || f->shape != WW_LEVEL_SETTLING)
		return t;
	return f->tau_s <= NEARLY * (f->t1 - f->t0) ? INFINITY : f->t1;
}

/* Whether one of the changes that were dropped from [from, to) explains it better. */
static bool stepped(const struct ww_step_data *d, size_t from, size_t to,
		    const struct ww_step_fit *line, const struct ww_step_bound *all, size_t n)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].i <= from)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && all[lo].f < to; lo++)
		if (ww_step_fit_as(d, from, all[lo].i, WW_LEVEL_CONSTANT) +
			    ww_step_fit_as(d, all[lo].f, to, WW_LEVEL_CONSTANT) <
		    line->rss - 4 * line->s2 * line->tau)
			return true;
	return false;
}

/*
 * Variance of the slopes of a trace's levels beyond what noise makes (method of
 * moments). A drift that no level shows by itself is seen in all of them; slopes that
 * are held by this variance (James & Stein; ridge regression) stay none without drift.
 */
void ww_step_drift(struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		   const struct ww_step_bound *all, size_t n)
{
	double few[2] = {0, 0}, z2[2] = {0, 0}, sum[2] = {0, 0}, chance;
	struct ww_step_fit now, before, line;

	for (size_t k = 0; k <= bounds; k++) {
		size_t from = k ? bound[k - 1].f : 0, to = k < bounds ? bound[k].i : d->n;
		double var;
		int steep;

		ww_step_fit(d, from, to, &now);
		now.drifts = ww_step_drifts(&now, k ? &before : NULL);
		before = now;
		if (now.n < 12 || (now.shape == WW_LEVEL_SETTLING && !now.drifts))
			continue;
		ww_step_fit_line(d, from, to, &line);
		var = line.s2 * line.tau * line.cov[1][1];
		steep = line.a * line.a > STEEP * var;
		if (line.a * line.a > 4 * var && stepped(d, from, to, &now, all, n))
			continue;
		few[steep] += 1;
		z2[steep] += line.a * line.a / var;
		sum[steep] += line.a * line.a - var;
	}
	/* A single level that drifts tells nothing of the others. */
	d->drifting = few[1] > 1 && few[1] > 0.1 * (few[0] + few[1]);
	d->steep = few[1] > 0;
	chance = few[0] + 1.28 * sqrt(2 * few[0]) + 0.6;
	d->slope2 = 0;
	if (d->drifting)
		d->slope2 = (sum[0] + sum[1]) / (few[0] + few[1]);
	else if (few[0] > 0 && z2[0] > chance)
		d->slope2 = fmax(0, sum[0] / few[0]);
}
