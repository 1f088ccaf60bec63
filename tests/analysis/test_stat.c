/* SPDX-License-Identifier: MIT */
/* ww_stat over traces: energy, gaps, registers, uncertainty, and what is said. */
#include "stat_trace.h"

static bool says(const struct ww_stat *s, const char *words)
{
	for (size_t i = 0; ww_stat_note(s, i); i++)
		if (strstr(ww_stat_note(s, i), words))
			return true;
	return false;
}

static struct ww_stat *stat_of(struct ww_trace *t, double from, double to)
{
	struct ww_stat_options o = {.size = sizeof(o)};
	struct ww_stat *s = NULL;

	if (from > 0)
		o.from_ns = BEGIN + (int64_t)(from * 1e9);
	if (to > 0)
		o.to_ns = BEGIN + (int64_t)(to * 1e9);
	OK(ww_stat_new(t, &o, &s, err));
	return s;
}

static void test_worked(void **state)
{
	static const double t[] = {0, 1, 2, 4, 5, 6}, p[] = {10, 10, 20, 20, 20, 30};
	static const double joules[] = {110, 120, 100};
	static const struct ww_source_info irregular = {.kind = WW_METER, .name = "meter"};

	(void)state;
	for (int k = WW_INSTANT; k <= WW_HOLD; k++) {
		struct chan c = POWER;
		struct bench b;
		struct ww_trace *tr;
		struct ww_stat *s;
		const struct ww_channel_stat *m;
		double u;

		c.semantics = k;
		c.scale = c.resolution = 1;
		bench_open(&b, &irregular, &c, 1);
		for (int i = 0; i < 6; i++)
			bench_row(&b, t[i], p + i);
		tr = bench_read(&b);
		s = stat_of(tr, 0, 0);
		m = ww_stat_at(s, 0);
		assert_string_equal(m->name, "meter.power");
		assert_true(m->energy_J.value == joules[k]);
		assert_true(m->mean.value == joules[k] / 6);
		assert_true(m->duration_s == 6 && m->coverage == 1 && m->gaps == 0 && m->n == 6);
		assert_true(m->min == 10 && m->max == 30);
		/*
		 * Between its steps the load is constant: what is uncertain is a display
		 * of 1 W, also as noise of six readings (three degrees of freedom, t = 3.31),
		 * and of momentary values when in a second the two steps of 10 W came.
		 */
		u = sqrt(36.0 / 12 + 36.0 / 12 / 6 * pow(3.3068 / 2, 2) +
			 (k == WW_INSTANT ? 2 * 100.0 / 12 : 0));
		assert_true(fabs(m->mean.u - u / 6) < 1e-3);
		assert_true(fabs(m->energy_J.u - u) < 1e-2);
		assert_true(says(s, "Student's factor"));
		assert_true(says(s, "accuracy of the meter is unknown"));
		assert_null(ww_stat_at(s, 1));
		ww_stat_free(s);
		bench_end(&b, tr);
	}
}

/* Whatever the seed, about 95 % of the true values lie within 2 u. */
static void test_uncertainty_holds(void **state)
{
	static const struct {
		double sigma, phi, q;
	} row[] = {{0.5, 0, 0.1}, {0.5, 0.7, 0.1}, {0.02, 0, 0.1}, {0.3, 0, 1}};
	enum { RUNS = 60, N = 400 };

	(void)state;
	seed = 11;
	for (size_t k = 0; k < WW_COUNTOF(row); k++) {
		int inside = 0;

		for (int r = 0; r < RUNS; r++) {
			double truth = 20 + uniform() * 10, x = normal() * row[k].sigma;
			struct chan c = POWER;
			struct bench b;
			struct ww_trace *tr;
			struct ww_stat *s;
			const struct ww_channel_stat *m;

			c.scale = c.resolution = row[k].q;
			bench_open(&b, NULL, &c, 1);
			for (int i = 0; i < N; i++) {
				double v = truth + x;

				bench_row(&b, i, &v);
				x = row[k].phi * x +
				    sqrt(1 - row[k].phi * row[k].phi) * row[k].sigma * normal();
			}
			tr = bench_read(&b);
			s = stat_of(tr, 0, 0);
			m = ww_stat_at(s, 0);
			inside += fabs(m->mean.value - truth) <= 2 * m->mean.u;
			assert_true(fabs(m->energy_J.u / m->energy_J.value -
					 m->mean.u / m->mean.value) < 1e-12);
			ww_stat_free(s);
			bench_end(&b, tr);
		}
		assert_true(inside >= RUNS * 88 / 100);
	}
}

