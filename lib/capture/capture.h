/* SPDX-License-Identifier: MIT */
/*
 * Inside the recorder. recorder.c has the public calls, track.c one source with
 * its sink and reconnection, side.c what is kept beside a meter, store.c the writer's thread,
 * timekeeper.c anchors and clock steps, env.c what the bench is.
 */
#ifndef WW_CAPTURE_H
#define WW_CAPTURE_H

#include "bus/loop.h"
#include "bus/portimpl.h"
#include "capture/ring.h"
#include "source/source.h"

#include <pthread.h>

/* ------------------------------------------------------------- description */

/* A source's description with its own copies of all strings. */
struct ww_desc {
	struct ww_source_info info;
	size_t channels;
	struct ww_channel_info *channel;
	bool refined; /* its channels are not as they were told before */
	char *strings;
};

struct ww_desc *ww_desc_copy(const struct ww_source_info *info,
			     const struct ww_channel_info *channel, size_t n, const char *name);
void ww_desc_free(struct ww_desc *d);

/* ------------------------------------------------------------------- store */

enum ww_item_type {
	WW_ITEM_DESC = 1, /* struct ww_desc *, handed over */
	WW_ITEM_SAMPLES,  /* struct ww_item_samples, lo[n], hi[n], codes[n * channels] */
	WW_ITEM_BYTES,	  /* struct ww_interval, bytes */
	WW_ITEM_MARK,	  /* struct ww_item_mark, kind NUL text NUL */
	WW_ITEM_GAP,	  /* struct ww_item_gap, reason NUL */
	WW_ITEM_ANCHOR,	  /* struct ww_anchor */
	WW_ITEM_META	  /* key NUL value NUL */
};

struct ww_item_samples {
	uint64_t n;
	uint64_t channels;
};
struct ww_item_bytes {
	struct ww_interval t;
	uint64_t n;
};
struct ww_item_mark {
	struct ww_interval t;
	uint32_t cycle;
	uint32_t reserved;
};
struct ww_item_gap {
	struct ww_interval t;
	int64_t lost;
};

/* A meter may have its raw bytes and its turns beside it. */
#define WW_STORE_SOURCES 96

/* The writer's side: its thread is the only one that touches the writer. */
struct ww_store {
	struct ww_ring ring;
	struct ww_writer *writer; /* NULL: nothing is stored */
	int64_t commit_ns;
	struct ww_anchor start; /* the clocks at the start, where a trace is gone on with */
	int64_t offset_ns;	/* added to all times: see append.c */
	pthread_t thread;
	bool running;
	_Atomic bool stop;
	_Atomic int failed; /* negative errno once storing went wrong */
	struct ww_error err;
	int wake_fd;			    /* eventfd: there is much to do, or the end */
	uint32_t id[WW_STORE_SOURCES];	    /* trace's id of a recorder's source, 0 none yet */
	uint32_t channel[WW_STORE_SOURCES]; /* id of its first channel */
	/* Rows or bytes of each source and gaps of all: given to the writer, committed. */
	bool kept;
	struct ww_store_counts {
		uint64_t n[WW_STORE_SOURCES];
		uint64_t gaps;
	} given, stored;
};

int ww_store_open(struct ww_store *s, size_t queue_bytes, struct ww_error *err);
int ww_store_begin(struct ww_store *s, const struct ww_recorder_options *opt, struct ww_error *err);
/* append.c: the writer of a trace that is there; before: are these its sources? */
struct ww_recorder;
int ww_append_fits(const struct ww_recorder *r, struct ww_error *err);
int ww_append_begin(struct ww_store *s, const struct ww_recorder_options *opt,
		    struct ww_error *err);
/* Wake the thread early, never waits. */
void ww_store_nudge(struct ww_store *s);
/* Store the rest, close the trace, end the thread. The first error of all. */
int ww_store_end(struct ww_store *s, struct ww_error *err);
void ww_store_free(struct ww_store *s);

/* ------------------------------------------------------------------- track */

struct ww_recorder;

enum ww_track_state {
	WW_TRACK_WAITING = 0,
	WW_TRACK_GIVING = 1,
	WW_TRACK_SILENT = 2,
	WW_TRACK_UNPLUGGED = 3,
	WW_TRACK_ENDED = 4
};

struct ww_dutinfo;

/* NULL for want of memory: the trace is only poorer by it. */
struct ww_dutinfo *ww_dutinfo_new(struct ww_recorder *rec);
void ww_dutinfo_feed(struct ww_dutinfo *d, struct ww_interval t, const uint8_t *data, size_t n);
void ww_dutinfo_free(struct ww_dutinfo *d);

/* What the queue had no room for, not yet written down. */
struct ww_lost {
	uint64_t n;
	struct ww_interval t;
};

/* A source beside a meter: what it sent, what its driver was called for. */
struct ww_side {
	uint16_t index; /* in the ring; WW_SOURCE_NONE: none yet, or there is no room for it */
	bool tried;
	int64_t last_ns; /* hi of its newest row */
	struct ww_lost lost;
};

#define WW_BESIDE 4 /* sources within a source: the modem inputs of a serial line */

