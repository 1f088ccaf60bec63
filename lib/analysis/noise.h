/* SPDX-License-Identifier: MIT */
/* Noise of a channel, found from the readings alone, and what a quantiser adds. */
#ifndef WW_NOISE_H
#define WW_NOISE_H

#include "base/base.h"

#define WW_NOISE_BLOCK	64 /* readings in a row that are looked at together */
#define WW_NOISE_LEAST	16 /* fewer in a row tell nothing */
#define WW_NOISE_LAGS	5
#define WW_NOISE_BLOCKS 512 /* most blocks kept; beyond, every 2nd, 4th ... */

/*
 * Fed reading by reading; the memory is bounded. Which blocks are kept depends
 * on the order of the readings alone, not on how they were handed over.
 */
struct ww_noise {
	size_t fill;
	uint64_t skip;	 /* readings to pass over until the next block */
	uint64_t stride; /* every how manieth block is kept */
	size_t blocks;
	int64_t buf[WW_NOISE_BLOCK];
	float v[WW_NOISE_LAGS + 1][WW_NOISE_BLOCKS]; /* by lag; last: plain, of lag 1 */
};

/* First-order autoregressive noise: standard deviation (in codes), correlation, tau. */
struct ww_noise_fit {
	double sigma; /* NaN: too few readings in a row */
	double phi;
	double spread; /* standard deviation without the assumption that it is normal */
	double tau;    /* (1 + phi)/(1 - phi): n/tau independent readings */
};

void ww_noise_init(struct ww_noise *z);
void ww_noise_flush(struct ww_noise *z);
struct ww_noise_fit ww_noise_get(const struct ww_noise *z);

/* A hole in the readings: no difference is taken across it. */
static inline void ww_noise_break(struct ww_noise *z)
{
	if (z->fill)
		ww_noise_flush(z);
}

static inline void ww_noise_add(struct ww_noise *z, int64_t code)
{
	if (z->skip) {
		z->skip--;
		return;
	}
	z->buf[z->fill++] = code;
	if (z->fill == WW_NOISE_BLOCK)
		ww_noise_flush(z);
}

/*
 * Standard uncertainty that a quantiser of step q leaves in a mean, with noise of
 * standard deviation sigma before it as dither: q/sqrt(12) without, little with.
 */
double ww_quantiser_u(double q, double sigma);
/*
 * The same from the noise that is seen behind the quantiser. Sheppard's correction
 * tells the dither only where more than two codes appear: a clean level at the
 * edge of a code flips between two as a dithered one does, and up to a standard
 * deviation of q/2.
 */
double ww_quantiser_seen_u(double q, double seen);

#endif
