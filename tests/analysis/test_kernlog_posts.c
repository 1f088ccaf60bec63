/* SPDX-License-Identifier: MIT */
/* Logs as people post them: grepped, cut, with remarks, lines of failures alone. */
#include "kernlogread.h"

static void test_remarks(void **state)
{
	(void)state;
	assert_int_equal(read_all(
				 "[   10.000000] PM: suspend entry (s2idle)          [12/345]\n"
				 "[   10.010000] Filesystems sync: 0.009 seconds\n"
				 "[   10.020000] Freezing user space processes\n"
				 "[   30.020000] Freezing user space processes failed after 20.000 "
				 "seconds (1 tasks refusing to freeze, wq_busy=0):\n"
				 "[   30.100000] PM: suspend exit       <- at once\n"
				 "[   31.000000] PM: suspend entry (deep)   <- once more\n"),
			 2);
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_S2IDLE);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_int_equal(cycle[1]->mode, WW_PM_MODE_MEM);
	assert_int_equal(cycle[1]->result, WW_PM_TRUNCATED);
}

/* What grep -i freezing leaves. */
static void test_freezes_alone(void **state)
{
	(void)state;
	assert_int_equal(read_all(
				 "[   10.000000] Freezing user space processes\n"
				 "[   30.001000] Freezing user space processes failed after 20.001 "
				 "seconds (2 tasks refusing to freeze, wq_busy=0):\n"
				 "[   31.000000] Freezing user space processes\n"
				 "[   51.004000] Freezing user space processes failed after 20.004 "
				 "seconds (1 tasks refusing to freeze, wq_busy=0):\n"
				 "[   60.000000] Freezing user space processes\n"
				 "[   60.002000] Freezing user space processes completed (elapsed "
				 "0.001 seconds)\n"),
			 3);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	holds(span(0, WW_PM_FREEZE)->length, 20001 * MS, 2 * WW_NS_PER_US);
	assert_int_equal(cycle[1]->result, WW_PM_FAILED);
	holds(span(1, WW_PM_FREEZE)->length, 20004 * MS, 2 * WW_NS_PER_US);
	assert_int_equal(cycle[2]->result, WW_PM_TRUNCATED);
}

/* What dmesg --level err leaves. */
static void test_errors_alone(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("[  100.000000] foo 0000:09:00.0: PM: pci_pm_suspend(): nfoo_suspend "
			 "[foo] returns -5\n"
			 "[  100.000100] foo 0000:09:00.0: PM: dpm_run_callback(): pci_pm_suspend "
			 "returns -5\n"
			 "[  100.000200] foo 0000:09:00.0: PM: failed to suspend async: error -5\n"
			 "[  100.200000] PM: Some devices failed to suspend, or early wake event "
			 "detected\n"
			 "[  101.000000] bar 2-1: PM: dpm_run_callback(): usb_dev_suspend returns "
			 "-16\n"
			 "[  101.000200] bar 2-1: PM: failed to suspend async: error -16\n"
			 "[  101.200000] PM: Some devices failed to suspend, or early wake event "
			 "detected\n"),
		2);
	assert_string_equal(cycle[0]->reason.device, "0000:09:00.0");
	assert_string_equal(cycle[0]->reason.func, "nfoo_suspend");
	assert_int_equal(cycle[0]->reason.error, -5);
	assert_string_equal(cycle[1]->reason.device, "2-1");
	assert_int_equal(cycle[1]->reason.error, -16);
}

/* The line that names the device was dropped: its callback's names it, too. */
static void test_callback_alone(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("[  100.000000] PM: suspend entry (deep)\n"
			 "[  100.100000] foo 0000:09:00.0: PM: pci_pm_suspend(): cfoo_suspend "
			 "returns -16\n"
			 "[  100.200000] PM: Some devices failed to suspend, or early wake event "
			 "detected\n"
			 "[  100.300000] PM: suspend exit\n"),
		1);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "suspend");
	assert_string_equal(cycle[0]->reason.device, "0000:09:00.0");
	assert_string_equal(cycle[0]->reason.driver, "foo");
	assert_string_equal(cycle[0]->reason.func, "cfoo_suspend");
	assert_int_equal(cycle[0]->reason.error, -16);
}

