/* SPDX-License-Identifier: MIT */
/* Runs of a command: what their marks say, which count, and what cannot be said. */
#include "runs_trace.h"

/* ---- what cannot be said ---- */

/* A trace of `seconds` at 25 W, one reading a second, without those from lo to hi. */
static void flat(struct bench *b, int seconds, int lo, int hi)
{
	bench_open(b, NULL, &FINE, 1);
	for (int i = 0; i <= seconds; i++)
		if (i < lo || i > hi)
			bench_row(b, i, (double[]){25});
}

static void no_energy(struct bench *b, const char *why)
{
	struct ww_trace *t;
	struct ww_runs *r = runs_of(b, &t, NULL);
	const struct ww_run *run = ww_runs_at(r, 0);

	assert_true(isnan(run->gross_J.value) && isnan(run->gross_J.u));
	assert_true(isnan(run->marginal_J.value));
	assert_int_equal(run->used, 0);
	assert_true(isnan(ww_runs_variant(r, 0)->gross_J.value));
	assert_int_equal(ww_runs_variant(r, 0)->no_energy, 1);
	if (!strstr(run->why, why))
		fail_msg("'%s', not '%s'", run->why, why);
	done(b, t, r);
}

static void unplugged(void **state)
{
	struct bench b;

	(void)state;
	flat(&b, 60, 25, 26);
	bench_gap(&b, 24.5, 26.5);
	a_run(&b, 1, 20, 40, "command=x", "exit=0");
	no_energy(&b, "the meter was away during the run");
}

static void silent(void **state)
{
	struct bench b;

	(void)state;
	/* measurement C: a gap is never bridged silently */
	flat(&b, 60, 25, 35);
	a_run(&b, 1, 20, 40, "command=x", "exit=0");
	no_energy(&b, "the meter gave no readings for 12.00 s of it");
}

static void trace_ends_early(void **state)
{
	struct bench b;

	(void)state;
	flat(&b, 30, 100, 0);
	a_run(&b, 1, 20, 40, "command=x", "exit=0");
	no_energy(&b, "the meter gave no readings for 10.00 s of it");
}

static void end_not_seen(void **state)
{
	struct bench b;

	(void)state;
	flat(&b, 60, 100, 0);
	mark(&b, 20, WW_MARK_RUN_START, "run=1 command=x");
	no_energy(&b, "its end is not in the trace");
}

static void shorter_than_readings(void **state)
{
	struct chan c = FINE;
	struct bench b;

	(void)state;
	c.semantics = WW_INSTANT;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i <= 60; i++)
		bench_row(&b, i, (double[]){25});
	base(&b, 5, 20);
	a_run(&b, 1, 20.1, 22.5, "command=x", "exit=0");
	no_energy(&b, "shorter than 2.5 readings of this meter (one every 1 s)");
}

static void no_runs(void **state)
{
	struct ww_error why = {0};
	struct ww_trace *t;
	struct ww_runs *r;
	struct bench b;

	(void)state;
	flat(&b, 10, 100, 0);
	t = bench_read(&b);
	assert_int_equal(ww_runs_new(t, NULL, &r, &why), -ENODATA);
	assert_non_null(strstr(why.text, "no runs of a command in this trace"));
	assert_null(r);
	bench_end(&b, t);
}

static void no_power(void **state)
{
	struct ww_error why = {0};
	struct ww_trace *t;
	struct ww_runs *r;
	struct bench b;
	const struct chan volts = {"voltage", "voltage", "V", WW_AVERAGE, 0.1, 0.1, 0, 0, 0};

	(void)state;
	bench_open(&b, NULL, &volts, 1);
	bench_row(&b, 0, (double[]){230});
	a_run(&b, 1, 0, 1, "command=x", "exit=0");
	t = bench_read(&b);
	assert_true(ww_runs_new(t, NULL, &r, &why) < 0);
	assert_true(why.text[0]);
	bench_end(&b, t);
}

/* ---- which runs count ---- */

