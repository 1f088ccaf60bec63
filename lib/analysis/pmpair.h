/* SPDX-License-Identifier: MIT */
/* The same callbacks in kernel text and in ftrace, and the two clocks; internal. */
#ifndef WW_ANALYSIS_PMPAIR_H
#define WW_ANALYSIS_PMPAIR_H

#include "analysis/pmwork.h"

struct ww_pm_pair {
	uint32_t text, trace; /* indices of their devices */
};

struct ww_pm_pairs {
	struct ww_pm_pair *pair;
	size_t n;
	uint8_t *text_has, *trace_has; /* per device: it has its other */
};

/* @return false: no memory */
bool ww_pm_pairs_find(const struct ww_pm_work *text, const struct ww_pm_work *trace,
		      struct ww_pm_pairs *out);
void ww_pm_pairs_free(struct ww_pm_pairs *p);

/* What has to be added to the trace's clock, from events that lie within one another. */
struct ww_pm_offset {
	int64_t lo_ns, hi_ns; /* WW_TIME_MIN, WW_TIME_MAX: not bounded */
	int64_t ns;	      /* the choice */
	bool known;
	int64_t conflict_ns; /* the events contradict each other by so much; 0 */
};

/* after: of the way back, else of the way to sleep. */
void ww_pm_offset_find(const struct ww_pm_work *text, const struct ww_pm_work *trace,
		       const struct ww_pm_pairs *p, bool after, struct ww_pm_offset *out);

/* Where one offset fits both sides it is one: both clocks stood still, or went on. */
void ww_pm_offset_join(struct ww_pm_offset *a, struct ww_pm_offset *b);

/* The k-th stretch of a phase that a span is in its own list; the k-th of another list. */
const struct ww_pm_span *ww_pm_span_like(const struct ww_pm_work *of, const struct ww_pm_span *s,
					 const struct ww_pm_work *in);

#endif