/* The step is that of the line which tells it, not of the first one in the text. */
static void test_abort_alone(void **state)
{
	(void)state;
	assert_int_equal(read_all("PM: Wakeup pending, aborting suspend\n"
				  "PM: active wakeup source: mmc7\n"
				  "PM: suspend of devices aborted after 151.615 msecs\n"
				  "PM: Some devices failed to suspend, or early wake event "
				  "detected\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_ABORTED);
	assert_string_equal(cycle[0]->reason.step, "suspend");
	assert_string_equal(cycle[0]->reason.wakeup, "mmc7");
}

/* No task refuses; of the queues that are listed one has work under way. */
static void test_busy_queue(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("[   10.000000] PM: suspend entry (deep)\n"
			 "[   10.010000] Freezing remaining freezable tasks\n"
			 "[   30.020000] Freezing remaining freezable tasks failed after 20.009 "
			 "seconds (0 tasks refusing to freeze, wq_busy=1):\n"
			 "[   30.030000] Showing busy workqueues and worker pools:\n"
			 "[   30.031000] workqueue foo_idle_wq: flags=0x4e\n"
			 "[   30.032000]   pwq 8: cpus=0-3 flags=0x4 nice=0 active=0/0 refcnt=3\n"
			 "[   30.033000]     delayed: foo_idle_fn\n"
			 "[   30.034000] workqueue foo_hub_wq: flags=0x4\n"
			 "[   30.035000]   pwq 4: cpus=2 node=0 flags=0x0 nice=0 active=1/0 "
			 "refcnt=2\n"
			 "[   30.036000]     in-flight: 489:foo_hub_event for 17s\n"
			 "[   30.050000] PM: suspend exit\n"),
		1);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.task, "foo_hub_wq");
	assert_string_equal(cycle[0]->reason.func, "foo_hub_event");
}

/* A processor that does not go off, without the line that begins it. */
static void test_processor_stays(void **state)
{
	(void)state;
	assert_int_equal(read_all("[   10.000000] PM: suspend entry (deep)\n"
				  "[   11.000000] CPU 31 has 116 vectors, 85 available. Cannot "
				  "disable CPU\n"
				  "[   11.001000] Error taking CPU31 down: -28\n"
				  "[   11.001100] Non-boot CPUs are not disabled\n"
				  "[   11.002000] ACPI: PM: Waking up from system sleep state S3\n"
				  "[   12.000000] OOM killer enabled.\n"
				  "[   12.001000] Restarting tasks ... done.\n"
				  "[   12.010000] PM: suspend exit\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "cpu_offline");
	assert_int_equal(cycle[0]->reason.error, -28);
}

/* The kernel that boots for the image reads it; that is no writing, and no failure of it. */
static void test_image_read(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("[    9.000000] PM: resume from hibernation\n"
			 "[    9.001000] Freezing user space processes ... (elapsed 0.001 seconds) "
			 "done.\n"
			 "[    9.010000] PM: Loading and decompressing image data (486874 "
			 "pages)...\n"
			 "[   11.600000] PM: Image loading done\n"
			 "[   11.600100] PM: Read 1947496 kbytes in 2.59 seconds (751.92 MB/s)\n"
			 "[   11.700000] PM: pci_pm_freeze(): foo_suspend+0x0/0x30 returns -16\n"
			 "[   11.700100] PM: Device 0000:09:05.1 failed to quiesce async: error "
			 "-16\n"
			 "[   11.800000] PM: quiesce of devices aborted after 173.282 msecs\n"
			 "[   12.300000] PM: recover of devices complete after 473.039 msecs\n"
			 "[   12.310000] PM: Failed to load hibernation image, recovering.\n"
			 "[   12.350000] OOM killer enabled.\n"
			 "[   12.351000] Restarting tasks ... done.\n"),
		1);
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_DISK);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.device, "0000:09:05.1");
	holds(span(0, WW_PM_IMAGE_READ)->length, 2590 * MS, 10 * MS);
	assert_int_equal(span(0, WW_PM_IMAGE_READ)->failed, 0);
	for (size_t i = 0, n = 0; i < cycle[0]->spans; i++)
		assert_true((n += cycle[0]->span[i].phase == WW_PM_IMAGE_READ) <= 1);
}

