/* SPDX-License-Identifier: MIT */
/**
 * @file wakewatt.h
 * libwakewatt: watts of a machine and its way through suspend-to-RAM,
 * measured from outside.
 *
 * Two machines appear in this header. The DUT is the device under test; the
 * bench is the machine that runs this library and measures.
 *
 * Conventions, stated once
 * ------------------------
 * - Errors. Every fallible function returns a value >= 0 on success and a
 *   negative errno otherwise. The last argument of such a function is an
 *   optional (may be NULL) caller-owned `struct ww_error` that receives a
 *   sentence: what failed, on what, why, and what helps. The first error
 *   wins: an error that is already set is not overwritten, so that a clean-up
 *   that fails too does not hide its cause. Reset it with ww_error_clear().
 * - NULL. Unless a function says "may be NULL", a NULL argument is a
 *   programming error. Every `_close` and `_free` accepts NULL.
 * - Ownership. Who opens closes. A pointer that a handle lends (strings,
 *   arrays, structures) lives until the handle is closed or changed (a trace:
 *   ww_trace_refresh(); a cursor: ww_cursor_next(); a recorder: any dispatch); copy
 *   what must live longer. Cursors are closed before their trace, a campaign is freed
 *   before its recorder; figures (ww_stat, ww_resume, ww_list) own their data. Text that a function
 * hands over (`char **out`) is freed with ww_free().
 * - Threads. One handle, one thread at a time; different handles are
 *   independent. The library has no mutable globals, installs no signal
 *   handlers, prints nothing and never exits. The only thread it starts is a
 *   recorder's writer thread, and of a campaign that judges its cycles one that reads.
 * - The application owns the loop. Whatever waits offers a file descriptor to
 *   poll for reading and a `_dispatch` that never blocks.
 * - Pull readers have three outcomes: 1 an item, 0 the end (for now, on a trace
 *   that still grows), negative an error.
 * - Time. All times are nanoseconds of the bench's CLOCK_BOOTTIME (the axis of a
 *   trace), and every observed time is an interval: the event surely happened
 *   in [lo, hi], both ends included. Wall-clock time is for display only.
 * - Structures that the caller allocates and the library reads start with
 *   `size`, to be set to sizeof the structure: a newer library accepts an older
 *   caller's and refuses size 0. Zero means the default in every other member.
 * - Units stand in names (`_ns`, `_watts`) or in a `unit` member (SI symbols).
 */
#ifndef WAKEWATT_H
#define WAKEWATT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WW_API		__attribute__((visibility("default")))
#define WW_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define WW_API
#define WW_PRINTF(f, a)
#endif

/** The version of this header; ww_version() tells that of the library. */
#define WW_VERSION_STRING "0.1.0"
/** Number of the binary interface; it changes only when an old program could break. */
#define WW_ABI 1

/* ------------------------------------------------------------------ basics */

/** Longest text of an error, with its terminating NUL. */
#define WW_ERROR_TEXT 512

/** An error: a negative errno and one sentence. Initialise with {0}. */
struct ww_error {
	int code;		  /**< 0: none; otherwise a negative errno */
	char text[WW_ERROR_TEXT]; /**< what, where, why; no newline at its end */
};

/** Forget an error, so that the next one is stored. */
WW_API void ww_error_clear(struct ww_error *err);

/** Version of the library, "MAJOR.MINOR.PATCH". Static storage. */
WW_API const char *ww_version(void);
/** Binary interface of the library, to be compared with WW_ABI. */
WW_API int ww_abi(void);
/**
 * Optional parts of this build: a string of names ("ftdi usb gpio2"), each
 * present or absent as it was built. Static storage.
 */
WW_API const char *ww_features(void);
/** Size in bytes of a public structure by name ("ww_error"), 0 if unknown: for bindings. */
WW_API size_t ww_sizeof(const char *structure);
/** Free text that a function of this library handed over. May be NULL. */
WW_API void ww_free(void *p);

/**
 * A time in which an event surely happened, or a duration that surely lies
 * between two bounds. INT64_MIN as lo and INT64_MAX as hi mean "open".
 */
struct ww_interval {
	int64_t lo_ns;
	int64_t hi_ns;
};

/** Open ends of an interval. */
#define WW_TIME_MIN INT64_MIN
#define WW_TIME_MAX INT64_MAX

/**
 * A measured quantity: best value and standard uncertainty (GUM, JCGM 100).
 * A member that cannot be given is NaN.
 */
struct ww_quantity {
	double value;
	double u;
};

/* ------------------------------------------------------------------ clocks */

/** CLOCK_BOOTTIME of this machine in ns: "now" on the axis of a new trace. */
WW_API int64_t ww_clock_now_ns(void);

/**
 * The clocks of the bench read together. `boot_ns` was read between two reads
 * of CLOCK_MONOTONIC_RAW that lie `width_ns` apart, the others likewise, so any
 * two of them belong together within `width_ns`.
 */
struct ww_anchor {
	int64_t boot_ns;	 /**< CLOCK_BOOTTIME */
	int64_t mono_ns;	 /**< CLOCK_MONOTONIC */
	int64_t real_ns;	 /**< CLOCK_REALTIME, since 1970-01-01 UTC */
	int64_t width_ns;	 /**< width of the whole reading */
	int32_t adj_state;	 /**< adjtimex(2): TIME_OK 0 ... TIME_ERROR 5; -1 unknown */
	int32_t adj_freq_ppb;	 /**< frequency correction in force, ppb */
	int64_t adj_maxerror_ns; /**< the kernel's own bound of its error; -1 unknown */
};

/** Read all clocks now. The narrowest of a few attempts is kept. */
WW_API int ww_anchor_take(struct ww_anchor *out, struct ww_error *err);

/**
 * Read a duration such as "500ms", "2s", "1m30s", "8h"; a bare number is seconds.
 * @return 0, or -EINVAL
 */
WW_API int ww_duration_parse(const char *text, int64_t *ns, struct ww_error *err);

/* --------------------------------------------------- what a trace describes */

/** What a value says about the time around it; decides how it is integrated. */
enum ww_semantics {
	WW_INSTANT = 0, /**< value at the moment: trapezoid */
	WW_AVERAGE = 1, /**< mean over the window that ends at the stamp: backward rectangle */
	WW_HOLD = 2,	/**< valid from the stamp until the next (a display): forward */
	WW_COUNTER = 3, /**< a register that counts up (Wh) and may wrap or be reset */
	WW_EDGE = 4	/**< level of a line after an edge: an event, not a quantity */
};

/** What a source is, for choosing analyses. */
enum ww_source_kind {
	WW_METER = 0,  /**< samples of channels */
	WW_SERIAL = 1, /**< stamped bytes of a serial line: heartbeats, console */
	WW_LINE = 2,   /**< edges of a GPIO or modem line */
	WW_MANUAL = 3  /**< samples typed by a person */
};

/** How the bytes came, and what is known of the delay on the way. */
struct ww_transport {
	const char *name; /**< "pty", "uart", "ftdi_sio", "ftdi", "cdc", "unix", "tcp", "kernel",
			     "sim", "person" */
	int64_t delay_min_ns; /**< least delay from the wire to where it can be read */
	int64_t delay_max_ns; /**< greatest such delay that is sure; already subtracted from every
				 `lo` */
	int64_t char_ns; /**< time of one character on the line where the line's pace is known (a
			    real UART), else 0: no model */
	const char *settings; /**< what was asked for and what is in force, "baud=115200
				 latency_timer=1(in force)"; "" if nothing */
};

/** A source, as a trace describes it. Strings are never NULL; unknown is "". */
struct ww_source_info {
	uint32_t id;	  /**< number within the trace, from 1 */
	int32_t kind;	  /**< enum ww_source_kind */
	const char *name; /**< short and unique in the trace: "meter", "port", "meter2" */
	const char *uri;
	const char *driver;
	const char *model;
	const char *serial;
	const char *firmware;
	const char *role;     /**< what a line or port is wired to: "heartbeat", "console", "wake",
				 "off", "sleep"; "" */
	const char *notes;    /**< e.g. "driver has never met the real device" */
	int64_t period_ns;    /**< nominal time between samples; 0 if irregular */
	int64_t window_ns;    /**< time that one reading covers; 0 for a moment; -1: the time since
				 the one before, however long (pulses) */
	int64_t delay_min_ns; /**< least time from the end of the window to the arrival */
	int64_t delay_max_ns; /**< greatest such time */
	struct ww_transport transport;
};

/** A channel of a source. value = code * scale + offset. */
struct ww_channel_info {
	uint32_t id;	      /**< number within the trace, from 1 */
	uint32_t source;      /**< id of its source */
	const char *name;     /**< "power", "voltage", "energy", "level" */
	const char *quantity; /**< "power", "apparent_power", "power_factor", "voltage", "current",
				 "energy", "frequency", "level", "other" */
	const char *unit;     /**< "W", "VA", "1", "V", "A", "Wh", "Hz" */
	int32_t semantics;    /**< enum ww_semantics */
	int32_t reserved;
	double scale;
	double offset;
	double resolution; /**< smallest step the meter shows, in `unit`; 0 unknown */
	double acc_abs;	   /**< maker's bound +-a, in `unit`; NaN unknown (not zero) */
	double acc_rel;	   /**< maker's bound as a fraction of the reading; NaN unknown */
	double wrap;	   /**< counters: value at which it starts again; 0 never */
};

/** The code of a value that the meter did not give. */
#define WW_MISSING INT64_MIN
/** Codes of a value beyond the meter's range, above and below. */
#define WW_OVER	 (INT64_MIN + 1)
#define WW_UNDER (INT64_MIN + 2)
/** Lower codes than this are no values: they read as NaN. */
#define WW_CODE_MIN (INT64_MIN + 16)

/** A mark: something said or done at a time. */
struct ww_mark {
	struct ww_interval t;
	uint32_t source;  /**< id of the source it concerns, 0 none */
	uint32_t cycle;	  /**< cycle of a campaign it belongs to, 0 none */
	const char *kind; /**< see WW_MARK_ */
	const char *text;
};

/** Kinds of marks. Others may appear; a reader passes them over. */
#define WW_MARK_LABEL	"label"	  /* typed by a person */
#define WW_MARK_START	"start"	  /* recording began */
#define WW_MARK_STOP	"stop"	  /* recording ended */
#define WW_MARK_REQUEST "request" /* suspend command given; text: the command */
#define WW_MARK_REQUEST_END                                                                        \
	"request-end" /* suspend command ended; text: "exit 0", "exit 1: ...", "signal 9" */
#define WW_MARK_WAKE	 "wake" /* wake command given: the wake lies between this and wake-end */
#define WW_MARK_WAKE_END "wake-end" /* wake command ended; text as request-end */
#define WW_MARK_CYCLE_END                                                                          \
	"cycle-end" /* campaign: "ok" back, "timeout" never seen again, "no silence", "unplugged", \
		       "stopped" by the user or with the bench */
#define WW_MARK_WARMUP "warmup" /* the cycle of this number is for no figure */
#define WW_MARK_SILENT "silent" /* campaign without a heartbeat: the last sign of life was here */
#define WW_MARK_ALIVE  "alive"	/* the same: the first sign after it; text: of what */
#define WW_MARK_CONTINUED                                                                          \
	"continued" /* recording goes on after an end of its own or the bench's; text: how */
#define WW_MARK_CAMPAIGN_END  "campaign-end" /* fewer cycles than asked for, and why */
#define WW_MARK_DUT_RESET     "reset"	     /* campaign: a DUT that never came back is reset */
#define WW_MARK_DUT_RESET_END "reset-end"    /* how that ended */
#define WW_MARK_DUT_OFF	      "off"	     /* campaign: the action at its end */
#define WW_MARK_DUT_OFF_END   "off-end"	     /* how that ended */
#define WW_MARK_UNPLUGGED     "unplugged"
#define WW_MARK_REPLUGGED     "replugged"
#define WW_MARK_CLOCK_STEP                                                                         \
	"clock-step" /* the bench's wall clock was stepped; text: by how much                      \
		      */
#define WW_MARK_BENCH_RESUME "bench-resume"  /* the bench itself slept; text: how long */
#define WW_MARK_RESET	     "counter-reset" /* a meter's own register fell back */
#define WW_MARK_DEVICE	     "device" /* anything else the device said: banner, over-range, stale */

/** Reason of a gap that reading found: its rows are stored, but cannot be unpacked. */
#define WW_GAP_DAMAGED "damaged block"

/** Loss: between two times `lost` items of a source are missing. */
struct ww_gap {
	struct ww_interval t; /**< from ... to */
	uint32_t source;
	uint32_t reserved;
	int64_t lost;	    /**< items lost, -1 unknown */
	const char *reason; /**< "unplugged", "queue full", "silent", "overrun", "sequence",
			       "damaged block" */
};

/* ------------------------------------------------------------------ writing */

/**
 * A writer of one trace: a SQLite file (suffix .wwt, see wakewatt-trace(5)) or
 * a stream. Rows become durable at each ww_writer_commit().
 */
struct ww_writer;

/** Form of a trace. */
enum ww_form {
	WW_FORM_FILE = 0,  /**< SQLite file */
	WW_FORM_JSONL = 1, /**< stream, a JSON object a line */
	WW_FORM_BINARY = 2 /**< stream, framed blocks */
};

struct ww_writer_options {
	size_t size;
	int32_t form;	     /**< enum ww_form */
	int32_t fd;	     /**< streams: where to write; not closed by the writer */
	const char *program; /**< stored as meta "program"; may be NULL */
	const char *command; /**< stored as meta "command"; may be NULL */
};

/**
 * Create a trace. An existing file is never overwritten (-EEXIST).
 * @param path  of the file; ignored for streams (may be NULL then)
 * @param opt   may be NULL: a file
 */
WW_API int ww_writer_open(const char *path, const struct ww_writer_options *opt,
			  struct ww_writer **out, struct ww_error *err);
/** Describe a source; info->id is ignored. @return the new id (>= 1). */
WW_API int ww_writer_source(struct ww_writer *w, const struct ww_source_info *info,
			    struct ww_error *err);
/**
 * Replace the description of source info->id (a meter told its model late, a device
 * came back). Intervals stored already keep their meaning: a line whose char_ns
 * changes has none from then on, for all its bytes.
 */
WW_API int ww_writer_update_source(struct ww_writer *w, const struct ww_source_info *info,
				   struct ww_error *err);
/**
 * Describe a channel; info->id is ignored. All channels of a source come before
 * its first samples. @return the new id (>= 1).
 */
WW_API int ww_writer_channel(struct ww_writer *w, const struct ww_channel_info *info,
			     struct ww_error *err);
/**
 * Store n samples of all channels of a source.
 * @param lo,hi  shape (n): interval of each sample's arrival, ns; hi never falls
 * @param codes  shape (n, channels), row by row, in the order of the channels'
 *               ids; WW_MISSING for a value not given
 */
WW_API int ww_writer_samples(struct ww_writer *w, uint32_t source, size_t n, const int64_t *lo_ns,
			     const int64_t *hi_ns, const int64_t *codes, struct ww_error *err);
/** Store n bytes that one read delivered: each surely arrived in [lo, hi]. */
WW_API int ww_writer_bytes(struct ww_writer *w, uint32_t source, struct ww_interval t,
			   const uint8_t *data, size_t n, struct ww_error *err);
