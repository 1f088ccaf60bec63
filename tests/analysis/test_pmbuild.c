/* SPDX-License-Identifier: MIT */
/* The builder by itself: events in, cycles out; what the machine did is stated by the events. */
#include "analysis/pmbuild.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MS WW_NS_PER_MS

static struct ww_pmbuild *b;
static struct ww_pm_work *w;

static void begin(bool ftrace)
{
	assert_int_equal(ww_pmbuild_new(ftrace, NULL, &b, NULL), 0);
}

static void feed(int64_t ms, struct ww_pmev e)
{
	struct ww_pm_in in = {.ev = &e,
			      .line = {.t_ns = ms * MS,
				       .host_ns = WW_NO_TIME,
				       .lo_ns = WW_NO_TIME,
				       .hi_ns = WW_NO_TIME,
				       .first_lo_ns = WW_NO_TIME,
				       .kernel = 1,
				       .pid = -1},
			      .message = {"a line", 6},
			      .clock = b->ftrace ? WW_PM_CLOCK_TRACE : WW_PM_CLOCK_PRINTK,
			      .res_ns = WW_NS_PER_US};

	assert_int_equal(ww_pmbuild_feed(b, &in, NULL), 0);
}

static struct ww_pmev ev(int kind, int phase, int verb)
{
	struct ww_pmev e;

	ww_pmev_clear(&e);
	e.kind = kind;
	e.phase = phase;
	e.verb = verb;
	return e;
}

static void step(int64_t from, int64_t to, int phase, int verb)
{
	feed(from, ev(WW_PMEV_BEGIN, phase, verb));
	feed(to, ev(WW_PMEV_END, phase, verb));
}

static void entry(int64_t ms, int mode)
{
	struct ww_pmev e = ev(WW_PMEV_ENTRY, 0, 0);

	e.mode = mode;
	feed(ms, e);
}

static void device(int64_t ms, int kind, const char *name, int32_t pid, int32_t err)
{
	struct ww_pmev e = ev(kind, 0, 0);

	e.device = (struct ww_slice){name, strlen(name)};
	e.pid = pid;
	e.err = err;
	feed(ms, e);
}

static void sleeping(int64_t ms, int kind, int phase)
{
	struct ww_pmev e = ev(kind, phase, 0);

	e.mode = phase == WW_PM_MACHINE ? WW_PM_MODE_S2IDLE : WW_PM_MODE_UNKNOWN;
	feed(ms, e);
}

/* The only cycle. */
static void end(void)
{
	assert_int_equal(ww_pmbuild_end(b, NULL), 0);
	w = ww_pmbuild_take(b);
	assert_non_null(w);
	assert_null(ww_pmbuild_take(b));
	ww_pmbuild_free(b);
}

static void done(void)
{
	ww_pm_work_free(w);
}

static const struct ww_pm_span *span(int phase, size_t nth)
{
	for (size_t i = 0; i < w->spans; i++)
		if (w->span[i].phase == phase && nth-- == 0)
			return &w->span[i];
	fail_msg("no phase %s", ww_pm_phase_name(phase));
	return NULL;
}

/* noirq fails after 10 ms, is rolled back within its call for 18 ms, and never slept. */
static void test_nested(void **state)
{
	(void)state;
	begin(true);
	entry(0, WW_PM_MODE_S2IDLE);
	step(1, 5, WW_PM_SYNC, 0);
	step(6, 9, WW_PM_FREEZE, 0);
	step(10, 100, WW_PM_SUSPEND, WW_PM_V_SUSPEND);
	feed(110, ev(WW_PMEV_BEGIN, WW_PM_SUSPEND_NOIRQ, WW_PM_V_SUSPEND));
	step(120, 138, WW_PM_RESUME_NOIRQ, WW_PM_V_RESUME);
	feed(139, ev(WW_PMEV_END, WW_PM_SUSPEND_NOIRQ, WW_PM_V_SUSPEND));
	step(140, 200, WW_PM_RESUME, WW_PM_V_RESUME);
	step(210, 220, WW_PM_THAW, 0);
	end();
	assert_int_equal(w->c.result, WW_PM_FAILED);
	assert_string_equal(w->c.reason.step, "suspend_noirq");
	assert_int_equal(span(WW_PM_RESUME_NOIRQ, 0)->nested, 1);
	assert_int_equal(span(WW_PM_SUSPEND_NOIRQ, 0)->failed, 1);
	assert_true(span(WW_PM_SUSPEND_NOIRQ, 0)->end_ns == 139 * MS);
	assert_int_equal(span(WW_PM_RESUME, 0)->nested, 0);
	assert_true(w->c.sleep_begin.lo_ns > w->c.sleep_begin.hi_ns);
	done();
}

