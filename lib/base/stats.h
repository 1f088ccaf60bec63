/* SPDX-License-Identifier: MIT */
/* Small statistics: sums that keep their digits, order statistics, exact intervals. */
#ifndef WW_STATS_H
#define WW_STATS_H

#include "base/base.h"

/*
 * Neumaier's compensated sum (1974). Adding the same numbers in the same order
 * gives the same bits however they were cut into blocks.
 */
struct ww_sum {
	double s;
	double c;
};
void ww_sum_add(struct ww_sum *k, double v);
double ww_sum_get(const struct ww_sum *k);

/* Median of n values, which are reordered. NaN for n = 0. */
double ww_median(double *v, size_t n);
/* The same, of an even number the lower of the two in the middle: a value that there was. */
double ww_median_low(double *v, size_t n);
int ww_cmp_double(const void *a, const void *b);

/* P(X <= k) for X ~ Binomial(n, p). */
double ww_binom_cdf(int64_t k, int64_t n, double p);

/*
 * Ranks (1-based) of order statistics whose interval covers the p-quantile with
 * at least `conf`, tails equal: each tail <= (1 - conf)/2. Rank 0 or n+1:
 * unbounded on that side. n = 20, p = .5: 6, 15 (95.9 %).
 * Source: David & Nagaraja, Order Statistics, 7.1.
 */
void ww_quantile_ranks(size_t n, double p, double conf, size_t *lower, size_t *upper);

/* Regularised incomplete beta function I_x(a, b) (Lentz's continued fraction). */
double ww_beta_inc(double a, double b, double x);
/* Clopper-Pearson interval for k of n (Biometrika 1934). */
void ww_clopper_pearson(int64_t k, int64_t n, double conf, double *lo, double *hi);
/* Quantile of Student's t, two-sided probability conf, e.g. .95, df > 0. */
double ww_student_t(double conf, double df);

#endif