WW_API int ww_writer_mark(struct ww_writer *w, const struct ww_mark *m, struct ww_error *err);
WW_API int ww_writer_gap(struct ww_writer *w, const struct ww_gap *g, struct ww_error *err);
WW_API int ww_writer_anchor(struct ww_writer *w, const struct ww_anchor *a, struct ww_error *err);
/** Set a key of the `meta` table ("bench.kernel", "dut.clocksource"). */
WW_API int ww_writer_meta(struct ww_writer *w, const char *key, const char *value,
			  struct ww_error *err);
/** Make everything so far durable and visible to followers. */
WW_API int ww_writer_commit(struct ww_writer *w, struct ww_error *err);
/**
 * Commit, compact and close: the file becomes one plain file without side
 * files. The handle is gone whatever the result; after an error everything up
 * to the last successful commit is still readable. w may be NULL.
 */
WW_API int ww_writer_close(struct ww_writer *w, struct ww_error *err);

/* ------------------------------------------------------------------ reading */

/** A trace opened for reading, closed or still growing. */
struct ww_trace;

enum ww_trace_state {
	WW_TRACE_CLOSED = 0,  /**< complete */
	WW_TRACE_LIVE = 1,    /**< a recorder is still writing */
	WW_TRACE_UNCLOSED = 2 /**< its recorder died; complete up to the last commit */
};

/**
 * Open a trace: a file, or "-" for a stream or a whole file on standard input.
 * A stream is read as far as it goes by ww_trace_refresh(). A file whose
 * recorder died is mended where the folder is writable. A file of another kind
 * gives -EINVAL with the name of what it looks like.
 */
WW_API int ww_trace_open(const char *path, struct ww_trace **out, struct ww_error *err);
WW_API void ww_trace_close(struct ww_trace *t);
/**
 * Look for what was added since the last call: new sources, channels, marks,
 * samples. Never blocks. @return 1 something new, 0 nothing new;
 * ww_trace_state() tells whether more can come.
 */
WW_API int ww_trace_refresh(struct ww_trace *t, struct ww_error *err);
/** Descriptor that becomes readable when a refresh is worth while (a timer for
 * files); -1 where nothing more can come. */
WW_API int ww_trace_fd(const struct ww_trace *t);
/** @return enum ww_trace_state */
WW_API int ww_trace_state(const struct ww_trace *t);
/** Path as given to ww_trace_open(). */
WW_API const char *ww_trace_path(const struct ww_trace *t);

WW_API size_t ww_trace_source_count(const struct ww_trace *t);
/** i from 0. NULL if out of range. */
WW_API const struct ww_source_info *ww_trace_source(const struct ww_trace *t, size_t i);
WW_API size_t ww_trace_channel_count(const struct ww_trace *t);
WW_API const struct ww_channel_info *ww_trace_channel(const struct ww_trace *t, size_t i);
WW_API size_t ww_trace_mark_count(const struct ww_trace *t);
/** Marks in the order in which they were stored: an index never changes. */
WW_API const struct ww_mark *ww_trace_mark(const struct ww_trace *t, size_t i);
WW_API size_t ww_trace_gap_count(const struct ww_trace *t);
WW_API const struct ww_gap *ww_trace_gap(const struct ww_trace *t, size_t i);
WW_API size_t ww_trace_anchor_count(const struct ww_trace *t);
WW_API const struct ww_anchor *ww_trace_anchor(const struct ww_trace *t, size_t i);
/** Value of a meta key, NULL if absent. */
WW_API const char *ww_trace_meta(const struct ww_trace *t, const char *key);
/** i-th meta entry in the order of keys. @return 1, or 0 past the end. */
WW_API int ww_trace_meta_at(const struct ww_trace *t, size_t i, const char **key,
			    const char **value);
/**
 * i-th warning: rows that cannot be read (they are a gap WW_GAP_DAMAGED too, which
 * cursors pass over), a log that is missing. An index never changes; NULL past the end.
 */
WW_API const char *ww_trace_warning(const struct ww_trace *t, size_t i);
/** Smallest lo and greatest hi of all records; lo > hi if there are none. */
WW_API struct ww_interval ww_trace_span(const struct ww_trace *t);
/**
 * Wall-clock time of a moment of the axis, ns since 1970 UTC, by the nearest
 * anchor at or before it. For display only. @return 0, or -ENODATA without anchors.
 */
WW_API int ww_trace_wall(const struct ww_trace *t, int64_t boot_ns, int64_t *real_ns);

/** A position in the samples or bytes of one source. */
struct ww_cursor;

/** Flags of ww_cursor_open(). */
enum ww_cursor_flags {
	/**
	 * Bytes: the sure interval only, without the model of the line's pace. Without this
	 * flag, and where the transport's char_ns is known, byte k (from 0) of n that one
	 * read delivered lies in [lo + k char_ns, hi - (n - 1 - k) char_ns], or in the sure
	 * [lo, hi] where that is empty.
	 */
	WW_CURSOR_SURE = 1
};

/** Rows that a cursor lends; columns of n. */
struct ww_batch {
	size_t n;
	size_t channels;	     /**< 0 for bytes */
	const int64_t *lo_ns;	     /**< shape (n) */
	const int64_t *hi_ns;	     /**< shape (n) */
	const int64_t *const *codes; /**< [channels][n]; NULL for bytes */
	const uint8_t *data;	     /**< shape (n), bytes; NULL for samples */
};

/**
 * Read a source from and to a time (WW_TIME_MIN, WW_TIME_MAX: all): rows whose
 * interval touches [from, to].
 */
WW_API int ww_cursor_open(struct ww_trace *t, uint32_t source, int64_t from_ns, int64_t to_ns,
			  unsigned flags, struct ww_cursor **out, struct ww_error *err);
/** Next rows. @return 1 rows, 0 none for now, negative error. */
WW_API int ww_cursor_next(struct ww_cursor *c, struct ww_batch *out, struct ww_error *err);
WW_API void ww_cursor_close(struct ww_cursor *c);

/**
 * Number of samples (or bytes) of a source that touch [from, to]: the size that
 * arrays for ww_trace_read() need.
 */
WW_API int64_t ww_trace_rows(struct ww_trace *t, uint32_t source, int64_t from_ns, int64_t to_ns,
			     struct ww_error *err);
/**
 * Read one channel straight into arrays.
 * @param lo,hi,values  shape (max) each; lo and hi in ns; any may be NULL;
 *                      values in the channel's unit, NaN where missing
 * @return number of rows stored
 */
WW_API int64_t ww_trace_read(struct ww_trace *t, uint32_t channel, int64_t from_ns, int64_t to_ns,
			     size_t max, int64_t *lo_ns, int64_t *hi_ns, double *values,
			     struct ww_error *err);

/** The Arrow C stream interface's, as its specification declares it. */
struct ArrowArrayStream;
/**
 * Channels of one source as an Arrow C stream: a table with the columns "time" (timestamp[ns,
 * UTC], the wall clock at the middle of the interval; only where the trace knows it), "t_s"
 * (float64, seconds after the trace's first record), "lo_ns" and "hi_ns" (int64, the axis), and
 * one float64 for each channel by its name, null where the meter gave nothing. Units stand in
 * the fields' metadata. All of one moment: what a growing trace gains later is not in it.
 * @param channel  [n] ids, all of one source
 * @param out      filled; released by whoever takes it; lives longer than the trace, and
 *                 any thread may take it. Not to be released after an error
 */
WW_API int ww_trace_arrow(struct ww_trace *t, const uint32_t *channel, size_t n, int64_t from_ns,
			  int64_t to_ns, struct ArrowArrayStream *out, struct ww_error *err);

/**
 * ww_trace_wall() of many moments at once. @param boot_ns,real_ns  shape (n); may be the same
 */
WW_API int ww_trace_walls(const struct ww_trace *t, size_t n, const int64_t *boot_ns,
			  int64_t *real_ns, struct ww_error *err);

/* ------------------------------------------------- files of other programs */

/**
 * Files of other programs become traces in memory, so that every analysis, export and
 * report takes them as they are: tables of values in any dialect (CSV), logs of
 * analysers and of other tools. wakewatt-formats(7) lists them and what is assumed.
 */
struct ww_import_options {
	size_t size;
	const char *format;  /**< a name of ww_import_format_at(); NULL: found by content */
	double rate_hz;	     /**< rows a second where the file has no times; 0: that is an error */
	double resolution;   /**< smallest step of the readings in their unit (W); 0: found */
	const char *columns; /**< names of the columns, as a header would give them:
				"time_s,power_mW,,A"; an empty one is passed over; NULL: the
				file's own */
	int32_t offset_s;    /**< local times without a zone: seconds east of UTC, ... */
	int32_t has_offset;  /**< ... if this is 1; else they are taken as UTC, and that is noted */
};

/**
 * Open a trace as ww_trace_open() does (a file, one still growing, "-" for a stream), or
 * a file of another program as a closed trace in memory. A file of neither kind gives
 * -EINVAL with what it looks like and what is taken.
 * The axis: a file with times of day begins at 0 with an anchor there, so that its wall
 * time is known; other times are the file's own, 0 where it has none, without anchors.
 * @param opt  may be NULL
 */
WW_API int ww_import_open(const char *path, const struct ww_import_options *opt,
			  struct ww_trace **out, struct ww_error *err);
/** Name of the format that a trace was imported from (also a stored one), NULL: recorded. */
WW_API const char *ww_import_name(const struct ww_trace *t);
/**
 * i-th sentence on what the import assumed, mended or left out; NULL past the end.
 * Reports repeat them among their notes.
 */
WW_API const char *ww_import_note(const struct ww_trace *t, size_t i);

/**
 * Store a trace that is open, from wherever it came, in a file. An existing file is never
 * overwritten.
 * @param opt  of the writer; may be NULL
 * @return number of rows stored
 */
WW_API int64_t ww_import_store(struct ww_trace *t, const char *path,
			       const struct ww_writer_options *opt, struct ww_error *err);

/** A format that can be imported. */
struct ww_import_format {
	const char *name; /**< "csv" */
	const char *what; /**< a line for people */
};
/** i from 0. NULL past the end. */
WW_API const struct ww_import_format *ww_import_format_at(size_t i);

/* ---------------------------------------------------------------- recording */

/**
 * A recorder: sources joined to a writer. Its loop runs in ww_recorder_dispatch()
 * in the caller's thread and only reads, stamps and queues; a thread of its own
 * stores. A full queue loses items, counted in a gap, never silently.
 */
struct ww_recorder;

struct ww_recorder_options {
	size_t size;
	const char *path; /**< trace to create; NULL: no file, live values only */
	int32_t form;	  /**< enum ww_form; streams go to `fd` */
	int32_t fd;
	const char *program; /**< may be NULL */
	const char *command; /**< may be NULL */
	int64_t commit_ns;   /**< longest time between commits; 0: 0.5 s; at most 0.5 s */
	int64_t every_ns;    /**< asked interval of readings, 0: the meter's fastest */
	size_t queue_bytes;  /**< 0: 16 MiB */
	int32_t raw;	     /**< 1: keep the meters' bytes too, as serial sources "NAME.raw" */
	/**
	 * 1: `path` is a trace that is there, and is gone on with: the same sources by name.
	 * Its axis goes on; after a boot of the bench by the wall clock, strictly later than
	 * all that it holds. Not with `raw`.
	 */
	int32_t append;
};

WW_API int ww_recorder_new(const struct ww_recorder_options *opt, struct ww_recorder **out,
			   struct ww_error *err);
/**
 * Add a source by URI (DRIVER:PLACE?option=value, or a tty's path for a serial
 * line). Opens it. @param name  short name or NULL for one made from its kind.
 * Options of every source: role=NAME (see ww_source_info).
 * @return its id, from 1, which is its id in the trace too
 */
WW_API int ww_recorder_add(struct ww_recorder *r, const char *uri, const char *name,
			   struct ww_error *err);
/** Begin. Sources may not be added afterwards. */
WW_API int ww_recorder_start(struct ww_recorder *r, struct ww_error *err);
/** Descriptor to poll for reading. */
WW_API int ww_recorder_fd(const struct ww_recorder *r);
/**
 * Do what is due; never blocks. @return 1 going on, 0 all sources have ended
 * (a replay, a simulator with an end), negative: recording cannot go on (disk).
 */
WW_API int ww_recorder_dispatch(struct ww_recorder *r, struct ww_error *err);
/**
 * The loop for a thread that has nothing else to do: poll and dispatch, until a descriptor of
 * the caller becomes readable, to be emptied by him. Other calls on r wait until it returns.
 * @param wake_fd  an eventfd or pipe; -1: until the end
 * @return 1 woken, 0 all sources have ended, negative: as ww_recorder_dispatch()
 */
WW_API int ww_recorder_run(struct ww_recorder *r, int wake_fd, struct ww_error *err);
/** Add a mark at t (t.lo_ns = 0: now). */
WW_API int ww_recorder_mark(struct ww_recorder *r, const struct ww_mark *m, struct ww_error *err);
/** Set a meta key. */
WW_API int ww_recorder_meta(struct ww_recorder *r, const char *key, const char *value,
			    struct ww_error *err);
/** Type a reading into a `manual:` source: its first channel, in its unit. */
WW_API int ww_recorder_type(struct ww_recorder *r, uint32_t source, double value, const char *label,
			    struct ww_error *err);
/** Sources put into a sane state, rest stored, trace closed. The handle stays for the queries. */
WW_API int ww_recorder_stop(struct ww_recorder *r, struct ww_error *err);
WW_API void ww_recorder_free(struct ww_recorder *r);

/** What a recorder knows of itself. */
struct ww_recorder_stats {
	uint64_t samples;    /**< rows taken; after the stop: that the trace holds */
	uint64_t bytes;	     /**< serial bytes, likewise */
	uint64_t lost;	     /**< items lost because the queue was full */
	uint64_t gaps;	     /**< gaps, likewise */
	int64_t late_max_ns; /**< greatest lateness of the loop's own timer */
	int64_t late_p99_ns; /**< its 99th percentile; -1 if no timer ran */
	uint64_t queue_peak; /**< most bytes ever queued */
	uint64_t stored;     /**< bytes of the trace file so far */
	uint64_t raw;	     /**< bytes as meters sent them, kept with raw, likewise */
};
WW_API void ww_recorder_stats(const struct ww_recorder *r, struct ww_recorder_stats *out);

/** Latest value of a channel, for a live line. */
struct ww_live {
	const char *source; /**< name of the source */
	const char *channel;
	const char *unit;
	double value; /**< NaN: none yet or unplugged */
	double resolution;
	int64_t t_ns;  /**< arrival of that value, 0 none */
	uint64_t n;    /**< rows or bytes so far */
	int32_t state; /**< 0 waiting, 1 giving data, 2 silent, 3 unplugged, 4 ended */
	int32_t kind;  /**< enum ww_source_kind */
};
/** i-th live value (a serial source counts as one entry). @return 1, or 0 past the end. */
WW_API int ww_recorder_live(const struct ww_recorder *r, size_t i, struct ww_live *out);
/** i-th warning (a doubtful clocksource, a model that does not hold), NULL past the end. */
WW_API const char *ww_recorder_warning(const struct ww_recorder *r, size_t i);

/* --------------------------------------------------------------- devices */

