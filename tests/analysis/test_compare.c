/* SPDX-License-Identifier: MIT */
/* Two sets of runs: the worked numbers, and what is said of them. */
#include "comparing.h"

static void test_worked(void **state)
{
	struct ww_compare_set set[] = {SET("A", "energy", A), SET("B", "energy", B)};
	struct ww_compare_options o = {OPT, .pairing = WW_PAIR_YES};
	struct ww_compare *c = compare(set, 2, &o);
	const struct ww_comparison *r = ww_compare_at(c, 0);

	(void)state;
	assert_int_equal(r->pairs, 8);
	near(r->ratio, 0.9876798397418053, 1e-13);
	near(r->ratio_ci[0], 0.9859890102200826, 1e-12);
	near(r->ratio_ci[1], 0.9893735687932812, 1e-12);
	near(r->mann_whitney_u, 0, 0);
	near(r->mann_whitney_p, 0.0001554001554001554, 1e-15);
	near(r->signed_rank_p, 2 / 256.0, 1e-15);
	near(r->cliffs_delta, -1, 0);
	assert_int_equal(r->verdict, WW_VERDICT_LESS);
	assert_string_equal(ww_compare_sentence(c, 0), "B uses 1.2 % less; 95 %: 1.1-1.4 %");
	assert_null(ww_compare_at(c, 1));
	ww_compare_free(c);

	o.pairing = WW_PAIR_NO;
	c = compare(set, 2, &o);
	r = ww_compare_at(c, 0);
	assert_int_equal(r->pairs, 0);
	near(r->shift, -1.25, 1e-12);
	assert_true(isnan(r->signed_rank_p));
	/* The pairs ran together: without them the interval is wider. */
	assert_true(r->ratio_ci[1] - r->ratio_ci[0] > 2 * (0.98937 - 0.98599));
	ww_compare_free(c);
}

/* The same the other way round is the inverse, to the last figure. */
static void test_symmetry(void **state)
{
	struct ww_compare_set set[] = {SET("A", "energy", A), SET("B", "energy", B)};
	struct ww_compare_options o = {OPT, .base = "B"};
	struct ww_compare *ab = compare(set, 2, NULL), *ba = compare(set, 2, &o);
	const struct ww_comparison *x = ww_compare_at(ab, 0), *y = ww_compare_at(ba, 0);

	(void)state;
	assert_string_equal(y->a, "B");
	near(x->ratio * y->ratio, 1, 1e-14);
	near(x->ratio_ci[0] * y->ratio_ci[1], 1, 1e-13);
	near(x->p, y->p, 1e-15);
	near(x->mann_whitney_p, y->mann_whitney_p, 0);
	near(x->cliffs_delta, -y->cliffs_delta, 0);
	near(x->shift, -y->shift, 1e-12);
	near(x->difference.value, -y->difference.value, 1e-12);
	assert_int_equal(y->verdict, WW_VERDICT_MORE);
	ww_compare_free(ab);
	ww_compare_free(ba);
}

/* One run of each: nobody could have run them in turn, and no scatter is known. */
static void test_one_run(void **state)
{
	static const double a[] = {5}, b[] = {6}, first[] = {1}, second[] = {2};
	struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b)};
	struct ww_compare *c;

	(void)state;
	set[0].when = first;
	set[1].when = second;
	c = compare(set, 2, NULL);
	assert_false(says(c, "run them in turn"));
	assert_true(says(c, "one run of each"));
	assert_true(isnan(ww_compare_at(c, 0)->mean_a.u));
	ww_compare_free(c);
}

/* Signs: of a base below zero there is no ratio, and more is more. */
static void test_signs(void **state)
{
	static const double a[] = {-2.1, -1.9, -2, -2.05, -1.95}, b[] = {2.1, 1.9, 2, 2.05, 1.95};
	struct ww_compare_set set[] = {SET("neg", "value", a), SET("pos", "value", b)};
	struct ww_compare *c = compare(set, 2, NULL);

	(void)state;
	assert_true(isnan(ww_compare_at(c, 0)->ratio));
	assert_string_equal(ww_compare_sentence(c, 0), "pos is 4.0 J higher; 95 %: 3.9-4.1 J");
	ww_compare_free(c);
	set[0] = SET("pos", "value", b);
	set[1] = SET("neg", "value", a);
	c = compare(set, 2, NULL);
	assert_string_equal(ww_compare_sentence(c, 0), "neg is 4.0 J lower; 95 %: 3.9-4.1 J");
	ww_compare_free(c);
}

