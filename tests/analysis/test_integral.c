/* SPDX-License-Identifier: MIT */
/* Integration by semantics, gaps, cuts; registers with wraps and resets. */
#include "analysis/integral.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define S WW_NS_PER_S

/* Rows at given seconds; lo = hi = t. */
static void add(struct ww_integral *w, const double *t_s, const int64_t *c, size_t n, size_t piece)
{
	int64_t t[64];

	assert_true(n <= 64);
	for (size_t i = 0; i < n; i++)
		t[i] = (int64_t)llround(t_s[i] * 1e9);
	for (size_t i = 0; i < n; i += piece) {
		size_t m = n - i < piece ? n - i : piece;
		struct ww_rows r = {m, t + i, t + i, t + i};

		ww_integral_add(w, &r, c + i);
	}
}

/* The worked vector: 110 J by trapezoids, 120 J backwards, 100 J forwards, exactly. */
static void test_semantics(void **state)
{
	static const double t[] = {0, 1, 2, 4, 5, 6};
	static const int64_t p[] = {10, 10, 20, 20, 20, 30};
	static const struct {
		int semantics;
		double joules;
	} want[] = {{WW_INSTANT, 110}, {WW_AVERAGE, 120}, {WW_HOLD, 100}};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		for (size_t piece = 1; piece <= 6; piece++) {
			struct ww_integral w;

			ww_integral_init(&w, want[k].semantics);
			add(&w, t, p, 6, piece);
			assert_true(ww_integral_area(&w) / 1e9 == want[k].joules);
			assert_int_equal(w.plain_ns, 6 * S);
			assert_int_equal(w.n, 6);
			assert_int_equal(w.min, 10);
			assert_int_equal(w.max, 30);
			assert_int_equal(w.gaps, 0);
		}
	}
}

/* A window's figures and those of its two halves agree: a cut loses and invents nothing. */
static void test_cuts(void **state)
{
	static const double t[] = {0, 1, 2, 4, 5, 6};
	static const int64_t p[] = {10, 10, 20, 20, 20, 30};
	static const struct {
		int semantics;
		double a, b, joules;
	} want[] = {{WW_INSTANT, 1.5, 3, 28.75}, /* 15 -> 20 over .5 s, 20 over 1 s */
		    {WW_AVERAGE, 1.5, 3, 30},	    {WW_HOLD, 1.5, 3, 25},
		    {WW_HOLD, 5.25, 5.75, 10},	    {WW_AVERAGE, 5.25, 5.75, 15},
		    {WW_INSTANT, 5.25, 5.75, 12.5}, {WW_INSTANT, -5, 50, 110}};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(want); k++) {
		struct ww_integral w;

		ww_integral_init(&w, want[k].semantics);
		w.from = (int64_t)(want[k].a * 1e9);
		w.to = (int64_t)(want[k].b * 1e9);
		add(&w, t, p, 6, 4);
		assert_true(fabs(ww_integral_area(&w) / 1e9 - want[k].joules) < 1e-9);
	}
	for (int semantics = WW_INSTANT; semantics <= WW_HOLD; semantics++) {
		for (double cut = 0.1; cut < 6; cut += 0.37) {
			struct ww_integral a, b, all;

			ww_integral_init(&a, semantics);
			ww_integral_init(&b, semantics);
			ww_integral_init(&all, semantics);
			a.to = b.from = (int64_t)(cut * 1e9);
			add(&a, t, p, 6, 6);
			add(&b, t, p, 6, 6);
			add(&all, t, p, 6, 6);
			assert_true(fabs(ww_integral_area(&a) + ww_integral_area(&b) -
					 ww_integral_area(&all)) < 1e-3);
			assert_int_equal(a.plain_ns + b.plain_ns, all.plain_ns);
			assert_int_equal(a.n + b.n, all.n);
		}
	}
}

/* At the edge of a window a reading counts where it stands for time inside. */
static void test_edges(void **state)
{
	static const double t[] = {0, 1, 2, 3, 4};
	static const int64_t p[] = {1, 2, 3, 4, 5};
	static const struct {
		int semantics;
		unsigned n;
		int64_t min, max;
	} want[] = {{WW_INSTANT, 3, 2, 4}, {WW_AVERAGE, 2, 3, 4}, {WW_HOLD, 2, 2, 3}};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		for (size_t piece = 1; piece < 6; piece++) {
			struct ww_integral w;

			ww_integral_init(&w, want[k].semantics);
			w.from = S;
			w.to = 3 * S;
			add(&w, t, p, 5, piece);
			assert_int_equal(w.n, want[k].n);
			assert_int_equal(w.min, want[k].min);
			assert_int_equal(w.max, want[k].max);
			assert_int_equal(w.plain_ns, 2 * S);
		}
	}
}

