/* SPDX-License-Identifier: MIT */
/* Kernel text and ftrace of one suspend, on clocks that are not one. */
#include "pmhand.h"

#define NAMES 6

static const char *const names[NAMES] = {"usb1", "1-1", "ata6", "0:0:0:0", "i8042", "card0"};

/* Both views of the same callbacks; the trace's clock is `shift` ahead before the sleep, and
 * `shift2` after it. */
static void views(int64_t shift, int64_t shift2, struct hand *text, struct hand *trace)
{
	*text = hand_new(1000 * MS, 0);
	*trace = hand_new(1000 * MS + shift, 0);
	trace->w->ftrace = true;
	trace->w->c.clock = WW_PM_CLOCK_TRACE;
	for (int side = 0; side < 2; side++) {
		int phase = side ? WW_PM_RESUME : WW_PM_SUSPEND;
		int64_t by = side ? shift2 : shift, begin = text->t;
		struct ww_pm_span *s;

		for (size_t i = 0; i < NAMES; i++) {
			size_t d = hand_call(text, phase, names[i], "", 7, 80);
			int64_t len = (int64_t)(i + 1) * 2 * MS;

			text->w->device[d].driver = "";
			trace->t = text->t + by;
			d = hand_call(trace, phase, names[i], "pci", 7, 0);
			trace->w->lines = 0;
			trace->w->device[d].from = 2;
			trace->t = text->t + by + len;
			trace->w->device[d].start_ns = text->t + by;
			trace->w->device[d].end_ns = trace->t;
			trace->w->device[d].length = (struct ww_interval){len, len};
			text->t += len + 2 * US;
			hand_return(text, text->w->devices - 1, 80, len / US);
		}
		s = hand_span(text, phase, begin, text->t);
		s->printed = s->length;
		hand_span(trace, phase, begin + by - 40 * US, text->t + by + 30 * US);
		text->t += 50 * MS;
	}
	text->w->c.suspend = (struct ww_interval){60 * MS, 60 * MS};
	trace->w->c.suspend = (struct ww_interval){61 * MS, 61 * MS};
	trace->w->c.sleep_begin = trace->w->c.sleep_end =
		(struct ww_interval){1060 * MS + shift, 1060 * MS + shift};
	trace->w->c.t.hi_ns = text->t + shift2;
}

static void merged(struct hand *into, struct hand *other)
{
	struct ww_error err = {0};

	assert_true(ww_pm_same(into->w, other->w));
	into->w->c.n = 5;
	assert_int_equal(ww_pm_merge(into->w, other->w, &err), 0);
	assert_int_equal(into->w->c.n, 5);
	assert_int_equal(other->w->devices, 0);
	ww_pm_disagree(into->w);
}

static void shifted(int64_t shift, int64_t shift2, bool swap)
{
	struct hand text, trace, *into = swap ? &trace : &text, *other = swap ? &text : &trace;
	const struct ww_pm_work *w;

	views(shift, shift2, &text, &trace);
	merged(into, other);
	w = into->w;
	assert_int_equal(w->c.clock, WW_PM_CLOCK_PRINTK);
	assert_int_equal(w->devices, 2 * NAMES);
	assert_int_equal(w->spans, 2);
	assert_int_equal(w->contradictions.n, 0);
	for (size_t i = 0; i < w->devices; i++) {
		const struct ww_pm_device *d = &w->device[i];
		int64_t len = (int64_t)(i % NAMES + 1) * 2 * MS;

		assert_int_equal(d->from, 3);
		assert_string_equal(d->driver, "drv");
		assert_string_equal(d->parent, "pci");
		assert_int_equal(d->length.lo_ns, len);
		assert_true(ww_iv_ok(d->printed));
		/* On the text's clock: within its own phase. */
		assert_true(d->start_ns >= w->span[i / NAMES].start_ns);
		assert_true(d->end_ns <= w->span[i / NAMES].end_ns);
	}
	assert_true(ww_iv_ok(w->span[0].traced) && ww_iv_ok(w->span[0].printed));
	assert_int_equal(w->c.suspend.lo_ns, 61 * MS);
	assert_in_range(w->c.sleep_begin.lo_ns, 1060 * MS - 10 * US, 1060 * MS + 10 * US);
	if (shift != shift2)
		assert_in_range(w->c.slept.lo_ns, shift2 - shift - 20 * US,
				shift2 - shift + 20 * US);
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
}