/* A gain of the meter cancels in the ratio, an offset moves it by o (1/a - 1/b). */
static void test_meter(void **state)
{
	static const double a[] = {10, 10.1, 9.9, 10.05}, b[] = {20, 20.1, 19.9, 20.05};
	struct ww_compare_set set[] = {SET("A", "mean power", a), SET("B", "mean power", b)};
	struct ww_compare_options o = {OPT, .gain_u = 0.05};
	struct ww_compare *c;
	double se;

	(void)state;
	set[0].per_offset = set[1].per_offset = set[0].per_gain = set[1].per_gain = 1;
	c = compare(set, 2, NULL);
	se = ww_compare_at(c, 0)->u_runs;
	near(ww_compare_at(c, 0)->u_meter, 0, 0);
	assert_true(says(c, "its offset does not, and is not known"));
	ww_compare_free(c);
	c = compare(set, 2, &o);
	near(ww_compare_at(c, 0)->u_meter, 0, 1e-12);
	/* In the difference it does not cancel. */
	near(ww_compare_at(c, 0)->difference.u, hypot(10 * 0.05, 0.0604), 2e-3);
	ww_compare_free(c);
	o.gain_u = 0;
	o.offset_u = 0.3;
	c = compare(set, 2, &o);
	near(ww_compare_at(c, 0)->u_meter, 0.3 * (1 / 10.0125 - 1 / 20.0125), 1e-6);
	near(ww_compare_at(c, 0)->u_runs, se, 0);
	/* In the difference it does. */
	near(ww_compare_at(c, 0)->difference.u, 0.0604 * ww_student_t(0.9545, 6) / 2, 1e-3);
	ww_compare_free(c);
	/* With two meters nothing does. */
	o.gain_u = 0.05;
	o.other_meter = 1;
	c = compare(set, 2, &o);
	near(ww_compare_at(c, 0)->u_meter,
	     sqrt(2 * 0.05 * 0.05 + pow(0.3 / 10.0125, 2) + pow(0.3 / 20.0125, 2)), 1e-6);
	assert_true(says(c, "two meters"));
	ww_compare_free(c);
}

/* Failed runs are counted and take their partner along; nothing is dropped silently. */
static void test_failures(void **state)
{
	static const double a[] = {10, NAN, 10.2, 9.9, 10.1}, b[] = {9, 9.1, 9.2, NAN, 9.05};
	struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b)};
	struct ww_compare_options o = {OPT, .pairing = WW_PAIR_YES};
	struct ww_compare *c = compare(set, 2, &o);
	const struct ww_comparison *r = ww_compare_at(c, 0);

	(void)state;
	assert_int_equal(r->pairs, 3);
	assert_int_equal(r->n_a, 4);
	assert_int_equal(r->failed_a, 1);
	assert_int_equal(r->failed_b, 1);
	near(r->ratio, cbrt(9 / 10.0 * 9.2 / 10.2 * 9.05 / 10.1), 1e-12);
	assert_true(says(c, "1 of 5 runs of A and 1 of 5 of B gave no value"));
	ww_compare_free(c);
}

/* Rounds are pairs, also where a variant ran twice in one (ABBA). */
static void test_rounds(void **state)
{
	static const double a[] = {10, 10.2, 11, 11.2, 12, 12.2},
			    b[] = {9, 9.2, 9.9, 10.1, 10.8, 11};
	static const uint32_t pa[] = {1, 1, 2, 2, 3, 3}, pb[] = {1, 1, 2, 2, 3, 3};
	static const double wa[] = {1, 4, 5, 8, 9, 12}, wb[] = {2, 3, 6, 7, 10, 11};
	struct ww_compare_set set[] = {SET("A", "time", a), SET("B", "time", b)};
	struct ww_compare *c;
	const struct ww_comparison *r;

	(void)state;
	set[0].pair = pa;
	set[1].pair = pb;
	set[0].when = wa;
	set[1].when = wb;
	c = compare(set, 2, NULL);
	r = ww_compare_at(c, 0);
	assert_int_equal(r->pairs, 3);
	assert_int_equal(r->n_a, 6);
	near(r->ratio, cbrt(9.1 / 10.1 * 10 / 11.1 * 10.9 / 12.1), 1e-12);
	assert_string_equal(ww_compare_sentence(c, 0), "B takes 9.91 % less; 95 %: 9.89-9.93 %");
	ww_compare_free(c);
	/* Numbers of pairs from two recordings mean nothing to each other. */
	set[1].series = 1;
	c = compare(set, 2, NULL);
	assert_int_equal(ww_compare_at(c, 0)->pairs, 0);
	assert_true(says(c, "not measured in turn as far as is known"));
	ww_compare_free(c);
}

