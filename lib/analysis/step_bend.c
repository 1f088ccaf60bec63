/* SPDX-License-Identifier: MIT */
/* A load that settles late: it stays for a while before it does. */
#include "analysis/steps_core.h"

#include <math.h>

#define JUMP 0.3 /* most of a bend that may come at once, a part */

/*
 * Between a and b nothing jumps, b settles, and a is short beside the time that b takes. A
 * settles too, with another time constant, or what b settles by is small beside the change
 * before a.
 */
static bool bend(const struct ww_step_data *d, struct ww_step_bound first,
		 struct ww_step_bound second, const struct ww_step_fit fit[3])
{
	const struct ww_step_fit *a = &fit[1], *b = &fit[2];
	double t = d->t[second.f], here = ww_step_fit_at(a, t), all, jump, before;

	if (b->shape != WW_LEVEL_SETTLING || ww_step_drifts(b, a) ||
	    t - d->t[first.f] > fmax(WW_STEP_SETTLING_S, b->tau_s))
		return false;
	all = fabs(ww_step_fit_at(b, ww_step_when(b, false, t)) - here);
	jump = fabs(ww_step_fit_at(b, t) - here);
	before = fabs(here - ww_step_fit_at(&fit[0], d->t[first.i]));
	if (jump > JUMP * all)
		return false;
	return all <= WW_STEP_SETTLING * before ||
	       (a->shape == WW_LEVEL_SETTLING && !ww_step_drifts(a, &fit[0]));
}

static bool marked(const struct ww_step_data *d, const double *marker, size_t markers,
		   struct ww_step_bound first, struct ww_step_bound second)
{
	for (size_t m = 0; m < markers; m++)
		if (marker[m] - d->origin > d->t[first.i] &&
		    marker[m] - d->origin <= d->t[second.f])
			return true;
	return false;
}

void ww_step_bends(struct ww_step_data *d, const double *marker, size_t markers,
		   struct ww_step_bound *bound, size_t *bounds)
{
	struct ww_step_fit fit[3] = {{.n = 0}};
	size_t n = *bounds, left = 0;

	for (size_t k = 0; k <= n; k++) {
		fit[0] = fit[1];
		fit[1] = fit[2];
		ww_step_fit(d, k ? bound[k - 1].f : 0, k < n ? bound[k].i : d->n, &fit[2]);
		if (k == 0)
			continue;
		/* bound[left] is not read any more. */
		if (k > 1 && left && bend(d, bound[left - 1], bound[k - 1], fit) &&
		    !marked(d, marker, markers, bound[left - 1], bound[k - 1])) {
			memset(&d->out[bound[left - 1].f], 1, bound[k - 1].f - bound[left - 1].f);
			bound[left - 1].f = bound[k - 1].f;
		} else {
			bound[left++] = bound[k - 1];
		}
	}
	if (left < n)
		ww_step_data_sum(d);
	*bounds = left;
}
