/* SPDX-License-Identifier: MIT */
/* Each allocation of the passes fails once: said, nothing leaks. */
#include "pmhand.h"

static int left = -1;
static int calls;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

/* Both views, with what they contradict each other in. */
static void views(struct hand *text, struct hand *trace)
{
	*text = hand_new(1000 * MS, 115200);
	*trace = hand_new(1000 * MS, 0);
	trace->w->ftrace = true;
	trace->w->c.clock = WW_PM_CLOCK_TRACE;
	for (int i = 0; i < 6; i++) {
		int64_t begin;
		size_t d = hand_call(text, WW_PM_RESUME, i & 1 ? "a" : "b", "p", 7, 90);

		begin = text->t;
		text->t += (i + 1) * MS;
		trace->t = begin;
		hand_call(trace, WW_PM_RESUME, i & 1 ? "a" : "b", "p", 7, 10);
		trace->w->device[d].from = 2;
		trace->w->device[d].end_ns = text->t;
		trace->w->device[d].length = (struct ww_interval){(i + 1) * MS, (i + 1) * MS};
		hand_return(text, d, 80, 40000);
	}
	hand_call(trace, WW_PM_RESUME, "c", "", 8, 10);
	hand_span(text, WW_PM_RESUME, 1000 * MS, text->t);
	hand_span(trace, WW_PM_RESUME, 1000 * MS, text->t);
	hand_span(trace, WW_PM_THAW, text->t, text->t + MS);
	ww_note(&trace->w->errors, "x failed");
	text->w->device[0].error = -5;
}

static int passes(void)
{
	struct ww_error err = {0};
	struct hand text, trace;
	int rc, keep = left;

	/* The views themselves are made with all the memory they want. */
	left = -1;
	views(&text, &trace);
	left = keep;
	rc = ww_pm_merge(text.w, trace.w, &err);
	if (rc >= 0) {
		ww_pm_console(text.w, 0, false);
		ww_pm_critical(text.w);
		ww_pm_disagree(text.w);
		rc = ww_pm_close(text.w, &err);
	}
	assert_true(rc >= 0 || err.text[0]);
	ww_pm_work_free(text.w);
	ww_pm_work_free(trace.w);
	return rc;
}

static void each_fails_once(void **state)
{
	int all, before, unneeded = 0;

	(void)state;
	calls = 0;
	assert_int_equal(passes(), 0);
	all = calls;
	assert_true(all > 20);
	for (int i = 0; i < all; i++) {
		int rc;

		left = i;
		before = calls;
		rc = passes();
		/* What remembers strings may do without; all else is needed. */
		if (rc != -ENOMEM && left < 0 && ++unneeded > 1)
			fail_msg("allocation %d of %d: %d", i, all, rc);
		assert_true(calls > before);
		if (left >= 0)
			break;
	}
	left = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
