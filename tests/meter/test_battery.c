/* SPDX-License-Identifier: MIT */
/* Batteries: signs of different drivers, snapshots that repeat, and what charging does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sysbench.h"

#define MS  WW_NS_PER_MS
#define SEC WW_NS_PER_S

/* One of ACPI that counts energy; values as they stand in its snapshot. */
static void acpi(struct sysbench *b, const char *status, long uw, long uwh)
{
	char text[600];

	snprintf(text, sizeof(text),
		 "POWER_SUPPLY_NAME=BAT0\x1fPOWER_SUPPLY_STATUS=%s\x1f"
		 "POWER_SUPPLY_PRESENT=1\x1fPOWER_SUPPLY_VOLTAGE_NOW=12100000\x1f"
		 "POWER_SUPPLY_POWER_NOW=%ld\x1fPOWER_SUPPLY_ENERGY_FULL_DESIGN=57000000\x1f"
		 "POWER_SUPPLY_ENERGY_FULL=50000000\x1fPOWER_SUPPLY_ENERGY_NOW=%ld\x1f"
		 "POWER_SUPPLY_CAPACITY=80\x1fPOWER_SUPPLY_MODEL_NAME=01AV405\x1f"
		 "POWER_SUPPLY_MANUFACTURER=LGC\x1fPOWER_SUPPLY_SERIAL_NUMBER=357",
		 status, uw, uwh);
	sb_set(b, "uevent", text);
}

static struct sysbench *open_acpi(int64_t every)
{
	static const char *const files[] = {"capacity", "energy_full", "energy_now", "power_now",
					    "status",	"type",	       "uevent",     "voltage_now"};
	struct sysbench *b = sb_new();

	for (size_t i = 0; i < WW_COUNTOF(files); i++)
		sb_set(b, files[i], "");
	if (sb_open(b, "battery:BAT0", every) < 0)
		fail_msg("%s", b->err.text);
	return b;
}

static void discharge(void **unused)
{
	struct sysbench *b = open_acpi(0);

	(void)unused;
	acpi(b, "Discharging", 7350000, 40000000);
	sb_start(b);
	SB_HAS(b, "identity LGC 01AV405|357|\n");
	SB_HAS(b, "event device status Discharging\n");
	SB_NEAR(sb_value(b, 0, "power"), 7.35);
	SB_NEAR(sb_value(b, 0, "voltage"), 12.1);
	SB_NEAR(sb_value(b, 0, "energy_left"), 40);
	SB_NEAR(sb_value(b, 0, "energy"), 10);
	SB_NEAR(sb_value(b, 0, "capacity"), 80);
	assert_int_equal(sb_channel(b, "energy").semantics, WW_COUNTER);
	assert_string_equal(sb_channel(b, "energy_left").quantity, "other");
	assert_int_equal(sb_channel(b, "power").semantics, WW_HOLD);
	/* The same still holds; a new one changed since the last look. */
	sb_for(b, 3 * SEC);
	assert_int_equal(b->rows, 4);
	assert_true(b->row[3].t.hi_ns - b->row[3].t.lo_ns < 10 * MS);
	acpi(b, "Discharging", 7400000, 39990000);
	sb_for(b, SEC);
	assert_int_equal(b->rows, 5);
	SB_NEAR(sb_value(b, 4, "energy"), 10.01);
	assert_true(b->row[4].t.hi_ns - b->row[4].t.lo_ns >= SEC);
	assert_true(b->row[4].t.hi_ns - b->row[4].t.lo_ns < SEC + 10 * MS);
	sb_close(b);
}

