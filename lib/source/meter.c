/* SPDX-License-Identifier: MIT */
/* Any meter of lib/meter on any port of lib/bus. */
#include "source/meterport.h"
#include "source/shareline.h"
#include "source/source.h"

#include <stdio.h>

/* Time for the last orders to leave the machine: 64 characters at 1200 baud. */
#define STOP_NS (100 * WW_NS_PER_MS)
/* A connection that is being made is looked at this often. */
#define WAIT_NS (5 * WW_NS_PER_MS)
/* Readings of one turn are handed over together: a meter may give 100 000 a second. */
#define BATCH 1024

struct meter_source {
	struct ww_source base;
	const struct ww_meter_ops *meter;
	struct ww_sink sink;
	struct ww_loop *loop;
	struct ww_timer *timer;
	struct ww_port *port;
	struct ww_sharer share; /* of the port, with the other meters on its line */
	char *uri, *model, *serial, *firmware, place[WW_METER_PLACE];
	enum ww_bus bus;
	struct ww_meter_shape shape;
	bool started, lost, inited;
	bool hung_up;	     /* between two connections of a meter that hangs up */
	struct ww_error off; /* how the last connection ended by itself */
	char *memory;	     /* of the setup */
	size_t n;	     /* readings that wait to be handed over */
	int64_t last_ns;     /* of the newest reading */
	int64_t lo[BATCH], hi[BATCH], *codes;
	struct ww_error why; /* failure found while the meter's code was running */
	void *state;
};

/* Before anything else is said: the order of records is the order of what happened. */
static void hand_over(struct meter_source *s)
{
	size_t n = s->n;

	s->n = 0;
	if (n)
		s->sink.samples(s->sink.ctx, n, s->lo, s->hi, s->codes);
}

static void turn(struct meter_source *s, struct ww_interval t, int what, const void *data, size_t n)
{
	if (s->sink.turn)
		s->sink.turn(s->sink.ctx, t, what, data, n);
}

static int describe(struct meter_source *s, struct ww_error *err)
{
	struct ww_channel_info channel[WW_METER_CHANNELS];
	const struct ww_meter_desc *d = &s->meter->desc;
	char notes[256];
	struct ww_source_info info = {
		.kind = WW_METER,
		.name = "",
		.uri = s->uri,
		.driver = d->name,
		.model = s->model ? s->model : "",
		.serial = s->serial ? s->serial : "",
		.firmware = s->firmware ? s->firmware : "",
		.notes = notes,
		.period_ns = s->shape.period_ns,
		.window_ns = s->shape.window_ns,
		.delay_min_ns = s->shape.delay_min_ns,
		.delay_max_ns = s->shape.delay_max_ns,
		.transport = s->port ? *ww_port_transport(s->port)
				     : (struct ww_transport){.name = "tcp", .settings = ""},
	};

	ww_meter_notes(d, notes, sizeof(notes));
	for (size_t i = 0; i < s->shape.channels; i++)
		ww_meter_channel(s->meter, s->state, i, &channel[i]);
	return s->sink.describe(s->sink.ctx, &info, channel, s->shape.channels, err);
}

/* ------------------------------------------------------- what the meter says */

static void fail_with(struct meter_source *s, int code, const char *text)
{
	if (s->why.code)
		return;
	ww_fail(&s->why, code, "%s: %s%s%s%s", s->uri, text, s->off.code ? " (" : "", s->off.text,
		s->off.code ? ")" : "");
}

/* What the port says begins with its place. */
static void port_failed(struct meter_source *s, const struct ww_error *err)
{
	if (!s->why.code)
		ww_fail(&s->why, err->code, "%s:%s", s->meter->desc.name, err->text);
}

static int connect_again(struct meter_source *s, struct ww_error *err);

/* One answer a connection: what goes wrong with one is silence, which the meter's code tells. */
static void send_once(struct meter_source *s, const void *data, size_t n)
{
	struct ww_error err = {0};

	if (!n) {
		s->hung_up = true;
	} else if ((s->hung_up && connect_again(s, &err) < 0) ||
		   ww_port_write(s->port, data, n, &err) < 0) {
		s->hung_up = true;
		s->off = err;
	}
}

