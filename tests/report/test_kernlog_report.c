/* SPDX-License-Identifier: MIT */
/* Suspends as the kernel saw them, made by hand: as text, JSON and CSV. */
#include "kcycle.h"
#include "report/length.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- text ---- */

static void test_text(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = {0};

	(void)state;
	ww_kernlog_text_cycle(&s, &c, 10);
	assert_string_equal(
		s.p,
		"cycle 1: mem, ok, woken by IRQ 9 (acpi); kernel 6.12.0\n"
		"  from 10.000000 s to 10.900000 s, kernel's stamps\n"
		"  suspend  400.000 ms, 310.000 ms without the console\n"
		"  slept    12.345 s\n"
		"  resume   500.0 \xc2\xb1 5.0 ms\n"
		"  firmware 31.000 ms after the wake, by its own figures\n"
		"\n"
		"  phase                        ms  corrected   share\n"
		"  freeze                   20.000              5.0 %  #\n"
		"  suspend                 300.000    210.000  75.0 %  ###############\n"
		"  cpu_offline              60.000             15.0 %  ###\n"
		"  in no phase of suspend   20.000              5.0 %  #\n"
		"  resume_noirq             12.000              2.4 %\n"
		"  resume                  400.000             80.0 %  ################\n"
		"  thaw                      1.235              0.2 %\n"
		"  in no phase of resume    86.765             17.4 %  ###\n"
		"\n"
		"  slowest of 3 callbacks of devices\n"
		"      ms  corrected  critical  phase                             driver device\n"
		" 250.000    240.000            suspend                           sd 0:0:0:0\n"
		" 150.000              140.000  resume   async                    slowpoke slow "
		"\"one\".0\n"
		"  80.000                       resume   async  error -71 EPROTO  usb 1-2\n"
		"\n"
		"        ms  what is no device\n"
		"   192.878  silent gap\n"
		"              after end1: configuring\n"
		"              before ata1: link up\n"
		"\n"
		"  error: usb 1-2 failed to resume: error -71\n"
		"\n"
		"  contradiction: the log says 12.0 ms, ftrace 14.5 ms: resume_noirq\n"
		"\n"
		"  ! the log disturbs what it measures: its 1037 bytes at 115200 baud took 90.0 of "
		"900.0 ms\n");
	ww_str_free(&s);
}

static void test_text_refused(void **state)
{
	struct ww_pm_cycle c = refused();
	struct ww_str s = {0};

	(void)state;
	ww_kernlog_text_cycle(&s, &c, 10);
	assert_string_equal(s.p, "cycle 2: mem, failed in suspend: omap8250 2800000.serial, error "
				 "-16 EBUSY; kernel 6.12.0\n"
				 "  from 10.000000 s to 10.900000 s, kernel's stamps\n");
	ww_str_free(&s);
}

/* What was not seen is said, and what never returned stands first. */
static void test_text_hung(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = {0};
	const char *hung, *longest;

	(void)state;
	c.result = WW_PM_HUNG;
	c.reason.wakeup = "";
	c.resume = none();
	c.t.hi_ns = WW_TIME_MAX;
	devices[2].end_ns = WW_TIME_MAX;
	devices[2].length = none();
	ww_kernlog_text_cycle(&s, &c, 2);
	has(&s, "cycle 1: mem, hung; kernel 6.12.0\n");
	has(&s, "  from 10.000000 s, kernel's stamps; end not seen\n");
	has(&s, "  resume   it never came back\n");
	hung = strstr(s.p, "no return");
	longest = strstr(s.p, "sd 0:0:0:0");
	assert_true(hung && longest && hung < longest);
	has_not(&s, "slowpoke");
	ww_str_free(&s);
}

static void test_text_without_stamps(void **state)
{
	struct ww_pm_cycle c = refused();
	struct ww_str s = {0};

	(void)state;
	c.mode = WW_PM_MODE_UNKNOWN;
	c.clock = WW_PM_CLOCK_NONE;
	c.t = (struct ww_interval){WW_TIME_MIN, WW_TIME_MAX};
	ww_kernlog_text_cycle(&s, &c, 10);
	has(&s, "cycle 2: mode not told, failed");
	has(&s, "the lines have no stamps");
	ww_str_free(&s);
}

/* No line comes while the machine sleeps: that is no gap. */
static void test_text_asleep(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = {0};

	(void)state;
	c.sleep_end.lo_ns = c.sleep_end.hi_ns = c.sleep_begin.hi_ns + 192 * MS;
	others[0].start_ns = c.sleep_begin.lo_ns;
	ww_kernlog_text_others(&s, &c, 10);
	assert_int_equal(s.n, 0);
	c.slept = none();
	ww_kernlog_text_others(&s, &c, 10);
	has(&s, "   192.878  silent gap\n");
	ww_str_free(&s);
}

