/* SPDX-License-Identifier: MIT */
/* One source of a recorder: its sink, and what happens when its device goes away. */
#include "capture/capture.h"

#include <math.h>
#include <stdio.h>

#define RETRY_NS (250 * WW_NS_PER_MS)
/* Of a meter that never gave a record, and of one that wants another login. */
#define NEVER_NS (1 * WW_NS_PER_S)
#define LOGIN_NS (30 * WW_NS_PER_S)
/*
 * A device that is opened again and gives a record is back; or stays for this long, where it
 * may have nothing to say. A meter that says nothing is not back.
 */
#define STAYS_NS (1 * WW_NS_PER_S)

/* Rows of one item: keeps items small against the queue, and blocks whole. */
#define ROWS_PER_ITEM 2048

static void note_lost(struct ww_track *t, struct ww_lost *lost, uint64_t n, int64_t lo, int64_t hi)
{
	if (lost->n == 0)
		lost->t.lo_ns = lo;
	lost->t.hi_ns = hi;
	lost->n += n;
	t->rec->lost += n;
}

/* The queue has room again: say what it did not have room for. */
static void tell_lost(struct ww_track *t, uint16_t index, struct ww_lost *lost)
{
	if (lost->n == 0)
		return;
	if (ww_recorder_put_gap(t->rec, index, lost->t, (int64_t)lost->n, "queue full") == 0)
		lost->n = 0;
}

/* Data after an absence: the hole is from the last record to this one. */
static void close_gap(struct ww_track *t, int64_t to)
{
	struct ww_interval hole = {t->out_from, to};

	if (t->out_from == WW_TIME_MIN)
		return;
	t->out_from = WW_TIME_MIN;
	if (hole.hi_ns < hole.lo_ns)
		hole.hi_ns = hole.lo_ns;
	ww_recorder_put_gap(t->rec, t->index, hole, -1, "unplugged");
	ww_beside_gap(t, hole, "unplugged");
}

static bool network(const struct ww_track *t)
{
	const char *name = t->desc->info.transport.name;

	return strcmp(name, "tcp") == 0 || strcmp(name, "http") == 0;
}

/*
 * Does an opening that lasts prove that the device is back? A meter is back when it gives
 * a reading; anything else over a network when there is a connection.
 */
static bool proven(const struct ww_track *t)
{
	struct ww_port *port =
		t->source && t->source->ops->port ? t->source->ops->port(t->source) : NULL;

	if (t->desc->info.kind == WW_METER)
		return false;
	return !port || ww_port_ready(port);
}

/* Opening again was the return, not an attempt. */
static void confirm(struct ww_track *t)
{
	int64_t at = t->back_ns;
	char text[64];

	if (!at)
		return;
	t->back_ns = 0;
	ww_timer_set(t->retry, WW_TIME_MAX, 0);
	/* A line that is heard again and says nothing is silent; a meter gave nothing yet. */
	if (t->desc->info.kind == WW_SERIAL || t->desc->info.kind == WW_LINE)
		close_gap(t, at);
	snprintf(text, sizeof(text), "after %.1f s", (double)(at - t->lost_ns) / 1e9);
	ww_recorder_put_mark(t->rec, t->index, (struct ww_interval){at, at}, 0, WW_MARK_REPLUGGED,
			     text);
}

static void on_samples(void *ctx, size_t n, const int64_t *lo, const int64_t *hi,
		       const int64_t *codes)
{
	struct ww_track *t = ctx;
	size_t ch = t->desc->channels;

	if (n == 0 || t->rec->stopped)
		return;
	confirm(t);
	close_gap(t, lo[0]);
	t->n += n;
	t->rec->samples += n;
	t->last_ns = hi[n - 1];
	t->state = WW_TRACK_GIVING;
	for (size_t c = 0; c < ch; c++)
		t->code[c] = codes[(n - 1) * ch + c];
	for (size_t i = 0; i < n; i += ROWS_PER_ITEM) {
		size_t k = n - i < ROWS_PER_ITEM ? n - i : ROWS_PER_ITEM;
		struct ww_item_samples *h;
		int64_t *p;

		tell_lost(t, t->index, &t->lost);
		h = ww_recorder_reserve(t->rec, WW_ITEM_SAMPLES, t->index,
					sizeof(*h) + k * (2 + ch) * sizeof(int64_t));
		if (!h) {
			note_lost(t, &t->lost, k, lo[i], hi[i + k - 1]);
			continue;
		}
		*h = (struct ww_item_samples){k, ch};
		p = (int64_t *)(h + 1);
		memcpy(p, lo + i, k * sizeof(*p));
		memcpy(p + k, hi + i, k * sizeof(*p));
		memcpy(p + 2 * k, codes + i * ch, k * ch * sizeof(*p));
		ww_ring_commit(&t->rec->store.ring);
	}
}

