/* SPDX-License-Identifier: MIT */
/* What was recorded around a cycle, for Trace Event JSON: watts and bytes as counters, lines. */
#ifndef WW_REPORT_EVENTS_SERIES_H
#define WW_REPORT_EVENTS_SERIES_H

#include "report/events.h"

struct ww_events_series {
	struct ww_events *e;
	struct ww_trace *t;
	uint32_t pid, thread; /* of the first line's source; others follow */
	int64_t zero;	      /* of the axis */
	const char *beats;    /* source whose bytes are a heartbeat: they are counted only */
	size_t cycles;	      /* of the whole recording: many of them share the room */
	uint64_t named;	      /* bits: sources whose thread has its name */
};

/* The begin of the bin of bytes that a time lies in: stretches begin and end there. */
int64_t ww_events_bin(int64_t ns, int64_t zero);
/* All sources of the trace in a stretch. */
int ww_events_series(struct ww_events_series *s, struct ww_interval w, struct ww_error *err);

#endif
