/* SPDX-License-Identifier: MIT */
#include "trace/block.h"
#include "base/bytes.h"

#include <zstd.h>

#define BLOB_VERSION 1
#define LEVEL	     1

struct ww_codec {
	ZSTD_CCtx *zc;
	ZSTD_DCtx *zd;
	uint8_t *raw;
	size_t raw_cap;
	uint8_t *blob;
	size_t blob_cap;
	int64_t *scratch; /* 4 columns */
};

int ww_rows_init(struct ww_rows *r, bool bytes, size_t channels, struct ww_error *err)
{
	size_t columns = bytes ? 1 : channels;

	*r = (struct ww_rows){.bytes = bytes, .columns = columns};
	r->store = malloc((columns + 2) * WW_BLOCK_ROWS * sizeof(*r->store));
	r->col = malloc((columns + 1) * sizeof(*r->col));
	if (!r->store || !r->col) {
		ww_rows_free(r);
		return ww_fail_nomem(err);
	}
	r->lo = r->store;
	r->hi = r->store + WW_BLOCK_ROWS;
	for (size_t c = 0; c < columns; c++)
		r->col[c] = r->store + (c + 2) * WW_BLOCK_ROWS;
	return 0;
}

void ww_rows_free(struct ww_rows *r)
{
	free(r->store);
	free(r->col);
	free(r->data);
	*r = (struct ww_rows){0};
}

static int grow(uint8_t **p, size_t *cap, size_t need, struct ww_error *err)
{
	size_t n = *cap ? *cap : 4096;
	uint8_t *q;

	if (need <= *cap)
		return 0;
	while (n < need)
		n *= 2;
	q = realloc(*p, n);
	if (!q)
		return ww_fail_nomem(err);
	*p = q;
	*cap = n;
	return 0;
}

int ww_rows_add_data(struct ww_rows *r, const uint8_t *data, size_t n, struct ww_error *err)
{
	int rc = grow(&r->data, &r->data_cap, r->data_n + n, err);

	if (rc < 0)
		return rc;
	if (n)
		memcpy(r->data + r->data_n, data, n);
	r->data_n += n;
	return 0;
}

int ww_codec_new(struct ww_codec **out, struct ww_error *err)
{
	struct ww_codec *c = calloc(1, sizeof(*c));

	if (!c)
		return ww_fail_nomem(err);
	c->zc = ZSTD_createCCtx();
	c->zd = ZSTD_createDCtx();
	c->scratch = malloc(4 * WW_BLOCK_ROWS * sizeof(*c->scratch));
	if (!c->zc || !c->zd || !c->scratch) {
		ww_codec_free(c);
		return ww_fail_nomem(err);
	}
	ZSTD_CCtx_setParameter(c->zc, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(c->zc, ZSTD_c_checksumFlag, 1);
	*out = c;
	return 0;
}

void ww_codec_free(struct ww_codec *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->zc);
	ZSTD_freeDCtx(c->zd);
	free(c->raw);
	free(c->blob);
	free(c->scratch);
	free(c);
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

static size_t raw_bound(size_t n, size_t columns, size_t data)
{
	return 32 + (columns + 2) * WW_COLUMN_BOUND(n) + data;
}

int ww_block_encode(struct ww_codec *c, const struct ww_rows *r, const uint8_t **blob, size_t *n,
		    struct ww_error *err)
{
	int64_t *width = c->scratch + 3 * WW_BLOCK_ROWS;
	size_t at = 0, z;
	int rc = grow(&c->raw, &c->raw_cap, raw_bound(r->n, r->columns, r->data_n), err);

	if (rc < 0)
		return rc;
	at += put_varint(c->raw, r->n);
	at += put_varint(c->raw + at, r->columns);
	for (size_t i = 0; i < r->n; i++)
		width[i] = (int64_t)((uint64_t)r->hi[i] - (uint64_t)r->lo[i]);
	at += ww_column_encode(c->raw + at, r->hi, r->n, c->scratch);
	at += ww_column_encode(c->raw + at, width, r->n, c->scratch);
	for (size_t k = 0; k < r->columns; k++)
		at += ww_column_encode(c->raw + at, r->col[k], r->n, c->scratch);
	if (r->bytes) {
		at += put_varint(c->raw + at, r->data_n);
		if (r->data_n)
			memcpy(c->raw + at, r->data, r->data_n);
		at += r->data_n;
	}
	rc = grow(&c->blob, &c->blob_cap, 1 + ZSTD_compressBound(at), err);
	if (rc < 0)
		return rc;
	c->blob[0] = BLOB_VERSION;
	z = ZSTD_compress2(c->zc, c->blob + 1, c->blob_cap - 1, c->raw, at);
	if (ZSTD_isError(z))
		return ww_fail(err, -ENOMEM, "packing a block: %s", ZSTD_getErrorName(z));
	*blob = c->blob;
	*n = z + 1;
	return 0;
}

static int bad(struct ww_error *err, const char *why)
{
	return ww_fail(err, -EBADMSG, "damaged block: %s", why);
}

/* Unpack the zstd frame into c->raw, never more than rows of this shape can take. */
static int unpack(struct ww_codec *c, const uint8_t *blob, size_t n, const struct ww_rows *out,
		  size_t *raw_n, struct ww_error *err)
{
	unsigned long long size;
	size_t z;
	int rc;

	if (n < 2 || blob[0] != BLOB_VERSION)
		return bad(err, "unknown form");
	size = ZSTD_getFrameContentSize(blob + 1, n - 1);
	if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR ||
	    size > raw_bound(WW_BLOCK_ROWS, out->columns,
			     out->bytes ? WW_BLOCK_DATA + WW_CHUNK_MAX : 0))
		return bad(err, "impossible size");
	rc = grow(&c->raw, &c->raw_cap, (size_t)size, err);
	if (rc < 0)
		return rc;
	z = ZSTD_decompressDCtx(c->zd, c->raw, (size_t)size, blob + 1, n - 1);
	if (ZSTD_isError(z))
		return bad(err, ZSTD_getErrorName(z));
	if (z != size)
		return bad(err, "impossible size");
	*raw_n = z;
	return 0;
}

