/* SPDX-License-Identifier: MIT */
/* Each allocation of a set of cycles, of the shift between two and of its reports fails once. */
#include "analysis/shift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static int left = -1, calls, before_report;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static int fill(struct ww_cycleset *s, double more, struct ww_error *err)
{
	struct ww_metric_key whole = {.name = "resume_to_user", .kind = "latency", .unit = "ms"};
	struct ww_metric_key device = {.kind = "device",
				       .unit = "ms",
				       .device = "1-1",
				       .driver = "usb",
				       .func = "usb_dev_resume",
				       .phase = "resume"};
	char name[64];
	int rc = 0;

	for (int i = 0; i < 40 && rc >= 0; i++) {
		rc = ww_cycleset_cycle(s, i == 3 ? WW_SET_FAILED : WW_SET_OK, err);
		/* Few: whatever is reckoned is reckoned a thousand times here. */
		if (rc >= 0 && (i < 5 || i == 39))
			rc = ww_cycleset_put(s, &whole, 100 + more + i % 7, 1, __builtin_nan(""),
					     err);
		for (int k = 0; k < 33 && rc >= 0 && i < 2; k++) {
			snprintf(name, sizeof(name), "device 1-1.%d usb resume", k);
			device.name = name;
			rc = ww_cycleset_put(s, &device, 3 + i, 0, 1, err);
		}
	}
	return rc;
}

static int whole(int form, char **out, struct ww_error *err)
{
	struct ww_shift_options o = {.size = sizeof(o),
				     .fail_if = "resume > 5% slower, failures > 0"};
	struct ww_cycleset *set[2] = {NULL, NULL};
	struct ww_shift *s = NULL;
	int rc = 0;

	calls = 0;
	for (int i = 0; i < 2 && rc >= 0; i++) {
		rc = ww_cycleset_new(i ? "b" : "a", &set[i], err);
		if (rc >= 0)
			rc = fill(set[i], 10 * i, err);
	}
	if (rc >= 0)
		rc = ww_shift_new(set[0], set[1], &o, &s, err);
	before_report = calls;
	if (rc >= 0)
		rc = ww_shift_report(s, form, out, err);
	ww_shift_free(s);
	ww_cycleset_free(set[0]);
	ww_cycleset_free(set[1]);
	return rc;
}

static void each(int form)
{
	struct ww_error err = {0};
	char *want = NULL, *out = NULL;
	int n = 0, rc = -ENOMEM;

	if (whole(form, &want, &err) < 0)
		fail_msg("%s", err.text);
	/* What comes before the report is the same for all. */
	n = form == WW_REPORT_TEXT ? 0 : before_report;
	for (; rc < 0; n++) {
		struct ww_error e = {0};

		assert_true(n < 20000);
		out = NULL;
		left = n;
		rc = whole(form, &out, &e);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(e.code, rc);
		assert_true(rc == 0 || (out == NULL && e.text[0]));
	}
	assert_true(n > 300);
	assert_string_equal(out, want);
	ww_free(out);
	ww_free(want);
}

static void test_each(void **state)
{
	(void)state;
	each(WW_REPORT_TEXT);
	each(WW_REPORT_JSON);
	each(WW_REPORT_MARKDOWN);
	each(WW_REPORT_JUNIT);
}

static void test_form(void **state)
{
	struct ww_error err = {0};
	char *out = NULL;

	(void)state;
	assert_int_equal(whole(WW_REPORT_CSV, &out, &err), -EINVAL);
	assert_null(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_form),
	};

	return cmocka_run_group_tests_name("shift_report_alloc", tests, NULL, NULL);
}
