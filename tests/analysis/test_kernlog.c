/* SPDX-License-Identifier: MIT */
/*
 * Suspends out of texts: what happened when is stated by the texts, which are composed from
 * the grammar; how the text is cut into pieces changes nothing.
 */
#include "kernlogtext.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define MS WW_NS_PER_MS

enum { CYCLES_MAX = 16 };

static struct ww_pm_cycle *cycle[CYCLES_MAX];
static char notes[4096], input[256];

static void forget(void)
{
	for (size_t i = 0; i < CYCLES_MAX; i++) {
		ww_pm_cycle_free(cycle[i]);
		cycle[i] = NULL;
	}
}

/* @return number of cycles of these texts */
static size_t take(struct ww_text *const *text, size_t n)
{
	struct ww_error err = {0};
	struct ww_kernlog *k = NULL;
	const struct ww_pm_cycle *c;
	size_t got = 0;
	int rc;

	forget();
	if (ww_kernlog_new(text, n, NULL, &k, &err) < 0)
		fail_msg("%s", err.text);
	while ((rc = ww_kernlog_next(k, &c, &err)) == 1) {
		assert_true(got < CYCLES_MAX);
		assert_int_equal(c->n, got + 1);
		cycle[got] = ww_pm_cycle_copy(c, 0);
		assert_non_null(cycle[got++]);
	}
	if (rc < 0)
		fail_msg("%s", err.text);
	snprintf(input, sizeof(input), "%s", ww_kernlog_input(k, 0));
	assert_null(ww_kernlog_input(k, n));
	notes[0] = '\0';
	for (size_t i = 0; ww_kernlog_note(k, i); i++) {
		strncat(notes, ww_kernlog_note(k, i), sizeof(notes) - strlen(notes) - 2);
		strncat(notes, "\n", sizeof(notes) - strlen(notes) - 1);
	}
	ww_kernlog_free(k);
	return got;
}

static size_t read_in(const char *p, size_t step)
{
	static struct memory_text m;
	struct ww_text *t = &m.base;

	memory_text(&m, p, strlen(p), step);
	return take(&t, 1);
}

static size_t read_all(const char *p)
{
	size_t n = read_in(p, 1), i;
	struct ww_interval s[CYCLES_MAX];

	for (i = 0; i < n; i++)
		s[i] = cycle[i]->suspend;
	assert_int_equal(read_in(p, 7), n);
	assert_int_equal(read_in(p, 0), n);
	for (i = 0; i < n; i++) {
		assert_true(s[i].lo_ns == cycle[i]->suspend.lo_ns);
		assert_true(s[i].hi_ns == cycle[i]->suspend.hi_ns);
	}
	return n;
}

static const struct ww_pm_span *span(size_t i, int phase)
{
	for (size_t k = 0; k < cycle[i]->spans; k++)
		if (cycle[i]->span[k].phase == phase)
			return &cycle[i]->span[k];
	fail_msg("no phase %s", ww_pm_phase_name(phase));
	return NULL;
}

static const struct ww_pm_device *device(size_t i, const char *name, int phase)
{
	for (size_t k = 0; k < cycle[i]->devices; k++)
		if (!strcmp(cycle[i]->device[k].name, name) && cycle[i]->device[k].phase == phase)
			return &cycle[i]->device[k];
	fail_msg("no device %s in %s", name, ww_pm_phase_name(phase));
	return NULL;
}

static const struct ww_pm_other *other(size_t i, const char *what)
{
	for (size_t k = 0; k < cycle[i]->others; k++)
		if (!strcmp(cycle[i]->other[k].what, what))
			return &cycle[i]->other[k];
	fail_msg("no %s", what);
	return NULL;
}

/* The truth lies in the interval, and the interval is no wider than told. */
static void holds(struct ww_interval v, int64_t truth, int64_t width)
{
	if (v.lo_ns > truth || v.hi_ns < truth || v.hi_ns - v.lo_ns > width)
		fail_msg("%lld not in [%lld, %lld]", (long long)truth, (long long)v.lo_ns,
			 (long long)v.hi_ns);
}

