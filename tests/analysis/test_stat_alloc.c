/* SPDX-License-Identifier: MIT */
/* Each allocation of the analysis and of its report fails once: said, nothing leaks. */
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
	struct ww_stat_options o = {.size = sizeof(o), .from_ns = BEGIN + 5 * S};
	struct ww_stat *s = NULL;
	int rc = ww_stat_new(t, &o, &s, err);

	if (rc == 0)
		rc = ww_stat_report(s, form, out, err);
	ww_stat_free(s);
	return rc;
}

static void test_stat(void **state)
{
	struct chan c[2] = {POWER, ENERGY};
	struct bench b;
	struct ww_trace *t;

	(void)state;
	bench_open(&b, NULL, c, 2);
	for (int i = 0; i < 200; i++)
		if (i < 100 || i > 110)
			bench_row(&b, i, (double[]){25 + i % 3, i * 0.007});
	bench_gap(&b, 150.2, 150.4);
	t = bench_read(&b);
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++)
		fail_each(t, whole, form, 20);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stat)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
