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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_storage),
		cmocka_unit_test(test_cut),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	forget();
	anew();
	for (int i = 0; i < 2; i++)
		ww_str_free(&view[i]);
	return failed;
}
