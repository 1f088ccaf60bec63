// SPDX-License-Identifier: MIT
/*
 * Packed files: gzip, xz, zstd. A piece in, a piece out: memory does not grow with what comes
 * out of them.
 */
#include "import/bytein.h"

#include <zstd.h>
#if WW_WITH_ZLIB
#include <zlib.h>
#endif
#if WW_WITH_LZMA
#include <lzma.h>
#endif

/* No log shrinks that much; what does was made to fill something. */
#define RATIO_MOST 1000u
#define RATIO_FROM (UINT64_C(64) << 20)
#define XZ_MEMORY  (UINT64_C(128) << 20) /* xz -9 takes 65 MiB */

struct format {
	const char *name;
	const char *package; /* what a build without it lacks; NULL: it is there */
	bool (*starts)(const uint8_t *p, size_t n);
	/* A new stream begins. */
	int (*begin)(struct ww_bytein *in, struct ww_error *err);
	/* On from in->from. *made: bytes that came out; in the middle of a stream still? */
	int (*decode)(struct ww_bytein *in, uint8_t *to, size_t cap, size_t *made,
		      struct ww_error *err);
	void (*drop)(struct ww_bytein *in);
};

struct packed {
	const struct format *format;
	uint64_t out; /* bytes so far */
	bool within;  /* a stream */
	bool full;    /* more may come out of what went in */
	bool made_one;
	int failed; /* told after what came out before */
	struct ww_error why;
#if WW_WITH_ZLIB
	z_stream z;
#endif
#if WW_WITH_LZMA
	lzma_stream x;
#endif
	ZSTD_DStream *s;
};

static int fail_broken(const struct ww_bytein *in, const char *why, struct ww_error *err)
{
	const struct packed *k = in->state;

	return ww_fail(err, -EBADMSG,
		       "%s: its %s data are broken (%s) after %llu bytes that came out", in->name,
		       k->format->name, why, (unsigned long long)k->out);
}

static bool starts_with(const uint8_t *p, size_t n, const char *magic, size_t m)
{
	return n >= m && memcmp(p, magic, m) == 0;
}

static void consume(struct ww_bytein *from, size_t left)
{
	size_t used = from->n - from->at - left;

	from->at += used;
	from->taken += used;
}

static bool gz_starts(const uint8_t *p, size_t n)
{
	return starts_with(p, n, "\x1f\x8b", 2);
}

#if WW_WITH_ZLIB
static int gz_begin(struct ww_bytein *in, struct ww_error *err)
{
	struct packed *k = in->state;
	int rc = k->made_one ? inflateReset(&k->z) : inflateInit2(&k->z, 15 + 16);

	k->made_one = true;
	return rc == Z_OK ? 0 : ww_fail_nomem(err);
}

static int gz_decode(struct ww_bytein *in, uint8_t *to, size_t cap, size_t *made,
		     struct ww_error *err)
{
	struct packed *k = in->state;
	struct ww_bytein *from = in->from;
	int rc;

	k->z.next_in = from->buf + from->at;
	k->z.avail_in = (uInt)(from->n - from->at);
	k->z.next_out = to;
	k->z.avail_out = (uInt)cap;
	rc = inflate(&k->z, Z_NO_FLUSH);
	consume(from, k->z.avail_in);
	*made = cap - k->z.avail_out;
	if (rc == Z_STREAM_END)
		k->within = false;
	if (rc == Z_MEM_ERROR)
		return ww_fail_nomem(err);
	if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
		return fail_broken(in, k->z.msg ? k->z.msg : "no reason given", err);
	return 0;
}

static void gz_drop(struct ww_bytein *in)
{
	struct packed *k = in->state;

	if (k->made_one)
		inflateEnd(&k->z);
}
#endif

static bool xz_starts(const uint8_t *p, size_t n)
{
	return starts_with(p, n,
			   "\xfd"
			   "7zXZ",
			   6);
}

#if WW_WITH_LZMA
static int xz_begin(struct ww_bytein *in, struct ww_error *err)
{
	struct packed *k = in->state;

	/* Anew on the same state: nothing to be freed between. */
	return lzma_stream_decoder(&k->x, XZ_MEMORY, 0) == LZMA_OK ? 0 : ww_fail_nomem(err);
}

static int xz_decode(struct ww_bytein *in, uint8_t *to, size_t cap, size_t *made,
		     struct ww_error *err)
{
	struct packed *k = in->state;
	struct ww_bytein *from = in->from;
	lzma_ret rc;

	k->x.next_in = from->buf + from->at;
	k->x.avail_in = from->n - from->at;
	k->x.next_out = to;
	k->x.avail_out = cap;
	rc = lzma_code(&k->x, LZMA_RUN);
	consume(from, k->x.avail_in);
	*made = cap - k->x.avail_out;
	if (rc == LZMA_STREAM_END)
		k->within = false;
	if (rc == LZMA_MEM_ERROR)
		return ww_fail_nomem(err);
	if (rc == LZMA_MEMLIMIT_ERROR)
		return ww_fail(err, -EFBIG,
			       "%s: unpacking it takes more than 128 MB of memory: xzcat it into -",
			       in->name);
	if (rc != LZMA_OK && rc != LZMA_STREAM_END && rc != LZMA_BUF_ERROR)
		return fail_broken(in,
				   rc == LZMA_OPTIONS_ERROR ? "a newer format" : "no checksum fits",
				   err);
	return 0;
}

