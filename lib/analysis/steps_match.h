/* SPDX-License-Identifier: MIT */
/* Which change a mark meant. */
#ifndef WW_STEPS_MATCH_H
#define WW_STEPS_MATCH_H

#include "analysis/steps.h"

/* A change may begin this much before its mark (typed late), or after it. */
#define WW_MATCH_EARLY_S 2.0
#define WW_MATCH_LATE_S	 15.0

/*
 * Distance of a change from a mark in parts of what is allowed: 0 where the mark lies
 * within its interval, up to 1 at either end of the window, INFINITY beyond.
 */
double ww_steps_distance(const struct ww_step_event *e, double marker);

/*
 * Set event[].marker: as many pairs as can be made with both in their order, and of
 * those the pairs of the least sum of distances. marker and event stand in the order
 * of time (events by t_lo). Work: pairs within the window times log(events).
 */
int ww_steps_match(const double *marker, size_t markers, struct ww_step_event *event, size_t events,
		   struct ww_error *err);

#endif