/* Entry at 100 s; asleep between 100.260 and 100.270; awake again until the thaw at 100.500. */
#define DOWN                                                                                       \
	"[  100.000000] PM: suspend entry (deep)\n"                                                \
	"[  100.010000] Filesystems sync: 0.009 seconds\n"                                         \
	"[  100.012000] Freezing user space processes\n"                                           \
	"[  100.015000] Freezing user space processes completed (elapsed 0.003 seconds)\n"         \
	"[  100.016000] OOM killer disabled.\n"                                                    \
	"[  100.017000] Freezing remaining freezable tasks\n"                                      \
	"[  100.019000] Freezing remaining freezable tasks completed (elapsed 0.001 seconds)\n"    \
	"[  100.020000] printk: Suspending console(s) (use no_console_suspend to debug)\n"         \
	"[  100.200000] PM: suspend of devices complete after 179.500 msecs\n"                     \
	"[  100.201000] PM: start suspend of devices complete after 179.900 msecs\n"               \
	"[  100.210000] PM: late suspend of devices complete after 8.500 msecs\n"                  \
	"[  100.220000] PM: noirq suspend of devices complete after 9.000 msecs\n"                 \
	"[  100.230000] Disabling non-boot CPUs ...\n"                                             \
	"[  100.245000] psci: CPU1 killed (polled 0 ms)\n"                                         \
	"[  100.260000] psci: CPU2 killed (polled 4 ms)\n"
#define UP                                                                                         \
	"[  100.270000] Enabling non-boot CPUs ...\n"                                              \
	"[  100.280000] CPU1 is up\n"                                                              \
	"[  100.290000] CPU2 is up\n"                                                              \
	"[  100.300000] PM: noirq resume of devices complete after 9.000 msecs\n"                  \
	"[  100.310000] PM: early resume of devices complete after 9.500 msecs\n"                  \
	"[  100.480000] PM: resume of devices complete after 169.000 msecs\n"                      \
	"[  100.490000] OOM killer enabled.\n"                                                     \
	"[  100.495000] Restarting tasks: Starting\n"                                              \
	"[  100.500000] Restarting tasks: Done\n"                                                  \
	"[  100.550000] PM: suspend exit\n"

static void test_whole(void **state)
{
	const struct ww_pm_span *s;

	(void)state;
	assert_int_equal(read_all("root@board:~# " DOWN UP), 1);
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_MEM);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_int_equal(cycle[0]->clock, WW_PM_CLOCK_PRINTK);
	holds(cycle[0]->suspend, 265 * MS, 11 * MS);
	holds(cycle[0]->resume, 235 * MS, 11 * MS);
	assert_true(cycle[0]->slept.lo_ns > cycle[0]->slept.hi_ns);
	assert_true(cycle[0]->t.lo_ns == 100000 * MS && cycle[0]->t.hi_ns == 100550 * MS);
	/* Both freezes are one phase, by stamps; devices' phases as they are printed. */
	holds(span(0, WW_PM_FREEZE)->length, 7 * MS, 2 * WW_NS_PER_US);
	s = span(0, WW_PM_SUSPEND);
	holds(s->length, 179500 * WW_NS_PER_US, WW_NS_PER_US);
	assert_true(s->end_ns == 100200 * MS && s->start_ns == s->end_ns - 179500 * WW_NS_PER_US);
	holds(span(0, WW_PM_PREPARE)->length, 400 * WW_NS_PER_US, 2 * WW_NS_PER_US);
	holds(span(0, WW_PM_CPU_OFF)->length, 30 * MS, 2 * WW_NS_PER_US);
	holds(span(0, WW_PM_CPU_ON)->length, 20 * MS, 2 * WW_NS_PER_US);
	holds(span(0, WW_PM_THAW)->length, 5 * MS, 2 * WW_NS_PER_US);
	holds(other(0, "CPU 2 offline")->length, 15 * MS, 2 * WW_NS_PER_US);
	/* 180 ms and 170 ms without a line; what stands around. */
	holds(other(0, "silent gap")->length, 180 * MS, 2 * WW_NS_PER_US);
	assert_string_equal(other(0, "silent gap")->after,
			    "PM: suspend of devices complete after 179.500 msecs");
	assert_non_null(strstr(other(0, "silent gap")->before, "Suspending console(s)"));
	assert_string_equal(input, "kernel text, kernel stamps");
}

static void test_two_cycles(void **state)
{
	(void)state;
	assert_int_equal(read_all(DOWN UP "[  102.000000] e1000e 0000:00:1f.6 eth0: NIC Link is Up "
					  "1000 Mbps Full Duplex, Flow Control: None\n"
					  "[  300.000000] a line of something else\n" DOWN UP),
			 2);
	/* From the wake, which lies between 100.260 and 100.270. */
	holds(cycle[0]->network, 1735 * MS, 11 * MS);
	assert_true(cycle[1]->network.lo_ns > cycle[1]->network.hi_ns);
	assert_int_equal(cycle[1]->result, WW_PM_OK);
}

