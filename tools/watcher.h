/* SPDX-License-Identifier: MIT */
/*
 * A second pair of eyes on a trace that is being recorded: a thread with a reader of its
 * own judges it now and then, so that the loop that stamps never waits for an analysis.
 */
#ifndef TOOLS_WATCHER_H
#define TOOLS_WATCHER_H

#include "common.h"

#include <pthread.h>

struct watcher {
	/* Set before the recording begins. */
	const char *path;
	int64_t every_ns; /* of the trace, between two judgements */
	/* @return 1 enough was recorded, 0 not yet, negative an error; say: a word for it */
	int (*judge)(struct ww_trace *t, void *ctx, char *say, size_t room, struct ww_error *err);
	void *ctx;
	/* Its own. */
	pthread_t thread;
	pthread_mutex_t lock;
	bool tried, started, stop, done, news;
	char say[200];
};

/* For struct recording: starts the thread at its first call. ctx is the watcher. */
bool watcher_enough(void *ctx);
void watcher_end(struct watcher *w);

#endif
