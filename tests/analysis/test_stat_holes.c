/* SPDX-License-Identifier: MIT */
/* What ww_stat makes of what is not there: gaps, lost readings, stalls, register resets. */
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

static void power_and_register(struct bench *b, int n, double watts, double factor, int reset_at)
{
	static struct chan c[2];
	double wh = 0;

	c[0] = POWER;
	c[1] = ENERGY;
	c[1].scale = c[1].resolution = 0.01;
	bench_open(b, NULL, c, 2);
	seed = 21;
	for (int i = 0; i < n; i++) {
		double v[2] = {watts + 0.3 * normal(), 0};

		if (i)
			wh += watts * factor / 3600;
		if (i == reset_at)
			wh = 0;
		v[1] = floor(wh * 100) / 100 + 3 * (reset_at < 0);
		bench_row(b, i, v);
	}
}

static void test_register(void **state)
{
	static const struct {
		double factor;
		int reset_at;
		bool agrees;
	} row[] = {{1, -1, true}, {1.05, -1, false}, {0.95, -1, false}, {1, 700, true}};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(row); k++) {
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;
		const struct ww_channel_stat *m, *e;
		char *text;

		power_and_register(&b, 1801, 40, row[k].factor, row[k].reset_at);
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		m = ww_stat_at(s, 0);
		e = ww_stat_at(s, 1);
		assert_true((fabs(m->register_z) <= 2) == row[k].agrees);
		assert_true((m->register_z < 0) == (row[k].factor > 1) || row[k].factor == 1);
		assert_true(fabs(m->register_J.value / (72000 * row[k].factor) - 1) < 2e-3);
		/* What was counted around a reset, nobody knows. */
		if (row[k].reset_at < 0)
			assert_true(fabs(m->register_J.u - 36 / sqrt(6)) < 1e-9);
		else
			assert_true(isnan(m->register_J.u) && isnan(e->energy_J.u) &&
				    strstr(e->why, "is lost"));
		assert_int_equal(m->register_resets, row[k].reset_at >= 0);
		assert_int_equal(e->register_resets, row[k].reset_at >= 0);
		assert_true(e->energy_J.value == m->register_J.value);
		assert_true(isnan(e->mean.value) && *e->why);
		assert_int_equal(says(s, "was reset"), row[k].reset_at >= 0);
		assert_int_equal(says(s, "DISAGREES"), !row[k].agrees);
		/* And no figure that looks exact. */
		assert_int_equal(ww_stat_report(s, WW_REPORT_TEXT, &text, NULL), 0);
		assert_int_equal(strstr(text, "\xe2\x89\xa5 ") != NULL, row[k].reset_at >= 0);
		ww_free(text);
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/*
 * A meter that renews its values each second and is asked at another phase from the
 * second reading on: its register is half a second ahead, and no liar.
 */
static void test_register_phase(void **state)
{
	(void)state;
	for (int told = 0; told < 2; told++) {
		struct ww_source_info slow = {.kind = WW_METER,
					      .name = "meter",
					      .period_ns = S,
					      .window_ns = S,
					      .delay_max_ns = told ? S : 0};
		struct chan c[2] = {POWER, ENERGY};
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;

		c[1].scale = c[1].resolution = 0.001;
		bench_open(&b, &slow, c, 2);
		for (int i = 0; i < 60; i++)
			bench_row(&b, i ? i - 0.5 : 0, (double[]){3600, i});
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		assert_int_equal(fabs(ww_stat_at(s, 0)->register_z) <= 2, told);
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* A gauge that is renewed each 30 s had no time to count: its register stands still, and is no
 * liar. */
static void test_register_stands_still(void **state)
{
	struct ww_source_info slow = {.kind = WW_METER,
				      .name = "meter",
				      .period_ns = S,
				      .delay_max_ns = 30 * S};
	struct chan c[2] = {POWER, ENERGY};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	c[1].scale = c[1].resolution = 1e-6;
	bench_open(&b, &slow, c, 2);
	for (int i = 0; i < 6; i++)
		bench_row(&b, i, (double[]){15, 20});
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	assert_true(fabs(ww_stat_at(s, 0)->register_z) <= 2);
	assert_true(fabs(ww_stat_at(s, 0)->register_J.value) < 1e-9);
	assert_true(ww_stat_at(s, 0)->register_J.u > 75);
	ww_stat_free(s);
	bench_end(&b, t);
}

/* What flows back is counted by another register: the one beside the power is no liar. */
static void test_flows_back(void **state)
{
	(void)state;
	for (int two = 0; two < 2; two++) {
		struct chan c[3] = {POWER, ENERGY, ENERGY};
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;

		c[1].scale = c[1].resolution = c[2].scale = c[2].resolution = 0.001;
		c[2].name = "energy_export";
		bench_open(&b, NULL, c, two ? 3 : 2);
		/* Without one for export, the register counts back. */
		for (int i = 0; i < 60; i++)
			if (i != 30 && i != 31 && i != 32)
				bench_row(&b, i, (double[]){-3600, two ? 100 : 100 - i, 5 + i});
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		assert_true(fabs(ww_stat_at(s, 0)->energy_J.value + 59 * 3600) < 1);
		assert_int_equal(isnan(ww_stat_at(s, 0)->register_z), two);
		assert_int_equal(says(s, "some flowed back"), two);
		assert_false(says(s, "DISAGREES"));
		assert_int_equal(ww_stat_at(s, 1)->register_resets, 0);
		assert_true(fabs(ww_stat_at(s, 1)->energy_J.value + (two ? 0 : 59 * 3600)) < 1);
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* A register that turns at 2 Wh beside 4000 W, all of it known but 5 s in the middle. */
static void test_turns(void **state)
{
	static const struct {
		double gap_s;
		bool known;
	} row[] = {{1, true}, {5, false}};

	(void)state;
	for (size_t k = 0; k < WW_COUNTOF(row); k++) {
		struct chan c[2] = {POWER, ENERGY};
		const struct ww_channel_stat *m, *e;
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;
		static const struct ww_source_info fast = {.kind = WW_METER,
							   .name = "meter",
							   .period_ns = S / 10};

		c[1].scale = c[1].resolution = 0.001;
		c[1].wrap = 2;
		bench_open(&b, &fast, c, 2);
		for (int i = 0; i < 80; i++) {
			double at = i / 10.0 + (i >= 30 ? row[k].gap_s : 0);
			double wh = floor(at * 4000 / 3.6) / 1000;

			bench_row(&b, at, (double[]){4000, fmod(wh, 2)});
		}
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		m = ww_stat_at(s, 0);
		e = ww_stat_at(s, 1);
		assert_true(fabs(m->energy_J.value - 4000 * (7.9 + row[k].gap_s)) < 10);
		assert_true(fabs(e->energy_J.value - 4000 * (7.9 + row[k].gap_s)) < 10);
		assert_int_equal(isnan(e->energy_J.u), !row[k].known);
		assert_int_equal(isnan(m->register_J.u), !row[k].known);
		assert_int_equal(says(s, "1 of 1 gap filled"), row[k].known);
		assert_int_equal(says(s, "more than once"), !row[k].known);
		/* A gap that the register filled is no witness for the register. */
		assert_true(fabs(m->register_z) <= 2);
		assert_true(says(s, "gaps and resets left out"));
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* A reset that the driver told of is one, though it would pass for a turn. */
static void test_told_reset(void **state)
{
	struct chan c[2] = {POWER, ENERGY};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	for (int told = 0; told < 2; told++) {
		c[1].scale = c[1].resolution = 0.001;
		c[1].wrap = 2;
		bench_open(&b, NULL, c, 2);
		for (int i = 0; i < 60; i++)
			bench_row(&b, i, (double[]){360, fmod(1.5 + i * 0.1, 2)});
		if (told) {
			struct ww_mark m = {.t = {BEGIN + 5 * S, BEGIN + 5 * S},
					    .source = b.source,
					    .kind = WW_MARK_RESET,
					    .text = "set to nothing"};

			OK(ww_writer_mark(b.w, &m, err));
		}
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		assert_int_equal(ww_stat_at(s, 1)->register_resets, told);
		assert_int_equal(isnan(ww_stat_at(s, 1)->energy_J.u), told);
		assert_true(ww_stat_at(s, 0)->register_z < 2);
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* 60 of 300 s are missing: bursts of load beside them may have gone on in them. */
static void test_spread_in_gaps(void **state)
{
	(void)state;
	for (int bursts = 0; bursts < 2; bursts++) {
		const struct ww_channel_stat *m;
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;

		bench_open(&b, NULL, &POWER, 1);
		for (int i = 0; i < 300; i++) {
			double v = bursts && i % 20 >= 10 ? 60 : 25;

			if (i <= 125 || i >= 185)
				bench_row(&b, i, &v);
		}
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		m = ww_stat_at(s, 0);
		assert_int_equal(m->gaps, 1);
		assert_true(bursts ? fabs(m->energy_J.u / (60 * 17.5) - 1) < 0.05
				   : m->energy_J.u < 300 * 0.03 + 0.1);
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* The driver knows its period: half of the readings is half of the time. */
static void test_half_is_missing(void **state)
{
	(void)state;
	for (int null = 0; null < 2; null++) {
		struct chan c[2] = {POWER, POWER};
		struct bench b;
		struct ww_trace *t;
		struct ww_stat *s;

		c[1].name = "slow";
		bench_open(&b, NULL, c, null ? 1 : 2);
		for (int i = 0; i < 200; i++) {
			double v[2] = {i % 2 ? MISSING : 25, i % 10 ? MISSING : 25};

			if (null || i % 2 == 0)
				bench_row(&b, i, v);
		}
		t = bench_read(&b);
		s = stat_of(t, 0, 0);
		assert_true(fabs(ww_stat_at(s, 0)->coverage - 0.5) < 0.01);
		assert_true(says(s, null ? "meter.power: readings are missing one by one, about 99"
					 : "meter: readings are missing one by one, about 99"));
		ww_stat_free(s);
		bench_end(&b, t);
	}
}

/* A channel that comes with every fifth reading of its source, by design, has no gaps. */
static void test_rare_channel(void **state)
{
	struct chan c[2] = {POWER, POWER};
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	c[1].name = "slow";
	bench_open(&b, NULL, c, 2);
	for (int i = 0; i < 201; i++)
		bench_row(&b, i, (double[]){25, i % 5 ? MISSING : 25});
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	assert_true(ww_stat_at(s, 0)->coverage == 1 && ww_stat_at(s, 0)->gaps == 0);
	assert_true(ww_stat_at(s, 1)->coverage == 1 && ww_stat_at(s, 1)->gaps == 0);
	assert_int_equal(ww_stat_at(s, 1)->missing, 160);
	ww_stat_free(s);
	bench_end(&b, t);
}

/*
 * The recorder was stopped from 10 s to 16 s; then it read six readings at once, of
 * which each came some time since. The meter took them a second apart, and the load
 * was off in the middle of them.
 */
static void test_stall(void **state)
{
	const struct ww_channel_stat *m;
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	bench_open(&b, NULL, &POWER, 1);
	for (int i = 0; i <= 30; i++) {
		bool late = i > 10 && i <= 16;
		int64_t lo = BEGIN + (late ? 10 * S + S / 10 : i * S);
		int64_t hi = BEGIN + (late ? 16 * S : i * S);
		int64_t code = i >= 13 && i <= 14 ? 0 : 250;

		OK(ww_writer_samples(b.w, b.source, 1, &lo, &hi, &code, err));
	}
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	m = ww_stat_at(s, 0);
	assert_int_equal(m->gaps, 0);
	assert_true(m->coverage == 1);
	assert_true(fabs(m->energy_J.value - 25 * 28) < 1e-6);
	ww_stat_free(s);
	bench_end(&b, t);
}

/* No duration is better known than its ends: 0.6 s and 1.2 s wide, at 100 W and 50 W. */
static void test_wide_stamps(void **state)
{
	const struct ww_channel_stat *m;
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;

	(void)state;
	bench_open(&b, NULL, &POWER, 1);
	for (int i = 0; i <= 20; i++) {
		int64_t at = BEGIN + i * S, w = i == 0 ? 3 * S / 10 : i == 20 ? 4 * S / 10 : 0;
		int64_t lo = at - w, hi = at + w, code = i < 10 ? 1000 : 500;

		OK(ww_writer_samples(b.w, b.source, 1, &lo, &hi, &code, err));
	}
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	m = ww_stat_at(s, 0);
	assert_true(fabs(m->energy_J.u - hypot(60, 40) / sqrt(12)) < 0.1);
	ww_stat_free(s);
	s = stat_of(t, 2, 18);
	assert_true(ww_stat_at(s, 0)->energy_J.u < 1);
	ww_stat_free(s);
	bench_end(&b, t);
}

/* The least and the greatest are shown with the decimals of the display. */
static void test_decimals(void **state)
{
	static const double big = 9e15;
	struct chan c = POWER;
	struct bench b;
	struct ww_trace *t;
	struct ww_stat *s;
	char *text = NULL;

	(void)state;
	c.scale = c.resolution = 0.01;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i < 40; i++)
		bench_row(&b, i, (double[]){i ? 12345.6 : 12346});
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	OK(ww_stat_report(s, WW_REPORT_TEXT, &text, err));
	assert_non_null(strstr(text, " 12345.60  12346.00 "));
	ww_free(text);
	ww_stat_free(s);
	bench_end(&b, t);
	c.scale = c.resolution = 1;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i < 40; i++)
		bench_row(&b, i, &big);
	t = bench_read(&b);
	s = stat_of(t, 0, 0);
	assert_true(ww_stat_at(s, 0)->mean.u > 1);
	ww_stat_free(s);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_register),
					   cmocka_unit_test(test_register_phase),
					   cmocka_unit_test(test_register_stands_still),
					   cmocka_unit_test(test_flows_back),
					   cmocka_unit_test(test_turns),
					   cmocka_unit_test(test_told_reset),
					   cmocka_unit_test(test_spread_in_gaps),
					   cmocka_unit_test(test_half_is_missing),
					   cmocka_unit_test(test_rare_channel),
					   cmocka_unit_test(test_stall),
					   cmocka_unit_test(test_wide_stamps),
					   cmocka_unit_test(test_decimals)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
