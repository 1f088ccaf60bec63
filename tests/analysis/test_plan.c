/* SPDX-License-Identifier: MIT */
/* Weighing designs: Hadamard matrices are what they are called, bounds are met, tables read. */
#include "analysis/plan.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ww_plan *p;
static struct ww_error e;

#define NEAR(x, y, tol)                                                                            \
	do {                                                                                       \
		double near_x = (x), near_y = (y);                                                 \
		if (!(fabs(near_x - near_y) <= (tol)))                                             \
			fail_msg("%s = %.17g, not %.17g", #x, near_x, near_y);                     \
	} while (0)

static const struct ww_plan_info *plan(const char *devices, uint32_t readings, int one_flip)
{
	struct ww_plan_options o = {.size = sizeof(o), .readings = readings, .one_flip = one_flip};

	ww_plan_free(p);
	p = NULL;
	e = (struct ww_error){0};
	if (ww_plan_new(devices, &o, &p, &e) < 0)
		fail_msg("%s", e.text);
	return ww_plan_get(p);
}

/* Rows of a Hadamard matrix agree in half of their places, whichever two. */
static void test_hadamard(void **state)
{
	static uint8_t h[104 * 104];
	size_t found = 0;

	(void)state;
	for (size_t n = 1; n <= 104; n++) {
		bool may = n < 3 || n % 4 == 0;

		if (ww_hadamard(n, h) < 0) {
			assert_true(!may || n == 52 || n == 92 || n == 100);
			continue;
		}
		assert_true(may);
		found++;
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(h[i], 0);
			assert_int_equal(h[i * n], 0);
			for (size_t k = i + 1; k < n; k++) {
				size_t same = 0;

				for (size_t j = 0; j < n; j++)
					same += h[i * n + j] == h[k * n + j];
				assert_int_equal(2 * same, n);
			}
		}
	}
	assert_int_equal(found, 2 + 26 - 3);
}

/* Worked: three in four states u each, seven in eight .71 u; Mood's bound 4 u^2/N. */
static void test_worked(void **state)
{
	const struct ww_plan_info *i = plan("a,b,c", 0, 0);

	(void)state;
	assert_int_equal(i->readings, 4);
	NEAR(i->u, 1, 1e-12);
	NEAR(i->u_bound, 1, 1e-12);
	NEAR(i->u_onebyone, 1.4142135623730951, 1e-15);
	assert_true(i->hadamard);
	for (size_t d = 0; d < 3; d++) {
		int on = 0;

		assert_int_equal(ww_plan_state(p, 0, d), 0);
		for (size_t k = 0; k < 4; k++)
			on += ww_plan_state(p, k, d);
		assert_int_equal(on, 2);
	}
	i = plan("a,b,c,d,e,f,g", 0, 0);
	assert_int_equal(i->readings, 8);
	NEAR(i->u, 0.7071067811865476, 1e-12);
	NEAR(i->u_bound, 0.7071067811865476, 1e-12);
	/* With fewer devices than the matrix has columns the bound is met as well. */
	i = plan("a,b,c,d,e", 0, 0);
	assert_int_equal(i->readings, 8);
	assert_true(i->hadamard);
}

/* Other numbers of readings: never worse than one by one, never better than the bound. */
static void test_numbers(void **state)
{
	(void)state;
	for (uint32_t n = 5; n <= 14; n++) {
		const struct ww_plan_info *i = plan("a,b,c,d", n, 0);

		assert_int_equal(i->readings, n);
		assert_true(i->u >= i->u_bound * (1 - 1e-9));
		assert_true(i->u <= sqrt(2) * (1 + 1e-9));
		assert_int_equal(i->hadamard, n % 4 == 0);
		assert_int_equal(ww_plan_state(p, 0, 0) + ww_plan_state(p, 0, 3), 0);
	}
	assert_true(plan("a,b,c,d", 12, 0)->u < plan("a,b,c,d", 6, 0)->u);
}