/** A driver or a device found, for `pwrlog list`. */
struct ww_found {
	const char *uri;    /**< URI to use, "" where none is known */
	const char *what;   /**< "wattsup", "serial port", "gpiochip", "USB device 0403:6001" */
	const char *detail; /**< maker, product, serial */
	const char *
		hint; /**< what is missing to use it and the command that mends it; "" if nothing */
};
struct ww_list;
/** What is plugged in. Does not open any device, changes nothing. */
WW_API int ww_list_new(struct ww_list **out, struct ww_error *err);
/**
 * Ask the devices whose id many others have (serial ports behind generic chips) which
 * meter they are. Opens them one after another, sets DTR as every opening does, and
 * sends the questions of the drivers: not for a port that wakes or feeds a DUT.
 * @param for_ns  longest time for all; 0: 30 s. Blocks for as long.
 * @return how many were to be asked, or negative
 */
WW_API int ww_list_probe(struct ww_list *l, int64_t for_ns, struct ww_error *err);
/** NULL past the end. */
WW_API const struct ww_found *ww_list_at(const struct ww_list *l, size_t i);
WW_API void ww_list_free(struct ww_list *l);

/** A driver of this build. */
struct ww_driver_info {
	const char *name;
	const char *summary;
	const char *example; /**< example of a URI */
	int32_t available;   /**< 0: left out of this build */
	int32_t proven;	     /**< 0: has never met the real device */
};
/** i-th driver. @return 1, or 0 past the end. */
WW_API int ww_driver_at(size_t i, struct ww_driver_info *out);

/* ---------------------------------------------------------------- campaigns */

/**
 * Cycles of suspend and resume done by commands, while a recorder runs. A
 * campaign reads the recorder's serial source only to see that the DUT fell
 * silent or is back; what it did is in the trace as marks.
 */
struct ww_campaign;

struct ww_campaign_options {
	size_t size;
	const char *suspend; /**< action that suspends the DUT: a command (sh -c), a press ...;
				"{rtc}" in it is replaced by the seconds of a wake "rtc:20s",
				WAKEWATT_RTC of its environment has them too */
	const char *wake;    /**< action that wakes it; NULL: the DUT wakes by itself */
	uint32_t cycles;     /**< how many; 0: 1 */
	uint32_t reserved;
	int64_t asleep_ns;	    /**< time from silence to the wake command; 0: 3 s */
	int64_t suspend_timeout_ns; /**< no silence after this long: refused; 0: 20 s */
	int64_t resume_timeout_ns;  /**< no beat after it: hung; 0: 60 s, 300 s without `wake` */
	int64_t settle_ns;	    /**< quiet time of good beats before the next; 0: 3 s */
	int64_t silence_ns;	    /**< no byte for this long means asleep; 0: 1 s */
	const char *reset;	    /**< action for a DUT that did not come back: then the cycle is
				       over as before ("timeout") and the campaign goes on once it
				       beats again; NULL: the campaign ends there */
	const char *off;	    /**< action at the end, whatever happened; NULL: none */
	/** More than asleep_ns: each sleep is drawn anew between the two. */
	int64_t asleep_max_ns;
	/** Of what is drawn (also of a wake "rtc:2s..10s"); 0: one is made. Meta campaign.seed. */
	uint64_t seed;
	uint32_t warmup;	/**< cycles before the others, marked: they are in no figure */
	int32_t until_failure;	/**< 1: ends after the first cycle that is not ok */
	int64_t until_width_ns; /**< ends when the median is known so well; 0: no. See
				     resumetime-record(1); needs a trace in a file */
	int32_t look; /**< 1: each cycle is judged as soon as it is over: ww_campaign_state() */
	uint32_t until_least; /**< cycles that until_width needs at least; 0: 20 */
	/** An adapter that is away longer than this ends the campaign; 0: 1 h. */
	int64_t away_timeout_ns;
	/**
	 * Instead of a heartbeat (serial 0): what shows that the DUT runs. "meter>8W" by a
	 * source's name, "line=1", "console" (any byte), or a command that ends with 0.
	 */
	const char *alive;
};

/** How far a campaign is. */
struct ww_campaign_state {
	uint32_t cycle;		    /**< that runs or comes next, from 1, warm-ups among them */
	uint32_t cycles;	    /**< of all, as far as is known */
	uint32_t ok, failed, other; /**< of those that count; other: nobody knows what it was */
	int32_t latency;	    /**< enum ww_latency of the next two; -1: none was observed */
	double median_ms;	    /**< NaN unknown */
	double width_ms;   /**< of the interval that until_width looks at; infinite: unbounded */
	int64_t left_ns;   /**< about so long until the end; -1 unknown */
	const char *phase; /**< a word */
	const char *end;   /**< a sentence on how it ended, "" while it runs. Lent. */
};

/** @param serial  id of the recorder's source that carries the heartbeat, 0 none */
WW_API int ww_campaign_new(struct ww_recorder *r, uint32_t serial,
			   const struct ww_campaign_options *opt, struct ww_campaign **out,
			   struct ww_error *err);
/** Descriptor to poll for reading. */
WW_API int ww_campaign_fd(const struct ww_campaign *c);
/** @return 1 going on, 0 all cycles done, negative error */
WW_API int ww_campaign_dispatch(struct ww_campaign *c, struct ww_error *err);
/**
 * ww_recorder_run() of the campaign's recorder with the campaign in it.
 * @return 1 woken, 0 all cycles are done or all sources have ended, negative error
 */
WW_API int ww_campaign_run(struct ww_campaign *c, int wake_fd, struct ww_error *err);
/** Progress: cycle now running (from 1), and a word for its phase. */
WW_API uint32_t ww_campaign_progress(const struct ww_campaign *c, const char **phase);
WW_API void ww_campaign_state(const struct ww_campaign *c, struct ww_campaign_state *out);
/** Ends running commands (SIGTERM), marks the cycle as stopped. May be NULL. */
WW_API void ww_campaign_free(struct ww_campaign *c);

/* ------------------------------------------------------------------ actions */

/**
 * Something done to a DUT, and when: "gpio:gpiochip0/PWRBTN=low,200ms",
 * "ftdi:?serial=X&dtr=pulse,200ms", "tty:/dev/ttyS0?rts=on,1s", "rtc:20s",
 * "wol:00:11:22:33:44:55", or a command (sh -c). A line that an action drives is put back
 * at its end, and by a process of its own when the program dies; see resumetime-act(1).
 */
struct ww_action;

/** @param text  the form; refused here if it cannot work (no such line, a press too long) */
WW_API int ww_action_new(const char *text, struct ww_action **out, struct ww_error *err);
/** What a command says goes to this descriptor, too, which may block the caller; -1: not. */
WW_API void ww_action_show(struct ww_action *a, int fd);
/** Begin. @return 0; what comes of it is told by ww_action_dispatch() */
WW_API int ww_action_start(struct ww_action *a, struct ww_error *err);
/** Descriptor to poll for reading while it runs. */
WW_API int ww_action_fd(const struct ww_action *a);
/** @return 1 running, 0 over (or not begun), negative error. Never blocks. */
WW_API int ww_action_dispatch(struct ww_action *a, struct ww_error *err);
/**
 * When it took effect: from the earliest to the latest moment, its own delay (relay,
 * packet, a clock of whole seconds) included. Known once it is over; for an alarm from
 * its start. @return 0, or -EAGAIN
 */
WW_API int ww_action_when(const struct ww_action *a, struct ww_interval *out);
/** How it ended: "exit 0", "pulse of 200.4 ms", "sent". Lent. */
WW_API const char *ww_action_how(const struct ww_action *a);
/**
 * What was done and when, in words or as JSON (schema wakewatt/act/1): also before it is
 * over. *out is freed with ww_free().
 */
WW_API int ww_action_report(const struct ww_action *a, int form, char **out, struct ww_error *err);
/** Ends it and puts its line back. May be NULL. */
WW_API void ww_action_free(struct ww_action *a);

/* ----------------------------------------------------------------- loopback */

/**
 * The serial path measured by itself: bytes sent at known times come back by a wire
 * from TX to RX, or by a DUT's echo.
 */
struct ww_loopback;

struct ww_loopback_options {
	size_t size;
	uint32_t bytes; /**< how many to send; 0: 1000 */
	uint32_t echo;	/**< 1: a DUT echoes: its own time is in every figure */
};

struct ww_loopback_result {
	uint64_t sent, back, wrong; /**< bytes; wrong: not what was sent */
	/** From the end of the byte on the line to its stamp: what `lo` must allow for, s. */
	double min_s, median_s, p99_s, max_s;
	double width_s;		 /**< median width of the stated intervals */
	double inside;		 /**< part of the bytes whose true time lies in its interval;
				      NaN: a line without a pace, where nobody knows that */
	struct ww_quantity baud; /**< of the line, from a full stream of bytes */
	int64_t latency_ns;	 /**< latency timer in force; -1 none or unknown */
	struct ww_transport
		transport;   /**< as the port was opened; lent until the handle is freed */
	double resolution_s; /**< how well the true time of a byte is known, to each side, median */
};

/** @param port  as ww_recorder_add() takes it */
WW_API int ww_loopback_new(const char *port, const struct ww_loopback_options *opt,
			   struct ww_loopback **out, struct ww_error *err);
WW_API int ww_loopback_fd(const struct ww_loopback *l);
/** @return 1 going on, 0 through, negative: nothing came back, unplugged ... */
WW_API int ww_loopback_dispatch(struct ww_loopback *l, struct ww_error *err);
WW_API int ww_loopback_result(const struct ww_loopback *l, struct ww_loopback_result *out,
			      struct ww_error *err);
/** i-th note: what was found on the line, what is in the figures. NULL past the end. */
WW_API const char *ww_loopback_note(const struct ww_loopback *l, size_t i);
/**
 * Keep the result for later recordings on this adapter at this rate and latency timer:
 * their intervals then use it. @param path  receives the file's name (n bytes), may be NULL
 */
WW_API int ww_loopback_store(const struct ww_loopback *l, char *path, size_t n,
			     struct ww_error *err);
WW_API void ww_loopback_free(struct ww_loopback *l);

/* ------------------------------------------------------------- decode again */

/**
 * Decode the bytes that a recording with `raw` kept, by this library's drivers, into a
 * new trace: everything else is copied. @param source  name of a meter; NULL: every one
 * @return number of sources decoded again
 */
WW_API int ww_trace_redecode(struct ww_trace *t, const char *source, struct ww_writer *out,
			     struct ww_error *err);

/* ---------------------------------------------------------------- analyses */

/** Energy and mean of every channel between two times. */
struct ww_stat;

struct ww_stat_options {
	size_t size;
	int64_t from_ns; /**< on the axis; WW_TIME_MIN: from the first record. 0 means that too */
	int64_t to_ns;	 /**< WW_TIME_MAX or 0: to the last */
};

/** One channel's figures. */
struct ww_channel_stat {
	const char *name; /**< "SOURCE.CHANNEL" */
	const char *quantity;
	const char *unit;
	int32_t semantics; /**< enum ww_semantics */
	int32_t reserved;
	uint64_t n;		 /**< values that were given */
	uint64_t missing;	 /**< rows without a value */
	double duration_s;	 /**< time covered by the integral, gaps included */
	struct ww_quantity mean; /**< time-weighted */
	double min, max;
	double resolution;
	struct ww_quantity energy_J; /**< power channels; registers of energy: what they
					  counted; NaN otherwise */
	double coverage;	     /**< part of duration_s that was read: no gap, no reading
					  missing by the driver's period; 0..1 */
	double gap_s;		     /**< time in gaps */
	uint64_t gaps;
	/** Power channels with a register beside them; NaN without. */
	struct ww_quantity
		register_J; /**< what the meter's own register counted, for the same time */
	double register_z;  /**< (E - R) / sqrt(u_E^2 + k r^2/6) over the k stretches without
				 gap or reset; |z| > 2 disagrees */
	uint64_t register_resets;
	const char *why; /**< why an uncertainty is not given, "" if it is */
};

/** Integrate by declared semantics (GUM; see pwrlog-stat(1)). */
WW_API int ww_stat_new(struct ww_trace *t, const struct ww_stat_options *opt, struct ww_stat **out,
		       struct ww_error *err);
WW_API const struct ww_channel_stat *ww_stat_at(const struct ww_stat *s, size_t i);
/** i-th note: what was assumed, not observed or left out. NULL past the end. */
WW_API const char *ww_stat_note(const struct ww_stat *s, size_t i);
WW_API void ww_stat_free(struct ww_stat *s);

/** Suspend/resume cycles found in a trace. */
struct ww_resume;

/** How the DUT wrote its heartbeat. */
enum ww_beat_mode {
	WW_BEAT_UNKNOWN = 0, /**< plain bytes of unknown mode: taken as stream */
	WW_BEAT_STREAM = 1,
	WW_BEAT_REOPEN = 2,
	WW_BEAT_DRAIN = 3
};

enum ww_event {
	WW_EV_REQUEST = 0,
	WW_EV_LAST_BEAT,
	WW_EV_OFF,
	WW_EV_WAKE,
	WW_EV_FIRMWARE,
	WW_EV_HANDOFF,
	WW_EV_UART,
	WW_EV_FIRST_BEAT,
	WW_EV_STEADY,
	WW_EV_SETTLED,
	WW_EV_ALIVE, /**< without a heartbeat: the first sign of life after the silence */
	/* By the stamps of the kernel's own lines, where its console was recorded. */
	WW_EV_KERNEL_ENTRY,  /**< its first line of the suspend */
	WW_EV_KERNEL_ASLEEP, /**< between its last line before the sleep and the sleep */
	WW_EV_KERNEL_AWAKE,  /**< between the wake and its first line after it */
	WW_EV_THAWED,	     /**< tasks run again */
	WW_EV_COUNT,	     /* of this header; new ones go before it */
	WW_EV_MAX = 24
};

enum ww_latency {
	WW_LAT_SUSPEND_ENTRY = 0, /**< request to last beat */
	WW_LAT_ASLEEP,		  /**< last beat (or off) to wake */
	WW_LAT_FIRMWARE,	  /**< wake to handoff */
	WW_LAT_KERNEL,		  /**< handoff to first beat */
	WW_LAT_RESUME_TO_UART,	  /**< wake to first byte from the UART's driver */
	WW_LAT_RESUME_TO_USER,	  /**< wake to first beat */
	WW_LAT_RESUME_TO_STEADY,  /**< wake to steady */
	WW_LAT_SILENCE, /**< last beat to first beat: all phases whose limits were not seen, as one
			 */
	WW_LAT_DUT_ASLEEP, /**< what the DUT's own clocks say it slept (BOOTTIME - MONOTONIC) */
	WW_LAT_ASLEEP_FIRMWARE,	  /**< last beat (or off) to handoff, where no wake was seen */
	WW_LAT_RESUME_TO_ALIVE,	  /**< wake to alive */
	WW_LAT_RESUME_TO_SETTLED, /**< wake to settled: of a meter fast enough */
	WW_LAT_COUNT,		  /* of this header; new ones go before it */
	WW_LAT_MAX = 24
};

enum ww_result {
	WW_RES_OK = 0,
	WW_RES_REFUSED,
	WW_RES_ABORTED,
	WW_RES_EARLY,
	WW_RES_PM_TEST,
	WW_RES_RESET,
	WW_RES_HUNG,
	WW_RES_UNKNOWN,
	WW_RES_COUNT
};

