/* SPDX-License-Identifier: MIT */
/* A meter's driver on a bench without a meter: what it says becomes lines of text. */
#ifndef METERLOG_H
#define METERLOG_H

#include "meter/meter.h"
#include "base/str.h"

#include <stdio.h>

struct meterlog {
	const struct ww_meter_ops *m;
	enum ww_bus bus; /* set by ml_open() to the meter's usual one */
	void *state;
	size_t channels;
	int64_t period_ns;
	int64_t now_ns;
	struct ww_str text;	/* everything, a line each */
	struct ww_str readings; /* readings alone */
	size_t sent, given, events, losses, fails;
};

static void ml_send(void *ctx, const void *data, size_t n)
{
	struct meterlog *l = ctx;

	ww_str_add(&l->text, "send ");
	for (size_t i = 0; i < n; i++) {
		unsigned char c = ((const unsigned char *)data)[i];

		if (c >= ' ' && c <= '~')
			ww_str_addn(&l->text, (const char *)&c, 1);
		else
			ww_str_addf(&l->text, "\\x%02x", c);
	}
	ww_str_add(&l->text, "\n");
	l->sent++;
}

static void ml_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct meterlog *l = ctx;
	size_t from = l->readings.n;

	ww_str_add(&l->readings, "reading");
	for (size_t i = 0; i < l->channels; i++) {
		if (codes[i] == WW_MISSING)
			ww_str_add(&l->readings, " _");
		else
			ww_str_addf(&l->readings, " %lld", (long long)codes[i]);
	}
	ww_str_add(&l->readings, "\n");
	if (!l->readings.bad)
		ww_str_add(&l->text, l->readings.p + from);
	l->given++;
	(void)t;
}

static void ml_event(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	struct meterlog *l = ctx;

	(void)t;
	ww_str_addf(&l->text, "event %s %s\n", kind, text);
	l->events++;
}

static void ml_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	struct meterlog *l = ctx;

	ww_str_addf(&l->text, "loss %lld..%lld ms %lld %s\n", (long long)(t.lo_ns / 1000000),
		    (long long)(t.hi_ns / 1000000), (long long)lost, reason);
	l->losses++;
}

static void ml_identity(void *ctx, const char *model, const char *serial, const char *firmware)
{
	struct meterlog *l = ctx;

	ww_str_addf(&l->text, "identity %s|%s|%s\n", model ? model : "", serial ? serial : "",
		    firmware ? firmware : "");
}

static void ml_fail(void *ctx, int code, const char *text)
{
	struct meterlog *l = ctx;

	ww_str_addf(&l->text, "fail %d %s\n", code, text);
	l->fails++;
}

static inline struct ww_meter_out ml_out(struct meterlog *l)
{
	return (struct ww_meter_out){.ctx = l,
				     .bus = l->bus,
				     .send = ml_send,
				     .reading = ml_reading,
				     .event = ml_event,
				     .loss = ml_loss,
				     .identity = ml_identity,
				     .fail = ml_fail};
}

static inline enum ww_bus ml_first_bus(const struct ww_meter_ops *m)
{
	uint32_t mask = m->desc.buses ? m->desc.buses : (uint32_t)WW_BUS_STREAM;
	const char *place = strchr(m->desc.example, ':');

	/* Of a meter that is found by its id, the bus that serves it best. */
	if (m->desc.usb && place && !place[1])
		return (enum ww_bus)m->desc.usb->bus;
	return (enum ww_bus)(mask & (~mask + 1));
}

static inline int ml_open(struct meterlog *l, const struct ww_meter_ops *m, const char *uri,
			  int64_t every_ns, struct ww_error *err)
{
	struct ww_uri u;
	int rc;

	*l = (struct meterlog){.m = m, .bus = ml_first_bus(m)};
	l->state = calloc(1, m->desc.state_size);
	rc = l->state ? ww_uri_parse(uri, &u, err) : ww_fail_nomem(err);
	if (rc < 0)
		return rc;
	rc = m->init(l->state, &u, every_ns, err);
	ww_uri_free(&u);
	if (rc >= 0) {
		struct ww_meter_shape shape = ww_meter_shape(m, l->state);

		l->channels = shape.channels;
		l->period_ns = shape.period_ns;
	}
	return rc;
}

static inline void ml_start(struct meterlog *l)
{
	struct ww_meter_out out = ml_out(l);

	l->m->start(l->state, l->now_ns, &out);
}

/* Let time pass; the driver is called at each of its deadlines. */
static inline void ml_until(struct meterlog *l, int64_t t_ns)
{
	struct ww_meter_out out = ml_out(l);

	for (int64_t d; (d = l->m->deadline(l->state)) <= t_ns;) {
		l->now_ns = d > l->now_ns ? d : l->now_ns;
		l->m->tick(l->state, l->now_ns, &out);
	}
	l->now_ns = t_ns;
}

static inline void ml_feed(struct meterlog *l, const void *p, size_t n)
{
	struct ww_meter_out out = ml_out(l);

	l->m->feed(l->state, (struct ww_interval){l->now_ns - 1000, l->now_ns}, p, n, &out);
}

static inline void ml_say(struct meterlog *l, const char *s)
{
	ml_feed(l, s, strlen(s));
}

static inline void ml_clear(struct meterlog *l)
{
	ww_str_reset(&l->text);
	ww_str_reset(&l->readings);
	l->sent = l->given = l->events = l->losses = l->fails = 0;
}

static inline const char *ml_text(const struct meterlog *l)
{
	return l->text.p ? l->text.p : "";
}

static inline const char *ml_readings(const struct meterlog *l)
{
	return l->readings.p ? l->readings.p : "";
}

static inline void ml_close(struct meterlog *l)
{
	ww_str_free(&l->text);
	ww_str_free(&l->readings);
	if (l->m->drop && l->state)
		l->m->drop(l->state);
	free(l->state);
}

#endif
