/* SPDX-License-Identifier: MIT */
/*
 * Changes of level in a channel of a trace: readings and marks into the core (steps.h),
 * events and levels out of it. What is kept is small: the thinned curve, not the
 * readings.
 */
#include "analysis/steps_info.h"
#include "analysis/steps_match.h"

#include <math.h>
#include <stdio.h>

#define CURVE_COLUMNS 1200
#define SURELY	      1.645 /* standard uncertainties: of changes larger by so much 95 % pass */
#define LONE	      8.5 /* a drift explains three quarters of a lone change: 95 % of these stay */

/* Readings as the core wants them. */
struct input {
	struct ww_series x;
	double *t; /* [3 n]: t, lo, hi */
	double *marker;
	struct ww_step_input in;
	struct ww_step_result r;
};

/* ---- in ---- */

/* Six digits of what was found from differences of doubles: 0.1, not 0.10000000000000142. */
static double six_digits(double v)
{
	double p = v > 0 ? pow(10, 5 - floor(log10(v))) : 1;

	return v > 0 ? round(v * p) / p : v;
}

static int by_time(const void *a, const void *b)
{
	const struct ww_mark *x = a, *y = b;
	int64_t tx = ww_iv_mid(x->t), ty = ww_iv_mid(y->t);

	if (tx != ty)
		return tx < ty ? -1 : 1;
	return (x->cycle > y->cycle) - (x->cycle < y->cycle); /* here: index in the trace */
}

/* A mark may speak of the first reading or the last, from as far as it may match. */
static bool within(const struct ww_steps *s, const struct ww_mark *m)
{
	double t = ((double)ww_iv_mid(m->t) - (double)s->origin_ns) / 1e9;

	return t >= s->t_lo - WW_MATCH_LATE_S && t <= s->t_hi + WW_MATCH_EARLY_S;
}

static int take_marks(struct ww_steps *s, const struct ww_trace *t, struct input *k,
		      struct ww_error *err)
{
	size_t all = ww_trace_mark_count(t);

	s->mark = calloc(all + 1, sizeof(*s->mark));
	s->label = calloc(all + 1, sizeof(*s->label));
	s->index = calloc(all + 1, sizeof(*s->index));
	k->marker = calloc(all + 1, sizeof(*k->marker));
	if (!s->mark || !s->label || !s->index || !k->marker)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < all && s->n; i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (strcmp(m->kind, WW_MARK_LABEL) != 0 || !within(s, m))
			continue;
		s->mark[s->labels] = *m;
		s->mark[s->labels++].cycle = (uint32_t)i;
	}
	qsort(s->mark, s->labels, sizeof(*s->mark), by_time);
	for (size_t i = 0; i < s->labels; i++) {
		struct ww_mark *m = &s->mark[i];

		s->label[i] = strdup(m->text);
		if (!s->label[i])
			return ww_fail_nomem(err);
		m->text = s->label[i];
		m->kind = WW_MARK_LABEL;
		s->index[i] = (int32_t)m->cycle;
		k->marker[i] = ((double)ww_iv_mid(m->t) - (double)s->origin_ns) / 1e9;
	}
	return 0;
}

static int take_readings(struct ww_steps *s, struct input *k, const struct ww_steps_options *o,
			 struct ww_error *err)
{
	const struct ww_series *x = &k->x;
	size_t n = x->n;
	int64_t spike = WW_OPT(o, spike_ns, 0);

	s->n = n;
	s->origin_ns = x->origin_ns;
	s->own_time = x->own_time;
	s->period_s = x->period_s;
	s->resolution = six_digits(x->resolution);
	s->t_lo = n ? ww_series_s(x, x->t_ns[0]) : 0;
	s->t_hi = n ? ww_series_s(x, x->t_ns[n - 1]) : 0;
	s->channel = strdup(x->name);
	k->t = malloc((3 * n + 1) * sizeof(*k->t));
	if (!s->channel || !k->t)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < n; i++) {
		k->t[i] = ww_series_s(x, x->t_ns[i]);
		k->t[n + i] = ww_series_s(x, x->lo_ns[i]);
		k->t[2 * n + i] = ww_series_s(x, x->hi_ns[i]);
	}
	k->in = (struct ww_step_input){.n = n,
				       .t = k->t,
				       .lo = k->t + n,
				       .hi = k->t + 2 * n,
				       .v = x->v,
				       .hole = x->hole,
				       .resolution = x->resolution,
				       .period = x->period_s,
				       .spike_s = spike > 0 ? (double)spike / 1e9 : 0,
				       .acc_rel = x->acc_rel};
	return 0;
}