static void clocks_are_tied(void **state)
{
	(void)state;
	shifted(0, 0, false);
	shifted(26 * MS, 26 * MS, false);
	shifted(26 * MS, 26 * MS, true);
	shifted(-4000 * MS, -4000 * MS, true);
	/* A trace clock that counts the sleep. */
	shifted(3 * MS, 3 * MS + 9579 * MS, false);
}

static bool says(const struct ww_pm_work *w, const char *word, const char *word2)
{
	for (size_t i = 0; i < w->contradictions.n; i++)
		if (strstr(w->contradictions.note[i], word) &&
		    strstr(w->contradictions.note[i], word2))
			return true;
	return false;
}

static void contradictions_are_said(void **state)
{
	struct hand text, trace;

	(void)state;
	views(26 * MS, 26 * MS, &text, &trace);
	text.w->device[2].error = -16;
	text.w->device[NAMES + 5].printed = (struct ww_interval){40 * MS, 40 * MS + US};
	text.w->span[1].printed = (struct ww_interval){90 * MS, 90 * MS};
	text.w->c.mode = WW_PM_MODE_MEM;
	trace.w->c.mode = WW_PM_MODE_S2IDLE;
	trace.w->devices--; /* card0 has no resume in ftrace */
	trace.w->device[4].name = "elsewhere";
	merged(&text, &trace);
	assert_true(says(text.w, "ata6 in suspend", "returned -16, ftrace 0"));
	assert_true(says(text.w, "resume: 90.0 ms by the kernel text", "42."));
	assert_true(says(text.w, "mode: mem", "s2idle"));
	assert_true(says(text.w, "resume: 1 callback is in the kernel text", "card0"));
	assert_true(says(text.w, "suspend: 1 callback is in ftrace", "elsewhere"));
	assert_int_equal(text.w->device[2].error, -16);
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
	views(0, 0, &text, &trace);
	text.w->device[NAMES + 5].printed = (struct ww_interval){40 * MS, 40 * MS + US};
	merged(&text, &trace);
	assert_true(says(text.w, "card0 in resume: 40.0 ms", "12.0 ms by ftrace"));
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
}

/* The text says why; ftrace alone knows what went on in a text without lines of devices. */
static void each_adds_its_own(void **state)
{
	struct hand text, trace;

	(void)state;
	views(0, 0, &text, &trace);
	text.w->devices = 0;
	text.w->c.result = WW_PM_FAILED;
	text.w->c.reason.step = "suspend_noirq";
	trace.w->c.result = WW_PM_OK;
	hand_span(&trace, WW_PM_CPU_OFF, 1055 * MS, 1056 * MS);
	merged(&text, &trace);
	assert_int_equal(text.w->devices, 2 * NAMES);
	assert_int_equal(text.w->device[0].from, 2);
	assert_int_equal(text.w->spans, 3);
	assert_int_equal(text.w->c.result, WW_PM_FAILED);
	assert_string_equal(text.w->c.reason.step, "suspend_noirq");
	assert_int_equal(text.w->contradictions.n, 0);
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
}

static void not_the_same(void **state)
{
	struct hand text, trace;

	(void)state;
	views(0, 0, &text, &trace);
	/* The lines of one do not hold the events of the other, whatever the clocks. */
	text.w->device[3].start_ns += 900 * MS;
	text.w->device[3].end_ns += 900 * MS;
	assert_false(ww_pm_same(text.w, trace.w));
	text.w->devices = 0;
	assert_true(ww_pm_same(text.w, trace.w));
	text.w->span[0].printed = (struct ww_interval){500 * MS, 500 * MS};
	text.w->span[1].printed = (struct ww_interval){900 * MS, 900 * MS};
	assert_false(ww_pm_same(text.w, trace.w));
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
	views(0, 0, &text, &trace);
	text.w->c.mode = WW_PM_MODE_DISK;
	trace.w->c.mode = WW_PM_MODE_MEM;
	assert_false(ww_pm_same(text.w, trace.w));
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_are_tied),
		cmocka_unit_test(contradictions_are_said),
		cmocka_unit_test(each_adds_its_own),
		cmocka_unit_test(not_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
