/* SPDX-License-Identifier: MIT */
/*
 * ChargerLAB POWER-Z KM002C, KM003C: asked for its ADC's values up to some hundred times
 * a second on any of its interfaces, or streaming from its queue on the vendor's own.
 */
#include "meter/km003c.h"
#include "meter/ask.h"
#include "meter/cipher.h"
#include "meter/km003c_stream.h"
#include "meter/pace.h"

#include <math.h>
#include <stdio.h>

#define PACKET	   64
#define USUAL_NS   (10 * WW_NS_PER_MS)
#define FASTEST_NS (2 * WW_NS_PER_MS)
#define WINDOW_NS  (10 * WW_NS_PER_MS)
/* It may take a little while until what was measured can be asked for. */
#define DELAY_NS (10 * WW_NS_PER_MS)

struct km {
	bool streams, auto_stream, all, stopped;
	enum ww_bus bus;
	int64_t every_ns;
	struct ww_ask ask; /* polling */
	int64_t asked_ns;
	uint8_t id;
	struct ww_km_stream stream;

	uint8_t buf[WW_KM_MAX]; /* the message at hand */
	size_t n;
	struct ww_interval t; /* its first packet */
	uint8_t junk[8];
	size_t junk_n;
	bool told_bad;
};

/* ---------------------------------------------------------------------- polling */

static void poll(struct km *k, int64_t now, const struct ww_meter_out *out)
{
	uint8_t p[PACKET] = {0};
	size_t n = ww_km_control(p, WW_KM_GET, ++k->id, WW_KM_ADC);

	k->asked_ns = now;
	out->send(out->ctx, p, k->bus == WW_BUS_HID ? PACKET : n);
}

static void values(struct km *k, const uint8_t *p, const struct ww_meter_out *out)
{
	struct ww_interval t = k->t;
	struct ww_km_adc a;

	ww_km_adc(p, &a);
	/* It was measured after it was asked for, or the answer would have been another. */
	t.lo_ns = t.lo_ns < k->asked_ns && k->asked_ns <= t.hi_ns ? k->asked_ns : t.lo_ns;
	ww_ask_good(&k->ask, t, out);
	out->reading(out->ctx, t,
		     (const int64_t[WW_KM_CHANNELS]){
			     [WW_KM_POWER] = ww_km_power(a.uv, a.ua),
			     [WW_KM_VOLTAGE] = a.uv,
			     [WW_KM_CURRENT] = a.ua,
			     [WW_KM_DP] = a.dp,
			     [WW_KM_DM] = a.dm,
			     [WW_KM_CC1] = a.cc1,
			     [WW_KM_CC2] = a.cc2,
			     [WW_KM_TEMPERATURE] = a.temperature,
			     [WW_KM_VDD] = a.vdd,
			     [WW_KM_VOLTAGE_MEAN] = a.uv_mean,
			     [WW_KM_CURRENT_MEAN] = a.ua_mean,
		     });
}

static void polled(struct km *k, const struct ww_km_msg *m, const struct ww_meter_out *out)
{
	if (k->ask.phase != WW_ASK_WAIT && k->ask.phase != WW_ASK_REST)
		return;
	if (m->type == WW_KM_DATA && m->adc && m->id == k->id)
		values(k, m->adc, out);
	else
		ww_ask_bad(&k->ask, k->t);
}

static void give_up(struct km *k, const struct ww_meter_out *out)
{
	char tale[128], text[400];

	ww_ask_tale(&k->ask, k->junk, k->junk_n, tale, sizeof(tale));
	snprintf(text, sizeof(text),
		 "no answer of a POWER-Z in 6 s (%s). Is it a KM002C or KM003C, and does no other "
		 "program hold it? Unplug it and plug it in again",
		 tale);
	out->fail(out->ctx, -ETIMEDOUT, text);
}

/* --------------------------------------------------------------------- messages */

/* For the sentence that says what came instead. */
static void note(struct km *k, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n && k->junk_n < sizeof(k->junk); i++) {
		snprintf(k->stream.heard + 3 * k->junk_n, 4, " %02x", p[i]);
		k->junk[k->junk_n++] = p[i];
	}
}

static void bad(struct km *k, struct ww_interval t, const struct ww_meter_out *out)
{
	note(k, k->buf, k->n);
	k->n = 0;
	if (k->streams) {
		ww_km_stream_bad(&k->stream, t, out);
		return;
	}
	if (k->ask.known && !k->told_bad)
		ww_meter_tell(out, t, "damaged answers are left out");
	k->told_bad |= k->ask.known;
	ww_ask_bad(&k->ask, t);
}

/* Bytes of memory have no header: so many, in whole blocks. */
static int memory(struct km *k, const struct ww_meter_out *out)
{
	uint8_t plain[PACKET];
	size_t n = k->stream.raw;

	if (k->n < n)
		return 0;
	ww_km_memory(plain, k->buf, n);
	ww_km_stream_memory(&k->stream, k->t, plain, out);
	return (int)n;
}

