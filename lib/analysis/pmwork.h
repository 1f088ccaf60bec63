/* SPDX-License-Identifier: MIT */
/*
 * A suspend while it is read, and what is done to it once it is over. The builder
 * (pmbuild_*.c) makes one from the events of one text, kernel's or ftrace's; passes (pure,
 * one after the other, in the order of this file) complete it; kernlog.c lends it out.
 */
#ifndef WW_ANALYSIS_PMWORK_H
#define WW_ANALYSIS_PMWORK_H

#include "base/base.h"
#include "base/notes.h"
#include "text/pmev.h"

/* A line of the cycle, in the order in which it came. */
struct ww_pm_line {
	int64_t t_ns;	      /* on the cycle's axis, WW_NO_TIME none */
	int64_t host_ns;      /* stamp of a program that logged it, WW_NO_TIME none */
	int64_t lo_ns, hi_ns; /* bench's time of its last byte, WW_NO_TIME none */
	int64_t first_lo_ns;  /* bench: its first byte came no earlier */
	uint32_t bytes;	 /* that the kernel's console sent for it, CR LF included; 0 not kernel */
	uint32_t span;	 /* index + 1 of the span it lies in, 0 none */
	uint32_t device; /* index + 1 of the device whose call or return it is, 0 none */
	int32_t pid;	 /* task that printed it: by its caller field, or of a call; -1 unknown */
	uint8_t returns; /* 1: it is the device's return, not its call */
	uint8_t kernel;	 /* 1 a line of the kernel's */
	uint8_t firmware;
	const char *text; /* shortened; kept for lines around gaps */
};

struct ww_pm_work {
	struct ww_pm_cycle c; /* filled by ww_pm_close(); before, only what the builder set */
	bool ftrace;	      /* from ftrace */
	struct ww_pm_span *span;
	size_t spans, spans_cap;
	struct ww_pm_device *device;
	size_t devices, devices_cap;
	struct ww_pm_other *other;
	size_t others, others_cap;
	struct ww_pm_line *line;
	size_t lines, lines_cap;
	struct ww_notes errors, contradictions;
	const char **error_list, **contradiction_list;
	/* Strings of this cycle: freed together. */
	struct ww_pm_block *blocks;
	const char **seen;	/* the last ones, by their hash */
	int64_t console_off_ns; /* the text says that the console is suspended, WW_NO_TIME no */
	uint64_t told_utc_ns;	/* wall time of its begin where the text tells one, 0 none */
	int64_t header_ns;	/* of pm-graph's header, which both files have; 0 none */
	bool usecs_known, usecs_1024; /* printed "usecs" are units of 1024 ns: by the text itself */
	char generation;	      /* 'A' to 'D' of the lines of its devices, 0 none */
	int64_t host_res_ns;	      /* of the stamps in front of the kernel's, 0 none */
	bool stamped_late; /* by a daemon that was frozen, too: what it stamped then is nothing */
	bool ran_on;	   /* the kernel's clock, in suspend-to-idle */
	bool boot_clock;   /* of the trace: it went on in the sleep */
	bool mode_guessed; /* "mem", because CPUs went off */
	bool from_phase_start; /* lengths of devices count from the begin of their phase */
	bool oom;	       /* no memory somewhere: the reader fails */
};

struct ww_pm_work *ww_pm_work_new(void);
void ww_pm_work_free(struct ww_pm_work *w);
/* A string of the cycle, terminated, valid UTF-8 (other bytes as U+FFFD); "" on no memory. */
const char *ww_pm_str(struct ww_pm_work *w, struct ww_slice s);
const char *ww_pm_strf(struct ww_pm_work *w, const char *format, ...) WW_PRINTF(2, 3);
struct ww_pm_span *ww_pm_add_span(struct ww_pm_work *w);     /* all unknown; NULL no memory */
struct ww_pm_device *ww_pm_add_device(struct ww_pm_work *w); /* the same */
struct ww_pm_other *ww_pm_add_other(struct ww_pm_work *w);   /* the same */
struct ww_pm_line *ww_pm_add_line(struct ww_pm_work *w);     /* not initialised */