static void xz_drop(struct ww_bytein *in)
{
	struct packed *k = in->state;

	lzma_end(&k->x);
}
#endif

static bool zst_starts(const uint8_t *p, size_t n)
{
	return starts_with(p, n, "\x28\xb5\x2f\xfd", 4) ||
	       (n >= 4 && p[0] >> 4 == 5 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0);
}

static int zst_begin(struct ww_bytein *in, struct ww_error *err)
{
	struct packed *k = in->state;

	if (!k->s)
		k->s = ZSTD_createDStream();
	return k->s && !ZSTD_isError(ZSTD_initDStream(k->s)) ? 0 : ww_fail_nomem(err);
}

static int zst_decode(struct ww_bytein *in, uint8_t *to, size_t cap, size_t *made,
		      struct ww_error *err)
{
	struct packed *k = in->state;
	struct ww_bytein *from = in->from;
	ZSTD_inBuffer i = {from->buf + from->at, from->n - from->at, 0};
	ZSTD_outBuffer o = {to, cap, 0};
	size_t rc = ZSTD_decompressStream(k->s, &o, &i);

	consume(from, i.size - i.pos);
	*made = o.pos;
	if (ZSTD_isError(rc))
		return fail_broken(in, ZSTD_getErrorName(rc), err);
	k->within = rc != 0;
	return 0;
}

static void zst_drop(struct ww_bytein *in)
{
	struct packed *k = in->state;

	ZSTD_freeDStream(k->s);
}

static const struct format formats[] = {
#if WW_WITH_ZLIB
	{"gzip", NULL, gz_starts, gz_begin, gz_decode, gz_drop},
#else
	{"gzip", "zlib1g-dev", gz_starts, NULL, NULL, NULL},
#endif
#if WW_WITH_LZMA
	{"xz", NULL, xz_starts, xz_begin, xz_decode, xz_drop},
#else
	{"xz", "liblzma-dev", xz_starts, NULL, NULL, NULL},
#endif
	{"zstd", NULL, zst_starts, zst_begin, zst_decode, zst_drop},
};

static int check_ratio(const struct ww_bytein *in, struct ww_error *err)
{
	const struct packed *k = in->state;

	if (k->out < RATIO_FROM || k->out / RATIO_MOST <= in->from->taken)
		return 0;
	return ww_fail(err, -EFBIG,
		       "%s: unpacks to more than %u times its size, as no log does: unpack it "
		       "yourself, and look",
		       in->name, RATIO_MOST);
}

/* 1 there is something to decode, 0 the end. */
static int feed(struct ww_bytein *in, struct ww_error *err)
{
	struct packed *k = in->state;
	struct ww_bytein *from = in->from;
	size_t left;
	int rc;

	if (k->within && k->full)
		return 1;
	/* Padding between streams is no more than zeros. */
	do {
		while (!k->within && from->at < from->n && from->buf[from->at] == 0)
			consume(from, from->n - from->at - 1);
		rc = ww_bytein_peek(from, k->within ? 1 : 6, err);
		if (rc < 0)
			return rc;
	} while (!k->within && from->n > 0 && from->buf[0] == 0);
	left = from->n - from->at;
	if (k->within && left == 0)
		return ww_fail(err, -EBADMSG,
			       "%s: ends in the middle of its %s data: %llu bytes came out, the "
			       "rest is missing",
			       in->name, k->format->name, (unsigned long long)k->out);
	/* What follows a stream and is none is left alone, as their own programs do. */
	if (k->within || !k->format->starts(from->buf + from->at, left))
		return k->within;
	k->within = true;
	rc = k->format->begin(in, err);
	return rc < 0 ? rc : 1;
}

static int64_t packed_fill(struct ww_bytein *in, uint8_t *to, size_t cap, struct ww_error *err)
{
	struct packed *k = in->state;
	size_t made = 0;
	int rc = k->failed;

	while (rc >= 0 && made == 0) {
		rc = feed(in, &k->why);
		if (rc <= 0)
			break;
		rc = k->format->decode(in, to, cap, &made, &k->why);
		k->out += made;
		k->full = made == cap;
		if (rc == 0)
			rc = check_ratio(in, &k->why);
	}
	k->failed = rc < 0 ? rc : 0;
	if (made == 0 && rc < 0)
		return ww_fail(err, rc, "%s", k->why.text);
	return (int64_t)made;
}

static void packed_drop(struct ww_bytein *in)
{
	struct packed *k = in->state;

	k->format->drop(in);
	free(k);
}

int ww_bytein_unpack(struct ww_bytein **in, struct ww_error *err)
{
	const struct format *f = NULL;
	struct ww_bytein *stage;
	struct packed *k;

	for (size_t i = 0; i < WW_COUNTOF(formats) && !f; i++)
		if (formats[i].starts((*in)->buf + (*in)->at, (*in)->n - (*in)->at))
			f = &formats[i];
	if (!f)
		return 0;
	if (f->package)
		return ww_fail(err, -ENOTSUP,
			       "%s: packed by %s, which this build cannot unpack (it lacks %s): "
			       "unpack it first",
			       (*in)->name, f->name, f->package);
	stage = ww_bytein_new((*in)->name, NULL);
	k = calloc(1, sizeof(*k));
	if (!stage || !k) {
		ww_bytein_free(stage);
		free(k);
		return ww_fail_nomem(err);
	}
	k->format = f;
	stage->from = *in;
	stage->state = k;
	stage->fill = packed_fill;
	stage->drop = packed_drop;
	*in = stage;
	return 1;
}
