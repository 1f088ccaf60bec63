/* SPDX-License-Identifier: MIT */
/* Each allocation of the steps, their report and their picture fails once: said, nothing leaks. */
#include "base/base.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../analysis/stat_trace.h"
#include "../failalloc.h"
#include "../eachalloc.h"

enum { TEXT, JSON, SVG, HTML, FORMS };

static int whole(struct ww_trace *t, int form, char **out, struct ww_error *err)
{
	struct ww_steps *s = NULL;
	int rc = ww_steps_new(t, NULL, &s, err);

	if (rc == 0 && form <= JSON)
		rc = ww_steps_report(s, form == TEXT ? WW_REPORT_TEXT : WW_REPORT_JSON, out, err);
	else if (rc == 0)
		rc = ww_steps_plot(s, form == SVG ? WW_PLOT_SVG : WW_PLOT_HTML, out, err);
	ww_steps_free(s);
	return rc;
}

static void test_steps(void **state)
{
	struct bench b;
	struct ww_trace *t;

	(void)state;
	seed = 1;
	bench_open(&b, NULL, &POWER, 1);
	for (int i = 0; i < 1000; i++) {
		double v = 10 + (i % 150 >= 100 ? 25 : 0) + (i > 700 ? 0.002 * i : 0);

		if (i < 400 || i > 410)
			bench_row(&b, i, (double[]){v + 0.1 * normal()});
		if (i % 150 == 98) {
			struct ww_mark m = {.t = {BEGIN + i * S, BEGIN + i * S},
					    .kind = "label",
					    .text = i < 500 ? "lamp" : "<lamp>"};

			OK(ww_writer_mark(b.w, &m, err));
		}
	}
	t = bench_read(&b);
	for (int form = 0; form < FORMS; form++)
		fail_each(t, whole, form, 40);
	bench_end(&b, t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
