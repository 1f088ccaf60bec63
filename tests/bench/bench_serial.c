/* SPDX-License-Identifier: MIT */
/*
 * Serial stamps beside grabserial's (Debian's package): the same lines, at the
 * same known times, through two pseudo-terminals at once. The error is the stamp
 * less the moment at which the write of the line began; ours is an interval, of
 * which `hi` is the stamp and the width is printed too.
 */
#include "bus/port.h"
#include "base/stats.h"
#include "base/str.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LINES 2000
#define LEN   24

struct shared {
	int64_t before[LINES], after[LINES], real[LINES]; /* of the write */
	int64_t lo[LINES], hi[LINES];
	int64_t tick_max, tick_p99;
	volatile size_t bytes;
	volatile int ready;
};

static struct shared *sh;

static void on_bytes(void *ctx, struct ww_interval t, const uint8_t *data, size_t n)
{
	(void)ctx;
	(void)data;
	for (size_t i = 0; i < n; i++, sh->bytes++) {
		if (sh->bytes % LEN == 0 && sh->bytes / LEN < LINES) {
			sh->lo[sh->bytes / LEN] = t.lo_ns;
			sh->hi[sh->bytes / LEN] = t.hi_ns;
		}
	}
}

static void on_lost(void *ctx, const struct ww_error *err)
{
	(void)ctx;
	fprintf(stderr, "%s\n", err->text);
	_exit(1);
}

static int ours(const char *name)
{
	struct ww_port_events ev = {.bytes = on_bytes, .lost = on_lost};
	struct ww_error err = {0};
	struct ww_loop *l;
	struct ww_port *p;
	struct pollfd pf = {.events = POLLIN};

	if (ww_loop_new(NULL, &l, &err) < 0 ||
	    ww_port_open(l, name, NULL, 115200, &ev, &p, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	pf.fd = ww_loop_fd(l);
	sh->ready = 1;
	while (sh->bytes < LINES * LEN) {
		poll(&pf, 1, 1000);
		ww_loop_dispatch(l, NULL);
	}
	ww_port_lateness(p, &sh->tick_max, &sh->tick_p99);
	ww_port_close(p);
	ww_loop_free(l);
	return 0;
}

static pid_t grabserial(const char *name, const char *out, int *keep)
{
	int in[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) < 0)
		return -1;
	*keep = in[1];
	pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(null, 1);
		dup2(null, 2);
		execlp("grabserial", "grabserial", "-S", "-d", name, "-b", "115200", "-T", "-F",
		       "%s.%f", "-n", "-Q", "-o", out, "-q", "STOP-NOW", (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(null);
	return pid;
}

static void feed(int a, int b)
{
	char line[LEN + 1];
	uint32_t x = 7;

	for (int i = 0; i < LINES; i++) {
		struct timespec ts = {0, 0};

		x = x * 1664525u + 1013904223u;
		ts.tv_nsec = 1000000 + (long)(x >> 8) % 9000000;
		nanosleep(&ts, NULL);
		snprintf(line, sizeof(line), "beat %07d abcdefghij\n", i);
		/* Each is first in turn, so that neither has the other's wake-up before it. */
		sh->real[i] = ww_clock_ns(CLOCK_REALTIME);
		sh->before[i] = ww_clock_now_ns();
		if (write(i & 1 ? a : b, line, LEN) != LEN ||
		    write(i & 1 ? b : a, line, LEN) != LEN)
			return;
		sh->after[i] = ww_clock_now_ns();
	}
}

static void print(const char *who, double *err_us, size_t n, const struct rusage *ru, double secs)
{
	double cpu = (double)(ru->ru_utime.tv_sec + ru->ru_stime.tv_sec) +
		     (double)(ru->ru_utime.tv_usec + ru->ru_stime.tv_usec) / 1e6;

	qsort(err_us, n, sizeof(*err_us), ww_cmp_double);
	printf("%-11s %5zu lines  error p50 %7.0f us  p99 %7.0f us  max %7.0f us  CPU %.2f %%\n",
	       who, n, err_us[n / 2], err_us[n * 99 / 100], err_us[n - 1], 100 * cpu / secs);
}

static void report_ours(const struct rusage *ru, double secs)
{
	static double e[LINES], w[LINES];
	int inside = 0;

	for (int i = 0; i < LINES; i++) {
		e[i] = (double)(sh->hi[i] - sh->before[i]) / 1e3;
		w[i] = (double)(sh->hi[i] - sh->lo[i]) / 1e3;
		inside += sh->lo[i] <= sh->after[i] && sh->hi[i] >= sh->before[i];
	}
	print("wakewatt", e, LINES, ru, secs);
	printf("            inside the stated interval %.2f %%, median width %.0f us; "
	       "tick late p99 %.0f us\n",
	       100.0 * inside / LINES, ww_median(w, LINES), (double)sh->tick_p99 / 1e3);
}

static int report_grabserial(const char *path, const struct rusage *ru, double secs)
{
	static double e[LINES];
	FILE *f = fopen(path, "r");
	char text[256];
	size_t n = 0;

	while (f && fgets(text, sizeof(text), f)) {
		const char *end;
		double t = ww_strtod(text + 1, &end);
		long long s = strtoll(text + 1, NULL, 10);
		const char *beat = strstr(text, "beat ");
		long i = beat ? strtol(beat + 5, NULL, 10) : -1;

		/* Seconds apart from their fraction: a double does not hold both to 1 ns. */
		if (text[0] != '[' || i < 0 || i >= LINES)
			continue;
		e[n++] = (double)(s * WW_NS_PER_S - sh->real[i]) / 1e3 + (t - (double)s) * 1e6;
	}
	if (f)
		fclose(f);
	if (!n) {
		printf("grabserial: gave no stamps (is the package installed?)\n");
		return 1;
	}
	print("grabserial", e, n, ru, secs);
	return 0;
}

int main(void)
{
	char a_name[64], b_name[64], out[64];
	int a, as, b, bs, keep = -1, status;
	struct rusage ra, rb;
	int64_t begin;
	double secs;
	pid_t pa, pb;

	snprintf(out, sizeof(out), "/tmp/ww-bench-serial-%d", (int)getpid());
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sh == MAP_FAILED || openpty(&a, &as, a_name, NULL, NULL) < 0 ||
	    openpty(&b, &bs, b_name, NULL, NULL) < 0)
		return 1;
	pa = fork();
	if (pa == 0)
		_exit(ours(a_name));
	pb = grabserial(b_name, out, &keep);
	/* grabserial has no sign of being ready: two seconds are ample for an interpreter. */
	sleep(2);
	if (!sh->ready || pb < 0)
		return 1;
	/* A peer that has died must not hold up the other. */
	fcntl(b, F_SETFL, O_NONBLOCK);
	begin = ww_clock_now_ns();
	feed(a, b);
	secs = (double)(ww_clock_now_ns() - begin) / 1e9;
	if (write(b, "STOP-NOW\n", 9) != 9)
		return 1;
	wait4(pa, &status, 0, &ra);
	wait4(pb, &status, 0, &rb);
	report_ours(&ra, secs);
	status = report_grabserial(out, &rb, secs);
	unlink(out);
	close(keep);
	return status;
}
