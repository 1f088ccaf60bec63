/* SPDX-License-Identifier: MIT */
/* Least squares: a published design to its digits, rank, null space, what can be told apart. */
#include "base/lsq.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define NEAR(a, b, tol)                                                                            \
	do {                                                                                       \
		double near_a = (a), near_b = (b);                                                 \
		if (!(fabs(near_a - near_b) <= (tol)))                                             \
			fail_msg("%s = %.17g, not %.17g", #a, near_a, near_b);                     \
	} while (0)

/* Vector S14: 14 states of five devices, two of them never apart, and a drift. */
static const int s14_state[14][5] = {{0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {1, 1, 0, 0, 0},
				     {1, 1, 0, 1, 1}, {1, 1, 0, 0, 0}, {0, 1, 0, 0, 0},
				     {1, 1, 0, 0, 0}, {1, 1, 1, 0, 0}, {1, 1, 0, 0, 0},
				     {1, 1, 1, 0, 0}, {1, 1, 0, 0, 0}, {0, 1, 0, 0, 0},
				     {0, 1, 0, 1, 1}, {0, 0, 0, 1, 1}};
static const double s14_y[14] = {1.0,  15.6, 38.4, 49.0, 38.5, 23.9, 38.5,
				 44.9, 38.5, 45.0, 38.6, 24.0, 34.5, 11.8};

static void s14(double *x, double *u)
{
	for (size_t i = 0; i < 14; i++) {
		x[i * 7] = 1;
		for (size_t k = 0; k < 5; k++)
			x[i * 7 + 1 + k] = s14_state[i][k];
		x[i * 7 + 6] = 60.0 * (double)i - 390;
		u[i] = 0.035118845842842465;
	}
}

static void test_s14(void **state)
{
	static const double beta[7] = {1.1240484429064148,   14.601557093425448, 22.7848519800079,
				       6.410880430603761,    5.2656958861977206, 5.265695886197699,
				       0.0003184672561826543};
	static const double se[7] = {0.024410288167016455, 0.024530187602345994,
				     0.026740574244136173, 0.030023486043637453,
				     0.013229906916203373, 0.013229906916203325,
				     4.936335538288662e-05};
	static const double sum[7] = {0, 0, 0, 0, 1, 1, 0};
	double x[14 * 7], u[14];
	size_t group[7];
	struct ww_lsq f;

	(void)state;
	s14(x, u);
	assert_int_equal(ww_lsq_fit(&f, x, s14_y, u, 14, 7, NULL), 0);
	assert_int_equal(f.rank, 6);
	assert_int_equal(f.dof, 8);
	for (size_t j = 0; j < 7; j++) {
		NEAR(f.beta[j], beta[j], 1e-11);
		NEAR(sqrt(f.cov[j * 8]), se[j], 1e-12);
	}
	NEAR(f.chi2, 8.013030331369041, 1e-9);
	NEAR(sqrt(f.chi2 / (double)f.dof), 1.0008140643601737, 1e-10);
	NEAR(ww_lsq_value(&f, sum), 10.53139177239542, 1e-11);
	NEAR(sqrt(ww_lsq_cov(&f, sum, sum)), 0.026459813832406698, 1e-12);
	assert_true(ww_lsq_estimable(&f, sum));
	assert_int_equal(ww_lsq_groups(&f, group), 1);
	for (size_t j = 0; j < 7; j++) {
		assert_int_equal(group[j], j == 4 || j == 5);
		assert_int_equal(ww_lsq_estimable_at(&f, j), j != 4 && j != 5);
	}
	ww_lsq_free(&f);
}

/* Weights: the mean of 10 (u 1) and 13 (u 2) is 10.6, u^2 = 1/(1 + 1/4). */
static void test_weights(void **state)
{
	double x[2] = {1, 1}, y[2] = {10, 13}, u[2] = {1, 2};
	struct ww_lsq f;

	(void)state;
	assert_int_equal(ww_lsq_fit(&f, x, y, u, 2, 1, NULL), 0);
	NEAR(f.beta[0], 10.6, 1e-12);
	NEAR(f.cov[0], 0.8, 1e-12);
	NEAR(f.chi2, 0.36 + 1.44, 1e-12);
	ww_lsq_free(&f);
}

/* Fewer rows than columns: the rest is a null space, and the fit is exact. */
static void test_wide(void **state)
{
	double x[2 * 4] = {1, 1, 0, 0, 1, 1, 1, 1}, y[2] = {13, 40}, u[2] = {0.1, 0.1};
	double first[4] = {1, 1, 0, 0}, split[4] = {1, 0, 0, 0};
	size_t group[4];
	struct ww_lsq f;

	(void)state;
	assert_int_equal(ww_lsq_fit(&f, x, y, u, 2, 4, NULL), 0);
	assert_int_equal(f.rank, 2);
	assert_int_equal(f.nulls, 2);
	assert_int_equal(f.dof, 0);
	NEAR(ww_lsq_value(&f, first), 13, 1e-12);
	assert_true(ww_lsq_estimable(&f, first));
	assert_false(ww_lsq_estimable(&f, split));
	assert_int_equal(ww_lsq_groups(&f, group), 2);
	assert_int_equal(group[0], 1);
	assert_int_equal(group[1], 1);
	assert_int_equal(group[2], 2);
	assert_int_equal(group[3], 2);
	NEAR(f.chi2, 0, 1e-18);
	ww_lsq_free(&f);
}

/* A row that knows a million times better decides, and the rank does not notice. */
static void test_uneven(void **state)
{
	double x[3 * 2] = {1, 0, 1, 1, 1, 1}, y[3] = {1, 5, 6}, u[3] = {1, 1e-6, 1};
	struct ww_lsq f;

	(void)state;
	assert_int_equal(ww_lsq_fit(&f, x, y, u, 3, 2, NULL), 0);
	assert_int_equal(f.rank, 2);
	NEAR(f.beta[0] + f.beta[1], 5, 1e-9);
	ww_lsq_free(&f);
}

static void test_nothing(void **state)
{
	struct ww_error e = {0};
	struct ww_lsq f;
	double zero[2] = {0, 0}, one[2] = {1, 1};

	(void)state;
	assert_int_equal(ww_lsq_fit(&f, zero, zero, one, 0, 1, &e), -EINVAL);
	/* A column that never moved: nothing is known of it. */
	assert_int_equal(ww_lsq_fit(&f, zero, one, one, 2, 1, NULL), 0);
	assert_int_equal(f.rank, 0);
	assert_false(ww_lsq_estimable_at(&f, 0));
	NEAR(f.chi2, 2, 1e-12);
	ww_lsq_free(&f);
}

/* Tables: 3.841 at one degree of freedom is 5 %; with two it is an exponential. */
static void test_chi2(void **state)
{
	(void)state;
	NEAR(ww_chi2_q(3.841458820694124, 1), 0.05, 1e-12);
	NEAR(ww_chi2_q(15.50731305586545, 8), 0.05, 1e-12);
	NEAR(ww_chi2_q(2, 2), exp(-1), 1e-14);
	NEAR(ww_chi2_q(0.5, 10), 0.999993388, 1e-8);
	NEAR(ww_chi2_q(0, 3), 1, 0);
	NEAR(ww_chi2_q(900, 800), 0.0078, 2e-4);
	assert_true(isnan(ww_chi2_q(1, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_s14),
					   cmocka_unit_test(test_weights),
					   cmocka_unit_test(test_wide),
					   cmocka_unit_test(test_uneven),
					   cmocka_unit_test(test_nothing),
					   cmocka_unit_test(test_chi2)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
