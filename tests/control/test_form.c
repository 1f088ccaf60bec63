/* SPDX-License-Identifier: MIT */
/* The texts of actions: what is read, and what is refused with which words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "control/form.h"

static const struct {
	const char *text;
	int kind, level;
	int64_t for_ms, delay_min_ms, delay_max_ms;
} good[] = {
	{"gpio:gpiochip0/17=low,200ms", WW_ACT_GPIO, 0, 200, 0, 0},
	{"gpio:0/PWRBTN=high,1.5s", WW_ACT_GPIO, 1, 1500, 0, 0},
	{"gpio:/dev/gpiochip1/3=high", WW_ACT_GPIO, 1, 0, 0, 0},
	{"gpio:bench/P=low,6s,hold", WW_ACT_GPIO, 0, 6000, 0, 0},
	{"gpio:bench/P=low,hold,6s?drive=open-drain", WW_ACT_GPIO, 0, 6000, 0, 0},
	{"gpio:bench/a%3Db=low,20ms?delay=8ms", WW_ACT_GPIO, 0, 20, 0, 8},
	{"tty:/dev/ttyUSB0?dtr=pulse,200ms&delay=5ms..20ms", WW_ACT_TTY, WW_DRIVE_OTHER, 200, 5,
	 20},
	{"tty:/dev/ttyS0?rts=on", WW_ACT_TTY, 1, 0, 0, 0},
	{"ftdi:?serial=X&rts=off,1s", WW_ACT_FTDI, 0, 1000, 0, 0},
	{"ftdi:X?pin=d7&level=high,30ms&interface=2", WW_ACT_FTDI, 1, 30, 0, 0},
	{"rtc:20s", WW_ACT_RTC, 0, 0, 19000, 21000},
	{"rtc:2m", WW_ACT_RTC, 0, 0, 119000, 121000},
	{"wol:00:11:22:33:44:55", WW_ACT_WOL, 0, 0, 0, 10},
	{"wol:00:11:22:33:44:55?delay=2ms", WW_ACT_WOL, 0, 0, 0, 2},
	{"ssh dut 'echo mem > /sys/power/state'", WW_ACT_COMMAND, 0, 0, 0, 0},
	/* No form begins like this: a shell's business. */
	{"gpioset 0 17=0", WW_ACT_COMMAND, 0, 0, 0, 0},
};

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(good); i++) {
		struct ww_error err = {0};
		struct ww_act a;

		if (ww_act_parse(good[i].text, &a, &err) < 0)
			fail_msg("%s", err.text);
		assert_int_equal(a.kind, good[i].kind);
		assert_string_equal(a.text, good[i].text);
		assert_int_equal(a.drive.level, good[i].level);
		assert_int_equal(a.for_ns, good[i].for_ms * WW_NS_PER_MS);
		assert_int_equal(a.delay_min_ns, good[i].delay_min_ms * WW_NS_PER_MS);
		assert_int_equal(a.delay_max_ns, good[i].delay_max_ms * WW_NS_PER_MS);
		ww_act_free(&a);
	}
}

static void test_parts(void **state)
{
	struct ww_act a;

	(void)state;
	assert_int_equal(ww_act_parse("gpio:a/b/c%3Dd=low,1s?drive=open-source", &a, NULL), 0);
	assert_string_equal(a.chip, "a/b");
	assert_string_equal(a.line, "c=d");
	assert_int_equal(a.drive.type, WW_OPEN_SOURCE);
	ww_act_free(&a);
	assert_int_equal(ww_act_parse("ftdi:?serial=X&pin=C3&level=low,1s", &a, NULL), 0);
	assert_int_equal(a.drive.kind, WW_DRIVE_CBUS);
	assert_int_equal(a.drive.offset, 3);
	assert_string_equal(a.serial, "X");
	ww_act_free(&a);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"", "empty action"},
		{" \t", "empty action"},
		{"gpio:", "expected gpio:CHIP/LINE=LEVEL,TIME"},
		{"gpio:gpiochip0/17", "expected gpio:CHIP/LINE=LEVEL,TIME"},
		{"gpio:/17=low,1s", "expected gpio:CHIP/LINE=LEVEL,TIME"},
		{"gpio:gpiochip0/=low,1s", "expected gpio:CHIP/LINE=LEVEL,TIME"},
		{"gpio:c/17=pulse,1s", "'pulse' is no level: expected low or high"},
		{"gpio:c/17=low,", "expected a length"},
		{"gpio:c/17=low,0", "expected a length"},
		{"gpio:c/17=low,100us", "expected a length"},
		{"gpio:c/17=low,2m,hold", "expected a length"},
		{"gpio:c/17=low,1s,1s", "two lengths"},
		/* What reaches 3 s with the tolerance is refused, and why is said. */
		{"gpio:c/17=low,3s", "held for about 4 s switches a PC off: add ',hold'"},
		{"gpio:c/17=low,2.9s", "add ',hold'"},
		{"gpio:c/17=low,1s?drive=hard", "expected push-pull, open-drain or open-source"},
		{"gpio:c/17=low,1s?delay=9ms..5ms", "5ms..20ms"},
		{"gpio:c/17=low,1s?delay=", "5ms..20ms"},
		{"gpio:c/17=low,1s?dtr=on", "unknown option dtr"},
		{"gpio:c/17=low,1s?delay=1ms&delay=2ms", "is given twice"},
		{"tty:ttyUSB0?dtr=pulse,1s", "expected the path of a port"},
		{"tty:/dev/ttyS0", "expected dtr=, rts="},
		{"tty:/dev/ttyS0?dtr=on,1s&rts=on,1s", "not both"},
		{"tty:/dev/ttyS0?dtr=pulse", "how long is the pulse"},
		{"tty:/dev/ttyS0?dtr=low,1s", "expected pulse, on or off"},
		{"tty:/dev/ttyS0?dtr=on,1s&pin=D1", "unknown option pin"},
		{"ftdi:?pin=E1&level=low,1s", "expected D0 to D7"},
		{"ftdi:?pin=C4&level=low,1s", "expected D0 to D7"},
		{"ftdi:?pin=D1", "which level, and how long"},
		{"ftdi:?pin=D1&level=on,1s", "expected low or high"},
		{"ftdi:?interface=9&dtr=on,1s", "from 1 to 4"},
		{"rtc:", "whole seconds"},
		{"rtc:1500ms", "whole seconds"},
		{"rtc:0s", "whole seconds"},
		{"rtc:20s?delay=1s", "unknown option delay"},
		{"wol:", "address of the DUT's network card"},
		{"wol:00:11:22:33:44:5g", "address of the DUT's network card"},
		{"wol:00:11:22:33:44:55:66", "address of the DUT's network card"},
		{"wol:00:11:22:33:44:55?port=0", "from 1 to 65535"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(bad); i++) {
		struct ww_error err = {0};
		struct ww_act a;

		if (ww_act_parse(bad[i].text, &a, &err) != -EINVAL)
			fail_msg("'%s' was taken", bad[i].text);
		if (!strstr(err.text, bad[i].says))
			fail_msg("'%s': '%s' does not say '%s'", bad[i].text, err.text,
				 bad[i].says);
	}
}

static void test_fill(void **state)
{
	char *s = ww_act_fill("rtcwake -m mem -s {rtc} # {rtc}", 20);

	(void)state;
	assert_string_equal(s, "rtcwake -m mem -s 20 # 20");
	free(s);
	s = ww_act_fill("awk '{rtc}'", 0);
	assert_string_equal(s, "awk '{rtc}'");
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_fill),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
