/* SPDX-License-Identifier: MIT */
/* WT310 by USB and on a serial line: the dialogue, each update once, each fault of the model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "scpibench.h"

static void usb(const char *fault, int64_t every_ns)
{
	with("wt310", "wt310:usbtmc0", "wt310", fault, every_ns);
}

static void dialogue(void **unused)
{
	(void)unused;
	usb(NULL, 0);
	mb_for(&b, 2 * SEC);
	assert_int_equal(strncmp(ml_text(&b.log), "send *IDN?\\x0a\n", 14), 0);
	HAS(&b, "identity WT310|C2PH13047V|F1.03\n");
	HAS(&b, "send :COMM:HEAD OFF\\x0a\n");
	HAS(&b, "send :NUM:NORM:ITEM1 P,1\\x0a\n");
	HAS(&b, "send :RATE 100MS\\x0a\n");
	HAS(&b, "send :COMM:WAIT 1;:STAT:EESR?;:NUM:NORM:VAL?\\x0a\n");
	HAS(&b, "event device ranges: 300.0E+00 V, AUTO A (where it changes them by itself");
	assert_int_equal(b.log.fails + b.log.losses, 0);
	mb_close(&b);
}

/* Each update once, none lost, and its time right after it. */
static void each_update(void **unused)
{
	static const int64_t every[] = {0, 250 * MS, 300 * MS, SEC, 4 * SEC};
	static const int64_t want[] = {100 * MS, 250 * MS, 500 * MS, SEC, 5 * SEC};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(every); i++) {
		struct ww_meter_shape shape;
		struct emu_setup s = lamp;
		size_t n;

		mb_open(&b, "wt310", "wt310:usbtmc0", every[i], &s);
		s.amps_per_s = 0.01;
		put_model("wt310", &s);
		mb_for(&b, 2 * SEC + 20 * want[i]);
		n = b.rows;
		assert_in_range(n, 19, 20 + (size_t)(2 * SEC / want[i]));
		shape = ww_meter_shape(b.log.m, b.log.state);
		assert_int_equal(shape.period_ns, want[i]);
		assert_int_equal(shape.window_ns, want[i]);
		for (size_t k = 2; k < n; k++) {
			double mid = (mb_value(&b, k, "current") - 0.5) / 0.01;
			double end = mid + (double)want[i] / 2e9,
			       t = (double)b.row[k].t.hi_ns / 1e9;

			assert_true(llabs(b.row[k].t.hi_ns - b.row[k - 1].t.hi_ns - want[i]) < MS);
			/* Five digits of 10 A in 0.01 A/s are 5 ms. */
			assert_true(end > t - (double)shape.delay_max_ns / 1e9 - 0.06);
			assert_true(end < t + 0.06);
		}
		assert_int_equal(b.log.losses, 0);
		mb_close(&b);
	}
}

static void values(void **unused)
{
	struct ww_channel_info c;

	(void)unused;
	usb(NULL, 0);
	mb_for(&b, 3 * SEC);
	assert_true(b.rows > 20);
	for (size_t k = 1; k < b.rows; k++) {
		right(k);
		assert_true(fabs(mb_value(&b, k, "apparent_power") - 115.2) < 1e-5);
		assert_true(fabs(mb_value(&b, k, "reactive_power") - 99.766) < 1e-5);
		assert_true(fabs(mb_value(&b, k, "power_factor") - 0.5) < 1e-9);
		assert_true(fabs(mb_value(&b, k, "frequency") - 50) < 1e-9);
		assert_true(fabs(mb_value(&b, k, "voltage_peak") - 325.83) < 0.01);
		assert_true(fabs(mb_value(&b, k, "current_peak") - 0.70711) < 1e-5);
		/* Five digits: 57.600 W. */
		ww_meter_channel(b.log.m, b.log.state, 0, &c);
		assert_true(fabs(c.resolution - 0.001) < 1e-12);
		/* Its integrator does not run. */
		assert_true(isnan(mb_value(&b, k, "energy")));
	}
	mb_close(&b);
}

static void integrator_and_ranges(void **unused)
{
	struct ww_meter_out out;

	(void)unused;
	with("wt310", "wt310:usbtmc0?integrate=1&range_v=300&range_a=0.5&element=1", "wt310", NULL,
	     SEC);
	mb_for(&b, 20 * SEC);
	HAS(&b, "send :INP:VOLT:RANG 300000MV\\x0a\n");
	HAS(&b, "send :INP:CURR:RANG 500MA\\x0a\n");
	HAS(&b, "event device ranges: 300000MV V, 500MA A\n");
	assert_true(fabs(mb_value(&b, b.rows - 1, "energy") - mb_value(&b, b.rows - 11, "energy") -
			 57.6 / 360) < 2e-4);
	HAS_NO(&b, "counter-reset");
	out = mb_out(&b);
	ml_clear(&b.log);
	b.log.m->stop(b.log.state, &out);
	assert_string_equal(ml_text(&b.log), "send :INTEG:STOP\\x0a\nsend :COMM:REM OFF\\x0a\n");
	mb_close(&b);
}

/* On a serial line an update each 250 ms is the fastest; lines end with CR LF. */
static void serial(void **unused)
{
	static const char *const faults[] = {NULL, "stale", "echo"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		with("wt310", "wt310:/dev/ttyUSB0", "wt310-serial", faults[i], 0);
		mb_for(&b, 15 * SEC);
		assert_true(b.rows > 30);
		for (size_t k = 1; k < b.rows; k++)
			right(k);
		HAS(&b, "send :RATE 250MS\\x0d\\x0a\n");
		HAS(&b, "identity WT310|C2PH13047V|F1.03\n");
		assert_int_equal(b.log.losses + b.log.fails, 0);
		mb_close(&b);
	}
}

