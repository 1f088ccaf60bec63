/* SPDX-License-Identifier: MIT */
/*
 * A GPIO line as a source, over a chip that lives here: libgpiod's functions of
 * 1.6 are defined in this program and so come before the library's.
 */
#include "source/source.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#if defined(WW_WITH_GPIOD) && WW_WITH_GPIOD == 1

#include <gpiod.h>

static struct {
	int fd[2]; /* struct gpiod_line_event through a pipe */
	int flags, requests, closed, busy;
} chip;

struct gpiod_chip *gpiod_chip_open_lookup(const char *what)
{
	errno = ENOENT;
	return strcmp(what, "gpiochip0") == 0 ? (struct gpiod_chip *)&chip : NULL;
}

void gpiod_chip_close(struct gpiod_chip *c)
{
	(void)c;
	chip.closed++;
}

struct gpiod_line *gpiod_chip_get_line(struct gpiod_chip *c, unsigned off)
{
	(void)c;
	return off < 8 ? (struct gpiod_line *)&chip : NULL;
}

struct gpiod_line *gpiod_chip_find_line(struct gpiod_chip *c, const char *name)
{
	(void)c;
	return strcmp(name, "WAKE") == 0 ? (struct gpiod_line *)&chip : NULL;
}

unsigned gpiod_chip_num_lines(struct gpiod_chip *c)
{
	(void)c;
	return 8;
}

const char *gpiod_chip_name(struct gpiod_chip *c)
{
	(void)c;
	return "gpiochip0";
}

const char *gpiod_chip_label(struct gpiod_chip *c)
{
	(void)c;
	return "bench";
}

unsigned gpiod_line_offset(struct gpiod_line *l)
{
	(void)l;
	return 3;
}

const char *gpiod_line_name(struct gpiod_line *l)
{
	(void)l;
	return "WAKE";
}

const char *gpiod_line_consumer(struct gpiod_line *l)
{
	(void)l;
	return "other";
}

int gpiod_line_request_both_edges_events_flags(struct gpiod_line *l, const char *who, int flags)
{
	(void)l;
	(void)who;
	chip.flags = flags;
	chip.requests++;
	errno = EBUSY;
	return chip.busy ? -1 : 0;
}

int gpiod_line_event_get_fd(struct gpiod_line *l)
{
	(void)l;
	return chip.fd[0];
}

int gpiod_line_get_value(struct gpiod_line *l)
{
	(void)l;
	return 1;
}

int gpiod_line_event_read_fd_multiple(int fd, struct gpiod_line_event *ev, unsigned max)
{
	ssize_t n = read(fd, ev, max * sizeof(*ev));

	if (n == 0)
		errno = ENODEV;
	return n > 0 ? (int)((size_t)n / sizeof(*ev)) : -1;
}

struct sink {
	struct ww_source_info info;
	struct ww_channel_info ch;
	char model[64], role[16];
	size_t n;
	int64_t lo[64], hi[64], code[64];
	int lost;
};

static int on_describe(void *ctx, const struct ww_source_info *i, const struct ww_channel_info *ch,
		       size_t n, struct ww_error *err)
{
	struct sink *s = ctx;

	(void)err;
	assert_int_equal(n, 1);
	s->info = *i;
	s->ch = *ch;
	snprintf(s->model, sizeof(s->model), "%s", i->model);
	snprintf(s->role, sizeof(s->role), "%s", i->role);
	return 0;
}

static void on_samples(void *ctx, size_t n, const int64_t *lo, const int64_t *hi,
		       const int64_t *codes)
{
	struct sink *s = ctx;

	for (size_t i = 0; i < n; i++, s->n++) {
		s->lo[s->n] = lo[i];
		s->hi[s->n] = hi[i];
		s->code[s->n] = codes[i];
	}
}

static void on_lost(void *ctx, const struct ww_error *why)
{
	(void)why;
	((struct sink *)ctx)->lost++;
}

static int open_line(struct ww_loop *l, const char *text, struct sink *s, struct ww_source **out,
		     struct ww_error *err)
{
	struct ww_source_setup setup = {.loop = l, .uri = text};
	struct ww_uri uri;
	int rc;

