/* SPDX-License-Identifier: MIT */
/* FNIRSI FNB48, FNB58: worked frames, then the model with each of its faults. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "usbmeterbench.h"

static struct meterbench b;
static const struct emu_setup phone = {.volts = 5.12345, .amps = 1.00021, .pf = 1, .seed = 7};

static void open_fault(const char *uri, int64_t every, const char *fault)
{
	struct emu_setup s = phone;

	s.fault = fault;
	mb_open(&b, "fnb58", uri, every, &s);
}

static void golden(void **unused)
{
	static const char *const drivers[] = {"fnb48", "fnb48s", "fnb58", "c1"};
	static const char *const begins[] = {"81", "82"};
	struct golden g = golden_find("fnb48.data"), cmd;

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(drivers); i++) {
		const struct ww_meter_ops *m = ww_meter_find(drivers[i]);
		struct ww_str want = {0};
		struct meterlog l;

		assert_int_equal(ml_open(&l, m, m->desc.example, 0, NULL), 0);
		ml_start(&l);
		ml_until(&l, 20 * MS);
		/* The commands, to the last byte. */
		for (size_t k = 0; k < 3; k++) {
			const char *last = strcmp(drivers[i], "fnb48") && strcmp(drivers[i], "c1")
						   ? "82"
						   : "83";
			char name[32];

			snprintf(name, sizeof(name), "fnb48.cmd%s", k < 2 ? begins[k] : last);
			cmd = golden_find(name);
			ww_str_add(&want, "send ");
			for (size_t x = 0; x < cmd.n; x++)
				ww_str_addf(&want, "\\x%02x", cmd.p[x]);
			ww_str_add(&want, "\n");
		}
		assert_string_equal(ml_text(&l), want.p);
		/* The first sample after a beginning is left out. */
		ml_feed(&l, g.p, g.n);
		assert_string_equal(ml_readings(&l), "reading 5124988 512340 100031 600 601 305\n"
						     "reading 5125451 512335 100041 600 601 305\n"
						     "reading 5125913 512330 100051 600 601 305\n");
		ww_str_reset(&l.readings);
		l.now_ns += 40 * MS;
		ml_feed(&l, g.p, g.n);
		assert_memory_equal(ml_readings(&l), "reading 5124526 512345 100021 600 601 305\n",
				    42);
		ww_str_free(&want);
		ml_close(&l);
	}
}

static void exact_values(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, NULL);
	mb_for(&b, 9 * SEC);
	assert_true(b.rows >= 888 && b.rows <= 900);
	assert_int_equal(b.log.losses + b.log.fails + b.log.events, 0);
	assert_true(near(mb_value(&b, 555, "voltage"), 5.12345, 1e-9));
	assert_true(near(mb_value(&b, 555, "current"), 1.00021, 1e-9));
	assert_true(near(mb_value(&b, 555, "power"), 5.12345 * 1.00021, 1e-6));
	assert_true(near(mb_value(&b, 555, "temperature"), 30.5, 1e-9));
	times_rise(&b);
	/* 10 ms apart, to the port's own millisecond. */
	for (size_t i = 1; i < b.rows; i++)
		assert_true(near((double)(b.row[i].t.hi_ns - b.row[i - 1].t.hi_ns), 10e6, 2e6));
	/* Begun by three commands, and one a second since. */
	assert_true(b.log.sent >= 10 && b.log.sent <= 13);
	stops(&b);
	mb_close(&b);
}

static void old_one(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	mb_open(&b, "fnb48", NULL, 0, &s);
	mb_for(&b, 5 * SEC);
	assert_true(b.rows >= 485 && b.rows <= 500);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	/* Kept alive each 3 ms. */
	assert_true(b.log.sent >= 1600 && b.log.sent <= 1680);
	stops(&b);
	mb_close(&b);
}

static void measured_only(void **unused)
{
	(void)unused;
	open_fault(NULL, 40 * MS, NULL);
	assert_int_equal(b.log.period_ns, 40 * MS);
	mb_for(&b, 4 * SEC);
	assert_true(b.rows >= 96 && b.rows <= 100);
	mb_close(&b);
	open_fault("fnb58:?measured=1", 0, "lost");
	mb_for(&b, 4 * SEC);
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 98, 3));
	mb_close(&b);
}

