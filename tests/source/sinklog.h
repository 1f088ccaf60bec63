/* SPDX-License-Identifier: MIT */
/* A sink that keeps what a source gives, and a loop on a clock that only it moves. */
#ifndef SINKLOG_H
#define SINKLOG_H

#include "source/source.h"
#include "base/str.h"

#include <stdio.h>

#define SINK_CHANNELS 20

struct sinklog {
	/* clock */
	int64_t now_ns;
	struct ww_loop *loop;
	/* what was said */
	struct ww_str text; /* marks, gaps, ends: a line each; times in ms since t0 */
	struct ww_str bytes;
	int64_t t0_ns;
	size_t channels, describes;
	struct ww_source_info info;
	struct ww_channel_info channel[SINK_CHANNELS];
	char names[256];
	char model[64];
	int32_t kind;
	size_t n, cap;
	int64_t *lo, *hi, *codes; /* codes: SINK_CHANNELS a row */
	size_t after[16], said;	  /* rows that came before each mark and gap */
	bool lost, ended, refuse, stop;
	char why[WW_ERROR_TEXT];
};

static int64_t sl_now(void *ctx)
{
	return ((struct sinklog *)ctx)->now_ns;
}

static int sl_anchor(void *ctx, struct ww_anchor *out)
{
	int64_t t = sl_now(ctx);

	*out = (struct ww_anchor){.boot_ns = t, .mono_ns = t, .real_ns = t, .width_ns = 0};
	return 0;
}

static void sl_advance(void *ctx, int64_t to)
{
	((struct sinklog *)ctx)->now_ns = to;
}

static int sl_describe(void *ctx, const struct ww_source_info *info,
		       const struct ww_channel_info *channels, size_t n, struct ww_error *err)
{
	struct sinklog *s = ctx;

	if (s->refuse || n > SINK_CHANNELS)
		return ww_fail(err, -ENOBUFS, "the sink refuses");
	s->info = *info;
	s->kind = info->kind;
	snprintf(s->model, sizeof(s->model), "%s", info->model);
	s->channels = n;
	s->names[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		size_t k = strlen(s->names);

		s->channel[i] = channels[i];
		snprintf(s->names + k, sizeof(s->names) - k, "%s%s[%s]", i ? " " : "",
			 channels[i].name, channels[i].unit);
	}
	s->describes++;
	return 0;
}

static void sl_samples(void *ctx, size_t n, const int64_t *lo, const int64_t *hi,
		       const int64_t *codes)
{
	struct sinklog *s = ctx;

	if (s->n + n > s->cap) {
		s->cap = (s->n + n) * 2;
		s->lo = realloc(s->lo, s->cap * sizeof(*s->lo));
		s->hi = realloc(s->hi, s->cap * sizeof(*s->hi));
		s->codes = realloc(s->codes, s->cap * SINK_CHANNELS * sizeof(*s->codes));
	}
	for (size_t i = 0; i < n; i++, s->n++) {
		s->lo[s->n] = lo[i];
		s->hi[s->n] = hi[i];
		memcpy(s->codes + s->n * SINK_CHANNELS, codes + i * s->channels,
		       s->channels * sizeof(*codes));
	}
}

static void sl_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct sinklog *s = ctx;

	ww_str_addf(&s->bytes, "%lld+%lld:", (long long)((t.hi_ns - s->t0_ns) / 1000000),
		    (long long)(t.hi_ns - t.lo_ns));
	ww_str_addn(&s->bytes, (const char *)data, n);
	ww_str_add(&s->bytes, " ");
}

static void sl_raw(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)t;
	(void)data;
	(void)n;
}

static void sl_said(struct sinklog *s)
{
	if (s->said < WW_COUNTOF(s->after))
		s->after[s->said++] = s->n;
}

