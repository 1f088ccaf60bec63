/* SPDX-License-Identifier: MIT */
/*
 * What a campaign decides by: what is drawn, when the median is known well enough, and how
 * the cycles of a trace are judged while it grows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../analysis/dutsim.h"
#include "base/stats.h"
#include "control/campaign.h"

#include <math.h>

static void test_draw(void **state)
{
	int64_t range[2], seen[5] = {0};
	struct ww_error err = {0};

	(void)state;
	for (uint32_t k = 1; k <= 5000; k++) {
		int64_t v = ww_draw(42, k, 2, 6, 1);

		assert_true(v >= 2 && v <= 6);
		seen[v - 2]++;
		assert_int_equal(v, ww_draw(42, k, 2, 6, 1));
	}
	for (int i = 0; i < 5; i++)
		assert_true(seen[i] > 900 && seen[i] < 1100);
	assert_int_equal(ww_draw(7, 1, 50, 250, 1), 68);
	assert_int_equal(ww_draw(7, 1, 50, 50, 1), 50);
	assert_true(ww_draw_seed() != 0);
	assert_int_equal(ww_draw_alarm("rtc:2s..1m", range, &err), 1);
	assert_true(range[0] == 2 && range[1] == 60);
	assert_int_equal(ww_draw_alarm("rtc:20s", range, &err), 0);
	assert_int_equal(ww_draw_alarm("echo 1..2", range, &err), 0);
	assert_int_equal(ww_draw_alarm("rtc:9s..2s", range, &err), -EINVAL);
	assert_int_equal(ww_draw_alarm("rtc:500ms..2s", range, NULL), -EINVAL);
}

/* ---------------------------------------------------------------- the width */

static uint32_t rng;

static double uniform(void)
{
	rng = rng * 1664525 + 1013904223;
	return ((rng >> 8) + .5) / 16777216;
}

static double width_of(const double *v, size_t n, double conf, double *lo, double *hi)
{
	size_t lower, upper;

	ww_quantile_ranks(n, .5, conf, &lower, &upper);
	if (lower < 1 || upper > n)
		return INFINITY;
	*lo = v[lower - 1];
	*hi = v[upper - 1];
	return *hi - *lo;
}

/* How often the reported 95 % interval holds the truth where that was the rule to stop by. */
static double coverage(double conf, size_t least, double width)
{
	enum { RUNS = 1500, MOST = 300 };
	static double v[MOST];
	int hits = 0;

	rng = 1;
	for (int run = 0; run < RUNS; run++) {
		double lo = 0, hi = 0, x;

		for (size_t n = 1; n <= MOST; n++) {
			size_t k = n - 1;

			/* Exponential: its median is ln 2. */
			for (x = -log(uniform()); k > 0 && v[k - 1] > x; k--)
				v[k] = v[k - 1];
			v[k] = x;
			if (n >= least && width_of(v, n, conf, &lo, &hi) <= width)
				break;
			width_of(v, n, .95, &lo, &hi);
			if (n < MOST)
				continue;
		}
		hits += lo <= M_LN2 && M_LN2 <= hi;
	}
	return (double)hits / RUNS;
}

/*
 * Looked at after each cycle, a 95 % interval is caught while it is narrow by chance. The
 * rule in force keeps what it says.
 */
static void test_stopping_keeps_the_coverage(void **state)
{
	(void)state;
	assert_true(coverage(.95, 6, .6) < .92);
	assert_true(coverage(WW_LOOK_CONF, WW_LOOK_LEAST, .6) > .935);
}

