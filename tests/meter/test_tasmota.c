/* SPDX-License-Identifier: MIT */
/* Plugs with Tasmota: the driver against a model of their web server, and by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "meterbench.h"

#define SEC WW_NS_PER_S

static struct meterbench b;
static const struct emu_setup load = {
	.volts = 230.4, .amps = 0.25, .pf = 0.9, .hz = 50, .wh = 3185};

static struct emu_setup with(const char *fault)
{
	struct emu_setup s = load;

	s.fault = fault;
	return s;
}

static void open_with(const char *fault, const char *uri)
{
	struct emu_setup s = with(fault);

	mb_open(&b, "tasmota", uri, 0, &s);
}

static void expect(const char *what)
{
	if (!strstr(ml_text(&b.log), what))
		fail_msg("no \"%s\" in\n%s", what, ml_text(&b.log));
}

static void expect_not(const char *what)
{
	if (strstr(ml_text(&b.log), what))
		fail_msg("\"%s\" in\n%s", what, ml_text(&b.log));
}

static void test_values(void **state)
{
	(void)state;
	open_with(NULL, NULL);
	mb_for(&b, 10 * SEC);
	expect("send GET /cm?cmnd=Status%208\n");
	expect("identity Tasmota||13.4.0(tasmota)");
	/* A steady load, whole watts: the same digits sooner than the plug renews them are one. */
	assert_in_range(b.rows, 4, 6);
	assert_true(mb_value(&b, 0, "power") == 52);
	assert_true(mb_value(&b, 0, "voltage") == 230);
	assert_true(mb_value(&b, 0, "current") == 0.25);
	assert_true(mb_value(&b, 0, "energy") == 3185);
	assert_true(mb_value(&b, 0, "power_factor") == 0.9);
	for (size_t i = 0; i < b.rows; i++)
		assert_true(b.row[i].t.lo_ns <= b.row[i].t.hi_ns);
	expect_not("loss");
	expect_not("event");
	mb_close(&b);
}

static double resolution_of(const char *channel)
{
	struct ww_channel_info ch;

	for (size_t i = 0; i < b.log.channels; i++) {
		ww_meter_channel(b.log.m, b.log.state, i, &ch);
		if (strcmp(ch.name, channel) == 0)
			return ch.resolution;
	}
	return (double)NAN;
}

static void test_digits(void **state)
{
	struct emu_setup s = with("fine");

	(void)state;
	open_with(NULL, NULL);
	mb_for(&b, 5 * SEC);
	assert_true(resolution_of("power") == 1);
	assert_true(resolution_of("energy") == 1);
	mb_close(&b);
	s.amps_per_s = 0.001;
	s.amps -= 1.0; /* the bench's clock stands at 1000 s */
	mb_open(&b, "tasmota", "tasmota:http://p?all=1", 0, &s);
	mb_for(&b, 10 * SEC);
	assert_true(fabs(resolution_of("power") - 0.001) < 1e-12);
	/* A load that grows is read each second. */
	assert_in_range(b.rows, 9, 11);
	for (size_t i = 1; i < b.rows; i++)
		assert_true(mb_value(&b, i, "power") > mb_value(&b, i - 1, "power"));
	assert_true(mb_value(&b, 3, "frequency") == 50);
	expect_not("loss");
	mb_close(&b);
}

static void test_channels(void **state)
{
	(void)state;
	open_with("arrays", NULL);
	mb_for(&b, 5 * SEC);
	expect("this unit has 2 channels: add ?channel=1 to ?channel=2");
	mb_close(&b);
	open_with("arrays", "tasmota:http://p?channel=2");
	mb_for(&b, 5 * SEC);
	assert_true(mb_value(&b, 0, "power") == 13);
	assert_true(mb_value(&b, 0, "voltage") == 230);
	assert_true(fabs(mb_value(&b, 0, "current") - 0.063) < 0.0011);
	/* The register counts both. */
	assert_true(isnan(mb_value(&b, 0, "energy")));
	mb_close(&b);
	open_with("arrays", "tasmota:http://p?channel=3");
	mb_for(&b, 5 * SEC);
	expect("?channel=3: this unit has 2");
	mb_close(&b);
	open_with(NULL, "tasmota:http://p?channel=2");
	mb_for(&b, 5 * SEC);
	expect("?channel=2: this unit has 1");
	mb_close(&b);
}

