/* SPDX-License-Identifier: MIT */
/* The simulator's load: what is true at each moment, and its exact integral. */
#ifndef WW_SIMLOAD_H
#define WW_SIMLOAD_H

#include "bus/loop.h"
#include "base/uri.h"

struct ww_simload {
	double level; /* W now, without drift */
	double drift; /* W/s */
	double joules;
	int64_t t_ns; /* integrated up to here, since the simulator's beginning */
	size_t steps, next;
	struct {
		int64_t at_ns;
		double watts;
	} step[WW_URI_OPTIONS]; /* in the order of time */
};

/* Options watts, drift (W/h) and each step=AT:WATTS. */
int ww_simload_init(struct ww_simload *l, struct ww_uri *uri, struct ww_error *err);
/* Go on to t; returns the joules since the last call. */
double ww_simload_to(struct ww_simload *l, int64_t t_ns);
double ww_simload_watts(const struct ww_simload *l);

/* A duration and what follows it: "10s:2s", "10s:+12.5". False if text is no such pair. */
bool ww_sim_pair(const char *text, int64_t *at_ns, const char **rest);

/* A file in which something else keeps the state: a number of watts, or a word. */
struct ww_simfollow;
/* Called with the difference to what was before. */
typedef void (*ww_simfollow_fn)(void *ctx, double by_watts);
/*
 * Options whose names are words of the file give their watts (on=25&off=0.5). *watts
 * is changed where the file already says something.
 */
int ww_simfollow_open(struct ww_loop *l, const char *path, struct ww_uri *uri, ww_simfollow_fn fn,
		      void *ctx, double *watts, struct ww_simfollow **out, struct ww_error *err);
void ww_simfollow_close(struct ww_simfollow *f); /* may be NULL */

#endif
