/* SPDX-License-Identifier: MIT */
/*
 * A checked reader of bytes. Reading past the end sets `bad` and gives zeros
 * from then on, so that a parser checks once, at its end.
 */
#ifndef WW_BYTES_H
#define WW_BYTES_H

#include "base/base.h"

struct ww_rd {
	const uint8_t *p;
	size_t n;
	size_t at;
	bool bad;
};

static inline struct ww_rd ww_rd_of(const void *p, size_t n)
{
	return (struct ww_rd){.p = p, .n = n};
}

static inline size_t ww_rd_left(const struct ww_rd *r)
{
	return r->n - r->at;
}

/* Little-endian unsigned integer of 1 to 8 bytes. */
uint64_t ww_rd_le(struct ww_rd *r, unsigned bytes);
/* Big-endian, likewise. */
uint64_t ww_rd_be(struct ww_rd *r, unsigned bytes);
/* LEB128 of at most 64 bits. */
uint64_t ww_rd_varint(struct ww_rd *r);
/* n bytes lent from the buffer, NULL (and bad) if there are fewer. */
const uint8_t *ww_rd_take(struct ww_rd *r, size_t n);

static inline uint64_t ww_zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t ww_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

void ww_put_le(uint8_t *p, uint64_t v, unsigned bytes);
/* CRC-32 (IEEE 802.3, reflected), start with 0. */
uint32_t ww_crc32(uint32_t crc, const void *p, size_t n);

#endif
