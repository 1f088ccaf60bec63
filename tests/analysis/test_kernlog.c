/* SPDX-License-Identifier: MIT */
/*
 * Suspends out of texts: what happened when is stated by the texts, which are composed from
 * the grammar; how the text is cut into pieces changes nothing.
 */
#include "kernlogread.h"

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
		cmocka_unit_test(test_whole),	cmocka_unit_test(test_two_cycles),
		cmocka_unit_test(test_devices), cmocka_unit_test(test_phases_by_calls),
		cmocka_unit_test(test_wrapped), cmocka_unit_test(test_ftrace),
		cmocka_unit_test(test_pair),	cmocka_unit_test(test_bench_times),
		cmocka_unit_test(test_endless), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_copy),
	};
	int rc = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	return rc;
}
