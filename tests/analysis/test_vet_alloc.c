/* SPDX-License-Identifier: MIT */
/* Each allocation of vet and of the rule for bisecting fails once: said, nothing leaks. */
#include "analysis/cycleset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "cyclesets.h"

static struct ww_cycleset *set[2];

static int setup(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		set[k] = set_new(k ? "bad" : "good");
		for (int i = 0; i < 12; i++) {
			set_cycle(set[k], WW_SET_OK);
			set_put(set[k], "latency", "resume_to_user", 400 + 100 * k + i, 0.5);
			for (int d = 0; d < 40; d++) {
				char device[16];

				snprintf(device, sizeof(device), "quartz%d", d);
				set_device(set[k], device, "qx", "resume", 20.5 + d, d);
			}
		}
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ww_cycleset_free(set[0]);
	ww_cycleset_free(set[1]);
	return 0;
}

static int vet(char **out, struct ww_error *err)
{
	struct ww_vet *v = NULL;
	int rc = ww_vet_new(set, 2, NULL, &v, err);

	if (rc >= 0)
		rc = ww_vet_report(v, WW_REPORT_JSON, out, err);
	ww_vet_free(v);
	return rc;
}

static int bisect(char **out, struct ww_error *err)
{
	struct ww_bisect b;
	int rc = ww_bisect_judge(set[1], set[0], set[1], NULL, &b, err);

	if (rc < 0)
		return rc;
	*out = strdup(b.why);
	return *out ? 0 : ww_fail_nomem(err);
}

static void each(int (*call)(char **, struct ww_error *), int least)
{
	char *want = NULL, *out = NULL;
	struct ww_error e = {0};
	int n = 0, rc = -ENOMEM;

	assert_int_equal(call(&want, &e), 0);
	for (; rc < 0; n++) {
		ww_error_clear(&e);
		out = NULL;
		left = n;
		rc = call(&out, &e);
		left = -1;
		assert_true(rc == 0 || (rc == -ENOMEM && !out && e.code == rc && e.text[0]));
	}
	assert_true(n > least);
	assert_string_equal(out, want);
	ww_free(out);
	ww_free(want);
}

static void test_vet(void **state)
{
	(void)state;
	each(vet, 50);
}

static void test_bisect(void **state)
{
	(void)state;
	each(bisect, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vet),
		cmocka_unit_test(test_bisect),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
