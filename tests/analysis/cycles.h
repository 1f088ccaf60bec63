/* SPDX-License-Identifier: MIT */
/* A simulated DUT's trace analysed, and what tests say of the result. */
#ifndef TESTS_CYCLES_H
#define TESTS_CYCLES_H

#include "dutsim.h"

#include <setjmp.h>
#include <cmocka.h>

struct found {
	struct ww_trace *t;
	struct ww_resume *r;
};

static inline struct found analyse(struct sim_trace *tr, struct ww_resume_options *opt)
{
	struct ww_resume_options none = {.size = sizeof(none)};
	struct ww_error err = {0};
	struct found f = {0};
	char *text = NULL;

	sim_close(tr);
	if (ww_trace_open(tr->path, &f.t, &err) < 0 ||
	    ww_resume_new(f.t, opt ? opt : &none, &f.r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(ww_resume_report(f.r, WW_REPORT_TEXT, &text, &err), 0);
	if (getenv("SHOW"))
		fputs(text, stderr);
	ww_free(text);
	unlink(tr->path);
	return f;
}

static inline void done(struct found *f)
{
	ww_resume_free(f->r);
	ww_trace_close(f->t);
}

static inline const struct ww_cycle *only(const struct found *f)
{
	assert_int_equal(ww_resume_count(f->r), 1);
	return ww_resume_at(f->r, 0);
}

static inline int seen(struct ww_interval t)
{
	return t.lo_ns <= t.hi_ns;
}

static inline void holds(const char *what, struct ww_interval t, int64_t truth, int64_t widest)
{
	if (!seen(t))
		fail_msg("%s was not found", what);
	if (truth < t.lo_ns || truth > t.hi_ns)
		fail_msg("%s: truth %.3f ms is not in [%.3f, %.3f]", what, (double)truth / 1e6,
			 (double)t.lo_ns / 1e6, (double)t.hi_ns / 1e6);
	if (t.hi_ns - t.lo_ns > widest)
		fail_msg("%s: %.3f ms wide", what, (double)(t.hi_ns - t.lo_ns) / 1e6);
}

static inline int noted(const struct found *f, const char *words)
{
	const char *n;

	for (size_t i = 0; (n = ww_resume_note(f->r, i)) != NULL; i++)
		if (strstr(n, words))
			return 1;
	return 0;
}

static inline void cycle_marks(struct sim_trace *tr, const struct sim_sleep *z, uint32_t n)
{
	sim_mark(tr, z->freeze - 30 * MS, WW_MARK_REQUEST, n, "echo mem > /sys/power/state");
	sim_mark(tr, z->wake, WW_MARK_WAKE, n, "system_wakeup");
	sim_mark(tr, z->wake + MS / 2, WW_MARK_WAKE_END, n, "exit 0");
	sim_mark(tr, z->thaw + 100 * MS, WW_MARK_REQUEST_END, n, "exit 0");
	sim_mark(tr, z->thaw + 3 * S, WW_MARK_CYCLE_END, n, "ok");
}

#endif
