/* SPDX-License-Identifier: MIT */
/*
 * The whole of `pwrlog steps`: a million readings with changes, and a day without any. Time of
 * one processor, so that what else runs does not count.
 */
#include "../analysis/stat_trace.h"

#include <sys/resource.h>
#include <time.h>

#define MOST 1000000

/*
 * n readings of 20 W with normal noise of 0.3 W, 37 W more in every second stretch of `each`;
 * settle > 0: each stretch begins 20 W higher, which dies away in so many readings.
 */
static struct ww_trace *written(struct bench *b, int64_t n, int64_t period, int64_t each,
				double settle)
{
	struct ww_source_info info = {.kind = WW_METER, .name = "meter", .period_ns = period};
	static int64_t t[MOST], code[MOST];

	seed = 1;
	bench_open(b, &info, &POWER, 1);
	for (int64_t i = 0; i < n; i++) {
		t[i] = BEGIN + i * period;
		code[i] = llround(10 * (20 + (each && i / each % 2 ? 37 : 0) + 0.3 * normal() +
					(settle > 0 ? 20 * exp(-(double)(i % each) / settle) : 0)));
	}
	OK(ww_writer_samples(b->w, b->source, (size_t)n, t, t, code, err));
	return bench_read(b);
}

static double since(int64_t begin)
{
	return (double)(ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1e9;
}

static void whole(const char *what, int64_t n, int64_t period, int64_t each, double settle,
		  double bound)
{
	struct ww_steps *s = NULL;
	struct bench b;
	struct ww_trace *t = written(&b, n, period, each, settle);
	int64_t begin = ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	char *text, *svg;
	double found;
	struct rusage use;

	OK(ww_steps_new(t, NULL, &s, err));
	found = since(begin);
	OK(ww_steps_report(s, WW_REPORT_JSON, &text, err));
	OK(ww_steps_plot(s, WW_PLOT_SVG, &svg, err));
	getrusage(RUSAGE_SELF, &use);
	printf("steps of %s: %.3f s with report and picture (bound %.1f), %.3f s without; %zu "
	       "steps; "
	       "picture %zu kB; at most %ld MB\n",
	       what, since(begin), bound, found, ww_steps_count(s), strlen(svg) / 1000,
	       use.ru_maxrss / 1024);
	ww_free(text);
	ww_free(svg);
	ww_steps_free(s);
	bench_end(&b, t);
}

int main(void)
{
	whole("a day at 1 Hz without change", 86400, S, 0, 0, 0.1);
	whole("100 000 readings at 10 Hz, 20 levels", MOST / 10, S / 10, 5000, 0, 0.1);
	whole("1 000 000 readings at 10 Hz, 20 levels", MOST, S / 10, 50000, 0, 1);
	whole("1 000 000 readings at 10 Hz, 2000 levels", MOST, S / 10, 500, 0, 1);
	whole("1 000 000 readings at 1 Hz, 2500 levels that settle in 40 s", MOST, S, 400, 40, 1);
	whole("1 000 000 readings at 1 Hz, 500 levels that settle in 150 s", MOST, S, 2000, 150, 1);
	return 0;
}