/* Eight hours between two lines of before the sleep: the daemon that stamps them slept, too. */
static void test_stamped_at_once(void **state)
{
	(void)state;
	read_all("2024-06-05T00:08:58.500000-04:00 box kernel: PM: suspend entry (deep)\n"
		 "2024-06-05T00:08:59.400000-04:00 box kernel: Filesystems sync: 0.814 seconds\n"
		 "2024-06-05T08:40:43.736077-04:00 box kernel: Freezing user space processes\n"
		 "2024-06-05T08:40:43.736107-04:00 box kernel: Freezing user space processes "
		 "completed (elapsed 0.041 seconds)\n"
		 "2024-06-05T08:40:43.736110-04:00 box kernel: ACPI: EC: interrupt blocked\n"
		 "2024-06-05T08:40:43.736114-04:00 box kernel: Disabling non-boot CPUs ...\n"
		 "2024-06-05T08:40:43.736115-04:00 box kernel: smpboot: CPU 1 is now offline\n"
		 "2024-06-05T08:40:43.736116-04:00 box kernel: ACPI: PM: Low-level resume "
		 "complete\n"
		 "2024-06-05T08:40:43.736117-04:00 box kernel: Enabling non-boot CPUs ...\n"
		 "2024-06-05T08:40:43.736118-04:00 box kernel: CPU1 is up\n"
		 "2024-06-05T08:40:43.736130-04:00 box kernel: Restarting tasks ... done.\n"
		 "2024-06-05T08:40:43.736131-04:00 box kernel: PM: suspend exit\n");
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_true(cycle[0]->suspend.lo_ns > cycle[0]->suspend.hi_ns);
	assert_true(cycle[0]->resume.lo_ns > cycle[0]->resume.hi_ns);
	holds(span(0, WW_PM_FREEZE)->length, 41 * MS, MS);
	holds(span(0, WW_PM_SYNC)->length, 814 * MS, MS);
	assert_true(span(0, WW_PM_CPU_OFF)->length.lo_ns > span(0, WW_PM_CPU_OFF)->length.hi_ns);
	for (size_t i = 0; i < cycle[0]->others; i++)
		assert_null(strstr(cycle[0]->other[i].what, "notifiers"));
	assert_non_null(strstr(notes, "frozen, too"));
	holds(cycle[0]->slept, 30700000 * MS, 10100 * MS);
	/* A second apart or not at all: the freeze tells that nothing can be read from that. */
	read_all("2024-06-05T00:08:58.500000-04:00 box kernel: PM: suspend entry (deep)\n"
		 "2024-06-05T00:08:59.736077-04:00 box kernel: Freezing user space processes\n"
		 "2024-06-05T00:08:59.736107-04:00 box kernel: Freezing user space processes "
		 "completed (elapsed 0.041 seconds)\n"
		 "2024-06-05T00:08:59.736110-04:00 box kernel: foo 0000:09:00.0: PM: failed to "
		 "suspend: error -5\n"
		 "2024-06-05T00:08:59.736114-04:00 box kernel: Restarting tasks ... done.\n"
		 "2024-06-05T00:08:59.736115-04:00 box kernel: PM: suspend exit\n");
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	holds(span(0, WW_PM_FREEZE)->length, 41 * MS, MS);
	assert_true(span(0, WW_PM_THAW)->length.lo_ns > span(0, WW_PM_THAW)->length.hi_ns);
}

/* A notifier says no before anything is done. */
static void test_turned_away(void **state)
{
	(void)state;
	assert_int_equal(read_all("[   26.455369] PM: hibernation: hibernation entry\n"
				  "[   26.458271] foo_mem foo0: hibernation is not supported.\n"
				  "[   26.462498] PM: hibernation: hibernation exit\n"
				  "[   36.000000] PM: suspend entry (deep)\n"
				  "[   38.000000] PM: suspend exit\n"),
			 2);
	assert_int_equal(cycle[0]->mode, WW_PM_MODE_DISK);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "suspend_notifiers");
	assert_string_equal(cycle[0]->reason.text, "foo_mem foo0: hibernation is not supported.");
	/* Only these lines were kept of a good one. */
	assert_int_equal(cycle[1]->result, WW_PM_OK);
}

