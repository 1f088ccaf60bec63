/* SPDX-License-Identifier: MIT */
/* A line through readings, with the uncertainty of its level and of its slope. */
#include "analysis/noise.h"
#include "analysis/standby.h"
#include "base/stats.h"

#include <math.h>

#define HOUR	 3600.0
#define LAGS_MAX 400 /* readings; noise that lasts longer is a drift */

size_t ww_standby_at(const struct ww_standby_data *d, double t)
{
	size_t lo = 0, hi = d->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (d->t[mid] < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

double ww_standby_widen(double u, double dof)
{
	if (!(dof > 0))
		return INFINITY;
	return dof < 200 ? u * ww_student_t(0.95, dof) / 1.959963984540054 : u;
}

static double product(const double *e, size_t n, size_t lag)
{
	double s = 0;

	for (size_t i = lag; i < n; i++)
		s += e[i] * e[i - lag];
	return s;
}

double ww_standby_tau(const double *e, size_t n)
{
	double c0 = product(e, n, 0), tau = -1;
	size_t most = n / 4 < LAGS_MAX ? n / 4 : LAGS_MAX;

	if (!(c0 > 0))
		return 1;
	for (size_t k = 0; k + 1 <= most; k += 2) {
		double pair = (product(e, n, k) + product(e, n, k + 1)) / c0;

		if (!(pair > 0))
			break;
		tau += 2 * pair;
	}
	return tau > 1 ? tau : 1;
}

bool ww_standby_line(struct ww_standby_data *d, double from, double to, struct ww_standby_fit *f)
{
	struct ww_sum st = {0}, sv = {0}, stt = {0}, stv = {0}, ss = {0};
	double mt, mv;

	*f = (struct ww_standby_fit){.from = from, .to = to, .dof = INFINITY, .tau = 1};
	f->a = ww_standby_at(d, from);
	f->b = ww_standby_at(d, to);
	f->n = f->b > f->a ? f->b - f->a : 0;
	if (f->n < 3)
		return false;
	for (size_t i = f->a; i < f->b; i++) {
		ww_sum_add(&st, d->t[i]);
		ww_sum_add(&sv, d->v[i]);
	}
	mt = ww_sum_get(&st) / (double)f->n;
	mv = ww_sum_get(&sv) / (double)f->n;
	for (size_t i = f->a; i < f->b; i++) {
		ww_sum_add(&stt, (d->t[i] - mt) * (d->t[i] - mt));
		ww_sum_add(&stv, (d->t[i] - mt) * (d->v[i] - mv));
	}
	f->mean = mv;
	if (!(ww_sum_get(&stt) > 0))
		return false;
	f->slope = ww_sum_get(&stv) / ww_sum_get(&stt) * HOUR;
	for (size_t i = f->a; i < f->b; i++) {
		double e = d->v[i] - mv - f->slope / HOUR * (d->t[i] - mt);

		d->scratch[i - f->a] = e;
		ww_sum_add(&ss, e * e);
	}
	f->s = sqrt(ww_sum_get(&ss) / (double)(f->n - 2));
	/* Until ww_standby_line_u() looks at the residuals: as if they were independent. */
	f->u_slope = f->s / sqrt(ww_sum_get(&stt)) * HOUR;
	f->u_noise = f->s / sqrt((double)f->n);
	return true;
}

/*
 * Take the part of a parabola out of the residuals of a line: a decay that bends is no
 * noise that lasts, and must not widen the slope.
 */
static void unbend(const struct ww_standby_data *d, const struct ww_standby_fit *f, double *e)
{
	double mid = (d->t[f->a] + d->t[f->b - 1]) / 2, half = (d->t[f->b - 1] - d->t[f->a]) / 2;
	double m2 = 0, sxx = 0, sxe = 0;

	if (!(half > 0) || f->n < 16)
		return;
	for (size_t i = f->a; i < f->b; i++)
		m2 += pow((d->t[i] - mid) / half, 2) / (double)f->n;
	for (size_t i = f->a; i < f->b; i++) {
		double x = pow((d->t[i] - mid) / half, 2) - m2;

		sxx += x * x;
		sxe += x * e[i - f->a];
	}
	for (size_t i = f->a; i < f->b && sxx > 0; i++)
		e[i - f->a] -= sxe / sxx * (pow((d->t[i] - mid) / half, 2) - m2);
}

void ww_standby_line_u(struct ww_standby_data *d, struct ww_standby_fit *f)
{
	double within = 0, drift_q;

	unbend(d, f, d->scratch);
	f->tau = ww_standby_tau(d->scratch, f->n);
	f->dof = (double)f->n / f->tau - 2;
	f->u_slope = ww_standby_widen(f->u_slope * sqrt(f->tau), f->dof);
	f->u_noise = ww_standby_widen(f->u_noise * sqrt(f->tau), f->dof);
	for (size_t i = f->a; i < f->b; i++)
		within += d->within[i] / (double)f->n;
	f->u_q = ww_quantiser_seen_u(d->q, sqrt(f->s * f->s + within));
	/*
	 * A display that stands still has a scatter of 0, but what is behind it may move from
	 * one end of a step to the other: q/T either way at most, a rectangular distribution.
	 */
	drift_q = 2 * f->u_q / (f->to - f->from) * HOUR;
	f->u_slope = sqrt(f->u_slope * f->u_slope + drift_q * drift_q);
}
