/* SPDX-License-Identifier: MIT */
/* Standby: cycles of any shape and length, and modes that have none. */
#include "standby_judged.h"

/* Sine and saw-tooth: no two levels, but a period. The mean is that of whole ones. */
static void test_shapes(void **state)
{
	(void)state;
	for (int shape = 0; shape < 2; shape++) {
		struct ww_standby *s;
		const struct ww_standby_result *r;

		white(3600, 0.8, 0.003, 6);
		for (size_t i = 0; i < 3600; i++)
			v[i] += shape ? 0.1 * fmod((double)i, 97) / 97
				      : 0.05 * sin(6.283185307179586 * (double)i / 71.3);
		s = judged(3600, 1, 0.0001, (struct ww_standby_options){0});
		r = ww_standby_get(s);
		assert_true(fabs(r->period_s - (shape ? 97 : 71.3)) < 0.5);
		assert_int_equal(r->verdict, WW_STANDBY_STABLE);
		assert_true(fabs(r->watts.value - (shape ? 0.8495 : 0.8)) < 4 * r->watts.u + 1e-3);
		ww_standby_free(s);
	}
}

/* Cycles of 50 min: 3 h hold too few, and it goes on. */
static void test_long_cycles(void **state)
{
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	seed = 2;
	for (size_t i = 0; i < 9000; i++)
		v[i] = 20 + 0.1 * normal() + (i % 600 < 200 ? 60 : 0);
	/* It begins with 1000 s of one level, which alone is flat for 15 min. */
	s = judged(9000, 5, 0.01, (struct ww_standby_options){0});
	r = ww_standby_get(s);
	assert_true(noted(s, "after 900 s the procedure would have said 'stable' with 80.0 W"));
	assert_true(fabs(r->period_s - 3000) < 5);
	assert_true(fabs(r->watts.value - 40) < 2 * r->watts.u + 0.02);
	ww_standby_free(s);
	s = judged(9000, 5, 0.01, (struct ww_standby_options){.cyclic = 1});
	r = ww_standby_get(s);
	assert_true(r->tested_s > 10800);
	assert_int_equal(r->verdict, WW_STANDBY_STABLE);
	assert_true(fabs(r->period_s - 3000) < 5);
	assert_true(r->cycles >= WW_STANDBY_CYCLES);
	assert_true(fabs(r->watts.value - 40) < 2 * r->watts.u + 0.02);
	ww_standby_free(s);
}

/*
 * 1.5 W for 300 s, .5 W for 600 s, so .8333 W: the first test sees the flat 600 s alone.
 * No procedure may call these .5 W stable where the trace shows the cycles.
 */
static void test_flat_part(void **state)
{
	static const int verdict[] = {WW_STANDBY_STABLE, WW_STANDBY_STABLE, WW_STANDBY_NOT_STABLE,
				      WW_STANDBY_NOT_STABLE};

	(void)state;
	for (int p = WW_STANDBY_SAMPLING; p <= WW_STANDBY_EDITION1; p++) {
		for (size_t cycles = 3; cycles <= 12; cycles += 3) {
			size_t n = 900 * cycles;
			struct ww_standby *s;
			const struct ww_standby_result *r;

			white(n, 0.5, 0.0001, 3);
			for (size_t i = 0; i < n; i++)
				v[i] += i % 900 < 300;
			s = judged(n, 1, 0.0001, (struct ww_standby_options){.procedure = p});
			r = ww_standby_get(s);
			if (r->verdict != WW_STANDBY_TOO_SHORT)
				assert_true(fabs(r->watts.value - 0.83333) < 0.005);
			if (cycles == 12)
				assert_int_equal(r->verdict, verdict[p]);
			else if (cycles == 3)
				assert_int_not_equal(r->verdict, WW_STANDBY_STABLE);
			assert_true(r->verdict == WW_STANDBY_TOO_SHORT || r->period_s > 899);
			ww_standby_free(s);
		}
	}
}

/* A ripple of 20 s on the flat part is a cycle, but not the one that the mean goes by. */
static void test_ripple(void **state)
{
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	white(9000, 0.5, 0.0001, 3);
	for (size_t i = 0; i < 9000; i++)
		v[i] += (i % 900 < 300) + 0.02 * (i % 20 < 5);
	s = judged(9000, 1, 0.0001, (struct ww_standby_options){0});
	r = ww_standby_get(s);
	assert_true(fabs(r->watts.value - 0.83833) < 0.005);
	assert_true(fabs(r->period_s - 900) < 1);
	ww_standby_free(s);
}

/* What does not cycle is not said to: noise, slow noise, decays, one step, a coarse display. */
static void test_no_cycles(void **state)
{
	int found[6] = {0};

	(void)state;
	for (uint64_t k = 0; k < 60; k++)
		for (int family = 0; family < 6; family++) {
			struct ww_standby *s;
			double x = 0, scale = 0.0001;

			white(1800, 0.8, 0.003, k * 7 + (uint64_t)family);
			for (size_t i = 0; i < 1800; i++) {
				double e = normal();

				x = family == 1	  ? 0.95 * x + 0.001 * e
				    : family == 2 ? x + 0.0005 * e
				    : family == 3 ? 0.2 * exp(-(double)i / 400)
				    : family == 4 ? (i > 700 ? 0.2 : 0)
						  : 0;
				v[i] += x;
			}
			if (family == 5)
				scale = 0.01;
			s = judged(1800, 1, scale, (struct ww_standby_options){0});
			found[family] += isfinite(ww_standby_get(s)->period_s);
			ww_standby_free(s);
		}
	for (int family = 0; family < 6; family++) {
		if (getenv("SHOW"))
			printf("family %d: %d of 60\n", family, found[family]);
		assert_true(found[family] <= (family == 2 ? 3 : 0));
	}
}

/* While it grows only what was is known, and the notes say so. */
static void test_growing_cycles(void **state)
{
	struct ww_standby_options o = {.size = sizeof(o)};
	const struct chan c = {"power", "power", "W", WW_AVERAGE, 0.0001, 0.0001, 0, 0, 0};
	struct ww_standby *s;
	struct ww_trace *t = NULL;
	struct bench b;

	(void)state;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i < 3600; i++)
		bench_row(&b, i, (double[]){0.5 + (i % 900 < 300)});
	OK(ww_writer_commit(b.w, err));
	OK(ww_trace_open(b.path, &t, err));
	OK(ww_standby_new(t, &o, &s, err));
	assert_int_equal(ww_standby_get(s)->verdict, WW_STANDBY_STABLE);
	assert_true(ww_standby_get(s)->tested_s == 900);
	assert_true(noted(s, "a cycle longer than what it holds cannot be known yet"));
	ww_standby_free(s);
	ww_trace_close(t);
	t = bench_read(&b);
	OK(ww_standby_new(t, &o, &s, err));
	assert_int_not_equal(ww_standby_get(s)->verdict, WW_STANDBY_STABLE);
	ww_standby_free(s);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),	  cmocka_unit_test(test_long_cycles),
		cmocka_unit_test(test_flat_part), cmocka_unit_test(test_ripple),
		cmocka_unit_test(test_no_cycles), cmocka_unit_test(test_growing_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
