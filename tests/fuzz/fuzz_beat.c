/* SPDX-License-Identifier: MIT */
/* The beat's decoder: every byte is given exactly once and in order, however it is cut. */
#include "text/beat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct count {
	struct ww_beat_decoder dec;
	size_t given;
};

static void check(struct count *c, struct ww_interval t)
{
	if (t.lo_ns != (int64_t)c->given || c->dec.len == 0)
		abort();
	c->given += c->dec.len;
}

static void on_beat(void *ctx, const struct ww_beat *b)
{
	struct count *c = ctx;

	check(c, b->t);
	if (b->t_end.lo_ns != (int64_t)c->given - 1 || b->mono_us < 0 || b->sleep_us < 0)
		abort();
}

static void on_info(void *ctx, struct ww_interval t, const char *key, const char *value)
{
	check(ctx, t);
	if (strlen(key) + strlen(value) > WW_BEAT_LINE)
		abort();
}

static void on_other(void *ctx, struct ww_interval t, uint8_t byte)
{
	(void)byte;
	check(ctx, t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct count c = {.given = 0};
	struct ww_beat_sink sink = {&c, on_beat, on_info, on_other};

	for (size_t i = 0; i < size; i++) {
		struct ww_interval t = {(int64_t)i, (int64_t)i};

		ww_beat_feed(&c.dec, &sink, &t, data + i, 1);
	}
	ww_beat_end(&c.dec, &sink);
	if (c.given != size)
		abort();
	return 0;
}
