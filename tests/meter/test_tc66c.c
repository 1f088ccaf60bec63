/* SPDX-License-Identifier: MIT */
/* RuiDeng TC66C: worked frames, then the model with each of its faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "usbmeterbench.h"

#include "meter/cipher.h"
#include "meter/modbus.h"
#include "base/bytes.h"

#if WW_CIPHER
static struct meterbench b;
static const struct emu_setup phone = {
	.volts = 5.123, .amps = 1.0003, .pf = 1, .wh = 5.678, .seed = 7, .serial = "4711"};

static void open_fault(const char *uri, int64_t every, const char *fault)
{
	struct emu_setup s = phone;

	s.fault = fault;
	mb_open(&b, "tc66c", uri, every, &s);
}

static void golden(void **unused)
{
	const struct ww_meter_ops *m = ww_meter_find("tc66c");
	struct golden g = golden_find("tc66.wire"), clear = golden_find("tc66.clear");
	struct meterlog l;

	(void)unused;
	assert_int_equal(g.n, 192);
	/* However it is cut into reads, and after garbage of any length. */
	for (size_t junk = 0; junk < 200; junk += 7) {
		assert_int_equal(ml_open(&l, m, m->desc.example, 0, NULL), 0);
		ml_start(&l);
		ml_until(&l, 200 * MS);
		for (size_t i = 0; i < junk; i++)
			ml_feed(&l, clear.p + i, 1);
		for (size_t i = 0; i < g.n; i += junk + 1)
			ml_feed(&l, g.p + i, g.n - i < junk + 1 ? g.n - i : junk + 1);
		HAS(&l, "identity TC66|12345|1.14\n");
		assert_int_equal(l.given, 1);
		assert_string_equal(ml_readings(&l),
				    "reading 51245 51234 100021 5678 1234 28 60 61\n");
		ml_close(&l);
	}
	/* One bit of any byte: no reading. */
	for (size_t i = 0; i < g.n; i++) {
		assert_int_equal(ml_open(&l, m, m->desc.example, 0, NULL), 0);
		ml_start(&l);
		ml_until(&l, 200 * MS);
		g.p[i] ^= 0x20;
		ml_feed(&l, g.p, g.n);
		g.p[i] ^= 0x20;
		assert_int_equal(l.given, 0);
		ml_close(&l);
	}
}

static void exact_values(void **unused)
{
	(void)unused;
	open_fault("tc66c:/dev/x?all=1", 0, NULL);
	mb_for(&b, 20 * SEC);
	HAS(&b.log, "send query\n");
	HAS(&b.log, "identity TC66|4711|1.14\n");
	assert_true(b.rows >= 95 && b.rows <= 101);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	assert_true(near(mb_value(&b, 50, "voltage"), 5.1230, 1e-9));
	assert_true(near(mb_value(&b, 50, "current"), 1.00030, 1e-9));
	assert_true(near(mb_value(&b, 50, "power"), 5.1245, 1e-9));
	assert_true(near(mb_value(&b, 50, "energy"), 5.678 + 5.1245 * 10 / 3600, 0.0015));
	assert_true(near(mb_value(&b, 50, "temperature"), 28, 1e-9));
	assert_true(near(mb_value(&b, 50, "d_plus"), 0.60, 1e-9));
	assert_true(near(mb_value(&b, 50, "energy_1"), 0.022, 1e-9));
	assert_true(near(mb_value(&b, 50, "charge_1"), 11, 1e-9));
	times_rise(&b);
	stops(&b);
	mb_close(&b);
}

/* Below zero, by a sign of its own. */
static void cold(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "cold");
	mb_for(&b, 2 * SEC);
	assert_true(near(mb_value(&b, 3, "temperature"), -5, 1e-9));
	mb_close(&b);
}

