/* SPDX-License-Identifier: MIT */
/*
 * replay: one source of a trace once more, through the public reader. Times are
 * moved to now; gaps shrink with the pace, the widths of the stamps stay. speed=0 hands everything
 * over as fast as the loop turns; its last record then lies at the moment of the start.
 */
#include "source/source.h"

#include <stdio.h>

#define ROWS	  512
#define FOLLOW_NS (100 * WW_NS_PER_MS)
/* Records that fall due within this time go together. */
#define BATCH_NS (5 * WW_NS_PER_MS)

struct replay {
	struct ww_source base;
	struct ww_sink sink;
	struct ww_loop *loop;
	struct ww_timer *timer;
	struct ww_trace *trace;
	struct ww_cursor *cursor;
	char *uri;
	char *note;
	uint32_t id;	  /* of the source in the trace */
	size_t channels;  /* 0: bytes */
	double speed;	  /* 0: as fast as possible */
	int64_t first_ns; /* of the trace */
	int64_t last_ns;
	int64_t t0_ns; /* where first_ns comes to lie */
	struct ww_batch batch;
	size_t at; /* row of the batch that comes next */
	size_t mark, gap;
	struct ww_channel_info *info;
	int64_t *lo, *hi, *codes; /* ROWS each; codes ROWS * channels */
};

/* ------------------------------------------------------------------- times */

/* ns times a factor, as far as that goes. */
static int64_t stretched(int64_t ns, double factor)
{
	double v = (double)ns * factor;

	if (factor > 0 && (factor < 1 || factor > 1))
		return v > 4e18 ? WW_TIME_MAX / 2 : v < -4e18 ? WW_TIME_MIN / 2 : (int64_t)v;
	return ns;
}

/* A moment of the trace, now. Open ends stay open. */
static int64_t moved_to(const struct replay *s, int64_t t)
{
	if (t == WW_TIME_MIN || t == WW_TIME_MAX)
		return t;
	return ww_add_sat(s->t0_ns,
			  stretched(ww_add_sat(t, -s->first_ns), s->speed > 0 ? 1 / s->speed : 1));
}

/* How well a moment was known does not depend on the pace. */
static struct ww_interval moved(const struct replay *s, struct ww_interval t)
{
	struct ww_interval r = {moved_to(s, t.lo_ns), moved_to(s, t.hi_ns)};

	if (t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX)
		r.lo_ns = ww_add_sat(r.hi_ns, -ww_add_sat(t.hi_ns, -t.lo_ns));
	return r;
}

/* A gap is a stretch of time, which passes faster. */
static struct ww_interval moved_gap(const struct replay *s, const struct ww_gap *g)
{
	return (struct ww_interval){moved_to(s, g->t.lo_ns), moved_to(s, g->t.hi_ns)};
}

/* ----------------------------------------------------------------- records */

enum { NEXT_NONE, NEXT_ROWS, NEXT_MARK, NEXT_GAP };

static const struct ww_mark *next_mark(struct replay *s)
{
	const struct ww_mark *m;

	for (; (m = ww_trace_mark(s->trace, s->mark)); s->mark++)
		if (m->source == s->id || strcmp(m->kind, WW_MARK_LABEL) == 0)
			return m;
	return NULL;
}

static const struct ww_gap *next_gap(struct replay *s)
{
	const struct ww_gap *g;

	for (; (g = ww_trace_gap(s->trace, s->gap)); s->gap++)
		if (g->source == s->id)
			return g;
	return NULL;
}

/* When a gap is handed on: one that never ended, at its beginning. */
static int64_t gap_due(const struct ww_gap *g)
{
	return g->t.hi_ns == WW_TIME_MAX ? g->t.lo_ns : g->t.hi_ns;
}

/* What comes next, and the end of its interval in the trace; negative: error. */
static int find_next(struct replay *s, int64_t *hi_ns, struct ww_error *err)
{
	const struct ww_mark *m = next_mark(s);
	const struct ww_gap *g = next_gap(s);
	int what = NEXT_NONE;

	*hi_ns = WW_TIME_MAX;
	while (s->at == s->batch.n) {
		int rc = ww_cursor_next(s->cursor, &s->batch, err);

		s->at = 0;
		if (rc <= 0)
			s->batch.n = 0;
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
	}
	if (s->at < s->batch.n) {
		*hi_ns = s->batch.hi_ns[s->at];
		what = NEXT_ROWS;
	}
	if (m && m->t.hi_ns < *hi_ns) {
		*hi_ns = m->t.hi_ns;
		what = NEXT_MARK;
	}
	if (g && gap_due(g) <= *hi_ns) {
		*hi_ns = gap_due(g);
		what = NEXT_GAP;
	}
	return what;
}

/* Bytes of one interval were one read. */
static void give_bytes(struct replay *s, size_t n)
{
	const struct ww_batch *b = &s->batch;

	for (size_t i = s->at, k; i < s->at + n; i = k) {
		struct ww_interval t = {b->lo_ns[i], b->hi_ns[i]};

		for (k = i + 1; k < s->at + n; k++)
			if (b->lo_ns[k] != t.lo_ns || b->hi_ns[k] != t.hi_ns)
				break;
		s->sink.bytes(s->sink.ctx, moved(s, t), b->data + i, k - i);
	}
}

