/* SPDX-License-Identifier: MIT */
#include "report/events_series.h"
#include "report/length.h"

#include <math.h>

/* More readings than this are thinned: of a stretch, and of all together. */
#define READINGS     4000
#define READINGS_ALL 400000
#define READINGS_MIN 200
/* Bytes are counted so finely: a pause of a heartbeat shows. */
#define BIN_NS	 (10 * WW_NS_PER_MS)
#define LINE_MAX 200

static int64_t mid(const struct ww_batch *b, size_t i)
{
	return ww_iv_mid((struct ww_interval){b->lo_ns[i], b->hi_ns[i]});
}

int64_t ww_events_bin(int64_t ns, int64_t zero)
{
	return ns <= zero ? zero : ns - (ns - zero) % BIN_NS;
}

/* ---- watts ---- */

/* A reading stands where the middle of its window was. */
static int watts(struct ww_events_series *s, const struct ww_source_info *src,
		 const struct ww_channel_info *ch, size_t column, struct ww_interval w,
		 struct ww_error *err)
{
	int64_t back = (src->window_ns > 0 ? src->window_ns / 2 : 0) + src->delay_min_ns / 2 +
		       src->delay_max_ns / 2;
	struct ww_scale scale = ww_scale_of(ch->scale, ch->offset);
	int64_t rows = ww_trace_rows(s->t, src->id, w.lo_ns, w.hi_ns, err), seen = 0, every;
	int64_t room = s->cycles ? READINGS_ALL / (int64_t)s->cycles : READINGS;
	struct ww_str name = {0};
	struct ww_cursor *k;
	struct ww_batch b;
	int rc;

	if (rows < 0)
		return (int)rows;
	room = room > READINGS ? READINGS : room < READINGS_MIN ? READINGS_MIN : room;
	every = rows / room + 1;
	ww_str_addf(&name, "%s.%s", src->name, ch->name);
	s->e->out.s.bad = s->e->out.s.bad || name.bad;
	rc = name.bad ? -ENOMEM
		      : ww_cursor_open(s->t, src->id, w.lo_ns, ww_add_sat(w.hi_ns, back), 0, &k,
				       err);
	if (rc < 0) {
		ww_str_free(&name);
		return rc == -ENOMEM ? ww_fail_nomem(err) : rc;
	}
	while ((rc = ww_cursor_next(k, &b, err)) > 0)
		for (size_t i = 0; i < b.n && column < b.channels; i++) {
			double v = ww_code_value(&scale, b.codes[column][i]);
			int64_t ns = mid(&b, i) - back;

			/* What lies at an edge belongs to one stretch. */
			if (ns >= w.lo_ns && ns < w.hi_ns && isfinite(v) && seen++ % every == 0)
				ww_events_counter(s->e, s->pid, name.p, ch->unit, ns - s->zero, v);
		}
	ww_cursor_close(k);
	ww_str_free(&name);
	return rc;
}

static int power(struct ww_events_series *s, const struct ww_source_info *src, struct ww_interval w,
		 struct ww_error *err)
{
	size_t column = 0;
	int rc = 0;

	for (size_t i = 0; i < ww_trace_channel_count(s->t) && rc >= 0; i++) {
		const struct ww_channel_info *ch = ww_trace_channel(s->t, i);

		if (ch->source != src->id)
			continue;
		if (strcmp(ch->quantity, "power") == 0)
			rc = watts(s, src, ch, column, w, err);
		column++;
	}
	return rc;
}

/* ---- bytes ---- */

/* Bytes in a bin, told when the count changes. */
struct count {
	const char *name;
	int64_t bin, told_bin;
	uint64_t n, told;
};

static void tell(struct ww_events_series *s, struct count *c, int64_t bin, uint64_t n)
{
	if (n == c->told && c->told_bin != INT64_MIN)
		return;
	ww_events_counter(s->e, s->pid, c->name, "bytes in 10 ms", bin * BIN_NS, (double)n);
	c->told = n;
	c->told_bin = bin;
}

