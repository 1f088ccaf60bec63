/* SPDX-License-Identifier: MIT */
/* Standby: the other procedures, coarse meters, what is recorded beside. */
#include "standby_judged.h"

static int clause(const struct ww_standby *s, const char *name)
{
	const struct ww_clause *c;

	for (size_t i = 0; (c = ww_standby_clause(s, i)) != NULL; i++)
		if (strcmp(c->name, name) == 0)
			return c->state;
	return -1;
}

/* worked.json: CF 3.5, PF .6: 5.8; CF 6, PF .35: 17.1 allows 3.14 %. */
static void test_mcr(void **state)
{
	(void)state;
	assert_true(fabs(ww_standby_u_limit(0, 10, 6 / 0.35) - 10 * 0.03142857142857143) < 1e-12);
	assert_true(fabs(ww_standby_u_limit(0, 10, 3.5 / 0.6) - 0.2) < 1e-12);
	assert_true(ww_standby_u_limit(0, 0.5, NAN) == 0.02);
	assert_true(ww_standby_u_limit(0, 0.9, 17.142857142857142) > 0.02);
	assert_true(ww_standby_u_limit(WW_STANDBY_EDITION1, 0.4, NAN) == 0.01);
	white(900, 20, 0.01, 1);
	{
		struct ww_standby *s = judged(900, 1, 0.001,
					      (struct ww_standby_options){.crest = 6,
									  .power_factor = 0.35,
									  .acc_rel = 0.02});
		const struct ww_standby_result *r = ww_standby_get(s);

		assert_true(fabs(r->mcr - 17.142857142857142) < 1e-9);
		assert_true(fabs(r->expanded_limit / r->watts.value - 0.03142857142857143) < 1e-9);
		/* a/sqrt(3), k = 2: 2.31 % */
		assert_true(fabs(r->expanded / r->watts.value - 0.0231) < 1e-4);
		assert_int_equal(clause(s, "uncertainty"), WW_CLAUSE_MET);
		ww_standby_free(s);
	}
}

/* A display of 0.1 W that stands still hides a drift of a step; and it is too coarse. */
static void test_coarse(void **state)
{
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	for (size_t i = 0; i < 3600; i++)
		v[i] = 0.8;
	v[0] = 0.7;
	s = judged(3600, 1, 0.1, (struct ww_standby_options){.acc_rel = 0.002});
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_NOT_RESOLVED);
	assert_int_equal(r->standing, WW_STANDBY_INFORMATIVE);
	assert_int_equal(clause(s, "resolution"), WW_CLAUSE_NOT_MET);
	assert_int_equal(clause(s, "uncertainty"), WW_CLAUSE_NOT_MET);
	assert_true(r->u_resolution > 0.028);
	ww_standby_free(s);
	s = judged(3600, 1, 0.1, (struct ww_standby_options){.procedure = WW_STANDBY_EDITION1});
	assert_int_equal(ww_standby_get(s)->verdict, WW_STANDBY_NOT_RESOLVED);
	ww_standby_free(s);
}

static void test_edition1(void **state)
{
	struct ww_standby_options o = {.procedure = WW_STANDBY_EDITION1};
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	/* Falls by 1 % a minute to 0.8: within 5 % over 5 min only later. */
	for (size_t i = 0; i < 1800; i++)
		v[i] = 0.8 * (1 + 0.3 * exp(-(double)i / 300));
	s = judged(1800, 1, 0.0001, o);
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_STABLE);
	assert_true(r->variation < 0.05 && r->to_s - r->from_s == 300);
	/* .4124 e^(-T/300) < .05 (.8 + .4124 e^(-T/300)) from 685 s on, tested each minute */
	assert_true(r->tested_s == 720);
	ww_standby_free(s);
	/* Never: the energy over all of it. */
	for (size_t i = 0; i < 1800; i++)
		v[i] = 0.8 + 0.0002 * (double)i;
	s = judged(1800, 1, 0.0001, o);
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_NOT_STABLE);
	assert_true(fabs(r->watts.value - 0.97990) < 1e-4);
	assert_true(noted(s, "energy by time"));
	ww_standby_free(s);
	/* Cycles of 40 s: whole ones. */
	for (size_t i = 0; i < 1800; i++)
		v[i] = 0.8 + (i % 40 < 10 ? 0.4 : 0);
	s = judged(1790, 1, 0.0001, o);
	r = ww_standby_get(s);
	assert_true(r->cycles > 30);
	assert_true(fabs(r->watts.value - 0.9) < 1e-3);
	ww_standby_free(s);
}

static void test_energystar(void **state)
{
	struct ww_standby_options o = {.procedure = WW_STANDBY_ENERGYSTAR};
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	white(1300, 60, 0.5, 4);
	for (size_t i = 900; i < 1200; i++)
		v[i] -= 40;
	s = judged(1300, 1, 0.01, o);
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_NO_TEST);
	assert_true(r->from_s == 900 && r->to_s == 1200);
	assert_true(fabs(r->watts.value - 20) < 0.1);
	ww_standby_free(s);
	s = judged(1000, 1, 0.01, o);
	assert_int_equal(ww_standby_get(s)->verdict, WW_STANDBY_TOO_SHORT);
	assert_int_equal(ww_standby_get(s)->standing, WW_STANDBY_INFORMATIVE);
	ww_standby_free(s);
}

