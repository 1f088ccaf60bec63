/* SPDX-License-Identifier: MIT */
/*
 * Fearnhead & Rigaill, JASA 114 (2019): partition with the biweight loss. The limits of
 * what belongs to one change, and the elimination, are this program's own.
 */
#include "analysis/noise.h"
#include "analysis/steps_core.h"
#include "analysis/steps_match.h"

#include <math.h>

#define PI 3.14159265358979323846

/* From averages back to readings. */
static void to_readings(const struct ww_step_data *d, struct ww_step_result *r)
{
	for (size_t k = 0; k < r->events; k++) {
		r->event[k].i = d->first[r->event[k].i];
		r->event[k].settled_i = d->first[r->event[k].settled_i];
	}
	for (size_t k = 0; k < r->levels; k++) {
		struct ww_step_level *l = &r->level[k];

		l->from = d->first[l->from];
		l->to = d->first[l->to - 1] + d->block;
		l->settled_i = d->first[l->settled_i];
		l->used *= d->block;
	}
}

#define FLAT	 9.0  /* what a change must save against one curve, in variances */
#define DRIFTING 18.0 /* where curves are usual, and the best of many places was taken */
#define CHANGE	 10.0 /* what a change counts for when two explanations are compared */
#define LESS	 0.8  /* tau, in parts of what it was */

static void learn(struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		  const struct ww_step_bound *all, size_t n)
{
	ww_step_pooled(d, bound, bounds, false, &d->phi, &d->tau);
	ww_step_pooled(d, bound, bounds, true, &d->odd_phi, &d->odd_tau);
	ww_step_drift(d, bound, bounds, all, n);
}

/* What levels and changes leave and cost together, in variances. */
static double cost(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds)
{
	double sum = CHANGE * (double)bounds;

	for (size_t k = 0; k <= bounds; k++) {
		size_t from = k ? bound[k - 1].f : 0, to = k < bounds ? bound[k].i : d->n;
		double s = fmax(d->sigma, ww_step_local(d, from + (to - from) / 2));
		struct ww_step_fit f;

		ww_step_fit(d, from, to, &f);
		sum += f.rss / (s * s * f.tau) + 6 * (double)(f.params - 1);
	}
	return sum;
}

/*
 * A drift that is cut into stairs hides, and small steps look like a drift: the trace is
 * explained once by flat levels and once by few that may drift, and the cheaper wins.
 */
static int choose(struct ww_step_data *d, struct ww_step_bound *all, size_t n,
		  struct ww_step_bound *some, struct ww_step_bound *bound, size_t *bounds)
{
	double drifting, flat, tau = d->tau, odd = d->odd_tau;
	size_t left = n;
	int rc;

	d->smooth = DRIFTING;
	rc = ww_step_prune(d, some, &left);
	if (rc < 0)
		return rc;
	drifting = cost(d, some, left);
	d->flat = true;
	d->smooth = FLAT;
	rc = ww_step_prune(d, bound, bounds);
	if (rc < 0)
		return rc;
	flat = cost(d, bound, *bounds);
	if (flat <= drifting)
		return 0;
	d->flat = false;
	d->smooth = DRIFTING;
	learn(d, some, left, all, n);
	/* What does not stand out of less noise does not of more; a little less finds no more. */
	if (d->slope2 > 0 || d->drifting || d->tau < LESS * tau || d->odd_tau < LESS * odd) {
		some = all;
		left = n;
	}
	memcpy(bound, some, left * sizeof(*some));
	*bounds = left;
	return ww_step_prune(d, bound, bounds);
}