/* One message from the front: bytes taken, 0 more needed, -1 nonsense. */
static int take(struct km *k, const struct ww_meter_out *out)
{
	struct ww_km_msg m;
	int n;

	if (k->streams && k->stream.raw)
		return memory(k, out);
	n = ww_km_parse(k->buf, k->n, &m);
	if (n <= 0)
		return n;
	if (k->streams)
		ww_km_stream_message(&k->stream, k->t, &m, out);
	else
		polled(k, &m, out);
	return n;
}

static void messages(struct km *k, struct ww_interval t, const struct ww_meter_out *out)
{
	while (k->n) {
		int n = take(k, out);

		if (n < 0 && k->bus == WW_BUS_STREAM) {
			/* Without packets, the next byte may begin a message. */
			note(k, k->buf, 1);
			n = 1;
		}
		if (n < 0 || (n == 0 && k->n == sizeof(k->buf))) {
			bad(k, t, out);
			return;
		}
		if (n == 0)
			return;
		/* A report is padded to its length. */
		k->n = k->bus == WW_BUS_HID ? 0 : k->n - (size_t)n;
		memmove(k->buf, k->buf + n, k->n);
		k->t = t;
	}
}

static void km_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		    const struct ww_meter_out *out)
{
	struct km *k = state;

	if (k->stopped || !n || k->ask.phase == WW_ASK_DEAD || k->stream.step == WW_KM_DEAD)
		return;
	if (!k->streams)
		ww_ask_heard(&k->ask, t, n);
	for (size_t at = 0; at < n;) {
		size_t room = sizeof(k->buf) - k->n;
		size_t part = n - at < room ? n - at : room;

		if (!k->n)
			k->t = t;
		memcpy(k->buf + k->n, p + at, part);
		k->n += part;
		at += part;
		messages(k, t, out);
	}
	/* A packet that is not full ends what it is part of. */
	if (k->n && k->bus != WW_BUS_STREAM && n % PACKET)
		bad(k, t, out);
}

/* ------------------------------------------------------------------- its turns */

static int option_stream(struct km *k, struct ww_uri *options, struct ww_error *err)
{
	static const char *const rates[] = {"2", "10", "50", "1000"};
	const char *s = ww_uri_get(options, "stream", NULL);

	if (!s) {
		/* Faster than it can well be asked. */
		k->auto_stream = k->streams =
			WW_CIPHER && k->every_ns > 0 && k->every_ns < USUAL_NS;
		k->stream.rate = 3;
		return 0;
	}
	if (!WW_CIPHER)
		return ww_fail(err, -ENOTSUP,
			       "stream=%s: built without nettle: install it, then make; "
			       "without stream= the meter is polled",
			       s);
	k->streams = true;
	for (unsigned i = 0; i < WW_COUNTOF(rates); i++) {
		if (strcmp(s, rates[i]) != 0)
			continue;
		k->stream.rate = i;
		return 0;
	}
	return ww_fail(err, -EINVAL, "stream=%s: 2, 10, 50 or 1000 samples a second", s);
}

static int km_init(void *state, struct ww_uri *options, int64_t every_ns, struct ww_error *err)
{
	struct km *k = state;
	int64_t all = 0;

	*k = (struct km){.every_ns = every_ns};
	if (option_stream(k, options, err) < 0 || ww_uri_int(options, "all", 0, 1, &all, err) < 0)
		return -EINVAL;
	if (every_ns > 86400 * WW_NS_PER_S)
		return ww_fail(err, -EINVAL, "km003c: the longest interval is a day");
	k->all = all != 0;
	every_ns = every_ns ? every_ns : USUAL_NS;
	every_ns = every_ns < FASTEST_NS ? FASTEST_NS : every_ns;
	k->ask = (struct ww_ask){.period_ns = every_ns,
				 .expect_ns = every_ns,
				 .reply_ns = WW_NS_PER_S,
				 .least_ns = WW_NS_PER_MS / 5,
				 .piece_ns = 20 * WW_NS_PER_MS,
				 .quiet_ns = 20 * WW_NS_PER_MS,
				 .deadline_ns = WW_TIME_MAX};
	return 0;
}

static void km_shape(const void *state, struct ww_meter_shape *s)
{
	const struct km *k = state;

	/* What was described once stays: also where the bus turns out not to stream. */
	if (k->streams || k->auto_stream)
		s->channels = WW_KM_STREAMED;
	else
		s->channels = k->all ? WW_KM_CHANNELS : WW_KM_USUAL;
	s->period_ns = k->streams ? ww_km_step_ns(k->stream.rate) : k->ask.expect_ns;
	s->window_ns = k->streams ? s->period_ns : WINDOW_NS;
}

