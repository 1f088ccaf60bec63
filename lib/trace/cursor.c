/* SPDX-License-Identifier: MIT */
/*
 * Reading rows. A position is the number of a row within its source, which does not
 * depend on how rows fell into blocks, so a cursor goes on in a tail that has been
 * rewritten. It sees what the last refresh of its trace saw and nothing beyond.
 */
#include "trace/trace.h"

#include <math.h>

#define SEEK_SQL                                                                                   \
	"SELECT first FROM block WHERE source = ?1 AND first + n > ?2 AND lo <= ?3 AND hi >= ?4 "  \
	"AND first >= ?5 ORDER BY first LIMIT 1"

struct ww_cursor {
	struct ww_trace *t;
	uint32_t source;
	size_t index; /* of the source in the trace */
	bool bytes;
	int64_t char_ns; /* 0: no model */
	int64_t from;
	int64_t to;
	int64_t pos;	 /* next row or chunk */
	int64_t offset;	 /* bytes of the chunk that were given */
	int64_t data_at; /* where the chunk's bytes begin in its block */
	bool loaded;
	struct ww_block_head head; /* of the block in rows */
	struct ww_rows rows;
	const int64_t **codes;
	/* bytes: the batch that is lent */
	int64_t *lo;
	int64_t *hi;
	uint8_t *data;
};

static size_t channels_of(const struct ww_trace *t, uint32_t source)
{
	size_t n = 0;

	for (size_t i = 0; i < t->channels; i++)
		n += t->channel[i].source == source;
	return n < WW_CHANNELS_MAX ? n : WW_CHANNELS_MAX;
}

static int allocate(struct ww_cursor *c, struct ww_error *err)
{
	size_t channels = channels_of(c->t, c->source);
	int rc = ww_rows_init(&c->rows, c->bytes, channels, err);

	if (rc < 0)
		return rc;
	if (c->bytes) {
		c->lo = malloc(WW_BLOCK_ROWS * sizeof(*c->lo));
		c->hi = malloc(WW_BLOCK_ROWS * sizeof(*c->hi));
		c->data = malloc(WW_BLOCK_ROWS);
		return c->lo && c->hi && c->data ? 0 : ww_fail_nomem(err);
	}
	c->codes = calloc(channels + 1, sizeof(*c->codes));
	return c->codes ? 0 : ww_fail_nomem(err);
}

