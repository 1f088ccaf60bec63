/* SPDX-License-Identifier: MIT */
/* Standby procedures on traces whose truth is known. */
#include "standby_trace.h"

#include "analysis/standby.h"

static struct ww_standby *judge(struct ww_trace *t, struct ww_standby_options *o)
{
	struct ww_standby_options plain = {0};
	struct ww_standby *s = NULL;

	o = o ? o : &plain;
	o->size = sizeof(*o);
	OK(ww_standby_new(t, o, &s, err));
	return s;
}

static struct ww_standby *of(const double *v, size_t n, double scale, struct ww_standby_options *o)
{
	struct bench b;
	struct ww_trace *t = trace_of(&b, v, n, 1, scale, NULL);
	struct ww_standby *s = judge(t, o);

	bench_end(&b, t);
	return s;
}

static void print(const struct ww_standby *s)
{
	char *text = NULL;

	if (!getenv("SHOW"))
		return;
	OK(ww_standby_report(s, WW_REPORT_TEXT, &text, err));
	puts(text);
	ww_free(text);
}

/* Vectors a and b: when they become stable, and what is their mean. */
static void test_vectors(void **state)
{
	static const struct {
		const char *name;
		double at, mean, slope, u;
	} want[] = {{"S18_standby_a_flat_0p8W", 900, 0.79994, 0.00087, 0.00171},
		    {"S18_standby_b_decay", 3360, 0.80203, -0.00976, 0.00026}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(want); i++) {
		size_t n;
		double *v = vector(want[i].name, &n);
		struct ww_standby *s = of(v, n, 0.0001, NULL);
		const struct ww_standby_result *r = ww_standby_get(s);

		print(s);
		assert_int_equal(r->verdict, WW_STANDBY_STABLE);
		assert_true(r->tested_s == want[i].at);
		assert_true(r->from_s == want[i].at / 3 && r->to_s == want[i].at);
		assert_true(fabs(r->watts.value - want[i].mean) < 5e-6);
		assert_true(fabs(r->slope.value - want[i].slope) < 5e-6);
		/* White noise: what correlation is found by chance widens it a little. */
		assert_true(r->slope.u >= want[i].u * 0.98 && r->slope.u < want[i].u * 1.8);
		assert_true(isnan(r->period_s));
		assert_int_equal(r->standing, WW_STANDBY_NOT_SHOWN);
		ww_standby_free(s);
		free(v);
	}
}

/* c: noise so large that the slope passes by luck. */
static void test_not_resolved(void **state)
{
	double v[1800];
	struct ww_standby *s;
	const struct ww_standby_result *r;
	int lucky = 0, unresolved = 0;

	(void)state;
	for (int k = 0; k < 20; k++) {
		seed = (uint64_t)k;
		for (size_t i = 0; i < WW_COUNTOF(v); i++)
			v[i] = 0.8 + 0.03 * normal();
		s = of(v, WW_COUNTOF(v), 0.0001, NULL);
		r = ww_standby_get(s);
		if (k == 0)
			print(s);
		if (getenv("SHOW"))
			printf("%d %g %g %g\n", r->verdict, r->slope.value, r->slope.u, r->lucky_s);
		assert_true(r->verdict != WW_STANDBY_STABLE);
		assert_true(2 * r->slope.u > r->slope_limit);
		unresolved += r->verdict == WW_STANDBY_NOT_RESOLVED;
		assert_int_equal(r->standing, WW_STANDBY_INFORMATIVE);
		lucky += isfinite(r->lucky_s);
		ww_standby_free(s);
	}
	assert_true(lucky >= 10);
	assert_true(unresolved >= 18);
}

/* d: two pulses stand evenly about the middle of the first stretch: no slope, wrong mean. */
static void test_cycles(void **state)
{
	static double v[5400];
	double truth = 0.75 + 0.5 / 6, wrong = 0;
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	seed = 1;
	for (size_t i = 0; i < WW_COUNTOF(v); i++)
		v[i] = 0.75 + 0.002 * normal() +
		       (fmod((double)i - 307 + 514 * 4, 514) < 514 / 6. ? 0.5 : 0);
	for (int i = 300; i < 900; i++)
		wrong += v[i] / 600;
	assert_true(wrong > truth + 0.02);
	/* Only a cycle and a half: no verdict, and what is given is a whole cycle's mean. */
	s = of(v, 900, 0.0001, NULL);
	r = ww_standby_get(s);
	print(s);
	assert_int_equal(r->verdict, WW_STANDBY_NOT_RESOLVED);
	assert_true(fabs(r->watts.value - truth) < 0.003);
	ww_standby_free(s);
	s = of(v, WW_COUNTOF(v), 0.0001, NULL);
	r = ww_standby_get(s);
	print(s);
	assert_int_equal(r->verdict, WW_STANDBY_STABLE);
	assert_true(r->cycles >= WW_STANDBY_CYCLES);
	assert_true(fabs(r->period_s - 514) < 1);
	assert_true(fabs(r->watts.value - truth) < 2 * r->watts.u + 1e-4);
	assert_true(r->watts.u < 0.002);
	ww_standby_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_not_resolved),
		cmocka_unit_test(test_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
