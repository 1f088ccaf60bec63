/* SPDX-License-Identifier: MIT */
/* A thousand cycles in ten million bytes of heartbeat: time of the report. */
#include "../analysis/dutsim.h"
#include "base/base.h"

#include <sys/resource.h>
#include <time.h>

#define CYCLES 1000

static double report(const char *path, size_t *cycles)
{
	struct ww_error err = {0};
	struct ww_resume *r = NULL;
	struct ww_trace *t = NULL;
	char *json = NULL;
	int64_t t0 = ww_clock_ns(CLOCK_MONOTONIC);

	if (ww_trace_open(path, &t, &err) < 0 || ww_resume_new(t, NULL, &r, &err) < 0 ||
	    ww_resume_report(r, WW_REPORT_JSON, &json, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	*cycles = ww_resume_count(r);
	ww_free(json);
	ww_resume_free(r);
	ww_trace_close(t);
	return (double)(ww_clock_ns(CLOCK_MONOTONIC) - t0) / 1e9;
}

int main(void)
{
	/* 64 sleeps at a time: the simulated machine looks at each for every byte. */
	static struct sim s;
	struct sim_trace tr;
	struct rusage ru;
	size_t bytes = 0, cycles;
	double seconds;
	int64_t at = 1000 * S;
	uint32_t seq = 0, n = 0;

	sim_open(&tr);
	while (n < CYCLES) {
		sim_init(&s);
		s.start = at;
		s.seq = seq;
		for (int i = 0; i < 50; i++)
			sim_suspend(&s, at + (3 + 8 * i) * S, 2000, 30);
		s.end = at = at + 400 * S;
		sim_run(&s);
		seq = s.seq;
		bytes += s.n;
		sim_store(&s, &tr);
		for (int i = 0; i < 50; i++) {
			sim_mark(&tr, s.sleep[i].freeze - 30 * MS, WW_MARK_REQUEST, ++n, "suspend");
			sim_mark(&tr, s.sleep[i].wake, WW_MARK_WAKE, n, "wake");
			sim_mark(&tr, s.sleep[i].wake + MS, WW_MARK_WAKE_END, n, "exit 0");
		}
	}
	sim_close(&tr);
	seconds = report(tr.path, &cycles);
	getrusage(RUSAGE_SELF, &ru);
	printf("resume report: %zu cycles, %.1f million bytes: %.2f s (%.1f million bytes/s), "
	       "peak %ld MiB\n",
	       cycles, (double)bytes / 1e6, seconds, (double)bytes / 1e6 / seconds,
	       ru.ru_maxrss / 1024);
	unlink(tr.path);
	return cycles == CYCLES ? 0 : 1;
}
