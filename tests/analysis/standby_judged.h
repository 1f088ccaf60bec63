/* SPDX-License-Identifier: MIT */
/* A simulated mode, and what is said of it. */
#ifndef TESTS_STANDBY_JUDGED_H
#define TESTS_STANDBY_JUDGED_H

#include "standby_trace.h"

#include "analysis/standby.h"

static double v[12000];

static inline void white(size_t n, double mean, double sd, uint64_t s)
{
	seed = s;
	for (size_t i = 0; i < n; i++)
		v[i] = mean + sd * normal();
}

static inline struct ww_standby *judged(size_t n, double dt, double scale,
					struct ww_standby_options o)
{
	struct bench b;
	struct ww_trace *t = trace_of(&b, v, n, dt, scale, NULL);
	struct ww_standby *s = NULL;
	char *text = NULL;

	o.size = sizeof(o);
	OK(ww_standby_new(t, &o, &s, err));
	OK(ww_standby_report(s, WW_REPORT_TEXT, &text, err));
	if (getenv("SHOW"))
		puts(text);
	ww_free(text);
	bench_end(&b, t);
	return s;
}

static inline bool noted(const struct ww_standby *s, const char *text)
{
	for (size_t i = 0; ww_standby_note(s, i); i++)
		if (strstr(ww_standby_note(s, i), text))
			return true;
	return false;
}

#endif
