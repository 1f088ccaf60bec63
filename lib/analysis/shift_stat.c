/* SPDX-License-Identifier: MIT */
/* Figures of one name in two sets: by ranks, since times of resume have long tails. */
#include "analysis/shift.h"
#include "base/ranks.h"
#include "base/stats.h"

#include <math.h>

#define CONF  0.95
#define POWER 0.8
/* Cycles of both up to which permutations are counted. */
#define EXACT_MOST 30
/* Ranks see a shift of normal values with 3/pi of the cycles that means need. */
#define RANK_LOSS 1.0233267079464885

double ww_fisher(uint64_t x, uint64_t n, uint64_t y, uint64_t m)
{
	double N = (double)n, M = (double)m, K = (double)(x + y), w, all = 0, tail = 0, seen = 0;
	int64_t lo, hi, mode;

	if (n == 0 || m == 0 || x > n || y > m || n > UINT32_MAX || m > UINT32_MAX)
		return NAN;
	lo = (int64_t)fmax(0, K - M);
	hi = (int64_t)fmin(N, K);
	mode = (int64_t)floor((N + 1) * (K + 1) / (N + M + 2));
	mode = mode < lo ? lo : mode > hi ? hi : mode;
	/* Weights go out from the mode's, which is 1; twice: the seen one's is needed first. */
	for (int pass = 0; pass < 2; pass++) {
		all = tail = 0;
		w = 1;
		for (int64_t i = mode; i <= hi; i++) {
			double k = (double)i;

			seen = i == (int64_t)x ? w : seen;
			all += w;
			tail += w <= seen * (1 + 1e-9) ? w : 0;
			w *= (K - k) * (N - k) / ((k + 1) * (M - K + k + 1));
		}
		w = 1;
		for (int64_t i = mode; i > lo; i--) {
			double k = (double)i;

			w *= k * (M - K + k) / ((K - k + 1) * (N - k + 1));
			seen = i - 1 == (int64_t)x ? w : seen;
			all += w;
			tail += w <= seen * (1 + 1e-9) ? w : 0;
		}
	}
	return fmin(1, tail / all);
}

/*
 * Infinite values become one that is far beyond all others, so that differences exist: a
 * difference that is as large is infinite again, and two failures differ by nothing.
 */
static double far_beyond(const double *a, size_t n, const double *b, size_t m)
{
	double most = 1;

	for (size_t i = 0; i < n + m; i++) {
		double v = fabs(i < n ? a[i] : b[i - n]);

		if (isfinite(v) && v > most)
			most = v;
	}
	return most * 1e6;
}

static double back(double v, double beyond)
{
	return v > beyond / 4 ? INFINITY : v < -beyond / 4 ? -INFINITY : v;
}

static int shift(const double *a, size_t n, const double *b, size_t m, struct ww_shift_row *r)
{
	double beyond = far_beyond(a, n, b, m), *v = malloc((n + m) * sizeof(*v));
	struct ww_rank_shift s;
	int rc;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n + m; i++) {
		double x = i < n ? a[i] : b[i - n];

		v[i] = isinf(x) ? beyond : x;
	}
	rc = ww_hodges_lehmann(v, n, v + n, m, CONF, &s);
	free(v);
	if (rc < 0)
		return rc;
	r->shift = back(s.value, beyond);
	r->ci[0] = back(s.lo, beyond);
	r->ci[1] = back(s.hi, beyond);
	return 0;
}

/* Of all orders of so many different values, two lie as far apart as can be. */
static double least_p(size_t n, size_t m)
{
	double ways = 1;

	for (size_t i = 1; i <= n && ways < 1e15; i++)
		ways = ways * (double)(m + i) / (double)i;
	return fmin(1, 2 / ways);
}

static int test(const double *a, size_t n, const double *b, size_t m, struct ww_shift_row *r,
		struct ww_shift_extra *x)
{
	struct ww_rank_test mw;
	struct ww_brunner_munzel bm = {.p = NAN};
	int rc = 0;

	if (n + m > EXACT_MOST)
		rc = ww_brunner_munzel(a, n, b, m, &bm);
	x->least = least_p(n, m);
	r->p = bm.p;
	/* Brunner and Munzel's has no scatter where one set lies wholly above the other. */
	if (rc == 0 && isnan(bm.p)) {
		rc = ww_mann_whitney(a, n, b, m, &mw);
		r->p = mw.p;
	}
	return rc;
}