/* A growing load: each sample's current was true within window and delay before its stamp. */
static void growing_load(void **unused)
{
	struct emu_setup s = phone;

	(void)unused;
	s.amps = -99;
	s.amps_per_s = 0.1; /* 1 A when the bench begins */
	mb_open(&b, "fnb58", NULL, 0, &s);
	mb_for(&b, 10 * SEC);
	assert_true(b.rows > 900);
	for (size_t i = 0; i < b.rows; i++) {
		double newest = emu_amps(&s, b.row[i].t.hi_ns);
		double oldest = emu_amps(&s, b.row[i].t.lo_ns - 50 * MS);

		assert_true(mb_value(&b, i, "current") <= newest + 2e-5);
		assert_true(mb_value(&b, i, "current") >= oldest - 2e-5);
	}
	mb_close(&b);
}

/* Each tenth report of 25 a second is never sent: all are found, and where. */
static void lost_ones(void **unused)
{
	const char *p;

	(void)unused;
	open_fault(NULL, 0, "lost");
	mb_for(&b, 20 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)lost_items(&b.log, "missing"), 196, 8));
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 1996, 24));
	/* The tenth of each ten: it was due 400 ms after the one before. */
	p = strstr(ml_text(&b.log), "loss ");
	for (long long before = 0; p; p = strstr(p + 5, "loss ")) {
		long long from, to, n;

		assert_int_equal(sscanf(p, "loss %lld..%lld ms %lld", &from, &to, &n), 3);
		assert_int_equal(n, 4);
		assert_true(to - from >= 70 && to - from <= 85);
		assert_true(!before || near((double)(from - before), 400, 5));
		before = from;
	}
	times_rise(&b);
	mb_close(&b);
}

/* The machine was busy: reports wait and come together. Nothing is lost, times do not fall. */
static void late_ones(void **unused)
{
	const struct ww_meter_ops *m = ww_meter_find("fnb58");
	struct golden g = golden_find("fnb48.data");
	struct ww_meter_out out;

	(void)unused;
	memset(&b, 0, sizeof(b));
	assert_int_equal(ml_open(&b.log, m, "fnb58:", 0, NULL), 0);
	out = mb_out(&b);
	b.log.now_ns = 1000 * SEC;
	m->start(b.log.state, b.log.now_ns, &out);
	for (int i = 1; i <= 200; i++) {
		int64_t at = 1000 * SEC + i * 40 * MS, seen = at;
		/* The port was last seen empty before the stall. */
		int64_t burst = 1000 * SEC + (i - i % 20 + 11) * 40 * MS;

		if (i % 20 >= 12 && i % 20 < 15)
			seen = 1000 * SEC + (i - i % 20 + 15) * 40 * MS; /* three at once */
		while (m->deadline(b.log.state) <= seen) {
			b.log.now_ns = m->deadline(b.log.state);
			m->tick(b.log.state, b.log.now_ns, &out);
		}
		b.log.now_ns = seen;
		m->feed(b.log.state, (struct ww_interval){seen > at ? burst : at - MS, seen}, g.p,
			g.n, &out);
	}
	assert_int_equal(b.log.losses, 0);
	assert_int_equal(b.rows, 200 * 4 - 1);
	times_rise(&b);
	/* No hole where none was: the middles stay within two samples of the truth. */
	for (size_t i = 1; i < b.rows; i++) {
		int64_t at = 1000 * SEC + 20 * MS + (int64_t)i * 10 * MS;

		assert_true(b.row[i].t.lo_ns <= at && at <= b.row[i].t.hi_ns);
		assert_true(ww_iv_mid(b.row[i].t) - ww_iv_mid(b.row[i - 1].t) < 25 * MS);
	}
	ml_close(&b.log);
	free(b.to_meter);
}

