/* SPDX-License-Identifier: MIT */
/* Each allocation of step detection fails once: said, nothing leaks, nothing is left. */
#include "analysis/fpop.h"
#include "analysis/steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

#define N 1600

static double t[N], v[N];

static void make(double period)
{
	for (size_t i = 0; i < N; i++) {
		double swing = period < 0.1 ? 20 * sin(2 * M_PI * 100 * (double)i * period) : 0;

		t[i] = (double)i * period;
		v[i] = 10 + (double)(i * 7919 % 13) / 50 + (i / 400 % 2 ? 8 : 0) + swing;
	}
}

static void find_all(const struct ww_step_input *in)
{
	struct ww_step_result want, r;
	struct ww_error err = {0};
	int n = 0, rc = -ENOMEM;

	assert_int_equal(ww_steps_find(in, &want, &err), 0);
	assert_true(want.events > 0);
	for (; rc < 0; n++) {
		ww_error_clear(&err);
		assert_true(n < 1000);
		left = n;
		rc = ww_steps_find(in, &r, &err);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(err.code, rc);
		if (rc < 0)
			assert_true(err.text[0] && !r.event && !r.level && !r.known);
	}
	assert_true(n > 20);
	assert_int_equal(r.events, want.events);
	for (size_t i = 0; i < r.events; i++)
		assert_true(r.event[i].delta == want.event[i].delta);
	ww_steps_clear(&r);
	ww_steps_clear(&want);
}

static void test_steps(void **state)
{
	static const double mark[] = {200, 398, 800, 1190};
	struct ww_step_input in = {.n = N, .t = t, .v = v, .marker = mark, .markers = 4};

	(void)state;
	make(1);
	find_all(&in);
}

static void test_fast(void **state)
{
	struct ww_step_input in = {.n = N, .t = t, .v = v};

	(void)state;
	make(1e-3);
	find_all(&in);
}

static void test_fpop(void **state)
{
	struct ww_fpop f;
	int n = 0, rc = -ENOMEM;

	(void)state;
	make(1);
	for (; rc < 0; n++) {
		left = n;
		rc = ww_fpop(v, NULL, N, 20, 3, &f);
		left = -1;
		assert_true(rc == 0 || (rc == -ENOMEM && !f.change && !f.level));
	}
	assert_true(n > 4);
	assert_int_equal(f.changes, 3);
	ww_fpop_clear(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_fast),
		cmocka_unit_test(test_fpop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
