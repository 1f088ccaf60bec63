/* SPDX-License-Identifier: MIT */
/* ww_runs: work and ratios of each run, the summaries of the variants, and the notes. */
#include "analysis/runs.h"
#include "base/stats.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* Twice a standard uncertainty is to cover this much. */
#define COVER 0.9545

static const struct ww_quantity none = {NAN, NAN};

static double zero_if_nan(double v)
{
	return isnan(v) ? 0 : v;
}

struct ww_quantity ww_ratio_u(struct ww_quantity a, struct ww_quantity b)
{
	double q = a.value / b.value;

	if (!(b.value > 0) || isnan(a.value))
		return none;
	return (struct ww_quantity){q, hypot(a.u, q * zero_if_nan(b.u)) / b.value};
}

/* ---- each run ---- */

static bool failed(const struct ww_run *run)
{
	return run->status != 0;
}

static const char *how_it_ended(struct ww_runs *r, const struct ww_run *run)
{
	char text[96];

	if (run->signal > 0)
		snprintf(text, sizeof(text), "ended by signal %d: does not count", run->signal);
	else
		snprintf(text, sizeof(text), "failed with exit status %d: does not count",
			 run->status);
	return ww_runs_keep(r, text);
}

static void finish_run(struct ww_runs *r, struct ww_run *run)
{
	if (isnan(run->work.value) && run->repeat > 1 && !*run->work_unit) {
		run->work = (struct ww_quantity){run->repeat, 0};
		run->work_unit = "repeat";
		run->work_why = "";
	}
	if (!(run->work.value > 0))
		run->work = none;
	run->gross_per = ww_ratio_u(run->gross_J, run->work);
	run->marginal_per = ww_ratio_u(run->marginal_J, run->work);
	run->time_per = ww_ratio_u(run->duration_s, run->work);
	if (failed(run) && !r->failed && run->signal != -1 && !*run->why)
		run->why = how_it_ended(r, run);
	run->used = !run->warmup && run->signal != -1 && !isnan(run->gross_J.value) &&
		    (r->failed || !failed(run));
}

/* ---- variants ---- */

/* Values of the runs of one variant that count. */
struct column {
	size_t n;
	double *v; /* [n] */
	double *u; /* [n] each run's own */
};

static struct ww_quantity own(struct ww_quantity q, double u)
{
	q.u = u;
	return q;
}

/*
 * Mean of a over mean of b (NULL: of ones), by the delta method: the residuals a - R b
 * scatter, and no less than each run's own uncertainty makes them. Student's factor for
 * few runs, so that twice u covers 95 %.
 */
static struct ww_quantity ratio_of_means(const struct column *a, const struct column *b, double *sd)
{
	double sa = 0, sb = 0, ss = 0, floor2 = 0, n = (double)a->n, q, u, s;

	*sd = NAN;
	for (size_t i = 0; i < a->n; i++) {
		sa += a->v[i];
		sb += b ? b->v[i] : 1;
	}
	if (a->n == 0 || isnan(sa) || !(sb > 0))
		return none;
	q = sa / sb;
	for (size_t i = 0; i < a->n; i++) {
		ss += pow(a->v[i] - q * (b ? b->v[i] : 1), 2);
		floor2 += pow(zero_if_nan(a->u[i]), 2) + (b ? pow(q * zero_if_nan(b->u[i]), 2) : 0);
	}
	u = sqrt(floor2) / n;
	if (a->n > 1) {
		s = sqrt(ss / (n - 1));
		*sd = s;
		u = fmax(u, s / sqrt(n) * ww_student_t(COVER, n - 1) / 2);
	}
	return (struct ww_quantity){q, u * n / sb};
}

enum { DURATION, GROSS, MARGINAL, WORK, COLUMNS };

static struct ww_quantity pick(const struct ww_run *run, int what)
{
	switch (what) {
	case DURATION:
		return run->duration_s;
	case GROSS:
		return own(run->gross_J, run->gross_own_u);
	case MARGINAL:
		return own(run->marginal_J, run->marginal_own_u);
	default:
		return run->work;
	}
}

/* Runs of a variant into columns; only those with work where asked for. */
static void fill(const struct ww_runs *r, size_t variant, bool with_work, struct column *c)
{
	for (int k = 0; k < COLUMNS; k++)
		c[k].n = 0;
	for (size_t i = 0; i < r->runs; i++) {
		const struct ww_run *run = &r->run[i];

		if (run->variant != variant || !run->used)
			continue;
		if (with_work && (isnan(run->work.value) ||
				  strcmp(run->work_unit, r->variant[variant].work_unit) != 0))
			continue;
		for (int k = 0; k < COLUMNS; k++) {
			struct ww_quantity q = pick(run, k);

			c[k].v[c[k].n] = q.value;
			c[k].u[c[k].n++] = q.u;
		}
	}
}

