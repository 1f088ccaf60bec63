/* SPDX-License-Identifier: MIT */
#include "analysis/noise.h"
#include "base/stats.h"

#include <math.h>

#define PI 3.14159265358979323846

void ww_noise_init(struct ww_noise *z)
{
	z->quantum = 1;
	z->fill = 0;
	z->cut = 0;
	z->skip = 0;
	z->stride = 1;
	z->blocks = 0;
	for (size_t k = 0; k < WW_NOISE_LAGS; k++)
		z->pairs[k] = 0;
	z->batches = 0;
	z->batch_n = 1;
	z->batch_fill = 0;
	z->batch_sum = 0;
}

/*
 * Runs of readings between gross steps: run[i] of equal number belong together.
 * A change of the load is not noise. Gross is what stands out of the differences
 * of neighbours by five standard deviations of theirs (more, where there are few
 * to tell it from) and by more than a quantiser makes.
 */
static size_t find_runs(const struct ww_noise *z, unsigned char *run)
{
	double d[WW_NOISE_BLOCK] = {0}, limit, centre = 0;
	size_t m = 0, runs = 0;

	for (size_t i = 1; i < z->fill; i++)
		if (!(z->cut >> i & 1))
			d[m++] = (double)z->buf[i] - (double)z->buf[i - 1];
	/* A ramp is no step. */
	if (m >= WW_NOISE_LEAST)
		centre = ww_median(d, m);
	for (size_t i = 0; i < m; i++)
		d[i] = fabs(d[i] - centre);
	qsort(d, m, sizeof(*d), ww_cmp_double);
	/* 35 % of a normal variable's absolute values are below 0.4538. */
	limit = m ? 4.5 / 0.4538 * (1 + 10.0 / (double)m) * d[m * 35 / 100] : 0;
	limit = fmax(limit, 2.5 * z->quantum);
	for (size_t i = 0; i < z->fill; i++) {
		if (i && (z->cut >> i & 1 ||
			  fabs((double)z->buf[i] - (double)z->buf[i - 1] - centre) > limit))
			runs++;
		run[i] = (unsigned char)runs;
	}
	return runs + 1;
}

/* Half the variance of the differences at a lag: of a ramp nothing is left in it. */
static double lag_variance(struct ww_noise *z, const unsigned char *run, size_t lag)
{
	double s = 0, ss = 0, m;
	size_t pairs = 0;

	for (size_t i = 0; i + lag < z->fill; i++) {
		double d = (double)z->buf[i + lag] - (double)z->buf[i];

		if (run[i] != run[i + lag])
			continue;
		s += d;
		ss += d * d;
		pairs++;
	}
	z->pairs[lag - 1] += pairs;
	m = (double)pairs;
	return pairs < WW_NOISE_LEAST / 2 ? NAN : fmax(0, (ss - s * s / m) / m / 2);
}

/*
 * Mean square of the second differences over twice that of the first: 3 - phi for
 * noise, less than 2 only where a smooth change of the load makes most of both.
 */
static double second_differences(const struct ww_noise *z, const unsigned char *run)
{
	double ss = 0;
	size_t n = 0;

	for (size_t i = 2; i < z->fill; i++) {
		double d = (double)z->buf[i] - 2 * (double)z->buf[i - 1] + (double)z->buf[i - 2];

		if (run[i] != run[i - 2])
			continue;
		ss += d * d;
		n++;
	}
	return n < WW_NOISE_LEAST / 2 ? NAN : ss / (double)n;
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
	unsigned char run[WW_NOISE_BLOCK];

	if (z->fill >= WW_NOISE_LEAST) {
		if (z->blocks == WW_NOISE_BLOCKS)
			thin_out(z);
		find_runs(z, run);
		for (size_t k = 0; k < WW_NOISE_LAGS; k++)
			z->v[k][z->blocks] = (float)lag_variance(z, run, k + 1);
		z->v[WW_NOISE_LAGS][z->blocks] = (float)second_differences(z, run);
		z->blocks++;
		z->skip = (z->stride - 1) * WW_NOISE_BLOCK;
	}
	z->fill = 0;
	z->cut = 0;
}

