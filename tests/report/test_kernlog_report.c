/* SPDX-License-Identifier: MIT */
/* Suspends as the kernel saw them, made by hand: as text, JSON, CSV and trace events. */
#include "report/events.h"
#include "report/kernlog.h"
#include "report/length.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define MS WW_NS_PER_MS
#define US WW_NS_PER_US

static struct ww_interval at(int64_t ns)
{
	return (struct ww_interval){ns, ns};
}

static struct ww_interval none(void)
{
	return WW_INTERVAL_NONE;
}

static struct ww_pm_device device(const char *driver, const char *name, int phase, int64_t start,
				  int64_t length)
{
	return (struct ww_pm_device){.name = name,
				     .driver = driver,
				     .parent = "",
				     .func = "",
				     .phase = phase,
				     .start_ns = start,
				     .end_ns = start + length,
				     .length = at(length),
				     .corrected = none(),
				     .printed = none(),
				     .pid = -1,
				     .async = -1,
				     .from = 1};
}

static struct ww_pm_span span(int phase, int64_t start, int64_t length)
{
	return (struct ww_pm_span){.phase = phase,
				   .start_ns = start,
				   .end_ns = start + length,
				   .length = at(length),
				   .printed = none(),
				   .traced = none(),
				   .corrected = none()};
}

/* Three devices, six phases, 10 s of uptime at its begin. */
static struct ww_pm_span spans[6];
static struct ww_pm_device devices[3];
static struct ww_pm_other others[1];
static const char *const errors[] = {"usb 1-2 failed to resume: error -71"};
static const char *const against[] = {"the log says 12.0 ms, ftrace 14.5 ms: resume_noirq"};

static struct ww_pm_cycle good(void)
{
	const int64_t t = 10 * WW_NS_PER_S;
	struct ww_pm_cycle c = {.n = 1,
				.mode = WW_PM_MODE_MEM,
				.result = WW_PM_OK,
				.sleeps = 1,
				.t = {t, t + 900 * MS},
				.bench_begin = none(),
				.bench_end = none(),
				.suspend = at(400 * MS),
				.resume = {495 * MS, 505 * MS},
				.slept = at(12345 * MS),
				.suspend_corrected = at(310 * MS),
				.resume_corrected = none(),
				.sleep_begin = at(t + 400 * MS),
				.sleep_end = at(t + 400 * MS),
				.firmware_suspend = none(),
				.firmware_resume = at(31 * MS),
				.network = none(),
				.storage = none(),
				.baud = 115200,
				.console_bytes = 1037,
				.console_ns = 90 * MS,
				.console_bound = .8,
				.clock = WW_PM_CLOCK_PRINTK,
				.kernel = "6.12.0",
				.stamp_res_ns = 1e3};

	c.reason = (struct ww_pm_reason){.step = "",
					 .device = "",
					 .driver = "",
					 .func = "",
					 .task = "",
					 .wakeup = "IRQ 9 (acpi)",
					 .text = ""};
	spans[0] = span(WW_PM_FREEZE, t, 20 * MS);
	spans[1] = span(WW_PM_SUSPEND, t + 20 * MS, 300 * MS);
	spans[1].corrected = at(210 * MS);
	spans[2] = span(WW_PM_CPU_OFF, t + 330 * MS, 60 * MS);
	spans[3] = span(WW_PM_RESUME_NOIRQ, t + 410 * MS, 12 * MS);
	spans[4] = span(WW_PM_RESUME, t + 422 * MS, 400 * MS);
	spans[5] = span(WW_PM_THAW, t + 822 * MS, 1234567);
	devices[0] = device("sd", "0:0:0:0", WW_PM_SUSPEND, t + 30 * MS, 250 * MS);
	devices[0].corrected = at(240 * MS);
	devices[1] = device("slowpoke", "slow \"one\".0", WW_PM_RESUME, t + 430 * MS, 150 * MS);
	devices[1].async = 1;
	devices[1].critical = 1;
	devices[1].critical_ns = 140 * MS;
	devices[2] = device("usb", "1-2", WW_PM_RESUME, t + 440 * MS, 80 * MS);
	devices[2].error = -71;
	devices[2].async = 1;
	devices[2].pid = 77;
	others[0] = (struct ww_pm_other){.what = "silent gap",
					 .before = "end1: configuring",
					 .after = "ata1: link up",
					 .start_ns = t + 600 * MS,
					 .length = at(192878 * US)};
	c.span = spans;
	c.spans = 6;
	c.device = devices;
	c.devices = 3;
	c.other = others;
	c.others = 1;
	c.error = errors;
	c.errors = 1;
	c.contradiction = against;
	c.contradictions = 1;
	return c;
}

