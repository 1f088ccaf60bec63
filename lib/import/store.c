/* SPDX-License-Identifier: MIT */
/* A trace that was read, from wherever, into a file. */
#include "trace/copy.h"

static int store_heads(const struct ww_trace *t, struct ww_writer *w, struct ww_error *err)
{
	int rc = ww_copy_heads(t, w, err);

	for (size_t i = 0; rc >= 0 && i < ww_trace_source_count(t); i++)
		rc = ww_writer_source(w, ww_trace_source(t, i), err);
	for (size_t i = 0; rc >= 0 && i < ww_trace_channel_count(t); i++)
		rc = ww_writer_channel(w, ww_trace_channel(t, i), err);
	return rc;
}

static int store_events(const struct ww_trace *t, struct ww_writer *w, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < ww_trace_mark_count(t); i++)
		rc = ww_writer_mark(w, ww_trace_mark(t, i), err);
	for (size_t i = 0; rc >= 0 && i < ww_trace_gap_count(t); i++)
		rc = ww_writer_gap(w, ww_trace_gap(t, i), err);
	return rc;
}

int64_t ww_import_store(struct ww_trace *t, const char *path, const struct ww_writer_options *opt,
			struct ww_error *err)
{
	struct ww_writer *w;
	int64_t rows = 0, n = 0;
	int rc = ww_writer_open(path, opt, &w, err), end;

	if (rc < 0)
		return rc;
	rc = store_heads(t, w, err);
	for (size_t i = 0; rc >= 0 && n >= 0 && i < ww_trace_source_count(t); i++) {
		n = ww_copy_rows(t, ww_trace_source(t, i)->id, (uint32_t)i + 1, w, err);
		rows += n;
	}
	if (n < 0)
		rc = (int)n;
	if (rc >= 0)
		rc = store_events(t, w, err);
	end = ww_writer_close(w, err);
	return rc < 0 ? rc : end < 0 ? end : rows;
}