/* Widths become lows; both rules of intervals are checked. */
static bool finish_times(struct ww_rows *r)
{
	bool wrong = false;

	for (size_t i = 0; i < r->n; i++) {
		r->lo[i] = (int64_t)((uint64_t)r->hi[i] - (uint64_t)r->lo[i]);
		wrong |= r->lo[i] > r->hi[i];
	}
	for (size_t i = 1; i < r->n; i++)
		wrong |= r->hi[i] < r->hi[i - 1];
	return !wrong;
}

static int take_data(struct ww_rd *rd, struct ww_rows *out, struct ww_error *err)
{
	uint64_t n = ww_rd_varint(rd), sum = 0;
	const uint8_t *p;

	if (rd->bad || n > WW_BLOCK_DATA + WW_CHUNK_MAX)
		return bad(err, "bytes cut short");
	for (size_t i = 0; i < out->n; i++) {
		if (out->col[0][i] < 1 || (uint64_t)out->col[0][i] > n)
			return bad(err, "length of a chunk");
		sum += (uint64_t)out->col[0][i];
	}
	p = ww_rd_take(rd, (size_t)n);
	if (!p || sum != n)
		return bad(err, "lengths of chunks");
	out->data_n = 0;
	return ww_rows_add_data(out, p, (size_t)n, err);
}

int ww_block_decode(struct ww_codec *c, const void *blob, size_t n, struct ww_rows *out,
		    struct ww_error *err)
{
	struct ww_rd rd;
	uint64_t rows, columns;
	size_t raw_n = 0;
	int rc = unpack(c, blob, n, out, &raw_n, err);

	out->n = 0;
	if (rc < 0)
		return rc;
	rd = ww_rd_of(c->raw, raw_n);
	rows = ww_rd_varint(&rd);
	columns = ww_rd_varint(&rd);
	if (rd.bad || rows < 1 || rows > WW_BLOCK_ROWS || columns != out->columns)
		return bad(err, "shape");
	for (size_t k = 0; k < out->columns + 2; k++) {
		int64_t *to = k == 0 ? out->hi : k == 1 ? out->lo : out->col[k - 2];
		size_t used = ww_column_decode(c->raw + rd.at, raw_n - rd.at, to, (size_t)rows);

		if (used == 0)
			return bad(err, "column");
		rd.at += used;
	}
	out->n = (size_t)rows;
	rc = finish_times(out) ? 0 : bad(err, "times out of order");
	if (rc == 0 && out->bytes)
		rc = take_data(&rd, out, err);
	if (rc == 0 && ww_rd_left(&rd) != 0)
		rc = bad(err, "trailing bytes");
	if (rc < 0)
		out->n = 0;
	return rc;
}