/* Four runs of 4 s, 6 s apart from 10 s on; each draws 35 W. */
static void four(struct bench *b, const char *const *end_words, const char *const *start_words)
{
	bench_open(b, NULL, &FINE, 1);
	for (int i = 0; i <= 60; i++) {
		bool on = i > 10 && i <= 50 && (i - 11) % 10 < 4;

		bench_row(b, i, (double[]){on ? 35 : 25});
	}
	base(b, 3, 10);
	for (int k = 0; k < 4; k++) {
		a_run(b, k + 1, 10 + 10 * k, 14 + 10 * k, start_words[k], end_words[k]);
		base(b, 16 + 10 * k, 20 + 10 * k);
	}
}

static const char *const plain4[] = {"command=x", "command=x", "command=x", "command=x"};

static void failures(void **state)
{
	static const char *const ends[] = {"exit=0", "exit=3", "signal=9", "exit=0"};
	struct ww_runs_options all = {.size = sizeof(all), .failed = 1};
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r, *with = NULL;
	const struct ww_run_variant *v;

	(void)state;
	four(&b, ends, plain4);
	r = runs_of(&b, &t, NULL);
	assert_int_equal(ww_runs_at(r, 1)->status, 3);
	assert_int_equal(ww_runs_at(r, 1)->used, 0);
	assert_string_equal(ww_runs_at(r, 1)->why, "failed with exit status 3: does not count");
	assert_int_equal(ww_runs_at(r, 2)->status, -1);
	assert_int_equal(ww_runs_at(r, 2)->signal, 9);
	assert_string_equal(ww_runs_at(r, 2)->why, "ended by signal 9: does not count");
	/* What they drew is told all the same. */
	near_(ww_runs_at(r, 2)->marginal_J.value, 40, 0.01, "of the one that was ended");
	v = ww_runs_variant(r, 0);
	assert_int_equal(v->runs, 4);
	assert_int_equal(v->failed, 2);
	assert_int_equal(v->n, 2);
	assert_true(has_note(r, "2 runs failed: in no mean"));
	OK(ww_runs_new(t, &all, &with, err));
	assert_int_equal(ww_runs_variant(with, 0)->n, 4);
	assert_true(has_note(with, "2 of the runs that count failed"));
	ww_runs_free(with);
	done(&b, t, r);
}

static void variants_and_rounds(void **state)
{
	static const char *const ends[] = {"exit=0", "exit=0", "exit=0", "exit=0"};
	static const char *const starts[] = {
		"round=1 variant=A%20level=1 command=gzip -1 x",
		"round=1 variant=B command=gzip -9 x", "round=2 variant=B command=gzip -9 x",
		"round=2 variant=A%20level=1 warmup=1 command=gzip -1 x"};
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;

	(void)state;
	four(&b, ends, starts);
	r = runs_of(&b, &t, NULL);
	assert_string_equal(ww_runs_variant(r, 0)->label, "A level=1");
	assert_string_equal(ww_runs_variant(r, 1)->label, "B");
	assert_null(ww_runs_variant(r, 2));
	assert_int_equal(ww_runs_at(r, 2)->variant, 1);
	assert_int_equal(ww_runs_at(r, 2)->round, 2);
	assert_int_equal(ww_runs_variant(r, 0)->n, 1);
	assert_int_equal(ww_runs_variant(r, 0)->runs, 1);
	assert_int_equal(ww_runs_variant(r, 1)->n, 2);
	assert_int_equal(ww_runs_at(r, 3)->used, 0);
	assert_true(has_note(r, "1 run to warm up"));
	done(&b, t, r);
}

