/* SPDX-License-Identifier: MIT */
/* A display that shows fewer digits of larger values than its resolution says. */
#include "analysis/steps_core.h"

#include <math.h>

#define SURE 36 /* bits: that so many values are multiples by chance */

static double shows(const struct ww_step_data *d, size_t i)
{
	return fabs(d->v[i] + d->centre);
}

/* Whether all readings above some value are multiples of k counts; the value. */
static bool multiples(const struct ww_step_data *d, long long k, double *from)
{
	double seen[SURE];
	size_t n = 0, enough = (size_t)ceil(SURE / log2((double)k));

	*from = 0;
	for (size_t i = 0; i < d->n; i++) {
		double v = shows(d, i);

		if (v > *from && llround(v / d->q) % k)
			*from = v;
	}
	/* Each value that is one tells as much as it is rare. */
	for (size_t i = 0; i < d->n && n < enough; i++) {
		double v = shows(d, i);
		size_t j;

		if (!(v > *from) || (i && d->v[i] == d->v[i - 1]))
			continue;
		for (j = 0; j < n && fabs(v - seen[j]) > d->q / 2; j++)
			;
		if (j == n)
			seen[n++] = v;
	}
	return n >= enough;
}

void ww_step_range(struct ww_step_data *d)
{
	static const int counts[] = {100, 50, 20, 10, 5, 2};

	d->coarse = 0;
	for (size_t i = 0; i < d->n && d->q > 0; i++)
		if (!(shows(d, i) < 1e15 * d->q))
			return;
	for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]) && d->q > 0; k++)
		if (multiples(d, counts[k], &d->coarse_from)) {
			d->coarse = counts[k] * d->q;
			return;
		}
}

double ww_step_own_q(const struct ww_step_data *d, size_t from, size_t to)
{
	if (!(d->coarse > 0))
		return d->q;
	for (size_t i = from; i < to; i++)
		if (!d->out[i] && !(shows(d, i) > d->coarse_from))
			return d->q;
	return d->coarse;
}