static void test_login(void **state)
{
	(void)state;
	open_with("password", NULL);
	mb_for(&b, 5 * SEC);
	expect("fail");
	expect("user=");
	mb_close(&b);
	open_with("password", "tasmota:http://p?user=admin&password=secret");
	mb_for(&b, 5 * SEC);
	assert_true(mb_value(&b, 0, "power") == 52);
	mb_close(&b);
	open_with("password", "tasmota:http://p?password=a%26b c%2525");
	mb_for(&b, SEC);
	expect("&user=admin&password=a%26b%20c%2525\n");
	mb_close(&b);
}

/* What is wrong from the first answer on ends with a sentence, in 20 s and without a reading. */
static void test_never(void **state)
{
	static const struct {
		const char *fault, *says;
	} row[] = {
		{"silent", "no answer that is one: nothing came back"},
		{"401", "wants a login"},
		{"500", "HTTP 500"},
		{"html", "no JSON of a Tasmota"},
		{"truncated", "no JSON"},
		{"empty", "no JSON"},
		{"huge", "no JSON"},
		{"deep", "no JSON"},
		{"nan", "there is no power in it"},
		{"strings", "no JSON"},
		{"missing", "measures no power"},
		{"nopower", "measures no power"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		open_with(row[i].fault, NULL);
		mb_for(&b, 20 * SEC);
		print_message("# %s\n", row[i].fault);
		assert_int_equal(b.log.fails, 1);
		assert_int_equal(b.rows, 0);
		expect(row[i].says);
		assert_true(b.log.m->deadline(b.log.state) == WW_TIME_MAX);
		mb_close(&b);
	}
}

/* Faults that come later: told as what they are, and it goes on. */
static void test_later(void **state)
{
	struct emu_setup s = with("low+spike");
	size_t rows;

	(void)state;
	open_with("repeats", NULL);
	mb_for(&b, 20 * SEC);
	assert_in_range(b.rows, 9, 11);
	expect_not("loss");
	mb_close(&b);
	open_with("slow", NULL);
	mb_for(&b, 21 * SEC);
	assert_in_range(b.rows, 3, 6);
	mb_close(&b);
	open_with("reset", NULL);
	mb_for(&b, 15 * SEC);
	expect("event counter-reset energy register fell from 318500 to 0 x 0.01 Wh");
	mb_close(&b);
	open_with("old", NULL);
	mb_for(&b, 5 * SEC);
	assert_true(b.rows > 1 && mb_value(&b, 1, "power") == 52);
	mb_close(&b);
	s.amps = 0.01;
	mb_open(&b, "tasmota", NULL, 0, &s);
	mb_for(&b, 5 * SEC);
	assert_true(mb_value(&b, 0, "power") == 0);
	mb_close(&b);
	/* Silence, and back. */
	open_with(NULL, NULL);
	mb_for(&b, 5 * SEC);
	rows = b.rows;
	((struct emu_setup *)b.meter)->fault = "silent";
	mb_for(&b, 40 * SEC);
	assert_int_equal(b.rows, rows);
	expect("silent\n");
	((struct emu_setup *)b.meter)->fault = NULL;
	mb_for(&b, 15 * SEC);
	assert_true(b.rows > rows);
	assert_int_equal(b.log.fails, 0);
	mb_close(&b);
}

/* By hand: what the port itself says, and a server that is another one. */
static void test_port(void **state)
{
	static const char sns[] =
		"200\n{\"StatusSNS\":{\"Time\":\"2018.02.04 23:17:01\",\"ENERGY\":"
		"{\"Total\":3.185,\"Yesterday\":3.058,\"Today\":0.127,\"Power\":"
		"%s,\"Factor\":0.00,\"Voltage\":221,\"Current\":0.000}}}";
	struct meterlog l;
	char text[400];

	(void)state;
	assert_int_equal(ml_open(&l, ww_meter_find("tasmota"), "tasmota:http://p", 0, NULL), 0);
	l.now_ns = 1000 * SEC;
	ml_start(&l);
	ml_until(&l, l.now_ns);
	snprintf(text, sizeof(text), sns, "0");
	ml_say(&l, text);
	assert_string_equal(ml_readings(&l), "reading 0 221000 0 318500 0\n");
	ml_clear(&l);
	/* Firmware and network: no names, no harm. */
	ml_until(&l, l.now_ns + SEC);
	ml_say(&l, "0\nwhy");
	ml_say(&l, "404\n");
	ml_until(&l, l.now_ns + SEC);
	snprintf(text, sizeof(text), sns, "0.8");
	ml_say(&l, text);
	/* Watts beside 0 A: it has no current that small. */
	assert_string_equal(ml_readings(&l), "reading 800 221000 _ 318500 0\n");
	ml_clear(&l);
	for (int i = 0; i < 5; i++) {
		ml_until(&l, l.now_ns + 2 * SEC);
		ml_say(&l, "0\nCould not resolve host: p");
	}
	assert_int_equal(l.fails, 0);
	assert_non_null(strstr(ml_text(&l), " silent\n"));
	ml_close(&l);
	assert_int_equal(ml_open(&l, ww_meter_find("tasmota"), "tasmota:http://p", 0, NULL), 0);
	ml_start(&l);
	for (int i = 0; i < 12; i++) {
		ml_until(&l, l.now_ns + SEC);
		ml_say(&l, "0\nCould not resolve host: p");
	}
	assert_int_equal(l.fails, 1);
	assert_non_null(
		strstr(ml_text(&l), "no answer that is one: Could not resolve host: p. Is it"));
	ml_close(&l);
	assert_int_equal(ml_open(&l, ww_meter_find("tasmota"), "tasmota:http://p", 0, NULL), 0);
	ml_start(&l);
	ml_until(&l, l.now_ns);
	ml_say(&l, "200\n{\"id\":0,\"apower\":2.7}");
	ml_say(&l, "200\n{\"id\":0,\"apower\":2.7}");
	assert_non_null(strstr(ml_text(&l), "no Tasmota"));
	ml_close(&l);
}

/* What firmwares and people put into a document does not take its values away. */
static void test_oddities(void **state)
{
	static const char *const odd[] = {"\"n\":123456789012345678901234567890",
					  "\"n\":-99999999999999999999",
					  "\"n\":1e999",
					  "\"n\":nan",
					  "\"n\":-NaN",
					  "\"n\":[inf,null,1e-400]",
					  ("\"n\":\"K\xfc"
					   "che\""),
					  "\"n\":\"a\\u0000b\"",
					  "\"n\":\"\\ud83d\"",
					  "\"n\":\"a\tb\\\"\\\\\"",
					  "\"n\":{\"Power\":7}",
					  "\"Power\":-3"};
	struct meterlog l;
	char text[300];

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(odd); i++) {
		assert_int_equal(ml_open(&l, ww_meter_find("tasmota"), "tasmota:http://p", 0, NULL),
				 0);
		ml_start(&l);
		ml_until(&l, l.now_ns);
		snprintf(text, sizeof(text),
			 "200\n%s{%s,\"StatusSNS\":{\"ENERGY\":{%s,\"Total\":3.185,\"Power\":12,"
			 "\"Voltage\":2.21e+2,\"Current\":0.054}}}\r\n",
			 i & 1 ? "\xef\xbb\xbf" : "", odd[i], odd[i]);
		ml_say(&l, text);
		print_message("# %s\n", odd[i]);
		assert_string_equal(ml_readings(&l), "reading 12000 221000 54 318500 _\n");
		ml_close(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	 cmocka_unit_test(test_digits),
		cmocka_unit_test(test_channels), cmocka_unit_test(test_login),
		cmocka_unit_test(test_never),	 cmocka_unit_test(test_later),
		cmocka_unit_test(test_port),	 cmocka_unit_test(test_oddities),
	};

#ifndef WW_WITH_JANSSON
	puts("1..0 # SKIP built without jansson");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
