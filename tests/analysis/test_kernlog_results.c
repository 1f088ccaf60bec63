/* SPDX-License-Identifier: MIT */
/* How suspends end, and what logs of little knowledge still tell of them. */
#include "kernlogread.h"

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
	/* The wire lost a byte of its first line. */
	read_all(DOWN "[    0.000000 Linux version 9.9.1 (a@b) (gcc) #1 SMP\n"
		      "[    0.000000] Command line: quiet\n"
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

static void test_no_stamps(void **state)
{
	(void)state;
	read_all("PM: Syncing filesystems ... done.\n"
		 "Freezing user space processes ... (elapsed 0.002 seconds) done.\n"
		 "PM: suspend of devices complete after 51.307 msecs\n"
		 "Disabling non-boot CPUs ...\nCPU1: shutdown\nCPU1 is up\n"
		 "PM: resume of devices complete after 219.448 msecs\n"
		 "Restarting tasks ... done.\n");
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_int_equal(cycle[0]->clock, WW_PM_CLOCK_NONE);
	holds(span(0, WW_PM_RESUME)->length, 219448 * WW_NS_PER_US, WW_NS_PER_US);
	assert_true(cycle[0]->suspend.lo_ns > cycle[0]->suspend.hi_ns);
	assert_non_null(strstr(notes, "without stamps"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),	      cmocka_unit_test(test_aborted),
		cmocka_unit_test(test_rolled_back),   cmocka_unit_test(test_pm_test),
		cmocka_unit_test(test_no_return),     cmocka_unit_test(test_s2idle),
		cmocka_unit_test(test_hibernation),   cmocka_unit_test(test_journal),
		cmocka_unit_test(test_slept_by_host), cmocka_unit_test(test_no_stamps),
		cmocka_unit_test(test_backwards),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	return rc;
}
