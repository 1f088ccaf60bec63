/* SPDX-License-Identifier: MIT */
/* IIO: units of the kernel's interface, layouts of scans, times, losses, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "meter/iioscan.h"
#include "sysbench.h"

#define MS  WW_NS_PER_MS
#define SEC WW_NS_PER_S

/* As the kernel's ina2xx-adc shows an INA226 with 10 mOhm. */
static struct sysbench *ina226(void)
{
	static const char *const rows[][2] = {
		{"buffer/enable", "0"},
		{"buffer/length", "2"},
		{"current_timestamp_clock", "realtime"},
		{"in_current3_raw", "-2032"},
		{"in_current3_scale", "0.250000000"},
		{"in_oversampling_ratio", "4"},
		{"in_power2_raw", "488"},
		{"in_power2_scale", "6.250000000"},
		{"in_sampling_frequency", "113"},
		{"in_voltage0_integration_time", "0.001100"},
		{"in_voltage0_raw", "2032"},
		{"in_voltage0_scale", "0.002500000"},
		{"in_voltage1_integration_time", "0.001100"},
		{"in_voltage1_raw", "4800"},
		{"in_voltage1_scale", "1.250000000"},
		{"name", "ina226"},
		{"scan_elements/in_current3_en", "0"},
		{"scan_elements/in_current3_index", "3"},
		{"scan_elements/in_current3_type", "le:s16/16>>0"},
		{"scan_elements/in_power2_en", "0"},
		{"scan_elements/in_power2_index", "2"},
		{"scan_elements/in_power2_type", "le:u16/16>>0"},
		{"scan_elements/in_timestamp_en", "0"},
		{"scan_elements/in_timestamp_index", "4"},
		{"scan_elements/in_timestamp_type", "le:s64/64>>0"},
		{"scan_elements/in_voltage0_en", "0"},
		{"scan_elements/in_voltage0_index", "0"},
		{"scan_elements/in_voltage0_type", "le:s16/16>>0"},
		{"scan_elements/in_voltage1_en", "0"},
		{"scan_elements/in_voltage1_index", "1"},
		{"scan_elements/in_voltage1_type", "le:u16/16>>0"},
	};
	struct sysbench *b = sb_new();

	for (size_t i = 0; i < WW_COUNTOF(rows); i++)
		sb_set(b, rows[i][0], rows[i][1]);
	return b;
}

static void opened(struct sysbench *b, const char *uri, int64_t every)
{
	if (sb_open(b, uri, every) < 0)
		fail_msg("%s", b->err.text);
	sb_start(b);
}

static void polled(void **unused)
{
	struct sysbench *b = ina226();
	struct ww_meter_shape s;

	(void)unused;
	opened(b, "iio:device0?buffer=0", 0);
	s = ww_meter_shape(b->log.m, b->log.state);
	assert_int_equal(s.channels, 4);
	/* 4 times two conversions of 1.1 ms. */
	assert_int_equal(s.window_ns, 8800000);
	assert_int_equal(s.period_ns, 8800000);
	SB_NEAR(sb_value(b, 0, "power"), 3.05);
	SB_NEAR(sb_value(b, 0, "current"), -0.508);
	SB_NEAR(sb_value(b, 0, "voltage"), 6);
	SB_NEAR(sb_value(b, 0, "shunt"), 2032 * 2.5e-6);
	assert_string_equal(sb_channel(b, "shunt").quantity, "other");
	SB_NEAR(sb_channel(b, "power").resolution, 6.25e-3);
	assert_int_equal(sb_channel(b, "power").semantics, WW_AVERAGE);
	assert_int_equal(b->row[0].code[0], 488);
	sb_for(b, SEC);
	assert_true(b->rows > 100);
	SB_HAS_NO(b, "buffer=");
	sb_close(b);
}

static const uint8_t *scan(int64_t at)
{
	static uint8_t p[16];
	const int16_t v[4] = {2032, 4800, 488, -2032};

	memcpy(p, v, sizeof(v));
	memcpy(p + 8, &at, sizeof(at));
	return p;
}

static void feed_scans(struct sysbench *b, int64_t arrived, const int64_t *at, size_t n)
{
	uint8_t p[1 + 16 * 64];

	p[0] = 'B';
	for (size_t i = 0; i < n; i++)
		memcpy(p + 1 + 16 * i, scan(at[i]), 16);
	sb_feed(b, (struct ww_interval){arrived - MS, arrived}, p, 1 + 16 * n);
}

