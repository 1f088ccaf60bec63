/* SPDX-License-Identifier: MIT */
/* What goes with a comparison: assumptions, and what in the values speaks against it. */
#include "analysis/compare.h"
#include "base/stats.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>

/* A warning that is wrong one time in a hundred. */
#define SURE  0.01
#define SHOWN 6

static void number(struct ww_str *s, double v, double scale)
{
	ww_str_fixed(s, v, ww_decimals_for(fabs(scale) > 0 ? fabs(scale) : fabs(v), 3));
}

static void note(struct ww_compare *c, struct ww_str *s)
{
	if (s->bad)
		c->notes.bad = true;
	else
		ww_note(&c->notes, "%s", s->p);
	ww_str_free(s);
}

/* Median and 1.4826 MAD; v is reordered. */
static double spread(double *v, size_t n, double *median)
{
	*median = ww_median(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - *median);
	return 1.4826 * ww_median(v, n);
}

/*
 * Robust standard deviations that one in a hundred samples of a normal distribution
 * passes: with few values the MAD is itself uncertain (200,000 samples of each size).
 */
static double far_limit(size_t n)
{
	static const struct {
		size_t n;
		double limit;
	} most[] = {{30, 5}, {15, 6}, {10, 7}, {8, 8.5}, {6, 11}, {5, 19}};

	for (size_t i = 0; i < WW_COUNTOF(most); i++)
		if (n >= most[i].n)
			return most[i].limit;
	return INFINITY;
}

static int outliers(struct ww_compare *c, const struct ww_comparison *r, const char *who,
		    const double *v, const double *when, size_t n)
{
	double *copy = calloc(n ? n : 1, sizeof(*copy)), median, sd;
	size_t found = 0;
	struct ww_str s = {0};

	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		copy[i] = v[i];
	sd = spread(copy, n, &median);
	free(copy);
	if (!(sd > 0))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (!(fabs(v[i] - median) > far_limit(n) * sd) || found++ >= SHOWN)
			continue;
		if (found == 1)
			ww_str_addf(&s, "%s of %s: far from the others ", r->measure, who);
		ww_str_add(&s, found == 1 ? "(median " : ", ");
		if (found == 1) {
			number(&s, median, sd);
			ww_str_addf(&s, "%s%s): ", *r->unit ? " " : "", r->unit);
		}
		number(&s, v[i], sd);
		ww_str_add(&s, " in run ");
		ww_str_num(&s, when[i]);
	}
	if (found > SHOWN)
		ww_str_addf(&s, ", and %zu more", found - SHOWN);
	if (found) {
		ww_str_add(&s, ". All are kept: look what happened there; the tests by ranks "
			       "depend on them least");
		note(c, &s);
	}
	ww_str_free(&s);
	return 0;
}

/* Sums of a common slope of values over their order, each set around its own mean. */
struct slope {
	double n, sets, tt, tv, vv, first, last;
};

static void slope_add(struct slope *k, const double *v, const double *when, size_t n)
{
	double mt = 0, mv = 0;

	if (n < 2)
		return;
	for (size_t i = 0; i < n; i++) {
		mt += when[i] / (double)n;
		mv += v[i] / (double)n;
		k->first = fmin(k->first, when[i]);
		k->last = fmax(k->last, when[i]);
	}
	for (size_t i = 0; i < n; i++) {
		k->tt += (when[i] - mt) * (when[i] - mt);
		k->tv += (when[i] - mt) * (v[i] - mv);
		k->vv += (v[i] - mv) * (v[i] - mv);
	}
	k->n += (double)n;
	k->sets++;
}

/* Values of a pair go up and down together: they tell a drift once. */
static int slope_pairs(struct slope *k, const struct ww_samples2 *s)
{
	double *v = calloc(s->n + 1, sizeof(*v)), *t = calloc(s->n + 1, sizeof(*t));

	for (size_t i = 0; v && t && i < s->n; i++) {
		v[i] = (s->a[i] + s->b[i]) / 2;
		t[i] = (s->when_a[i] + s->when_b[i]) / 2;
	}
	if (v && t)
		slope_add(k, v, t, s->n);
	free(v);
	free(t);
	return v && t ? 0 : -ENOMEM;
}

