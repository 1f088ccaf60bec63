/* SPDX-License-Identifier: MIT */
/* Records as lines of CSV or JSON, in the order of time: see wwtrace-export(1). */
#include "base/uri.h"
#include "trace/output.h"
#include "trace/value.h"

#include <unistd.h>

#define FLUSH_BYTES (64u * 1024)

/* A source that is merged: its cursor, the batch it lent, and ready-made pieces of lines. */
struct feed {
	const struct ww_source_info *info;
	struct ww_cursor *cursor;
	struct ww_batch batch;
	size_t at;
	size_t channels;
	struct ww_digits *digits;
	struct ww_str *before; /* [channels] from the times to the value */
	struct ww_str *after;  /* [channels] from the value to the newline */
};

struct export
{
	struct ww_trace *t;
	int what;
	bool jsonl;
	bool redact;
	const char *only;
	int fd;
	struct ww_str out;
	int64_t records;
	struct feed *feed;
	size_t feeds;
};

static int flush(struct export *e, size_t least, struct ww_error *err)
{
	int rc;

	if (e->out.bad)
		return ww_fail_nomem(err);
	if (e->out.n < least || e->out.n == 0)
		return 0;
	rc = ww_write_all(e->fd, e->out.p, e->out.n,
			  e->fd == STDOUT_FILENO ? "standard output" : "output", err);
	ww_str_reset(&e->out);
	return rc;
}

static void add_end(struct export *e, int64_t t, int64_t open)
{
	if (t != open)
		ww_str_int(&e->out, t);
	else if (e->jsonl)
		ww_str_add(&e->out, "null");
}

static void add_times(struct export *e, int64_t lo, int64_t hi)
{
	if (e->jsonl)
		ww_str_add(&e->out, "{\"t_lo_ns\":");
	add_end(e, lo, WW_TIME_MIN);
	ww_str_add(&e->out, e->jsonl ? ",\"t_hi_ns\":" : ",");
	add_end(e, hi, WW_TIME_MAX);
}

/* A text member in either form, with the comma before it. */
static void add_text(struct ww_str *s, bool jsonl, const char *key, const char *text)
{
	if (jsonl) {
		ww_str_addf(s, ",\"%s\":", key);
		ww_str_json(s, text, strlen(text));
	} else {
		ww_str_add(s, ",");
		ww_str_csv(s, text);
	}
}

/* What a meter sent holds its serial number, in a form of its own. */
static bool tells_ids(const struct ww_source_info *s)
{
	return strcmp(s->role, "raw") == 0 || strcmp(s->role, "turns") == 0;
}

static bool wanted(const struct export *e, const struct ww_source_info *s)
{
	bool fits = e->what == WW_EXPORT_SAMPLES  ? s->kind == WW_METER || s->kind == WW_MANUAL
		    : e->what == WW_EXPORT_BYTES  ? s->kind == WW_SERIAL
		    : e->what == WW_EXPORT_EVENTS ? s->kind == WW_LINE
						  : false;

	return fits && (!e->only || strcmp(e->only, s->name) == 0) && !(e->redact && tells_ids(s));
}

static void feed_free(struct feed *f)
{
	for (size_t i = 0; i < f->channels; i++) {
		if (f->before)
			ww_str_free(&f->before[i]);
		if (f->after)
			ww_str_free(&f->after[i]);
	}
	free(f->before);
	free(f->after);
	free(f->digits);
	ww_cursor_close(f->cursor);
}

/* The parts of a line that are the same for all rows of a channel. */
static void make_pieces(struct export *e, struct feed *f, size_t k, const struct ww_channel_info *c)
{
	f->digits[k] = ww_digits_of(c->scale, c->offset, c->resolution);
	add_text(&f->before[k], e->jsonl, "source", f->info->name);
	if (e->what == WW_EXPORT_SAMPLES)
		add_text(&f->before[k], e->jsonl, "channel", c->name);
	ww_str_add(&f->before[k], !e->jsonl			 ? ","
				  : e->what == WW_EXPORT_SAMPLES ? ",\"value\":"
								 : ",\"level\":");
	if (e->what == WW_EXPORT_SAMPLES)
		add_text(&f->after[k], e->jsonl, "unit", c->unit);
	ww_str_add(&f->after[k], e->jsonl ? "}\n" : "\n");
}

static int feed_open(struct export *e, struct feed *f, const struct ww_source_info *s,
		     struct ww_error *err)
{
	size_t n = ww_trace_channel_count(e->t), k = 0;
	bool bad = false;

