/* SPDX-License-Identifier: MIT */
/* Logs of boards and phones as consoles, logcat and mails leave them: composed, with known truth.
 */
#include "kernlogread.h"

/* The console let the end of the first freezing out after the second. */
static void test_late_end(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("PM: Syncing filesystems ... done.\n"
			 "Freezing user space processes ... \n"
			 "Freezing remaining freezable tasks ... (elapsed 0.004 seconds) done.\n"
			 "Suspending console(s) (use no_console_suspend to debug)\n"
			 "\n"
			 "(elapsed 0.002 seconds) done.\n"
			 "PM: suspend of devices complete after 31.500 msecs\n"
			 "Disabling non-boot CPUs ...\n"
			 "PM: noirq resume of devices complete after 1.250 msecs\n"
			 "PM: resume of devices complete after 44.000 msecs\n"
			 "Restarting tasks ... done.\n"),
		1);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	holds(span(0, WW_PM_FREEZE)->length, 7 * MS, 2 * MS);
}

/* A phone: tasks and modules around the text, a wall time, the firmware's sleep. */
static void test_phone(void **state)
{
	(void)state;
	assert_int_equal(
		read_all("<6>[  501.000000]  (2)[911:sleepd]PM: suspend entry 2021-03-04 "
			 "05:06:07.100000000 UTC\n"
			 "<6>[  501.010000]  (2)[911:sleepd][name:process&]Freezing user space "
			 "processes ... [name:process&](elapsed 0.003 seconds) "
			 "[name:process&]done.\n"
			 "<6>[  501.100000] -(0)[911:sleepd][name:cpu&]: Disabling non-boot CPUs "
			 "...\n"
			 "<4>[  501.200000] -(0)[911:sleepd][name:spm&][SPM] suspend wake up by  "
			 "R12_QZ_EVENT_B, timer_out = 7, r13 = 0x1\n"
			 "<4>[  501.201000] -(0)[911:sleepd][name:spm&][SPM] Suspended for 21.500 "
			 "seconds\n"
			 "<6>[  501.202000]  (0)[911:sleepd][name:cpu&]Enabling non-boot CPUs ...\n"
			 "<6>[  501.203000]  (0)[911:sleepd][name:cpu&]: CPU1 is up\n"
			 "<6>[  501.240000]  (0)[911:sleepd][name:process&]: Restarting tasks ... "
			 "[name:process&]done.\n"
			 "<6>[  501.250000]  (0)[911:sleepd]PM: suspend exit 2021-03-04 "
			 "05:06:28.850000000 UTC\n"),
		1);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
	assert_string_equal(cycle[0]->reason.wakeup, "R12_QZ_EVENT_B");
	holds(cycle[0]->slept, 21500 * MS, MS);
	holds(span(0, WW_PM_FREEZE)->length, 3 * MS, 2 * MS);
}

/* A mail as it is stored: a soft break before an empty line, and the list of tasks wrapped. */
static void test_mail(void **state)
{
	(void)state;
	assert_int_equal(read_all(
				 "Content-Transfer-Encoding: quoted-printable\n"
				 "\n"
				 "> <6>[   99.151724] PM: suspend entry (deep)\n"
				 "> <6>[   99.161843] Freezing user space proce=\n"
				 "sses ... =\n"
				 "\n"
				 "> <3>[  119.167844] Freezing of tasks failed =\n"
				 "after 20.000 seconds (1 tasks refusing to freeze, wq_busy=3D0):\n"
				 "> <6>[  119.178426] task:quartzd         stat=\n"
				 "e:D stack:    0 pid:  130 ppid:   120 flags:0x00000081\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.task, "quartzd");
	assert_string_equal(cycle[0]->reason.step, "freeze");
}

/* A machine that is switched off and boots is none that did not resume. */
static void test_power_off(void **state)
{
	(void)state;
	assert_int_equal(read_all(
				 "[   61.020000] sd 0:0:0:0: [qxa] Synchronizing SCSI cache\n"
				 "[   61.100000] Disabling non-boot CPUs ...\n"
				 "[   61.120000] CPU1: shutdown\n"
				 "[   61.140000] reboot: Power down\n"
				 "\n"
				 "U-Boot SPL 2020.01 (Jan 01 2020 - 00:00:00 +0000)\n"
				 "[    0.000000] Linux version 5.4.0 (a@b) (gcc) #1 SMP\n" DOWN UP),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
}

/* The first line of a crash names it. */
static void test_crash(void **state)
{
	(void)state;
	assert_int_equal(read_all("[  348.284004] PM: suspend entry (deep)\n"
				  "[  348.396612] printk: Suspending console(s) (use "
				  "no_console_suspend to debug)\n"
				  "[  348.816077] BUG: kernel NULL pointer dereference, address: "
				  "0000000000000044\n"
				  "[  348.816086] Oops: 0000 [#1] PREEMPT SMP NOPTI\n"
				  "[  348.826086] Kernel panic - not syncing: Fatal exception\n"),
			 1);
	assert_int_equal(cycle[0]->result, WW_PM_HUNG);
	assert_non_null(strstr(cycle[0]->reason.text, "NULL pointer"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_end), cmocka_unit_test(test_phone),
		cmocka_unit_test(test_mail),	 cmocka_unit_test(test_power_off),
		cmocka_unit_test(test_crash),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	return rc;
}
