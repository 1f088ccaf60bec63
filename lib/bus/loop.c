/* SPDX-License-Identifier: MIT */
#include "bus/loop.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define BATCH 32

struct ww_watch {
	struct ww_loop *loop;
	int fd;
	ww_watch_fn fn;
	void *ctx;
};

struct ww_timer {
	struct ww_loop *loop;
	ww_timer_fn fn;
	void *ctx;
	int64_t at_ns;
	int64_t period_ns;
	uint64_t order; /* of setting: equal deadlines run first come, first served */
	size_t slot;	/* in the heap; SIZE_MAX: not armed */
};

struct ww_loop {
	void *shared;
	struct ww_clock clock;
	int epfd;
	int tfd;
	int64_t armed_ns; /* what the timerfd is set to; WW_TIME_MAX: disarmed */
	bool dispatching;
	struct ww_timer **heap;
	size_t n;
	size_t cap;
	size_t timers; /* all, armed or not: the heap has room for them */
	uint64_t order;
	struct epoll_event ready[BATCH];
	int n_ready;
};

static int64_t kernel_now(void *ctx)
{
	(void)ctx;
	return ww_clock_now_ns();
}

static int kernel_anchor(void *ctx, struct ww_anchor *out)
{
	(void)ctx;
	return ww_anchor_take(out, NULL);
}

int ww_loop_new(const struct ww_clock *clock, struct ww_loop **out, struct ww_error *err)
{
	struct epoll_event e = {.events = EPOLLIN};
	struct ww_loop *l = calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return ww_fail_nomem(err);
	l->clock = clock ? *clock : (struct ww_clock){NULL, kernel_now, kernel_anchor, NULL};
	l->armed_ns = WW_TIME_MAX;
	l->tfd = -1;
	l->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epfd < 0) {
		rc = ww_fail(err, -errno, "no loop: epoll_create1: %s", strerror(errno));
		goto fail;
	}
	l->tfd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (l->tfd < 0 || epoll_ctl(l->epfd, EPOLL_CTL_ADD, l->tfd, &e) < 0) {
		rc = ww_fail(err, -errno, "no loop: a timer on CLOCK_BOOTTIME: %s",
			     strerror(errno));
		goto fail;
	}
	*out = l;
	return 0;
fail:
	ww_loop_free(l);
	return rc;
}

void ww_loop_free(struct ww_loop *l)
{
	if (!l)
		return;
	if (l->tfd >= 0)
		close(l->tfd);
	if (l->epfd >= 0)
		close(l->epfd);
	free(l->heap);
	free(l);
}

int ww_loop_fd(const struct ww_loop *l)
{
	return l->epfd;
}

void **ww_loop_shared(struct ww_loop *l)
{
	return &l->shared;
}

int64_t ww_loop_now(const struct ww_loop *l)
{
	return l->clock.now(l->clock.ctx);
}

int ww_loop_anchor(const struct ww_loop *l, struct ww_anchor *out)
{
	return l->clock.anchor(l->clock.ctx, out);
}

/* ------------------------------------------------------------------- timers */