static void give_samples(struct replay *s, size_t n)
{
	const struct ww_batch *b = &s->batch;

	for (size_t i = 0; i < n; i++) {
		struct ww_interval t = {b->lo_ns[s->at + i], b->hi_ns[s->at + i]};

		t = moved(s, t);
		s->lo[i] = t.lo_ns;
		s->hi[i] = t.hi_ns;
		for (size_t c = 0; c < s->channels; c++)
			s->codes[i * s->channels + c] = b->codes[c][s->at + i];
	}
	s->sink.samples(s->sink.ctx, n, s->lo, s->hi, s->codes);
}

/* Rows up to the trace's time `to`, at most ROWS of them. */
static void give_rows(struct replay *s, int64_t to_ns)
{
	size_t n = 1;

	while (n < ROWS && s->at + n < s->batch.n && s->batch.hi_ns[s->at + n] <= to_ns)
		n++;
	if (s->channels)
		give_samples(s, n);
	else
		give_bytes(s, n);
	s->at += n;
}

/* The next mark or gap bounds how many rows may go together. */
static int64_t bound(struct replay *s, int64_t to_ns)
{
	const struct ww_mark *m = next_mark(s);
	const struct ww_gap *g = next_gap(s);

	if (m && m->t.hi_ns < to_ns)
		to_ns = m->t.hi_ns;
	/* The record that ended a gap comes after it. */
	if (g && gap_due(g) <= to_ns)
		to_ns = gap_due(g) - (gap_due(g) > WW_TIME_MIN);
	return to_ns;
}

static void give(struct replay *s, int what, int64_t to_ns)
{
	const struct ww_mark *m;
	const struct ww_gap *g;

	switch (what) {
	case NEXT_ROWS:
		give_rows(s, bound(s, to_ns));
		break;
	case NEXT_MARK:
		m = next_mark(s);
		s->mark++;
		s->sink.mark(s->sink.ctx, moved(s, m->t), m->kind, m->text);
		break;
	default:
		g = next_gap(s);
		s->gap++;
		s->sink.gap(s->sink.ctx, moved_gap(s, g), g->lost, g->reason);
	}
}

static void fail(struct replay *s, struct ww_error *err)
{
	struct ww_error why = {0};

	ww_fail(&why, err->code, "%s: %s", s->uri, err->text);
	s->sink.lost(s->sink.ctx, &why);
}

/* The trace has no more for now: it ends, or its recorder is still at work. */
static void at_end(struct replay *s, int64_t now_ns)
{
	struct ww_error err = {0};
	int rc = ww_trace_refresh(s->trace, &err);

	if (rc < 0)
		fail(s, &err);
	else if (rc > 0 && ww_trace_state(s->trace) == WW_TRACE_LIVE)
		ww_timer_set(s->timer, now_ns + FOLLOW_NS, 0);
	else
		s->sink.ended(s->sink.ctx);
}

static void on_timer(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct replay *s = ctx;
	struct ww_error err = {0};
	/* The moment of the trace that is now; all of it where there is no pace. */
	int64_t to = WW_TIME_MAX, due;
	int what;

	(void)late_ns;
	if (s->speed > 0)
		to = ww_add_sat(s->first_ns, stretched(now_ns - s->t0_ns, s->speed));
	for (unsigned turn = 0; turn < 64; turn++) {
		what = find_next(s, &due, &err);
		if (what < 0) {
			fail(s, &err);
			return;
		}
		if (what == NEXT_NONE) {
			at_end(s, now_ns);
			return;
		}
		if (due > to) {
			due = moved_to(s, due);
			ww_timer_set(s->timer, due > now_ns + BATCH_NS ? due : now_ns + BATCH_NS,
				     0);
			return;
		}
		give(s, what, to);
	}
	/* Others have their turn in between. */
	ww_timer_set(s->timer, now_ns, 0);
}

/* ---------------------------------------------------------------- the source */

static int replay_start(struct ww_source *base, struct ww_error *err)
{
	struct replay *s = (struct replay *)base;
	int64_t now = ww_loop_now(s->loop);

	(void)err;
	s->t0_ns = s->speed > 0 ? now : now - (s->last_ns - s->first_ns);
	ww_timer_set(s->timer, now, 0);
	return 0;
}

static int64_t replay_stop(struct ww_source *base)
{
	ww_timer_set(((struct replay *)base)->timer, WW_TIME_MAX, 0);
	return 0;
}

static void replay_close(struct ww_source *base)
{
	struct replay *s = (struct replay *)base;

	ww_timer_free(s->timer);
	ww_cursor_close(s->cursor);
	ww_trace_close(s->trace);
	free(s->info);
	free(s->lo);
	free(s->hi);
	free(s->codes);
	free(s->uri);
	free(s->note);
	free(s);
}