	f->info = s;
	for (size_t i = 0; i < n; i++)
		f->channels += ww_trace_channel(e->t, i)->source == s->id;
	/* Bytes have no channel but one kind of line. */
	if (s->kind == WW_SERIAL)
		f->channels = 1;
	f->digits = calloc(f->channels + 1, sizeof(*f->digits));
	f->before = calloc(f->channels + 1, sizeof(*f->before));
	f->after = calloc(f->channels + 1, sizeof(*f->after));
	if (!f->digits || !f->before || !f->after)
		return ww_fail_nomem(err);
	if (s->kind == WW_SERIAL) {
		add_text(&f->before[0], e->jsonl, "source", s->name);
		ww_str_add(&f->before[0], e->jsonl ? ",\"hex\":\"" : ",");
		ww_str_add(&f->after[0], e->jsonl ? "\"}\n" : "\n");
	}
	for (size_t i = 0; i < n; i++)
		if (ww_trace_channel(e->t, i)->source == s->id && s->kind != WW_SERIAL)
			make_pieces(e, f, k++, ww_trace_channel(e->t, i));
	for (size_t i = 0; i < f->channels; i++)
		bad |= f->before[i].bad || f->after[i].bad;
	if (bad)
		return ww_fail_nomem(err);
	return ww_cursor_open(e->t, s->id, WW_TIME_MIN, WW_TIME_MAX, 0, &f->cursor, err);
}

static void row_out(struct export *e, const struct feed *f)
{
	static const char digit[] = "0123456789abcdef";
	size_t i = f->at;

	for (size_t k = 0; k < f->channels; k++) {
		add_times(e, f->batch.lo_ns[i], f->batch.hi_ns[i]);
		ww_str_addn(&e->out, f->before[k].p, f->before[k].n);
		if (f->batch.data) {
			const char hex[2] = {digit[f->batch.data[i] >> 4],
					     digit[f->batch.data[i] & 15]};

			ww_str_addn(&e->out, hex, 2);
		} else if (k >= f->batch.channels ||
			   !ww_str_value(&e->out, &f->digits[k], f->batch.codes[k][i])) {
			if (e->jsonl)
				ww_str_add(&e->out, "null");
		}
		ww_str_addn(&e->out, f->after[k].p, f->after[k].n);
		e->records++;
	}
}

/* Sources side by side, always the row that was over first. */
static int merge(struct export *e, struct ww_error *err)
{
	int rc = 0;

	while (rc >= 0) {
		struct feed *next = NULL;

		for (size_t i = 0; i < e->feeds && rc >= 0; i++) {
			struct feed *f = &e->feed[i];

			if (f->at == f->batch.n) {
				f->at = 0;
				rc = ww_cursor_next(f->cursor, &f->batch, err);
			}
			if (f->at < f->batch.n &&
			    (!next || f->batch.hi_ns[f->at] < next->batch.hi_ns[next->at]))
				next = f;
		}
		if (rc < 0 || !next)
			break;
		row_out(e, next);
		next->at++;
		rc = flush(e, FLUSH_BYTES, err);
	}
	return rc < 0 ? rc : 0;
}

static int export_rows(struct export *e, struct ww_error *err)
{
	size_t n = ww_trace_source_count(e->t);
	int rc = 0;

	e->feed = calloc(n + 1, sizeof(*e->feed));
	if (!e->feed)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (wanted(e, ww_trace_source(e->t, i)))
			rc = feed_open(e, &e->feed[e->feeds++], ww_trace_source(e->t, i), err);
	if (rc == 0)
		rc = merge(e, err);
	for (size_t i = 0; i < e->feeds; i++)
		feed_free(&e->feed[i]);
	free(e->feed);
	return rc;
}

static const struct ww_source_info *source_of(const struct ww_trace *t, uint32_t id)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->id == id)
			return ww_trace_source(t, i);
	return NULL;
}

static bool mark_is_command(const char *kind)
{
	return strcmp(kind, WW_MARK_REQUEST) == 0 || strcmp(kind, WW_MARK_WAKE) == 0;
}

/* Put something neutral in the place of each `secret`. */
static void scrub(struct ww_str *s, const char *secret)
{
	struct ww_str clean = {0};
	const char *p = s->p, *hit;

	if (!p || strlen(secret) < 3)
		return;
	while ((hit = strstr(p, secret))) {
		ww_str_addn(&clean, p, (size_t)(hit - p));
		ww_str_add(&clean, "(redacted)");
		p = hit + strlen(secret);
	}
	ww_str_add(&clean, p);
	ww_str_free(s);
	*s = clean;
}

