/* SPDX-License-Identifier: MIT */
/*
 * Tests by ranks and means against enumeration of all permutations and against figures of
 * SciPy 1.17 (brunnermunzel, mannwhitneyu, wilcoxon, t); worked numbers of the method.
 */
#include "base/ranks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define N(v) (sizeof(v) / sizeof((v)[0]))

static const double A[] = {100.2, 101.0, 99.8, 100.5, 100.9, 99.9, 100.4, 100.7};
static const double B[] = {98.9, 99.6, 98.8, 99.5, 99.3, 98.7, 99.1, 99.6};
static const double X[] = {12.1, 13.4, 11.9, 12.8, 13.0, 12.2, 12.5};
static const double Y[] = {12.9, 13.8, 13.1, 13.4, 12.6, 14.0};
static const double D[] = {0.3, -0.2, 0.5, 0.5, 0.0, 1.2, -0.1, 0.9, 0.5};

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.17g, want %.17g", got, want);
}

static void test_worked_ab(void **state)
{
	struct ww_rank_test mw;
	struct ww_rank_shift s;
	struct ww_mean_test t;
	double delta, d[8], k;

	(void)state;
	assert_int_equal(ww_mann_whitney(A, 8, B, 8, &mw), 0);
	near(mw.stat, 0, 0);
	near(mw.p, 0.0001554001554001554, 1e-15);
	near(mw.least, 0.0001554001554001554, 1e-15);
	assert_true(mw.exact);
	assert_int_equal(ww_hodges_lehmann(A, 8, B, 8, 0.95, &s), 0);
	near(s.value, -1.25, 1e-12);
	assert_int_equal(ww_cliffs_delta(A, 8, B, 8, &delta), 0);
	near(delta, -1, 0);
	for (int i = 0; i < 8; i++)
		d[i] = log(B[i] / A[i]);
	ww_paired_mean(d, 8, &t);
	k = ww_student_quantile(0.975, t.df) * t.se;
	near(exp(t.value), 0.9876798397418053, 1e-13);
	near(exp(t.value - k), 0.9859890102200826, 1e-12);
	near(exp(t.value + k), 0.9893735687932812, 1e-12);
}

static void test_worked_mdd(void **state)
{
	(void)state;
	near(ww_detectable(1.2 / sqrt(10), 9, 0.95, 0.8), 1.1936564819898916, 1e-10);
	assert_int_equal(ww_pairs_needed(1.2, 0.5, 0.95, 0.8, true), 46);
	/* With the t quantiles of so few, 46 would not do; the number found is the least. */
	assert_true(ww_detectable(1.2 / sqrt(46), 45, 0.95, 0.8) > 0.5);
	assert_int_equal(ww_pairs_needed(1.2, 0.5, 0.95, 0.8, false), 48);
	assert_true(ww_detectable(1.2 / sqrt(48), 47, 0.95, 0.8) <= 0.5);
	assert_true(ww_detectable(1.2 / sqrt(47), 46, 0.95, 0.8) > 0.5);
	assert_int_equal(ww_pairs_needed(1, 1e-9, 0.95, 0.8, false), 0);
}

static void test_distributions(void **state)
{
	(void)state;
	near(ww_normal_cdf(1.3), 0.9031995154143897, 1e-15);
	near(ww_normal_quantile(0.025), -1.9599639845400545, 1e-13);
	near(ww_student_p(2.5, 3.7), 0.07182202291182678, 1e-13);
	near(ww_student_p(-2.5, INFINITY), 0.012419330651552265, 1e-14);
	near(ww_student_quantile(0.8, 9), 0.8834038596855346, 1e-12);
	near(ww_student_quantile(0.2, 9), -0.8834038596855346, 1e-12);
	near(ww_student_quantile(0.5, 9), 0, 0);
	near(ww_student_quantile(0.975, INFINITY), 1.9599639845400545, 1e-12);
	assert_true(isnan(ww_student_quantile(0.9, 0)));
	assert_true(isnan(ww_normal_quantile(1.5)));
}

/* Ties across the samples and within: the permutation distribution of the midranks. */
static void test_ties(void **state)
{
	struct ww_rank_test t;

	(void)state;
	assert_int_equal(ww_mann_whitney(X, N(X), Y, N(Y), &t), 0);
	near(t.stat, 35.5, 0);
	near(t.p, 0.03787878787878788, 1e-14);
	/* The smaller sample may stand on either side. */
	assert_int_equal(ww_mann_whitney(Y, N(Y), X, N(X), &t), 0);
	near(t.stat, 6.5, 0);
	near(t.p, 0.03787878787878788, 1e-14);
	assert_int_equal(ww_signed_rank(D, N(D), &t), 0);
	assert_int_equal(t.n, 8);
	near(t.stat, 33, 0);
	near(t.p, 0.0390625, 1e-14);
	assert_true(t.exact);
}

