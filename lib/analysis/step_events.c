/* SPDX-License-Identifier: MIT */
/* Changes of the partition that belong to one event are taken together. */
#include "analysis/fpop.h"
#include "analysis/steps_core.h"
#include "analysis/steps_match.h"

#include <math.h>

struct gather {
	struct ww_step_data *d;
	const struct ww_fpop *f;
	const double *marker;
	size_t markers, next_marker;
	struct ww_step_bound *bound;
	size_t bounds;
	bool own;	     /* a mark of the latest event was seen */
	size_t first, chain; /* changes of the latest event: first, and last of a row */
};

static double mark(const struct gather *g, size_t m)
{
	return g->marker[m] - g->d->origin;
}

static size_t end_of(const struct gather *g, size_t k)
{
	return k + 1 < g->f->changes ? g->f->change[k + 1] : g->d->n;
}

/* Whether a mark before time t, or one that may have come late, is the event's own. */
static void own_mark(struct gather *g, double t)
{
	g->own = false;
	for (; g->next_marker < g->markers && mark(g, g->next_marker) <= t; g->next_marker++)
		g->own = t - mark(g, g->next_marker) <= WW_MATCH_LATE_S;
}

/* Whether somebody marked another change between the event at t and reading `to`. */
static bool marked(struct gather *g, double t, size_t to)
{
	if (g->next_marker < g->markers && !g->own &&
	    mark(g, g->next_marker) <= t + WW_MATCH_EARLY_S) {
		g->own = true;
		g->next_marker++;
	}
	return g->next_marker < g->markers && mark(g, g->next_marker) < g->d->t[to];
}

/*
 * Change k is small beside the event before it, not long after it, and a smooth
 * curve describes what lies around it no worse than a jump.
 */
static bool settling(const struct gather *g, size_t k)
{
	const struct ww_step_data *d = g->d;
	size_t from = g->f->change[k - 1], at = g->f->change[k], to = end_of(g, k);
	double all = fabs(g->f->level[k] - g->f->level[g->first]), s = ww_step_local(d, at), jump,
	       smooth;

	if (d->t[at] - d->t[g->f->change[g->first]] > WW_STEP_SETTLING_S ||
	    fabs(g->f->level[k + 1] - g->f->level[k]) > WW_STEP_SETTLING * all)
		return false;
	jump = ww_step_fit_as(d, from, at, WW_LEVEL_CONSTANT) +
	       ww_step_fit_as(d, at, to, WW_LEVEL_CONSTANT);
	smooth = fmin(ww_step_fit_as(d, from, to, WW_LEVEL_LINE),
		      ww_step_fit_as(d, from, to, WW_LEVEL_SETTLING));
	return smooth < jump + 9 * s * s * ww_step_tau(d, at);
}

/* An outlier of both levels that is nearer to the old one is the old one's. */
static size_t first_of(const struct gather *g, size_t k)
{
	const struct ww_step_data *d = g->d;
	size_t i = g->f->change[k], end = end_of(g, k);

	while (i + 1 < end &&
	       fabs(d->v[i] - g->f->level[k + 1]) >= d->bound * ww_step_reach(d, i) &&
	       fabs(d->v[i] - g->f->level[k]) < fabs(d->v[i] - g->f->level[k + 1]))
		i++;
	return i;
}

/* Outliers just before a change, to the same side, are its first readings. */
static size_t onset(const struct gather *g, size_t k, size_t i)
{
	const struct ww_step_data *d = g->d;
	double up = g->f->level[k + 1] > g->f->level[k] ? 1 : -1;
	size_t at = i, least = k ? g->f->change[k - 1] : 0;

	while (i > least + 1 && d->t[at] - d->t[i - 1] < WW_STEP_SETTLING_S &&
	       up * (d->v[i - 1] - g->f->level[k]) >= d->bound * ww_step_reach(d, i - 1))
		i--;
	return i;
}

/*
 * Changes so close, in s, are one: an inrush and what it leads to. Of readings that come
 * each second those are 5 s; among fast ones a second tells a level from an inrush.
 */
static double together(const struct ww_step_data *d)
{
	double few = fmax(WW_STEP_INRUSH_S, WW_STEP_LEVEL_N * d->period);

	return fmax(fmin(few, WW_STEP_TOGETHER_S), 1.5 * d->period);
}

static void gather(struct gather *g)
{
	const struct ww_step_data *d = g->d;
	/* Of fast readings chance makes many changes: later, see ww_step_together(). */
	double row = d->block > 1 ? 0 : together(d);

	for (size_t k = 0; k < g->f->changes; k++) {
		size_t at = first_of(g, k), on = onset(g, k, at);
		struct ww_step_bound *b = &g->bound[g->bounds ? g->bounds - 1 : 0];

		if (g->bounds && !marked(g, d->t[b->i], at)) {
			if (g->chain + 1 == k && d->t[on] - d->t[g->f->change[k - 1]] <= row &&
			    d->t[at] - d->t[b->i] <= WW_STEP_SETTLING_S) {
				b->f = at;
				g->chain = k;
				continue;
			}
			if (settling(g, k))
				continue;
		}
		/* Few readings at either end of the trace are a spike. */
		if ((double)at <= d->spike || (double)(d->n - at) <= d->spike)
			continue;
		g->first = g->chain = k;
		g->bound[g->bounds++] = (struct ww_step_bound){on, at};
		own_mark(g, d->t[on]);
	}
}

