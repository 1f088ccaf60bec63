/* SPDX-License-Identifier: MIT */
/* A port under test: what it gave, and a loop to turn. */
#ifndef PORTTEST_H
#define PORTTEST_H

#include "bus/port.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

struct got {
	struct ww_loop *loop;
	struct ww_port *port;
	uint8_t *data;
	struct ww_interval *t; /* of each byte */
	size_t n, max;
	int lost;
	bool close_when_lost;
	struct ww_error why;
	struct ww_error err;
};

static void got_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	struct got *g = ctx;

	assert_true(t.lo_ns <= t.hi_ns);
	assert_true(g->n + n <= g->max);
	memcpy(g->data + g->n, data, n);
	for (size_t i = 0; i < n; i++)
		g->t[g->n++] = t;
}

static void got_lost(void *ctx, const struct ww_error *err)
{
	struct got *g = ctx;

	g->lost++;
	g->why = *err;
	if (g->close_when_lost) {
		ww_port_close(g->port);
		g->port = NULL;
	}
}

static void got_trouble(void *ctx, struct ww_interval t, int64_t lost, const char *text)
{
	(void)ctx;
	(void)t;
	print_message("# trouble: %lld %s\n", (long long)lost, text);
}

static inline int got_open(struct got *g, const char *uri, size_t max)
{
	struct ww_port_events ev = {.ctx = g,
				    .bytes = got_bytes,
				    .lost = got_lost,
				    .trouble = got_trouble};
	struct ww_uri u;
	char place[256];
	int rc;

	g->max = max;
	g->data = calloc(max, 1);
	g->t = calloc(max, sizeof(*g->t));
	assert_non_null(g->data);
	assert_non_null(g->t);
	assert_int_equal(ww_loop_new(NULL, &g->loop, NULL), 0);
	assert_int_equal(ww_uri_parse(uri, &u, NULL), 0);
	snprintf(place, sizeof(place), "%s%s%s", u.driver, *u.driver ? ":" : "", u.place);
	rc = ww_port_open(g->loop, place, &u, 0, &ev, &g->port, &g->err);
	ww_uri_free(&u);
	return rc;
}

static inline void got_close(struct got *g)
{
	ww_port_close(g->port);
	ww_loop_free(g->loop);
	free(g->data);
	free(g->t);
	memset(g, 0, sizeof(*g));
}

static inline void turn(struct got *g, int ms)
{
	struct pollfd p = {.fd = ww_loop_fd(g->loop), .events = POLLIN};

	poll(&p, 1, ms);
	assert_int_equal(ww_loop_dispatch(g->loop, NULL), 0);
}

/* Until n bytes are here or the port is lost; fails after 10 s. */
static inline void turn_until(struct got *g, size_t n)
{
	int64_t end = ww_clock_now_ns() + 10 * WW_NS_PER_S;

	while (g->n < n && !g->lost) {
		assert_true(ww_clock_now_ns() < end);
		turn(g, 100);
	}
}

#endif
