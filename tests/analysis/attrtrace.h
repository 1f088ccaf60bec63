/* SPDX-License-Identifier: MIT */
/* A recorded afternoon at a power strip: loads that go in and out, and what was said of it. */
#ifndef TESTS_ATTRTRACE_H
#define TESTS_ATTRTRACE_H

#include "stat_trace.h"

struct happening {
	double t;	   /* s */
	double watts;	   /* drawn from then on, without the offset */
	const char *label; /* said two seconds before; NULL: nothing */
};

static inline void attr_mark(struct bench *b, double t, const char *text)
{
	struct ww_mark m = {.t = {BEGIN + (int64_t)llround(t * 1e9),
				  BEGIN + (int64_t)llround(t * 1e9)},
			    .kind = WW_MARK_LABEL,
			    .text = text};

	OK(ww_writer_mark(b->w, &m, err));
}

/* Another afternoon with each seed. */
static uint64_t attr_seed = 11;

/* One reading a second: offset 1 W, sigma 0.2 W, drift in W/s, display of 0.1 W. */
static inline struct ww_trace *attr_trace(struct bench *b, const struct happening *h, size_t n,
					  double until, double drift)
{
	double watts = 0;
	size_t said = 0, done = 0;

	seed = attr_seed;
	bench_open(b, NULL, &POWER, 1);
	for (double t = 0; t < until; t++) {
		for (; said < n && h[said].t - 2 <= t; said++)
			if (h[said].label)
				attr_mark(b, t, h[said].label);
		for (; done < n && h[done].t <= t; done++)
			watts = h[done].watts;
		bench_row(b, t, (double[]){1 + watts + drift * t + 0.2 * normal()});
	}
	return bench_read(b);
}

#endif
