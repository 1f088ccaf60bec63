/* SPDX-License-Identifier: MIT */
#ifndef WW_ANALYSIS_PLAN_H
#define WW_ANALYSIS_PLAN_H

#include "base/base.h"

struct ww_plan {
	struct ww_plan_info info;
	char **name;	/* [devices] */
	uint8_t *state; /* [readings][devices] */
	double *u;	/* [devices] standard uncertainty of each */
	bool one_flip;
};

/*
 * A Hadamard matrix of order n (1, 2 or a multiple of 4) as bits, row by row, its first
 * row and column all 0: Sylvester's doubling, Paley's two constructions over primes.
 * @return 0, -ENOENT where these give none
 */
int ww_hadamard(size_t n, uint8_t *bit);

#endif