static int drift(struct ww_compare *c, const struct ww_comparison *r, const struct ww_samples2 *s)
{
	struct slope k = {.first = INFINITY, .last = -INFINITY};
	double df, b, rest, p, level = (r->mean_a.value + r->mean_b.value) / 2, change;
	struct ww_str t = {0};

	if (s->paired) {
		if (slope_pairs(&k, s) < 0)
			return -ENOMEM;
	} else {
		slope_add(&k, s->a, s->when_a, s->n);
		slope_add(&k, s->b, s->when_b, s->m);
	}
	df = k.n - k.sets - 1;
	if (df < 4 || !(k.tt > 0) || !(k.vv > 0))
		return 0;
	b = k.tv / k.tt;
	rest = fmax(0, k.vv - b * k.tv);
	p = rest > 0 ? ww_student_p(b / sqrt(rest / df / k.tt), df) : 0;
	if (!(p < SURE))
		return 0;
	change = b * (k.last - k.first);
	ww_str_addf(&t, "%s drifts: ", r->measure);
	ww_str_add(&t, change > 0 ? "+" : "-");
	if (level > 0) {
		number(&t, 100 * fabs(change) / level, 0);
		ww_str_add(&t, " %");
	} else {
		number(&t, fabs(change), 0);
		ww_str_addf(&t, "%s%s", *r->unit ? " " : "", r->unit);
	}
	ww_str_addf(&t, " from the first run to the last (%s, %s)", r->a, r->b);
	ww_str_add(&t, s->paired ? "; the pairs take it out of the difference"
				 : ": run them in turn, else it may pass for a difference");
	note(c, &t);
	return 0;
}

/* Does it matter which of a pair ran first? */
static int order(struct ww_compare *c, const struct ww_comparison *r, const struct ww_samples2 *s)
{
	double *d, p;
	size_t ab = 0, ba = 0;
	struct ww_mean_test t;

	if (!s->paired)
		return 0;
	d = calloc(2 * s->n + 1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		if (s->when_a[i] < s->when_b[i])
			d[ab++] = s->b[i] - s->a[i];
		else if (s->when_a[i] > s->when_b[i])
			d[s->n + ba++] = s->b[i] - s->a[i];
	}
	ww_welch_mean(d, ab, d + s->n, ba, &t);
	p = t.se > 0 ? ww_student_p(t.value / t.se, t.df) : NAN;
	if (ab >= 3 && ba >= 3 && p < SURE)
		ww_note(&c->notes,
			"%s: it matters whether %s or %s runs first in a pair: let what ran before "
			"die down (a pause, a run to warm up)",
			r->measure, r->a, r->b);
	else if (ab + ba >= 2 && (ab == 0 || ba == 0))
		ww_note(&c->notes,
			"%s ran first in every pair: what the first run leaves behind (heat, a "
			"cache) is in the difference; let the order change (ABBA)",
			ab ? r->a : r->b);
	free(d);
	return 0;
}

/* One after the other, not in turn. */
void ww_compare_blocks(struct ww_compare *c, const struct ww_comparison *r,
		       const struct ww_samples2 *s)
{
	double first[2] = {INFINITY, INFINITY}, last[2] = {-INFINITY, -INFINITY};

	for (size_t i = 0; i < s->n; i++) {
		first[0] = fmin(first[0], s->when_a[i]);
		last[0] = fmax(last[0], s->when_a[i]);
	}
	for (size_t i = 0; i < s->m; i++) {
		first[1] = fmin(first[1], s->when_b[i]);
		last[1] = fmax(last[1], s->when_b[i]);
	}
	if (s->n == 1 && s->m == 1)
		ww_note(&c->notes, "one run of each: how well the meter knows a single one, "
				   "'pwrlog run --from' tells");
	/* Of one run each somebody is first. */
	if (!s->paired && s->n && s->m && s->n + s->m > 2 &&
	    (last[0] < first[1] || last[1] < first[0]))
		ww_note(&c->notes,
			"all runs of %s come before those of %s: a drift between them would look "
			"like a difference; run them in turn (pwrlog run --interleave)",
			last[0] < first[1] ? r->a : r->b, last[0] < first[1] ? r->b : r->a);
}

static void failures(struct ww_compare *c, const struct ww_comparison *r)
{
	uint64_t a = r->n_a + r->failed_a, b = r->n_b + r->failed_b;

	if (r->failed_a + r->failed_b == 0)
		return;
	ww_note(&c->notes,
		"%s: %" PRIu64 " of %" PRIu64 " runs of %s and %" PRIu64 " of %" PRIu64
		" of %s gave no value; they are counted, but in no figure%s",
		r->measure, r->failed_a, a, r->a, r->failed_b, b, r->b,
		r->pairs ? ", and neither are their partners in the pairs" : "");
}

