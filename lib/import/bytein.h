/* SPDX-License-Identifier: MIT */
/*
 * Bytes of a file, as they stand in it or unpacked, in pieces of a fixed size: one stage
 * stands on another. And the openers of what such bytes can hold.
 */
#ifndef WW_IMPORT_BYTEIN_H
#define WW_IMPORT_BYTEIN_H

#include "base/base.h"
#include "text/textin.h"

#define WW_BYTEIN_PIECE (256u * 1024u)

struct ww_bytein {
	char *name;
	uint8_t *buf;	/* [WW_BYTEIN_PIECE] */
	size_t at, n;	/* read and not given yet */
	uint64_t taken; /* bytes that left it */
	bool eof;
	int failed; /* negative: why, told after what came before it */
	struct ww_error why;
	struct ww_bytein *from; /* packed bytes, NULL: a file */
	int fd;			/* of a file */
	bool owned;		/* fd */
	bool seekable;
	/* Up to cap bytes: > 0, 0 the end, negative error. */
	int64_t (*fill)(struct ww_bytein *in, uint8_t *to, size_t cap, struct ww_error *err);
	void (*drop)(struct ww_bytein *in); /* frees state; may be NULL */
	void *state;
};

/* A stage without its state. @return NULL: no memory */
struct ww_bytein *ww_bytein_new(const char *name, struct ww_bytein *from);
/* May be NULL; closes those below, too. */
void ww_bytein_free(struct ww_bytein *in);
/* At least `want` bytes at buf + at, fewer at the end only. want <= WW_BYTEIN_PIECE */
int ww_bytein_peek(struct ww_bytein *in, size_t want, struct ww_error *err);
/* What is there, at least one byte: 1, 0 the end, negative error. Lent until the next call. */
int ww_bytein_next(struct ww_bytein *in, const uint8_t **p, size_t *n, struct ww_error *err);

/*
 * unpack.c. Puts a stage on *in where its first bytes say that they are packed.
 * @return 1 done, 0 they are not, negative error; *in is good in any case
 */
int ww_bytein_unpack(struct ww_bytein **in, struct ww_error *err);

/* utf16.c: likewise, where they say that they are UTF-16: UTF-8 comes out. */
int ww_bytein_utf16(struct ww_bytein **in, struct ww_error *err);

/* textkind.c: the sentence on bytes that are no text, NULL: they may be. */
const char *ww_text_kind(const uint8_t *p, size_t n);

#endif
