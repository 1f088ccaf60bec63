/* SPDX-License-Identifier: MIT */
/* Energies of runs whose truth is known. */
#include "runs_trace.h"

/* Mean power of a meter's window, where the load is `on` from a to b and `off` else. */
static double window_mean(double from, double to, double a, double b, double off, double on)
{
	double lo = fmax(from, a), hi = fmin(to, b);

	return off + (hi > lo ? (hi - lo) / (to - from) * (on - off) : 0);
}

/* ---- the worked numbers ---- */

/* measurement C_baseline: 2400 J in 60 s between 25.1 and 25.5 W, 0.05 W each */
static void worked_baseline(void **state)
{
	struct ww_quantity q = ww_above_baseline((struct ww_quantity){2400, 0}, 60,
						 (struct ww_quantity){25.1, 0.05},
						 (struct ww_quantity){25.5, 0.05});

	(void)state;
	near_(q.value, 882, 1e-9, "energy above the baseline");
	near_(q.u, 2.1213203435596424, 1e-12, "its uncertainty");
}

/* One baseline alone stands for both; none leaves nothing to say. */
static void one_baseline(void **state)
{
	const struct ww_quantity none = {NAN, NAN}, e = {100, 3}, b = {5, 0.1};
	struct ww_quantity q = ww_above_baseline(e, 10, b, none);

	(void)state;
	near_(q.value, 50, 1e-12, "energy");
	near_(q.u, hypot(3, 1), 1e-12, "uncertainty");
	q = ww_above_baseline(e, 10, none, b);
	near_(q.value, 50, 1e-12, "energy");
	assert_true(isnan(ww_above_baseline(e, 10, none, none).value));
}

/* The same through a trace: the whole of the path gives 2400 and 882 J. */
static void baseline_in_a_trace(void **state)
{
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;
	const struct ww_run *run;

	(void)state;
	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i <= 120; i++)
		bench_row(&b, i, (double[]){i <= 30 ? 25.1 : i <= 90 ? 40 : 25.5});
	base(&b, 5, 30);
	a_run(&b, 1, 30, 90, "command=make -j2 100%25", "exit=0 cpu_s=58.5");
	base(&b, 92, 120);
	r = runs_of(&b, &t, NULL);
	assert_int_equal(ww_runs_count(r), 1);
	run = ww_runs_at(r, 0);
	assert_null(ww_runs_at(r, 1));
	near_(run->gross_J.value, 2400, 1e-6, "gross");
	near_(run->marginal_J.value, 882, 1e-6, "marginal");
	near_(run->before_W.value, 25.1, 1e-9, "before");
	near_(run->after_W.value, 25.5, 1e-9, "after");
	near_(run->mean_W.value, 40, 1e-9, "mean");
	near_(run->peak_W, 40, 1e-9, "peak");
	near_(run->duration_s.value, 60, 1e-9, "duration");
	near_(run->cpu_s, 58.5, 0, "processor time");
	near_(run->coverage, 1, 0, "coverage");
	assert_string_equal(run->command, "make -j2 100%25");
	assert_int_equal(run->used, 1);
	/* The baseline moved by far more than it is uncertain. */
	assert_true(has_note(r, "differ by more than chance"));
	done(&b, t, r);
}

/* measurement C_integration: each semantics as it is declared, as pwrlog stat has it. */
static void worked_integration(void **state)
{
	static const double at[] = {0, 1, 2, 4, 5, 6}, p[] = {10, 10, 20, 20, 20, 30};
	static const struct {
		int semantics;
		double joules;
	} want[] = {{WW_INSTANT, 110}, {WW_HOLD, 100}, {WW_AVERAGE, 120}};
	struct ww_source_info info = {.kind = WW_METER, .name = "meter"};

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct chan c = FINE;
		struct bench b;
		struct ww_trace *t;
		struct ww_runs *r;

		c.semantics = want[k].semantics;
		bench_open(&b, &info, &c, 1);
		for (size_t i = 0; i < 6; i++)
			bench_row(&b, at[i], &p[i]);
		a_run(&b, 1, 0, 6, "command=x", "exit=0");
		r = runs_of(&b, &t, NULL);
		near_(ww_runs_at(r, 0)->gross_J.value, want[k].joules, 1e-9, "energy");
		assert_true(isnan(ww_runs_at(r, 0)->marginal_J.value));
		assert_true(has_note(r, "no baseline"));
		done(&b, t, r);
	}
}

