/* SPDX-License-Identifier: MIT */
/* Numbers exactly as they stand, and lines in every dialect. */
#include "text/csv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ww_num num(const char *text, bool comma, int kind)
{
	struct ww_num v;
	int got = ww_num_read(text, strlen(text), comma, &v);

	if (got != kind)
		fail_msg("'%s': kind %d, not %d", text, got, kind);
	return v;
}

static void check(const char *text, bool comma, int64_t code, int decimals, const char *unit)
{
	struct ww_num v = num(text, comma, WW_NUM_OK);

	assert_int_equal(v.code, code);
	assert_int_equal(v.decimals, decimals);
	assert_int_equal(v.unit_n, strlen(unit));
	assert_memory_equal(v.unit, unit, v.unit_n);
}

static void digits_stay(void **state)
{
	(void)state;
	check("119.1", false, 1191, 1, "");
	check("-0.050", false, -50, 3, "");
	check("+7", false, 7, 0, "");
	check(".5", false, 5, 1, "");
	check("5.", false, 5, 0, "");
	check("1.5e-3", false, 15, 4, "");
	check("2E+03", false, 2, -3, "");
	check("\xe2\x88\x92"
	      "4.5",
	      false, -45, 1, "");
	check("13.5 W", false, 135, 1, "W");
	check("13.5W", false, 135, 1, "W");
	check("40 mA", false, 40, 0, "mA");
	check("5\xc2\xa0W", false, 5, 0, "W");
	check("5 e", false, 5, 0, "e");
	check("5e", false, 5, 0, "e");
	check("3\xc2\xb5W", false, 3, 0, "\xc2\xb5W");
	check("12,5", true, 125, 1, "");
	check("12.5", true, 125, 1, "");
	assert_true(num("0.1", false, WW_NUM_OK).value == 0.1);
	assert_true(num("1e22", false, WW_NUM_OK).value == 1e22);
	assert_true(num("1e-300", false, WW_NUM_OK).value == 1e-300);
	assert_true(num("123456789012345678901234567890", false, WW_NUM_OK).value >= 1.2345e29);
	assert_int_equal(num("0.12345678901234567891234", false, WW_NUM_OK).decimals, 19);
}

static void groups_only_where_they_are_sure(void **state)
{
	(void)state;
	check("1,234.5", false, 12345, 1, "");
	check("1,234,567", false, 1234567, 0, "");
	check("1.234,5", true, 12345, 1, "");
	check("1.234.567,25", true, 123456725, 2, "");
	check("0.500", true, 500, 3, "");
	num("1,234", false, WW_NUM_TEXT);
	num("1.234", true, WW_NUM_TEXT);
	num("12,34", false, WW_NUM_TEXT);
}

static void no_values(void **state)
{
	(void)state;
	num("", false, WW_NUM_EMPTY);
	num("NaN", false, WW_NUM_MISSING);
	num("N/A", false, WW_NUM_MISSING);
	num("null", false, WW_NUM_MISSING);
	num("-", false, WW_NUM_MISSING);
	num("inf", false, WW_NUM_OVER);
	num("-INF", false, WW_NUM_UNDER);
	num("OL", false, WW_NUM_OVER);
	num("1e999", false, WW_NUM_OVER);
	num("-1e99999999999", false, WW_NUM_UNDER);
	num("12:30", false, WW_NUM_TEXT);
	num("2012-06-10", false, WW_NUM_TEXT);
	num("10/06/2012", false, WW_NUM_TEXT);
	num("power", false, WW_NUM_TEXT);
	num("0x10 ", false, WW_NUM_OK); /* a zero with a unit that nobody knows */
	num("1.2.3", false, WW_NUM_TEXT);
	num("--1", false, WW_NUM_TEXT);
	num(".", false, WW_NUM_TEXT);
}