/* The host of "tcp://HOST:PORT", whatever follows it. */
static void scrub_host(struct ww_str *s, const char *place)
{
	const char *host = strstr(place, "//");
	size_t n;
	char *copy;

	if (!host)
		return;
	host += 2;
	n = *host == '[' ? strcspn(host, "]") : strcspn(host, ":/?");
	copy = strndup(host, n);
	if (copy)
		scrub(s, copy);
	s->bad |= !copy;
	free(copy);
}

/* Links of udev's name a device by its serial number, and so does an option. */
static void scrub_uri(struct ww_str *s, const char *text)
{
	struct ww_uri u;
	int rc = ww_uri_parse(text, &u, NULL);

	if (rc < 0) {
		s->bad |= rc == -ENOMEM;
		return;
	}
	if (strstr(u.place, "/by-id/"))
		scrub(s, u.place);
	scrub_host(s, u.place);
	for (size_t i = 0; i < u.options; i++)
		if (strcmp(u.option[i].key, "serial") == 0)
			scrub(s, u.option[i].value);
	ww_uri_free(&u);
}

static void redact_text(const struct export *e, struct ww_str *s)
{
	static const char *const keys[] = {"bench.host", "dut.host", "command"};

	for (size_t i = 0; i < WW_COUNTOF(keys); i++)
		if (ww_trace_meta(e->t, keys[i]))
			scrub(s, ww_trace_meta(e->t, keys[i]));
	for (size_t i = 0; i < ww_trace_source_count(e->t); i++)
		scrub(s, ww_trace_source(e->t, i)->serial);
	for (size_t i = 0; i < ww_trace_source_count(e->t); i++)
		scrub_uri(s, ww_trace_source(e->t, i)->uri);
}

static void mark_out(struct export *e, const struct ww_mark *m)
{
	const struct ww_source_info *s = source_of(e->t, m->source);
	struct ww_str text = {0};

	ww_str_add(&text, e->redact && mark_is_command(m->kind) ? "" : m->text);
	if (e->redact)
		redact_text(e, &text);
	add_times(e, m->t.lo_ns, m->t.hi_ns);
	add_text(&e->out, e->jsonl, "source", s ? s->name : "");
	add_text(&e->out, e->jsonl, "kind", m->kind);
	add_text(&e->out, e->jsonl, "text", text.p ? text.p : "");
	ww_str_add(&e->out, e->jsonl ? "}\n" : "\n");
	e->out.bad |= text.bad;
	ww_str_free(&text);
}

static void gap_out(struct export *e, const struct ww_gap *g)
{
	const struct ww_source_info *s = source_of(e->t, g->source);

	add_times(e, g->t.lo_ns, g->t.hi_ns);
	add_text(&e->out, e->jsonl, "source", s ? s->name : "");
	ww_str_add(&e->out, e->jsonl ? ",\"lost\":" : ",");
	add_end(e, g->lost, -1);
	add_text(&e->out, e->jsonl, "reason", g->reason);
	ww_str_add(&e->out, e->jsonl ? "}\n" : "\n");
}

struct place {
	int64_t key; /* what it is sorted by */
	size_t i;
};

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

/* Marks and gaps lie in the order in which they were stored; they go out by time. */
static int export_sorted(struct export *e, size_t n, struct ww_error *err)
{
	struct place *order = calloc(n + 1, sizeof(*order));
	bool marks = e->what == WW_EXPORT_MARKS;
	int rc = 0;

	if (!order)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		order[i] = (struct place){marks ? ww_trace_mark(e->t, i)->t.lo_ns
						: ww_trace_gap(e->t, i)->t.lo_ns,
					  i};
	qsort(order, n, sizeof(*order), by_time);
	for (size_t i = 0; i < n && rc == 0; i++) {
		uint32_t id = marks ? ww_trace_mark(e->t, order[i].i)->source
				    : ww_trace_gap(e->t, order[i].i)->source;
		const struct ww_source_info *s = source_of(e->t, id);

		if (e->only && (!s || strcmp(s->name, e->only) != 0))
			continue;
		if (marks)
			mark_out(e, ww_trace_mark(e->t, order[i].i));
		else
			gap_out(e, ww_trace_gap(e->t, order[i].i));
		e->records++;
		rc = flush(e, FLUSH_BYTES, err);
	}
	free(order);
	return rc;
}

