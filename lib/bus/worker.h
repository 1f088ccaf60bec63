/* SPDX-License-Identifier: MIT */
/*
 * A process beside ours for what may block (a file of a slow chip) or must outlive a
 * kill (a line that has to be put back). It talks by messages over a socketpair.
 *
 * The child runs `run` and nothing else of the program: it has its own session (a
 * Ctrl-C of the terminal does not reach it), no descriptors but its own and those of
 * `keep`, /dev/null as its standard streams, all signals as the kernel's defaults and
 * unblocked, SIGPIPE ignored, and no real-time priority. Our process may have threads, so `run`
 * calls only what is async-signal-safe: system calls, no malloc, no stdio, no libraries.
 *
 * Its end sends no SIGCHLD and is not seen by wait() of the application: only
 * ww_worker_end() and ww_worker_dead() collect it.
 */
#ifndef WW_BUS_WORKER_H
#define WW_BUS_WORKER_H

#include "base/base.h"

#include <sys/types.h>

struct ww_worker {
	int fd;	    /* our end: SOCK_SEQPACKET, non-blocking; -1 none. Watch it for EPOLLIN. */
	int pid_fd; /* -1 none */
	pid_t pid;  /* 0: none runs */
};

struct ww_worker_setup {
	const char *name; /* of the process, at most 15 characters */
	/*
	 * fd: the child's end, blocking. recv() of 0 says that our side is gone, by
	 * whatever end, SIGKILL too. What it returns is the process's exit status.
	 */
	int (*run)(void *ctx, int fd);
	void *ctx;	 /* a copy of our memory at the start, as everything is */
	const int *keep; /* descriptors that the child keeps under the same numbers */
	size_t keeps;	 /* at most 16 */
	/*
	 * true: dies at once with our thread. false: runs on until it has seen the end
	 * of `fd`, and ignores SIGTERM, SIGINT, SIGHUP and SIGQUIT till then.
	 */
	bool dies_with_us;
};

/* *w needs no preparation; after a failure it has no process, and ending it is harmless. */
int ww_worker_start(struct ww_worker *w, const struct ww_worker_setup *s, struct ww_error *err);
/*
 * One message. -EAGAIN: it does not take more now; -EPIPE: it is gone. Never blocks,
 * no SIGPIPE.
 */
int ww_worker_send(struct ww_worker *w, const void *data, size_t n);
/* One message; its length, 0: the child is gone, -EAGAIN: none there. */
ssize_t ww_worker_recv(struct ww_worker *w, void *buf, size_t n);
/* Has it ended? Then it is collected, and *status is as waitpid() gives it. May be NULL. */
bool ww_worker_dead(struct ww_worker *w, int *status);
/*
 * Closes our end, gives it grace_ms (0: none) to end by itself, then kills and collects
 * it. What hangs in the kernel cannot be killed: that is left to end when it can.
 */
void ww_worker_end(struct ww_worker *w, int grace_ms);

/* For `run`: one whole message out; false: the other side is gone. */
bool ww_worker_say(int fd, const void *data, size_t n);
/* For `run`: waits for a message; its length, 0: the other side is gone. */
size_t ww_worker_hear(int fd, void *buf, size_t n);

#endif
