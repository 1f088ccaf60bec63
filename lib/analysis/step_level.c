/* SPDX-License-Identifier: MIT */
/* The shape of a level: constant, line or exponential, by least squares. */
#include "analysis/steps_core.h"

#include <math.h>

#define SINGLE	   64  /* first readings that stay by themselves */
#define PRIOR	   8.0 /* readings that the usual noise counts as */
#define SLOWEST	   4.0 /* longest time constant, in parts of the level's length */
#define GRID	   2.0 /* from one time constant to the next */
#define SECTIONS   6
#define LINE_COST  12.0 /* what a slope must gain, in variances */
#define CURVE_COST 10.0 /* and an exponential */

/* A level as few points: early readings alone, later ones averaged. */
struct points {
	size_t n;
	double count;
	double vv; /* sum of squares about the averages */
	double w[WW_STEP_BINS], t[WW_STEP_BINS], v[WW_STEP_BINS];
	double tt[WW_STEP_BINS], tv[WW_STEP_BINS]; /* and products with the time */
};

static double between(const double *sum, size_t from, size_t to)
{
	return sum[to] - sum[from];
}

static void put(struct points *p, const struct ww_step_data *d, size_t from, size_t to)
{
	double w = between(d->sum_w, from, to), t, v;
	size_t i = p->n;

	if (w < 0.5)
		return;
	t = between(d->sum_t, from, to) / w;
	v = between(d->sum_v, from, to) / w;
	p->w[i] = w;
	p->t[i] = d->t[0] + t;
	p->v[i] = v;
	p->tt[i] = p->tv[i] = 0;
	if (w > 1.5) {
		p->tt[i] = fmax(0, between(d->sum_tt, from, to) - t * t * w);
		p->tv[i] = between(d->sum_tv, from, to) - t * v * w;
		p->vv += fmax(0, between(d->sum_vv, from, to) - v * v * w);
	}
	p->count += w;
	p->n++;
}

static void put_one(struct points *p, const struct ww_step_data *d, size_t i)
{
	p->w[p->n] = 1;
	p->v[p->n] = d->v[i];
	p->tt[p->n] = p->tv[p->n] = 0;
	p->t[p->n++] = d->t[i];
	p->count += 1;
}

static void gather(struct points *p, const struct ww_step_data *d, size_t from, size_t to)
{
	size_t len = to - from, begin = from;

	p->n = 0;
	p->count = p->vv = 0;
	if (len <= WW_STEP_BINS) {
		for (size_t i = from; i < to; i++)
			if (!d->out[i])
				put_one(p, d, i);
		/* All are outliers: what there is. */
		for (size_t i = from; p->n == 0 && i < to; i++)
			put_one(p, d, i);
		return;
	}
	for (; begin < from + SINGLE; begin++)
		if (!d->out[begin])
			put_one(p, d, begin);
	for (int k = 1; k <= WW_STEP_BINS - SINGLE; k++) {
		double part = (double)k / (WW_STEP_BINS - SINGLE);
		size_t end = from + (size_t)(SINGLE * pow((double)len / SINGLE, part));

		if (k == WW_STEP_BINS - SINGLE || end > to)
			end = to;
		if (end <= begin)
			continue;
		put(p, d, begin, end);
		begin = end;
	}
}

/*
 * v = c + a g over the points, a held towards 0 by `hold`: residual sum of squares.
 * slope: that of g, by which what was averaged differs from its average.
 */
static double regress(const struct points *p, const double *g, const double *slope, double hold,
		      double *c, double *a)
{
	double mg = 0, mv = 0, gg = 0, gv = 0, r = p->vv;

	for (size_t i = 0; i < p->n; i++) {
		mg += p->w[i] * g[i] / p->count;
		mv += p->w[i] * p->v[i] / p->count;
	}
	for (size_t i = 0; i < p->n; i++) {
		gg += p->w[i] * (g[i] - mg) * (g[i] - mg) + slope[i] * slope[i] * p->tt[i];
		gv += p->w[i] * (g[i] - mg) * (p->v[i] - mv) + slope[i] * p->tv[i];
	}
	*a = gg > 0 ? gv / (gg + hold) : 0;
	*c = mv - *a * mg;
	for (size_t i = 0; i < p->n; i++) {
		double e = p->v[i] - *c - *a * g[i], b = *a * slope[i];

		r += p->w[i] * e * e + b * b * p->tt[i] - 2 * b * p->tv[i];
	}
	return fmax(0, r);
}

static double constant(const struct points *p, struct ww_step_fit *f)
{
	double zero[WW_STEP_BINS] = {0};

	f->shape = WW_LEVEL_CONSTANT;
	f->params = 1;
	f->rss = regress(p, zero, zero, 0, &f->c, &f->a);
	return f->rss;
}