static void split(const struct ww_csv *d, const char *line, const char *const *want)
{
	struct ww_field f[8];
	size_t n = ww_csv_split(d, line, strlen(line), f, 8), k = 0;

	for (; want[k]; k++) {
		struct ww_str s = {0};

		assert_true(k < n);
		ww_field_text(&f[k], &s);
		assert_string_equal(s.p ? s.p : "", want[k]);
		ww_str_free(&s);
	}
	assert_int_equal(n, k);
}

static void fields(void **state)
{
	const struct ww_csv comma = {',', false}, tab = {'\t', false}, blank = {' ', false};

	(void)state;
	split(&comma, "a, b ,,c", (const char *[]){"a", "b", "", "c", NULL});
	split(&comma, "\"a,b\",\"say \"\"x\"\"\" , 1",
	      (const char *[]){"a,b", "say \"x\"", "1", NULL});
	split(&comma, "\"never closed, 1", (const char *[]){"never closed, 1", NULL});
	split(&comma, "", (const char *[]){"", NULL});
	split(&comma, "\"\"", (const char *[]){"", NULL});
	split(&comma, "\"", (const char *[]){"", NULL});
	split(&tab, "a\t\tb", (const char *[]){"a", "", "b", NULL});
	split(&blank, "  1 \t 2  ", (const char *[]){"1", "2", NULL});
	split(&blank, "", (const char *[]){NULL});
}

static void lines(void **state)
{
	const char *text = "a\r\nb\nc\rd";
	size_t n = strlen(text), at = 0, len, k = 0;

	(void)state;
	while (at < n) {
		at += ww_csv_line(text + at, n - at, &len);
		assert_int_equal(len, 1);
		k++;
	}
	assert_int_equal(k, 4);
	assert_true(ww_csv_blank("  # x", 5));
	assert_true(ww_csv_blank("// x", 4));
	assert_true(ww_csv_blank("", 0));
	assert_false(ww_csv_blank("1", 1));
	assert_int_equal(ww_csv_bom("\xef\xbb\xbfx", 4), 3);
	assert_int_equal(ww_csv_bom("x", 1), 0);
}

static void guess(const char *text, char sep, bool comma)
{
	struct ww_csv d = ww_csv_guess(text, strlen(text));

	if (d.sep != sep || d.comma != comma)
		fail_msg("'%s': '%c' %d", text, d.sep, d.comma);
}

static void dialects(void **state)
{
	(void)state;
	guess("t_s,power_W\n0,1\n1,0.9\n", ',', false);
	guess("time;watts\n0;1,5\n1;0,9\n", ';', true);
	guess("0.28;5.00970;0.000000\n0.50;5.00980;0.000000\n", ';', false);
	guess("t\tW\n0\t1\n1\t2\n", '\t', false);
	guess("timestamp gpu_instant gpu_average\n1733935225.009 28.873 23.595\n"
	      "1733935225.069 28.789 28.553\n",
	      ' ', false);
	guess("12 13,5\n13 14,5\n", ' ', true);
	guess("10/06/2012 00:00:09;79;79\r\n10/06/2012 00:00:14;79;79\r\n", ';', false);
	guess("2020-01-01 12:00:00,13.5\n2020-01-01 12:00:01,13.5\n", ',', false);
	guess("t,W\n\"0,5\",\"12,5\"\n\"1,5\",\"12,25\"\n", ',', true);
	guess("p_W\n-0.80\n-0.10\n", ',', false);
	guess("\xef\xbb\xbf# x\n\nt|W\n1|2\n2|3\n", '|', false);
	guess("+box; 1,5\n+monitor; 2,5\n", ';', true);
	guess("all unplugged, 1\n+box, 13\n+monitor, 40.5\n", ',', false);
	guess("", ',', false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(digits_stay),
					   cmocka_unit_test(groups_only_where_they_are_sure),
					   cmocka_unit_test(no_values),
					   cmocka_unit_test(fields),
					   cmocka_unit_test(lines),
					   cmocka_unit_test(dialects)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
