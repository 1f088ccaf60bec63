/* SPDX-License-Identifier: MIT */
/* A minute of two channels at 100 000 a second: time of the report, and of reading alone. */
#include "../analysis/stat_trace.h"

#include <sys/resource.h>
#include <time.h>

#define BLOCKS 6000
#define ROWS   1000

static void write_trace(struct bench *b)
{
	static const struct ww_source_info fast = {.kind = WW_METER,
						   .name = "fast",
						   .period_ns = 10000};
	struct chan c[2] = {{"voltage", "voltage", "V", WW_INSTANT, 1e-4, 1e-4, 0, 0, 0}, POWER};
	static int64_t t[ROWS], code[2 * ROWS];

	seed = 1;
	bench_open(b, &fast, c, 2);
	for (int64_t i = 0; i < BLOCKS; i++) {
		for (int64_t k = 0; k < ROWS; k++) {
			t[k] = BEGIN + (i * ROWS + k) * 10000;
			code[2 * k] = 50000 + llround(4 * normal());
			code[2 * k + 1] = 25000 + llround(4 * normal());
		}
		OK(ww_writer_samples(b->w, b->source, ROWS, t, t, code, err));
	}
}

static double reading(struct ww_trace *t, uint32_t source)
{
	int64_t begin = ww_clock_ns(CLOCK_MONOTONIC);
	struct ww_cursor *c = NULL;
	struct ww_batch batch;

	OK(ww_cursor_open(t, source, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
	while (ww_cursor_next(c, &batch, NULL) > 0)
		;
	ww_cursor_close(c);
	return (double)(ww_clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
}

int main(void)
{
	struct ww_stat *s = NULL;
	struct ww_trace *t;
	struct rusage use;
	struct bench b;
	double alone, took;
	int64_t begin;

	write_trace(&b);
	t = bench_read(&b);
	alone = reading(t, b.source);
	begin = ww_clock_ns(CLOCK_MONOTONIC);
	OK(ww_stat_new(t, NULL, &s, err));
	took = (double)(ww_clock_ns(CLOCK_MONOTONIC) - begin) / 1e9;
	getrusage(RUSAGE_SELF, &use);
	printf("stat of %d rows of 2 channels: %.3f s (bound 0.3), of which reading %.3f s; "
	       "largest memory %ld MB\n",
	       BLOCKS * ROWS, took, alone, use.ru_maxrss / 1024);
	ww_stat_free(s);
	bench_end(&b, t);
	return took < 0.3 ? 0 : 1;
}