/* What has a name and a row of its own is not told once more as silence. */
static void test_text_named(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_pm_other both[2] = {others[0], others[0]};
	struct ww_str s = {0};

	(void)state;
	both[1].what = "CPU 3 offline";
	both[1].before = both[1].after = "";
	both[1].start_ns += MS;
	c.other = both;
	c.others = 2;
	ww_kernlog_text_others(&s, &c, 10);
	assert_string_equal(s.p, "\n        ms  what is no device\n   192.878  CPU 3 offline\n");
	ww_str_free(&s);
	/* It was for the smaller part of the silence. */
	both[1].length.lo_ns /= 2;
	both[1].length.hi_ns /= 2;
	ww_kernlog_text_others(&s, &c, 10);
	has(&s, "   192.878  silent gap\n");
	has(&s, "    96.439  CPU 3 offline\n");
	ww_str_free(&s);
}

/* A log must not steer the terminal. */
static void test_text_plain(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = {0};

	(void)state;
	devices[0].name = "evil\x1b[2Jname";
	others[0].before = "\x1b]0;x\x07";
	ww_kernlog_text_cycle(&s, &c, 10);
	ww_kernlog_text_row(&s, &c);
	assert_null(strchr(s.p, 0x1b));
	has(&s, "evil\\x1b[2Jname");
	ww_str_free(&s);
}

/* ---- lengths ---- */

static const char *length(struct ww_interval t, double res_ns, struct ww_str *s)
{
	ww_str_reset(s);
	ww_str_add(s, "");
	ww_put_length(s, t, res_ns);
	return s->p;
}

static void test_lengths(void **state)
{
	struct ww_str s = {0};

	(void)state;
	assert_string_equal(length(at(1776855 * US), 1e3, &s), "1776.855");
	assert_string_equal(length(at(1776855 * US), 1e6, &s), "1777");
	assert_string_equal(length(at(1776855 * US), 1e9, &s), "1777");
	assert_string_equal(length((struct ww_interval){126526 * US, 131129 * US}, 1e3, &s),
			    "128.8 \xc2\xb1 2.4");
	assert_string_equal(length((struct ww_interval){0, 2 * WW_NS_PER_S}, 1e9, &s),
			    "1000 \xc2\xb1 1000");
	/* The kernel cuts its figures off: as it wrote them, beside any stamps. */
	assert_string_equal(length((struct ww_interval){1509 * US, 1510 * US}, 1e3, &s), "1.509");
	assert_string_equal(length((struct ww_interval){500 * US, 501 * US}, 1e9, &s), "0.500");
	assert_string_equal(length((struct ww_interval){1508 * US, 1510 * US}, 1e3, &s), "1.509");
	assert_string_equal(length((struct ww_interval){0, 1 * US}, 1e3, &s), "0.000");
	/* Nothing takes less than no time. */
	assert_string_equal(length((struct ww_interval){0, 13892 * US}, 1e3, &s),
			    "7.0 \xc2\xb1 7.0");
	assert_string_equal(length((struct ww_interval){12 * MS, WW_TIME_MAX}, 1e3, &s),
			    "\xe2\x89\xa5 12.000");
	assert_string_equal(length(none(), 1e3, &s), "");
	ww_str_free(&s);
}

static void test_decimals(void **state)
{
	static const struct {
		int64_t v;
		int digits;
		const char *want;
	} row[] = {{0, 6, "0"},
		   {1500000, 6, "1.5"},
		   {-1, 9, "-0.000000001"},
		   {7, 0, "7"},
		   {1000, 3, "1"},
		   {INT64_MIN, 9, "-9223372036.854775808"},
		   {INT64_MAX, 0, "9223372036854775807"}};
	struct ww_str s = {0};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		ww_str_reset(&s);
		ww_str_decimal(&s, row[i].v, row[i].digits);
		assert_string_equal(s.p, row[i].want);
	}
	ww_str_free(&s);
}

/* ---- JSON ---- */

static struct ww_str json_of(const struct ww_pm_cycle *c)
{
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	ww_json_open(&j, NULL, '{');
	ww_kernlog_json_cycle(&j, c);
	ww_json_close(&j, '}');
	return s;
}

