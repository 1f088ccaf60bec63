/* SPDX-License-Identifier: MIT */
/* Events found in a generated trace, held against what was switched. */
#ifndef TESTS_STEPSCORE_H
#define TESTS_STEPSCORE_H

#include "analysis/steps.h"
#include "tracegen.h"

#include <inttypes.h>
#include <string.h>

/* Two changes within so many readings are one, and so are their times. */
#define SCORE_NEAR 5

struct score {
	const char *family;
	FILE *tell; /* each miss; NULL: none */
	unsigned traces;
	unsigned wanted, found;			 /* changes above the limits */
	unsigned extra;				 /* events without a change */
	unsigned judged, covered;		 /* |delta - truth| <= 2 u */
	unsigned gross;				 /* ... > max(3 u, q/2) and 5 % */
	unsigned timely;			 /* of found: the truth is inside [t_lo, t_hi] */
	unsigned hidden, claimed, missed_bounds; /* below the resolution */
};

struct score_truth {
	double t, t_last, delta;
	bool must, hidden, taken;
};

static inline size_t score_truths(const struct gen *g, struct score_truth *out)
{
	size_t n = 0;

	for (size_t i = 0; i < g->changes; i++) {
		const struct gen_change *c = &g->change[i];

		if (c->part) {
			out[n - 1].delta += c->watts;
			continue;
		}
		out[n++] = (struct score_truth){.t = c->t,
						.t_last = c->t_last,
						.delta = c->watts,
						.must = c->must,
						.hidden = c->hidden};
	}
	/* in order of time: a cycling load's changes lie among the others' */
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k > 0 && out[k].t < out[k - 1].t; k--) {
			struct score_truth a = out[k];

			out[k] = out[k - 1];
			out[k - 1] = a;
		}
	return n;
}

/* The arrays that the detector wants. free() the result's t. */
static inline struct ww_step_input score_input(const struct gen *g)
{
	double *t = malloc((g->n + 1) * sizeof(*t)), period = 1 / g->meter.rate;
	uint8_t *hole;

	if (!t)
		abort();
	hole = calloc(g->n + 1, 1);
	if (!hole)
		abort();
	for (size_t i = 0; i < g->n; i++) {
		t[i] = (double)g->t_ns[i] / 1e9;
		hole[i] = i > 0 && t[i] - t[i - 1] > 2.5 * period;
	}
	return (struct ww_step_input){.n = g->n,
				      .t = t,
				      .v = g->v,
				      .hole = hole,
				      .resolution = g->meter.q,
				      .period = period};
}

static inline void score_input_free(struct ww_step_input *in)
{
	free((void *)(uintptr_t)in->t);
	free((void *)(uintptr_t)in->hole);
}

/* How far outside the event's interval the change lies, s. */
static inline double score_distance(const struct ww_step_event *e, const struct score_truth *x)
{
	if (e->t_lo > x->t_last)
		return e->t_lo - x->t_last;
	return e->t_hi < x->t ? x->t - e->t_hi : 0;
}

static inline void score_say(const struct score *s, const struct gen *g, const char *what, double t,
			     double expected, const struct ww_step_event *e)
{
	if (!s->tell)
		return;
	fprintf(s->tell, "%s, seed %" PRIu64 ", t %.2f s: %s", s->family, g->seed, t, what);
	if (isfinite(expected))
		fprintf(s->tell, ", expected %.3f W", expected);
	if (e)
		fprintf(s->tell, ", got %.3f u %.3f W in [%.2f, %.2f] s%s", e->delta, e->u, e->t_lo,
			e->t_hi, e->state == WW_STEP_UNRESOLVED ? " unresolved" : "");
	fputc('\n', s->tell);
}

