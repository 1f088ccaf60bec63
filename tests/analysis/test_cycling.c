/* SPDX-License-Identifier: MIT */
/* A load that switches by itself: its period and duty, among other changes, and none where none is.
 */
#include "analysis/cycling.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct ww_step_event events[64];
static size_t n;

static void add(double t, double delta)
{
	events[n++] = (struct ww_step_event){.t_lo = t - 1,
					     .t_hi = t + 1,
					     .delta = delta,
					     .u = fabs(delta) / 100};
}

static struct ww_cycling find(void)
{
	struct ww_cycling c;

	assert_int_equal(ww_cycling_find(events, n, 2, &c, NULL), 0);
	return c;
}

/* 80 W, on for 20 of each 60 min, with an inrush that settles 10 % higher than it ends. */
static void fridge(size_t cycles)
{
	n = 0;
	for (size_t i = 0; i < cycles; i++) {
		add(1000 + 3600. * (double)i, 88);
		add(2200 + 3600. * (double)i, -80);
	}
}

static void test_fridge(void **state)
{
	struct ww_cycling c;

	(void)state;
	fridge(6);
	c = find();
	assert_int_equal(c.cycles, 5);
	assert_true(fabs(c.period - 3600) < 1e-9);
	assert_true(fabs(c.spread) < 1e-9);
	assert_true(fabs(c.duty - 1. / 3) < 1e-9);
	assert_true(c.on >= 80 && c.on <= 88);
	assert_true(c.from == 1000 && c.to == 1000 + 5 * 3600);
}

static int by_time(const void *a, const void *b)
{
	const struct ww_step_event *x = a, *y = b;

	return (x->t_lo > y->t_lo) - (x->t_lo < y->t_lo);
}

static void test_among_others(void **state)
{
	struct ww_cycling c;

	(void)state;
	fridge(6);
	add(1500, 25);
	add(5000, 400);
	add(9000, -400);
	add(12000, -25);
	qsort(events, n, sizeof(*events), by_time);
	c = find();
	assert_int_equal(c.cycles, 5);
	assert_true(fabs(c.period - 3600) < 1e-9);
}

/* One switching off was not seen: the cycles on either side of it still tell the period. */
static void test_one_missed(void **state)
{
	struct ww_cycling c;

	(void)state;
	fridge(8);
	memmove(&events[7], &events[8], (n - 8) * sizeof(*events));
	n--;
	c = find();
	assert_true(c.cycles >= 5);
	assert_true(fabs(c.period - 3600) < 1e-9);
}

static void test_none(void **state)
{
	(void)state;
	/* too few */
	fridge(3);
	assert_int_equal(find().cycles, 0);
	n = 0;
	assert_int_equal(find().cycles, 0);
	/* devices plugged in one by one */
	for (int i = 0; i < 20; i++)
		add(100. * i, 10);
	assert_int_equal(find().cycles, 0);
	/* a person who switches a lamp at no regular times */
	n = 0;
	for (int i = 0; i < 8; i++) {
		add(100. * i * i * i, 10);
		add(100. * i * i * i + 50, -10);
	}
	assert_int_equal(find().cycles, 0);
	/* what is not resolved is none */
	fridge(6);
	for (size_t i = 0; i < n; i++)
		events[i].state = WW_STEP_UNRESOLVED;
	assert_int_equal(find().cycles, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_fridge),
					   cmocka_unit_test(test_among_others),
					   cmocka_unit_test(test_one_missed),
					   cmocka_unit_test(test_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