int ww_cursor_open(struct ww_trace *t, uint32_t source, int64_t from_ns, int64_t to_ns,
		   unsigned flags, struct ww_cursor **out, struct ww_error *err)
{
	const struct ww_source_info *s = ww_trace_source_by_id(t, source, err);
	struct ww_cursor *c;
	int rc;

	if (!s)
		return -EINVAL;
	if (flags & ~(unsigned)WW_CURSOR_SURE)
		return ww_fail(err, -EINVAL, "%s: unknown flags of a cursor: 0x%x", t->path, flags);
	c = calloc(1, sizeof(*c));
	if (!c)
		return ww_fail_nomem(err);
	c->t = t;
	c->source = source;
	c->index = (size_t)(s - t->source);
	c->bytes = s->kind == WW_SERIAL;
	c->from = from_ns;
	c->to = to_ns;
	if (!(flags & WW_CURSOR_SURE) && s->transport.char_ns > 0)
		c->char_ns = s->transport.char_ns;
	rc = allocate(c, err);
	if (rc < 0) {
		ww_cursor_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

void ww_cursor_close(struct ww_cursor *c)
{
	if (!c)
		return;
	ww_rows_free(&c->rows);
	free(c->codes);
	free(c->lo);
	free(c->hi);
	free(c->data);
	free(c);
}

/* To the next block that can hold rows in the window. @return 1, 0 none (yet) */
static int seek(struct ww_cursor *c, sqlite3 *db, struct ww_error *err)
{
	struct ww_trace *t = c->t;
	const struct ww_extent *e = &t->extent[c->index];
	int64_t least = c->loaded && c->pos > c->head.first ? c->head.first : 0, first = -1;
	int code, rc = 0;

	if (c->from == WW_TIME_MIN && c->to == WW_TIME_MAX)
		return 1;
	if (!t->seek)
		rc = ww_db_prepare(db, t->path, SEEK_SQL, &t->seek, err);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(t->seek, 1, c->source);
	sqlite3_bind_int64(t->seek, 2, c->pos);
	sqlite3_bind_int64(t->seek, 3, c->to);
	sqlite3_bind_int64(t->seek, 4, c->from);
	sqlite3_bind_int64(t->seek, 5, least);
	code = sqlite3_step(t->seek);
	if (code == SQLITE_ROW)
		first = sqlite3_column_int64(t->seek, 0);
	else if (code != SQLITE_DONE)
		rc = ww_db_fail(db, t->path, err);
	sqlite3_reset(t->seek);
	if (rc < 0)
		return rc;
	/* Without one, only the last block can still come to touch the window. */
	if (first < 0 && e->tail_first > c->pos)
		c->pos = e->tail_first;
	else if (first > c->pos)
		c->pos = first;
	return first >= 0;
}

/* Rows that cannot be read are a gap: the load of the trace has said so. */
static void pass_damage(struct ww_cursor *c)
{
	int64_t sound = ww_damage_pass(c->t, c->source, c->pos);

	if (sound != c->pos)
		c->offset = 0;
	c->pos = sound;
}

/* Get the block with row pos. @return 1, 0 none for now */
static int load(struct ww_cursor *c, struct ww_error *err)
{
	struct ww_trace *t = c->t;
	sqlite3 *db;
	int rc;

	if (c->loaded && c->pos >= c->head.first && c->pos < c->head.first + c->head.n)
		return 1;
	rc = ww_trace_db(t, &db, err);
	if (rc == 0)
		rc = seek(c, db, err);
	if (rc > 0)
		pass_damage(c);
	if (rc <= 0 || c->pos >= t->extent[c->index].rows)
		return rc < 0 ? rc : 0;
	rc = 0;
	if (!t->fetch)
		rc = ww_db_prepare(db, t->path, WW_FETCH_SQL, &t->fetch, err);
	if (rc == 0)
		rc = ww_fetch_block(t->fetch, t->path, t->codec, c->source, c->pos, &c->head,
				    &c->rows, err);
	if (rc == 0)
		rc = ww_fail(err, -EBADMSG, "%s: source %u: rows from %lld on are missing", t->path,
			     c->source, (long long)c->pos);
	c->loaded = rc > 0;
	if (rc > 0 && c->bytes) {
		c->data_at = 0;
		for (int64_t i = 0; i < c->pos - c->head.first; i++)
			c->data_at += c->rows.col[0][i];
	}
	return rc;
}

static bool touches(const struct ww_cursor *c, int64_t lo, int64_t hi)
{
	return hi >= c->from && lo <= c->to;
}

/* Keep the rows of [at, end) that touch the window. @return how many, from `at` on */
static size_t keep_touching(struct ww_cursor *c, size_t at, size_t end)
{
	struct ww_rows *r = &c->rows;
	size_t n = at;

	/* hi never falls and lo is not above it: the usual block is all inside. */
	if (r->hi[at] >= c->from && r->hi[end - 1] <= c->to)
		return end - at;
	for (size_t i = at; i < end; i++) {
		if (!touches(c, r->lo[i], r->hi[i]))
			continue;
		r->lo[n] = r->lo[i];
		r->hi[n] = r->hi[i];
		for (size_t k = 0; k < r->columns; k++)
			r->col[k][n] = r->col[k][i];
		n++;
	}
	return n - at;
}

static size_t next_samples(struct ww_cursor *c, int64_t end, struct ww_batch *out)
{
	size_t at = (size_t)(c->pos - c->head.first);
	size_t n = keep_touching(c, at, (size_t)(end - c->head.first));

	c->pos = end;
	for (size_t k = 0; k < c->rows.columns; k++)
		c->codes[k] = c->rows.col[k] + at;
	*out = (struct ww_batch){.n = n,
				 .channels = c->rows.columns,
				 .lo_ns = c->rows.lo + at,
				 .hi_ns = c->rows.hi + at,
				 .codes = c->codes};
	return n;
}

/* Byte k of n that one read delivered: see ww_cursor_open() in wakewatt.h. */
static struct ww_interval narrow(const struct ww_cursor *c, struct ww_interval sure, int64_t k,
				 int64_t n)
{
	struct ww_interval t = sure;

	if (c->char_ns <= 0 || c->char_ns > WW_NS_PER_S)
		return sure;
	if (t.lo_ns != WW_TIME_MIN)
		t.lo_ns = ww_add_sat(t.lo_ns, k * c->char_ns);
	if (t.hi_ns != WW_TIME_MAX)
		t.hi_ns = ww_add_sat(t.hi_ns, -(n - 1 - k) * c->char_ns);
	return t.lo_ns <= t.hi_ns ? t : sure;
}

static size_t next_bytes(struct ww_cursor *c, int64_t end, struct ww_batch *out)
{
	const struct ww_rows *r = &c->rows;
	size_t n = 0;

	while (c->pos < end && n < WW_BLOCK_ROWS) {
		size_t i = (size_t)(c->pos - c->head.first);
		struct ww_interval sure = {r->lo[i], r->hi[i]};
		int64_t length = r->col[0][i];

		for (; c->offset < length && n < WW_BLOCK_ROWS; c->offset++) {
			struct ww_interval t = narrow(c, sure, c->offset, length);

			if (!touches(c, t.lo_ns, t.hi_ns))
				continue;
			c->lo[n] = t.lo_ns;
			c->hi[n] = t.hi_ns;
			c->data[n++] = r->data[c->data_at + c->offset];
		}
		if (c->offset == length) {
			c->data_at += length;
			c->offset = 0;
			c->pos++;
		}
	}
	*out = (struct ww_batch){.n = n, .lo_ns = c->lo, .hi_ns = c->hi, .data = c->data};
	return n;
}

int ww_cursor_next(struct ww_cursor *c, struct ww_batch *out, struct ww_error *err)
{
	int rc = 0;

	*out = (struct ww_batch){0};
	for (;;) {
		int64_t end = c->t->extent[c->index].rows;

		if (c->pos >= end)
			break;
		rc = load(c, err);
		if (rc <= 0)
			break;
		if (end > c->head.first + c->head.n)
			end = c->head.first + c->head.n;
		if ((c->bytes ? next_bytes(c, end, out) : next_samples(c, end, out)) > 0)
			break;
	}
	ww_trace_release(c->t);
	return rc < 0 ? rc : out->n > 0;
}

int64_t ww_trace_rows(struct ww_trace *t, uint32_t source, int64_t from_ns, int64_t to_ns,
		      struct ww_error *err)
{
	const struct ww_source_info *s = ww_trace_source_by_id(t, source, err);
	struct ww_cursor *c;
	struct ww_batch b;
	int64_t n = 0;
	int rc;

	if (!s)
		return -EINVAL;
	if (from_ns == WW_TIME_MIN && to_ns == WW_TIME_MAX)
		return t->extent[s - t->source].items;
	rc = ww_cursor_open(t, source, from_ns, to_ns, 0, &c, err);
	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(c, &b, err)) > 0)
		n += (int64_t)b.n;
	ww_cursor_close(c);
	return rc < 0 ? rc : n;
}

