/* SPDX-License-Identifier: MIT */
/*
 * The promise of u, for many kinds of load and noise: the truth lies within 2 u in
 * about 95 of 100, and u is not much larger than the errors that occur.
 */
#include "stat_trace.h"
#include "analysis/stat.h"

#define MOST 100000

enum load { CONSTANT, SQUARE, RAMP, SINE };

struct bed {
	const char *what;
	enum load load;
	double amplitude, period; /* of a square wave: half of it; a ramp's slope is the first */
	double sigma, phi, q;
	int semantics, n, runs;
	double least;  /* inside 2 u, per cent */
	double factor; /* root mean square of u over that of the errors, at most */
};

static const struct bed bed[] = {
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, 3, 400, 92, 3},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, 5, 400, 92, 2},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, 8, 400, 92, 1.6},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, 15, 400, 92, 1.4},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, 30, 400, 92, 1.8},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, 100, 400, 92, 1.3},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_INSTANT, 1000, 300, 92, 1.2},
	{"white", CONSTANT, 0, 1, .5, 0, .01, WW_AVERAGE, MOST, 60, 88, 1.3},
	{"AR .5", CONSTANT, 0, 1, .5, .5, .01, WW_AVERAGE, 100, 300, 90, 2.5},
	{"AR .5", CONSTANT, 0, 1, .5, .5, .01, WW_HOLD, 1000, 300, 92, 1.2},
	{"AR .8", CONSTANT, 0, 1, .5, .8, .01, WW_AVERAGE, 500, 300, 91, 1.5},
	{"AR .9", CONSTANT, 0, 1, .5, .9, .01, WW_AVERAGE, 1000, 300, 90, 1.5},
	{"AR .9", CONSTANT, 0, 1, .5, .9, .01, WW_AVERAGE, 20000, 60, 90, 1.5},
	{"AR .98", CONSTANT, 0, 1, .5, .98, .01, WW_AVERAGE, MOST, 60, 88, 1.5},
	{"square 5", SQUARE, 35, 5, .05, 0, .01, WW_AVERAGE, 120, 300, 92, 1.5},
	{"square 10", SQUARE, 35, 10, .05, 0, .01, WW_AVERAGE, 60, 300, 92, 2},
	{"square 10", SQUARE, 35, 10, .05, 0, .01, WW_AVERAGE, 1000, 300, 92, 1.2},
	{"square 25", SQUARE, 35, 25, 1, .6, .01, WW_AVERAGE, 2000, 200, 92, 1.5},
	{"momentary", SQUARE, 35, 7.3, .05, 0, .01, WW_INSTANT, 60, 400, 90, 1.6},
	{"momentary", SQUARE, 35, 9.7, .05, 0, .01, WW_INSTANT, 300, 400, 90, 1.6},
	{"ramp", RAMP, 1, 0, .05, 0, .01, WW_AVERAGE, 60, 300, 92, 1.5},
	{"ramp", RAMP, .05, 0, .05, 0, .01, WW_AVERAGE, 300, 300, 92, 1.3},
	{"ramp", RAMP, .05, 0, .05, 0, .1, WW_AVERAGE, 300, 300, 92, 1.8},
	{"sine", SINE, 10, 100, .1, 0, .01, WW_AVERAGE, 500, 300, 92, 1.5},
	{"display", CONSTANT, 0, 1, .3, 0, 1, WW_AVERAGE, 400, 300, 90, 5},
	{"display", CONSTANT, 0, 1, .02, 0, .1, WW_AVERAGE, 400, 300, 90, 3},
	{"display", CONSTANT, 0, 1, .02, 0, .1, WW_AVERAGE, 10, 300, 90, 2},
	{"display", SQUARE, 35, 8, .3, 0, 1, WW_AVERAGE, 400, 300, 90, 5},
};

/* Mean load from a to b (a = b: at that moment), and its integral from 0. */
static double integral(const struct bed *k, double t)
{
	double whole;

	switch (k->load) {
	case SQUARE:
		whole = floor(t / (2 * k->period));
		return k->amplitude *
		       (whole * k->period + fmin(t - whole * 2 * k->period, k->period));
	case RAMP:
		return k->amplitude * t * t / 2;
	case SINE:
		return -k->amplitude * k->period / 6.283185307179586 *
		       cos(6.283185307179586 * t / k->period);
	default:
		return 0;
	}
}

static double at(const struct bed *k, double t)
{
	if (k->load == SQUARE)
		return fmod(t, 2 * k->period) < k->period ? k->amplitude : 0;
	return integral(k, t + .5) - integral(k, t - .5);
}

static struct ww_channel_stat run(const struct bed *k, double *truth)
{
	static struct ww_stat_channel c;
	static int64_t t[MOST], code[MOST];
	struct ww_rows rows = {(size_t)k->n, t, t, t};
	struct ww_channel_stat out = {0};
	struct ww_stat_extra extra;
	double level = 20 + 10 * uniform(), t0 = 1000 * uniform() + 1, x = k->sigma * normal();

	/* A mean knows a step inside its interval, a row of switches at readings does not. */
	if (k->load == SQUARE && k->semantics == WW_AVERAGE)
		t0 = floor(t0);
	for (int i = 0; i < k->n; i++) {
		double p = t0 + i;
		double w =
			k->semantics == WW_AVERAGE ? integral(k, p) - integral(k, p - 1) : at(k, p);

		t[i] = i * S;
		code[i] = llround((level + w + x) / k->q);
		x = k->phi * x + sqrt(1 - k->phi * k->phi) * k->sigma * normal();
	}
	c = (struct ww_stat_channel){.info = {.name = "power",
					      .quantity = "power",
					      .unit = "W",
					      .semantics = k->semantics,
					      .scale = k->q,
					      .resolution = k->q}};
	ww_integral_init(&c.w, k->semantics);
	c.w.limit = 5 * S / 2;
	ww_integral_add(&c.w, &rows, code);
	ww_stat_figures(&c, &out, &extra);
	*truth = level + (integral(k, t0 + k->n - 1) - integral(k, t0)) / (k->n - 1);
	return out;
}

static void test_truth_within_2u(void **state)
{
	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(bed); i++) {
		const struct bed *k = &bed[i];
		double uu = 0, ee = 0;
		int inside = 0;

		seed = 1000 + i;
		for (int r = 0; r < k->runs; r++) {
			double truth;
			struct ww_channel_stat m = run(k, &truth);

			inside += fabs(m.mean.value - truth) <= 2 * m.mean.u;
			uu += m.mean.u * m.mean.u;
			ee += pow(m.mean.value - truth, 2);
		}
		if (100 * inside < k->least * k->runs || sqrt(uu / ee) > k->factor)
			fail_msg("%s n %d phi %g q %g: %.1f %% within 2 u, u/error %.2f", k->what,
				 k->n, k->phi, k->q, 100.0 * inside / k->runs, sqrt(uu / ee));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_truth_within_2u)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
