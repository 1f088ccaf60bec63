/* SPDX-License-Identifier: MIT */
/* Statistics against worked numbers and against brute force. */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define assert_near(a, b, tol) assert_true(fabs((a) - (b)) <= (tol))

/* P(X <= k) by adding the terms. */
static double cdf_by_terms(int64_t k, int64_t n, double p)
{
	double sum = 0;

	for (int64_t i = 0; i <= k; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) -
			   lgamma((double)(n - i) + 1) + (double)i * log(p) +
			   (double)(n - i) * log1p(-p));
	return sum;
}

static void test_binomial(void **state)
{
	static const double p[] = {0.01, 0.3, 0.5, 0.95};
	static const int64_t n[] = {1, 2, 20, 300};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++)
			for (int64_t x = 0; x < n[k]; x++)
				assert_near(ww_binom_cdf(x, n[k], p[i]),
					    cdf_by_terms(x, n[k], p[i]), 1e-10);
	assert_true(ww_binom_cdf(-1, 5, 0.5) == 0);
	assert_true(ww_binom_cdf(5, 5, 0.5) == 1);
}

/* Ranks and their coverage; equal tails; 0 or n + 1: unbounded. */
static void test_quantile_ranks(void **state)
{
	static const struct {
		size_t n;
		double p;
		size_t lower, upper;
		double coverage;
	} row[] = {{20, 0.5, 6, 15, 0.9586105346679688},
		   {50, 0.5, 18, 33, 0.9671608624357315},
		   {100, 0.5, 40, 61, 0.9647997997822952},
		   {200, 0.5, 86, 115, 0.9599628083866005},
		   {100, 0.95, 90, 100, 0.9826070607121812},
		   {200, 0.95, 184, 197, 0.9671521638567256},
		   {300, 0.99, 293, 301, 0.9885259213651223},
		   {500, 0.99, 490, 500, 0.9801859498578058}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		size_t lower, upper;
		double coverage;

		ww_quantile_ranks(row[i].n, row[i].p, 0.95, &lower, &upper);
		assert_int_equal(lower, row[i].lower);
		assert_int_equal(upper, row[i].upper);
		coverage = ww_binom_cdf((int64_t)upper - 1, (int64_t)row[i].n, row[i].p) -
			   ww_binom_cdf((int64_t)lower - 1, (int64_t)row[i].n, row[i].p);
		assert_near(coverage, row[i].coverage, 1e-9);
	}
}

/* Whatever n and p: each tail at most 2.5 %, and no narrower pair would do. */
static void test_quantile_ranks_brute(void **state)
{
	static const double p[] = {0.05, 0.5, 0.9, 0.95, 0.99};

	(void)state;
	for (size_t n = 0; n <= 120; n++) {
		for (size_t i = 0; i < WW_COUNTOF(p); i++) {
			size_t lower, upper, r = 0, s = n + 1;

			while (r < n && cdf_by_terms((int64_t)r, (int64_t)n, p[i]) <= 0.025)
				r++;
			while (s > 1 && 1 - cdf_by_terms((int64_t)s - 2, (int64_t)n, p[i]) <= 0.025)
				s--;
			ww_quantile_ranks(n, p[i], 0.95, &lower, &upper);
			assert_int_equal(lower, r);
			assert_int_equal(upper, s);
			assert_true(lower <= upper);
		}
	}
}

static void test_quantile_ranks_few(void **state)
{
	size_t lower, upper;

	(void)state;
	/* Five cycles bound no median at 95 %, six do. */
	ww_quantile_ranks(5, 0.5, 0.95, &lower, &upper);
	assert_true(lower == 0 && upper == 6);
	ww_quantile_ranks(6, 0.5, 0.95, &lower, &upper);
	assert_true(lower == 1 && upper == 6);
	ww_quantile_ranks(0, 0.5, 0.95, &lower, &upper);
	assert_true(lower == 0 && upper == 1);
}

static void test_clopper_pearson(void **state)
{
	double lo, hi;

	(void)state;
	ww_clopper_pearson(3, 300, 0.95, &lo, &hi);
	assert_near(lo, 0.0020670072350923163, 1e-9);
	assert_near(hi, 0.028944511255692605, 1e-9);
	/* One-sided 95 %: a tail of 5 %. */
	ww_clopper_pearson(0, 300, 0.90, &lo, &hi);
	assert_true(lo == 0);
	assert_near(hi, 0.00993608194445772, 1e-9);
	ww_clopper_pearson(300, 300, 0.90, &lo, &hi);
	assert_near(lo, 1 - 0.00993608194445772, 1e-9);
	assert_true(hi == 1);
	ww_clopper_pearson(0, 0, 0.95, &lo, &hi);
	assert_true(lo == 0 && hi == 1);
	/* The definition: at each end the tail is 2.5 %. */
	for (int64_t k = 1; k < 40; k++) {
		ww_clopper_pearson(k, 40, 0.95, &lo, &hi);
		assert_near(1 - ww_binom_cdf(k - 1, 40, lo), 0.025, 1e-9);
		assert_near(ww_binom_cdf(k, 40, hi), 0.025, 1e-9);
	}
}