/* The maker's bound: 1 W on the reading and 2 % of it, each rectangular. */
static void test_accuracy(void **state)
{
	struct chan c = POWER;
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;
	double v = 100;

	(void)state;
	c.acc_abs = 1;
	c.acc_rel = 0.02;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i < 100; i++)
		bench_row(&b, i, &v);
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	assert_true(fabs(ww_stat_at(s, 0)->mean.u - sqrt(5 / 3.0 + 0.01 / 12)) < 1e-3);
	assert_false(says(s, "accuracy of the meter is unknown"));
	ww_stat_free(s);
	bench_end(&b, t);
}

static void test_gaps(void **state)
{
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;
	const struct ww_channel_stat *m;

	(void)state;
	bench_open(&b, NULL, &POWER, 1);
	for (int i = 0; i < 100; i++) {
		double v = i < 50 ? 20 : 50;

		if ((i < 40 || i > 69) && i != 80)
			bench_row(&b, i, &v);
	}
	bench_gap(&b, 89.25, 89.5); /* shorter than any limit, but known */
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	m = ww_stat_at(s, 0);
	assert_int_equal(m->gaps, 2);
	assert_true(m->gap_s == 32 && m->duration_s == 99);
	assert_true(fabs(m->coverage - 66 / 99.0) < 1e-12);
	assert_true(says(s, "missing one by one, about 1 where"));
	/* 39 s at 20 W, 31 s from 20 to 50 W, 29 s at 50 W. */
	assert_true(fabs(m->energy_J.value - (780 + 1085 + 1450)) < 1e-6);
	assert_true(fabs(m->energy_J.u - 31 * 30 / sqrt(12)) < 1);
	assert_true(says(s, "2 gaps"));
	ww_stat_free(s);
	bench_end(&b, t);
}

/* Cut anywhere, the two parts are the whole, for every channel. */
static void test_window(void **state)
{
	static const struct chan c[] = {{"power", "power", "W", WW_INSTANT, 0.1, 0.1, 0, 0, 0},
					{"power2", "power", "W", WW_HOLD, 0.1, 0.1, 0, 0, 0},
					{"energy", "energy", "Wh", WW_COUNTER, 0.001, 0.001, 0, 0,
					 0}};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *all;

	(void)state;
	seed = 5;
	bench_open(&b, NULL, c, 3);
	for (int i = 0; i < 300; i++) {
		double v[3] = {20 + normal(), i % 7 ? MISSING : 30 + normal(), i * 0.01};

		if (i < 100 || i > 120)
			bench_row(&b, i, v);
	}
	t = bench_read(&b);
	all = stat_of(t, 0, 0);
	for (double cut = 0.3701; cut < 299; cut += 17.21) {
		struct ww_stat *left = stat_of(t, 0, cut), *right = stat_of(t, cut, 0);

		for (size_t i = 0; i < 3; i++) {
			const struct ww_channel_stat *a = ww_stat_at(left, i),
						     *z = ww_stat_at(right, i),
						     *w = ww_stat_at(all, i);

			if (cut > 294 && i == 1) /* after its last reading it says nothing */
				continue;
			assert_true(fabs(a->energy_J.value + z->energy_J.value -
					 w->energy_J.value) < 1e-6);
			assert_true(fabs(a->duration_s + z->duration_s - w->duration_s) < 1e-9);
			assert_true(fabs(a->gap_s + z->gap_s - w->gap_s) < 1e-9);
			assert_int_equal(a->n + z->n, w->n);
		}
		ww_stat_free(left);
		ww_stat_free(right);
	}
	assert_int_equal(ww_stat_new(t,
				     &(struct ww_stat_options){.size = sizeof(
								       struct ww_stat_options),
							       .from_ns = 20,
							       .to_ns = 10},
				     &(struct ww_stat *){NULL}, NULL),
			 -EINVAL);
	ww_stat_free(all);
	bench_end(&b, t);
}

