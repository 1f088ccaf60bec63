/* SPDX-License-Identifier: MIT */
/*
 * Record a meter for a while and print its mean power with its standard uncertainty:
 *
 *   mean METER TRACE [SECONDS]
 *   mean wattsup:/dev/ttyUSB0 desk.wwt 60
 *   mean 'sim:?watts=25&noise=0.2' sim.wwt 2
 *
 * cc mean.c -o mean $(pkg-config --cflags --libs wakewatt)
 */
#include <wakewatt.h>

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

/* The loop is ours: wait for the recorder's descriptor, and let it do what is due. */
static int record(const char *meter, const char *path, double seconds, struct ww_error *err)
{
	struct ww_recorder_options opt = {.size = sizeof(opt), .path = path, .program = "mean"};
	int64_t end = ww_clock_now_ns() + (int64_t)(seconds * 1e9);
	struct ww_recorder *r;
	int rc = ww_recorder_new(&opt, &r, err);

	if (rc < 0)
		return rc;
	rc = ww_recorder_add(r, meter, "meter", err);
	if (rc >= 0)
		rc = ww_recorder_start(r, err);
	if (rc >= 0)
		rc = 1;
	while (rc == 1 && ww_clock_now_ns() < end) {
		struct pollfd p = {.fd = ww_recorder_fd(r), .events = POLLIN};

		poll(&p, 1, 100);
		rc = ww_recorder_dispatch(r, err);
	}
	/* The first error wins, so stopping after one does not hide it. */
	if (ww_recorder_stop(r, err) < 0 && rc >= 0)
		rc = -1;
	ww_recorder_free(r);
	return rc < 0 ? rc : 0;
}

static void print(const struct ww_channel_stat *c)
{
	printf("%s: %g", c->name, c->mean.value);
	if (!isnan(c->mean.u))
		printf(" +- %.2g", c->mean.u);
	printf(" %s, %llu readings in %.1f s", c->unit, (unsigned long long)c->n, c->duration_s);
	if (c->coverage < 1)
		printf(", %.1f %% of the time", 100 * c->coverage);
	printf("\n");
}

static int report(const char *path, struct ww_error *err)
{
	const struct ww_channel_stat *c;
	struct ww_trace *t;
	struct ww_stat *s;
	int rc = ww_trace_open(path, &t, err);

	if (rc < 0)
		return rc;
	rc = ww_stat_new(t, NULL, &s, err);
	if (rc >= 0) {
		for (size_t i = 0; (c = ww_stat_at(s, i)); i++)
			if (c->n)
				print(c);
		for (size_t i = 0; ww_stat_note(s, i); i++)
			printf("note: %s\n", ww_stat_note(s, i));
		ww_stat_free(s);
	}
	ww_trace_close(t);
	return rc;
}

int main(int argc, char **argv)
{
	struct ww_error err = {0};
	double seconds = argc > 3 ? atof(argv[3]) : 60;

	if (argc < 3 || argc > 4 || !(seconds > 0 && seconds < 1e6)) {
		fprintf(stderr, "usage: mean METER TRACE [SECONDS]\n");
		return 2;
	}
	if (record(argv[1], argv[2], seconds, &err) < 0 || report(argv[2], &err) < 0) {
		fprintf(stderr, "mean: %s\n", err.text);
		return 1;
	}
	return 0;
}
