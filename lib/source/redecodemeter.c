/* SPDX-License-Identifier: MIT */
/* The driver of one meter once more, fed with what the recorder kept. */
#include "source/meterport.h"
#include "source/redecode.h"
#include "trace/writer.h"

#include <stdio.h>

const struct ww_source_info *ww_redo_side(const struct ww_trace *t, const struct ww_source_info *of,
					  const char *role)
{
	const char *name = of->name;
	size_t n = strlen(name);

	for (size_t i = 0; i < ww_trace_source_count(t); i++) {
		const struct ww_source_info *s = ww_trace_source(t, i);

		/* A port that somebody named so has a driver of its own. */
		if (s->kind == WW_SERIAL && strcmp(s->driver, of->driver) == 0 &&
		    strncmp(s->name, name, n) == 0 && s->name[n] == '.' &&
		    strcmp(s->name + n + 1, role) == 0)
			return s;
	}
	return NULL;
}

/* ------------------------------------------------------- what the driver says */

static void broke(struct ww_redo *r, int rc, const struct ww_error *err)
{
	if (rc < 0 && !r->why.code)
		ww_fail(&r->why, rc, "%s", err->text);
}

void ww_redo_hand_over(struct ww_redo *r)
{
	struct ww_error err = {0};
	size_t n = r->n;

	r->n = 0;
	if (n && !r->why.code)
		broke(r, ww_writer_samples(r->w, r->id, n, r->lo, r->hi, r->codes, &err), &err);
}

static void on_send(void *ctx, const void *data, size_t n)
{
	(void)ctx;
	(void)data;
	(void)n;
}

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct ww_redo *r = ctx;

	t = ww_meter_in_order(t, &r->last_ns);
	r->lo[r->n] = t.lo_ns;
	r->hi[r->n] = t.hi_ns;
	memcpy(r->codes + r->n * r->shape.channels, codes, r->shape.channels * sizeof(*codes));
	if (++r->n == WW_REDO_BATCH)
		ww_redo_hand_over(r);
}

void ww_redo_event(struct ww_redo *r, struct ww_interval t, int64_t lost, const char *kind,
		   const char *text)
{
	struct ww_redo_event *e, *list;
	size_t cap = r->cap_events ? r->cap_events * 2 : 64;

	if (r->why.code)
		return;
	if (r->events == r->cap_events) {
		list = realloc(r->event, cap * sizeof(*list));
		if (!list) {
			ww_fail_nomem(&r->why);
			return;
		}
		r->event = list;
		r->cap_events = cap;
	}
	e = &r->event[r->events];
	*e = (struct ww_redo_event){.t = t, .lost = lost, .text = strdup(text)};
	e->kind = kind ? strdup(kind) : NULL;
	r->events++;
	if (!e->text || (kind && !e->kind))
		ww_fail_nomem(&r->why);
}

static void on_event(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	ww_redo_event(ctx, t, 0, kind, text);
}

static void on_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	ww_redo_event(ctx, t, lost, NULL, reason);
}

static void replace(struct ww_redo *r, char **where, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		ww_fail_nomem(&r->why);
	if (!copy)
		return;
	free(*where);
	*where = copy;
}

/* What it is, in the words of this driver. */
static void describe_again(struct ww_redo *r)
{
	r->now.period_ns = r->shape.period_ns;
	r->now.window_ns = r->shape.window_ns;
	r->now.delay_min_ns = r->shape.delay_min_ns;
	r->now.delay_max_ns = r->shape.delay_max_ns;
	if (r->model)
		r->now.model = r->model;
	if (r->serial)
		r->now.serial = r->serial;
	if (r->firmware)
		r->now.firmware = r->firmware;
}

/* An answer may have shown how fine the meter is. */
static void refine(struct ww_redo *r)
{
	struct ww_error err = {0};

	for (size_t i = 0; i < r->shape.channels && !r->why.code; i++) {
		struct ww_channel_info c;

		ww_meter_channel(r->meter, r->state, i, &c);
		if (c.resolution == r->resolution[i])
			continue;
		r->resolution[i] = c.resolution;
		c.id = r->first + (uint32_t)i;
		c.source = r->id;
		broke(r, ww_writer_refine(r->w, &c, &err), &err);
	}
}

