/* SPDX-License-Identifier: MIT */
/* Suspends made by hand: one that is well, with three devices, and one that was refused. */
#ifndef TESTS_KCYCLE_H
#define TESTS_KCYCLE_H

#include "report/kernlog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MS WW_NS_PER_MS
#define US WW_NS_PER_US

static inline struct ww_interval at(int64_t ns)
{
	return (struct ww_interval){ns, ns};
}

static inline struct ww_interval none(void)
{
	return WW_INTERVAL_NONE;
}

static inline struct ww_pm_device device(const char *driver, const char *name, int phase,
					 int64_t start, int64_t length)
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

static inline struct ww_pm_span span(int phase, int64_t start, int64_t length)
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

static inline struct ww_pm_cycle good(void)
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

static inline struct ww_pm_cycle refused(void)
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

static inline void has(const struct ww_str *s, const char *want)
{
	assert_false(s->bad);
	if (!s->p || !strstr(s->p, want))
		fail_msg("'%s' is not in\n%s", want, s->p ? s->p : "");
}

static inline void has_not(const struct ww_str *s, const char *what)
{
	assert_false(s->bad);
	if (s->p && strstr(s->p, what))
		fail_msg("'%s' is in\n%s", what, s->p);
}

#endif