/* Two devices of one name in two tasks, and a call that never returns. */
static void test_same_names(void **state)
{
	(void)state;
	begin(true);
	entry(0, WW_PM_MODE_MEM);
	feed(10, ev(WW_PMEV_BEGIN, WW_PM_SUSPEND, WW_PM_V_SUSPEND));
	device(11, WW_PMEV_CALL, "port", 1, 0);
	device(12, WW_PMEV_CALL, "port", 2, 0);
	device(13, WW_PMEV_CALL, "stuck", 1, 0);
	device(40, WW_PMEV_RETURN, "port", 1, 0);
	device(50, WW_PMEV_RETURN, "port", 2, -5);
	end();
	assert_int_equal(w->devices, 3);
	assert_true(w->device[0].end_ns == 40 * MS && w->device[0].error == 0);
	assert_true(w->device[1].end_ns == 50 * MS && w->device[1].error == -5);
	assert_true(w->device[2].end_ns == WW_TIME_MAX);
	assert_int_equal(w->c.result, WW_PM_TRUNCATED);
	done();
}

/* A clock that runs on: 4 s asleep, 1 s awake within, 2 s asleep. */
static void test_traced_s2idle(void **state)
{
	(void)state;
	begin(true);
	entry(0, WW_PM_MODE_S2IDLE);
	step(10, 100, WW_PM_SUSPEND, WW_PM_V_SUSPEND);
	sleeping(110, WW_PMEV_ASLEEP, WW_PM_MACHINE);
	sleeping(120, WW_PMEV_ASLEEP, 0);
	sleeping(4120, WW_PMEV_AWAKE, 0);
	sleeping(5120, WW_PMEV_ASLEEP, 0);
	sleeping(7120, WW_PMEV_AWAKE, 0);
	sleeping(7130, WW_PMEV_AWAKE, WW_PM_MACHINE);
	step(7140, 7200, WW_PM_RESUME, WW_PM_V_RESUME);
	step(7210, 7230, WW_PM_THAW, 0);
	end();
	assert_int_equal(w->c.result, WW_PM_OK);
	assert_int_equal(w->c.sleeps, 2);
	assert_true(w->c.slept.lo_ns == 6000 * MS && w->c.slept.hi_ns == 6000 * MS);
	assert_true(llabs(ww_iv_mid(w->c.suspend) - 110 * MS) <= WW_NS_PER_US);
	assert_true(llabs(ww_iv_mid(w->c.resume) - 100 * MS) <= WW_NS_PER_US);
	done();
}

/* The boot clock jumps by 3 s where the core resumes: that is sleep, not resume. */
static void test_boot_clock(void **state)
{
	(void)state;
	begin(true);
	entry(0, WW_PM_MODE_MEM);
	step(10, 100, WW_PM_SUSPEND, WW_PM_V_SUSPEND);
	step(100, 101, WW_PM_SYSCORE_SUSPEND, 0);
	feed(102, ev(WW_PMEV_ASLEEP, WW_PM_MACHINE, 0));
	feed(103, ev(WW_PMEV_AWAKE, WW_PM_MACHINE, 0));
	step(105, 3105, WW_PM_SYSCORE_RESUME, 0);
	step(3110, 3200, WW_PM_RESUME, WW_PM_V_RESUME);
	step(3210, 3220, WW_PM_THAW, 0);
	end();
	assert_true(w->boot_clock);
	assert_true(w->c.slept.lo_ns <= 3000 * MS && w->c.slept.hi_ns >= 2995 * MS);
	assert_true(w->c.slept.lo_ns >= 2990 * MS);
	/* From 3.100 to 3.105, up to 3.220. */
	assert_true(w->c.resume.lo_ns >= 114 * MS && w->c.resume.hi_ns <= 121 * MS);
	done();
}

/* Gaps are told with the lines around, whichever clock shows them; jumps back, too. */
static void test_gaps(void **state)
{
	size_t i, gaps = 0, jumps = 0;

	(void)state;
	begin(false);
	entry(1000, WW_PM_MODE_MEM);
	feed(1050, ev(WW_PMEV_NONE, 0, 0));
	feed(1250, ev(WW_PMEV_NONE, 0, 0));
	feed(5250, ev(WW_PMEV_NONE, 0, 0));
	feed(2250, ev(WW_PMEV_NONE, 0, 0));
	end();
	ww_pm_gaps(w, 0);
	for (i = 0; i < w->others; i++) {
		gaps += !strcmp(w->other[i].what, "silent gap");
		jumps += !strcmp(w->other[i].what, "clock jumps back");
		assert_string_equal(w->other[i].before, "a line");
		assert_string_equal(w->other[i].after, "a line");
	}
	assert_int_equal(gaps, 2);
	assert_int_equal(jumps, 1);
	done();
}

