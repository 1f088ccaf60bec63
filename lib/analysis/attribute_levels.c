/* SPDX-License-Identifier: MIT */
/* The levels between the steps of a trace, and the changes from one to the next. */
#include "analysis/attribute_walk.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* Slower than this, s, a level that settles is more than an inrush. */
#define SLOW_S 30

/* The level that lies between two steps; NULL: none is long enough. */
static const struct ww_level *level_between(const struct ww_attr_walk *w, double lo, double hi)
{
	const struct ww_level *best = NULL;

	for (size_t i = 0; i < w->s->levels; i++) {
		const struct ww_level *l = &w->s->level[i];
		double mid =
			((double)l->from_ns / 2 + (double)l->to_ns / 2 - (double)w->s->origin_ns) /
			1e9;

		if (mid >= lo && mid <= hi && (!best || l->n > best->n))
			best = l;
	}
	return best;
}

/* How much a level moved by itself, W: its value in the middle is that uncertain. */
static double moved(const struct ww_level *l)
{
	return l->shape == WW_LEVEL_LINE
		       ? l->slope / 3600 * ((double)l->to_ns - (double)l->from_ns) / 1e9
		       : 0;
}

static void about_level(struct ww_attr_walk *w, const struct ww_level *l, size_t next)
{
	double most = fmax(3 * l->watts.u, w->s->resolution), m = moved(l);

	if (fabs(m) > most) {
		w->moving++;
		w->moved_least = fmin(w->moved_least, m);
		w->moved_most = fmax(w->moved_most, m);
	}
	if (l->shape == WW_LEVEL_SETTLING && next > 0 && next <= w->s->steps) {
		double slow = w->s->when[next - 1].settled - w->s->when[next - 1].t_hi;

		if (slow > SLOW_S) {
			w->slow_at = w->slow++ ? w->slow_at : ww_attr_at(w, next - 1);
			w->slow_most = fmax(w->slow_most, slow);
		}
	}
}

/* One side of a reading: the step there, if any. */
struct side {
	const struct ww_step *step;
	size_t i;
	bool edge;
	double t;
};

static struct side side_of(const struct ww_attr_walk *w, bool is, size_t kept)
{
	struct side x = {0};

	if (is) {
		x.i = w->kept[kept];
		x.step = &w->s->step[x.i];
		x.edge = w->s->when[x.i].edge;
		x.t = ww_attr_at(w, x.i);
	}
	return x;
}

/* The level around reading g: from the last edge before it to the first behind it. */
static const struct ww_level *level_around(const struct ww_attr_walk *w, size_t g, size_t steps)
{
	double lo = -INFINITY, hi = INFINITY;

	for (size_t k = g; k-- > 0 && isinf(lo);)
		if (w->s->when[w->kept[k]].edge)
			lo = ww_attr_at(w, w->kept[k]);
	for (size_t k = g; k < steps && isinf(hi); k++)
		if (w->s->when[w->kept[k]].edge)
			hi = ww_attr_at(w, w->kept[k]);
	return level_between(w, lo, hi);
}

static struct ww_quantity moved_to(struct ww_quantity q, double by)
{
	return (struct ww_quantity){q.value + by, hypot(q.u, by / sqrt(12))};
}

/*
 * A mark without an edge parts a level: its two sides have their own figures, brought along
 * the level's slope to where the edge is.
 */
static struct ww_attr_ends ends_of(const struct ww_attr_walk *w, const struct side *p,
				   const struct side *q, const struct ww_level *l)
{
	double slope = l && l->shape == WW_LEVEL_LINE ? l->slope / 3600 : 0,
	       from = p->step ? p->t : w->s->t_lo, to = q->step ? q->t : w->s->t_hi;
	struct ww_quantity none = l ? l->watts : (struct ww_quantity){(double)NAN, (double)NAN};
	struct ww_attr_ends e = {.begin = p->step   ? p->step->after
					  : q->step ? q->step->before
						    : none,
				 .end = q->step	  ? q->step->before
					: p->step ? p->step->after
						  : none,
				 .slope = slope,
				 .t_begin = slope != 0 ? from : (from + to) / 2,
				 .t_end = slope != 0 ? to : (from + to) / 2};
	bool settles = l && l->shape == WW_LEVEL_SETTLING;

	if (p->step && q->step && p->edge && q->edge) {
		e.cov = -w->s->when[p->i].cov_next;
		return e;
	}
	if (p->step && q->step && !settles && p->edge)
		e.begin = moved_to(q->step->before, -slope * (to - from));
	else if (p->step && q->step && !settles && q->edge)
		e.end = moved_to(p->step->after, slope * (to - from));
	e.cov = pow(fmin(e.begin.u, e.end.u), 2);
	return e;
}

/*
 * Whether a mark's figures have the slope of their level in them: then that before it is far
 * more uncertain than that behind it, for the readings there are.
 */
