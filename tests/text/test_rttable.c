/* SPDX-License-Identifier: MIT */
/* A maker's table in the forms that people have it in, and quantities as they are typed. */
#include "text/rttable.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct ww_runtime_table *parse(const char *text, const char *unit)
{
	struct ww_runtime_table *t = NULL;
	struct ww_error err = {0};

	if (ww_runtime_table_parse(text, strlen(text), "t.csv", unit, &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static void refused(const char *text, const char *unit, const char *want)
{
	struct ww_runtime_table *t = NULL;
	struct ww_error err = {0};

	assert_int_equal(ww_runtime_table_parse(text, strlen(text), "t.csv", unit, &t, &err),
			 -EINVAL);
	assert_null(t);
	assert_string_equal(err.text, want);
}

static void cell(const struct ww_runtime_table *t, size_t row, size_t model, double want)
{
	double got = t->minutes[row * t->models + model];

	if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-9))
		fail_msg("row %zu model %zu: %.17g, not %.17g", row, model, got, want);
}

static void test_dialects(void **state)
{
	static const char *const same[] = {
		"Load (VA);A 1;B\n50;41;90\n75;27,5;64\n",
		"\xef\xbb\xbf# of a manual\r\nVA,A 1,B\r\n75,27.5,64\r\n50,41,90\r\n",
		"\"load_VA\"\t\"A 1\"\tB\n50\t41\t90\n75\t27.5\t64\n",
		"Load VA | A 1 | B\n50 VA | 41 min | 1:30\n75 VA | 27.5 | 1h4m\n",
		"kVA,A 1,B\n0.05,41,1.5h\n0.075,27.5,1 h 4 min\n",
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(same); i++) {
		struct ww_runtime_table *t = parse(same[i], NULL);

		assert_string_equal(ww_runtime_table_unit(t), "VA");
		assert_int_equal(t->rows, 2);
		assert_string_equal(ww_runtime_table_model(t, 0), "A 1");
		assert_string_equal(ww_runtime_table_model(t, 1), "B");
		assert_null(ww_runtime_table_model(t, 2));
		assert_true(fabs(t->load[0] - 50) < 1e-9 && fabs(t->load[1] - 75) < 1e-9);
		cell(t, 0, 0, 41);
		cell(t, 1, 0, 27.5);
		cell(t, 0, 1, 90);
		cell(t, 1, 1, 64);
		assert_int_equal(t->clock, i == 3);
		/* The last digit: of minutes, and of tenths. */
		if (i == 0) {
			assert_true(t->step[0] == 1);
			assert_true(fabs(t->step[2] - 0.1) < 1e-15);
		}
		ww_runtime_table_free(t);
	}
}

static void test_holes(void **state)
{
	struct ww_runtime_table *t = parse("W A B\n100 - 20\n50 60\n25 n/a 90\n", NULL);

	(void)state;
	assert_string_equal(ww_runtime_table_unit(t), "W");
	cell(t, 0, 0, NAN);
	cell(t, 0, 1, 90);
	cell(t, 1, 0, 60);
	cell(t, 1, 1, NAN);
	cell(t, 2, 0, NAN);
	ww_runtime_table_free(t);
	/* Hours in the head; no head at all. */
	t = parse("watts,runtime (h)\n100,0.5\n", NULL);
	cell(t, 0, 0, 30);
	ww_runtime_table_free(t);
	t = parse("100,30\n200,12\n", "W");
	assert_string_equal(ww_runtime_table_model(t, 0), "column 2");
	cell(t, 1, 0, 12);
	ww_runtime_table_free(t);
}

static void test_refusals(void **state)
{
	(void)state;
	refused("", "W", "t.csv: no loads");
	refused("# nothing\n\n", "W", "t.csv: no loads");
	refused("load,A\n50,41\n", NULL,
		"t.csv: whether the loads are VA or W is not said: write it at the head of the "
		"first "
		"column, or give --table-unit");
	refused("50,41\n", NULL,
		"t.csv: whether the loads are VA or W is not said: write it at the head of the "
		"first "
		"column, or give --table-unit");
	refused("W or VA,A\n50,41\n", NULL, "t.csv: 'W or VA': are the loads in VA or in W?");
	refused("VA,A\n50,41\n", "W", "t.csv: the head says VA, the option W");
	refused("load,A\n50,41\n", "A", "loads are in VA or W, not in 'A'");
	refused("VA,A\n50,abc\n", NULL,
		"t.csv:2: 'abc' is no runtime; minutes, as in 48, or 1h30m");
	refused("VA,A\n50,1:75\n", NULL,
		"t.csv:2: '1:75' is no runtime; minutes, as in 48, or 1h30m");
	refused("VA,A\n50,-3\n", NULL, "t.csv:2: '-3' is no runtime; minutes, as in 48, or 1h30m");
	refused("VA,A\n50,41\nfull,5\n", NULL, "t.csv:3: 'full' is no load in VA");
	refused("VA,A\n0,41\n", NULL, "t.csv:2: '0' is no load in VA");
	refused("VA,A\n50 W,41\n", NULL, "t.csv:2: a load in W in a table in VA");
	refused("VA,A\n50,41,3\n", NULL, "t.csv:2: 3 columns, but 2 in the first line");
	refused("VA,A\n50,41\n75,20\n50,40\n", NULL, "t.csv: the load of 50 VA is there twice");
	refused("VA\n50\n", NULL,
		"t.csv: one column only; a table has loads and, beside them, the minutes of at "
		"least "
		"one model");
}

static void quantity(const char *text, double v, double u, const char *unit)
{
	struct ww_error err = {0};
	struct ww_quantity q;
	char got[16];

	if (ww_quantity_parse(text, "W", &q, got, sizeof(got), &err) < 0)
		fail_msg("%s", err.text);
	assert_true(fabs(q.value - v) < 1e-12 && fabs(q.u - u) < 1e-12);
	assert_string_equal(got, unit);
}

static void no_quantity(const char *text)
{
	struct ww_error err = {0};
	struct ww_quantity q;
	char got[16];

	assert_int_equal(ww_quantity_parse(text, "W", &q, got, sizeof(got), &err), -EINVAL);
	assert_non_null(strstr(err.text, text));
}

static void test_quantities(void **state)
{
	(void)state;
	quantity("25", 25, 0, "W");
	quantity("25W", 25, 0, "W");
	quantity(" 25 W \xc2\xb1 0.6 ", 25, 0.6, "W");
	quantity("25\xc2\xb1"
		 "0.6W",
		 25, 0.6, "W");
	quantity("25W+-0.6W", 25, 0.6, "W");
	quantity("25 +/- 2 %", 25, 0.5, "W");
	quantity("80%", 80, 0, "%");
	quantity("80%+-5%", 80, 5, "%");
	quantity("35VA", 35, 0, "VA");
	quantity("24,5 Ah", 24.5, 0, "Ah");
	quantity("1.234,5 Ah", 1234.5, 0, "Ah");
	quantity("1,234.5 Ah", 1234.5, 0, "Ah");
	quantity("-5\xc2\xb0"
		 "C",
		 -5, 0,
		 "\xc2\xb0"
		 "C");
	no_quantity("");
	no_quantity("W");
	no_quantity("+-5");
	no_quantity("25W+-");
	no_quantity("25W+-x");
	no_quantity("25W+--1");
	no_quantity("25W+-1V");
	no_quantity("nan");
	no_quantity("25 averyveryverylongunit");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dialects),
		cmocka_unit_test(test_holes),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_quantities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
