/* SPDX-License-Identifier: MIT */
/*
 * Trace Event JSON, which Perfetto and chrome://tracing show: slices ("X") on threads of
 * processes, counters ("C"), instants ("i"), names ("M"); ts and dur in microseconds.
 * Slices of one thread nest or follow each other, as viewers want them, and stand in the order of
 * their begins.
 */
#ifndef WW_REPORT_EVENTS_H
#define WW_REPORT_EVENTS_H

#include "report/kernlog.h"

#define WW_EVENTS_LANES 64

/* Threads of a process of the kernel's; lanes follow. */
enum {
	WW_TRACK_EVENTS = 1,
	WW_TRACK_PHASES,
	WW_TRACK_OTHER, /* and what goes on beside it */
	WW_TRACK_OTHER_LAST = WW_TRACK_OTHER + 3,
	WW_TRACK_FIRMWARE,
	WW_TRACK_SYNC,
	WW_TRACK_LANE
};

/* What stands in a thread now: ends of slices, each within the one before. */
struct ww_events_lane {
	int64_t end[8];
	unsigned depth;
};

/* A time of the kernel's axis on that of the events. @return false: not known */
typedef bool ww_events_clock(void *arg, int64_t kernel_ns, int64_t *ns);

struct ww_events {
	struct ww_sink out;
	struct ww_json j;
	uint32_t pid;	    /* process of the cycles */
	uint32_t first_pid; /* of the first boot */
	uint32_t named;	    /* bits: threads of it that have their name */
	uint32_t lanes;	    /* that have theirs */
	int64_t until_ns;   /* end of what was placed last */
	uint64_t unplaced;  /* cycles without times */
	struct ww_events_lane lane[WW_EVENTS_LANES], phases;
	struct ww_events_lane other[WW_TRACK_OTHER_LAST - WW_TRACK_OTHER + 1];
	ww_events_clock *clock; /* NULL: the kernel's axis itself */
	void *arg;
};

/* Head and foot of the document. */
void ww_events_open(struct ww_events *e, int fd);
int ww_events_close(struct ww_events *e, const struct ww_error *read, struct ww_error *err);
/* thread 0: of the process */
void ww_events_name(struct ww_events *e, uint32_t pid, uint32_t thread, const char *name);
/*
 * An event that is open: the caller adds "args" and closes it with '}'. dur_ns < 0: an
 * instant.
 */
void ww_events_slice(struct ww_events *e, uint32_t pid, uint32_t thread, const char *category,
		     const char *name, int64_t ns, int64_t dur_ns);
void ww_events_counter(struct ww_events *e, uint32_t pid, const char *name, const char *unit,
		       int64_t ns, double v);
/* Does a slice follow or nest in what stands there? Then it does from now on. */
bool ww_events_fits(struct ww_events_lane *l, int64_t ns, int64_t end);
/* All of a suspend. */
void ww_events_cycle(struct ww_events *e, const struct ww_pm_cycle *c);

int64_t ww_events_kernlog(struct ww_kernlog *k, int fd, struct ww_error *err);

#endif
