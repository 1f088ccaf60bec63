/* SPDX-License-Identifier: MIT */
/* A process beside ours: what it sees of us, how it ends, and what nobody else notices of it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "bus/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled++;
}

static ssize_t next(struct ww_worker *w, void *buf, size_t n)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	poll(&p, 1, 10000);
	return ww_worker_recv(w, buf, n);
}

static bool ended(int pid_fd)
{
	struct pollfd p = {.fd = pid_fd, .events = POLLIN};

	return poll(&p, 1, 10000) == 1;
}

static int echo(void *ctx, int fd)
{
	char buf[256];
	size_t n;

	while ((n = ww_worker_hear(fd, buf, sizeof(buf))) > 0) {
		buf[0] = (char)(buf[0] + *(int *)ctx);
		if (!ww_worker_say(fd, buf, n))
			break;
	}
	return 7;
}

static void messages(void **state)
{
	int one = 1, st = 0;
	struct ww_worker w;
	char buf[64];

	(void)state;
	assert_int_equal(ww_worker_start(&w, &(struct ww_worker_setup){"t", echo, &one, 0, 0, true},
					 NULL),
			 0);
	assert_int_equal(ww_worker_recv(&w, buf, sizeof(buf)), -EAGAIN);
	assert_int_equal(ww_worker_send(&w, "abc", 3), 0);
	assert_int_equal(ww_worker_send(&w, "x", 1), 0);
	assert_int_equal(next(&w, buf, sizeof(buf)), 3);
	assert_memory_equal(buf, "bbc", 3);
	assert_int_equal(next(&w, buf, sizeof(buf)), 1);
	assert_false(ww_worker_dead(&w, NULL));
	/* The end of our side ends it. */
	shutdown(w.fd, SHUT_WR);
	assert_true(ended(w.pid_fd));
	assert_int_equal(ww_worker_recv(&w, buf, sizeof(buf)), 0);
	assert_true(ww_worker_dead(&w, &st));
	assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 7);
	assert_int_equal(ww_worker_send(&w, "x", 1), -EPIPE);
	ww_worker_end(&w, 0);
	assert_int_equal(w.fd, -1);
	ww_worker_end(&w, 0);
}

