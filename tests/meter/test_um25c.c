/* SPDX-License-Identifier: MIT */
/* RuiDeng UM24C, UM25C, UM34C: worked frames, then the model with each of its faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "usbmeterbench.h"

static struct meterbench b;
static const struct emu_setup phone = {
	.volts = 5.123, .amps = 1.0003, .pf = 1, .wh = 5.678, .seed = 7};

static void open_fault(const char *uri, int64_t every, const char *fault)
{
	struct emu_setup s = phone;

	s.fault = fault;
	mb_open(&b, "um25c", uri, every, &s);
}

static void golden(void **unused)
{
	static const struct {
		const char *driver, *frame, *reading;
		double volts, amps;
	} row[] = {{"um24c", "um24c.rsp", "reading 5120 512 1000 0 0 28 60 61\n", 5.12, 1.0},
		   {"um25c", "um25c.rsp", "reading 5125 5123 10003 0 0 28 60 61\n", 5.123, 1.0003},
		   {"um34c", "um34c.rsp", "reading 5120 512 1000 0 0 28 60 61\n", 5.12, 1.0}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		const struct ww_meter_ops *m = ww_meter_find(row[i].driver);
		struct golden g = golden_find(row[i].frame);
		struct ww_channel_info c;
		struct meterlog l;

		assert_int_equal(ml_open(&l, m, m->desc.example, 0, NULL), 0);
		ml_start(&l);
		ml_until(&l, 200 * MS);
		for (size_t k = 0; k < g.n; k++)
			ml_feed(&l, g.p + k, 1);
		assert_string_equal(ml_readings(&l), row[i].reading);
		ww_meter_channel(m, l.state, 1, &c);
		assert_string_equal(c.name, "voltage");
		assert_true(near(c.scale * (i == 1 ? 5123 : 512), row[i].volts, 1e-9));
		ww_meter_channel(m, l.state, 2, &c);
		assert_true(near(c.scale * (i == 1 ? 10003 : 1000), row[i].amps, 1e-9));
		assert_true(isnan(c.acc_abs) && isnan(c.acc_rel));
		ml_close(&l);
	}
}

static void exact_values(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, NULL);
	mb_for(&b, 20 * SEC);
	HAS(&b.log, "identity UM25C||\n");
	assert_true(b.rows >= 38 && b.rows <= 41);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	assert_true(near(mb_value(&b, 10, "voltage"), 5.123, 1e-9));
	assert_true(near(mb_value(&b, 10, "current"), 1.0003, 1e-9));
	assert_true(near(mb_value(&b, 10, "power"), 5.125, 1e-9));
	assert_true(near(mb_value(&b, 10, "energy"), 5.678 + 5.125 * 5 / 3600, 0.0015));
	assert_true(near(mb_value(&b, 10, "temperature"), 28, 1e-9));
	assert_true(near(mb_value(&b, 10, "d_plus"), 0.60, 1e-9));
	assert_true(near(mb_value(&b, 10, "d_minus"), 0.61, 1e-9));
	times_rise(&b);
	stops(&b);
	mb_close(&b);
}

/* Asked ten times a second it still renews only twice: told once, and left out. */
static void repeats(void **unused)
{
	(void)unused;
	open_fault(NULL, 100 * MS, NULL);
	mb_for(&b, 20 * SEC);
	assert_true(b.rows >= 36 && b.rows <= 44);
	assert_int_equal(b.log.losses, 0);
	assert_int_equal(b.log.events, 1);
	HAS(&b.log, "repeats left out");
	assert_true(b.log.sent > 180);
	times_rise(&b);
	mb_close(&b);
}

static void growing_load(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	s.amps = -9;
	s.amps_per_s = 0.01; /* 1 A when the bench begins */
	mb_open(&b, "um25c", NULL, 100 * MS, &s);
	mb_for(&b, 10 * SEC);
	for (size_t i = 0; i < b.rows; i++) {
		/* What was measured lies within window and delay before the stamp. */
		double newest = emu_amps(&s, b.row[i].t.hi_ns);
		double oldest = emu_amps(&s, b.row[i].t.lo_ns - 500 * MS);

		assert_true(mb_value(&b, i, "current") <= newest + 1e-4);
		assert_true(mb_value(&b, i, "current") >= oldest - 1e-4);
	}
	mb_close(&b);
}

static void all_models(void **unused)
{
	static const struct {
		const char *uri, *fault, *id;
		double volts, resolution;
	} row[] = {{"um25c:/dev/x?model=auto", "um24c", "identity UM24C||", 5.12, 0.01},
		   {"um25c:/dev/x?model=auto", "um34c", "identity UM34C||", 5.12, 0.01},
		   {"um25c:/dev/x?model=auto", "", "identity UM25C||", 5.123, 0.01},
		   {"um25c:/dev/x?model=um34c", "um34c", "identity UM34C||", 5.12, 0.01}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_channel_info c;

		open_fault(row[i].uri, 0, row[i].fault);
		mb_for(&b, 5 * SEC);
		must(strstr(ml_text(&b.log), row[i].id) != NULL, row[i].id, &b.log);
		assert_true(b.rows > 5);
		assert_true(near(mb_value(&b, 3, "voltage"), row[i].volts, 1e-9));
		ww_meter_channel(b.log.m, b.log.state, 1, &c);
		assert_true(near(c.resolution, row[i].resolution, 1e-12));
		mb_close(&b);
	}
}

