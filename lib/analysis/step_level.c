/* SPDX-License-Identifier: MIT */
/* The shape of a level: constant, line or exponential, by least squares. */
#include "analysis/steps_core.h"

#include <math.h>

#define PRIOR	   8.0	/* readings that the usual noise counts as */
#define LINE_COST  12.0 /* what a slope must gain, in variances */
#define CURVE_COST 10.0 /* and an exponential */

static void moments(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_moments *m)
{
	ww_step_moments(d, from, to, m);
	if (m->w > 0)
		return;
	/* All are outliers: what there is. */
	for (size_t i = from; i < to; i++) {
		double dt = d->t[i] - m->t, dv = d->v[i] - m->v;

		m->w += 1;
		m->t += dt / m->w;
		m->v += dv / m->w;
		m->tt += dt * (d->t[i] - m->t);
		m->tv += dt * (d->v[i] - m->v);
		m->vv += dv * (d->v[i] - m->v);
	}
}

static void constant(const struct ww_step_moments *m, struct ww_step_fit *f)
{
	f->shape = WW_LEVEL_CONSTANT;
	f->params = 1;
	f->c = m->v;
	f->a = 0;
	f->rss = m->vv;
	memset(f->cov, 0, sizeof(f->cov));
	f->cov[0][0] = 1 / m->w;
}

/* The slope is held towards 0 by `hold`. */
static void line(const struct ww_step_moments *m, double hold, struct ww_step_fit *f)
{
	f->shape = WW_LEVEL_LINE;
	f->params = 2;
	f->t0 = m->t;
	f->c = m->v;
	f->a = m->tt > 0 ? m->tv / (m->tt + hold) : 0;
	f->rss = fmax(0, m->vv - f->a * (2 * m->tv - f->a * m->tt));
	memset(f->cov, 0, sizeof(f->cov));
	f->cov[0][0] = 1 / m->w;
	f->cov[1][1] = m->tt > 0 ? 1 / (m->tt + hold) : 0;
}

/* Readings in the first k of eight stretches of a level: widening at first as its points do. */
static size_t widths(double len, int k)
{
	double part = k * (k + 1) / 72.0;

	if (len <= 192)
		return (size_t)(len * part);
	return (size_t)(part < 1.0 / 3 ? 192 * part : 64 * pow(len / 64, 1.5 * part - 0.5));
}

/*
 * Whether anything but a constant and a line could describe it much better: sum of
 * squares that eight averages of growing width leave of what the line leaves.
 */
static bool curved(const struct ww_step_data *d, size_t from, size_t to,
		   const struct ww_step_fit *line, double rss, double unit)
{
	double left = 0, b = line->shape == WW_LEVEL_LINE ? line->a : 0, len = (double)(to - from);
	size_t begin = from;

	for (int k = 1; k <= 8; k++) {
		size_t end = k == 8 ? to : from + widths(len, k);
		struct ww_step_moments m;

		ww_step_moments(d, begin, end, &m);
		left += m.vv - b * (2 * m.tv - b * m.tt);
		begin = end;
	}
	/* Seven more parameters take seven of noise. */
	return rss - left > (CURVE_COST + 4) * unit;
}

/*
 * Of a trace that drifts, a bent level is rather a drift that is not straight than a
 * load that takes as long as the level to settle.
 */
static double curve_cost(const struct ww_step_data *d, const struct ww_step_fit *f,
			 const struct ww_step_fit *plain)
{
	bool slow = f->tau_s > WW_STEP_FADED * (f->t1 - f->t0);

	if (d->flat && f->tau_s > fmax(WW_STEP_FADED * (f->t1 - f->t0), WW_STEP_SETTLING_S / 2))
		return INFINITY;
	if (d->drifting && slow)
		return 3 * CURVE_COST;
	/* It can do what a line does. */
	return plain->params > 1 && !(plain->hold > 0) ? LINE_COST : CURVE_COST;
}

static void variance(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *f)
{
	double usual = ww_step_local(d, from + (to - from) / 2),
	       left = fmax(0, f->n / f->tau - (double)f->params);

	/* A fit takes more of noise that lasts: its parameters count tau times. */
	f->dof = PRIOR + left;
	f->s2 = (PRIOR * usual * usual + f->rss / f->tau) / f->dof;
	f->s2 = fmax(d->floor * d->floor, f->s2);
}

