/* SPDX-License-Identifier: MIT */
#include "source/turns.h"

#include "base/bytes.h"

static size_t put_varint(uint8_t *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = (uint8_t)(v | 0x80);
	p[n++] = (uint8_t)v;
	return n;
}

size_t ww_turn_put(uint8_t out[WW_TURN_HEAD], int turn, struct ww_interval t, int64_t row_ns,
		   uint64_t n)
{
	uint64_t width = (uint64_t)t.hi_ns - (uint64_t)t.lo_ns + 1;
	size_t at = 0;

	if (t.lo_ns == WW_TIME_MIN || t.lo_ns > t.hi_ns)
		width = 0;
	out[at++] = (uint8_t)turn;
	at += put_varint(out + at, ww_zigzag((int64_t)((uint64_t)t.hi_ns - (uint64_t)row_ns)));
	at += put_varint(out + at, width);
	return at + put_varint(out + at, n);
}

static bool is_turn(int c)
{
	return c == WW_TURN_LOOK || c == WW_TURN_START || c == WW_TURN_TICK || c == WW_TURN_FEED ||
	       c == WW_TURN_STOP || c == WW_TURN_BAUD || c == WW_TURN_TROUBLE;
}

bool ww_turn_has_text(int turn)
{
	return turn == WW_TURN_LOOK || turn == WW_TURN_TROUBLE;
}

ssize_t ww_turn_get(const uint8_t *p, size_t n, int64_t row_ns, struct ww_turn_record *out)
{
	struct ww_rd rd = ww_rd_of(p, n);
	uint64_t shift, width;

	if (!n)
		return 0;
	*out = (struct ww_turn_record){.turn = (int)ww_rd_le(&rd, 1)};
	if (!is_turn(out->turn))
		return -EPROTO;
	shift = ww_rd_varint(&rd);
	width = ww_rd_varint(&rd);
	out->n = ww_rd_varint(&rd);
	if (rd.bad)
		return n < WW_TURN_HEAD ? 0 : -EPROTO;
	out->t.hi_ns = (int64_t)((uint64_t)row_ns + (uint64_t)ww_unzigzag(shift));
	out->t.lo_ns = width ? (int64_t)((uint64_t)out->t.hi_ns - (width - 1)) : WW_TIME_MIN;
	if (out->t.lo_ns > out->t.hi_ns || (ww_turn_has_text(out->turn) && out->n > WW_TURN_TEXT))
		return -EPROTO;
	return (ssize_t)rd.at;
}
