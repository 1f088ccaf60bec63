/* SPDX-License-Identifier: MIT */
/* Noise found from the readings: truth of a seeded generator; quantiser's formula. */
#include "analysis/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static uint64_t seed;

static double uniform(void)
{
	/* splitmix64 (Steele, Lea, Flood 2014) */
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* n readings of AR(1) noise with a slope and a step in the middle. */
static struct ww_noise_fit run(size_t n, double sigma, double phi, double slope, double step)
{
	static struct ww_noise z;
	double x = normal() * sigma;

	ww_noise_init(&z);
	for (size_t i = 0; i < n; i++) {
		double v = x + slope * (double)i + (i > n / 2 ? step : 0);

		ww_noise_add(&z, llround(v));
		x = phi * x + sqrt(1 - phi * phi) * sigma * normal();
	}
	return ww_noise_get(&z);
}

static void test_white(void **state)
{
	static const size_t n[] = {640, 3600, 86400, 1000000};

	(void)state;
	seed = 1;
	for (size_t i = 0; i < WW_COUNTOF(n); i++) {
		struct ww_noise_fit f = run(n[i], 1000, 0, 0, 50000);

		assert_true(fabs(f.sigma / 1000 - 1) < (n[i] < 1000 ? 0.15 : 0.06));
		assert_true(f.phi < 0.2);
	}
}

static void test_correlated(void **state)
{
	static const double phi[] = {0.3, 0.5, 0.8};

	(void)state;
	seed = 2;
	for (size_t i = 0; i < WW_COUNTOF(phi); i++) {
		struct ww_noise_fit f = run(86400, 1000, phi[i], 0, 0);

		assert_true(fabs(f.phi - phi[i]) < 0.06);
		assert_true(fabs(f.sigma / 1000 - 1) < 0.12);
	}
}

/* What it is for: the standard uncertainty of a mean holds its promise. */
static void test_coverage(void **state)
{
	static const double phi[] = {0, 0.6};
	const size_t n = 2000, runs = 300;

	(void)state;
	seed = 3;
	for (size_t k = 0; k < WW_COUNTOF(phi); k++) {
		size_t inside = 0;

		for (size_t r = 0; r < runs; r++) {
			static struct ww_noise z;
			struct ww_noise_fit f;
			double x = normal() * 1000, sum = 0;

			ww_noise_init(&z);
			for (size_t i = 0; i < n; i++) {
				ww_noise_add(&z, llround(x));
				sum += x;
				x = phi[k] * x + sqrt(1 - phi[k] * phi[k]) * 1000 * normal();
			}
			f = ww_noise_get(&z);
			inside += fabs(sum / (double)n) <= 2 * f.sigma * sqrt(f.tau / (double)n);
		}
		/* 95.4 % expected; the binomial spread of 300 is 1.2 %. */
		assert_true(inside >= runs * 91 / 100);
	}
}

static void test_few_and_constant(void **state)
{
	(void)state;
	assert_true(isnan(run(0, 1, 0, 0, 0).sigma));
	assert_true(isnan(run(1, 1, 0, 0, 0).sigma));
	assert_true(run(3, 100, 0, 0, 0).df == 2);
	assert_true(run(WW_NOISE_LEAST - 1, 100, 0, 0, 0).sigma > 0);
	assert_true(run(WW_NOISE_LEAST, 100, 0, 0, 0).sigma > 0);
	assert_true(run(1000, 0, 0, 0, 0).sigma == 0);
	assert_true(run(1000, 0, 0, 0, 0).tau == 1);
}

/* No difference is taken across a hole. */
static void test_break(void **state)
{
	static struct ww_noise z;

	(void)state;
	ww_noise_init(&z);
	for (int i = 0; i < 2000; i++) {
		if (i % 20 == 0)
			ww_noise_break(&z);
		ww_noise_add(&z, i / 20 * 1000000);
	}
	assert_true(ww_noise_get(&z).sigma == 0);
	ww_noise_init(&z);
	for (int i = 0; i < 2000; i++) {
		ww_noise_break(&z);
		ww_noise_add(&z, i);
	}
	assert_true(isnan(ww_noise_get(&z).sigma));
}

static void test_quantiser(void **state)
{
	static const double row[][2] = {{0, 0.2886751345948129},
					{0.1, 0.19213114005420381},
					{0.2, 0.1023069489091393},
					{0.3, 0.038089015984672576},
					{0.5, 0.0016187424822873282}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		assert_true(fabs(ww_quantiser_u(1, row[i][0]) - row[i][1]) <
			    2e-4 * (i == 0) + 1e-9);
		assert_true(fabs(ww_quantiser_u(0.1, row[i][0] / 10) * 10 - row[i][1]) < 2e-4);
	}
	assert_true(ww_quantiser_u(0, 1) == 0);
	assert_true(fabs(ww_quantiser_u(1, 1e-6) - 1 / sqrt(12)) < 1e-6);
}

static double below(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

/*
 * Any level, any dither: what a display of step 1 shows on average is off by no
 * more than 2 u, with u from the spread that is seen.
 */
static void test_seen_dither(void **state)
{
	(void)state;
	for (double x = 0.01; x <= 0.5; x += 0.01) {
		for (double sigma = 0.01; sigma < 1; sigma += 0.01) {
			double m = 0, v = 0;

			for (int c = -8; c <= 8; c++) {
				double p =
					below((c + 0.5 - x) / sigma) - below((c - 0.5 - x) / sigma);

				m += c * p;
				v += c * c * p;
			}
			assert_true(fabs(m - x) <=
				    2 * ww_quantiser_seen_u(1, sqrt(v - m * m)) + 1e-9);
		}
	}
	assert_true(fabs(ww_quantiser_seen_u(1, 0) - 1 / sqrt(12)) < 1e-4);
	/* Twice the step of dither: nothing left of it. */
	assert_true(ww_quantiser_seen_u(1, 2) < 1e-9);
	assert_true(ww_quantiser_seen_u(0, 1) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_white),
					   cmocka_unit_test(test_correlated),
					   cmocka_unit_test(test_coverage),
					   cmocka_unit_test(test_few_and_constant),
					   cmocka_unit_test(test_break),
					   cmocka_unit_test(test_quantiser),
					   cmocka_unit_test(test_seen_dither)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