struct ww_resume_options {
	size_t size;
	int32_t mode; /**< enum ww_beat_mode, for plain beats; stamped ones tell theirs */
	int32_t reserved;
	const char *port;    /**< name of the serial source; NULL: the first with beats */
	const char *console; /**< name of a serial source with boot loader and kernel text; may be
				NULL */
	const char *handoff; /**< POSIX extended regular expression of the boot loader's last
				message; NULL: a built-in list */
	int64_t period_ns;   /**< period of plain beats; 0: found from the bytes */
};

/** Nothing observed: lo > hi. */
#define WW_INTERVAL_NONE ((struct ww_interval){1, 0})

struct ww_stall {
	struct ww_interval t; /**< when it began */
	struct ww_interval length;
};

struct ww_cycle {
	uint32_t n;				/**< from 1 */
	int32_t result;				/**< enum ww_result */
	const char *reason;			/**< "" if there is nothing to say */
	struct ww_interval event[WW_EV_MAX];	/**< axis; lo > hi: not observed */
	struct ww_interval latency[WW_LAT_MAX]; /**< durations; lo > hi: not observed */
	size_t stalls;				/**< starvation after the first beat */
	const struct ww_stall *stall;
	struct ww_quantity energy_J; /**< request (or last beat) to steady; NaN without a meter */
	struct ww_quantity asleep_watts; /**< mean while asleep; NaN where the meter is too slow */
	const char *energy_why;		 /**< why not, "" otherwise */
	int32_t warmup;			 /**< 1: listed, but in no figure */
	int32_t mode;			 /**< enum ww_pm_mode, as the DUT told it */
};

/** A latency over all cycles; times in ms. */
struct ww_latency_summary {
	uint64_t n;	   /**< cycles in which it was observed */
	uint64_t failures; /**< cycles that count as +infinity */
	double median, p90,
		p95;	     /**< of midpoints; infinity where failures reach so far; NaN unknown */
	double median_ci[2]; /**< 95 %, distribution-free order statistics; infinite: unbounded */
	double envelope[2];  /**< the same ranks of all lows and all highs: the guaranteed bound */
	double p90_ci[2], p95_ci[2];
	double resolution; /**< half-width of the typical interval */
	double min, max;   /**< of midpoints, of those observed */
	/** What so few cycles can say: the interval of the median and its true coverage. */
	double actual_ci[2];
	double actual_coverage; /**< 0..1; 0 with one cycle, NaN without */
	uint64_t bounds;	/**< of n, intervals whose low end is no more than a bound */
	double median_hi;	/**< median of the high ends: what to say where lows are bounds */
	uint64_t bound_only;	/**< further cycles whose start was not observed: in no median */
	double bound[2];	/**< all of those lie between; NaN without */
};

WW_API int ww_resume_new(struct ww_trace *t, const struct ww_resume_options *opt,
			 struct ww_resume **out, struct ww_error *err);
WW_API size_t ww_resume_count(const struct ww_resume *r);
WW_API const struct ww_cycle *ww_resume_at(const struct ww_resume *r, size_t i);
WW_API const struct ww_latency_summary *ww_resume_summary(const struct ww_resume *r, int latency);
/** What the DUT said of itself ("clocksource", "kernel"), NULL past the end / unknown key. */
WW_API int ww_resume_dut_at(const struct ww_resume *r, size_t i, const char **key,
			    const char **value);
/**
 * What the DUT told of the i-th cycle: j-th pair of key and value. attempts_ok, attempts_failed,
 * failed_STEP (so many in it), last_failed_dev, last_failed_errno, last_failed_step; sleep_mode,
 * wakeup_irq, wakeup_sources, wake_lock, s2idle_states, hw_sleep_us; what was added to
 * hw_sleep_total_us, s2idle_residency_us, s2idle_cpu_us. @return 1, 0 past the end
 */
WW_API int ww_resume_cycle_info_at(const struct ww_resume *r, size_t i, size_t j, const char **key,
				   const char **value);
WW_API const char *ww_resume_note(const struct ww_resume *r, size_t i);
WW_API void ww_resume_free(struct ww_resume *r);
/** Names as in reports ("last_beat", "resume_to_user", "ok"); NULL out of range. */
WW_API const char *ww_event_name(int event);
WW_API const char *ww_latency_name(int latency);
WW_API const char *ww_result_name(int result);

/* --------------------------------------------------- kernel logs and ftrace */

/** Text read piece by piece, to be analysed: a file, standard input, a recording's console. */
struct ww_text;

/**
 * Open a file of kernel text or ftrace text, "-" for standard input, a compressed one (.gz,
 * .xz, .zst), or trace-cmd's .dat, which is decoded into lines of ftrace. What it is, is told
 * by its content, never by its name.
 */
WW_API int ww_text_open(const char *path, struct ww_text **out, struct ww_error *err);
/**
 * The bytes of a serial source of a trace, with the bench's time of each.
 * @param source  its name; NULL: "console", else the only serial source. The trace is closed
 *                after the text.
 */
WW_API int ww_text_trace(struct ww_trace *t, const char *source, struct ww_text **out,
			 struct ww_error *err);
/** May be NULL. */
WW_API void ww_text_close(struct ww_text *t);

/** States of the kernel's way through a suspend, in their order. */
enum ww_pm_phase {
	WW_PM_NO_PHASE = 0,
	WW_PM_NOTIFIERS,       /**< notifiers before: "suspend_notifiers" */
	WW_PM_SYNC,	       /**< "sync": file systems */
	WW_PM_FREEZE,	       /**< "freeze": user space and kernel threads */
	WW_PM_IMAGE,	       /**< "image": memory for it, and its making (hibernation) */
	WW_PM_CONSOLE_OFF,     /**< "console_suspend" */
	WW_PM_PREPARE,	       /**< "suspend_prepare" */
	WW_PM_SUSPEND,	       /**< "suspend": devices */
	WW_PM_SUSPEND_LATE,    /**< "suspend_late" */
	WW_PM_SUSPEND_NOIRQ,   /**< "suspend_noirq" */
	WW_PM_CPU_OFF,	       /**< "cpu_offline": from the first to the last */
	WW_PM_SYSCORE_SUSPEND, /**< "syscore_suspend" */
	WW_PM_MACHINE,	       /**< "machine": from there to the sleep, and from the wake back */
	WW_PM_SYSCORE_RESUME,  /**< "syscore_resume" */
	WW_PM_CPU_ON,	       /**< "cpu_online" */
	WW_PM_RESUME_NOIRQ,    /**< "resume_noirq" */
	WW_PM_RESUME_EARLY,    /**< "resume_early" */
	WW_PM_RESUME,	       /**< "resume": devices */
	WW_PM_COMPLETE,	       /**< "resume_complete": ->complete() */
	WW_PM_CONSOLE_ON,      /**< "console_resume" */
	WW_PM_IMAGE_IO,	       /**< "image_write" */
	WW_PM_IMAGE_READ,      /**< "image_read", by the kernel that boots to restore it */
	WW_PM_THAW,	       /**< "thaw": user space */
	WW_PM_POST_NOTIFIERS,  /**< notifiers after: "resume_notifiers" */
	WW_PM_PHASES
};

/** What a phase is part of: pm_message_t of the kernel (include/linux/pm.h). */
enum ww_pm_verb {
	WW_PM_NO_VERB = 0,
	WW_PM_V_SUSPEND,
	WW_PM_V_FREEZE,	   /**< devices before an image is made */
	WW_PM_V_HIBERNATE, /**< devices before the power goes */
	WW_PM_V_QUIESCE,   /**< devices before an image is restored */
	WW_PM_V_RESUME,
	WW_PM_V_THAW,	 /**< devices after an image was made */
	WW_PM_V_RESTORE, /**< devices after an image was restored */
	WW_PM_V_RECOVER	 /**< devices after a failure */
};

enum ww_pm_mode {
	WW_PM_MODE_UNKNOWN = 0,
	WW_PM_MODE_MEM,	    /**< "mem": suspend to RAM, deep */
	WW_PM_MODE_S2IDLE,  /**< "s2idle", freeze */
	WW_PM_MODE_STANDBY, /**< "standby" */
	WW_PM_MODE_SHALLOW, /**< "shallow" */
	WW_PM_MODE_DISK	    /**< "disk": hibernation */
};

enum ww_pm_result {
	WW_PM_OK = 0,
	WW_PM_FAILED,	 /**< a device, a task or the machine refused */
	WW_PM_ABORTED,	 /**< a wake-up stopped the suspend */
	WW_PM_TEST,	 /**< pm_test: it never slept */
	WW_PM_RESET,	 /**< it booted instead of resuming */
	WW_PM_HUNG,	 /**< it never came back, though the text goes on */
	WW_PM_TRUNCATED, /**< the text does not hold its begin or its end */
	WW_PM_RESULTS
};

/** A callback of a device in a phase. Strings are never NULL. Durations of ns; lo > hi unknown. */
struct ww_pm_device {
	const char *name, *driver, *parent, *func;
	int32_t phase;		   /**< enum ww_pm_phase */
	int32_t verb;		   /**< enum ww_pm_verb */
	int64_t start_ns;	   /**< kernel's axis (struct ww_pm_cycle.t); WW_TIME_MIN unknown */
	int64_t end_ns;		   /**< WW_TIME_MAX: no return was seen */
	struct ww_interval length; /**< best figure: of stamps where there are, else printed */
	struct ww_interval corrected; /**< without what the console cost */
	struct ww_interval printed;   /**< what the kernel says ("usecs"), its unit mended */
	int32_t error;		      /**< what it returned, 0 good */
	int32_t pid;		      /**< task that ran it, -1 unknown */
	int32_t async;		      /**< 1 yes, 0 no, -1 unknown */
	int32_t critical;	      /**< 1: on the critical path of its phase */
	int64_t critical_ns;	      /**< its own part of that path */
	int32_t from;		      /**< bits: 1 kernel text, 2 ftrace */
	int32_t reserved;
};

/** A phase, or a stretch of it: failures and hibernation have some of them twice. */
struct ww_pm_span {
	int32_t phase, verb;
	int64_t start_ns, end_ns;     /**< as in struct ww_pm_device */
	struct ww_interval length;    /**< best figure */
	struct ww_interval printed;   /**< what the kernel says */
	struct ww_interval traced;    /**< by ftrace */
	struct ww_interval corrected; /**< without what the console cost */
	int32_t failed;		      /**< 1: ended in a failure or an abort */
	int32_t nested;		      /**< 1: inside another one (a roll-back) */
};

/** What took time and is no device: `what` tells ("CPU 1 offline", "silent gap"). */
struct ww_pm_other {
	const char *what;
	const char *before, *after; /**< lines around it, "" where it is none */
	int64_t start_ns;	    /**< kernel's axis, or WW_TIME_MIN */
	struct ww_interval length;
};

struct ww_pm_reason {
	const char *step; /**< name of a phase, "" unknown */
	const char *device, *driver, *func, *task;
	const char *wakeup; /**< what woke it: a source or an interrupt, also where it is ok */
	const char *text;   /**< the line that says so */
	int32_t error;	    /**< negative errno, 0 none */
	int32_t async;
};

/** One suspend, as the kernel saw it. Lent by the reader until its next call. */
struct ww_pm_cycle {
	uint32_t n;	/**< from 1 */
	int32_t mode;	/**< enum ww_pm_mode */
	int32_t result; /**< enum ww_pm_result */
	int32_t sleeps; /**< times the hardware slept in it: more than one in s2idle */
	struct ww_pm_reason reason;
	/**
	 * Begin and end on the kernel's axis: its printk or trace clock, ns; where the lines
	 * have no stamp of the kernel, the clock in front of them. lo or hi open: not there.
	 */
	struct ww_interval t;
	/** The same on the bench's axis, where the text comes from a recording; lo > hi not. */
	struct ww_interval bench_begin, bench_end;
	struct ww_interval suspend, resume, slept; /**< durations, ns; lo > hi unknown */
	struct ww_interval suspend_corrected, resume_corrected; /**< without the console's cost */
	struct ww_interval sleep_begin, sleep_end; /**< kernel's axis: when it fell asleep, woke */
	struct ww_interval firmware_suspend, firmware_resume; /**< by firmware's own figures */
	struct ww_interval network, storage; /**< from the wake until they are back */
	size_t spans, devices, others, errors, contradictions;
	const struct ww_pm_span *span;
	const struct ww_pm_device *device;
	const struct ww_pm_other *other;
	const char *const *error;	  /**< sentences: devices that failed though it went on */
	const char *const *contradiction; /**< two sources that do not agree */
	/** The console: bytes of kernel text in the cycle, their time on the line at `baud`. */
	uint64_t console_bytes;
	int64_t console_ns;
	double console_bound;	   /**< part of the lines whose distance is just their bytes; NaN */
	uint32_t baud;		   /**< told or found; 0 unknown */
	int32_t clock;		   /**< enum ww_pm_clock: what `t` is */
	const char *kernel;	   /**< its version where the text tells it, "" */
	uint64_t devices_left_out; /**< a copy keeps only those that matter */
	double stamp_res_ns;	   /**< resolution of the stamps */
	int32_t console_proof;	   /**< enum ww_pm_proof */
};

/** What is known of the time that the console took. */
enum ww_pm_proof {
	WW_PM_PROOF_NONE = 0, /**< none took time, by all that is seen: nothing to correct */
	WW_PM_PROOF_BYTES,    /**< lines are just as far apart as their bytes are long */
	WW_PM_PROOF_PACE,     /**< none follows faster, but the pace jitters: bounds */
	WW_PM_PROOF_UNKNOWN   /**< one may have taken time, nobody knows how much */
};

enum ww_pm_clock {
	WW_PM_CLOCK_NONE = 0, /**< no stamps: durations are printed ones */
	WW_PM_CLOCK_PRINTK,
	WW_PM_CLOCK_TRACE,
	WW_PM_CLOCK_HOST, /**< of the program that logged the lines */
	WW_PM_CLOCK_BENCH
};

/** Suspends read from kernel text and ftrace, one after the other, in memory of one cycle. */
struct ww_kernlog;

struct ww_kernlog_options {
	size_t size;
	uint32_t baud;	    /**< of the console that the kernel wrote on; 0: found from the text */
	int32_t no_console; /**< 1: no console took time (a log of dmesg under `quiet`) */
	int64_t gap_ns;	    /**< a stretch without a line that is told; 0: 100 ms */
};

/**
 * @param text  one text, or the two of a pair (kernel text and ftrace of the same cycles, in
 *              any order); closed by the caller after the reader
 */
WW_API int ww_kernlog_new(struct ww_text *const *text, size_t n,
			  const struct ww_kernlog_options *opt, struct ww_kernlog **out,
			  struct ww_error *err);
/** The next suspend. @return 1, 0 the end, negative error */
WW_API int ww_kernlog_next(struct ww_kernlog *k, const struct ww_pm_cycle **out,
			   struct ww_error *err);
/** What the i-th text turned out to be ("ftrace text", "journal, kernel stamps"). NULL past. */
WW_API const char *ww_kernlog_input(const struct ww_kernlog *k, size_t i);
/** i-th note, of all that was read so far: what was assumed, not observed. NULL past the end. */
WW_API const char *ww_kernlog_note(const struct ww_kernlog *k, size_t i);
WW_API void ww_kernlog_free(struct ww_kernlog *k);

