/* SPDX-License-Identifier: MIT */
/* A command run by the shell, whose end and last words are watched without waiting. */
#ifndef WW_CONTROL_CHILD_H
#define WW_CONTROL_CHILD_H

#include "bus/loop.h"

#include <sys/types.h>

#define WW_CHILD_WORDS 240

struct ww_child {
	struct ww_loop *loop;
	pid_t pid; /* 0: none runs */
	int pid_fd;
	int out_fd;  /* its stdout and stderr */
	int show_fd; /* goes there, too; 0: nowhere */
	struct ww_watch *end_watch, *out_watch;
	void (*ended)(void *ctx);
	void *ctx;
	int status;		    /* as waitpid() gives it */
	char words[WW_CHILD_WORDS]; /* last line it said */
	size_t n;
};

/*
 * Starts `sh -c command` in a process group of its own, input from /dev/null. setting:
 * one more "NAME=value" of its environment; NULL none.
 */
int ww_child_start(struct ww_child *c, struct ww_loop *loop, const char *command,
		   const char *setting, void (*ended)(void *ctx), void *ctx, struct ww_error *err);
/* "exit 0", "exit 1: last words", "signal 9" */
void ww_child_how(const struct ww_child *c, char *buf, size_t n);
/* SIGTERM to its group if it still runs, after 200 ms SIGKILL; then forgotten. */
void ww_child_end(struct ww_child *c);

#endif
