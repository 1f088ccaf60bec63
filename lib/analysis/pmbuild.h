/* SPDX-License-Identifier: MIT */
/*
 * The builder's inside. Kernel text tells when phases end, ftrace when they begin, too; in
 * both a cycle goes down to the sleep, up again, and over. A failure turns it back halfway.
 */
#ifndef WW_ANALYSIS_PMBUILD_H
#define WW_ANALYSIS_PMBUILD_H

#include "analysis/pmwork.h"

enum ww_pm_side {
	WW_PM_DOWN = 0, /* to the sleep */
	WW_PM_UP,	/* from it */
	WW_PM_BACK,	/* a failure is rolled back */
	WW_PM_OVER	/* tasks run again */
};

enum { WW_PM_BUCKETS = 256, WW_PM_SEEN = 1024, WW_PM_KEEP = 160, WW_PM_WAKES = 3 };

/* Caps that hold memory: real cycles are far below. */
enum { WW_PM_LINES_MAX = 150000, WW_PM_DEVICES_MAX = 60000, WW_PM_ROWS_MAX = 4000 };

struct ww_pm_kept {
	size_t n;
	char text[WW_PM_KEEP];
};

enum { WW_PM_PROBES = 48, WW_PM_NAMED = 16 };

/* The phase that the name of a function tells. */
struct ww_pm_named {
	char name[56];
	size_t n;
	int phase, verb;
};

struct ww_pm_probe {
	char name[48];
	size_t n;
	int64_t from, first, total;
	uint32_t count;
	bool open;
};

struct ww_pm_seen {
	uint32_t key, cycle;
	int phase;
};

struct ww_pmbuild {
	bool ftrace;
	bool lost; /* the trace lost events: what is not there may have been */
	int64_t gap_ns;
	struct ww_pm_work *w; /* the cycle that goes on, NULL none */
	struct ww_pm_work **done;
	size_t ready, done_cap;
	struct ww_pm_named named[WW_PM_NAMED];

	/* --- of the cycle; cleared when one begins */
	struct {
		int side; /* enum ww_pm_side */
		int at;	  /* enum ww_pm_phase: the one that goes on, or that comes next */
		int verb;
		bool cut;	 /* its begin is not in the text */
		bool entry;	 /* "suspend entry" was said: an exit will be */
		bool exited;	 /* and it was */
		bool devices;	 /* a phase of devices, CPUs or later was seen */
		bool console;	 /* "Suspending console(s)" */
		bool slept_mark; /* something only a sleep leaves */
		bool booted;	 /* hibernation: a kernel boots to fetch the image */
		bool loader;	 /* a boot loader boots */
		bool cpus;	 /* some went off */
		bool died;	 /* oops, watchdog */
		bool wake_pending, some_failed, phase_failed, early;
		bool ends_told; /* "suspend of devices complete": phases are told */
		size_t told;	/* callbacks whose phase was told by its end */
		bool frozen;	/* the freeze was seen to end */
		bool capped;	/* of lines or devices */
		int64_t machine_ns,
			deep_ns; /* ftrace: where the machine's own part and the sleep begin */
		int64_t awake_slack_ns; /* so much before awake_ns at most */
		bool deep;	  /* ftrace: the sleep itself is traced within the machine's part */
		int fail_phase;	  /* where it turned back */
		int64_t begin_ns; /* first event on the axis */
		int64_t last_ns;  /* last stamp */
		int64_t event_ns; /* last stamp of an event of ours */
		int64_t event_any_ns, last_any_ns; /* the same by whatever clock there is */
		int64_t last_down_ns;		   /* last event before the sleep, surely */
		int64_t first_up_ns;		   /* first event after it, surely */
		int64_t maybe_up_ns;		   /* hibernation: CPUs back, for thaw or restore */
		int64_t asleep_ns, awake_ns;	   /* said or traced */
		int64_t test_ns;		   /* pm_test: how long it waits */
		struct ww_interval thaw_end, exit;
		struct ww_interval slept;
		size_t over_line;	   /* lines up to here belong to it */
		size_t ended_lines;	   /* lines since it ended */
		size_t event_lines;	   /* lines since the last event */
		size_t open[WW_PM_PHASES]; /* index + 1 of its open span */
		size_t pending;		   /* index + 1 of a span that the next line ends */
		int64_t pending_lo;	   /* what it printed */
		size_t cpu_other;	   /* index + 1 of the row of the last CPU */
		int64_t cpu_number, cpu_from_ns;
		int64_t sum_ns; /* "start suspend of devices": prepare and suspend */
		size_t wakes;
		int64_t wake_irq[WW_PM_WAKES];
		struct ww_pm_probe probe[WW_PM_PROBES];
		size_t probes;
		uint32_t probe_depth, main_open; /* of the task that suspends */
		struct ww_pm_kept callee, callee_device, callee_driver;
		struct ww_pm_kept said; /* the first line that is none of ours, before any phase */
		struct ww_pm_kept source; /* of a wake-up, traced on the way to sleep */
		struct ww_pm_kept queue;  /* of work, among those that are listed as busy */
		int32_t callee_err;
		size_t console_at;
		int64_t offset_before, offset_after; /* least host - kernel on each side */
		int64_t utc_entry, utc_exit;	     /* told wall time - kernel, INT64_MAX none */
	} s;
	size_t bucket[WW_PM_BUCKETS];	    /* index + 1 of the last open call */
	struct ww_pm_seen seen[WW_PM_SEEN]; /* the phase each device was called in last */
	uint32_t cycle;
	size_t *chain; /* per device: index + 1 of the open call before it */
	size_t chain_cap;

