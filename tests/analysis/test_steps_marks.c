/* SPDX-License-Identifier: MIT */
/*
 * Marks beside generated changes: each change gets the mark that was meant, marks
 * where nothing can be seen get an estimate that covers what was switched.
 */
#include "stepfamilies.h"
#include "stepscore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define SEEDS 6
#else
#define SEEDS 60
#endif

static struct gen trace; /* large */

/* Two seconds before each change, a second more or less. */
static size_t make_marks(struct gen_rng *g, double *mark)
{
	size_t n = 0;

	for (size_t i = 0; i < trace.changes; i++)
		if (!trace.change[i].part)
			mark[n++] = trace.change[i].t - gen_between(g, 1, 3);
	return n;
}

static void make(void (*family)(struct gen *), const char *name, uint64_t seed)
{
	gen_begin(&trace, seed, name);
	family(&trace);
	gen_run(&trace);
}

static void find(const struct ww_step_input *in, struct ww_step_result *r)
{
	struct ww_error err = {0};

	if (ww_steps_find(in, r, &err) < 0)
		fail_msg("%s", err.text);
}

static void test_meant(void **state)
{
	static void (*const family[])(struct gen *) = {gen_plug_1w, gen_plug_01w, gen_inrush,
						       gen_drift, gen_gaps};
	unsigned wrong = 0, all = 0;

	(void)state;
	for (size_t f = 0; f < 5; f++)
		for (unsigned seed = 0; seed < SEEDS; seed++) {
			struct gen_rng g = {seed};
			double mark[GEN_CHANGES];
			struct ww_step_input in;
			struct ww_step_result r;

			make(family[f], "marked", seed);
			in = score_input(&trace);
			in.marker = mark;
			in.markers = make_marks(&g, mark);
			find(&in, &r);
			assert_int_equal(r.event ? 0 : in.markers, 0);
			all += (unsigned)in.markers;
			wrong += (unsigned)r.knowns;
			for (size_t i = 0; i < r.events; i++) {
				int m = r.event[i].marker;

				if (m < 0 || mark[m] + 3 < r.event[i].t_lo - 1.1 ||
				    mark[m] > r.event[i].t_hi)
					wrong++;
			}
			ww_steps_clear(&r);
			score_input_free(&in);
		}
	assert_true(all > 20 * SEEDS);
	if (wrong > all / 500)
		fail_msg("%u of %u marks", wrong, all);
}

/* 0.1 W in noise of 0.5 W: nothing to be found, but u of 0.065 W all the same. */
static void test_known(void **state)
{
	unsigned n = 0, covered = 0;

	(void)state;
	for (unsigned seed = 0; seed < 4 * SEEDS; seed++) {
		struct ww_step_input in;
		struct ww_step_result r;
		double at[2] = {118, 238};

		gen_begin(&trace, seed, "known");
		trace.meter.sigma = 0.5;
		trace.base = 20.03;
		trace.length_s = 360;
		gen_switch(&trace, 120, 0.1);
		gen_switch(&trace, 240, -0.1);
		gen_run(&trace);
		in = score_input(&trace);
		in.marker = at;
		in.markers = 2;
		find(&in, &r);
		for (size_t i = 0; i < r.knowns; i++) {
			const struct ww_step_event *e = &r.known[i];

			assert_int_equal(e->state, WW_STEP_KNOWN_TIME);
			n++;
			/* two means of 120 readings, or of 240 and 120 */
			if (e->u < 0.045 || e->u > 0.09)
				fail_msg("seed %u: %g u %g", seed, e->delta, e->u);
			covered += fabs(e->delta - (e->marker ? -0.1 : 0.1)) <= 2 * e->u;
		}
		ww_steps_clear(&r);
		score_input_free(&in);
	}
	assert_true(n > 7 * SEEDS);
	if (SEEDS == 60 && (covered < 0.9 * n || covered > 0.99 * n))
		fail_msg("%u of %u within 2 u", covered, n);
}

/* Clean readings of a coarse display: the bounds hold, and nothing more is claimed. */
static void test_bounds(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < SEEDS; seed++) {
		struct gen_rng g = {seed};
		double mark[GEN_CHANGES];
		struct ww_step_input in;
		struct ww_step_result r;

		make(gen_subres, "bounds", seed);
		in = score_input(&trace);
		in.marker = mark;
		in.markers = make_marks(&g, mark);
		find(&in, &r);
		if (r.events + r.knowns != 3)
			fail_msg("seed %u: %zu events, %zu marks", seed, r.events, r.knowns);
		for (size_t i = 0; i < 3; i++) {
			const struct ww_step_event *e = NULL;

			for (size_t k = 0; k < r.events; k++)
				e = r.event[k].marker == (int)i ? &r.event[k] : e;
			for (size_t k = 0; k < r.knowns; k++)
				e = r.known[k].marker == (int)i ? &r.known[k] : e;
			assert_non_null(e);
			if (i == 1) {
				assert_int_equal(e->state, WW_STEP_DETECTED);
				continue;
			}
			assert_int_equal(e->state, WW_STEP_UNRESOLVED);
			if (trace.change[i].watts < e->bounds[0] ||
			    trace.change[i].watts > e->bounds[1])
				fail_msg("seed %u: %g W outside [%g, %g]", seed,
					 trace.change[i].watts, e->bounds[0], e->bounds[1]);
		}
		ww_steps_clear(&r);
		score_input_free(&in);
	}
}

int main(void)
{
	const struct CMUnitTest test[] = {cmocka_unit_test(test_meant),
					  cmocka_unit_test(test_known),
					  cmocka_unit_test(test_bounds)};

	return cmocka_run_group_tests_name("marks", test, NULL, NULL);
}
