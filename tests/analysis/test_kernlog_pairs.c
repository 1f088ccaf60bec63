/* SPDX-License-Identifier: MIT */
/* Kernel text and ftrace as pairs: cut off, more suspends in one than in the other, no pair. */
#include "kernlogread.h"

#include "base/str.h"

enum { TEXT, TRACE };

static struct ww_str view[2];

static void stamp(int of, double t)
{
	if (of == TEXT)
		ww_str_addf(&view[of], "[%12.6f] ", t);
	else
		ww_str_addf(&view[of], "          rtcwake-77      [001] ....  %12.6f: ", t);
}

static void say(int of, double t, const char *text)
{
	stamp(of, t);
	ww_str_addf(&view[of], "%s\n", text);
}

/* A suspend at `t` that took `suspend` s to fall asleep and `resume` s to come back. */
static void text_of(double t, double suspend, double resume)
{
	say(TEXT, t, "PM: suspend entry (deep)");
	stamp(TEXT, t + suspend - 0.020);
	ww_str_addf(&view[TEXT], "PM: suspend of devices complete after %.3f msecs\n",
		    (suspend - 0.030) * 1e3);
	say(TEXT, t + suspend - 0.010, "PM: noirq suspend of devices complete after 9.000 msecs");
	say(TEXT, t + suspend + 0.010, "ACPI: PM: Low-level resume complete");
	say(TEXT, t + suspend + 0.040, "PM: noirq resume of devices complete after 20.000 msecs");
	say(TEXT, t + suspend + 0.050, "nvme nvme0: 8/0/0 default/read/poll queues");
	stamp(TEXT, t + suspend + resume - 0.010);
	ww_str_addf(&view[TEXT], "PM: resume of devices complete after %.3f msecs\n",
		    (resume - 0.055) * 1e3);
	say(TEXT, t + suspend + resume - 0.008, "Restarting tasks ... done.");
	say(TEXT, t + suspend + resume, "PM: suspend exit");
}

/* The same by ftrace, whose clock is `by` s ahead; it fell asleep 5 ms after noirq's end. */
static void trace_of(double t, double suspend, double resume, double by)
{
	t += by;
	say(TRACE, t, "suspend_resume: suspend_enter[3] begin");
	say(TRACE, t + 0.010 - 0.00003, "suspend_resume: dpm_suspend[2] begin");
	say(TRACE, t + suspend - 0.020 + 0.00003, "suspend_resume: dpm_suspend[2] end");
	say(TRACE, t + suspend - 0.019, "suspend_resume: dpm_suspend_noirq[2] begin");
	say(TRACE, t + suspend - 0.010 + 0.00003, "suspend_resume: dpm_suspend_noirq[2] end");
	say(TRACE, t + suspend - 0.005, "suspend_resume: machine_suspend[3] begin");
	say(TRACE, t + suspend + 0.005, "suspend_resume: machine_suspend[3] end");
	say(TRACE, t + suspend + 0.020 - 0.00003, "suspend_resume: dpm_resume_noirq[16] begin");
	say(TRACE, t + suspend + 0.040 + 0.00003, "suspend_resume: dpm_resume_noirq[16] end");
	say(TRACE, t + suspend + 0.045 - 0.00003, "suspend_resume: dpm_resume[16] begin");
	say(TRACE, t + suspend + resume - 0.010 + 0.00003, "suspend_resume: dpm_resume[16] end");
	say(TRACE, t + suspend + resume - 0.008, "suspend_resume: thaw_processes[0] begin");
	say(TRACE, t + suspend + resume - 0.001, "suspend_resume: thaw_processes[0] end");
}

static void anew(void)
{
	for (int i = 0; i < 2; i++) {
		ww_str_free(&view[i]);
		view[i] = (struct ww_str){0};
	}
	ww_str_add(&view[TRACE], "# tracer: nop\n#\n");
}

static size_t pair(void)
{
	static struct memory_text m[2];
	struct ww_text *both[] = {&m[0].base, &m[1].base};

	for (int i = 0; i < 2; i++)
		memory_text(&m[i], view[i].p, view[i].n, 0);
	return take(both, 2);
}