	/* --- of the text */
	struct ww_pm_kept before;	 /* the line before, for gaps */
	struct ww_pm_kept before_kernel; /* the last one of the kernel's with a stamp */
	size_t before_kernel_line;	 /* index + 1 in the cycle */
	int64_t before_t, before_host, before_bench;
	struct ww_pm_kept version;
	/* What a file's header said of the next cycle. */
	struct {
		bool any;
		int mode;
		int64_t utc_ns, fwsuspend_ns, fwresume_ns;
		struct ww_pm_kept error, wifi;
		int64_t wifi_ns;
	} head;
	int32_t main_pid;
	bool capped; /* ever */
};

/* Nothing goes on: lines without a meaning need not be fed. */
static inline bool ww_pmbuild_idle(const struct ww_pmbuild *b)
{
	return b->w == NULL;
}
/* Before the first line. */
static inline void ww_pmbuild_of_ftrace(struct ww_pmbuild *b, bool ftrace)
{
	b->ftrace = ftrace;
}
/* Did a cycle ever grow beyond the caps? */
bool ww_pmbuild_capped(const struct ww_pmbuild *b);

/* --- pmbuild_cycle.c */
int ww_pmbuild_open(struct ww_pmbuild *b, const struct ww_pm_in *in, bool cut,
		    struct ww_error *err);
/* forced: a result that its end has told, -1 none. */
int ww_pmbuild_finish(struct ww_pmbuild *b, int forced, struct ww_error *err);
/* Now it surely is on the way up. */
void ww_pmbuild_turn(struct ww_pmbuild *b, int64_t t);
/* It surely is on the way down still. */
void ww_pmbuild_down(struct ww_pmbuild *b, int64_t t);

/* --- pmbuild_phase.c */
void ww_pmbuild_phase(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t);
/* Lines like "Freezing ... done." are stamped at their begin: a later line ends them. */
void ww_pmbuild_pending(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t);
bool ww_pm_phase_up(int phase, int verb);
struct ww_pm_span *ww_pmbuild_add_span(struct ww_pmbuild *b, int phase, int verb);
/* Its length by the better witness. */
void ww_pmbuild_settle(struct ww_pmbuild *b, struct ww_pm_span *s);
/* On which side of the sleep an event lies. */
void ww_pmbuild_side(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t);
void ww_pmbuild_failed(struct ww_pmbuild *b, int phase);
int ww_pm_phase_after(int phase);

/* --- pmbuild_unslept.c: a phase of a resume, before which no sleep was traced */
void ww_pmbuild_unslept(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t);

/* --- pmbuild_probe.c: functions that are probed, in the task that suspends */
void ww_pmbuild_probe(struct ww_pmbuild *b, struct ww_slice func, bool call, int32_t pid,
		      int64_t t);
void ww_pmbuild_probe_device(struct ww_pmbuild *b, const struct ww_pmev *e);
/* At the cycle's end: rows of what is no device. */
void ww_pmbuild_probes(struct ww_pmbuild *b);

/* --- pmbuild_device.c */
/* A phase of devices is over, or failed: the callbacks since the one before were of it. */
void ww_pmbuild_told(struct ww_pmbuild *b, int phase);
/* Without names of functions: what is called from here on is rolled back. */
void ww_pmbuild_back(struct ww_pmbuild *b, int failed);

/* --- pmbuild_cpu.c */
void ww_pmbuild_cpu(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t);
void ww_pmbuild_cpu_end(struct ww_pmbuild *b, int phase);

/* --- pmbuild_span.c: at the cycle's end */
void ww_pmbuild_spans(struct ww_pmbuild *b);
/* pmbuild_late.c: what stamps of a program tell that was frozen, too, is forgotten. */
void ww_pmbuild_late(struct ww_pmbuild *b);
/* Where the sleep lies in a long stretch of a clock that runs on. */
void ww_pmbuild_ran_on(struct ww_pmbuild *b);
/* A trace clock that goes on in the sleep jumps where the kernel's time is put right. */
void ww_pmbuild_boot_clock(struct ww_pmbuild *b);

/* --- pmbuild_hint.c: lines without a meaning of their own, on a side of the sleep */
void ww_pmbuild_hint(struct ww_pmbuild *b, struct ww_slice m, int64_t t);

/* --- pmbuild_device.c */
void ww_pmbuild_device(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t);

/* --- pmbuild_why.c */
void ww_pmbuild_why(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t);
int ww_pmbuild_result(struct ww_pmbuild *b);

static inline struct ww_slice ww_pm_kept_slice(const struct ww_pm_kept *k)
{
	return (struct ww_slice){k->text, k->n};
}

static inline void ww_pm_keep(struct ww_pm_kept *k, struct ww_slice s)
{
	k->n = s.n < WW_PM_KEEP ? s.n : WW_PM_KEEP;
	if (k->n > 0)
		memcpy(k->text, s.p, k->n);
}

/* What a header of pm-graph says of the cycle that follows; it ends the one before. */
struct ww_pmgraph;
int ww_pmbuild_header(struct ww_pmbuild *b, const struct ww_pmgraph *h, struct ww_error *err);

#endif
