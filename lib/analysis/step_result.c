/* SPDX-License-Identifier: MIT */
/* Events and levels from what is left. */
#include "analysis/steps_core.h"

#include <math.h>

/* Readings [from, to) of a level. */
struct span {
	size_t from, to;
};

static void level_result(const struct ww_step_data *d, const struct ww_step_fit *f, size_t from,
			 size_t to, double dither, struct ww_step_level *out)
{
	/* Of a line in the middle; of what settles in the end. */
	double when = f->shape == WW_LEVEL_LINE ? f->t0 : ww_step_when(f, f->drifts, f->t1), s;

	*out = (struct ww_step_level){.from = from, .to = to, .min = INFINITY, .max = -INFINITY};
	out->shape = f->shape;
	/* A slope that may be none is part of the uncertainty alone. */
	if (f->shape == WW_LEVEL_LINE && !f->drifts)
		out->shape = WW_LEVEL_CONSTANT;
	out->sigma = s = ww_step_seen(f);
	out->used = (size_t)f->n;
	out->n_eff = f->n / f->tau;
	out->dof = 8 + fmax(0, out->n_eff - f->params);
	out->value = ww_step_fit_at(f, when) + d->centre;
	out->uA = sqrt(f->s2 * f->tau * ww_step_fit_cov(f, when, when)) * ww_step_student(out->dof);
	out->q = f->q;
	out->uQ = ww_step_quantiser(f, dither);
	out->u = hypot(out->uA, out->uQ);
	out->undithered = out->uQ > 0.1 * f->q;
	out->begin = ww_step_fit_at(f, d->t[from]) + d->centre;
	out->end = ww_step_fit_at(f, d->t[to - 1]) + d->centre;
	if (out->shape == WW_LEVEL_LINE) {
		out->slope = f->a;
		out->slope_u = sqrt(f->s2 * f->tau * f->cov[1][1]) * ww_step_student(out->dof);
	}
	out->settled_i = from;
	if (f->shape == WW_LEVEL_SETTLING) {
		out->settling_s = f->tau_s;
		/* Until it cannot be told from the noise. */
		while (out->settled_i + 1 < to &&
		       fabs(ww_step_fit_at(f, d->t[out->settled_i]) - f->c) > s)
			out->settled_i++;
	}
	for (size_t i = from; i < to; i++) {
		if (d->out[i])
			continue;
		out->min = fmin(out->min, d->v[i] + d->centre);
		out->max = fmax(out->max, d->v[i] + d->centre);
	}
	if (out->min > out->max)
		out->min = out->max = out->value;
}

/* Log-likelihood ratio that the place of a change exceeds seldom (Yao 1987: 99.7 %). */
#define PLACE 13.0

/*
 * First and last reading that may be the first to show the change: those for which
 * the residuals about the two levels are hardly more than for the best place.
 */
static void place(const struct ww_step_data *d, const struct ww_step_fit *a,
		  const struct ww_step_fit *b, struct ww_step_bound bound, size_t least,
		  size_t most, size_t *lo, size_t *hi)
{
	double s2 = fmax(a->s2 * a->tau, b->s2 * b->tau), sum = 0, up = d->bound * sqrt(a->s2);
	double after = ww_step_fit_at(b, d->t[bound.f]);

	*lo = *hi = bound.i;
	for (size_t i = bound.i; i > least && bound.i - i < 256; i--) {
		double ra = d->v[i - 1] - ww_step_fit_at(a, d->t[i - 1]), rb = d->v[i - 1] - after;

		if (d->out[i - 1] && i < bound.i)
			continue;
		sum += rb * rb - ra * ra;
		if (sum < PLACE * s2)
			*lo = i - 1;
		else
			break;
	}
	sum = 0;
	for (size_t i = bound.i; i + 1 < most && i - bound.i < 256; i++) {
		double ra = d->v[i] - ww_step_fit_at(a, d->t[i]), rb = d->v[i] - after;

		if (fabs(ra) > up)
			break;
		sum += ra * ra - rb * rb;
		if (sum < PLACE * s2)
			*hi = i + 1;
		else
			break;
	}
	/* A spike just before it looks as its inrush does. */
	if (d->spiky && *hi < bound.f)
		*hi = bound.f;
}

