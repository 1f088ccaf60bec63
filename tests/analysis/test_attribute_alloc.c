/* SPDX-License-Identifier: MIT */
/* Each allocation of attribution, calibration and plans fails once: said, nothing leaks. */
#include "attrtrace.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static struct ww_trace *trace;

static int from_tables(int form, char **out, struct ww_error *err)
{
	static const char now[] =
		"what;W;VA\nall unplugged;1;3\n+box;13;20\n+monitor;40.5;60\n"
		"-box;29.0;42\nmonitor=standby;2.5;\nsame;2.5;\n+disk +usb;14.5;\n"
		"+box;26.5;\n-usb;26;\n+usb;29;\n",
			  before[] = "old, 62\n", cal[] = "0;1.0\n25;26.1\n40;41.2 +- 0.1\n";
	struct ww_attribute_options o = {.size = sizeof(o),
					 .order = "disk,box",
					 .price = 0.3,
					 .cost = 10,
					 .currency = "EUR"};
	struct ww_calibration *c = NULL;
	struct ww_attribute *a = NULL;
	char *json = NULL;
	int rc = ww_calibration_fit("cal", cal, sizeof(cal) - 1, NULL, &c, err);

	if (rc == 0)
		rc = ww_calibration_report(c, WW_REPORT_JSON, &json, err);
	ww_calibration_free(c);
	c = NULL;
	if (rc == 0)
		rc = ww_calibration_read("cal", json, strlen(json), &c, err);
	ww_free(json);
	o.calibration = c;
	if (rc == 0)
		rc = ww_attribute_new(&o, &a, err);
	if (rc == 0)
		rc = ww_attribute_table(a, WW_SET_NOW, "now", now, sizeof(now) - 1, err);
	if (rc == 0)
		rc = ww_attribute_table(a, WW_SET_BEFORE, "old", before, sizeof(before) - 1, err);
	if (rc == 0)
		rc = ww_attribute_solve(a, err);
	if (rc == 0)
		rc = ww_attribute_report(a, form, out, err);
	ww_attribute_free(a);
	ww_calibration_free(c);
	return rc;
}

static int with_pairs(int form, char **out, struct ww_error *err)
{
	static const char text[] = "a,b,W\n0,0,1\n1,0,11\n0,1,21\n1,1,35\n";
	struct ww_attribute_options o = {.size = sizeof(o), .interactions = 1, .own_offsets = 1};
	struct ww_attribute *a = NULL;
	int rc = ww_attribute_new(&o, &a, err);

	if (rc == 0)
		rc = ww_attribute_table(a, WW_SET_NOW, "now", text, sizeof(text) - 1, err);
	if (rc == 0)
		rc = ww_attribute_solve(a, err);
	if (rc == 0)
		rc = ww_attribute_report(a, form, out, err);
	ww_attribute_free(a);
	return rc;
}

static int from_trace(int form, char **out, struct ww_error *err)
{
	struct ww_attribute *a = NULL;
	int rc = ww_attribute_new(NULL, &a, err);

	if (rc == 0)
		rc = ww_attribute_trace(a, WW_SET_NOW, trace, err);
	if (rc == 0)
		rc = ww_attribute_solve(a, err);
	if (rc == 0)
		rc = ww_attribute_report(a, form, out, err);
	ww_attribute_free(a);
	return rc;
}

static int a_plan(int form, char **out, struct ww_error *err)
{
	struct ww_plan_options o = {.size = sizeof(o), .readings = 7, .one_flip = form};
	struct ww_plan *p = NULL;
	int rc = ww_plan_new("a,b,c,d", &o, &p, err);

	if (rc == 0)
		rc = ww_plan_report(p, form, out, err);
	ww_plan_free(p);
	return rc;
}

static int a_plan_of_its_own(int form, char **out, struct ww_error *err)
{
	struct ww_plan *p = NULL;
	int rc = ww_plan_new("a,b,c,d", NULL, &p, err);

	if (rc == 0)
		rc = ww_plan_report(p, form, out, err);
	ww_plan_free(p);
	return rc;
}

static void each(int (*whole)(int, char **, struct ww_error *), int least)
{
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++) {
		char *want = NULL, *out = NULL;
		int n = 0, rc = -ENOMEM;

		OK(whole(form, &want, err));
		for (; rc < 0; n++) {
			struct ww_error e = {0};

			assert_true(n < 20000);
			out = NULL;
			left = n;
			rc = whole(form, &out, &e);
			left = -1;
			if (rc != 0 && rc != -ENOMEM)
				fail_msg("allocation %d: %d: %s", n, rc, e.text);
			assert_int_equal(e.code, rc);
			assert_true(rc == 0 || (out == NULL && e.text[0]));
		}
		assert_true(n > least);
		assert_string_equal(out, want);
		ww_free(out);
		ww_free(want);
	}
}

static void test_tables(void **state)
{
	(void)state;
	each(from_tables, 100);
	each(with_pairs, 40);
}

static void test_trace(void **state)
{
	static const struct happening h[] = {{2, 0, "all unplugged"}, {40, 12, "+box"},
					     {80, 17, NULL},	      {120, 12, NULL},
					     {160, 0, "-box"},	      {190, 5, "disk"}};
	struct bench b;

	(void)state;
	trace = attr_trace(&b, h, 6, 230, 0);
	each(from_trace, 100);
	bench_end(&b, trace);
}

static void test_plan(void **state)
{
	(void)state;
	each(a_plan, 10);
	each(a_plan_of_its_own, 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables),
					   cmocka_unit_test(test_trace),
					   cmocka_unit_test(test_plan)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