/* Without stamps the age of the lines tells the unit: A and B shift by 10, C does not. */
static void test_units_by_age(void **state)
{
	static const struct {
		char generation;
		const char *kernel;
		int64_t ns;
	} of[] = {{'A', "", 1024000}, {'B', "", 1024000},	{'B', "5.9.3", 1024000},
		  {'C', "", 1000000}, {'B', "5.10.1", 1000000}, {'C', "4.19.0", 1024000}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(of); i++) {
		struct ww_pm_device *d;

		w = ww_pm_work_new();
		d = ww_pm_add_device(w);
		d->from = 1;
		d->printed = (struct ww_interval){1000 * WW_NS_PER_US, 1001 * WW_NS_PER_US};
		w->generation = of[i].generation;
		w->c.kernel = of[i].kernel;
		ww_pm_units(w);
		assert_true(d->length.lo_ns == of[i].ns);
		assert_true(d->printed.lo_ns == of[i].ns);
		done();
	}
}

static void wall(int64_t ms, int kind, int64_t utc_ms)
{
	struct ww_pmev e = ev(kind, 0, 0);

	e.utc_ns = utc_ms * MS;
	feed(ms, e);
}

/* The wall times of an entry and its exit are 95 s further apart than the kernel's clock. */
static void test_wall_times(void **state)
{
	(void)state;
	begin(false);
	wall(1000, WW_PMEV_ENTRY, 1700000000000);
	step(1010, 1020, WW_PM_FREEZE, 0);
	step(1030, 1100, WW_PM_SUSPEND, WW_PM_V_SUSPEND);
	step(1200, 1300, WW_PM_RESUME, WW_PM_V_RESUME);
	step(1310, 1320, WW_PM_THAW, 0);
	wall(1330, WW_PMEV_EXIT, 1700000000000 + 330 + 95000);
	end();
	assert_int_equal(w->c.result, WW_PM_OK);
	assert_true(w->c.slept.lo_ns == 94000 * MS && w->c.slept.hi_ns == 96000 * MS);
	done();
}

/* The text begins where a wake is pending; the step is told only by what follows. */
static void test_pending_first(void **state)
{
	(void)state;
	begin(false);
	feed(10, ev(WW_PMEV_WAKE_PENDING, 0, 0));
	feed(11, ev(WW_PMEV_ABORT, WW_PM_SUSPEND, WW_PM_V_SUSPEND));
	feed(12, ev(WW_PMEV_SOME_FAILED, WW_PM_SUSPEND, 0));
	end();
	assert_int_equal(w->c.result, WW_PM_ABORTED);
	assert_string_equal(w->c.reason.step, "suspend");
	done();
}

/* A line that stands behind a later one: no phase ends before it begins. */
static void test_backwards(void **state)
{
	struct ww_pmev e = ev(WW_PMEV_END, WW_PM_FREEZE, 0);

	(void)state;
	begin(false);
	entry(0, WW_PM_MODE_MEM);
	feed(900, ev(WW_PMEV_BEGIN, WW_PM_FREEZE, 0));
	e.dur_ns = 4 * MS;
	e.unit = WW_PM_UNIT_SECONDS;
	feed(100, e);
	end();
	assert_true(span(WW_PM_FREEZE, 0)->end_ns == 100 * MS);
	assert_true(span(WW_PM_FREEZE, 0)->start_ns <= 100 * MS);
	done();
}

/* A machine that went off and booted: processors went, and nothing was suspended. */
static void test_power_off(void **state)
{
	(void)state;
	begin(false);
	feed(10, ev(WW_PMEV_BEGIN, WW_PM_CPU_OFF, WW_PM_V_SUSPEND));
	feed(20, ev(WW_PMEV_CPU_OFF, WW_PM_CPU_OFF, 0));
	feed(0, ev(WW_PMEV_BOOT, 0, 0));
	assert_int_equal(ww_pmbuild_end(b, NULL), 0);
	assert_null(ww_pmbuild_take(b));
	ww_pmbuild_free(b);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < WW_PM_PHASES; i++)
		assert_non_null(ww_pm_phase_name(i));
	assert_null(ww_pm_phase_name(WW_PM_PHASES));
	assert_null(ww_pm_phase_name(-1));
	assert_null(ww_pm_mode_name(99));
	assert_null(ww_pm_verb_name(99));
	assert_null(ww_pm_result_name(WW_PM_RESULTS));
	assert_string_equal(ww_pm_phase_name(WW_PM_COMPLETE), "resume_complete");
	assert_string_equal(ww_pm_result_name(WW_PM_TEST), "pm_test");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),	      cmocka_unit_test(test_same_names),
		cmocka_unit_test(test_traced_s2idle), cmocka_unit_test(test_boot_clock),
		cmocka_unit_test(test_gaps),	      cmocka_unit_test(test_units_by_age),
		cmocka_unit_test(test_wall_times),    cmocka_unit_test(test_pending_first),
		cmocka_unit_test(test_power_off),     cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
