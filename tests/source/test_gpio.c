/* SPDX-License-Identifier: MIT */
/* A GPIO line as a source, over a chip that lives in gpiochip.h. */
#include "source/source.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#ifdef WW_WITH_GPIOD

#include "gpiochip.h"

struct sink {
	struct ww_source_info info;
	struct ww_channel_info ch;
	char model[64], role[16];
	size_t n;
	int64_t lo[64], hi[64], code[64];
	int lost, gaps;
	int64_t missing;
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

static void on_gap(void *ctx, struct ww_interval when, int64_t n, const char *why)
{
	struct sink *s = ctx;

	assert_true(when.lo_ns <= when.hi_ns);
	assert_string_equal(why, "sequence");
	s->gaps++;
	s->missing += n;
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
	setup.sink.gap = on_gap;
	setup.sink.lost = on_lost;
	assert_int_equal(ww_uri_parse(text, &uri, NULL), 0);
	rc = ww_source_gpio.open(&setup, &uri, out, err);
	ww_uri_free(&uri);
	return rc;
}

static void edge(int clock, unsigned seqno, int level)
{
	struct ww_gpio_edge e = {.stamp_ns = ww_clock_ns(clock), .seqno = seqno, .level = level};

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
		assert_true(chip.active_low);
		assert_int_equal(chip.bias, WW_BIAS_UP);
		assert_int_equal(s.info.kind, WW_LINE);
		assert_int_equal(s.ch.semantics, WW_EDGE);
		assert_string_equal(s.role, "wake");
		assert_string_equal(s.model, "gpiochip0 3 \"WAKE\" (bench)");
		assert_int_equal(src->ops->start(src, &err), 0);
		before = ww_clock_now_ns();
		for (int i = 0; i < 40; i++)
			edge(clocks[k], (unsigned)i + 1, i & 1);
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
		assert_int_equal(chip.held, 0);
		assert_int_equal(s.gaps, 0);
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
		    {"gpio:gpiochip0/3?bias=up", 0, "pull-up"},
		    {"gpio:gpiochip0/3?debounce=5ms", 0, "libgpiod 2"}};
	/* With libgpiod 2 the last is none. */
	size_t n = WW_COUNTOF(rows) - (WW_WITH_GPIOD >= 2);
	struct ww_error err = {0};
	struct ww_source *src;
	struct ww_loop *l;
	struct sink s;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		memset(&chip, 0, sizeof(chip));
		chip.busy = rows[i].busy;
		assert_true(open_line(l, rows[i].uri, &s, &src, &err) < 0);
		assert_non_null(strstr(err.text, rows[i].says));
		assert_int_equal(chip.held, 0);
	}
	ww_loop_free(l);
}

#if WW_WITH_GPIOD >= 2

/*
 * The kernel counts the edges of a line, also those that its buffer could not
 * hold; debounced, an edge is as much older than its stamp.
 */
static void test_counted(void **state)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct ww_loop *l;
	struct sink s;

	(void)state;
	assert_int_equal(ww_loop_new(NULL, &l, NULL), 0);
	memset(&chip, 0, sizeof(chip));
	assert_int_equal(pipe(chip.fd), 0);
	assert_int_equal(open_line(l, "gpio:/dev/gpiochip0/3?debounce=5ms", &s, &src, &err), 0);
	assert_int_equal(chip.debounce_ns, 5 * WW_NS_PER_MS);
	assert_int_equal(src->ops->start(src, &err), 0);
	edge(CLOCK_MONOTONIC, 1, 1);
	edge(CLOCK_MONOTONIC, 2, 0);
	edge(CLOCK_MONOTONIC, 7, 1);
	turn(l, &s, 3);
	assert_int_equal(s.gaps, 1);
	assert_int_equal(s.missing, 4);
	for (size_t i = 0; i < s.n; i++)
		assert_true(s.hi[i] - s.lo[i] >= 5 * WW_NS_PER_MS);
	src->ops->close(src);
	assert_int_equal(chip.held, 0);
	close(chip.fd[0]);
	close(chip.fd[1]);
	ww_loop_free(l);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
#if WW_WITH_GPIOD >= 2
		cmocka_unit_test(test_counted),
#endif
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	puts("1..0 # SKIP built without libgpiod");
	return 0;
}

#endif
