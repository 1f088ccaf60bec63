/* SPDX-License-Identifier: MIT */
/* Lengths of idle gaps: exponential, Pareto, or as they were recorded. */
#include "analysis/suspend_model.h"
#include "base/stats.h"
#include "base/str.h"

#include <math.h>

static int check_pareto(struct ww_gap_law *g, const struct ww_suspend_options *o,
			struct ww_error *err)
{
	char alpha[350];

	g->least = o->gap_least;
	g->alpha = o->gap_alpha;
	g->most = o->gap_most > 0 ? o->gap_most : INFINITY;
	if (!(g->least > 0) || !(g->alpha > 0) || !isfinite(g->least) || !isfinite(g->alpha) ||
	    !(g->most > g->least))
		return ww_fail(
			err, -EINVAL,
			"Pareto gaps need a least gap and an alpha above 0, and a longest gap "
			"above the least");
	ww_num_text(alpha, sizeof(alpha), g->alpha);
	if (g->alpha <= 1 && !isfinite(g->most))
		return ww_fail(
			err, -EINVAL,
			"Pareto gaps of alpha = %s have no mean (it is infinite up to alpha "
			"= 1), so that there is no average power: give the longest gap, or a "
			"recorded list of gaps",
			alpha);
	g->mean = ww_gap_upto(g, INFINITY);
	return 0;
}

/* Gaps ordered by length; equal ones as they came. */
struct pair {
	double gap;
	size_t at;
};

static int by_length(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->gap != y->gap)
		return x->gap < y->gap ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int sort(struct ww_gap_law *g, struct ww_error *err)
{
	struct pair *p = calloc(g->n, sizeof(*p));
	struct ww_sum sum = {0};

	g->sorted = calloc(g->n, sizeof(*g->sorted));
	g->upto = calloc(g->n + 1, sizeof(*g->upto));
	g->order = calloc(g->n, sizeof(*g->order));
	if (!p || !g->sorted || !g->upto || !g->order) {
		free(p);
		return ww_fail_nomem(err);
	}
	for (size_t i = 0; i < g->n; i++)
		p[i] = (struct pair){g->gap[i], i};
	qsort(p, g->n, sizeof(*p), by_length);
	for (size_t i = 0; i < g->n; i++) {
		g->sorted[i] = p[i].gap;
		g->order[i] = p[i].at;
		ww_sum_add(&sum, p[i].gap);
		g->upto[i + 1] = ww_sum_get(&sum);
	}
	free(p);
	g->total = g->upto[g->n];
	g->mean = g->total / (double)g->n;
	if (!(g->total > 0) || !isfinite(g->total))
		return ww_fail(err, -EINVAL, "the idle gaps add up to no time");
	return 0;
}

static int keep(struct ww_gap_law *g, const double *gap, size_t n, struct ww_error *err)
{
	if (n == 0 || !gap)
		return ww_fail(err, -EINVAL, "the list of idle gaps is empty");
	for (size_t i = 0; i < n; i++)
		if (!(gap[i] >= 0) || !isfinite(gap[i]))
			return ww_fail(err, -EINVAL,
				       "idle gap %zu is not a length of time in seconds", i + 1);
	g->gap = calloc(n, sizeof(*g->gap));
	if (!g->gap)
		return ww_fail_nomem(err);
	memcpy(g->gap, gap, n * sizeof(*gap));
	g->n = n;
	return sort(g, err);
}

int ww_gap_law_make(struct ww_gap_law *g, const struct ww_suspend_options *o, struct ww_error *err)
{
	*g = (struct ww_gap_law){.kind = o->gaps, .mean = NAN};
	switch (o->gaps) {
	case WW_GAPS_NONE:
		return 0;
	case WW_GAPS_RECORDED:
		return keep(g, o->gap, o->n, err);
	case WW_GAPS_FIXED:
	case WW_GAPS_EXPONENTIAL:
		if (!(o->gap_mean > 0) || !isfinite(o->gap_mean))
			return ww_fail(err, -EINVAL, "the mean idle gap is a time above 0 s");
		g->theta = g->mean = o->gap_mean;
		return o->gaps == WW_GAPS_FIXED ? keep(g, &o->gap_mean, 1, err) : 0;
	case WW_GAPS_PARETO:
		return check_pareto(g, o, err);
	default:
		return ww_fail(err, -EINVAL, "idle gaps of kind %d are unknown", o->gaps);
	}
}

void ww_gap_law_free(struct ww_gap_law *g)
{
	free(g->gap);
	free(g->sorted);
	free(g->upto);
	free(g->order);
}

/* How many of the recorded ones are no longer than x. */
static size_t no_longer(const struct ww_gap_law *g, double x)
{
	size_t lo = 0, hi = g->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (g->sorted[mid] <= x)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double ww_gap_upto(const struct ww_gap_law *g, double x)
{
	double a = g->alpha, top;
	size_t k;

	if (g->kind == WW_GAPS_EXPONENTIAL)
		return -g->theta * expm1(-x / g->theta);
	if (g->kind == WW_GAPS_PARETO) {
		top = fmin(x, g->most);
		if (top <= g->least)
			return top;
		if (fabs(a - 1) < 1e-9)
			return g->least * (1 + log(top / g->least));
		/* x^(1 - alpha) is 0 at an infinite end: alpha is above 1 there. */
		return g->least +
		       g->least / (a - 1) * (1 - (isfinite(top) ? pow(top / g->least, 1 - a) : 0));
	}
	k = no_longer(g, x);
	return (g->upto[k] + (k < g->n ? (double)(g->n - k) * x : 0)) / (double)g->n;
}

double ww_gap_beyond(const struct ww_gap_law *g, double x)
{
	if (g->kind == WW_GAPS_EXPONENTIAL)
		return exp(-x / g->theta);
	if (g->kind == WW_GAPS_PARETO)
		return x < g->least ? 1 : x < g->most ? pow(g->least / x, g->alpha) : 0;
	return (double)(g->n - no_longer(g, x)) / (double)g->n;
}

double ww_gap_rest(const struct ww_gap_law *g, double t)
{
	size_t k;

	if (g->kind == WW_GAPS_EXPONENTIAL)
		return -g->theta * log(0.95);
	if (g->kind == WW_GAPS_PARETO)
		return fmin(fmax(t, g->least) * pow(0.95, -1 / g->alpha), g->most) - t;
	k = no_longer(g, t);
	return k < g->n ? g->sorted[k + (g->n - k) / 20] - t : 0;
}