/* Around zero there are no logarithms: differences, and Fieller's interval or none. */
static void test_zero(void **state)
{
	static const double a[] = {5, 6, 5.5, 4.5, 5.2}, b[] = {-0.2, 0.3, 0.1, -0.1, 0.05};
	static const double z[] = {0.3, -0.2, 0.1, -0.4, 0.2};
	struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b)};
	struct ww_compare *c = compare(set, 2, NULL);
	const struct ww_comparison *r = ww_compare_at(c, 0);

	(void)state;
	assert_int_equal(r->method, WW_COMPARE_WELCH);
	assert_int_equal(r->verdict, WW_VERDICT_LESS);
	assert_true(r->ratio_ci[0] < 0.03 / 5.24 && r->ratio_ci[1] > 0.03 / 5.24);
	ww_compare_free(c);
	set[0] = SET("A", "energy", z);
	set[1] = SET("B", "energy", a);
	c = compare(set, 2, NULL);
	r = ww_compare_at(c, 0);
	assert_true(isnan(r->ratio) && isnan(r->ratio_ci[0]));
	assert_int_equal(r->verdict, WW_VERDICT_MORE);
	assert_string_equal(ww_compare_sentence(c, 0), "B uses 5.2 J more; 95 %: 4.6-5.9 J");
	ww_compare_free(c);
}

static void test_too_few(void **state)
{
	static const double one[] = {10}, other[] = {9}, none[] = {NAN, NAN};
	static const double still[] = {10, 10, 10, 10}, less[] = {9, 9, 9, 9};
	struct ww_compare_set set[] = {SET("A", "energy", one), SET("B", "energy", other)};
	struct ww_compare *c = compare(set, 2, NULL);

	(void)state;
	near(ww_compare_at(c, 0)->ratio, 0.9, 1e-15);
	assert_true(isnan(ww_compare_at(c, 0)->p));
	assert_int_equal(ww_compare_at(c, 0)->verdict, WW_VERDICT_NONE);
	assert_non_null(strstr(ww_compare_sentence(c, 0), "one run says nothing of the scatter"));
	ww_compare_free(c);
	set[1] = SET("B", "energy", none);
	c = compare(set, 2, NULL);
	assert_string_equal(ww_compare_sentence(c, 0), "B has no values");
	ww_compare_free(c);
	/* No scatter at all: only the resolution tells how much that is worth. */
	set[0] = SET("A", "energy", still);
	set[1] = SET("B", "energy", less);
	c = compare(set, 2, NULL);
	assert_int_equal(ww_compare_at(c, 0)->verdict, WW_VERDICT_NONE);
	ww_compare_free(c);
	c = compare(set, 2, &(struct ww_compare_options){OPT, .resolution = 0.1});
	assert_int_equal(ww_compare_at(c, 0)->verdict, WW_VERDICT_LESS);
	ww_compare_free(c);
	c = compare(set, 2, &(struct ww_compare_options){OPT, .resolution = 3});
	assert_int_equal(ww_compare_at(c, 0)->verdict, WW_VERDICT_UNRESOLVED);
	ww_compare_free(c);
}

/* ---- many experiments of known truth ---- */

/* The first of a pair is always warmer: with one order it hides, and that is said. */
static void test_order(void **state)
{
	double a[12], b[12], wa[12], wb[12];
	struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b)};
	struct ww_compare_options o = {OPT, .pairing = WW_PAIR_YES};
	struct ww_compare *c;

	(void)state;
	for (int way = 0; way < 2; way++) {
		for (int i = 0; i < 12; i++) {
			bool first = way ? true : i & 1;

			wa[i] = 2 * i + !first;
			wb[i] = 2 * i + first;
			a[i] = 100 + 0.1 * normal() + first;
			b[i] = 100 + 0.1 * normal() + !first;
		}
		set[0].when = wa;
		set[1].when = wb;
		c = compare(set, 2, &o);
		assert_int_equal(says(c, "it matters whether A or B runs first"), way == 0);
		assert_int_equal(says(c, "A ran first in every pair"), way == 1);
		ww_compare_free(c);
	}
}