static bool sloped(const struct ww_step *s, const struct ww_attr_ends *before,
		   const struct ww_attr_ends *after)
{
	double left = before->t_end - before->t_begin, right = after->t_end - after->t_begin;

	return s->before.u > 1.5 * s->after.u * sqrt(fmax(right, 1e-9) / fmax(left, 1e-9));
}

/* What changed at a step: as its levels there say, or within its bounds. */
static void change_at(const struct side *p, const struct ww_attr_ends *before,
		      const struct ww_attr_ends *after, struct ww_attr_change *c)
{
	const struct ww_step *s = p->step;

	c->t_from = before->t_end;
	c->t_to = after->t_begin;
	if (s->state == WW_STEP_UNRESOLVED && isfinite(s->bounds[0]) && isfinite(s->bounds[1])) {
		c->y = (s->bounds[0] + s->bounds[1]) / 2;
		c->var = pow(s->bounds[1] - s->bounds[0], 2) / 12;
	} else if (p->edge) {
		c->y = after->begin.value - before->end.value;
		c->var = pow(after->begin.u, 2) + pow(before->end.u, 2);
	} else {
		c->y = s->delta.value;
		c->var = pow(s->after.u, 2) + pow(s->before.u, 2);
		/* A slope and a step look alike; one that took all leaves the other its part. */
		if (!sloped(s, before, after))
			c->var += pow(before->slope * (after->t_end - before->t_begin) / 2, 2) / 3;
		/* With a slope in the level both sides are told for the moment of the mark. */
		if (before->slope != 0 || after->slope != 0)
			c->t_to = c->t_from;
	}
}

static bool usable(const struct ww_attr_change *c)
{
	return isfinite(c->y) && isfinite(c->var) && c->var > 0 && isfinite(c->cov);
}

int ww_attr_levels(struct ww_attr_walk *w)
{
	size_t n = w->o->readings - w->f->first;
	struct ww_attr_ends last = {0};
	bool all = true;

	w->f->change = calloc(n, sizeof(*w->f->change));
	if (!w->f->change)
		return ww_fail_nomem(w->err);
	for (size_t g = 0; g < n; g++) {
		struct ww_onoff_reading *r = &w->o->reading[w->f->first + g];
		struct side p = side_of(w, g > 0, g - 1), q = side_of(w, g + 1 < n, g);
		const struct ww_level *l = level_around(w, g, n - 1);
		struct ww_attr_ends e = ends_of(w, &p, &q, l);
		struct ww_attr_change *c = &w->f->change[g];
		bool whole = l && (!p.step || p.edge) && (!q.step || q.edge);
		struct ww_quantity v = whole ? l->watts : p.step && !p.edge ? e.begin : e.end;

		c->cov = e.cov;
		if (p.step)
			change_at(&p, &last, &e, c);
		if (p.step && !(c->var > 0))
			c->var = w->s->resolution > 0 ? pow(w->s->resolution, 2) / 6 : 1e-12;
		all = all && (!p.step || usable(c));
		c->own_begin = pow(fmin(v.u, e.begin.u), 2);
		c->own_end = pow(fmin(v.u, e.end.u), 2);
		r->watts = v.value;
		r->u = whole ? hypot(v.u, moved(l) / sqrt(12)) : v.u;
		if (!(r->u > 0))
			r->u = w->s->resolution > 0 ? w->s->resolution / sqrt(12) : 1e-6;
		r->t_s = (p.step ? p.t : w->s->t_lo) / 2 + (q.step ? q.t : w->s->t_hi) / 2;
		if (!isfinite(r->watts))
			return ww_fail(w->err, -ENODATA, "%s: no level at %.1f s", w->f->name,
				       r->t_s);
		if (whole)
			about_level(w, l, p.step ? p.i + 1 : 0);
		last = e;
	}
	if (!all) {
		free(w->f->change);
		w->f->change = NULL;
	}
	return 0;
}

/* "the step", "7 steps, the first" */
static const char *several(char *buf, size_t n)
{
	if (n == 1)
		return "the step";
	snprintf(buf, 40, "%zu steps, the first", n);
	return buf;
}

void ww_attr_about_levels(struct ww_attr_walk *w)
{
	char v[40], lo[40], text[40];

	if (w->moving)
		ww_note(&w->o->notes,
			"%s: %zu level%s by %s to %s W: a battery that charges, or something that "
			"warms up; changes are taken at their moments",
			w->f->name, w->moving,
			w->moving == 1 ? " moves by itself," : "s move by themselves,",
			ww_attr_watts(lo, w->moved_least, 0.5),
			ww_attr_watts(v, w->moved_most, 0.5));
	if (w->slow)
		ww_note(&w->o->notes,
			"%s: after %s at %s s the level took up to %s s to settle: a supply that "
			"warms up, or a battery that charges; the settled level counts",
			w->f->name, several(text, w->slow), ww_attr_seconds(lo, w->slow_at),
			ww_attr_seconds(v, w->slow_most));
	if (w->holes)
		ww_note(&w->o->notes, "%s: readings are missing around %s at %s s", w->f->name,
			several(text, w->holes), ww_attr_seconds(v, w->hole_at));
}
