/* SPDX-License-Identifier: MIT */
/*
 * A queue from one thread (the loop) to one other (the writer), without locks:
 * the loop must never wait for the disk. Items are contiguous; one that does not
 * fit before the end of the memory starts again at its beginning.
 */
#ifndef WW_RING_H
#define WW_RING_H

#include "base/base.h"

#include <stdatomic.h>

struct ww_ring_item {
	uint32_t size; /* of the whole item, a multiple of 8; 0 marks "go on at the beginning" */
	uint16_t type;
	uint16_t source;
};

struct ww_ring {
	uint8_t *mem;
	uint64_t cap;
	_Atomic uint64_t head; /* bytes ever written */
	_Atomic uint64_t tail; /* bytes ever read */
	uint64_t pending;      /* head of the item being filled */
	uint64_t peak;
};

int ww_ring_init(struct ww_ring *r, size_t bytes);
void ww_ring_free(struct ww_ring *r);
/* Room for an item with `payload` bytes, or NULL if the queue is full. */
void *ww_ring_reserve(struct ww_ring *r, uint16_t type, uint16_t source, size_t payload);
void ww_ring_commit(struct ww_ring *r);
/* Oldest item, NULL if there is none; its payload follows the header. */
const struct ww_ring_item *ww_ring_peek(struct ww_ring *r);
void ww_ring_pop(struct ww_ring *r, const struct ww_ring_item *item);
uint64_t ww_ring_used(struct ww_ring *r);

#endif
