/* SPDX-License-Identifier: MIT */
/*
 * The POWER-Z while it streams, on any messages at any times. Input: the rate's number,
 * then chunks: length (6 bits, times 4; the 7th: 30 ms pass first, the 8th: 1.1 s), bytes.
 * What must hold: no undefined behaviour, deadlines that move on, readings whose times
 * never fall, losses that are some.
 */
#include "meter/meter.h"

struct seen {
	struct ww_interval t;
	bool failed;
};

static void on_send(void *ctx, const void *data, size_t n)
{
	(void)ctx;
	if (!data || !n)
		abort();
}

static void on_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct seen *s = ctx;

	if (t.hi_ns < s->t.hi_ns || t.lo_ns < s->t.lo_ns || t.lo_ns > t.hi_ns || s->failed)
		abort();
	s->t = t;
	for (int i = 0; i < 7; i++)
		if (codes[i] > INT64_C(1) << 53 || codes[i] < -(INT64_C(1) << 53))
			abort();
}

static void on_event(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	(void)ctx;
	if (!*kind || !*text || t.lo_ns > t.hi_ns)
		abort();
}

static void on_loss(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	(void)ctx;
	if (t.lo_ns > t.hi_ns || lost < 1 || !*reason)
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
		*now = d > *now ? d : *now;
		m->tick(state, *now, out);
	}
	*now = to;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	static const char *const uris[] = {"km003c:?stream=1000", "km003c:?stream=50",
					   "km003c:?stream=10", "km003c:?stream=2"};
	const struct ww_meter_ops *m = ww_meter_find("km003c");
	struct seen seen = {.t = {WW_TIME_MIN, WW_TIME_MIN}};
	const struct ww_meter_out out = {.ctx = &seen,
					 .bus = WW_BUS_USB,
					 .send = on_send,
					 .reading = on_reading,
					 .event = on_event,
					 .loss = on_loss,
					 .identity = on_identity,
					 .fail = on_fail};
	int64_t now = 1000 * WW_NS_PER_S, before = now;
	struct ww_uri uri;
	void *state;

	if (n < 1)
		return 0;
	state = calloc(1, m->desc.state_size);
	if (!state || ww_uri_parse(uris[*p++ % 4], &uri, NULL) < 0)
		abort();
	if (m->init(state, &uri, 0, NULL) < 0)
		n = 1; /* built without the cipher: nothing to be seen */
	else
		m->start(state, now, &out);
	ww_uri_free(&uri);
	for (n--; n;) {
		size_t k = (size_t)(*p & 0x3f) * 4;

		before = *p & 0xc0 ? now : before;
		if (*p & 0xc0)
			run_until(m, state, &now, now + (*p & 0x80 ? 1100 : 30) * WW_NS_PER_MS,
				  &out);
		p++;
		k = k < --n ? k : n;
		m->feed(state, (struct ww_interval){before, now}, p, k, &out);
		p += k;
		n -= k;
	}
	m->stop(state, &out);
	free(state);
	return 0;
}