static double line(const struct points *p, double hold, struct ww_step_fit *f)
{
	double g[WW_STEP_BINS], one[WW_STEP_BINS], mean = 0;

	for (size_t i = 0; i < p->n; i++)
		mean += p->w[i] * p->t[i] / p->count;
	for (size_t i = 0; i < p->n; i++)
		g[i] = p->t[i] - mean;
	for (size_t i = 0; i < p->n; i++)
		one[i] = 1;
	f->shape = WW_LEVEL_LINE;
	f->params = 2;
	f->t0 = mean;
	f->rss = regress(p, g, one, hold, &f->c, &f->a);
	return f->rss;
}

static double exponential(const struct points *p, struct ww_step_fit *f, double tau_s)
{
	double g[WW_STEP_BINS], slope[WW_STEP_BINS];

	for (size_t i = 0; i < p->n; i++) {
		g[i] = exp(-(p->t[i] - p->t[0]) / tau_s);
		slope[i] = -g[i] / tau_s;
	}
	f->shape = WW_LEVEL_SETTLING;
	f->params = 3;
	f->t0 = p->t[0];
	f->tau_s = tau_s;
	f->rss = regress(p, g, slope, 0, &f->c, &f->a);
	return f->rss;
}

/*
 * Best time constant: a grid, then golden sections (Kiefer 1953) between its neighbours
 * unless the best of the grid leaves far more than `enough`.
 */
static double settling(const struct points *p, struct ww_step_fit *f, double period, double enough)
{
	double length = p->t[p->n - 1] - p->t[0], best = INFINITY, at = 0, lo, hi, x[2], r[2];
	struct ww_step_fit try = {.n = p->count};

	for (double tau = 0.8 * period; tau <= SLOWEST * length; tau *= GRID) {
		double left = exponential(p, &try, tau);

		if (left < best) {
			best = left;
			at = tau;
		}
	}
	if (at == 0)
		return INFINITY;
	if (best > 2 * enough)
		return exponential(p, f, at);
	lo = log(at / GRID);
	hi = log(at * GRID);
	x[0] = hi - 0.618034 * (hi - lo);
	x[1] = lo + 0.618034 * (hi - lo);
	for (int k = 0; k < 2; k++)
		r[k] = exponential(p, &try, exp(x[k]));
	for (int k = 0; k < SECTIONS; k++) {
		int worse = r[1] > r[0];

		if (worse)
			hi = x[1];
		else
			lo = x[0];
		x[worse] = x[!worse];
		r[worse] = r[!worse];
		x[!worse] = worse ? hi - 0.618034 * (hi - lo) : lo + 0.618034 * (hi - lo);
		r[!worse] = exponential(p, &try, exp(x[!worse]));
	}
	return exponential(p, f, exp((lo + hi) / 2));
}

/*
 * Whether anything but a constant and a line could describe it much better: sum of
 * squares that eight averages of growing width leave of what the line leaves.
 */
static bool curved(const struct points *p, const struct ww_step_fit *line, double rss, double unit)
{
	double left = p->vv, b = line->shape == WW_LEVEL_LINE ? line->a : 0;
	size_t begin = 0;

	for (size_t i = 0; i < p->n; i++)
		left += b * b * p->tt[i] - 2 * b * p->tv[i];

	for (int k = 1; k <= 8; k++) {
		size_t end = k == 8 ? p->n : (size_t)((double)p->n * (double)(k * (k + 1)) / 72.0);
		double w = 0, v = 0, vv = 0;

		for (size_t i = begin; i < end; i++) {
			double r = p->v[i] - ww_step_fit_at(line, p->t[i]);

			w += p->w[i];
			v += p->w[i] * r;
			vv += p->w[i] * r * r;
		}
		if (w > 0)
			left += fmax(0, vv - v * v / w);
		begin = end > begin ? end : begin;
	}
	/* Seven more parameters take seven of noise. */
	return rss - left > (CURVE_COST + 4) * unit;
}

/*
 * Of a trace that drifts, a bent level is rather a drift that is not straight than a
 * load that takes as long as the level to settle.
 */
static double curve_cost(const struct ww_step_data *d, const struct ww_step_fit *f)
{
	bool slow = f->tau_s > WW_STEP_FADED * (f->t1 - f->t0);

	if (d->flat && f->tau_s > fmax(WW_STEP_FADED * (f->t1 - f->t0), WW_STEP_SETTLING_S / 2))
		return INFINITY;
	return d->drifting && slow ? 3 * CURVE_COST : CURVE_COST;
}