struct ww_track {
	struct ww_recorder *rec;
	struct ww_dutinfo *dutinfo; /* of a serial line, NULL none yet */
	uint16_t index;		    /* source number in the ring */
	struct ww_side raw, turns, beside[WW_BESIDE];
	char *uri;
	char *shown; /* the same without passwords */
	char *name;
	char *label; /* name as stored */
	struct ww_source *source;
	struct ww_desc *desc;
	struct ww_timer *retry;
	bool started;
	int state;
	char memory[WW_PORT_MEMORY]; /* which device it is */
	int64_t first_open_ns;	     /* when it was opened for the first time, 0 never */
	int64_t last_ns;	     /* hi of the newest record */
	int64_t lost_ns;	     /* when the device went away, 0 never */
	int64_t back_ns;	     /* opened again then, and not yet sure to stay; 0 none */
	int64_t out_from;	     /* a gap is open since then: lo of it, WW_TIME_MIN none */
	uint64_t n;
	int64_t *code;	     /* newest code of each channel */
	struct ww_error why; /* why the device is away */
	struct ww_lost lost;
};

/* track.c: bytes of any source of a track, or the note that the queue had no room. */
void ww_track_bytes(struct ww_track *t, uint16_t index, struct ww_lost *lost,
		    struct ww_interval when, const uint8_t *data, size_t n);
/* side.c: of the sink. */
void ww_track_raw(void *ctx, struct ww_interval when, const uint8_t *data, size_t n);
void ww_track_turn(void *ctx, struct ww_interval when, int turn, const void *data, size_t n);

int ww_track_open(struct ww_track *t, struct ww_error *err);
/* beside.c: the sink's calls of these names; ctx is the track. */
int ww_beside_describe(void *ctx, size_t i, const char *suffix, const struct ww_source_info *info,
		       const struct ww_channel_info *channels, size_t n, struct ww_error *err);
void ww_beside_sample(void *ctx, size_t i, struct ww_interval when, int64_t code);
void ww_beside_gap(struct ww_track *t, struct ww_interval hole, const char *reason);
int ww_track_start(struct ww_track *t, struct ww_error *err);
int64_t ww_track_stop(struct ww_track *t);
void ww_track_finish(struct ww_track *t); /* writes down an open gap */
void ww_track_free(struct ww_track *t);

/* -------------------------------------------------------------- timekeeper */

struct ww_timekeeper {
	struct ww_recorder *rec;
	struct ww_timer *timer;
	struct ww_anchor last; /* last seen */
	int64_t stored_ns;     /* boot_ns of the last stored */
	struct ww_timer *beat;
	struct ww_anchor beaten; /* when the beat last ran */
	struct ww_late late;	 /* of the beat: the loop itself, whatever the sources are */
};

int ww_timekeeper_start(struct ww_timekeeper *k, struct ww_recorder *rec, struct ww_error *err);
void ww_timekeeper_free(struct ww_timekeeper *k);

/* --------------------------------------------------------------- recorder */

#define WW_RECORDER_WARNINGS 16

struct ww_recorder {
	struct ww_recorder_options opt;
	char *path, *program, *command;
	struct ww_loop *loop;
	bool virtual_time;
	struct ww_store store;
	struct ww_track *track[WW_STORE_SOURCES / 3];
	size_t tracks;
	uint16_t next_index;
	struct ww_timekeeper keeper;
	bool started, stopped;
	struct ww_error fatal; /* why the recording cannot go on */
	uint64_t samples, bytes, raw, lost, gaps;
	int64_t late_max, late_p99; /* of sources that are closed by now */
	char *warning[WW_RECORDER_WARNINGS];
	size_t warnings;
};

/* Test's entry: the loop runs on this clock (may be NULL: the kernel's). */
int ww_recorder_new_clock(const struct ww_recorder_options *opt, const struct ww_clock *clock,
			  struct ww_recorder **out, struct ww_error *err);
/* Serial activity: arrival of the newest byte (0 none) and how many there were. */
void ww_recorder_activity(const struct ww_recorder *r, uint32_t source, int64_t *last_ns,
			  uint64_t *n);
/* Its device is unplugged. */
bool ww_recorder_away(const struct ww_recorder *r, uint32_t source);
/* Open port of the i-th source that is a serial line; NULL: none, or away. *more: not the last. */
struct ww_port *ww_recorder_port(const struct ww_recorder *r, size_t i, bool *more);
void ww_recorder_warn(struct ww_recorder *r, const char *text);
void ww_recorder_warn_at(struct ww_recorder *r, struct ww_interval t, const char *text);
/* The loop's lateness, of all its timers that keep count. */
void ww_recorder_lateness(const struct ww_recorder *r, int64_t *max_ns, int64_t *p99_ns);

/* Queue records; a full queue gives -ENOBUFS (and never blocks on the real clock). */
void *ww_recorder_reserve(struct ww_recorder *r, uint16_t type, uint16_t source, size_t payload);
/* Hands over d, whatever the result. */
int ww_recorder_put_desc(struct ww_recorder *r, uint16_t source, struct ww_desc *d);
int ww_recorder_put_mark(struct ww_recorder *r, uint16_t source, struct ww_interval t,
			 uint32_t cycle, const char *kind, const char *text);
int ww_recorder_put_gap(struct ww_recorder *r, uint16_t source, struct ww_interval t, int64_t lost,
			const char *reason);
int ww_recorder_put_anchor(struct ww_recorder *r, const struct ww_anchor *a);
int ww_recorder_put_meta(struct ww_recorder *r, const char *key, const char *value);
/* What the bench is, as meta "bench.*"; warns of a doubtful clocksource. */
int ww_env_put(struct ww_recorder *r);

#define WW_SOURCE_NONE 0xffff

#endif
