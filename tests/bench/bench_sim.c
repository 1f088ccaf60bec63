/* SPDX-License-Identifier: MIT */
/* What the simulator itself costs, so that a recorder's cost can be told from it. */
#include "source/source.h"

#include <poll.h>
#include <stdio.h>
#include <time.h>

struct count {
	uint64_t rows;
	int64_t sum;
};

static int describe(void *ctx, const struct ww_source_info *info,
		    const struct ww_channel_info *channels, size_t n, struct ww_error *err)
{
	(void)ctx;
	(void)info;
	(void)channels;
	(void)n;
	(void)err;
	return 0;
}

static void samples(void *ctx, size_t n, const int64_t *lo, const int64_t *hi, const int64_t *codes)
{
	struct count *c = ctx;

	(void)lo;
	c->rows += n;
	c->sum += codes[0] + hi[n - 1];
}

static void lost(void *ctx, const struct ww_error *why)
{
	(void)ctx;
	(void)why;
}

int main(void)
{
	struct count c = {0};
	struct ww_error err = {0};
	struct ww_source_setup setup = {
		.sink = {.ctx = &c, .describe = describe, .samples = samples, .lost = lost},
		.uri = "sim:?channels=codes&rate=100000"};
	struct ww_source *src;
	int64_t begun, cpu;

	if (ww_loop_new(NULL, &setup.loop, &err) < 0 || ww_source_open(&setup, &src, &err) < 0 ||
	    src->ops->start(src, &err) < 0) {
		fprintf(stderr, "bench_sim: %s\n", err.text);
		return 1;
	}
	begun = ww_clock_now_ns();
	cpu = ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	while (ww_clock_now_ns() - begun < 5 * WW_NS_PER_S) {
		struct pollfd f = {.fd = ww_loop_fd(setup.loop), .events = POLLIN};

		poll(&f, 1, 100);
		ww_loop_dispatch(setup.loop, NULL);
	}
	cpu = ww_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	printf("sim: %llu rows of 2 channels in 5 s, %.2f %% of a core, %.0f ns a row\n",
	       (unsigned long long)c.rows, (double)cpu / 5e7, (double)cpu / (double)c.rows);
	src->ops->close(src);
	ww_loop_free(setup.loop);
	return c.rows > 499000 ? 0 : 1;
}
