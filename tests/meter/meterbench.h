/* SPDX-License-Identifier: MIT */
/*
 * A driver and the model of its meter on one bench, in virtual time: what each says
 * reaches the other as fast as the line carries it. Readings are kept with their times.
 */
#ifndef METERBENCH_H
#define METERBENCH_H

#include "meterlog.h"
#include "../emu/emu.h"

#include <math.h>

#define MB_QUEUE 4096
#define MB_ROWS	 4096

struct mb_row {
	struct ww_interval t;
	int64_t code[WW_METER_CHANNELS];
};

struct meterbench {
	struct meterlog log; /* first: what the driver says goes there as well */
	const struct emu_model *model;
	void *meter;
	int64_t char_ns;  /* of the line, 0: at once */
	int64_t line_ns;  /* until when the line towards the host is busy */
	int64_t empty_ns; /* when the host last saw nothing */
	struct mb_msg {
		int64_t at;
		size_t n;
		uint8_t *p;
	} queue[MB_QUEUE];
	size_t queued;
	struct mb_row row[MB_ROWS];
	size_t rows;
	uint8_t *to_meter; /* sent by the driver in this turn */
	size_t to_meter_n[64], to_meters;
	size_t to_meter_bytes;
	size_t cut; /* a stream arrives in pieces of so many bytes; 0: as it was sent */
	bool quiet; /* readings are not kept as text */
};

static void mb_emit(void *ctx, int64_t at, const void *p, size_t n)
{
	struct meterbench *b = ctx;
	struct mb_msg *m = &b->queue[b->queued];

	if (b->queued == MB_QUEUE || !n)
		return;
	b->queued++;
	*m = (struct mb_msg){.at = at, .n = n, .p = malloc(n)};
	memcpy(m->p, p, n);
	if (b->char_ns) {
		m->at = at > b->line_ns ? at : b->line_ns;
		m->at += (int64_t)n * b->char_ns;
		b->line_ns = m->at;
	}
}

static void mb_send(void *ctx, const void *data, size_t n)
{
	struct meterbench *b = ctx;

	ml_send(ctx, data, n);
	if (b->to_meters == WW_COUNTOF(b->to_meter_n))
		return;
	b->to_meter = realloc(b->to_meter, b->to_meter_bytes + n + 1);
	memcpy(b->to_meter + b->to_meter_bytes, data, n);
	b->to_meter_bytes += n;
	b->to_meter_n[b->to_meters++] = n;
}

static void mb_reading(void *ctx, struct ww_interval t, const int64_t *codes)
{
	struct meterbench *b = ctx;

	if (b->quiet)
		b->log.given++;
	else
		ml_reading(ctx, t, codes);
	if (b->rows == MB_ROWS)
		return;
	b->row[b->rows].t = t;
	memcpy(b->row[b->rows].code, codes, b->log.channels * sizeof(*codes));
	b->rows++;
}

static struct ww_meter_out mb_out(struct meterbench *b)
{
	struct ww_meter_out out = ml_out(&b->log);

	out.send = mb_send;
	out.reading = mb_reading;
	return out;
}

/* The driver ends the connection: what was on its way gets lost. */
static void mb_hang_up(struct meterbench *b)
{
	while (b->queued)
		free(b->queue[--b->queued].p);
	b->line_ns = 0;
	if (b->model->opened)
		b->model->opened(b->meter, b->log.now_ns);
}

/* What the driver said in this turn reaches the meter. */
static void mb_deliver(struct meterbench *b)
{
	const struct emu_out out = {.ctx = b, .send = mb_emit};
	size_t n = b->to_meters, at = 0;

	b->to_meters = 0;
	for (size_t i = 0; i < n; i++) {
		if (!b->to_meter_n[i]) {
			mb_hang_up(b);
			continue;
		}
		b->model->host(b->meter, b->log.now_ns, b->to_meter + at, b->to_meter_n[i], &out);
		at += b->to_meter_n[i];
	}
	b->to_meter_bytes = 0;
}