/* Named, with its number; and kept. */
static void test_outlier(void **state)
{
	double v[10];
	struct ww_compare_set set[] = {SET("A", "energy", A), SET("B", "energy", v)};
	struct ww_compare *c;

	(void)state;
	for (int i = 0; i < 10; i++)
		v[i] = 100 + 0.3 * normal();
	v[6] = 112;
	c = compare(set, 2, NULL);
	assert_true(says(c, "energy of B: far from the others"));
	assert_true(says(c, "in run 7"));
	assert_int_equal(ww_compare_at(c, 0)->n_b, 10);
	assert_true(ww_compare_at(c, 0)->mean_b.value > 101);
	ww_compare_free(c);
}

/* Several variants: p grows with their number, and the verdict follows it. */
static void test_holm(void **state)
{
	static const double a[] = {10, 10.1, 9.9, 10.05, 9.95, 10},
			    b[] = {9, 9.1, 8.9, 9.05, 8.95, 9};
	static const double x[] = {10.1, 10.2, 10, 10.15, 10.05, 10.12},
			    y[] = {10, 10.1, 9.9, 10, 10, 10};
	struct ww_compare_set set[] = {SET("A", "energy", a), SET("B", "energy", b),
				       SET("X", "energy", x), SET("Y", "energy", y)};
	struct ww_compare *c = compare(set, 4, NULL);
	double p[3];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		p[i] = ww_compare_at(c, i)->p;
	near(ww_compare_at(c, 0)->p_holm, 3 * p[0], 1e-15);
	near(ww_compare_at(c, 1)->p_holm, 2 * p[1], 1e-15);
	near(ww_compare_at(c, 2)->p_holm, p[2], 1e-15);
	assert_true(p[1] < 0.05 && 2 * p[1] > 0.05);
	assert_int_equal(ww_compare_at(c, 1)->verdict, WW_VERDICT_SAME);
	assert_true(says(c, "Holm"));
	ww_compare_free(c);
}

static void refused(const struct ww_compare_set *set, size_t n, const struct ww_compare_options *o,
		    const char *part)
{
	struct ww_compare *c = NULL;
	struct ww_error err = {0};

	assert_true(ww_compare_new(set, n, o, &c, &err) < 0);
	assert_null(c);
	if (!strstr(err.text, part))
		fail_msg("'%s' does not say '%s'", err.text, part);
}

static void test_refusals(void **state)
{
	struct ww_compare_set set[] = {SET("A", "energy", A), SET("B", "energy", B)};

	(void)state;
	refused(set, 0, NULL, "nothing to compare");
	refused(set, 1, NULL, "one set of values only");
	refused(set, 2, &(struct ww_compare_options){OPT, .base = "C"}, "no variant 'C'");
	refused(set, 2, &(struct ww_compare_options){OPT, .conf = 1.5}, "between 0 and 1");
	refused(set, 2, &(struct ww_compare_options){.size = 0}, "size");
	set[1].n = 7;
	refused(set, 2, &(struct ww_compare_options){OPT, .pairing = WW_PAIR_YES},
		"A has 8 values and B 7");
	set[1].variant = "A";
	refused(set, 2, NULL, "two sets are called 'A'");
	set[1].variant = "B";
	set[1].unit = "Wh";
	refused(set, 2, NULL, "energy is in J for A, but in Wh for B");
	set[1].unit = "J";
	set[1].measure = "time";
	refused(set, 2, NULL, "no measure has two variants");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),	 cmocka_unit_test(test_symmetry),
		cmocka_unit_test(test_meter),	 cmocka_unit_test(test_signs),
		cmocka_unit_test(test_one_run),	 cmocka_unit_test(test_failures),
		cmocka_unit_test(test_rounds),	 cmocka_unit_test(test_zero),
		cmocka_unit_test(test_too_few),	 cmocka_unit_test(test_order),
		cmocka_unit_test(test_outlier),	 cmocka_unit_test(test_holm),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
