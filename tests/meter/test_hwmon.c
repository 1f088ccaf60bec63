/* SPDX-License-Identifier: MIT */
/* Chips of hwmon: units of the kernel's interface, steps of known chips, and what fails. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sysbench.h"

#define MS  WW_NS_PER_MS
#define SEC WW_NS_PER_S

static struct sysbench *ina226(void)
{
	struct sysbench *b = sb_new();

	sb_set(b, "name", "ina226");
	sb_set(b, "in0_input", "8");
	sb_set(b, "in1_input", "12001");
	sb_set(b, "curr1_input", "-812");
	sb_set(b, "power1_input", "9750000");
	sb_set(b, "shunt_resistor", "10000");
	sb_set(b, "update_interval", "35");
	return b;
}

static void opened(struct sysbench *b, const char *uri, int64_t every)
{
	if (sb_open(b, uri, every) < 0)
		fail_msg("%s", b->err.text);
	sb_start(b);
}

static void units_and_steps(void **unused)
{
	struct sysbench *b = ina226();
	struct ww_meter_shape s;

	(void)unused;
	opened(b, "hwmon:hwmon3", 0);
	s = ww_meter_shape(b->log.m, b->log.state);
	assert_int_equal(s.channels, 4);
	assert_int_equal(s.window_ns, 35 * MS);
	assert_int_equal(s.period_ns, 35 * MS);
	assert_int_equal(s.delay_max_ns, 35 * MS);
	SB_HAS(b, "identity ina226||\n");
	SB_HAS(b, "send power1_input\\x0acurr1_input\\x0ain1_input\\x0ain0_input\n");
	SB_NEAR(sb_value(b, 0, "power"), 9.75);
	SB_NEAR(sb_value(b, 0, "current"), -0.812);
	SB_NEAR(sb_value(b, 0, "voltage"), 12.001);
	SB_NEAR(sb_value(b, 0, "shunt"), 0.008);
	/* 2.5 uV at 10 mOhm are 0.25 mA, of which the kernel shows whole mA; 25 times that. */
	SB_NEAR(sb_channel(b, "current").resolution, 1e-3);
	SB_NEAR(sb_channel(b, "power").resolution, 6.25e-3);
	SB_NEAR(sb_channel(b, "voltage").resolution, 1.25e-3);
	assert_int_equal(sb_channel(b, "power").semantics, WW_AVERAGE);
	assert_true(isnan(sb_channel(b, "power").acc_abs));
	assert_string_equal(sb_channel(b, "shunt").quantity, "other");
	sb_for(b, SEC);
	assert_int_equal(b->rows, 29);
	assert_int_equal(b->log.losses + b->log.fails, 0);
	sb_close(b);

	b = ina226();
	sb_set(b, "name", "ina219");
	sb_set(b, "shunt_resistor", "100000");
	opened(b, "hwmon:hwmon3", 0);
	SB_NEAR(sb_channel(b, "current").resolution, 1e-3);
	SB_NEAR(sb_channel(b, "power").resolution, 2e-3);
	SB_NEAR(sb_channel(b, "voltage").resolution, 4e-3);
	sb_close(b);
}

static void energy_and_many(void **unused)
{
	struct sysbench *b = sb_new();

	(void)unused;
	sb_set(b, "name", "acme");
	sb_set(b, "power1_average", "1500000");
	sb_set(b, "power3_input", "2500000");
	sb_set(b, "power3_average", "1");
	sb_set(b, "energy1_input", "3600000000");
	sb_set(b, "in4_input", "3300");
	sb_set(b, "temp1_input", "30000");
	sb_set(b, "in4_label", "VDD");
	opened(b, "hwmon:hwmon0", SEC);
	assert_int_equal(b->log.channels, 4);
	SB_NEAR(sb_value(b, 0, "power"), 1.5);
	SB_NEAR(sb_value(b, 0, "power3"), 2.5);
	SB_NEAR(sb_value(b, 0, "energy"), 1);
	SB_NEAR(sb_value(b, 0, "voltage"), 3.3);
	assert_int_equal(sb_channel(b, "energy").semantics, WW_COUNTER);
	assert_int_equal(sb_channel(b, "power").semantics, WW_AVERAGE);
	assert_int_equal(sb_channel(b, "power3").semantics, WW_INSTANT);
	sb_for(b, 10 * SEC);
	assert_int_equal(b->rows, 11);
	sb_close(b);
}

