/* SPDX-License-Identifier: MIT */
#include "bus/msgq.h"

int ww_msgq_put(struct ww_msgq *q, const char *who, const void *data, size_t n,
		struct ww_error *err)
{
	uint32_t len = (uint32_t)n;

	if (n > WW_PORT_QUEUE || n + sizeof(len) > WW_PORT_QUEUE - q->used)
		return ww_fail(err, -ENOBUFS, "%s: takes nothing: %zu bytes wait to be sent", who,
			       q->used);
	if (!q->p) {
		q->p = malloc(WW_PORT_QUEUE);
		if (!q->p)
			return ww_fail_nomem(err);
	}
	memcpy(q->p + q->used, &len, sizeof(len));
	if (n)
		memcpy(q->p + q->used + sizeof(len), data, n);
	q->used += sizeof(len) + n;
	return 0;
}

const uint8_t *ww_msgq_first(const struct ww_msgq *q, size_t *n)
{
	uint32_t len;

	*n = 0;
	if (!q->used)
		return NULL;
	memcpy(&len, q->p, sizeof(len));
	*n = len;
	return q->p + sizeof(len);
}

void ww_msgq_drop(struct ww_msgq *q)
{
	size_t n;

	if (!ww_msgq_first(q, &n))
		return;
	n += sizeof(uint32_t);
	q->used -= n;
	memmove(q->p, q->p + n, q->used);
}
