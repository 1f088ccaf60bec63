/* SPDX-License-Identifier: MIT */
/*
 * Latencies over many cycles: order statistics with distribution-free confidence
 * intervals, in which a cycle that never ended is +infinity. The envelope takes
 * the same ranks of all lows and of all highs, so that it holds whatever lies
 * inside the single intervals.
 */
#include "analysis/resume.h"
#include "base/stats.h"

#include <math.h>

#define PER_MS 1e6

struct ranked {
	double *mid, *lo, *hi;
	size_t n;
};

static double at_rank(const double *v, size_t n, size_t rank, double below)
{
	return rank == 0 ? below : rank > n ? INFINITY : v[rank - 1];
}

/* The p-quantile: the smallest value that a share p of all values does not exceed. */
static double quantile(const struct ranked *k, double p, double ci[2], double envelope[2])
{
	size_t r, s, rank = (size_t)ceil(p * (double)k->n - 1e-9);

	ww_quantile_ranks(k->n, p, .95, &r, &s);
	ci[0] = at_rank(k->mid, k->n, r, -INFINITY);
	ci[1] = at_rank(k->mid, k->n, s, -INFINITY);
	if (envelope) {
		envelope[0] = at_rank(k->lo, k->n, r, -INFINITY);
		envelope[1] = at_rank(k->hi, k->n, s, -INFINITY);
	}
	return at_rank(k->mid, k->n, rank ? rank : 1, -INFINITY);
}

/*
 * The widest interval that so few cycles give at 95 % or, where they give none, the one
 * from the first rank to the last, with the coverage that it really has.
 */
static void actual(const struct ranked *k, struct ww_latency_summary *out)
{
	size_t r, s;

	ww_quantile_ranks(k->n, .5, .95, &r, &s);
	if (r == 0 || s > k->n) {
		r = 1;
		s = k->n;
	}
	out->actual_ci[0] = at_rank(k->mid, k->n, r, -INFINITY);
	out->actual_ci[1] = at_rank(k->mid, k->n, s, -INFINITY);
	out->actual_coverage = ww_binom_cdf((int64_t)s - 1, (int64_t)k->n, .5) -
			       ww_binom_cdf((int64_t)r - 1, (int64_t)k->n, .5);
}

static void fill(struct ranked *k, const struct ww_interval *v, size_t n)
{
	for (size_t i = 0; i < k->n; i++) {
		bool lost = i >= n;

		k->lo[i] = lost			       ? INFINITY
			   : v[i].lo_ns == WW_TIME_MIN ? -INFINITY
						       : (double)v[i].lo_ns / PER_MS;
		k->hi[i] =
			lost || v[i].hi_ns == WW_TIME_MAX ? INFINITY : (double)v[i].hi_ns / PER_MS;
		k->mid[i] = lost ? INFINITY : (k->lo[i] + k->hi[i]) / 2;
		if (isnan(k->mid[i]))
			k->mid[i] = INFINITY;
	}
}

int ww_latency_summarise(const struct ww_interval *v, size_t n, uint64_t failures,
			 struct ww_latency_summary *out, struct ww_error *err)
{
	size_t m = n + (size_t)failures;
	struct ranked k = {.n = m};
	double *mem, *width;

	*out = (struct ww_latency_summary){
		.n = n,
		.failures = failures,
		.median = NAN,
		.p90 = NAN,
		.p95 = NAN,
		.median_ci = {NAN, NAN},
		.envelope = {NAN, NAN},
		.p90_ci = {NAN, NAN},
		.p95_ci = {NAN, NAN},
		.resolution = NAN,
		.min = NAN,
		.max = NAN,
		.actual_ci = {NAN, NAN},
		.actual_coverage = NAN,
		.median_hi = NAN,
		.bound = {NAN, NAN},
	};
	if (m == 0)
		return 0;
	mem = calloc(m, 4 * sizeof(*mem));
	if (!mem)
		return ww_fail_nomem(err);
	k.mid = mem;
	k.lo = mem + m;
	k.hi = mem + 2 * m;
	width = mem + 3 * m;
	fill(&k, v, n);
	for (size_t i = 0; i < n; i++)
		width[i] = (k.hi[i] - k.lo[i]) / 2;
	for (size_t i = 0; i < n; i++)
		out->bounds += v[i].lo_ns <= 0;
	if (n)
		out->resolution = ww_median(width, n);
	qsort(k.mid, m, sizeof(double), ww_cmp_double);
	qsort(k.lo, m, sizeof(double), ww_cmp_double);
	qsort(k.hi, m, sizeof(double), ww_cmp_double);
	out->median = quantile(&k, .5, out->median_ci, out->envelope);
	out->median_hi = k.hi[(m + 1) / 2 - 1];
	actual(&k, out);
	out->p90 = quantile(&k, .9, out->p90_ci, NULL);
	out->p95 = quantile(&k, .95, out->p95_ci, NULL);
	if (n) {
		out->min = k.mid[0];
		out->max = k.mid[n - 1];
	}
	free(mem);
	return 0;
}

void ww_latency_bound(struct ww_interval v, struct ww_latency_summary *out)
{
	double lo = v.lo_ns == WW_TIME_MIN ? -INFINITY : (double)v.lo_ns / PER_MS;
	double hi = v.hi_ns == WW_TIME_MAX ? INFINITY : (double)v.hi_ns / PER_MS;

	out->bound[0] = out->bound_only ? fmin(out->bound[0], lo) : lo;
	out->bound[1] = out->bound_only ? fmax(out->bound[1], hi) : hi;
	out->bound_only++;
}
