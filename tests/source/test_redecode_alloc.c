/* SPDX-License-Identifier: MIT */
/* Each allocation while raw bytes are decoded again fails once: it is said. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/base.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "fakemeter.h"
#include "redecodetrace.h"

static void each(bool turns)
{
	struct rt x;
	int rc = -ENOMEM, n = 0;

	rt_begin(&x, "fake", "fake:/dev/fake", true, turns);
	rt_day(&x);
	rt_done(&x);
	for (; rc < 0; n++) {
		struct ww_error err = {0};
		struct ww_trace *y;

		assert_true(n < 5000);
		left = n;
		y = rt_again(&x, NULL, &rc, &err);
		left = -1;
		if (!y)
			assert_true(rc == -ENOMEM && err.code == rc);
		ww_trace_close(y);
	}
	assert_true(n > 30);
	ww_trace_close(x.t);
}

static void test_turns(void **state)
{
	(void)state;
	each(true);
}

static void test_deadlines(void **state)
{
	(void)state;
	each(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_deadlines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
