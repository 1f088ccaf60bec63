/* SPDX-License-Identifier: MIT */
/* Inside of a trace that is read: what trace.c, load.c, stream.c and cursor.c share. */
#ifndef WW_TRACE_H
#define WW_TRACE_H

#include "trace/writer.h"

/* Text and small things that live as long as what they describe. */
struct ww_arena {
	struct ww_arena_part *part;
};
void *ww_arena_get(struct ww_arena *a, size_t n);
const char *ww_arena_text(struct ww_arena *a, const char *text);
void ww_arena_free(struct ww_arena *a);

/* How far the rows of a source go, as of the last refresh. */
struct ww_extent {
	int64_t rows; /* rows or chunks */
	int64_t items;
	int64_t tail_first; /* first row of its last block: where the next look begins */
	int64_t tail_items; /* items before that block */
	bool tail_bad;	    /* that block is damaged */
	bool heard;	    /* a sound block was seen, until: */
	int64_t heard_ns;
};

/* Rows that cannot be read: a gap of the trace, and a sentence of warning. */
struct ww_damage {
	uint32_t source; /* 0: a table that only describes, which has no gap */
	int64_t first;	 /* rows [first, end) of the source */
	int64_t end;
	size_t gap;	  /* index in the list of gaps */
	const char *why;  /* what is wrong with the first block */
	const char *text; /* the sentence, once the span is known */
};

struct ww_meta {
	const char *key;
	const char *value;
};

/* Stream being read from a descriptor into the database in memory. */
struct ww_stream;

struct ww_trace {
	char *path;
	sqlite3 *db;	       /* NULL while it is let go of */
	bool memory;	       /* a stream's or a serialized database */
	bool keep;	       /* may hold the file open between calls */
	int state;	       /* enum ww_trace_state */
	int fd;		       /* timer for files, -1 for streams */
	sqlite3_stmt *changed; /* PRAGMA data_version */
	sqlite3_stmt *fetch;   /* WW_FETCH_SQL */
	sqlite3_stmt *seek;    /* next block that touches a time */
	int64_t version;
	struct ww_stream *stream;
	struct ww_codec *codec;
	struct ww_arena fixed; /* sources, channels, meta: replaced at each reload */
	struct ww_arena grown; /* marks and gaps */
	struct ww_source_info *source;
	struct ww_extent *extent; /* [sources] */
	size_t sources;
	size_t extents; /* allocated and valid of extent */
	struct ww_channel_info *channel;
	size_t channels;
	struct ww_meta *meta;
	size_t metas;
	struct ww_mark *mark;
	size_t marks;
	struct ww_gap *gap;
	size_t gaps;
	struct ww_anchor *anchor;
	size_t anchors;
	size_t source_cap, channel_cap, meta_cap; /* of the lists in `fixed` */
	const char *log; /* static: what is said where its log was not found; or NULL */
	struct ww_damage *damage;
	size_t damages;
	int64_t mark_id, gap_id, anchor_id; /* last read */
	struct ww_interval span;
};

/* mend.c: open the file for reading, mending it first where its recorder died. */
int ww_trace_connect(struct ww_trace *t, struct ww_error *err);
/* Refuse databases of other programs and forms of the future. */
int ww_trace_check_kind(struct ww_trace *t, struct ww_error *err);
/* What of a database lies in its log, told by the first bytes of its file. */
#define WW_HEAD_BYTES 100
enum ww_log {
	WW_LOG_NONE,	/* it has none */
	WW_LOG_REST,	/* what was stored last */
	WW_LOG_ALL,	/* everything */
	WW_LOG_FOREIGN, /* it is no trace */
};
enum ww_log ww_log_of(const uint8_t *head, size_t n);
/* Is the recorder that the file names still there? */
bool ww_recorder_lives(sqlite3 *db);
/* load.c: take over what is new, in one read transaction. @return 1 something new, 0 not */
int ww_trace_load(struct ww_trace *t, struct ww_error *err);
/* A list that doubles: room for one more behind n. NULL: no memory, the list stays. */
void *ww_list_room(void *list, size_t n, size_t each, struct ww_error *err);
int ww_trace_add_gap(struct ww_trace *t, const struct ww_gap *gap, struct ww_error *err);
void ww_trace_stretch(struct ww_trace *t, int64_t lo, int64_t hi);
/*
 * extent.c: how far the rows go now. Each new block is unpacked once, so that gaps and
 * warnings are known before anybody reads.
 */
int ww_extents_load(struct ww_trace *t, struct ww_error *err);
/* A table that cannot be read as a whole: said once. */
int ww_trace_warn(struct ww_trace *t, const char *table, const char *why, struct ww_error *err);
/* First row from `pos` on that is not in a damaged block. */
int64_t ww_damage_pass(const struct ww_trace *t, uint32_t source, int64_t pos);
/* trace.c: the connection, opened again if it was let go of. */
int ww_trace_db(struct ww_trace *t, sqlite3 **db, struct ww_error *err);
/* Let go of the file after a call, unless it may be held. */
void ww_trace_release(struct ww_trace *t);
const struct ww_source_info *ww_trace_source_by_id(const struct ww_trace *t, uint32_t id,
						   struct ww_error *err);

/* trace.c: one that has nothing yet. */
int ww_trace_new(const char *path, struct ww_trace **out, struct ww_error *err);
/* A stream or a whole file from a descriptor, of which head was read already. */
int ww_trace_open_fd(const char *path, int fd, bool own, const uint8_t *head, size_t head_n,
		     struct ww_trace **out, struct ww_error *err);

/*
 * memory.c: a trace that is made here, in memory, by a writer; complete once the writer
 * is done, which takes the writer whatever the result.
 */
#define WW_META_IMPORT	    "import.format"
#define WW_META_IMPORT_NOTE "import.note." /* and its number, from 01 */
int ww_memory_new(const char *path, struct ww_trace **out, struct ww_writer **w,
		  struct ww_error *err);
int ww_memory_done(struct ww_trace *t, struct ww_writer *w, struct ww_error *err);

/* stream.c. fd is closed with the stream if `own`; head: what was read from it already. */
int ww_stream_open(struct ww_trace *t, int fd, bool own, const uint8_t *head, size_t head_n,
		   struct ww_error *err);
/* Take what has come. @return 1 more can come, 0 its end, negative error (which ends it) */
int ww_stream_pull(struct ww_stream *s, struct ww_error *err);
bool ww_stream_complete(const struct ww_stream *s);
int ww_stream_fd(const struct ww_stream *s);
void ww_stream_close(struct ww_stream *s);

/* apply.c: one object of a stream, or one block, into a writer. */
struct ww_apply;
int ww_apply_new(sqlite3 *db, const char *path, struct ww_apply **out, struct ww_error *err);
/* @return 0, 1 for the object that ends a stream, negative error */
int ww_apply_json(struct ww_apply *a, const char *json, size_t n, struct ww_error *err);
int ww_apply_block(struct ww_apply *a, const uint8_t *p, size_t n, struct ww_error *err);
int ww_apply_commit(struct ww_apply *a, struct ww_error *err);
void ww_apply_free(struct ww_apply *a);

#endif
