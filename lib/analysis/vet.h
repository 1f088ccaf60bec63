/* SPDX-License-Identifier: MIT */
/* Callbacks with delays that someone wrote; internal. */
#ifndef WW_ANALYSIS_VET_H
#define WW_ANALYSIS_VET_H

#include "base/base.h"
#include "base/notes.h"

/* Longest that msleep() waits beyond what is written: a jiffy at 100 Hz. */
#define WW_VET_JIFFY_MS 10.0

/* A tick at 250 Hz, the most usual: what a short sleep varies by. */
#define WW_VET_TICK_MS 4.0

struct ww_vet {
	struct ww_vet_row *row;
	size_t rows, cap;
	size_t fixed, ticks;   /* where these end: fixed first, then fixed but for a tick */
	struct ww_notes texts; /* what names in the rows are lent from */
	struct ww_notes notes;
	struct ww_notes sets; /* their names */
	uint64_t cycles;
	size_t callbacks, few, coarse; /* all; too seldom; stamps too coarse */
	double min_ms, spread_ms;
	uint32_t min_cycles;
};

/* A round time that a delay was probably written as; NaN none. Pure. */
double ww_vet_written(double min_ms, double median_ms);
/* Width that holds 9 of 10 of n sorted values. */
double ww_vet_spread(const double *v, size_t n);

#endif
