/* SPDX-License-Identifier: MIT */
/* Edges of a GPIO line as messages of a port, over a chip that lives in gpiochip.h. */
#include "porttest.h"

#ifdef WW_WITH_GPIOD

#include "../source/gpiochip.h"

#include <time.h>

static void edge(unsigned seqno, int level)
{
	struct ww_gpio_edge e = {.stamp_ns = ww_clock_ns(CLOCK_MONOTONIC),
				 .seqno = seqno,
				 .level = level};

	assert_int_equal(write(chip.fd[1], &e, sizeof(e)), sizeof(e));
}

static void plug(void)
{
	memset(&chip, 0, sizeof(chip));
	assert_int_equal(pipe(chip.fd), 0);
}

/* One message an edge, each in its own interval; gone when the chip is. */
static void messages(void **state)
{
	int64_t before, after;
	struct got g = {0};

	(void)state;
	plug();
	assert_int_equal(got_open(&g, "edges:gpiochip0/WAKE?active_low=1&bias=pull-up", 256), 0);
	assert_true(chip.active_low);
	assert_int_equal(ww_port_level(g.port), 1);
	assert_string_equal(ww_port_model(g.port), "gpiochip0 3 \"WAKE\" (bench)");
	assert_string_equal(ww_port_transport(g.port)->name, "kernel");
	before = ww_clock_now_ns();
	for (unsigned i = 0; i < 100; i++)
		edge(i + 1, i & 1);
	after = ww_clock_now_ns();
	turn_until(&g, 100);
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(g.data[i], i & 1 ? '1' : '0');
		assert_true(g.t[i].lo_ns <= after && g.t[i].hi_ns >= before);
		assert_true(!i || g.t[i].hi_ns >= g.t[i - 1].hi_ns);
	}
	/* Not all in one: each has a stamp of its own. */
	assert_true(g.t[0].hi_ns < g.t[99].lo_ns);
	close(chip.fd[1]);
	turn_until(&g, 256);
	assert_int_equal(g.lost, 1);
	assert_non_null(strstr(g.why.text, "gpiochip0/WAKE: gone"));
	got_close(&g);
	assert_int_equal(chip.held, 0);
	close(chip.fd[0]);
}

/* Closed by its owner from within. */
static void closed_inside(void **state)
{
	struct got g = {.close_when_lost = true};

	(void)state;
	plug();
	assert_int_equal(got_open(&g, "gpio:gpiochip0/3", 256), 0);
	edge(1, 1);
	close(chip.fd[1]);
	turn_until(&g, 256);
	assert_true(g.lost == 1 && !g.port);
	got_close(&g);
	assert_int_equal(chip.held, 0);
	close(chip.fd[0]);
}

static void refusals(void **state)
{
	static const struct {
		const char *uri, *says;
	} rows[] = {{"edges:gpiochip0", "gpio:CHIP/LINE"},
		    {"edges:gpiochip0/NAME", "no such line"},
		    {"edges:gpiochip7/3", "no such GPIO chip"},
		    {"edges:gpiochip0/3?bias=up", "pull-up"},
		    {"edges:gpiochip0/3?active_low=2", "active_low"}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(rows); i++) {
		struct got g = {0};

		memset(&chip, 0, sizeof(chip));
		assert_true(got_open(&g, rows[i].uri, 1) < 0);
		assert_non_null(strstr(g.err.text, rows[i].says));
		assert_int_equal(chip.held, 0);
		got_close(&g);
	}
}

#if WW_WITH_GPIOD >= 2

/* What the kernel's buffer did not hold stands between the edges, as 'x'. */
static void sequence(void **state)
{
	struct got g = {0};

	(void)state;
	plug();
	assert_int_equal(got_open(&g, "edges:gpiochip0/3?debounce=5ms", 256), 0);
	edge(1, 1);
	edge(2, 0);
	edge(7, 1);
	turn_until(&g, 4);
	assert_memory_equal(g.data, "10x1", 4);
	assert_true(g.t[3].hi_ns - g.t[3].lo_ns >= 10 * WW_NS_PER_MS);
	got_close(&g);
	close(chip.fd[0]);
	close(chip.fd[1]);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(closed_inside),
		cmocka_unit_test(refusals),
#if WW_WITH_GPIOD >= 2
		cmocka_unit_test(sequence),
#endif
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
