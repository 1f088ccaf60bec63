/* SPDX-License-Identifier: MIT */
/*
 * Parts of step detection by themselves: worked numbers of quantiser, correlation and
 * penalty; what a person would say of small traces.
 */
#include "analysis/noise.h"
#include "analysis/steps_core.h"
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define N 4000

static struct {
	double t[N], v[N];
	uint8_t hole[N];
	struct ww_step_input in;
	struct ww_step_result r;
	uint64_t seed;
} x;

static double uniform(void)
{
	x.seed ^= x.seed << 13;
	x.seed ^= x.seed >> 7;
	x.seed ^= x.seed << 17;
	return (double)(x.seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double u = 1 - uniform();

	return sqrt(-2 * log(u)) * cos(2 * M_PI * uniform());
}

/* n readings a second apart of base + noise, on a display of step q. */
static void begin(size_t n, double base)
{
	memset(&x, 0, sizeof(x));
	x.seed = 88172645463325252u;
	x.in = (struct ww_step_input){.n = n, .t = x.t, .v = x.v, .hole = x.hole, .period = 1};
	for (size_t i = 0; i < n; i++) {
		x.t[i] = (double)i;
		x.v[i] = base;
	}
}

static void add(size_t from, size_t to, double watts)
{
	for (size_t i = from; i < to; i++)
		x.v[i] += watts;
}

static void find(double sigma, double q)
{
	struct ww_error err = {0};

	x.in.resolution = q;
	for (size_t i = 0; i < x.in.n; i++) {
		x.v[i] += sigma * normal();
		if (q > 0)
			x.v[i] = q * floor(x.v[i] / q + 0.5);
	}
	assert_int_equal(ww_steps_find(&x.in, &x.r, &err), 0);
}

static void near(double is, double expected, double within)
{
	if (!(fabs(is - expected) <= within))
		fail_msg("%.10g is not %.10g", is, expected);
}

/* First harmonic of what the mean of a quantised level is off by, over one step. */
static double bias(double q, double sigma)
{
	double sum = 0;

	for (int i = 0; i < 128; i++) {
		double level = q * i / 128;

		sum += (ww_quantised_mean(level, q, sigma) - level) * sin(2 * M_PI * level / q);
	}
	return fabs(2 * sum / 128);
}

static void quantiser(void **state)
{
	static const double amplitude[][2] = {{0.1, 0.26129062801237474},
					      {0.2, 0.1445256558670736},
					      {0.3, 0.053865844857092705},
					      {0.4, 0.013527869769112265},
					      {0.5, 0.0022892475724401898},
					      {0.6, 0.00026103787280557704}};
	static const double mean[][3] = {{10.2, 0.05, 10.000000000986589},
					 {10.2, 0.2, 10.066574572229982},
					 {10.2, 0.3, 10.148847261446548},
					 {10.2, 0.5, 10.197822796429088},
					 {10.5, 0.1, 10.5},
					 {10.25, 0.2, 10.10556135658688}};
	static const double u[][2] = {{0, 0.2886751693049067},
				      {0.1, 0.19213114005420381},
				      {0.2, 0.1023069489091393},
				      {0.3, 0.038089015984672576},
				      {0.5, 0.0016187424822873282}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(amplitude); i++)
		near(bias(1, amplitude[i][0]), amplitude[i][1], 1e-9);
	near(bias(0.1, 0.03), 0.1 * amplitude[2][1], 1e-10);
	for (size_t i = 0; i < WW_COUNTOF(mean); i++)
		near(ww_quantised_mean(mean[i][0], 1, mean[i][1]), mean[i][2], 1e-11);
	near(ww_quantised_mean(10.2, 1, 0), 10, 0);
	near(ww_quantised_mean(10.2, 0, 0.3), 10.2, 0);
	for (size_t i = 0; i < WW_COUNTOF(u); i++)
		near(ww_quantiser_u(1, u[i][0]), u[i][1], 1e-6);
}

/* n = 3600, sigma .35, spikes of three readings: beta in W^2, K in W. */
static void penalty(void **state)
{
	struct ww_step_data d = {.n = 3600, .tau = 1, .spike = 3};

	(void)state;
	ww_step_penalty(&d);
	near(d.beta * 0.35 * 0.35, 2.006228835488829, 1e-12);
	near(d.bound * 0.35, 1.070708399809298, 1e-12);
	near(d.bound, 3.059166856597995, 1e-12);
	/* Correlated readings tell less: the penalty grows with tau. */
	d.tau = 9;
	ww_step_penalty(&d);
	near(d.beta * 0.35 * 0.35, 9 * 2.006228835488829, 1e-11);
}

/* 120 readings of sigma .5 and phi .8 are worth 13.3. */
static void correlated(void **state)
{
	struct ww_step_fit f = {.n = 120, .tau = (1 + 0.8) / (1 - 0.8)};
	double u2 = 0.25 / (f.n / f.tau);
	struct ww_step_data d = {.gain = 0};
	struct ww_step_event e = {.delta = 5};

	(void)state;
	near(f.tau, 9, 1e-12);
	near(f.n / f.tau, 13.333333333333334, 1e-12);
	near(sqrt(u2), 0.13693063937629152, 1e-12);
	ww_step_uncertainty(&d, u2, INFINITY, u2, INFINITY, &e);
	near(e.u, 0.19364916731037085, 1e-12);
	/* Few of them: twice u covers 95.45 % all the same (t of 8 is 2.366). */
	near(ww_step_student(8), ww_student_t(0.9545, 8) / 2, 3e-4);
	near(ww_step_student(3), ww_student_t(0.9545, 3) / 2, 1e-12);
	/* A gain that is off by up to 2 %. */
	d.gain = 0.02;
	e.delta = 50;
	ww_step_uncertainty(&d, u2, INFINITY, u2, INFINITY, &e);
	near(e.uG, 50 * 0.02 / sqrt(3), 1e-12);
	near(e.u, hypot(0.19364916731037085, e.uG), 1e-12);
}

/* The tau that is found in such noise, within what 20 000 readings tell. */
static void finds_correlation(void **state)
{
	double phi = 0, tau = 0, e = 0;

	(void)state;
	for (int k = 0; k < 16; k++) {
		begin(N, 20);
		x.seed += (uint64_t)k * 7919 + 1;
		for (size_t i = 0; i < N; i++)
			x.v[i] += e = 0.8 * e + 0.3 * normal();
		find(0, 0);
		phi += x.r.phi / 16;
		tau += x.r.tau / 16;
		ww_steps_clear(&x.r);
	}
	near(phi, 0.8, 0.02);
	near(tau, 9, 1.2);
}

static const struct ww_step_event *only(void)
{
	assert_int_equal(x.r.events, 1);
	return &x.r.event[0];
}

/* A plug: when, how much, and how sure. */
static void plug(void **state)
{
	const struct ww_step_event *e;

	(void)state;
	begin(240, 10);
	add(120, 240, 25);
	find(0.5, 0);
	e = only();
	assert_int_equal(e->i, 120);
	near(e->t_lo, 119, 0);
	near(e->t_hi, 120, 0);
	near(e->u, 0.5 * sqrt(2 / 120.0), 0.006);
	near(e->delta, 25, 3 * e->u);
	assert_int_equal(e->state, WW_STEP_DETECTED);
	assert_true(isnan(e->peak));
	ww_steps_clear(&x.r);
}

/* Five times as much for two readings, then down to the level with 12 s. */
static void inrush(void **state)
{
	const struct ww_step_event *e;

	(void)state;
	begin(300, 5);
	for (size_t i = 100; i < 300; i++)
		x.v[i] += 60 * (i < 102 ? 6 : 1 + 0.3 * exp(-(double)(i - 100) / 12));
	find(0.1, 0);
	e = only();
	assert_int_equal(e->i, 100);
	near(e->delta, 60, 3 * e->u);
	assert_true(e->u < 0.02);
	near(e->peak, 365, 1);
	/* 18 W die away below the noise after 12 ln(180) = 62 s. */
	near(e->settled, 162, 10);
	assert_int_equal(x.r.level[1].shape, WW_LEVEL_SETTLING);
	near(x.r.level[1].settling_s, 12, 1);
	ww_steps_clear(&x.r);
}

/* What comes and goes again leaves no step, and spoils none. */
static void passing(void **state)
{
	const struct ww_step_event *e;

	(void)state;
	begin(600, 20);
	for (size_t i = 150; i < 400; i++)
		x.v[i] += 40 * exp(-(double)(i - 150) / 8);
	add(400, 600, 2);
	find(0.1, 0);
	e = only();
	assert_int_equal(e->i, 400);
	near(e->delta, 2, 3 * e->u);
	assert_true(e->u < 0.02);
	ww_steps_clear(&x.r);
}

/* Two changes four seconds apart are one; with a mark between them two. */
static void together(void **state)
{
	static const double mark[] = {99, 102.5};

	(void)state;
	for (int marks = 0; marks <= 2; marks += 2) {
		begin(200, 10);
		add(100, 200, 30);
		add(104, 200, 20);
		x.in.marker = mark;
		x.in.markers = (size_t)marks;
		find(0.1, 0);
		assert_int_equal(x.r.events, marks ? 2 : 1);
		if (marks) {
			near(x.r.event[0].delta, 30, 4 * x.r.event[0].u);
			near(x.r.event[1].delta, 20, 4 * x.r.event[1].u);
			assert_int_equal(x.r.event[1].marker, 1);
		} else {
			near(x.r.event[0].delta, 50, 4 * x.r.event[0].u);
		}
		ww_steps_clear(&x.r);
	}
}

/* The level between two steps is common: both deltas are off by it, in opposition. */
static void covariance(void **state)
{
	double s2 = 0;
	size_t n = 0;

	(void)state;
	begin(360, 10);
	add(120, 240, 15);
	find(0.5, 0);
	assert_int_equal(x.r.events, 2);
	for (size_t k = 0; k < 3; k++) {
		s2 += x.r.level[k].sigma * x.r.level[k].sigma / 3;
		n += x.r.level[k].used;
	}
	assert_true(n > 350);
	near(x.r.event[0].cov_next, -s2 / 120, 0.2 * s2 / 120);
	near(x.r.event[1].cov_next, 0, 0);
	ww_steps_clear(&x.r);
}

/* Loads that are noisy only when they run: no changes but on and off. */
static void noisy_level(void **state)
{
	(void)state;
	begin(N, 2);
	for (size_t i = 300; i < 600; i++)
		x.v[i] += 80 + 2 * normal();
	for (size_t i = 900; i < N; i++)
		x.v[i] += 80 + 2 * normal();
	find(0.05, 1);
	assert_int_equal(x.r.events, 3);
	near(x.r.event[0].delta, 80, 0.6);
	ww_steps_clear(&x.r);
}

/* Clean readings of 10.3 and 10.6 W on a display of 1 W. */
static void unresolved(void **state)
{
	static const double mark[] = {118};
	const struct ww_step_event *e;

	(void)state;
	begin(240, 10.3);
	add(120, 240, 0.3);
	x.in.marker = mark;
	x.in.markers = 1;
	find(0.02, 1);
	e = only();
	assert_int_equal(e->state, WW_STEP_UNRESOLVED);
	near(e->bounds[0], 0, 1e-9);
	near(e->bounds[1], 2, 1e-9);
	ww_steps_clear(&x.r);
	/* No code changes: still no more than a count either way. */
	begin(240, 10.1);
	add(120, 240, 0.3);
	x.in.marker = mark;
	x.in.markers = 1;
	find(0.02, 1);
	assert_int_equal(x.r.events, 0);
	assert_int_equal(x.r.knowns, 1);
	assert_int_equal(x.r.known[0].state, WW_STEP_UNRESOLVED);
	near(x.r.known[0].bounds[0], -1, 1e-9);
	near(x.r.known[0].bounds[1], 1, 1e-9);
	ww_steps_clear(&x.r);
}

/* A change at a time that is told, where the level drifts. */
static void known_in_drift(void **state)
{
	static const double mark[] = {150};
	const struct ww_step_event *e;

	(void)state;
	begin(300, 10);
	for (size_t i = 0; i < 300; i++)
		x.v[i] += 0.01 * (double)i;
	add(152, 300, 0.1);
	x.in.marker = mark;
	x.in.markers = 1;
	find(0.2, 0);
	assert_int_equal(x.r.events, 0);
	assert_int_equal(x.r.knowns, 1);
	e = &x.r.known[0];
	assert_int_equal(e->state, WW_STEP_KNOWN_TIME);
	near(e->delta, 0.1, 3 * e->u);
	/* The slope is not known either: twice as much as of two means, and the gap. */
	near(e->u, 2 * 0.2 * sqrt(2 / 140.0), 0.015);
	ww_steps_clear(&x.r);
}

/* A machine that sleeps 3.5 s and wakes for 3 s, read 20 times a second: ten levels, not one. */
static void fast_levels(void **state)
{
	(void)state;
	begin(700, 25);
	x.in.period = 0.05;
	for (size_t i = 0; i < 700; i++) {
		x.t[i] = 0.05 * (double)i;
		if (i % 130 >= 60)
			x.v[i] -= 24;
	}
	find(0.1, 0.1);
	assert_int_equal(x.r.events, 10);
	for (size_t k = 0; k < x.r.events; k++) {
		const struct ww_step_event *e = &x.r.event[k];

		near(e->delta, k % 2 ? 24 : -24, 4 * e->u);
		near(e->t_hi, 0.05 * (60 + 70 * (double)(k % 2) + 130 * (double)(k / 2)), 0.21);
	}
	ww_steps_clear(&x.r);
}

/* A compressor: 90 W for a while, then down to 75 W with 300 s, which is one start. */
static void settles_late(void **state)
{
	static const double mark[] = {300};

	(void)state;
	for (size_t marks = 0; marks < 2; marks++) {
		begin(2000, 0);
		add(200, 2000, 75);
		for (size_t i = 200; i < 2000; i++)
			x.v[i] += 15 * (i < 300 ? 1 : exp(-((double)i - 300) / 300));
		x.in.marker = mark;
		x.in.markers = marks;
		find(0.5, 1);
		/* Unless somebody says that there are two. */
		assert_int_equal(x.r.events, 1 + marks);
		if (marks == 0) {
			near(x.r.event[0].delta, 75, 3 * x.r.event[0].u);
			assert_true(x.r.event[0].settled > 600);
		} else {
			near(x.r.event[0].delta, 90, 3 * x.r.event[0].u);
			near(x.r.event[1].delta, -15, 3 * x.r.event[1].u);
		}
		near(x.r.event[0].t_hi, 200, 2);
		ww_steps_clear(&x.r);
	}
	/* A jump is a change, whatever settles after it. */
	begin(2000, 0);
	add(200, 2000, 75);
	for (size_t i = 200; i < 2000; i++)
		x.v[i] += 15 * (i < 300 ? 1 : 0.6 * exp(-((double)i - 300) / 300));
	find(0.5, 1);
	assert_int_equal(x.r.events, 2);
	ww_steps_clear(&x.r);
}

/* Late in a long trace sums of squares of the time are large: a short level is still seen. */
static void late_in_long(void **state)
{
	(void)state;
	begin(N, 20);
	for (size_t i = 0; i < N; i++)
		x.t[i] += 3e8 * (i >= 100);
	for (size_t i = 2000; i < N; i++)
		x.v[i] += 10 + 30 * exp(-((double)i - 2000) / 40);
	find(0.1, 0);
	assert_int_equal(x.r.events, 1);
	near(x.r.event[0].delta, 10, 3 * x.r.event[0].u);
	near(x.r.level[1].settling_s, 40, 0.5);
	ww_steps_clear(&x.r);
}

/* A display of 0.1 W that shows whole watts above 50 W: of these no mean tells parts. */
static void coarse_range(void **state)
{
	(void)state;
	begin(3600, 20.14);
	add(600, 3600, 40.3);
	for (size_t k = 1; k < 20; k++)
		add(600 + 150 * k, 600 + 150 * (k + 1), 3.27 * (double)k);
	for (size_t i = 0; i < 3600; i++)
		x.v[i] = x.v[i] > 50 ? round(x.v[i]) : x.v[i];
	find(0, 0.1);
	assert_int_equal(x.r.events, 20);
	near(x.r.level[0].uQ, 0.1 / sqrt(12), 1e-6);
	near(x.r.level[1].uQ, 1 / sqrt(12), 1e-6);
	for (size_t k = 1; k < 20; k++)
		near(x.r.event[k].delta, 3.27, 2 * x.r.event[k].u);
	ww_steps_clear(&x.r);
	/* Two values that are multiples of ten are no range. */
	begin(3600, 20);
	for (size_t k = 0; k < 12; k++)
		add(300 * k, 300 * k + 150, 60);
	find(0, 0.1);
	assert_int_equal(x.r.events, 23);
	near(x.r.level[1].q, 0.1, 1e-9);
	ww_steps_clear(&x.r);
}

/* Each value shown twice: neighbours do not tell the noise, nor that a start is noise. */
static void shown_twice(void **state)
{
	(void)state;
	begin(2400, 0);
	add(600, 2400, 10);
	for (size_t i = 0; i < 2400; i += 2)
		x.v[i] = x.v[i + 1] = x.v[i] + 0.3 * normal() + (i == 600 ? 4 : i == 602 ? 2 : 0);
	add(1600, 2400, 0.5);
	find(0, 0);
	assert_int_equal(x.r.events, 2);
	near(x.r.sigma, 0.3, 0.03);
	near(x.r.tau, 2.5, 1);
	near(x.r.event[0].delta, 10, 3 * x.r.event[0].u);
	near(x.r.event[0].u, 0.3 * sqrt(1 / 300.0 + 1 / 500.0), 0.02);
	near(x.r.event[1].delta, 0.5, 3 * x.r.event[1].u);
	ww_steps_clear(&x.r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiser),	cmocka_unit_test(penalty),
		cmocka_unit_test(correlated),	cmocka_unit_test(finds_correlation),
		cmocka_unit_test(plug),		cmocka_unit_test(inrush),
		cmocka_unit_test(passing),	cmocka_unit_test(together),
		cmocka_unit_test(covariance),	cmocka_unit_test(noisy_level),
		cmocka_unit_test(unresolved),	cmocka_unit_test(known_in_drift),
		cmocka_unit_test(shown_twice),	cmocka_unit_test(coarse_range),
		cmocka_unit_test(settles_late), cmocka_unit_test(late_in_long),
		cmocka_unit_test(fast_levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