static void growing_load(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	s.amps = -9;
	s.amps_per_s = 0.01; /* 1 A when the bench begins */
	mb_open(&b, "tc66c", NULL, 100 * MS, &s);
	mb_for(&b, 10 * SEC);
	/* Five a second, however often it is asked. */
	assert_true(b.rows >= 45 && b.rows <= 60);
	HAS(&b.log, "repeats left out");
	assert_int_equal(b.log.events, 1);
	for (size_t i = 0; i < b.rows; i++) {
		double newest = emu_amps(&s, b.row[i].t.hi_ns);
		double oldest = emu_amps(&s, b.row[i].t.lo_ns - 250 * MS);

		assert_true(mb_value(&b, i, "current") <= newest + 1e-5);
		assert_true(mb_value(&b, i, "current") >= oldest - 1e-5);
	}
	mb_close(&b);
}

static void wrong_ones(void **unused)
{
	static const char *const own[] = {"tc66.wire", NULL};

	(void)unused;
	open_fault(NULL, 0, "other");
	mb_for(&b, 20 * SEC);
	HAS(&b.log, "fail -19 it answers as a TC66 does, but says that it is another meter\n");
	assert_int_equal(b.log.given, 0);
	mb_close(&b);
	open_fault(NULL, 0, "boot");
	mb_for(&b, 20 * SEC);
	HAS(&b.log, "fail -19 the meter is in its boot loader and measures nothing");
	assert_int_equal(b.log.given, 0);
	mb_close(&b);
	takes_no_others("tc66c", own);
}

static void never_works(void **unused)
{
	static const char *const faults[] = {"silent", "garbage", "check", "key"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 60 * SEC);
		assert_int_equal(b.log.fails, 1);
		assert_int_equal(b.log.given, 0);
		assert_true(b.log.sent < 60);
		must(strstr(ml_text(&b.log), "?ble=1") != NULL, faults[i], &b.log);
		mb_close(&b);
	}
}

static void falls_silent(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "dies");
	mb_for(&b, 30 * SEC);
	assert_true(b.rows >= 22 && b.rows <= 27);
	assert_int_equal(b.log.fails, 0);
	assert_true(lost_items(&b.log, "silent") >= 110 && lost_items(&b.log, "silent") <= 126);
	mb_close(&b);

	open_fault(NULL, 0, "pause");
	mb_for(&b, 30 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)lost_items(&b.log, NULL), 36, 5));
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 149, 3));
	times_rise(&b);
	mb_close(&b);
}

/* A lost byte spoils all that follows it: thrown away up to the silence, then again. */
static void damaged(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "lost");
	mb_for(&b, 30 * SEC);
	/* It is asked again at once: hardly a value is missed, and none unsaid. */
	assert_true(b.rows > 100);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, "damaged")), 130, 20));
	for (size_t i = 0; i < b.rows; i++) {
		assert_true(near(mb_value(&b, i, "power"), 5.1245, 1e-9));
		assert_true(!i || b.row[i].t.hi_ns - b.row[i - 1].t.hi_ns < 400 * MS);
	}
	times_rise(&b);
	mb_close(&b);
}