static void test_refused(void **state)
{
	(void)state;
	read_all("[   10.000000] PM: suspend entry (s2idle)\n"
		 "[   10.010000] Freezing user space processes ... (elapsed 0.003 seconds) done.\n"
		 "[   10.020000] Suspending console(s) (use no_console_suspend to debug)\n"
		 "[   10.100000] PM: pci_pm_suspend(): foo_suspend+0x0/0x20 returns -16\n"
		 "[   10.100100] PM: dpm_run_callback(): pci_pm_suspend+0x0/0x1b0 returns -16\n"
		 "[   10.100200] PM: Device 0000:00:14.0 failed to suspend async: error -16\n"
		 "[   10.100300] PM: Some devices failed to suspend, or early wake event detected\n"
		 "[   10.200000] OOM killer enabled.\n"
		 "[   10.210000] Restarting tasks ... done.\n"
		 "[   10.220000] PM: suspend exit\n");
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_S2IDLE);
	assert_string_equal(cycle[0]->reason.step, "suspend");
	assert_string_equal(cycle[0]->reason.device, "0000:00:14.0");
	assert_string_equal(cycle[0]->reason.func, "foo_suspend");
	assert_int_equal(cycle[0]->reason.error, -16);
	assert_int_equal(cycle[0]->reason.async, 1);
	assert_true(cycle[0]->suspend.lo_ns > cycle[0]->suspend.hi_ns);
	holds(other(0, "attempt without a sleep")->length, 215 * MS, 11 * MS);
	read_all(
		"[   10.000000] PM: suspend entry (deep)\n"
		"[   10.010000] Freezing user space processes ... \n"
		"[   30.020000] Freezing of tasks failed after 20.009 seconds (1 tasks refusing to "
		"freeze, wq_busy=0):\n"
		"[   30.030000] task:nfsd            state:D stack:    0 pid:  128 ppid:   116 "
		"flags:0x00000081\n"
		"[   30.050000] PM: suspend exit\n");
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "freeze");
	assert_string_equal(cycle[0]->reason.task, "nfsd");
	assert_int_equal(span(0, WW_PM_FREEZE)->failed, 1);
	holds(span(0, WW_PM_FREEZE)->length, 20010 * MS, 2 * WW_NS_PER_US);
}

static void test_aborted(void **state)
{
	(void)state;
	read_all("[   10.000000] PM: suspend entry (deep)\n"
		 "[   10.010000] Freezing user space processes ... \n"
		 "[   10.020000] PM: Wakeup pending, aborting suspend\n"
		 "[   10.020100] PM: last active wakeup source: alarmtimer\n"
		 "[   10.020200] Freezing of tasks aborted after 0.010 seconds\n"
		 "[   10.030000] OOM killer enabled.\n"
		 "[   10.031000] Restarting tasks ... done.\n"
		 "[   10.050000] PM: suspend exit\n");
	assert_int_equal(cycle[0]->result, WW_PM_ABORTED);
	assert_string_equal(cycle[0]->reason.step, "freeze");
	assert_string_equal(cycle[0]->reason.wakeup, "alarmtimer");
}

/* The roll-back of the noirq phase is told before its failure is. */
static void test_rolled_back(void **state)
{
	(void)state;
	read_all("[   10.000000] PM: suspend entry (s2idle)\n"
		 "[   10.020000] Suspending console(s) (use no_console_suspend to debug)\n"
		 "[   10.100000] PM: suspend of devices complete after 79.000 msecs\n"
		 "[   10.110000] PM: late suspend of devices complete after 9.000 msecs\n"
		 "[   10.140000] PM: noirq resume of devices complete after 17.000 msecs\n"
		 "[   10.140100] PM: noirq suspend of devices failed\n"
		 "[   10.150000] PM: early resume of devices complete after 9.000 msecs\n"
		 "[   10.250000] PM: resume of devices complete after 99.000 msecs\n"
		 "[   10.260000] Restarting tasks ... done.\n");
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "suspend_noirq");
	assert_int_equal(span(0, WW_PM_RESUME_NOIRQ)->nested, 1);
	assert_int_equal(span(0, WW_PM_RESUME)->nested, 0);
	assert_true(cycle[0]->resume.lo_ns > cycle[0]->resume.hi_ns);
}

static void test_pm_test(void **state)
{
	(void)state;
	read_all("[   10.000000] PM: suspend entry (deep)\n"
		 "[   10.020000] Suspending console(s) (use no_console_suspend to debug)\n"
		 "[   10.100000] PM: suspend of devices complete after 79.000 msecs\n"
		 "[   10.101000] PM: suspend debug: Waiting for 5 second(s).\n"
		 "[   15.301000] PM: resume of devices complete after 199.000 msecs\n"
		 "[   15.310000] Restarting tasks: Starting\n"
		 "[   15.320000] Restarting tasks: Done\n");
	assert_int_equal(cycle[0]->result, WW_PM_TEST);
	holds(cycle[0]->suspend, 101 * MS, 2 * WW_NS_PER_US);
	/* It starts when the five seconds are over. */
	holds(cycle[0]->resume, 219 * MS, 2 * WW_NS_PER_US);
}

