/* SPDX-License-Identifier: MIT */
/*
 * The promise of every stamp: a byte whose write began at `before` and had
 * returned at `after` arrived somewhere in [before, after], and the interval
 * that the port states must have a moment in common with it. Both cores are kept
 * busy meanwhile. The writer is a process of its own, on the same clock.
 */
#include "porttest.h"
#include "base/stats.h"

#include <pty.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#define N 10000

struct truth {
	int64_t before[N], after[N];
};

static struct truth *shared;

static pid_t spin(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			sched_yield();
	return pid;
}

/* Gaps of 0 to 1.2 ms, some none at all, some long. */
static void write_all(int fd)
{
	uint32_t x = 1;

	for (int i = 0; i < N; i++) {
		uint8_t b = (uint8_t)i;
		struct timespec ts = {0, 0};

		x = x * 1664525u + 1013904223u;
		ts.tv_nsec = x >> 29 == 0 ? 0 : (long)(x >> 8) % 1200000;
		if (ts.tv_nsec)
			nanosleep(&ts, NULL);
		shared->before[i] = ww_clock_now_ns();
		if (write(fd, &b, 1) != 1)
			_exit(1);
		shared->after[i] = ww_clock_now_ns();
	}
}

static void judge(struct got *g, const char *what)
{
	double *w = calloc(N, sizeof(*w));
	int64_t max = 0, p99 = 0;
	int inside = 0;

	assert_non_null(w);
	for (int i = 0; i < N; i++) {
		assert_int_equal(g->data[i], (uint8_t)i);
		inside += g->t[i].lo_ns <= shared->after[i] && g->t[i].hi_ns >= shared->before[i];
		w[i] = (double)(g->t[i].hi_ns - g->t[i].lo_ns);
	}
	ww_port_lateness(g->port, &max, &p99);
	qsort(w, N, sizeof(*w), ww_cmp_double);
	print_message("# %s: %d of %d inside; width median %.0f us, p99 %.0f us; tick late p99 "
		      "%.0f us, max %.0f us\n",
		      what, inside, N, w[N / 2] / 1e3, w[N * 99 / 100] / 1e3, (double)p99 / 1e3,
		      (double)max / 1e3);
	assert_true(inside >= N - N / 1000);
	/* It must say something, too: a second of width would always be right. */
	assert_true(w[N / 2] < 20e6);
	free(w);
}

static void run(struct got *g, int fd, const char *what)
{
	pid_t busy[2] = {spin(), spin()}, writer = fork();
	int64_t end = ww_clock_now_ns() + 60 * WW_NS_PER_S;
	int status;

	if (writer == 0) {
		write_all(fd);
		_exit(0);
	}
	while (g->n < N && !g->lost && ww_clock_now_ns() < end)
		turn(g, 100);
	for (int i = 0; i < 2; i++) {
		kill(busy[i], SIGKILL);
		waitpid(busy[i], NULL, 0);
	}
	assert_int_equal(g->n, N);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	judge(g, what);
}

static void test_pty(void **state)
{
	struct got g = {0};
	int master, slave;
	char name[64];

	(void)state;
	assert_int_equal(openpty(&master, &slave, name, NULL, NULL), 0);
	assert_int_equal(got_open(&g, name, N), 0);
	run(&g, master, "pty");
	got_close(&g);
	close(master);
	close(slave);
}

static void test_unix_socket(void **state)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0), c;
	struct got g = {0};
	char uri[128];

	(void)state;
	snprintf(a.sun_path, sizeof(a.sun_path), "/tmp/ww-interval-%d", (int)getpid());
	snprintf(uri, sizeof(uri), "unix:%s", a.sun_path);
	assert_int_equal(bind(s, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(s, 1), 0);
	assert_int_equal(got_open(&g, uri, N), 0);
	c = accept(s, NULL, NULL);
	run(&g, c, "unix");
	got_close(&g);
	close(c);
	close(s);
	unlink(a.sun_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pty),
		cmocka_unit_test(test_unix_socket),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