/* The wake that only ftrace knows is what the disk's return counts from. */
static void test_storage(void **state)
{
	(void)state;
	anew();
	text_of(50, 0.300, 0.500);
	trace_of(50, 0.300, 0.500, 0);
	assert_int_equal(pair(), 1);
	assert_true(ww_iv_ok(span(0, WW_PM_RESUME)->traced));
	holds(cycle[0]->storage, 45 * MS, 10 * WW_NS_PER_US);
	assert_int_equal(cycle[0]->contradictions, 0);
}

/* A trace that begins after the wake does not know the wake, however the cut lies. */
static void test_cut(void **state)
{
	static const char *const first[] = {
		"device_pm_callback_end: usb 1-1, err=0",
		"device_pm_callback_start: usb 1-2, parent: usb1, bus [resume]",
		"suspend_resume: dpm_resume[16] end"};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(first); i++) {
		anew();
		text_of(50, 0.300, 0.500);
		say(TRACE, 50.7, first[i]);
		say(TRACE, 50.790, "suspend_resume: dpm_complete[16] begin");
		say(TRACE, 50.791, "suspend_resume: dpm_complete[16] end");
		say(TRACE, 50.792, "suspend_resume: thaw_processes[0] begin");
		say(TRACE, 50.799, "suspend_resume: thaw_processes[0] end");
		assert_int_equal(read_in(view[TRACE].p, 0), 1);
		assert_int_equal(cycle[0]->result, WW_PM_OK);
		assert_false(ww_iv_ok(cycle[0]->resume));
		assert_false(ww_iv_ok(cycle[0]->suspend));
		/* Beside it the text tells both. */
		assert_int_equal(pair(), 1);
		assert_true(cycle[0]->resume.lo_ns > 400 * MS);
		assert_true(ww_iv_ok(cycle[0]->suspend));
		assert_true(cycle[0]->storage.lo_ns > 0);
	}
}

static bool joined(size_t i)
{
	return ww_iv_ok(span(i, WW_PM_RESUME)->traced) && ww_iv_ok(span(i, WW_PM_RESUME)->printed);
}

/* Three suspends in one, one in the other: which one it is, clocks or lengths tell. */
static void test_more_of_one(void **state)
{
	static const double resume[] = {0.500, 0.540, 0.470};
	static const double clock[] = {0, 0.026, 1234.5, -40};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(clock); i++) {
		for (size_t one = 0; one < 3; one++) {
			anew();
			for (size_t k = 0; k < 3; k++)
				text_of(50 + 60 * (double)k, 0.300, resume[k]);
			trace_of(50 + 60 * (double)one, 0.300, resume[one], clock[i]);
			assert_int_equal(pair(), 3);
			for (size_t k = 0; k < 3; k++) {
				assert_int_equal(joined(k), k == one);
				assert_int_equal(cycle[k]->contradictions, 0);
			}
			assert_non_null(strstr(notes, "2 suspends are in one of the files alone"));
			anew();
			text_of(50 + 60 * (double)one, 0.300, resume[one]);
			for (size_t k = 0; k < 3; k++)
				trace_of(50 + 60 * (double)k, 0.300, resume[k], clock[i]);
			assert_int_equal(pair(), 3);
			for (size_t k = 0; k < 3; k++)
				assert_int_equal(ww_iv_ok(span(k, WW_PM_RESUME)->printed),
						 k == one);
		}
	}
}

/* All alike: the clocks alone tell. Each lacks one that the other has. */
static void test_each_lacks_one(void **state)
{
	(void)state;
	anew();
	for (int k = 0; k < 5; k++) {
		if (k != 1)
			text_of(50 + 60 * k, 0.300, 0.500);
		if (k != 2)
			trace_of(50 + 60 * k, 0.300, 0.500, 0.026);
	}
	assert_int_equal(pair(), 5);
	for (size_t k = 0; k < 5; k++) {
		assert_int_equal(ww_iv_ok(span(k, WW_PM_RESUME)->printed), k != 1);
		assert_int_equal(ww_iv_ok(span(k, WW_PM_RESUME)->traced), k != 2);
		assert_true(k == 0 || cycle[k]->t.lo_ns > cycle[k - 1]->t.lo_ns);
	}
}