static void disturbed(void **unused)
{
	static const char *const faults[] = {"junk", "pieces", "babble", "slow"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 20 * SEC);
		assert_int_equal(b.log.fails, 0);
		for (size_t k = 0; k < b.rows; k++)
			assert_true(near(mb_value(&b, k, "voltage"), 5.123, 1e-9));
		must(b.rows >= 5, faults[i], &b.log);
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

/* Over a Bluetooth bridge, orders are longer and end with a line. */
static void bridge(void **unused)
{
	(void)unused;
	open_fault("tc66c:unix:/x?ble=1", 0, "pieces");
	mb_for(&b, 5 * SEC);
	HAS(&b.log, "send bquery\\x0d\\x0a\n");
	HAS(&b.log, "send bgetva\\x0d\\x0a\n");
	assert_true(b.rows > 20);
	mb_close(&b);
}

/* An answer with these values, as the meter enciphers it. */
static void encipher(const uint8_t *clear, double volts, double amps, uint8_t *wire)
{
	static const uint8_t key[32] = {0x58, 0x21, 0xfa, 0x56, 0x01, 0xb2, 0xf0, 0x26,
					0x87, 0xff, 0x12, 0x04, 0x62, 0x2a, 0x4f, 0xb0,
					0x86, 0xf4, 0x02, 0x60, 0x81, 0x6f, 0x9a, 0x0b,
					0xa7, 0xf1, 0x06, 0x61, 0x9a, 0xb8, 0x72, 0x88};
	uint8_t p[192];

	memcpy(p, clear, sizeof(p));
	ww_put_le(p + 48, (uint64_t)llround(volts * 1e4), 4);
	ww_put_le(p + 52, (uint64_t)llround(amps * 1e5), 4);
	ww_put_le(p + 56, (uint64_t)llround(volts * amps * 1e4), 4);
	ww_put_le(p + 60, ww_mb_crc(p, 60), 4);
	ww_aes_encrypt(key, sizeof(key), wire, p, sizeof(p));
}

/* A telephone that charges fast, 70 minutes, at the pace of the real meter. */
static void real_pace(void **unused)
{
	const char *folder = getenv("WW_RECORDINGS");
	struct golden clear = golden_find("tc66.clear");
	char path[512], line[128];
	double at, volts, amps;
	size_t lines = 0, short_ones = 0;
	int64_t before = 0;
	struct meterlog l;
	FILE *f;

	(void)unused;
	snprintf(path, sizeof(path), "%s/tc66_fastphone.csv", folder ? folder : "");
	f = folder ? fopen(path, "r") : NULL;
	if (!f)
		skip();
	assert_int_equal(ml_open(&l, ww_meter_find("tc66c"), "tc66c:/dev/x", 0, NULL), 0);
	l.now_ns = 1000 * SEC;
	ml_start(&l);
	for (; lines < 5000 && fgets(line, sizeof(line), f) &&
	       sscanf(line, "%lf;%lf;%lf", &at, &volts, &amps) == 3;
	     lines++) {
		uint8_t wire[192];
		int64_t t = 1000 * SEC + (int64_t)(at * 1e9);

		encipher(clear.p, volts, amps, wire);
		ml_until(&l, t);
		ml_feed(&l, wire, sizeof(wire));
		short_ones += lines && t - before < 150 * MS;
		before = t;
	}
	fclose(f);
	/* Each is a reading, but for repeats of less than 150 ms. */
	assert_int_equal(lines, 5000);
	assert_true(l.given <= lines && l.given + short_ones >= lines);
	assert_true(l.losses < 20);
	assert_int_equal(l.fails, 0);
	ml_close(&l);
}

/*
 * Answers that take longer than a period: that is its pace, and nothing is lost. One that
 * never comes costs its own time, once it is known how quick the others are.
 */
static void slow_and_lost(void **unused)
{
	struct ww_meter_shape shape;
	long long from, to, ms = 0;
	const char *p;

	(void)unused;
	open_fault(NULL, 0, "sluggish");
	mb_for(&b, 20 * SEC);
	shape = ww_meter_shape(b.log.m, b.log.state);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	assert_true(b.rows > 45 && b.rows < 62);
	assert_true(shape.period_ns >= 350 * MS && shape.period_ns <= 450 * MS);
	assert_true(shape.delay_max_ns >= 500 * MS);
	mb_close(&b);
	open_fault(NULL, 0, "drop");
	mb_for(&b, 20 * SEC);
	for (p = ml_text(&b.log); (p = strstr(p, "loss ")); p += 5)
		ms += sscanf(p, "loss %lld..%lld ms", &from, &to) == 2 ? to - from : 0;
	assert_true(b.rows > 60);
	assert_true(near((double)ms / 200, (double)lost_items(&b.log, NULL), 3));
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 99, 3));
	mb_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),	 cmocka_unit_test(exact_values),
		cmocka_unit_test(cold),		 cmocka_unit_test(growing_load),
		cmocka_unit_test(wrong_ones),	 cmocka_unit_test(never_works),
		cmocka_unit_test(falls_silent),	 cmocka_unit_test(damaged),
		cmocka_unit_test(disturbed),	 cmocka_unit_test(stands_still),
		cmocka_unit_test(bridge),	 cmocka_unit_test(real_pace),
		cmocka_unit_test(slow_and_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
/* The driver says that it was left out, and for want of what. */
static void left_out(void **unused)
{
	const struct ww_meter_desc *d = &ww_meter_find("tc66c")->desc;

	(void)unused;
	assert_true(d->left_out);
	assert_string_equal(d->needs, "nettle");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(left_out)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
