/* SPDX-License-Identifier: MIT */
/*
 * Suspend/resume cycles, internal. Two passes: the scan reads the whole line once
 * in constant memory and learns what the beats are, their cadence, the DUT's clock
 * and where something happened; then each cycle's own stretch (its window) is read
 * into arrays and judged by pure functions.
 */
#ifndef WW_ANALYSIS_RESUME_H
#define WW_ANALYSIS_RESUME_H

#include "base/notes.h"
#include "base/base.h"
#include "base/str.h"
#include "text/beat.h"

/* A DUT's tty buffers a page, and a UART's FIFO stands behind it. */
#define WW_TTY_BUFFER 4096
#define WW_TTY_FIFO   256

/* BOOTTIME - MONOTONIC grows by less than this only by reading it. */
#define WW_SLEPT_US 10000

/* ------------------------------------------------------------ small arrays */

/* Make room for one more of n elements; p is moved. */
int ww_grow(void *p, size_t *cap, size_t n, size_t size, struct ww_error *err);

/* Sentences, each once. */
#define ww_notes_add(v, err, ...) (ww_note(v, __VA_ARGS__), (v)->bad ? ww_fail_nomem(err) : 0)

/* --------------------------------------------------------------- statistics */

/* Add an interval that is a bound and no more. */
void ww_latency_bound(struct ww_interval v, struct ww_latency_summary *out);

/*
 * Summary of n latencies (ns; a mid is the middle of its interval) and of
 * cycles that never ended, which rank as +infinity.
 */
int ww_latency_summarise(const struct ww_interval *v, size_t n, uint64_t failures,
			 struct ww_latency_summary *out, struct ww_error *err);

/* The DUT's clock against the bench's: one skew, an offset for each waking stretch. */
struct ww_hull_point {
	double s, r; /* ns since the stretch's first point: DUT, bench */
};

struct ww_stretch {
	int64_t s0_us;	  /* MONOTONIC of the first point */
	int64_t r0_ns;	  /* bench time of the first point */
	int64_t slept_us; /* sleep before this stretch by the DUT's own clocks */
	bool fresh;	  /* the DUT booted anew before it */
	uint64_t n;
	double sum_s, sum_r;
	size_t hull_n, hull_cap;
	struct ww_hull_point *hull; /* lower convex hull */
};

struct ww_skew {
	size_t n, cap;
	struct ww_stretch *stretch;
};

#define WW_SKEW_PARTS 4

int ww_skew_point(struct ww_skew *k, bool begins, bool fresh, int64_t mono_us, int64_t slept_us,
		  int64_t host_ns, struct ww_error *err);
/* Relative skew alpha of host = (1 + alpha) dut, NaN with too little data. */
double ww_skew_fit(const struct ww_skew *k);
/* Its standard uncertainty, from fits of n parts of the same points; NaN unknown. */
double ww_skew_u(const double *part, size_t n);
/* Bench time spent asleep between stretch i-1 and i, ns; NaN for i = 0 and after a boot. */
double ww_skew_slept(const struct ww_skew *k, double alpha, size_t i);
/* Least distance of stretch i, as its r - (1 + alpha) s; at: the s of that point. */
double ww_skew_least(const struct ww_skew *k, double alpha, size_t i, double *at);
void ww_skew_free(struct ww_skew *k);

/* ----------------------------------------------------------------- the line */

struct ww_cadence {
	int64_t median_ns;    /* between two beats on the wire */
	int64_t limit_ns;     /* longer is a gap */
	int64_t dut_limit_ns; /* the same for the stamps' own spacing */
	int64_t width_ns;     /* typical width of a byte's interval */
};

struct ww_info_line {
	struct ww_interval t;
	char *key, *value;
};

/* Something happened between two beats. */
struct ww_happened {
	struct ww_interval before, after;
	int64_t mono_us; /* stamp of the beat after, -1 plain */
	int64_t slept_us;
	bool reset;
};

