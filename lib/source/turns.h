/* SPDX-License-Identifier: MIT */
/*
 * Turns of a meter's driver as bytes, kept beside its raw bytes (wakewatt-trace(5)). A
 * record is a letter (enum ww_turn) and three numbers, the last of them followed by so
 * many bytes where the letter says so:
 *
 *   zigzag varint  t.hi less the time of the row that the record is stored in
 *   varint         0: t.lo is open; else t.hi - t.lo + 1
 *   varint         START: asked interval of readings in ns; FEED: number of raw bytes;
 *                  BAUD: 0 done, 1 refused; LOOK, TROUBLE: number of bytes of text that follow;
 * else 0
 */
#ifndef WW_SOURCE_TURNS_H
#define WW_SOURCE_TURNS_H

#include "source/source.h"

#define WW_TURN_HEAD 32	       /* longest record without its text */
#define WW_TURN_TEXT (1 << 20) /* longest text */

struct ww_turn_record {
	int turn; /* enum ww_turn */
	struct ww_interval t;
	uint64_t n;
};

/* Writes all but the text; returns its length. */
size_t ww_turn_put(uint8_t out[WW_TURN_HEAD], int turn, struct ww_interval t, int64_t row_ns,
		   uint64_t n);
/*
 * All but the text, of which there are at most WW_TURN_TEXT bytes. Bytes taken, 0: it goes
 * on behind these bytes, -EPROTO: this is none.
 */
ssize_t ww_turn_get(const uint8_t *p, size_t n, int64_t row_ns, struct ww_turn_record *out);
bool ww_turn_has_text(int turn);

#endif