/* Whatever the driver's sign: what the battery gives is positive. */
static void signs(void **unused)
{
	static const struct {
		const char *status;
		long ua;
		double amps;
	} rows[] = {{"Discharging", 1000000, 1},
		    {"Discharging", -1000000, 1},
		    {"Charging", 1000000, -1},
		    {"Charging", -1000000, -1},
		    {"Full", 0, 0},
		    {"Not charging", 1000, (double)NAN},
		    {"Unknown", -1000, (double)NAN}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct sysbench *b = sb_new();
		char text[300];

		sb_set(b, "current_now", "");
		sb_set(b, "voltage_now", "");
		sb_set(b, "charge_now", "");
		sb_set(b, "status", "");
		snprintf(text, sizeof(text),
			 "POWER_SUPPLY_STATUS=%s\x1fPOWER_SUPPLY_CURRENT_NOW=%ld\x1f"
			 "POWER_SUPPLY_VOLTAGE_NOW=7400123\x1fPOWER_SUPPLY_CHARGE_NOW=2500000",
			 rows[i].status, rows[i].ua);
		sb_set(b, "uevent", text);
		assert_int_equal(sb_open(b, "battery:BAT1", 0), 0);
		sb_start(b);
		assert_int_equal(b->rows, 1);
		SB_NEAR(sb_value(b, 0, "charge_left"), 2.5);
		if (isnan(rows[i].amps)) {
			assert_true(isnan(sb_value(b, 0, "current")));
			assert_true(isnan(sb_value(b, 0, "power")));
			SB_HAS(b, "nobody can say whether it gives or takes");
		} else {
			SB_NEAR(sb_value(b, 0, "current"), rows[i].amps);
			SB_NEAR(sb_value(b, 0, "power"), rows[i].amps * 7.400123);
		}
		sb_close(b);
	}
}

/* A gauge of 4 s, looked at each second: its pace is learnt, and told as the window. */
static void pace(void **unused)
{
	struct sysbench *b = open_acpi(0);
	struct ww_meter_shape s;
	struct ww_meter_out out;
	size_t n;

	(void)unused;
	s = ww_meter_shape(b->log.m, b->log.state);
	assert_int_equal(s.delay_max_ns, 30 * SEC);
	for (long i = 0; i < 60; i++) {
		acpi(b, "Discharging", 7000000 + i / 4 * 1000, 40000000 - i / 4 * 8000);
		if (i == 0)
			sb_start(b);
		else
			sb_for(b, SEC);
	}
	/* Each look until the pace is known, then each change. */
	assert_int_equal(b->rows, 15 + 3 * 4);
	s = ww_meter_shape(b->log.m, b->log.state);
	assert_int_equal(s.period_ns, 4 * SEC);
	assert_int_equal(s.window_ns, 4 * SEC);
	assert_int_equal(s.delay_max_ns, 4 * SEC);
	SB_HAS(b, "renews its values each 4000 ms");
	assert_int_equal(b->log.losses, 0);
	/* A steady one holds: no longer without a reading than that period, and to the end. */
	n = b->rows;
	sb_for(b, 40 * SEC);
	assert_int_equal(b->rows, n + 10);
	sb_for(b, 2 * SEC);
	n = b->rows;
	out = sb_out(b);
	b->log.m->stop(b->log.state, &out);
	assert_int_equal(b->rows, n + 1);
	assert_true(b->log.now_ns - b->row[n].t.hi_ns < SEC);
	b->log.m->stop(b->log.state, &out);
	assert_int_equal(b->rows, n + 1);
	sb_close(b);
}

/* Taken out and put back with the same values: nothing is said of the time between. */
static void taken_out(void **unused)
{
	struct sysbench *b = open_acpi(0);

	(void)unused;
	acpi(b, "Discharging", 7000000, 40000000);
	sb_start(b);
	sb_for(b, 2 * SEC);
	assert_int_equal(b->rows, 3);
	sb_set(b, "uevent", "POWER_SUPPLY_STATUS=Unknown\x1fPOWER_SUPPLY_PRESENT=0");
	sb_for(b, 5 * SEC);
	assert_int_equal(b->rows, 3);
	SB_HAS(b, "cannot be read: no values in it\n");
	acpi(b, "Discharging", 7000000, 40000000);
	sb_for(b, SEC);
	assert_int_equal(b->rows, 4);
	assert_true(b->row[3].t.hi_ns - b->row[3].t.lo_ns < 10 * MS);
	assert_int_equal(b->log.losses, 1);
	sb_close(b);
}