/* With what all runs share: the meter's gain, and its offset where it does not cancel. */
static struct ww_quantity shared(const struct ww_runs *r, struct ww_quantity q, double offset)
{
	q.u = hypot(q.u, hypot(zero_if_nan(r->meter.gain_u) * q.value,
			       zero_if_nan(r->meter.offset_u) * offset));
	return q;
}

static void sum_variant(struct ww_runs *r, size_t k, struct column *c)
{
	struct ww_run_variant *v = &r->variant[k];
	double sd;

	fill(r, k, false, c);
	v->n = c[GROSS].n;
	v->duration_s = ratio_of_means(&c[DURATION], NULL, &v->duration_sd);
	v->gross_J = shared(r, ratio_of_means(&c[GROSS], NULL, &v->gross_sd), v->duration_s.value);
	v->marginal_J = shared(r, ratio_of_means(&c[MARGINAL], NULL, &v->marginal_sd), 0);
	v->mean_W = shared(r, ratio_of_means(&c[GROSS], &c[DURATION], &sd), 1);
	fill(r, k, true, c);
	v->work = ratio_of_means(&c[WORK], NULL, &sd);
	v->gross_per = shared(r, ratio_of_means(&c[GROSS], &c[WORK], &sd),
			      v->duration_s.value / v->work.value);
	v->marginal_per = shared(r, ratio_of_means(&c[MARGINAL], &c[WORK], &sd), 0);
	v->time_per = ratio_of_means(&c[DURATION], &c[WORK], &sd);
}

static void count_variants(struct ww_runs *r)
{
	for (size_t i = 0; i < r->runs; i++) {
		struct ww_run *run = &r->run[i];
		struct ww_run_variant *v = &r->variant[run->variant];

		if (run->warmup)
			continue;
		v->runs++;
		v->failed += failed(run);
		v->no_energy += isnan(run->gross_J.value) != 0;
		if (!run->used)
			continue;
		if (run->peak_W > v->peak_W || isnan(v->peak_W))
			v->peak_W = run->peak_W;
		if (!*v->work_unit)
			v->work_unit = run->work_unit;
		else if (*run->work_unit && strcmp(run->work_unit, v->work_unit) != 0)
			ww_note(&r->notes,
				"run %u: its work is in %s and not in %s: left out of "
				"what a unit of work costs",
				run->n, run->work_unit, v->work_unit);
	}
}

/* ---- notes ---- */

static void note_baselines(struct ww_runs *r)
{
	size_t one = 0, without = 0, moved = 0, known = 0;
	double most = 0;
	struct ww_str s = {0};

	for (size_t i = 0; i < r->runs; i++) {
		const struct ww_run *run = &r->run[i];
		double d = fabs(run->after_W.value - run->before_W.value);

		if (isnan(run->gross_J.value))
			continue;
		known++;
		without += isnan(run->marginal_J.value) != 0;
		one += isnan(run->before_W.value) != isnan(run->after_W.value);
		if (d > 3 * hypot(run->before_W.u, run->after_W.u)) {
			moved++;
			most = fmax(most, d / 2 * run->duration_s.value);
		}
	}
	if (without)
		ww_note(&r->notes,
			"%zu of %zu runs: no baseline, so that what they drew above it is not "
			"known",
			without, known);
	if (one)
		ww_note(&r->notes,
			"%zu of %zu runs: a baseline on one side only, taken for all of their time",
			one, known);
	if (!moved)
		return;
	ww_str_addf(&s,
		    "%zu of %zu runs lie between baselines that differ by more than chance: "
		    "where in a run it changed is not known, by up to ",
		    moved, known);
	ww_str_fixed(&s, most, most < 10 ? 2 : most < 100 ? 1 : 0);
	ww_str_add(&s, " J more or less; --settle gives the machine more time to come to rest");
	r->bad = r->bad || s.bad;
	if (!s.bad)
		ww_note(&r->notes, "%s", s.p);
	ww_str_free(&s);
}