/**
 * A copy that lives by itself. @param devices  at most so many: those that failed, then the
 * longest; 0 all. Freed with ww_pm_cycle_free(). NULL: no memory
 */
WW_API struct ww_pm_cycle *ww_pm_cycle_copy(const struct ww_pm_cycle *c, size_t devices);
WW_API void ww_pm_cycle_free(struct ww_pm_cycle *c);

/** Names as in reports: "resume_noirq", "restore", "mem", "failed"; NULL out of range. */
WW_API const char *ww_pm_phase_name(int phase);
WW_API const char *ww_pm_verb_name(int verb);
WW_API const char *ww_pm_mode_name(int mode);
WW_API const char *ww_pm_result_name(int result);

/**
 * The cycle of the kernel that belongs to the i-th of ww_resume: of its console port, or of
 * what ww_resume_add_text() brought. NULL none. Times of the kernel's axis become the bench's
 * by ww_resume_kernel_time(). Owned by the handle.
 */
WW_API const struct ww_pm_cycle *ww_resume_kernel(const struct ww_resume *r, size_t i);
/**
 * A time of the kernel's axis on the bench's, with what the alignment leaves open (one rate,
 * one offset for each waking stretch; measurement: Moon 1999, Zhang 2002).
 * @return 0, or -ENODATA where nothing aligns them
 */
WW_API int ww_resume_kernel_time(const struct ww_resume *r, size_t i, int64_t kernel_ns,
				 struct ww_interval *out);
/**
 * Kernel text or ftrace of the same cycles, read from the DUT afterwards (dmesg, trace.dat):
 * joined cycle by cycle. @return number of cycles that found theirs
 */
WW_API int ww_resume_add_text(struct ww_resume *r, struct ww_text *const *text, size_t n,
			      const struct ww_kernlog_options *opt, struct ww_error *err);

/* ------------------------------------- many cycles: compare, bisect, vet */

/** Figures of many cycles by name: "resume_to_user", "kernel resume", "device 1-1.5 usb resume". */
struct ww_cycleset;

/** @param name  for reports: the file's name */
WW_API int ww_cycleset_new(const char *name, struct ww_cycleset **out, struct ww_error *err);
/** All cycles of a recording, its kernel's figures too. */
WW_API int ww_cycleset_add_resume(struct ww_cycleset *s, const struct ww_resume *r,
				  struct ww_error *err);
/** All cycles of logs: reads to their end. */
WW_API int ww_cycleset_add_kernlog(struct ww_cycleset *s, struct ww_kernlog *k,
				   struct ww_error *err);
WW_API size_t ww_cycleset_cycles(const struct ww_cycleset *s);
WW_API void ww_cycleset_free(struct ww_cycleset *s);

enum ww_shift_verdict {
	WW_SHIFT_NONE = 0, /**< no difference seen: see mdd_ms */
	WW_SHIFT_SLOWER,   /**< B is slower */
	WW_SHIFT_FASTER,
	WW_SHIFT_BELOW_RESOLUTION, /**< less than the measurement can tell */
	WW_SHIFT_TOO_FEW,	   /**< too few cycles to say */
	WW_SHIFT_ONLY_A,	   /**< not in B */
	WW_SHIFT_ONLY_B
};

/** One figure in two sets. */
struct ww_shift_row {
	const char *name;	    /**< "resume_to_user", "phase resume_noirq", "device ..." */
	const char *kind;	    /**< "latency", "kernel", "phase", "device", "energy" */
	const char *unit;	    /**< "ms", "J", "W" */
	uint64_t n[2], failures[2]; /**< cycles with it; those that never ended (rank +infinity) */
	double median[2];
	double shift;	   /**< B - A: Hodges-Lehmann; NaN unknown */
	double ci[2];	   /**< 95 % of the shift */
	double p;	   /**< Brunner-Munzel, two-sided; exact permutation where n is small */
	double p_adjusted; /**< Holm, over the rows of its kind */
	double resolution; /**< of one cycle, half-width */
	double mdd;	   /**< least difference that these cycles would show in 8 of 10 cases */
	int32_t verdict;   /**< enum ww_shift_verdict */
	int32_t reserved;
};

struct ww_shift;

struct ww_shift_options {
	size_t size;
	const char *fail_if; /**< "resume > 5% slower", "failures > 0", ... (resumetime-compare(1));
				conditions joined by ','; NULL none */
	size_t top; /**< devices and phases in the report: 0 those that moved, at most 20 */
};

WW_API int ww_shift_new(const struct ww_cycleset *a, const struct ww_cycleset *b,
			const struct ww_shift_options *opt, struct ww_shift **out,
			struct ww_error *err);
WW_API const struct ww_shift_row *ww_shift_at(const struct ww_shift *s, size_t i);
/** @return 1 a condition of fail_if is met, 0 none, -EAGAIN: not decidable with these cycles */
WW_API int ww_shift_failed(const struct ww_shift *s);
WW_API const char *ww_shift_note(const struct ww_shift *s, size_t i);
/** Text, JSON, Markdown or JUnit XML. */
WW_API int ww_shift_report(const struct ww_shift *s, int form, char **out, struct ww_error *err);
WW_API void ww_shift_free(struct ww_shift *s);

/** Callbacks whose time is the same whatever else happens: delays that someone wrote. */
struct ww_vet;

struct ww_vet_options {
	size_t size;
	double min_ms;	     /**< shorter ones are not told; 0: 5 ms */
	double spread_ms;    /**< the same within so much; 0: 1 ms */
	uint32_t min_cycles; /**< seen at least so often; 0: 3 */
	uint32_t reserved;
};

enum ww_vet_kind {
	WW_VET_VARIES = 0,
	WW_VET_FIXED, /**< 9 of 10 within spread_ms */
	WW_VET_TICK   /**< within a tick of the timer, 4 ms: as msleep() is */
};

struct ww_vet_row {
	const char *device, *driver, *func, *phase;
	uint64_t n;
	double median_ms, min_ms, max_ms, spread_ms; /**< spread: width that holds 9 of 10 */
	double nearest_ms; /**< a round time just below: what a delay was probably written as; NaN
			    */
	double saving_ms;  /**< its own part of the critical path, median; NaN unknown */
	int32_t fixed;	   /**< enum ww_vet_kind */
	int32_t reserved;
};

/** @param set  several: other machines, other kernels; the callback must be the same in all */
WW_API int ww_vet_new(struct ww_cycleset *const *set, size_t n, const struct ww_vet_options *opt,
		      struct ww_vet **out, struct ww_error *err);
WW_API const struct ww_vet_row *ww_vet_at(const struct ww_vet *v, size_t i);
WW_API const char *ww_vet_note(const struct ww_vet *v, size_t i);
WW_API int ww_vet_report(const struct ww_vet *v, int form, char **out, struct ww_error *err);
WW_API void ww_vet_free(struct ww_vet *v);

enum ww_bisect_verdict { WW_BISECT_GOOD = 0, WW_BISECT_BAD = 1, WW_BISECT_SKIP = 125 };

struct ww_bisect_options {
	size_t size;
	const char *metric;  /**< "resume_to_user", "device ..."; NULL: resume_to_user, else
				"kernel resume", else "failures" */
	double threshold_ms; /**< bad is slower than this; 0: half-way between good and bad */
	double certainty;    /**< wanted, 0.5 to less than 1; 0: 0.99 */
	double failure_rate; /**< of "failures": bad fails in a greater part of its cycles; 0:
				half-way between good and bad, else 0.5 */
};

struct ww_bisect {
	int32_t verdict; /**< enum ww_bisect_verdict */
	int32_t reserved;
	double probability; /**< that the side which is ahead is the right one, at least */
	uint64_t cycles;    /**< used */
	uint64_t more;	    /**< cycles more that the certainty needs, about; 0 enough; UINT64_MAX
			       too near to the threshold */
	double threshold_ms, median_ms, ci_ms[2]; /**< NaN: none */
	double failure_rate;			  /**< the limit; NaN: not of failures */
	char why[512];
};

/**
 * Is this build good or bad? Bad is one of whose cycles more than half are slower than the
 * threshold (or that fails oftener than failure_rate). The rule is sequential: cycles may be
 * added until it is decided, the wrong verdict comes in at most 1 - certainty of all builds.
 * @param good, bad  cycles of known builds; may be NULL where the threshold is given
 */
WW_API int ww_bisect_judge(const struct ww_cycleset *now, const struct ww_cycleset *good,
			   const struct ww_cycleset *bad, const struct ww_bisect_options *opt,
			   struct ww_bisect *out, struct ww_error *err);
/** Text or JSON. */
WW_API int ww_bisect_report(const struct ww_bisect *b, int form, char **out, struct ww_error *err);

/* ---------------------------------------------------------- steps of power */

/** Changes of level in a channel of power. */
struct ww_steps;

struct ww_steps_options {
	size_t size;
	const char *channel; /**< "meter.power"; NULL: the only channel of active power */
	int64_t from_ns;     /**< on the axis; 0 or WW_TIME_MIN: from the first record */
	int64_t to_ns;	     /**< 0 or WW_TIME_MAX: to the last */
	int64_t spike_ns;    /**< longest spike to ignore; 0: three readings */
};

enum ww_step_state {
	WW_STEP_DETECTED = 0,	/**< found in the trace */
	WW_STEP_KNOWN_TIME = 1, /**< a mark's change, not found by itself */
	WW_STEP_UNRESOLVED = 2	/**< below the resolution: see bounds */
};

/** A change of level. Powers in W. */
struct ww_step {
	struct ww_interval t; /**< when it began: surely in here */
	int64_t settled_ns;   /**< when the level was reached that `after` gives */
	struct ww_quantity delta;
	struct ww_quantity before; /**< settled level before it, and its standard uncertainty */
	struct ww_quantity after;
	double bounds[2];  /**< unresolved: the change lies in between; NaN otherwise */
	double peak;	   /**< greatest reading between t and settled: inrush; NaN none */
	double dof;	   /**< effective degrees of freedom of delta.u; INFINITY: many */
	int32_t state;	   /**< enum ww_step_state */
	int32_t mark;	   /**< index of its mark in the trace, -1 none */
	const char *label; /**< text of that mark, "" none */
};

/** A stretch between two steps: what was drawn while nothing changed. */
struct ww_level {
	int64_t from_ns, to_ns;
	struct ww_quantity
		watts; /**< settled level, noise and quantisation; no accuracy of the meter */
	double sigma;  /**< standard deviation of the readings around it */
	double slope;  /**< W/h, of a level that drifts; 0: constant */
	double dof;    /**< effective degrees of freedom of watts.u */
	uint64_t n;    /**< readings */
	int32_t shape; /**< enum ww_level_shape */
	int32_t reserved;
};
enum ww_level_shape {
	WW_LEVEL_CONSTANT = 0,
	WW_LEVEL_LINE = 1,    /**< drifts; watts is its value in the middle */
	WW_LEVEL_SETTLING = 2 /**< approaches watts exponentially */
};

/**
 * Find the steps: functional pruning with the biweight loss (Fearnhead & Rigaill,
 * JASA 114, 2019), pruned by a test of each change against the noise around it. See
 * pwrlog-steps(1) for its limits.
 */
WW_API int ww_steps_new(struct ww_trace *t, const struct ww_steps_options *opt,
			struct ww_steps **out, struct ww_error *err);
WW_API size_t ww_steps_count(const struct ww_steps *s);
/** In the order of time. NULL past the end. */
WW_API const struct ww_step *ww_steps_at(const struct ww_steps *s, size_t i);
/**
 * In the order of time: what lies between the changes, those of state
 * WW_STEP_KNOWN_TIME aside. NULL past the end.
 */
WW_API const struct ww_level *ww_steps_level(const struct ww_steps *s, size_t i);
/** i-th note, NULL past the end. */
WW_API const char *ww_steps_note(const struct ww_steps *s, size_t i);
WW_API void ww_steps_free(struct ww_steps *s);

/* ------------------------------------------------------------- attribution */

/**
 * A meter's calibration: indication = offset + gain * power, fitted from loads whose
 * power is known.
 */
struct ww_calibration;

struct ww_calibration_options {
	size_t size;
	double resolution;     /**< smallest step the meter shows, W; 0: from the digits typed */
	double reference_u;    /**< standard uncertainty of references without their own, W */
	const char *meter;     /**< what was calibrated, kept in the file; may be NULL */
	int32_t correct_asked; /**< 1: the report tells what `correct` is, corrected */
	int32_t reserved;      /**< 0 */
	struct ww_quantity correct; /**< a reading, W; u 0: what the resolution rounds off */
};

struct ww_calibration_info {
	struct ww_quantity offset; /**< W */
	struct ww_quantity gain;
	double cov; /**< covariance of the two, W */
	double s;   /**< standard deviation of the readings around the line, W; NaN: two loads */
	double resolution; /**< W; 0 unknown */
	double lo, hi;	   /**< least and greatest known load, W */
	double zero; /**< W the meter shows without a load beyond what the line says; NaN: not read
		      */
	double zero_u;
	uint64_t n;	   /**< readings that the line rests on */
	int32_t york;	   /**< 1: references are uncertain, both axes were fitted */
	int32_t dead_zone; /**< 1: the reading without a load is off the line, and was left out */
	const char *meter; /**< "" unknown */
};

/**
 * Fit from a text with one load a line, "reference; reading", in W; either may have its
 * uncertainty behind it ("25.0 ± 0.1": k = 2). Least squares, or York's fit (Am. J.
 * Phys. 72, 367, 2004) where references are uncertain.
 * @param name  of the text, for errors
 */
WW_API int ww_calibration_fit(const char *name, const char *text, size_t n,
			      const struct ww_calibration_options *opt, struct ww_calibration **out,
			      struct ww_error *err);
/** Read what ww_calibration_report() gave as JSON. */
WW_API int ww_calibration_read(const char *name, const char *text, size_t n,
			       struct ww_calibration **out, struct ww_error *err);
WW_API const struct ww_calibration_info *ww_calibration_get(const struct ww_calibration *c);
/** Power, W, from a reading and its own standard uncertainty. */
WW_API struct ww_quantity ww_calibration_correct(const struct ww_calibration *c,
						 struct ww_quantity reading);
WW_API const char *ww_calibration_note(const struct ww_calibration *c, size_t i);
WW_API void ww_calibration_free(struct ww_calibration *c);

/** Watts of each device, from readings in known states of on and off. */
struct ww_attribute;

struct ww_attribute_options {
	size_t size;
	int32_t offset_known; /**< 1: the meter shows `offset` too much, whatever is plugged in */
	int32_t own_offsets;  /**< 1: each text or trace has an offset of its own */
	struct ww_quantity offset; /**< W */
	int32_t interactions; /**< 1: devices two by two may draw more or less than their sum */
	int32_t drift;	      /**< 0: where times are known and it shows; 1 always; -1 never */
	double resolution;    /**< smallest step the meter shows, W; 0: the trace's, or as typed */
	double spec_abs;      /**< maker's bound +-a, W; 0 unknown */
	double spec_rel;      /**< maker's bound as a part of the reading; 0 unknown */
	const struct ww_calibration *calibration; /**< NULL: none; not needed later */
	const char *channel;			  /**< of traces; NULL: the only one of power */
	int64_t spike_ns;			  /**< as ww_steps_options */
	const char *order; /**< "a,b,c": levels in this order too; NULL none */
	/* What a saving is worth; see ww_saving. */
	double hours_per_day; /**< 0: 24 */
	double price;	      /**< of a kWh; 0 none */
	double cost;	      /**< of what saves; 0 none */
	const char *currency; /**< NULL or "": none */
};