/* All subsets of all small samples with few different values: p by counting them. */
static void test_enumeration(void **state)
{
	(void)state;
	for (unsigned code = 0; code < 2187; code++) {
		double v[7], sum, mean, seen = 0, far = 0, all = 0;
		uint32_t r[7];
		double ties;
		unsigned c = code;
		struct ww_rank_test t;

		for (int i = 0; i < 7; i++, c /= 3)
			v[i] = c % 3;
		assert_int_equal(ww_midranks2(v, 7, r, &ties), 0);
		for (int i = 4; i < 7; i++)
			seen += r[i];
		mean = 3 * 8;
		for (unsigned set = 0; set < 128; set++) {
			if (__builtin_popcount(set) != 3)
				continue;
			sum = 0;
			for (int i = 0; i < 7; i++)
				sum += set >> i & 1 ? r[i] : 0;
			all++;
			far += fabs(sum - mean) >= fabs(seen - mean);
		}
		assert_int_equal(ww_mann_whitney(v, 4, v + 4, 3, &t), 0);
		near(t.p, far / all, 1e-14);
		assert_true(t.p >= t.least - 1e-14);
	}
}

static void test_shift(void **state)
{
	struct ww_rank_shift s;

	(void)state;
	assert_int_equal(ww_hodges_lehmann(X, N(X), Y, N(Y), 0.95, &s), 0);
	near(s.value, 0.75, 1e-12);
	near(s.lo, 0, 0);
	near(s.hi, 1.5, 1e-12);
	assert_int_equal(ww_walsh(D, N(D), 0.95, &s), 0);
	near(s.value, 0.4, 1e-12);
	near(s.lo, 0, 1e-15);
	near(s.hi, 0.85, 1e-12);
	/* Three and three bound nothing at 95 %: the rank test cannot reach it. */
	assert_int_equal(ww_hodges_lehmann(X, 3, Y, 3, 0.95, &s), 0);
	assert_true(isinf(s.lo) && s.lo < 0 && isinf(s.hi));
	assert_int_equal(ww_hodges_lehmann(X, 4, Y, 4, 0.95, &s), 0);
	assert_true(isfinite(s.lo) && isfinite(s.hi));
	assert_int_equal(ww_walsh(D, 0, 0.95, &s), 0);
	assert_true(isnan(s.value));
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Bisection finds the very order statistic that listing all differences finds. */
static void test_bisection(void **state)
{
	double a[23], b[31], all[23 * 31];
	struct ww_rank_shift s;
	size_t k = 0;

	(void)state;
	for (int i = 0; i < 23; i++)
		a[i] = sin(i * 12.9898) * 43.5;
	for (int i = 0; i < 31; i++)
		b[i] = sin(i * 78.233) * 41.1 + 0.3;
	for (int i = 0; i < 23; i++)
		for (int j = 0; j < 31; j++)
			all[k++] = b[j] - a[i];
	qsort(all, k, sizeof(*all), cmp);
	assert_int_equal(ww_hodges_lehmann(a, 23, b, 31, 0.95, &s), 0);
	assert_true(s.value == all[k / 2]);
	/* The normal approximation gives nearly the same ranks: 713/2 - 1.96 sqrt(...). */
	assert_true(s.lo >= all[235] && s.lo <= all[247]);
	assert_true(s.hi >= all[k - 1 - 247] && s.hi <= all[k - 1 - 235]);
}

/* Beyond exact counting: ties, continuity, as SciPy has them. */
static void test_large(void **state)
{
	double a[120], b[110], d[400];
	struct ww_rank_test t;
	struct ww_brunner_munzel bm;

	(void)state;
	for (int i = 0; i < 120; i++)
		a[i] = i * 37 % 101 / 10.0;
	for (int i = 0; i < 110; i++)
		b[i] = i * 53 % 103 / 10.0 + 0.5;
	for (int i = 0; i < 400; i++)
		d[i] = i * 71 % 401 / 10.0 - 18.05;
	assert_int_equal(ww_mann_whitney(a, 120, b, 110, &t), 0);
	assert_false(t.exact);
	near(t.stat, 7232.0, 0);
	near(t.p, 0.21027064400805728, 1e-12);
	assert_int_equal(ww_brunner_munzel(a, 120, b, 110, &bm), 0);
	near(bm.stat, 1.2578830192107358, 1e-10);
	near(bm.p, 0.2097444648895746, 1e-10);
	assert_int_equal(ww_signed_rank(d, 400, &t), 0);
	assert_false(t.exact);
	near(t.p, 0.001773880668245057, 1e-12);
}

static void test_brunner_munzel(void **state)
{
	struct ww_brunner_munzel t;

	(void)state;
	assert_int_equal(ww_brunner_munzel(X, N(X), Y, N(Y), &t), 0);
	near(t.stat, 3.1103182722353706, 1e-12);
	near(t.p, 0.010063147927434268, 1e-12);
	near(t.effect, 35.5 / 42, 1e-12);
	/* One above the other: no variance is left, and no p is made up. */
	assert_int_equal(ww_brunner_munzel(A, 8, B, 8, &t), 0);
	near(t.effect, 0, 0);
	assert_true(isnan(t.p));
}

static void test_welch(void **state)
{
	struct ww_mean_test t;

	(void)state;
	ww_welch_mean(X, N(X), Y, N(Y), &t);
	near(t.value / t.se, 2.4850343777720347, 1e-11);
	near(t.df, 10.7053734317476, 1e-10);
	near(ww_student_p(t.value / t.se, t.df), 0.030838241952380708, 1e-12);
	ww_welch_mean(X, 1, Y, 5, &t);
	assert_true(isnan(t.se) && isfinite(t.value));
}

static void test_fieller(void **state)
{
	double lo, hi;

	(void)state;
	assert_true(ww_fieller(10, 0.04, 20, 0.09, 0, 2, &lo, &hi));
	/* (20 - 10 r)^2 = 4 (.09 + .04 r^2) at both ends */
	near(pow(20 - 10 * lo, 2), 4 * (0.09 + 0.04 * lo * lo), 1e-9);
	near(pow(20 - 10 * hi, 2), 4 * (0.09 + 0.04 * hi * hi), 1e-9);
	assert_true(lo < 2 && hi > 2);
	/* A denominator that may be zero bounds nothing. */
	assert_false(ww_fieller(0.3, 0.04, 20, 0.09, 0, 2, &lo, &hi));
	assert_true(isinf(lo) && isinf(hi));
}

static void test_holm(void **state)
{
	double p[] = {0.01, 0.04, NAN, 0.03, 0.005};
	static const double want[] = {0.03, 0.06, NAN, 0.06, 0.02};

	(void)state;
	assert_int_equal(ww_holm(p, N(p)), 0);
	for (size_t i = 0; i < N(p); i++) {
		if (isnan(want[i]))
			assert_true(isnan(p[i]));
		else
			near(p[i], want[i], 1e-15);
	}
	p[0] = 0.7;
	p[1] = 0.9;
	assert_int_equal(ww_holm(p, 2), 0);
	near(p[0], 1, 0);
	near(p[1], 1, 0);
}

static void test_nothing(void **state)
{
	struct ww_rank_test t;
	struct ww_mean_test m;
	double delta;

	(void)state;
	assert_int_equal(ww_mann_whitney(X, 0, Y, 3, &t), 0);
	assert_true(isnan(t.p));
	assert_int_equal(ww_signed_rank(X, 0, &t), 0);
	assert_true(isnan(t.p));
	assert_int_equal(ww_signed_rank((double[]){0, 0}, 2, &t), 0);
	assert_true(isnan(t.p) && t.n == 0);
	assert_int_equal(ww_cliffs_delta(X, 0, Y, 0, &delta), 0);
	assert_true(isnan(delta));
	ww_paired_mean(X, 0, &m);
	assert_true(isnan(m.value));
	/* All alike: every order is as likely as every other. */
	assert_int_equal(ww_mann_whitney((double[]){1, 1}, 2, (double[]){1, 1}, 2, &t), 0);
	near(t.p, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked_ab),      cmocka_unit_test(test_worked_mdd),
		cmocka_unit_test(test_distributions),  cmocka_unit_test(test_ties),
		cmocka_unit_test(test_enumeration),    cmocka_unit_test(test_shift),
		cmocka_unit_test(test_bisection),      cmocka_unit_test(test_large),
		cmocka_unit_test(test_brunner_munzel), cmocka_unit_test(test_welch),
		cmocka_unit_test(test_fieller),	       cmocka_unit_test(test_holm),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
