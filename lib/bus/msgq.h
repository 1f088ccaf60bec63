/* SPDX-License-Identifier: MIT */
/* Messages that wait to be sent, in order; at most WW_PORT_QUEUE bytes of them. */
#ifndef WW_BUS_MSGQ_H
#define WW_BUS_MSGQ_H

#include "bus/portimpl.h"

struct ww_msgq {
	uint8_t *p; /* each: its length in four bytes, itself */
	size_t used;
};

/* -ENOBUFS: too much waits; the error begins with `who`. */
int ww_msgq_put(struct ww_msgq *q, const char *who, const void *data, size_t n,
		struct ww_error *err);
/* The oldest, NULL if there is none; until put or drop. */
const uint8_t *ww_msgq_first(const struct ww_msgq *q, size_t *n);
void ww_msgq_drop(struct ww_msgq *q);

#endif
