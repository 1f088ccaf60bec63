/* SPDX-License-Identifier: MIT */
/* What a trace describes, taken from its tables in one short read transaction. */
#include "trace/trace.h"

#include <math.h>

/* Room for the rows of a table that cannot be counted. */
#define DAMAGED_ROWS 256

static double number(sqlite3_stmt *st, int column)
{
	return sqlite3_column_type(st, column) == SQLITE_NULL ? (double)NAN
							      : sqlite3_column_double(st, column);
}

/* Room for one more at the end of a list that doubles. */
void *ww_list_room(void *list, size_t n, size_t each, struct ww_error *err)
{
	void *p = list;

	if ((n & (n - 1)) == 0) /* 0, 1, 2, 4, ...: full */
		p = realloc(list, (n ? 2 * n : 1) * each);
	if (!p)
		ww_fail_nomem(err);
	return p;
}

typedef int take_fn(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err);

static int each_row(struct ww_trace *t, const char *sql, int64_t after, take_fn *take,
		    struct ww_error *err)
{
	sqlite3_stmt *st = NULL;
	int code, rc = ww_db_prepare(t->db, t->path, sql, &st, err);

	if (rc < 0)
		return rc;
	if (sqlite3_bind_parameter_count(st) > 0)
		sqlite3_bind_int64(st, 1, after);
	while ((code = sqlite3_step(st)) == SQLITE_ROW && rc == 0)
		rc = take(t, st, err);
	if (rc == 0 && code != SQLITE_DONE)
		rc = ww_db_fail(t->db, t->path, err);
	sqlite3_finalize(st);
	return rc;
}

/* What describes, but is not needed to read: the rows of a damaged table that can be had. */
static int each_row_there(struct ww_trace *t, const char *what, const char *sql, int64_t after,
			  take_fn *take, struct ww_error *err)
{
	struct ww_error why = {0};
	int rc = each_row(t, sql, after, take, &why);

	if (rc == -EBADMSG)
		return ww_trace_warn(t, what, why.text + strlen(t->path) + 2, err);
	return rc < 0 ? ww_fail(err, rc, "%s", why.text) : rc;
}

static int copy_texts(struct ww_arena *a, sqlite3_stmt *st, const char **const *to,
		      const int *column, size_t n, struct ww_error *err)
{
	for (size_t i = 0; i < n; i++) {
		*to[i] = ww_arena_text(a, ww_db_text(st, column[i]));
		if (!*to[i])
			return ww_fail_nomem(err);
	}
	return 0;
}

/* A list in the arena with room for what the table holds now. */
static void *list_for(struct ww_trace *t, const char *count_sql, size_t each, size_t *cap)
{
	int64_t n = ww_db_int(t->db, count_sql, DAMAGED_ROWS);

	if (n < 0 || n > UINT32_MAX / 2)
		return NULL;
	*cap = (size_t)n;
	return ww_arena_get(&t->fixed, ((size_t)n + 1) * each);
}

/* A damaged file may count fewer rows, by an index, than its table then gives. */
static int check_room(const struct ww_trace *t, size_t n, size_t cap, const char *table,
		      struct ww_error *err)
{
	return n < cap ? 0
		       : ww_fail(err, -EBADMSG, "%s: table %s has more rows than it counts",
				 t->path, table);
}

static int take_source(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_source_info *s = &t->source[t->sources];
	const char **text[] = {&s->name,	   &s->uri,
			       &s->driver,	   &s->model,
			       &s->serial,	   &s->firmware,
			       &s->notes,	   &s->role,
			       &s->transport.name, &s->transport.settings};
	static const int column[] = {2, 3, 4, 5, 6, 7, 8, 9, 14, 18};

	if (check_room(t, t->sources, t->source_cap, "source", err) < 0)
		return -EBADMSG;
	s->id = (uint32_t)sqlite3_column_int64(st, 0);
	s->kind = sqlite3_column_int(st, 1);
	s->period_ns = sqlite3_column_int64(st, 10);
	s->window_ns = sqlite3_column_int64(st, 11);
	s->delay_min_ns = sqlite3_column_int64(st, 12);
	s->delay_max_ns = sqlite3_column_int64(st, 13);
	s->transport.delay_min_ns = sqlite3_column_int64(st, 15);
	s->transport.delay_max_ns = sqlite3_column_int64(st, 16);
	s->transport.char_ns = sqlite3_column_int64(st, 17);
	t->sources++;
	return copy_texts(&t->fixed, st, text, column, WW_COUNTOF(text), err);
}

