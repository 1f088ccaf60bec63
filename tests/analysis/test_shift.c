/* SPDX-License-Identifier: MIT */
/* The shift between two sets of cycles: by hand, and over many drawn experiments. */
#include "analysis/shift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "cyclesets.h"

#define NEAR(a, b, e) assert_true(fabs((a) - (b)) <= (e))
#define OF(v)	      v, WW_COUNTOF(v)

static struct ww_shift *compare_sets(struct ww_cycleset *a, struct ww_cycleset *b,
				     const char *fail_if)
{
	struct ww_shift_options o = {.size = sizeof(o), .fail_if = fail_if};
	struct ww_error err = {0};
	struct ww_shift *s = NULL;

	if (ww_shift_new(a, b, &o, &s, &err) < 0)
		fail_msg("%s", err.text);
	ww_cycleset_free(a);
	ww_cycleset_free(b);
	return s;
}

static const struct ww_shift_row *row_of(const struct ww_shift *s, const char *name)
{
	for (size_t i = 0; i < s->rows; i++)
		if (strcmp(s->row[i].name, name) == 0)
			return &s->row[i];
	fail_msg("no %s", name);
	return NULL;
}

static struct ww_shift *shift_of(const double *a, size_t n, const double *b, size_t m, double half)
{
	return compare_sets(set_of("a", a, n, half), set_of("b", b, m, half), NULL);
}

/* Tables of known p: tea (Fisher 1935), Agresti's, and those that say nothing. */
static void test_fisher(void **state)
{
	(void)state;
	NEAR(ww_fisher(3, 4, 1, 4), 34.0 / 70, 1e-12);
	NEAR(ww_fisher(4, 4, 0, 4), 2.0 / 70, 1e-12);
	NEAR(ww_fisher(8, 10, 1, 6), 0.0349650349650, 1e-12);
	NEAR(ww_fisher(0, 10, 5, 10), 0.0325077399381, 1e-12);
	NEAR(ww_fisher(5, 10, 0, 10), 0.0325077399381, 1e-12);
	NEAR(ww_fisher(0, 300, 3, 300), 0.24874791318864775, 1e-9);
	NEAR(ww_fisher(0, 5, 0, 5), 1, 0);
	NEAR(ww_fisher(5, 5, 5, 5), 1, 0);
	NEAR(ww_fisher(1, 100000, 1, 100000), 1, 1e-9);
	assert_true(isnan(ww_fisher(0, 0, 1, 5)));
}

/* Six values apart: 2 of 20 orders are as far, so that nothing can be told at 5 %. */
static void test_few(void **state)
{
	static const double a[] = {1, 2, 3}, b[] = {14, 15, 16}, c[] = {10, 11, 12, 13},
			    d[] = {24, 25, 26, 27};
	struct ww_shift *s = shift_of(OF(a), OF(b), 0);
	const struct ww_shift_row *r = ww_shift_at(s, 0);

	(void)state;
	NEAR(r->p, 0.1, 1e-12);
	NEAR(r->shift, 13, 0);
	assert_true(isinf(r->ci[0]) && r->ci[0] < 0 && isinf(r->ci[1]));
	assert_int_equal(r->verdict, WW_SHIFT_TOO_FEW);
	ww_shift_free(s);
	/* Four and four: 2 of 70. The interval's ends are the outermost differences. */
	s = shift_of(OF(c), OF(d), 0);
	r = ww_shift_at(s, 0);
	NEAR(r->p, 2.0 / 70, 1e-12);
	NEAR(r->median[0], 11, 0);
	NEAR(r->median[1], 25, 0);
	NEAR(r->shift, 14, 0);
	NEAR(r->ci[0], 11, 0);
	NEAR(r->ci[1], 17, 0);
	assert_int_equal(r->verdict, WW_SHIFT_SLOWER);
	assert_null(ww_shift_at(s, 1));
	ww_shift_free(s);
}

static void test_ties(void **state)
{
	static const double a[] = {5, 5, 5, 5, 5, 5}, b[] = {5, 5, 5, 6, 6, 6};
	struct ww_shift *s = shift_of(OF(a), OF(a), 0);
	const struct ww_shift_row *r = ww_shift_at(s, 0);

	(void)state;
	NEAR(r->p, 1, 0);
	NEAR(r->shift, 0, 0);
	assert_int_equal(r->verdict, WW_SHIFT_NONE);
	ww_shift_free(s);
	/* Three of twelve are greater: C(6,3)/C(12,3) for each side. */
	s = shift_of(OF(a), OF(b), 0);
	r = ww_shift_at(s, 0);
	NEAR(r->p, 2 * 20.0 / 220, 1e-12);
	assert_true(r->ci[0] >= 0 && r->ci[1] <= 1);
	ww_shift_free(s);
}

