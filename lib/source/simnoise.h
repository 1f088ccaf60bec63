/* SPDX-License-Identifier: MIT */
/*
 * Gaussian noise in whole numbers only, so that a seed gives the same codes with
 * every compiler: the sum of twelve uniform 16-bit numbers (Irwin-Hall) has a
 * standard deviation of exactly 65536 but for 2^-33, and tails to 6 of them.
 */
#ifndef WW_SIMNOISE_H
#define WW_SIMNOISE_H

#include <stdint.h>

/* xoshiro256** of Blackman and Vigna (2018), seeded by splitmix64. */
struct ww_noise {
	uint64_t s[4];
};

void ww_noise_seed(struct ww_noise *g, uint64_t seed);

static inline uint64_t ww_noise_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static inline uint64_t ww_noise_next(struct ww_noise *g)
{
	uint64_t r = ww_noise_rotl(g->s[1] * 5, 7) * 9, t = g->s[1] << 17;

	g->s[2] ^= g->s[0];
	g->s[3] ^= g->s[1];
	g->s[1] ^= g->s[2];
	g->s[0] ^= g->s[3];
	g->s[2] ^= t;
	g->s[3] = ww_noise_rotl(g->s[3], 45);
	return r;
}

/* The four 16-bit parts of x, summed. */
static inline uint64_t ww_noise_sum4(uint64_t x)
{
	const uint64_t even = UINT64_C(0x0000ffff0000ffff);
	uint64_t y = (x & even) + ((x >> 16) & even);

	return (y & UINT64_C(0xffffffff)) + (y >> 32);
}

/* Normal, mean 0, standard deviation 65536. */
static inline int64_t ww_noise_q16(struct ww_noise *g)
{
	uint64_t a = ww_noise_sum4(ww_noise_next(g));
	uint64_t b = ww_noise_sum4(ww_noise_next(g));
	uint64_t c = ww_noise_sum4(ww_noise_next(g));

	/* Twelve times the mean 32767.5. */
	return (int64_t)(a + b + c) - 393210;
}

#endif
