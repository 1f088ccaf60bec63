/* SPDX-License-Identifier: MIT */
/* A trace that is made here, in memory, instead of being read from a file or a stream. */
#include "trace/trace.h"

#include <stdio.h>

int ww_memory_new(const char *path, struct ww_trace **out, struct ww_writer **w,
		  struct ww_error *err)
{
	struct ww_trace *t;
	int rc = ww_trace_new(path, &t, err);

	if (rc < 0)
		return rc;
	t->memory = true;
	if (sqlite3_open_v2(":memory:", &t->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		rc = ww_db_fail(t->db, path, err);
	else
		rc = ww_writer_open_db(t->db, path, w, err);
	if (rc < 0) {
		ww_trace_close(t);
		return rc;
	}
	*out = t;
	return 0;
}

int ww_memory_done(struct ww_trace *t, struct ww_writer *w, struct ww_error *err)
{
	int rc = ww_writer_close(w, err);

	if (rc == 0)
		rc = ww_trace_load(t, err);
	if (rc < 0)
		return rc;
	t->state = WW_TRACE_CLOSED;
	return 0;
}

const char *ww_import_name(const struct ww_trace *t)
{
	return ww_trace_meta(t, WW_META_IMPORT);
}

const char *ww_import_note(const struct ww_trace *t, size_t i)
{
	char key[40];

	snprintf(key, sizeof(key), WW_META_IMPORT_NOTE "%02zu", i + 1);
	return ww_trace_meta(t, key);
}