/* What the whole line taught. */
struct ww_scan {
	uint64_t bytes, beats, others, between, lost, tails;
	uint64_t pauses; /* stamped: the beat paused, the machine did not sleep */
	int64_t longest_pause_ns;
	bool stamped;
	uint8_t is_beat[256]; /* plain: bytes that are beats */
	size_t unit;	      /* plain: bytes of one write, at most so many wait ("y\r\n": 3) */
	int mode;	      /* enum ww_beat_mode in force */
	size_t ahead;	      /* bytes that the DUT may have written ahead */
	bool line_idles;      /* plain beats slower than the line: nothing waits in a buffer */
	bool saturated;	      /* plain beats without a pause between them, whatever mode was told */
	int64_t char_ns;      /* time of a character, 0 unknown */
	struct ww_cadence cadence;
	struct ww_interval first, last; /* bytes */
	struct ww_info_line *info;
	size_t infos, infos_cap;
	struct ww_happened *happened; /* silences (plain) or sleeps (stamped), in order */
	size_t happenings, happened_cap;
	struct ww_skew skew;
	struct ww_skew part[WW_SKEW_PARTS]; /* each of every fourth point: how sure it is */
	bool getty;
};

/* Which bytes of a line are plain beats: see resume_plain.c. */
struct ww_plain {
	uint64_t count[256];
	uint32_t next[256][256]; /* which byte follows which */
	uint8_t last;
	bool any;
};

struct ww_plain_gaps {
	const double *gap; /* between bytes, ns */
	double *scratch;   /* as many */
	size_t n;
	int64_t width_ns; /* typical width of a byte's interval */
	bool told;	  /* the user named a period */
};

void ww_plain_add(struct ww_plain *k, uint8_t byte);
/* Fills is_beat, unit, beats and between of the scan; no beats where there is no heartbeat. */
void ww_plain_find(const struct ww_plain *k, const struct ww_plain_gaps *g, struct ww_scan *s);

int ww_scan_line(struct ww_trace *t, const struct ww_source_info *port,
		 const struct ww_resume_options *opt, struct ww_scan *out, struct ww_error *err);
void ww_scan_free(struct ww_scan *s);
/* A line of information, as the decoder gives it; copies it. */
int ww_scan_told(struct ww_scan *s, struct ww_interval t, const char *key, const char *value,
		 struct ww_error *err);
/* Another boot_id is told at `to` than was true at `from`. */
bool ww_scan_booted(const struct ww_scan *s, const struct ww_trace *t, int64_t from, int64_t to);
/* What the DUT says it came back from in this time: a number of enum ww_pm_mode. */
int ww_scan_mode(const struct ww_scan *s, int64_t from_ns, int64_t to_ns);
/* Value of the last line of a key that came at or before t (NULL: none). */
const char *ww_scan_info(const struct ww_scan *s, const char *key, int64_t at_ns);

/* --------------------------------------------------------------- one window */

enum ww_class { WW_CL_TEXT = 0, WW_CL_BEAT, WW_CL_INFO, WW_CL_FRAGMENT };

struct ww_rbeat {
	size_t at; /* its first byte */
	uint32_t len;
	uint32_t seq;
	int64_t mono_us, sleep_us;
};

struct ww_window {
	size_t n, cap;
	int64_t *lo, *hi;
	uint8_t *data, *cls;
	size_t beats, beats_cap;
	struct ww_rbeat *beat;
	bool stamped;
};

int ww_window_add(struct ww_window *w, size_t n, const int64_t *lo, const int64_t *hi,
		  const uint8_t *data, struct ww_error *err);
/* Tell beats, information lines, text and broken beats apart. */
int ww_window_classify(struct ww_window *w, const struct ww_scan *s, struct ww_error *err);
void ww_window_reset(struct ww_window *w);
void ww_window_free(struct ww_window *w);

static inline struct ww_interval ww_window_t(const struct ww_window *w, size_t i)
{
	return (struct ww_interval){w->lo[i], w->hi[i]};
}

/* ---------------------------------------------------------------- one cycle */

struct ww_edge {
	struct ww_interval t;
	int level; /* after it */
};

struct ww_edges {
	const struct ww_edge *e;
	size_t n;
};

