/* SPDX-License-Identifier: MIT */
#include "capture/ring.h"

int ww_ring_init(struct ww_ring *r, size_t bytes)
{
	*r = (struct ww_ring){0};
	r->cap = (bytes + 7) & ~(uint64_t)7;
	r->mem = malloc(r->cap);
	atomic_init(&r->head, 0);
	atomic_init(&r->tail, 0);
	return r->mem ? 0 : -ENOMEM;
}

void ww_ring_free(struct ww_ring *r)
{
	free(r->mem);
	r->mem = NULL;
}

void *ww_ring_reserve(struct ww_ring *r, uint16_t type, uint16_t source, size_t payload)
{
	uint64_t size = (sizeof(struct ww_ring_item) + payload + 7) & ~(uint64_t)7;
	uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_acquire);
	uint64_t at = head % r->cap, skip = r->cap - at < size ? r->cap - at : 0;
	struct ww_ring_item *item;

	if (size > r->cap / 2 || head + skip + size - tail > r->cap)
		return NULL;
	if (skip) {
		/* cap and every size are multiples of 8, so a header always fits. */
		((struct ww_ring_item *)(void *)(r->mem + at))->size = 0;
		at = 0;
	}
	item = (struct ww_ring_item *)(void *)(r->mem + at);
	*item = (struct ww_ring_item){(uint32_t)size, type, source};
	r->pending = head + skip + size;
	if (r->pending - tail > r->peak)
		r->peak = r->pending - tail;
	return item + 1;
}

void ww_ring_commit(struct ww_ring *r)
{
	atomic_store_explicit(&r->head, r->pending, memory_order_release);
}

const struct ww_ring_item *ww_ring_peek(struct ww_ring *r)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);
	const struct ww_ring_item *item;

	if (tail == atomic_load_explicit(&r->head, memory_order_acquire))
		return NULL;
	item = (const struct ww_ring_item *)(const void *)(r->mem + tail % r->cap);
	if (item->size == 0) {
		tail += r->cap - tail % r->cap;
		atomic_store_explicit(&r->tail, tail, memory_order_release);
		item = (const struct ww_ring_item *)(const void *)r->mem;
	}
	return item;
}

void ww_ring_pop(struct ww_ring *r, const struct ww_ring_item *item)
{
	uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed);

	atomic_store_explicit(&r->tail, tail + item->size, memory_order_release);
}

uint64_t ww_ring_used(struct ww_ring *r)
{
	return atomic_load_explicit(&r->head, memory_order_acquire) -
	       atomic_load_explicit(&r->tail, memory_order_acquire);
}
