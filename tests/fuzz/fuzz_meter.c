/* SPDX-License-Identifier: MIT */
/*
 * Every meter's driver on any bytes at any times. Input: the meter's number, then
 * chunks: length (7 bits; the 8th: time passes first), bytes. What must hold: no
 * undefined behaviour, deadlines that move on, readings whose times never fall.
 */
#include "meter/meter.h"

struct seen {
	int64_t hi_ns;
	size_t channels;
	bool failed;
};

static void on_send(void *ctx, const void *data, size_t n)
{
	(void)ctx;
	if (n == 0 || !data)
		abort();
}

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct seen *s = ctx;

	if (t.hi_ns < s->hi_ns || t.lo_ns > t.hi_ns || s->failed)
		abort();
	s->hi_ns = t.hi_ns;
	for (size_t i = 0; i < s->channels; i++)
		if (codes[i] != WW_MISSING &&
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

static void run_until(const struct ww_meter_ops *m, void *state, int64_t *now, int64_t to,
		      const struct ww_meter_out *out)
{
	int64_t d;

	for (unsigned turns = 0; (d = m->deadline(state)) <= to; turns++) {
		if (turns > 10000)
			abort();
		if (d > *now)
			*now = d;
		m->tick(state, *now, out);
	}
	*now = to;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	struct seen seen = {.hi_ns = WW_TIME_MIN};
	const struct ww_meter_out out = {.ctx = &seen,
					 .send = on_send,
					 .reading = on_reading,
					 .event = on_event,
					 .loss = on_loss,
					 .identity = on_identity,
					 .fail = on_fail};
	const struct ww_meter_ops *m;
	struct ww_uri uri;
	size_t meters = 0;
	int64_t now = 0, before = 0;
	void *state;

	while (ww_meters[meters])
		meters++;
	if (n < 1)
		return 0;
	m = ww_meters[*p % meters];
	state = calloc(1, m->desc.state_size);
	if (!state || ww_uri_parse(m->desc.example, &uri, NULL) < 0 ||
	    m->init(state, &uri, 0, NULL) < 0)
		abort();
	ww_uri_free(&uri);
	seen.channels = ww_meter_shape(m, state).channels;
	m->start(state, now, &out);
	for (p++, n--; n;) {
		size_t k = *p & 0x7f;

		if (*p & 0x80) {
			before = now;
			run_until(m, state, &now, now + 350 * WW_NS_PER_MS, &out);
		}
		p++;
		n--;
		k = k < n ? k : n;
		m->feed(state, (struct ww_interval){before, now}, p, k, &out);
		p += k;
		n -= k;
	}
	m->stop(state, &out);
	free(state);
	return 0;
}
