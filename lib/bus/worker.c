/* SPDX-License-Identifier: MIT */
#include "bus/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEPS	   16
#define DEATH_MS   50 /* what a killed process that does not hang needs at most */
#define OPEN_LIMIT 65536u

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* ---------------------------------------------------------------- the child */

static void close_from_to(unsigned from, unsigned to)
{
	struct rlimit r = {.rlim_cur = OPEN_LIMIT};

	if (from > to)
		return;
#ifdef SYS_close_range
	if (syscall(SYS_close_range, from, to, 0) == 0)
		return;
#endif
	getrlimit(RLIMIT_NOFILE, &r);
	if (r.rlim_cur > OPEN_LIMIT)
		r.rlim_cur = OPEN_LIMIT;
	for (unsigned fd = from; fd <= to && fd < r.rlim_cur; fd++)
		close((int)fd);
}

/* All but `fd` and those to be kept; kept: sorted, ascending. */
static void close_others(int fd, const struct ww_worker_setup *s)
{
	unsigned from = 3;

	for (;;) {
		unsigned next = (unsigned)fd >= from ? (unsigned)fd : ~0u;

		for (size_t i = 0; i < s->keeps; i++)
			if (s->keep[i] >= 0 && (unsigned)s->keep[i] >= from &&
			    (unsigned)s->keep[i] < next)
				next = (unsigned)s->keep[i];
		close_from_to(from, next - 1);
		if (next == ~0u)
			return;
		from = next + 1;
	}
}

static bool kept(const struct ww_worker_setup *s, int fd)
{
	for (size_t i = 0; i < s->keeps; i++)
		if (s->keep[i] == fd)
			return true;
	return false;
}

static void default_signals(bool outlives)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};
	struct sigaction dflt = {.sa_handler = SIG_DFL}, ign = {.sa_handler = SIG_IGN};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &dflt, NULL);
	sigaction(SIGPIPE, &ign, NULL);
	for (size_t i = 0; outlives && i < WW_COUNTOF(ends); i++)
		sigaction(ends[i], &ign, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_worker(const struct ww_worker_setup *s, int fd)
{
	const struct sched_param usual = {.sched_priority = 0};
	int null = open("/dev/null", O_RDWR);

	/* The recorder may run in real time: what serves it must not keep others from running. */
	sched_setscheduler(0, SCHED_OTHER, &usual);
	if (s->dies_with_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, s->name);
	setsid();
	if (fd < 3)
		fd = fcntl(fd, F_DUPFD, 3);
	for (int i = 0; i < 3; i++)
		if (null >= 0 && null != i && !kept(s, i))
			dup2(null, i);
	close_others(fd, s);
	default_signals(!s->dies_with_us);
	_exit(fd < 0 ? 127 : s->run(s->ctx, fd));
}

/* ------------------------------------------------------------------ our side */

/* As fork(), but without a signal at its end, and without the program's atfork handlers. */
static pid_t clone_quietly(int *pid_fd)
{
#ifdef __s390__
	return (pid_t)syscall(SYS_clone, 0, CLONE_PIDFD, pid_fd, NULL, 0);
#else
	return (pid_t)syscall(SYS_clone, CLONE_PIDFD, 0, pid_fd, NULL, 0);
#endif
}

int ww_worker_start(struct ww_worker *w, const struct ww_worker_setup *s, struct ww_error *err)
{
	sigset_t all, was;
	int ends[2], code;

	*w = (struct ww_worker){.fd = -1, .pid_fd = -1};
	if (s->keeps > KEEPS)
		return ww_fail(err, -EINVAL, "%s: too many descriptors", s->name);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return ww_fail(err, -errno, "%s: no socketpair: %s", s->name, strerror(errno));
	/* No handler of the program may run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	w->pid = clone_quietly(&w->pid_fd);
	code = errno;
	if (w->pid == 0)
		be_worker(s, ends[1]);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	close(ends[1]);
	if (w->pid < 0) {
		w->pid = 0;
		w->pid_fd = -1;
		close(ends[0]);
		return ww_fail(err, -code, "%s: no process (Linux 5.2 or newer): %s", s->name,
			       strerror(code));
	}
	w->fd = ends[0];
	fcntl(w->fd, F_SETFL, O_NONBLOCK);
	fcntl(w->pid_fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

int ww_worker_send(struct ww_worker *w, const void *data, size_t n)
{
	while (w->fd >= 0) {
		if (send(w->fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0)
			return 0;
		if (errno == EAGAIN || errno == ENOBUFS)
			return -EAGAIN;
		if (errno == EMSGSIZE)
			return -EMSGSIZE;
		if (errno != EINTR)
			break;
	}
	return -EPIPE;
}

ssize_t ww_worker_recv(struct ww_worker *w, void *buf, size_t n)
{
	while (w->fd >= 0) {
		ssize_t k = recv(w->fd, buf, n, MSG_DONTWAIT);

		if (k >= 0)
			return k;
		if (errno == EAGAIN)
			return -EAGAIN;
		if (errno != EINTR)
			break;
	}
	return 0;
}

bool ww_worker_dead(struct ww_worker *w, int *status)
{
	int st = 0;

	if (w->pid <= 0)
		return true;
	if (waitpid(w->pid, &st, WNOHANG | __WALL) != w->pid)
		return false;
	if (status)
		*status = st;
	w->pid = 0;
	return true;
}

void ww_worker_end(struct ww_worker *w, int grace_ms)
{
	struct pollfd p = {.fd = w->pid_fd, .events = POLLIN};

	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	if (w->pid > 0 && grace_ms > 0)
		poll(&p, 1, grace_ms);
	if (!ww_worker_dead(w, NULL)) {
		kill(w->pid, SIGKILL);
		poll(&p, 1, DEATH_MS);
		ww_worker_dead(w, NULL);
	}
	if (w->pid_fd >= 0)
		close(w->pid_fd);
	*w = (struct ww_worker){.fd = -1, .pid_fd = -1};
}

/* ------------------------------------------------------------- for the child */

bool ww_worker_say(int fd, const void *data, size_t n)
{
	ssize_t k;

	do
		k = send(fd, data, n, MSG_NOSIGNAL);
	while (k < 0 && errno == EINTR);
	return k >= 0;
}

size_t ww_worker_hear(int fd, void *buf, size_t n)
{
	ssize_t k;

	do
		k = recv(fd, buf, n, 0);
	while (k < 0 && errno == EINTR);
	return k > 0 ? (size_t)k : 0;
}