/* pm-graph writes one header into both files: another one is another suspend. */
static void test_no_pair(void **state)
{
	(void)state;
	for (int same = 0; same < 2; same++) {
		anew();
		ww_str_add(&view[TEXT], "# suspend-010226-120000 bench mem 6.1.0\n");
		ww_str_addf(&view[TRACE], "# suspend-010226-12%02d00 bench mem 6.1.0\n",
			    same ? 0 : 5);
		text_of(50, 0.300, 0.500);
		trace_of(50, 0.300, 0.500, 0);
		assert_int_equal(pair(), same ? 1 : 2);
		assert_int_equal(strstr(notes, "they are no pair") == NULL, same);
	}
}

/* Phases of a millisecond in which a console sends the line that tells them for six. */
static void test_console(void **state)
{
	static const char *const phase[] = {"suspend_late[2]", "suspend_noirq[2]",
					    "resume_noirq[16]", "resume_early[16]"};
	static const char *const told[] = {"late suspend", "noirq suspend", "noirq resume",
					   "early resume"};
	static const double clock[] = {0.36, 40};

	(void)state;
	for (size_t c = 0; c < WW_COUNTOF(clock); c++) {
		anew();
		say(TEXT, 50.000, "PM: suspend entry (deep)");
		say(TRACE, 50.000 + clock[c], "suspend_resume: suspend_enter[3] begin");
		for (size_t i = 0; i < 4; i++) {
			double t = 50.100 + 0.050 * (double)i;

			stamp(TEXT, t + 0.001);
			ww_str_addf(&view[TEXT], "PM: %s of devices complete after 1.000 msecs\n",
				    told[i]);
			stamp(TRACE, t + clock[c]);
			ww_str_addf(&view[TRACE], "suspend_resume: dpm_%s begin\n", phase[i]);
			stamp(TRACE, t + 0.007 + clock[c]);
			ww_str_addf(&view[TRACE], "suspend_resume: dpm_%s end\n", phase[i]);
			if (i != 1)
				continue;
			say(TRACE, t + 0.020 + clock[c],
			    "suspend_resume: machine_suspend[3] begin");
			say(TRACE, t + 0.030 + clock[c], "suspend_resume: machine_suspend[3] end");
		}
		say(TEXT, 50.400, "PM: suspend exit");
		say(TRACE, 50.390 + clock[c], "suspend_resume: thaw_processes[0] begin");
		say(TRACE, 50.395 + clock[c], "suspend_resume: thaw_processes[0] end");
		/* On another clock nothing says that they are one. */
		assert_int_equal(pair(), c == 0 ? 1 : 2);
		assert_int_equal(cycle[0]->contradictions, 0);
	}
}

static bool costs(const char *what)
{
	for (size_t k = 0; k < cycle[0]->others; k++)
		if (strcmp(cycle[0]->other[k].what, what) == 0)
			return true;
	return false;
}

/* Functions that are probed cost time of their own outside of what is a phase or a device. */
static void test_probes(void **state)
{
	(void)state;
	anew();
	say(TRACE, 50.000, "suspend_resume: suspend_enter[3] begin");
	say(TRACE, 50.100, "suspend_resume: dpm_suspend[2] begin");
	say(TRACE, 50.101, "schedule_timeout_cal: (schedule_timeout+0x0/0x3c0) timeout=50");
	say(TRACE, 50.190, "schedule_timeout_ret: (wait_x+0x1/0x2 <- schedule_timeout) arg1=0x1");
	say(TRACE, 50.200, "suspend_resume: dpm_suspend[2] end");
	say(TRACE, 50.210, "suspend_resume: machine_suspend[3] begin");
	say(TRACE, 50.220, "suspend_resume: machine_suspend[3] end");
	say(TRACE, 50.221, "acpi_pm_finish_cal: (acpi_pm_finish+0x0/0x40)");
	say(TRACE, 50.230, "msleep_cal: (msleep+0x0/0x40) time=20");
	say(TRACE, 50.250, "msleep_ret: (acpi_x+0x1/0x2 <- msleep) arg1=0x1");
	say(TRACE, 50.300,
	    "acpi_pm_finish_ret: (suspend_enter+0x1/0x2 <- acpi_pm_finish) arg1=0x0");
	say(TRACE, 50.310, "suspend_resume: dpm_resume[16] begin");
	say(TRACE, 50.400, "suspend_resume: dpm_resume[16] end");
	say(TRACE, 50.401, "suspend_resume: thaw_processes[0] begin");
	say(TRACE, 50.402, "suspend_resume: thaw_processes[0] end");
	assert_int_equal(read_in(view[TRACE].p, 0), 1);
	holds(other(0, "acpi_pm_finish()")->length, 79 * MS, 2 * WW_NS_PER_US);
	assert_false(costs("msleep()"));
	assert_false(costs("schedule_timeout()"));
}

