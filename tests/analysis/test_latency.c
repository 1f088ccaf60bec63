/* SPDX-License-Identifier: MIT */
/* Order statistics of interval latencies with failures: vector S17 and small cases. */
#include "analysis/resume.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* cmocka 1.1 of Debian 12 compares no doubles. */
static void near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.9g is not %.9g", got, want);
}

static size_t read_vector(struct ww_interval *v, size_t max, uint64_t *failures)
{
	FILE *f = fopen("tests/data/S17_latency.csv", "r");
	char line[128];
	size_t n = 0;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	*failures = 0;
	while (n < max && fgets(line, sizeof(line), f)) {
		double lo, hi;
		int cycle;

		if (sscanf(line, "%d,%lf,%lf,ok", &cycle, &lo, &hi) == 3)
			v[n++] = (struct ww_interval){llround(lo * 1e6), llround(hi * 1e6)};
		else
			(*failures)++;
	}
	fclose(f);
	return n;
}

static void s17(void **state)
{
	struct ww_interval v[100];
	struct ww_latency_summary s;
	uint64_t failures;
	size_t n = read_vector(v, 100, &failures);

	(void)state;
	assert_int_equal(n, 78);
	assert_int_equal(failures, 2);
	assert_int_equal(ww_latency_summarise(v, n, failures, &s, NULL), 0);
	assert_int_equal(s.n, 78);
	assert_int_equal(s.failures, 2);
	/* S17_latency_expected.json */
	near(s.median, 12.533, 1e-9);
	near(s.median_ci[0], 12.231, 1e-9);
	near(s.median_ci[1], 12.781, 1e-9);
	near(s.envelope[0], 11.231, 1e-9);
	near(s.envelope[1], 13.781, 1e-9);
	near(s.p90, 13.754, 1e-9);
	near(s.p90_ci[0], 13.355, 1e-9);
	near(s.p90_ci[1], 15.441, 1e-9);
	near(s.p95, 14.148, 1e-9);
	near(s.p95_ci[0], 13.754, 1e-9);
	assert_true(isinf(s.p95_ci[1]) && s.p95_ci[1] > 0);
	near(s.resolution, 1.0, 1e-9);
}

static void few_and_none(void **state)
{
	struct ww_interval v[5] = {{0, 0}};
	struct ww_latency_summary s;

	(void)state;
	assert_int_equal(ww_latency_summarise(v, 0, 0, &s, NULL), 0);
	assert_true(isnan(s.median));
	for (int i = 0; i < 5; i++)
		v[i] = (struct ww_interval){i * 1000000, (i + 1) * 1000000};
	assert_int_equal(ww_latency_summarise(v, 5, 0, &s, NULL), 0);
	near(s.median, 2.5, 0);
	/* 2 * 0.5^5 = 6 %: five values bound no median at 95 %. */
	assert_true(isinf(s.median_ci[0]) && isinf(s.median_ci[1]));
	/* But it lies between the least and the greatest of them in 15 of 16. */
	near(s.actual_coverage, .9375, 1e-12);
	near(s.actual_ci[0], .5, 0);
	near(s.actual_ci[1], 4.5, 0);
	/* The first starts at 0: no more than a bound. */
	assert_int_equal(s.bounds, 1);
	near(s.median_hi, 3, 0);
	assert_int_equal(ww_latency_summarise(v, 1, 0, &s, NULL), 0);
	near(s.actual_coverage, 0, 0);
	assert_int_equal(ww_latency_summarise(v, 5, 0, &s, NULL), 0);
	/* More than half never came back: the median is never. */
	assert_int_equal(ww_latency_summarise(v, 3, 4, &s, NULL), 0);
	assert_true(isinf(s.median));
	near(s.max, 2.5, 0);
	assert_int_equal(ww_latency_summarise(v, 0, 2, &s, NULL), 0);
	assert_true(isinf(s.median));
	assert_true(isnan(s.resolution));
}

/* An interval with an open end takes its side of the envelope away, nothing else. */
static void open_ends(void **state)
{
	struct ww_interval v[20] = {{0, 0}};
	struct ww_latency_summary s;

	(void)state;
	for (int i = 0; i < 20; i++)
		v[i] = (struct ww_interval){i * 1000000, i * 1000000};
	v[19].hi_ns = WW_TIME_MAX;
	assert_int_equal(ww_latency_summarise(v, 20, 0, &s, NULL), 0);
	near(s.median, 9, 0);
	/* Ranks 6 and 15 of 20 (95.9 %). */
	near(s.median_ci[0], 5, 0);
	near(s.median_ci[1], 14, 0);
	near(s.actual_ci[0], 5, 0);
	near(s.actual_ci[1], 14, 0);
	near(s.actual_coverage, .9586, 1e-4);
	near(s.envelope[1], 14, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(s17),
		cmocka_unit_test(few_and_none),
		cmocka_unit_test(open_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