/* Inverse of the symmetric n x n matrix; false: singular. */
static bool invert(double m[3][3], int n, double out[3][3])
{
	double a[3][6] = {{0}};

	for (int i = 0; i < n; i++) {
		for (int j = 0; j < n; j++)
			a[i][j] = m[i][j];
		a[i][n + i] = 1;
	}
	for (int k = 0; k < n; k++) {
		int best = k;

		for (int i = k + 1; i < n; i++)
			if (fabs(a[i][k]) > fabs(a[best][k]))
				best = i;
		if (!(fabs(a[best][k]) > 1e-12 * fabs(m[best][best])) || a[best][k] == 0)
			return false;
		for (int j = 0; j < 2 * n; j++) {
			double x = a[k][j];

			a[k][j] = a[best][j];
			a[best][j] = x;
		}
		for (int i = 0; i < n; i++) {
			double r = a[i][k] / a[k][k];

			for (int j = 0; i != k && j < 2 * n; j++)
				a[i][j] -= r * a[k][j];
		}
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			out[i][j] = a[i][n + j] / a[i][i];
	return true;
}

/* Derivatives of the fit by c, a and the time constant. */
static void gradient(const struct ww_step_fit *f, double t, double g[3])
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

static void covariance(const struct points *p, double hold, struct ww_step_fit *f)
{
	double m[3][3] = {{0}};
	int n = f->params;

	memset(f->cov, 0, sizeof(f->cov));
	for (size_t i = 0; i < p->n; i++) {
		double g[3];

		gradient(f, p->t[i], g);
		for (int a = 0; a < n; a++)
			for (int b = 0; b < n; b++)
				m[a][b] += p->w[i] * g[a] * g[b];
	}
	m[1][1] += hold;
	while (n > 1 && !invert(m, n, f->cov))
		n--;
	if (n == 1)
		f->cov[0][0] = 1 / p->count;
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
static void plain(const struct ww_step_data *d, const struct points *p, size_t from, size_t to,
		  struct ww_step_fit *f)
{
	constant(p, f);
	variance(d, from, to, f);
	if (!(d->slope2 > 0) || p->n < 6)
		return;
	f->hold = f->s2 * f->tau / d->slope2;
	line(p, f->hold, f);
	variance(d, from, to, f);
}

void ww_step_fit(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit)
{
	struct ww_step_fit other;
	struct points p;
	double least, rss;

	gather(&p, d, from, to);
	*fit = (struct ww_step_fit){.n = p.count, .t1 = p.t[p.n - 1]};
	fit->tau = ww_step_tau(d, from + (to - from) / 2);
	other = *fit;
	plain(d, &p, from, to, fit);
	if (p.n >= 6) {
		least = fit->rss;
		line(&p, 0, &other);
		variance(d, from, to, &other);
		rss = other.rss;
		if (!d->flat && rss + LINE_COST * other.s2 * other.tau < least) {
			*fit = other;
			least = rss + LINE_COST * other.s2 * other.tau;
		}
		if (p.n >= 8 && curved(&p, d->flat ? fit : &other, least, other.s2 * other.tau)) {
			other.rss = settling(&p, &other, d->period, least);
			variance(d, from, to, &other);
			if (other.rss + curve_cost(d, &other) * other.s2 * other.tau < least)
				*fit = other;
		}
	}
	covariance(&p, fit->hold, fit);
}

void ww_step_fit_line(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit)
{
	struct points p;

	gather(&p, d, from, to);
	*fit = (struct ww_step_fit){.n = p.count, .t1 = p.t[p.n - 1]};
	fit->tau = ww_step_tau(d, from + (to - from) / 2);
	line(&p, 0, fit);
	variance(d, from, to, fit);
	covariance(&p, 0, fit);
}

double ww_step_fit_as(const struct ww_step_data *d, size_t from, size_t to, int32_t shape)
{
	struct ww_step_fit f = {.n = 0};
	struct points p;

	gather(&p, d, from, to);
	if (shape == WW_LEVEL_LINE)
		return line(&p, 0, &f);
	if (shape == WW_LEVEL_SETTLING)
		return settling(&p, &f, d->period, INFINITY);
	return constant(&p, &f);
}

double ww_step_fit_at(const struct ww_step_fit *f, double t)
{
	if (f->shape == WW_LEVEL_LINE)
		return f->c + f->a * (t - f->t0);
	if (f->shape == WW_LEVEL_SETTLING)
		return f->c + f->a * exp(-(t - f->t0) / f->tau_s);
	return f->c;
}

double ww_step_fit_cov(const struct ww_step_fit *f, double t1, double t2)
{
	double g[3], h[3], sum = 0;

	gradient(f, t1, g);
	gradient(f, t2, h);
	for (int i = 0; i < f->params; i++)
		for (int j = 0; j < f->params; j++)
			sum += g[i] * f->cov[i][j] * h[j];
	return sum;
}
