/* SPDX-License-Identifier: MIT */
/* pwrlog run: a command, when it began and ended, and what it prints. */
#include "pwrlog-run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals and their mask as they are without us. */
static void plain_signals(posix_spawnattr_t *at, bool group)
{
	sigset_t none, dflt;

	sigemptyset(&none);
	sigemptyset(&dflt);
	sigaddset(&dflt, SIGPIPE);
	posix_spawnattr_setsigmask(at, &none);
	posix_spawnattr_setsigdefault(at, &dflt);
	posix_spawnattr_setflags(at, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
					     (group ? POSIX_SPAWN_SETPGROUP : 0)));
}

/*
 * On a terminal it stays in our group, or it could not read what is typed; elsewhere it
 * leads its own, so that a signal reaches all that it started.
 */
int run_child_start(struct run_child *c, const struct run_variant *v, int out_fd)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t at;
	int rc;

	*c = (struct run_child){.pid_fd = -1, .group = !isatty(STDIN_FILENO)};
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&at);
	plain_signals(&at, c->group);
	posix_spawn_file_actions_adddup2(&fa, out_fd, STDOUT_FILENO);
	if (out_fd != STDERR_FILENO)
		posix_spawn_file_actions_adddup2(&fa, out_fd, STDERR_FILENO);
	c->start.lo_ns = ww_clock_now_ns();
	rc = posix_spawnp(&c->pid, v->argv[0], &fa, &at, v->argv, v->env);
	/* It returns once the program is the command's own. */
	c->start.hi_ns = c->alive_ns = ww_clock_now_ns();
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&at);
	if (rc != 0) {
		c->pid = 0;
		return rc;
	}
	c->pid_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	if (c->pid_fd < 0) {
		rc = errno;
		kill(c->pid, SIGKILL);
		waitpid(c->pid, NULL, 0);
		c->pid = 0;
		return rc;
	}
	fcntl(c->pid_fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

int run_child_wait_ms(const struct run_child *c, int64_t now)
{
	int64_t ms = (now - c->start.lo_ns) / 1000 / 1000000;

	return ms < 1 ? 1 : ms > 100 ? 100 : (int)ms;
}

bool run_child_ended(struct run_child *c)
{
	int64_t before = ww_clock_now_ns();
	struct pollfd p = {.fd = c->pid_fd, .events = POLLIN};
	struct rusage use;
	pid_t got;

	if (poll(&p, 1, 0) <= 0) {
		c->alive_ns = before;
		return false;
	}
	got = wait4(c->pid, &c->status, WNOHANG, &use);
	if (got == 0)
		return false;
	c->end = (struct ww_interval){c->alive_ns, ww_clock_now_ns()};
	if (got == c->pid)
		c->cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			   (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
	close(c->pid_fd);
	c->pid_fd = -1;
	c->pid = 0;
	return true;
}

void run_child_signal(const struct run_child *c, int sig)
{
	if (c->pid > 0)
		kill(c->group ? -c->pid : c->pid, sig);
}

/* ---- what it prints ---- */

static bool put_all(int fd, const char *p, size_t n)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0 && errno == EAGAIN) {
			struct pollfd w = {.fd = fd, .events = POLLOUT};

			poll(&w, 1, -1);
			continue;
		}
		if (k < 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

/* @return false: nothing more will come */
static bool pass_on(struct run_tee *t, char *buf, size_t size)
{
	ssize_t n = read(t->from, buf, size);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0)
		return false;
	ww_work_feed(t->work, buf, (size_t)n);
	/* Where nobody reads it any more, it is only counted. */
	if (t->to >= 0 && !put_all(t->to, buf, (size_t)n))
		t->to = -1;
	return true;
}

static void *tee_main(void *arg)
{
	struct run_tee *t = arg;
	struct pollfd p[2] = {{.fd = t->from, .events = POLLIN},
			      {.fd = t->stop_fd, .events = POLLIN}};
	char buf[65536];

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			break;
		if (p[0].revents && !pass_on(t, buf, sizeof(buf)))
			break;
		if (p[1].revents && !p[0].revents)
			break;
	}
	return NULL;
}

int run_tee_open(struct run_tee *t, int to, struct ww_work *work)
{
	int fd[2];
	sigset_t all, old;
	int rc;

	*t = (struct run_tee){.from = -1, .to = to, .stop_fd = -1, .work = work};
	if (pipe2(fd, O_CLOEXEC) < 0)
		return -1;
	t->from = fd[0];
	t->stop_fd = eventfd(0, EFD_CLOEXEC);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = t->stop_fd < 0 ? errno : pthread_create(&t->thread, NULL, tee_main, t);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0) {
		close(fd[0]);
		close(fd[1]);
		if (t->stop_fd >= 0)
			close(t->stop_fd);
		t->from = t->stop_fd = -1;
		errno = rc;
		return -1;
	}
	t->running = true;
	return fd[1];
}

bool run_tee_done(struct run_tee *t)
{
	if (t->running && pthread_tryjoin_np(t->thread, NULL) == 0)
		t->running = false;
	return !t->running;
}

void run_tee_close(struct run_tee *t)
{
	uint64_t one = 1;

	if (t->running) {
		if (write(t->stop_fd, &one, sizeof(one)) < 0)
			pthread_cancel(t->thread);
		pthread_join(t->thread, NULL);
		t->running = false;
	}
	if (t->from >= 0)
		close(t->from);
	if (t->stop_fd >= 0)
		close(t->stop_fd);
	t->from = t->stop_fd = -1;
}
