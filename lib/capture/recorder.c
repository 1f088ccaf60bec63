/* SPDX-License-Identifier: MIT */
#include "capture/capture.h"
#include "base/uri.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Longest time that sources together get to leave their devices in a sane state. */
#define STOP_NS (500 * WW_NS_PER_MS)

static char *dup_or_null(const char *s, bool *bad)
{
	char *p = s ? strdup(s) : NULL;

	if (s && !p)
		*bad = true;
	return p;
}

/* The command line goes into the trace, passwords of devices do not. */
static char *hidden_or_null(const char *s, bool *bad)
{
	char *p = s ? ww_uri_hide(s, true) : NULL;

	if (s && !p)
		*bad = true;
	return p;
}

static int check_append(const struct ww_recorder *r, struct ww_error *err)
{
	struct stat st;

	if (!r->path || r->opt.form != WW_FORM_FILE || r->opt.raw)
		return ww_fail(err, -EINVAL, "only a file can be gone on with, without raw bytes");
	if (lstat(r->path, &st) < 0)
		return ww_fail(err, -errno, "%s: %s", r->path, strerror(errno));
	return 0;
}

int ww_recorder_new_clock(const struct ww_recorder_options *opt, const struct ww_clock *clock,
			  struct ww_recorder **out, struct ww_error *err)
{
	struct ww_recorder *r;
	struct stat st;
	bool bad = false;
	int rc;

	*out = NULL;
	rc = WW_OPT_CHECK(opt, err);
	if (rc < 0)
		return rc;
	r = calloc(1, sizeof(*r));
	if (!r)
		return ww_fail_nomem(err);
	r->store.wake_fd = -1;
	r->late_max = r->late_p99 = -1;
	r->path = dup_or_null(WW_OPT(opt, path, NULL), &bad);
	r->program = dup_or_null(WW_OPT(opt, program, NULL), &bad);
	r->command = hidden_or_null(WW_OPT(opt, command, NULL), &bad);
	r->opt = (struct ww_recorder_options){.size = sizeof(r->opt),
					      .path = r->path,
					      .program = r->program,
					      .command = r->command,
					      .form = WW_OPT(opt, form, WW_FORM_FILE),
					      .fd = WW_OPT(opt, fd, -1),
					      .commit_ns = WW_OPT(opt, commit_ns, 0),
					      .every_ns = WW_OPT(opt, every_ns, 0),
					      .queue_bytes = WW_OPT(opt, queue_bytes, 0),
					      .raw = WW_OPT(opt, raw, 0),
					      .append = WW_OPT(opt, append, 0)};
	r->virtual_time = clock && clock->advance;
	rc = bad ? ww_fail_nomem(err) : ww_store_open(&r->store, r->opt.queue_bytes, err);
	if (rc == 0)
		rc = ww_loop_new(clock, &r->loop, err);
	/* Before any device is opened: the writer would refuse it later. */
	if (rc == 0 && r->opt.append)
		rc = check_append(r, err);
	else if (rc == 0 && r->path && r->opt.form == WW_FORM_FILE && lstat(r->path, &st) == 0)
		rc = ww_fail(err, -EEXIST, "%s exists already; choose another name or remove it",
			     r->path);
	if (rc < 0) {
		ww_recorder_free(r);
		return rc;
	}
	*out = r;
	return 0;
}

int ww_recorder_new(const struct ww_recorder_options *opt, struct ww_recorder **out,
		    struct ww_error *err)
{
	return ww_recorder_new_clock(opt, NULL, out, err);
}

int ww_recorder_add(struct ww_recorder *r, const char *uri, const char *name, struct ww_error *err)
{
	struct ww_track *t;
	bool bad = false;
	int rc;

	if (r->started)
		return ww_fail(err, -EBUSY, "sources are added before the start");
	if (r->tracks == WW_COUNTOF(r->track) || r->next_index == WW_STORE_SOURCES)
		return ww_fail(err, -E2BIG, "more than %zu sources", WW_COUNTOF(r->track));
	t = calloc(1, sizeof(*t));
	if (!t)
		return ww_fail_nomem(err);
	t->rec = r;
	/* Taken before the opening, in which sources within this one take theirs. */
	t->index = r->next_index++;
	t->raw.index = t->turns.index = WW_SOURCE_NONE;
	t->out_from = WW_TIME_MIN;
	t->uri = dup_or_null(uri, &bad);
	t->shown = ww_uri_hide(uri, false);
	bad |= !t->shown;
	t->name = dup_or_null(name, &bad);
	rc = bad ? ww_fail_nomem(err) : ww_track_open(t, err);
	if (rc < 0) {
		ww_track_free(t);
		return rc;
	}
	r->track[r->tracks++] = t;
	return (int)r->tracks;
}

