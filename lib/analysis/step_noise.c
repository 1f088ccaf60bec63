/* SPDX-License-Identifier: MIT */
/*
 * Noise without tuning: in blocks, so that settling spoils few of them, and without
 * gross differences, so that a change or a spike within a block does not spoil it.
 */
#include "analysis/steps_core.h"
#include "base/stats.h"

#include <math.h>

#define GROSS  5.0		   /* standard deviations; more is a change of level or a spike */
#define WIDE   (2 * WW_STEP_BLOCK) /* readings that tell of correlation */
#define HELD   0.05		   /* part of the variance: readings that do not follow */
#define BLOCKS 512		   /* most that are looked at for the correlation */

static void swap(double *a, double *b)
{
	double t = *a;

	*a = *b;
	*b = t;
}

/* Reorder so that the k smallest come first (Hoare 1961). */
static void smallest(double *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		size_t i = lo, j = hi;

		for (;;) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap(&v[i++], &v[j--]);
		}
		if (j < k)
			lo = j + 1;
		else
			hi = j;
	}
}

/*
 * The smallest square but none, where none is usual and others are not rare: a display
 * whose step nobody told.
 */
static double least_step(const double *sq, size_t n)
{
	double least = INFINITY;
	size_t none = 0;

	for (size_t i = 0; i < n; i++) {
		if (sq[i] > 0)
			least = fmin(least, sq[i]);
		else
			none++;
	}
	return 3 * none > n && 10 * none < 9 * n ? least : 0;
}

/*
 * Half the variance of the differences at a lag in [from, to), less those that stand
 * out of their median by what neither noise nor the display does; NaN: too few.
 */
static double lag_variance(const struct ww_step_data *d, size_t from, size_t to, size_t lag)
{
	double sq[WIDE], sum = 0, most;
	size_t n = 0, kept = 0, since = from;

	for (size_t i = from; i < to; i++) {
		double x;

		if (d->hole[i])
			since = i;
		if (i < since + lag)
			continue;
		x = d->v[i] - d->v[i - lag];
		sq[n++] = x * x;
	}
	if (n < 4)
		return NAN;
	smallest(sq, n, (n + 1) / 2);
	most = 0;
	for (size_t i = 0; i < (n + 1) / 2; i++)
		most = fmax(most, sq[i]);
	/* The median of a squared standard normal variable is 0.4549. */
	most = fmax(GROSS * GROSS * most / 0.4549, 6.25 * fmax(d->q * d->q, least_step(sq, n)));
	for (size_t i = 0; i < n; i++) {
		if (sq[i] > most)
			continue;
		sum += sq[i];
		kept++;
	}
	return sum / (double)kept / 2;
}

/* Medians over blocks of the variances at each lag; of the short blocks each at lag 1. */
static int lag_medians(struct ww_step_data *d, double v[WW_STEP_LAGS])
{
	size_t blocks = d->n / WIDE + 1, stride = blocks / BLOCKS + 1;
	double *tmp = malloc(blocks * sizeof(*tmp));

	if (!tmp)
		return -ENOMEM;
	for (size_t lag = 1; lag <= WW_STEP_LAGS; lag++) {
		size_t n = 0;

		for (size_t b = 0; b < blocks; b += stride) {
			size_t from = b * WIDE, to = from + WIDE;
			double x = lag_variance(d, from, to < d->n ? to : d->n, lag);

			/* A short last block tells less. */
			if (!isnan(x) && (to <= d->n || blocks == 1))
				tmp[n++] = x;
		}
		v[lag - 1] = n ? ww_median(tmp, n) : NAN;
	}
	free(tmp);
	/* A meter that is asked twice before it measures again shows each value twice. */
	d->lag = v[0] < HELD * v[1] && v[1] > d->q * d->q ? 2 : 1;
	for (size_t from = 0; from < d->n; from += WW_STEP_BLOCK) {
		size_t to = from + WW_STEP_BLOCK;

		d->local[from / WW_STEP_BLOCK] =
			lag_variance(d, from, to < d->n ? to : d->n, d->lag);
	}
	return 0;
}

/* Least squares of v[k] = s2 (1 - phi^(k + 1)), from `first` on. */
static double fit_phi(const double v[WW_STEP_LAGS], size_t first, double *s2)
{
	double best = INFINITY, found = 0;

	for (int i = 0; i <= 98; i++) {
		double phi = i / 100.0, p = 1, vf = 0, ff = 0, r = 0, s;

		for (size_t k = 0; k < WW_STEP_LAGS; k++) {
			p *= phi;
			if (k + 1 < first)
				continue;
			vf += v[k] * (1 - p);
			ff += (1 - p) * (1 - p);
		}
		s = vf / ff;
		p = 1;
		for (size_t k = 0; k < WW_STEP_LAGS; k++) {
			p *= phi;
			r += k + 1 < first ? 0 : pow(v[k] - s * (1 - p), 2);
		}
		if (r < best) {
			best = r;
			found = phi;
			*s2 = s;
		}
	}
	return found;
}