static void wrong_ones(void **unused)
{
	static const char *const own[] = {"um2", "um3", NULL};

	(void)unused;
	open_fault(NULL, 0, "um34c");
	mb_for(&b, 3 * SEC);
	HAS(&b.log, "fail -19 this is a UM34C: use um34c: instead of um25c:, or ?model=auto\n");
	assert_int_equal(b.log.given, 0);
	mb_close(&b);
	open_fault(NULL, 0, "other");
	mb_for(&b, 20 * SEC);
	HAS(&b.log, "fail -110 no answer of a UM24C, UM25C or UM34C in 6 s (");
	HAS(&b.log, "none of them an answer of this meter: 0b 1d");
	assert_int_equal(b.log.given, 0);
	mb_close(&b);
	takes_no_others("um25c", own);
}

/* Says nothing, nonsense, or never ends: one sentence, and no more. */
static void never_works(void **unused)
{
	static const char *const faults[] = {"silent", "garbage", "check"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 60 * SEC);
		assert_int_equal(b.log.fails, 1);
		assert_int_equal(b.log.given, 0);
		assert_true(b.log.sent < 30);
		must(strstr(ml_text(&b.log), "rfcomm bind") != NULL, faults[i], &b.log);
		mb_close(&b);
	}
}

static void falls_silent(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "dies");
	mb_for(&b, 30 * SEC);
	assert_true(b.rows >= 8 && b.rows <= 12);
	assert_int_equal(b.log.fails, 0);
	/* 24.5 s of silence, 0.5 s each; told while it lasts. */
	assert_true(lost_items(&b.log, "silent") >= 44 && lost_items(&b.log, "silent") <= 50);
	assert_true(b.log.losses > 3);
	mb_close(&b);

	open_fault(NULL, 0, "pause");
	mb_for(&b, 30 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)lost_items(&b.log, NULL), 14, 2));
	/* Readings and losses together are the whole time. */
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 60, 2));
	times_rise(&b);
	mb_close(&b);
}

static void damaged(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "lost");
	mb_for(&b, 30 * SEC);
	assert_true(b.rows > 30);
	assert_int_equal(b.log.fails, 0);
	for (size_t i = 0; i < b.rows; i++)
		assert_true(near(mb_value(&b, i, "power"), 5.125, 1e-9));
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 59, 4));
	times_rise(&b);
	mb_close(&b);
}

/* Noise, pieces, an echo, an endless talker: the answer within is found. */
static void disturbed(void **unused)
{
	static const char *const faults[] = {"junk", "pieces", "echo", "babble", "slow"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 20 * SEC);
		assert_int_equal(b.log.fails, strcmp(faults[i], "babble") == 0 ? b.log.fails : 0);
		for (size_t k = 0; k < b.rows; k++)
			assert_true(near(mb_value(&b, k, "voltage"), 5.123, 1e-9));
		if (strcmp(faults[i], "babble") != 0)
			must(b.rows >= 9, faults[i], &b.log);
		times_rise(&b);
		mb_close(&b);
	}
}

static void stands_still(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "freeze");
	mb_for(&b, 30 * SEC);
	HAS(&b.log, "event device stale: the same answer for 10 s, though a current flows\n");
	must(b.log.events == 1, "events", &b.log);
	mb_close(&b);
}

/* The registers of ten groups: choosing another one is no jump, clearing one is told. */
static void registers(void **unused)
{
	struct golden g = golden_find("um25c.rsp");
	const struct ww_meter_ops *m = ww_meter_find("um25c");
	struct meterlog l;

	(void)unused;
	assert_int_equal(ml_open(&l, m, "um25c:/dev/x?all=1", 0, NULL), 0);
	assert_int_equal(l.channels, 13);
	ml_start(&l);
	ml_until(&l, 200 * MS);
	g.p[16 + 7] = 200; /* group 0: 200 mWh */
	ml_feed(&l, g.p, g.n);
	ml_until(&l, l.now_ns + 600 * MS);
	g.p[15] = 1;
	g.p[24 + 7] = 5; /* group 1 */
	ml_feed(&l, g.p, g.n);
	HAS(&l, "reading 5125 5123 10003 205 0 28 60 61 8 1 5678 1234 3661\n");
	HAS(&l, "event device group 1 of the meter's registers is chosen, was 0\n");
	HAS_NO(&l, "counter-reset");
	ml_until(&l, l.now_ns + 600 * MS);
	g.p[16 + 7] = 0;
	ml_feed(&l, g.p, g.n);
	HAS(&l, "event counter-reset energy registers fell from 205 to 5 mWh\n");
	/* Power that does not fit: the answer has no checksum, so it is left out. */
	ml_clear(&l);
	ml_until(&l, l.now_ns + 600 * MS);
	g.p[7] ^= 0x40;
	ml_feed(&l, g.p, g.n);
	HAS(&l, "damaged answer left out");
	assert_int_equal(l.given, 0);
	ml_close(&l);
}

static void options(void **unused)
{
	struct ww_error err = {0};
	struct meterlog l;

	(void)unused;
	assert_int_equal(ml_open(&l, ww_meter_find("um25c"), "um25c:/dev/x?model=um99", 0, &err),
			 -EINVAL);
	assert_string_equal(err.text, "model=um99: auto, um24c, um25c or um34c");
	free(l.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),	cmocka_unit_test(exact_values),
		cmocka_unit_test(repeats),	cmocka_unit_test(growing_load),
		cmocka_unit_test(all_models),	cmocka_unit_test(wrong_ones),
		cmocka_unit_test(never_works),	cmocka_unit_test(falls_silent),
		cmocka_unit_test(damaged),	cmocka_unit_test(disturbed),
		cmocka_unit_test(stands_still), cmocka_unit_test(registers),
		cmocka_unit_test(options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