static void on_identity(void *ctx, const char *model, const char *serial, const char *firmware)
{
	struct ww_redo *r = ctx;
	size_t channels = r->shape.channels;
	struct ww_error err = {0};

	ww_redo_hand_over(r);
	replace(r, &r->model, model);
	replace(r, &r->serial, serial);
	replace(r, &r->firmware, firmware);
	r->shape = ww_meter_shape(r->meter, r->state);
	r->shape.channels = channels;
	describe_again(r);
	if (!r->why.code)
		broke(r, ww_writer_update_source(r->w, &r->now, &err), &err);
	refine(r);
}

static bool said_before(const struct ww_trace *t, const char *text)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(t, i)); i++)
		if (strcmp(m->kind, "warning") == 0 && strstr(m->text, text))
			return true;
	return false;
}

static void on_fail(void *ctx, int code, const char *text)
{
	struct ww_redo *r = ctx;

	(void)code;
	r->failed = true;
	if (!said_before(r->t, text))
		ww_note(r->notes, "%s: its driver now gives it up: %s", r->info->name, text);
}

int ww_redo_next(struct ww_redo *r, struct ww_turn_record *out, struct ww_error *err)
{
	if (!r->has_next)
		return ww_feed_turn(&r->turns, out, &r->text, &r->text_cap, err);
	*out = r->next;
	r->has_next = false;
	return 1;
}

/* As the port answered then, which its driver goes by. */
static int on_baud(void *ctx, int64_t baud)
{
	struct ww_redo *r = ctx;

	(void)baud;
	if (!r->turns_info || ww_redo_next(r, &r->next, NULL) <= 0)
		return 0;
	if (r->next.turn == WW_TURN_BAUD)
		return r->next.n ? -ENOTSUP : 0;
	r->has_next = true;
	return 0;
}

struct ww_meter_out ww_redo_out(struct ww_redo *r)
{
	return (struct ww_meter_out){.ctx = r,
				     .bus = r->bus,
				     .send = on_send,
				     .reading = on_reading,
				     .event = on_event,
				     .loss = on_loss,
				     .identity = on_identity,
				     .fail = on_fail,
				     .baud = on_baud};
}

/* ------------------------------------------------------------------ its state */

static void drop_state(struct ww_redo *r)
{
	if (r->inited && r->meter->drop)
		r->meter->drop(r->state);
	r->inited = r->live = false;
}

static int fresh_state(struct ww_redo *r, struct ww_error *err)
{
	struct ww_error why = {0};
	struct ww_uri uri;
	int rc = ww_uri_parse(r->info->uri, &uri, err);

	if (rc < 0)
		return rc;
	drop_state(r);
	memset(r->state, 0, r->meter->desc.state_size);
	rc = r->meter->init(r->state, &uri, r->every_ns, &why);
	ww_uri_free(&uri);
	if (rc < 0)
		return ww_fail(err, rc, "%s cannot be opened by this version: %s", r->info->uri,
			       why.text);
	r->inited = true;
	if (r->listing && r->meter->look)
		rc = r->meter->look(r->state, r->listing, r->listing_n, &why);
	if (rc < 0)
		return ww_fail(err, rc, "%s: %s", r->info->uri, why.text);
	return 0;
}

int ww_redo_begin(struct ww_redo *r, int64_t now, struct ww_error *err)
{
	struct ww_meter_out out = ww_redo_out(r);
	int rc = fresh_state(r, err);

	if (rc < 0)
		return rc;
	if (ww_meter_shape(r->meter, r->state).channels != r->shape.channels)
		return ww_fail(err, -EPROTO, "it came back with other channels");
	r->live = true;
	r->failed = false;
	r->meter->start(r->state, now, &out);
	return 0;
}

int ww_redo_listing(struct ww_redo *r, size_t n, struct ww_error *err)
{
	char *copy = malloc(n + 1);

	if (!copy)
		return ww_fail_nomem(err);
	if (n)
		memcpy(copy, r->text, n);
	copy[n] = '\0';
	free(r->listing);
	r->listing = copy;
	r->listing_n = n;
	return 0;
}

static int not_kept(struct ww_error *err)
{
	return ww_fail(err, -ENODATA, "what it sent was not kept: record with --raw");
}

/* What its first start was made with, before anything is decoded. */
static int look_ahead(struct ww_redo *r, struct ww_error *err)
{
	struct ww_turn_record turn;
	bool started = false;
	int rc = ww_feed_open(r->t, r->turns_info, &r->turns, err);

	while (rc >= 0 && (rc = ww_redo_next(r, &turn, err)) > 0) {
		if (turn.turn == WW_TURN_FEED && turn.n && !r->raw_info)
			return not_kept(err);
		if (turn.turn == WW_TURN_LOOK && !started)
			rc = ww_redo_listing(r, (size_t)turn.n, err);
		if (turn.turn != WW_TURN_START || started)
			continue;
		started = true;
		r->every_ns = turn.n > (uint64_t)INT64_MAX ? 0 : (int64_t)turn.n;
		/* One that never sent a byte has turns only: they are all looked at. */
		if (r->raw_info)
			break;
	}
	return rc < 0 ? rc : ww_feed_open(r->t, r->turns_info, &r->turns, err);
}