static void test_no_return(void **state)
{
	(void)state;
	read_all(DOWN);
	assert_int_equal(cycle[0]->result, WW_PM_TRUNCATED);
	read_all(DOWN "\nU-Boot 2031.01 (Jan 01 2031 - 00:00:00 +0000)\n\n"
		      "[    0.000000] Linux version 9.9.1 (a@b) (gcc) #1 SMP\n"
		      "[    2.000000] another line\n");
	assert_int_equal(cycle[0]->result, WW_PM_RESET);
	read_all(DOWN "[  130.000000] rcu: INFO: rcu_sched self-detected stall on CPU\n"
		      "[  160.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s!\n");
	assert_int_equal(cycle[0]->result, WW_PM_HUNG);
	/* Its begin is not there, its end is. */
	read_all(UP);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_true(cycle[0]->t.lo_ns == WW_TIME_MIN);
	assert_true(cycle[0]->suspend.lo_ns > cycle[0]->suspend.hi_ns);
	assert_true(cycle[0]->resume.lo_ns <= cycle[0]->resume.hi_ns);
}

/* The hardware slept twice in one suspend: 3.320 s and 0.739 s. */
static void test_s2idle(void **state)
{
	(void)state;
	read_all("[   20.000000] PM: suspend entry (s2idle)\n"
		 "[   20.100000] PM: suspend-to-idle\n"
		 "[   20.110000] Timekeeping suspended for 3.320 seconds\n"
		 "[   20.110000] PM: Triggering wakeup from IRQ 9\n"
		 "[   20.150000] Timekeeping suspended for 0.739 seconds\n"
		 "[   20.149990] PM: Triggering wakeup from IRQ 7\n"
		 "[   20.151000] PM: resume from suspend-to-idle\n"
		 "[   20.200000] PM: resume of devices complete after 40.000 msecs\n"
		 "[   20.210000] Restarting tasks: Starting\n"
		 "[   20.220000] Restarting tasks: Done\n");
	assert_int_equal(cycle[0]->sleeps, 2);
	holds(cycle[0]->slept, 4059 * MS, 2 * MS);
	holds(cycle[0]->suspend, 100 * MS, 2 * WW_NS_PER_US);
	holds(cycle[0]->resume, 69 * MS, 2 * WW_NS_PER_US);
	assert_string_equal(cycle[0]->reason.wakeup, "IRQ 9; IRQ 7");
}

static void test_devices(void **state)
{
	const struct ww_pm_device *d;

	(void)state;
	read_all("[   10.000000] PM: suspend entry (deep)\n"
		 "[   10.020000] Suspending console(s) (use no_console_suspend to debug)\n"
		 "[   10.030000] calling  Fixed MDIO bus.0+ @ 77, parent: platform\n"
		 "[   10.040240] call Fixed MDIO bus.0+ returned 0 after 10000 usecs\n"
		 "[   10.050000] calling  1-1+ @ 77, parent: usb1\n"
		 "[   10.051000] calling  1-1+ @ 99, parent: usb1\n"
		 "[   10.071480] call 1-1+ returned -71 after 20000 usecs\n"
		 "[   10.080720] call 1-1+ returned 0 after 30000 usecs\n"
		 "[   10.090000] calling  sda+ @ 77, parent: host0\n"
		 "[   10.100000] call sdb+ returned 0 after 5000 usecs\n"
		 "[   10.110000] PM: suspend of devices complete after 89.000 msecs\n");
	/* Stamps are 1.024 times the figure: units of 1024 ns, and printed ones are mended. */
	d = device(0, "Fixed MDIO bus.0", WW_PM_SUSPEND);
	holds(d->length, 10240 * WW_NS_PER_US, 2 * WW_NS_PER_US);
	holds(d->printed, 10240 * WW_NS_PER_US, 2 * WW_NS_PER_US);
	assert_string_equal(d->parent, "platform");
	assert_int_equal(d->pid, 77);
	holds(device(0, "sdb", WW_PM_SUSPEND)->length, 5120 * WW_NS_PER_US, 2 * WW_NS_PER_US);
	assert_true(device(0, "sda", WW_PM_SUSPEND)->end_ns == WW_TIME_MAX);
	assert_int_equal(cycle[0]->devices, 5);
	assert_non_null(strstr(notes, "1024 ns here"));
}

