/* SPDX-License-Identifier: MIT */
/*
 * The piecewise constant signal that costs least, each change counting beta and
 * each reading min(((y - level)/scale)^2, bound^2), Tukey's biweight loss. Exact.
 * Maidstone, Hocking, Rigaill & Fearnhead, Statistics and Computing 27 (2017);
 * Fearnhead & Rigaill, JASA 114 (2019).
 */
#ifndef WW_FPOP_H
#define WW_FPOP_H

#include "base/base.h"

struct ww_fpop {
	size_t *change; /* first reading of each later segment, rising */
	size_t changes;
	double *level; /* [changes + 1] of each segment; NULL where all readings are equal */
	double cost;   /* of the best; beta for each change is in it */
	size_t pieces; /* most that its function of the level was made of */
};

/* scale: of each reading, > 0; NULL: 1 everywhere. -ENOMEM. */
int ww_fpop(const double *y, const double *scale, size_t n, double beta, double bound,
	    struct ww_fpop *out);
void ww_fpop_clear(struct ww_fpop *f);

#endif
