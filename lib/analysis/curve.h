/* SPDX-License-Identifier: MIT */
/* A channel thinned for a picture: what a column of pixels holds, and where it breaks. */
#ifndef WW_CURVE_H
#define WW_CURVE_H

#include "analysis/series.h"

/* Readings in a row that share a column. Times in s since the trace's first record. */
struct ww_curve_bin {
	double t0, t1; /* of the first and the last of them */
	double first, last;
	double lo, hi;
	uint32_t n;
	uint32_t hole; /* 1: a gap lies before them */
};

struct ww_curve {
	struct ww_curve_bin *bin;
	size_t n;
};

/*
 * Least and greatest reading of each of `columns` equal stretches of time, so that no
 * spike is lost; every reading by itself where they are no more than that. At most
 * `columns` bins come of it.
 */
int ww_curve_make(struct ww_curve *c, const struct ww_series *s, size_t columns,
		  struct ww_error *err);
void ww_curve_free(struct ww_curve *c);

#endif
