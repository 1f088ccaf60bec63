/* SPDX-License-Identifier: MIT */
#include "trace/trace.h"

#define PART_BYTES 4096

struct ww_arena_part {
	struct ww_arena_part *next;
	size_t used;
	size_t cap;
	_Alignas(16) char mem[];
};

void *ww_arena_get(struct ww_arena *a, size_t n)
{
	struct ww_arena_part *p = a->part;
	size_t need = (n + 15) & ~(size_t)15;

	if (!p || p->cap - p->used < need) {
		size_t cap = need > PART_BYTES ? need : PART_BYTES;

		p = malloc(sizeof(*p) + cap);
		if (!p)
			return NULL;
		*p = (struct ww_arena_part){.next = a->part, .cap = cap};
		a->part = p;
	}
	p->used += need;
	return memset(p->mem + p->used - need, 0, need);
}

const char *ww_arena_text(struct ww_arena *a, const char *text)
{
	size_t n = strlen(text) + 1;
	char *p;

	if (n == 1)
		return "";
	p = ww_arena_get(a, n);
	return p ? memcpy(p, text, n) : NULL;
}

void ww_arena_free(struct ww_arena *a)
{
	while (a->part) {
		struct ww_arena_part *next = a->part->next;

		free(a->part);
		a->part = next;
	}
}