static void costs_nothing(void **unused)
{
	static const struct {
		const char *fault, *says;
	} rows[] = {
		{"headers", "identity WT310"},
		{"nohead", "the meter refuses a setting: 113,\"Undefined header\""},
		{"refused", "the meter refuses a setting: 813,\"Invalid operation\""},
		{"norate", "asked for an update each 100 ms, the meter keeps 250"},
		{"nowait", "identity WT310"},
		{"stale", "identity WT310"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		usb(rows[i].fault, 0);
		mb_for(&b, 12 * SEC);
		HAS(&b, rows[i].says);
		assert_true(b.rows >= 38);
		for (size_t k = 1; k < b.rows; k++) {
			right(k);
			/* No update comes twice. */
			assert_true(b.row[k].t.hi_ns - b.row[k - 1].t.hi_ns > 70 * MS);
		}
		assert_int_equal(b.log.losses + b.log.fails, 0);
		mb_close(&b);
	}
}

static void no_values(void **unused)
{
	static const char *const faults[] = {"nan", "over", "inf", "ranging"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		usb(faults[i], 0);
		mb_for(&b, 13 * SEC);
		assert_true(b.rows > 100);
		if (i < 3)
			assert_int_equal(missing("power"), b.rows);
		else
			assert_in_range(missing("power"), 25, 35);
		if (i == 2)
			assert_int_equal(b.row[5].code[0], WW_OVER);
		HAS(&b, "no power in the meter's values");
		assert_int_equal(b.log.fails, 0);
		mb_close(&b);
	}
}

/* Answers that miss a value are left out, and counted. */
static void cut(void **unused)
{
	(void)unused;
	usb("cut", 0);
	mb_for(&b, 10 * SEC);
	assert_true(b.rows > 60 && b.rows < 80);
	for (size_t k = 1; k < b.rows; k++)
		right(k);
	HAS(&b, "an answer of 9 values, where 10 were asked for, left out");
	HAS(&b, " 1 damaged\n");
	mb_close(&b);
}

static void falls_silent(void **unused)
{
	static const char *const faults[] = {"silent", "hold"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		usb(faults[i], 0);
		mb_for(&b, 60 * SEC);
		assert_in_range(b.rows, 25, 32);
		HAS(&b, " silent\n");
		assert_int_equal(b.log.fails, 0);
		mb_close(&b);
	}
	usb("hold+nowait", 0);
	mb_for(&b, 60 * SEC);
	assert_in_range(b.rows, 25, 32);
	HAS(&b, " held\n");
	mb_close(&b);
}

/* Slow answers: what is said of the delay follows. */
static void slow(void **unused)
{
	(void)unused;
	usb("slow", 0);
	mb_for(&b, 90 * SEC);
	assert_true(b.rows > 10);
	assert_true(ww_meter_shape(b.log.m, b.log.state).delay_max_ns > 1500 * MS);
	assert_true(b.log.losses > 5);
	assert_int_equal(b.log.fails, 0);
	mb_close(&b);
}

static void useless(void **unused)
{
	static const struct {
		const char *fault, *says;
	} rows[] = {
		{"mute", "no answer to *IDN? that can be understood: nothing came"},
		{"other",
		 "this is a KEYSIGHT TECHNOLOGIES 34461A, and no instrument of Yokogawa's"},
		{"garbage", "that can be understood: what came begins with \"????"},
		{"endless", "that can be understood: what came begins with \"9999"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		usb(rows[i].fault, 0);
		mb_for(&b, 60 * SEC);
		assert_int_equal(b.rows, 0);
		assert_int_equal(b.log.fails, 1);
		HAS(&b, rows[i].says);
		mb_close(&b);
		with("wt310", "wt310:/dev/x", "wt310-serial", rows[i].fault, 0);
		mb_for(&b, 200 * SEC);
		assert_int_equal(b.rows, 0);
		assert_int_equal(b.log.fails, 1);
		mb_close(&b);
	}
	/* A meter of another make on the same cable. */
	with("wt310", "wt310:/dev/x", "gpm8310", NULL, 0);
	mb_for(&b, 60 * SEC);
	HAS(&b, "this is a GWInstek GPM-8310, and no instrument of Yokogawa's WT300 series");
	mb_close(&b);
}

static void others(void **unused)
{
	struct golden g;

	(void)unused;
	for (size_t i = 0; golden_at(i, &g); i++) {
		static const char *const uris[] = {"wt310:usbtmc0", "wt310:/dev/x"};

		for (size_t k = 0; k < WW_COUNTOF(uris); k++) {
			struct ww_error err = {0};
			struct meterlog l;

			assert_int_equal(ml_open(&l, ww_meter_find("wt310"), uris[k], 0, &err), 0);
			ml_start(&l);
			ml_until(&l, MS);
			ml_feed(&l, g.p, g.n);
			ml_until(&l, 60 * SEC);
			assert_int_equal(l.given, 0);
			assert_int_equal(l.fails, 1);
			ml_close(&l);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dialogue),	cmocka_unit_test(each_update),
		cmocka_unit_test(values),	cmocka_unit_test(integrator_and_ranges),
		cmocka_unit_test(serial),	cmocka_unit_test(costs_nothing),
		cmocka_unit_test(no_values),	cmocka_unit_test(cut),
		cmocka_unit_test(falls_silent), cmocka_unit_test(slow),
		cmocka_unit_test(useless),	cmocka_unit_test(others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
