/* SPDX-License-Identifier: MIT */
/*
 * The writer: one front (checks, tails of rows) over three backs (file, JSON
 * lines, binary frames). A back keeps descriptions as they come and takes the
 * tail of a source when it is full and at each commit.
 */
#ifndef WW_WRITER_H
#define WW_WRITER_H

#include "trace/db.h"
#include "trace/value.h"

/* A source as its writer knows it. */
struct ww_wsource {
	uint32_t id;
	int32_t kind;
	char *name;
	int64_t char_ns; /* pace of the line, 0 once it was another */
	size_t channels;
	struct ww_digits *digits; /* [channels] */
	bool started;		  /* has rows: no more channels */
	bool dirty;		  /* tail has rows that the back has not seen */
	int64_t last_hi;
	int64_t first;	  /* number of the tail's first row */
	unsigned commits; /* that stored this tail */
	int64_t rowid;	  /* file: row of `block` with the tail, 0 none yet */
	struct ww_rows tail;
};

struct ww_writer;

struct ww_writer_ops {
	int (*source)(struct ww_writer *w, const struct ww_source_info *s, bool update,
		      struct ww_error *err);
	int (*channel)(struct ww_writer *w, const struct ww_channel_info *c, struct ww_error *err);
	int (*mark)(struct ww_writer *w, const struct ww_mark *m, struct ww_error *err);
	int (*gap)(struct ww_writer *w, const struct ww_gap *g, struct ww_error *err);
	int (*anchor)(struct ww_writer *w, const struct ww_anchor *a, struct ww_error *err);
	int (*meta)(struct ww_writer *w, const char *key, const char *value, struct ww_error *err);
	/* Take the tail of a source; a stream empties it with ww_tail_empty(). */
	int (*rows)(struct ww_writer *w, struct ww_wsource *s, struct ww_error *err);
	int (*commit)(struct ww_writer *w, struct ww_error *err);
	/* Ends the back and frees what it holds, also after an error and half made. */
	int (*close)(struct ww_writer *w, struct ww_error *err);
};

struct ww_writer {
	const struct ww_writer_ops *ops;
	char *path;
	struct ww_wsource **source; /* [sources] */
	size_t sources;
	uint32_t channels;
	struct ww_codec *codec;
	struct ww_error failed; /* the first failure of the back: nothing is written after it */
	/* file */
	sqlite3 *db;
	bool own_db;
	bool born; /* came to be: its file is kept */
	bool in_txn;
	sqlite3_stmt *st[9];
	int64_t last_real_ns; /* wall time of the last anchor committed, and the newest */
	int64_t new_real_ns;
	/* streams */
	int fd;
	struct ww_str out;
};

/* Backs. Each sets w->ops before it can fail. */
int ww_wfile_open(struct ww_writer *w, struct ww_error *err);
/*
 * A file that gets its name when its tables are there, so that no moment to be killed
 * in leaves one that cannot be opened. @return 0, negative; 1 where the file system has
 * no files without a name
 */
int ww_wfile_birth(const char *path, const unsigned char *bytes, size_t n);
int ww_wfile_append(struct ww_writer *w, struct ww_error *err);
int ww_wstream_open(struct ww_writer *w, int form, struct ww_error *err);
/* A writer into a database of the caller's, for a stream that is read. */
int ww_writer_open_db(sqlite3 *db, const char *path, struct ww_writer **out, struct ww_error *err);
/* A writer that goes on with a file; -EBUSY: it is being recorded. */
int ww_writer_append(const char *path, struct ww_writer **out, struct ww_error *err);
/*
 * Of such a writer: the source of this name, and *channel, its first. @return its id, 0 there
 * is none, -EINVAL it is another one
 */
int ww_writer_known(struct ww_writer *w, const struct ww_source_info *info,
		    const struct ww_channel_info *c, size_t n, uint32_t *channel,
		    struct ww_error *err);
/*
 * Tell a channel anew, by its id: resolution, accuracy and wrap. Never what its codes mean
 * (scale, offset, unit), for those that are there stay as they are.
 */
int ww_writer_refine(struct ww_writer *w, const struct ww_channel_info *info, struct ww_error *err);
/* Rows of an unpacked block, as if they had come one by one. */
int ww_writer_rows(struct ww_writer *w, uint32_t source, const struct ww_rows *r,
		   struct ww_error *err);
/* The sources of a file that is gone on with, as if they had been told. */
int ww_wknown_load(struct ww_writer *w, struct ww_error *err);
/* Strings of a caller are never NULL further in. */
struct ww_source_info ww_wknown_full(const struct ww_source_info *in, uint32_t id);
int ww_wfile_attach(struct ww_writer *w, struct ww_error *err);
void ww_tail_empty(struct ww_wsource *s);

/* Meta: what ended the recording before its time. */
#define WW_META_ERROR "recorder.error"

/* Stream forms: see wakewatt-trace(5). */
#define WW_STREAM_FORMAT   1
#define WW_STREAM_MAGIC	   "WWSTREAM"
#define WW_STREAM_MAGIC_N  8u
#define WW_FRAME_JSON	   'J'
#define WW_FRAME_BLOCK	   'B'
#define WW_FRAME_HEAD	   5u	       /* type, length */
#define WW_FRAME_MAX	   (16u << 20) /* longest payload or line */
#define WW_BLOCK_FRAME_FIX 4u	       /* source, then the blob */

/* Objects of a stream, without a newline. */
void ww_json_source(struct ww_str *s, const struct ww_source_info *i);
void ww_json_channel(struct ww_str *s, const struct ww_channel_info *c);
void ww_json_mark(struct ww_str *s, const struct ww_mark *m);
void ww_json_gap(struct ww_str *s, const struct ww_gap *g);
void ww_json_anchor(struct ww_str *s, const struct ww_anchor *a);
void ww_json_rows(struct ww_str *s, const struct ww_wsource *src);

#endif