/* No SIGCHLD, nothing for the application's own wait(). */
static void unnoticed(void **state)
{
	struct sigaction sa = {.sa_handler = handler}, was;
	int zero = 0, st;
	struct ww_worker w;

	(void)state;
	sigaction(SIGCHLD, &sa, &was);
	handled = 0;
	assert_int_equal(ww_worker_start(&w,
					 &(struct ww_worker_setup){"t", echo, &zero, 0, 0, true},
					 NULL),
			 0);
	assert_int_equal(waitpid(-1, &st, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	ww_worker_end(&w, 10000);
	assert_int_equal(handled, 0);
	sigaction(SIGCHLD, &was, NULL);
}

/* What it has of ours: the descriptors below 64 that are open, session, handlers, mask. */
static int look(void *ctx, int fd)
{
	uint64_t open_fds = 0;
	struct sigaction sa;
	sigset_t set;
	int64_t said[4];

	(void)ctx;
	for (int i = 0; i < 64; i++)
		if (fcntl(i, F_GETFD) >= 0 && i != fd)
			open_fds |= UINT64_C(1) << i;
	sigaction(SIGUSR1, NULL, &sa);
	sigprocmask(SIG_SETMASK, NULL, &set);
	said[0] = (int64_t)open_fds;
	said[1] = getsid(0) == getpid();
	said[2] = sa.sa_handler == SIG_DFL;
	said[3] = sigismember(&set, SIGUSR1);
	ww_worker_say(fd, said, sizeof(said));
	return 0;
}

static void inherits_little(void **state)
{
	struct sigaction sa = {.sa_handler = handler}, was;
	int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_RDONLY),
	    c = open("/dev/null", O_RDONLY), keep[] = {c, a};
	int64_t said[4];
	struct ww_worker w;

	(void)state;
	assert_true(a > 2 && b > a && c > b && c < 60);
	sigaction(SIGUSR1, &sa, &was);
	assert_int_equal(ww_worker_start(&w,
					 &(struct ww_worker_setup){"t", look, NULL, keep, 2, true},
					 NULL),
			 0);
	assert_int_equal(next(&w, said, sizeof(said)), sizeof(said));
	assert_true((uint64_t)said[0] == (7 | UINT64_C(1) << a | UINT64_C(1) << c));
	assert_int_equal(said[1], 1);
	assert_int_equal(said[2], 1);
	assert_int_equal(said[3], 0);
	ww_worker_end(&w, 1000);
	sigaction(SIGUSR1, &was, NULL);
	close(a);
	close(b);
	close(c);
}

static int hang(void *ctx, int fd)
{
	(void)ctx;
	while (ww_worker_say(fd, "h", 1))
		pause();
	return 0;
}

static void hanging_one_is_killed(void **state)
{
	struct ww_worker w;
	char c;
	int probe;

	(void)state;
	assert_int_equal(ww_worker_start(&w,
					 &(struct ww_worker_setup){"t", hang, NULL, 0, 0, false},
					 NULL),
			 0);
	assert_int_equal(next(&w, &c, 1), 1);
	probe = fcntl(w.pid_fd, F_DUPFD_CLOEXEC, 0);
	ww_worker_end(&w, 0);
	assert_true(ended(probe));
	assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	close(probe);
}

/* Waits for the end of our side, then says so through the descriptor that it kept. */
static int guard(void *ctx, int fd)
{
	char c;

	while (ww_worker_hear(fd, &c, 1))
		ww_worker_say(fd, "y", 1);
	return write(*(int *)ctx, "guarded", 7) == 7 ? 0 : 1;
}

/* A process of ours starts a worker and is killed. */
static void killed_program(bool dies_with_us, char *said, size_t n)
{
	int out[2], pid_fds[2];
	pid_t p;
	char c = 0;

	assert_int_equal(pipe(out), 0);
	assert_int_equal(pipe(pid_fds), 0);
	p = fork();
	if (p == 0) {
		struct ww_worker w;
		struct ww_worker_setup s = {"t", guard, &out[1], &out[1], 1, dies_with_us};

		if (ww_worker_start(&w, &s, NULL) < 0)
			_exit(1);
		ww_worker_send(&w, "x", 1);
		next(&w, &c, 1);
		/* What a service manager sends to all of a group first. */
		if (!dies_with_us) {
			kill(w.pid, SIGTERM);
			kill(w.pid, SIGHUP);
			ww_worker_send(&w, "x", 1);
			next(&w, &c, 1);
		}
		if (write(pid_fds[1], &c, 1) != 1)
			_exit(1);
		pause();
	}
	close(out[1]);
	assert_int_equal(read(pid_fds[0], &c, 1), 1);
	assert_int_equal(c, 'y');
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
	/* The worker holds the only other end: reading it ends with the worker. */
	memset(said, 0, n);
	for (size_t k = 0; k < n - 1;) {
		ssize_t got = read(out[0], said + k, n - 1 - k);

		if (got <= 0)
			break;
		k += (size_t)got;
	}
	close(out[0]);
	close(pid_fds[0]);
	close(pid_fds[1]);
}

static void guard_outlives_a_kill(void **state)
{
	char said[32];

	(void)state;
	killed_program(false, said, sizeof(said));
	assert_string_equal(said, "guarded");
}

static void dies_with_its_program(void **state)
{
	char said[32];

	(void)state;
	killed_program(true, said, sizeof(said));
	/* By the signal or by the end of the line, whichever was first; it is gone. */
	assert_true(!*said || strcmp(said, "guarded") == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages),
		cmocka_unit_test(unnoticed),
		cmocka_unit_test(inherits_little),
		cmocka_unit_test(hanging_one_is_killed),
		cmocka_unit_test(guard_outlives_a_kill),
		cmocka_unit_test(dies_with_its_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