static bool earlier(const struct ww_timer *a, const struct ww_timer *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void put(struct ww_loop *l, size_t slot, struct ww_timer *t)
{
	l->heap[slot] = t;
	t->slot = slot;
}

static void sift(struct ww_loop *l, size_t i)
{
	struct ww_timer *t = l->heap[i];

	while (i && earlier(t, l->heap[(i - 1) / 2])) {
		put(l, i, l->heap[(i - 1) / 2]);
		i = (i - 1) / 2;
	}
	for (size_t c; (c = 2 * i + 1) < l->n; i = c) {
		if (c + 1 < l->n && earlier(l->heap[c + 1], l->heap[c]))
			c++;
		if (!earlier(l->heap[c], t))
			break;
		put(l, i, l->heap[c]);
	}
	put(l, i, t);
}

static void disarm(struct ww_timer *t)
{
	struct ww_loop *l = t->loop;
	size_t i = t->slot;

	if (i == SIZE_MAX)
		return;
	t->slot = SIZE_MAX;
	if (i != --l->n) {
		put(l, i, l->heap[l->n]);
		sift(l, i);
	}
}

/*
 * Setting the timerfd also takes back its readiness, so that it is never read.
 * With a virtual clock any armed timer is due: the loop is readable at once.
 */
static void arm(struct ww_loop *l)
{
	int64_t at = l->n ? l->heap[0]->at_ns : WW_TIME_MAX;
	struct itimerspec its = {0};

	if (at == l->armed_ns)
		return;
	l->armed_ns = at;
	if (at != WW_TIME_MAX) {
		if (l->clock.advance || at < 1)
			at = 1;
		its.it_value.tv_sec = at / WW_NS_PER_S;
		its.it_value.tv_nsec = at % WW_NS_PER_S;
	}
	timerfd_settime(l->tfd, TFD_TIMER_ABSTIME, &its, NULL);
}

int ww_loop_timer(struct ww_loop *l, ww_timer_fn fn, void *ctx, struct ww_timer **out,
		  struct ww_error *err)
{
	struct ww_timer *t;

	if (l->timers == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct ww_timer **heap = realloc(l->heap, cap * sizeof(*heap));

		if (!heap)
			return ww_fail_nomem(err);
		l->heap = heap;
		l->cap = cap;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return ww_fail_nomem(err);
	*t = (struct ww_timer){
		.loop = l, .fn = fn, .ctx = ctx, .at_ns = WW_TIME_MAX, .slot = SIZE_MAX};
	l->timers++;
	*out = t;
	return 0;
}

void ww_timer_set(struct ww_timer *t, int64_t at_ns, int64_t period_ns)
{
	struct ww_loop *l = t->loop;

	disarm(t);
	t->at_ns = at_ns;
	t->period_ns = period_ns;
	if (at_ns != WW_TIME_MAX) {
		t->order = l->order++;
		put(l, l->n, t);
		sift(l, l->n++);
	}
	if (!l->dispatching)
		arm(l);
}

void ww_timer_free(struct ww_timer *t)
{
	if (!t)
		return;
	ww_timer_set(t, WW_TIME_MAX, 0);
	t->loop->timers--;
	free(t);
}

static void fire(struct ww_timer *t, int64_t now)
{
	int64_t late = now - t->at_ns;

	if (t->period_ns > 0)
		ww_timer_set(t, t->at_ns + (late / t->period_ns + 1) * t->period_ns, t->period_ns);
	else
		disarm(t);
	t->fn(t->ctx, now, late);
}

/*
 * No more calls than timers were armed at the beginning: a callback that sets
 * its timer into the past cannot keep the loop from the descriptors.
 */
static void run_timers(struct ww_loop *l)
{
	int64_t now = ww_loop_now(l);

	if (l->clock.advance && l->n && l->heap[0]->at_ns > now) {
		l->clock.advance(l->clock.ctx, l->heap[0]->at_ns);
		now = ww_loop_now(l);
	}
	for (size_t left = l->n; left && l->n && l->heap[0]->at_ns <= now; left--) {
		fire(l->heap[0], now);
		now = ww_loop_now(l);
	}
}

/* ------------------------------------------------------------------ watches */

int ww_loop_watch(struct ww_loop *l, int fd, uint32_t events, ww_watch_fn fn, void *ctx,
		  struct ww_watch **out, struct ww_error *err)
{
	struct ww_watch *w = calloc(1, sizeof(*w));
	struct epoll_event e = {.events = events, .data.ptr = w};

	if (!w)
		return ww_fail_nomem(err);
	*w = (struct ww_watch){.loop = l, .fd = fd, .fn = fn, .ctx = ctx};
	if (epoll_ctl(l->epfd, EPOLL_CTL_ADD, fd, &e) < 0) {
		int rc = ww_fail(err, -errno, "descriptor %d cannot be watched: %s", fd,
				 strerror(errno));

		free(w);
		return rc;
	}
	*out = w;
	return 0;
}

int ww_watch_events(struct ww_watch *w, uint32_t events)
{
	struct epoll_event e = {.events = events, .data.ptr = w};

	return epoll_ctl(w->loop->epfd, EPOLL_CTL_MOD, w->fd, &e) < 0 ? -errno : 0;
}

void ww_watch_free(struct ww_watch *w)
{
	if (!w)
		return;
	/* Fails where the descriptor was closed before its watch: nothing is left to do then. */
	epoll_ctl(w->loop->epfd, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = 0; i < w->loop->n_ready; i++)
		if (w->loop->ready[i].data.ptr == w)
			w->loop->ready[i].data.ptr = NULL;
	free(w);
}

int ww_loop_dispatch(struct ww_loop *l, struct ww_error *err)
{
	if (l->dispatching)
		return ww_fail(err, -EBUSY, "the loop is dispatched from one of its callbacks");
	l->n_ready = epoll_wait(l->epfd, l->ready, BATCH, 0);
	if (l->n_ready < 0) {
		int code = errno;

		l->n_ready = 0;
		return code == EINTR ? 0 : ww_fail(err, -code, "epoll_wait: %s", strerror(code));
	}
	l->dispatching = true;
	for (int i = 0; i < l->n_ready; i++) {
		struct ww_watch *w = l->ready[i].data.ptr;

		if (w)
			w->fn(w->ctx, l->ready[i].events);
	}
	l->n_ready = 0;
	run_timers(l);
	l->dispatching = false;
	arm(l);
	return 0;
}