/* ---- edges ---- */

/*
 * A meter of one reading a second; a load of 35 instead of 25 W for 2.5 s. Wherever in
 * its reading it begins, it costs 25 J more; what lies between its marks alone does not.
 */
static void edges_at_every_phase(void **state)
{
	double missed = 0;

	(void)state;
	for (int phase = 0; phase < 20; phase++) {
		double a = 20 + phase / 20.0, e = a + 2.5;
		struct bench b;
		struct ww_trace *t;
		struct ww_runs *r;
		const struct ww_run *run;
		struct ww_stat_options o = {.size = sizeof(o)};
		struct ww_stat *s = NULL;

		bench_open(&b, NULL, &FINE, 1);
		for (int i = 0; i <= 50; i++)
			bench_row(&b, i, (double[]){window_mean(i - 1, i, a, e, 25, 35)});
		base(&b, 5, a);
		a_run(&b, 1, a, e, "command=x", "exit=0");
		base(&b, e + 1, 50);
		r = runs_of(&b, &t, NULL);
		run = ww_runs_at(r, 0);
		near_(run->marginal_J.value, 25, 0.002, "above the baseline");
		near_(run->gross_J.value, 87.5, 0.002, "all");
		assert_true(run->marginal_J.u < 0.02);
		o.from_ns = run->start.lo_ns;
		o.to_ns = run->end.hi_ns;
		OK(ww_stat_new(t, &o, &s, err));
		near_(run->gross_J.value - run->edges_J, ww_stat_at(s, 0)->energy_J.value, 1e-6,
		      "what pwrlog stat says of its time");
		missed = fmax(missed, run->edges_J);
		ww_stat_free(s);
		done(&b, t, r);
	}
	/* f(1 - f) of a reading at one edge, and half a reading on at the other. */
	near_(missed, 3.75, 0.01, "most that the edges take");
}

/* A moment's readings meet an edge by chance: their uncertainty has to cover that. */
static void edges_of_moments(void **state)
{
	int covered = 0, n = 0;

	(void)state;
	for (int semantics = WW_INSTANT; semantics <= WW_HOLD; semantics += WW_HOLD) {
		for (int phase = 0; phase < 40; phase++) {
			double a = 20 + phase / 40.0, e = a + 7 + (phase * 7 % 40) / 40.0;
			struct chan c = FINE;
			struct bench b;
			struct ww_trace *t;
			struct ww_runs *r;
			const struct ww_run *run;

			c.semantics = semantics;
			bench_open(&b, NULL, &c, 1);
			for (int i = 0; i <= 50; i++)
				bench_row(&b, i, (double[]){i >= a && i < e ? 35 : 25});
			base(&b, 5, a);
			a_run(&b, 1, a, e, "command=x", "exit=0");
			base(&b, e + 1, 50);
			r = runs_of(&b, &t, NULL);
			run = ww_runs_at(r, 0);
			n++;
			covered +=
				fabs(run->marginal_J.value - 10 * (e - a)) <= 2 * run->marginal_J.u;
			assert_true(run->marginal_J.u < 10);
			done(&b, t, r);
		}
	}
	assert_true(covered >= n * 9 / 10);
}