void ww_noise_batch(struct ww_noise *z)
{
	z->batch[z->batches++] = z->batch_sum / (double)z->batch_n;
	z->batch_sum = 0;
	z->batch_fill = 0;
	if (z->batches < WW_NOISE_BATCHES)
		return;
	for (size_t i = 0; i < WW_NOISE_BATCHES / 2; i++)
		z->batch[i] = (z->batch[2 * i] + z->batch[2 * i + 1]) / 2;
	z->batches = WW_NOISE_BATCHES / 2;
	z->batch_n *= 2;
}

/*
 * Least squares of v[k] = s2 (1 - phi^(k+1)), each counting as it has pairs: s2 for
 * a phi, and what remains.
 */
static double residual(const struct ww_noise *z, const double *v, double phi, double *s2)
{
	double p = 1, vf = 0, ff = 0, r = 0;

	for (size_t k = 0; k < WW_NOISE_LAGS; k++) {
		p *= phi;
		if (isnan(v[k]))
			continue;
		vf += (double)z->pairs[k] * v[k] * (1 - p);
		ff += (double)z->pairs[k] * (1 - p) * (1 - p);
	}
	*s2 = vf / ff;
	p = 1;
	for (size_t k = 0; k < WW_NOISE_LAGS; k++) {
		double d;

		p *= phi;
		if (isnan(v[k]))
			continue;
		d = v[k] - *s2 * (1 - p);
		r += (double)z->pairs[k] * d * d;
	}
	return r;
}

/*
 * The mean of a lag's blocks without those in which something happened: a
 * median would be too small, and the more so the more the noise is correlated.
 */
static double over_blocks(const struct ww_noise *z, size_t lag)
{
	double tmp[WW_NOISE_BLOCKS], limit, sum = 0;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < z->blocks; i++)
		if (!isnan(z->v[lag][i]))
			tmp[n++] = (double)z->v[lag][i];
	if (n == 0 || 4 * n < z->blocks)
		return NAN;
	limit = 4 * ww_median(tmp, n);
	for (size_t i = 0; i < n; i++) {
		if (tmp[i] > limit)
			continue;
		sum += tmp[i];
		kept++;
	}
	return sum / (double)kept;
}

/* Fewer readings than a block: their deviations from the mean of each run. */
static struct ww_noise_fit of_few(const struct ww_noise *z)
{
	struct ww_noise_fit fit = {.sigma = NAN, .spread = NAN, .tau = 1, .df = 0};
	unsigned char run[WW_NOISE_BLOCK];
	double xx = 0, xy = 0, yy = 0;
	size_t runs = find_runs(z, run), n = z->fill;

	if (n < runs + 1)
		return fit;
	for (size_t i = 0, end; i < n; i = end) {
		double x = 0, y = 0, m;

		for (end = i; end < n && run[end] == run[i]; end++) {
			x += (double)end;
			y += (double)z->buf[end];
		}
		m = (double)(end - i);
		for (size_t k = i; k < end; k++) {
			double dx = (double)k - x / m, dy = (double)z->buf[k] - y / m;

			xx += dx * dx;
			xy += dx * dy;
			yy += dy * dy;
		}
	}
	fit.df = (double)(n - runs);
	/* A ramp costs a degree of freedom: where there are some. */
	if (fit.df >= 5) {
		fit.df--;
		yy -= xy * xy / xx;
	}
	fit.sigma = fit.spread = sqrt(fmax(yy, 0) / fit.df);
	return fit;
}

/*
 * The largest correlation, in 1/200, that can be told. Two lags alone tell none, and
 * runs that are shorter than the lags none that lasts longer than they do.
 */
