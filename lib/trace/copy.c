/* SPDX-License-Identifier: MIT */
/* Parts of a trace that was read, into a writer. Over the public interface only. */
#include "trace/copy.h"

#define COMMIT_ROWS 1000000

/* Of the writer itself, not of what it writes. */
static bool is_writers(const char *key)
{
	static const char *const keys[] = {"state", "library", "program", "command", "warning"};

	for (size_t i = 0; i < WW_COUNTOF(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return strncmp(key, "recorder.", 9) == 0;
}

int ww_copy_heads(const struct ww_trace *t, struct ww_writer *w, struct ww_error *err)
{
	const char *key, *value;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && ww_trace_meta_at(t, i, &key, &value); i++)
		if (!is_writers(key))
			rc = ww_writer_meta(w, key, value, err);
	for (size_t i = 0; rc >= 0 && i < ww_trace_anchor_count(t); i++)
		rc = ww_writer_anchor(w, ww_trace_anchor(t, i), err);
	return rc;
}

/* Bytes that one read delivered have one interval. */
static int store_bytes(struct ww_writer *w, uint32_t source, const struct ww_batch *b,
		       struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0, k; rc >= 0 && i < b->n; i = k) {
		struct ww_interval t = {b->lo_ns[i], b->hi_ns[i]};

		for (k = i + 1; k < b->n && b->lo_ns[k] == t.lo_ns && b->hi_ns[k] == t.hi_ns;)
			k++;
		rc = ww_writer_bytes(w, source, t, b->data + i, k - i, err);
	}
	return rc;
}

static int store_samples(struct ww_writer *w, uint32_t source, const struct ww_batch *b,
			 struct ww_error *err)
{
	int64_t *codes = malloc(b->n * b->channels * sizeof(*codes));
	int rc;

	if (!codes)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < b->n; i++)
		for (size_t c = 0; c < b->channels; c++)
			codes[i * b->channels + c] = b->codes[c][i];
	rc = ww_writer_samples(w, source, b->n, b->lo_ns, b->hi_ns, codes, err);
	free(codes);
	return rc;
}

int64_t ww_copy_rows(struct ww_trace *t, uint32_t id, uint32_t to, struct ww_writer *w,
		     struct ww_error *err)
{
	struct ww_cursor *c;
	struct ww_batch b;
	int64_t rows = 0, last = 0;
	int rc = ww_cursor_open(t, id, WW_TIME_MIN, WW_TIME_MAX, WW_CURSOR_SURE, &c, err);

	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(c, &b, err)) > 0) {
		rc = b.data ? store_bytes(w, to, &b, err) : store_samples(w, to, &b, err);
		rows += (int64_t)b.n;
		if (rc >= 0 && rows - last >= COMMIT_ROWS) {
			rc = ww_writer_commit(w, err);
			last = rows;
		}
		if (rc < 0)
			break;
	}
	ww_cursor_close(c);
	return rc < 0 ? rc : rows;
}
