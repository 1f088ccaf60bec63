/* SPDX-License-Identifier: MIT */
/*
 * Every meter's driver on any bytes at any times. Input: the meter's name and a line
 * feed (or a byte, its number), then chunks: length (7 bits; the 8th: time passes
 * first; 127: the length is in the next two bytes, the lower one first), bytes. The first
 * chunk for a meter of files is what its folder holds. On each bus that the meter has. What
 * must hold: no undefined behaviour, deadlines that move on, readings whose times never
 * fall, nothing after a failure.
 */
#include "meter/meter.h"

struct seen {
	const struct ww_meter_ops *m;
	int64_t hi_ns;
	size_t channels;
	unsigned bauds;
	bool failed;
};

static void on_send(void *ctx, const void *data, size_t n)
{
	struct seen *s = ctx;

	if (!data || (n == 0 && !s->m->desc.reconnect))
		abort();
}

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct seen *s = ctx;

	if (t.hi_ns < s->hi_ns || t.lo_ns > t.hi_ns || s->failed)
		abort();
	s->hi_ns = t.hi_ns;
	for (size_t i = 0; i < s->channels; i++)
		if (codes[i] >= WW_CODE_MIN &&
		    (codes[i] > INT64_C(1) << 53 || codes[i] < -(INT64_C(1) << 53)))
			abort();
}

static void on_event(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	(void)ctx;
	(void)t;
	if (!*kind || strlen(text) > 4096)
		abort();
}

static void on_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	(void)ctx;
	if (t.lo_ns > t.hi_ns || lost < -1 || lost == 0 || !*reason)
		abort();
}

static void on_identity(void *ctx, const char *model, const char *serial, const char *firmware)
{
	(void)ctx;
	(void)model;
	(void)serial;
	(void)firmware;
}

static void on_fail(void *ctx, int code, const char *text)
{
	struct seen *s = ctx;

	if (code >= 0 || !*text || s->failed)
		abort();
	s->failed = true;
}

/* Every second time the port refuses. */
static int on_baud(void *ctx, int64_t baud)
{
	struct seen *s = ctx;

	if (baud <= 0)
		abort();
	return s->bauds++ % 2 ? -ENOTSUP : 0;
}

static void run_until(const struct seen *s, void *state, int64_t *now, int64_t to,
		      const struct ww_meter_out *out)
{
	int64_t d;

	for (unsigned turns = 0; !s->failed && (d = s->m->deadline(state)) <= to; turns++) {
		if (turns > 10000)
			abort();
		if (d > *now)
			*now = d;
		s->m->tick(state, *now, out);
	}
	*now = to;
}

/* Named or numbered; moves on behind that. */
static const struct ww_meter_ops *pick(const uint8_t **p, size_t *n)
{
	size_t meters = 0;

	for (; ww_meters[meters]; meters++) {
		size_t k = strlen(ww_meters[meters]->desc.name);

		if (*n > k && (*p)[k] == '\n' && memcmp(*p, ww_meters[meters]->desc.name, k) == 0) {
			*p += k + 1;
			*n -= k + 1;
			return ww_meters[meters];
		}
	}
	(*n)--;
	return ww_meters[*(*p)++ % meters];
}

static size_t chunk(const uint8_t **p, size_t *n)
{
	size_t k = **p & 0x7f, skip = k == 0x7f && *n > 3 ? 3 : 1;

	if (skip == 3)
		k = (*p)[1] | (size_t)(*p)[2] << 8;
	*p += skip;
	*n -= skip;
	return k < *n ? k : *n;
}

/* What a folder holds decides about the channels; or it is refused. */
static bool look(struct seen *seen, void *state, const uint8_t **p, size_t *n)
{
	struct ww_error err = {0};
	char *listing;
	size_t k;
	int rc;

	if (!seen->m->look)
		return true;
	if (!*n)
		return false;
	k = chunk(p, n);
	listing = calloc(1, k + 1);
	if (!listing)
		abort();
	memcpy(listing, *p, k);
	*p += k;
	*n -= k;
	rc = seen->m->look(state, listing, k, &err);
	free(listing);
	if (rc < 0 && !*err.text)
		abort();
	return rc >= 0;
}

static void shape(struct seen *seen, const void *state)
{
	struct ww_meter_shape s = ww_meter_shape(seen->m, state);
	struct ww_channel_info c;

	if (s.channels < 1 || s.channels > WW_METER_CHANNELS)
		abort();
	seen->channels = s.channels;
	for (size_t i = 0; i < s.channels; i++) {
		ww_meter_channel(seen->m, state, i, &c);
		if (!c.name || !*c.name || !c.quantity || !c.unit || !(c.scale > 0 || c.scale < 0))
			abort();
	}
}

static void talk(struct seen *seen, void *state, const uint8_t *p, size_t n,
		 const struct ww_meter_out *out)
{
	const struct ww_meter_ops *m = seen->m;
	int64_t now = 0, before = 0;

	shape(seen, state);
	m->start(state, now, out);
	while (n && !seen->failed) {
		size_t k;

		if (*p & 0x80) {
			before = now;
			run_until(seen, state, &now, now + 350 * WW_NS_PER_MS, out);
		}
		k = chunk(&p, &n);
		if (k && !seen->failed)
			m->feed(state, (struct ww_interval){before, now}, p, k, out);
		p += k;
		n -= k;
	}
	if (!seen->failed)
		m->stop(state, out);
}

static void on_bus(const struct ww_meter_ops *m, enum ww_bus bus, const uint8_t *p, size_t n)
{
	struct seen seen = {.m = m, .hi_ns = WW_TIME_MIN};
	const struct ww_meter_out out = {.ctx = &seen,
					 .bus = bus,
					 .send = on_send,
					 .reading = on_reading,
					 .event = on_event,
					 .loss = on_loss,
					 .identity = on_identity,
					 .fail = on_fail,
					 .baud = on_baud};
	void *state = calloc(1, m->desc.state_size);
	struct ww_uri uri;

	if (!state || ww_uri_parse(m->desc.example, &uri, NULL) < 0 ||
	    m->init(state, &uri, 0, NULL) < 0)
		abort();
	ww_uri_free(&uri);
	if (look(&seen, state, &p, &n))
		talk(&seen, state, p, n, &out);
	if (m->drop)
		m->drop(state);
	free(state);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	const struct ww_meter_ops *m;
	uint32_t buses;

	if (n < 1)
		return 0;
	m = pick(&p, &n);
	buses = m->desc.buses ? m->desc.buses : (uint32_t)WW_BUS_STREAM;
	for (uint32_t bus = 1; bus && !m->desc.left_out; bus <<= 1)
		if (buses & bus)
			on_bus(m, (enum ww_bus)bus, p, n);
	return 0;
}