/* lgamma() writes the global signgam; its reentrant form does not. */
static double lgam(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* Student's t and the ranks should agree; where they do not, the scatter is no normal one. */
static void disagree(struct ww_compare *c, const struct ww_comparison *r,
		     const struct ww_samples2 *s)
{
	double p = s->paired ? r->signed_rank_p : r->mann_whitney_p, alpha = 1 - c->conf;
	double n = (double)s->n, m = (double)s->m, least;

	if (isnan(p) || isnan(r->p) || (p <= alpha) == (r->p <= alpha))
		return;
	least = s->paired ? exp2(1 - n) : 2 * exp(lgam(n + 1) + lgam(m + 1) - lgam(n + m + 1));
	if (least > alpha)
		ww_note(&c->notes,
			"so few runs that a test by ranks could never tell a difference: what is "
			"said rests on a normal scatter");
	else
		ww_note(&c->notes,
			"%s: the t-test and the test by ranks do not agree on %s and %s: the "
			"scatter "
			"is not normal, or the difference is at the edge of what so many runs show",
			r->measure, r->a, r->b);
}

int ww_compare_doubts(struct ww_compare *c, const struct ww_comparison *r,
		      const struct ww_samples2 *s)
{
	int rc;

	failures(c, r);
	if (s->n == 0 || s->m == 0)
		return 0;
	rc = outliers(c, r, r->a, s->a, s->when_a, s->n);
	if (rc == 0)
		rc = outliers(c, r, r->b, s->b, s->when_b, s->m);
	if (rc == 0)
		rc = order(c, r, s);
	if (rc == 0)
		rc = drift(c, r, s);
	if (rc == 0)
		disagree(c, r, s);
	return rc;
}

static void methods(struct ww_compare *c)
{
	unsigned seen = 0;

	for (size_t i = 0; i < c->rows; i++)
		seen |= 1u << c->row[i].method;
	if (seen & 1u << WW_COMPARE_PAIRED_LOG)
		ww_note(&c->notes, "the ratio is the geometric mean of the pairs' ratios, its "
				   "interval Student's t of their logarithms");
	if (seen & 1u << WW_COMPARE_WELCH_LOG)
		ww_note(&c->notes, "not paired: the ratio is that of the geometric means, its "
				   "interval Welch's t of the logarithms");
	if (seen & (1u << WW_COMPARE_PAIRED | 1u << WW_COMPARE_WELCH))
		ww_note(&c->notes,
			"where a value is not above zero, the ratio is that of the means, "
			"with Fieller's interval where there is one");
	if (c->variants > 1)
		ww_note(&c->notes,
			"%zu variants beside one: p is corrected for their number (Holm), the "
			"intervals hold each for itself",
			c->variants);
}

static void meter(struct ww_compare *c, const struct ww_compare_options *opt)
{
	double offset = WW_OPT(opt, offset_u, 0), gain = WW_OPT(opt, gain_u, 0);
	bool has = offset > 0 || gain > 0;
	struct ww_str s = {0};

	if (c->other_meter) {
		ww_str_add(&s,
			   has ? "two meters: their gains and offsets are taken as independent, "
				 "and nothing cancels"
			       : "two meters whose accuracy is not known: what they differ by is "
				 "in the ratio, and not in its interval");
	} else if (offset > 0) {
		ww_str_add(&s, "one meter for all: its gain cancels in the ratio, its offset does "
			       "not; the intervals hold what an offset with a standard uncertainty "
			       "of ");
		ww_str_num(&s, offset);
		ww_str_add(&s, " can do");
	} else {
		ww_str_add(&s,
			   "taken as measured with one meter: its gain cancels in the ratio; its "
			   "offset does not, and is not known: it is in no interval");
	}
	note(c, &s);
	if (has)
		ww_note(&c->notes, "p of the ranks and the interval of the shift are of the runs' "
				   "scatter alone: what the meter leaves open is not in them");
}

void ww_compare_remarks(struct ww_compare *c, const struct ww_compare_options *opt)
{
	methods(c);
	meter(c, opt);
}