/* Watts, volt-amperes, power factor: each by itself, energy for the first only. */
static void test_no_derivation(void **state)
{
	static const struct chan c[] = {{"power", "power", "W", WW_AVERAGE, 0.1, 0.1, 0, 0, 0},
					{"va", "apparent_power", "VA", WW_AVERAGE, 0.1, 0.1, 0, 0,
					 0},
					{"pf", "power_factor", "1", WW_AVERAGE, 0.01, 0.01, 0, 0,
					 0}};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	bench_open(&b, NULL, c, 3);
	for (int i = 0; i < 60; i++)
		bench_row(&b, i, i % 2 ? (double[]){25, 35, 0.6} : (double[]){50, 60, 0.9});
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	assert_true(ww_stat_at(s, 0)->energy_J.value > 0);
	assert_true(isnan(ww_stat_at(s, 1)->energy_J.value));
	assert_true(isnan(ww_stat_at(s, 2)->energy_J.value));
	/* 30 odd and 29 even seconds; not W/VA. */
	assert_true(fabs(ww_stat_at(s, 2)->mean.value - (30 * 0.6 + 29 * 0.9) / 59) < 1e-12);
	assert_true(says(s, "none is derived"));
	ww_stat_free(s);
	bench_end(&b, t);
}

static void check_no_nan(const struct ww_stat *s)
{
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++) {
		char *text = NULL;

		OK(ww_stat_report(s, form, &text, err));
		assert_null(strstr(text, "nan"));
		assert_null(strstr(text, "inf"));
		assert_true(text[strlen(text) - 1] == '\n');
		ww_free(text);
	}
}