void ww_track_bytes(struct ww_track *t, uint16_t index, struct ww_lost *lost,
		    struct ww_interval when, const uint8_t *data, size_t n)
{
	struct ww_item_bytes *h;

	tell_lost(t, index, lost);
	h = ww_recorder_reserve(t->rec, WW_ITEM_BYTES, index, sizeof(*h) + n);
	if (!h) {
		note_lost(t, lost, n, when.lo_ns, when.hi_ns);
		return;
	}
	*h = (struct ww_item_bytes){when, n};
	memcpy(h + 1, data, n);
	ww_ring_commit(&t->rec->store.ring);
}

static void on_bytes(void *ctx, struct ww_interval when, const uint8_t *data, size_t n)
{
	struct ww_track *t = ctx;

	if (n == 0 || t->rec->stopped)
		return;
	confirm(t);
	close_gap(t, when.lo_ns);
	t->n += n;
	t->rec->bytes += n;
	t->last_ns = when.hi_ns;
	t->state = WW_TRACK_GIVING;
	ww_track_bytes(t, t->index, &t->lost, when, data, n);
	if (!t->dutinfo)
		t->dutinfo = ww_dutinfo_new(t->rec);
	if (t->dutinfo)
		ww_dutinfo_feed(t->dutinfo, when, data, n);
}

static void on_mark(void *ctx, struct ww_interval when, const char *kind, const char *text)
{
	struct ww_track *t = ctx;

	ww_recorder_put_mark(t->rec, t->index, when, 0, kind, text);
}

static void on_gap(void *ctx, struct ww_interval when, int64_t lost, const char *reason)
{
	struct ww_track *t = ctx;

	if (strcmp(reason, "silent") == 0 && t->state == WW_TRACK_GIVING)
		t->state = WW_TRACK_SILENT;
	ww_recorder_put_gap(t->rec, t->index, when, lost, reason);
}

/* Until the next attempt. */
static int64_t pause_of(const struct ww_track *t, const struct ww_error *why)
{
	if (why->code == -EACCES && network(t))
		return LOGIN_NS;
	return t->n ? RETRY_NS : NEVER_NS;
}

/* Does no other source give anything, now or later? */
static bool alone(const struct ww_track *t)
{
	for (size_t i = 0; i < t->rec->tracks; i++) {
		const struct ww_track *o = t->rec->track[i];

		if (o != t && (o->n || o->state != WW_TRACK_UNPLUGGED))
			return false;
	}
	return true;
}

/*
 * Lost before it gave anything. Over a network that is a wrong address, not an unplugging,
 * or a device that is switched on later; the rest is recorded in any case.
 */
static void never_came(struct ww_track *t, const struct ww_error *why)
{
	bool hopeless = why->code == -EACCES || why->code == -EINVAL || why->code == -ENODEV ||
			strcmp(t->desc->info.transport.name, "tcp") == 0;
	char text[256];

	if (!network(t))
		return;
	if (hopeless && alone(t)) {
		ww_fail(&t->rec->fatal, why->code ? why->code : -ENOTCONN, "%s", why->text);
		return;
	}
	ww_recorder_warn(t->rec, why->text);
	snprintf(text, sizeof(text),
		 "%.64s: nothing came from it yet; it is tried again until "
		 "something does",
		 t->label);
	ww_recorder_warn(t->rec, text);
}