/* Events up to the end of the devices' phase, with what their last one returned. */
static void traced_down(int error)
{
	say(TRACE, 50.000, "suspend_resume: suspend_enter[3] begin");
	say(TRACE, 50.010, "suspend_resume: freeze_processes[0] begin");
	say(TRACE, 50.020, "suspend_resume: freeze_processes[0] end");
	say(TRACE, 50.100, "suspend_resume: dpm_suspend[2] begin");
	say(TRACE, 50.110, "device_pm_callback_start: uas 1-1, parent: usb1, bus [suspend]");
	stamp(TRACE, 50.150);
	ww_str_addf(&view[TRACE], "device_pm_callback_end: uas 1-1, err=%d\n", error);
	say(TRACE, 50.200, "suspend_resume: dpm_suspend[2] end");
}

static void traced_up(double t)
{
	say(TRACE, t, "suspend_resume: dpm_resume[16] begin");
	say(TRACE, t + 0.050, "suspend_resume: dpm_resume[16] end");
	say(TRACE, t + 0.060, "suspend_resume: thaw_processes[0] begin");
	say(TRACE, t + 0.070, "suspend_resume: thaw_processes[0] end");
}

/* No machine_suspend, no sleep; but one may be among what was lost. */
static void test_unslept(void **state)
{
	(void)state;
	anew();
	traced_down(-16);
	traced_up(50.210);
	assert_int_equal(read_all(view[TRACE].p), 1);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "suspend");
	assert_string_equal(cycle[0]->reason.device, "1-1");
	assert_string_equal(cycle[0]->reason.driver, "uas");
	assert_int_equal(cycle[0]->reason.error, -16);
	assert_int_equal(span(0, WW_PM_SUSPEND)->failed, 1);
	assert_false(ww_iv_ok(cycle[0]->suspend));
	anew();
	traced_down(0);
	say(TRACE, 50.205, "wakeup_source_activate: rtc0 state=0x10001");
	traced_up(50.210);
	assert_int_equal(read_all(view[TRACE].p), 1);
	assert_int_equal(cycle[0]->result, WW_PM_ABORTED);
	assert_string_equal(cycle[0]->reason.step, "suspend");
	assert_string_equal(cycle[0]->reason.wakeup, "rtc0");
	anew();
	traced_down(0);
	traced_up(55.201);
	assert_int_equal(read_all(view[TRACE].p), 1);
	assert_int_equal(cycle[0]->result, WW_PM_TEST);
	anew();
	traced_down(0);
	ww_str_add(&view[TRACE], "CPU:0 [LOST 12 EVENTS]\n");
	traced_up(50.210);
	assert_int_equal(read_all(view[TRACE].p), 1);
	assert_int_equal(cycle[0]->result, WW_PM_OK);
}

/* Those tasks that did freeze are thawed before the freeze is over. */
static void test_not_frozen(void **state)
{
	(void)state;
	anew();
	say(TRACE, 50.000, "suspend_resume: suspend_enter[3] begin");
	say(TRACE, 50.010, "suspend_resume: freeze_processes[0] begin");
	say(TRACE, 70.010, "suspend_resume: thaw_processes[0] begin");
	say(TRACE, 70.015, "suspend_resume: thaw_processes[0] end");
	say(TRACE, 70.016, "suspend_resume: freeze_processes[0] end");
	assert_int_equal(read_all(view[TRACE].p), 1);
	assert_int_equal(cycle[0]->result, WW_PM_FAILED);
	assert_string_equal(cycle[0]->reason.step, "freeze");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storage),	    cmocka_unit_test(test_cut),
		cmocka_unit_test(test_more_of_one), cmocka_unit_test(test_each_lacks_one),
		cmocka_unit_test(test_no_pair),	    cmocka_unit_test(test_console),
		cmocka_unit_test(test_probes),	    cmocka_unit_test(test_unslept),
		cmocka_unit_test(test_not_frozen),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	anew();
	for (int i = 0; i < 2; i++)
		ww_str_free(&view[i]);
	return failed;
}