/* A meter whose 40 ms are 43 or 38 loses nothing by that; what it loses is found. */
static void own_pace(void **unused)
{
	static const int64_t period[] = {43 * MS, 38 * MS};
	const struct ww_meter_ops *m = ww_meter_find("fnb58");
	struct golden g = golden_find("fnb48.data");
	struct ww_meter_out out;

	(void)unused;
	for (size_t k = 0; k < WW_COUNTOF(period); k++) {
		int missing = 0;

		memset(&b, 0, sizeof(b));
		assert_int_equal(ml_open(&b.log, m, "fnb58:", 0, NULL), 0);
		out = mb_out(&b);
		b.log.now_ns = 1000 * SEC;
		m->start(b.log.state, b.log.now_ns, &out);
		for (int i = 1; i <= 1000; i++) {
			/* Each report is late by up to 7 ms. */
			int64_t t = 1000 * SEC + i * period[k] + (i * 37 % 8) * MS;

			while (m->deadline(b.log.state) <= t) {
				b.log.now_ns = m->deadline(b.log.state);
				m->tick(b.log.state, b.log.now_ns, &out);
			}
			b.log.now_ns = t;
			if (i > 500 && i % 50 == 0)
				missing += 4;
			else
				m->feed(b.log.state, (struct ww_interval){t - MS, t}, g.p, g.n,
					&out);
			assert_true(i > 500 || b.log.losses == 0);
		}
		/* The last one is not settled yet. */
		assert_int_equal(lost_items(&b.log, "missing"), missing - 4);
		times_rise(&b);
		ml_close(&b.log);
		free(b.to_meter);
	}
}

static void damaged(void **unused)
{
	static const char *const faults[] = {"crc", "short"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 20 * SEC);
		HAS(&b.log, "event device damaged report left out: ");
		assert_int_equal(b.log.fails, 0);
		assert_true(near((double)lost_items(&b.log, "damaged"), i ? 4 * 83 : 4 * 71, 8));
		assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 1996, 24));
		for (size_t k = 0; k < b.rows; k++)
			assert_true(near(mb_value(&b, k, "voltage"), 5.12345, 1e-9));
		times_rise(&b);
		mb_close(&b);
	}
}

static void other_types_and_junk(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "types");
	mb_for(&b, 5 * SEC);
	assert_int_equal(b.log.losses + b.log.fails + b.log.events, 0);
	assert_true(b.rows >= 485);
	mb_close(&b);
	/* 188.74 V, 170.39 A: never given. */
	open_fault(NULL, 0, "junk");
	mb_for(&b, 5 * SEC);
	for (size_t i = 0; i < b.rows; i++)
		assert_true(near(mb_value(&b, i, "voltage"), 5.12345, 1e-9));
	assert_int_equal(b.log.losses, 0);
	mb_close(&b);
}

static void stops_by_itself(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "stops");
	mb_for(&b, 18 * SEC);
	assert_int_equal(b.log.fails, 0);
	/* It streams for 3 s, is missed for 1 s, is begun again, and so on. */
	assert_true(lost_items(&b.log, "silent") > 100);
	assert_true(b.rows > 1300);
	assert_true(near((double)(b.rows + (size_t)lost_items(&b.log, NULL)), 1796, 16));
	times_rise(&b);
	mb_close(&b);

	open_fault(NULL, 0, "dies");
	mb_for(&b, 20 * SEC);
	assert_int_equal(b.log.fails, 0);
	assert_true(near((double)lost_items(&b.log, "silent"), 1500, 220));
	mb_close(&b);
}

static void never_works(void **unused)
{
	static const char *const own[] = {"fnb48.", NULL};
	static const char *const faults[] = {"silent", "garbage"};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(faults); i++) {
		open_fault(NULL, 0, faults[i]);
		mb_for(&b, 60 * SEC);
		assert_int_equal(b.log.fails, 1);
		assert_int_equal(b.log.given, 0);
		must(strstr(ml_text(&b.log),
			    i ? "reports came, none of its kind: " : "(nothing came)") != NULL,
		     faults[i], &b.log);
		mb_close(&b);
	}
	takes_no_others("fnb58", own);
}

static void stands_still(void **unused)
{
	(void)unused;
	open_fault(NULL, 0, "freeze");
	mb_for(&b, 30 * SEC);
	HAS(&b.log, "event device stale: the same sample for 10 s, though a current flows\n");
	mb_close(&b);
	open_fault(NULL, 0, "slow");
	mb_for(&b, 10 * SEC);
	assert_true(b.rows > 900);
	assert_int_equal(b.log.losses + b.log.fails, 0);
	mb_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden),	   cmocka_unit_test(exact_values),
		cmocka_unit_test(old_one),	   cmocka_unit_test(measured_only),
		cmocka_unit_test(growing_load),	   cmocka_unit_test(lost_ones),
		cmocka_unit_test(late_ones),	   cmocka_unit_test(own_pace),
		cmocka_unit_test(damaged),	   cmocka_unit_test(other_types_and_junk),
		cmocka_unit_test(stops_by_itself), cmocka_unit_test(never_works),
		cmocka_unit_test(stands_still),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
