/* SPDX-License-Identifier: MIT */
#include "watcher.h"
#include "live.h"

#include <string.h>
#include <time.h>

static bool stopped(struct watcher *w)
{
	bool stop;

	pthread_mutex_lock(&w->lock);
	stop = w->stop;
	pthread_mutex_unlock(&w->lock);
	return stop;
}

static void tell(struct watcher *w, int rc, const char *say)
{
	pthread_mutex_lock(&w->lock);
	w->done = rc != 0;
	w->news = *say != '\0';
	memcpy(w->say, say, sizeof(w->say));
	pthread_mutex_unlock(&w->lock);
}

static void *watch(void *arg)
{
	static const struct timespec pause = {.tv_nsec = 100000000};
	struct watcher *w = arg;
	struct ww_trace *t = NULL;
	struct ww_error err = {0};
	int64_t next = w->every_ns;

	while (!stopped(w)) {
		struct ww_interval span;
		char say[sizeof(w->say)] = "";
		int rc;

		nanosleep(&pause, NULL);
		/* Not there before its first commit: tried again. */
		if (!t && ww_trace_open(w->path, &t, &err) < 0) {
			ww_error_clear(&err);
			continue;
		}
		if (ww_trace_refresh(t, &err) < 0)
			break;
		span = ww_trace_span(t);
		if (span.lo_ns > span.hi_ns || span.hi_ns - span.lo_ns < next)
			continue;
		next += w->every_ns;
		rc = w->judge(t, w->ctx, say, sizeof(say), &err);
		tell(w, rc, say);
		if (rc != 0)
			break;
	}
	ww_trace_close(t);
	return NULL;
}

bool watcher_enough(void *ctx)
{
	struct watcher *w = ctx;
	char say[sizeof(w->say)] = "";
	bool done;

	if (!w->tried) {
		w->tried = true;
		pthread_mutex_init(&w->lock, NULL);
		w->started = pthread_create(&w->thread, NULL, watch, w) == 0;
		if (!w->started)
			tool_say("no thread to judge the trace: it is recorded to its end");
	}
	if (!w->started)
		return false;
	pthread_mutex_lock(&w->lock);
	done = w->done;
	if (w->news)
		memcpy(say, w->say, sizeof(say));
	w->news = false;
	pthread_mutex_unlock(&w->lock);
	if (*say && live_here())
		tool_say("%s", say);
	return done;
}

void watcher_end(struct watcher *w)
{
	if (!w->started)
		return;
	pthread_mutex_lock(&w->lock);
	w->stop = true;
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_mutex_destroy(&w->lock);
	w->started = false;
}
