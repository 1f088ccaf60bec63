/* SPDX-License-Identifier: MIT */
/* The report on runs, to the letter. */
#include "../analysis/runs_trace.h"

static struct ww_trace *a_trace(struct bench *b)
{
	static const struct chan tenths = {"power", "power", "W", WW_AVERAGE, 0.1, 0.1, -1, -1, 0};

	bench_open(b, NULL, &tenths, 1);
	for (int i = 0; i <= 60; i++)
		bench_row(b, i, (double[]){i > 10 && i <= 20 ? 35 : i > 30 && i <= 40 ? 45 : 25});
	base(b, 2, 10);
	a_run(b, 1, 10, 20, "variant=level=1 round=1 command=gzip -1 big", "exit=0 cpu_s=9.5");
	mark(b, 20.5, WW_MARK_RUN_WORK, "run=1 amount=2e9 u=0 unit=B");
	base(b, 22, 30);
	a_run(b, 2, 30, 40, "variant=level=9 round=1 command=gzip -9 big", "exit=2");
	mark(b, 40.5, WW_MARK_RUN_WORK, "run=2 why=no%20line");
	base(b, 42, 60);
	return bench_read(b);
}

static char *report(struct ww_trace *t, int form)
{
	struct ww_runs *r = NULL;
	char *text = NULL;

	OK(ww_runs_new(t, NULL, &r, err));
	OK(ww_runs_report(r, form, &text, err));
	ww_runs_free(r);
	return text;
}

static void as_text(void **state)
{
	static const char want[] =
		"start 2026-11-30T13:16:51.000+00:00 (UTC)\n"
		"level=1: gzip -1 big\n"
		"level=9: gzip -9 big\n"
		"\n"
		"run  variant  exit     time           energy   above baseline    peak\n"
		"  1  level=1     0  10.00 s  350.00 \xc2\xb1 0.75 J  100.00 \xc2\xb1 0.92 J  35.0 "
		"W\n"
		" 2*  level=9     2  10.00 s  450.00 \xc2\xb1 0.74 J  200.00 \xc2\xb1 0.90 J  45.0 "
		"W\n"
		"\n"
		"mean of       n      time           energy   above baseline\n"
		"level=1       1  10.000 s  350.00 \xc2\xb1 0.75 J  100.00 \xc2\xb1 0.92 J\n"
		"level=9  0 of 1\n"
		"\n"
		"mean of             power    peak  work\n"
		"level=1  35.000 \xc2\xb1 0.075 W  35.0 W  2 GB\n"
		"\n"
		"per unit          time              energy     above baseline\n"
		"level=1   5.00000 ns/B  175.00 \xc2\xb1 0.37 nJ/B  50.00 \xc2\xb1 0.46 nJ/B\n"
		"\xc2\xb1 is k = 2, about 95 %\n"
		"\n"
		"- run 2: failed with exit status 2: does not count\n"
		"- 1 run failed: in no mean\n"
		"- run 2: no amount of work: no line\n";
	struct bench b;
	struct ww_trace *t = a_trace(&b);
	char *text = report(t, WW_REPORT_TEXT);

	(void)state;
	assert_string_equal(text, want);
	ww_free(text);
	bench_end(&b, t);
}

static void as_json(void **state)
{
	static const char *const parts[] = {
		"{\"schema\":\"wakewatt/run/1\",\"start\":\"2026-11-30T13:16:51.000+00:00\"",
		"\"meter\":{\"channel\":\"meter.power\",\"semantics\":\"average\",\"period_s\":1,",
		"\"run\":1,\"round\":1,\"variant\":\"level=1\",\"command\":\"gzip -1 big\",",
		"\"used\":true,\"exit\":0,\"start_s\":[10,10],\"end_s\":[20,20],",
		"\"cpu_s\":9.5,\"energy_J\":{\"value\":350.000",
		"\"work\":{\"value\":2000000000,\"u\":0,\"unit\":\"B\"}",
		"\"exit\":2,",
		"\"work\":null,\"work_why\":\"no line\",\"why\":\"failed with exit status 2: does "
		"not "
		"count\"}",
		"\"energy_J\":{\"value\":null,\"u\":null,\"why\":\"no run counts\"}",
		"\"notes\":["};
	struct bench b;
	struct ww_trace *t = a_trace(&b);
	char *text = report(t, WW_REPORT_JSON), *at = text;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(parts); i++) {
		at = strstr(at, parts[i]);
		if (!at)
			fail_msg("no %s in its place in\n%s", parts[i], text);
	}
	ww_free(text);
	bench_end(&b, t);
}

static void unknown_form(void **state)
{
	struct ww_error e = {0};
	struct ww_runs *r = NULL;
	struct bench b;
	struct ww_trace *t = a_trace(&b);
	char *text = NULL;

	(void)state;
	OK(ww_runs_new(t, NULL, &r, err));
	assert_int_equal(ww_runs_report(r, 7, &text, &e), -EINVAL);
	assert_non_null(strstr(e.text, "form 7"));
	ww_runs_free(r);
	bench_end(&b, t);
}

/* Two runs whose work differs: the prefix fits what stands behind the sign, too. */
static void prefixes(void **state)
{
	static const struct chan tenths = {"power", "power", "W", WW_AVERAGE, 0.1, 0.1, -1, -1, 0};
	struct ww_trace *t;
	struct bench b;
	char *text;

	(void)state;
	bench_open(&b, NULL, &tenths, 1);
	for (int i = 0; i <= 40; i++)
		bench_row(&b, i, (double[]){25});
	a_run(&b, 1, 5, 15, "variant= round=1 command=x", "exit=0");
	mark(&b, 15.5, WW_MARK_RUN_WORK, "run=1 amount=9.917e9 u=0 unit=B");
	a_run(&b, 2, 25, 35, "variant= round=2 command=x", "exit=0");
	mark(&b, 35.5, WW_MARK_RUN_WORK, "run=2 amount=12.305e9 u=0 unit=B");
	t = bench_read(&b);
	text = report(t, WW_REPORT_TEXT);
	if (!strstr(text, "0.9 \xc2\xb1 1.4 ns/B"))
		fail_msg("%s", text);
	free(text);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_text),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(as_json),
		cmocka_unit_test(unknown_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