/** One state of a device other than off. */
struct ww_device {
	const char *name;
	const char *state;	  /**< "on", "standby" */
	struct ww_quantity watts; /**< NaN: not estimable, or no reading */
	int32_t estimable;
	uint32_t group;			/**< from 1: number of its inseparable group; 0 none */
	struct ww_quantity with_offset; /**< W; the same and the meter's offset: what is known where
					     no offset is; NaN where not even that */
	uint64_t readings;		/**< with it in this state */
	double va; /**< volt-amperes as read with nothing else on; NaN: not read */
	double pf; /**< power factor, likewise */
};

/** Devices that the readings do not tell apart. */
struct ww_device_group {
	size_t count;
	const uint32_t *device; /**< indices for ww_attribute_device() */
	int32_t with_offset;	/**< 1: the meter's offset is one of them */
	int32_t reserved;
	struct ww_quantity sum; /**< W; NaN where not even the sum is known */
};

/** A reading that would help, one or more toggles from the last state. */
struct ww_device_next {
	size_t on;		  /**< what is on in it */
	const uint32_t *device;	  /**< [on] */
	size_t separates;	  /**< what it would tell apart from others */
	const uint32_t *separate; /**< [separates] */
	uint32_t rank_gain;
	uint32_t flips; /**< plugs to change from the last state */
	double gain;	/**< log(1 + x'M^-1 x): what D-optimality ranks by */
};

/** A level of another order than that of the readings. */
struct ww_device_level {
	uint32_t device;	  /**< what was added */
	int32_t synthetic;	  /**< 1: this state was never read: devices are taken to add */
	struct ww_quantity watts; /**< of this and all before, without the meter's offset */
	struct ww_quantity added; /**< of this one alone */
};

struct ww_attribute_info {
	struct ww_quantity offset;	/**< the meter's, W; NaN not estimable */
	struct ww_quantity total;	/**< all devices on, without the offset */
	struct ww_quantity total_shown; /**< the same with it, as the meter would show it */
	struct ww_quantity drift;	/**< W/h; NaN: none fitted */
	double total_va;		/**< as read with everything on; NaN: not read */
	double total_pf;
	double chi2;  /**< of the fit, for the uncertainties as given */
	double p;     /**< probability of a greater one; NaN without redundancy */
	double birge; /**< sqrt(chi2/dof) */
	double scale; /**< by which standard errors were multiplied, 1: they were not */
	uint64_t dof;
	uint64_t rank;
	uint64_t readings;	 /**< used */
	double resolution;	 /**< W; 0 unknown */
	int32_t total_synthetic; /**< 1: all devices on together was never read */
	int32_t reserved;
};

/** Two devices that together draw more or less than each by itself. */
struct ww_device_pair {
	uint32_t a, b;		  /**< indices for ww_attribute_device() */
	struct ww_quantity extra; /**< W above their sum; NaN: not estimable */
};

/** Two sets of devices compared: what the other one drew, less what this one draws. */
struct ww_saving {
	struct ww_quantity before, now; /**< W; NaN where the meter's offset is not known */
	struct ww_quantity before_shown,
		now_shown; /**< W, as the meter shows it, with its offset */
	struct ww_quantity watts;
	struct ww_quantity kwh_year;	  /**< of 365.25 days */
	struct ww_quantity money_year;	  /**< NaN without a price */
	struct ww_quantity payback_years; /**< NaN without a cost, or where nothing is saved */
	double payback_ci[2];		  /**< 95 %; an end that is open is infinite */
	double hours_per_day, price, cost;
	const char *currency;
};

/** Which of two sets: that in use, or that which was before it. */
enum ww_attribute_set { WW_SET_NOW = 0, WW_SET_BEFORE = 1 };

WW_API int ww_attribute_new(const struct ww_attribute_options *opt, struct ww_attribute **out,
			    struct ww_error *err);
/**
 * Readings from a typed table: one a line, either "what changed, reading" or a 0/1 column
 * per device and one of watts; see pwrlog-attribute(1).
 * @param name  of the text, for errors
 * @param set   enum ww_attribute_set
 */
WW_API int ww_attribute_table(struct ww_attribute *a, int set, const char *name, const char *text,
			      size_t n, struct ww_error *err);
/** Readings from a trace's levels and its marks "+monitor", "-monitor", "monitor=standby". */
WW_API int ww_attribute_trace(struct ww_attribute *a, int set, struct ww_trace *t,
			      struct ww_error *err);
/** Least squares over all that was added. Once; then the figures can be asked for. */
WW_API int ww_attribute_solve(struct ww_attribute *a, struct ww_error *err);
WW_API const struct ww_attribute_info *ww_attribute_get(const struct ww_attribute *a);
/** NULL past the end, also of the functions below. Devices of WW_SET_NOW. */
WW_API const struct ww_device *ww_attribute_device(const struct ww_attribute *a, size_t i);
WW_API const struct ww_device_group *ww_attribute_group(const struct ww_attribute *a, size_t i);
/** Best first. */
WW_API const struct ww_device_next *ww_attribute_next(const struct ww_attribute *a, size_t i);
WW_API const struct ww_device_level *ww_attribute_level(const struct ww_attribute *a, size_t i);
/** Only with ww_attribute_options.interactions. */
WW_API const struct ww_device_pair *ww_attribute_pair(const struct ww_attribute *a, size_t i);
/** NULL where nothing was added to WW_SET_BEFORE. */
WW_API const struct ww_saving *ww_attribute_saving(const struct ww_attribute *a);
WW_API const char *ww_attribute_note(const struct ww_attribute *a, size_t i);
WW_API void ww_attribute_free(struct ww_attribute *a);

/** States in which to read a meter so that each device is known best: a weighing design. */
struct ww_plan;

struct ww_plan_options {
	size_t size;
	uint32_t readings; /**< how many; 0: the fewest of a Hadamard design */
	int32_t one_flip;  /**< 1: one plug is changed between two readings */
	double reading_u;  /**< standard uncertainty of a reading, W; 0: 1 */
};

struct ww_plan_info {
	size_t devices, readings;
	double u;	   /**< greatest standard uncertainty of a device, W */
	double u_bound;	   /**< Mood's bound, 2 u/sqrt N: no plan of so many readings does better */
	double u_onebyone; /**< plugging one after the other: u sqrt 2 */
	uint64_t flips;	   /**< plugs to change, all in all */
	int32_t hadamard;  /**< 1: the bound is met */
	int32_t reserved;
};

/** @param devices  "a,b,c"; names with commas in double quotes */
WW_API int ww_plan_new(const char *devices, const struct ww_plan_options *opt, struct ww_plan **out,
		       struct ww_error *err);
WW_API const struct ww_plan_info *ww_plan_get(const struct ww_plan *p);
WW_API const char *ww_plan_device(const struct ww_plan *p, size_t device);
/** 1 on, 0 off; negative out of range. */
WW_API int ww_plan_state(const struct ww_plan *p, size_t reading, size_t device);
WW_API void ww_plan_free(struct ww_plan *p);

/* ------------------------------------------------- runs of a command, A and B */

/**
 * Marks by which a trace tells of runs. The text holds words `key=value`, divided by
 * spaces, a space or a per cent sign in a value written as %20 and %25; `command=` is the
 * last and takes the rest as it is. See pwrlog-run(1).
 */
#define WW_MARK_RUN_START    "run-start"    /* run=3 round=2 variant=A repeat=1 command=... */
#define WW_MARK_RUN_END	     "run-end"	    /* run=3 exit=0 (or signal=9) cpu_s=1.25 */
#define WW_MARK_RUN_WORK     "run-work"	    /* run=3 amount=2e9 (or rate=3e8) u=0 unit=B */
#define WW_MARK_BASELINE     "baseline"	    /* from here on nothing runs ... */
#define WW_MARK_BASELINE_END "baseline-end" /* ... until here */

/** Runs of one or more commands (variants) while a meter was read. */
struct ww_runs;

struct ww_runs_options {
	size_t size;
	const char *channel; /**< "meter.power"; NULL: the only channel of active power */
	int32_t failed;	     /**< 1: runs whose command failed count in the summaries, too */
	int32_t reserved;
};

/** One run. NaN: not known; `why` and `work_why` say why. */
struct ww_run {
	uint32_t n;	     /**< from 1, in the order of time */
	uint32_t round;	     /**< from 1: runs of one round were interleaved and are pairs */
	uint32_t variant;    /**< index for ww_runs_variant() */
	uint32_t repeat;     /**< how often the command was run inside of it, one after the other */
	const char *label;   /**< of the variant: "A", "level=3"; "" where there is only one */
	const char *command; /**< as it was run */
	int32_t warmup;	     /**< 1: never counts */
	int32_t status;	     /**< exit status; -1: it did not exit by itself */
	int32_t signal;	     /**< that ended it; 0 none; -1: its end is not in the trace */
	int32_t used;	     /**< 1: counts in its variant's summary */
	struct ww_interval start; /**< when it began: surely in here */
	struct ww_interval end;	  /**< and ended; lo > hi: not in the trace */
	struct ww_quantity duration_s;
	double cpu_s;			 /**< processor time, user and system */
	struct ww_quantity gross_J;	 /**< all that was drawn from start to end */
	struct ww_quantity marginal_J;	 /**< above the baseline: E - T (b0 + b1)/2 */
	struct ww_quantity mean_W;	 /**< gross_J / duration_s */
	double peak_W;			 /**< greatest reading in it */
	struct ww_quantity before_W;	 /**< baseline before it */
	struct ww_quantity after_W;	 /**< and after it */
	double coverage;		 /**< part of its time that was read; 0..1 */
	double edges_J;			 /**< part of gross_J that is due to readings cut by
					      start and end */
	double gross_own_u;		 /**< part of gross_J.u that is this run's own, and not the
					      meter's accuracy, which all runs share */
	double marginal_own_u;		 /**< likewise of marginal_J.u */
	struct ww_quantity work;	 /**< work done, in work_unit */
	const char *work_unit;		 /**< "B", "frame"; "" none */
	struct ww_quantity gross_per;	 /**< J for a unit of work */
	struct ww_quantity marginal_per; /**< likewise, above the baseline */
	struct ww_quantity time_per;	 /**< s for a unit of work */
	const char *why;      /**< why an energy is not given, or why it does not count */
	const char *work_why; /**< why the work is not given */
};

/** All runs of a variant that count. u holds their scatter, and what they share. */
struct ww_run_variant {
	const char *label;
	const char *command;
	const char *work_unit;
	uint64_t runs;	    /**< in the trace, without those to warm up */
	uint64_t failed;    /**< of these, whose command failed or was stopped */
	uint64_t no_energy; /**< of these, whose energy is not known */
	uint64_t n;	    /**< that count */
	struct ww_quantity duration_s, gross_J, marginal_J, mean_W, work;
	struct ww_quantity gross_per, marginal_per, time_per; /**< ratios of means */
	double duration_sd, gross_sd, marginal_sd; /**< standard deviation from run to run */
	double peak_W;				   /**< greatest of all */
};

/** The meter that the energies come from. */
struct ww_runs_meter {
	const char *channel; /**< "meter.power" */
	int32_t semantics;   /**< enum ww_semantics */
	int32_t reserved;
	double period_s;   /**< usual time between readings */
	double window_s;   /**< that a reading covers */
	double resolution; /**< W; 0 unknown */
	double gain_u;	   /**< standard uncertainty of its gain, as a fraction; NaN unknown */
	double offset_u;   /**< of its offset, W; NaN unknown */
};

/** Find the runs and their energies, as ww_stat_new() integrates. See pwrlog-run(1). */
WW_API int ww_runs_new(struct ww_trace *t, const struct ww_runs_options *opt, struct ww_runs **out,
		       struct ww_error *err);
WW_API size_t ww_runs_count(const struct ww_runs *r);
/** In the order of time. NULL past the end. */
WW_API const struct ww_run *ww_runs_at(const struct ww_runs *r, size_t i);
/** In the order in which they first ran. NULL past the end. */
WW_API const struct ww_run_variant *ww_runs_variant(const struct ww_runs *r, size_t i);
WW_API const struct ww_runs_meter *ww_runs_meter(const struct ww_runs *r);
/** i-th note, NULL past the end. */
WW_API const char *ww_runs_note(const struct ww_runs *r, size_t i);
WW_API void ww_runs_free(struct ww_runs *r);

/**
 * Finds in the output of a command how much work it did. A pure parser: bytes in,
 * an amount out, whatever they were cut into.
 */
struct ww_work;

/** What was found. */
struct ww_work_found {
	int32_t kind; /**< enum ww_work_kind */
	int32_t reserved;
	uint64_t lines;	  /**< of output that said so */
	double value;	  /**< amount, or amount in a second */
	double u;	  /**< standard uncertainty of value from its last digit; 0 a count */
	const char *unit; /**< "B", "frame", "op"; without "/s" */
	const char *why;  /**< why there is none, "" otherwise */
};
enum ww_work_kind {
	WW_WORK_NONE = 0,
	WW_WORK_AMOUNT = 1, /**< the sum of all that were found */
	WW_WORK_RATE = 2    /**< throughput: the mean of all that were found */
};

/**
 * @param what  "openssl", "hdparm", "dd", "rsync", "nbench", or a POSIX extended regular
 *              expression whose first group is the number and whose second, if there is
 *              one, the unit
 */
WW_API int ww_work_new(const char *what, struct ww_work **out, struct ww_error *err);
/** Next piece of output. Never fails: lines longer than 4095 bytes are cut. */
WW_API void ww_work_feed(struct ww_work *w, const char *data, size_t n);
/** What was found up to now; a last line without its newline counts. Lent by w. */
WW_API void ww_work_get(struct ww_work *w, struct ww_work_found *out);
/** Forget the output: the next run begins. */
WW_API void ww_work_reset(struct ww_work *w);
WW_API void ww_work_free(struct ww_work *w);

/* ------------------------------------------------------ comparison of sets */

/**
 * Numbers of other programs: one a line, columns of a CSV with labels or not, or the
 * JSON of hyperfine. A pure parser.
 */
struct ww_numbers;

struct ww_numbers_options {
	size_t size;
	const char *name;   /**< for messages: the file */
	const char *column; /**< name or number (from 1) of the column of numbers, or several
			       divided by commas, each a group; NULL: the only one there is */
	const char *label;  /**< column whose texts divide the numbers into groups; NULL: none,
			       or the only column that is no number */
};

/** Numbers that belong together. */
struct ww_numbers_group {
	const char *label;   /**< "" none */
	const char *measure; /**< from the head of the column: "energy"; "" unknown */
	const char *unit;    /**< "J"; "" unknown */
	const double *value; /**< [n], in the order of lines; NaN: a run that failed */
	const double *when;  /**< [n] number of the line or entry */
	size_t n;
};

WW_API int ww_numbers_parse(const char *text, size_t n, const struct ww_numbers_options *opt,
			    struct ww_numbers **out, struct ww_error *err);
