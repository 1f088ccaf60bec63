/* SPDX-License-Identifier: MIT */
/*
 * Energy counters against a processor whose power is known: whatever the interval of
 * readings, no negative and no huge energy, and what cannot be known is told.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sysbench.h"

#define MS    WW_NS_PER_MS
#define SEC   WW_NS_PER_S
#define RANGE INT64_C(262143328850)

/* watts since 1000 s, from first_uj; renewed each millisecond, in units of 61.035 µJ. */
struct cpu {
	struct sysbench *b;
	double watts;
	int64_t first_uj;
};

static int64_t true_uj(const struct cpu *c)
{
	double s = (double)((c->b->log.now_ns - 1000 * SEC) / MS) / 1e3;

	return (int64_t)(floor(c->watts * s * 16384) / 16384 * 1e6);
}

static void renew(void *ctx)
{
	struct cpu *c = ctx;
	int64_t uj = true_uj(c);

	sb_int(c->b, "energy_uj", (c->first_uj + uj) % (RANGE + 1));
	sb_int(c->b, "intel-rapl:0:0/energy_uj", uj / 4 % (RANGE + 1));
	sb_int(c->b, "intel-rapl:0:1/energy_uj", uj / 8 % INT64_C(65712999613));
}

static void boot(struct cpu *c, const char *uri, int64_t every, double watts, int64_t first)
{
	struct sysbench *b = sb_new();

	*c = (struct cpu){b, watts, first};
	sb_set(b, "name", "package-0");
	sb_set(b, "energy_uj", "");
	sb_int(b, "max_energy_range_uj", RANGE);
	sb_set(b, "constraint_0_power_limit_uw", "65000000");
	sb_set(b, "constraint_1_power_limit_uw", "100000000");
	sb_set(b, "intel-rapl:0:0/name", "core");
	sb_set(b, "intel-rapl:0:0/energy_uj", "");
	sb_int(b, "intel-rapl:0:0/max_energy_range_uj", RANGE);
	sb_set(b, "intel-rapl:0:1/name", "dram");
	sb_set(b, "intel-rapl:0:1/energy_uj", "");
	sb_int(b, "intel-rapl:0:1/max_energy_range_uj", INT64_C(65712999612));
	/* Folders stand in the listing as such. */
	sb_set(b, "intel-rapl:0:0/", "");
	sb_set(b, "intel-rapl:0:1/", "");
	if (sb_open(b, uri, every) < 0)
		fail_msg("%s", b->err.text);
	b->takes_ns = 20000;
	b->refresh = renew;
	b->ctx = c;
	sb_start(b);
}

static void zones_and_values(void **unused)
{
	struct ww_meter_shape s;
	struct cpu c;

	(void)unused;
	boot(&c, "rapl:intel-rapl:0", 100 * MS, 20, 5000000);
	s = ww_meter_shape(c.b->log.m, c.b->log.state);
	assert_int_equal(s.channels, 6);
	assert_int_equal(s.period_ns, 100 * MS);
	SB_HAS(c.b, "identity package_0||\n");
	sb_for(c.b, 100 * 100 * MS);
	assert_int_equal(c.b->rows, 101);
	assert_true(isnan(sb_value(c.b, 0, "power")));
	SB_NEAR(sb_value(c.b, 0, "energy"), 5.0 / 3600);
	for (long i = 1; i < 101; i++) {
		assert_true(fabs(sb_value(c.b, i, "power") - 20) < 0.01);
		assert_true(fabs(sb_value(c.b, i, "power_core") - 5) < 0.01);
		assert_true(fabs(sb_value(c.b, i, "power_dram") - 2.5) < 0.01);
	}
	assert_true(fabs(sb_value(c.b, 100, "energy") * 3600 - 5 - 200) < 1e-3);
	assert_int_equal(sb_channel(c.b, "energy").semantics, WW_COUNTER);
	assert_true(isnan(sb_channel(c.b, "power").acc_rel));
	/* 61 µJ in 100 ms. */
	SB_NEAR(sb_channel(c.b, "power").resolution, 61e-5);
	assert_int_equal(c.b->log.losses + c.b->log.events + c.b->log.fails, 0);
	sb_close(c.b);
}

