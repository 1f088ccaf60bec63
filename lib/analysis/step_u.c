/* SPDX-License-Identifier: MIT */
/* Correlation that the levels leave, and the uncertainty of levels and changes. */
#include "analysis/noise.h"
#include "analysis/steps_core.h"
#include "base/stats.h"

#include <math.h>

#define LAGS  24
#define STEEP 16.0 /* variances: a slope that is beyond doubt */

/* Readings [from, to) of a level. */
struct span {
	size_t from, to;
};

/* Sums of products of residuals at each lag, in units of their level's variance. */
struct products {
	double sum[LAGS + 1];
	double n[LAGS + 1];
	double levels; /* parameters fitted */
};

static void add_level(struct products *p, const struct ww_step_data *d, size_t from, size_t to)
{
	struct ww_step_fit f;
	double r[LAGS + 1], s;
	size_t since = from;

	if (to - from < 16)
		return;
	ww_step_fit(d, from, to, &f);
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
 * phi of first order from all residuals, corrected for what the fits took (Kendall
 * 1954); tau from it, or from the sum over more lags (Newey & West 1987) where the
 * correlation clearly lasts longer than of first order.
 */
void ww_step_pooled(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		    double *phi, double *tau)
{
	struct products p = {.levels = 0};
	double n, hac = 1, noise;

	for (size_t k = 0; k <= bounds; k++)
		add_level(&p, d, k ? bound[k - 1].f : 0, k < bounds ? bound[k].i : d->n);
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
	for (size_t k = 1; k <= LAGS; k++)
		if (p.n[k] > 0)
			hac += 2 * (1 - (double)k / (LAGS + 1)) * p.sum[k] / p.n[k] /
			       (p.sum[0] / p.n[0]);
	/* The fits take this much of the sum. */
	hac *= 1 + *tau * p.levels / n;
	noise = sqrt(4.0 * LAGS / (3 * n));
	if (hac > *tau * (1.1 + 2 * noise))
		*tau = hac;
}

double ww_step_student(double dof)
{
	return dof > 300 ? 1 : ww_student_t(0.9545, dof) / 2;
}

/* Standard deviation that is seen, whatever was known before. */
static double seen(const struct ww_step_fit *f)
{
	return f->n < 8 ? sqrt(f->s2) : sqrt(f->rss / (f->n - f->params));
}

/* Variance that a quantiser of step q shows of noise sigma about x. */
static double shown(double x, double q, double sigma)
{
	double sum = 0, sum2 = 0, mean;

	for (double k = floor((x - 6 * sigma) / q); k <= (x + 6 * sigma) / q + 1; k++) {
		double hi = ((k + 0.5) * q - x) / (sigma * sqrt(2)),
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
static double common_dither(const struct ww_step_data *d, const struct ww_step_fit *fit, size_t n)
{
	double sum = 0, dof = 0;

	for (size_t k = 0; k < n; k++) {
		sum += fit[k].rss;
		dof += fmax(0, fit[k].n - fit[k].params);
	}
	return dof > 0 ? sqrt(fmax(0, sum / dof - d->q * d->q / 12)) : 0;
}

/*
 * What the quantiser leaves in a level's mean. The common noise counts where the
 * level's own spread is one that it can make; else the spread itself.
 */
static double quantiser(const struct ww_step_data *d, const struct ww_step_fit *f, double dither)
{
	double s = seen(f), lo, hi, slack = 4 * sqrt(2 * d->tau / fmax(1, f->n));

	if (!(d->q > 0))
		return 0;
	lo = dither > 0 ? shown(0, d->q, dither) : 0;
	hi = dither > 0 ? shown(d->q / 2, d->q, dither) : d->q * d->q / 4;
	if (dither > 0 && s * s > lo * (1 - slack) && s * s < hi * (1 + slack))
		return ww_quantiser_u(d->q, dither);
	return ww_quantiser_seen_u(d->q, s);
}

static void level_result(const struct ww_step_data *d, const struct ww_step_fit *f, size_t from,
			 size_t to, double dither, struct ww_step_level *out)
{
	double middle = f->shape == WW_LEVEL_LINE ? f->t0 : d->t[from], var, s;

	*out = (struct ww_step_level){.from = from, .to = to, .min = INFINITY, .max = -INFINITY};
	out->shape = f->shape;
	out->sigma = s = seen(f);
	out->used = (size_t)f->n;
	out->n_eff = f->n / d->tau;
	out->dof = 8 + fmax(0, out->n_eff - f->params);
	out->value = ww_step_fit_level(f, middle, &var) + d->centre;
	out->uA = sqrt(f->s2 * d->tau * var) * ww_step_student(out->dof);
	out->uQ = quantiser(d, f, dither);
	out->u = hypot(out->uA, out->uQ);
	out->undithered = out->uQ > 0.1 * d->q;
	out->begin = ww_step_fit_at(f, d->t[from]) + d->centre;
	out->end = ww_step_fit_at(f, d->t[to - 1]) + d->centre;
	if (f->shape == WW_LEVEL_LINE) {
		out->slope = f->a;
		out->slope_u = sqrt(f->s2 * d->tau * f->cov[1][1]) * ww_step_student(out->dof);
	}
	out->settled_i = from;
	if (f->shape == WW_LEVEL_SETTLING) {
		out->settling_s = f->tau_s;
		/* Until it cannot be told from the noise. */
		while (out->settled_i + 1 < to &&
		       fabs(ww_step_fit_at(f, d->t[out->settled_i]) - f->c) > s)
			out->settled_i++;
	}
	for (size_t i = from; i < to; i++) {
		if (d->out[i])
			continue;
		out->min = fmin(out->min, d->v[i] + d->centre);
		out->max = fmax(out->max, d->v[i] + d->centre);
	}
	if (out->min > out->max)
		out->min = out->max = out->value;
}

/* Log-likelihood ratio that the place of a change exceeds seldom (Yao 1987: 99.7 %). */
#define PLACE 13.0

/*
 * First and last reading that may be the first to show the change: those for which
 * the residuals about the two levels are hardly more than for the best place.
 */
static void place(const struct ww_step_data *d, const struct ww_step_fit *a,
		  const struct ww_step_fit *b, struct ww_step_bound bound, size_t least,
		  size_t most, size_t *lo, size_t *hi)
{
	double s2 = fmax(a->s2, b->s2) * d->tau, sum = 0, up = d->bound * sqrt(a->s2);
	double after = ww_step_fit_at(b, d->t[bound.f]);

	*lo = *hi = bound.i;
	for (size_t i = bound.i; i > least && bound.i - i < 256; i--) {
		double ra = d->v[i - 1] - ww_step_fit_at(a, d->t[i - 1]), rb = d->v[i - 1] - after;

		if (d->out[i - 1] && i < bound.i)
			continue;
		sum += rb * rb - ra * ra;
		if (sum < PLACE * s2)
			*lo = i - 1;
		else
			break;
	}
	sum = 0;
	for (size_t i = bound.i; i + 1 < most && i - bound.i < 256; i++) {
		double ra = d->v[i] - ww_step_fit_at(a, d->t[i]), rb = d->v[i] - after;

		if (fabs(ra) > up)
			break;
		sum += ra * ra - rb * rb;
		if (sum < PLACE * s2)
			*hi = i + 1;
		else
			break;
	}
}

/* The largest excursion beyond both levels until the new one is reached. */
static double peak(const struct ww_step_data *d, const struct ww_step_event *e, size_t from,
		   size_t to, double s)
{
	double hi = fmax(e->before, e->after) + 3 * s, lo = fmin(e->before, e->after) - 3 * s,
	       found = NAN, most = 0;

	for (size_t i = from; i < to; i++) {
		double v = d->v[i] + d->centre, beyond = fmax(v - hi, lo - v);

		if (beyond > most) {
			most = beyond;
			found = v;
		}
	}
	return found;
}

/* A change of one count or less on a display without noise. */
void ww_step_judge(const struct ww_step_data *d, const struct ww_step_level *a,
		   const struct ww_step_level *b, struct ww_step_event *e, int32_t state)
{
	double half = 0;

	e->state = state;
	e->bounds[0] = e->bounds[1] = NAN;
	if (!(a->undithered || b->undithered) || fabs(e->delta) > 1.000001 * d->q)
		return;
	half += a->undithered ? d->q / 2 : 2 * a->u;
	half += b->undithered ? d->q / 2 : 2 * b->u;
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

static void event_result(const struct ww_step_data *d, const struct ww_step_fit *a,
			 const struct ww_step_fit *b, const struct ww_step_level *la,
			 const struct ww_step_level *lb, struct ww_step_bound bound,
			 struct ww_step_event *e)
{
	double t = d->t[bound.i], va, vb, s = sqrt(fmax(a->s2, b->s2));
	size_t lo, hi, end;

	*e = (struct ww_step_event){.i = bound.i, .settled_i = lb->settled_i, .marker = -1};
	e->before = ww_step_fit_level(a, t, &va) + d->centre;
	e->after = ww_step_fit_level(b, t, &vb) + d->centre;
	e->delta = e->after - e->before;
	va *= a->s2 * d->tau;
	vb *= b->s2 * d->tau;
	e->uQ = hypot(la->uQ, lb->uQ);
	ww_step_uncertainty(d, va, la->dof, vb, lb->dof, e);
	e->before_u = hypot(sqrt(va) * ww_step_student(la->dof), la->uQ);
	e->after_u = hypot(sqrt(vb) * ww_step_student(lb->dof), lb->uQ);
	place(d, a, b, bound, la->from, lb->to, &lo, &hi);
	e->t_lo = lo ? d->lo[lo - 1] : d->lo[0];
	e->t_hi = d->hi[hi];
	e->settled = d->t[e->settled_i];
	end = e->settled_i + 3 < lb->to ? e->settled_i + 3 : lb->to;
	e->peak = peak(d, e, bound.i, end, s);
	ww_step_judge(d, la, lb, e, WW_STEP_DETECTED);
}

/* Slope of a level that is none or a line, and its variance; false: too short. */
static bool slope_of(const struct ww_step_data *d, const struct span *s,
		     const struct ww_step_fit *f, double *a, double *var)
{
	struct ww_step_fit line = *f;

	if (f->shape == WW_LEVEL_SETTLING || f->n < 12)
		return false;
	ww_step_fit_held(d, s->from, s->to, INFINITY, &line);
	*a = line.a;
	*var = line.s2 * d->tau * line.cov[1][1];
	return line.params == 2 && *var > 0;
}

/*
 * Variance of the slopes of a trace's levels beyond what noise makes (method of
 * moments). A drift that no level shows by itself is seen in all of them; held by this
 * variance (James & Stein), levels without drift stay constants.
 */
static double slope_variance(const struct ww_step_data *d, const struct span *s,
			     const struct ww_step_fit *fit, size_t n)
{
	double few[2] = {0, 0}, z2[2] = {0, 0}, sum[2] = {0, 0}, chance;
	int use;

	for (size_t k = 0; k < n; k++) {
		double a, var;
		int steep;

		if (!slope_of(d, &s[k], &fit[k], &a, &var))
			continue;
		steep = a * a > STEEP * var;
		few[steep] += 1;
		z2[steep] += a * a / var;
		sum[steep] += a * a - var;
	}
	/* A single level that drifts tells nothing of the others. */
	use = few[1] > 0.3 * (few[0] + few[1]);
	if (use)
		return (sum[0] + sum[1]) / (few[0] + few[1]);
	chance = few[0] + 1.28 * sqrt(2 * few[0]) + 0.6;
	return z2[0] > chance && few[0] > 0 ? sum[0] / few[0] : 0;
}

static void hold_slopes(const struct ww_step_data *d, const struct span *s, struct ww_step_fit *fit,
			size_t n)
{
	double slope2 = slope_variance(d, s, fit, n);

	for (size_t k = 0; k < n; k++) {
		double a, var;

		if (!slope_of(d, &s[k], &fit[k], &a, &var))
			continue;
		if (a * a > STEEP * var)
			ww_step_fit_held(d, s[k].from, s[k].to, INFINITY, &fit[k]);
		else if (slope2 > 0)
			ww_step_fit_held(d, s[k].from, s[k].to, slope2, &fit[k]);
		else
			ww_step_fit_constant(d, s[k].from, s[k].to, &fit[k]);
	}
}

int ww_step_results(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		    struct ww_step_result *out)
{
	struct ww_step_fit *fit = malloc((bounds + 1) * sizeof(*fit));
	struct span *span = malloc((bounds + 1) * sizeof(*span));
	double dither;

	out->level = calloc(bounds + 1, sizeof(*out->level));
	out->event = calloc(bounds ? bounds : 1, sizeof(*out->event));
	if (!fit || !span || !out->level || !out->event) {
		free(fit);
		free(span);
		return -ENOMEM;
	}
	for (size_t k = 0; k <= bounds; k++) {
		span[k].from = k ? bound[k - 1].f : 0;
		span[k].to = k < bounds ? bound[k].i : d->n;
		ww_step_fit(d, span[k].from, span[k].to, &fit[k]);
	}
	hold_slopes(d, span, fit, bounds + 1);
	dither = common_dither(d, fit, bounds + 1);
	for (size_t k = 0; k <= bounds; k++)
		level_result(d, &fit[k], span[k].from, span[k].to, dither, &out->level[k]);
	for (size_t k = 0; k < bounds; k++)
		event_result(d, &fit[k], &fit[k + 1], &out->level[k], &out->level[k + 1], bound[k],
			     &out->event[k]);
	for (size_t k = 0; k + 1 < bounds; k++) {
		const struct ww_step_fit *f = &fit[k + 1];
		double c = ww_step_fit_cov(f, d->t[bound[k].i], d->t[bound[k + 1].i]);

		out->event[k].cov_next =
			-c * f->s2 * d->tau - out->level[k + 1].uQ * out->level[k + 1].uQ;
	}
	out->events = bounds;
	out->levels = bounds + 1;
	free(fit);
	free(span);
	return 0;
}