/* Those that never came back rank above all; a median that they reach is no number. */
static void test_failures(void **state)
{
	double a[10], b[10];
	struct ww_shift *s;
	const struct ww_shift_row *r;

	(void)state;
	for (int i = 0; i < 10; i++) {
		a[i] = 100 + i;
		b[i] = i < 3 ? (double)INFINITY : 100.0 + i;
	}
	s = shift_of(OF(a), OF(b), 0);
	r = ww_shift_at(s, 0);
	assert_int_equal(r->n[1], 10);
	assert_int_equal(r->failures[1], 3);
	NEAR(r->median[1], 107, 0);
	assert_true(isfinite(r->shift) && isfinite(r->ci[0]));
	assert_true(isinf(r->ci[1]) && r->ci[1] > 0);
	assert_int_equal(s->side[1].failures, 3);
	NEAR(s->failures_p, ww_fisher(0, 10, 3, 10), 0);
	ww_shift_free(s);
	for (int i = 0; i < 8; i++)
		b[i] = INFINITY;
	s = shift_of(OF(a), OF(b), 0);
	r = ww_shift_at(s, 0);
	assert_true(isinf(r->median[1]) && isinf(r->shift) && r->shift > 0);
	assert_int_equal(r->verdict, WW_SHIFT_SLOWER);
	ww_shift_free(s);
	/* Both never: no difference of those. */
	for (int i = 0; i < 10; i++)
		a[i] = b[i] = INFINITY;
	s = shift_of(OF(a), OF(b), 0);
	r = ww_shift_at(s, 0);
	NEAR(r->shift, 0, 0);
	NEAR(r->p, 1, 0);
	ww_shift_free(s);
}

/* Readings of one phase differ by less than a reading's width; those of any phase may tell. */
static void test_resolution(void **state)
{
	struct draws d = draws_of(7);
	double a[40], b[40];
	struct ww_shift *s;

	(void)state;
	for (int i = 0; i < 40; i++) {
		a[i] = 100 + 0.01 * draw(&d);
		b[i] = 100.6 + 0.01 * draw(&d);
	}
	s = shift_of(OF(a), OF(b), 1);
	assert_int_equal(ww_shift_at(s, 0)->verdict, WW_SHIFT_BELOW_RESOLUTION);
	NEAR(ww_shift_at(s, 0)->resolution, 1, 0);
	ww_shift_free(s);
	for (int i = 0; i < 40; i++) {
		a[i] = 100 + 2 * draw(&d);
		b[i] = 100.9 + 2 * draw(&d);
	}
	s = shift_of(OF(a), OF(b), 1);
	assert_int_equal(ww_shift_at(s, 0)->verdict, WW_SHIFT_SLOWER);
	ww_shift_free(s);
}

/* 95 % of intervals hold the true shift; 5 % of tests of nothing find something. */
static void coverage(size_t n, size_t m, uint32_t seed)
{
	enum { TIMES = 600 };
	struct draws d = draws_of(seed);
	double a[40], b[40];
	int held = 0, found = 0;

	for (int t = 0; t < TIMES; t++) {
		struct ww_shift_row r = {.verdict = 0};
		struct ww_shift_extra x = {.least = 0};

		for (size_t i = 0; i < n; i++)
			a[i] = 800 + 10 * draw_skewed(&d);
		for (size_t i = 0; i < m; i++)
			b[i] = 812 + 10 * draw_skewed(&d);
		assert_int_equal(ww_shift_figures(a, n, b, m, &r, &x), 0);
		held += r.ci[0] <= 12 && r.ci[1] >= 12;
		for (size_t i = 0; i < m; i++)
			b[i] -= 12;
		assert_int_equal(ww_shift_figures(a, n, b, m, &r, &x), 0);
		found += r.p <= 0.05;
	}
	/* Three standard deviations of such a count: 16. */
	assert_in_range(held, TIMES * 95 / 100 - 16, TIMES);
	assert_in_range(found, 0, TIMES * 5 / 100 + 16);
	assert_true(found >= TIMES / 100);
}

static void test_coverage(void **state)
{
	(void)state;
	coverage(6, 9, 1);
	coverage(10, 10, 2);
	coverage(30, 20, 3);
}

