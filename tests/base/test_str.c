/* SPDX-License-Identifier: MIT */
/* Text, numbers in any locale, JSON and CSV. */
#include "base/str.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

static void check(struct ww_str *s, const char *want)
{
	assert_false(s->bad);
	assert_string_equal(s->p ? s->p : "", want);
	assert_int_equal(s->n, strlen(want));
	ww_str_free(s);
}

static void test_growing(void **state)
{
	struct ww_str s = {0};
	char *out = NULL;

	(void)state;
	for (int i = 0; i < 1000; i++)
		ww_str_addf(&s, "%d,", i % 10);
	assert_int_equal(s.n, 2000);
	assert_int_equal(strlen(s.p), 2000);
	ww_str_reset(&s);
	ww_str_add(&s, "");
	assert_int_equal(s.n, 0);
	ww_str_addn(&s, "abcdef", 3);
	assert_int_equal(ww_str_take(&s, &out, NULL), 0);
	assert_string_equal(out, "abc");
	assert_null(s.p);
	ww_free(out);
	/* Nothing added: an empty text, not NULL. */
	assert_int_equal(ww_str_take(&s, &out, NULL), 0);
	assert_string_equal(out, "");
	ww_free(out);
}

/* A length that no memory has: bad, without a loop or an overflow. */
static void test_too_long(void **state)
{
	struct ww_str s = {0};
	struct ww_error err = {0};
	char *out;

	(void)state;
	ww_str_add(&s, "x");
	ww_str_addn(&s, "y", SIZE_MAX - 1);
	assert_true(s.bad);
	ww_str_add(&s, "z");
	assert_int_equal(s.n, 1);
	assert_int_equal(ww_str_take(&s, &out, &err), -ENOMEM);
	assert_null(s.p);
}

static const struct {
	double v;
	int decimals;
	const char *fixed, *shortest;
} numbers[] = {{0, 2, "0.00", "0"},
	       {-0.0, 1, "0.0", "-0"},
	       {-0.001, 2, "0.00", "-0.001"},
	       {0.1, 1, "0.1", "0.1"},
	       {1.0 / 3, 3, "0.333", "0.3333333333333333"},
	       {2.5, 0, "2", "2.5"},
	       {-12.345, 2, "-12.35", "-12.345"},
	       {1e21, 0, "1000000000000000000000", "1e+21"},
	       {123456789, 0, "123456789", "123456789"},
	       {600, 0, "600", "600"},
	       {-1e14, 0, "-100000000000000", "-100000000000000"},
	       {1e15, 0, "1000000000000000", "1e+15"},
	       {5e-324, 2, "0.00", "5e-324"},
	       {DBL_MAX, -1,
		"17976931348623157081452742373170435679807056752584499659891747680315726078002853"
		"87605895586327668781715404589535143824642343213268894641827684675467035375169860"
		"49910576551282076245490090389328944075868508455133942304583236903222948165808559"
		"332123348274797826204144723168738177180919299881250404026184124858368",
		"1.7976931348623157e+308"},
	       {INFINITY, 2, "inf", "inf"},
	       {-INFINITY, 2, "-inf", "-inf"},
	       {NAN, 2, "nan", "nan"}};

static void check_numbers(void)
{
	for (size_t i = 0; i < WW_COUNTOF(numbers); i++) {
		struct ww_str s = {0};
		const char *end;
		double back;

		ww_str_fixed(&s, numbers[i].v, numbers[i].decimals);
		check(&s, numbers[i].fixed);
		ww_str_num(&s, numbers[i].v);
		back = ww_strtod(s.p, &end);
		assert_true(*end == '\0');
		assert_true(isnan(numbers[i].v) ? isnan(back) : back == numbers[i].v);
		check(&s, numbers[i].shortest);
		back = ww_strtod(numbers[i].fixed, &end);
		assert_true(*end == '\0');
		if (numbers[i].decimals < 0)
			assert_true(back == numbers[i].v);
	}
}

static void test_numbers(void **state)
{
	(void)state;
	check_numbers();
}