static void test_watchdog(void **state)
{
	(void)state;
	assert_int_equal(read_all("foo_pci 0000:09:00.0: command 20486 timeout\n"
				  "bar80211 phy7: PM: **** DPM device timeout ****\n"
				  "Call Trace:\n panic+0x125/0x315\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_HUNG);
	assert_string_equal(cycle[0]->reason.device, "phy7");
	assert_string_equal(cycle[0]->reason.driver, "bar80211");
	/* A warning since 2025: it came back after all. */
	assert_int_equal(read_all(DOWN
				  "[  100.270000] Enabling non-boot CPUs ...\n"
				  "[  100.280000] CPU1 is up\n"
				  "[  110.300000] foo 2-1:1.0: **** DPM device timeout after 10 "
				  "seconds; 15 seconds until panic ****\n"
				  "[  111.490000] OOM killer enabled.\n"
				  "[  111.495000] Restarting tasks: Starting\n"
				  "[  111.500000] Restarting tasks: Done\n"
				  "[  111.550000] PM: suspend exit\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_string_equal(cycle[0]->reason.device, "");
	assert_int_equal(cycle[0]->errors, 1);
	assert_non_null(strstr(cycle[0]->error[0], "2-1:1.0"));
}

/* Quoted so often that one sentence needs three lines. */
static void test_three_lines(void **state)
{
	(void)state;
	assert_int_equal(read_all("> > > [  100.000000] PM: suspend entry (deep)\n"
				  "> > > [  102.000000] PM: suspend of devices aborted after\n"
				  "> > > 1833.282\n"
				  "> > > msecs\n"
				  "> > > [  102.100000] Restarting tasks ... done.\n"),
			 1);
	holds(span(0, WW_PM_SUSPEND)->length, 1833282 * WW_NS_PER_US, WW_NS_PER_US);
}

/* Whoever asks for another mode at once was told that the first one failed. */
static void test_another_mode(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("[ 6178.014499] PM: suspend entry (deep)\n"
			 "[ 6178.097356] printk: Suspending console(s) (use no_console_suspend to "
			 "debug)\n"
			 "[ 6179.306822] PM: suspend exit\n"
			 "[ 6179.306911] PM: suspend entry (s2idle)\n"
			 "[ 6179.326507] printk: Suspending console(s) (use no_console_suspend to "
			 "debug)\n"
			 "[ 6180.575369] PM: suspend exit\n"
			 "[ 6180.579369] PM: suspend entry (s2idle)\n"
			 "[ 6181.326507] printk: Suspending console(s) (use no_console_suspend to "
			 "debug)\n"
			 "[ 6182.575369] PM: suspend exit\n"),
		3);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_int_equal(cycle[1]->result, WW_PM_OK);
	assert_int_equal(cycle[2]->result, WW_PM_OK);
}

/* Eighteen minutes by the kernel's own clock, between two lines of the embedded controller. */
static void test_clock_ran_on(void **state)
{
	(void)state;
	read_all("[ 5960.000000] PM: suspend entry (s2idle)\n"
		 "[ 5960.100000] Freezing user space processes ... (elapsed 0.004 seconds) done.\n"
		 "[ 5960.110000] printk: Suspending console(s) (use no_console_suspend to debug)\n"
		 "[ 5962.000000] ACPI: EC: interrupt blocked\n"
		 "[ 7069.000000] ACPI: EC: interrupt unblocked\n"
		 "[ 7072.000000] OOM killer enabled.\n"
		 "[ 7072.001000] Restarting tasks ... done.\n"
		 "[ 7072.010000] PM: suspend exit\n");
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	holds(cycle[0]->slept, 1106000 * MS, 21000 * MS);
	holds(cycle[0]->suspend, 2500 * MS, 10001 * MS);
	holds(cycle[0]->resume, 3500 * MS, 10100 * MS);
	assert_non_null(strstr(notes, "ran on"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_remarks),		cmocka_unit_test(test_freezes_alone),
		cmocka_unit_test(test_errors_alone),	cmocka_unit_test(test_callback_alone),
		cmocka_unit_test(test_abort_alone),	cmocka_unit_test(test_busy_queue),
		cmocka_unit_test(test_processor_stays), cmocka_unit_test(test_image_read),
		cmocka_unit_test(test_stamped_at_once), cmocka_unit_test(test_turned_away),
		cmocka_unit_test(test_watchdog),	cmocka_unit_test(test_three_lines),
		cmocka_unit_test(test_another_mode),	cmocka_unit_test(test_clock_ran_on),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	return rc;
}