static void plug_and_charge(void **unused)
{
	struct sysbench *b = open_acpi(0);

	(void)unused;
	acpi(b, "Discharging", 7000000, 40000000);
	sb_start(b);
	acpi(b, "Charging", 20000000, 40010000);
	sb_for(b, SEC);
	SB_HAS(b, "event device status Charging, was Discharging\n");
	SB_HAS(b, "event counter-reset it holds more than before: charged\n");
	SB_NEAR(sb_value(b, -1, "power"), -20);
	ml_clear(&b->log);
	acpi(b, "Charging", 20000000, 40020000);
	sb_for(b, SEC);
	assert_int_equal(b->log.events, 0);
	sb_close(b);
}

static void others_and_broken(void **unused)
{
	struct sysbench *b = sb_new();

	(void)unused;
	sb_set(b, "type", "Mains");
	sb_set(b, "online", "");
	sb_set(b, "uevent", "POWER_SUPPLY_NAME=AC\x1fPOWER_SUPPLY_ONLINE=1");
	assert_int_equal(sb_open(b, "battery:AC", 0), 0);
	sb_start(b);
	SB_NEAR(sb_value(b, 0, "online"), 1);
	sb_set(b, "uevent", "POWER_SUPPLY_NAME=AC\x1fPOWER_SUPPLY_ONLINE=0");
	sb_for(b, SEC);
	SB_NEAR(sb_value(b, 1, "online"), 0);
	SB_HAS(b, "event device online 0\n");
	sb_set(b, "uevent", "!EIO");
	sb_for(b, SEC);
	SB_HAS(b, "cannot be read: EIO\n");
	sb_set(b, "uevent", "POWER_SUPPLY_NAME=AC");
	sb_for(b, SEC);
	SB_HAS(b, "cannot be read: no values in it\n");
	assert_int_equal(b->rows, 2);
	sb_close(b);
	b = sb_new();
	sb_set(b, "name", "k10temp");
	assert_int_equal(sb_open(b, "battery:hwmon0", 0), -ENODEV);
	sb_close(b);
	/* Of a broken gauge: values that cannot be are none. */
	b = open_acpi(0);
	sb_set(b, "uevent",
	       "POWER_SUPPLY_STATUS=Discharging\x1fPOWER_SUPPLY_POWER_NOW=9223372036854775807\x1f"
	       "POWER_SUPPLY_VOLTAGE_NOW=\x1fPOWER_SUPPLY_ENERGY_NOW=12x\x1f=\x1f"
	       "POWER_SUPPLY_CAPACITY=50");
	sb_start(b);
	assert_int_equal(b->rows, 1);
	assert_true(isnan(sb_value(b, 0, "power")) && isnan(sb_value(b, 0, "voltage")) &&
		    isnan(sb_value(b, 0, "energy")));
	SB_NEAR(sb_value(b, 0, "capacity"), 50);
	sb_close(b);
}

/* A driver without a snapshot, or with an empty one: its files one after another. */
static void one_by_one(void **unused)
{
	(void)unused;
	for (int empty = 0; empty < 2; empty++) {
		struct sysbench *b = sb_new();

		sb_set(b, "current_now", "-500000");
		sb_set(b, "voltage_now", "12000000");
		sb_set(b, "status", "Discharging");
		if (empty)
			sb_set(b, "uevent", "POWER_SUPPLY_NAME=BAT0");
		assert_int_equal(sb_open(b, "battery:BAT0", 0), 0);
		sb_start(b);
		sb_for(b, SEC);
		assert_true(b->rows >= 1);
		SB_NEAR(sb_value(b, 0, "power"), 6);
		SB_NEAR(sb_value(b, 0, "voltage"), 12);
		sb_close(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(discharge),
		cmocka_unit_test(signs),
		cmocka_unit_test(pace),
		cmocka_unit_test(taken_out),
		cmocka_unit_test(plug_and_charge),
		cmocka_unit_test(others_and_broken),
		cmocka_unit_test(one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