static int take_channel(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_channel_info *c = &t->channel[t->channels];
	const char **text[] = {&c->name, &c->quantity, &c->unit};
	static const int column[] = {2, 3, 4};

	if (check_room(t, t->channels, t->channel_cap, "channel", err) < 0)
		return -EBADMSG;
	c->id = (uint32_t)sqlite3_column_int64(st, 0);
	c->source = (uint32_t)sqlite3_column_int64(st, 1);
	c->semantics = sqlite3_column_int(st, 5);
	c->scale = sqlite3_column_double(st, 6);
	c->offset = sqlite3_column_double(st, 7);
	c->resolution = sqlite3_column_double(st, 8);
	c->acc_abs = number(st, 9);
	c->acc_rel = number(st, 10);
	c->wrap = sqlite3_column_double(st, 11);
	t->channels++;
	return copy_texts(&t->fixed, st, text, column, WW_COUNTOF(text), err);
}

static int take_meta(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_meta *m = &t->meta[t->metas];
	const char **text[] = {&m->key, &m->value};
	static const int column[] = {0, 1};

	if (check_room(t, t->metas, t->meta_cap, "meta", err) < 0)
		return -EBADMSG;
	t->metas++;
	return copy_texts(&t->fixed, st, text, column, WW_COUNTOF(text), err);
}

static int load_fixed(struct ww_trace *t, struct ww_error *err)
{
	int rc;

	t->sources = t->channels = t->metas = 0;
	t->source = list_for(t, "SELECT count(*) FROM source", sizeof(*t->source), &t->source_cap);
	t->channel =
		list_for(t, "SELECT count(*) FROM channel", sizeof(*t->channel), &t->channel_cap);
	t->meta = list_for(t, "SELECT count(*) FROM meta", sizeof(*t->meta), &t->meta_cap);
	if (!t->source || !t->channel || !t->meta)
		return ww_fail_nomem(err);
	rc = each_row(t,
		      "SELECT id, kind, name, uri, driver, model, serial, firmware, notes, role,"
		      " period_ns, window_ns, delay_min_ns, delay_max_ns, transport,"
		      " transport_delay_min_ns, transport_delay_max_ns, transport_char_ns,"
		      " transport_settings FROM source ORDER BY id",
		      0, take_source, err);
	if (rc == 0)
		rc = each_row(t,
			      "SELECT id, source, name, quantity, unit, semantics, scale, offset,"
			      " resolution, acc_abs, acc_rel, wrap FROM channel ORDER BY id",
			      0, take_channel, err);
	if (rc == 0)
		rc = each_row_there(t, "meta", "SELECT key, value FROM meta ORDER BY key", 0,
				    take_meta, err);
	return rc;
}

/* The old descriptions stay whole if the new ones cannot be had. */
static int reload_fixed(struct ww_trace *t, struct ww_error *err)
{
	struct ww_trace old = *t;
	int rc;

	t->fixed = (struct ww_arena){0};
	rc = load_fixed(t, err);
	if (rc == 0) {
		ww_arena_free(&old.fixed);
		return 0;
	}
	ww_arena_free(&t->fixed);
	t->fixed = old.fixed;
	t->source = old.source;
	t->sources = old.sources;
	t->channel = old.channel;
	t->channels = old.channels;
	t->meta = old.meta;
	t->metas = old.metas;
	return rc;
}

/* Ends that are open do not stretch the span. */
void ww_trace_stretch(struct ww_trace *t, int64_t lo, int64_t hi)
{
	struct ww_interval *s = &t->span;
	int64_t a = lo == WW_TIME_MIN ? hi : lo, b = hi == WW_TIME_MAX ? lo : hi;

	if (a == WW_TIME_MAX || b == WW_TIME_MIN)
		return;
	if (s->lo_ns > s->hi_ns) {
		*s = (struct ww_interval){a, b};
		return;
	}
	s->lo_ns = a < s->lo_ns ? a : s->lo_ns;
	s->hi_ns = b > s->hi_ns ? b : s->hi_ns;
}

static int take_mark(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_mark *list = ww_list_room(t->mark, t->marks, sizeof(*list), err), *m;

	if (!list)
		return -ENOMEM;
	t->mark = list;
	m = &list[t->marks];
	m->t.lo_ns = sqlite3_column_int64(st, 1);
	m->t.hi_ns = sqlite3_column_int64(st, 2);
	m->source = (uint32_t)sqlite3_column_int64(st, 3);
	m->cycle = (uint32_t)sqlite3_column_int64(st, 4);
	m->kind = ww_arena_text(&t->grown, ww_db_text(st, 5));
	m->text = ww_arena_text(&t->grown, ww_db_text(st, 6));
	if (!m->kind || !m->text)
		return ww_fail_nomem(err);
	ww_trace_stretch(t, m->t.lo_ns, m->t.hi_ns);
	t->mark_id = sqlite3_column_int64(st, 0);
	t->marks++;
	return 0;
}

int ww_trace_add_gap(struct ww_trace *t, const struct ww_gap *gap, struct ww_error *err)
{
	struct ww_gap *list = ww_list_room(t->gap, t->gaps, sizeof(*list), err), *g;

	if (!list)
		return -ENOMEM;
	t->gap = list;
	g = &list[t->gaps];
	*g = *gap;
	g->reason = ww_arena_text(&t->grown, gap->reason);
	if (!g->reason)
		return ww_fail_nomem(err);
	ww_trace_stretch(t, g->t.lo_ns, g->t.hi_ns);
	t->gaps++;
	return 0;
}

