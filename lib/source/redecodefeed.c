/* SPDX-License-Identifier: MIT */
#include "source/redecode.h"

int ww_feed_open(struct ww_trace *t, const struct ww_source_info *s, struct ww_feed *f,
		 struct ww_error *err)
{
	ww_cursor_close(f->cursor);
	*f = (struct ww_feed){.cursor = NULL};
	return ww_cursor_open(t, s->id, WW_TIME_MIN, WW_TIME_MAX, WW_CURSOR_SURE, &f->cursor, err);
}

int ww_feed_peek(struct ww_feed *f, struct ww_interval *t, struct ww_error *err)
{
	while (f->cursor && f->at == f->b.n) {
		int rc = ww_cursor_next(f->cursor, &f->b, err);

		f->at = 0;
		if (rc <= 0) {
			f->b.n = 0;
			return rc;
		}
	}
	if (!f->cursor)
		return 0;
	*t = (struct ww_interval){f->b.lo_ns[f->at], f->b.hi_ns[f->at]};
	return 1;
}

static int room(uint8_t **buf, size_t *cap, size_t n, struct ww_error *err)
{
	size_t more = *cap ? *cap : 4096;
	uint8_t *p;

	while (more < n)
		more *= 2;
	if (more == *cap)
		return 0;
	p = realloc(*buf, more);
	if (!p)
		return ww_fail_nomem(err);
	*buf = p;
	*cap = more;
	return 0;
}

/* Bytes of the batch at hand that one row of this time may give. */
static size_t run_of(const struct ww_feed *f, int64_t hi_ns, uint64_t n)
{
	size_t k = 0;

	while (k < n && f->at + k < f->b.n && f->b.hi_ns[f->at + k] == hi_ns)
		k++;
	return k;
}

int ww_feed_take(struct ww_feed *f, int64_t hi_ns, uint64_t n, uint8_t **buf, size_t *cap,
		 size_t *got, struct ww_error *err)
{
	struct ww_interval t;
	int rc = 1;

	*got = 0;
	while (*got < n && (rc = ww_feed_peek(f, &t, err)) > 0) {
		size_t k = run_of(f, hi_ns, n - *got);

		if (!k)
			break;
		if (room(buf, cap, *got + k + 1, err) < 0)
			return -ENOMEM;
		memcpy(*buf + *got, f->b.data + f->at, k);
		*got += k;
		f->at += k;
	}
	return rc < 0 ? rc : 0;
}

int ww_feed_turn(struct ww_feed *f, struct ww_turn_record *out, uint8_t **buf, size_t *cap,
		 struct ww_error *err)
{
	uint8_t head[WW_TURN_HEAD];
	struct ww_interval row, t;
	size_t n = 0, got;
	ssize_t k = 0;
	int rc;

	rc = ww_feed_peek(f, &row, err);
	if (rc <= 0)
		return rc;
	while (k == 0 && n < sizeof(head)) {
		rc = ww_feed_peek(f, &t, err);
		if (rc < 0 || rc == 0 || t.hi_ns != row.hi_ns)
			break;
		head[n++] = f->b.data[f->at++];
		k = ww_turn_get(head, n, row.hi_ns, out);
	}
	if (rc < 0)
		return rc;
	if (k <= 0)
		return ww_fail(err, -EPROTO, "its turns are damaged at %lld ns",
			       (long long)row.hi_ns);
	if (!ww_turn_has_text(out->turn))
		return 1;
	rc = room(buf, cap, 1, err);
	if (rc == 0)
		rc = ww_feed_take(f, row.hi_ns, out->n, buf, cap, &got, err);
	if (rc == 0 && got < out->n)
		rc = ww_fail(err, -EPROTO, "its turns are damaged at %lld ns",
			     (long long)row.hi_ns);
	return rc < 0 ? rc : 1;
}
