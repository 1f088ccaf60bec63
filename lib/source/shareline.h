/* SPDX-License-Identifier: MIT */
/*
 * One port for several meters: those on one RS-485 line, each a source of its own. The
 * first opens the port, the others join it; one speaks at a time, in the order in which
 * they asked, with silence between. What comes goes to the one that spoke last.
 */
#ifndef WW_SOURCE_SHARELINE_H
#define WW_SOURCE_SHARELINE_H

#include "bus/port.h"

struct ww_shared;

/* Part of a source that may share its port. */
struct ww_sharer {
	struct ww_shared *line; /* NULL: it has none */
	struct ww_sharer *next;
	struct ww_port_events ev;
	struct ww_timer *timer; /* runs when the line that was waited for is its own */
	bool told;		/* that the port is lost */
	uint64_t ticket;	/* 0: does not wait */
	const void *key;	/* of a source that is opened again */
};

/*
 * The port of s->place on s->loop, opened or joined; s->ev is the sharer's own. *out is
 * closed by ww_share_close() alone.
 */
int ww_share_open(struct ww_sharer *who, const struct ww_port_setup *s, struct ww_port **out,
		  struct ww_error *err);
/* Leaves the line; its port is closed by the last. A port that is not shared is closed. */
void ww_share_close(struct ww_sharer *who, struct ww_port *port);
/* May it speak now? If not, its timer runs when it may. Without a line it always may. */
bool ww_share_take(struct ww_sharer *who);
/* It waits for no answer any more. */
void ww_share_release(struct ww_sharer *who);
/* Another speed of its port. That of a line belongs to all: -EBUSY if others are on it. */
int ww_share_baud(struct ww_sharer *who, struct ww_port *port, int64_t baud);

#endif
