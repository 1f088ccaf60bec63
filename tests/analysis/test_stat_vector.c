/* SPDX-License-Identifier: MIT */
/* ww_stat on a seeded vector with a fifth of its readings lost; its report to the byte. */
#include "stat_trace.h"

#define PM "\xc2\xb1"

/* Five loads switched on one after the other, the third inside a hole of 91 s. */
static const struct {
	double t, watts;
} truth[] = {{0, 1}, {100, 4.2}, {250, 10.6}, {400, 19.6}, {550, 34.2}, {700, 57}, {849, 57}};

static double true_joules(double from, double to)
{
	double e = 0;

	for (size_t i = 0; i + 1 < WW_COUNTOF(truth); i++) {
		double a = fmax(from, truth[i].t), b = fmin(to, truth[i + 1].t);

		if (b > a)
			e += (b - a) * truth[i].watts;
	}
	return e;
}

static struct ww_trace *read_vector(struct bench *b, double *t, double *w, size_t most, size_t *n)
{
	FILE *f = fopen("tests/data/S09_gaps.csv", "r");
	struct chan c = POWER;
	char line[64];

	assert_non_null(f);
	c.semantics = WW_INSTANT;
	bench_open(b, NULL, &c, 1);
	for (*n = 0; fgets(line, sizeof(line), f) && *n < most;) {
		char *comma = strchr(line, ',');

		if (!comma || line[0] < '0' || line[0] > '9')
			continue;
		t[*n] = strtod(line, NULL);
		w[*n] = strtod(comma + 1, NULL);
		bench_row(b, t[*n], w + *n);
		++*n;
	}
	fclose(f);
	return bench_read(b);
}

static void test_gaps_vector(void **state)
{
	static const double window[][2] = {{0, 0},     {10, 90},   {120, 340},
					   {300, 500}, {370, 430}, {560.5, 690.25}};
	double t[1000], w[1000], holes = 0, thin = 0;
	const struct ww_channel_stat *m;
	struct ww_stat *s = NULL;
	struct ww_trace *tr;
	struct bench b;
	size_t n, gaps = 0;

	(void)state;
	tr = read_vector(&b, t, w, 1000, &n);
	assert_int_equal(n, 669);
	for (size_t i = 1; i < n; i++) {
		gaps += t[i] - t[i - 1] > 2.5;
		holes += t[i] - t[i - 1] > 2.5 ? t[i] - t[i - 1] : 0;
		thin += t[i] - t[i - 1] > 1.5 && t[i] - t[i - 1] < 2.5 ? t[i] - t[i - 1] - 1 : 0;
	}
	for (size_t k = 0; k < WW_COUNTOF(window); k++) {
		struct ww_stat_options o = {.size = sizeof(o)};
		double from = k ? window[k][0] : 0, to = k ? window[k][1] : 849;

		o.from_ns = k ? BEGIN + (int64_t)(from * 1e9) : 0;
		o.to_ns = k ? BEGIN + (int64_t)(to * 1e9) : 0;
		OK(ww_stat_new(tr, &o, &s, err));
		m = ww_stat_at(s, 0);
		assert_true(fabs(m->duration_s - (to - from)) < 1e-9);
		assert_true(fabs(m->energy_J.value - true_joules(from, to)) <= 2.5 * m->energy_J.u);
		if (k == 0) {
			assert_int_equal(m->gaps, gaps);
			assert_true(m->gap_s == holes);
			assert_true(fabs(m->coverage - (1 - (holes + thin) / 849)) < 1e-12);
			/* The hole with the step in it is most of what is uncertain. */
			assert_true(fabs(m->energy_J.u / (91 * 8.9 / sqrt(12)) - 1) < 0.05);
		}
		ww_stat_free(s);
	}
	bench_end(&b, tr);
}

static void expect(const struct ww_stat *s, int form, const char *want)
{
	char *text = NULL;

	OK(ww_stat_report(s, form, &text, err));
	assert_string_equal(text, want);
	ww_free(text);
}