static const struct ww_channel_info *find_channel(const struct ww_trace *t, uint32_t id,
						  size_t *column)
{
	for (size_t i = 0; i < t->channels; i++) {
		if (t->channel[i].id != id)
			continue;
		*column = 0;
		for (size_t k = 0; k < i; k++)
			*column += t->channel[k].source == t->channel[i].source;
		return &t->channel[i];
	}
	return NULL;
}

int64_t ww_trace_read(struct ww_trace *t, uint32_t channel, int64_t from_ns, int64_t to_ns,
		      size_t max, int64_t *lo_ns, int64_t *hi_ns, double *values,
		      struct ww_error *err)
{
	size_t column, done = 0;
	const struct ww_channel_info *info = find_channel(t, channel, &column);
	struct ww_scale scale;
	struct ww_cursor *c;
	struct ww_batch b;
	int rc;

	if (!info)
		return ww_fail(err, -EINVAL, "%s: there is no channel %u", t->path, channel);
	scale = ww_scale_of(info->scale, info->offset);
	rc = ww_cursor_open(t, info->source, from_ns, to_ns, 0, &c, err);
	if (rc < 0)
		return rc;
	while (done < max && (rc = ww_cursor_next(c, &b, err)) > 0 && column < b.channels) {
		size_t n = b.n < max - done ? b.n : max - done;

		if (lo_ns)
			memcpy(lo_ns + done, b.lo_ns, n * sizeof(*lo_ns));
		if (hi_ns)
			memcpy(hi_ns + done, b.hi_ns, n * sizeof(*hi_ns));
		for (size_t i = 0; values && i < n; i++)
			values[done + i] = ww_code_value(&scale, b.codes[column][i]);
		done += n;
	}
	ww_cursor_close(c);
	return rc < 0 ? rc : (int64_t)done;
}