/* No line tells the phases, the calls do: each device once in each. */
static void test_phases_by_calls(void **state)
{
	const struct ww_pm_span *s;

	(void)state;
	read_all(
		"[   10.000000] PM: suspend entry (deep)\n"
		"[   10.020000] Freezing remaining freezable tasks\n"
		"[   10.030000] Freezing remaining freezable tasks completed (elapsed 0.009 "
		"seconds)\n"
		"[   10.040000] foo a: PM: calling foo_suspend+0x0/0x20 @ 7, parent: b\n"
		"[   10.060000] foo a: PM: foo_suspend+0x0/0x20 returned 0 after 19990 usecs\n"
		"[   10.070000] foo a: PM: calling foo_suspend+0x0/0x20 @ 7, parent: b\n"
		"[   10.080000] foo a: PM: foo_suspend+0x0/0x20 returned 0 after 9990 usecs\n"
		"[   10.090000] foo a: PM: calling foo_suspend_noirq+0x0/0x20 @ 7, parent: b\n"
		"[   10.095000] foo a: PM: foo_suspend_noirq+0x0/0x20 returned 0 after 4990 usecs\n"
		"[   10.100000] Disabling non-boot CPUs ...\n"
		"[   10.110000] Enabling non-boot CPUs ...\n"
		"[   10.120000] pci x: PM: calling pci_pm_resume+0x0/0x20 @ 7, parent: b\n"
		"[   10.150000] pci x: PM: pci_pm_resume+0x0/0x20 returned 0 after 29990 usecs\n"
		"[   10.160000] Restarting tasks: Starting\n"
		"[   10.170000] Restarting tasks: Done\n");
	assert_int_equal(device(0, "a", WW_PM_SUSPEND_LATE)->from, 1);
	assert_int_equal(device(0, "a", WW_PM_SUSPEND_NOIRQ)->from, 1);
	assert_int_equal(device(0, "x", WW_PM_RESUME)->from, 1);
	s = span(0, WW_PM_SUSPEND);
	/* From its first call to its last return, at least; from the freeze to the late at most. */
	assert_true(s->length.lo_ns == 20 * MS && s->length.hi_ns == 40 * MS);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
}

static void test_wrapped(void **state)
{
	const struct ww_pm_device *d;

	(void)state;
	read_all("[  114.600000] port 10.serial:0: PM: calling\n"
		 "force_suspend+0x0/0x134 @ 114, parent: 10.serial\n"
		 "[  114.610000] port 10.serial:0: PM:\n"
		 "force_suspend+0x0/0x134 returned -16 after 9990 usecs\n"
		 "[  114.620000] PM: Some devices failed to suspend, or early wake event\n"
		 "detected\n");
	d = device(0, "10.serial:0", WW_PM_SUSPEND);
	holds(d->length, 10 * MS, 2 * WW_NS_PER_US);
	assert_int_equal(d->error, -16);
	assert_int_equal(cycle[0]->devices, 1);
	assert_int_equal(cycle[0]->result, WW_PM_ABORTED);
}

static void test_no_stamps(void **state)
{
	(void)state;
	read_all("PM: Syncing filesystems ... done.\n"
		 "Freezing user space processes ... (elapsed 0.002 seconds) done.\n"
		 "PM: suspend of devices complete after 49.228 msecs\n"
		 "Disabling non-boot CPUs ...\nCPU1: shutdown\nCPU1 is up\n"
		 "PM: resume of devices complete after 223.182 msecs\n"
		 "Restarting tasks ... done.\n");
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_int_equal(cycle[0]->clock, WW_PM_CLOCK_NONE);
	holds(span(0, WW_PM_RESUME)->length, 223182 * WW_NS_PER_US, WW_NS_PER_US);
	assert_true(cycle[0]->suspend.lo_ns > cycle[0]->suspend.hi_ns);
	assert_non_null(strstr(notes, "without stamps"));
}

/* Whole seconds: 2 s between two stamps are 1 to 3. */
static void test_journal(void **state)
{
	(void)state;
	read_all("Apr 19 06:34:37 box kernel: PM: suspend entry (deep)\n"
		 "Apr 19 06:34:37 box kernel: Filesystems sync: 0.006 seconds\n"
		 "Apr 19 06:34:38 box kernel: Disabling non-boot CPUs ...\n"
		 "Apr 19 06:34:38 box kernel: smpboot: CPU 1 is now offline\n"
		 "Apr 19 06:44:38 box kernel: Enabling non-boot CPUs ...\n"
		 "Apr 19 06:44:40 box kernel: CPU1 is up\n"
		 "Apr 19 06:44:40 box kernel: Restarting tasks ... done.\n"
		 "Apr 19 06:44:40 box kernel: PM: suspend exit\n");
	assert_int_equal(cycle[0]->clock, WW_PM_CLOCK_HOST);
	holds(span(0, WW_PM_SYNC)->length, 6 * MS, MS);
	holds(other(0, "silent gap")->length, 600000 * MS, 2000 * MS);
	assert_true(cycle[0]->suspend.lo_ns <= 1500 * MS && cycle[0]->suspend.hi_ns >= 1500 * MS);
}