/* Mean and scatter of runs that cost 38, 39, 41 and 42 J more than nothing. */
static void scatter(void **state)
{
	static const double watts[] = {34.5, 34.75, 35.25, 35.5};
	double s = sqrt((4 + 1 + 1 + 4) / 3.0), t95 = 3.31;
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;
	const struct ww_run_variant *v;

	(void)state;
	bench_open(&b, NULL, &FINE, 1);
	for (int i = 0; i <= 60; i++) {
		bool on = i > 10 && i <= 50 && (i - 11) % 10 < 4;

		bench_row(&b, i, (double[]){on ? watts[(i - 11) / 10] : 25});
	}
	base(&b, 3, 10);
	for (int k = 0; k < 4; k++) {
		a_run(&b, k + 1, 10 + 10 * k, 14 + 10 * k, "command=x", "exit=0");
		base(&b, 16 + 10 * k, 20 + 10 * k);
	}
	r = runs_of(&b, &t, NULL);
	v = ww_runs_variant(r, 0);
	near_(v->marginal_J.value, 40, 0.001, "mean");
	near_(v->marginal_sd, s, 0.001, "standard deviation");
	/* Student's factor, so that twice u covers 95 % with three degrees of freedom. */
	near_(v->marginal_J.u, s / 2 * t95 / 2, 0.02, "uncertainty");
	near_(v->mean_W.value, 35, 0.001, "mean power");
	done(&b, t, r);
}

/* ---- work ---- */

static void work(void **state)
{
	static const char *const ends[] = {"exit=0", "exit=0", "exit=0", "exit=0"};
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;
	const struct ww_run *run;

	(void)state;
	four(&b, ends, plain4);
	mark(&b, 14.1, WW_MARK_RUN_WORK, "run=1 amount=2e9 u=0 unit=B");
	mark(&b, 24.1, WW_MARK_RUN_WORK, "run=2 rate=5e8 u=1e6 unit=B");
	mark(&b, 34.1, WW_MARK_RUN_WORK, "run=3 why=no%20line%20matches");
	mark(&b, 44.1, WW_MARK_RUN_WORK, "run=4 amount=100 u=0 unit=frame");
	r = runs_of(&b, &t, NULL);
	run = ww_runs_at(r, 0);
	near_(run->work.value, 2e9, 0, "bytes");
	near_(run->marginal_per.value, 20e-9, 1e-12, "J/B above the baseline");
	near_(run->marginal_per.u / run->marginal_per.value,
	      run->marginal_J.u / run->marginal_J.value, 1e-12, "relative");
	near_(run->gross_per.value, 70e-9, 1e-12, "J/B");
	near_(run->time_per.value, 2e-9, 1e-15, "s/B");
	run = ww_runs_at(r, 1);
	near_(run->work.value, 2e9, 1, "bytes of a rate and 4 s");
	near_(run->work.u, 4e6, 1, "their uncertainty");
	near_(run->marginal_per.u / run->marginal_per.value,
	      hypot(run->marginal_J.u / run->marginal_J.value, 0.002), 1e-9,
	      "relative variances add up");
	assert_true(isnan(ww_runs_at(r, 2)->work.value));
	assert_string_equal(ww_runs_at(r, 2)->work_why, "no line matches");
	assert_true(isnan(ww_runs_at(r, 2)->marginal_per.value));
	assert_true(has_note(r, "a throughput was read"));
	assert_true(has_note(r, "in frame and not in B"));
	/* The ratio of means, over the two that tell bytes. */
	near_(ww_runs_variant(r, 0)->marginal_per.value, 20e-9, 1e-12, "J/B of all");
	done(&b, t, r);
}

static void repeats_are_work(void **state)
{
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;

	(void)state;
	flat(&b, 60, 100, 0);
	a_run(&b, 1, 20, 40, "repeat=50 command=x", "exit=0");
	r = runs_of(&b, &t, NULL);
	assert_int_equal(ww_runs_at(r, 0)->repeat, 50);
	assert_string_equal(ww_runs_at(r, 0)->work_unit, "repeat");
	near_(ww_runs_at(r, 0)->gross_per.value, 10, 1e-6, "J each");
	near_(ww_runs_at(r, 0)->time_per.value, 0.4, 1e-9, "s each");
	done(&b, t, r);
}

/* ---- marks that say something else ---- */

