/* SPDX-License-Identifier: MIT */
/* Each allocation on the way to an action fails once: it is said, and nothing is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <cmocka.h>

#include "base/base.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

#include <poll.h>

/* Made, run to its end, told. */
static int whole(const char *text)
{
	struct ww_error err = {0};
	struct ww_action *a;
	char *report = NULL;
	int rc = ww_action_new(text, &a, &err);

	if (rc == 0)
		rc = ww_action_start(a, &err);
	while (rc >= 0 && (rc = ww_action_dispatch(a, &err)) > 0) {
		struct pollfd p = {.fd = ww_action_fd(a), .events = POLLIN};

		poll(&p, 1, 1000);
	}
	if (rc == 0)
		rc = ww_action_report(a, WW_REPORT_JSON, &report, &err);
	left = -1;
	ww_free(report);
	ww_action_free(a);
	assert_int_equal(err.code, rc);
	assert_true(rc == 0 || err.text[0]);
	return rc;
}

static void test_each(void **state)
{
	static const char *const text[] = {"true", "rtc:5s",
					   "wol:00:11:22:33:44:55?host=127.0.0.1"};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(text); i++) {
		int n = 0, rc = -ENOMEM;

		for (; rc < 0; n++) {
			assert_true(n < 200);
			left = n;
			rc = whole(text[i]);
			assert_true(rc == 0 || rc == -ENOMEM);
		}
		assert_true(n > 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