/* Every sign of both reports; the zone is the trace's. */
static void test_report(void **state)
{
	static const struct chan c[] = {{"power", "power", "W", WW_AVERAGE, 0.1, 0.1, 0.3, 0.01, 0},
					{"pf", "power_factor", "1", WW_AVERAGE, 0.01, 0.01, 0, 0,
					 0},
					{"energy", "energy", "Wh", WW_COUNTER, 0.1, 0.1, -1, -1,
					 0}};
	struct ww_stat *s = NULL;
	struct ww_trace *t;
	struct bench b;

	(void)state;
	setenv("TZ", "Asia/Tokyo", 1);
	bench_open(&b, NULL, c, 3);
	OK(ww_writer_meta(b.w, "bench.timezone", "Europe/Berlin", err));
	OK(ww_writer_meta(b.w, "bench.utc_offset_s", "3600", err));
	for (int i = 0; i < 10; i++)
		bench_row(&b, i < 8 ? i : i + 10,
			  (double[]){i < 8 ? 24.9 : 25.1, i == 3 ? MISSING : 0.61, i * 0.05});
	t = bench_read(&b);
	OK(ww_stat_new(t, NULL, &s, err));
	expect(s, WW_REPORT_TEXT,
	       "start 2026-11-30T14:16:51.000+01:00 (Europe/Berlin)\n"
	       "from 0.000 s to 19.00 s after the first record\n"
	       "\n"
	       "channel                  mean   min   max          values     time  coverage       "
	       "  gaps\n"
	       "meter.power    24.97 " PM
	       " 0.46 W  24.9  25.1              10  19.00 s    42.1 %  1 (11.00 s)\n"
	       "meter.pf      0.6100 " PM
	       " 0.0063  0.61  0.61  9 (+1 missing)  19.00 s    36.8 %  1 (11.00 s)\n"
	       "meter.energy                    0.0   0.5              10  19.00 s\n"
	       "\n"
	       "energy                                               own register     z\n"
	       "meter.power   474.4 " PM " 8.7 J  0.1318 " PM " 0.0024 Wh  0.500 " PM
	       " 0.082 Wh  -7.7\n"
	       "meter.energy   1800 " PM " 290 J    0.500 " PM " 0.082 Wh\n" PM
	       " is k = 2, about 95 %\n"
	       "\n"
	       "- meter.power: each value is the mean since the one before: integrated backwards\n"
	       "- meter: 1 gap (recorded as such, or longer than 2.50 s), 11.0 s in all: taken\n"
	       "  as the mean of the values on both sides, uncertain by their difference or by\n"
	       "  the spread of the readings there, whichever is more\n"
	       "- meter.power: where both were read, gaps and resets left out, the meter's own\n"
	       "  register counted 0.5 Wh and the integral is 0.0554 Wh: the register DISAGREES\n"
	       "  with the integral (z = -7.7)\n"
	       "- meter: fewer than 16 readings: their noise is taken for uncorrelated, and u is\n"
	       "  widened by Student's factor\n"
	       "- meter.pf: readings are missing one by one, about 1 where one is due every 1.00\n"
	       "  s: the 1.00 s they stood for are not covered\n"
	       "- the accuracy of the meter is unknown and not in u: add the maker's figure\n"
	       "  (meter.pf)\n"
	       "- watts, volt-amperes and power factor are each as the meter gave them; none is\n"
	       "  derived from the others\n");
	expect(s, WW_REPORT_JSON,
	       "{\"schema\":\"wakewatt/stat/1\",\"start\":\"2026-11-30T14:16:51.000+01:00\","
	       "\"timezone\":\"Europe/Berlin\",\"from_s\":0,\"to_s\":19,"
	       "\"channels\":[{\"name\":\"meter.power\",\"quantity\":\"power\",\"unit\":\"W\","
	       "\"semantics\":\"average\",\"n\":10,\"missing\":0,\"duration_s\":19,"
	       "\"mean\":{\"value\":24.9684,\"u\":0.2299},\"min\":24.9,\"max\":25.1,\"resolution\":"
	       "0.1,"
	       "\"energy_J\":{\"value\":474.400,\"u\":4.368},\"coverage\":0.421053,\"gaps\":1,"
	       "\"gap_s\":11,\"register_J\":{\"value\":1800.00,\"u\":146.97},\"register_z\":-7.701,"
	       "\"register_resets\":0,\"accuracy_known\":true},{\"name\":\"meter.pf\","
	       "\"quantity\":\"power_factor\",\"unit\":\"1\",\"semantics\":\"average\",\"n\":9,"
	       "\"missing\":1,"
	       "\"duration_s\":19,\"mean\":{\"value\":0.610000,\"u\":0.003130},\"min\":0.61,"
	       "\"max\":0.61,"
	       "\"resolution\":0.01,\"coverage\":0.368421,\"gaps\":1,\"gap_s\":11,"
	       "\"accuracy_known\":false},{\"name\":\"meter.energy\",\"quantity\":\"energy\","
	       "\"unit\":\"Wh\",\"semantics\":\"counter\",\"n\":10,\"missing\":0,\"duration_s\":19,"
	       "\"mean\":{\"value\":null,\"u\":null,\"why\":\"a register has no "
	       "mean\"},\"min\":0.0,"
	       "\"max\":0.5,\"resolution\":0.1,\"energy_J\":{\"value\":1800.00,\"u\":146.97},"
	       "\"coverage\":1.000000,\"gaps\":0,\"gap_s\":0,\"register_resets\":0,"
	       "\"accuracy_known\":true}],\"notes\":[\"meter.power: each value is the mean since "
	       "the one before: integrated backwards\",\"meter: 1 gap (recorded as such, or "
	       "longer than 2.50 s), 11.0 s in all: taken as the mean of the values on both "
	       "sides, uncertain by their difference or by the spread of the readings there, "
	       "whichever is more\",\"meter.power: where both were read, gaps and resets left "
	       "out, the meter's own register counted 0.5 Wh and the integral is 0.0554 Wh: "
	       "the register DISAGREES with the integral (z = -7.7)\",\"meter: fewer than 16 "
	       "readings: their noise is taken for uncorrelated, and u is widened by "
	       "Student's factor\",\"meter.pf: readings are missing one by one, about 1 where "
	       "one is due every 1.00 s: the 1.00 s they stood for are not covered\",\"the "
	       "accuracy of the meter is unknown and not in u: add the maker's figure "
	       "(meter.pf)\",\"watts, volt-amperes and power factor are each as the meter gave "
	       "them; none is derived from the others\"]}\n");
	ww_stat_free(s);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_gaps_vector),
					   cmocka_unit_test(test_report)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