/** In the order in which they first appear. NULL past the end. */
WW_API const struct ww_numbers_group *ww_numbers_at(const struct ww_numbers *x, size_t i);
/** i-th note: what was assumed. NULL past the end. */
WW_API const char *ww_numbers_note(const struct ww_numbers *x, size_t i);
WW_API void ww_numbers_free(struct ww_numbers *x);

/** Sets of values beside each other. */
struct ww_compare;

/** Values of one measure of one variant. */
struct ww_compare_set {
	const char *variant; /**< "A", "with engine" */
	const char *measure; /**< "energy", "energy above baseline", "time", "mean power",
				"energy per unit", ...: sets of one measure are compared */
	const char *unit;
	const double *value;  /**< [n]; NaN: a run that gave none, which counts as failed */
	const double *when;   /**< [n] number or time of each, for their order; NULL: unknown */
	const uint32_t *pair; /**< [n] values with the same number in two sets are a pair; NULL */
	size_t n;
	/** d value / d offset of the meter: 1 for a reading, the mean time in s for an energy
	    in J; 0: the offset has no part in it. */
	double per_offset;
	double per_gain; /**< 1: a gain of the meter is in it as a factor; 0: it is not (a time) */
	uint32_t series; /**< sets of the same series were measured together: their orders
			      and pairs belong together */
	uint32_t reserved;
};

struct ww_compare_options {
	size_t size;
	int32_t pairing;     /**< enum ww_pairing */
	int32_t other_meter; /**< 1: the sets were measured with different meters */
	double conf;	     /**< of the intervals; 0: .95 */
	double power;	     /**< with which the smallest difference would be seen; 0: .8 */
	double offset_u;     /**< standard uncertainty of the meter's offset; NaN or 0 unknown */
	double gain_u;	     /**< of its gain, as a fraction; NaN or 0 unknown */
	double resolution;   /**< of the values, in their unit; 0: as it shows in them */
	const char *base;    /**< variant that the others are compared with; NULL: the first */
};

enum ww_pairing {
	WW_PAIR_AUTO = 0, /**< where the sets have numbers of pairs */
	WW_PAIR_YES = 1,  /**< k-th with k-th where they have none */
	WW_PAIR_NO = 2
};

enum ww_verdict {
	WW_VERDICT_NONE = 0,	  /**< too few values to tell anything */
	WW_VERDICT_LESS = 1,	  /**< B is less than A */
	WW_VERDICT_MORE = 2,	  /**< B is more than A */
	WW_VERDICT_SAME = 3,	  /**< no difference seen: see `detectable` */
	WW_VERDICT_UNRESOLVED = 4 /**< less than half a step of the values */
};

enum ww_compare_method {
	WW_COMPARE_NONE = 0,
	WW_COMPARE_PAIRED_LOG = 1, /**< Student's t of the pairs' log ratios */
	WW_COMPARE_WELCH_LOG = 2,  /**< Welch's t of the logarithms */
	WW_COMPARE_PAIRED = 3,	   /**< of differences, where a value is not above zero */
	WW_COMPARE_WELCH = 4
};

/** B beside A in one measure. NaN: cannot be given. */
struct ww_comparison {
	const char *measure;
	const char *unit;
	const char *a, *b;	     /**< variants; a is the base */
	uint64_t n_a, n_b;	     /**< values */
	uint64_t failed_a, failed_b; /**< runs without a value */
	uint64_t pairs;		     /**< 0: not paired */
	/** u: of the scatter from run to run alone; twice u covers 95 % */
	struct ww_quantity mean_a, mean_b;
	double sd_a, sd_b;
	int32_t method;	    /**< enum ww_compare_method */
	int32_t verdict;    /**< enum ww_verdict */
	double ratio;	    /**< b/a: geometric mean, or of the means */
	double ratio_ci[2]; /**< with the meter's uncertainty */
	double u_runs;	    /**< relative standard uncertainty of the ratio from the scatter */
	double u_meter;	    /**< and from the meter (Type B): what does not cancel */
	double df;	    /**< effective degrees of freedom of both */
	struct ww_quantity difference; /**< b - a */
	double difference_ci[2];
	double p;		   /**< of "no difference", two-sided, by `method` */
	double p_holm;		   /**< corrected for the number of variants (Holm) */
	double signed_rank_p;	   /**< Wilcoxon's; NaN where not paired */
	double mann_whitney_u;	   /**< pairs with b > a, ties half */
	double mann_whitney_p;	   /**< exact with few values, ties included */
	double brunner_munzel_p;   /**< NaN too where one set lies wholly above the other */
	double shift, shift_ci[2]; /**< Hodges-Lehmann, and the interval of the rank test */
	double cliffs_delta;	   /**< P(b > a) - P(b < a): -1 ... 1 */
	double cohens_d;       /**< mean over standard deviation, of logarithms or differences */
	double detectable;     /**< the smallest relative difference that would have been seen */
	double needed;	       /**< pairs (or runs of each) that would see half of it; NaN */
	double detectable_abs; /**< that difference in `unit` */
};

/** Compare each variant with the base in each measure. */
WW_API int ww_compare_new(const struct ww_compare_set *set, size_t sets,
			  const struct ww_compare_options *opt, struct ww_compare **out,
			  struct ww_error *err);
/**
 * Compare runs: the variants of one or more traces, in gross energy, energy above the
 * baseline, time, mean power and energy per unit of work. opt->offset_u and gain_u are
 * the meter's own where they are 0.
 * @param name  [n] what to call the runs of each; may be NULL
 */
WW_API int ww_compare_runs(const struct ww_runs *const *runs, const char *const *name, size_t n,
			   const struct ww_compare_options *opt, struct ww_compare **out,
			   struct ww_error *err);
/** By measure, then by variant. NULL past the end. */
WW_API const struct ww_comparison *ww_compare_at(const struct ww_compare *c, size_t i);
/** "B uses 1.2 % less; 95 %: 1.1-1.4 %": what the i-th says. NULL past the end. */
WW_API const char *ww_compare_sentence(const struct ww_compare *c, size_t i);
/** i-th note, NULL past the end. */
WW_API const char *ww_compare_note(const struct ww_compare *c, size_t i);
WW_API void ww_compare_free(struct ww_compare *c);

/* ----------------------------------------------------------------- standby */

/**
 * Power in a standby mode by the procedures of IEC 62301 and by an older computer
 * specification. The figures of the standard are as commonly quoted: check them against
 * its text before anything is claimed. See pwrlog-standby(1).
 */
struct ww_standby;

enum ww_standby_procedure {
	WW_STANDBY_SAMPLING = 0,  /**< edition 2: readings at most 1 s apart, slope of a line */
	WW_STANDBY_AVERAGE = 1,	  /**< edition 2: two comparison periods after a warm-up */
	WW_STANDBY_DIRECT = 2,	  /**< edition 2: two readings after a warm-up */
	WW_STANDBY_EDITION1 = 3,  /**< edition 1: within 5 % over 5 min, else energy over time */
	WW_STANDBY_ENERGYSTAR = 4 /**< 15 min after `from`, mean of 5 min */
};

/** Options; 0 (or NULL) means not given in every member. */
struct ww_standby_options {
	size_t size;
	const char *channel; /**< "meter.power"; NULL: the only channel of active power */
	int64_t from_ns;     /**< on the axis: when the mode was entered; 0: first record */
	int64_t to_ns;	     /**< 0 or WW_TIME_MAX: to the last */
	int32_t procedure;   /**< enum ww_standby_procedure */
	int32_t cyclic;	     /**< 1: the mode is known to cycle: nothing counts before whole ones */
	double limit_watts;  /**< limit to be compared with */
	double crest;	     /**< crest factor of the current */
	double power_factor; /**< 0..1 */
	double acc_abs;	     /**< bound of the meter's error, W, instead of the trace's */
	double acc_rel;	     /**< the same as a fraction of the reading, beside acc_abs */
	double supply_volts; /**< nominal voltage; 0: 230 or 115, whichever was nearer */
	double supply_hz;    /**< nominal frequency; 0: 50 or 60, whichever was nearer */
	double ambient_degC; /**< temperature of the room, if somebody read it */
};

enum ww_standby_verdict {
	WW_STANDBY_STABLE = 0,
	WW_STANDBY_NOT_STABLE = 1,
	WW_STANDBY_NOT_RESOLVED = 2, /**< the readings cannot tell: 2 u exceeds the limit */
	WW_STANDBY_TOO_SHORT = 3,    /**< the procedure needs a longer trace */
	WW_STANDBY_NO_TEST = 4	     /**< the procedure has no test of stability */
};

enum ww_standby_standing {
	WW_STANDBY_INFORMATIVE = 0, /**< informative, not compliant: see the clauses */
	WW_STANDBY_NOT_SHOWN = 1,   /**< nothing was seen broken, but not all was observed */
	WW_STANDBY_AS_OBSERVED = 2  /**< every clause was observed and met */
};

/** Figures. NaN: not known. Times in s after the trace's first record. */
struct ww_standby_result {
	int32_t procedure;   /**< enum ww_standby_procedure */
	int32_t verdict;     /**< enum ww_standby_verdict */
	int32_t standing;    /**< enum ww_standby_standing */
	int32_t under;	     /**< limit: 1 kept (value + U), 0 not resolved, -1 exceeded; -2 none */
	double begin_s;	     /**< when the mode was entered */
	double from_s, to_s; /**< stretch of the result */
	double tested_s;     /**< length at which the verdict fell, from begin_s */
	double lucky_s;	     /**< length at which the slope first passed unresolved */
	uint64_t n;	     /**< readings in the stretch, after averaging to 1 s */
	struct ww_quantity watts;
	double u_noise, u_resolution, u_accuracy; /**< budget of watts.u, W */
	double expanded;			  /**< 2 u, W; NaN without an accuracy */
	double expanded_limit;			  /**< what the procedure allows, W */
	double dof;				  /**< effective, of u_noise; INFINITY: many */
	struct ww_quantity slope;		  /**< W/h */
	double slope_limit;			  /**< W/h */
	double variation;			  /**< edition 1: (max - min)/mean over the 5 min */
	double interval_s; /**< longest interval between readings in the stretch */
	double period_s;   /**< of the mode's cycles; NaN: none */
	uint64_t cycles;   /**< whole ones in the stretch */
	double crest, power_factor, mcr;
	double volts, hz, thd, volts_crest; /**< supply: means over the stretch; thd a fraction */
	double limit_watts;
	double coverage; /**< part of the stretch that lies in no gap, 0..1 */
	uint64_t gaps;	 /**< in the stretch */
};

enum ww_clause_state {
	WW_CLAUSE_MET = 0,
	WW_CLAUSE_NOT_MET = 1,
	WW_CLAUSE_NOT_RESOLVED = 2,
	WW_CLAUSE_NOT_OBSERVED = 3
};

/** A requirement, what was measured of it, and whether it was met. */
struct ww_clause {
	const char *name;	 /**< "stability" */
	const char *requirement; /**< "slope below 10 mW/h" */
	const char *measured;	 /**< "0.9 +- 1.7 mW/h"; "" not observed */
	int32_t state;		 /**< enum ww_clause_state */
	int32_t given;		 /**< 1: by the caller, not by the trace */
};

/**
 * A trace that still grows is judged as far as it goes: TOO_SHORT, NOT_STABLE and
 * NOT_RESOLVED may then still become STABLE, which stays. A stretch of one
 * trace gives the same figures however much follows.
 */
WW_API int ww_standby_new(struct ww_trace *t, const struct ww_standby_options *opt,
			  struct ww_standby **out, struct ww_error *err);
WW_API const struct ww_standby_result *ww_standby_get(const struct ww_standby *s);
/** i-th clause, NULL past the end. */
WW_API const struct ww_clause *ww_standby_clause(const struct ww_standby *s, size_t i);
/** i-th note, NULL past the end. */
WW_API const char *ww_standby_note(const struct ww_standby *s, size_t i);
WW_API void ww_standby_free(struct ww_standby *s);
/** Names as in reports ("stable", "not resolved"); NULL out of range. */
WW_API const char *ww_standby_verdict_name(int verdict);
WW_API const char *ww_standby_standing_name(int standing);
WW_API const char *ww_clause_state_name(int state);

/* ------------------------------------------------------- runtime of a battery */

/** What a maker states of a UPS: minutes at a load, for one or more models. */
struct ww_runtime_table;

/**
 * Parse a table: the first column holds loads, each further one the minutes of a model.
 * Tab, semicolon, comma or spaces divide the columns; the head names the unit of the load
 * (VA or W) and the models. A pure parser.
 * @param name  for messages: the file
 * @param unit  "VA" or "W", where the head does not tell; may be NULL
 */
WW_API int ww_runtime_table_parse(const char *text, size_t n, const char *name, const char *unit,
				  struct ww_runtime_table **out, struct ww_error *err);
/** "VA" or "W": what the loads of the table are. */
WW_API const char *ww_runtime_table_unit(const struct ww_runtime_table *t);
/** Name of the i-th model, NULL past the end. */
WW_API const char *ww_runtime_table_model(const struct ww_runtime_table *t, size_t i);
WW_API void ww_runtime_table_free(struct ww_runtime_table *t);

/**
 * "25W", "25 W ± 0.6", "25±0.6W", "25±2%", "35VA", "48min"; a bare number is of unit `dflt`.
 * out->u is what stands behind the sign, whatever it is meant as; 0 without one.
 */
WW_API int ww_quantity_parse(const char *text, const char *dflt, struct ww_quantity *out,
			     char *unit, size_t unit_size, struct ww_error *err);

/** A runtime that was measured. */
struct ww_runtime_point {
	struct ww_quantity watts;
	struct ww_quantity minutes;
};

enum ww_chemistry {
	WW_LEAD = 0,	/**< sealed lead-acid */
	WW_LIFEPO4 = 1, /**< lithium iron phosphate */
	WW_LIION = 2	/**< other lithium cells */
};

/**
 * What is known. A quantity whose value is 0 is not given: the load must be, in W or in
 * VA (or in both); what else is assumed is told in the notes, with its uncertainty.
 */
struct ww_runtime_options {
	size_t size;
	struct ww_quantity watts;   /**< mean active power of the load */
	struct ww_quantity va;	    /**< its mean apparent power, never derived from W ... */
	struct ww_quantity pf;	    /**< ... but by a power factor that is given */
	double peak_W;		    /**< greatest reading of the load */
	double rating_W, rating_VA; /**< of the UPS */

	const struct ww_runtime_table *table;	 /**< may be NULL; used during the call only */
	const char *model;			 /**< of the table; NULL: all */
	const struct ww_runtime_point *measured; /**< [points] of the UPS itself */
	size_t points;

	struct ww_quantity capacity_Ah; /**< of one battery */
	struct ww_quantity volts;	/**< of one battery, nominal; 12 */
	uint32_t series, parallel;	/**< how many; 0: 1 */
	int32_t chemistry;		/**< enum ww_chemistry */
	int32_t direct;			/**< 1: DC to DC, no inverter */
	double rated_h;			/**< the capacity is for a discharge of this time; 20 */
	struct ww_quantity peukert;	/**< exponent k */
	struct ww_quantity efficiency;	/**< eta of the inverter: P = own_W + P_load/eta */
	struct ww_quantity own_W;	/**< its loss without a load */
	struct ww_quantity depth;	/**< part of the charge that is used */
	struct ww_quantity ageing;	/**< part of the capacity that is left */
	struct ww_quantity temperature; /**< part of the capacity that there is in the cold ... */
	struct ww_quantity celsius;	/**< ... or the temperature, where has_celsius is 1 */
	int32_t has_celsius;
	int32_t reserved;
	struct ww_quantity wanted_h; /**< runtime that is asked for */
};