/* What is learnt of noise and drift from the levels may drop more of the changes. */
static int settle(struct ww_step_data *d, struct ww_step_bound *bound, size_t *bounds)
{
	size_t n = *bounds, was;
	struct ww_step_bound *all = malloc((2 * n + 1) * sizeof(*all));
	int rc;

	if (!all)
		return -ENOMEM;
	memcpy(all, bound, n * sizeof(*all));
	memcpy(all + n, bound, n * sizeof(*all));
	rc = choose(d, all, n, all + n, bound, bounds);
	for (int turn = 0; rc == 0 && turn < 4; turn++) {
		double tau = d->tau, odd = d->odd_tau, slope2 = d->slope2;

		learn(d, bound, *bounds, all, n);
		if (d->tau <= 1.02 * tau && d->odd_tau <= 1.02 * odd && d->slope2 <= slope2)
			break;
		was = *bounds;
		rc = ww_step_prune(d, bound, bounds);
		if (*bounds == was)
			break;
	}
	free(all);
	return rc;
}

static int known_all(const struct ww_step_input *in, struct ww_step_result *out,
		     struct ww_error *err)
{
	char *taken = calloc(in->markers ? in->markers : 1, 1);

	out->known = calloc(in->markers ? in->markers : 1, sizeof(*out->known));
	if (!taken || !out->known) {
		free(taken);
		return ww_fail_nomem(err);
	}
	for (size_t k = 0; k < out->events; k++)
		if (out->event[k].marker >= 0)
			taken[out->event[k].marker] = 1;
	for (size_t m = 0; m < in->markers; m++) {
		struct ww_step_event *e = &out->known[out->knowns];
		int rc = taken[m] ? -ENODATA : ww_steps_known(in, out, in->marker[m], e, NULL);

		if (rc == -ENODATA)
			continue;
		if (rc < 0) {
			free(taken);
			return ww_fail_nomem(err);
		}
		e->marker = (int32_t)m;
		out->knowns++;
	}
	free(taken);
	return 0;
}

int ww_steps_find(const struct ww_step_input *in, struct ww_step_result *out, struct ww_error *err)
{
	struct ww_step_bound *bound = NULL;
	struct ww_step_data d;
	size_t bounds = 0;
	int rc;

	*out = (struct ww_step_result){.events = 0};
	rc = ww_step_data_init(&d, in, err);
	if (rc < 0 || d.n == 0)
		goto out;
	out->block = d.block;
	out->mains_hz = d.mains_hz;
	rc = ww_step_bounds(&d, in->marker, in->markers, &bound, &bounds);
	if (rc == 0)
		rc = settle(&d, bound, &bounds);
	if (rc == 0 && ww_step_together(&d, in->marker, in->markers, bound, &bounds))
		rc = ww_step_prune(&d, bound, &bounds);
	if (rc == 0) {
		ww_step_bends(&d, in->marker, in->markers, bound, &bounds);
		rc = ww_step_results(&d, bound, bounds, out);
	}
	if (rc < 0) {
		ww_fail_nomem(err);
		goto out;
	}
	out->least = d.least;
	out->sigma = d.sigma;
	out->phi = d.phi;
	out->tau = d.tau;
	to_readings(&d, out);
	if (d.mains_hz > 0)
		for (size_t k = 0; k < out->events; k++)
			ww_step_refine(&d, in, &out->event[k]);
	rc = ww_steps_match(in->marker, in->markers, out->event, out->events, err);
	if (rc == 0)
		rc = known_all(in, out, err);
out:
	free(bound);
	ww_step_data_free(&d);
	if (rc < 0)
		ww_steps_clear(out);
	return rc;
}

void ww_steps_clear(struct ww_step_result *r)
{
	free(r->event);
	free(r->level);
	free(r->known);
	*r = (struct ww_step_result){.events = 0};
}

double ww_quantised_mean(double x, double q, double sigma)
{
	double sum = 0, first;

	if (!(q > 0))
		return x;
	if (!(sigma > 0))
		return q * floor(x / q + 0.5);
	if (sigma > 2 * q)
		return x;
	/* Each code times the probability that the reading falls upon it. */
	first = floor((x - 9 * sigma) / q);
	for (int i = 0; first + i <= (x + 9 * sigma) / q + 1; i++) {
		double k = first + i, hi = ((k + 0.5) * q - x) / (sigma * sqrt(2)),
		       lo = ((k - 0.5) * q - x) / (sigma * sqrt(2));

		sum += k * q * (erfc(lo) - erfc(hi)) / 2;
	}
	return sum;
}
