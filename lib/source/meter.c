/* SPDX-License-Identifier: MIT */
/* Any meter of lib/meter on any port of lib/bus. */
#include "source/source.h"
#include "bus/port.h"
#include "meter/meter.h"

#include <stdio.h>

/* Time for the last orders to leave the machine: 64 characters at 1200 baud. */
#define STOP_NS (100 * WW_NS_PER_MS)

struct meter_source {
	struct ww_source base;
	const struct ww_meter_ops *meter;
	struct ww_sink sink;
	struct ww_loop *loop;
	struct ww_timer *timer;
	struct ww_port *port;
	char *uri;
	char *model, *serial, *firmware;
	size_t channels;
	int64_t period_ns;
	bool started, lost;
	struct ww_error why; /* failure found while the meter's code was running */
	void *state;
};

static int describe(struct meter_source *s, struct ww_error *err)
{
	const struct ww_meter_desc *d = &s->meter->desc;
	struct ww_source_info info = {
		.kind = WW_METER,
		.name = "",
		.uri = s->uri,
		.driver = d->name,
		.model = s->model ? s->model : "",
		.serial = s->serial ? s->serial : "",
		.firmware = s->firmware ? s->firmware : "",
		.notes = d->proven ? "" : "this driver has never met the real device",
		.period_ns = s->period_ns,
		.window_ns = d->window_ns,
		.delay_min_ns = d->delay_min_ns,
		.delay_max_ns = d->delay_max_ns,
		.transport = *ww_port_transport(s->port),
	};

	return s->sink.describe(s->sink.ctx, &info, d->channel, s->channels, err);
}

/* ------------------------------------------------------- what the meter says */

static void fail_with(struct meter_source *s, int code, const char *text)
{
	if (!s->why.code)
		ww_fail(&s->why, code, "%s: %s", s->uri, text);
}

/* What the port says begins with its place. */
static void port_failed(struct meter_source *s, const struct ww_error *err)
{
	if (!s->why.code)
		ww_fail(&s->why, err->code, "%s:%s", s->meter->desc.name, err->text);
}

static void on_send(void *ctx, const void *data, size_t n)
{
	struct meter_source *s = ctx;
	struct ww_error err = {0};

	if (ww_port_write(s->port, data, n, &err) < 0)
		port_failed(s, &err);
}

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct meter_source *s = ctx;

	s->sink.samples(s->sink.ctx, 1, &t.lo_ns, &t.hi_ns, codes);
}

static void on_event(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	struct meter_source *s = ctx;

	s->sink.mark(s->sink.ctx, t, kind, text);
}

static void on_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	struct meter_source *s = ctx;

	s->sink.gap(s->sink.ctx, t, lost, reason);
}

static int replace(char **where, const char *text)
{
	char *copy;

	if (!text)
		return 0;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	free(*where);
	*where = copy;
	return 0;
}

static void on_identity(void *ctx, const char *model, const char *serial, const char *firmware)
{
	struct meter_source *s = ctx;
	struct ww_error err = {0};

	if (replace(&s->model, model) < 0 || replace(&s->serial, serial) < 0 ||
	    replace(&s->firmware, firmware) < 0)
		ww_fail_nomem(&err);
	else
		describe(s, &err);
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

static struct ww_meter_out out_of(struct meter_source *s)
{
	return (struct ww_meter_out){.ctx = s,
				     .send = on_send,
				     .reading = on_reading,
				     .event = on_event,
				     .loss = on_loss,
				     .identity = on_identity,
				     .fail = on_fail};
}

/* After each turn of the meter's code. A failure is passed on last: the sink may close us. */
static void turn_done(struct meter_source *s)
{
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

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct meter_source *s = ctx;
	struct ww_meter_out out = out_of(s);

	if (s->lost || !s->started)
		return;
	s->sink.raw(s->sink.ctx, t, data, n);
	s->meter->feed(s->state, t, data, n, &out);
	turn_done(s);
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	struct meter_source *s = ctx;

	if (s->lost)
		return;
	port_failed(s, err);
	turn_done(s);
}

static void on_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	struct meter_source *s = ctx;

	/* Lost bytes are no lost readings: the meter's code finds those by itself. */
	(void)lost;
	s->sink.mark(s->sink.ctx, t, WW_MARK_DEVICE, text);
}