static void on_send(void *ctx, const void *data, size_t n)
{
	struct meter_source *s = ctx;
	struct ww_error err = {0};

	if (s->meter->desc.reconnect)
		send_once(s, data, n);
	else if (ww_port_write(s->port, data, n, &err) < 0)
		port_failed(s, &err);
}

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct meter_source *s = ctx;

	t = ww_meter_in_order(t, &s->last_ns);
	s->lo[s->n] = t.lo_ns;
	s->hi[s->n] = t.hi_ns;
	memcpy(s->codes + s->n * s->shape.channels, codes, s->shape.channels * sizeof(*codes));
	if (++s->n == BATCH)
		hand_over(s);
}

static void on_event(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	struct meter_source *s = ctx;

	hand_over(s);
	s->sink.mark(s->sink.ctx, t, kind, text);
}

static void on_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	struct meter_source *s = ctx;

	hand_over(s);
	s->sink.gap(s->sink.ctx, t, lost, reason);
}

static void on_identity(void *ctx, const char *model, const char *serial, const char *firmware)
{
	struct meter_source *s = ctx;
	struct ww_error err = {0};
	struct ww_meter_shape now;

	hand_over(s);
	if (ww_meter_keep(&s->model, model) < 0 || ww_meter_keep(&s->serial, serial) < 0 ||
	    ww_meter_keep(&s->firmware, firmware) < 0) {
		ww_fail_nomem(&err);
	} else {
		now = ww_meter_shape(s->meter, s->state);
		now.channels = s->shape.channels;
		s->shape = now;
		describe(s, &err);
	}
	if (err.code)
		fail_with(s, err.code, err.text);
}

/* A wrong or mute device is no unplugged one: the user has to do something. */
static void on_fail(void *ctx, int code, const char *text)
{
	struct meter_source *s = ctx;

	fail_with(s, code, text);
	s->sink.warn(s->sink.ctx, s->why.text);
}

static int on_baud(void *ctx, int64_t baud)
{
	struct meter_source *s = ctx;
	int64_t now = ww_loop_now(s->loop);
	int rc = ww_share_baud(&s->share, s->port, baud);

	turn(s, (struct ww_interval){now, now}, WW_TURN_BAUD, NULL, rc < 0);
	return rc;
}

static struct ww_meter_out out_of(struct meter_source *s)
{
	return (struct ww_meter_out){.ctx = s,
				     .bus = s->bus,
				     .send = on_send,
				     .reading = on_reading,
				     .event = on_event,
				     .loss = on_loss,
				     .identity = on_identity,
				     .fail = on_fail,
				     .baud = on_baud};
}

/* After each turn of the meter's code. A failure is passed on last: the sink may close us. */
static void turn_done(struct meter_source *s)
{
	hand_over(s);
	if (s->hung_up) {
		ww_port_close(s->port);
		s->port = NULL;
	}
	if (s->why.code || !s->meter->busy || !s->meter->busy(s->state))
		ww_share_release(&s->share);
	if (!s->why.code) {
		ww_timer_set(s->timer, s->meter->deadline(s->state), 0);
		return;
	}
	ww_timer_set(s->timer, WW_TIME_MAX, 0);
	if (s->lost)
		return;
	s->lost = true;
	s->sink.lost(s->sink.ctx, &s->why);
}

/* -------------------------------------------------------- what the port says */