/* What is known of a cycle beside the line. Intervals: lo > hi where not observed. */
struct ww_cycle_in {
	uint32_t n;
	struct ww_interval request, request_end, wake, wake_end, end;
	const char *exit_text, *wake_text, *end_text; /* NULL none */
	bool others_woken;			      /* the campaign has a wake command */
	/* Edges of lines by their role: rail or power LED, wake line, sleep indicator. */
	struct ww_edges off, woken, sleep;
	struct ww_interval silent, alive; /* campaign without a heartbeat: last and first sign */
	const struct ww_window *console;  /* may be NULL */
	int64_t to_ns;			  /* end of what belongs to this cycle */
	bool trace_ends;		  /* to_ns is the end of the trace */
	bool live;			  /* the trace still grows */
	bool unclosed;			  /* it grows, or its end is missing */
	int64_t hint_mono_us;		  /* stamp of the first beat after the sleep, -1 unknown */
	unsigned owed;		  /* sleeps before the request whose beats had not come by then */
	const struct ww_gap *gap; /* bytes that were lost */
	size_t gaps;
	const char *pm_test; /* NULL or "none": none */
	bool booted;	     /* another boot_id came */
	bool warmup;	     /* in no figure */
	bool told_refused;   /* the DUT said that its kernel refused */
	const char *stats;   /* its suspend_stats, may be NULL */
};

/* The wattmeter of a recording, as far as the energy of a phase needs it. */
struct ww_resume_meter {
	uint32_t source; /* 0: none */
	size_t column;
	struct ww_scale scale;
	int64_t shift_ns; /* from the arrival back to the middle of the window */
	int64_t blur_ns;  /* width of what a reading may cover, and the time to the next */
	double resolution, acc_abs, acc_rel; /* as in struct ww_channel_info */
};

struct ww_power_point {
	int64_t t_ns;
	double watts;
};

/* A pair that the DUT told of a cycle. */
struct ww_told {
	char *key, *value;
};

struct ww_cycle_out {
	struct ww_cycle c;
	struct ww_str reason;
	struct ww_stall *stall;
	size_t stalls_cap;
	struct ww_power_point *power; /* around it, in the order of time */
	size_t powers;
	/* What notes are made of. */
	bool queued;	   /* the first beat may have waited behind old ones */
	bool text_no_hand; /* text but no hand-over message */
	bool only_uart;
	bool wake_line;		   /* the wake was seen on a line */
	bool line_blinks;	   /* which blinked while it slept */
	bool lost;		   /* bytes are missing where it matters */
	bool control;		   /* watched without a heartbeat */
	bool settles;		   /* a meter was fast enough to see its power settle */
	struct ww_interval silent; /* then: the last sign of life before the sleep */
	unsigned bound_only;	   /* bit per latency: its start was not observed */
	int64_t pause_ns;   /* plain stream: pause within what can have been buffered, 0 none */
	int64_t user_by_ns; /* plain stream: user space ran this long after uart at the latest */
	bool backlog;	    /* stamped: no beat written after the silence came */
	unsigned paid;	    /* sleeps of earlier cycles whose beats came now */
	int64_t paid_us[2]; /* the first of them: slept, and awake meanwhile */
	uint64_t lost_beats;
	uint64_t said;	  /* bytes of text between the last beat and the first byte after */
	int64_t slept_us; /* by the DUT's clocks, -1 unknown */
	int64_t awake_us; /* MONOTONIC from the last beat before the jump to the first after */
	struct ww_told *told;
	size_t told_n, told_cap;
};

/* regex: regex_t of <regex.h>, or NULL for the built-in list. */
int ww_cycle_judge(const struct ww_scan *s, const struct ww_window *w, const struct ww_cycle_in *in,
		   const void *regex, struct ww_cycle_out *out, struct ww_error *err);
/* One of which nothing is known. */
struct ww_cycle_out ww_cycle_blank(uint32_t n);
/* Its latencies, from its events and its result. */
void ww_cycle_latencies(const struct ww_scan *s, struct ww_cycle_out *out);
void ww_cycle_out_free(struct ww_cycle_out *o);

/*
 * Sleep and wake as lines saw them: the sleep from `from` on, a press from `last` on, both
 * before `to`. None (lo > hi) where no line tells.
 */
void ww_cycle_lines(const struct ww_cycle_in *in, int64_t from, int64_t last, int64_t to,
		    struct ww_interval *off, struct ww_interval *wake, struct ww_cycle_out *out);