static void test_enough(void **state)
{
	struct ww_campaign c = {.opt = {.cycles = 100, .until_width_ns = 500000}, .done = 30};

	(void)state;
	assert_false(ww_campaign_enough(&c));
	c.found = (struct ww_look_found){.cycle = 30,
					 .n = 30,
					 .ok = 30,
					 .latency = WW_LAT_RESUME_TO_USER,
					 .median_ms = 800,
					 .width_ms = .51};
	assert_false(ww_campaign_enough(&c));
	c.found.width_ms = .5;
	c.found.n = WW_LOOK_LEAST - 1;
	assert_false(ww_campaign_enough(&c));
	c.found.n = 30;
	assert_true(ww_campaign_enough(&c));
	assert_string_equal(c.end, "the median of resume_to_user is known to 0.50 ms (99 %) from "
				   "30 cycles");
	c.found.width_ms = INFINITY;
	c.done = 100;
	assert_true(ww_campaign_enough(&c));
	assert_string_equal(c.end, "all cycles were run, and the median cannot be told yet");
	/* A reset that only the trace shows is a failure, too. */
	c = (struct ww_campaign){.opt = {.cycles = 9, .until_failure = 1}, .done = 3, .cycle = 3};
	c.found = (struct ww_look_found){.cycle = 3, .last_failed = true};
	assert_true(ww_campaign_enough(&c));
	assert_string_equal(c.end, "cycle 3 failed");
}

/* ------------------------------------------------------------------ the look */

#define CYCLES 10

static void wait_for(struct ww_look *l, struct ww_look_found *f)
{
	for (int i = 0; i < 1000; i++) {
		if (ww_look_take(l, f))
			return;
		usleep(10000);
	}
	fail_msg("no answer");
}

/* Ten cycles, the first a warm-up, the last one refused; asked before the last is stored. */
static void test_look(void **state)
{
	struct ww_error err = {0};
	struct ww_look_found f;
	struct ww_look *l;
	struct sim_trace tr;
	struct sim s;

	(void)state;
	sim_init(&s);
	s.end = s.start + (6 * CYCLES + 10) * S;
	for (int i = 0; i + 1 < CYCLES; i++)
		sim_suspend(&s, s.start + (5 + 6 * i) * S, 3000, 300 + 2 * i);
	sim_run(&s);
	sim_open(&tr);
	for (int i = 0; i < CYCLES; i++) {
		int64_t at = s.start + (5 + 6 * i) * S - 50 * MS;

		if (i == 0)
			sim_mark(&tr, at - 1, WW_MARK_WARMUP, 1, "");
		sim_mark(&tr, at, WW_MARK_REQUEST, (uint32_t)i + 1, "suspend");
		if (i + 1 == CYCLES)
			continue;
		sim_mark(&tr, s.sleep[i].wake, WW_MARK_WAKE, (uint32_t)i + 1, "wake");
		sim_mark(&tr, s.sleep[i].wake + MS, WW_MARK_WAKE_END, (uint32_t)i + 1, "exit 0");
		sim_mark(&tr, at + 5 * S, WW_MARK_CYCLE_END, (uint32_t)i + 1, "ok");
	}
	sim_store(&s, &tr);
	assert_int_equal(ww_writer_commit(tr.w, &err), 0);
	assert_int_equal(ww_look_new(tr.path, false, &l, &err), 0);
	ww_look_ask(l, CYCLES);
	usleep(100000);
	assert_false(ww_look_take(l, &f));
	sim_mark(&tr, s.end - 1000 * MS, WW_MARK_CYCLE_END, CYCLES, "no silence");
	assert_int_equal(ww_writer_commit(tr.w, &err), 0);
	wait_for(l, &f);
	assert_int_equal(f.rc, 0);
	assert_int_equal(f.cycle, CYCLES);
	assert_int_equal(f.ok, CYCLES - 2);
	assert_int_equal(f.failed, 1);
	assert_int_equal(f.other, 0);
	assert_true(f.last_failed);
	assert_int_equal(f.latency, WW_LAT_RESUME_TO_USER);
	assert_int_equal(f.n, CYCLES - 2);
	/* The outermost of eight: 322 to 336 ms after the wake. */
	assert_true(fabs(f.width_ms - 14) < 2 && fabs(f.median_ms - 329) < 2);
	ww_look_free(l);
	sim_close(&tr);
	unlink(tr.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_draw),
		cmocka_unit_test(test_stopping_keeps_the_coverage),
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_look),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
