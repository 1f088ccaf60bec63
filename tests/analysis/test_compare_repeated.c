/* SPDX-License-Identifier: MIT */
/* Comparisons of runs whose truth is known, made again and again. */
#include "comparing.h"

/* Twice u covers 95 % also of three runs, as the intervals do (Welch's a little more). */
static void test_few_runs(void **state)
{
	int mean = 0, difference = 0;

	(void)state;
	for (int k = 0; k < 4000; k++) {
		double a[3], b[3];
		struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b)};
		struct ww_compare *c;

		for (int i = 0; i < 3; i++) {
			a[i] = 100 + normal();
			b[i] = 100 + normal();
		}
		c = compare(set, 2, NULL);
		mean += fabs(ww_compare_at(c, 0)->mean_a.value - 100) <=
			2 * ww_compare_at(c, 0)->mean_a.u;
		difference += fabs(ww_compare_at(c, 0)->difference.value) <=
			      2 * ww_compare_at(c, 0)->difference.u;
		ww_compare_free(c);
	}
	if (getenv("SHOW"))
		printf("mean %d, difference %d of 4000\n", mean, difference);
	assert_true(mean > 0.94 * 4000 && mean < 0.965 * 4000);
	assert_true(difference > 0.94 * 4000 && difference < 0.985 * 4000);
}

struct many {
	double covered, seen, drift, n;
	double rank;
};

static void repeat(struct many *m, size_t n, double ratio, bool paired, double slope, double sd)
{
	double a[40], b[40], wa[40], wb[40];
	struct ww_compare_options o = {OPT, .pairing = paired ? WW_PAIR_YES : WW_PAIR_NO};

	*m = (struct many){.n = 1000};
	for (int k = 0; k < 1000; k++) {
		struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b)};
		struct ww_compare *c;
		const struct ww_comparison *r;

		for (size_t i = 0; i < n; i++) {
			double common = paired ? 0.05 * normal() : 0;

			/* ABBA */
			wa[i] = (double)(2 * i + (i & 1));
			wb[i] = (double)(2 * i + !(i & 1));
			a[i] = 100 * exp(common + sd * normal() + slope * wa[i]);
			b[i] = 100 * ratio * exp(common + sd * normal() + slope * wb[i]);
		}
		set[0].n = set[1].n = n;
		set[0].when = wa;
		set[1].when = wb;
		c = compare(set, 2, &o);
		r = ww_compare_at(c, 0);
		m->covered += r->ratio_ci[0] <= ratio && ratio <= r->ratio_ci[1];
		m->seen += r->verdict == WW_VERDICT_LESS || r->verdict == WW_VERDICT_MORE;
		m->rank += (paired ? r->signed_rank_p : r->mann_whitney_p) <= 0.05;
		m->drift += says(c, "drifts");
		ww_compare_free(c);
	}
}

/* 95 % of the intervals hold the truth; of equal things 5 % are called different. */
static void test_coverage(void **state)
{
	struct many m;

	(void)state;
	repeat(&m, 10, 1, true, 0, 0.01);
	assert_true(m.covered >= 930 && m.covered <= 970);
	assert_true(m.seen == m.n - m.covered);
	assert_true(m.rank <= 65);
	assert_true(m.drift <= 25);
	repeat(&m, 7, 1, false, 0, 0.01);
	assert_true(m.covered >= 930 && m.covered <= 975);
	assert_true(m.rank <= 65);
	assert_true(m.drift <= 25);
}

/* The difference that "would have been seen" is seen in four experiments of five. */
static void test_power(void **state)
{
	struct many m;
	double sd = 0.01 * sqrt(2), mdd = ww_detectable(sd / sqrt(10), 9, 0.95, 0.8);

	(void)state;
	repeat(&m, 10, exp(-mdd), true, 0, 0.01);
	assert_true(m.seen >= 760 && m.seen <= 860);
	assert_true(m.covered >= 930);
	/* And the tests by ranks see nearly as much. */
	assert_true(m.rank >= 700);
}

/* A drift is told; run in turn, it does not spoil the ratio. */
static void test_drift(void **state)
{
	struct many m;

	(void)state;
	repeat(&m, 12, 0.99, true, 0.02, 0.01);
	assert_true(m.drift >= 950);
	assert_true(m.covered >= 930);
}

static void test_blocks(void **state)
{
	static const double wa[] = {1, 2, 3, 4, 5, 6, 7, 8};
	static const double wb[] = {9, 10, 11, 12, 13, 14, 15, 16};
	struct ww_compare_set set[] = {SET("A", "energy", A), SET("B", "energy", B)};
	struct ww_compare *c;

	(void)state;
	set[0].when = wa;
	set[1].when = wb;
	c = compare(set, 2, NULL);
	assert_true(says(c, "all runs of A come before those of B"));
	ww_compare_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_runs), cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_power),	 cmocka_unit_test(test_drift),
		cmocka_unit_test(test_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