/* Asked for more than the meter can give. */
static void warn_pace(struct ww_recorder *r, const struct ww_track *t)
{
	int64_t period = t->desc ? t->desc->info.period_ns : 0;
	int64_t fastest = t->desc ? ww_source_fastest(t->desc->info.driver) : 0;
	char text[256];

	if (r->opt.every_ns <= 0 || (period <= r->opt.every_ns && fastest <= r->opt.every_ns))
		return;
	snprintf(text, sizeof(text),
		 "%.64s: asked for a reading every %.6g s, but the meter %s every %.6g s%s",
		 t->label, (double)r->opt.every_ns / 1e9, period ? "gives one" : "is asked",
		 (double)(period > fastest ? period : fastest) / 1e9, period ? "" : " at most");
	ww_recorder_warn(r, text);
}

int ww_recorder_start(struct ww_recorder *r, struct ww_error *err)
{
	struct ww_interval now;
	int rc;

	if (r->started)
		return ww_fail(err, -EALREADY, "the recording runs already");
	rc = r->opt.append ? ww_append_fits(r, err) : 0;
	if (rc < 0)
		return rc;
	rc = ww_loop_anchor(r->loop, &r->store.start);
	if (rc < 0)
		return ww_fail(err, rc, "the clocks cannot be read: %s", strerror(-rc));
	rc = ww_store_begin(&r->store, &r->opt, err);
	if (rc < 0)
		return rc;
	r->started = true;
	rc = ww_timekeeper_start(&r->keeper, r, err);
	if (rc < 0)
		return rc;
	ww_env_put(r);
	now.lo_ns = now.hi_ns = ww_loop_now(r->loop);
	ww_recorder_put_mark(r, WW_SOURCE_NONE, now, 0, WW_MARK_START, "");
	for (size_t i = 0; i < r->tracks; i++) {
		rc = ww_track_start(r->track[i], err);
		if (rc < 0)
			return rc;
		warn_pace(r, r->track[i]);
	}
	return 0;
}

int ww_recorder_fd(const struct ww_recorder *r)
{
	return ww_loop_fd(r->loop);
}

int ww_recorder_dispatch(struct ww_recorder *r, struct ww_error *err)
{
	size_t ended = 0;
	int rc;

	rc = ww_loop_dispatch(r->loop, err);
	if (rc < 0)
		return rc;
	rc = atomic_load(&r->store.failed);
	if (rc < 0)
		return ww_fail(err, rc, "%s", r->store.err.text);
	if (r->fatal.code)
		return ww_fail(err, r->fatal.code, "%s", r->fatal.text);
	if (ww_ring_used(&r->store.ring) > r->store.ring.cap / 8)
		ww_store_nudge(&r->store);
	for (size_t i = 0; i < r->tracks; i++)
		ended += r->track[i]->state == WW_TRACK_ENDED;
	return r->tracks > 0 && ended == r->tracks ? 0 : 1;
}

/* --------------------------------------------------------------- the queue */

void *ww_recorder_reserve(struct ww_recorder *r, uint16_t type, uint16_t source, size_t payload)
{
	void *p = ww_ring_reserve(&r->store.ring, type, source, payload);

	/* Virtual time runs faster than any disk: there, and only there, wait for it. */
	while (!p && r->virtual_time && r->store.running) {
		ww_store_nudge(&r->store);
		sched_yield();
		p = ww_ring_reserve(&r->store.ring, type, source, payload);
	}
	return p;
}

int ww_recorder_put_desc(struct ww_recorder *r, uint16_t source, struct ww_desc *d)
{
	struct ww_desc **slot = ww_recorder_reserve(r, WW_ITEM_DESC, source, sizeof(*slot));

	if (!slot) {
		ww_desc_free(d);
		return -ENOBUFS;
	}
	*slot = d;
	ww_ring_commit(&r->store.ring);
	return 0;
}

int ww_recorder_put_mark(struct ww_recorder *r, uint16_t source, struct ww_interval t,
			 uint32_t cycle, const char *kind, const char *text)
{
	size_t k = strlen(kind) + 1, n = strlen(text) + 1;
	struct ww_item_mark *m = ww_recorder_reserve(r, WW_ITEM_MARK, source, sizeof(*m) + k + n);

	if (!m)
		return -ENOBUFS;
	*m = (struct ww_item_mark){.t = t, .cycle = cycle};
	memcpy(m + 1, kind, k);
	memcpy((char *)(m + 1) + k, text, n);
	ww_ring_commit(&r->store.ring);
	return 0;
}

int ww_recorder_put_gap(struct ww_recorder *r, uint16_t source, struct ww_interval t, int64_t lost,
			const char *reason)
{
	size_t n = strlen(reason) + 1;
	struct ww_item_gap *g = ww_recorder_reserve(r, WW_ITEM_GAP, source, sizeof(*g) + n);

	if (!g)
		return -ENOBUFS;
	*g = (struct ww_item_gap){t, lost};
	memcpy(g + 1, reason, n);
	ww_ring_commit(&r->store.ring);
	r->gaps++;
	return 0;
}