static void test_average(void **state)
{
	struct ww_standby_options o = {.procedure = WW_STANDBY_AVERAGE};
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	white(3600, 5, 0.02, 2);
	s = judged(3600, 1, 0.001, o);
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_STABLE);
	assert_true(r->from_s == 1800 && r->to_s == r->tested_s && r->tested_s >= 3000);
	assert_true(fabs(r->slope_limit - 0.05) < 1e-3); /* 1 % of 5 W */
	assert_true(fabs(r->watts.value - 5) < 0.002);
	ww_standby_free(s);
	s = judged(2900, 1, 0.001, o);
	assert_int_equal(ww_standby_get(s)->verdict, WW_STANDBY_TOO_SHORT);
	ww_standby_free(s);
}

/* Typed now and then. */
static void test_direct(void **state)
{
	struct ww_standby_options o = {.procedure = WW_STANDBY_DIRECT};
	struct ww_standby *s;
	const struct ww_standby_result *r;

	(void)state;
	for (size_t i = 0; i < 12; i++)
		v[i] = 12 + (i < 3 ? 1 : 0);
	v[1] = 12.41;
	v[2] = 12.107;
	s = judged(12, 300, 0.001, o);
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_STABLE);
	assert_true(r->n == 2 && r->from_s == 1800 && r->to_s == 2400);
	assert_true(r->watts.value == 12);
	ww_standby_free(s);
	s = judged(8, 300, 0.001, o);
	assert_int_equal(ww_standby_get(s)->verdict, WW_STANDBY_TOO_SHORT);
	ww_standby_free(s);
}

/* 50 readings a second are averaged to a second; the figures are the same. */
static void test_fast(void **state)
{
	struct ww_standby *s;
	const struct ww_standby_result *r;
	struct bench b;
	struct ww_trace *t;
	struct ww_standby_options o = {.size = sizeof(o)};
	struct chan c = {"power", "power", "W", WW_AVERAGE, 0.0001, 0.0001, 0, 0, 0};
	struct ww_source_info info = {.kind = WW_METER, .name = "meter", .period_ns = S / 20};

	(void)state;
	bench_open(&b, &info, &c, 1);
	seed = 8;
	for (int i = 0; i < 20 * 900; i++)
		bench_row(&b, i / 20., (double[]){0.8 + 0.01 * normal()});
	t = bench_read(&b);
	OK(ww_standby_new(t, &o, &s, err));
	r = ww_standby_get(s);
	assert_int_equal(r->verdict, WW_STANDBY_STABLE);
	assert_true(r->n == 600);
	assert_true(fabs(r->interval_s - 0.05) < 1e-9);
	/* 0.01/sqrt(12000) */
	assert_true(r->u_noise > 0.8e-4 && r->u_noise < 1.5e-4);
	assert_true(fabs(r->watts.value - 0.8) < 4e-4);
	assert_true(noted(s, "whole seconds"));
	ww_standby_free(s);
	bench_end(&b, t);
}

/* k = 2 covers the slope and the mean in 90 to 99 % of 300 traces with correlated noise. */
static void test_coverage(void **state)
{
	int mean = 0, slope = 0;

	(void)state;
	for (uint64_t k = 0; k < 300; k++) {
		struct ww_standby *s;
		const struct ww_standby_result *r;
		double x = 0;

		seed = 1000 + k;
		for (size_t i = 0; i < 900; i++) {
			x = 0.6 * x + 0.002 * normal();
			v[i] = 2 + x;
		}
		s = judged(900, 1, 0.0001, (struct ww_standby_options){0});
		r = ww_standby_get(s);
		mean += fabs(r->watts.value - 2) <= 2 * r->watts.u;
		slope += fabs(r->slope.value) <= 2 * r->slope.u;
		ww_standby_free(s);
	}
	if (getenv("SHOW"))
		printf("mean %d, slope %d of 300\n", mean, slope);
	assert_true(mean >= 270 && mean <= 297);
	assert_true(slope >= 270 && slope <= 297);
}