/* 30 s from 20 W to 50 W: 1050 +- 260 J, and counted. */
static void test_gap_by_time(void **state)
{
	static const double t[] = {0, 1, 2, 32, 33};
	static const int64_t p[] = {20, 20, 20, 50, 50};

	(void)state;
	for (int semantics = WW_INSTANT; semantics <= WW_HOLD; semantics++) {
		struct ww_integral w;

		ww_integral_init(&w, semantics);
		w.limit = 5 * S / 2;
		add(&w, t, p, 5, 2);
		assert_int_equal(w.gaps, 1);
		assert_int_equal(w.gap_ns, 30 * S);
		assert_int_equal(w.plain_ns, 3 * S);
		assert_true(fabs(ww_sum_get(&w.gap_area) / 1e9 - 1050) < 1e-9);
		assert_true(fabs(ww_integral_gap_u(&w) / 1e9 - 259.8076211353316) < 1e-9);
		assert_true(fabs(ww_integral_area(&w) / 1e9 - (1050 + 40 + 50)) < 1e-9);
	}
}

/* A missing value is no gap by itself: 2 periods are less than 2.5. */
static void test_missing_values(void **state)
{
	static const double t[] = {0, 1, 2, 3, 4, 5, 6};
	static const int64_t p[] = {10, WW_MISSING, 10, WW_MISSING, WW_MISSING, 10, 10};
	struct ww_integral w;

	(void)state;
	ww_integral_init(&w, WW_AVERAGE);
	w.limit = 5 * S / 2;
	add(&w, t, p, 7, 3);
	assert_int_equal(w.missing, 3);
	assert_int_equal(w.n, 4);
	assert_int_equal(w.gaps, 1);
	assert_int_equal(w.gap_ns, 3 * S);
	assert_true(ww_integral_area(&w) / 1e9 == 60);
}

/* Recorded gaps count however short; the row that ends one is not part of the next. */
static void test_gap_by_record(void **state)
{
	static const double t[] = {0, 1, 2, 3, 4, 5};
	static const int64_t p[] = {10, 10, 10, 20, 20, 20};
	static const struct {
		double lo, hi;
		unsigned gaps;
		double gap_s;
	} want[] = {{2, 3, 1, 1},    {2.2, 2.4, 1, 1}, {1.5, 3.5, 1, 3}, {2.5, 2.5, 1, 1},
		    {-3, -1, 0, 0},  {6, 9, 0, 0},     {5, 9, 0, 0},	 {-1, 0, 0, 0},
		    {-1, 0.5, 1, 1}, {4.5, 9, 1, 1}};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(want); k++) {
		for (size_t piece = 1; piece <= 6; piece++) {
			struct ww_interval g = {(int64_t)(want[k].lo * 1e9),
						(int64_t)(want[k].hi * 1e9)};
			struct ww_integral w;

			ww_integral_init(&w, WW_INSTANT);
			w.limit = 5 * S / 2;
			w.gap = &g;
			w.gaps_recorded = 1;
			add(&w, t, p, 6, piece);
			assert_int_equal(w.gaps, want[k].gaps);
			assert_int_equal(w.gap_ns, (int64_t)(want[k].gap_s * 1e9));
			assert_int_equal(w.gap_ns + w.plain_ns, 5 * S);
		}
	}
}