static void note_edges(struct ww_runs *r)
{
	double reading = fmax(r->meter.period_s, r->meter.window_s), most = 0;
	bool slow = false, balanced = false;
	struct ww_str s = {0};

	for (size_t i = 0; i < r->runs; i++) {
		const struct ww_run *run = &r->run[i];

		if (isnan(run->gross_J.value))
			continue;
		slow = slow || run->duration_s.value < 5 * reading;
		balanced = balanced || fabs(run->edges_J) > run->gross_own_u;
		most = fmax(most, fabs(run->edges_J));
	}
	if (balanced) {
		ww_str_add(&s, "readings that start and end of a run cut: what is above the "
			       "baseline in them is the run's, up to ");
		ww_str_fixed(&s, most, most < 1 ? 3 : most < 10 ? 2 : 1);
		ww_str_add(&s, " J, which pwrlog stat between its marks would miss");
		r->bad = r->bad || s.bad;
		if (!s.bad)
			ww_note(&r->notes, "%s", s.p);
		ww_str_reset(&s);
	}
	if (slow) {
		ww_str_add(&s, "some runs are shorter than five readings of the meter (one every ");
		ww_str_num(&s, reading);
		ww_str_add(&s, " s): --repeat makes them longer");
		r->bad = r->bad || s.bad;
		if (!s.bad)
			ww_note(&r->notes, "%s", s.p);
	}
	ww_str_free(&s);
}

static void note_tails(struct ww_runs *r)
{
	double all = 0, n = (double)r->tails;
	struct ww_str s = {0};

	for (size_t i = 0; i < r->runs; i++)
		all += zero_if_nan(r->run[i].marginal_J.value);
	if (r->tails == 0 || r->tail_J < 3 * sqrt(r->tail_u2) || r->tail_J < 0.01 * fabs(all))
		return;
	ww_str_add(&s, "after a run the load came to rest only by and by: ");
	ww_str_fixed(&s, r->tail_J / n, r->tail_J / n < 10 ? 2 : 1);
	ww_str_add(&s, " J above the baseline until that was measured are in no figure");
	r->bad = r->bad || s.bad;
	if (!s.bad)
		ww_note(&r->notes, "%s", s.p);
	ww_str_free(&s);
}

static void note_unread(struct ww_runs *r)
{
	struct ww_str s = {0};
	double least = 1;

	for (size_t i = 0; i < r->runs; i++)
		if (!isnan(r->run[i].gross_J.value))
			least = fmin(least, r->run[i].coverage);
	if (least >= 1)
		return;
	ww_str_add(&s, "of one run only ");
	ww_str_fixed(&s, floor(least * 1000) / 10, 1);
	ww_str_add(&s, " % of its time was read; what was not is taken as the mean of both sides");
	r->bad = r->bad || s.bad;
	if (!s.bad)
		ww_note(&r->notes, "%s", s.p);
	ww_str_free(&s);
}

/* The same reason of several runs is said once. */
static void note_no_work(struct ww_runs *r, size_t i)
{
	const char *why = r->run[i].work_why;
	size_t n = 0;

	for (size_t k = 0; k < r->runs; k++) {
		if (strcmp(r->run[k].work_why, why) != 0)
			continue;
		if (k < i)
			return;
		n++;
	}
	if (*why && n > 1)
		ww_note(&r->notes, "%zu runs: no amount of work: %s", n, why);
	else if (*why)
		ww_note(&r->notes, "run %u: no amount of work: %s", r->run[i].n, why);
}

static void note_rest(struct ww_runs *r)
{
	size_t bad = 0, counted = 0, warmups = 0;

	for (size_t i = 0; i < r->runs; i++) {
		const struct ww_run *run = &r->run[i];

		warmups += run->warmup != 0;
		bad += !run->warmup && failed(run) && run->signal != -1;
		counted += run->used && failed(run);
	}
	if (warmups)
		ww_note(&r->notes, "%zu run%s to warm up: in no figure", warmups,
			warmups == 1 ? "" : "s");
	if (bad && counted)
		ww_note(&r->notes, "%zu of the runs that count failed (--ignore-failure)", counted);
	else if (bad)
		ww_note(&r->notes, "%zu run%s failed: in no mean", bad, bad == 1 ? "" : "s");
	if (isnan(r->meter.gain_u) || isnan(r->meter.offset_u))
		ww_note(&r->notes,
			"%s: the accuracy of the meter is unknown and left out of the "
			"uncertainties",
			r->meter.channel);
	for (size_t i = 0; i < r->runs; i++)
		note_no_work(r, i);
}

void ww_runs_sums(struct ww_runs *r)
{
	double *space = calloc(2 * COLUMNS * (r->runs + 1), sizeof(*space));
	struct column c[COLUMNS];

	if (!space) {
		r->bad = true;
		return;
	}
	for (size_t k = 0; k < COLUMNS; k++) {
		c[k].v = space + 2 * k * r->runs;
		c[k].u = c[k].v + r->runs;
	}
	for (size_t i = 0; i < r->runs; i++)
		finish_run(r, &r->run[i]);
	for (size_t k = 0; k < r->variants; k++)
		r->variant[k].peak_W = NAN;
	count_variants(r);
	for (size_t k = 0; k < r->variants; k++)
		sum_variant(r, k, c);
	note_baselines(r);
	note_edges(r);
	note_tails(r);
	note_unread(r);
	note_rest(r);
	free(space);
}