/* So many readings that no matrix has: what exhaustive and random searches find, not less. */
static void test_searched(void **state)
{
	static const struct {
		const char *devices;
		uint32_t readings;
		double u;
	} row[] = {{"a,b,c,d", 5, 0.9429},
		   {"a,b,c,d,e", 6, 0.8945},
		   {"a,b,c,d,e,f", 7, 0.8607},

		   {"a,b,c,d,e,f,g,h", 9, 0.7906}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		double u = plan(row[i].devices, row[i].readings, 0)->u;

		if (!(u <= row[i].u))
			fail_msg("%s in %u: %g", row[i].devices, row[i].readings, u);
	}
}

/* One plug between two readings; one device is plain repetition. */
static void test_one_flip(void **state)
{
	const struct ww_plan_info *i = plan("a,b,c", 0, 1);

	(void)state;
	assert_int_equal(i->readings, 8);
	assert_int_equal(i->flips, 7);
	for (size_t k = 1; k < 8; k++) {
		int moved = 0;

		for (size_t d = 0; d < 3; d++)
			moved += ww_plan_state(p, k, d) != ww_plan_state(p, k - 1, d);
		assert_int_equal(moved, 1);
	}
	assert_true(i->u < 1);
	i = plan("a", 0, 0);
	assert_int_equal(i->readings, 2);
	NEAR(i->u, sqrt(2), 1e-12);
}

/* The table of a plan is one that attribution reads, once it is filled in. */
static void test_table(void **state)
{
	static const double watts[3] = {12, 27.5, 3};
	char *text, filled[1000], *to = filled;
	struct ww_attribute *a;
	const struct ww_device *d;

	(void)state;
	plan("box,\"Dell, 24\",disk", 0, 0);
	assert_int_equal(ww_plan_report(p, WW_REPORT_TEXT, &text, &e), 0);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		double sum = 1;

		if (*line == '0' || *line == '1')
			for (int k = 0; k < 3; k++)
				sum += line[2 * k] == '1' ? watts[k] : 0;
		to += snprintf(to, 200, *line == '0' || *line == '1' ? "%s%.1f\n" : "%s\n", line,
			       sum);
	}
	ww_free(text);
	assert_int_equal(ww_attribute_new(NULL, &a, &e), 0);
	if (ww_attribute_table(a, 0, "plan", filled, strlen(filled), &e) < 0 ||
	    ww_attribute_solve(a, &e) < 0)
		fail_msg("%s\n%s", e.text, filled);
	for (size_t i = 0; (d = ww_attribute_device(a, i)); i++) {
		NEAR(d->watts.value, watts[i], 1e-9);
		NEAR(d->watts.u, 0.1 / sqrt(12), 1e-12);
	}
	assert_string_equal(ww_attribute_device(a, 1)->name, "Dell, 24");
	ww_attribute_free(a);
}

static void test_refused(void **state)
{
	struct ww_plan_options o = {.size = sizeof(o), .readings = 3};
	struct ww_plan *q = NULL;

	(void)state;
	e = (struct ww_error){0};
	assert_int_equal(ww_plan_new("a,b,c", &o, &q, &e), -EINVAL);
	assert_non_null(strstr(e.text, "take 4 at least"));
	o.readings = 0;
	assert_int_equal(ww_plan_new("a,,c", &o, &q, NULL), -EINVAL);
	assert_int_equal(ww_plan_new("", &o, &q, NULL), -EINVAL);
	assert_int_equal(ww_plan_new("a,a", &o, &q, NULL), -EINVAL);
	assert_null(q);
}

static int end(void **state)
{
	(void)state;
	ww_plan_free(p);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hadamard), cmocka_unit_test(test_worked),
		cmocka_unit_test(test_numbers),	 cmocka_unit_test(test_searched),
		cmocka_unit_test(test_one_flip), cmocka_unit_test(test_table),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