static void feed(struct meter_source *s, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct ww_meter_out out = out_of(s);

	turn(s, t, WW_TURN_FEED, NULL, n);
	s->sink.raw(s->sink.ctx, t, data, n);
	s->meter->feed(s->state, t, data, n, &out);
	turn_done(s);
}

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct meter_source *s = ctx;

	if (s->lost || !s->started || s->hung_up)
		return;
	s->off = (struct ww_error){0};
	feed(s, t, data, n);
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	struct meter_source *s = ctx;
	int64_t now = ww_loop_now(s->loop);

	if (s->lost)
		return;
	if (!s->meter->desc.reconnect) {
		port_failed(s, err);
		turn_done(s);
	} else if (!s->hung_up) {
		s->off = *err;
		s->hung_up = true;
		if (s->started)
			feed(s, (struct ww_interval){now, now}, (const uint8_t *)"", 0);
	}
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct meter_source *s = ctx;

	/* Lost bytes are no lost readings: the meter's code finds those by itself. */
	(void)lost;
	hand_over(s);
	turn(s, t, WW_TURN_TROUBLE, text, strlen(text));
	s->sink.mark(s->sink.ctx, t, WW_MARK_DEVICE, text);
}

static void begin(struct meter_source *s)
{
	struct ww_meter_out out = out_of(s);
	int64_t now = ww_loop_now(s->loop);
	const char *listing;
	size_t n;

	s->started = true;
	listing = ww_port_listing(s->port, &n);
	if (listing)
		turn(s, (struct ww_interval){now, now}, WW_TURN_LOOK, listing, n);
	turn(s, (struct ww_interval){now, now}, WW_TURN_START, NULL, 0);
	s->meter->start(s->state, now, &out);
	hand_over(s);
}

/* The driver's time begins when somebody is there to answer. */
static void try_begin(struct meter_source *s, int64_t now_ns)
{
	if (!s->meter->desc.reconnect && !ww_port_ready(s->port)) {
		ww_timer_set(s->timer, now_ns + WAIT_NS, 0);
		return;
	}
	begin(s);
	turn_done(s);
}

static void on_timer(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct meter_source *s = ctx;
	struct ww_meter_out out = out_of(s);

	(void)late_ns;
	if (s->lost)
		return;
	if (!s->started) {
		try_begin(s, now_ns);
		return;
	}
	if (!ww_share_take(&s->share))
		return;
	turn(s, (struct ww_interval){now_ns, now_ns}, WW_TURN_TICK, NULL, 0);
	s->meter->tick(s->state, now_ns, &out);
	turn_done(s);
}

/* ------------------------------------------------------------------- the port */

static int port_of(struct meter_source *s, struct ww_uri *uri, struct ww_error *err)
{
	const struct ww_port_setup ps = {
		.loop = s->loop,
		.place = s->place,
		.options = uri,
		.baud = s->meter->desc.baud,
		.read_every_ns = s->meter->desc.read_every_ns,
		.ev = {.ctx = s, .bytes = on_bytes, .lost = on_lost, .trouble = on_trouble},
		.usb = s->meter->desc.usb,
		.memory = s->memory};

	s->share.timer = s->timer;
	if (s->meter->busy && s->bus == WW_BUS_STREAM)
		return ww_share_open(&s->share, &ps, &s->port, err);
	return ww_port_open_setup(&ps, &s->port, err);
}

static int connect_again(struct meter_source *s, struct ww_error *err)
{
	struct ww_uri uri;
	int rc = ww_uri_parse(s->uri, &uri, err);

	if (rc < 0)
		return rc;
	ww_port_close(s->port);
	s->port = NULL;
	rc = port_of(s, &uri, err);
	ww_uri_free(&uri);
	if (rc == 0)
		s->hung_up = false;
	return rc;
}

/* ---------------------------------------------------------------- the source */

static int meter_start(struct ww_source *base, struct ww_error *err)
{
	struct meter_source *s = (struct meter_source *)base;

	if (!s->why.code && !s->meter->desc.reconnect && !ww_port_ready(s->port)) {
		try_begin(s, ww_loop_now(s->loop));
		return 0;
	}
	if (!s->why.code)
		begin(s);
	s->lost = s->why.code != 0;
	if (s->lost)
		return ww_fail(err, s->why.code, "%s", s->why.text);
	turn_done(s);
	return 0;
}

