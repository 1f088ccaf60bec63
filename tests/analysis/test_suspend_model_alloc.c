/* SPDX-License-Identifier: MIT */
/* Each allocation of the suspend model and of its fit fails once: said, nothing leaks. */
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
	static const char text[] = "0.5\n3\n0.1\n20\n1\n";
	struct ww_suspend_options o = {.size = sizeof(o), .gaps = WW_GAPS_RECORDED};
	struct ww_suspend_model *m = NULL;
	struct ww_suspend_fit f;
	double *gap = NULL;
	int64_t n = -1;
	const struct ww_suspend_options known = {.suspend_s.value = 0.5, .resume_s.value = 0.5};
	int rc = ww_suspend_fit(t, NULL, &known, &f, err);

	if (rc == 0)
		n = ww_gaps_parse("x", text, sizeof(text) - 1, &gap, err);
	if (n < 0)
		return rc < 0 ? rc : (int)n;
	o.idle_watts = f.idle_watts;
	o.suspended_watts = f.suspended_watts;
	o.resume_s.value = o.suspend_s.value = 0.5;
	o.gap = gap;
	o.n = (size_t)n;
	rc = ww_suspend_model_new(&o, &m, err);
	if (rc == 0)
		rc = ww_suspend_model_report(m, form, out, err);
	ww_suspend_model_free(m);
	ww_free(gap);
	return rc;
}

static void test_model(void **state)
{
	struct chan c = POWER;
	struct bench b;
	struct ww_trace *t;

	(void)state;
	bench_open(&b, NULL, &c, 1);
	for (int i = 0; i < 200; i++)
		bench_row(&b, i, (double[]){i % 40 < 20 + i / 40 ? 25 + i % 2 : 3});
	t = bench_read(&b);
	for (int form = WW_REPORT_TEXT; form <= WW_REPORT_JSON; form++)
		fail_each(t, whole, form, 20);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_model)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
