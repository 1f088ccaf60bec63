/* SPDX-License-Identifier: MIT */
/* Noise of a channel, found from the readings alone, and what a quantiser adds. */
#ifndef WW_NOISE_H
#define WW_NOISE_H

#include "base/base.h"

#define WW_NOISE_BLOCK	 64 /* readings in a row that are looked at together */
#define WW_NOISE_LEAST	 16 /* fewer tell nothing of their correlation */
#define WW_NOISE_LAGS	 5
#define WW_NOISE_BLOCKS	 512 /* most blocks kept; beyond, every 2nd, 4th ... */
#define WW_NOISE_BATCHES 32  /* most batches; beyond, two are made one */

/*
 * Fed reading by reading; the memory is bounded. Which blocks are kept depends
 * on the order of the readings alone, not on how they were handed over.
 */
struct ww_noise {
	double quantum; /* codes of a display's step; set after init where not 1 */
	size_t fill;
	uint64_t cut;	 /* bit i: no difference is taken across the start of reading i */
	uint64_t skip;	 /* readings to pass over until the next block */
	uint64_t stride; /* every how manieth block is kept */
	size_t blocks;
	uint64_t pairs[WW_NOISE_LAGS];
	int64_t buf[WW_NOISE_BLOCK];
	/* by lag; last: of second differences; NaN: too few pairs */
	float v[WW_NOISE_LAGS + 1][WW_NOISE_BLOCKS];

	/* means of all readings in turn, batch_n of them each */
	size_t batches;
	uint64_t batch_n, batch_fill;
	double batch_sum;
	double batch[WW_NOISE_BATCHES];
};

/* First-order autoregressive noise: standard deviation (in codes), correlation, tau. */
struct ww_noise_fit {
	double sigma; /* NaN: not known */
	double phi;
	double spread; /* from neighbours alone, whatever the correlation */
	double tau;    /* (1 + phi)/(1 - phi): n/tau independent readings */
	double df;     /* degrees of freedom of sigma with few readings, else INFINITY */
	bool slow;     /* the correlation lasts as long as a block: see ww_noise_mean_u */
};

void ww_noise_init(struct ww_noise *z);
void ww_noise_flush(struct ww_noise *z);
void ww_noise_batch(struct ww_noise *z);
struct ww_noise_fit ww_noise_get(const struct ww_noise *z);

/*
 * Standard uncertainty, in codes, of the mean of n such readings: twice as much
 * covers 95 %, so that it is widened by Student's factor where few independent
 * readings tell sigma. floor: least sigma. spread: standard deviation of all
 * readings, whatever made it: no mean is more uncertain.
 */
double ww_noise_mean_u(const struct ww_noise *z, const struct ww_noise_fit *fit, uint64_t n,
		       double floor, double spread);

/* A hole in the readings: no difference is taken across it. */
static inline void ww_noise_break(struct ww_noise *z)
{
	z->cut |= UINT64_C(1) << z->fill;
}

static inline void ww_noise_add(struct ww_noise *z, int64_t code)
{
	z->batch_sum += (double)code;
	if (++z->batch_fill == z->batch_n)
		ww_noise_batch(z);
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
