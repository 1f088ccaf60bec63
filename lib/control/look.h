/* SPDX-License-Identifier: MIT */
/*
 * The cycles of a trace judged while it is recorded, in a thread of its own that reads
 * the file as any follower does: the loop that stamps never waits for it.
 */
#ifndef WW_CONTROL_LOOK_H
#define WW_CONTROL_LOOK_H

#include "base/base.h"

struct ww_look;

/*
 * What a stop looks at: of the median, an interval of this confidence, and never before
 * so many cycles. Stopped as soon as a 95 % interval is narrow, that interval would hold
 * the truth in about nine cases of ten only: it is found narrow by chance.
 */
#define WW_LOOK_CONF  .99
#define WW_LOOK_LEAST 20

struct ww_look_found {
	uint32_t cycle; /* number of the newest; 0: nothing was judged yet */
	uint32_t ok, failed, other;
	bool last_failed;
	int latency; /* enum ww_latency; -1 none */
	uint64_t n;  /* cycles with it, failures among them */
	double median_ms, width_ms;
	int rc; /* negative: it could not be judged */
};

/* drawn: the sleeps differ, so that a silence is no latency. */
int ww_look_new(const char *path, bool drawn, struct ww_look **out, struct ww_error *err);
/* The cycle of this number is over. */
void ww_look_ask(struct ww_look *l, uint32_t cycle);
/* The newest answer. @return false: none since the last call */
bool ww_look_take(struct ww_look *l, struct ww_look_found *out);
/* Waits for what it is doing. May be NULL. */
void ww_look_free(struct ww_look *l);

#endif