/* uri NULL: the driver's example. The time starts at 1000 s. */
static inline void mb_open(struct meterbench *b, const char *driver, const char *uri,
			   int64_t every_ns, const struct emu_setup *s)
{
	const struct ww_meter_ops *m = ww_meter_find(driver);
	struct ww_error err = {0};
	struct ww_meter_out out;

	memset(b, 0, sizeof(*b));
	b->model = emu_find(driver);
	if (!m || !b->model)
		fail_msg("no driver or no model '%s'", driver);
	if (ml_open(&b->log, m, uri ? uri : m->desc.example, every_ns, &err) < 0)
		fail_msg("%s: %s", driver, err.text);
	b->log.now_ns = b->empty_ns = 1000 * WW_NS_PER_S;
	b->meter = calloc(1, b->model->state_size);
	if (b->model->init(b->meter, s) < 0)
		fail_msg("%s: the model has no fault '%s'", driver, s->fault);
	if (b->model->wire == EMU_STREAM && b->model->baud)
		b->char_ns = 10 * WW_NS_PER_S / b->model->baud;
	out = mb_out(b);
	m->start(b->log.state, b->log.now_ns, &out);
	mb_deliver(b);
}

static size_t mb_first(const struct meterbench *b)
{
	size_t first = 0;

	for (size_t i = 1; i < b->queued; i++)
		if (b->queue[i].at < b->queue[first].at)
			first = i;
	return first;
}

static void mb_arrive(struct meterbench *b)
{
	struct ww_meter_out out = mb_out(b);
	size_t i = mb_first(b);
	struct mb_msg m = b->queue[i];

	memmove(b->queue + i, b->queue + i + 1, (--b->queued - i) * sizeof(m));
	b->log.now_ns = m.at > b->log.now_ns ? m.at : b->log.now_ns;
	/* A host that looks each millisecond has just seen nothing. */
	if (b->log.now_ns - b->empty_ns > WW_NS_PER_MS)
		b->empty_ns = b->log.now_ns - WW_NS_PER_MS;
	for (size_t at = 0, k; at < m.n; at += k) {
		k = b->cut && m.n - at > b->cut ? b->cut : m.n - at;
		b->log.m->feed(b->log.state, (struct ww_interval){b->empty_ns, b->log.now_ns},
			       m.p + at, k, &out);
	}
	b->empty_ns = b->log.now_ns;
	free(m.p);
	mb_deliver(b);
}

/* Run both until t_ns. */
static inline void mb_until(struct meterbench *b, int64_t t_ns)
{
	struct ww_meter_out out = mb_out(b);
	const struct emu_out eo = {.ctx = b, .send = mb_emit};
	int64_t was = b->log.now_ns;
	unsigned still = 0;

	for (;;) {
		int64_t d = b->log.m->deadline(b->log.state);
		int64_t e = b->model->due ? b->model->due(b->meter) : EMU_NEVER;
		int64_t q = b->queued ? b->queue[mb_first(b)].at : WW_TIME_MAX;

		if (q <= d && q <= e && q <= t_ns) {
			mb_arrive(b);
		} else if (d <= e && d <= t_ns) {
			b->log.now_ns = d > b->log.now_ns ? d : b->log.now_ns;
			b->log.m->tick(b->log.state, b->log.now_ns, &out);
			mb_deliver(b);
		} else if (e <= t_ns) {
			b->log.now_ns = e > b->log.now_ns ? e : b->log.now_ns;
			b->model->tick(b->meter, b->log.now_ns, &eo);
		} else {
			break;
		}
		still = b->log.now_ns == was ? still + 1 : 0;
		was = b->log.now_ns;
		if (still > 20000)
			fail_msg("%s: deadlines that do not move on", b->model->name);
		/* A host that looks each millisecond, as ports do. */
		if (b->log.now_ns - b->empty_ns > WW_NS_PER_MS)
			b->empty_ns = b->log.now_ns - WW_NS_PER_MS;
	}
	b->log.now_ns = t_ns;
	b->empty_ns = t_ns > b->empty_ns + WW_NS_PER_MS ? t_ns - WW_NS_PER_MS : b->empty_ns;
}

static inline void mb_for(struct meterbench *b, int64_t ns)
{
	mb_until(b, b->log.now_ns + ns);
}

/* Value of a channel in the i-th reading; NaN where it is missing or there is none. */
static inline double mb_value(const struct meterbench *b, size_t i, const char *channel)
{
	for (size_t c = 0; i < b->rows && c < b->log.channels; c++) {
		struct ww_channel_info ch;

		ww_meter_channel(b->log.m, b->log.state, c, &ch);
		if (strcmp(ch.name, channel) != 0)
			continue;
		return b->row[i].code[c] < WW_CODE_MIN
			       ? (double)NAN
			       : (double)b->row[i].code[c] * ch.scale + ch.offset;
	}
	return (double)NAN;
}

static inline void mb_close(struct meterbench *b)
{
	for (size_t i = 0; i < b->queued; i++)
		free(b->queue[i].p);
	free(b->to_meter);
	free(b->meter);
	ml_close(&b->log);
}

#endif