static int take_gap(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_gap g = {.source = (uint32_t)sqlite3_column_int64(st, 1),
			   .t = {sqlite3_column_int64(st, 2), sqlite3_column_int64(st, 3)},
			   .lost = sqlite3_column_int64(st, 4),
			   .reason = ww_db_text(st, 5)};
	int rc = ww_trace_add_gap(t, &g, err);

	if (rc == 0)
		t->gap_id = sqlite3_column_int64(st, 0);
	return rc;
}

static int take_anchor(struct ww_trace *t, sqlite3_stmt *st, struct ww_error *err)
{
	struct ww_anchor *list = ww_list_room(t->anchor, t->anchors, sizeof(*list), err), *a;

	if (!list)
		return -ENOMEM;
	t->anchor = list;
	a = &list[t->anchors];
	a->boot_ns = sqlite3_column_int64(st, 1);
	a->mono_ns = sqlite3_column_int64(st, 2);
	a->real_ns = sqlite3_column_int64(st, 3);
	a->width_ns = sqlite3_column_int64(st, 4);
	a->adj_state = sqlite3_column_int(st, 5);
	a->adj_freq_ppb = sqlite3_column_int(st, 6);
	a->adj_maxerror_ns = sqlite3_column_int64(st, 7);
	t->anchor_id = sqlite3_column_int64(st, 0);
	t->anchors++;
	return 0;
}

static int load_grown(struct ww_trace *t, struct ww_error *err)
{
	int rc =
		each_row_there(t, "mark",
			       "SELECT id, lo, hi, source, cycle, kind, text FROM mark WHERE id > ?"
			       " ORDER BY id",
			       t->mark_id, take_mark, err);

	if (rc == 0)
		rc = each_row_there(t, "gap",
				    "SELECT id, source, lo, hi, lost, reason FROM gap WHERE id > ?"
				    " ORDER BY id",
				    t->gap_id, take_gap, err);
	if (rc == 0)
		rc = each_row_there(
			t, "clock",
			"SELECT id, boot_ns, mono_ns, real_ns, width_ns, adj_state,"
			" adj_freq_ppb, adj_maxerror_ns FROM clock WHERE id > ? ORDER BY id",
			t->anchor_id, take_anchor, err);
	return rc;
}

/* Every part of it only grows, so it changes when anything is new. */
static uint64_t amount(const struct ww_trace *t)
{
	uint64_t n = t->sources + t->channels + t->metas + t->marks + t->gaps + t->anchors;

	for (size_t i = 0; i < t->extents; i++)
		n += (uint64_t)t->extent[i].rows;
	return n;
}

/* `lives` was asked before the last load, so that no last commit can have been missed. */
static void find_state(struct ww_trace *t, bool lives)
{
	const char *state = ww_trace_meta(t, WW_META_STATE);

	if (t->memory)
		return;
	if (state && strcmp(state, WW_STATE_CLOSED) == 0)
		t->state = WW_TRACE_CLOSED;
	else if (state && strcmp(state, WW_STATE_LIVE) == 0 && lives)
		t->state = WW_TRACE_LIVE;
	else
		t->state = WW_TRACE_UNCLOSED;
}

/* Did another connection commit since the last look? */
static int has_changed(struct ww_trace *t, struct ww_error *err)
{
	int64_t version = -2;
	int rc = 0;

	if (t->memory)
		return 1;
	if (!t->changed) {
		rc = ww_db_prepare(t->db, t->path, "PRAGMA data_version", &t->changed, err);
		t->version = -1;
	}
	if (rc < 0)
		return rc;
	if (sqlite3_step(t->changed) == SQLITE_ROW)
		version = sqlite3_column_int64(t->changed, 0);
	sqlite3_reset(t->changed);
	rc = version != t->version;
	t->version = version;
	return rc;
}

int ww_trace_load(struct ww_trace *t, struct ww_error *err)
{
	uint64_t before = amount(t);
	bool lives = !t->memory && ww_recorder_lives(t->db);
	int state = t->state, rc = has_changed(t, err);

	if (rc < 0)
		return rc;
	if (rc == 0) {
		find_state(t, lives);
		return t->state != state;
	}
	rc = ww_db_exec(t->db, t->path, "BEGIN", err);
	if (rc < 0)
		return rc;
	rc = reload_fixed(t, err);
	if (rc == 0)
		rc = load_grown(t, err);
	if (rc == 0)
		rc = ww_extents_load(t, err);
	sqlite3_exec(t->db, "COMMIT", NULL, NULL, NULL);
	if (rc < 0) {
		t->version = -1;
		return rc;
	}
	find_state(t, lives);
	return amount(t) != before || t->state != state;
}
