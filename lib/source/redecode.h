/* SPDX-License-Identifier: MIT */
/* One meter of a trace, decoded again from what it sent: redecode.c copies the rest. */
#ifndef WW_SOURCE_REDECODE_H
#define WW_SOURCE_REDECODE_H

#include "base/notes.h"
#include "meter/meter.h"
#include "source/turns.h"

/* Bytes of a source, one after another, with the time of the row that each is in. */
struct ww_feed {
	struct ww_cursor *cursor;
	struct ww_batch b;
	size_t at;
};

/* A mark or (kind NULL) a gap. */
struct ww_redo_event {
	struct ww_interval t;
	char *kind, *text; /* text: of the mark, or the gap's reason */
	int64_t lost;
	size_t order;
};

#define WW_REDO_BATCH 1024

struct ww_redo {
	struct ww_trace *t;
	const struct ww_source_info *info; /* as stored */
	struct ww_source_info now;	   /* as its driver describes it */
	const struct ww_source_info *raw_info, *turns_info;
	const struct ww_meter_ops *meter;
	struct ww_writer *w;
	struct ww_notes *notes;
	uint32_t id;			      /* in the new trace */
	uint32_t first;			      /* id of its first channel */
	double resolution[WW_METER_CHANNELS]; /* as told there */
	enum ww_bus bus;
	struct ww_meter_shape shape;
	void *state;
	bool inited, live, started, failed;
	int64_t every_ns;
	char *listing;
	size_t listing_n;
	struct ww_feed raw, turns;
	struct ww_turn_record next; /* read ahead, if has_next */
	bool has_next;
	uint8_t *text; /* of the turn that was read last */
	size_t text_cap;
	uint8_t *buf; /* raw bytes of a turn */
	size_t cap;
	int64_t raw_ns;		/* expected time of the next raw row, at least */
	uint64_t lost, unasked; /* raw bytes that are missing, or that have no turn */
	size_t n;
	int64_t last_ns;
	int64_t lo[WW_REDO_BATCH], hi[WW_REDO_BATCH];
	int64_t *codes;
	char *model, *serial, *firmware;
	struct ww_redo_event *event;
	size_t events, cap_events;
	struct ww_error why;
};

/* Find what there is of a meter, and what its driver makes of it; says why it cannot. */
int ww_redo_open(struct ww_trace *t, const struct ww_source_info *info, struct ww_notes *notes,
		 struct ww_redo **out, struct ww_error *err);
/* Source and channels. */
int ww_redo_describe(struct ww_redo *r, struct ww_writer *w, struct ww_error *err);
int ww_redo_run(struct ww_redo *r, struct ww_error *err);
void ww_redo_free(struct ww_redo *r);
/* "NAME.raw" of NAME; NULL: there is none. */
const struct ww_source_info *ww_redo_side(const struct ww_trace *t, const struct ww_source_info *of,
					  const char *role);

/* Between redecodemeter.c and redecoderun.c: a new connection of the recorder, ... */
int ww_redo_begin(struct ww_redo *r, int64_t now, struct ww_error *err);
int ww_redo_listing(struct ww_redo *r, size_t n, struct ww_error *err);
void ww_redo_hand_over(struct ww_redo *r);
void ww_redo_event(struct ww_redo *r, struct ww_interval t, int64_t lost, const char *kind,
		   const char *text);
struct ww_meter_out ww_redo_out(struct ww_redo *r);
/* 1, 0: no more. */
int ww_redo_next(struct ww_redo *r, struct ww_turn_record *out, struct ww_error *err);

/* redecodefeed.c */
int ww_feed_open(struct ww_trace *t, const struct ww_source_info *s, struct ww_feed *f,
		 struct ww_error *err);
/* The next byte's row. 1, 0: no more. */
int ww_feed_peek(struct ww_feed *f, struct ww_interval *t, struct ww_error *err);
/* Next turn; its text, if it has one, in *buf. 1, 0: no more. */
int ww_feed_turn(struct ww_feed *f, struct ww_turn_record *out, uint8_t **buf, size_t *cap,
		 struct ww_error *err);
/* Up to n bytes of rows of this time into *buf. */
int ww_feed_take(struct ww_feed *f, int64_t hi_ns, uint64_t n, uint8_t **buf, size_t *cap,
		 size_t *got, struct ww_error *err);

#endif