static void check_strtod(void)
{
	static const struct {
		const char *text;
		double v;
		int used;
	} row[] = {{"12.5W", 12.5, 4}, {" \t-3", -3, 4},  {".5", 0.5, 2},
		   {"5.", 5, 2},       {"1e3s", 1000, 3}, {"1e", 1, 1},
		   {"0x10", 0, 1},     {"1,5", 1, 1},	  {"1.5.2", 1.5, 3},
		   {"", 0, 0},	       {"W", 0, 0},	  {"-", 0, 0},
		   {"+7", 7, 2},       {"--7", 0, 0},	  {"infinity", INFINITY, 8},
		   {"2min", 2, 1},     {"1_000", 1, 1},	  {"1.25e-2x", 0.0125, 7}};

	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		const char *end;
		double v = ww_strtod(row[i].text, &end);

		assert_true(v == row[i].v);
		assert_int_equal(end - row[i].text, row[i].used);
		assert_true(ww_strtod(row[i].text, NULL) == row[i].v);
	}
}

static void test_strtod(void **state)
{
	char endless[2001];
	const char *end;

	(void)state;
	check_strtod();
	/* More digits than any number of ours has: not half a number. */
	memset(endless, '7', sizeof(endless) - 1);
	endless[sizeof(endless) - 1] = '\0';
	assert_true(isnan(ww_strtod(endless, &end)));
	assert_ptr_equal(end, endless);
}

/* A locale of that name, made for the test; false where the sources of locales are absent. */
static bool make_locale(const char *dir, const char *name)
{
	char cmd[512];

	snprintf(cmd, sizeof(cmd), "localedef -c -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", name,
		 dir, name);
	/* localedef warns with status 1 about what it could do without. */
	if (system(cmd) < 0)
		return false;
	setenv("LOCPATH", dir, 1);
	snprintf(cmd, sizeof(cmd), "%s.UTF-8", name);
	return setlocale(LC_ALL, cmd) != NULL;
}

/* Decimal comma, and a decimal point of two bytes. */
static void test_locales(void **state)
{
	static const struct {
		const char *name, *point;
	} row[] = {{"de_DE", ","}, {"ps_AF", "\xd9\xab"}};
	char dir[] = "/tmp/ww-locale-XXXXXX", cmd[64];
	size_t done = 0;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_str s = {0};
		char buf[32];

		if (!make_locale(dir, row[i].name))
			continue;
		snprintf(buf, sizeof(buf), "%.1f", 0.5);
		assert_non_null(strstr(buf, row[i].point));
		check_numbers();
		check_strtod();
		ww_num_text(buf, sizeof(buf), -1234567.25);
		assert_string_equal(buf, "-1234567.25");
		ww_str_fixed(&s, 1234567.25, 1);
		check(&s, "1234567.2");
		assert_int_equal(ww_decimals_for(0.0123, 9), 3);
		done++;
	}
	setlocale(LC_ALL, "C");
	unsetenv("LOCPATH");
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	assert_int_equal(system(cmd), 0);
	if (done < WW_COUNTOF(row))
		skip();
}

/* Two significant digits of u; never a third, also where rounding carries. */
static void test_digits(void **state)
{
	static const struct {
		double u;
		int decimals;
		const char *text;
	} row[] = {{0.0123, 3, "0.012"},
		   {0.0996, 2, "0.10"},
		   {0.1, 2, "0.10"},
		   {0.001, 4, "0.0010"},
		   {1, 1, "1.0"},
		   {9.96, 0, "10"},
		   {9.94, 1, "9.9"},
		   {12.3, 0, "12"},
		   {99.6, 0, "100"},
		   {432, 0, "430"},
		   {1e-14, 12, "0.000000000000"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_str s = {0};

		assert_int_equal(ww_decimals_for(row[i].u, -5), row[i].decimals);
		ww_str_fixed(&s, ww_round_for(row[i].u, row[i].u), row[i].decimals);
		check(&s, row[i].text);
	}
	assert_int_equal(ww_decimals_for(NAN, 3), 3);
	assert_int_equal(ww_decimals_for(0, 3), 3);
	assert_int_equal(ww_decimals_for(-1, 3), 3);
	assert_int_equal(ww_decimals_for(INFINITY, 3), 3);
	assert_true(ww_round_for(89752, 432) == 89750);
	assert_true(ww_round_for(-89755, 432) == -89760);
	assert_true(ww_round_for(1.2345, 0.01) == 1.2345);
	assert_true(ww_round_for(7, NAN) == 7);
	assert_true(isnan(ww_round_for(NAN, 1)));
}

static void test_time(void **state)
{
	static const struct {
		int64_t s, ns;
		int32_t offset;
		const char *text;
	} row[] = {{0, 0, 0, "1970-01-01T00:00:00.000+00:00"},
		   {0, -1, 0, "1969-12-31T23:59:59.999+00:00"},
		   {951782400, 0, 0, "2000-02-29T00:00:00.000+00:00"},
		   {4107542399, 999999999, 0, "2100-02-28T23:59:59.999+00:00"},
		   {4107542400, 0, 0, "2100-03-01T00:00:00.000+00:00"},
		   {1796044611, 250000000, 3600, "2026-11-30T14:16:51.250+01:00"},
		   {1796044611, 0, -12600, "2026-11-30T09:46:51.000-03:30"},
		   {1796044611, 0, 20700, "2026-11-30T19:01:51.000+05:45"},
		   {1798761599, 0, 3600, "2027-01-01T00:59:59.000+01:00"}};

	(void)state;
	/* Whatever zone this machine is in. */
	setenv("TZ", "America/New_York", 1);
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_str s = {0};

		ww_str_time(&s, row[i].s * WW_NS_PER_S + row[i].ns, row[i].offset);
		check(&s, row[i].text);
	}
}

