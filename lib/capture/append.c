/* SPDX-License-Identifier: MIT */
/*
 * A recording that goes on in the trace of one that ended, was killed, or went down with
 * the bench. The axis of a trace is the bench's CLOCK_BOOTTIME; after a boot that begins
 * anew, so from then on a constant is added to all that is stored. The wall clock gives
 * it, and how well it is known; whatever it says, later stays later.
 */
#include "capture/capture.h"
#include "base/str.h"
#include "trace/trace.h"

#include <stdio.h>
#include <unistd.h>

#define META_OFFSET "recorder.offset_ns"
#define REASON	    "nothing was recorded"
/* The least that lies between what was there and what is new. */
#define LATER_NS WW_NS_PER_MS
#define SYNCED	 5 /* TIME_ERROR of adjtimex(2): not synchronised */

struct before {
	bool same_boot;
	int64_t end_ns, offset_ns;
	struct ww_anchor last;
	bool have_last;
	uint32_t open, open_source; /* cycle that no mark ends */
};

static const char *meta(const struct ww_trace *t, const char *key)
{
	const char *v = ww_trace_meta(t, key);

	return v ? v : "";
}

/* The last cycle, if it was begun and did not end. */
static void find_open(const struct ww_trace *t, struct before *b)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(t, i)) != NULL; i++) {
		if (strcmp(m->kind, WW_MARK_REQUEST) == 0 && m->cycle) {
			b->open = m->cycle;
			b->open_source = m->source;
		} else if (strcmp(m->kind, WW_MARK_CYCLE_END) == 0 && m->cycle == b->open) {
			b->open = 0;
		}
	}
}

static int check(struct ww_trace *t, struct ww_error *err)
{
	if (ww_trace_state(t) == WW_TRACE_LIVE)
		return ww_fail(err, -EBUSY, "%s: is being recorded", ww_trace_path(t));
	if (ww_import_name(t))
		return ww_fail(err, -EINVAL,
			       "%s: was imported from another program's file, not recorded here",
			       ww_trace_path(t));
	return 0;
}

/* Reading also mends what a killed recorder left. */
static int read_before(const char *path, struct before *b, struct ww_error *err)
{
	char boot[64], start[32];
	struct ww_trace *t = NULL;
	const struct ww_anchor *a;
	int rc = ww_trace_open(path, &t, err);

	*b = (struct before){0};
	if (rc == 0)
		rc = check(t, err);
	if (rc < 0) {
		ww_trace_close(t);
		return rc;
	}
	ww_proc_identity(getpid(), boot, sizeof(boot), start, sizeof(start));
	b->same_boot = boot[0] && strcmp(meta(t, WW_META_BOOT_ID), boot) == 0;
	b->offset_ns = strtoll(meta(t, META_OFFSET), NULL, 10);
	b->end_ns = ww_iv_ok(ww_trace_span(t)) ? ww_trace_span(t).hi_ns : 0;
	for (size_t i = 0; (a = ww_trace_anchor(t, i)) != NULL; i++) {
		b->last = *a;
		b->have_last = true;
		b->end_ns = a->boot_ns > b->end_ns ? a->boot_ns : b->end_ns;
	}
	find_open(t, b);
	ww_trace_close(t);
	return 0;
}

static void seconds(struct ww_str *s, int64_t ns)
{
	ww_str_fixed(s, (double)ns / 1e9, ns < 100 * WW_NS_PER_S ? 3 : 0);
	ww_str_add(s, " s");
}

/* By the wall clock, as far as the kernel vouches for it on both sides. */
static void by_wall(const struct before *b, const struct ww_anchor *now, int64_t offset,
		    struct ww_str *s)
{
	bool kept = b->last.adj_state != SYNCED && now->adj_state != SYNCED &&
		    b->last.adj_maxerror_ns >= 0 && now->adj_maxerror_ns >= 0;

	ww_str_add(s, "the bench was started anew: times go on by its wall clock, ");
	if (offset != b->last.boot_ns + (now->real_ns - b->last.real_ns) - now->boot_ns) {
		ww_str_add(s, "which went back, so that how long it was away is not known");
		return;
	}
	seconds(s, now->boot_ns + offset - b->end_ns);
	ww_str_add(s, " after the last record, ");
	if (kept) {
		ww_str_add(s, "within ");
		seconds(s, b->last.adj_maxerror_ns + now->adj_maxerror_ns);
	} else {
		ww_str_add(s, "which nothing kept in step: good to a second at best");
	}
}