static void on_timer(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct meter_source *s = ctx;
	struct ww_meter_out out = out_of(s);

	(void)late_ns;
	if (s->lost)
		return;
	s->meter->tick(s->state, now_ns, &out);
	turn_done(s);
}

/* ---------------------------------------------------------------- the source */

static int meter_start(struct ww_source *base, struct ww_error *err)
{
	struct meter_source *s = (struct meter_source *)base;
	struct ww_meter_out out = out_of(s);

	if (s->why.code)
		return ww_fail(err, s->why.code, "%s", s->why.text);
	s->started = true;
	s->meter->start(s->state, ww_loop_now(s->loop), &out);
	if (s->why.code) {
		s->lost = true;
		return ww_fail(err, s->why.code, "%s", s->why.text);
	}
	turn_done(s);
	return 0;
}

static int64_t meter_stop(struct ww_source *base)
{
	struct meter_source *s = (struct meter_source *)base;
	struct ww_meter_out out = out_of(s);

	if (s->lost || !s->started)
		return 0;
	s->meter->stop(s->state, &out);
	ww_port_flush(s->port);
	ww_timer_set(s->timer, WW_TIME_MAX, 0);
	return STOP_NS;
}

static void meter_close(struct ww_source *base)
{
	struct meter_source *s = (struct meter_source *)base;

	ww_timer_free(s->timer);
	ww_port_close(s->port);
	free(s->model);
	free(s->serial);
	free(s->firmware);
	free(s->uri);
	free(s->state);
	free(s);
}

static void meter_lateness(const struct ww_source *base, int64_t *max_ns, int64_t *p99_ns)
{
	ww_port_lateness(((const struct meter_source *)base)->port, max_ns, p99_ns);
}

static const struct ww_source_ops meter_ops = {
	.start = meter_start,
	.stop = meter_stop,
	.close = meter_close,
	.lateness = meter_lateness,
};

static int open_port(struct meter_source *s, struct ww_uri *uri, struct ww_error *err)
{
	const struct ww_port_events ev = {.ctx = s,
					  .bytes = on_bytes,
					  .lost = on_lost,
					  .trouble = on_trouble};
	struct ww_error why = {0};
	int rc;

	if (!*uri->place)
		return ww_fail(err, -EINVAL, "%s: where is the meter? Example: %s", s->uri,
			       s->meter->desc.example);
	rc = ww_port_open(s->loop, uri->place, uri, s->meter->desc.baud, &ev, &s->port, &why);
	if (rc < 0)
		return ww_fail(err, rc, "%s:%s", uri->driver, why.text);
	return ww_uri_check_used(uri, "baud, serial, latency, exclusive, and the meter's own", err);
}

int ww_source_meter_open(const struct ww_source_setup *setup, struct ww_uri *uri,
			 struct ww_source **out, struct ww_error *err)
{
	const struct ww_meter_ops *m = ww_meter_find(uri->driver);
	struct meter_source *s;
	int rc = -ENOMEM;

	if (!m)
		return ww_fail(err, -EINVAL, "there is no meter '%s'", uri->driver);
	s = calloc(1, sizeof(*s));
	if (!s)
		return ww_fail_nomem(err);
	s->base.ops = &meter_ops;
	s->meter = m;
	s->sink = setup->sink;
	s->loop = setup->loop;
	s->uri = strdup(setup->uri);
	s->state = calloc(1, m->desc.state_size);
	if (!s->uri || !s->state) {
		ww_fail_nomem(err);
		goto fail;
	}
	rc = m->init(s->state, uri, setup->every_ns, err);
	if (rc < 0)
		goto fail;
	s->channels = ww_meter_shape(m, s->state, &s->period_ns);
	rc = ww_loop_timer(s->loop, on_timer, s, &s->timer, err);
	if (rc < 0)
		goto fail;
	rc = open_port(s, uri, err);
	if (rc < 0)
		goto fail;
	rc = describe(s, err);
	if (rc < 0)
		goto fail;
	*out = &s->base;
	return 0;
fail:
	meter_close(&s->base);
	return rc;
}