static struct ww_pm_cycle refused(void)
{
	struct ww_pm_cycle c = good();

	c.n = 2;
	c.result = WW_PM_FAILED;
	c.reason.step = "suspend";
	c.reason.driver = "omap8250";
	c.reason.device = "2800000.serial";
	c.reason.error = -16;
	c.reason.wakeup = "";
	c.slept = c.resume = c.suspend = c.suspend_corrected = c.firmware_resume = none();
	c.sleep_begin = c.sleep_end = none();
	c.spans = c.devices = c.others = c.errors = c.contradictions = 0;
	c.baud = 0;
	c.console_bytes = 0;
	return c;
}

static void has(const struct ww_str *s, const char *want)
{
	assert_false(s->bad);
	if (!s->p || !strstr(s->p, want))
		fail_msg("'%s' is not in\n%s", want, s->p ? s->p : "");
}

static void has_not(const struct ww_str *s, const char *what)
{
	assert_false(s->bad);
	if (s->p && strstr(s->p, what))
		fail_msg("'%s' is in\n%s", what, s->p);
}

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
		"\"ms\":{\"value\":150,\"u\":0.000408},\"start_s\":10.43,\"end_s\":10.58,"
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

/* ---- trace events ---- */

static char *read_all(int fd)
{
	char *text = calloc(1, 1 << 20);

	assert_non_null(text);
	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	assert_true(read(fd, text, (1 << 20) - 1) > 0);
	return text;
}

static char *events_of(const struct ww_pm_cycle *c, size_t n)
{
	FILE *f = tmpfile();
	struct ww_error err = {0};
	struct ww_events e;
	char *text;

	assert_non_null(f);
	ww_events_open(&e, fileno(f));
	for (size_t i = 0; i < n; i++)
		ww_events_cycle(&e, &c[i]);
	assert_int_equal(ww_events_close(&e, NULL, &err), 0);
	text = read_all(fileno(f));
	fclose(f);
	return text;
}

static void test_events(void **state)
{
	struct ww_pm_cycle c = good();
	char *text = events_of(&c, 1);
	struct ww_str s = {.p = text, .n = strlen(text)};

	(void)state;
	has(&s, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
	has(&s, "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":2,\"args\":{\"name\":"
		"\"phases\"}}");
	has(&s, "{\"name\":\"cycle 1: ok\",\"cat\":\"cycle\",\"ph\":\"X\",\"ts\":10000000,"
		"\"dur\":900000,\"pid\":1,\"tid\":1,\"args\":{\"mode\":\"mem\",");
	has(&s, "{\"name\":\"thaw\",\"cat\":\"phase\",\"ph\":\"X\",\"ts\":10822000,"
		"\"dur\":1234.567,\"pid\":1,\"tid\":2,");
	/* Two that overlap are in two lanes. */
	has(&s, "\"ts\":10430000,\"dur\":150000,\"pid\":1,\"tid\":6,");
	has(&s, "\"ts\":10440000,\"dur\":80000,\"pid\":1,\"tid\":7,");
	free(text);
}

/* A clock that begins again is another boot: its slices must not lie on the first one's. */
static void test_events_boot(void **state)
{
	struct ww_pm_cycle c[2] = {good(), good()};
	char *text = events_of(c, 2);
	struct ww_str s = {.p = text, .n = strlen(text)};

	(void)state;
	has(&s, "\"args\":{\"name\":\"kernel, boot 2\"}}");
	has(&s, "\"dur\":900000,\"pid\":2,");
	free(text);
}

static void test_events_unplaced(void **state)
{
	struct ww_pm_cycle c = good();
	char *text;
	struct ww_str s;

	(void)state;
	c.t.lo_ns = WW_TIME_MIN;
	text = events_of(&c, 1);
	s = (struct ww_str){.p = text, .n = strlen(text)};
	has(&s, "\"traceEvents\":[],");
	has(&s, "\"cycles without times\":1");
	free(text);
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
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_refused),
		cmocka_unit_test(test_text_hung),
		cmocka_unit_test(test_text_without_stamps),
		cmocka_unit_test(test_text_asleep),
		cmocka_unit_test(test_text_plain),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_decimals),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_json_unknown),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_never),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_events_boot),
		cmocka_unit_test(test_events_unplaced),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