/* The largest excursion beyond both levels until the new one is reached. */
static double peak(const struct ww_step_data *d, const struct ww_step_event *e, size_t from,
		   size_t to, double s)
{
	double hi = fmax(e->before, e->after) + 3 * s, lo = fmin(e->before, e->after) - 3 * s,
	       found = NAN, most = 0;

	for (size_t i = from; i < to; i++) {
		double v = d->v[i] + d->centre, beyond = fmax(v - hi, lo - v);

		if (beyond > most) {
			most = beyond;
			found = v;
		}
	}
	return found;
}

static void event_result(const struct ww_step_data *d, const struct ww_step_fit *a,
			 const struct ww_step_fit *b, const struct ww_step_level *la,
			 const struct ww_step_level *lb, struct ww_step_bound bound,
			 struct ww_step_event *e)
{
	double t = d->t[bound.i], va, vb, s = sqrt(fmax(a->s2, b->s2)),
	       ta = ww_step_when(a, a->drifts, t), tb = ww_step_when(b, b->drifts, t);
	size_t lo, hi, end;

	*e = (struct ww_step_event){.i = bound.i, .settled_i = lb->settled_i, .marker = -1};
	e->before = ww_step_fit_at(a, ta) + d->centre;
	e->after = ww_step_fit_at(b, tb) + d->centre;
	e->delta = e->after - e->before;
	va = ww_step_fit_cov(a, ta, ta) * a->s2 * a->tau;
	vb = ww_step_fit_cov(b, tb, tb) * b->s2 * b->tau;
	e->uQ = hypot(la->uQ, lb->uQ);
	ww_step_uncertainty(d, va, la->dof, vb, lb->dof, e);
	e->before_u = hypot(sqrt(va) * ww_step_student(la->dof), la->uQ);
	e->after_u = hypot(sqrt(vb) * ww_step_student(lb->dof), lb->uQ);
	place(d, a, b, bound, la->from, lb->to, &lo, &hi);
	e->t_lo = lo ? d->lo[lo - 1] : d->lo[0];
	e->t_hi = d->hi[hi];
	if (e->settled_i < hi)
		e->settled_i = hi;
	e->settled = fmax(d->t[e->settled_i] + d->origin, e->t_hi);
	end = e->settled_i + 3 < lb->to ? e->settled_i + 3 : lb->to;
	e->peak = peak(d, e, bound.i, end, s);
	ww_step_judge(la, lb, e, WW_STEP_DETECTED);
}

int ww_step_results(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		    struct ww_step_result *out)
{
	struct ww_step_fit *fit = malloc((bounds + 1) * sizeof(*fit));
	struct span *span = malloc((bounds + 1) * sizeof(*span));
	double dither;

	out->level = calloc(bounds + 1, sizeof(*out->level));
	out->event = calloc(bounds ? bounds : 1, sizeof(*out->event));
	if (!fit || !span || !out->level || !out->event) {
		free(fit);
		free(span);
		return -ENOMEM;
	}
	for (size_t k = 0; k <= bounds; k++) {
		span[k].from = k ? bound[k - 1].f : 0;
		span[k].to = k < bounds ? bound[k].i : d->n;
		ww_step_fit(d, span[k].from, span[k].to, &fit[k]);
		fit[k].q = ww_step_own_q(d, span[k].from, span[k].to);
	}
	for (size_t k = 0; k <= bounds; k++)
		fit[k].drifts = ww_step_drifts(&fit[k], k ? &fit[k - 1] : NULL);
	dither = ww_step_dither(d, fit, bounds + 1);
	for (size_t k = 0; k <= bounds; k++)
		level_result(d, &fit[k], span[k].from, span[k].to, dither, &out->level[k]);
	for (size_t k = 0; k < bounds; k++)
		event_result(d, &fit[k], &fit[k + 1], &out->level[k], &out->level[k + 1], bound[k],
			     &out->event[k]);
	for (size_t k = 0; k + 1 < bounds; k++) {
		const struct ww_step_fit *f = &fit[k + 1];
		double c = ww_step_fit_cov(f, ww_step_when(f, f->drifts, d->t[bound[k].i]),
					   ww_step_when(f, f->drifts, d->t[bound[k + 1].i]));

		out->event[k].cov_next =
			-c * f->s2 * f->tau - out->level[k + 1].uQ * out->level[k + 1].uQ;
	}
	out->events = bounds;
	out->levels = bounds + 1;
	free(fit);
	free(span);
	return 0;
}
