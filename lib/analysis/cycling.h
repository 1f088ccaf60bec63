/* SPDX-License-Identifier: MIT */
/* A load that switches on and off by itself: a fridge, a heater, a charger. */
#ifndef WW_CYCLING_H
#define WW_CYCLING_H

#include "analysis/steps.h"

struct ww_cycling {
	size_t cycles;	 /* whole ones, from one switching on to the next; 0: no such load */
	double from, to; /* s: of the first and the last switching on */
	double period;	 /* s, median */
	double spread;	 /* s: standard deviation of the periods, from their median deviation */
	double duty;	 /* part of the time on */
	double on;	 /* W more while it is on: median of its changes */
};

/*
 * Look for changes of one size that go up and down in turn at least three times, at
 * regular intervals. Each level has to last longer than `dwell` s.
 */
int ww_cycling_find(const struct ww_step_event *event, size_t n, double dwell,
		    struct ww_cycling *out, struct ww_error *err);

#endif
