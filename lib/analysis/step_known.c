/* SPDX-License-Identifier: MIT */
/* A change at a time that somebody told: no detection, an estimate. */
#include "analysis/noise.h"
#include "analysis/steps_core.h"
#include "analysis/steps_match.h"
#include "base/stats.h"

#include <math.h>

#define SAMPLED 512

/* The readings of one side of the time, by averages of `block`, less the level's shape. */
struct side {
	size_t from, to;
	double n, t, v;	   /* count and means */
	double tt, tv, vv; /* sums about them */
	double median;
};

struct known {
	const struct ww_step_input *in;
	const struct ww_step_result *r;
	const struct ww_step_level *level;
	double swing; /* of a level that settles: what it would have come down by in the end */
	struct side side[2];
};

/* First reading later than t in [from, to). */
static size_t later(const double *t, size_t from, size_t to, double x)
{
	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (t[mid] <= x)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* One average of readings, less a settling that is already known of. */
static void average(const struct known *k, size_t i, double *t, double *v)
{
	const struct ww_step_level *l = k->level;
	size_t block = k->r->block;

	*v = 0;
	for (size_t j = i; j < i + block; j++)
		*v += k->in->v[j] / (double)block;
	*t = k->in->t[i + block - 1];
	if (l->shape == WW_LEVEL_SETTLING)
		*v -= k->swing * exp(-(*t - k->in->t[l->from]) / l->settling_s);
}

static void find_median(const struct known *k, struct side *s)
{
	size_t block = k->r->block, blocks = (s->to - s->from) / block, m = 0;
	double tmp[SAMPLED], t;

	for (size_t i = 0; i < blocks; i += blocks / SAMPLED + 1)
		average(k, s->from + i * block, &t, &tmp[m++]);
	s->median = ww_median(tmp, m);
}

static void sum_up(const struct known *k, struct side *s)
{
	size_t block = k->r->block;
	double slope = k->level->slope, reach = 5 * k->level->sigma + 1e-12, mid;

	find_median(k, s);
	mid = (k->in->t[s->from] + k->in->t[s->to - 1]) / 2;
	for (size_t i = s->from; i + block <= s->to; i += block) {
		double t, v, dt, dv;

		average(k, i, &t, &v);
		if (fabs(v - s->median - slope * (t - mid)) > reach)
			continue;
		s->n += 1;
		dt = t - s->t;
		dv = v - s->v;
		s->t += dt / s->n;
		s->v += dv / s->n;
		s->tt += dt * (t - s->t);
		s->tv += dt * (v - s->v);
		s->vv += dv * (v - s->v);
	}
}

/* The level that t lies in; NULL between two of them. */
static const struct ww_step_level *level_at(const struct ww_step_input *in,
					    const struct ww_step_result *r, double t)
{
	size_t lo = 0, hi = r->levels;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (in->t[r->level[mid].to - 1] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < r->levels && in->t[r->level[lo].from] <= t ? &r->level[lo] : NULL;
}

/*
 * Another mark may be another change: neither side reaches beyond it. One so near that
 * it may mean the same change is left aside.
 */
static void between_marks(const struct ww_step_input *in, double t, double *begin, double *end)
{
	for (size_t k = 0; k < in->markers; k++) {
		double m = in->marker[k];

		if (m < t - WW_MATCH_LATE_S)
			*begin = fmax(*begin, fmin(m + WW_MATCH_LATE_S, t - WW_MATCH_EARLY_S));
		if (m > t + WW_MATCH_LATE_S)
			*end = fmin(*end, m - WW_MATCH_EARLY_S);
	}
}

/* A mark is set by hand, so that readings near it belong to neither side. */
static int choose(struct known *k, double t, struct ww_error *err)
{
	const struct ww_step_input *in = k->in;
	const struct ww_step_level *l = k->level;
	struct side *a = &k->side[0], *b = &k->side[1];
	double early, late, begin, end;

	if (!l)
		goto none;
	begin = in->t[l->from];
	end = in->t[l->to - 1];
	between_marks(in, t, &begin, &end);
	early = fmin(WW_MATCH_EARLY_S, (t - begin) / 4);
	late = fmin(WW_MATCH_LATE_S, (end - t) / 4);
	a->from = begin > in->t[l->from] ? later(in->t, l->from, l->to, begin) : l->from;
	a->to = later(in->t, a->from, l->to, t - early);
	b->from = later(in->t, a->to, l->to, t + late);
	b->to = later(in->t, b->from, l->to, end);
	if (a->to - a->from < 2 * k->r->block || b->to - b->from < 2 * k->r->block)
		goto none;
	return 0;
none:
	return ww_fail(err, -ENODATA, "too few readings around %.3f s for an estimate", t);
}

static void side_level(const struct known *k, int which, double var, double s2, double dof,
		       struct ww_step_level *out)
{
	const struct side *s = &k->side[which];
	double q = k->level->q, seen;

	seen = sqrt(fmax(0, s->vv - (s->tt > 0 ? k->level->slope * s->tv : 0)) / fmax(1, s->n - 1));
	*out = (struct ww_step_level){.n_eff = s->n, .dof = dof, .q = q};
	out->uQ = ww_quantiser_seen_u(q, s->n < 8 ? fmin(seen, sqrt(s2)) : seen);
	out->uA = sqrt(var) * ww_step_student(dof);
	out->u = hypot(out->uA, out->uQ);
	out->undithered = out->uQ > 0.1 * q;
}

/* Whether a step without a slope leaves less than a slope without a step. */
static bool step_alone(const struct side *a, const struct side *b)
{
	double w = a->n * b->n / (a->n + b->n), dt = b->t - a->t, dv = b->v - a->v,
	       tt = a->tt + b->tt + w * dt * dt, tv = a->tv + b->tv + w * dt * dv;

	if (!(a->tt + b->tt > 0))
		return true;
	return w * dv * dv > tv * tv / tt;
}

/* v = before + step (after) + slope t: normal equations about each side's means. */
static void solve(struct known *k, double t, struct ww_step_event *e)
{
	const struct side *a = &k->side[0], *b = &k->side[1];
	bool sloped = k->level->shape == WW_LEVEL_LINE && !step_alone(a, b);
	double tt = a->tt + b->tt, g = sloped ? (a->tv + b->tv) / tt : 0, rss, s2, dof,
	       apart = b->t - a->t, va, vb, floor = k->in->resolution / sqrt(12),
	       tau = (double)k->level->used / (double)k->r->block / k->level->n_eff;
	struct ww_step_data d = {.q = k->r->block > 1 ? 0 : k->in->resolution,
				 .gain = k->in->acc_rel > 0 ? k->in->acc_rel : 0};
	struct ww_step_level la, lb;

	rss = a->vv + b->vv - g * (a->tv + b->tv);
	dof = a->n + b->n - 2 - sloped;
	s2 = fmax(0, rss) / fmax(1, dof);
	if (dof < 8)
		s2 = (s2 * dof + 8 * k->level->sigma * k->level->sigma) / (dof + 8);
	s2 = fmax(s2, k->r->block > 1 ? 0 : floor * floor) * tau;
	dof = fmax(1, (a->n + b->n) / tau - 2 - sloped);
	e->before = a->v + g * (t - a->t);
	e->after = b->v + g * (t - b->t);
	e->delta = e->after - e->before;
	va = s2 / a->n;
	vb = s2 / b->n;
	if (sloped)
		va += s2 * apart * apart / tt;
	side_level(k, 0, va, s2 / tau, dof, &la);
	side_level(k, 1, vb, s2 / tau, dof, &lb);
	e->before_u = la.u;
	e->after_u = lb.u;
	e->uQ = hypot(la.uQ, lb.uQ);
	ww_step_uncertainty(&d, va + vb, dof, 0, dof, e);
	ww_step_judge(&la, &lb, e, WW_STEP_KNOWN_TIME);
}

int ww_steps_known(const struct ww_step_input *in, const struct ww_step_result *r, double t,
		   struct ww_step_event *out, struct ww_error *err)
{
	struct known k = {.in = in, .r = r, .level = level_at(in, r, t)};
	int rc = choose(&k, t, err);
	const double *lo = in->lo ? in->lo : in->t, *hi = in->hi ? in->hi : in->t;

	if (rc < 0 || !k.level)
		return rc;
	*out = (struct ww_step_event){.marker = -1, .peak = NAN};
	if (k.level->shape == WW_LEVEL_SETTLING)
		k.swing = (k.level->begin - k.level->end) /
			  -expm1((in->t[k.level->from] - in->t[k.level->to - 1]) /
				 k.level->settling_s);
	sum_up(&k, &k.side[0]);
	sum_up(&k, &k.side[1]);
	if (k.side[0].n < 2 || k.side[1].n < 2)
		return ww_fail(err, -ENODATA, "too few steady readings around %.3f s", t);
	solve(&k, t, out);
	out->i = k.side[0].to;
	out->settled_i = k.side[1].from;
	out->t_lo = lo[k.side[0].to - 1];
	out->t_hi = hi[k.side[1].from];
	out->settled = in->t[k.side[1].from];
	return 0;
}