static inline void score_pair(struct score *s, const struct gen *g, const struct score_truth *x,
			      const struct ww_step_event *e)
{
	double off = fabs(e->delta - x->delta);

	if (x->hidden) {
		if (e->state != WW_STEP_UNRESOLVED) {
			s->claimed++;
			score_say(s, g, "claimed below the resolution", x->t, x->delta, e);
		} else if (!(e->bounds[0] <= x->delta && x->delta <= e->bounds[1])) {
			s->missed_bounds++;
			score_say(s, g, "bounds", x->t, x->delta, e);
		}
		return;
	}
	if (x->must) {
		if (e->state == WW_STEP_DETECTED)
			s->found++;
		else
			score_say(s, g, "not resolved", x->t, x->delta, e);
	}
	if (e->t_lo <= x->t_last && x->t <= e->t_hi)
		s->timely++;
	else
		score_say(s, g, "not inside its time", x->t, x->delta, e);
	s->judged++;
	s->covered += off <= 2 * e->u;
	if (off > fmax(3 * e->u, g->meter.q / 2)) {
		s->gross++;
		score_say(s, g, "size", x->t, x->delta, e);
	}
}

static inline void score_result(struct score *s, const struct gen *g,
				const struct ww_step_result *r)
{
	struct score_truth truth[GEN_CHANGES];
	size_t n = score_truths(g, truth);
	/* fast readings are looked at by whole cycles of the mains */
	double near = fmax(SCORE_NEAR / g->meter.rate, 0.1);
	bool *used = calloc(r->events + 1, sizeof(*used));

	if (!used)
		abort();
	s->traces++;
	for (size_t i = 0; i < n; i++) {
		size_t best = r->events;
		double least = near;

		for (size_t k = 0; k < r->events; k++) {
			double d = score_distance(&r->event[k], &truth[i]);

			if (used[k] || d > least ||
			    (d == least && best < r->events &&
			     fabs(r->event[k].delta) < fabs(r->event[best].delta)))
				continue;
			best = k;
			least = d;
		}
		s->wanted += truth[i].must;
		s->hidden += truth[i].hidden;
		if (best < r->events) {
			used[best] = true;
			score_pair(s, g, &truth[i], &r->event[best]);
		} else if (truth[i].must) {
			score_say(s, g, "missed", truth[i].t, truth[i].delta, NULL);
		}
	}
	for (size_t k = 0; k < r->events; k++)
		if (!used[k]) {
			s->extra++;
			score_say(s, g, "false", r->event[k].t_hi, NAN, &r->event[k]);
		}
	free(used);
}

/* Run the detector over one trace; -1 with a sentence where it refuses. */
static inline int score_trace(struct score *s, const struct gen *g)
{
	struct ww_step_input in = score_input(g);
	struct ww_step_result r;
	struct ww_error err = {0};
	int rc = ww_steps_find(&in, &r, &err);

	if (rc >= 0)
		score_result(s, g, &r);
	else if (s->tell)
		fprintf(s->tell, "%s, seed %" PRIu64 ": %s\n", s->family, g->seed, err.text);
	ww_steps_clear(&r);
	score_input_free(&in);
	return rc;
}

static inline void score_head(FILE *f)
{
	fprintf(f, "%-30s %7s %7s %6s %8s %8s\n", "", "changes", "found", "false", "covered",
		"in time");
}

static inline void score_part(FILE *f, int width, unsigned a, unsigned b)
{
	if (b)
		fprintf(f, " %*.1f%%", width - 1, 100.0 * a / b);
	else
		fprintf(f, " %*s", width, "-");
}

/*
 * One row: changes, part found, false ones a trace, part of the sizes within 2 u,
 * part of the times that hold the truth.
 */
static inline void score_print(FILE *f, const struct score *s)
{
	fprintf(f, "%-30s %7u", s->family, s->wanted);
	score_part(f, 7, s->found, s->wanted);
	fprintf(f, " %6.2f", (double)s->extra / s->traces);
	score_part(f, 8, s->covered, s->judged);
	score_part(f, 8, s->timely, s->judged);
	fputc('\n', f);
}

#endif
