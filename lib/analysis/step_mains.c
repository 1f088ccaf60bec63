/* SPDX-License-Identifier: MIT */
/* Readings faster than the mains: instantaneous power swings with it. */
#include "analysis/steps_core.h"

#include <math.h>

#define PI	   3.14159265358979323846
#define PLACE	   13.0 /* as in step_result.c */
#define MOST_BLOCK 1024 /* readings; a change need not be placed better */
#define LOOKED	   8192 /* readings in a row */
#define FAST	   10.0 /* Hz */
#define STANDS_OUT 40.0 /* times what noise has at one frequency */

/* Power at f over that of white noise of the same variance: 1 on the average. */
static double stands_out(const double *v, size_t n, double period, double f, double var)
{
	double c = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		double w = 2 * PI * f * (double)i * period;

		c += v[i] * cos(w);
		s += v[i] * sin(w);
	}
	return (c * c + s * s) / ((double)n * var);
}

/* The swing of a load is at the mains' frequency or its double. */
static double find(const double *v, size_t n, double period, double var)
{
	double best = STANDS_OUT, hz = 0;

	for (int k = 0; k < 4; k++) {
		double f = k & 1 ? 60 : 50, s;

		if (f * (k & 2 ? 2 : 1) > 0.5 / period)
			continue;
		s = stands_out(v, n, period, f * (k & 2 ? 2 : 1), var);
		if (s > best) {
			best = s;
			hz = f;
		}
	}
	return hz;
}

/* Fewest cycles whose readings are nearly a whole number. */
static size_t whole_cycles(double readings)
{
	size_t best = 1;
	double least = INFINITY;

	for (int k = 1; k <= 6; k++) {
		double n = readings * k, off = fabs(n - floor(n + 0.5)) / n;

		if (off < least - 1e-9) {
			least = off;
			best = (size_t)(n + 0.5);
		}
		if (off < 5e-4)
			break;
	}
	return best ? best : 1;
}

size_t ww_step_mains(const struct ww_step_input *in, double period, double *hz)
{
	size_t n = in->n < LOOKED ? in->n : LOOKED, m = 0;
	double v[LOOKED], trend[2] = {0, 0}, var = 0;

	*hz = 0;
	if (!(period * FAST < 1 - 1e-6) || n < 16)
		return 1;
	while (m < n && !(m && in->hole && in->hole[m])) {
		v[m] = in->v[m];
		trend[m >= n / 2] += v[m];
		m++;
	}
	if (m < n)
		trend[1] = trend[0] = (trend[0] + trend[1]) / 2;
	for (size_t i = 0; i < m; i++) {
		v[i] -= trend[i >= n / 2] / ((double)m / 2);
		var += v[i] * v[i] / (double)m;
	}
	if (m >= 64 && var > 0)
		*hz = find(v, m, period, var);
	/* Neither seen: a tenth of a second is whole cycles of both. */
	if (*hz == 0)
		return (size_t)fmax(1, floor(0.1 / period + 0.5));
	return whole_cycles(1 / (*hz * period));
}

/* Cycles on either side that the shape of the swing is taken from. */
#define SHAPED 8
#define NEAR   3 /* averages on either side among which the change lies */

/* Mean of the readings of [from, from + blocks * block) at each place in a block. */
static double shape(const double *v, size_t from, size_t blocks, size_t block, double *mean)
{
	double ss = 0;

	for (size_t i = 0; i < block; i++) {
		mean[i] = 0;
		for (size_t k = 0; k < blocks; k++)
			mean[i] += v[from + k * block + i] / (double)blocks;
		for (size_t k = 0; k < blocks; k++)
			ss += pow(v[from + k * block + i] - mean[i], 2);
	}
	return ss / (double)(block * (blocks - 1));
}

/*
 * By how much the swing moves on, as variance, from where the shape was taken to where it
 * is used: cycles that are no whole number of readings.
 */
static double moves(const double *v, size_t from, size_t block, double s2)
{
	double ss = 0;

	for (size_t i = from; i < from + block; i++) {
		const double *last = v + i + (SHAPED - 2) * block;

		ss += pow((v[i] + v[i + block] - last[0] - last[block]) / 2, 2) / (double)block;
	}
	return ss > s2 ? (ss - s2) * pow((SHAPED + 2 * NEAR) / 2.0 / (SHAPED - 2), 2) : 0;
}

/*
 * What the sums of least squares may be off by: they are those of noise, and of a swing
 * that both shapes miss, which cancels over each of its cycles.
 */
static double slack(double s2, double moved, const double *before, const double *after,
		    size_t block, double cycle)
{
	double dd = 0;

	for (size_t i = 0; i < block; i++)
		dd += pow(before[i] - after[i], 2) / (double)block;
	return PLACE * s2 + 4 * sqrt(2 * moved * dd) * cycle / PI;
}

/*
 * Where the readings stop following the swing before the change and follow the one
 * after it: the place of least squares, and those hardly worse (as in step_result.c).
 */
void ww_step_refine(const struct ww_step_data *d, const struct ww_step_input *in,
		    struct ww_step_event *e)
{
	size_t block = d->block, from, to, best, lo, hi;
	double before[MOST_BLOCK], after[MOST_BLOCK], s2, sum = 0, least = 0, most;
	double sums[2 * NEAR * MOST_BLOCK + 1] = {0};

	if (block > MOST_BLOCK || e->i < (SHAPED + NEAR) * block ||
	    e->i + (SHAPED + NEAR) * block > in->n)
		return;
	from = e->i - NEAR * block;
	to = e->i + NEAR * block;
	for (size_t i = from - SHAPED * block; in->hole && i < to + SHAPED * block; i++)
		if (in->hole[i])
			return;
	s2 = (shape(in->v, from - SHAPED * block, SHAPED, block, before) +
	      shape(in->v, to, SHAPED, block, after)) /
	     2;
	most = slack(s2,
		     moves(in->v, from - SHAPED * block, block, s2) + moves(in->v, to, block, s2),
		     before, after, block, 1 / (2 * d->mains_hz * d->period / (double)block));
	best = from;
	for (size_t i = from; i < to; i++) {
		double a = in->v[i] - before[(i - from) % block],
		       b = in->v[i] - after[(i - from) % block];

		sum += a * a - b * b;
		sums[i - from + 1] = sum;
		if (sum < least) {
			least = sum;
			best = i + 1;
		}
	}
	lo = 0;
	hi = to - from;
	while (sums[lo] > least + most)
		lo++;
	while (sums[hi] > least + most)
		hi--;
	/* At an end of what was looked at nothing is known. */
	if (lo == 0 || hi == to - from)
		return;
	e->i = best;
	e->t_lo = in->lo ? in->lo[from + lo - 1] : in->t[from + lo - 1];
	e->t_hi = in->hi ? in->hi[from + hi] : in->t[from + hi];
}
