/* SPDX-License-Identifier: MIT */
/* Each allocation of the standby analysis and of its report fails once: said, nothing leaks. */
#include "stat_trace.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "../eachalloc.h"

static int whole(struct ww_trace *t, int form, char **out, struct ww_error *err)
{
	struct ww_standby_options o = {.size = sizeof(o),
				       .limit_watts = 1,
				       .ambient_degC = 22,
				       .crest = 4};
	struct ww_standby *s = NULL;
	int rc = ww_standby_new(t, &o, &s, err);

	if (rc == 0)
		rc = ww_standby_report(s, form, out, err);
	ww_standby_free(s);
	return rc;
}

static void test_standby(void **state)
{
	static const struct chan c[] = {{"power", "power", "W", WW_AVERAGE, 0.001, 0.001, 0.002,
					 0.001, 0},
					{"voltage", "voltage", "V", WW_AVERAGE, 0.1, 0.1, 0, 0, 0},
					{"power_factor", "power_factor", "1", WW_AVERAGE, 0.01,
					 0.01, 0, 0, 0}};
	struct bench b;
	struct ww_trace *t;

	(void)state;
	bench_open(&b, NULL, c, 3);
	OK(ww_writer_meta(b.w, "dut.kernel", "6.1", err));
	seed = 1;
	for (int i = 0; i < 960; i++)
		bench_row(&b, i, (double[]){0.8 + 0.002 * normal(), 230, 0.4});
	t = bench_read(&b);
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++)
		fail_each(t, whole, form, 20);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_standby)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
