/* SPDX-License-Identifier: MIT */
#include "control/look.h"
#include "analysis/resume.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>

/* The mark of a cycle's end is in the file by then: the writer commits twice a second. */
#define STORED_NS (5 * WW_NS_PER_S)
#define WAIT_MS	  50

struct ww_look {
	char *path;
	bool drawn, running, stop, fresh;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	uint32_t asked, done;
	struct ww_look_found found;
};

static bool stopped(struct ww_look *l)
{
	bool s;

	pthread_mutex_lock(&l->lock);
	s = l->stop;
	pthread_mutex_unlock(&l->lock);
	return s;
}

static bool has_end(struct ww_trace *t, uint32_t cycle)
{
	for (size_t i = ww_trace_mark_count(t); i-- > 0;) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (m->cycle == cycle && strcmp(m->kind, WW_MARK_CYCLE_END) == 0)
			return true;
	}
	return false;
}

/* Until its end is stored. */
static int follow(struct ww_look *l, struct ww_trace *t, uint32_t cycle)
{
	int64_t until = ww_clock_now_ns() + STORED_NS;
	int rc = 0;

	while (rc >= 0 && !has_end(t, cycle)) {
		if (stopped(l) || ww_clock_now_ns() > until)
			return -ETIMEDOUT;
		poll(NULL, 0, WAIT_MS);
		rc = ww_trace_refresh(t, NULL);
	}
	return rc < 0 ? rc : 0;
}

/* The latency closest to what is asked of a resume, in at least half of the good cycles. */
static void find_median(const struct ww_look *l, const struct ww_resume *r,
			struct ww_look_found *out)
{
	static const int order[] = {WW_LAT_RESUME_TO_USER, WW_LAT_RESUME_TO_UART,
				    WW_LAT_RESUME_TO_ALIVE, WW_LAT_KERNEL, WW_LAT_SILENCE};

	for (size_t i = 0; i < WW_COUNTOF(order); i++) {
		const struct ww_latency_summary *s = ww_resume_summary(r, order[i]);

		if (s->n == 0 || 2 * s->n < out->ok || (l->drawn && order[i] == WW_LAT_SILENCE))
			continue;
		if (ww_resume_width(r, order[i], WW_LOOK_CONF, &out->median_ms, &out->width_ms) < 0)
			return;
		out->latency = order[i];
		out->n = s->n + s->failures;
		return;
	}
}

static void count(const struct ww_resume *r, struct ww_look_found *out)
{
	const struct ww_cycle *c;

	for (size_t i = 0; (c = ww_resume_at(r, i)) != NULL; i++) {
		bool good = c->result == WW_RES_OK || c->result == WW_RES_PM_TEST;
		bool bad = !good && c->result != WW_RES_UNKNOWN;

		out->last_failed = bad && !c->warmup;
		if (c->warmup)
			continue;
		out->ok += good;
		out->failed += bad;
		out->other += !good && !bad;
	}
}

static struct ww_look_found judge(struct ww_look *l, uint32_t cycle)
{
	struct ww_look_found f = {.cycle = cycle,
				  .latency = -1,
				  .median_ms = NAN,
				  .width_ms = INFINITY};
	struct ww_resume_options opt = {.size = sizeof(opt)};
	struct ww_resume *r = NULL;
	struct ww_trace *t = NULL;

	f.rc = ww_trace_open(l->path, &t, NULL);
	if (f.rc >= 0)
		f.rc = follow(l, t, cycle);
	if (f.rc >= 0)
		f.rc = ww_resume_new(t, &opt, &r, NULL);
	if (f.rc >= 0) {
		count(r, &f);
		find_median(l, r, &f);
	}
	ww_resume_free(r);
	ww_trace_close(t);
	return f;
}

static void *run(void *arg)
{
	struct ww_look *l = arg;

	pthread_mutex_lock(&l->lock);
	while (!l->stop) {
		struct ww_look_found f;
		uint32_t cycle = l->asked;

		if (cycle == l->done) {
			pthread_cond_wait(&l->wake, &l->lock);
			continue;
		}
		pthread_mutex_unlock(&l->lock);
		f = judge(l, cycle);
		pthread_mutex_lock(&l->lock);
		l->done = cycle;
		l->found = f;
		l->fresh = true;
	}
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

int ww_look_new(const char *path, bool drawn, struct ww_look **out, struct ww_error *err)
{
	struct ww_look *l = calloc(1, sizeof(*l));
	sigset_t all, old;
	int rc;

	if (l)
		l->path = strdup(path);
	if (!l || !l->path) {
		free(l);
		return ww_fail_nomem(err);
	}
	l->drawn = drawn;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->wake, NULL);
	/* Signals belong to the application's thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&l->thread, NULL, run, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	l->running = rc == 0;
	if (rc != 0) {
		ww_look_free(l);
		return ww_fail(err, -rc, "a thread that judges the cycles: %s", strerror(rc));
	}
	*out = l;
	return 0;
}

void ww_look_ask(struct ww_look *l, uint32_t cycle)
{
	pthread_mutex_lock(&l->lock);
	l->asked = cycle;
	pthread_cond_signal(&l->wake);
	pthread_mutex_unlock(&l->lock);
}

bool ww_look_take(struct ww_look *l, struct ww_look_found *out)
{
	bool fresh;

	pthread_mutex_lock(&l->lock);
	fresh = l->fresh;
	if (fresh)
		*out = l->found;
	l->fresh = false;
	pthread_mutex_unlock(&l->lock);
	return fresh;
}

void ww_look_free(struct ww_look *l)
{
	if (!l)
		return;
	if (l->running) {
		pthread_mutex_lock(&l->lock);
		l->stop = true;
		pthread_cond_signal(&l->wake);
		pthread_mutex_unlock(&l->lock);
		pthread_join(l->thread, NULL);
	}
	pthread_cond_destroy(&l->wake);
	pthread_mutex_destroy(&l->lock);
	free(l->path);
	free(l);
}