/* From the fastest to slow ones, over many wraps: sums and means stay the truth. */
static void wraps_at_any_rate(void **unused)
{
	static const int64_t each[] = {5 * MS, 7 * MS, 50 * MS, 1300 * MS, 60 * SEC, 300 * SEC};

	(void)unused;
	for (size_t k = 0; k < WW_COUNTOF(each); k++) {
		double before = -1, worst = 2.1 * (double)MS / (double)each[k];
		double joules, want;
		struct cpu c;
		int n = each[k] < SEC ? 400 : 100;

		/* It wraps within the first few, and with long ones again and again. */
		boot(&c, "rapl:intel-rapl:0", each[k], 45, RANGE - 45 * each[k] / 1000 * 3);
		sb_for(c.b, n * each[k]);
		assert_int_equal(c.b->rows, n + 1);
		for (long i = 0; i <= n; i++) {
			double e = sb_value(c.b, i, "energy"), p = sb_value(c.b, i, "power");

			assert_true(e > before || (i == 0 && e >= 0));
			assert_true(i == 0 || fabs(p / 45 - 1) < worst + 1e-3);
			before = e;
		}
		joules = (sb_value(c.b, n, "energy") - sb_value(c.b, 0, "energy")) * 3600;
		want = 45 * (double)each[k] / 1e9 * n;
		assert_true(fabs(joules - want) < 45 * 3e-3 + 1e-9 * want);
		if (each[k] >= 50 * MS)
			assert_int_equal(c.b->log.events, 0);
		sb_close(c.b);
	}
}

static void renew_small(void *ctx)
{
	struct cpu *c = ctx;

	sb_int(c->b, "energy_uj", (c->first_uj + true_uj(c)) % 65000001);
}

/* A counter that turns faster than readings are wanted is looked at in between. */
static void turns_between_readings(void **unused)
{
	static const int64_t each[] = {20 * MS, 100 * MS, SEC, 60 * SEC, 600 * SEC};

	(void)unused;
	for (size_t k = 0; k < WW_COUNTOF(each); k++) {
		struct sysbench *b = sb_new();
		struct cpu c = {b, 45, 64000000};

		sb_set(b, "name", "package-0");
		sb_set(b, "energy_uj", "");
		sb_int(b, "max_energy_range_uj", 65000000);
		assert_int_equal(sb_open(b, "rapl:intel-rapl:0?bounds=1", each[k]), 0);
		b->takes_ns = 20000;
		b->refresh = renew_small;
		b->ctx = &c;
		sb_start(b);
		sb_for(b, 10 * each[k] + 30 * MS);
		assert_int_equal(b->log.period_ns, each[k]);
		assert_true(b->rows >= 11 && b->rows <= 12);
		assert_int_equal(b->log.losses + b->log.fails, 0);
		SB_HAS_NO(b, "counter-reset");
		for (long i = 1; i < 11; i++) {
			double dt = (double)(b->row[i].t.hi_ns - b->row[i - 1].t.hi_ns) / 1e9;

			assert_true(fabs(sb_value(b, i, "power") - 45) < 45 * 1.1e-3 / dt + 0.01);
			assert_true(sb_value(b, i, "power_low") <= 45);
			assert_true(sb_value(b, i, "power_high") >= 45);
			assert_true(fabs((sb_value(b, i, "energy") - sb_value(b, i - 1, "energy")) *
						 3600 -
					 sb_value(b, i, "power") * dt) <= 1e-6 * (1 + dt));
		}
		sb_close(b);
	}
}

/* More than twice its limits for a moment: a counter that rose did so. */
static void above_its_limits(void **unused)
{
	struct cpu c;

	(void)unused;
	boot(&c, "rapl:intel-rapl:0", 100 * MS, 450, 0);
	sb_for(c.b, SEC);
	assert_int_equal(c.b->log.events, 0);
	assert_true(fabs(sb_value(c.b, -1, "power") - 450) < 5);
	sb_close(c.b);
	/* Unless the user knows better. */
	boot(&c, "rapl:intel-rapl:0?max=200", 100 * MS, 450, 0);
	sb_for(c.b, 100 * MS);
	SB_HAS(c.b, "event counter-reset energy: 0.100 s after the last value");
	sb_close(c.b);
}