static void on_lost(void *ctx, const struct ww_error *why)
{
	struct ww_track *t = ctx;
	int64_t now = ww_loop_now(t->rec->loop);

	if (t->state == WW_TRACK_UNPLUGGED || t->rec->stopped)
		return;
	t->why = *why;
	/* Gone at once: an attempt that failed, of which there may be many. */
	if (t->back_ns) {
		t->back_ns = 0;
		t->state = WW_TRACK_UNPLUGGED;
		ww_timer_set(t->retry, now + pause_of(t, why), 0);
		return;
	}
	if (!t->lost_ns && t->n == 0)
		never_came(t, why);
	t->lost_ns = now;
	if (t->out_from == WW_TIME_MIN)
		t->out_from = t->last_ns ? t->last_ns : now;
	t->state = WW_TRACK_UNPLUGGED;
	ww_recorder_put_mark(t->rec, t->index, (struct ww_interval){t->out_from, now}, 0,
			     WW_MARK_UNPLUGGED, why->text);
	/* Not closed here: this runs inside the source's own callback. */
	ww_timer_set(t->retry, t->n ? now : now + pause_of(t, why), 0);
}

static void on_ended(void *ctx)
{
	struct ww_track *t = ctx;

	t->state = WW_TRACK_ENDED;
}

static void on_warn(void *ctx, const char *text)
{
	struct ww_track *t = ctx;

	ww_recorder_warn(t->rec, text);
}

/* A name that no other source of this recording has. */
static int make_label(struct ww_track *t, int kind)
{
	static const char *const base[] = {"meter", "port", "line", "meter"};
	const char *stem = t->name ? t->name : base[kind >= 0 && kind < 4 ? kind : 0];
	unsigned number = 1;
	char buf[160];

	for (bool taken = true; taken; number++) {
		if (number == 1)
			snprintf(buf, sizeof(buf), "%s", stem);
		else
			snprintf(buf, sizeof(buf), "%s%u", stem, number);
		taken = false;
		for (size_t i = 0; i < t->rec->tracks; i++)
			if (t->rec->track[i]->label && strcmp(t->rec->track[i]->label, buf) == 0)
				taken = true;
	}
	t->label = strdup(buf);
	return t->label ? 0 : -ENOMEM;
}

/* Every source takes ?role=; those that do not look at it have it set here. */
static int copy_desc(const struct ww_track *t, const struct ww_source_info *info,
		     const struct ww_channel_info *channels, size_t n, struct ww_desc **out)
{
	struct ww_source_info with_role = *info;
	struct ww_uri uri;

	if (ww_uri_parse(t->uri, &uri, NULL) < 0)
		return -ENOMEM;
	if (!info->role || !*info->role)
		with_role.role = ww_uri_get(&uri, "role", "");
	*out = ww_desc_copy(&with_role, channels, n, t->label);
	ww_uri_free(&uri);
	return *out ? 0 : -ENOMEM;
}

static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

/* Did a meter's answer show how fine it is? */
static bool refined(const struct ww_desc *was, const struct ww_desc *is)
{
	for (size_t i = 0; i < is->channels; i++) {
		const struct ww_channel_info *a = &was->channel[i], *b = &is->channel[i];

		if (!same_number(a->resolution, b->resolution) ||
		    !same_number(a->acc_abs, b->acc_abs) || !same_number(a->acc_rel, b->acc_rel) ||
		    !same_number(a->wrap, b->wrap))
			return true;
	}
	return false;
}

static int on_describe(void *ctx, const struct ww_source_info *info,
		       const struct ww_channel_info *channels, size_t n, struct ww_error *err)
{
	struct ww_track *t = ctx;
	struct ww_desc *mine = NULL, *theirs = NULL;

	if (!t->label && make_label(t, info->kind) < 0)
		return ww_fail_nomem(err);
	if (copy_desc(t, info, channels, n, &mine) < 0 ||
	    copy_desc(t, info, channels, n, &theirs) < 0)
		goto nomem;
	if (!t->code) {
		t->code = calloc(n + 1, sizeof(*t->code));
		if (!t->code)
			goto nomem;
		for (size_t c = 0; c < n; c++)
			t->code[c] = WW_MISSING;
	} else if (t->desc && t->desc->channels != n) {
		ww_desc_free(mine);
		ww_desc_free(theirs);
		return ww_fail(err, -EPROTO, "%s: came back with %zu channels instead of %zu",
			       t->shown, n, t->desc->channels);
	}
	theirs->refined = t->desc && refined(t->desc, theirs);
	ww_desc_free(t->desc);
	t->desc = mine;
	if (ww_recorder_put_desc(t->rec, t->index, theirs) < 0)
		return ww_fail(err, -ENOBUFS, "%s: queue full", t->shown);
	return 0;
nomem:
	ww_desc_free(mine);
	ww_desc_free(theirs);
	return ww_fail_nomem(err);
}

