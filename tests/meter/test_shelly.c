/* SPDX-License-Identifier: MIT */
/* Shelly of all generations: the driver against a model of their web servers, and by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "meterbench.h"

#define SEC WW_NS_PER_S

static struct meterbench b;
static const struct emu_setup load = {
	.volts = 227.9, .amps = 0.121, .pf = 0.9, .hz = 50, .wh = 7258.5};

static void open_with(const char *fault, const char *uri)
{
	struct emu_setup s = load;

	s.fault = fault;
	mb_open(&b, "shelly", uri, 0, &s);
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

/* Channel by name in the first reading; NAN: not given. */
static void same(const char *channel, double want)
{
	double got = mb_value(&b, 0, channel);

	if (isnan(want) ? !isnan(got) : !(fabs(got - want) < 1e-9))
		fail_msg("%s: %.9g instead of %.9g in\n%s", channel, got, want, ml_text(&b.log));
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

static void test_kinds(void **state)
{
	static const struct {
		const char *fault, *uri, *asks, *identity;
		double power, voltage, current, energy;
	} row[] = {
		{NULL, "shelly:http://p", "send GET /rpc/Switch.GetStatus?id=0\n",
		 "identity SNPL-00112EU|AABBCCDDEEFF|1.1.0", 24.8, 227.9, 0.121, 7258.5},
		{"pm1", "shelly:http://p", "send GET /rpc/PM1.GetStatus?id=0\n",
		 "identity S3PM-001PCEU16|", 24.8, 227.9, 0.121, 7258.5},
		{"em1", "shelly:http://p?id=0", "send GET /rpc/Shelly.GetStatus\n",
		 "identity SPEM-002CEBEU50|", 24.8, 227.9, 0.121, 7258.5},
		{"em3", "shelly:http://p", "send GET /rpc/Shelly.GetStatus\n",
		 "identity SPEM-003CEBEU|", 31.023, (double)NAN, 0.121, 7258.5},
		{"em3", "shelly:http://p?phase=b", "send GET /rpc/Shelly.GetStatus\n",
		 "identity SPEM-003CEBEU|", 6.2, 227.9, 0.1, 1451.7},
		{"gen1", "shelly:http://p", "send GET /status\n",
		 "identity SHPLG-S|AABBCCDDEEFF|20230913-113421/v1.14.0-gcb84623", 24.82,
		 (double)NAN, (double)NAN, 7258.5},
		{"em", "shelly:http://p?channel=0", "send GET /status\n", "identity SHEM|", 24.82,
		 227.9, (double)NAN, 7258.5},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		open_with(row[i].fault, row[i].uri);
		mb_for(&b, 10 * SEC);
		print_message("# %s %s\n", row[i].fault ? row[i].fault : "plus plug s", row[i].uri);
		expect("send GET /shelly\n");
		expect(row[i].asks);
		expect(row[i].identity);
		same("power", row[i].power);
		same("voltage", row[i].voltage);
		same("current", row[i].current);
		same("energy", row[i].energy);
		/* Its counter grows at every second: more than one reading each two seconds. */
		assert_in_range(b.rows, 4, 10);
		expect_not("loss");
		expect_not("fail");
		mb_close(&b);
	}
}

static void test_digits(void **state)
{
	(void)state;
	open_with(NULL, "shelly:http://p?all=1");
	mb_for(&b, 5 * SEC);
	assert_true(fabs(resolution_of("power") - 0.1) < 1e-12);
	assert_true(fabs(resolution_of("energy") - 0.001) < 1e-12 ||
		    fabs(resolution_of("energy") - 0.1) < 1e-12);
	mb_close(&b);
	open_with("gen1", NULL);
	mb_for(&b, 5 * SEC);
	/* It counts watt-minutes. */
	assert_true(fabs(resolution_of("energy") - 1 / 60.0) < 1e-12);
	mb_close(&b);
	open_with("em", "shelly:http://p?channel=0&all=1");
	mb_for(&b, 5 * SEC);
	same("reactive_power", 0);
	mb_close(&b);
}

static void test_choice(void **state)
{
	(void)state;
	open_with("em", NULL);
	mb_for(&b, 5 * SEC);
	expect("it measures 2 things (emeters): add ?id= with one of 0, 1");
	mb_close(&b);
	open_with(NULL, "shelly:http://p?id=3");
	mb_for(&b, 5 * SEC);
	expect("it measures 1 thing (switch), but not that one: leave ?id= out, or write ?id=0");
	mb_close(&b);
	open_with("em", "shelly:http://p?channel=1");
	mb_for(&b, 5 * SEC);
	same("power", 0);
	mb_close(&b);
}

/* A relay without a meter: the answer says so, whatever else it does not have. */
static void test_no_meter(void **state)
{
	static const char plain[] = "200\n{\"switch:0\":{\"id\":0,\"output\":true}}";
	struct meterlog l;

	(void)state;
	assert_int_equal(ml_open(&l, ww_meter_find("shelly"), "shelly:http://p", 0, NULL), 0);
	ml_start(&l);
	ml_until(&l, l.now_ns);
	ml_say(&l, "200\n{\"gen\":2,\"model\":\"SNSW-001X16EU\",\"mac\":\"A\",\"ver\":\"1\"}");
	for (int i = 0; i < 8 && !l.fails; i++) {
		ml_say(&l, strstr(ml_text(&l), "/status") ? "404\nNot Found" : plain);
		ml_until(&l, l.now_ns + SEC);
	}
	assert_null(strstr(ml_text(&l), "/status"));
	assert_non_null(strstr(ml_text(&l), "none of its parts measures power"));
	ml_close(&l);
}

static void test_never(void **state)
{
	static const struct {
		const char *fault, *says;
	} row[] = {
		{"silent", "no answer that is one: nothing came back"},
		{"401", "it wants a login"},
		{"500", "HTTP 500"},
		{"html", "no JSON of a Shelly"},
		{"truncated", "no JSON"},
		{"empty", "no JSON"},
		{"huge", "no JSON"},
		{"deep", "no JSON"},
		{"missing", "none of its parts measures power"},
		{"gen1+missing", "none of its parts measures power"},
		{"gen1+invalid", "its meter has no valid value"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		open_with(row[i].fault, NULL);
		mb_for(&b, 25 * SEC);
		print_message("# %s\n", row[i].fault);
		assert_int_equal(b.log.fails, 1);
		assert_int_equal(b.rows, 0);
		expect(row[i].says);
		assert_true(b.log.m->deadline(b.log.state) == WW_TIME_MAX);
		mb_close(&b);
	}
}

static void test_later(void **state)
{
	struct emu_setup s = load;
	size_t rows;

	(void)state;
	/* 0.9 W at 4 mA: no ampere is shown, which is not 0 A. */
	s.fault = "insensitive";
	s.amps = 0.004;
	mb_open(&b, "shelly", NULL, 0, &s);
	mb_for(&b, 5 * SEC);
	same("power", 0.8);
	same("current", (double)NAN);
	mb_close(&b);
	open_with("nocurrent", NULL);
	mb_for(&b, 5 * SEC);
	same("power", 24.8);
	same("current", (double)NAN);
	mb_close(&b);
	open_with("integers", NULL);
	mb_for(&b, 5 * SEC);
	same("power", 25);
	mb_close(&b);
	open_with("gen1+reset", NULL);
	mb_for(&b, 15 * SEC);
	expect("event counter-reset energy register fell from 435");
	mb_close(&b);
	s.fault = "spike";
	s.amps = 0.015;
	mb_open(&b, "shelly", NULL, 0, &s);
	mb_for(&b, 12 * SEC);
	expect("implausible: 9134.0 W are more than its 3.4 VA");
	assert_int_equal(b.log.events, 1);
	mb_close(&b);
	open_with(NULL, NULL);
	mb_for(&b, 5 * SEC);
	((struct emu_setup *)b.meter)->fault = "html";
	mb_for(&b, SEC); /* what was on its way */
	rows = b.rows;
	mb_for(&b, 10 * SEC);
	assert_int_equal(b.rows, rows);
	expect(" damaged\n");
	expect("event device an answer left out: it is no JSON of a Shelly");
	((struct emu_setup *)b.meter)->fault = "silent";
	mb_for(&b, 30 * SEC);
	expect(" silent\n");
	((struct emu_setup *)b.meter)->fault = NULL;
	mb_for(&b, 15 * SEC);
	assert_true(b.rows > rows);
	assert_int_equal(b.log.fails, 0);
	mb_close(&b);
}

/* Captured from real units. */
static void test_real(void **state)
{
	struct meterlog l;

	(void)state;
	assert_int_equal(ml_open(&l, ww_meter_find("shelly"), "shelly:http://p", 0, NULL), 0);
	l.now_ns = 1000 * SEC;
	ml_start(&l);
	ml_until(&l, l.now_ns);
	ml_say(&l, "200\n{\"auth\":false,\"fw\":\"20230913-113421/v1.14.0-gcb84623\","
		   "\"mac\":\"AABBCCDDEEFF\",\"num_meters\":1,\"type\":\"SHPLG-S\"}");
	ml_say(&l, "200\n{\"meters\":[{\"counters\":[0.0,0.0,0.0],\"is_valid\":true,"
		   "\"overpower\":0.0,\"power\":0.0,\"timestamp\":1707335841,\"total\":2632}]}");
	/* 2632 watt-minutes are 43.867 Wh. */
	assert_string_equal(ml_readings(&l), "reading 0 _ _ 2632000\n");
	ml_close(&l);
	assert_int_equal(ml_open(&l, ww_meter_find("shelly"), "shelly:http://p", 0, NULL), 0);
	l.now_ns = 1000 * SEC;
	ml_start(&l);
	ml_until(&l, l.now_ns);
	/* Without /shelly it is found by trying. */
	ml_say(&l, "404\nNot Found");
	ml_until(&l, l.now_ns + SEC);
	ml_say(&l, "200\n{\"switch:0\":{\"id\":0,\"output\":true,\"apower\":2.7,\"voltage\":227.9,"
		   "\"current\":0.121,\"aenergy\":{\"total\":7258.589,\"by_minute\":[34.786,45.552,"
		   "45.552],\"minute_ts\":1707326925},\"temperature\":{\"tC\":32.1,\"tF\":89.7}}}");
	assert_string_equal(ml_readings(&l), "reading 2700 227900 121 435515340\n");
	ml_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_digits),
		cmocka_unit_test(test_choice),	 cmocka_unit_test(test_never),
		cmocka_unit_test(test_no_meter), cmocka_unit_test(test_later),
		cmocka_unit_test(test_real),
	};

#ifndef WW_WITH_JANSSON
	puts("1..0 # SKIP built without jansson");
	return 0;
#endif
	return cmocka_run_group_tests(tests, NULL, NULL);
}
