/* SPDX-License-Identifier: MIT */
/* URIs of sources, and durations. */
#include "base/uri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void test_parts(void **state)
{
	static const struct {
		const char *text, *driver, *place;
		size_t options;
	} row[] = {{"/dev/ttyUSB0", "", "/dev/ttyUSB0", 0},
		   {"ttyS1", "", "ttyS1", 0},
		   {"./dir:x/tty", "", "./dir:x/tty", 0},
		   {"tty:/dev/ttyUSB0?baud=115200", "tty", "/dev/ttyUSB0", 1},
		   {"ftdi:?serial=X", "ftdi", "", 1},
		   {"wattsup:ftdi:?serial=A7005IDU", "wattsup", "ftdi:", 1},
		   {"sdm230:tcp://host:502?addr=1", "sdm230", "tcp://host:502", 1},
		   {"sim:?watts=25&noise=0.2&rate=100", "sim", "", 3},
		   {"sim:", "sim", "", 0},
		   {"sim:?", "sim", "", 0},
		   {"sim:?&&a=1&", "sim", "", 1},
		   {"s0:gpiochip0/17?imp_per_kwh=1000", "s0", "gpiochip0/17", 1},
		   {"unix:/tmp/a%3Fb%20c", "unix", "/tmp/a?b c", 0},
		   {"x:100%", "x", "100%", 0},
		   {"x:%00%zz%4", "x", "%00%zz%4", 0},
		   {"wt310:usbtmc0", "wt310", "usbtmc0", 0}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_uri u;

		assert_int_equal(ww_uri_parse(row[i].text, &u, NULL), 0);
		assert_string_equal(u.driver, row[i].driver);
		assert_string_equal(u.place, row[i].place);
		assert_int_equal(u.options, row[i].options);
		ww_uri_free(&u);
		assert_string_equal(u.place, "");
	}
}

static void test_options(void **state)
{
	struct ww_error err = {0};
	struct ww_uri u;
	int64_t n = -1, ns = -1;
	double d = -1;

	(void)state;
	assert_int_equal(ww_uri_parse("m:p?a=010&b=0x10&c=2.5&d=1m30s&e&f=x%26y%3D&g=1&g=2", &u,
				      NULL),
			 0);
	assert_int_equal(ww_uri_int(&u, "a", 0, 100, &n, NULL), 1);
	assert_int_equal(n, 10); /* not octal */
	assert_int_equal(ww_uri_int(&u, "b", 0, 100, &n, NULL), 1);
	assert_int_equal(n, 16);
	assert_int_equal(ww_uri_num(&u, "c", 0, 5, &d, NULL), 1);
	assert_true(d == 2.5);
	assert_int_equal(ww_uri_dur(&u, "d", &ns, NULL), 1);
	assert_int_equal(ns, 90 * WW_NS_PER_S);
	assert_string_equal(ww_uri_get(&u, "f", ""), "x&y=");
	assert_string_equal(ww_uri_get(&u, "g", ""), "2");
	assert_int_equal(ww_uri_int(&u, "absent", 0, 1, &n, NULL), 0);
	assert_int_equal(n, 16);
	assert_null(ww_uri_get(&u, "absent", NULL));
	/* The first one that nobody asked for. */
	assert_int_equal(ww_uri_check_used(&u, "a, b", &err), -EINVAL);
	assert_string_equal(err.text, "m: unknown option e (known: a, b)");
	/* Those that were looked for, each once. */
	assert_null(ww_uri_get(&u, "serial", NULL));
	assert_null(ww_uri_get(&u, "ser", NULL));
	assert_null(ww_uri_get(&u, "serial", NULL));
	err = (struct ww_error){0};
	assert_int_equal(ww_uri_check_used(&u, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.text, "serial, ser)"));
	assert_string_equal(ww_uri_get(&u, "e", NULL), "");
	/* Two values where one is asked for: neither is taken silently. */
	err = (struct ww_error){0};
	assert_int_equal(ww_uri_check_used(&u, "a, b", &err), -EINVAL);
	assert_string_equal(err.text, "m: option g is given twice: g=1 and g=2");
	ww_uri_free(&u);
	assert_int_equal(ww_uri_parse("m:p?a=1&many=1&many=2", &u, NULL), 0);
	assert_int_equal(ww_uri_int(&u, "a", 0, 100, &n, NULL), 1);
	u.option[1].used = u.option[2].used = true; /* as a driver that takes several does */
	assert_int_equal(ww_uri_check_used(&u, "a, many", &err), 0);
	ww_uri_free(&u);
}

static void test_wrong_options(void **state)
{
	static const char *const ints[] = {"",	 "x",	"1x", "101",
					   "-1", "1.5", "0x", "99999999999999999999",
					   "1e1"};
	static const char *const nums[] = {"", "x", "1x", "101", "-1", "nan", "inf", "0x10", "1,5"};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(ints) + WW_COUNTOF(nums); i++) {
		bool whole = i < WW_COUNTOF(ints);
		char text[64] = "/dev/x?o=";
		struct ww_error err = {0};
		struct ww_uri u;
		int64_t n = 7;
		double d = 7;

		strncat(text, whole ? ints[i] : nums[i - WW_COUNTOF(ints)], 40);
		assert_int_equal(ww_uri_parse(text, &u, NULL), 0);
		assert_int_equal(whole ? ww_uri_int(&u, "o", 0, 100, &n, &err)
				       : ww_uri_num(&u, "o", 0, 100, &d, &err),
				 -EINVAL);
		/* It names what the user wrote, also where that has no driver. */
		assert_non_null(strstr(err.text, "/dev/x"));
		assert_non_null(strstr(err.text, "option o="));
		assert_true(n == 7 && d == 7);
		ww_uri_free(&u);
	}
}