/* Noise, resolution, a short baseline: twice u covers the truth in about 95 %. */
static void intervals_contain_the_truth(void **state)
{
	int marginal = 0, gross = 0, n = 150;

	(void)state;
	for (int k = 0; k < n; k++) {
		struct ww_source_info info = {.kind = WW_METER,
					      .name = "meter",
					      .period_ns = S / 10};
		double a, e;
		struct bench b;
		struct ww_trace *t;
		struct ww_runs *r;
		const struct ww_run *run;

		seed = (uint64_t)k;
		a = 4 + uniform();
		e = a + 1 + 3 * uniform();
		bench_open(&b, &info, &POWER, 1);
		for (int i = 0; i <= 120; i++)
			bench_row(&b, i / 10.0,
				  (double[]){window_mean((i - 1) / 10.0, i / 10.0, a, e, 25, 35) +
					     0.2 * normal()});
		base(&b, a - 3, a);
		a_run(&b, 1, a, e, "command=x", "exit=0");
		base(&b, e + 0.2, e + 3.2);
		r = runs_of(&b, &t, NULL);
		run = ww_runs_at(r, 0);
		marginal += fabs(run->marginal_J.value - 10 * (e - a)) <= 2 * run->marginal_J.u;
		gross += fabs(run->gross_J.value - 35 * (e - a)) <= 2 * run->gross_J.u;
		done(&b, t, r);
	}
	print_message("covered: %d and %d of %d\n", marginal, gross, n);
	assert_true(marginal >= n * 90 / 100 && gross >= n * 90 / 100);
	/* An interval that is never wrong says too little. */
	assert_true(marginal < n || gross < n);
}

/*
 * 2 % of the load as noise, which the baseline does not show: the run's own readings
 * have to tell of it.
 */
static void noise_that_grows(void **state)
{
	int covered = 0, n = 60;

	(void)state;
	for (int k = 0; k < n; k++) {
		struct ww_source_info info = {.kind = WW_METER,
					      .name = "meter",
					      .period_ns = S / 10};
		double a = 6.03, e = 11.07;
		struct bench b;
		struct ww_trace *t;
		struct ww_runs *r;
		const struct ww_run *run;

		seed = (uint64_t)k + 1000;
		bench_open(&b, &info, &POWER, 1);
		for (int i = 0; i <= 180; i++) {
			double w = window_mean((i - 1) / 10.0, i / 10.0, a, e, 25, 60);

			bench_row(&b, i / 10.0, (double[]){w + (0.1 + 0.02 * (w - 25)) * normal()});
		}
		base(&b, 1, a);
		a_run(&b, 1, a, e, "command=x", "exit=0");
		base(&b, e + 0.3, e + 5.3);
		r = runs_of(&b, &t, NULL);
		run = ww_runs_at(r, 0);
		covered += fabs(run->marginal_J.value - 35 * (e - a)) <= 2 * run->marginal_J.u;
		assert_true(run->marginal_J.u < 1);
		done(&b, t, r);
	}
	assert_true(covered >= n * 88 / 100);
}

/* A room that warms and cools: no baseline by itself shows it, all together do. */
static void baselines_that_wander(void **state)
{
	static const double level[] = {25, 27, 24, 26, 23, 26};
	double ss = 0;
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;

	(void)state;
	for (int k = 1; k < 6; k++)
		ss += pow(level[k] - level[k - 1], 2);
	for (int most = 3; most <= 6; most += 3) {
		bench_open(&b, NULL, &FINE, 1);
		for (int i = 0; i <= 20 * most; i++)
			bench_row(&b, i, (double[]){level[i > 0 ? (i - 1) / 20 : 0]});
		for (int k = 0; k < most; k++) {
			base(&b, 20 * k + 1, 20 * k + 12);
			if (k + 1 < most)
				a_run(&b, k + 1, 20 * k + 14, 20 * k + 18, "command=x", "exit=0");
		}
		r = runs_of(&b, &t, NULL);
		/* Two differences tell too little of it. */
		if (most == 3)
			assert_true(ww_runs_at(r, 0)->before_W.u < 0.01);
		else
			near_(ww_runs_at(r, 0)->before_W.u, sqrt(ss / 2 / 5), 1e-6, "scatter");
		done(&b, t, r);
	}
}