static void product_on_request(void **unused)
{
	struct sysbench *b = sb_new();

	(void)unused;
	sb_set(b, "name", "powerz");
	sb_set(b, "in0_input", "5012");
	sb_set(b, "curr1_input", "-401");
	opened(b, "hwmon:hwmon0", 0);
	assert_int_equal(b->log.channels, 2);
	assert_true(isnan(sb_value(b, 0, "power")));
	sb_close(b);
	b = sb_new();
	sb_set(b, "name", "powerz");
	sb_set(b, "in0_input", "5012");
	sb_set(b, "curr1_input", "-401");
	opened(b, "hwmon:hwmon0?multiply=1", 0);
	SB_NEAR(sb_value(b, 0, "power"), -5.012 * 0.401);
	sb_set(b, "in0_input", "!EIO");
	sb_for(b, SEC);
	assert_true(isnan(sb_value(b, -1, "power")));
	SB_HAS(b, "event device in0_input cannot be read: EIO\n");
	sb_close(b);
	b = ina226();
	assert_int_equal(sb_open(b, "hwmon:hwmon0?multiply=1", 0), -EINVAL);
	assert_non_null(strstr(b->err.text, "gives its power itself"));
	sb_close(b);
}

/* Three rails, whose names the kernel knows; then their shunts, and the sum of these. */
static void ina3221(void **unused)
{
	static const char *const files[][2] = {
		{"name", "ina3221"},	  {"in1_input", "5000"},
		{"in2_input", "4990"},	  {"in3_input", "3300"},
		{"in4_input", "2"},	  {"in5_input", "3"},
		{"in6_input", "1"},	  {"in7_input", "6"},
		{"in1_label", "VDD_CPU"}, {"in2_label", "VDD GPU"},
		{"in3_label", "3V3"},	  {"in7_label", "sum of shunt voltages"},
		{"curr1_input", "200"},	  {"curr2_input", "300"},
		{"curr3_input", "10"},	  {"curr4_input", "510"}};
	struct sysbench *b = sb_new();

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(files); i++)
		sb_set(b, files[i][0], files[i][1]);
	opened(b, "hwmon:hwmon0?multiply=1", 0);
	assert_int_equal(b->log.channels, 4 + 7 + 3);
	SB_NEAR(sb_value(b, 0, "voltage_vdd_cpu"), 5);
	SB_NEAR(sb_value(b, 0, "voltage_vdd_gpu"), 4.99);
	SB_NEAR(sb_value(b, 0, "voltage_3v3"), 3.3);
	SB_NEAR(sb_value(b, 0, "current2"), 0.3);
	SB_NEAR(sb_value(b, 0, "power_vdd_cpu"), 1);
	SB_NEAR(sb_value(b, 0, "power_vdd_gpu"), 1.497);
	SB_NEAR(sb_value(b, 0, "power_3v3"), 0.033);
	sb_close(b);
	/* Without labels by number; of the same label, too. */
	b = sb_new();
	for (size_t i = 0; i < WW_COUNTOF(files); i++)
		sb_set(b, files[i][0], strstr(files[i][0], "_label") ? "rail" : files[i][1]);
	opened(b, "hwmon:hwmon0?multiply=1", 0);
	SB_NEAR(sb_value(b, 0, "voltage2"), 4.99);
	SB_NEAR(sb_value(b, 0, "power"), 1);
	SB_NEAR(sb_value(b, 0, "power2"), 1.497);
	SB_NEAR(sb_value(b, 0, "power3"), 0.033);
	sb_close(b);
}

/* The chip's watts have no sign: told when the current says that they should. */
static void backwards(void **unused)
{
	struct sysbench *b = ina226();

	(void)unused;
	sb_set(b, "curr1_input", "1000");
	opened(b, "hwmon:hwmon0", 0);
	assert_int_equal(b->log.events, 0);
	sb_set(b, "curr1_input", "-1000");
	sb_for(b, SEC);
	SB_HAS(b, "event device current flows backwards");
	assert_int_equal(b->log.events, 1);
	sb_close(b);
}