/* Tables of Student's t (two-sided), and the interval of a worked paired comparison. */
static void test_student(void **state)
{
	static const struct {
		double conf, df, t;
	} row[] = {{0.95, 1, 12.706204736}, {0.95, 2, 4.302652730},  {0.95, 7, 2.364624252},
		   {0.95, 9, 2.262157163},  {0.95, 30, 2.042272456}, {0.99, 5, 4.032142984},
		   {0.90, 10, 1.812461123}, {0.95, 1e7, 1.959964},   {0.6827, 3, 1.197}};
	static const double a[] = {100.2, 101.0, 99.8, 100.5, 100.9, 99.9, 100.4, 100.7};
	static const double b[] = {98.9, 99.6, 98.8, 99.5, 99.3, 98.7, 99.1, 99.6};
	double mean = 0, ss = 0, half;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++)
		assert_near(ww_student_t(row[i].conf, row[i].df), row[i].t, row[i].t * 2e-4);
	for (size_t i = 0; i < 8; i++)
		mean += log(b[i] / a[i]) / 8;
	for (size_t i = 0; i < 8; i++)
		ss += pow(log(b[i] / a[i]) - mean, 2);
	half = ww_student_t(0.95, 7) * sqrt(ss / 7 / 8);
	assert_near(exp(mean), 0.9876798397418053, 1e-12);
	assert_near(exp(mean - half), 0.9859890102200826, 1e-9);
	assert_near(exp(mean + half), 0.9893735687932812, 1e-9);
	/* t of .975 and .8 with 9 degrees: the least difference ten pairs at 1.2 % can show. */
	assert_near((ww_student_t(0.95, 9) + ww_student_t(0.6, 9)) * 1.2 / sqrt(10),
		    1.1936564819898916, 1e-9);
}

static void test_sum(void **state)
{
	struct ww_sum k = {0, 0}, one = {0, 0};

	(void)state;
	ww_sum_add(&k, 1);
	ww_sum_add(&k, 1e100);
	ww_sum_add(&k, 1);
	ww_sum_add(&k, -1e100);
	assert_true(ww_sum_get(&k) == 2);
	for (int i = 0; i < 1000000; i++)
		ww_sum_add(&one, 0.1);
	assert_true(ww_sum_get(&one) == 100000.0);
	assert_true(ww_sum_get(&(struct ww_sum){0, 0}) == 0);
}

static void test_median(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, huge[] = {1.7e308, 1.7e308},
	       inf[] = {1, INFINITY, 2, INFINITY, INFINITY};

	(void)state;
	assert_true(isnan(ww_median(NULL, 0)));
	assert_true(ww_median(odd, 3) == 2);
	assert_true(ww_median(even, 4) == 2.5);
	assert_true(ww_median(huge, 2) == 1.7e308);
	assert_true(isinf(ww_median(inf, 5)));
	assert_true(isnan(ww_median_low(NULL, 0)));
	assert_true(ww_median_low(odd, 3) == 2);
	assert_true(ww_median_low(even, 4) == 2);
}

static void test_beta(void **state)
{
	(void)state;
	/* I_x(1, b) = 1 - (1 - x)^b, I_x(a, 1) = x^a, and the symmetry. */
	for (double x = 0; x <= 1; x += 0.0625) {
		assert_near(ww_beta_inc(1, 7, x), 1 - pow(1 - x, 7), 1e-13);
		assert_near(ww_beta_inc(3.5, 1, x), pow(x, 3.5), 1e-13);
		assert_near(ww_beta_inc(2.5, 40, x), 1 - ww_beta_inc(40, 2.5, 1 - x), 1e-12);
	}
	assert_near(ww_beta_inc(50000, 50000, 0.5), 0.5, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_binomial),
					   cmocka_unit_test(test_quantile_ranks),
					   cmocka_unit_test(test_quantile_ranks_brute),
					   cmocka_unit_test(test_quantile_ranks_few),
					   cmocka_unit_test(test_clopper_pearson),
					   cmocka_unit_test(test_student),
					   cmocka_unit_test(test_sum),
					   cmocka_unit_test(test_median),
					   cmocka_unit_test(test_beta)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
