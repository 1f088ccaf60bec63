/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_steps`, for the report and the picture. */
#ifndef WW_STEPS_INFO_H
#define WW_STEPS_INFO_H

#include "analysis/curve.h"
#include "analysis/cycling.h"
#include "analysis/series.h"
#include "analysis/steps.h"
#include "analysis/wall.h"
#include "base/notes.h"

/* What the public structure says in ns, in s since the trace's first record. */
struct ww_step_when {
	double t_lo, t_hi, settled;
	double cov_next; /* as ww_step_event */
	bool edge;	 /* a level ends here and another begins; else it is inside of one */
};

struct ww_steps {
	struct ww_step *step; /* detected, at marks, and unresolved, in order of time */
	struct ww_step_when *when;
	size_t steps;
	struct ww_level *level;
	size_t levels;
	struct ww_notes notes;
	struct ww_wall wall;
	struct ww_curve curve;
	struct ww_cycling cycling;
	char *channel;	      /* "meter.power" */
	char **label;	      /* [labels] texts of the marks */
	struct ww_mark *mark; /* [labels] their copies, in order of time */
	int32_t *index;	      /* [labels] in the trace */
	size_t labels;
	size_t n;	   /* readings */
	double t_lo, t_hi; /* of the first and the last reading */
	int64_t origin_ns;
	bool own_time; /* t is the time of an imported file */
	double period_s;
	double resolution; /* W; 0: none to be seen */
	double sigma;	   /* W, noise of the usual level */
	double tau;
	double smallest; /* W: change that would be found; NaN: not known */
	size_t level_n;	 /* readings of a level for it */
	bool undithered; /* changes of a count or less have bounds only */
};

/* Readings of a level from which `smallest` is told. */
#define WW_STEPS_LEVEL_N 120

/* A change between two levels of standard uncertainty u that has `least` of its own. */
double ww_steps_smallest(double u, double least);

/* steps_notes.c */
/* Six digits, an exponent only where nobody reads zeros: "0.1", "50", "0.000001". buf of 350 holds
 * any. */
void ww_steps_plain(char *buf, size_t n, double v);
void ww_steps_remarks(struct ww_steps *s, const struct ww_series *x, const struct ww_step_result *r,
		      const struct ww_steps_options *o, const struct ww_trace *t);

#endif
