/* SPDX-License-Identifier: MIT */
/* GPM-8310: its transcript, repeats, and each fault of the model. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "scpibench.h"

#define URI "gpm8310:tcp://192.0.2.5:23"

static void gpm(const char *fault, int64_t every_ns)
{
	with("gpm8310", URI, "gpm8310", fault, every_ns);
}

/* What a GPM-8213 was heard to say: headers where they are on, engineering notation, NAN. */
static void transcript(void **unused)
{
	static const char *const replies[] = {
		"GWInstek,GPM-8213,GES913349,V1.05\r\n",
		"8\r\n",
		":NUM:NORM:NUMB 8\r\n",
		":NUMERIC:NORMAL:NUMBER 8\r\n",
		"8\r\n",
		"8\r\n",
		"8\r\n",
		"8\r\n",
		"8\r\n",
		"Urms,Irms,P,S,fU,PF,Q\r\n",
		"127.58E+00,240.02E-03,17.688E+00,30.622E+00,59.993E+00,0.5776E+00,NAN\r\n"};
	struct ww_error err = {0};
	struct meterlog l;

	(void)unused;
	assert_int_equal(ml_open(&l, ww_meter_find("gpm8310"), URI, 0, &err), 0);
	ml_start(&l);
	for (size_t i = 0; i < WW_COUNTOF(replies); i++) {
		ml_until(&l, l.now_ns + 20 * MS);
		ml_say(&l, replies[i]);
	}
	assert_non_null(strstr(ml_text(&l), "identity GPM-8213|GES913349|V1.05\n"));
	assert_string_equal(ml_readings(&l),
			    "reading 17688000 1275800 2400200 30622000 _ 5776 59993\n");
	ml_close(&l);
}

static void values(void **unused)
{
	struct ww_channel_info c;

	(void)unused;
	gpm(NULL, 0);
	mb_for(&b, 20 * SEC);
	assert_in_range(b.rows, 17, 21);
	for (size_t k = 1; k < b.rows; k++) {
		right(k);
		assert_true(fabs(mb_value(&b, k, "apparent_power") - 115.2) < 1e-5);
		assert_true(fabs(mb_value(&b, k, "reactive_power") - 99.766) < 1e-3);
		assert_true(fabs(mb_value(&b, k, "power_factor") - 0.5) < 1e-9);
		assert_true(fabs(mb_value(&b, k, "frequency") - 50) < 1e-9);
	}
	HAS(&b, "identity GPM-8310|GES913349|V1.05\n");
	ww_meter_channel(b.log.m, b.log.state, 1, &c);
	assert_true(fabs(c.resolution - 0.01) < 1e-12);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	mb_close(&b);
}

/* Asked twice a second, each update comes once, within what is said of its age. */
static void repeats(void **unused)
{
	struct emu_setup s = lamp;
	struct ww_meter_shape shape;

	(void)unused;
	mb_open(&b, "gpm8310", URI, 0, &s);
	s.amps_per_s = 0.01;
	put_model("gpm8310", &s);
	mb_for(&b, 30 * SEC);
	assert_in_range(b.rows, 27, 31);
	shape = ww_meter_shape(b.log.m, b.log.state);
	assert_int_equal(shape.window_ns, SEC);
	for (size_t k = 2; k < b.rows; k++) {
		double end = (mb_value(&b, k, "current") - 0.5) / 0.01 + 0.5;
		double t = (double)b.row[k].t.hi_ns / 1e9;

		assert_true(mb_value(&b, k, "current") > mb_value(&b, k - 1, "current"));
		assert_true(end < t + 0.06);
		assert_true(end > t - 0.06 - (double)shape.delay_max_ns / 1e9);
	}
	assert_int_equal(b.log.losses, 0);
	mb_close(&b);
}

static void costs_nothing(void **unused)
{
	static const char *const faults[] = {"headers", "stale",   "echo",
					     "nohead",	"refused", "nowait"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		gpm(faults[i], 0);
		mb_for(&b, 20 * SEC);
		assert_true(b.rows >= 16);
		for (size_t k = 1; k < b.rows; k++)
			right(k);
		assert_int_equal(b.log.losses + b.log.fails, 0);
		mb_close(&b);
	}
}