/* A fan goes on for two seconds at 10 W: said, and not counted. */
static void what_a_run_leaves_behind(void **state)
{
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;

	(void)state;
	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i <= 60; i++)
		bench_row(&b, i, (double[]){i > 20 && i <= 30 ? 45 : i > 30 && i <= 33 ? 35 : 25});
	base(&b, 5, 20);
	a_run(&b, 1, 20, 30, "command=x", "exit=0");
	base(&b, 35, 60);
	r = runs_of(&b, &t, NULL);
	assert_true(has_note(r, "20.0 J above the baseline until that was measured"));
	/* The reading after the end is taken for one that the end cuts. */
	near_(ww_runs_at(r, 0)->marginal_J.value, 210, 0.1, "energy");
	done(&b, t, r);
}

/* Start and end are known to 0.2 s only: a baseline of 25 W makes that 5 J and more. */
static void loose_marks(void **state)
{
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;
	const struct ww_run *run;

	(void)state;
	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i <= 60; i++)
		bench_row(&b, i, (double[]){25});
	base(&b, 5, 20);
	mark_between(&b, 19.9, 20.1, WW_MARK_RUN_START, "run=1 command=x");
	mark_between(&b, 29.9, 30.1, WW_MARK_RUN_END, "run=1 exit=0");
	base(&b, 32, 60);
	r = runs_of(&b, &t, NULL);
	run = ww_runs_at(r, 0);
	near_(run->duration_s.value, 10, 1e-9, "duration");
	near_(run->duration_s.u, 0.2 / sqrt(6), 1e-9, "of the duration");
	near_(run->gross_J.u, 25 * 0.2 / sqrt(6), 0.02, "of all of it");
	assert_true(run->marginal_J.u < 0.02);
	done(&b, t, r);
}

/* ---- the meter's accuracy ---- */

/* 1 W and 2 % bounds: an offset is in no difference; a gain is in all. */
static void accuracy(void **state)
{
	struct chan c = FINE;
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;
	const struct ww_run *run;

	(void)state;
	c.acc_abs = 1;
	c.acc_rel = 0.02;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i <= 60; i++)
		bench_row(&b, i, (double[]){i > 20 && i <= 30 ? 35 : 25});
	base(&b, 5, 20);
	a_run(&b, 1, 20, 30, "command=x", "exit=0");
	base(&b, 32, 60);
	r = runs_of(&b, &t, NULL);
	run = ww_runs_at(r, 0);
	near_(run->marginal_J.u, 0.02 / sqrt(3) * 100, 0.01, "above the baseline");
	near_(run->gross_J.u, hypot(0.02 / sqrt(3) * 350, 10 / sqrt(3)), 0.01, "all");
	assert_true(run->marginal_own_u < 0.02 && run->gross_own_u < 0.02);
	near_(ww_runs_meter(r)->gain_u, 0.02 / sqrt(3), 1e-12, "gain");
	near_(ww_runs_variant(r, 0)->marginal_J.u, run->marginal_J.u, 1e-6, "of the mean");
	done(&b, t, r);
}

static void accuracy_unknown(void **state)
{
	struct chan c = FINE;
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;

	(void)state;
	c.acc_abs = c.acc_rel = 0; /* the word for unknown here */
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i <= 20; i++)
		bench_row(&b, i, (double[]){25});
	a_run(&b, 1, 5, 15, "command=x", "exit=0");
	r = runs_of(&b, &t, NULL);
	assert_true(isfinite(ww_runs_at(r, 0)->gross_J.u));
	assert_true(isnan(ww_runs_meter(r)->gain_u));
	assert_true(has_note(r, "accuracy of the meter is unknown"));
	done(&b, t, r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_baseline),
		cmocka_unit_test(one_baseline),
		cmocka_unit_test(baseline_in_a_trace),
		cmocka_unit_test(worked_integration),
		cmocka_unit_test(edges_at_every_phase),
		cmocka_unit_test(edges_of_moments),
		cmocka_unit_test(intervals_contain_the_truth),
		cmocka_unit_test(noise_that_grows),
		cmocka_unit_test(baselines_that_wander),
		cmocka_unit_test(what_a_run_leaves_behind),
		cmocka_unit_test(loose_marks),
		cmocka_unit_test(accuracy),
		cmocka_unit_test(accuracy_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