static void refusals(void **unused)
{
	struct sysbench *b = sb_new();

	(void)unused;
	sb_set(b, "name", "k10temp");
	sb_set(b, "temp1_input", "30000");
	assert_int_equal(sb_open(b, "hwmon:hwmon0", 0), -ENODEV);
	assert_non_null(strstr(b->err.text, "k10temp"));
	sb_close(b);
	b = ina226();
	sb_set(b, "power1_input", "!EACCES");
	sb_set(b, "curr1_input", "!EACCES");
	sb_set(b, "in0_input", "!EACCES");
	sb_set(b, "in1_input", "!EACCES");
	/* The listing shows names; reading fails. */
	b->file[4].value[0] = b->file[1].value[0] = b->file[2].value[0] = b->file[3].value[0] =
		'\0';
	assert_int_equal(sb_open(b, "hwmon:hwmon0", 0), 0);
	for (int i = 1; i < 5; i++)
		snprintf(b->file[i].value, sizeof(b->file[i].value), "!EACCES");
	sb_start(b);
	sb_for(b, SEC);
	assert_int_equal(b->log.fails, 1);
	SB_HAS(b, "fail -13 ina226: no permission");
	assert_true(b->log.m->deadline(b->log.state) == WW_TIME_MAX);
	sb_close(b);
}

/* An I2C bus that fails, one that hangs, and what comes after. */
static void broken_bus(void **unused)
{
	struct sysbench *b = ina226();

	(void)unused;
	opened(b, "hwmon:hwmon3", SEC);
	sb_for(b, 2 * SEC);
	ml_clear(&b->log);
	for (int i = 1; i < 5; i++)
		snprintf(b->file[i].value, sizeof(b->file[i].value), "!EREMOTEIO");
	sb_for(b, 5 * SEC);
	assert_int_equal(b->log.given, 0);
	assert_int_equal(b->log.events, 1);
	SB_HAS(b, "event device cannot be read: EREMOTEIO\n");
	for (int i = 1; i < 5; i++)
		snprintf(b->file[i].value, sizeof(b->file[i].value), "5000");
	sb_for(b, SEC);
	SB_HAS(b, "event device readable again, after EREMOTEIO\n");
	SB_HAS(b, " 5 unreadable\n");
	assert_int_equal(b->log.given, 1);

	ml_clear(&b->log);
	b->mute = true;
	sb_for(b, 20 * SEC);
	SB_HAS(b, " silent\n");
	assert_int_equal(b->log.given, 0);
	/* Asked again now and then, not at the rate of readings. */
	assert_true(b->log.sent >= 2 && b->log.sent <= 5);
	b->mute = false;
	sb_for(b, 10 * SEC);
	assert_true(b->log.given >= 4);
	assert_int_equal(b->log.fails, 0);
	sb_close(b);
}

/* Nothing that is no number becomes one. */
static void nonsense(void **unused)
{
	static const char *const texts[] = {
		"", "12 W", "0x10", "1e3", "12.5", "-", "99999999999999999999", "<error>"};
	struct sysbench *b = sb_new();

	(void)unused;
	sb_set(b, "name", "x");
	sb_set(b, "power1_input", "1");
	sb_set(b, "power2_input", "2");
	opened(b, "hwmon:hwmon3", SEC);
	for (size_t i = 0; i < WW_COUNTOF(texts); i++) {
		sb_set(b, "power1_input", texts[i]);
		sb_for(b, SEC);
		assert_true(isnan(sb_value(b, -1, "power")));
		SB_NEAR(sb_value(b, -1, "power2"), 2e-6);
	}
	sb_set(b, "power1_input", "77");
	sb_for(b, SEC);
	SB_NEAR(sb_value(b, -1, "power"), 77e-6);
	assert_int_equal(b->log.events, 1);
	sb_close(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_and_steps),    cmocka_unit_test(energy_and_many),
		cmocka_unit_test(product_on_request), cmocka_unit_test(ina3221),
		cmocka_unit_test(backwards),	      cmocka_unit_test(refusals),
		cmocka_unit_test(broken_bus),	      cmocka_unit_test(nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
