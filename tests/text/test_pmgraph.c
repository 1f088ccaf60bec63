/* SPDX-License-Identifier: MIT */
/* Headers and footers of pm-graph's files. */
#include "text/ftline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static struct ww_pmgraph g;

static int parse(const char *line)
{
	int kind = ww_pmgraph_parse(line, strlen(line), &g);

	assert_int_equal(kind, g.kind);
	return kind;
}

static void is(struct ww_slice s, const char *want)
{
	assert_int_equal(s.n, strlen(want));
	assert_memory_equal(s.p, want, s.n);
}

static void test_stamp(void **state)
{
	(void)state;
	assert_int_equal(parse("# suspend-033119-070809 box mem 5.1.0-rc2+\n"), WW_PMG_STAMP);
	is(g.host, "box");
	is(g.kernel, "5.1.0-rc2+");
	assert_int_equal(g.mode, WW_PM_MODE_MEM);
	/* date -u -d 2019-03-31T07:08:09 +%s */
	assert_int_equal(g.utc_ns, INT64_C(1554016089) * 1000000000);
	assert_int_equal(parse("# suspend-010100-000000 a-b freeze 4.6.0\r\n"), WW_PMG_STAMP);
	assert_int_equal(g.mode, WW_PM_MODE_S2IDLE);
	assert_int_equal(parse("# hibernate-010100-000000 h disk-shutdown 4.6.0"), WW_PMG_STAMP);
	assert_int_equal(g.mode, WW_PM_MODE_DISK);
	is(g.key, "hibernate");
	assert_int_equal(parse("# suspend-010100-000000 h command 6.0"), WW_PMG_STAMP);
	assert_int_equal(g.mode, WW_PM_MODE_UNKNOWN);
	is(g.text, "command");
	/* no such month, day, hour */
	assert_int_equal(parse("# suspend-133119-070809 box mem 5.1"), WW_PMG_NONE);
	assert_int_equal(parse("# suspend-023119-070809 box mem 5.1"), WW_PMG_NONE);
	assert_int_equal(parse("# suspend-013119-250809 box mem 5.1"), WW_PMG_NONE);
	assert_int_equal(parse("# suspend-0131x9-070809 box mem 5.1"), WW_PMG_NONE);
}

static void test_keys(void **state)
{
	(void)state;
	assert_int_equal(parse("# sysinfo | man:Acme | plat:Box 9 | cpu:fast | numcpu:8"),
			 WW_PMG_SYSINFO);
	is(g.text, "man:Acme | plat:Box 9 | cpu:fast | numcpu:8");
	assert_int_equal(parse("# kparams | BOOT_IMAGE=/vmlinuz quiet"), WW_PMG_KPARAMS);
	is(g.text, "BOOT_IMAGE=/vmlinuz quiet");
	assert_int_equal(parse("# command | sleepgraph -m mem -rtcwake 15"), WW_PMG_COMMAND);
	assert_int_equal(parse("# fwsuspend 11000000 fwresume 223000000"), WW_PMG_FIRMWARE);
	assert_int_equal(g.fwsuspend_ns, 11000000);
	assert_int_equal(g.fwresume_ns, 223000000);
	assert_int_equal(parse("# fwsuspend 11 fwresume x"), WW_PMG_NONE);
	assert_int_equal(parse("# wifi wlan0 reconnected 2.41"), WW_PMG_WIFI);
	is(g.text, "wlan0");
	assert_int_equal(g.dur_ns, 2410000000);
	assert_int_equal(parse("# wifi wlan0 reconnected 3"), WW_PMG_WIFI);
	assert_int_equal(g.dur_ns, 3000000000);
	assert_int_equal(parse("# wifi wlan0 timeout 60"), WW_PMG_WIFI);
	assert_int_equal(g.dur_ns, -1);
	assert_int_equal(parse("# enter_sleep_error Device or resource busy"), WW_PMG_ERROR);
	is(g.text, "Device or resource busy");
	assert_int_equal(parse("# platform-gpecounts: cat /sys/x | eJxL"), WW_PMG_PLATFORM);
	is(g.key, "gpecounts");
	is(g.text, "cat /sys/x | eJxL");
	assert_int_equal(parse("# turbostat C1%:1.2|PC10%:0.00"), WW_PMG_OTHER);
	is(g.text, "C1%:1.2|PC10%:0.00");
	assert_int_equal(parse("# battery battery 99 ac 98"), WW_PMG_OTHER);
	assert_int_equal(parse("# wifi device:wlan0|ip:192.0.2.7"), WW_PMG_OTHER);
	assert_int_equal(parse("# turbostat | C1%:1.2|PC10%:0.00"), WW_PMG_OTHER);
}

static void test_none(void **state)
{
	(void)state;
	assert_int_equal(parse("# tracer: nop"), WW_PMG_NONE);
	assert_int_equal(parse("# entries-in-buffer/entries-written: 744/744   #P:8"), WW_PMG_NONE);
	assert_int_equal(parse("#           TASK-PID   CPU#  ||||    TIMESTAMP  FUNCTION"),
			 WW_PMG_NONE);
	assert_int_equal(parse(""), WW_PMG_NONE);
	assert_int_equal(parse("#"), WW_PMG_NONE);
	assert_int_equal(parse("# wifi"), WW_PMG_NONE);
	assert_int_equal(parse("sysinfo | a"), WW_PMG_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stamp),
					   cmocka_unit_test(test_keys),
					   cmocka_unit_test(test_none)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
