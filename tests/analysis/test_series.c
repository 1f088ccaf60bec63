/* SPDX-License-Identifier: MIT */
/* A channel as arrays: the times are the meter's, holes are marked, codes are values. */
#include "analysis/series.h"
#include "stat_trace.h"

static struct ww_series read_all(struct ww_trace *t, const char *name)
{
	struct ww_series s;

	OK(ww_series_read(t, name, "power", 0, 0, &s, err));
	return s;
}

static void test_values_and_holes(void **state)
{
	struct bench b;
	struct ww_series s;
	struct ww_trace *t;

	(void)state;
	bench_open(&b, NULL, &POWER, 1);
	for (int i = 0; i < 60; i++)
		if (i < 20 || i > 25)
			bench_row(&b, i, (double[]){i == 40 ? MISSING : 119.1 + i % 2});
	bench_gap(&b, 30.2, 30.4);
	t = bench_read(&b);
	s = read_all(t, NULL);
	assert_string_equal(s.name, "meter.power");
	assert_int_equal(s.n, 53);
	assert_int_equal(s.missing, 1);
	assert_int_equal(s.holes, 2);
	assert_int_equal(s.hole[20], 1); /* six readings are missing */
	assert_int_equal(s.hole[25], 1); /* recorded, short as it is */
	assert_int_equal(s.hole[34], 0); /* a value that was not given leaves two periods */
	assert_true(s.v[0] == 119.1 && s.v[1] == 120.1);
	assert_true(fabs(s.period_s - 1) < 1e-6);
	assert_true(s.resolution == 0.1 && !s.resolution_seen);
	for (size_t i = 0; i < s.n; i++)
		assert_true(s.lo_ns[i] <= s.t_ns[i] && s.t_ns[i] <= s.hi_ns[i] &&
			    (i == 0 || s.t_ns[i - 1] <= s.t_ns[i]));
	ww_series_free(&s);
	bench_end(&b, t);
}

/* A reading that covers 1 s and arrives 0.3 to 0.5 s late was measured before. */
static void test_delay_and_window(void **state)
{
	struct ww_source_info info = {.kind = WW_METER,
				      .name = "meter",
				      .uri = "",
				      .driver = "",
				      .model = "",
				      .serial = "",
				      .firmware = "",
				      .role = "",
				      .notes = "",
				      .period_ns = S,
				      .window_ns = S,
				      .delay_min_ns = 3 * S / 10,
				      .delay_max_ns = 5 * S / 10,
				      .transport = {.name = "sim", .settings = ""}};
	struct bench b;
	struct ww_series s;
	struct ww_trace *t;

	(void)state;
	bench_open(&b, &info, &POWER, 1);
	for (int i = 0; i < 20; i++)
		bench_row(&b, i, (double[]){25});
	t = bench_read(&b);
	s = read_all(t, "meter");
	assert_int_equal(s.t_ns[0], BEGIN - 4 * S / 10);
	assert_int_equal(s.lo_ns[0], BEGIN - 15 * S / 10);
	assert_int_equal(s.hi_ns[0], BEGIN - 3 * S / 10);
	ww_series_free(&s);
	/* A window is of the time of the readings, not of their arrival. */
	OK(ww_series_read(t, NULL, "power", BEGIN + 5 * S, BEGIN + 8 * S, &s, err));
	assert_int_equal(s.n, 3);
	ww_series_free(&s);
	bench_end(&b, t);
}