/* Two hours by the log's clock, 5 s of them by the kernel's: an idle that its clock counts. */
static void test_slept_by_host(void **state)
{
	(void)state;
	read_all("May  3 21:20:01 box kernel: [  600.000000] PM: suspend entry (s2idle)\n"
		 "May  3 23:20:01 box kernel: [  600.020000] Freezing user space processes\n"
		 "May  3 23:20:01 box kernel: [  600.300000] PM: suspend-to-idle\n"
		 "May  3 23:20:01 box kernel: [  605.300000] PM: resume from suspend-to-idle\n"
		 "May  3 23:20:01 box kernel: [  605.900000] Restarting tasks: Starting\n"
		 "May  3 23:20:01 box kernel: [  605.901000] Restarting tasks: Done\n");
	holds(cycle[0]->slept, 7199000 * MS, 8000 * MS);
	holds(cycle[0]->suspend, 300 * MS, 2 * WW_NS_PER_US);
}

static const char FTRACE[] =
	"# tracer: nop\n#\n"
	"  sh-12  [000] ....   500.000000: suspend_resume: suspend_enter[3] begin\n"
	"  sh-12  [000] ....   500.000001: suspend_resume: sync_filesystems[0] begin\n"
	"  sh-12  [000] ....   500.010000: suspend_resume: sync_filesystems[0] end\n"
	"  sh-12  [000] ....   500.012000: suspend_resume: freeze_processes[0] begin\n"
	"  sh-12  [000] ....   500.019000: suspend_resume: freeze_processes[0] end\n"
	"  sh-12  [000] ....   500.020100: suspend_resume: dpm_prepare[2] begin\n"
	"  sh-12  [000] ....   500.020500: suspend_resume: dpm_prepare[2] end\n"
	"  sh-12  [000] ....   500.020500: suspend_resume: dpm_suspend[2] begin\n"
	"  kworker/u8:1-33  [001] ....   500.030000: device_pm_callback_start: sd 0:0:0:0, parent: "
	"target0:0:0, bus [suspend]\n"
	"  sh-12  [000] ....   500.031000: device_pm_callback_start:  ata6, parent: host0, type "
	"[suspend]\n"
	"  sh-12  [000] ....   500.032000: device_pm_callback_end:  ata6, err=-5\n"
	"  kworker/u8:1-33  [001] ....   500.130000: device_pm_callback_end: sd 0:0:0:0, err=0\n"
	"  sh-12  [000] ....   500.200000: suspend_resume: dpm_suspend[2] end\n"
	"  sh-12  [000] ....   500.201000: suspend_resume: dpm_suspend_late[2] begin\n"
	"  sh-12  [000] ....   500.209500: suspend_resume: dpm_suspend_late[2] end\n"
	"  sh-12  [000] ....   500.211000: suspend_resume: dpm_suspend_noirq[2] begin\n"
	"  sh-12  [000] ....   500.220000: suspend_resume: dpm_suspend_noirq[2] end\n"
	"  sh-12  [000] ....   500.230000: suspend_resume: CPU_OFF[1] begin\n"
	"  sh-12  [000] ....   500.245000: suspend_resume: CPU_OFF[1] end\n"
	"  sh-12  [000] ....   500.262000: suspend_resume: machine_suspend[3] begin\n"
	"  sh-12  [000] ....   500.264000: suspend_resume: acpi_suspend[3] begin\n"
	"  sh-12  [000] ....   500.265000: suspend_resume: acpi_suspend[3] end\n"
	"  sh-12  [000] ....   500.268000: suspend_resume: machine_suspend[3] end\n"
	"  sh-12  [000] ....   500.268100: lost_cal: (lost+0x0/0xa0)\n"
	"  sh-12  [000] ....   500.270000: suspend_resume: CPU_ON[1] begin\n"
	"  sh-12  [000] ....   500.280000: suspend_resume: CPU_ON[1] end\n"
	"  sh-12  [000] ....   500.281000: finish_cal: (finish+0x0/0xa0)\n"
	"  sh-12  [000] ....   500.282000: within_cal: (within+0x0/0xa0)\n"
	"  other-9  [001] ....   500.283000: beside_cal: (beside+0x0/0xa0)\n"
	"  other-9  [001] ....   500.286000: beside_ret: (x+0x1/0x2 <- beside) arg1=0x0\n"
	"  sh-12  [000] ....   500.288000: within_ret: (finish+0x1/0xa0 <- within) arg1=0x0\n"
	"  sh-12  [000] ....   500.290000: finish_ret: (x+0x1/0x2 <- finish) arg1=0x0\n"
	"  sh-12  [000] ....   500.291000: suspend_resume: dpm_resume_noirq[16] begin\n"
	"  sh-12  [000] ....   500.300000: suspend_resume: dpm_resume_noirq[16] end\n"
	"  sh-12  [000] ....   500.311000: suspend_resume: dpm_resume[16] begin\n"
	"  sh-12  [000] ....   500.480000: suspend_resume: dpm_resume[16] end\n"
	"  sh-12  [000] ....   500.480000: suspend_resume: dpm_complete[16] begin\n"
	"  sh-12  [000] ....   500.489000: suspend_resume: dpm_complete[16] end\n"
	"  sh-12  [000] ....   500.495000: suspend_resume: thaw_processes[0] begin\n"
	"  sh-12  [000] ....   500.500000: suspend_resume: thaw_processes[0] end\n";

