// SPDX-License-Identifier: MIT
/*
 * Pages of the kernel's ring buffer (kernel/trace/ring_buffer.c): a time, a length, records
 * with the time since the one before.
 */
#include "import/dat.h"

#define CHUNK_MOST  (16u << 20)
#define CHUNKS_MOST (256u << 20) /* one of each CPU */

enum { TYPE_LONG = 0, TYPE_PADDING = 29, TYPE_EXTEND = 30, TYPE_STAMP = 31 };

#define COMMIT_MASK   ((UINT64_C(1) << 27) - 1)
#define MISSED	      (UINT64_C(1) << 31)
#define MISSED_STORED (UINT64_C(1) << 30)

/* The next chunk of packed pages. @return 1, 0 no more */
static int next_chunk(struct ww_dat *d, struct ww_dat_cpu *c, struct ww_error *err)
{
	struct ww_dat_cursor r = ww_dat_at(d, c->at);
	uint64_t packed_n, plain_n;
	char *packed;
	uint8_t *chunk;
	int rc;

	if (c->chunks_left == 0 || c->end - c->at < 8)
		return 0;
	c->chunks_left--;
	r.end = c->end;
	packed_n = ww_dat_read(&r, 4);
	plain_n = ww_dat_read(&r, 4);
	packed = ww_dat_blob(&r, packed_n, CHUNK_MOST);
	if (!packed || plain_n > CHUNK_MOST || plain_n == 0) {
		free(packed);
		return ww_dat_no_blob(&r, "it ends in its packed data", err);
	}
	c->at = r.at;
	d->chunk_bytes += plain_n - c->chunk_n;
	if (d->chunk_bytes > CHUNKS_MOST) {
		free(packed);
		return ww_dat_broken(d, "its packed parts are too large", err);
	}
	chunk = realloc(c->chunk, (size_t)plain_n);
	if (!chunk) {
		free(packed);
		return ww_fail_nomem(err);
	}
	c->chunk = chunk;
	rc = ww_dat_unpack(d, (uint8_t *)packed, (size_t)packed_n, chunk, (size_t)plain_n, err);
	free(packed);
	c->chunk_at = 0;
	c->chunk_n = (size_t)plain_n;
	return rc < 0 ? rc : 1;
}

/* A page's bytes. @return 1, 0 no more */
static int load(struct ww_dat *d, struct ww_dat_cpu *c, struct ww_error *err)
{
	struct ww_dat_cursor r;
	int rc;

	if (!c->page) {
		c->page = malloc(c->page_size);
		if (!c->page)
			return ww_fail_nomem(err);
		if (c->packed) {
			r = ww_dat_at(d, c->at);
			c->chunks_left = (uint32_t)ww_dat_read(&r, 4);
			c->at = r.at;
		}
	}
	if (c->packed) {
		if (c->chunk_n - c->chunk_at < c->page_size) {
			rc = next_chunk(d, c, err);
			if (rc <= 0)
				return rc;
		}
		if (c->chunk_n - c->chunk_at < c->page_size)
			return ww_dat_broken(d, "a packed part is no whole page", err);
		memcpy(c->page, c->chunk + c->chunk_at, c->page_size);
		c->chunk_at += c->page_size;
		return 1;
	}
	if (c->end - c->at < c->page_size)
		return c->end == c->at ? 0 : ww_dat_broken(d, "it ends within a page", err);
	r = ww_dat_at(d, c->at);
	if (!ww_dat_get(&r, c->page, c->page_size))
		return ww_dat_broken(d, "a page cannot be read", err);
	c->at = r.at;
	return 1;
}

static int next_page(struct ww_dat *d, struct ww_dat_cpu *c, struct ww_error *err)
{
	int rc = load(d, c, err);
	uint64_t commit;

	if (rc <= 0)
		return rc;
	c->ts = ww_dat_num(d, c->page, 8);
	commit = ww_dat_num(d, c->page + d->commit_at, d->commit_size);
	c->pos = d->data_at;
	c->commit = c->pos + (size_t)(commit & COMMIT_MASK);
	if (c->commit > c->page_size)
		return ww_dat_broken(d, "a page holds more than fits", err);
	if (commit & MISSED) {
		c->lost = -1;
		if ((commit & MISSED_STORED) && c->commit + d->commit_size <= c->page_size)
			c->lost = (int64_t)ww_dat_num(d, c->page + c->commit, d->commit_size);
	}
	return 1;
}

/* One entry of the page at c->pos. @return 1 a record, 0 none, negative: broken */
static int entry(const struct ww_dat *d, struct ww_dat_cpu *c)
{
	size_t left = c->commit - c->pos, n, head = 4;
	uint64_t word, delta, more;
	unsigned type;

	if (left < 4)
		return -1;
	word = ww_dat_num(d, c->page + c->pos, 4);
	type = d->big ? (unsigned)(word >> 27) : (unsigned)(word & 31);
	delta = d->big ? word & ((1u << 27) - 1) : word >> 5;
	more = left >= 8 ? ww_dat_num(d, c->page + c->pos + 4, 4) : 0;
	if (type == TYPE_PADDING && delta == 0) { /* the rest is empty */
		c->pos = c->commit;
		return 0;
	}
	if ((type == TYPE_LONG || type >= TYPE_PADDING) && left < 8)
		return -1;
	switch (type) {
	case TYPE_LONG:
		if (more < 4)
			return -1;
		head = 8;
		n = ((size_t)more - 4 + 3) & ~(size_t)3;
		break;
	case TYPE_PADDING:
		n = (size_t)more;
		break;
	case TYPE_EXTEND:
	case TYPE_STAMP:
		head = 8;
		n = 0;
		delta += more << 27;
		break;
	default:
		n = (size_t)type * 4;
	}
	if (n > left - head)
		return -1;
	if (type == TYPE_STAMP)
		c->ts = delta | (c->ts & ~((UINT64_C(1) << 59) - 1));
	else
		c->ts += delta;
	c->data = c->page + c->pos + head;
	c->data_n = n;
	c->pos += head + n;
	return type < TYPE_PADDING;
}

int ww_dat_next(struct ww_dat *d, struct ww_dat_cpu *c, struct ww_error *err)
{
	int rc;

	for (;;) {
		if (c->pos == c->commit) {
			rc = next_page(d, c, err);
			if (rc <= 0) {
				c->data = NULL;
				c->pos = c->commit = 0;
				return rc;
			}
			continue;
		}
		rc = entry(d, c);
		if (rc < 0) {
			c->data = NULL;
			return ww_dat_broken(d, "a record does not fit into its page", err);
		}
		if (rc == 1) {
			c->data_ts = c->ts;
			c->data_lost = c->lost;
			c->lost = 0;
			return 1;
		}
	}
}

bool ww_dat_ns(const struct ww_dat *d, uint64_t ts, uint64_t *ns)
{
	*ns = ts;
	if (d->tsc_mult)
		*ns = (uint64_t)(((unsigned __int128)ts * d->tsc_mult) >> d->tsc_shift);
	else if (strcmp(d->clock, "counter") == 0 || strcmp(d->clock, "x86-tsc") == 0 ||
		 strcmp(d->clock, "ppc-tb") == 0)
		return false;
	return true;
}