/* ---- out ---- */

static int64_t on_axis(const struct ww_steps *s, double t)
{
	double ns = round(t * 1e9);

	if (!(fabs(ns) < 9e18))
		return ns < 0 ? WW_TIME_MIN : WW_TIME_MAX;
	return ww_add_sat(s->origin_ns, (int64_t)ns);
}

static void put_step(struct ww_steps *s, const struct ww_step_event *e, bool edge)
{
	struct ww_step *p = &s->step[s->steps];
	bool marked = e->marker >= 0 && (size_t)e->marker < s->labels;

	*p = (struct ww_step){
		.t = {on_axis(s, e->t_lo), on_axis(s, e->t_hi)},
		.settled_ns = on_axis(s, e->settled),
		.delta = {e->delta, e->u},
		.before = {e->before, e->before_u},
		.after = {e->after, e->after_u},
		.bounds = {e->bounds[0], e->bounds[1]},
		.peak = e->peak,
		.dof = e->dof,
		.state = e->state,
		.mark = marked ? s->index[e->marker] : -1,
		.label = marked ? s->label[e->marker] : "",
	};
	s->when[s->steps++] = (struct ww_step_when){
		.t_lo = e->t_lo,
		.t_hi = e->t_hi,
		.settled = e->settled,
		.cov_next = e->cov_next,
		.edge = edge,
	};
}

/* Both lists of the core are in order of time: they are merged. */
static int put_steps(struct ww_steps *s, const struct ww_step_result *r, struct ww_error *err)
{
	size_t i = 0, k = 0;

	s->step = calloc(r->events + r->knowns + 1, sizeof(*s->step));
	s->when = calloc(r->events + r->knowns + 1, sizeof(*s->when));
	if (!s->step || !s->when)
		return ww_fail_nomem(err);
	while (i < r->events || k < r->knowns) {
		bool known =
			i == r->events || (k < r->knowns && r->known[k].t_lo < r->event[i].t_lo);

		put_step(s, known ? &r->known[k] : &r->event[i], !known);
		k += known;
		i += !known;
	}
	return 0;
}

static int put_levels(struct ww_steps *s, const struct ww_series *x, const struct ww_step_result *r,
		      struct ww_error *err)
{
	s->level = calloc(r->levels + 1, sizeof(*s->level));
	if (!s->level)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < r->levels; i++) {
		const struct ww_step_level *l = &r->level[i];

		if (l->to <= l->settled_i || l->to > x->n)
			continue;
		s->level[s->levels++] = (struct ww_level){
			.from_ns = x->t_ns[l->settled_i],
			.to_ns = x->t_ns[l->to - 1],
			.watts = {l->value, l->u},
			.sigma = l->sigma,
			.slope = l->slope * 3600,
			.dof = l->dof,
			.n = l->used,
			.shape = l->shape,
		};
	}
	return 0;
}

double ww_steps_smallest(double u, double least)
{
	return least * sqrt(2) * u;
}

/* A level's figure, and how many readings stand for it. */
struct weighed {
	double v;
	double weight;
};

static int by_value(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return (x->v > y->v) - (x->v < y->v);
}

static double weighed_median(struct weighed *w, size_t n)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += w[i].weight;
	qsort(w, n, sizeof(*w), by_value);
	for (size_t i = 0; i < n; i++) {
		sum += w[i].weight;
		if (2 * sum >= all)
			return w[i].v;
	}
	return NAN;
}

/*
 * What limits detection at the usual level: its noise, and the uncertainty of the mean of
 * level_n of its readings, as it scales from that of all of them.
 */