static void sl_mark(void *ctx, struct ww_interval t, const char *kind, const char *text)
{
	struct sinklog *s = ctx;

	ww_str_addf(&s->text, "mark %lld %s %s\n", (long long)((t.hi_ns - s->t0_ns) / 1000000),
		    kind, text);
	sl_said(s);
}

static void sl_gap(void *ctx, struct ww_interval t, int64_t lost, const char *reason)
{
	struct sinklog *s = ctx;

	ww_str_addf(&s->text, "gap %lld..%lld %lld %s\n",
		    (long long)((t.lo_ns - s->t0_ns) / 1000000),
		    (long long)((t.hi_ns - s->t0_ns) / 1000000), (long long)lost, reason);
	sl_said(s);
}

static void sl_lost(void *ctx, const struct ww_error *why)
{
	struct sinklog *s = ctx;

	s->lost = s->stop = true;
	snprintf(s->why, sizeof(s->why), "%s", why->text);
}

static void sl_ended(void *ctx)
{
	struct sinklog *s = ctx;

	s->ended = s->stop = true;
}

static void sl_warn(void *ctx, const char *text)
{
	struct sinklog *s = ctx;

	ww_str_addf(&s->text, "warn %s\n", text);
}

static inline struct ww_sink sl_sink(struct sinklog *s)
{
	return (struct ww_sink){.ctx = s,
				.describe = sl_describe,
				.samples = sl_samples,
				.bytes = sl_bytes,
				.raw = sl_raw,
				.mark = sl_mark,
				.gap = sl_gap,
				.lost = sl_lost,
				.ended = sl_ended,
				.warn = sl_warn};
}

static inline int sl_init(struct sinklog *s, int64_t now_ns, struct ww_error *err)
{
	const struct ww_clock clock = {.ctx = s,
				       .now = sl_now,
				       .anchor = sl_anchor,
				       .advance = sl_advance};

	*s = (struct sinklog){.now_ns = now_ns, .t0_ns = now_ns};
	return ww_loop_new(&clock, &s->loop, err);
}

static inline int sl_open(struct sinklog *s, const char *uri, int64_t every_ns,
			  int64_t first_open_ns, struct ww_source **out, struct ww_error *err)
{
	const struct ww_source_setup setup = {.loop = s->loop,
					      .sink = sl_sink(s),
					      .uri = uri,
					      .every_ns = every_ns,
					      .first_open_ns = first_open_ns};

	s->stop = s->lost = s->ended = false;
	return ww_source_open(&setup, out, err);
}

static void sl_alarm(void *ctx, int64_t now_ns, int64_t late_ns)
{
	(void)now_ns;
	(void)late_ns;
	((struct sinklog *)ctx)->stop = true;
}

/* Run for a time of the virtual clock, or until the source is lost or has ended. */
static inline int sl_run(struct sinklog *s, int64_t for_ns)
{
	struct ww_timer *t;
	int rc = ww_loop_timer(s->loop, sl_alarm, s, &t, NULL);

	if (rc < 0)
		return rc;
	ww_timer_set(t, s->now_ns + for_ns, 0);
	s->stop = false;
	while (!s->stop && rc >= 0)
		rc = ww_loop_dispatch(s->loop, NULL);
	ww_timer_free(t);
	return rc;
}

static inline const char *sl_text(const struct sinklog *s)
{
	return s->text.p ? s->text.p : "";
}

static inline const char *sl_bytes_text(const struct sinklog *s)
{
	return s->bytes.p ? s->bytes.p : "";
}

static inline double sl_value(const struct sinklog *s, size_t row, size_t channel)
{
	int64_t c = s->codes[row * SINK_CHANNELS + channel];

	return (double)c * s->channel[channel].scale + s->channel[channel].offset;
}

static inline void sl_free(struct sinklog *s)
{
	ww_loop_free(s->loop);
	ww_str_free(&s->text);
	ww_str_free(&s->bytes);
	free(s->lo);
	free(s->hi);
	free(s->codes);
}

#endif