static int most_phi(const double *v)
{
	int lags = 0;

	for (size_t k = 0; k < WW_NOISE_LAGS; k++)
		lags += !isnan(v[k]);
	return lags < 3 ? 0 : lags < WW_NOISE_LAGS ? 150 : 197;
}

struct ww_noise_fit ww_noise_get(const struct ww_noise *z)
{
	struct ww_noise_fit fit = {.sigma = NAN, .spread = NAN, .tau = 1, .df = INFINITY};
	double v[WW_NOISE_LAGS + 1], best = INFINITY, n;
	struct ww_noise last = *z;

	/* A copy takes the readings that do not fill a block yet. */
	if (last.blocks == 0 && last.fill < WW_NOISE_LEAST)
		return of_few(z);
	n = (double)(last.blocks ? last.blocks * WW_NOISE_BLOCK : last.fill);
	if (last.blocks == 0)
		ww_noise_flush(&last);
	for (size_t k = 0; k <= WW_NOISE_LAGS; k++)
		v[k] = over_blocks(&last, k);
	/* The load changed with nearly every reading. */
	if (isnan(v[0]))
		return fit;
	fit.spread = sqrt(v[0]);
	if (v[WW_NOISE_LAGS] < 1.6 * 2 * v[0]) {
		fit.sigma = fit.spread = sqrt(v[WW_NOISE_LAGS] / 6);
		return fit;
	}
	for (int i = 0; i <= most_phi(v); i++) {
		double phi = i / 200.0, s2, r = residual(&last, v, phi, &s2);

		if (r < best) {
			best = r;
			fit.phi = phi;
			fit.sigma = sqrt(s2);
		}
	}
	/* Few readings show too little of it (Kendall 1954). */
	fit.phi = fmin(0.99, fit.phi + (fit.phi > 0 ? (1 + 4 * fit.phi) / n : 0));
	fit.tau = (1 + fit.phi) / (1 - fit.phi);
	fit.slow = fit.tau > WW_NOISE_BLOCK / 8.0;
	return fit;
}

/*
 * Of the mean of all, from the means of batches. The lesser is from the differences
 * of neighbours, which a slow change of the load hardly shows in; the larger from
 * all deviations. 0 and INFINITY with too few.
 */
static void batch_u(const struct ww_noise *z, double *lesser, double *larger)
{
	double n = (double)z->batches, diff = 0, dev = 0, mean = 0, t;

	*lesser = 0;
	*larger = INFINITY;
	if (z->batches < WW_NOISE_BATCHES / 2 || z->batch_n < WW_NOISE_LEAST)
		return;
	for (size_t i = 0; i < z->batches; i++)
		mean += z->batch[i] / n;
	for (size_t i = 0; i < z->batches; i++) {
		diff += i ? pow(z->batch[i] - z->batch[i - 1], 2) : 0;
		dev += pow(z->batch[i] - mean, 2);
	}
	t = ww_student_t(0.9545, n - 1) / 2;
	*lesser = t * sqrt(diff / 2 / (n - 1) / n);
	*larger = 2 * t * sqrt(dev / (n - 1) / n);
}

double ww_noise_mean_u(const struct ww_noise *z, const struct ww_noise_fit *fit, uint64_t n,
		       double floor, double spread)
{
	double m = (double)(n ? n : 1), s = fmax(fit->sigma, floor), df = fit->df, u, lesser,
	       larger;

	if (isinf(df))
		df = fmax(2, m / fit->tau - 1);
	u = s * sqrt(fit->tau / m) * ww_student_t(0.9545, df) / 2;
	if (!isinf(fit->df))
		return u;
	batch_u(z, &lesser, &larger);
	if (fit->slow) {
		/* The spread of so few independent ones shows too little. */
		u = fmax(u, lesser);
		spread *= 2;
	}
	return fmax(fmin(u, fmin(larger, spread)), floor / sqrt(m));
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
