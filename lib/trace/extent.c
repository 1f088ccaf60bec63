/* SPDX-License-Identifier: MIT */
/*
 * How far the rows of each source go, and which of them cannot be read. A damaged block
 * takes nothing with it but its own rows: they become a gap.
 */
#include "trace/trace.h"

#include "base/str.h"

struct look {
	struct ww_trace *t;
	const struct ww_source_info *source;
	struct ww_extent *e;
	sqlite3_stmt *heads;
	sqlite3_stmt *fetch;
	struct ww_rows rows;
	/* Rows found damaged whose end is not yet known: the next block tells. */
	bool open;
	struct ww_damage bad;
	struct ww_gap gap;
};

int64_t ww_damage_pass(const struct ww_trace *t, uint32_t source, int64_t pos)
{
	for (size_t i = 0; i < t->damages; i++)
		if (t->damage[i].source == source && pos >= t->damage[i].first &&
		    pos < t->damage[i].end)
			pos = t->damage[i].end;
	return pos;
}

int ww_trace_warn(struct ww_trace *t, const char *table, const char *why, struct ww_error *err)
{
	struct ww_damage *list = ww_list_room(t->damage, t->damages, sizeof(*list), err);
	struct ww_str s = {0};
	int rc = 0;

	if (!list)
		return -ENOMEM;
	t->damage = list;
	ww_str_addf(&s, "not all of the table %s can be read: %s", table, why);
	for (size_t i = 0; i < t->damages && !s.bad; i++)
		if (list[i].source == 0 && strcmp(list[i].text, s.p) == 0) {
			ww_str_free(&s);
			return 0;
		}
	list[t->damages] = (struct ww_damage){0};
	list[t->damages].text = s.bad ? NULL : ww_arena_text(&t->grown, s.p);
	if (list[t->damages].text)
		t->damages++;
	else
		rc = ww_fail_nomem(err);
	ww_str_free(&s);
	return rc;
}

/* The damage ends here: the next sound block begins, or nothing more is there. */
static int end_damage(struct look *l, const struct ww_block_head *next, struct ww_error *err)
{
	struct ww_trace *t = l->t;
	struct ww_damage *list;
	struct ww_interval inner = l->gap.t;
	int rc;

	if (!l->open)
		return 0;
	l->open = false;
	if (next)
		l->gap.t.hi_ns = next->lo;
	if (l->e->heard)
		l->gap.t.lo_ns = l->e->heard_ns;
	if (!ww_iv_ok(l->gap.t))
		l->gap.t = inner;
	if (!ww_iv_ok(l->gap.t))
		l->gap.t.hi_ns = l->gap.t.lo_ns;
	list = ww_list_room(t->damage, t->damages, sizeof(*list), err);
	if (!list)
		return -ENOMEM;
	t->damage = list;
	l->bad.gap = t->gaps;
	rc = ww_trace_add_gap(t, &l->gap, err);
	if (rc == 0)
		list[t->damages++] = l->bad;
	return rc;
}

/* Rows [first, end) cannot be read; lost: items, -1 unknown. */
static int add_damage(struct look *l, int64_t first, int64_t end, int64_t lost,
		      struct ww_interval t, const char *why, struct ww_error *err)
{
	if (l->open) {
		l->bad.end = end;
		l->gap.t.hi_ns = t.hi_ns;
		l->gap.lost = lost < 0 || l->gap.lost < 0 ? -1 : ww_add_sat(l->gap.lost, lost);
		return 0;
	}
	l->bad = (struct ww_damage){.source = l->source->id, .first = first, .end = end};
	l->bad.why = ww_arena_text(&l->t->grown, why);
	if (!l->bad.why)
		return ww_fail_nomem(err);
	l->gap = (struct ww_gap){.t = t,
				 .source = l->source->id,
				 .lost = lost,
				 .reason = WW_GAP_DAMAGED};
	l->open = true;
	return 0;
}

/* @return 1 it can be read, 0 it is damaged and `why` says how, negative error */
static int check_block(struct look *l, const struct ww_block_head *h, struct ww_error *why,
		       struct ww_error *err)
{
	struct ww_block_head same;
	int rc = ww_fetch_block(l->fetch, l->t->path, l->t->codec, l->source->id, h->first, &same,
				&l->rows, why);

	if (rc == 0)
		ww_fail(why, -EBADMSG, "%s: block %lld: damaged block: no rows", l->t->path,
			(long long)h->id);
	if (rc == 0 || rc == -EBADMSG || rc == -EIO)
		return 0;
	return rc < 0 ? ww_fail(err, rc, "%s", why->text) : 1;
}