static void km_start(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct km *k = state;

	k->bus = out->bus ? out->bus : WW_BUS_USB;
	if (k->streams && k->bus != WW_BUS_USB && !k->auto_stream) {
		k->stopped = true;
		out->fail(out->ctx, -EINVAL,
			  "it streams on its USB interface only: km003c:?stream=..., or leave out "
			  "stream= to poll it on this one");
		return;
	}
	if (k->streams && k->bus != WW_BUS_USB) {
		k->streams = false;
		out->identity(out->ctx, NULL, NULL, NULL);
	}
	if (k->streams)
		ww_km_stream_start(&k->stream, now_ns, out);
	else
		ww_ask_start(&k->ask, now_ns);
}

static int64_t km_deadline(const void *state)
{
	const struct km *k = state;

	if (k->stopped)
		return WW_TIME_MAX;
	return k->streams ? k->stream.deadline_ns : k->ask.deadline_ns;
}

static void km_tick(void *state, int64_t now_ns, const struct ww_meter_out *out)
{
	struct km *k = state;

	if (k->stopped || now_ns < km_deadline(k))
		return;
	/* What did not become whole in time is none. */
	k->n = 0;
	if (k->streams) {
		ww_km_stream_tick(&k->stream, now_ns, out);
		return;
	}
	switch (ww_ask_tick(&k->ask, now_ns, out)) {
	case WW_ASK_SEND:
		poll(k, now_ns, out);
		break;
	case WW_ASK_GIVE_UP:
		give_up(k, out);
		break;
	case WW_ASK_NOTHING:
		break;
	}
}

static void km_stop(void *state, const struct ww_meter_out *out)
{
	struct km *k = state;

	if (k->streams && !k->stopped)
		ww_km_stream_stop(&k->stream, out);
	ww_ask_stop(&k->ask);
	k->stopped = true;
}

static void km_channel(const void *state, size_t i, struct ww_channel_info *out);

/* clang-format off */
#define CH(n, q, u, s, r)                                                                          \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = WW_INSTANT, .scale = s,          \
		.resolution = r, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
/* clang-format on */
#define VOLTS(n) CH(n, "other", "V", 0.0001, 0.0001)

#if WW_CIPHER
#define HOW "10 ms or 1 ms; 1 uV, 1 uA"
#else
#define HOW "10 ms; built without nettle: no streaming"
#endif

#define ID(p, text)                                                                                \
	{                                                                                          \
		.vid = 0x5fc9, .pid = p, .name = text, .bus = WW_BUS_USB, .interface = 0,          \
		.ep_in = 0x81, .ep_out = 0x01                                                      \
	}

static const struct ww_usb_id ids[] = {ID(0x0063, "POWER-Z KM003C"),
				       ID(0x0061, "POWER-Z KM002C"),
				       {.vid = 0}};

/* The power is V times I of one sample: a step of 1 uA at 48 V, and of 1 uV at 6 A. */
const struct ww_meter_ops ww_meter_km003c = {
	.desc = {.name = "km003c",
		 .summary = "ChargerLAB POWER-Z KM002C, KM003C (" HOW ")",
		 .example = "km003c:",
		 .proven = false,
		 .buses = WW_BUS_USB | WW_BUS_HID | WW_BUS_STREAM,
		 .notes = "power is computed, volts times amperes of each sample",
		 .usb = ids,
		 .baud = 115200,
		 .period_ns = USUAL_NS,
		 .window_ns = WINDOW_NS,
		 .delay_min_ns = 0,
		 .delay_max_ns = DELAY_NS,
		 .channels = WW_KM_USUAL,
		 .channel = {[WW_KM_POWER] = CH("power", "power", "W", 1e-6, 5.4e-5),
			     [WW_KM_VOLTAGE] = CH("voltage", "voltage", "V", 1e-6, 1e-6),
			     [WW_KM_CURRENT] = CH("current", "current", "A", 1e-6, 1e-6),
			     [WW_KM_DP] = VOLTS("d_plus"),
			     [WW_KM_DM] = VOLTS("d_minus"),
			     [WW_KM_CC1] = VOLTS("cc1"),
			     [WW_KM_CC2] = VOLTS("cc2"),
			     [WW_KM_TEMPERATURE] =
				     CH("temperature", "other", "degC", 0.0078125, 0.0078125),
			     [WW_KM_VDD] = VOLTS("vdd"),
			     [WW_KM_VOLTAGE_MEAN] = CH("voltage_mean", "other", "V", 1e-6, 1e-6),
			     [WW_KM_CURRENT_MEAN] = CH("current_mean", "other", "A", 1e-6, 1e-6)},
		 .state_size = sizeof(struct km)},
	.init = km_init,
	.shape = km_shape,
	.channel = km_channel,
	.start = km_start,
	.feed = km_feed,
	.deadline = km_deadline,
	.tick = km_tick,
	.stop = km_stop,
};

/* In a stream each sample is the mean of its step; the lines' steps are coarser. */
static void km_channel(const void *state, size_t i, struct ww_channel_info *out)
{
	const struct km *k = state;

	*out = ww_meter_km003c.desc.channel[i];
	if (k->streams && i <= WW_KM_CURRENT)
		out->semantics = WW_AVERAGE;
	if (k->streams && k->stream.rate && i > WW_KM_CURRENT)
		out->resolution = 0.001;
}
