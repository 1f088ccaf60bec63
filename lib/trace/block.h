/* SPDX-License-Identifier: MIT */
/*
 * Blocks: up to WW_BLOCK_ROWS rows of one source as columns, packed and checked.
 *
 * blob   := u8 1, zstd frame (with content size and checksum) of raw
 * raw    := varint n, varint columns, column hi, column width (hi - lo),
 *           column..., bytes: varint length, the bytes
 * column := u8 mode (bits 0-1 order, 2-4 width code, 5 special), [bitmap of n bits
 *           of codes below WW_CODE_MIN, and for each u8 code - INT64_MIN],
 *           `order` first values (u64), u64 base, planes
 *
 * order 0 stores the values, 1 their differences, 2 the differences of those;
 * base is the least of what is stored and is subtracted; width code 0..4 means
 * 0, 1, 2, 4, 8 bytes; plane k holds byte k of all. All arithmetic wraps at 64
 * bits, so that any values go through unchanged.
 */
#ifndef WW_BLOCK_H
#define WW_BLOCK_H

#include "base/base.h"

#define WW_BLOCK_ROWS	8192u
#define WW_BLOCK_DATA	65536u	   /* bytes after which a block of bytes is full */
#define WW_CHUNK_MAX	(1u << 20) /* longest chunk of bytes, alone in its block */
#define WW_CHANNELS_MAX 64u

/* Rows of samples, or chunks of bytes with their length in col[0]. */
struct ww_rows {
	bool bytes;
	size_t columns; /* channels, or 1 for bytes */
	size_t n;
	int64_t *lo;
	int64_t *hi;
	int64_t **col;
	uint8_t *data; /* bytes of all chunks */
	size_t data_n;
	size_t data_cap;
	int64_t *store; /* the memory behind lo, hi and col */
};

int ww_rows_init(struct ww_rows *r, bool bytes, size_t channels, struct ww_error *err);
void ww_rows_free(struct ww_rows *r);
int ww_rows_add_data(struct ww_rows *r, const uint8_t *data, size_t n, struct ww_error *err);

/* Working memory of encoding and decoding. */
struct ww_codec;
int ww_codec_new(struct ww_codec **out, struct ww_error *err);
void ww_codec_free(struct ww_codec *c);

/* The blob is lent until the next call on c. */
int ww_block_encode(struct ww_codec *c, const struct ww_rows *r, const uint8_t **blob, size_t *n,
		    struct ww_error *err);
/*
 * Strict: whatever the blob, either rows as `out` was made for, with lo <= hi and
 * hi never falling, or -EBADMSG.
 */
int ww_block_decode(struct ww_codec *c, const void *blob, size_t n, struct ww_rows *out,
		    struct ww_error *err);

/* One column. scratch holds 3 * n values. Returns the bytes written to `to`. */
#define WW_COLUMN_BOUND(n) (1 + ((n) + 7) / 8 + (n) + 24 + 8 * (n))
size_t ww_column_encode(uint8_t *to, const int64_t *v, size_t n, int64_t *scratch);
/* Returns the bytes read from p, 0 if they are not a column. */
size_t ww_column_decode(const uint8_t *p, size_t left, int64_t *v, size_t n);

#endif
