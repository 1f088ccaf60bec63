/* SPDX-License-Identifier: MIT */
/* Each allocation of the cycles' analysis and its reports fails once: said, nothing leaks. */
#include "dutsim.h"
#include "base/base.h"

#include <setjmp.h>
#include <cmocka.h>

/* Allocations until the one that fails; none fails below 0. */
static int left = -1;
static int calls;

static bool fails(void)
{
	calls++;
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"

static void make_trace(struct sim_trace *tr)
{
	struct sim s;
	struct sim_sleep *z;

	sim_init(&s);
	s.period = 50 * MS;
	s.end = s.start + 14 * S;
	sim_info(&s, s.start, "clocksource=jiffies");
	sim_info(&s, s.start, "boot_id=x");
	z = sim_suspend(&s, s.start + 3 * S, 2000, 300);
	sim_run(&s);
	sim_text(&s, z->wake + 5 * MS, "U-Boot 2024\r\nStarting kernel ...\r\n");
	sim_open(tr);
	sim_store(&s, tr);
	sim_mark(tr, z->freeze - 30 * MS, WW_MARK_REQUEST, 1, "x");
	sim_mark(tr, z->freeze, WW_MARK_REQUEST_END, 1, "exit 0");
	sim_mark(tr, z->wake, WW_MARK_WAKE, 1, "y");
	sim_mark(tr, z->wake + MS, WW_MARK_WAKE_END, 1, "exit 0");
	sim_close(tr);
}

static int reports(struct ww_trace *t, struct ww_error *err)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .handoff = "Starting kernel"};
	struct ww_resume *r = NULL;
	char *text = NULL;
	int rc = ww_resume_new(t, &opt, &r, err);

	if (rc < 0)
		return rc;
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON && rc >= 0; form++) {
		rc = ww_resume_report(r, form, &text, err);
		if (rc >= 0) {
			assert_true(strlen(text) > 100);
			ww_free(text);
		}
	}
	ww_resume_free(r);
	return rc;
}

static void each_fails_once(void **state)
{
	struct sim_trace tr;
	struct ww_trace *t;
	struct ww_error err = {0};
	int all;

	(void)state;
	make_trace(&tr);
	assert_int_equal(ww_trace_open(tr.path, &t, &err), 0);
	/* Once before: the trace keeps what it allocated for the first reading. */
	assert_int_equal(reports(t, &err), 0);
	calls = 0;
	assert_int_equal(reports(t, &err), 0);
	all = calls;
	assert_true(all > 50);
	for (int i = 0; i < all; i++) {
		int rc;

		ww_error_clear(&err);
		left = i;
		rc = reports(t, &err);
		left = -1;
		if (rc != -ENOMEM)
			fail_msg("allocation %d of %d: %d %s", i, all, rc, err.text);
		assert_true(err.text[0] != 0);
	}
	ww_trace_close(t);
	unlink(tr.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