	memset(s, 0, sizeof(*s));
	ww_error_clear(err);
	setup.sink.ctx = s;
	setup.sink.describe = on_describe;
	setup.sink.samples = on_samples;
	setup.sink.lost = on_lost;
	assert_int_equal(ww_uri_parse(text, &uri, NULL), 0);
	rc = ww_source_gpio.open(&setup, &uri, out, err);
	ww_uri_free(&uri);
	return rc;
}

static void edge(int clock, int level)
{
	int64_t t = ww_clock_ns(clock);
	struct gpiod_line_event e = {.ts = {.tv_sec = t / WW_NS_PER_S, .tv_nsec = t % WW_NS_PER_S},
				     .event_type = level ? GPIOD_LINE_EVENT_RISING_EDGE
							 : GPIOD_LINE_EVENT_FALLING_EDGE};

	assert_int_equal(write(chip.fd[1], &e, sizeof(e)), sizeof(e));
}

static void turn(struct ww_loop *l, const struct sink *s, size_t n)
{
	int64_t end = ww_clock_now_ns() + 10 * WW_NS_PER_S;
	struct pollfd p = {.fd = ww_loop_fd(l), .events = POLLIN};

	while (s->n < n && !s->lost) {
		assert_true(ww_clock_now_ns() < end);
		poll(&p, 1, 100);
		assert_int_equal(ww_loop_dispatch(l, NULL), 0);
	}
}

/* Stamps of either clock end on the axis where the edge was made. */
static void test_edges(void **state)
{
	static const int clocks[] = {CLOCK_MONOTONIC, CLOCK_REALTIME};
	struct ww_error err = {0};
	struct ww_source *src;
	struct ww_loop *l;
	struct sink s;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (size_t k = 0; k < WW_COUNTOF(clocks); k++) {
		int64_t before, after;

		memset(&chip, 0, sizeof(chip));
		assert_int_equal(pipe(chip.fd), 0);
		assert_int_equal(
			open_line(l, "gpio:gpiochip0/WAKE?bias=pull-up&active_low=1&role=wake", &s,
				  &src, &err),
			0);
		assert_int_equal(chip.flags, GPIOD_LINE_REQUEST_FLAG_BIAS_PULL_UP |
						     GPIOD_LINE_REQUEST_FLAG_ACTIVE_LOW);
		assert_int_equal(s.info.kind, WW_LINE);
		assert_int_equal(s.ch.semantics, WW_EDGE);
		assert_string_equal(s.role, "wake");
		assert_string_equal(s.model, "gpiochip0 3 \"WAKE\" (bench)");
		assert_int_equal(src->ops->start(src, &err), 0);
		before = ww_clock_now_ns();
		for (int i = 0; i < 40; i++)
			edge(clocks[k], i & 1);
		after = ww_clock_now_ns();
		turn(l, &s, 40);
		assert_int_equal(s.n, 40);
		for (int i = 0; i < 40; i++) {
			assert_int_equal(s.code[i], i & 1);
			assert_true(s.lo[i] <= after && s.hi[i] >= before);
			assert_true(s.hi[i] - s.lo[i] < 10 * WW_NS_PER_MS);
			assert_true(!i || s.hi[i] >= s.hi[i - 1]);
		}
		close(chip.fd[1]);
		turn(l, &s, 64);
		assert_int_equal(s.lost, 1);
		src->ops->close(src);
		assert_int_equal(chip.closed, 1);
		close(chip.fd[0]);
	}
	ww_loop_free(l);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *uri;
		int busy;
		const char *says;
	} rows[] = {{"gpio:gpiochip0/3", 1, "in use by other"},
		    {"gpio:gpiochip0/8", 0, "has 8"},
		    {"gpio:gpiochip0/NAME", 0, "no such line"},
		    {"gpio:gpiochip7/3", 0, "no such GPIO chip"},
		    {"gpio:gpiochip0/3?debounce=5ms", 0, "libgpiod 2"}};
	struct ww_error err = {0};
	struct ww_source *src;
	struct ww_loop *l;
	struct sink s;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		memset(&chip, 0, sizeof(chip));
		chip.busy = rows[i].busy;
		assert_true(open_line(l, rows[i].uri, &s, &src, &err) < 0);
		assert_non_null(strstr(err.text, rows[i].says));
	}
	ww_loop_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP the chip of this test speaks libgpiod 1.6");
	return 0;
}

#endif