static const struct ww_source_ops replay_ops = {.start = replay_start,
						.stop = replay_stop,
						.close = replay_close};

/* By name, or the first meter, or the first source of any kind. */
static const struct ww_source_info *choose(struct replay *s, const char *name, struct ww_error *err)
{
	const struct ww_source_info *info, *best = NULL;

	for (size_t i = 0; (info = ww_trace_source(s->trace, i)); i++) {
		bool meter = info->kind == WW_METER;

		if (name ? strcmp(info->name, name) == 0
			 : !best || (meter && best->kind != WW_METER))
			best = info;
	}
	if (!best && name)
		ww_fail(err, -ENOENT, "%s: the trace has no source '%s' (see wwtrace info)", s->uri,
			name);
	else if (!best)
		ww_fail(err, -ENODATA, "%s: the trace has no sources", s->uri);
	return best;
}

static int copy_channels(struct replay *s, struct ww_error *err)
{
	size_t all = ww_trace_channel_count(s->trace);

	s->info = calloc(all + 1, sizeof(*s->info));
	if (!s->info)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < all; i++) {
		const struct ww_channel_info *c = ww_trace_channel(s->trace, i);

		if (c->source == s->id)
			s->info[s->channels++] = *c;
	}
	s->lo = calloc(ROWS, sizeof(*s->lo));
	s->hi = calloc(ROWS, sizeof(*s->hi));
	s->codes = calloc(ROWS * (s->channels + 1), sizeof(*s->codes));
	return s->lo && s->hi && s->codes ? 0 : ww_fail_nomem(err);
}

static int note(struct replay *s, const struct ww_source_info *info, struct ww_error *err)
{
	size_t n = strlen(info->name) + strlen(ww_trace_path(s->trace)) + strlen(info->notes) + 64;

	s->note = malloc(n);
	if (!s->note)
		return ww_fail_nomem(err);
	snprintf(s->note, n, "replay of %s in %s%s%s", info->name, ww_trace_path(s->trace),
		 *info->notes ? ": " : "", info->notes);
	return 0;
}

static void find_span(struct replay *s)
{
	struct ww_interval span = ww_trace_span(s->trace);
	const struct ww_anchor *a = ww_trace_anchor(s->trace, 0);

	if (!ww_iv_ok(span))
		return;
	s->first_ns = span.lo_ns;
	s->last_ns = span.hi_ns;
	/* A first byte may have an open beginning. */
	if (span.lo_ns == WW_TIME_MIN)
		s->first_ns = a && a->boot_ns < span.hi_ns ? a->boot_ns : span.hi_ns;
}

static int open_parts(struct replay *s, struct ww_uri *uri, struct ww_error *err)
{
	const char *name = ww_uri_get(uri, "source", NULL);
	const struct ww_source_info *found;
	struct ww_source_info info;
	int rc;

	if (!s->uri)
		return ww_fail_nomem(err);
	if (!*uri->place)
		return ww_fail(err, -EINVAL, "%s: which trace? Example: replay:power.wwt?speed=0",
			       s->uri);
	s->speed = 1;
	rc = ww_uri_num(uri, "speed", 0, 1e9, &s->speed, err);
	if (rc >= 0)
		rc = ww_uri_check_used(uri, "source, speed", err);
	if (rc >= 0)
		rc = ww_trace_open(uri->place, &s->trace, err);
	if (rc < 0)
		return rc;
	found = choose(s, name, err);
	if (!found)
		return name ? -ENOENT : -ENODATA;
	info = *found;
	s->id = info.id;
	find_span(s);
	rc = copy_channels(s, err);
	if (rc >= 0)
		rc = note(s, &info, err);
	if (rc >= 0)
		rc = ww_cursor_open(s->trace, s->id, WW_TIME_MIN, WW_TIME_MAX, WW_CURSOR_SURE,
				    &s->cursor, err);
	if (rc >= 0)
		rc = ww_loop_timer(s->loop, on_timer, s, &s->timer, err);
	if (rc < 0)
		return rc;
	if (s->speed > 0) {
		info.period_ns = stretched(info.period_ns, 1 / s->speed);
		info.window_ns = stretched(info.window_ns, 1 / s->speed);
	}
	info.uri = s->uri;
	info.notes = s->note;
	return s->sink.describe(s->sink.ctx, &info, s->info, s->channels, err);
}

static int replay_open(const struct ww_source_setup *setup, struct ww_uri *uri,
		       struct ww_source **out, struct ww_error *err)
{
	struct replay *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return ww_fail_nomem(err);
	s->base.ops = &replay_ops;
	s->sink = setup->sink;
	s->loop = setup->loop;
	s->uri = strdup(setup->uri);
	rc = open_parts(s, uri, err);
	if (rc < 0) {
		replay_close(&s->base);
		return rc;
	}
	*out = &s->base;
	return 0;
}

const struct ww_driver ww_source_replay = {
	.name = "replay",
	.summary = "a recorded source once more",
	.example = "replay:power.wwt?source=meter&speed=1",
	.available = true,
	.proven = true,
	.open = replay_open,
};