static void test_json_text(void **state)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} row[] = {{"", 0, "\"\""},
		   {"a\"b\\c", 5, "\"a\\\"b\\\\c\""},
		   {"\n\t\x01\x7f", 4, "\"\\n\\u0009\\u0001\\u007f\""},
		   {"a\0b", 3, "\"a\\u0000b\""},
		   {"\xc2\xb5\xe2\x82\xac\xf0\x9f\x94\x8b", 9,
		    "\"\xc2\xb5\xe2\x82\xac\xf0\x9f\x94\x8b\""},
		   /* Cut off, overlong, a surrogate, above U+10FFFF, a stray continuation. */
		   {"\xe2\x82", 2, "\"\\ufffd\\ufffd\""},
		   {"\xc0\x80", 2, "\"\\ufffd\\ufffd\""},
		   {"\xed\xa0\x80", 3, "\"\\ufffd\\ufffd\\ufffd\""},
		   {"\xf4\x90\x80\x80", 4, "\"\\ufffd\\ufffd\\ufffd\\ufffd\""},
		   {"x\x80y", 3, "\"x\\ufffdy\""},
		   {"\xf0\x9f\x94", 3, "\"\\ufffd\\ufffd\\ufffd\""}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_str s = {0};

		ww_str_json(&s, row[i].in, row[i].n);
		check(&s, row[i].out);
	}
}

static void test_json(void **state)
{
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	(void)state;
	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "a", "x");
	ww_json_text(&j, "none", NULL);
	ww_json_open(&j, "list", '[');
	ww_json_open(&j, NULL, '[');
	ww_json_close(&j, ']');
	ww_json_num(&j, NULL, 0.5);
	ww_json_num(&j, NULL, NAN);
	ww_json_fixed(&j, NULL, INFINITY, 2);
	ww_json_fixed(&j, NULL, 1, 2);
	ww_json_close(&j, ']');
	ww_json_int(&j, "i", INT64_MIN);
	ww_json_bool(&j, "b", true);
	ww_json_null(&j, "z");
	ww_json_close(&j, '}');
	check(&s, "{\"a\":\"x\",\"none\":null,\"list\":[[],0.5,null,null,1.00],"
		  "\"i\":-9223372036854775808,\"b\":true,\"z\":null}");
}

/* Deeper than anything of ours: refused, not written past the end. */
static void test_json_depth(void **state)
{
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	(void)state;
	for (int i = 0; i < 100; i++)
		ww_json_open(&j, NULL, '[');
	assert_true(s.bad);
	for (int i = 0; i < 200; i++)
		ww_json_close(&j, ']');
	ww_str_free(&s);
}

static void test_csv(void **state)
{
	static const char *const row[][2] = {{"", ""},
					     {"plain text", "plain text"},
					     {"a,b", "\"a,b\""},
					     {"say \"hi\"", "\"say \"\"hi\"\"\""},
					     {"two\nlines", "\"two\nlines\""},
					     {"cr\r", "\"cr\r\""},
					     {"\"", "\"\"\"\""}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_str s = {0};

		ww_str_csv(&s, row[i][0]);
		check(&s, row[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growing), cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_strtod),
		cmocka_unit_test(test_locales), cmocka_unit_test(test_digits),
		cmocka_unit_test(test_time),	cmocka_unit_test(test_json_text),
		cmocka_unit_test(test_json),	cmocka_unit_test(test_json_depth),
		cmocka_unit_test(test_csv)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