static void run_buffer(struct sysbench *b, const char *uri)
{
	sb_set(b, "buffer", "");
	opened(b, uri, 0);
	assert_string_equal(sb_get(b, "current_timestamp_clock"), "boottime");
	assert_string_equal(sb_get(b, "scan_elements/in_voltage1_en"), "1");
	assert_string_equal(sb_get(b, "scan_elements/in_timestamp_en"), "1");
	SB_HAS(b, "send buffer=");
}

static void buffered(void **unused)
{
	struct sysbench *b = ina226();
	int64_t at[3], t0;

	(void)unused;
	run_buffer(b, "ina226:iio:device0");
	t0 = b->log.now_ns;
	for (int k = 0; k < 20; k++) {
		at[0] = t0 + k * 27 * MS;
		at[1] = at[0] + 9 * MS;
		at[2] = at[1] + 9 * MS;
		feed_scans(b, at[2] + MS / 2, at, 3);
	}
	assert_int_equal(b->rows, 60);
	SB_NEAR(sb_value(b, 59, "power"), 3.05);
	SB_NEAR(sb_value(b, 59, "current"), -0.508);
	/* The kernel's own stamp: of no width. */
	assert_true(b->row[59].t.lo_ns == at[2] && b->row[59].t.hi_ns == at[2]);
	assert_int_equal(b->log.losses + b->log.events + b->log.fails, 0);
	assert_int_equal(ww_meter_shape(b->log.m, b->log.state).period_ns, 8800000);
	/* 90 ms without a scan where 9 are usual: nine are missing, between these two. */
	at[0] = at[2] + 90 * MS;
	feed_scans(b, at[0] + MS, at, 1);
	assert_int_equal(b->log.losses, 1);
	SB_HAS(b, " 9 overrun\n");
	sb_for(b, 30 * SEC);
	SB_HAS(b, " -1 silent\n");
	assert_int_equal(b->log.fails, 0);
	sb_close(b);
}

/* A stamp of another clock, or one that goes back, is none: the arrival is. */
static void foreign_stamps(void **unused)
{
	struct sysbench *b = ina226();
	int64_t at[2], t0;

	(void)unused;
	run_buffer(b, "iio:device0?buffer=32");
	SB_HAS(b, "send buffer=32\n");
	t0 = b->log.now_ns + SEC;
	at[0] = INT64_C(1764533000000000000);
	at[1] = -5;
	feed_scans(b, t0, at, 2);
	assert_int_equal(b->rows, 2);
	assert_true(b->row[0].t.lo_ns == t0 - MS && b->row[0].t.hi_ns == t0);
	assert_true(b->row[1].t.hi_ns == t0);
	assert_int_equal(b->log.events, 1);
	at[0] = t0 + 9 * MS;
	at[1] = t0 + 5 * MS;
	feed_scans(b, t0 + 10 * MS, at, 2);
	for (size_t i = 1; i < b->rows; i++)
		assert_true(b->row[i].t.hi_ns >= b->row[i - 1].t.hi_ns);
	/* Half a scan is none. */
	sb_feed(b, (struct ww_interval){t0, t0 + SEC}, "Bxxxxxxx", 8);
	assert_int_equal(b->rows, 4);
	SB_HAS(b, "no whole scans of 16");
	sb_close(b);
}

static void without_permission(void **unused)
{
	struct sysbench *b = ina226();

	(void)unused;
	sb_set(b, "buffer", "!EACCES");
	opened(b, "iio:device0", 0);
	SB_HAS(b, "its buffer cannot be used (EACCES): its files are polled");
	SB_NEAR(sb_value(b, 0, "power"), 3.05);
	assert_int_equal(b->log.fails, 0);
	sb_close(b);
	b = ina226();
	sb_set(b, "buffer", "!EACCES");
	opened(b, "iio:device0?buffer=64", 0);
	SB_HAS(b, "fail -13 its buffer cannot be used (EACCES)");
	SB_HAS(b, "udev rule");
	sb_close(b);
	/* Somebody else has it. */
	b = ina226();
	sb_set(b, "buffer", "!EBUSY");
	opened(b, "iio:device0", 0);
	SB_HAS(b, "(EBUSY)");
	assert_int_equal(b->rows, 1);
	sb_close(b);
	/* Slower than it converts was asked for: polled without a word. */
	b = ina226();
	sb_set(b, "buffer", "");
	opened(b, "iio:device0", SEC);
	SB_HAS_NO(b, "buffer");
	sb_for(b, 10 * SEC);
	assert_int_equal(b->rows, 11);
	sb_close(b);
}