static int look_at_block(struct look *l, const struct ww_block_head *h, struct ww_error *err)
{
	struct ww_extent *e = l->e;
	bool again = e->rows > 0 && h->first == e->tail_first;
	bool whole = h->n >= 1 && h->n <= WW_BLOCK_ROWS;
	struct ww_error why = {0};
	int rc, sound;

	/* What was found damaged stays so, also where the last block is written again. */
	if (again && e->tail_bad)
		return 0;
	sound = whole ? check_block(l, h, &why, err) : 0;
	if (sound < 0)
		return sound;
	if (l->open)
		l->bad.end = h->first;
	else if (h->first > e->rows &&
		 (rc = add_damage(l, e->rows, h->first, -1, (struct ww_interval){h->lo, h->lo},
				  "rows are missing", err)) < 0)
		return rc;
	if (!again)
		e->tail_items = e->items;
	e->tail_first = h->first;
	e->tail_bad = !sound;
	e->rows = ww_add_sat(h->first, whole ? h->n : 1);
	e->items = ww_add_sat(e->tail_items, sound ? h->items : 0);
	ww_trace_stretch(l->t, h->lo, h->hi);
	if (!sound)
		return add_damage(l, h->first, e->rows, whole && h->items >= h->n ? h->items : -1,
				  (struct ww_interval){h->lo, h->hi},
				  why.code ? why.text + strlen(l->t->path) + 2 : "no rows", err);
	rc = end_damage(l, h, err);
	e->heard = true;
	e->heard_ns = h->hi;
	return rc;
}

static int look_at_source(struct look *l, struct ww_error *err)
{
	size_t channels = 0;
	int code, rc;

	for (size_t i = 0; i < l->t->channels; i++)
		channels += l->t->channel[i].source == l->source->id;
	if (channels > WW_CHANNELS_MAX)
		channels = WW_CHANNELS_MAX;
	rc = ww_rows_init(&l->rows, l->source->kind == WW_SERIAL, channels, err);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(l->heads, 1, l->source->id);
	sqlite3_bind_int64(l->heads, 2, l->e->tail_first);
	while (rc == 0 && (code = sqlite3_step(l->heads)) == SQLITE_ROW) {
		struct ww_block_head h;

		ww_block_head_read(l->heads, &h);
		rc = look_at_block(l, &h, err);
	}
	if (rc == 0 && code != SQLITE_DONE)
		rc = ww_db_fail(l->t->db, l->t->path, err);
	sqlite3_reset(l->heads);
	if (rc == 0)
		rc = end_damage(l, NULL, err);
	ww_rows_free(&l->rows);
	return rc;
}

static void add_seconds(struct ww_str *s, const struct ww_trace *t, int64_t at, const char *word)
{
	if (at == WW_TIME_MIN || at == WW_TIME_MAX || !ww_iv_ok(t->span))
		return;
	ww_str_add(s, word);
	ww_str_fixed(s, ((double)at - (double)t->span.lo_ns) / 1e9, 3);
	ww_str_add(s, " s");
}

/* The sentences, now that the times have an origin. */
static int describe(struct ww_trace *t, struct ww_error *err)
{
	struct ww_str s = {0};
	int rc = 0;

	for (size_t i = 0; i < t->damages && rc == 0; i++) {
		struct ww_damage *d = &t->damage[i];
		const struct ww_gap *g = &t->gap[d->gap];
		const struct ww_source_info *info = ww_trace_source_by_id(t, d->source, NULL);

		if (d->text)
			continue;
		ww_str_reset(&s);
		if (g->lost >= 0)
			ww_str_addf(&s, "%lld ", (long long)g->lost);
		ww_str_addf(&s, "%s of %s", info && info->kind == WW_SERIAL ? "bytes" : "rows",
			    info ? info->name : "a source");
		add_seconds(&s, t, g->t.lo_ns, " from ");
		add_seconds(&s, t, g->t.hi_ns, " to ");
		ww_str_addf(&s, " cannot be read: %s", d->why);
		d->text = s.bad ? NULL : ww_arena_text(&t->grown, s.p);
		if (!d->text)
			rc = ww_fail_nomem(err);
	}
	ww_str_free(&s);
	return rc;
}

int ww_extents_load(struct ww_trace *t, struct ww_error *err)
{
	struct ww_extent *list = realloc(t->extent, (t->sources + 1) * sizeof(*list));
	struct look l = {.t = t};
	int rc;

	if (!list)
		return ww_fail_nomem(err);
	t->extent = list;
	for (; t->extents < t->sources; t->extents++)
		list[t->extents] = (struct ww_extent){0};
	rc = ww_db_prepare(t->db, t->path,
			   "SELECT " WW_BLOCK_HEAD " FROM block WHERE source = ?1 AND first >= ?2"
			   " ORDER BY first",
			   &l.heads, err);
	if (rc == 0)
		rc = ww_db_prepare(t->db, t->path, WW_FETCH_SQL, &l.fetch, err);
	for (size_t i = 0; rc == 0 && i < t->sources; i++) {
		l.source = &t->source[i];
		l.e = &list[i];
		rc = look_at_source(&l, err);
	}
	sqlite3_finalize(l.heads);
	sqlite3_finalize(l.fetch);
	return rc < 0 ? rc : describe(t, err);
}