static void test_wrong(void **state)
{
	char many[400] = "m:?";
	struct ww_error err = {0};
	struct ww_uri u;

	(void)state;
	assert_int_equal(ww_uri_parse("", &u, &err), -EINVAL);
	ww_uri_free(&u);
	for (int i = 0; i < WW_URI_OPTIONS; i++)
		strncat(many, "o=1&", 5);
	assert_int_equal(ww_uri_parse(many, &u, NULL), 0);
	ww_uri_free(&u);
	strncat(many, "o=1&", 5);
	ww_error_clear(&err);
	assert_int_equal(ww_uri_parse(many, &u, &err), -EINVAL);
	assert_non_null(strstr(err.text, "more than 24 options"));
	assert_null(u.text);
}

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} row[] = {{"500ms", 500000000},
		   {"2s", 2 * WW_NS_PER_S},
		   {"1m30s", 90 * WW_NS_PER_S},
		   {"8h", 28800 * WW_NS_PER_S},
		   {"5min", 300 * WW_NS_PER_S},
		   {"1d2h", 93600 * WW_NS_PER_S},
		   {"0.25", 250000000},
		   {"1.1s", 1100000000},
		   {"1e3us", 1000000},
		   {"7", 7 * WW_NS_PER_S},
		   {"0", 0},
		   {"3ns", 3},
		   {"100000d", INT64_C(8640000000) * WW_NS_PER_S}};
	static const char *const wrong[] = {"",	    "s",      "-1s",   "1x",	  "1s ",
					    "inf",  "nan",    "1ss",   "200000d", "0x10",
					    "1,5s", "1e400s", "1s-1s", "5 s"};
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		assert_int_equal(ww_duration_parse(row[i].text, &ns, NULL), 0);
		assert_int_equal(ns, row[i].ns);
	}
	for (size_t i = 0; i < WW_COUNTOF(wrong); i++) {
		struct ww_error err = {0};

		ns = 42;
		assert_int_equal(ww_duration_parse(wrong[i], &ns, &err), -EINVAL);
		assert_int_equal(ns, 42);
		assert_non_null(strstr(err.text, wrong[i]));
	}
}

static void test_hidden(void **state)
{
	static const struct {
		const char *text, *uri, *command;
	} row[] = {
		{"tasmota:http://plug?user=admin&password=se'cr et&channel=2",
		 "tasmota:http://plug?user=***&password=***&channel=2",
		 "tasmota:http://plug?user=***&password=***'cr et&channel=2"},
		{"pwrlog record 'x:http://p?password=a'\\''b c&token=t' -o f",
		 "pwrlog record 'x:http://p?password=***&token=***",
		 "pwrlog record 'x:http://p?password=***&token=***' -o f"},
		{"shelly:http://admin:pw@10.0.0.7/x?a=b@c", "shelly:http://***@10.0.0.7/x?a=b@c",
		 "shelly:http://***@10.0.0.7/x?a=b@c"},
		{"x:?Password=", "x:?Password=***", "x:?Password=***"},
		{"x:?passwords=1&users=2&mypassword=3", "x:?passwords=1&users=2&mypassword=3",
		 "x:?passwords=1&users=2&mypassword=3"},
		{"password=1", "password=1", "password=1"},
		{"", "", ""},
		{"http://", "http://", "http://"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		char *uri = ww_uri_hide(row[i].text, false);
		char *command = ww_uri_hide(row[i].text, true);

		assert_string_equal(uri, row[i].uri);
		assert_string_equal(command, row[i].command);
		free(uri);
		free(command);
	}
}

/* As lsusb prints them: 0403 is no decimal number. */
static void usb_ids(void **state)
{
	static const char *const bad[] = {"ftdi:?vid=", "ftdi:?vid=0x", "ftdi:?vid=04031",
					  "ftdi:?vid=ftdi", "ftdi:?vid=-1"};
	struct ww_error err;
	int64_t v = -1;
	struct ww_uri u;

	(void)state;
	assert_int_equal(ww_uri_parse("ftdi:?vid=0403&pid=0x6a1F", &u, NULL), 0);
	assert_int_equal(ww_uri_usb_id(&u, "vid", &v, NULL), 1);
	assert_int_equal(v, 0x0403);
	assert_int_equal(ww_uri_usb_id(&u, "pid", &v, NULL), 1);
	assert_int_equal(v, 0x6a1f);
	assert_int_equal(ww_uri_usb_id(&u, "other", &v, NULL), 0);
	ww_uri_free(&u);
	for (size_t i = 0; i < WW_COUNTOF(bad); i++) {
		ww_error_clear(&err);
		assert_int_equal(ww_uri_parse(bad[i], &u, NULL), 0);
		assert_int_equal(ww_uri_usb_id(&u, "vid", &v, &err), -EINVAL);
		assert_non_null(strstr(err.text, "lsusb"));
		ww_uri_free(&u);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(usb_ids),
					   cmocka_unit_test(test_parts),
					   cmocka_unit_test(test_options),
					   cmocka_unit_test(test_wrong_options),
					   cmocka_unit_test(test_wrong),
					   cmocka_unit_test(test_durations),
					   cmocka_unit_test(test_hidden)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