static int find_meter(struct ww_redo *r, struct ww_error *err)
{
	char place[WW_METER_PLACE];
	struct ww_uri uri;
	int rc;

	r->meter = ww_meter_find(r->info->driver);
	if (!r->meter)
		return ww_fail(err, -ENOENT, "this version has no driver '%s'", r->info->driver);
	if (r->meter->desc.left_out)
		return ww_fail(err, -ENOTSUP, "its driver '%s' was built without %s",
			       r->info->driver, r->meter->desc.needs);
	r->raw_info = ww_redo_side(r->t, r->info, "raw");
	r->turns_info = ww_redo_side(r->t, r->info, "turns");
	if (!r->raw_info && !r->turns_info)
		return not_kept(err);
	rc = ww_uri_parse(r->info->uri, &uri, err);
	if (rc < 0)
		return rc;
	rc = ww_meter_place(&r->meter->desc, &uri, place, sizeof(place), &r->bus, err);
	ww_uri_free(&uri);
	if (rc == 0 && !r->turns_info && r->meter->look)
		rc = ww_fail(err, -ENODATA, "it was recorded before what its folder held was kept");
	return rc;
}

static int open_parts(struct ww_redo *r, struct ww_error *err)
{
	int rc = find_meter(r, err);

	if (rc < 0)
		return rc;
	r->state = calloc(1, r->meter->desc.state_size);
	if (!r->state)
		return ww_fail_nomem(err);
	rc = r->raw_info ? ww_feed_open(r->t, r->raw_info, &r->raw, err) : 0;
	if (rc == 0 && r->turns_info)
		rc = look_ahead(r, err);
	if (rc == 0)
		rc = fresh_state(r, err);
	if (rc < 0)
		return rc;
	r->shape = ww_meter_shape(r->meter, r->state);
	r->codes = calloc(WW_REDO_BATCH * (r->shape.channels + 1), sizeof(*r->codes));
	return r->codes ? 0 : ww_fail_nomem(err);
}

int ww_redo_open(struct ww_trace *t, const struct ww_source_info *info, struct ww_notes *notes,
		 struct ww_redo **out, struct ww_error *err)
{
	struct ww_redo *r = calloc(1, sizeof(*r));
	struct ww_error why = {0};
	int rc;

	*out = NULL;
	if (!r)
		return ww_fail_nomem(err);
	r->t = t;
	r->info = info;
	r->notes = notes;
	r->last_ns = r->raw_ns = WW_TIME_MIN;
	rc = open_parts(r, &why);
	if (rc < 0) {
		ww_redo_free(r);
		return ww_fail(err, rc, "%s cannot be decoded again: %s", info->name, why.text);
	}
	*out = r;
	return 0;
}

void ww_redo_free(struct ww_redo *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->events; i++) {
		free(r->event[i].kind);
		free(r->event[i].text);
	}
	if (r->meter)
		drop_state(r);
	ww_cursor_close(r->raw.cursor);
	ww_cursor_close(r->turns.cursor);
	free(r->event);
	free(r->state);
	free(r->listing);
	free(r->buf);
	free(r->text);
	free(r->codes);
	free(r->model);
	free(r->serial);
	free(r->firmware);
	free(r);
}

int ww_redo_describe(struct ww_redo *r, struct ww_writer *w, struct ww_error *err)
{
	int rc;

	r->w = w;
	r->now = *r->info;
	describe_again(r);
	rc = ww_writer_source(w, &r->now, err);
	if (rc < 0)
		return rc;
	r->now.id = r->id = (uint32_t)rc;
	for (size_t i = 0; rc >= 0 && i < r->shape.channels; i++) {
		struct ww_channel_info c;

		ww_meter_channel(r->meter, r->state, i, &c);
		c.source = r->id;
		r->resolution[i] = c.resolution;
		rc = ww_writer_channel(w, &c, err);
		if (i == 0 && rc > 0)
			r->first = (uint32_t)rc;
	}
	return rc < 0 ? rc : 0;
}
