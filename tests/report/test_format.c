/* SPDX-License-Identifier: MIT */
/* Tables, quantities, spans of time and notes as reports print them. */
#include "report/format.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void is(struct ww_str *s, const char *want)
{
	assert_false(s->bad);
	assert_string_equal(s->p ? s->p : "", want);
	ww_str_free(s);
	*s = (struct ww_str){0};
}

static void test_grid(void **state)
{
	static const char *const head[] = {"device", "watts", "VA", "state"};
	struct ww_grid g = {.columns = 4, .left = 1 | 8};
	struct ww_str s = {0}, *row;

	(void)state;
	ww_grid_head(&g, head);
	row = ww_grid_row(&g);
	ww_str_add(&row[0], "B\xc3\xbcrolampe");
	ww_put_quantity(&row[1], (struct ww_quantity){24.897, 0.0166}, "W", 1);
	ww_str_add(&row[3], "on");
	row = ww_grid_row(&g);
	ww_str_add(&row[0], "box");
	ww_put_quantity(&row[1], (struct ww_quantity){9, NAN}, "W", 1);
	ww_grid_print(&s, &g);
	/* Width in characters; VA is empty throughout; nothing trails. */
	is(&s, "device                watts  state\n"
	       "B\xc3\xbcrolampe  24.897 \xc2\xb1 0.033 W  on\n"
	       "box                   9.0 W\n");
}

static void test_empty_grid(void **state)
{
	static const char *const head[] = {"a", "b"};
	struct ww_grid g = {.columns = 2};
	struct ww_str s = {0};

	(void)state;
	ww_grid_head(&g, head);
	ww_grid_print(&s, &g);
	is(&s, "");
}

static void test_span(void **state)
{
	static const struct {
		double s;
		const char *want;
	} row[] = {{0.74286, "0.743 s"},
		   {9.996, "10.00 s"},
		   {48 * 60, "48 min"},
		   {59.05 * 60, "59 min"},
		   {91.0998 * 60, "1 h 31 min"},
		   {3599.9, "1 h"},
		   {7200, "2 h"},
		   {99.96, "1 min 40 s"},
		   {86400 * 3.5, "3 d 12 h"},
		   {86400 * 365.25 * 2.5, "2.5 years"},
		   {-120, "-2 min"},
		   {INFINITY, "for ever"},
		   {NAN, "unknown"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_str s = {0};

		ww_put_span(&s, row[i].s);
		is(&s, row[i].want);
	}
}

static void test_notes(void **state)
{
	struct ww_notes l = {0};
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	(void)state;
	ww_note(&l,
		"%s: nothing is known of the meter's accuracy, so that only noise and "
		"resolution are in u",
		"meter.power");
	ww_note(&l, "one");
	ww_note(&l, "%s", "one");
	assert_int_equal(l.n, 2);
	assert_null(ww_note_at(&l, 2));
	ww_put_notes(&s, &l);
	is(&s, "\n- meter.power: nothing is known of the meter's accuracy, so that only noise and\n"
	       "  resolution are in u\n- one\n");
	ww_json_open(&j, NULL, '{');
	ww_json_notes(&j, &l);
	ww_json_close(&j, '}');
	assert_non_null(strstr(s.p, "\"one\""));
	ww_str_free(&s);
	ww_notes_free(&l);
}

static void test_json(void **state)
{
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	(void)state;
	ww_json_open(&j, NULL, '{');
	ww_json_quantity(&j, "w", (struct ww_quantity){24.89758, 0.03322}, NULL);
	ww_json_quantity(&j, "x", (struct ww_quantity){9, NAN}, "one reading");
	ww_json_quantity(&j, "exact", (struct ww_quantity){12, 0}, NULL);
	ww_json_pair(&j, "t_s", 1.5, INFINITY);
	ww_json_close(&j, '}');
	is(&s, "{\"w\":{\"value\":24.89758,\"u\":0.03322},"
	       "\"x\":{\"value\":9,\"u\":null,\"why\":\"one reading\"},"
	       "\"exact\":{\"value\":12,\"u\":0},\"t_s\":[1.5,null]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_grid),
					   cmocka_unit_test(test_empty_grid),
					   cmocka_unit_test(test_span),
					   cmocka_unit_test(test_notes),
					   cmocka_unit_test(test_json)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
