/* SPDX-License-Identifier: MIT */
/*
 * Two sets of values beside each other. The core works on arrays and knows nothing of
 * where they come from.
 */
#ifndef WW_COMPARE_H
#define WW_COMPARE_H

#include "base/notes.h"
#include "base/ranks.h"

/* Two samples without failed runs; paired: n == m and a[i] belongs to b[i]. */
struct ww_samples2 {
	double *a, *b;
	double *when_a, *when_b;
	size_t n, m;
	bool paired;
};

struct ww_compare {
	struct ww_comparison *row;
	char **sentence; /* [rows] */
	size_t rows;
	struct ww_notes notes;
	struct ww_notes texts; /* what the names in the rows are lent from */
	double conf, power;
	bool other_meter;
	size_t variants; /* most beside one base */
};

/* What the meter adds, in the terms of the pair that is compared. */
struct ww_compare_meter {
	double offset_u, gain_u; /* 0: unknown or no part */
	double per_offset[2];	 /* of a and b */
	double per_gain;	 /* 1: the gain is a factor of the values */
	double resolution;	 /* 0: as seen */
	bool other;		 /* two meters: nothing cancels */
};

/* All figures of a pair. r has its names; failed_a and failed_b are kept. */
int ww_compare_figures(const struct ww_samples2 *s, const struct ww_compare_meter *m, double conf,
		       double power, struct ww_comparison *r);
/* The verdict, from the interval, p_holm and the resolution. */
void ww_compare_judge(struct ww_comparison *r, double conf, double resolution);
/* The unit with the prefix that makes the values of a measure readable. */
struct ww_compare_scale {
	double by;
	char unit[64];
};
struct ww_compare_scale ww_compare_scale(const struct ww_comparison *r, double v);
/* "B uses 1.2 % less; 95 %: 1.1-1.4 %" */
int ww_compare_say(struct ww_compare *c, size_t i);

/* Notes on the whole: how it was reckoned, what was assumed. */
void ww_compare_remarks(struct ww_compare *c, const struct ww_compare_options *opt);
/* What is suspicious in the values: outliers, drift, order. */
int ww_compare_doubts(struct ww_compare *c, const struct ww_comparison *r,
		      const struct ww_samples2 *s);
/* The same where the order of all values is known: one set after the other, not in turn. */
void ww_compare_blocks(struct ww_compare *c, const struct ww_comparison *r,
		       const struct ww_samples2 *s);

#endif
