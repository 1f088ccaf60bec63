/* SPDX-License-Identifier: MIT */
/* Sources that a source has within it: the modem inputs of a serial line. */
#include "capture/capture.h"

#include <stdio.h>

int ww_beside_describe(void *ctx, size_t i, const char *suffix, const struct ww_source_info *info,
		       const struct ww_channel_info *channels, size_t n, struct ww_error *err)
{
	struct ww_track *t = ctx;
	struct ww_side *b = &t->beside[i < WW_BESIDE ? i : 0];
	struct ww_source_info shown = *info;
	struct ww_desc *d;
	char name[176];

	if (i >= WW_BESIDE || !t->label || n != 1)
		return ww_fail(err, -EINVAL, "%s: %s cannot be stored beside it", t->uri, suffix);
	if (!b->tried && t->rec->next_index == WW_STORE_SOURCES)
		return ww_fail(err, -ENOSPC, "%s: too many sources: at most %d", t->uri,
			       WW_STORE_SOURCES);
	snprintf(name, sizeof(name), "%s.%s", t->label, suffix);
	shown.uri = t->shown;
	d = ww_desc_copy(&shown, channels, n, name);
	if (!d)
		return ww_fail_nomem(err);
	if (!b->tried)
		b->index = t->rec->next_index++;
	b->tried = true;
	if (ww_recorder_put_desc(t->rec, b->index, d) < 0)
		return ww_fail(err, -ENOBUFS, "%s: queue full", t->uri);
	return 0;
}

/* One row; what finds no room is counted, and told when there is room again. */
static void put(struct ww_track *t, struct ww_side *b, struct ww_interval when, int64_t code)
{
	struct ww_item_samples *h;
	int64_t *p;

	if (b->lost.n &&
	    ww_recorder_put_gap(t->rec, b->index, b->lost.t, (int64_t)b->lost.n, "queue full") == 0)
		b->lost.n = 0;
	h = ww_recorder_reserve(t->rec, WW_ITEM_SAMPLES, b->index, sizeof(*h) + 3 * sizeof(*p));
	if (!h) {
		if (!b->lost.n++)
			b->lost.t.lo_ns = when.lo_ns;
		b->lost.t.hi_ns = when.hi_ns;
		t->rec->lost++;
		return;
	}
	*h = (struct ww_item_samples){1, 1};
	p = (int64_t *)(h + 1);
	p[0] = when.lo_ns;
	p[1] = when.hi_ns;
	p[2] = code;
	ww_ring_commit(&t->rec->store.ring);
}

void ww_beside_sample(void *ctx, size_t i, struct ww_interval when, int64_t code)
{
	struct ww_track *t = ctx;
	struct ww_side *b = &t->beside[i < WW_BESIDE ? i : 0];

	if (i >= WW_BESIDE || !b->tried || t->rec->stopped)
		return;
	t->rec->samples++;
	put(t, b, when, code);
}

void ww_beside_gap(struct ww_track *t, struct ww_interval hole, const char *reason)
{
	for (size_t i = 0; i < WW_BESIDE; i++)
		if (t->beside[i].tried)
			ww_recorder_put_gap(t->rec, t->beside[i].index, hole, -1, reason);
}