static void no_values(void **unused)
{
	static const char *const faults[] = {"nan", "over", "inf", "ranging"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		gpm(faults[i], 0);
		mb_for(&b, 20 * SEC);
		assert_true(b.rows >= 16);
		if (i < 3)
			assert_int_equal(missing("power"), b.rows);
		else
			assert_in_range(missing("power"), 3, 7);
		HAS(&b, "no power in the meter's values");
		mb_close(&b);
	}
}

static void damage(void **unused)
{
	(void)unused;
	gpm("cut", 0);
	mb_for(&b, 40 * SEC);
	for (size_t k = 1; k < b.rows; k++)
		right(k);
	HAS(&b, "an answer of 6 values, where 7 were asked for, left out");
	mb_close(&b);
	gpm("silent", 0);
	mb_for(&b, 60 * SEC);
	assert_true(b.rows >= 2 && b.rows <= 4);
	HAS(&b, " silent\n");
	assert_int_equal(b.log.fails, 0);
	mb_close(&b);
	/* One answer of sixteen is lost: it costs no more than two of a second each. */
	gpm("drop", 0);
	mb_for(&b, 60 * SEC);
	assert_true(b.rows >= 52);
	assert_int_equal(b.log.fails, 0);
	mb_close(&b);
	gpm("hold", 0);
	mb_for(&b, 60 * SEC);
	/* Values that are held cannot be told from steady ones: they are not told as wrong. */
	assert_int_equal(b.log.fails + b.log.losses, 0);
	mb_close(&b);
	gpm("slow", 0);
	mb_for(&b, 60 * SEC);
	assert_true(b.rows > 10);
	assert_true(ww_meter_shape(b.log.m, b.log.state).delay_max_ns > 2500 * MS);
	mb_close(&b);
}

static void useless(void **unused)
{
	static const struct {
		const char *fault, *says;
	} rows[] = {
		{"mute", "no answer to *IDN? that can be understood: nothing came"},
		{"other", "this is a KEYSIGHT TECHNOLOGIES 34461A, and no GPM-8213 or GPM-8310"},
		{"garbage", "that can be understood: what came begins with \"????"},
		{"endless", "that can be understood: what came begins with \"9999"},
	};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		gpm(rows[i].fault, 0);
		mb_for(&b, 200 * SEC);
		assert_int_equal(b.rows, 0);
		assert_int_equal(b.log.fails, 1);
		HAS(&b, rows[i].says);
		mb_close(&b);
	}
	with("gpm8310", URI, "wt310-serial", NULL, 0);
	mb_for(&b, 60 * SEC);
	HAS(&b, "this is a YOKOGAWA WT310, and no GPM-8213 or GPM-8310");
	mb_close(&b);
}

static void others_and_options(void **unused)
{
	struct ww_error err = {0};
	struct meterlog l;
	struct golden g;

	(void)unused;
	for (size_t i = 0; golden_at(i, &g); i++) {
		assert_int_equal(ml_open(&l, ww_meter_find("gpm8310"), URI, 0, &err), 0);
		ml_start(&l);
		ml_until(&l, MS);
		ml_feed(&l, g.p, g.n);
		ml_until(&l, 60 * SEC);
		assert_int_equal(l.given, 0);
		assert_int_equal(l.fails, 1);
		ml_close(&l);
	}
	assert_int_equal(ml_open(&l, ww_meter_find("gpm8310"), URI "?update=100ms", 0, &err), 0);
	assert_int_equal(l.period_ns, 100 * MS);
	ml_close(&l);
	assert_true(ml_open(&l, ww_meter_find("gpm8310"), URI "?update=1ms", 0, &err) < 0);
	ml_close(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(transcript), cmocka_unit_test(values),
		cmocka_unit_test(repeats),    cmocka_unit_test(costs_nothing),
		cmocka_unit_test(no_values),  cmocka_unit_test(damage),
		cmocka_unit_test(useless),    cmocka_unit_test(others_and_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