/* @return the constant; in words, too */
static int64_t choose(const struct before *b, const struct ww_anchor *now, struct ww_str *s)
{
	int64_t least = b->end_ns + LATER_NS - now->boot_ns, offset = b->offset_ns;

	if (b->same_boot && offset >= least) {
		ww_str_add(s, "the same boot of the bench, ");
		seconds(s, now->boot_ns + offset - b->end_ns);
		ww_str_add(s, " after the last record");
		return offset;
	}
	offset = b->have_last ? b->last.boot_ns + (now->real_ns - b->last.real_ns) - now->boot_ns
			      : least;
	offset = offset > least ? offset : least;
	by_wall(b, now, offset, s);
	return offset;
}

static int put_gaps(struct ww_writer *w, int64_t to_ns, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < w->sources; i++) {
		struct ww_gap g = {.source = w->source[i]->id,
				   .t = {w->source[i]->last_hi, to_ns},
				   .lost = -1,
				   .reason = REASON};

		if (g.t.lo_ns != INT64_MIN)
			rc = ww_writer_gap(w, &g, err);
	}
	return rc;
}

static int put_words(struct ww_writer *w, const struct before *b, struct ww_interval hole,
		     const char *how, struct ww_error *err)
{
	struct ww_mark end = {.t = hole,
			      .source = b->open_source,
			      .cycle = b->open,
			      .kind = WW_MARK_CYCLE_END,
			      .text = "stopped: the recording was cut off"};
	struct ww_mark on = {.t = hole, .kind = WW_MARK_CONTINUED, .text = how};
	int rc = b->open ? ww_writer_mark(w, &end, err) : 0;

	return rc == 0 ? ww_writer_mark(w, &on, err) : rc;
}

/* The source of the trace that has the name of this one. */
static const struct ww_source_info *namesake(const struct ww_trace *t, const struct ww_desc *d)
{
	const struct ww_source_info *s;

	for (size_t i = 0; (s = ww_trace_source(t, i)) != NULL; i++)
		if (strcmp(s->name, d->info.name) == 0)
			return s;
	return NULL;
}

static bool same_channels(const struct ww_trace *t, uint32_t source, const struct ww_desc *d)
{
	const struct ww_channel_info *c;
	size_t n = 0;
	bool same = true;

	for (size_t i = 0; (c = ww_trace_channel(t, i)) != NULL; i++) {
		if (c->source != source)
			continue;
		same = same && n < d->channels && strcmp(c->name, d->channel[n].name) == 0 &&
		       strcmp(c->unit, d->channel[n].unit) == 0 &&
		       c->scale == (d->channel[n].scale == 0.0 ? 1.0 : d->channel[n].scale) &&
		       c->offset == d->channel[n].offset;
		n++;
	}
	return same && n == d->channels;
}

int ww_append_fits(const struct ww_recorder *r, struct ww_error *err)
{
	struct ww_trace *t = NULL;
	int rc = ww_trace_open(r->path, &t, err);

	for (size_t i = 0; rc == 0 && i < r->tracks; i++) {
		const struct ww_desc *d = r->track[i]->desc;
		const struct ww_source_info *s = namesake(t, d);

		if (s && (s->kind != d->info.kind || !same_channels(t, s->id, d)))
			rc = ww_fail(err, -EINVAL,
				     "%s: its source %s is another one than %s: go on with the "
				     "sources of the first recording",
				     r->path, s->name, r->track[i]->shown);
	}
	ww_trace_close(t);
	return rc;
}

int ww_append_begin(struct ww_store *s, const struct ww_recorder_options *opt, struct ww_error *err)
{
	const struct ww_anchor now = s->start;
	struct ww_interval hole;
	struct ww_str how = {0};
	struct before b;
	char number[32];
	int rc = read_before(opt->path, &b, err);

	if (rc == 0)
		rc = ww_writer_append(opt->path, &s->writer, err);
	if (rc < 0)
		return rc;
	s->offset_ns = choose(&b, &now, &how);
	hole = (struct ww_interval){b.end_ns, now.boot_ns + s->offset_ns};
	snprintf(number, sizeof(number), "%lld", (long long)s->offset_ns);
	rc = how.bad ? ww_fail_nomem(err) : ww_writer_meta(s->writer, META_OFFSET, number, err);
	if (rc == 0)
		rc = put_gaps(s->writer, hole.hi_ns, err);
	if (rc == 0)
		rc = put_words(s->writer, &b, hole, how.p, err);
	if (rc == 0 && opt->command)
		rc = ww_writer_meta(s->writer, "command.continued", opt->command, err);
	ww_str_free(&how);
	return rc;
}
