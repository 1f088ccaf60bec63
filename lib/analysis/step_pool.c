/* SPDX-License-Identifier: MIT */
/* Correlation that the levels leave. */
#include "analysis/steps_core.h"

#include <math.h>

#define LAGS   64
#define ENOUGH 4096   /* readings of one level that are looked at */
#define TOTAL  200000 /* and of all */

/* Sums of products of residuals at each lag, in units of their level's variance. */
struct products {
	double sum[LAGS + 1];
	double n[LAGS + 1];
	double levels; /* parameters fitted */
};

static void add_level(struct products *p, const struct ww_step_data *d, size_t from, size_t to,
		      bool odd)
{
	struct ww_step_fit f;
	double r[LAGS + 1], s;
	size_t since = from;

	if (to - from < 16 || odd != d->odd[(from + (to - from) / 2) / WW_STEP_BLOCK])
		return;
	ww_step_fit(d, from, to, &f);
	if (to - from > ENOUGH)
		to = from + ENOUGH;
	/* Display noise alone, or none, is not correlated. */
	s = fmax(d->floor, sqrt(f.rss / fmax(1, f.n - f.params)));
	for (size_t i = from; i < to; i++) {
		/* A hole or an outlier ends the row. */
		if (d->out[i] || d->hole[i])
			since = d->out[i] ? i + 1 : i;
		if (d->out[i])
			continue;
		r[i % (LAGS + 1)] = (d->v[i] - ww_step_fit_at(&f, d->t[i])) / s;
		for (size_t k = 0; k <= LAGS && i >= since + k; k++) {
			p->sum[k] += r[i % (LAGS + 1)] * r[(i - k) % (LAGS + 1)];
			p->n[k] += 1;
		}
	}
	p->levels += f.params;
}

/*
 * tau by the sum over `lags` (Newey & West 1987: some root of n tells them), where it is
 * larger than `first` by some standard deviations of its own.
 */
static double long_tau(const struct products *p, double first, double lags, double least)
{
	size_t most = (size_t)fmin(LAGS, lags);
	double sum = 1, noise = sqrt(4.0 * (double)most / (3 * p->n[1]));

	for (size_t k = 1; k <= most; k++)
		if (p->n[k] > 0)
			sum += 2 * (1 - (double)k / (double)(most + 1)) * p->sum[k] / p->n[k] /
			       (p->sum[0] / p->n[0]);
	/* The fits take this much of it. */
	sum *= 1 + first * p->levels / p->n[1];
	return sum > first * (1.1 + least * noise) ? sum : first;
}

/*
 * phi of first order from all residuals, corrected for what the fits took (Kendall
 * 1954); tau from it, or from the sum over more lags (Newey & West 1987) where the
 * correlation clearly lasts longer than of first order.
 */
void ww_step_pooled(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		    bool odd, double *phi, double *tau)
{
	struct products p = {.levels = 0};
	size_t stride = 1 + d->n / TOTAL;
	double n, first;

	/* Every so manieth of many levels. */
	if (bounds < 8 * stride)
		stride = 1;

	for (size_t k = 0; k <= bounds && p.n[0] < TOTAL; k += stride)
		add_level(&p, d, k ? bound[k - 1].f : 0, k < bounds ? bound[k].i : d->n, odd);
	n = p.n[1];
	if (n < 32)
		return;
	if (p.sum[0] < 0.05 * p.n[0]) {
		*phi = 0;
		*tau = 1;
		return;
	}
	*phi = p.sum[1] / p.n[1] / (p.sum[0] / p.n[0]);
	*phi += (1 + 4 * fmax(0, *phi)) * p.levels / n;
	/* Chance makes as much; white noise stays white. */
	if (*phi < 2 / sqrt(n))
		*phi = 0;
	*phi = fmin(*phi, 0.98);
	*tau = (1 + *phi) / (1 - *phi);
	first = *tau;
	*tau = fmax(long_tau(&p, first, 1.5 * cbrt(n), 3), long_tau(&p, first, 3 * cbrt(n), 7));
}
