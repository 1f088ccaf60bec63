/* SPDX-License-Identifier: MIT */
/* What a writer that goes on with a trace has to know of what is there. */
#include "trace/trace.h"

static int add_source(struct ww_writer *w, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_wsource **list = realloc(w->source,
					   (w->sources + 1) * sizeof(struct ww_wsource *)),
			  *s;

	if (!list)
		return ww_fail_nomem(err);
	w->source = list;
	if (sqlite3_column_int64(st, 0) != (int64_t)w->sources + 1)
		return ww_fail(err, -EBADMSG, "%s: its sources are not numbered from 1", w->path);
	s = calloc(1, sizeof(*s));
	if (s)
		s->name = strdup(ww_db_text(st, 2));
	if (!s || !s->name) {
		free(s);
		return ww_fail_nomem(err);
	}
	s->id = (uint32_t)w->sources + 1;
	s->kind = sqlite3_column_int(st, 1);
	s->char_ns = sqlite3_column_int64(st, 3);
	s->last_hi =
		sqlite3_column_type(st, 4) == SQLITE_NULL ? INT64_MIN : sqlite3_column_int64(st, 4);
	s->first = sqlite3_column_int64(st, 5);
	list[w->sources++] = s;
	return 0;
}

static int add_channel(struct ww_writer *w, sqlite3_stmt *st, struct ww_error *err)
{
	int64_t source = sqlite3_column_int64(st, 1);
	struct ww_wsource *s;
	struct ww_digits *d;

	if (source < 1 || source > (int64_t)w->sources ||
	    sqlite3_column_int64(st, 0) != (int64_t)w->channels + 1)
		return ww_fail(err, -EBADMSG, "%s: its channels are not numbered from 1", w->path);
	s = w->source[source - 1];
	if (s->channels == WW_CHANNELS_MAX)
		return ww_fail(err, -EBADMSG, "%s: source %s has too many channels", w->path,
			       s->name);
	d = realloc(s->digits, (s->channels + 1) * sizeof(*d));
	if (!d)
		return ww_fail_nomem(err);
	s->digits = d;
	d[s->channels++] = ww_digits_of(sqlite3_column_double(st, 2), sqlite3_column_double(st, 3),
					sqlite3_column_double(st, 4));
	w->channels++;
	return 0;
}

static int each(struct ww_writer *w, const char *sql,
		int (*take)(struct ww_writer *w, sqlite3_stmt *st, struct ww_error *err),
		struct ww_error *err)
{
	sqlite3_stmt *st = NULL;
	int rc = ww_db_prepare(w->db, w->path, sql, &st, err), code = SQLITE_DONE;

	while (rc == 0 && (code = sqlite3_step(st)) == SQLITE_ROW)
		rc = take(w, st, err);
	if (rc == 0 && code != SQLITE_DONE)
		rc = ww_db_fail(w->db, w->path, err);
	sqlite3_finalize(st);
	return rc;
}

int ww_wknown_load(struct ww_writer *w, struct ww_error *err)
{
	int rc = each(w,
		      "SELECT id, kind, name, transport_char_ns,"
		      " (SELECT max(hi) FROM block WHERE source = source.id),"
		      " coalesce((SELECT max(first + n) FROM block WHERE source = source.id), 0)"
		      " FROM source ORDER BY id",
		      add_source, err);

	if (rc == 0)
		rc = each(w,
			  "SELECT id, source, scale, offset, resolution FROM channel ORDER BY id",
			  add_channel, err);
	for (size_t i = 0; rc == 0 && i < w->sources; i++) {
		struct ww_wsource *s = w->source[i];

		/* The next rows begin a block of their own. */
		if (s->kind == WW_SERIAL || s->channels)
			rc = ww_rows_init(&s->tail, s->kind == WW_SERIAL, s->channels, err);
		s->started = rc == 0 && (s->kind == WW_SERIAL || s->channels);
	}
	return rc;
}

/* The same quantities in the same codes: then rows of both belong together. */
static bool same_channels(struct ww_writer *w, uint32_t source, const struct ww_channel_info *c,
			  size_t n, uint32_t *first)
{
	sqlite3_stmt *st = NULL;
	size_t i = 0;
	bool same = ww_db_prepare(w->db, w->path,
				  "SELECT id, name, unit, scale, offset FROM channel"
				  " WHERE source = ? ORDER BY id",
				  &st, NULL) == 0;

	*first = 0;
	if (same)
		sqlite3_bind_int64(st, 1, source);
	for (; same && sqlite3_step(st) == SQLITE_ROW; i++) {
		double scale = i < n && c[i].scale != 0.0 ? c[i].scale : 1.0;

		if (i == 0)
			*first = (uint32_t)sqlite3_column_int64(st, 0);
		same = i < n && strcmp(ww_db_text(st, 1), c[i].name) == 0 &&
		       strcmp(ww_db_text(st, 2), c[i].unit) == 0 &&
		       sqlite3_column_double(st, 3) == scale &&
		       sqlite3_column_double(st, 4) == c[i].offset;
	}
	sqlite3_finalize(st);
	return same && i == n;
}

int ww_writer_known(struct ww_writer *w, const struct ww_source_info *info,
		    const struct ww_channel_info *c, size_t n, uint32_t *channel,
		    struct ww_error *err)
{
	for (size_t i = 0; i < w->sources; i++) {
		struct ww_wsource *s = w->source[i];

		if (strcmp(s->name, info->name) != 0)
			continue;
		if (s->kind == info->kind && same_channels(w, s->id, c, n, channel))
			return (int)s->id;
		return ww_fail(err, -EINVAL,
			       "%s: its source %s is another one than %s: go on with the sources "
			       "of the first recording",
			       w->path, s->name, info->uri);
	}
	return 0;
}

struct ww_source_info ww_wknown_full(const struct ww_source_info *in, uint32_t id)
{
	struct ww_source_info s = *in;
	const char **text[] = {&s.name,
			       &s.uri,
			       &s.driver,
			       &s.model,
			       &s.serial,
			       &s.firmware,
			       &s.notes,
			       &s.transport.name,
			       &s.transport.settings};

	for (size_t i = 0; i < WW_COUNTOF(text); i++)
		if (!*text[i])
			*text[i] = "";
	s.id = id;
	return s;
}
