/* SPDX-License-Identifier: MIT */
/*
 * A DUT and a serial line that know the truth: tasks that freeze and thaw, a UART whose
 * driver stops and starts, a tty's buffer, a line of finite pace, and a bench that
 * reads it once a millisecond. All times are the bench's, ns; nothing is random but
 * through a seed.
 */
#ifndef TESTS_DUTSIM_H
#define TESTS_DUTSIM_H

#include "../scratch.h"
#include <wakewatt.h>
#include "text/beat.h"
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

enum sim_mode { SIM_STREAM, SIM_DRAIN };

/* A suspend as it really happened. */
struct sim_sleep {
	int64_t freeze, uart_off, sleep, wake, uart_on, thaw;
	int asleep;    /* the clocks stopped (MONOTONIC) between sleep and wake */
	int boots;     /* at wake the machine starts anew: clocks and sequence from 0 */
	int unseen;    /* BOOTTIME stood still too: an RTC of whole seconds */
	int never;     /* tasks never thaw */
	int64_t wrong; /* so much too long the kernel believes it slept */
};

struct sim_byte {
	int64_t t;
	uint8_t c;
};

struct sim {
	/* asked for */
	int plain;
	enum sim_mode mode;
	char mark;
	int64_t period, char_ns, start, end;
	double skew;
	uint32_t seq;
	int info_at_thaw;
	/* what happened */
	struct sim_sleep sleep[64];
	size_t sleeps;
	struct sim_byte *byte;
	size_t n, cap;
	int64_t wire; /* until then the line is busy */
	uint32_t rng;
	int64_t done[256]; /* stream: when the last 256 beats had left */
	uint64_t written;
	int64_t first_after[64]; /* truth: first byte of the first beat written after each thaw */
	int64_t wrote_after[64]; /* truth: when it was written */
};

static inline uint32_t sim_rnd(struct sim *s)
{
	s->rng = s->rng * 1664525 + 1013904223;
	return s->rng >> 8;
}

static inline void sim_init(struct sim *s)
{
	*s = (struct sim){.mark = '.',
			  .period = 10 * MS,
			  .char_ns = 86806,
			  .start = 1000 * S,
			  .end = 1030 * S,
			  .rng = 7,
			  .mode = SIM_DRAIN};
}

static inline void sim_put(struct sim *s, int64_t t, uint8_t c)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 65536;
		s->byte = realloc(s->byte, s->cap * sizeof(*s->byte));
		assert(s->byte);
	}
	s->byte[s->n++] = (struct sim_byte){t, c};
}

/* The line carries one character from `from` on; nothing moves while the UART is off. */
static inline int64_t sim_char(struct sim *s, int64_t from)
{
	int64_t end = from + s->char_ns;

	for (size_t i = 0; i < s->sleeps; i++)
		if (end > s->sleep[i].uart_off && from < s->sleep[i].uart_on)
			end = s->sleep[i].uart_on + s->char_ns;
	return end;
}

static inline void sim_send(struct sim *s, int64_t t, const char *p, size_t n)
{
	if (t > s->wire)
		s->wire = t;
	for (size_t i = 0; i < n; i++) {
		s->wire = sim_char(s, s->wire);
		sim_put(s, s->wire, (uint8_t)p[i]);
	}
}

/* Text straight on the wire, of the boot loader or another writer. */
static inline int64_t sim_text(struct sim *s, int64_t t, const char *text)
{
	for (; *text; text++) {
		t += s->char_ns;
		sim_put(s, t, (uint8_t)*text);
	}
	return t;
}

/* When tasks run again. */
static inline int64_t sim_awake(struct sim *s, int64_t t)
{
	for (size_t i = 0; i < s->sleeps; i++)
		if (t >= s->sleep[i].freeze && t < s->sleep[i].thaw)
			return s->sleep[i].thaw;
	return t;
}

static inline void sim_clocks(const struct sim *s, int64_t t, int64_t *mono, int64_t *off)
{
	double dut = (double)(t - s->start) / (1 + s->skew) + 5e9;
	double slept = 0, wrong = 0;

	for (size_t i = 0; i < s->sleeps; i++) {
		const struct sim_sleep *z = &s->sleep[i];

		if (z->thaw > t)
			continue;
		wrong += (double)z->wrong;
		if (z->asleep && z->unseen)
			dut -= (double)(z->wake - z->sleep) / (1 + s->skew);
		else if (z->asleep)
			slept += (double)(z->wake - z->sleep) / (1 + s->skew);
		if (z->boots) {
			dut = (double)(t - z->wake) / (1 + s->skew);
			slept = 0;
		}
	}
	*mono = (int64_t)((dut - slept) / 1e3);
	*off = (int64_t)((slept + wrong) / 1e3);
}