int ww_track_open(struct ww_track *t, struct ww_error *err)
{
	struct ww_source_setup setup = {
		.loop = t->rec->loop,
		.sink = {.ctx = t,
			 .describe = on_describe,
			 .samples = on_samples,
			 .bytes = on_bytes,
			 .raw = ww_track_raw,
			 .beside = ww_beside_describe,
			 .beside_sample = ww_beside_sample,
			 .turn = ww_track_turn,
			 .mark = on_mark,
			 .gap = on_gap,
			 .lost = on_lost,
			 .ended = on_ended,
			 .warn = on_warn},
		.uri = t->uri,
		.every_ns = t->rec->opt.every_ns,
		.memory = t->memory,
	};

	if (!t->first_open_ns)
		t->first_open_ns = ww_loop_now(t->rec->loop);
	setup.first_open_ns = t->first_open_ns;
	return ww_source_open(&setup, &t->source, err);
}

static void keep_lateness(struct ww_track *t)
{
	int64_t max = -1, p99 = -1;

	if (!t->source || !t->source->ops->lateness)
		return;
	t->source->ops->lateness(t->source, &max, &p99);
	if (max > t->rec->late_max)
		t->rec->late_max = max;
	if (p99 > t->rec->late_p99)
		t->rec->late_p99 = p99;
}

static void close_source(struct ww_track *t)
{
	if (!t->source)
		return;
	keep_lateness(t);
	t->source->ops->close(t->source);
	t->source = NULL;
}

static void on_retry(void *ctx, int64_t now, int64_t late)
{
	struct ww_track *t = ctx;
	struct ww_error err = {0};

	(void)late;
	if (t->back_ns) {
		if (proven(t))
			confirm(t);
		else
			ww_timer_set(t->retry, now + STAYS_NS, 0);
		return;
	}
	close_source(t);
	if (t->rec->stopped)
		return;
	if (ww_track_open(t, &err) < 0) {
		close_source(t);
		/* Waiting helps against everything but this: somebody has to do something. */
		if (err.code == -EREMCHG)
			ww_recorder_warn(t->rec, err.text);
		ww_timer_set(t->retry, now + RETRY_NS, 0);
		return;
	}
	if (t->source->ops->start(t->source, &err) < 0) {
		close_source(t);
		ww_timer_set(t->retry, now + RETRY_NS, 0);
		return;
	}
	t->state = WW_TRACK_WAITING;
	t->back_ns = now;
	ww_timer_set(t->retry, now + STAYS_NS, 0);
}

int ww_track_start(struct ww_track *t, struct ww_error *err)
{
	int rc = ww_loop_timer(t->rec->loop, on_retry, t, &t->retry, err);

	if (rc < 0)
		return rc;
	t->started = true;
	return t->source->ops->start(t->source, err);
}

int64_t ww_track_stop(struct ww_track *t)
{
	return t->source && t->started && t->state != WW_TRACK_UNPLUGGED
		       ? t->source->ops->stop(t->source)
		       : 0;
}

void ww_track_finish(struct ww_track *t)
{
	keep_lateness(t);
	if (proven(t))
		confirm(t);
	close_gap(t, ww_loop_now(t->rec->loop));
	tell_lost(t, t->index, &t->lost);
	tell_lost(t, t->raw.index, &t->raw.lost);
	tell_lost(t, t->turns.index, &t->turns.lost);
}

void ww_track_free(struct ww_track *t)
{
	if (!t)
		return;
	close_source(t);
	ww_timer_free(t->retry);
	ww_dutinfo_free(t->dutinfo);
	ww_desc_free(t->desc);
	free(t->code);
	free(t->uri);
	free(t->shown);
	free(t->name);
	free(t->label);
	free(t);
}
