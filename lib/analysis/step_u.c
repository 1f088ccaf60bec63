/* SPDX-License-Identifier: MIT */
/* Uncertainty of levels and changes: quantiser, few readings, the state of a change. */
#include "analysis/noise.h"
#include "analysis/steps_core.h"
#include "base/stats.h"

#include <math.h>

double ww_step_student(double dof)
{
	if (dof < 8)
		return ww_student_t(0.9545, dof) / 2;
	/* Abramowitz & Stegun 26.7.5 for a normal quantile of 2. */
	return 1 + (2.5 + (3.0625 + 2.859375 / dof) / dof) / dof / 2;
}

/* Standard deviation that is seen, whatever was known before. */
double ww_step_seen(const struct ww_step_fit *f)
{
	return f->n < 8 ? sqrt(f->s2) : sqrt(f->rss / (f->n - f->params));
}

/* Variance that a quantiser of step q shows of noise sigma about x. */
static double shown(double x, double q, double sigma)
{
	double sum = 0, sum2 = 0, mean, first = floor((x - 6 * sigma) / q);

	for (int i = 0; first + i <= (x + 6 * sigma) / q + 1; i++) {
		double k = first + i, hi = ((k + 0.5) * q - x) / (sigma * sqrt(2)),
		       lo = ((k - 0.5) * q - x) / (sigma * sqrt(2)), w = (erf(hi) - erf(lo)) / 2;

		sum += w * k * q;
		sum2 += w * k * k * q * q;
	}
	mean = sum;
	return sum2 - mean * mean;
}

/*
 * Noise before the quantiser, if all levels have the same: a level upon a code hides
 * it, one between two shows too much, over levels that evens out (Sheppard).
 */
double ww_step_dither(const struct ww_step_data *d, const struct ww_step_fit *fit, size_t n)
{
	double sum = 0, dof = 0;

	for (size_t k = 0; k < n; k++) {
		if (fit[k].q > d->q)
			continue;
		sum += fit[k].rss;
		dof += fmax(0, fit[k].n - fit[k].params);
	}
	return dof > 0 ? sqrt(fmax(0, sum / dof - d->q * d->q / 12)) : 0;
}

/*
 * What the quantiser leaves in a level's mean. The common noise counts where the
 * level's own spread is one that it can make; else the spread itself.
 */
double ww_step_quantiser(const struct ww_step_fit *f, double dither)
{
	double s = ww_step_seen(f), q = f->q, lo, hi, slack = 4 * sqrt(2 * f->tau / fmax(1, f->n));

	if (!(q > 0))
		return 0;
	if (s > 2 * q)
		return ww_quantiser_u(q, s);
	if (dither > s + q)
		return ww_quantiser_seen_u(q, s);
	lo = dither > 0 ? shown(0, q, dither) : 0;
	hi = dither > 0 ? shown(q / 2, q, dither) : q * q / 4;
	if (dither > 0 && s * s > lo * (1 - slack) && s * s < hi * (1 + slack))
		return ww_quantiser_u(q, dither);
	return ww_quantiser_seen_u(q, s);
}

/* A change of one count or less on a display without noise. */
void ww_step_judge(const struct ww_step_level *a, const struct ww_step_level *b,
		   struct ww_step_event *e, int32_t state)
{
	double half = 0;

	e->state = state;
	e->bounds[0] = e->bounds[1] = NAN;
	if (!(a->undithered || b->undithered) || fabs(e->delta) > 1.000001 * fmax(a->q, b->q))
		return;
	half += a->undithered ? a->q / 2 : 2 * a->u;
	half += b->undithered ? b->q / 2 : 2 * b->u;
	e->state = WW_STEP_UNRESOLVED;
	e->bounds[0] = e->delta - half;
	e->bounds[1] = e->delta + half;
}

void ww_step_uncertainty(const struct ww_step_data *d, double va, double dof_a, double vb,
			 double dof_b, struct ww_step_event *e)
{
	double sum = va + vb;

	/* Welch & Satterthwaite */
	e->dof = sum > 0 ? sum * sum / (va * va / dof_a + vb * vb / dof_b) : INFINITY;
	e->uA = sqrt(sum) * ww_step_student(e->dof);
	e->uG = d->gain * fabs(e->delta) / sqrt(3);
	e->u = sqrt(e->uA * e->uA + e->uQ * e->uQ + e->uG * e->uG);
}
