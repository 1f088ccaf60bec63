/* SPDX-License-Identifier: MIT */
#include "analysis/noise.h"
#include "base/stats.h"

#include <math.h>

#define PI 3.14159265358979323846

void ww_noise_init(struct ww_noise *z)
{
	z->fill = 0;
	z->skip = 0;
	z->stride = 1;
	z->blocks = 0;
}

static void sort(double *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double x = v[i];
		size_t at = i;

		for (; at > 0 && v[at - 1] > x; at--)
			v[at] = v[at - 1];
		v[at] = x;
	}
}

/*
 * Half the mean of the smallest nine tenths of the squared differences at a
 * lag, made unbiased for normal noise: the mean of a chi-square of one degree
 * below its 90th percentile is 0.623. A load that switches inside the block
 * falls into the tenth that is left out. Where it switches more often, at the
 * larger lags first, what stands out by six times the median (and by more than
 * the quantiser makes) is no noise either.
 */
static double lag_variance(const int64_t *x, size_t n, size_t lag, double *plain)
{
	size_t m = n - lag, kept = m - m / 10, below = 0;
	double sq[WW_NOISE_BLOCK], most = 0, limit, calm = 0;

	for (size_t i = 0; i < m; i++) {
		double d = (double)x[i + lag] - (double)x[i];

		sq[i] = d * d;
	}
	sort(sq, m);
	for (size_t i = 0; i < kept; i++)
		most += sq[i];
	most /= (double)kept * 2 * 0.623;
	/* The median of a chi-square of one degree is 0.455. */
	limit = 36 * sq[m / 2] / 0.455;
	limit = limit > 6.25 ? limit : 6.25;
	for (; below < m && sq[below] <= limit; below++)
		calm += sq[below];
	calm /= 2 * (double)below;
	*plain = calm;
	return calm < most && 2 * below >= m ? calm : most;
}

/* Keep every second of the blocks, so that there is room again. */
static void thin_out(struct ww_noise *z)
{
	for (size_t k = 0; k <= WW_NOISE_LAGS; k++)
		for (size_t i = 0; 2 * i < z->blocks; i++)
			z->v[k][i] = z->v[k][2 * i];
	z->blocks = (z->blocks + 1) / 2;
	z->stride *= 2;
}

void ww_noise_flush(struct ww_noise *z)
{
	size_t n = z->fill;
	double plain;

	z->fill = 0;
	if (n < WW_NOISE_LEAST)
		return;
	if (z->blocks == WW_NOISE_BLOCKS)
		thin_out(z);
	for (size_t k = WW_NOISE_LAGS; k-- > 0;)
		z->v[k][z->blocks] = (float)lag_variance(z->buf, n, k + 1, &plain);
	z->v[WW_NOISE_LAGS][z->blocks] = (float)plain;
	z->blocks++;
	z->skip = (z->stride - 1) * WW_NOISE_BLOCK;
}

/* Least squares of v[k] = s2 (1 - phi^(k+1)): s2 for a phi, and what remains. */
static double residual(const double *v, double phi, double *s2)
{
	double p = 1, vf = 0, ff = 0, r = 0;

	for (size_t k = 0; k < WW_NOISE_LAGS; k++) {
		p *= phi;
		vf += v[k] * (1 - p);
		ff += (1 - p) * (1 - p);
	}
	*s2 = vf / ff;
	p = 1;
	for (size_t k = 0; k < WW_NOISE_LAGS; k++) {
		double d;

		p *= phi;
		d = v[k] - *s2 * (1 - p);
		r += d * d;
	}
	return r;
}

struct ww_noise_fit ww_noise_get(const struct ww_noise *z)
{
	struct ww_noise_fit fit = {.sigma = NAN, .spread = NAN, .tau = 1};
	double v[WW_NOISE_LAGS + 1], tmp[WW_NOISE_BLOCKS + 1], best = INFINITY;
	struct ww_noise last = *z;

	/* A copy takes the readings that do not fill a block yet. */
	if (last.blocks == 0)
		ww_noise_flush(&last);
	if (last.blocks == 0)
		return fit;
	for (size_t k = 0; k <= WW_NOISE_LAGS; k++) {
		for (size_t i = 0; i < last.blocks; i++)
			tmp[i] = (double)last.v[k][i];
		v[k] = ww_median(tmp, last.blocks);
	}
	for (int i = 0; i < 198; i++) {
		double phi = i / 200.0, s2, r = residual(v, phi, &s2);

		if (r < best) {
			best = r;
			fit.phi = phi;
			fit.sigma = sqrt(s2);
		}
	}
	fit.spread = sqrt(v[WW_NOISE_LAGS]);
	fit.tau = (1 + fit.phi) / (1 - fit.phi);
	return fit;
}

double ww_quantiser_u(double q, double sigma)
{
	double r, sum = 0;
	int k;

	if (!(q > 0))
		return 0;
	r = sigma / q;
	for (k = 1; k <= 2000; k++) {
		double e = 4 * PI * PI * r * r * (double)k * (double)k;

		if (e > 40)
			break;
		sum += exp(-e) / ((double)k * (double)k);
	}
	/* Hardly any dither: the rest of the sum of 1/k^2. */
	if (k > 2000)
		sum += 1 / (k - 0.5);
	return q / PI * sqrt(sum / 2);
}

double ww_quantiser_seen_u(double q, double seen)
{
	double dither2 = seen * seen - q * q / 12, r, u;

	if (!(q > 0))
		return 0;
	u = ww_quantiser_u(q, dither2 > 0 ? sqrt(dither2) : 0);
	/*
	 * Of all levels and dithers that would show as `seen`, twice this bounds
	 * what the mean is off by (found by enumeration, up to 0.48 q).
	 */
	r = seen / (0.52 * q);
	if (r < 1)
		u = fmax(u, q / sqrt(12) * sqrt(1 - r * r));
	return u;
}
