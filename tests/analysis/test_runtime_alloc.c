/* SPDX-License-Identifier: MIT */
/* Each allocation of a runtime, of its table and its report fails once. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static const char TABLE[] = "VA,420,650\n50,41,1:30\n75,27,64\n100,21,49\n150,14,29\n";

static int whole(int form, char **out, struct ww_error *err)
{
	const struct ww_runtime_point p[] = {{{25, 0.5}, {48, 1}}, {{50, 0}, {20, 1}}};
	struct ww_runtime_options o = {.size = sizeof(o), .measured = p};
	struct ww_runtime_table *t = NULL;
	struct ww_runtime *r = NULL;
	int rc = ww_runtime_table_parse(TABLE, sizeof(TABLE) - 1, "t", NULL, &t, err);

	o.table = t;
	o.points = form == WW_REPORT_TEXT ? 1 : 2;
	o.watts = (struct ww_quantity){25, 0.3};
	o.pf.value = 0.7;
	o.capacity_Ah.value = 4.5;
	o.wanted_h.value = 1;
	o.rating_VA = 20;
	if (rc == 0)
		rc = ww_runtime_new(&o, &r, err);
	if (rc == 0)
		rc = ww_runtime_report(r, form, out, err);
	ww_runtime_free(r);
	ww_runtime_table_free(t);
	return rc;
}

static void test_runtime(void **state)
{
	(void)state;
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++) {
		struct ww_error err = {0};
		char *want = NULL, *out = NULL;
		int n = 0, rc = -ENOMEM;

		if (whole(form, &want, &err) < 0)
			fail_msg("%s", err.text);
		for (; rc < 0; n++) {
			struct ww_error e = {0};

			assert_true(n < 10000);
			out = NULL;
			left = n;
			rc = whole(form, &out, &e);
			left = -1;
			assert_true(rc == 0 || rc == -ENOMEM);
			assert_int_equal(e.code, rc);
			assert_true(rc == 0 || (out == NULL && e.text[0]));
		}
		assert_true(n > 30);
		assert_string_equal(out, want);
		ww_free(out);
		ww_free(want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_runtime)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