static int check_only(const struct export *e, struct ww_error *err)
{
	struct ww_str names = {0};
	int rc;

	for (size_t i = 0; e->only && i < ww_trace_source_count(e->t); i++) {
		if (strcmp(ww_trace_source(e->t, i)->name, e->only) == 0) {
			ww_str_free(&names);
			if (!e->redact || !tells_ids(ww_trace_source(e->t, i)))
				return 0;
			return ww_fail(err, -EINVAL,
				       "%s: %s holds what identifies the meter, byte by byte: not "
				       "with --redact",
				       ww_trace_path(e->t), e->only);
		}
		ww_str_addf(&names, "%s%s", i ? ", " : "; there is ",
			    ww_trace_source(e->t, i)->name);
	}
	if (!e->only)
		return 0;
	rc = ww_fail(err, -EINVAL, "%s: there is no source named %s%s", ww_trace_path(e->t),
		     e->only, names.p ? names.p : "");
	ww_str_free(&names);
	return rc;
}

/* Everything that could be read was written: say now what could not. */
static int tell_damage(const struct export *e, struct ww_error *err)
{
	const struct ww_source_info *first = NULL;
	struct ww_str lost = {0};
	int64_t rows = 0;
	bool more = false;
	int rc;

	for (size_t i = 0; i < ww_trace_gap_count(e->t); i++) {
		const struct ww_gap *g = ww_trace_gap(e->t, i);
		const struct ww_source_info *s = source_of(e->t, g->source);

		if (!s || !wanted(e, s) || strcmp(g->reason, WW_GAP_DAMAGED) != 0)
			continue;
		first = first ? first : s;
		more |= s != first;
		rows = g->lost < 0 || rows < 0 ? -1 : ww_add_sat(rows, g->lost);
	}
	if (!first)
		return 0;
	if (rows > 0)
		ww_str_addf(&lost, "%lld ", (long long)rows);
	ww_str_addf(&lost, "%s of %s%s", e->what == WW_EXPORT_BYTES ? "bytes" : "rows", first->name,
		    more ? " and others" : "");
	rc = ww_fail(err, -EBADMSG,
		     "%s: %s cannot be read, everything else was written; wwtrace info says more",
		     ww_trace_path(e->t), lost.p ? lost.p : "rows");
	ww_str_free(&lost);
	return rc;
}

int64_t ww_export(struct ww_trace *t, const struct ww_export_options *opt, int fd,
		  struct ww_error *err)
{
	static const char *const header[] = {
		[WW_EXPORT_SAMPLES] = "t_lo_ns,t_hi_ns,source,channel,value,unit\n",
		[WW_EXPORT_BYTES] = "t_lo_ns,t_hi_ns,source,hex\n",
		[WW_EXPORT_EVENTS] = "t_lo_ns,t_hi_ns,source,level\n",
		[WW_EXPORT_MARKS] = "t_lo_ns,t_hi_ns,source,kind,text\n",
		[WW_EXPORT_GAPS] = "t_lo_ns,t_hi_ns,source,lost,reason\n"};
	struct export e = {.t = t,
			   .fd = fd,
			   .what = WW_OPT(opt, what, WW_EXPORT_SAMPLES),
			   .jsonl = WW_OPT(opt, jsonl, 0) != 0,
			   .only = WW_OPT(opt, source, NULL),
			   .redact = WW_OPT(opt, redact, 0) != 0};
	int rc = WW_OPT_CHECK(opt, err);

	if (rc == 0 && (e.what < 0 || (size_t)e.what >= WW_COUNTOF(header)))
		rc = ww_fail(err, -EINVAL, "nothing to export has the number %d", e.what);
	if (rc == 0)
		rc = check_only(&e, err);
	if (rc < 0)
		return rc;
	if (!e.jsonl)
		ww_str_add(&e.out, header[e.what]);
	if (e.what == WW_EXPORT_MARKS)
		rc = export_sorted(&e, ww_trace_mark_count(t), err);
	else if (e.what == WW_EXPORT_GAPS)
		rc = export_sorted(&e, ww_trace_gap_count(t), err);
	else
		rc = export_rows(&e, err);
	if (rc == 0)
		rc = flush(&e, 0, err);
	if (rc == 0)
		rc = tell_damage(&e, err);
	ww_str_free(&e.out);
	return rc < 0 ? rc : e.records;
}