static void words(void **state)
{
	char out[16];

	(void)state;
	assert_true(ww_runs_word("run=3 variant=a%20b command=x run=4", "variant", out, 16));
	assert_string_equal(out, "a b");
	assert_true(ww_runs_word("run=3 command=x  run=4", "command", out, 16));
	assert_string_equal(out, "x  run=4");
	/* What the command says is not the mark's. */
	assert_false(ww_runs_word("run=3 command=x exit=4", "exit", out, 16));
	assert_false(ww_runs_word("", "exit", out, 16));
	assert_true(ww_runs_word("a=%4 b=%zz c=%00 d=", "a", out, 16));
	assert_string_equal(out, "%4");
	assert_true(ww_runs_word("a=%4 b=%zz c=%00 d=", "c", out, 16));
	assert_string_equal(out, "%00");
	assert_true(ww_runs_word("a=%4 b=%zz c=%00 d=", "d", out, 16));
	assert_string_equal(out, "");
	assert_true(ww_runs_word("a=0123456789abcdefgh", "a", out, 16));
	assert_string_equal(out, "0123456789abcde");
}

static void odd_marks(void **state)
{
	static const char *const odd[] = {"",	     "run=",	      "run=x",
					  "run=0",   "run=-1",	      "run=1e99",
					  "run=2.5", "command=run=1", "run=nan"};
	struct bench b;
	struct ww_trace *t;
	struct ww_runs *r;

	(void)state;
	flat(&b, 60, 100, 0);
	for (size_t i = 0; i < WW_COUNTOF(odd); i++) {
		mark(&b, 5, WW_MARK_RUN_START, odd[i]);
		mark(&b, 6, WW_MARK_RUN_END, odd[i]);
		mark(&b, 6, WW_MARK_RUN_WORK, odd[i]);
		mark(&b, 6, WW_MARK_BASELINE_END, odd[i]);
	}
	mark(&b, 7, WW_MARK_BASELINE, "no end");
	mark(&b, 10, WW_MARK_RUN_START, "run=7");
	/* An end before the beginning is none. */
	mark(&b, 9, WW_MARK_RUN_END, "run=7 exit=0");
	mark(&b, 20, WW_MARK_RUN_END, "run=7 exit=0");
	mark(&b, 21, WW_MARK_RUN_WORK, "run=7 amount=-5 unit=B");
	r = runs_of(&b, &t, NULL);
	assert_int_equal(ww_runs_count(r), 1);
	near_(ww_runs_at(r, 0)->gross_J.value, 250, 1e-6, "energy");
	assert_true(isnan(ww_runs_at(r, 0)->work.value));
	assert_true(*ww_runs_at(r, 0)->work_why);
	assert_true(has_note(r, "is passed over"));
	done(&b, t, r);
}

static void sizes(void **state)
{
	struct ww_runs_options none = {.size = 0};
	struct ww_error why = {0};
	struct ww_trace *t;
	struct ww_runs *r;
	struct bench b;

	(void)state;
	flat(&b, 10, 100, 0);
	t = bench_read(&b);
	assert_int_equal(ww_runs_new(t, &none, &r, &why), -EINVAL);
	assert_int_equal(ww_sizeof("ww_run"), sizeof(struct ww_run));
	assert_int_equal(ww_sizeof("ww_run_variant"), sizeof(struct ww_run_variant));
	ww_runs_free(NULL);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unplugged),
		cmocka_unit_test(silent),
		cmocka_unit_test(trace_ends_early),
		cmocka_unit_test(end_not_seen),
		cmocka_unit_test(shorter_than_readings),
		cmocka_unit_test(no_runs),
		cmocka_unit_test(no_power),
		cmocka_unit_test(failures),
		cmocka_unit_test(variants_and_rounds),
		cmocka_unit_test(scatter),
		cmocka_unit_test(work),
		cmocka_unit_test(repeats_are_work),
		cmocka_unit_test(words),
		cmocka_unit_test(odd_marks),
		cmocka_unit_test(sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