static int64_t meter_stop(struct ww_source *base)
{
	struct meter_source *s = (struct meter_source *)base;
	struct ww_meter_out out = out_of(s);
	int64_t now = ww_loop_now(s->loop);

	if (s->lost || !s->started)
		return 0;
	turn(s, (struct ww_interval){now, now}, WW_TURN_STOP, NULL, 0);
	s->meter->stop(s->state, &out);
	ww_share_release(&s->share);
	hand_over(s);
	if (s->port)
		ww_port_flush(s->port);
	ww_timer_set(s->timer, WW_TIME_MAX, 0);
	return STOP_NS;
}

static void meter_close(struct ww_source *base)
{
	struct meter_source *s = (struct meter_source *)base;

	ww_timer_free(s->timer);
	ww_share_close(&s->share, s->port);
	free(s->model);
	free(s->serial);
	free(s->firmware);
	free(s->uri);
	free(s->codes);
	if (s->state && s->inited && s->meter->drop)
		s->meter->drop(s->state);
	free(s->state);
	free(s);
}

static void meter_lateness(const struct ww_source *base, int64_t *max_ns, int64_t *p99_ns)
{
	const struct meter_source *s = (const struct meter_source *)base;

	if (s->port)
		ww_port_lateness(s->port, max_ns, p99_ns);
}

static const struct ww_source_ops meter_ops = {
	.start = meter_start,
	.stop = meter_stop,
	.close = meter_close,
	.lateness = meter_lateness,
};

static int open_port(struct meter_source *s, struct ww_uri *uri, struct ww_error *err)
{
	struct ww_error why = {0};
	int rc = ww_meter_place(&s->meter->desc, uri, s->place, sizeof(s->place), &s->bus, err);

	if (rc < 0)
		return rc;
	rc = port_of(s, uri, &why);
	if (rc < 0)
		return ww_fail(err, rc, "%s:%s", uri->driver, why.text);
	return ww_uri_check_used(uri, NULL, err);
}

/* What the folder holds, where it is one, decides about the channels. */
static int take_shape(struct meter_source *s, struct ww_error *err)
{
	size_t n, k;
	const char *listing = ww_port_listing(s->port, &n);
	struct ww_error why = {0};
	int rc = 0;

	if (listing && s->meter->look)
		rc = s->meter->look(s->state, listing, n, &why);
	if (rc < 0)
		return ww_fail(err, rc, "%s: %s", s->uri, why.text);
	s->shape = ww_meter_shape(s->meter, s->state);
	k = s->shape.channels;
	s->codes = k && k <= WW_METER_CHANNELS ? calloc(BATCH * k, sizeof(*s->codes)) : NULL;
	return s->codes ? 0 : ww_fail_nomem(err);
}

int ww_source_meter_open(const struct ww_source_setup *setup, struct ww_uri *uri,
			 struct ww_source **out, struct ww_error *err)
{
	const struct ww_meter_ops *m = ww_meter_find(uri->driver);
	struct meter_source *s;
	int rc;

	if (!m)
		return ww_fail(err, -EINVAL, "there is no meter '%s'", uri->driver);
	if (m->desc.left_out)
		return ww_fail(err, -ENOTSUP, "%s: built without %s: install it, then make",
			       setup->uri, m->desc.needs);
	s = calloc(1, sizeof(*s));
	if (!s)
		return ww_fail_nomem(err);
	*s = (struct meter_source){.base.ops = &meter_ops,
				   .meter = m,
				   .sink = setup->sink,
				   .loop = setup->loop,
				   .last_ns = WW_TIME_MIN,
				   .memory = setup->memory,
				   .uri = strdup(setup->uri)};
	s->state = calloc(1, m->desc.state_size);
	rc = s->uri && s->state ? 0 : ww_fail_nomem(err);
	if (rc == 0)
		rc = m->init(s->state, uri, setup->every_ns, err);
	s->inited = rc == 0;
	if (rc == 0)
		rc = ww_loop_timer(s->loop, on_timer, s, &s->timer, err);
	if (rc == 0)
		rc = open_port(s, uri, err);
	if (rc == 0)
		rc = take_shape(s, err);
	if (rc == 0)
		rc = describe(s, err);
	if (rc < 0)
		meter_close(&s->base);
	else
		*out = &s->base;
	return rc;
}