static void test_names(void **state)
{
	struct chan c[2] = {POWER, POWER};
	struct ww_error e = {0};
	struct bench b;
	struct ww_series s;
	struct ww_trace *t;

	(void)state;
	c[1].name = "power2";
	bench_open(&b, NULL, c, 2);
	for (int i = 0; i < 20; i++)
		bench_row(&b, i, (double[]){25, 7});
	t = bench_read(&b);
	assert_int_equal(ww_series_read(t, NULL, "power", 0, 0, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "meter.power, meter.power2; name one"));
	ww_error_clear(&e);
	assert_int_equal(ww_series_read(t, "lamp", "power", 0, 0, &s, &e), -ENOENT);
	assert_non_null(strstr(e.text, "'lamp'"));
	ww_error_clear(&e);
	assert_int_equal(ww_series_read(t, NULL, "voltage", 0, 0, &s, &e), -ENODATA);
	s = read_all(t, "meter.power2");
	assert_true(s.v[3] == 7);
	ww_series_free(&s);
	s = read_all(t, "power");
	assert_true(s.v[3] == 25);
	ww_series_free(&s);
	bench_end(&b, t);
}

static void test_step_seen(void **state)
{
	double whole[200], tenth[200], none[200], odd[200], flat[200];

	(void)state;
	for (int i = 0; i < 200; i++) {
		whole[i] = 20 + i * 7 % 5;
		tenth[i] = (double)(200 + i * 7 % 13) / 10;
		none[i] = 20 + sin(i * 1.7) + 1e-3 * cos(i * 0.31);
		odd[i] = 3 + 2 * (i * 7 % 3) + 3 * (i % 2); /* differences of 2, 3, 5: steps of 1 */
		flat[i] = 79;
	}
	assert_true(fabs(ww_resolution_seen(whole, 200) - 1) < 1e-9);
	assert_true(fabs(ww_resolution_seen(tenth, 200) - 0.1) < 1e-9);
	assert_true(ww_resolution_seen(none, 200) == 0);
	assert_true(fabs(ww_resolution_seen(odd, 200) - 1) < 1e-9);
	assert_true(ww_resolution_seen(flat, 200) == 0);
	whole[77] = 21.3337; /* one that is misread is not the step */
	assert_true(fabs(ww_resolution_seen(whole, 200) - 1) < 1e-9);
}

/* What there is instead, and what to do. */
static void test_no_power(void **state)
{
	static const struct {
		struct chan c[2];
		size_t n;
		const char *end;
	} cases[] = {
		{{{"energy", "energy", "Wh", WW_COUNTER, 0.1, 0.1, 0, 0, 0}},
		 1,
		 "; there is meter.energy (Wh); of a register of energy, 'pwrlog stat' tells "
		 "energy and mean power"},
		{{{"voltage", "voltage", "V", WW_INSTANT, 0.1, 0.1, 0, 0, 0},
		  {"current", "current", "A", WW_INSTANT, 0.1, 0.1, 0, 0, 0}},
		 2,
		 "; there are meter.voltage (V), meter.current (A); volts times amperes are watts "
		 "for direct current only: record watts"},
		{{{"va", "apparent_power", "VA", WW_INSTANT, 0.1, 0.1, 0, 0, 0}},
		 1,
		 "; there is meter.va (VA); volt-amperes are no watts: record the meter's watts"},
		{{{"current", "current", "A", WW_INSTANT, 0.1, 0.1, 0, 0, 0}},
		 1,
		 "; there is meter.current (A); of direct current alone, give its volts (--columns "
		 "ms,uA@3.3V)"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ww_error why = {0};
		struct ww_series s;
		struct ww_trace *t;
		struct bench b;
		const char *from;

		bench_open(&b, NULL, cases[i].c, cases[i].n);
		for (int k = 0; k < 4; k++)
			bench_row(&b, k, (double[]){k, k});
		t = bench_read(&b);
		assert_int_equal(ww_series_read(t, NULL, "power", 0, 0, &s, &why), -ENODATA);
		from = strstr(why.text, "this trace");
		assert_non_null(from);
		assert_string_equal(from + strlen("this trace"), cases[i].end);
		bench_end(&b, t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_and_holes),
					   cmocka_unit_test(test_delay_and_window),
					   cmocka_unit_test(test_names),
					   cmocka_unit_test(test_no_power),
					   cmocka_unit_test(test_step_seen)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