/* A mean stands for its own time, which what is recorded of a gap before it leaves out. */
static void test_reading_after_gap(void **state)
{
	static const double t[] = {0, 1, 3, 4, 10, 11};
	static const int64_t p[] = {20, 20, 50, 50, 80, 80}, e[] = {0, 20, 100, 150, 530, 610};
	static const struct {
		double lo, hi, gap_s, area;
		bool counted;
	} want[] = {{1, 2, 1, 715, false},
		    {1, 3, 2, 700, false},
		    {1, 2.3, 1.3, 710.5, false},
		    {4, 9, 5, 655, false},
		    {4, 9, 5, 630, true}};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(want); k++) {
		struct ww_interval g = {(int64_t)(want[k].lo * 1e9), (int64_t)(want[k].hi * 1e9)};
		struct ww_integral w;
		struct ww_counter c;

		ww_integral_init(&w, WW_AVERAGE);
		ww_counter_init(&c);
		w.limit = 13 * S / 2;
		w.period = S;
		w.gap = &g;
		w.gaps_recorded = 1;
		w.counter_area = 1e9;
		w.counter_u = 1e9;
		for (size_t i = 0; i < 6; i++) {
			ww_counter_add(&c, (int64_t)(t[i] * 1e9), e[i], NAN);
			w.counter = want[k].counted ? &c : NULL;
			add(&w, t + i, p + i, 1, 1);
		}
		assert_int_equal(w.gaps, 1);
		assert_true(fabs(ww_integral_area(&w) / 1e9 - want[k].area) < 1e-6);
		assert_int_equal(w.gap_ns, llround(want[k].gap_s * 1e9));
		assert_int_equal(w.gap_ns + w.plain_ns, 11 * S);
		assert_int_equal(w.gaps_counted, want[k].counted);
	}
}

/* Of values of a moment likewise, and the trapezoid stays what it is. */
static void test_moment_after_gap(void **state)
{
	static const double t[] = {0, 1, 5, 6};
	static const int64_t p[] = {20, 20, 60, 60};
	struct ww_interval g = {S, 4 * S};
	struct ww_integral w;

	(void)state;
	ww_integral_init(&w, WW_INSTANT);
	w.limit = 5 * S / 2;
	w.period = S;
	w.gap = &g;
	w.gaps_recorded = 1;
	add(&w, t, p, 4, 4);
	assert_int_equal(w.gap_ns, 3 * S);
	assert_true(fabs(ww_integral_area(&w) / 1e9 - (20 + 160 + 60)) < 1e-6);
}

/* Two gaps with a lone reading between them are two. */
static void test_many_gaps(void **state)
{
	static const double t[] = {0, 1, 11, 21, 22, 23};
	static const int64_t p[] = {10, 10, 10, 10, 10, 10};
	struct ww_interval g[] = {{22 * S, 22 * S + 1}, {22 * S + 5, 22 * S + 6}};
	struct ww_integral w;

	(void)state;
	ww_integral_init(&w, WW_HOLD);
	w.limit = 5 * S / 2;
	w.gap = g;
	w.gaps_recorded = 2;
	add(&w, t, p, 6, 6);
	assert_int_equal(w.gaps, 3);
	assert_int_equal(w.gap_ns, 21 * S);
}

/* A gap is crossed with the register where that knows better, else not. */
static void test_gap_by_register(void **state)
{
	static const double t[] = {0, 1, 301, 302};
	static const int64_t p[] = {20, 20, 20, 20};	 /* W */
	static const int64_t e[] = {100, 100, 140, 140}; /* 0.1 Wh: 4 Wh in the gap, 48 W */

	(void)state;
	for (int reset = 0; reset < 2; reset++) {
		struct ww_integral w;
		struct ww_counter k;

		ww_integral_init(&w, WW_AVERAGE);
		ww_counter_init(&k);
		w.limit = 5 * S / 2;
		w.counter = &k;
		w.counter_area = 360 * 1e9;
		w.counter_u = w.counter_area / sqrt(6);
		for (size_t i = 0; i < 4; i++) {
			ww_counter_add(&k, (int64_t)(t[i] * 1e9), reset && i > 1 ? 3 : e[i], NAN);
			add(&w, t + i, p + i, 1, 1);
		}
		assert_int_equal(w.gaps, 1);
		assert_int_equal(w.gaps_counted, !reset);
		assert_true(fabs(ww_integral_area(&w) / 1e9 - (reset ? 6040 : 14440)) < 1e-6);
		assert_true(fabs(ww_integral_gap_u(&w) / 1e9 - (reset ? 0 : 360 / sqrt(6))) < 1e-6);
	}
}

static void test_nothing(void **state)
{
	static const double t[] = {5};
	static const int64_t none[] = {WW_MISSING}, one[] = {42};
	struct ww_integral w;

	(void)state;
	ww_integral_init(&w, WW_INSTANT);
	assert_true(ww_integral_area(&w) == 0 && w.begin > w.end);
	add(&w, t, none, 1, 1);
	assert_true(w.begin > w.end && w.n == 0 && w.missing == 1);
	add(&w, t, one, 1, 1);
	assert_true(w.begin == w.end && w.n == 1 && ww_integral_area(&w) == 0);
	assert_true(w.last == 42);
}