static inline void sim_digits(char *p, int n, uint64_t v)
{
	static const char d[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	while (n-- > 0) {
		p[n] = d[v & 63];
		v >>= 6;
	}
}

static inline void sim_info(struct sim *s, int64_t t, const char *text)
{
	char line[300];
	int n = snprintf(line, sizeof(line), "#%s*", text);

	sim_digits(line + n, 2, ww_beat_check(text, strlen(text)));
	line[n + 2] = '\n';
	sim_send(s, t, line, (size_t)n + 3);
}

static inline void sim_beat(struct sim *s, int64_t t)
{
	char b[WW_BEAT_LEN] = {s->mark};
	size_t n = 1;
	int64_t mono, off, free = s->wire > t ? s->wire : t;

	for (size_t i = 0; i < s->sleeps; i++)
		if (t >= s->sleep[i].thaw && !s->wrote_after[i]) {
			s->wrote_after[i] = t;
			s->first_after[i] = sim_char(s, free);
		}
	if (!s->plain) {
		sim_clocks(s, t, &mono, &off);
		b[0] = '!';
		sim_digits(b + 1, 4, s->seq++ & 0xffffff);
		sim_digits(b + 5, 8, (uint64_t)mono);
		sim_digits(b + 13, 7, (uint64_t)off);
		sim_digits(b + 20, 2, ww_beat_check(b + 1, 19));
		b[22] = '\n';
		n = WW_BEAT_LEN;
	}
	sim_send(s, t, b, n);
	s->done[s->written++ % 256] = s->wire;
}

/* The beat from start to end, with everything that is in the way. */
static inline void sim_run(struct sim *s)
{
	size_t unit = s->plain ? 1 : WW_BEAT_LEN, ahead = 3840 / WW_BEAT_LEN, told = 0;
	int64_t t = s->start;

	if (s->wire < s->start)
		s->wire = s->start;
	while (t < s->end) {
		if (s->mode == SIM_STREAM && s->written >= ahead &&
		    s->done[(s->written - ahead) % 256] > t)
			t = s->done[(s->written - ahead) % 256];
		t = sim_awake(s, t);
		if (s->mode == SIM_STREAM && s->plain) {
			/* One character is one beat: blocks of a beat's length suffice. */
			for (size_t i = 0; i + 1 < WW_BEAT_LEN; i++) {
				sim_beat(s, t);
				s->written--;
			}
		}
		for (; told < s->sleeps && t > s->sleep[told].thaw + 300 * MS; told++) {
			if (s->sleep[told].never)
				continue;
			if (s->sleep[told].boots)
				s->seq = 0;
			if (s->info_at_thaw)
				sim_info(s, t, "info=resume");
		}
		if (t >= s->end || t >= WW_TIME_MAX / 2)
			break;
		sim_beat(s, t);
		if (s->mode == SIM_STREAM)
			t += 1;
		else
			t = (s->wire > t + s->period ? s->wire : t + s->period) +
			    (int64_t)(sim_rnd(s) % 20000);
	}
	(void)unit;
}

static inline int sim_order(const void *a, const void *b)
{
	const struct sim_byte *x = a, *y = b;

	return (x->t > y->t) - (x->t < y->t);
}

/* A suspend at `at` of so many ms asleep, UART 20 ms after the wake, thaw after it. */
static inline struct sim_sleep *sim_suspend(struct sim *s, int64_t at, int64_t ms, int64_t thaw_ms)
{
	struct sim_sleep *z = &s->sleep[s->sleeps++];

	*z = (struct sim_sleep){.freeze = at + 30 * MS,
				.uart_off = at + 60 * MS,
				.sleep = at + 90 * MS,
				.wake = at + 90 * MS + ms * MS,
				.asleep = 1};
	z->uart_on = z->wake + 20 * MS;
	z->thaw = z->uart_on + thaw_ms * MS;
	return z;
}

struct sim_trace {
	struct ww_writer *w;
	uint32_t port;
	char path[64];
};

static inline struct ww_source_info sim_source(const char *name, int kind, const char *uri)
{
	return (struct ww_source_info){.kind = kind,
				       .name = name,
				       .uri = uri,
				       .driver = "",
				       .model = "",
				       .serial = "",
				       .firmware = "",
				       .notes = "",
				       .transport = {.name = "unix", .settings = ""}};
}

static inline void sim_open(struct sim_trace *t)
{
	struct ww_source_info port = sim_source("port", WW_SERIAL, "unix:/x");
	struct ww_error err = {0};
	int id;

	snprintf(t->path, sizeof(t->path), "%s/wwsimXXXXXX", scratch());
	id = mkstemp(t->path);
	close(id);
	unlink(t->path);
	if (ww_writer_open(t->path, NULL, &t->w, &err) < 0 ||
	    (id = ww_writer_source(t->w, &port, &err)) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	t->port = (uint32_t)id;
}

/* The bench polls the line each millisecond: what came since lies in one interval. */
static inline void sim_store(struct sim *s, struct sim_trace *t)
{
	size_t i = 0;

	qsort(s->byte, s->n, sizeof(*s->byte), sim_order);
	while (i < s->n) {
		int64_t lo = s->byte[i].t / MS * MS, hi = lo + MS;
		uint8_t buf[4096];
		size_t n = 0;

		while (i < s->n && s->byte[i].t < hi && n < sizeof(buf))
			buf[n++] = s->byte[i++].c;
		if (ww_writer_bytes(t->w, t->port, (struct ww_interval){lo, hi}, buf, n, NULL) < 0)
			abort();
	}
	free(s->byte);
	s->byte = NULL;
	s->n = s->cap = 0;
}

static inline void sim_mark(struct sim_trace *t, int64_t at, const char *kind, uint32_t cycle,
			    const char *text)
{
	struct ww_mark m = {.t = {at, at + 10000}, .cycle = cycle, .kind = kind, .text = text};

	if (ww_writer_mark(t->w, &m, NULL) < 0)
		abort();
}

static inline void sim_close(struct sim_trace *t)
{
	struct ww_error err = {0};

	if (ww_writer_close(t->w, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	t->w = NULL;
}

#endif