enum ww_runtime_method {
	WW_RUNTIME_TABLE = 0,	/**< maker's table, interpolated in logarithms */
	WW_RUNTIME_BATTERY = 1, /**< capacity, Peukert, inverter */
	WW_RUNTIME_MEASURED = 2 /**< a measured runtime, and the battery it implies */
};

/** How long it lasts, by one way to tell. NaN: not known or no part of it. */
struct ww_runtime_case {
	const char *model;    /**< of the table, "" none */
	int32_t method;	      /**< enum ww_runtime_method */
	int32_t extrapolated; /**< -1 below the lightest load, 1 above the heaviest, 0 neither */
	double load;	      /**< as it was looked up */
	const char *unit;     /**< "W" or "VA" */
	struct ww_quantity minutes;
	double bounds_min[2]; /**< surely in here by the model, where one number would say too
				   much; an open end is infinite */
	double exponent;      /**< n of t ~ 1/P^n at this load */
	double error_log;     /**< mean error of the table's own points, each from its neighbours */
	double error_linear;  /**< the same, had it been interpolated linearly */
	uint64_t points;      /**< of the table or measured */
	struct ww_quantity battery_W;  /**< drawn from the battery */
	struct ww_quantity battery_A;  /**< its current, of one string */
	struct ww_quantity own_W;      /**< loss without load: given, or implied by a measurement */
	struct ww_quantity efficiency; /**< likewise */
	struct ww_quantity delivered_Wh; /**< to the load */
	double nameplate;		 /**< delivered, as a part of V times Ah */
	double heaviest; /**< greatest load that lasts as long as is wanted, in `unit` */
	const char *why; /**< why minutes are not given, "" if they are */
};

/** What a wanted runtime takes. */
struct ww_runtime_need {
	struct ww_quantity hours;
	struct ww_quantity energy_Wh; /**< that the load uses */
	double ideal_Ah;	      /**< energy over voltage */
	struct ww_quantity Ah;	      /**< that it really takes, at `volts` */
	double volts;		      /**< of the whole string */
	uint64_t strings;	      /**< of the battery that was given; 0: none was */
};

struct ww_runtime;

/** How long it lasts, and what a wanted runtime takes. See pwrlog-runtime(1). */
WW_API int ww_runtime_new(const struct ww_runtime_options *opt, struct ww_runtime **out,
			  struct ww_error *err);
/** NULL past the end. */
WW_API const struct ww_runtime_case *ww_runtime_at(const struct ww_runtime *r, size_t i);
/** NULL where no runtime was asked for. */
WW_API const struct ww_runtime_need *ww_runtime_need(const struct ww_runtime *r);
/**
 * k-th contribution to the uncertainty of case i (or, i = SIZE_MAX, of the need), largest
 * first. @return 1, or 0 past the end
 */
WW_API int ww_runtime_budget(const struct ww_runtime *r, size_t i, size_t k, const char **name,
			     double *u);
/** i-th note, NULL past the end. */
WW_API const char *ww_runtime_note(const struct ww_runtime *r, size_t i);
WW_API void ww_runtime_free(struct ww_runtime *r);

/* ------------------------------------------------------------ suspend model */

/**
 * Opportunistic suspend: what a policy that suspends in idle gaps saves. Break-even time,
 * average power and wakes of policies for gaps of a distribution or of a record. See
 * pwrlog-suspend-model(1) for the formulas and their sources.
 */
struct ww_suspend_model;

enum ww_gaps_kind {
	WW_GAPS_NONE = 0,	 /**< break-even only */
	WW_GAPS_FIXED = 1,	 /**< all as long as `mean` */
	WW_GAPS_EXPONENTIAL = 2, /**< mean `mean` */
	WW_GAPS_PARETO = 3,	 /**< P(gap > x) = (least/x)^alpha, none longer than `most` */
	WW_GAPS_RECORDED = 4	 /**< `gap[n]`, in the order in which they came */
};

/** Options. A quantity with value 0 is not given; u is its standard uncertainty. */
struct ww_suspend_options {
	size_t size;
	struct ww_quantity idle_watts;	     /**< needed */
	struct ww_quantity suspended_watts;  /**< needed; may be 0 */
	struct ww_quantity transition_watts; /**< mean over both; 0: taken as idle_watts */
	struct ww_quantity transition_J;     /**< energy of both beyond suspended_watts, instead */
	struct ww_quantity suspend_s;	     /**< from the decision to asleep */
	struct ww_quantity resume_s;	     /**< from the wake to work */
	int32_t gaps;			     /**< enum ww_gaps_kind */
	int32_t reserved;
	double gap_mean;		       /**< s: FIXED, EXPONENTIAL */
	double gap_least, gap_alpha, gap_most; /**< PARETO; most 0: unbounded */
	const double *gap;		       /**< s, RECORDED: shape (n) */
	size_t n;
	double timeout_s;	/**< the fixed time-out to compare; 0: 15 s */
	double visible_J;	/**< what a wake that a person notices costs beside its energy */
	double visible_s;	/**< delay from which it is noticed; 0: 0.1 s */
	double battery_Wh;	/**< 0: no hours of battery life */
	double generated_watts; /**< human or solar power; 0: none */
	double efficiency;	/**< of its storage, 0..1; 0: 1 */
	double ratio;		/**< generated to used, wanted; 0: 10 */
};

enum ww_policy {
	WW_POLICY_NEVER = 0,
	WW_POLICY_AT_ONCE,
	WW_POLICY_TIMEOUT,     /**< timeout_s */
	WW_POLICY_BREAK_EVEN,  /**< after T_be: two-competitive */
	WW_POLICY_RANDOM,      /**< random time-out: e/(e - 1)-competitive */
	WW_POLICY_BEST,	       /**< the best fixed one for these gaps */
	WW_POLICY_CLAIRVOYANT, /**< knows each gap beforehand: no policy can do better */
	WW_POLICY_COUNT	       /* of this header */
};

/** What a policy comes to, in idle time. NaN: not known. */
struct ww_policy_result {
	int32_t policy; /**< enum ww_policy */
	int32_t reserved;
	double timeout_s;	  /**< INFINITY: never; NaN: none fixed */
	struct ww_quantity watts; /**< average over idle time */
	struct ww_quantity life;  /**< battery life against never suspending */
	double joules;		  /**< of all recorded gaps; NaN otherwise */
	double cost_watts;	  /**< watts and visible_J of each noticed wake */
	double competitive;	  /**< at most so many times the clairvoyant's excess energy */
	double wakes_per_hour;	  /**< of idle time */
	double wakes;		  /**< in the record; NaN otherwise */
	double gaps_part;	  /**< part of the gaps in which it suspends */
	double delay_mean_s, delay_p95_s; /**< at a wake, as a person sees it */
	double suspended_part;		  /**< of idle time, transitions left out */
	double hours;			  /**< of battery_Wh */
	double ratio;			  /**< efficiency generated_watts / watts */
};

/** Figures that do not depend on gaps. */
struct ww_suspend_result {
	struct ww_quantity transition_J; /**< E_tr: beyond suspended_watts */
	struct ww_quantity break_even_s; /**< T_be; NaN: the powers are not told apart */
	double break_even_cost_s;	 /**< with visible_J */
	int32_t limited_by_latency;	 /**< 1: T_be is suspend_s + resume_s */
	int32_t visible;		 /**< 1: a person notices each wake */
	double gap_mean;		 /**< s; NaN without gaps */
	double best_cross_watts;	 /**< best time-out chosen on other gaps, on these */
	double needed_watts;		 /**< average for `ratio`; NaN without generated_watts */
	double needed_part;		 /**< part of the time suspended for it; >1: out of reach */
};

WW_API int ww_suspend_model_new(const struct ww_suspend_options *opt, struct ww_suspend_model **out,
				struct ww_error *err);
WW_API const struct ww_suspend_result *ww_suspend_model_get(const struct ww_suspend_model *m);
/** NULL where there are no gaps or past the end. */
WW_API const struct ww_policy_result *ww_suspend_model_policy(const struct ww_suspend_model *m,
							      int policy);
/** i-th note, NULL past the end. */
WW_API const char *ww_suspend_model_note(const struct ww_suspend_model *m, size_t i);
WW_API void ww_suspend_model_free(struct ww_suspend_model *m);
WW_API const char *ww_policy_name(int policy);

/**
 * Read idle gaps in seconds from text: one a line, or a column of CSV ("gap", "idle" or
 * "seconds" in its head, or the only one). *gap is freed with ww_free().
 * @param name  of the text, for messages
 * @return how many
 */
WW_API int64_t ww_gaps_parse(const char *name, const char *text, size_t n, double **gap,
			     struct ww_error *err);

/** What a trace of cycles of suspend and resume tells of the model. NaN: not known. */
struct ww_suspend_fit {
	struct ww_quantity idle_watts, suspended_watts;
	struct ww_quantity transition_J; /**< beyond suspended_watts: intercept */
	struct ww_quantity suspend_s, resume_s;
	uint64_t cycles;    /**< used */
	int32_t from_beats; /**< 1: cycles of a heartbeat; 0: dips of the power alone */
	int32_t reserved;
	char why[512]; /**< what was not told, and why; "" if all was */
};

/**
 * Powers, transition energy and latencies from a trace: each cycle's energy against the
 * time it was asleep, by a line (a meter slower than a transition still counts its energy).
 * Power alone does not tell when a cycle was decided: its transitions are told where their
 * lengths are known and its readings leave one energy, not several.
 * @param channel  "meter.power"; NULL: the only one of active power
 * @param known    suspend_s and resume_s where they are known; with transition_watts or
 *                 transition_J what transitions draw is not looked for; NULL: none
 */
WW_API int ww_suspend_fit(struct ww_trace *t, const char *channel,
			  const struct ww_suspend_options *known, struct ww_suspend_fit *out,
			  struct ww_error *err);

/* ----------------------------------------------------------------- reports */

/** Forms of a report; not every report has all. */
enum ww_report_form {
	WW_REPORT_TEXT = 0,
	WW_REPORT_JSON = 1,
	WW_REPORT_CSV = 2,
	WW_REPORT_MARKDOWN = 3,
	WW_REPORT_JUNIT = 4,
	WW_REPORT_TRACE_EVENTS = 5, /**< Trace Event JSON, for Perfetto and chrome://tracing */
	WW_REPORT_HTML = 6	    /**< one page, without network */
};

/**
 * Reports as text (UTF-8, one newline at the end), the same bytes for the same
 * trace in any locale and time zone. *out is freed with ww_free().
 */
WW_API int ww_stat_report(const struct ww_stat *s, int form, char **out, struct ww_error *err);
/** Text, JSON or CSV (one line a cycle). */
WW_API int ww_resume_report(const struct ww_resume *r, int form, char **out, struct ww_error *err);
/** How much of each cycle a text tells. */
enum ww_detail {
	WW_DETAIL_AUTO = 0, /**< all of them where they are few, else a table */
	WW_DETAIL_ALL,	    /**< each as soon as it is read */
	WW_DETAIL_TABLE	    /**< a line a cycle */
};

struct ww_page_options {
	size_t size;
	const char *title; /**< NULL: the recording's own */
	size_t devices;	   /**< of a cycle at most: bars (0: 60), lines of a text (0: 10) */
	uint32_t cycle;	   /**< text: the details of this one alone; 0: not one */
	int32_t detail;	   /**< text: enum ww_detail */
};
/**
 * One self-contained page (WW_REPORT_HTML) or Trace Event JSON (WW_REPORT_TRACE_EVENTS) of all
 * cycles: bytes, beats, phases, devices, watts on one axis. Written to a descriptor.
 * @param t  the recording of r; NULL: without bytes and watts
 */
WW_API int ww_resume_page(const struct ww_resume *r, struct ww_trace *t, int form,
			  const struct ww_page_options *opt, int fd, struct ww_error *err);
/**
 * Reads all cycles and writes each as it comes: text, JSON (wakewatt/kernlog/1), CSV (one line
 * a device), HTML or Trace Event JSON. @return number of cycles
 */
WW_API int64_t ww_kernlog_report(struct ww_kernlog *k, int form, const struct ww_page_options *opt,
				 int fd, struct ww_error *err);
WW_API int ww_steps_report(const struct ww_steps *s, int form, char **out, struct ww_error *err);
/** Forms of a picture. */
enum ww_plot_form {
	WW_PLOT_SVG = 0, /**< the picture alone */
	WW_PLOT_HTML =
		1 /**< one page with picture, table and notes, without scripts or addresses */
};
/** The trace with its levels and steps. *out is freed with ww_free(). */
WW_API int ww_steps_plot(const struct ww_steps *s, int form, char **out, struct ww_error *err);
WW_API int ww_attribute_report(const struct ww_attribute *a, int form, char **out,
			       struct ww_error *err);
WW_API int ww_calibration_report(const struct ww_calibration *c, int form, char **out,
				 struct ww_error *err);
/** As text it is a table to be filled in, for ww_attribute_table(). */
WW_API int ww_plan_report(const struct ww_plan *p, int form, char **out, struct ww_error *err);
WW_API int ww_standby_report(const struct ww_standby *s, int form, char **out,
			     struct ww_error *err);
WW_API int ww_suspend_model_report(const struct ww_suspend_model *m, int form, char **out,
				   struct ww_error *err);
WW_API int ww_runs_report(const struct ww_runs *r, int form, char **out, struct ww_error *err);
WW_API int ww_compare_report(const struct ww_compare *c, int form, char **out,
			     struct ww_error *err);
WW_API int ww_runtime_report(const struct ww_runtime *r, int form, char **out,
			     struct ww_error *err);
/** What a trace is: environment, sources, channels, counts, marks, gaps. */
WW_API int ww_info_report(struct ww_trace *t, int form, char **out, struct ww_error *err);
/** A loopback's figures. */
WW_API int ww_loopback_report(const struct ww_loopback *l, int form, char **out,
			      struct ww_error *err);
/** What ww_list and the drivers of the build say. */
WW_API int ww_list_report(const struct ww_list *l, int form, char **out, struct ww_error *err);

/** What of a trace to export. */
enum ww_export_what {
	WW_EXPORT_SAMPLES = 0,
	WW_EXPORT_BYTES,
	WW_EXPORT_EVENTS,
	WW_EXPORT_MARKS,
	WW_EXPORT_GAPS
};

struct ww_export_options {
	size_t size;
	int32_t what;	    /**< enum ww_export_what */
	int32_t jsonl;	    /**< 0 CSV with a header line (RFC 4180), 1 JSON lines */
	const char *source; /**< name of one source; NULL all */
	int32_t redact;	    /**< 1: without host names, serials and command lines */
	int32_t reserved;
};

/**
 * Write records, one a line, to a descriptor, in the order of time (see
 * wwtrace-export(1)). @return number of records; -EBADMSG after the rest was written
 * where rows of an exported source are damaged; another negative error
 */
WW_API int64_t ww_export(struct ww_trace *t, const struct ww_export_options *opt, int fd,
			 struct ww_error *err);

#ifdef __cplusplus
}
#endif
#endif