static size_t finite_sd(const double *v, size_t n, double *sd)
{
	struct ww_sum sum = {0}, square = {0};
	size_t k = 0;
	double mean;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(v[i])) {
			ww_sum_add(&sum, v[i]);
			k++;
		}
	}
	mean = k ? ww_sum_get(&sum) / (double)k : NAN;
	for (size_t i = 0; i < n; i++)
		if (isfinite(v[i]))
			ww_sum_add(&square, (v[i] - mean) * (v[i] - mean));
	*sd = k > 1 ? sqrt(ww_sum_get(&square) / (double)(k - 1)) : NAN;
	return k;
}

static double detectable(const double *a, size_t n, const double *b, size_t m,
			 struct ww_shift_extra *x)
{
	double k[2], var;

	k[0] = (double)finite_sd(a, n, &x->scatter[0]);
	k[1] = (double)finite_sd(b, m, &x->scatter[1]);
	if (isnan(x->scatter[0]) || isnan(x->scatter[1]))
		return NAN;
	var = ((k[0] - 1) * x->scatter[0] * x->scatter[0] +
	       (k[1] - 1) * x->scatter[1] * x->scatter[1]) /
	      (k[0] + k[1] - 2);
	return RANK_LOSS *
	       ww_detectable(sqrt(var * (1 / k[0] + 1 / k[1])), k[0] + k[1] - 2, CONF, POWER);
}

static double median_of(const double *v, size_t n, uint64_t *failures, int *rc)
{
	double *copy = malloc((n ? n : 1) * sizeof(*copy)), m;

	*failures = 0;
	if (!copy) {
		*rc = -ENOMEM;
		return NAN;
	}
	for (size_t i = 0; i < n; i++) {
		copy[i] = v[i];
		*failures += isinf(v[i]) != 0;
	}
	m = ww_median_low(copy, n);
	free(copy);
	return m;
}

int ww_shift_figures(const double *a, size_t n, const double *b, size_t m, struct ww_shift_row *r,
		     struct ww_shift_extra *x)
{
	int rc = 0;

	r->n[0] = n;
	r->n[1] = m;
	r->shift = r->p = r->p_adjusted = r->mdd = NAN;
	r->ci[0] = -INFINITY;
	r->ci[1] = INFINITY;
	x->scatter[0] = x->scatter[1] = NAN;
	x->least = 1;
	r->median[0] = median_of(a, n, &r->failures[0], &rc);
	r->median[1] = median_of(b, m, &r->failures[1], &rc);
	if (rc < 0 || n == 0 || m == 0)
		return rc;
	rc = shift(a, n, b, m, r);
	if (rc == 0)
		rc = test(a, n, b, m, r, x);
	r->mdd = detectable(a, n, b, m, x);
	return rc;
}

/*
 * A beat that comes at the same place of its period in each cycle is read at one of its two
 * neighbours: then less than a reading's half-width cannot be told. Values that scatter as
 * widely show that it comes anywhere.
 */
static bool fixed_phase(const struct ww_shift_row *r, const struct ww_shift_extra *x)
{
	return !(x->scatter[0] >= r->resolution / 2) || !(x->scatter[1] >= r->resolution / 2);
}

void ww_shift_judge(struct ww_shift_row *r, const struct ww_shift_extra *x, size_t tests)
{
	double least = fmin(1, x->least * (double)(tests ? tests : 1));

	if (r->n[0] == 0 || r->n[1] == 0)
		r->verdict = r->n[0] ? WW_SHIFT_ONLY_A : WW_SHIFT_ONLY_B;
	else if (isnan(r->p) || least > WW_SHIFT_ALPHA)
		r->verdict = WW_SHIFT_TOO_FEW;
	else if (fabs(r->shift) < r->resolution && fixed_phase(r, x))
		r->verdict = WW_SHIFT_BELOW_RESOLUTION;
	else if (r->p_adjusted <= WW_SHIFT_ALPHA && r->shift != 0)
		r->verdict = r->shift > 0 ? WW_SHIFT_SLOWER : WW_SHIFT_FASTER;
	else
		r->verdict = WW_SHIFT_NONE;
}

const char *ww_shift_verdict_name(int verdict)
{
	static const char *const names[] = {"no difference seen", "slower",	    "faster",
					    "below resolution",	  "too few cycles", "only in A",
					    "only in B"};

	return verdict >= 0 && verdict <= WW_SHIFT_ONLY_B ? names[verdict] : "";
}
