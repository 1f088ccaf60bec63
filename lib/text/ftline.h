/* SPDX-License-Identifier: MIT */
/*
 * Lines of ftrace text: the kernel's trace file, `trace-cmd report`, perf script, function
 * graph, pm-graph's files, and the arguments of the power events wherever they stand (a
 * console under tp_printk). Pure: no state, no allocation.
 */
#ifndef WW_TEXT_FTLINE_H
#define WW_TEXT_FTLINE_H

#include "text/pmev.h"

enum ww_ftline_kind {
	WW_FT_NONE = 0, /* no line of ftrace */
	WW_FT_HEADER,	/* '#': text */
	WW_FT_EVENT,	/* ev may still be WW_PMEV_NONE: another event */
	WW_FT_GRAPH,	/* function graph: depth, dur_ns, func; ev from an event within */
	WW_FT_MARK,	/* tracing_mark_write: text */
	WW_FT_LOST	/* "CPU:3 [LOST 120 EVENTS]": count */
};

struct ww_ftline {
	int kind;
	struct ww_slice comm, event, text; /* text: the arguments */
	struct ww_slice func;		   /* of function graph and of probes */
	int32_t pid, cpu;		   /* -1 not told */
	/*
	 * The trace's clock, WW_NO_TIME none. bare: a whole number without a point, as
	 * trace-cmd prints of the clocks boot and tai, ns, and of x86-tsc and counter, which
	 * are none: nothing in the line tells which.
	 */
	int64_t t_ns;
	bool bare;
	int64_t res_ns;
	/* Function graph. */
	int depth; /* by indentation, -1 not told */
	bool opens, closes;
	int64_t dur_ns; /* WW_NO_TIME none */
	int64_t lost;
	struct ww_pmev ev;
};

/* @return out->kind */
int ww_ftline_parse(const char *line, size_t n, struct ww_ftline *out);
/* "suspend_resume" and "dpm_suspend[2] begin" and the like. @return out->kind */
int ww_ftevent_parse(struct ww_slice event, struct ww_slice args, struct ww_pmev *out);

/* Headers of pm-graph: "# suspend-061314-132459 skynet mem 3.15.0", "# sysinfo | ...". */
enum ww_pmgraph_kind {
	WW_PMG_NONE = 0,
	WW_PMG_STAMP,	 /* host, mode, kernel, utc_ns (local time of that host, as if UTC) */
	WW_PMG_SYSINFO,	 /* text */
	WW_PMG_KPARAMS,	 /* text: the command line */
	WW_PMG_COMMAND,	 /* text */
	WW_PMG_FIRMWARE, /* fwsuspend_ns, fwresume_ns */
	WW_PMG_WIFI,	 /* text the device, dur_ns until it was back, -1 never */
	WW_PMG_ERROR,	 /* "enter_sleep_error": text */
	WW_PMG_PLATFORM, /* "platform-NAME: CMD | BASE64": key, text; not decoded */
	WW_PMG_OTHER
};

struct ww_pmgraph {
	int kind, mode;
	struct ww_slice host, kernel, key, text;
	int64_t utc_ns, fwsuspend_ns, fwresume_ns, dur_ns;
};

int ww_pmgraph_parse(const char *line, size_t n, struct ww_pmgraph *out);

#endif