/* What 8 of 10 experiments show. */
static void test_detectable(void **state)
{
	struct draws d = draws_of(11);
	double a[20], b[20], mdd = 0;
	int seen = 0;

	(void)state;
	for (int t = 0; t < 400; t++) {
		struct ww_shift_row r = {.verdict = 0};
		struct ww_shift_extra x = {.least = 0};

		for (int i = 0; i < 20; i++) {
			double u = 0, v = 0;

			for (int k = 0; k < 12; k++) {
				u += draw(&d);
				v += draw(&d);
			}
			a[i] = u - 6;
			/* (t.975 + t.8) sqrt(2/20) of the unit sd, and the loss of ranks. */
			b[i] = v - 6 + 0.932;
		}
		assert_int_equal(ww_shift_figures(a, 20, b, 20, &r, &x), 0);
		seen += r.p <= 0.05;
		mdd += r.mdd / 400;
	}
	assert_in_range(seen, 400 * 80 / 100 - 24, 400 * 80 / 100 + 24);
	NEAR(mdd, 0.932, 0.03);
}

/* Ten cycles each of forty callbacks, one of them 150 ms slower in B. */
static struct ww_cycleset *machine(const char *name, uint32_t seed, double slow)
{
	struct ww_cycleset *s = set_new(name);
	struct draws d = draws_of(seed);

	for (int i = 0; i < 10; i++) {
		double late = 5 + slow + draw(&d);

		set_cycle(s, WW_SET_OK);
		set_put(s, "latency", "resume_to_user", 700 + slow + 20 * draw(&d), 1.1);
		set_put(s, "phase", "phase resume_noirq", 8 + draw(&d), 0);
		set_put(s, "phase", "phase resume", 200 + slow + 5 * draw(&d), 0);
		for (int k = 0; k < 40; k++) {
			char device[16];

			snprintf(device, sizeof(device), "1-%d", k);
			set_device(s, device, "usb", "resume", 20 + 10 * draw(&d), 0);
		}
		set_device(s, "late", "latethaw", "resume", late, slow > 0 ? late : 0);
		if (slow > 0)
			set_device(s, "new", "added", "resume", 7 + draw(&d), 0);
		if (i == 0)
			set_device(s, "once", "odd", "resume", 30, 0);
		set_device(s, "tiny", "fast", "resume", 0.01, 0);
	}
	return s;
}

static void test_culprit(void **state)
{
	struct ww_shift *s = compare_sets(machine("a", 1, 0), machine("b", 2, 150), NULL);
	size_t first = 0, moved = 0;

	(void)state;
	while (strcmp(s->row[first].kind, "device") != 0)
		first++;
	assert_string_equal(s->row[first].name, "device late latethaw resume");
	assert_int_equal(s->row[first].verdict, WW_SHIFT_SLOWER);
	NEAR(s->row[first].shift, 150, 1);
	NEAR(s->extra[first].own[0], 0, 0);
	NEAR(s->extra[first].own[1], 155.5, 1);
	assert_string_equal(s->extra[first].driver, "latethaw");
	for (size_t i = first; i < s->rows; i++)
		moved += s->row[i].verdict == WW_SHIFT_SLOWER ||
			 s->row[i].verdict == WW_SHIFT_FASTER;
	assert_int_equal(moved, 1);
	assert_int_equal(s->row[first + 1].verdict, WW_SHIFT_ONLY_B);
	assert_string_equal(s->row[first + 1].name, "device new added resume");
	/* 40, the late one, the new one; that of one cycle in both is a row of too few. */
	assert_int_equal(s->rows - first, 43);
	assert_int_equal(s->small_devices, 1);
	assert_string_equal(s->row[first - 2].name, "phase resume");
	assert_int_equal(s->row[first - 2].verdict, WW_SHIFT_SLOWER);
	assert_int_equal(row_of(s, "phase resume_noirq")->verdict, WW_SHIFT_NONE);
	assert_int_equal(row_of(s, "device once odd resume")->verdict, WW_SHIFT_TOO_FEW);
	ww_shift_free(s);
}

/* Forty devices that are the same: hardly ever one that moved. */
static void test_holm(void **state)
{
	int alarms = 0;

	(void)state;
	for (uint32_t t = 0; t < 60; t++) {
		struct ww_shift *s =
			compare_sets(machine("a", 100 + t, 0), machine("b", 5000 + t, 0), NULL);
		int moved = 0;

		for (size_t i = 0; i < s->rows; i++)
			if (strcmp(s->row[i].kind, "device") == 0)
				moved |= s->row[i].verdict == WW_SHIFT_SLOWER ||
					 s->row[i].verdict == WW_SHIFT_FASTER;
		alarms += moved;
		ww_shift_free(s);
	}
	assert_in_range(alarms, 0, 3 + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fisher),	   cmocka_unit_test(test_few),
		cmocka_unit_test(test_ties),	   cmocka_unit_test(test_failures),
		cmocka_unit_test(test_resolution), cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_detectable), cmocka_unit_test(test_culprit),
		cmocka_unit_test(test_holm),
	};

	return cmocka_run_group_tests_name("shift", tests, NULL, NULL);
}