/*
 * The spread of the readings of each block, where it differs clearly from the usual; it
 * is odd then, and its noise may last longer.
 */
static void localise(struct ww_step_data *d, double usual)
{
	size_t blocks = (d->n + WW_STEP_BLOCK - 1) / WW_STEP_BLOCK;
	/* A quantiser shows less noise where the level lies upon a code. */
	double before = usual, least = fmax(d->floor, fmin(d->sigma, 0.6 * d->q));

	for (size_t b = 0; b < blocks; b++) {
		double three[3] = {before, d->local[b], b + 1 < blocks ? d->local[b + 1] : usual},
		       s;

		for (int k = 0; k < 3; k++)
			if (isnan(three[k]))
				three[k] = usual;
		before = three[1];
		s = fmax(least, d->sigma * sqrt(ww_median(three, 3) / usual));
		d->odd[b] = s < 0.6 * d->sigma || s > 1.6 * d->sigma;
		d->local[b] = d->odd[b] ? s : d->sigma;
	}
	d->local[blocks] = d->sigma;
}

/* Correlation of the noise in odd blocks: at each lag the median of variances over lag 1. */
static int odd_noise(struct ww_step_data *d)
{
	double v[WW_STEP_LAGS] = {1, 1}, s2 = 0, *tmp, is, was;
	size_t blocks = d->n / WW_STEP_BLOCK, odd = 0, stride;

	for (size_t b = 0; b < blocks; b++)
		odd += d->odd[b];
	stride = odd / BLOCKS + 1;
	tmp = malloc((odd ? odd : 1) * sizeof(*tmp));
	if (!tmp)
		return -ENOMEM;
	for (size_t lag = d->lag + 1; lag <= WW_STEP_LAGS; lag++) {
		size_t n = 0, seen = 0;

		for (size_t b = 0; b < blocks; b++) {
			size_t from = b * WW_STEP_BLOCK, to = from + WW_STEP_BLOCK;
			double one, x;

			if (!d->odd[b] || seen++ % stride)
				continue;
			one = lag_variance(d, from, to, d->lag);
			x = lag_variance(d, from, to, lag);
			if (one > d->floor * d->floor && !isnan(x))
				tmp[n++] = x / one;
		}
		v[lag - 1] = n ? ww_median(tmp, n) : 1;
	}
	free(tmp);
	d->odd_phi = odd ? fit_phi(v, d->lag, &s2) : d->phi;
	d->odd_tau = (1 + d->odd_phi) / (1 - d->odd_phi);
	/* Neighbours of correlated noise differ less than its size. */
	is = 1 - pow(d->odd_phi, (double)d->lag);
	was = 1 - pow(d->phi, (double)d->lag);
	for (size_t b = 0; b <= blocks; b++)
		if (d->odd[b] && d->local[b] > d->sigma)
			d->local[b] *= sqrt(was / is);
	return 0;
}

void ww_step_penalty(struct ww_step_data *d)
{
	double n = fmax(2, (double)d->n);

	d->beta = 2 * d->tau * log(n);
	d->bound = sqrt(2 * d->beta / (d->spike + 0.5));
	d->least = fmax(4.5, 0.7 + sqrt(2 * log(n)));
}

int ww_step_noise(struct ww_step_data *d)
{
	double v[WW_STEP_LAGS], lo = INFINITY, hi = -INFINITY, s2 = 0, phi = 0;
	int rc = lag_medians(d, v);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < d->n; i++) {
		lo = fmin(lo, d->v[i]);
		hi = fmax(hi, d->v[i]);
	}
	/* Without noise nor steps of a display: digits of the numbers themselves. */
	d->floor = d->q > 0 ? d->q / sqrt(12) : d->n ? 1e-6 * (hi - lo) : 1;
	if (!(d->floor > 0))
		d->floor = 1e-9;
	for (size_t k = 0; k < WW_STEP_LAGS; k++)
		if (isnan(v[k]))
			v[k] = k ? v[k - 1] : 0;
	if (d->n >= 32)
		phi = fit_phi(v, d->lag, &s2);
	else
		s2 = v[d->lag - 1];
	d->sigma = fmax(d->floor, sqrt(s2));
	/* What the quantiser alone makes is not correlated as the noise is. */
	if (d->sigma <= d->floor)
		phi = 0;
	d->phi = phi;
	d->tau = (1 + phi) / (1 - phi);
	localise(d, fmax(v[d->lag - 1], d->floor * d->floor * (1 - pow(phi, (double)d->lag))));
	ww_step_penalty(d);
	return odd_noise(d);
}