/* ------------------------------------------------------------------- passes */

/*
 * Two views of one cycle become one (the pair): the trace's figures are the best where both
 * are; what disagrees by more than their resolution becomes a contradiction. `other` is
 * emptied. pmmerge.c
 */
int ww_pm_merge(struct ww_pm_work *into, struct ww_pm_work *other, struct ww_error *err);
/* Do these two belong together? By stamps, where their clocks are one, else by order. */
bool ww_pm_same(const struct ww_pm_work *a, const struct ww_pm_work *b);
/* By how much the lengths differ that both know, all together; 0 also where they know none. */
int64_t ww_pm_unlike(const struct ww_pm_work *a, const struct ww_pm_work *b);

/* In the order of time, where times are known. pmbuild_span.c */
void ww_pm_order_spans(struct ww_pm_work *w);
/* A sentence for each callback that failed without stopping anything. pmgaps.c */
void ww_pm_device_errors(struct ww_pm_work *w);

/* Decide the unit of printed "usecs" and fill `printed` and, without stamps, `length`.
 * pmunit.c */
void ww_pm_units(struct ww_pm_work *w);

/* Stretches without a line, jumps of a clock, sums that are no device. pmgaps.c */
void ww_pm_gaps(struct ww_pm_work *w, int64_t gap_ns);

/*
 * What the console cost: lines whose distance is their bytes at a baud rate, or never less;
 * corrected lengths of devices, spans, totals, lo > hi where a console was written and nothing
 * is proven. baud 0: found. pmconsole.c
 */
void ww_pm_console(struct ww_pm_work *w, uint32_t baud, bool no_console);
/* All cycles together: what share of the time the log itself took. */
struct ww_pm_console_sum {
	uint64_t cycles;
	double console_ns, total_ns, worst; /* worst: share in one cycle */
	uint32_t baud;
	uint64_t all, paced, unknown; /* cycles, by their proof */
};
void ww_pm_console_add(struct ww_pm_console_sum *s, const struct ww_pm_cycle *c);
/* The note that warns, where the log disturbs what it measures. */
void ww_pm_console_note(const struct ww_pm_console_sum *s, struct ww_notes *notes);

/*
 * The critical path through each phase: from its end back, the callback that ended last
 * before the one that waits for it (parent, or the same task). pmcritical.c
 */
void ww_pm_critical(struct ww_pm_work *w);

/*
 * What two sources say of one thing and do not agree in, once lengths are known and the
 * console's cost is out: contradictions. pmmerge.c
 */
void ww_pm_disagree(struct ww_pm_work *w);

/*
 * The kernel's word on its sleep, wider where the bench contradicts it; is it the kernel's, and
 * as it printed it? pmslept.c
 */
void ww_pm_slept(struct ww_pm_work *w);
bool ww_pm_slept_told(const struct ww_pm_work *w);

/* Devices in the order of their start, pointers of w->c, contradictions listed. */
int ww_pm_close(struct ww_pm_work *w, struct ww_error *err);

/* ------------------------------------------------------------------ builder */

/* One line or event, with all its times. */
struct ww_pm_in {
	const struct ww_pmev *ev;
	struct ww_pm_line line; /* t_ns and the rest; text NULL: ev->text or the message below */
	struct ww_slice message;
	int clock;	/* enum ww_pm_clock of line.t_ns */
	int64_t res_ns; /* resolution of line.t_ns; 0 unknown */
	int64_t host_res_ns;
};

struct ww_pmbuild;
int ww_pmbuild_new(bool ftrace, const struct ww_kernlog_options *opt, struct ww_pmbuild **out,
		   struct ww_error *err);
int ww_pmbuild_feed(struct ww_pmbuild *b, const struct ww_pm_in *in, struct ww_error *err);
int ww_pmbuild_end(struct ww_pmbuild *b, struct ww_error *err);
/* A cycle that is complete, owned by the caller; NULL none for now. */
struct ww_pm_work *ww_pmbuild_take(struct ww_pmbuild *b);
void ww_pmbuild_free(struct ww_pmbuild *b);

#endif