/* What lies between the last beat before and the first byte after: see resume_cycle.c. */
struct ww_silence {
	int kind;     /* enum ww_silence_kind */
	size_t last;  /* last byte of the living line, SIZE_MAX none */
	size_t uart;  /* first byte of it afterwards, SIZE_MAX none */
	size_t first; /* beat (index of beats) that user space surely wrote after, SIZE_MAX none */
	int64_t slept_us, awake_us;
	unsigned paid;
	int64_t paid_us[2];
};
enum ww_silence_kind {
	WW_SIL_NONE = 0,
	WW_SIL_SLEEP,
	WW_SIL_RESET,
	WW_SIL_PAUSE,
	WW_SIL_PLAIN,
	WW_SIL_WIRE, /* stamped: only old beats came after it */
	WW_SIL_FOREVER
};
void ww_silence_find(const struct ww_scan *s, const struct ww_window *w,
		     const struct ww_cycle_in *in, struct ww_silence *out);

/* What became of a cycle whose events are known; writes its reason. A number of enum ww_result. */
int ww_cycle_result(const struct ww_scan *s, const struct ww_window *w,
		    const struct ww_cycle_in *in, const struct ww_silence *si,
		    struct ww_cycle_out *out);

/*
 * Text of the boot loader in (after_ns, before byte `until`): its first byte and the
 * end of the hand-over message. until SIZE_MAX: to the end.
 */
int ww_text_events(const struct ww_window *w, size_t from, size_t until, int64_t until_ns,
		   const struct ww_interval *wake, const void *regex, struct ww_interval *firmware,
		   struct ww_interval *handoff, struct ww_error *err);

/* Does a kernel that starts anew speak in this time? */
bool ww_text_boots(const struct ww_window *w, int64_t after_ns, int64_t until_ns);

/* Starvation and the return of the cadence from beat u0 on. */
int ww_cadence_after(const struct ww_scan *s, const struct ww_window *w, size_t u0,
		     struct ww_cycle_out *out, struct ww_error *err);

/* ----------------------------------------------------------------- the whole */

struct ww_resume {
	struct ww_cycle_out *cycle;
	size_t cycles, cap;
	struct ww_latency_summary summary[WW_LAT_COUNT];
	struct ww_scan scan;
	struct ww_notes notes;
	const char **dut; /* key, value, key, value */
	size_t dut_n, dut_cap;
	/* Copies for the report. */
	struct ww_interval span;
	int64_t start_real_ns;
	bool have_start;
	int64_t utc_offset_s;
	char *zone, *port, *path;
	double skew, skew_u; /* relative; NaN unknown */
	double part_skew[WW_SKEW_PARTS];
	int64_t rtc_ns;	   /* half-width of dut_asleep where it is no better than an RTC, 0 exact */
	double rtc_off[2]; /* how far outside the bench's bounds it was, ns */
	double fail_ci[2];
	uint64_t results[WW_RES_COUNT]; /* warm-ups are in none */
	uint64_t warmups;
	struct ww_resume_meter meter;
	struct ww_kernel *kernel; /* what its console told, NULL no console: resume_kernel.h */
};

/* What the DUT told of each cycle: resume_told.c */
int ww_resume_told(struct ww_resume *r, struct ww_error *err);
/* dut_asleep of all cycles, with the uncertainty that the bench can vouch for. */
void ww_resume_asleep(struct ww_resume *r);

/* What a cycle is to the figures of a latency. */
enum ww_kind { WW_KIND_NONE, WW_KIND_VALUE, WW_KIND_BOUND, WW_KIND_NEVER };
int ww_resume_kind_of(const struct ww_cycle_out *o, int latency);
/* The median of a latency, and how wide its interval is; infinite: unbounded. */
int ww_resume_width(const struct ww_resume *r, int latency, double conf, double *median_ms,
		    double *width_ms);

/* Latencies and results over all cycles. */
int ww_resume_summarise(struct ww_resume *r, struct ww_error *err);

/* Keep the readings around a cycle. */
int ww_resume_watts(struct ww_trace *t, const struct ww_resume_meter *m, struct ww_cycle_out *o,
		    struct ww_error *err);
/*
 * Energy of cycle i between two times of the bench. @return 0, or -ENODATA: no meter ran, or
 * one that is too slow for it
 */
int ww_resume_energy(const struct ww_resume *r, size_t i, struct ww_interval from,
		     struct ww_interval to, struct ww_quantity *out);

/* Power: off, settled, energy and watts asleep of the cycles found. */
int ww_resume_power(struct ww_trace *t, struct ww_resume *r, struct ww_error *err);

#endif