/* Supply and power factor recorded beside it; a gap in the stretch. */
static void test_beside(void **state)
{
	static const struct chan c[] = {{"power", "power", "W", WW_AVERAGE, 0.0001, 0.0001, 0.001,
					 0.001, 0},
					{"voltage", "voltage", "V", WW_AVERAGE, 0.1, 0.1, 0, 0, 0},
					{"thd", "other", "%", WW_AVERAGE, 0.1, 0.1, 0, 0, 0},
					{"crest", "other", "1", WW_AVERAGE, 0.01, 0.01, 0, 0, 0}};
	struct ww_standby_options o = {.size = sizeof(o),
				       .power_factor = 0.5,
				       .ambient_degC = 30,
				       .limit_watts = 0.5};
	struct ww_standby *s;
	const struct ww_standby_result *r;
	struct ww_trace *t;
	struct bench b;

	(void)state;
	bench_open(&b, NULL, c, 4);
	seed = 1;
	for (int i = 0; i < 900; i++)
		if (i < 600 || i > 610)
			bench_row(&b, i, (double[]){0.8 + 0.002 * normal(), 233, 1.5, 3});
	t = bench_read(&b);
	OK(ww_standby_new(t, &o, &s, err));
	r = ww_standby_get(s);
	assert_true(fabs(r->volts - 233) < 1e-9 && fabs(r->thd - 0.015) < 1e-9);
	assert_true(fabs(r->mcr - 6) < 1e-9);
	assert_int_equal(clause(s, "supply voltage"), WW_CLAUSE_NOT_MET); /* 1.3 % */
	assert_int_equal(clause(s, "supply harmonics"), WW_CLAUSE_MET);
	assert_int_equal(clause(s, "supply frequency"), WW_CLAUSE_NOT_OBSERVED);
	assert_int_equal(clause(s, "room temperature"), WW_CLAUSE_NOT_MET);
	assert_int_equal(clause(s, "gaps"), WW_CLAUSE_NOT_MET);
	assert_int_equal(clause(s, "interval"), WW_CLAUSE_NOT_MET);
	assert_int_equal(r->under, -1);
	assert_int_equal(r->standing, WW_STANDBY_INFORMATIVE);
	ww_standby_free(s);
	bench_end(&b, t);
}

/* While it grows: the verdict falls at the same time and on the same figures. */
static void test_growing(void **state)
{
	struct ww_standby_options o = {.size = sizeof(o)};
	const struct chan c = {"power", "power", "W", WW_AVERAGE, 0.0001, 0.0001, 0, 0, 0};
	struct ww_standby *s;
	struct ww_standby_result live = {0};
	const struct ww_standby_result *r;
	struct ww_trace *t = NULL;
	struct bench b;
	int i = 0;

	(void)state;
	bench_open(&b, NULL, &c, 1);
	seed = 1;
	for (; i < 900; i++)
		bench_row(&b, i, (double[]){0.8 + 0.05 * exp(-i / 200.) + 0.002 * normal()});
	OK(ww_writer_commit(b.w, err));
	OK(ww_trace_open(b.path, &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_LIVE);
	for (; i < 7200; i++) {
		bench_row(&b, i, (double[]){0.8 + 0.05 * exp(-i / 200.) + 0.002 * normal()});
		if (i % 30 || live.n)
			continue;
		OK(ww_writer_commit(b.w, err));
		OK(ww_trace_refresh(t, err));
		OK(ww_standby_new(t, &o, &s, err));
		if (ww_standby_get(s)->verdict == WW_STANDBY_STABLE)
			live = *ww_standby_get(s);
		ww_standby_free(s);
	}
	ww_trace_close(t);
	assert_true(live.n > 0 && live.tested_s > 900);
	t = bench_read(&b);
	OK(ww_standby_new(t, &o, &s, err));
	r = ww_standby_get(s);
	assert_true(r->tested_s == live.tested_s);
	assert_true(r->watts.value == live.watts.value && r->watts.u == live.watts.u);
	assert_true(r->slope.value == live.slope.value && r->slope.u == live.slope.u);
	ww_standby_free(s);
	bench_end(&b, t);
}

static void refused(struct ww_standby_options o, size_t n, const char *says)
{
	struct bench b;
	struct ww_trace *t = trace_of(&b, v, n, 1, 0.0001, NULL);
	struct ww_standby *s = NULL;
	struct ww_error e = {0};

	o.size = sizeof(o);
	assert_true(ww_standby_new(t, &o, &s, &e) < 0 && s == NULL);
	if (!strstr(e.text, says))
		fail_msg("'%s' does not say '%s'", e.text, says);
	bench_end(&b, t);
}

static void test_refused(void **state)
{
	(void)state;
	white(10, 1, 0.1, 1);
	refused((struct ww_standby_options){.procedure = 9}, 10, "procedure 9");
	refused((struct ww_standby_options){.power_factor = 1.5}, 10, "power factor");
	refused((struct ww_standby_options){.crest = 0.5}, 10, "crest factor");
	refused((struct ww_standby_options){.acc_rel = 2}, 10, "accuracy");
	refused((struct ww_standby_options){.limit_watts = -1}, 10, "greater than 0");
	refused((struct ww_standby_options){.channel = "x"}, 10, "no channel 'x'");
	refused((struct ww_standby_options){0}, 2, "too few");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mcr),	 cmocka_unit_test(test_coarse),
		cmocka_unit_test(test_edition1), cmocka_unit_test(test_energystar),
		cmocka_unit_test(test_average),	 cmocka_unit_test(test_direct),
		cmocka_unit_test(test_fast),	 cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_beside),	 cmocka_unit_test(test_growing),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