static void test_ftrace(void **state)
{
	const struct ww_pm_device *d;

	(void)state;
	assert_int_equal(read_all(FTRACE), 1);
	assert_string_equal(input, "ftrace text");
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_MEM);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	holds(cycle[0]->suspend, 264 * MS, 2 * WW_NS_PER_US);
	holds(cycle[0]->resume, 235 * MS, 2 * WW_NS_PER_US);
	holds(span(0, WW_PM_SUSPEND)->traced, 179500 * WW_NS_PER_US, 2 * WW_NS_PER_US);
	holds(span(0, WW_PM_COMPLETE)->length, 9 * MS, 2 * WW_NS_PER_US);
	holds(other(0, "CPU 1 offline")->length, 15 * MS, 2 * WW_NS_PER_US);
	/* A function of the task that suspends, not what is within it or beside it. */
	holds(other(0, "finish()")->length, 9 * MS, 0);
	for (size_t i = 0; i < cycle[0]->others; i++) {
		assert_null(strstr(cycle[0]->other[i].what, "beside"));
		assert_null(strstr(cycle[0]->other[i].what, "within"));
	}
	d = device(0, "ata6", WW_PM_SUSPEND);
	assert_string_equal(d->driver, "");
	assert_int_equal(d->error, -5);
	assert_int_equal(d->async, 0);
	d = device(0, "0:0:0:0", WW_PM_SUSPEND);
	assert_int_equal(d->async, 1);
	holds(d->length, 100 * MS, 2 * WW_NS_PER_US);
}

static void test_pair(void **state)
{
	static struct memory_text a, b;
	struct ww_text *t[2] = {&a.base, &b.base};

	(void)state;
	for (int order = 0; order < 2; order++) {
		memory_text(&a, DOWN UP, strlen(DOWN UP), 100);
		memory_text(&b, FTRACE, strlen(FTRACE), 33);
		t[0] = order ? &b.base : &a.base;
		t[1] = order ? &a.base : &b.base;
		assert_int_equal(take(t, 2), 1);
		holds(span(0, WW_PM_SUSPEND)->printed, 179500 * WW_NS_PER_US, WW_NS_PER_US);
		holds(span(0, WW_PM_SUSPEND)->traced, 179500 * WW_NS_PER_US, 2 * WW_NS_PER_US);
		assert_int_equal(device(0, "0:0:0:0", WW_PM_SUSPEND)->from, 2);
	}
	/* Two of a kind are no pair. */
	memory_text(&a, DOWN UP, strlen(DOWN UP), 100);
	memory_text(&b, DOWN UP, strlen(DOWN UP), 100);
	assert_int_equal(take(t, 2), 2);
	assert_non_null(strstr(notes, "no pair"));
}

