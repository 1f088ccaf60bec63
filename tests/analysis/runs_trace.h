/* SPDX-License-Identifier: MIT */
/* A trace with runs of a command, written by hand, for the tests of ww_runs. */
#ifndef TESTS_RUNS_TRACE_H
#define TESTS_RUNS_TRACE_H

#include "analysis/runs.h"
#include "stat_trace.h"

static const struct chan FINE = {"power", "power", "W", WW_AVERAGE, 0.001, 0.001, -1, -1, 0};

static inline void mark_between(struct bench *b, double lo, double hi, const char *kind,
				const char *text)
{
	struct ww_mark m = {.t = {BEGIN + (int64_t)llround(lo * 1e9),
				  BEGIN + (int64_t)llround(hi * 1e9)},
			    .kind = kind,
			    .text = text};

	OK(ww_writer_mark(b->w, &m, err));
}

static inline void mark(struct bench *b, double t, const char *kind, const char *text)
{
	mark_between(b, t, t, kind, text);
}

static inline void base(struct bench *b, double from, double to)
{
	mark(b, from, WW_MARK_BASELINE, "");
	mark(b, to, WW_MARK_BASELINE_END, "");
}

static inline void a_run(struct bench *b, int n, double from, double to, const char *start_words,
			 const char *end_words)
{
	char text[256];

	snprintf(text, sizeof(text), "run=%d %s", n, start_words);
	mark(b, from, WW_MARK_RUN_START, text);
	snprintf(text, sizeof(text), "run=%d %s", n, end_words);
	mark(b, to, WW_MARK_RUN_END, text);
}

static inline struct ww_runs *runs_of(struct bench *b, struct ww_trace **t,
				      const struct ww_runs_options *opt)
{
	struct ww_runs *r = NULL;

	*t = bench_read(b);
	OK(ww_runs_new(*t, opt, &r, err));
	return r;
}

static inline void done(struct bench *b, struct ww_trace *t, struct ww_runs *r)
{
	ww_runs_free(r);
	bench_end(b, t);
}

static inline bool has_note(const struct ww_runs *r, const char *part)
{
	const char *note;

	for (size_t i = 0; (note = ww_runs_note(r, i)) != NULL; i++)
		if (strstr(note, part))
			return true;
	return false;
}

static inline void near_(double got, double want, double by, const char *what)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%s: %.12g, not %.12g (by %g)", what, got, want, by);
}

#endif
