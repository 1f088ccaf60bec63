/* SPDX-License-Identifier: MIT */
/* The DUT's clock: vector S16 as points, and as stamped beats through everything. */
#include "dutsim.h"
#include "analysis/resume.h"

#include <math.h>
#include <setjmp.h>
#include <cmocka.h>

#define POINTS 1000

struct point {
	int segment;
	uint32_t seq;
	double dut, host;
};

/* S16_clock_expected.json */
static const double slept_dut[] = {0, 5.0, 17.25, 60.5};
static const double slept_true[] = {0, 5.000210000000001, 17.2507245, 60.50254100000001};
#define TRUE_PPM 42.0
#define LP_PPM	 43.17626656302753

static size_t read_vector(struct point *p)
{
	FILE *f = fopen("tests/data/S16_clock.csv", "r");
	char line[128];
	size_t n = 0;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (n < POINTS && fgets(line, sizeof(line), f) &&
	       sscanf(line, "%d,%u,%lf,%lf", &p[n].segment, &p[n].seq, &p[n].dut, &p[n].host) == 4)
		n++;
	fclose(f);
	assert_int_equal(n, 600);
	return n;
}

static void close_to(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.9f is not %.9f", got, want);
}

static void points(void **state)
{
	static struct point p[POINTS];
	size_t n = read_vector(p);
	struct ww_skew k = {0};
	double alpha;

	(void)state;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ww_skew_point(&k, i && p[i].segment != p[i - 1].segment, false,
					       llround(p[i].dut * 1e6), 0, llround(p[i].host * 1e9),
					       NULL),
				 0);
	assert_int_equal(k.n, 4);
	alpha = ww_skew_fit(&k) * 1e6;
	/* As good as the linear programme: its error is 1.2 ppm, least squares' 18. */
	close_to(alpha, LP_PPM, .5);
	assert_true(fabs(alpha - TRUE_PPM) <= LP_PPM - TRUE_PPM + .1);
	for (size_t i = 1; i < 4; i++)
		close_to(ww_skew_slept(&k, alpha / 1e6, i) / 1e9, slept_true[i], 25e-6);
	assert_true(isnan(ww_skew_slept(&k, alpha / 1e6, 0)));
	ww_skew_free(&k);
}

/* Number after "key": in JSON text, from *at on. */
static double number_after(const char **at, const char *key)
{
	*at = strstr(*at, key);
	assert_non_null(*at);
	*at += strlen(key);
	return strtod(*at, NULL);
}

static void through_the_trace(void **state)
{
	static struct point p[POINTS];
	size_t n = read_vector(p);
	struct sim_trace tr;
	struct ww_trace *t;
	struct ww_resume *r;
	struct ww_error err = {0};
	const char *at;
	char *json;
	double off = 0, ppm, u;

	(void)state;
	sim_open(&tr);
	for (size_t i = 0; i < n; i++) {
		int64_t rx = llround(p[i].host * 1e9);
		char b[WW_BEAT_LEN] = {'!'};

		if (i && p[i].segment != p[i - 1].segment)
			off += slept_dut[p[i].segment];
		sim_digits(b + 1, 4, p[i].seq & 0xffffff);
		sim_digits(b + 5, 8, (uint64_t)llround(p[i].dut * 1e6));
		sim_digits(b + 13, 7, (uint64_t)llround(off * 1e6));
		sim_digits(b + 20, 2, ww_beat_check(b + 1, 19));
		b[22] = '\n';
		assert_int_equal(ww_writer_bytes(tr.w, tr.port, (struct ww_interval){rx, rx},
						 (uint8_t *)b, sizeof(b), NULL),
				 0);
	}
	sim_close(&tr);
	assert_int_equal(ww_trace_open(tr.path, &t, &err), 0);
	assert_int_equal(ww_resume_new(t, NULL, &r, &err), 0);
	assert_int_equal(ww_resume_count(r), 3);
	assert_int_equal(ww_resume_report(r, WW_REPORT_JSON, &json, &err), 0);
	for (size_t i = 0; i < 3; i++) {
		struct ww_interval d = ww_resume_at(r, i)->latency[WW_LAT_DUT_ASLEEP];

		assert_true((double)d.lo_ns <= slept_dut[i + 1] * 1e9);
		assert_true((double)d.hi_ns >= slept_dut[i + 1] * 1e9);
	}
	at = strstr(json, "\"clock\":");
	assert_non_null(at);
	ppm = number_after(&at, "\"skew_ppm\":{\"value\":");
	close_to(ppm, LP_PPM, .6);
	u = number_after(&at, "\"u\":");
	assert_true(u > .1 && fabs(ppm - TRUE_PPM) < 2 * u);
	for (size_t i = 1; i < 4; i++) {
		close_to(number_after(&at, "\"bench_s\":"), slept_true[i], 26e-6);
		close_to(number_after(&at, "\"dut_s\":"), slept_dut[i], 0);
	}
	ww_free(json);
	ww_resume_free(r);
	ww_trace_close(t);
	unlink(tr.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points),
		cmocka_unit_test(through_the_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
