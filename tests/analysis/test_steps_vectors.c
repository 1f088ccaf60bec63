/* SPDX-License-Identifier: MIT */
/* The seeded vectors, by their own rule: sizes within max(3 u, q/2) of the truth. */
#include "analysis/steps.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define MOST 8192
#define DIR  "tests/data/"

struct truth {
	double t, watts;
};

struct vector {
	const char *file;
	double rate, q;
	size_t n, truths;
	struct truth truth[8];
	unsigned below; /* bit i: truth i is below the resolution */
};

static const struct vector vectors[] = {
	{"vectors/S01_onebyone_1W.csv",
	 1,
	 1,
	 1020,
	 8,
	 {{60, 1.5},
	  {180, 3.2},
	  {300, 6.4},
	  {420, 9},
	  {540, 14.6},
	  {660, 22.8},
	  {780, 25},
	  {900, 62}},
	 0},
	{"vectors/S02_onebyone_01W.csv",
	 1,
	 0.1,
	 1020,
	 8,
	 {{60, 1.5},
	  {180, 3.2},
	  {300, 6.4},
	  {420, 9},
	  {540, 14.6},
	  {660, 22.8},
	  {780, 25},
	  {900, 62}},
	 0},
	{"vectors/S03_inrush_settle.csv",
	 1,
	 0.1,
	 1260,
	 8,
	 {{60, 1.5},
	  {210, 3.2},
	  {360, 6.4},
	  {510, 9},
	  {660, 14.6},
	  {810, 22.8},
	  {960, 25},
	  {1110, 62}},
	 0},
	{"vectors/S04_drift.csv",
	 1,
	 0.1,
	 1500,
	 6,
	 {{300, 3.2}, {500, 9}, {700, -3.2}, {900, 14.6}, {1100, 6.4}, {1300, -9}},
	 0},
	{"vectors/S06_subres_undithered.csv",
	 1,
	 1,
	 1200,
	 3,
	 {{300, 0.4}, {600, 9.5}, {900, 0.3}},
	 5},
	{"S09_gaps.csv",
	 1,
	 0.1,
	 669,
	 5,
	 {{100, 3.2}, {250, 6.4}, {400, 9}, {550, 14.6}, {700, 22.8}},
	 0},
	{"vectors/S11_ar1_null.csv", 1, 0.1, 1800, 0, {{0, 0}}, 0},
	{"vectors/S12_white_null.csv", 1, 1, 3600, 0, {{0, 0}}, 0},
	{"vectors/S15_hf_2kHz.csv", 2000, 0.05, 8000, 1, {{2, 5}}, 0},
};

static double t[MOST], v[MOST];
static uint8_t hole[MOST];

/* "t,watts" or "watts" a line below a head. */
static size_t load(const struct vector *x)
{
	char path[128], line[80], *end;
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), DIR "%s", x->file);
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && n < MOST) {
		double a = strtod(line, &end);

		if (end == line)
			continue;
		t[n] = *end == ',' ? a : (double)n / x->rate;
		v[n] = *end == ',' ? strtod(end + 1, NULL) : a;
		hole[n] = n > 0 && t[n] - t[n - 1] > 2.5 / x->rate;
		n++;
	}
	fclose(f);
	return n;
}

/* The event whose time holds the truth; a mark's where the readings show none. */
static const struct ww_step_event *at(const struct ww_step_event *e, size_t n, double when,
				      double slack)
{
	for (size_t i = 0; i < n; i++)
		if (e[i].t_lo - slack <= when && when <= e[i].t_hi + slack)
			return &e[i];
	return NULL;
}

static void check_size(const struct vector *x, const struct ww_step_event *e, const struct truth *y)
{
	double allowed = fmax(3 * e->u, x->q / 2);

	if (fabs(e->delta - y->watts) > allowed)
		fail_msg("%s: %g W at %g s: %.3f u %.3f W", x->file, y->watts, y->t, e->delta,
			 e->u);
}

static void check(const struct vector *x, const struct ww_step_result *r, bool marks)
{
	size_t shown = 0;

	for (size_t i = 0; i < x->truths; i++) {
		const struct truth *y = &x->truth[i];
		const struct ww_step_event *e = at(r->event, r->events, y->t, 0);

		if (e)
			shown++;
		if (!(x->below >> i & 1)) {
			if (!e || e->state != WW_STEP_DETECTED)
				fail_msg("%s: nothing found at %g s", x->file, y->t);
			check_size(x, e, y);
			assert_int_equal(e->marker, marks ? (int)i : -1);
			continue;
		}
		if (!e && !marks)
			continue;
		if (!e)
			e = at(r->known, r->knowns, y->t, 2.5);
		if (!e)
			fail_msg("%s: nothing said of the mark at %g s", x->file, y->t);
		assert_int_equal(e->state, WW_STEP_UNRESOLVED);
		if (e->bounds[0] > y->watts || e->bounds[1] < y->watts)
			fail_msg("%s: %g W at %g s is outside [%g, %g] W", x->file, y->watts, y->t,
				 e->bounds[0], e->bounds[1]);
	}
	if (r->events != shown)
		fail_msg("%s: %zu events, %zu of them true", x->file, r->events, shown);
	assert_int_equal(r->levels, r->events + 1);
}

static void test_vector(void **state)
{
	const struct vector *x = *state;
	double mark[8];
	struct ww_step_input in = {.t = t,
				   .v = v,
				   .hole = hole,
				   .resolution = x->q,
				   .period = 1 / x->rate,
				   .marker = mark};

	in.n = load(x);
	assert_int_equal(in.n, x->n);
	/* without marks, and with one two seconds before each change */
	for (int marks = 0; marks < 2; marks++) {
		struct ww_step_result r;
		struct ww_error err = {0};

		for (size_t i = 0; i < x->truths; i++)
			mark[i] = x->truth[i].t - 2;
		in.markers = marks ? x->truths : 0;
		if (x->rate > 10)
			in.markers = 0;
		if (ww_steps_find(&in, &r, &err) < 0)
			fail_msg("%s", err.text);
		check(x, &r, in.markers > 0);
		if (x->rate > 10) {
			assert_int_equal(r.block, 40);
			assert_true(r.mains_hz == 50);
			assert_true(r.event[0].u < 0.05);
			assert_true(r.event[0].t_hi - r.event[0].t_lo <= 0.04);
		}
		ww_steps_clear(&r);
	}
}

int main(void)
{
	struct CMUnitTest test[sizeof(vectors) / sizeof(vectors[0])];
	size_t n = sizeof(test) / sizeof(test[0]);

	for (size_t i = 0; i < n; i++)
		test[i] = (struct CMUnitTest){.name = vectors[i].file,
					      .test_func = test_vector,
					      .initial_state = (void *)(uintptr_t)&vectors[i]};
	return _cmocka_run_group_tests("vectors", test, n, NULL, NULL);
}