static void test_json(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = json_of(&c);

	(void)state;
	has(&s, "{\"n\":1,\"mode\":\"mem\",\"result\":\"ok\",\"reason\":{\"wakeup\":\"IRQ 9 "
		"(acpi)\"},\"kernel\":\"6.12.0\",\"clock\":\"printk\",\"t_s\":[10,10.9],");
	has(&s, "\"suspend_ms\":{\"value\":400,\"u\":0.000408},");
	has(&s, "\"resume_ms\":{\"value\":500,\"u\":2.89,\"lo\":495,\"hi\":505},");
	has(&s, "\"slept_ms\":{\"value\":12345,\"u\":0.000408},");
	has(&s, "{\"name\":\"thaw\",\"ms\":{\"value\":1.234567,\"u\":0.000408}");
	has(&s, "{\"name\":\"slow \\\"one\\\".0\",\"driver\":\"slowpoke\",\"phase\":\"resume\","
		"\"ms\":{\"value\":150,\"u\":0.000408},\"corrected_ms\":null,"
		"\"start_s\":10.43,\"end_s\":10.58,"
		"\"errno\":0,\"async\":true,\"critical\":true,\"critical_ms\":140,"
		"\"from\":\"log\"}");
	has(&s, "\"errno\":-71,\"async\":true,\"pid\":77,");
	has(&s, "{\"what\":\"silent gap\",\"ms\":{\"value\":192.878,\"u\":0.000408},"
		"\"start_s\":10.6,\"before\":\"end1: configuring\",\"after\":\"ata1: link up\"}");
	has(&s, "\"console\":{\"bytes\":1037,\"baud\":115200,\"ms\":90,\"bound_part\":0.8}");
	has(&s, "\"contradictions\":[\"the log says");
	ww_str_free(&s);
}

static void test_json_unknown(void **state)
{
	struct ww_pm_cycle c = refused();
	struct ww_str s;

	(void)state;
	c.mode = WW_PM_MODE_UNKNOWN;
	c.stamp_res_ns = 0;
	c.suspend = (struct ww_interval){5 * MS, WW_TIME_MAX};
	c.resume = at(7 * MS);
	s = json_of(&c);
	has(&s, "\"mode\":null");
	has(&s, "\"reason\":{\"step\":\"suspend\",\"device\":\"2800000.serial\",\"driver\":"
		"\"omap8250\",\"errno\":-16}");
	has(&s, "\"suspend_ms\":{\"value\":null,\"u\":null,\"why\":\"only a bound is known\","
		"\"lo\":5,\"hi\":null}");
	has(&s, "\"resume_ms\":{\"value\":7,\"u\":null,\"why\":\"its resolution is not known\"}");
	has(&s, "\"slept_ms\":null");
	has(&s, "\"console\":null");
	ww_str_free(&s);
}

/* ---- CSV ---- */

static void test_csv(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = {0};

	(void)state;
	ww_kernlog_csv_cycle(&s, &c);
	assert_string_equal(s.p, "1,mem,ok,suspend,,0:0:0:0,sd,,,10.03,250,250,250,240,,,0,,\n"
				 "1,mem,ok,resume,,\"slow \"\"one\"\".0\",slowpoke,,,10.43,150,150,"
				 "150,,,140,0,1,\n"
				 "1,mem,ok,resume,,1-2,usb,,,10.44,80,80,80,,,,-71,1,77\n");
	ww_str_reset(&s);
	c = refused();
	ww_kernlog_csv_cycle(&s, &c);
	assert_string_equal(s.p, "2,mem,failed,,,,,,,,,,,,,,,,\n");
	ww_str_free(&s);
}

/* ---- many ---- */

static void test_many(void **state)
{
	struct ww_pm_cycle c = good(), bad = refused();
	struct ww_ksum sum = {0};
	struct ww_str s = {0};

	(void)state;
	for (uint32_t i = 1; i <= 300; i++) {
		c.n = i;
		devices[1].length = at((i == 77 ? 900 : 150) * MS + (int64_t)i * US);
		ww_ksum_add(&sum, &c);
	}
	bad.n = 301;
	ww_ksum_add(&sum, &bad);
	bad.n = 302;
	ww_ksum_add(&sum, &bad);
	assert_false(sum.bad);
	ww_kernlog_text_summary(&s, "", &sum, 2);
	has(&s, "\n302 cycles: 300 ok, 2 failed\n");
	has(&s, "  2 x failed in suspend: omap8250 2800000.serial, error -16 EBUSY; first cycle "
		"301\n");
	has(&s, "    without the console  300       2  310.000  310.000");
	has(&s, "  resume, all of it      300          500.000  500.000");
	/* By the time over all cycles: sd is first, and of the other the worst one is told. */
	has(&s, "    250.000  250.000         1    240.000            300  suspend  sd 0:0:0:0\n");
	has(&s, "  900.077        77 ");
	has_not(&s, "usb 1-2");
	ww_ksum_free(&sum);
	ww_str_free(&s);
}

