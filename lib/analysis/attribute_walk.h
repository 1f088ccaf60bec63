/* SPDX-License-Identifier: MIT */
/* A trace while it becomes readings of an attribution: from step to step. */
#ifndef WW_ANALYSIS_ATTRIBUTE_WALK_H
#define WW_ANALYSIS_ATTRIBUTE_WALK_H

#include "analysis/attribute.h"
#include "analysis/steps_info.h"

/* The two ends of what lies between two steps, W, and what they have in common. */
struct ww_attr_ends {
	struct ww_quantity begin, end;
	double cov;
	double slope;	       /* W/s, of a level that is a line */
	double t_begin, t_end; /* s: when they held */
};

struct ww_attr_walk {
	struct ww_attribute *a;
	struct ww_onoff *o;
	struct ww_attr_file *f;
	const struct ww_steps *s;
	double rise[WW_ONOFF_DEVICES]; /* of devices that are steps without a mark; 0 others */
	unsigned changes[WW_ONOFF_DEVICES];
	size_t unmarked, falls, marked, moving, slow, holes;
	double slow_most, slow_at, hole_at; /* s: the longest, the first ones */
	double moved_least, moved_most;	    /* W, of levels that move by themselves */
	size_t *kept;			    /* [f->count - 1] steps between the readings */
	struct ww_error *err;
};

/* When a step was, s. */
double ww_attr_at(const struct ww_attr_walk *w, size_t i);
/* attribute_marks.c: "+box" as it is said, or "+" in front of it. */
int ww_attr_plug(struct ww_attr_walk *w, const char *name, bool in);
/* What a step did to the state. */
int ww_attr_take_step(struct ww_attr_walk *w, size_t i);
/* A mark without a step. */
int ww_attr_take_mark(struct ww_attr_walk *w, const char *text, double t);
void ww_attr_about_unmarked(struct ww_attr_walk *w);
/* attribute_levels.c: the watts of the readings between the steps that were kept, and the
 * changes from each to the next. */
int ww_attr_levels(struct ww_attr_walk *w);
void ww_attr_about_levels(struct ww_attr_walk *w);
/* attribute_typed.c: a meter that a person read */
int ww_attr_typed(struct ww_attr_walk *w, struct ww_trace *t);
/* Numbers in a note. */
const char *ww_attr_watts(char *buf, double v, double u);
const char *ww_attr_seconds(char *buf, double t);

#endif
