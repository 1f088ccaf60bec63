/* SPDX-License-Identifier: MIT */
#include "source/simnoise.h"

void ww_noise_seed(struct ww_noise *g, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = seed += UINT64_C(0x9e3779b97f4a7c15);

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		g->s[i] = z ^ (z >> 31);
	}
}