static void renew_nonsense(void *ctx)
{
	struct cpu *c = ctx;

	sb_set(c->b, "energy_uj", c->first_uj ? "garbage" : "");
}

/* Nonsense, or nothing, is no reading and a gap; what comes after it is one at once. */
static void nonsense(void **unused)
{
	(void)unused;
	for (int garbage = 0; garbage < 2; garbage++) {
		struct sysbench *b = sb_new();
		struct cpu c = {b, 20, 0};

		sb_set(b, "name", "package-0");
		sb_set(b, "energy_uj", "");
		sb_int(b, "max_energy_range_uj", RANGE);
		assert_int_equal(sb_open(b, "rapl:intel-rapl:0", 0), 0);
		b->refresh = renew;
		b->ctx = &c;
		sb_start(b);
		sb_for(b, SEC);
		assert_int_equal(b->rows, 11);
		c.first_uj = garbage;
		b->refresh = renew_nonsense;
		sb_for(b, SEC);
		SB_HAS(b, garbage ? "cannot be read: garbage\n" : "cannot be read: empty\n");
		/* A recording that ends now has its gap. */
		sb_for(b, 11 * SEC);
		assert_int_equal(b->log.losses, 2);
		SB_HAS(b, " unreadable\n");
		assert_int_equal(b->rows, 11);
		c.first_uj = 0;
		b->refresh = renew;
		sb_for(b, SEC);
		assert_int_equal(b->rows, 21);
		assert_int_equal(b->log.losses, 3);
		assert_true(fabs(sb_value(b, -1, "power") - 20) < 0.3);
		SB_HAS_NO(b, "counter-reset");
		sb_close(b);
	}
}

/* Long without a reading it may have gone round twice: nobody guesses. */
static void ambiguous_wraps(void **unused)
{
	struct cpu c;
	double e;

	(void)unused;
	/* 200 W at most: a turn takes 1311 s at least. */
	boot(&c, "rapl:intel-rapl:0", 60 * SEC, 150, 0);
	sb_for(c.b, 10 * 60 * SEC);
	assert_int_equal(c.b->log.events, 0);
	e = sb_value(c.b, -1, "energy");
	c.b->log.now_ns += 3600 * SEC;
	sb_for(c.b, 60 * SEC);
	SB_HAS(c.b, "event counter-reset energy: it may have gone round more than once in 36");
	assert_true(isnan(sb_value(c.b, 11, "power")));
	/* The register stands still: what was counted is not known. */
	SB_NEAR(sb_value(c.b, 11, "energy"), e);
	ml_clear(&c.b->log);
	sb_for(c.b, 5 * 60 * SEC);
	assert_true(fabs(sb_value(c.b, -1, "power") - 150) < 1);
	assert_int_equal(c.b->log.events, 0);
	sb_close(c.b);
}

/* A suspend or a hypervisor sets it back: no wrap, for that would be too much. */
static void set_back(void **unused)
{
	struct cpu c;
	double e;

	(void)unused;
	boot(&c, "rapl:intel-rapl:0", SEC, 30, 1000000000);
	sb_for(c.b, 5 * SEC);
	e = sb_value(c.b, -1, "energy");
	c.first_uj = -true_uj(&c);
	sb_for(c.b, SEC);
	SB_HAS(c.b, "event counter-reset energy: 1 s after the last value this one is no sum");
	assert_true(isnan(sb_value(c.b, -1, "power")));
	SB_NEAR(sb_value(c.b, -1, "energy"), e);
	sb_for(c.b, 3 * SEC);
	assert_true(fabs(sb_value(c.b, -1, "power") - 30) < 0.5);
	/* And a value out of nowhere. */
	c.first_uj += 9000000000;
	sb_for(c.b, SEC);
	assert_true(isnan(sb_value(c.b, -1, "power")));
	SB_NEAR(sb_value(c.b, -1, "energy"), sb_value(c.b, -2, "energy"));
	sb_close(c.b);
}