static void test_marginal(void **state)
{
	static const double one[] = {42}, none[] = {MISSING};
	static const struct {
		int n;
		const double *v;
		const char *why;
	} row[] = {{0, one, "no readings in this time"},
		   {1, one, "one reading covers no time"},
		   {1, none, "no readings in this time"},
		   {50, none, "no readings in this time"}};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(row); k++) {
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;
		const struct ww_channel_stat *m;

		bench_open(&b, NULL, &POWER, 1);
		for (int i = 0; i < row[k].n; i++)
			bench_row(&b, i, row[k].v);
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		m = ww_stat_at(s, 0);
		assert_string_equal(m->why, row[k].why);
		assert_true(isnan(m->energy_J.value));
		assert_true(m->duration_s == 0);
		if (row[k].v == one && row[k].n) {
			assert_true(m->mean.value == 42 && m->min == 42 && m->coverage == 1);
			assert_true(fabs(m->mean.u - 0.1 / sqrt(12)) < 1e-4);
		}
		assert_int_equal(m->missing, row[k].v == none ? row[k].n : 0);
		check_no_nan(s);
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* A person's three readings, minutes apart: no gaps between them. */
static void test_manual(void **state)
{
	static const struct ww_source_info person = {.kind = WW_MANUAL, .name = "killawatt"};
	static const double t[] = {0, 60, 600, 660}, v[] = {25, 40, 13, 13};
	struct chan c = POWER;
	struct bench b;
	struct ww_trace *tr;
	struct ww_stat *s;
	const struct ww_channel_stat *m;

	(void)state;
	c.semantics = WW_HOLD;
	c.scale = c.resolution = 1;
	bench_open(&b, &person, &c, 1);
	for (int i = 0; i < 4; i++)
		bench_row(&b, t[i], v + i);
	tr = bench_read(&b);
	s = stat_of(tr, 0, 0);
	m = ww_stat_at(s, 0);
	assert_true(m->energy_J.value == 25 * 60 + 40 * 540 + 13 * 60);
	assert_int_equal(m->gaps, 0);
	assert_true(fabs(m->mean.u - 1 / sqrt(12)) < 1e-3);
	check_no_nan(s);
	ww_stat_free(s);
	bench_end(&b, tr);
}

/* What a meter of window and delay says, belongs to earlier times. */
static void test_alignment(void **state)
{
	static const struct ww_source_info late = {.kind = WW_METER,
						   .name = "meter",
						   .period_ns = S,
						   .window_ns = S,
						   .delay_min_ns = S / 2,
						   .delay_max_ns = 3 * S / 2};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	/* 10 W until 20 s, then 50 W; the meter tells it a second later. */
	bench_open(&b, &late, &POWER, 1);
	for (int i = 0; i < 60; i++) {
		double v = i <= 21 ? 10 : 50;

		bench_row(&b, i, &v);
	}
	t = bench_read(&b);
	s = stat_of(t, 10, 20);
	assert_true(ww_stat_at(s, 0)->mean.value == 10);
	ww_stat_free(s);
	s = stat_of(t, 20, 30);
	assert_true(ww_stat_at(s, 0)->mean.value == 50);
	assert_true(says(s, "arrives"));
	ww_stat_free(s);
	bench_end(&b, t);
}

/* Figures do not depend on commits, on blocks, or on whether the trace still grows. */
static void test_live_and_closed(void **state)
{
	struct ww_channel_stat first = {0};
	struct bench b;

	(void)state;
	for (int every = 1; every <= 1000; every *= 10) {
		struct ww_trace *t = NULL;
		struct ww_stat *live, *closed;
		const struct ww_channel_stat *a, *z;

		seed = 99;
		bench_open(&b, NULL, &POWER, 1);
		for (int i = 0; i < 3000; i++) {
			double v = 20 + 3 * normal();

			bench_row(&b, i * 1.01, &v);
			if (i % every == 0)
				OK(ww_writer_commit(b.w, err));
		}
		bench_gap(&b, 100.2, 130);
		OK(ww_writer_commit(b.w, err));
		OK(ww_trace_open(b.path, &t, err));
		live = stat_of(t, 0, 0);
		ww_trace_close(t);
		t = bench_read(&b);
		closed = stat_of(t, 0, 0);
		a = ww_stat_at(live, 0);
		z = ww_stat_at(closed, 0);
		assert_memory_equal(&a->n, &z->n,
				    offsetof(struct ww_channel_stat, register_J) -
					    offsetof(struct ww_channel_stat, n));
		if (every == 1)
			first = *z;
		assert_memory_equal(&first.n, &z->n,
				    offsetof(struct ww_channel_stat, register_J) -
					    offsetof(struct ww_channel_stat, n));
		ww_stat_free(live);
		ww_stat_free(closed);
		bench_end(&b, t);
	}
}

/* Two sources: a serial line has no figures, edges are left out and said so. */
static void test_other_sources(void **state)
{
	static const struct ww_source_info line = {.kind = WW_LINE, .name = "rail"};
	static const struct ww_source_info port = {.kind = WW_SERIAL, .name = "port"};
	static const struct chan level = {"level", "level", "1", WW_EDGE, 1, 1, 0, 0, 0};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;
	double v = 20, on = 1;

	(void)state;
	bench_open(&b, NULL, &POWER, 1);
	for (int i = 0; i < 30; i++)
		bench_row(&b, i, &v);
	bench_source(&b, &line, &level, 1);
	bench_row(&b, 10, &on);
	bench_source(&b, &port, NULL, 0);
	OK(ww_writer_bytes(b.w, b.source, (struct ww_interval){BEGIN, BEGIN + 5},
			   (const uint8_t *)"x", 1, err));
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	assert_string_equal(ww_stat_at(s, 0)->name, "meter.power");
	assert_null(ww_stat_at(s, 1));
	assert_true(says(s, "rail.level: edges"));
	ww_stat_free(s);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worked),	     cmocka_unit_test(test_uncertainty_holds),
		cmocka_unit_test(test_accuracy),     cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_window),	     cmocka_unit_test(test_no_derivation),
		cmocka_unit_test(test_marginal),     cmocka_unit_test(test_manual),
		cmocka_unit_test(test_alignment),    cmocka_unit_test(test_live_and_closed),
		cmocka_unit_test(test_other_sources)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
