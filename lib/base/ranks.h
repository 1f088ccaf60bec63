/* SPDX-License-Identifier: MIT */
/*
 * Two samples beside each other: tests and intervals that ask little of the
 * distribution (ranks), and those of Student that ask more and say more.
 * Everything is deterministic; exact distributions hold with ties too.
 */
#ifndef WW_RANKS_H
#define WW_RANKS_H

#include "base/base.h"

/* P(Z <= z) of the standard normal distribution, and its inverse (NaN outside of 0..1). */
double ww_normal_cdf(double z);
double ww_normal_quantile(double p);
/* P(|T| >= |t|) of Student's distribution; df may be INFINITY. */
double ww_student_p(double t, double df);
/* The p-quantile of Student's distribution, one-sided. */
double ww_student_quantile(double p, double df);

/* A test by ranks. */
struct ww_rank_test {
	double stat;  /* Mann-Whitney: pairs with b > a, ties half; signed rank: T+ */
	double p;     /* two-sided; NaN: nothing to test */
	double least; /* the smallest p that so few values can give at all */
	size_t n;     /* values in it: signed rank leaves zeros out */
	bool exact;   /* by the permutation distribution, ties included; else normal */
};

/*
 * Mann & Whitney (1947), two-sided. Exact by counting the permutations of the
 * midranks up to some ninety values, then the normal approximation with correction
 * for ties and continuity. @return 0 or -ENOMEM
 */
int ww_mann_whitney(const double *a, size_t n, const double *b, size_t m, struct ww_rank_test *out);
/* Wilcoxon (1945) of differences d; zeros are left out. Exact up to 250 of them. */
int ww_signed_rank(const double *d, size_t n, struct ww_rank_test *out);

/* Brunner & Munzel, Biometrical Journal 42 (2000): no equal variances are asked for. */
struct ww_brunner_munzel {
	double effect;	    /* P(a < b) + P(a = b)/2 */
	double stat, df, p; /* NaN where one sample lies wholly above the other */
};
int ww_brunner_munzel(const double *a, size_t n, const double *b, size_t m,
		      struct ww_brunner_munzel *out);

/* Cliff's delta = P(b > a) - P(b < a) (Psychological Bulletin 114, 1993). */
int ww_cliffs_delta(const double *a, size_t n, const double *b, size_t m, double *delta);

/* An estimate with its interval; ends are infinite where so few values bound nothing. */
struct ww_rank_shift {
	double value;
	double lo, hi;
};
/*
 * Hodges & Lehmann (1963): median of all b - a, and the interval that inverts the
 * Mann-Whitney test. Memory is linear: order statistics of the differences are found
 * by bisection, not by listing them.
 */
int ww_hodges_lehmann(const double *a, size_t n, const double *b, size_t m, double conf,
		      struct ww_rank_shift *out);
/* The same of one sample: median of the Walsh averages, interval of the signed rank. */
int ww_walsh(const double *d, size_t n, double conf, struct ww_rank_shift *out);

/* A mean or difference of means with Student's distribution. */
struct ww_mean_test {
	double value; /* mean of d, or mean b - mean a */
	double se;    /* its standard error */
	double sd;    /* of d, or pooled */
	double df;
};
void ww_paired_mean(const double *d, size_t n, struct ww_mean_test *out);
/* Welch, Biometrika 34 (1947). */
void ww_welch_mean(const double *a, size_t n, const double *b, size_t m, struct ww_mean_test *out);

/*
 * Fieller's interval of a ratio of means mb/ma (J. R. Stat. Soc. B 16, 1954); false
 * where ma is not told from zero: then no finite interval exists.
 */
bool ww_fieller(double ma, double va, double mb, double vb, double cov, double t, double *lo,
		double *hi);

/*
 * The smallest difference of a mean that n values of standard deviation sd would show
 * in `power` of all cases: (t_conf + t_power) sd/sqrt(n).
 */
double ww_detectable(double se, double df, double conf, double power);
/*
 * Pairs that a difference needs. normal: as if sd were known exactly (a few too few);
 * else the least n with ww_detectable() <= difference. 0: more than a million.
 */
uint64_t ww_pairs_needed(double sd, double difference, double conf, double power, bool normal);

/* Holm's step-down correction (Scand. J. Stat. 6, 1979) of k p-values, in place; NaN stays. */
int ww_holm(double *p, size_t k);

/*
 * Ranks from 1, ties shared, doubled so that they are whole numbers; *ties is the sum of
 * t^3 - t over the groups of t equal values.
 */
int ww_midranks2(const double *v, size_t n, uint32_t *rank2, double *ties);
/*
 * In how many ways k of n given whole ranks have the sum s: an array over s = 0 ... *top,
 * to be freed. NULL without memory.
 */
double *ww_subset_sums(const uint32_t *rank, size_t n, size_t k, size_t *top);
/* The probability of each sum of the ranks whose sign is positive, likewise. */
double *ww_sign_sums(const uint32_t *rank, size_t n, size_t *top);
/* Whether those are worth their time. */
bool ww_subsets_small(size_t n, size_t k);
bool ww_signs_small(size_t n);

#endif