static int put_noise(struct ww_steps *s, const struct ww_step_result *r, struct ww_error *err)
{
	struct weighed *w = calloc(r->levels + 1, sizeof(*w));
	size_t m = 0, without = 0, all = 0;

	s->sigma = s->smallest = NAN;
	s->tau = r->tau;
	s->level_n = s->n / 2 < WW_STEPS_LEVEL_N ? s->n / 2 : WW_STEPS_LEVEL_N;
	if (!w)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < r->levels; i++) {
		const struct ww_step_level *l = &r->level[i];

		all += l->used;
		without += l->undithered ? l->used : 0;
		if (l->used > 2 && isfinite(l->sigma))
			w[m++] = (struct weighed){l->sigma, (double)l->used};
	}
	s->sigma = weighed_median(w, m);
	m = 0;
	for (size_t i = 0; i < r->levels; i++) {
		const struct ww_step_level *l = &r->level[i];

		if (l->used > 2 && isfinite(l->uA))
			w[m++] =
				(struct weighed){l->uA * sqrt((double)l->used / (double)s->level_n),
						 (double)l->used};
	}
	if (s->n >= 8)
		s->smallest =
			ww_steps_smallest(weighed_median(w, m), fmax(r->least + SURELY, LONE));
	/* Most of the time at levels whose means cannot tell parts of a count. */
	s->undithered = 2 * without > all;
	if (s->undithered && s->n >= 8)
		s->smallest = fmax(s->smallest, s->resolution);
	free(w);
	return 0;
}

static int find(struct ww_steps *s, struct input *k, const struct ww_steps_options *o,
		struct ww_trace *t, struct ww_error *err)
{
	int rc = take_readings(s, k, o, err);

	if (rc == 0)
		rc = take_marks(s, t, k, err);
	k->in.marker = k->marker;
	k->in.markers = s->labels;
	if (rc == 0)
		rc = ww_steps_find(&k->in, &k->r, err);
	if (rc == 0)
		rc = put_steps(s, &k->r, err);
	if (rc == 0)
		rc = put_levels(s, &k->x, &k->r, err);
	if (rc == 0)
		rc = ww_curve_make(&s->curve, &k->x, CURVE_COLUMNS, err);
	if (rc == 0)
		rc = ww_cycling_find(k->r.event, k->r.events, 2 * s->period_s, &s->cycling, err);
	if (rc == 0)
		rc = put_noise(s, &k->r, err);
	if (rc == 0) {
		ww_wall_read(&s->wall, t);
		ww_steps_remarks(s, &k->x, &k->r, o, t);
		rc = s->notes.bad ? ww_fail_nomem(err) : 0;
	}
	return rc;
}

int ww_steps_new(struct ww_trace *t, const struct ww_steps_options *opt, struct ww_steps **out,
		 struct ww_error *err)
{
	struct input k = {0};
	struct ww_steps *s;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	if (WW_OPT(opt, spike_ns, 0) < 0)
		return ww_fail(err, -EINVAL, "%s: a spike of negative length", ww_trace_path(t));
	rc = ww_series_read(t, WW_OPT(opt, channel, NULL), "power", WW_OPT(opt, from_ns, 0),
			    WW_OPT(opt, to_ns, 0), &k.x, err);
	if (rc < 0)
		return rc;
	s = calloc(1, sizeof(*s));
	rc = s ? find(s, &k, opt, t, err) : ww_fail_nomem(err);
	ww_steps_clear(&k.r);
	ww_series_free(&k.x);
	free(k.t);
	free(k.marker);
	if (rc < 0) {
		ww_steps_free(s);
		return rc;
	}
	*out = s;
	return 0;
}

size_t ww_steps_count(const struct ww_steps *s)
{
	return s->steps;
}

const struct ww_step *ww_steps_at(const struct ww_steps *s, size_t i)
{
	return i < s->steps ? &s->step[i] : NULL;
}

const struct ww_level *ww_steps_level(const struct ww_steps *s, size_t i)
{
	return i < s->levels ? &s->level[i] : NULL;
}

const char *ww_steps_note(const struct ww_steps *s, size_t i)
{
	return ww_note_at(&s->notes, i);
}

void ww_steps_free(struct ww_steps *s)
{
	if (!s)
		return;
	for (size_t i = 0; s->label && i < s->labels; i++)
		free(s->label[i]);
	free(s->label);
	free(s->mark);
	free(s->index);
	free(s->step);
	free(s->when);
	free(s->level);
	free(s->channel);
	ww_curve_free(&s->curve);
	ww_notes_free(&s->notes);
	free(s);
}
