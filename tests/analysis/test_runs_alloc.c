/* SPDX-License-Identifier: MIT */
/* Each allocation of the analysis, its report and the parser of work fails once. */
#include "runs_trace.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../failalloc.h"
#include "../eachalloc.h"

static int whole(struct ww_trace *t, int form, char **out, struct ww_error *err)
{
	struct ww_runs *r = NULL;
	int rc = ww_runs_new(t, NULL, &r, err);

	if (rc == 0)
		rc = ww_runs_report(r, form, out, err);
	ww_runs_free(r);
	return rc;
}

static void a_trace(struct bench *b)
{
	bench_open(b, NULL, &FINE, 1);
	for (int i = 0; i <= 60; i++)
		bench_row(b, i, (double[]){i > 10 && i < 30 ? 35 : 25});
	base(b, 2, 10);
	a_run(b, 1, 10.5, 14, "variant=A round=1 command=x", "exit=0 cpu_s=1");
	mark(b, 14.5, WW_MARK_RUN_WORK, "run=1 rate=1e6 u=10 unit=B");
	a_run(b, 2, 20, 29, "variant=B round=1 command=y", "exit=1");
	base(b, 31, 40);
	a_run(b, 3, 42, 55, "variant=A round=2 command=x", "signal=9");
	mark(b, 55.5, WW_MARK_RUN_WORK, "run=3 why=nothing");
}

static void report(void **state)
{
	struct bench b;
	struct ww_trace *t;

	(void)state;
	a_trace(&b);
	t = bench_read(&b);
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++)
		fail_each(t, whole, form, 50);
	bench_end(&b, t);
}

static void parser(void **state)
{
	struct ww_error e = {0};
	struct ww_work *w;

	(void)state;
	left = 0;
	assert_int_equal(ww_work_new("dd", &w, &e), -ENOMEM);
	left = -1;
	assert_true(e.text[0] && !w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(report), cmocka_unit_test(parser)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