static void count(struct ww_events_series *s, struct count *c, int64_t ns)
{
	int64_t bin = (ns - s->zero) / BIN_NS;

	if (bin == c->bin) {
		c->n++;
		return;
	}
	if (c->bin != INT64_MIN) {
		tell(s, c, c->bin, c->n);
		if (bin > c->bin + 1)
			tell(s, c, c->bin + 1, 0);
	}
	c->bin = bin;
	c->n = 1;
}

/* ---- lines ---- */

struct line {
	char text[LINE_MAX + 1];
	size_t n;
	int64_t from, to;
	uint32_t thread;
	int64_t until; /* end of the last one in its thread */
};

static void end_line(struct ww_events_series *s, struct line *l, const char *source)
{
	struct ww_str name = {0};
	size_t index = l->thread - s->thread;

	if (l->n == 0)
		return;
	l->text[l->n] = '\0';
	if (index < 64 && !(s->named >> index & 1)) {
		ww_str_addf(&name, "lines of %s", source);
		if (!name.bad)
			ww_events_name(s->e, s->pid, l->thread, name.p);
		s->e->out.s.bad = s->e->out.s.bad || name.bad;
		s->named |= UINT64_C(1) << index;
	}
	l->from = l->from < l->until ? l->until : l->from;
	l->to = l->to < l->from ? l->from : l->to;
	ww_events_slice(s->e, s->pid, l->thread, "line", l->text, l->from - s->zero,
			l->to - l->from);
	ww_json_close(&s->e->j, '}');
	l->until = l->to;
	l->n = 0;
	ww_str_free(&name);
}

static void add_byte(struct ww_events_series *s, struct line *l, const char *source, uint8_t byte,
		     int64_t ns)
{
	if (byte == '\n' || byte == '\r') {
		l->to = l->n ? ns : l->to;
		end_line(s, l, source);
		return;
	}
	if (l->n == 0)
		l->from = ns;
	if (l->n < LINE_MAX && byte >= ' ' && byte != 0x7f)
		l->text[l->n++] = (char)byte;
	l->to = ns;
}

static int bytes(struct ww_events_series *s, const struct ww_source_info *src, uint32_t thread,
		 struct ww_interval w, struct ww_error *err)
{
	bool beats = s->beats && strcmp(src->name, s->beats) == 0;
	struct count c = {.name = src->name, .bin = INT64_MIN, .told_bin = INT64_MIN};
	struct line l = {.thread = thread, .until = INT64_MIN};
	struct ww_cursor *k;
	struct ww_batch b;
	int rc = ww_cursor_open(s->t, src->id, w.lo_ns, w.hi_ns, 0, &k, err);

	if (rc < 0)
		return rc;
	while ((rc = ww_cursor_next(k, &b, err)) > 0)
		for (size_t i = 0; i < b.n; i++) {
			int64_t ns = mid(&b, i);

			if (ns < w.lo_ns || ns >= w.hi_ns)
				continue;
			count(s, &c, ns);
			if (!beats)
				add_byte(s, &l, src->name, b.data[i], ns);
		}
	ww_cursor_close(k);
	end_line(s, &l, src->name);
	if (c.bin != INT64_MIN) {
		tell(s, &c, c.bin, c.n);
		tell(s, &c, c.bin + 1, 0);
	}
	return rc;
}

int ww_events_series(struct ww_events_series *s, struct ww_interval w, struct ww_error *err)
{
	uint32_t thread = s->thread;
	int rc = 0;

	for (size_t i = 0; i < ww_trace_source_count(s->t) && rc >= 0; i++) {
		const struct ww_source_info *src = ww_trace_source(s->t, i);

		if (src->kind == WW_SERIAL)
			rc = bytes(s, src, thread++, w, err);
		else if (src->kind == WW_METER || src->kind == WW_MANUAL)
			rc = power(s, src, w, err);
	}
	return rc < 0 ? rc : 0;
}
