/* SPDX-License-Identifier: MIT */
/* Which change a mark meant: against every possible pairing, and at the limits of its window. */
#include "analysis/steps_match.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MOST 6

static uint64_t seed;

static double uniform(void)
{
	uint64_t z = (seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

struct best {
	size_t n;
	double distance;
};

/* All pairings that keep both orders: mark `m` takes no event, or one from `from` on. */
static struct best try_all(const double *marker, size_t markers, const struct ww_step_event *e,
			   size_t events, size_t from)
{
	struct best best = {0, 0};

	if (markers == 0)
		return best;
	best = try_all(marker + 1, markers - 1, e, events, from);
	for (size_t i = from; i < events; i++) {
		double lo = e[i].t_lo - marker[0], hi = e[i].t_hi - marker[0], d = 0;
		struct best rest;

		if (lo > 15 || hi < -2)
			continue;
		if (lo > 0)
			d = lo / 15;
		else if (hi < 0)
			d = -hi / 2;
		rest = try_all(marker + 1, markers - 1, e, events, i + 1);
		rest.n++;
		rest.distance += d;
		if (rest.n > best.n || (rest.n == best.n && rest.distance < best.distance))
			best = rest;
	}
	return best;
}

static void test_brute_force(void **state)
{
	size_t matched = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct ww_step_event e[MOST] = {{0}};
		double marker[MOST], span = 10 + 60 * uniform();
		size_t events = (size_t)(uniform() * (MOST + 1)), last = 0, n = 0;
		size_t markers = (size_t)(uniform() * (MOST + 1));
		struct best want;
		double t = 0, distance = 0;

		for (size_t i = 0; i < events; i++) {
			t += uniform() * span / MOST;
			e[i].t_lo = t;
			t += uniform() * uniform() * span / MOST;
			e[i].t_hi = t;
		}
		t = -5;
		for (size_t i = 0; i < markers; i++)
			marker[i] = t += uniform() * span / MOST;
		want = try_all(marker, markers, e, events, 0);
		assert_int_equal(ww_steps_match(marker, markers, e, events, NULL), 0);
		for (size_t i = 0; i < events; i++) {
			if (e[i].marker < 0)
				continue;
			assert_true(n == 0 || (size_t)e[i].marker > last);
			last = (size_t)e[i].marker;
			distance += ww_steps_distance(&e[i], marker[last]);
			n++;
		}
		assert_int_equal(n, want.n);
		assert_true(fabs(distance - want.distance) < 1e-9);
		matched += n;
	}
	assert_true(matched > 3000);
}

static void test_window(void **state)
{
	static const struct {
		double t_lo, t_hi;
		bool matches;
	} cases[] = {{98, 98, true}, {97.9, 97.9, false}, {115, 115, true}, {115.1, 116, false},
		     {90, 98, true}, {90, 97.9, false},	  {115, 400, true}, {0, 1000, true}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(cases); i++) {
		struct ww_step_event e = {.t_lo = cases[i].t_lo, .t_hi = cases[i].t_hi};
		double marker = 100;

		assert_int_equal(ww_steps_match(&marker, 1, &e, 1, NULL), 0);
		assert_int_equal(e.marker, cases[i].matches ? 0 : -1);
	}
}

/* A wide interval (a hole) does not take a mark from the change that it stands beside. */
static void test_nearest(void **state)
{
	struct ww_step_event e[2] = {{.t_lo = 90, .t_hi = 99}, {.t_lo = 101, .t_hi = 102}};
	double marker[2] = {100, 100.5};

	(void)state;
	assert_int_equal(ww_steps_match(marker, 1, e, 2, NULL), 0);
	assert_int_equal(e[0].marker, -1);
	assert_int_equal(e[1].marker, 0);
	/* But two marks have two changes, whatever the distances. */
	assert_int_equal(ww_steps_match(marker, 2, e, 2, NULL), 0);
	assert_int_equal(e[0].marker, 0);
	assert_int_equal(e[1].marker, 1);
}

static void test_nothing(void **state)
{
	struct ww_step_event e = {.t_lo = 1, .t_hi = 2, .marker = 7};
	double marker = 1;

	(void)state;
	assert_int_equal(ww_steps_match(NULL, 0, &e, 1, NULL), 0);
	assert_int_equal(e.marker, -1);
	assert_int_equal(ww_steps_match(&marker, 1, NULL, 0, NULL), 0);
}

/* Ten thousand marks, each with its change, in no more than a moment. */
static void test_many(void **state)
{
	enum { N = 10000 };
	struct ww_step_event *e = calloc(N, sizeof(*e));
	double *marker = calloc(N, sizeof(*marker));

	(void)state;
	assert_non_null(e);
	assert_non_null(marker);
	for (size_t i = 0; i < N; i++) {
		marker[i] = (double)i;
		e[i].t_lo = (double)i + 0.2;
		e[i].t_hi = (double)i + 0.4;
	}
	assert_int_equal(ww_steps_match(marker, N, e, N, NULL), 0);
	for (size_t i = 0; i < N; i++)
		assert_int_equal(e[i].marker, i);
	free(e);
	free(marker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_brute_force),
					   cmocka_unit_test(test_window),
					   cmocka_unit_test(test_nearest),
					   cmocka_unit_test(test_nothing),
					   cmocka_unit_test(test_many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
