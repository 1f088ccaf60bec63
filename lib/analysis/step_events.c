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

static size_t end_of(const struct gather *g, size_t k)
{
	return k + 1 < g->f->changes ? g->f->change[k + 1] : g->d->n;
}

/* Whether a mark before time t, or one that may have come late, is the event's own. */
static void own_mark(struct gather *g, double t)
{
	g->own = false;
	for (; g->next_marker < g->markers && g->marker[g->next_marker] <= t; g->next_marker++)
		g->own = t - g->marker[g->next_marker] <= WW_MATCH_LATE_S;
}

/* Whether somebody marked another change between the event at t and reading `to`. */
static bool marked(struct gather *g, double t, size_t to)
{
	const double *m = &g->marker[g->next_marker];

	if (g->next_marker < g->markers && !g->own && *m <= t + WW_MATCH_EARLY_S) {
		g->own = true;
		g->next_marker++;
		m++;
	}
	return g->next_marker < g->markers && *m < g->d->t[to];
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

/* Outliers just before a change, to the same side, are its first readings. */
static size_t onset(const struct gather *g, size_t k)
{
	const struct ww_step_data *d = g->d;
	double up = g->f->level[k + 1] > g->f->level[k] ? 1 : -1;
	size_t i = g->f->change[k], least = k ? g->f->change[k - 1] : 0;

	while (i > least + 1 && d->t[g->f->change[k]] - d->t[i - 1] < WW_STEP_SETTLING_S &&
	       up * (d->v[i - 1] - g->f->level[k]) >= d->bound * ww_step_reach(d, i - 1))
		i--;
	return i;
}

/*
 * The average in which the change lies is part of neither level. Which of two it is
 * cannot be told where the change is small.
 */
static void ends(const struct gather *g, const struct ww_step_bound *b)
{
	if (g->d->block == 1)
		return;
	if (b->i > 0)
		g->d->out[b->i - 1] = 1;
	g->d->out[b->f] = 1;
}

static void gather(struct gather *g)
{
	const struct ww_step_data *d = g->d;
	double row = fmax(WW_STEP_TOGETHER_S, 1.5 * d->period);

	for (size_t k = 0; k < g->f->changes; k++) {
		size_t at = g->f->change[k];
		struct ww_step_bound *b = g->bounds ? &g->bound[g->bounds - 1] : NULL;

		if (b && !marked(g, d->t[b->i], at)) {
			if (g->chain + 1 == k && d->t[at] - d->t[g->f->change[k - 1]] <= row &&
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
		g->bound[g->bounds++] = (struct ww_step_bound){onset(g, k), at};
		ends(g, &g->bound[g->bounds - 1]);
		own_mark(g, d->t[g->bound[g->bounds - 1].i]);
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
	ww_step_data_sum(d);
	g.f = &f;
	g.bound = malloc((f.changes ? f.changes : 1) * sizeof(*g.bound));
	if (!g.bound) {
		ww_fpop_clear(&f);
		return -ENOMEM;
	}
	gather(&g);
	if (f.changes && (double)f.change[0] <= d->spike)
		memset(d->out, 1, f.change[0]);
	if (f.changes && (double)(d->n - f.change[f.changes - 1]) <= d->spike)
		memset(&d->out[f.change[f.changes - 1]], 1, d->n - f.change[f.changes - 1]);
	for (size_t k = 0; k < g.bounds; k++)
		memset(&d->out[g.bound[k].i], 1, g.bound[k].f - g.bound[k].i);
	ww_step_data_sum(d);
	ww_fpop_clear(&f);
	*bound = g.bound;
	*bounds = g.bounds;
	return 0;
}