/* A kernel boots in the middle to fetch the image; its clock is another one. */
static void test_hibernation(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("[  100.000000] PM: hibernation entry\n"
			 "[  100.010000] PM: Syncing filesystems ... done.\n"
			 "[  100.700000] PM: freeze of devices complete after 190.100 msecs\n"
			 "[  100.900000] PM: Creating hibernation image:\n"
			 "[  101.100000] PM: Hibernation image created (780000 pages copied)\n"
			 "[  101.300000] PM: thaw of devices complete after 99.000 msecs\n"
			 "[  108.300000] PM: Wrote 3120000 kbytes in 7.00 seconds (445.71 MB/s)\n"
			 "[  108.500000] PM: hibernate of devices complete after 190.000 msecs\n"
			 "[    0.000000] Linux version 4.9.0 (a@b) (gcc) #1 SMP\n"
			 "[    2.530000] PM: Loading and decompressing image data (780000 "
			 "pages)...\n"
			 "[    5.600000] PM: quiesce of devices complete after 60.000 msecs\n"
			 "[  101.200000] Enabling non-boot CPUs ...\n"
			 "[  101.210000] CPU1 is up\n"
			 "[  101.900000] PM: restore of devices complete after 599.000 msecs\n"
			 "[  101.950000] Restarting tasks: Starting\n"
			 "[  101.960000] Restarting tasks: Done\n"
			 "[  101.990000] PM: hibernation exit\n"),
		1);
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_DISK);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	holds(cycle[0]->suspend, 8500 * MS, 2 * WW_NS_PER_US);
	holds(cycle[0]->resume, 760 * MS, 2 * WW_NS_PER_US);
	/* The same without a way back. */
	assert_int_equal(read_all("[  100.000000] PM: hibernation entry\n"
				  "[  108.500000] PM: hibernate of devices complete after 190.000 "
				  "msecs\n"
				  "[    0.000000] Linux version 4.9.0 (a@b) (gcc) #1 SMP\n"
				  "[    9.000000] something else\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_RESET);
}

/* The bench's time of the entry's first byte and of the last one of the thaw. */
static void test_bench_times(void **state)
{
	static struct memory_text m;
	struct ww_text *t = &m.base;
	const char *text = "# " DOWN UP, *done = strstr(text, "Done\n");

	(void)state;
	for (size_t step = 1; step < 200; step += 99) {
		memory_text(&m, text, strlen(text), step);
		m.t0 = 1000 * WW_NS_PER_S;
		m.byte_ns = 86806;
		m.width = 1000;
		assert_int_equal(take(&t, 1), 1);
		assert_true(cycle[0]->bench_begin.lo_ns == m.t0 + 2 * m.byte_ns);
		assert_true(cycle[0]->bench_end.hi_ns ==
			    m.t0 + (done + 4 - text) * m.byte_ns + m.width);
	}
}

/* A cycle that never ends holds no more memory than its caps allow. */
static void test_endless(void **state)
{
	static char text[24 << 20];
	size_t n = 0;

	(void)state;
	n += (size_t)snprintf(text, sizeof(text), "%s", DOWN);
	for (int i = 0; i < 200000; i++)
		n += (size_t)
			snprintf(text + n, sizeof(text) - n,
				 "[  100.26%04d] foo d%d: PM: calling foo_suspend+0x0/0x1 @ 1, "
				 "parent: p\n",
				 i % 10000, i);
	assert_true(n < sizeof(text) - 1);
	assert_int_equal(read_in(text, 0), 1);
	assert_true(cycle[0]->devices < 70000);
	assert_true(cycle[0]->devices + cycle[0]->devices_left_out == 200000);
	assert_non_null(strstr(notes, "more lines or callbacks than are kept"));
}

static void test_nothing(void **state)
{
	struct ww_error err = {0};
	struct ww_kernlog *k = NULL;

	(void)state;
	assert_int_equal(read_all("a line\nanother\n"), 0);
	assert_non_null(strstr(notes, "no line of a suspend in 2 lines"));
	assert_int_equal(read_all(""), 0);
	assert_int_equal(ww_kernlog_new(NULL, 0, NULL, &k, &err), -EINVAL);
	assert_null(k);
	ww_kernlog_free(NULL);
	ww_pm_cycle_free(NULL);
}

/* The newest line first, as a journal can be asked for. */
static void test_backwards(void **state)
{
	char text[8192], *to = text + sizeof(text) - 1;
	const char *p = DOWN UP;

	(void)state;
	*to = '\0';
	while (*p) {
		size_t n = strcspn(p, "\n") + 1;

		to -= n;
		memcpy(to, p, n);
		p += n;
	}
	assert_int_equal(read_all(to), 1);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	holds(cycle[0]->resume, 235 * MS, 11 * MS);
	assert_non_null(strstr(notes, "backwards"));
}

/* A copy of few keeps the failed ones, then the longest. */
static void test_copy(void **state)
{
	struct ww_pm_cycle *few;

	(void)state;
	read_all(FTRACE);
	few = ww_pm_cycle_copy(cycle[0], 1);
	assert_non_null(few);
	assert_int_equal(few->devices, 1);
	assert_string_equal(few->device[0].name, "ata6");
	assert_true(few->devices_left_out == cycle[0]->devices - 1);
	assert_int_equal(few->spans, cycle[0]->spans);
	ww_pm_cycle_free(few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),	      cmocka_unit_test(test_two_cycles),
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_aborted),
		cmocka_unit_test(test_rolled_back),   cmocka_unit_test(test_pm_test),
		cmocka_unit_test(test_no_return),     cmocka_unit_test(test_s2idle),
		cmocka_unit_test(test_devices),	      cmocka_unit_test(test_phases_by_calls),
		cmocka_unit_test(test_wrapped),	      cmocka_unit_test(test_no_stamps),
		cmocka_unit_test(test_journal),	      cmocka_unit_test(test_ftrace),
		cmocka_unit_test(test_pair),	      cmocka_unit_test(test_hibernation),
		cmocka_unit_test(test_bench_times),   cmocka_unit_test(test_endless),
		cmocka_unit_test(test_slept_by_host), cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_nothing),	      cmocka_unit_test(test_copy),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	return rc;
}
