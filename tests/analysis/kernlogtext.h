/* SPDX-License-Identifier: MIT */
/* Texts of memory, handed out in pieces of any size, with or without the bench's times. */
#ifndef TESTS_KERNLOGTEXT_H
#define TESTS_KERNLOGTEXT_H

#include "base/base.h"
#include "text/textin.h"

struct memory_text {
	struct ww_text base;
	const char *p;
	size_t n, at, step;
	/* Bench: byte i came in [t0 + i * byte_ns, + width]; byte_ns 0: no times. */
	int64_t t0, byte_ns, width;
	int64_t lo[4096], hi[4096];
};

static int memory_next(struct ww_text *t, const uint8_t **data, size_t *n, const int64_t **lo,
		       const int64_t **hi, struct ww_error *err)
{
	struct memory_text *m = (struct memory_text *)t;
	size_t some = m->n - m->at;

	(void)err;
	if (some == 0)
		return 0;
	if (m->step > 0 && some > m->step)
		some = m->step;
	if (m->byte_ns > 0 && some > 4096)
		some = 4096;
	*data = (const uint8_t *)m->p + m->at;
	*n = some;
	*lo = *hi = NULL;
	for (size_t i = 0; m->byte_ns > 0 && i < some; i++) {
		m->lo[i] = m->t0 + (int64_t)(m->at + i) * m->byte_ns;
		m->hi[i] = m->lo[i] + m->width;
		*lo = m->lo;
		*hi = m->hi;
	}
	m->at += some;
	return 1;
}

static void memory_text(struct memory_text *m, const char *p, size_t n, size_t step)
{
	m->base = (struct ww_text){.name = (char *)(uintptr_t) "memory", .next = memory_next};
	m->p = p;
	m->n = n;
	m->at = 0;
	m->step = step;
	m->byte_ns = 0;
}

#endif