static void range_unknown(void **unused)
{
	struct cpu c;

	(void)unused;
	boot(&c, "rapl:intel-rapl:0", SEC, 30, RANGE - 100000000);
	sb_close(c.b);
	c.b = sb_new();
	sb_set(c.b, "name", "package-0");
	sb_set(c.b, "energy_uj", "");
	sb_set(c.b, "max_energy_range_uj", "!EIO");
	assert_int_equal(sb_open(c.b, "rapl:intel-rapl:0", SEC), 0);
	c.b->refresh = renew;
	c.b->ctx = &c;
	sb_start(c.b);
	sb_for(c.b, 10 * SEC);
	/* Dropped where it fell. */
	SB_HAS(c.b, "event counter-reset energy: ");
	assert_int_equal(c.b->log.events, 1);
	for (long i = 1; i < 11; i++)
		assert_true(isnan(sb_value(c.b, i, "power")) ||
			    fabs(sb_value(c.b, i, "power") - 30) < 0.5);
	sb_close(c.b);
}

static void bounds_hold(void **unused)
{
	struct cpu c;

	(void)unused;
	boot(&c, "rapl:intel-rapl:0?bounds=1", 10 * MS, 33, 0);
	SB_HAS(c.b, "up to 20 % wrong");
	for (int i = 0; i < 200; i++) {
		c.b->takes_ns = i % 7 * MS / 5;
		sb_for(c.b, 10 * MS);
	}
	for (long i = 1; i < 150; i++) {
		assert_true(sb_value(c.b, i, "power_low") <= 33);
		assert_true(sb_value(c.b, i, "power_high") >= 33);
		assert_true(sb_value(c.b, i, "power_low") > 33 * 0.7);
		assert_true(sb_value(c.b, i, "power_high") < 33 * 1.45);
	}
	assert_string_equal(sb_channel(c.b, "power_low").quantity, "other");
	sb_close(c.b);
}

static void refusals(void **unused)
{
	struct cpu c;

	(void)unused;
	boot(&c, "rapl:intel-rapl:0", SEC, 30, 0);
	c.b->refresh = NULL;
	sb_set(c.b, "energy_uj", "!EACCES");
	sb_set(c.b, "intel-rapl:0:0/energy_uj", "!EACCES");
	sb_set(c.b, "intel-rapl:0:1/energy_uj", "!EACCES");
	sb_for(c.b, SEC);
	SB_HAS(c.b, "fail -13 energy_uj may be read by root only");
	SB_HAS(c.b, "chgrp GROUP");
	assert_true(c.b->log.m->deadline(c.b->log.state) == WW_TIME_MAX);
	sb_close(c.b);
	c.b = sb_new();
	sb_set(c.b, "name", "intel-rapl");
	sb_set(c.b, "enabled", "1");
	assert_int_equal(sb_open(c.b, "rapl:intel-rapl", SEC), -ENODEV);
	assert_non_null(strstr(c.b->err.text, "intel-rapl:0"));
	sb_close(c.b);
	/* One zone alone that fails takes nothing from the others. */
	boot(&c, "rapl:intel-rapl:0", SEC, 30, 0);
	sb_for(c.b, 2 * SEC);
	c.b->refresh = NULL;
	c.b->log.now_ns += SEC;
	renew(&c);
	c.b->log.now_ns -= SEC;
	sb_set(c.b, "intel-rapl:0:1/energy_uj", "-5");
	sb_for(c.b, SEC);
	assert_true(isnan(sb_value(c.b, -1, "power_dram")));
	assert_true(fabs(sb_value(c.b, -1, "power") - 30) < 0.5);
	sb_close(c.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_and_values),
		cmocka_unit_test(wraps_at_any_rate),
		cmocka_unit_test(turns_between_readings),
		cmocka_unit_test(above_its_limits),
		cmocka_unit_test(nonsense),
		cmocka_unit_test(ambiguous_wraps),
		cmocka_unit_test(set_back),
		cmocka_unit_test(range_unknown),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