/* Of many values the median stays right though few are kept; of the whole all are. */
static void test_median(void **state)
{
	struct ww_latency_summary all;
	struct ww_pm_cycle c = good();
	struct ww_ksum sum = {0};
	double median;

	(void)state;
	for (uint32_t i = 1; i <= 5001; i++) {
		c.n = i;
		spans[5].length = c.resume = at((int64_t)((i * 1237) % 5001) * US);
		ww_ksum_add(&sum, &c);
	}
	median = ww_ksum_median(&sum.phase[WW_PM_THAW]);
	assert_true(fabs(median - 2.5) < .25);
	assert_int_equal(sum.phase[WW_PM_THAW].n, 5001);
	assert_true(sum.phase[WW_PM_THAW].max == 5.0);
	assert_int_equal(sum.total[WW_KSUM_RESUME].n, 5001);
	assert_int_equal(ww_latency_summarise(sum.total[WW_KSUM_RESUME].v, 5001, 0, &all, NULL), 0);
	assert_true(all.median == 2.5);
	assert_int_equal(sum.total[WW_KSUM_RESUME].most, 5000 * US);
	ww_ksum_free(&sum);
}

/* A machine that never came back has a resume of infinity, one that refused no suspend. */
static void test_never(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_ksum sum = {0};
	struct ww_str s = {0};
	struct ww_json j = {.s = &s};

	(void)state;
	ww_ksum_add(&sum, &c);
	c.result = WW_PM_HUNG;
	for (uint32_t i = 2; i <= 3; i++) {
		c.n = i;
		ww_ksum_add(&sum, &c);
	}
	ww_kernlog_json_summary(&j, NULL, &sum, 0);
	has(&s, "\"suspend_ms\":{\"n\":1,\"failures\":0,\"median\":400,");
	has(&s, "\"resume_ms\":{\"n\":1,\"failures\":2,\"median\":null,");
	ww_str_reset(&s);
	ww_kernlog_text_summary(&s, " by the kernel", &sum, 0);
	has(&s, "\n3 cycles by the kernel: 1 ok, 2 hung\n");
	has(&s, "  resume, all of it      1       2    never  500.000  500.000         1\n");
	ww_ksum_free(&sum);
	ww_str_free(&s);
}

static void test_rows(void **state)
{
	struct ww_pm_cycle c = good();
	struct ww_str s = {0};

	(void)state;
	ww_kernlog_text_head(&s);
	ww_kernlog_text_row(&s, &c);
	devices[0].name = "a name that is much too long for the last column of the table";
	ww_kernlog_text_row(&s, &c);
	c = refused();
	ww_kernlog_text_row(&s, &c);
	assert_string_equal(
		s.p,
		"cycle  mode     result      suspend ms  slept s    resume ms  slowest "
		"callback, or why not\n"
		"    1  mem      ok             400.000   12.345  500.0 \xc2\xb1 5.0  250.000 sd "
		"0:0:0:0, suspend\n"
		"    1  mem      ok             400.000   12.345  500.0 \xc2\xb1 5.0  250.000 sd a "
		"name that is much too ...\n"
		"    2  mem      failed               -        -            -  suspend -16 EBUSY: "
		"omap8250 2800000...\n");
	ww_str_free(&s);
}

/* A full disk is told by name of what it is. */
static void test_full(void **state)
{
	struct ww_error err = {0};
	struct ww_sink k = {.fd = open("/dev/full", O_WRONLY)};

	(void)state;
	assert_true(k.fd >= 0);
	ww_str_add(&k.s, "text");
	assert_int_equal(ww_sink_flush(&k, 5, &err), 0);
	assert_int_equal(ww_sink_flush(&k, 0, &err), -ENOSPC);
	assert_true(strncmp(err.text, "output: ", 8) == 0);
	close(k.fd);
	ww_str_free(&k.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),	     cmocka_unit_test(test_text_refused),
		cmocka_unit_test(test_text_hung),    cmocka_unit_test(test_text_without_stamps),
		cmocka_unit_test(test_text_asleep),  cmocka_unit_test(test_text_plain),
		cmocka_unit_test(test_text_named),   cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_decimals),     cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_unknown), cmocka_unit_test(test_csv),
		cmocka_unit_test(test_many),	     cmocka_unit_test(test_median),
		cmocka_unit_test(test_never),	     cmocka_unit_test(test_rows),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
