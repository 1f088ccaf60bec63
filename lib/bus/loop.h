/* SPDX-License-Identifier: MIT */
/*
 * The one loop: descriptors and timers, non-blocking, behind a single epoll
 * descriptor that the application polls. Callbacks run inside
 * ww_loop_dispatch(), in the caller's thread; they read, stamp and queue, and
 * never wait. A callback may remove any watch or timer, its own too.
 */
#ifndef WW_BUS_LOOP_H
#define WW_BUS_LOOP_H

#include "base/base.h"

struct ww_loop;
struct ww_watch;
struct ww_timer;

/*
 * Where time comes from. The default is the kernel; a test puts a virtual clock
 * here, which stands still but for ww_loop_dispatch(), that moves it to the
 * next deadline.
 */
struct ww_clock {
	void *ctx;
	int64_t (*now)(void *ctx);			 /* CLOCK_BOOTTIME */
	int (*anchor)(void *ctx, struct ww_anchor *out); /* as ww_anchor_take() */
	void (*advance)(void *ctx, int64_t to_boot_ns);	 /* virtual clocks only, else NULL */
};

/* clock may be NULL: the kernel's. It is copied. */
int ww_loop_new(const struct ww_clock *clock, struct ww_loop **out, struct ww_error *err);
void ww_loop_free(struct ww_loop *l);
int ww_loop_fd(const struct ww_loop *l);
int64_t ww_loop_now(const struct ww_loop *l);
int ww_loop_anchor(const struct ww_loop *l, struct ww_anchor *out);
/* A place for what sources on one loop share (source/shareline.h); NULL at first. */
void **ww_loop_shared(struct ww_loop *l);
/* Run what is ready. Never blocks. 0 or a negative errno of epoll itself. */
int ww_loop_dispatch(struct ww_loop *l, struct ww_error *err);

/* events: EPOLLIN, EPOLLOUT, EPOLLPRI. The descriptor is not owned. */
typedef void (*ww_watch_fn)(void *ctx, uint32_t events);
int ww_loop_watch(struct ww_loop *l, int fd, uint32_t events, ww_watch_fn fn, void *ctx,
		  struct ww_watch **out, struct ww_error *err);
int ww_watch_events(struct ww_watch *w, uint32_t events);
void ww_watch_free(struct ww_watch *w); /* may be NULL */

/*
 * A timer at an absolute time of CLOCK_BOOTTIME. late_ns says how much later
 * than the deadline the callback runs; a periodic timer that missed several
 * deadlines is called once, with the lateness of the first.
 */
typedef void (*ww_timer_fn)(void *ctx, int64_t now_ns, int64_t late_ns);
int ww_loop_timer(struct ww_loop *l, ww_timer_fn fn, void *ctx, struct ww_timer **out,
		  struct ww_error *err);
/* period_ns 0: once. at_ns WW_TIME_MAX: disarm. */
void ww_timer_set(struct ww_timer *t, int64_t at_ns, int64_t period_ns);
void ww_timer_free(struct ww_timer *t); /* may be NULL */

#endif