/* The line or constant that a level is by itself; of a trace that drifts, a line. */
static void plain(const struct ww_step_data *d, const struct ww_step_moments *m, size_t from,
		  size_t to, struct ww_step_fit *f)
{
	constant(m, f);
	variance(d, from, to, f);
	if (!(d->slope2 > 0) || m->w < 6)
		return;
	f->hold = f->s2 * f->tau / d->slope2;
	line(m, f->hold, f);
	variance(d, from, to, f);
}

/* No shape yet. */
static void unshaped(const struct ww_step_data *d, size_t from, size_t to,
		     const struct ww_step_moments *m, struct ww_step_fit *f)
{
	size_t last = to - 1;

	while (last > from && d->out[last])
		last--;
	*f = (struct ww_step_fit){.n = m->w, .t1 = d->t[d->out[last] ? to - 1 : last]};
	f->tau = ww_step_tau(d, from + (to - from) / 2);
}

void ww_step_shape(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit)
{
	struct ww_step_fit other;
	struct ww_step_moments m;
	double least;

	moments(d, from, to, &m);
	unshaped(d, from, to, &m, fit);
	other = *fit;
	plain(d, &m, from, to, fit);
	if (m.w < 6)
		return;
	least = fit->rss;
	line(&m, 0, &other);
	variance(d, from, to, &other);
	if (!d->flat && other.rss + LINE_COST * other.s2 * other.tau < least) {
		*fit = other;
		least = other.rss + LINE_COST * other.s2 * other.tau;
	}
	if (m.w < 8 || !curved(d, from, to, d->flat ? fit : &other, least, other.s2 * other.tau))
		return;
	other.rss = ww_step_settling(d, from, to, least, &other);
	variance(d, from, to, &other);
	if (other.rss + curve_cost(d, &other, fit) * other.s2 * other.tau < least)
		*fit = other;
}

void ww_step_fit(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit)
{
	ww_step_shape(d, from, to, fit);
	if (fit->shape == WW_LEVEL_SETTLING)
		ww_step_settling_cov(d, from, to, fit);
}

void ww_step_fit_line(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit)
{
	struct ww_step_moments m;

	moments(d, from, to, &m);
	unshaped(d, from, to, &m, fit);
	line(&m, 0, fit);
	variance(d, from, to, fit);
}

double ww_step_fit_as(const struct ww_step_data *d, size_t from, size_t to, int32_t shape)
{
	struct ww_step_fit f = {.n = 0};
	struct ww_step_moments m;

	if (shape == WW_LEVEL_SETTLING)
		return ww_step_settling(d, from, to, INFINITY, &f);
	moments(d, from, to, &m);
	if (shape == WW_LEVEL_LINE)
		line(&m, 0, &f);
	else
		constant(&m, &f);
	return f.rss;
}

double ww_step_fit_at(const struct ww_step_fit *f, double t)
{
	if (f->shape == WW_LEVEL_LINE)
		return f->c + f->a * (t - f->t0);
	if (f->shape == WW_LEVEL_SETTLING)
		return f->c + f->a * exp(-(t - f->t0) / f->tau_s);
	return f->c;
}

void ww_step_fit_slopes(const struct ww_step_fit *f, double t, double g[3])
{
	double x = t - f->t0, e;

	g[0] = 1;
	g[1] = g[2] = 0;
	if (f->shape == WW_LEVEL_LINE)
		g[1] = x;
	if (f->shape != WW_LEVEL_SETTLING || isinf(t))
		return;
	e = exp(-x / f->tau_s);
	g[1] = e;
	/* Of the time constant in units of its effect, so that none stands for its size. */
	g[2] = e * x / f->tau_s;
}

double ww_step_fit_cov(const struct ww_step_fit *f, double t1, double t2)
{
	int n = f->params < 3 ? f->params : 3;
	double g[3], h[3], sum = 0;

	ww_step_fit_slopes(f, t1, g);
	ww_step_fit_slopes(f, t2, h);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			sum += g[i] * f->cov[i][j] * h[j];
	return sum;
}