/* The largest values that fit do not overflow. */
static void test_extremes(void **state)
{
	int64_t t[] = {WW_TIME_MIN / 2, 0, WW_TIME_MAX / 2};
	int64_t c[] = {INT64_MAX, INT64_MAX, INT64_MAX};
	struct ww_rows r = {3, t, t, t};
	struct ww_integral w;

	(void)state;
	ww_integral_init(&w, WW_INSTANT);
	ww_integral_add(&w, &r, c);
	assert_true(fabs(ww_integral_area(&w) / (9.2233720368547758e18 * 9.2233720368547758e18) -
			 1) < 1e-9);
}

static double counted(const int64_t *code, size_t n, int64_t wrap, const double *expect,
		      uint64_t *wraps, uint64_t *resets)
{
	struct ww_counter k;

	ww_counter_init(&k);
	k.wrap = wrap;
	for (size_t i = 0; i < n; i++)
		ww_counter_add(&k, (int64_t)i * S, code[i], expect ? expect[i] : NAN);
	*wraps = k.wraps;
	*resets = k.resets;
	return ww_counter_get(&k);
}

static void test_counter(void **state)
{
	static const int64_t up[] = {10, 12, 15, 20}, reset[] = {10, 12, 15, 0, 2, 4},
			     miss[] = {10, WW_MISSING, 14}, wrap[] = {9980, 9990, 9999, 8, 18},
			     early[] = {4000, 4010, 4020, 5, 15}, first[] = {9990, 8},
			     far[] = {6000, 8};
	static const double e[] = {NAN, 9, 9, 9, 9}, hungry[] = {NAN, 5990};
	uint64_t wraps, resets;

	(void)state;
	assert_true(counted(up, 4, 0, NULL, &wraps, &resets) == 10 && !wraps && !resets);
	assert_true(counted(miss, 3, 0, NULL, &wraps, &resets) == 4 && !resets);
	/* Kept before and after, never negative. */
	assert_true(counted(reset, 6, 0, NULL, &wraps, &resets) == 9 && resets == 1);
	/* Over the end of a range of 10000. */
	assert_true(counted(wrap, 5, 10000, NULL, &wraps, &resets) == 38 && wraps == 1 && !resets);
	assert_true(counted(wrap, 5, 10000, e, &wraps, &resets) == 38 && wraps == 1);
	/* In the middle of its range it did not pass the end: huge otherwise. */
	assert_true(counted(early, 5, 10000, NULL, &wraps, &resets) == 30 && resets == 1);
	assert_true(counted(early, 5, 10000, e, &wraps, &resets) == 30 && resets == 1);
	/* Without a pace yet, only near its end. */
	assert_true(counted(first, 2, 10000, NULL, &wraps, &resets) == 18 && wraps == 1);
	assert_true(counted(far, 2, 10000, NULL, &wraps, &resets) == 0 && resets == 1);
	/* A wattmeter beside it says that so much is right. */
	assert_true(counted(far, 2, 10000, hungry, &wraps, &resets) == 4008 && wraps == 1);
}

static void test_counter_window(void **state)
{
	struct ww_counter k;

	(void)state;
	ww_counter_init(&k);
	k.from = S / 2;
	k.to = 2 * S + S / 4;
	for (int i = 0; i < 5; i++)
		ww_counter_add(&k, i * S, 100 * i, NAN);
	assert_true(fabs(ww_counter_get(&k) - 175) < 1e-9);
	assert_int_equal(k.n, 2);
	assert_int_equal(k.begin, S / 2);
	assert_int_equal(k.end, 2 * S + S / 4);
	assert_int_equal(k.min, 100);
	assert_int_equal(k.max, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_semantics),
					   cmocka_unit_test(test_cuts),
					   cmocka_unit_test(test_edges),
					   cmocka_unit_test(test_gap_by_time),
					   cmocka_unit_test(test_missing_values),
					   cmocka_unit_test(test_gap_by_record),
					   cmocka_unit_test(test_many_gaps),
					   cmocka_unit_test(test_gap_by_register),
					   cmocka_unit_test(test_reading_after_gap),
					   cmocka_unit_test(test_moment_after_gap),
					   cmocka_unit_test(test_nothing),
					   cmocka_unit_test(test_extremes),
					   cmocka_unit_test(test_counter),
					   cmocka_unit_test(test_counter_window)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
