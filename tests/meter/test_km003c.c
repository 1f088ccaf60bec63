/* SPDX-License-Identifier: MIT */
/* POWER-Z KM003C, polled: worked frames, then the model with each of its faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "usbmeterbench.h"

static struct meterbench b;
static const struct emu_setup phone = {.volts = 5.123456, .amps = 1.000321, .pf = 1, .seed = 7};

static void open_fault(const char *uri, int64_t every, const char *fault)
{
	struct emu_setup s = phone;

	s.fault = fault;
	mb_open(&b, "km003c", uri, every, &s);
}

/* A real answer, on each bus, in one piece or in bytes. */
static void golden(void **unused)
{
	static const enum ww_bus buses[] = {WW_BUS_USB, WW_BUS_HID, WW_BUS_STREAM};
	const struct ww_meter_ops *m = ww_meter_find("km003c");
	struct golden g = golden_find("km003c.rsp.adc.real");

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(buses); i++) {
		uint8_t p[64] = {0};
		struct meterlog l;

		assert_int_equal(ml_open(&l, m, "km003c:?all=1", 0, NULL), 0);
		l.bus = buses[i];
		ml_start(&l);
		/* Ten requests, until its number is that of the capture. */
		for (int k = 0; k < 9; k++) {
			while (l.sent <= (size_t)k)
				ml_until(&l, l.now_ns + 2 * MS);
			ml_feed(&l, "\x41\x00\x00\x00", 4);
		}
		while (l.sent < 10)
			ml_until(&l, l.now_ns + 2 * MS);
		HAS(&l, "send \\x0c\\x0a\\x02\\x00");
		assert_int_equal(l.given, 0);
		memcpy(p, g.p, g.n);
		for (size_t k = 0; buses[i] == WW_BUS_STREAM && k < g.n; k++)
			ml_feed(&l, p + k, 1);
		if (buses[i] != WW_BUS_STREAM)
			ml_feed(&l, p, buses[i] == WW_BUS_HID ? 64 : g.n);
		/* -0.024 uW; 26.98 degrees are 3454 of 128. */
		assert_string_equal(ml_readings(&l),
				    "reading 0 3932 -6 369 322 32379 1236 3454 32387 4000 -14\n");
		ml_close(&l);
	}
}

static void exact_values(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, NULL);
	mb_for(&b, 10 * SEC);
	assert_true(b.rows >= 990 && b.rows <= 1001);
	assert_int_equal(b.log.losses + b.log.fails + b.log.events, 0);
	assert_true(near(mb_value(&b, 500, "voltage"), 5.123456, 1e-9));
	assert_true(near(mb_value(&b, 500, "current"), 1.000321, 1e-9));
	assert_true(near(mb_value(&b, 500, "power"), 5.123456 * 1.000321, 1e-6));
	assert_true(near(mb_value(&b, 500, "temperature"), 26.98, 0.01));
	assert_true(near(mb_value(&b, 500, "cc1"), 3.2379, 1e-9));
	times_rise(&b);
	stops(&b);
	mb_close(&b);
}

/* The sign of the current is that of the power. */
static void backwards(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	s.amps = -0.5;
	mb_open(&b, "km003c", NULL, 0, &s);
	mb_for(&b, SEC);
	assert_true(near(mb_value(&b, 50, "power"), -2.561728, 1e-6));
	mb_close(&b);
}

static void pace(void **unused)
{
	(void)unused;
	open_fault(NULL, 200 * MS, NULL);
	mb_for(&b, 10 * SEC);
	assert_true(b.rows >= 49 && b.rows <= 51);
	mb_close(&b);
}

static void wrong_ones(void **unused)
{
	static const char *const own[] = {"km003c.rsp", NULL};
	static const char *const faults[] = {"mute", "garbage", "other", "badsize"};
	static const char *const says[] = {"(nothing at all came)", "none of them an answer",
					   " 55 aa 20 75", " 41 "};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 30 * SEC);
		must(b.log.fails == 1, faults[i], &b.log);
		assert_int_equal(b.log.given, 0);
		HAS(&b.log, "fail -110 no answer of a POWER-Z in 6 s (");
		must(strstr(ml_text(&b.log), says[i]) != NULL, says[i], &b.log);
		mb_close(&b);
	}
	takes_no_others("km003c", own);
}

static void falls_silent(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "silent");
	mb_for(&b, 20 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)lost_items(&b.log, "silent"), 1600, 210));
	assert_true(b.log.losses >= 4);
	assert_true(b.log.sent < 340);
	mb_close(&b);
}

/* Numbers that do not fit, answers cut short, empty packets, old ones: what is good is given. */
static void disturbed(void **unused)
{
	static const struct {
		const char *fault;
		size_t least;
	} row[] = {{"wrongid", 250}, {"truncated", 200}, {"zlp", 490}, {"stale", 490}, {"slow", 5}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		open_fault(NULL, 0, row[i].fault);
		mb_for(&b, 5 * SEC);
		must(b.rows >= row[i].least, row[i].fault, &b.log);
		assert_int_equal(b.log.fails, 0);
		for (size_t k = 0; k < b.rows; k++)
			assert_true(near(mb_value(&b, k, "voltage"), 5.123456, 1e-9));
		if (i != 4)
			assert_true(
				near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 498, 60));
		times_rise(&b);
		mb_close(&b);
	}
}

static void growing_load(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	s.amps = -99;
	s.amps_per_s = 0.1;
	mb_open(&b, "km003c", NULL, 0, &s);
	mb_for(&b, 5 * SEC);
	for (size_t i = 0; i < b.rows; i++) {
		double newest = emu_amps(&s, b.row[i].t.hi_ns);
		double oldest = emu_amps(&s, b.row[i].t.lo_ns - 20 * MS);

		assert_true(mb_value(&b, i, "current") <= newest + 1e-6);
		assert_true(mb_value(&b, i, "current") >= oldest - 1e-6);
		/* Asked and answered: known to a fraction of a millisecond. */
		assert_true(b.row[i].t.hi_ns - b.row[i].t.lo_ns < MS);
	}
	mb_close(&b);
}

static void options(void **unused)
{
	const struct ww_meter_ops *m = ww_meter_find("km003c");
	struct ww_error err = {0};
	struct meterlog l;

	(void)unused;
	assert_true(ml_open(&l, m, "km003c:?stream=100", 0, &err) < 0);
	assert_true(strstr(err.text, "stream=100: ") != NULL);
	free(l.state);
	/* A serial port does not stream: it says so, and polls where that was no order. */
	assert_int_equal(ml_open(&l, m, "km003c:/dev/ttyACM0", 5 * MS, NULL), 0);
	l.bus = WW_BUS_STREAM;
	ml_start(&l);
	ml_until(&l, 100 * MS);
	HAS(&l, "send \\x0c\\x01\\x02\\x00\n");
	assert_int_equal(l.fails, 0);
	ml_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),     cmocka_unit_test(exact_values),
		cmocka_unit_test(backwards),  cmocka_unit_test(pace),
		cmocka_unit_test(wrong_ones), cmocka_unit_test(falls_silent),
		cmocka_unit_test(disturbed),  cmocka_unit_test(growing_load),
		cmocka_unit_test(options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