static void other_devices(void **unused)
{
	struct sysbench *b = sb_new();

	(void)unused;
	/* One scale and one offset for all, a negative scale, finished energy. */
	sb_set(b, "name", "adc");
	sb_set(b, "in_voltage0_raw", "100");
	sb_set(b, "in_voltage5_raw", "200");
	sb_set(b, "in_voltage_scale", "-0.5");
	sb_set(b, "in_voltage_offset", "10");
	sb_set(b, "in_energy1_input", "7200");
	sb_set(b, "in_current0_raw", "5");
	opened(b, "iio:device0", 0);
	assert_int_equal(b->log.channels, 3);
	SB_NEAR(sb_value(b, 0, "voltage"), -0.055);
	SB_NEAR(sb_value(b, 0, "voltage5"), -0.105);
	SB_NEAR(sb_value(b, 0, "energy"), 2);
	assert_int_equal(sb_channel(b, "energy").semantics, WW_COUNTER);
	assert_true(sb_channel(b, "voltage").scale > 0);
	sb_close(b);
	b = ina226();
	assert_int_equal(sb_open(b, "ina219:iio:device0", 0), -ENODEV);
	assert_non_null(strstr(b->err.text, "'ina226', not 'ina219'"));
	sb_close(b);
	b = sb_new();
	sb_set(b, "name", "bmp280");
	sb_set(b, "in_pressure_input", "100");
	assert_int_equal(sb_open(b, "iio:device0", 0), -ENODEV);
	sb_close(b);
}

static void scan_types(void **unused)
{
	static const char *const bad[] = {"",
					  "le",
					  "le:",
					  "xe:u8/8>>0",
					  "le:f32/32>>0",
					  "le:u0/8>>0",
					  "le:u12/17>>0",
					  "le:u12/16>>8",
					  "le:u12/16>>0x",
					  "le:u12/16X>>0",
					  "le:u12/16X99>>0",
					  "le:u65/64>>0",
					  "le:u12"};
	static const uint8_t raw[] = {0x12, 0x34, 0xf5, 0xe6, 0x80, 0, 0, 0,
				      0xfe, 0xff, 0xff, 0xff, 0,    0, 0, 0x80};
	struct ww_scan s = {.n = 4};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(bad); i++)
		assert_false(ww_scan_type(bad[i], strlen(bad[i]), &s.e[0]));
	assert_true(ww_scan_type("le:s64/64>>0", 12, &s.e[0]));
	assert_true(ww_scan_type("be:s12/16>>4", 12, &s.e[1]));
	assert_true(ww_scan_type("be:u16/16>>0", 12, &s.e[2]));
	assert_true(ww_scan_type("le:u8/8", 7, &s.e[3]));
	for (unsigned i = 0; i < 4; i++) {
		s.e[i].index = (unsigned[]){9, 3, 1, 5}[i];
		s.e[i].on = true;
	}
	assert_true(ww_scan_layout(&s));
	assert_int_equal(s.bytes, 16);
	assert_int_equal(ww_scan_value(&s.e[0], raw), 0x1234);
	/* The upper twelve bits, and their sign. */
	assert_int_equal(ww_scan_value(&s.e[1], raw), -162);
	assert_int_equal(ww_scan_value(&s.e[2], raw), 0x80);
	assert_int_equal(s.e[3].at, 8);
	assert_true(ww_scan_value(&s.e[3], raw) == INT64_MIN + 0xfffffffe);
	s.e[2].on = false;
	assert_true(ww_scan_layout(&s));
	s.e[1].index = s.e[0].index;
	assert_false(ww_scan_layout(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(polled),	  cmocka_unit_test(buffered),
		cmocka_unit_test(foreign_stamps), cmocka_unit_test(without_permission),
		cmocka_unit_test(other_devices),  cmocka_unit_test(scan_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
