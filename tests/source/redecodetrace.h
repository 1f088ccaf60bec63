/* SPDX-License-Identifier: MIT */
/* Traces as a recorder with --raw makes them, of a meter that does what its bytes say. */
#ifndef REDECODETRACE_H
#define REDECODETRACE_H

#include "source/turns.h"
#include "trace/trace.h"

#define SEC(s) ((int64_t)((s)*1e9))

struct rt {
	struct ww_trace *t;
	struct ww_writer *w;
	uint32_t meter, port, raw, turns; /* 0: not there */
	int64_t raw_ns, turns_ns;
};

static uint32_t rt_source(struct rt *x, int kind, const char *name, const char *driver,
			  const char *uri)
{
	struct ww_source_info s = {.kind = kind, .name = name, .driver = driver, .uri = uri};
	int id = ww_writer_source(x->w, &s, NULL);

	assert_true(id > 0);
	return (uint32_t)id;
}

static inline void rt_begin(struct rt *x, const char *driver, const char *uri, bool raw, bool turns)
{
	struct ww_channel_info c = {.name = "old", .quantity = "power", .unit = "W", .scale = 1};

	*x = (struct rt){.raw_ns = WW_TIME_MIN, .turns_ns = WW_TIME_MIN};
	assert_int_equal(ww_memory_new("x.wwt", &x->t, &x->w, NULL), 0);
	x->port = rt_source(x, WW_SERIAL, "port", "tty", "tty:/dev/ttyS0");
	x->meter = rt_source(x, WW_METER, "meter", driver, uri);
	c.source = x->meter;
	assert_true(ww_writer_channel(x->w, &c, NULL) > 0);
	if (turns)
		x->turns = rt_source(x, WW_SERIAL, "meter.turns", driver, uri);
	if (raw)
		x->raw = rt_source(x, WW_SERIAL, "meter.raw", driver, uri);
}

static inline void rt_turn(struct rt *x, int turn, int64_t lo, int64_t hi, uint64_t n,
			   const char *text)
{
	uint8_t b[512];
	size_t k;

	if (!x->turns)
		return;
	x->turns_ns = hi > x->turns_ns ? hi : x->turns_ns;
	k = ww_turn_put(b, turn, (struct ww_interval){lo, hi}, x->turns_ns, n);
	if (text)
		memcpy(b + k, text, n);
	assert_int_equal(ww_writer_bytes(x->w, x->turns,
					 (struct ww_interval){x->turns_ns, x->turns_ns}, b,
					 k + (text ? n : 0), NULL),
			 0);
}

static inline void rt_raw(struct rt *x, int64_t lo, int64_t hi, const char *bytes)
{
	x->raw_ns = hi > x->raw_ns ? hi : x->raw_ns;
	lo = lo < x->raw_ns ? lo : x->raw_ns;
	if (x->raw)
		assert_int_equal(ww_writer_bytes(x->w, x->raw, (struct ww_interval){lo, x->raw_ns},
						 (const uint8_t *)bytes, strlen(bytes), NULL),
				 0);
}

static inline void rt_feed(struct rt *x, double at, const char *bytes)
{
	rt_turn(x, WW_TURN_FEED, SEC(at) - 1000, SEC(at), strlen(bytes), NULL);
	rt_raw(x, SEC(at) - 1000, SEC(at), bytes);
}

static inline void rt_at(struct rt *x, int turn, double at, uint64_t n)
{
	rt_turn(x, turn, SEC(at), SEC(at), n, NULL);
}

static inline void rt_mark(struct rt *x, uint32_t source, double at, const char *kind,
			   const char *text)
{
	struct ww_mark m = {.t = {SEC(at), SEC(at)}, .source = source, .kind = kind, .text = text};

	assert_int_equal(ww_writer_mark(x->w, &m, NULL), 0);
}

static inline void rt_gap(struct rt *x, double from, double to, const char *reason)
{
	struct ww_gap g = {.t = {SEC(from), SEC(to)},
			   .source = x->meter,
			   .lost = 7,
			   .reason = reason};

	assert_int_equal(ww_writer_gap(x->w, &g, NULL), 0);
}

/* A day in the life: read, lost, unplugged, read again, at another speed. */
static inline void rt_day(struct rt *x)
{
	const int64_t lo = SEC(101) - 1000, hi = SEC(101), old = 5;

	assert_int_equal(ww_writer_meta(x->w, "bench.host", "here", NULL), 0);
	assert_int_equal(ww_writer_bytes(x->w, x->port, (struct ww_interval){SEC(100), SEC(102)},
					 (const uint8_t *)"beat", 4, NULL),
			 0);
	assert_int_equal(ww_writer_samples(x->w, x->meter, 1, &lo, &hi, &old, NULL), 0);
	rt_mark(x, 0, 100, WW_MARK_START, "");
	rt_at(x, WW_TURN_START, 100, (uint64_t)SEC(4));
	rt_feed(x, 100.5, "a#b");
	rt_at(x, WW_TURN_TICK, 101, 0);
	rt_mark(x, 0, 101, WW_MARK_LABEL, "by hand");
	rt_mark(x, x->meter, 101.5, WW_MARK_DEVICE, "of the old driver");
	rt_feed(x, 102, "!c?");
	rt_gap(x, 101, 102, "of the old driver");
	rt_mark(x, x->meter, 103, WW_MARK_UNPLUGGED, "gone");
	rt_at(x, WW_TURN_START, 104, 0);
	rt_mark(x, x->meter, 104, WW_MARK_REPLUGGED, "after 1 s");
	rt_gap(x, 102, 105, "unplugged");
	rt_feed(x, 105, "d@");
	rt_at(x, WW_TURN_BAUD, 105, 1);
	rt_turn(x, WW_TURN_TROUBLE, SEC(105), SEC(105.5), 10, "overrun: 3");
	/* The driver is called for something older than the call before. */
	rt_at(x, WW_TURN_TICK, 106, 0);
	rt_feed(x, 105.9, "<e");
	rt_at(x, WW_TURN_STOP, 107, 0);
	rt_mark(x, 0, 107, WW_MARK_STOP, "");
}

static inline void rt_done(struct rt *x)
{
	assert_int_equal(ww_memory_done(x->t, x->w, NULL), 0);
	x->w = NULL;
}

/* Decoded again, in memory; NULL: rc and err tell. */
static inline struct ww_trace *rt_again(struct rt *x, const char *source, int *rc,
					struct ww_error *err)
{
	struct ww_trace *t;
	struct ww_writer *w;
	int end;

	*rc = ww_memory_new("y.wwt", &t, &w, err);
	if (*rc < 0)
		return NULL;
	*rc = ww_trace_redecode(x->t, source, w, err);
	end = ww_memory_done(t, w, *rc < 0 ? NULL : err);
	if (*rc >= 0 && end < 0)
		*rc = end;
	if (*rc >= 0)
		return t;
	ww_trace_close(t);
	return NULL;
}

#endif
