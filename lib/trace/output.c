/* SPDX-License-Identifier: MIT */
#include "trace/output.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/*
 * write(2) to a pipe without a reader raises SIGPIPE. The library owns no signal:
 * it blocks this one here and takes away what its own write raised.
 */
static ssize_t write_quietly(int fd, const void *p, size_t n)
{
	sigset_t pipe_set, old, pending;
	struct timespec now = {0};
	bool was_pending;
	ssize_t rc;
	int no;

	sigemptyset(&pipe_set);
	sigaddset(&pipe_set, SIGPIPE);
	sigpending(&pending);
	was_pending = sigismember(&pending, SIGPIPE) == 1;
	pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
	rc = write(fd, p, n);
	no = errno;
	/* Of a write that the reader's end cut short, too. */
	if (!was_pending && (rc < 0 ? no == EPIPE : (size_t)rc < n))
		while (sigtimedwait(&pipe_set, NULL, &now) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = no;
	return rc;
}

int ww_write_all(int fd, const void *p, size_t n, const char *what, struct ww_error *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = write_quietly(fd, (const char *)p + done, n - done);

		if (got >= 0) {
			done += (size_t)got;
		} else if (errno == EAGAIN) {
			struct pollfd wait = {.fd = fd, .events = POLLOUT};

			poll(&wait, 1, -1);
		} else if (errno == EPIPE) {
			return ww_fail(err, -EPIPE, "%s: its reader has gone away", what);
		} else if (errno != EINTR) {
			int no = errno;

			return ww_fail(err, -no, "%s: %s", what, strerror(no));
		}
	}
	return 0;
}
