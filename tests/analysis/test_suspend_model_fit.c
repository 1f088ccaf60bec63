/* SPDX-License-Identifier: MIT */
/* What the suspend model takes from a trace, and from a list of gaps. */
#include "stat_trace.h"

#include "analysis/suspend_model.h"

#define NEAR(a, b)     assert_true(fabs((a) - (b)) <= 1e-9 * fmax(1, fabs((double)(b))))
#define CLOSE(a, b, d) assert_true(fabs((a) - (b)) <= (d))

/* Power alone: a slow meter, dips of different lengths. */
static void test_fit(void **state)
{
	struct chan c = POWER;
	struct bench b;
	struct ww_trace *t;
	struct ww_suspend_fit f;
	double next = 20, state_t = 0, smooth = 2.75;
	int cycle = 0;

	(void)state;
	c.scale = c.resolution = 0.001;
	bench_open(&b, NULL, &c, 1);
	seed = 9;
	for (int i = 1; i <= 900; i++) {
		double sum = 0;

		/* 100 looks a second: 0.65 s at 3 W, then 1 W. */
		for (int k = 0; k < 100; k++) {
			double now = i - 1 + k / 100.0, length = 6 + 4 * (cycle % 5);
			double p = 2.75;

			if (now >= next && now < next + length) {
				state_t = now - next;
				p = state_t < 0.25 || state_t >= length - 0.4 ? 3.0 : 1.0;
			} else if (now >= next + length) {
				next += length + 20;
				cycle++;
			}
			/* and the meter filters over 2 s */
			smooth += (p - smooth) / 200;
			sum += smooth / 100;
		}
		bench_row(&b, i, (double[]){sum + 0.003 * normal()});
	}
	t = bench_read(&b);
	OK(ww_suspend_fit(t, NULL, NULL, &f, err));
	if (getenv("SHOW"))
		printf("%g+-%g %g+-%g %g+-%g n=%d\n", f.idle_watts.value, f.idle_watts.u,
		       f.suspended_watts.value, f.suspended_watts.u, f.transition_J.value,
		       f.transition_J.u, (int)f.cycles);
	assert_int_equal(f.from_beats, 0);
	assert_true(f.cycles >= 20);
	CLOSE(f.idle_watts.value, 2.75, 0.005);
	CLOSE(f.suspended_watts.value, 1.0, 0.02);
	/* Without their lengths transitions are not told from less of a dip. */
	assert_true(isnan(f.transition_J.value));
	assert_non_null(strstr(f.why, "latencies"));
	bench_end(&b, t);
}

static void test_gaps_text(void **state)
{
	static const struct {
		const char *text;
		int n;
		double first, last;
		const char *says;
	} row[] = {
		{"1\n2.5\n\n# note\n 3 s\n", 3, 1, 3, NULL},
		{"\xef\xbb\xbf"
		 "1,5\r\n2,25\r\n",
		 2, 1.5, 2.25, NULL},
		{"t_s,gap_ms\n0,1500\n9,250\n", 2, 1.5, 0.25, NULL},
		{"start;idle\n1;0,5\n2;0,75\n", 2, 0.5, 0.75, NULL},
		{"\"a\"\t\"Gap\"\n\"x\"\t\"4\"\n", 1, 4, 4, NULL},
		{"", 0, 0, 0, "no idle gap"},
		{"# only a note\n", 0, 0, 0, "no idle gap"},
		{"1\nabc\n", 0, 0, 0, "x:2:1: 'abc'"},
		{"1\n-2\n", 0, 0, 0, "x:2:1: '-2'"},
		{"1\n1e999\n", 0, 0, 0, "x:2:1:"},
		{"1;2;3\n", 0, 0, 0, "3 columns without a head"},
		{"a,b\n1,2\n", 0, 0, 0, "x:1:1: 'a,b'"},
		{"1 2 x\n", 0, 0, 0, "x:1:1: '1 2 x' is not an idle gap"},
		{"a,gap\n1\n", 0, 0, 0, "x:2:2:"},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_error e = {0};
		double *gap = NULL;
		int64_t n = ww_gaps_parse("x", row[i].text, strlen(row[i].text), &gap, &e);

		if (row[i].says) {
			assert_true(n < 0 && gap == NULL);
			if (!strstr(e.text, row[i].says))
				fail_msg("'%s' does not say '%s'", e.text, row[i].says);
			continue;
		}
		if (n != row[i].n)
			fail_msg("%zu: %d gaps: %s", i, (int)n, e.text);
		NEAR(gap[0], row[i].first);
		NEAR(gap[n - 1], row[i].last);
		ww_free(gap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_gaps_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
