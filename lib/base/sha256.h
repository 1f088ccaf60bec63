/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4), to name the data that a figure was computed from. */
#ifndef WW_SHA256_H
#define WW_SHA256_H

#include "base/base.h"

struct ww_sha256 {
	uint32_t h[8];
	uint64_t bytes;
	uint8_t block[64];
};

void ww_sha256_init(struct ww_sha256 *s);
void ww_sha256_add(struct ww_sha256 *s, const void *data, size_t n);
/* A number as eight bytes, the least first. */
void ww_sha256_add64(struct ww_sha256 *s, uint64_t v);
/* 64 hexadecimal digits and a NUL. */
void ww_sha256_end(struct ww_sha256 *s, char hex[65]);

#endif
