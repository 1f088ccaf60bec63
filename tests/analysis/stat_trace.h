/* SPDX-License-Identifier: MIT */
/* A trace of one meter, written by the library, for the tests of ww_stat. */
#ifndef TESTS_STAT_TRACE_H
#define TESTS_STAT_TRACE_H

#include "../scratch.h"
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define S	WW_NS_PER_S
#define BEGIN	(1000 * S)		  /* first row, on the axis */
#define WALL	(INT64_C(1796044611) * S) /* 2026-11-30T13:16:51Z, then */
#define MISSING NAN

#define OK(call)                                                                                   \
	do {                                                                                       \
		struct ww_error e_ = {0}, *err = &e_;                                              \
		long long rc_ = (long long)(call);                                                 \
		if (rc_ < 0)                                                                       \
			fail_msg("%s: %lld: %s", #call, rc_, e_.text);                             \
	} while (0)

/* A channel as a test describes it; zero accuracy means unknown, negative means none. */
struct chan {
	const char *name, *quantity, *unit;
	int semantics;
	double scale, resolution, acc_abs, acc_rel, wrap;
};

struct bench {
	char path[64];
	struct ww_writer *w;
	uint32_t source;
	size_t channels;
	double scale[4];
};

static const struct chan POWER = {"power", "power", "W", WW_AVERAGE, 0.1, 0.1, 0, 0, 0};
static const struct chan ENERGY = {"energy", "energy", "Wh", WW_COUNTER, 0.1, 0.1, 0, 0, 0};

static inline double bound(double a)
{
	return a > 0 ? a : a < 0 ? 0 : NAN;
}

static inline void bench_source(struct bench *b, const struct ww_source_info *info,
				const struct chan *c, size_t n)
{
	struct ww_error why = {0};
	int id = ww_writer_source(b->w, info, &why);

	if (id < 0)
		fail_msg("%s", why.text);
	b->source = (uint32_t)id;
	b->channels = n;
	for (size_t i = 0; i < n; i++) {
		struct ww_channel_info ci = {.source = b->source,
					     .name = c[i].name,
					     .quantity = c[i].quantity,
					     .unit = c[i].unit,
					     .semantics = c[i].semantics,
					     .scale = c[i].scale,
					     .resolution = c[i].resolution,
					     .acc_abs = bound(c[i].acc_abs),
					     .acc_rel = bound(c[i].acc_rel),
					     .wrap = c[i].wrap};

		b->scale[i] = c[i].scale;
		OK(ww_writer_channel(b->w, &ci, err));
	}
}

static inline void bench_open(struct bench *b, const struct ww_source_info *info,
			      const struct chan *c, size_t n)
{
	static const struct ww_source_info plain = {.kind = WW_METER,
						    .name = "meter",
						    .period_ns = S};
	struct ww_anchor a = {.boot_ns = BEGIN, .mono_ns = BEGIN, .real_ns = WALL, .width_ns = 1};

	*b = (struct bench){0};
	snprintf(b->path, sizeof(b->path), "%s/ww-stat-XXXXXX", scratch());
	assert_true(close(mkstemp(b->path)) == 0);
	unlink(b->path);
	OK(ww_writer_open(b->path, NULL, &b->w, err));
	OK(ww_writer_anchor(b->w, &a, err));
	bench_source(b, info ? info : &plain, c, n);
}

/* A row at t seconds after BEGIN; MISSING for a value not given. */
static inline void bench_row(struct bench *b, double t, const double *v)
{
	int64_t ns = BEGIN + (int64_t)llround(t * 1e9), code[4];

	for (size_t i = 0; i < b->channels; i++)
		code[i] = isnan(v[i]) ? WW_MISSING : (int64_t)llround(v[i] / b->scale[i]);
	OK(ww_writer_samples(b->w, b->source, 1, &ns, &ns, code, err));
}

static inline void bench_gap(struct bench *b, double from, double to)
{
	struct ww_gap g = {.t = {BEGIN + (int64_t)(from * 1e9), BEGIN + (int64_t)(to * 1e9)},
			   .source = b->source,
			   .lost = -1,
			   .reason = "unplugged"};

	OK(ww_writer_gap(b->w, &g, err));
}

static inline struct ww_trace *bench_read(struct bench *b)
{
	struct ww_trace *t = NULL;

	OK(ww_writer_close(b->w, err));
	b->w = NULL;
	OK(ww_trace_open(b->path, &t, err));
	return t;
}

static inline void bench_end(struct bench *b, struct ww_trace *t)
{
	ww_trace_close(t);
	unlink(b->path);
}

/* Seeded normal noise (splitmix64, Box-Muller). */
static uint64_t seed;

static inline double uniform(void)
{
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

#endif