/* Readings that no level is fitted to. */
static void mark_out(struct ww_step_data *d, const struct ww_fpop *f)
{
	size_t k = 0;

	for (size_t i = 0; i < d->n; i++) {
		while (k < f->changes && f->change[k] <= i)
			k++;
		d->out[i] =
			f->level && fabs(d->v[i] - f->level[k]) >= d->bound * ww_step_reach(d, i);
	}
}

/*
 * What lies between two levels is part of neither; nor is the average over cycles of
 * the mains in which the change lies.
 */
static void take_out(struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds)
{
	for (size_t k = 0; k < bounds; k++) {
		memset(&d->out[bound[k].i], 1, bound[k].f - bound[k].i);
		if (d->block == 1)
			continue;
		if (bound[k].i > 0)
			d->out[bound[k].i - 1] = 1;
		d->out[bound[k].f] = 1;
	}
	ww_step_data_sum(d);
}

/* Spikes by themselves: large outliers away from any change. */
static void find_spikes(struct ww_step_data *d, const struct ww_fpop *f)
{
	size_t k = 0, runs = 0;
	bool in = false;

	for (size_t i = 0; i < d->n; i++) {
		bool large;

		while (k < f->changes && f->change[k] <= i)
			k++;
		large = d->out[i] &&
			fabs(d->v[i] - f->level[k]) > 2 * d->bound * ww_step_reach(d, i);
		/* Beside a change it may be its inrush. */
		if (large && ((k < f->changes && (double)(f->change[k] - i) <= d->spike + 1) ||
			      (k && (double)(i - f->change[k - 1]) <= d->spike + 1)))
			large = false;
		runs += large && !in;
		in = large;
	}
	d->spiky = runs >= 3 && 4 * runs >= f->changes;
}

bool ww_step_together(struct ww_step_data *d, const double *marker, size_t markers,
		      struct ww_step_bound *bound, size_t *bounds)
{
	size_t left = 0, m = 0, last = 0;

	if (d->block == 1 || *bounds < 2)
		return false;
	for (size_t k = 0; k < *bounds; k++) {
		struct ww_step_bound *b = left ? &bound[left - 1] : NULL;

		while (b && m < markers && marker[m] - d->origin <= d->t[b->i])
			m++;
		if (b && d->t[bound[k].i] - d->t[last] <= together(d) &&
		    d->t[bound[k].i] - d->t[b->i] <= WW_STEP_TOGETHER_S &&
		    (m == markers || marker[m] - d->origin > d->t[bound[k].i]))
			b->f = bound[k].f;
		else
			bound[left++] = bound[k];
		last = bound[k].i;
	}
	if (left == *bounds)
		return false;
	*bounds = left;
	take_out(d, bound, left);
	return true;
}

int ww_step_bounds(struct ww_step_data *d, const double *marker, size_t markers,
		   struct ww_step_bound **bound, size_t *bounds)
{
	struct gather g = {.d = d, .marker = marker, .markers = markers};
	double *scale = malloc((d->n ? d->n : 1) * sizeof(*scale));
	struct ww_fpop f = {.change = NULL};
	int rc;

	*bound = NULL;
	*bounds = 0;
	if (!scale)
		return -ENOMEM;
	for (size_t i = 0; i < d->n; i++)
		scale[i] = ww_step_reach(d, i);
	rc = ww_fpop(d->v, scale, d->n, d->beta, d->bound, &f);
	free(scale);
	if (rc < 0)
		return rc;
	mark_out(d, &f);
	if (f.level)
		find_spikes(d, &f);
	ww_step_data_sum(d);
	g.f = &f;
	g.bound = malloc((f.changes ? f.changes : 1) * sizeof(*g.bound));
	if (!g.bound) {
		ww_fpop_clear(&f);
		return -ENOMEM;
	}
	if (f.level)
		gather(&g);
	if (f.changes && (double)f.change[0] <= d->spike)
		memset(d->out, 1, f.change[0]);
	if (f.changes && (double)(d->n - f.change[f.changes - 1]) <= d->spike)
		memset(&d->out[f.change[f.changes - 1]], 1, d->n - f.change[f.changes - 1]);
	take_out(d, g.bound, g.bounds);
	ww_fpop_clear(&f);
	*bound = g.bound;
	*bounds = g.bounds;
	return 0;
}
