/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

const uint8_t *ww_rd_take(struct ww_rd *r, size_t n)
{
	if (r->bad || n > r->n - r->at) {
		r->bad = true;
		return NULL;
	}
	/* Adding nothing to a null pointer is undefined too. */
	if (!r->p)
		return NULL;
	r->at += n;
	return r->p + r->at - n;
}

uint64_t ww_rd_le(struct ww_rd *r, unsigned bytes)
{
	const uint8_t *p = ww_rd_take(r, bytes);
	uint64_t v = 0;

	for (unsigned i = bytes; p && i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

uint64_t ww_rd_be(struct ww_rd *r, unsigned bytes)
{
	const uint8_t *p = ww_rd_take(r, bytes);
	uint64_t v = 0;

	for (unsigned i = 0; p && i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

uint64_t ww_rd_varint(struct ww_rd *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t b = ww_rd_le(r, 1);

		if (r->bad || (shift == 63 && b > 1))
			break;
		v |= (b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	r->bad = true;
	return 0;
}

void ww_put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++, v >>= 8)
		p[i] = (uint8_t)v;
}

uint32_t ww_crc32(uint32_t crc, const void *p, size_t n)
{
	/* Nibble table of the reflected polynomial 0xEDB88320. */
	static const uint32_t t[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
				       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
				       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
				       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
	const uint8_t *b = p;

	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc = t[(crc ^ b[i]) & 15] ^ (crc >> 4);
		crc = t[(crc ^ (uint32_t)(b[i] >> 4)) & 15] ^ (crc >> 4);
	}
	return ~crc;
}
