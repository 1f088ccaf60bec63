/* SPDX-License-Identifier: MIT */
/* When a trace began, for the head of a report. */
#ifndef WW_WALL_H
#define WW_WALL_H

#include "base/base.h"

struct ww_wall {
	bool known;	 /* false: no clock in the trace */
	bool has_offset; /* offset_s is the bench's; else the time is told in UTC */
	int32_t offset_s;
	int64_t real_ns; /* of the trace's first record */
	char zone[64];	 /* "Europe/Berlin", "" unknown */
};

void ww_wall_read(struct ww_wall *w, const struct ww_trace *t);

#endif
