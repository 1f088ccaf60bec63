/* SPDX-License-Identifier: MIT */
/*
 * What --raw keeps beside a meter NAME: "NAME.raw", the bytes as it sent them, and
 * "NAME.turns", what its driver was called for (source/turns.h), so that the bytes can
 * be decoded again exactly as they were.
 */
#include "capture/capture.h"
#include "source/turns.h"

#include <stdio.h>

/* A serial source of its own, once there is something to put into it. */
static bool side_open(struct ww_track *t, struct ww_side *s, const char *role, const char *notes)
{
	struct ww_source_info info = t->desc->info;
	struct ww_desc *d;
	char name[160];

	if (s->tried)
		return s->index != WW_SOURCE_NONE;
	s->tried = true;
	s->last_ns = WW_TIME_MIN;
	info.kind = WW_SERIAL;
	info.role = role;
	info.notes = notes;
	info.period_ns = info.window_ns = info.delay_min_ns = info.delay_max_ns = 0;
	/* A packet is whole: its bytes have one time and no pace. */
	info.transport.char_ns = 0;
	snprintf(name, sizeof(name), "%.150s.%s", t->label, role);
	d = ww_desc_copy(&info, NULL, 0, name);
	if (!d || t->rec->next_index == WW_STORE_SOURCES) {
		ww_desc_free(d);
		return false;
	}
	if (ww_recorder_put_desc(t->rec, t->rec->next_index, d) < 0)
		return false;
	s->index = t->rec->next_index++;
	return true;
}

/* Times of rows never fall; what the turn itself says is exact. */
static struct ww_interval in_order(struct ww_side *s, struct ww_interval when)
{
	when.hi_ns = when.hi_ns > s->last_ns ? when.hi_ns : s->last_ns;
	when.lo_ns = when.lo_ns < when.hi_ns ? when.lo_ns : when.hi_ns;
	s->last_ns = when.hi_ns;
	return when;
}

static bool wanted(const struct ww_track *t)
{
	return t->rec->opt.raw && t->desc && !t->rec->stopped;
}

void ww_track_raw(void *ctx, struct ww_interval when, const uint8_t *data, size_t n)
{
	struct ww_track *t = ctx;

	if (!wanted(t) || n == 0 || !side_open(t, &t->raw, "raw", "bytes as the meter sent them"))
		return;
	t->rec->raw += n;
	ww_track_bytes(t, t->raw.index, &t->raw.lost, in_order(&t->raw, when), data, n);
}

void ww_track_turn(void *ctx, struct ww_interval when, int turn, const void *data, size_t n)
{
	struct ww_track *t = ctx;
	uint8_t head[WW_TURN_HEAD + 256], *record = head;
	size_t text = data && n <= WW_TURN_TEXT ? n : 0, k;
	struct ww_interval row;

	if (!wanted(t) ||
	    !side_open(t, &t->turns, "turns", "what the meter's driver was called for"))
		return;
	row = in_order(&t->turns, when);
	if (text > 256)
		record = malloc(WW_TURN_HEAD + text);
	if (!record)
		return;
	if (data)
		n = text;
	else if (turn == WW_TURN_START)
		n = (size_t)t->rec->opt.every_ns;
	k = ww_turn_put(record, turn, when, row.hi_ns, n);
	if (text)
		memcpy(record + k, data, text);
	ww_track_bytes(t, t->turns.index, &t->turns.lost, row, record, k + text);
	if (record != head)
		free(record);
}