int ww_recorder_put_anchor(struct ww_recorder *r, const struct ww_anchor *a)
{
	struct ww_anchor *p = ww_recorder_reserve(r, WW_ITEM_ANCHOR, WW_SOURCE_NONE, sizeof(*p));

	if (!p)
		return -ENOBUFS;
	*p = *a;
	ww_ring_commit(&r->store.ring);
	return 0;
}

int ww_recorder_put_meta(struct ww_recorder *r, const char *key, const char *value)
{
	size_t k = strlen(key) + 1, n = strlen(value) + 1;
	char *p = ww_recorder_reserve(r, WW_ITEM_META, WW_SOURCE_NONE, k + n);

	if (!p)
		return -ENOBUFS;
	memcpy(p, key, k);
	memcpy(p + k, value, n);
	ww_ring_commit(&r->store.ring);
	return 0;
}

int ww_recorder_mark(struct ww_recorder *r, const struct ww_mark *m, struct ww_error *err)
{
	struct ww_interval t = m->t;
	uint16_t index = WW_SOURCE_NONE;

	if (t.lo_ns == 0)
		t.lo_ns = t.hi_ns = ww_loop_now(r->loop);
	if (m->source && m->source <= r->tracks)
		index = r->track[m->source - 1]->index;
	if (ww_recorder_put_mark(r, index, t, m->cycle, m->kind, m->text ? m->text : "") < 0)
		return ww_fail(err, -ENOBUFS, "mark '%s' lost: the queue is full", m->kind);
	ww_store_nudge(&r->store);
	return 0;
}

int ww_recorder_meta(struct ww_recorder *r, const char *key, const char *value,
		     struct ww_error *err)
{
	if (ww_recorder_put_meta(r, key, value) < 0)
		return ww_fail(err, -ENOBUFS, "meta '%s' lost: the queue is full", key);
	return 0;
}

int ww_recorder_type(struct ww_recorder *r, uint32_t source, double value, const char *label,
		     struct ww_error *err)
{
	struct ww_interval now;
	struct ww_track *t;

	if (source < 1 || source > r->tracks)
		return ww_fail(err, -EINVAL, "there is no source %u", source);
	t = r->track[source - 1];
	if (!t->source || !t->source->ops->type)
		return ww_fail(err, -EOPNOTSUPP, "%s: readings are typed into manual: sources only",
			       t->shown);
	now.lo_ns = now.hi_ns = ww_loop_now(r->loop);
	return t->source->ops->type(t->source, now, value, label ? label : "", err);
}

/* --------------------------------------------------------------- the end */

static void run_loop_for(struct ww_recorder *r, int64_t ns)
{
	int64_t until = ww_loop_now(r->loop) + ns;

	while (ns > 0 && ww_loop_now(r->loop) < until) {
		struct pollfd p = {.fd = ww_loop_fd(r->loop), .events = POLLIN};

		if (!r->virtual_time)
			poll(&p, 1, 5);
		if (ww_loop_dispatch(r->loop, NULL) < 0)
			break;
	}
}

static void put_lateness(struct ww_recorder *r)
{
	int64_t max, p99;
	char text[32];

	ww_recorder_lateness(r, &max, &p99);
	if (max < 0)
		return;
	snprintf(text, sizeof(text), "%lld", (long long)max);
	ww_recorder_put_meta(r, "recorder.late_max_ns", text);
	snprintf(text, sizeof(text), "%lld", (long long)p99);
	ww_recorder_put_meta(r, "recorder.late_p99_ns", text);
}

int ww_recorder_stop(struct ww_recorder *r, struct ww_error *err)
{
	struct ww_interval now;
	int64_t need = 0;

	if (r->stopped)
		return 0;
	if (!r->started) {
		r->stopped = true;
		return 0;
	}
	for (size_t i = 0; i < r->tracks; i++) {
		int64_t ns = ww_track_stop(r->track[i]);

		need = ns > need ? ns : need;
	}
	run_loop_for(r, need < STOP_NS ? need : STOP_NS);
	for (size_t i = 0; i < r->tracks; i++)
		ww_track_finish(r->track[i]);
	now.lo_ns = now.hi_ns = ww_loop_now(r->loop);
	ww_recorder_put_mark(r, WW_SOURCE_NONE, now, 0, WW_MARK_STOP, "");
	if (ww_loop_anchor(r->loop, &r->keeper.last) == 0)
		ww_recorder_put_anchor(r, &r->keeper.last);
	put_lateness(r);
	r->stopped = true;
	return ww_store_end(&r->store, err);
}

void ww_recorder_free(struct ww_recorder *r)
{
	if (!r)
		return;
	if (r->started)
		ww_recorder_stop(r, NULL);
	r->stopped = true;
	for (size_t i = 0; i < r->tracks; i++)
		ww_track_free(r->track[i]);
	ww_timekeeper_free(&r->keeper);
	ww_loop_free(r->loop);
	ww_store_free(&r->store);
	for (size_t i = 0; i < r->warnings; i++)
		free(r->warning[i]);
	free(r->path);
	free(r->program);
	free(r->command);
	free(r);
}
