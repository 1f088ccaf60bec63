/* SPDX-License-Identifier: MIT */
/* An exponential by least squares, to few points. */
#include "analysis/steps_core.h"

#include <math.h>

#define SINGLE	    24	/* first readings that stay by themselves */
#define SLOWEST	    4.0 /* longest time constant, in parts of the level's length */
#define PARABOLAS   5
#define NEAR_ENOUGH 0.02 /* of the logarithm of a time constant */

/* A level as few points: early readings alone, later ones averaged. */
struct points {
	size_t n;
	double count;
	double vv;	    /* sum of squares about the averages */
	double mean, total; /* of v; sum of squares about it, vv too */
	double w[WW_STEP_BINS], t[WW_STEP_BINS], v[WW_STEP_BINS];
	double tt[WW_STEP_BINS], tv[WW_STEP_BINS]; /* and products with the time */
	double x[WW_STEP_BINS], wd[WW_STEP_BINS];  /* t since the first; w (v - mean) */
	double bend[WW_STEP_BINS];		   /* half the variance of t */
};

static void put(struct points *p, const struct ww_step_data *d, size_t from, size_t to)
{
	struct ww_step_moments m;
	size_t i = p->n;

	ww_step_moments(d, from, to, &m);
	if (m.w < 0.5)
		return;
	p->w[i] = m.w;
	p->t[i] = m.t;
	p->v[i] = m.v;
	p->tt[i] = m.tt;
	p->tv[i] = m.tv;
	p->vv += m.vv;
	p->count += m.w;
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

/* Single ones, then averages whose lengths grow with the time since the level began. */
static void put_all(struct points *p, const struct ww_step_data *d, size_t from, size_t to)
{
	size_t len = to - from, begin = from;
	double grow, at = SINGLE;

	if (len <= WW_STEP_BINS) {
		for (size_t i = from; i < to; i++)
			if (!d->out[i])
				put_one(p, d, i);
		return;
	}
	for (; begin < from + SINGLE; begin++)
		if (!d->out[begin])
			put_one(p, d, begin);
	grow = pow((double)len / SINGLE, 1.0 / (WW_STEP_BINS - SINGLE));
	for (int k = 1; k <= WW_STEP_BINS - SINGLE; k++) {
		size_t end = from + (size_t)(at *= grow);

		if (k == WW_STEP_BINS - SINGLE || end > to)
			end = to;
		if (end <= begin)
			continue;
		put(p, d, begin, end);
		begin = end;
	}
}

static void gather(struct points *p, const struct ww_step_data *d, size_t from, size_t to)
{
	double sum = 0;

	p->n = 0;
	p->count = p->vv = 0;
	put_all(p, d, from, to);
	if (p->n == 0)
		return;
	for (size_t i = 0; i < p->n; i++)
		sum += p->w[i] * p->v[i];
	p->mean = sum / p->count;
	p->total = p->vv;
	for (size_t i = 0; i < p->n; i++) {
		double dv = p->v[i] - p->mean;

		p->x[i] = p->t[i] - p->t[0];
		p->wd[i] = p->w[i] * dv;
		p->bend[i] = p->tt[i] / p->w[i] / 2;
		p->total += p->wd[i] * dv;
	}
}

/*
 * v = c + a g over the points: residual sum of squares.
 * slope: that of g, by which what was averaged differs from its average.
 */
static double regress(const struct points *p, const double *g, const double *slope, double *c,
		      double *a)
{
	double mg = 0, gg = 0, gv = 0, r = p->vv;

	for (size_t i = 0; i < p->n; i++)
		mg += p->w[i] * g[i] / p->count;
	for (size_t i = 0; i < p->n; i++) {
		gg += p->w[i] * (g[i] - mg) * (g[i] - mg) + slope[i] * slope[i] * p->tt[i];
		gv += p->wd[i] * (g[i] - mg) + slope[i] * p->tv[i];
	}
	*a = gg > 0 ? gv / gg : 0;
	*c = p->mean - *a * mg;
	for (size_t i = 0; i < p->n; i++) {
		double e = p->v[i] - *c - *a * g[i], b = *a * slope[i];

		r += p->w[i] * e * e + b * b * p->tt[i] - 2 * b * p->tv[i];
	}
	return r > 0 ? r : 0;
}

static void decay(const struct points *p, double tau_s, double *g)
{
	for (size_t i = 0; i < p->n; i++)
		g[i] = exp(-p->x[i] / tau_s);
}

static double exponential(const struct points *p, struct ww_step_fit *f, double tau_s)
{
	double g[WW_STEP_BINS], slope[WW_STEP_BINS];

	decay(p, tau_s, g);
	for (size_t i = 0; i < p->n; i++) {
		slope[i] = -g[i] / tau_s;
		g[i] *= 1 + p->bend[i] / (tau_s * tau_s);
	}
	f->shape = WW_LEVEL_SETTLING;
	f->params = 3;
	f->t0 = p->t[0];
	f->tau_s = tau_s;
	f->rss = regress(p, g, slope, &f->c, &f->a);
	return f->rss;
}

/*
 * What it leaves, nearly: from sums, for the search. An average of a curve is not the
 * curve in the middle: the second term of its series.
 */
static double left_of(const struct points *p, const double *g, double tau_s)
{
	double inner = 1 / tau_s, inner2 = inner * inner, s = 0, ss = 0, sv = 0, s1 = 0, ss1 = 0,
	       sv1 = 0;
	size_t i = 0;

	/* Two rows: a sum waits for the one before it. */
	for (; i + 1 < p->n; i += 2) {
		double b = g[i] * inner, m = g[i] * (1 + p->bend[i] * inner2), w = p->w[i] * m,
		       b1 = g[i + 1] * inner, m1 = g[i + 1] * (1 + p->bend[i + 1] * inner2),
		       w1 = p->w[i + 1] * m1;

		s += w;
		s1 += w1;
		ss += w * m + b * b * p->tt[i];
		ss1 += w1 * m1 + b1 * b1 * p->tt[i + 1];
		sv += p->wd[i] * m - b * p->tv[i];
		sv1 += p->wd[i + 1] * m1 - b1 * p->tv[i + 1];
	}
	if (i < p->n) {
		double b = g[i] * inner, m = g[i] * (1 + p->bend[i] * inner2);

		s += p->w[i] * m;
		ss += p->w[i] * m * m + b * b * p->tt[i];
		sv += p->wd[i] * m - b * p->tv[i];
	}
	ss += ss1 - (s + s1) * (s + s1) / p->count;
	sv += sv1;
	return ss > 0 ? p->total - sv * sv / ss : p->total;
}

static double left_at(const struct points *p, double log_tau)
{
	double g[WW_STEP_BINS];

	decay(p, exp(log_tau), g);
	return left_of(p, g, exp(log_tau));
}

/* Lowest point of the parabola through three, the second of which is lowest. */
static double vertex(const double u[3], const double r[3])
{
	double a = (u[1] - u[0]) * (r[1] - r[2]), b = (u[1] - u[2]) * (r[1] - r[0]);

	return a == b ? u[1] : u[1] - ((u[1] - u[0]) * a - (u[1] - u[2]) * b) / (a - b) / 2;
}

/* Successive parabolas (Jarratt 1967) from three of the grid. */
static double best_between(const struct points *p, double u[3], double r[3])
{
	for (int turn = 0; turn < PARABOLAS; turn++) {
		double at, left;
		int side;

		if (r[0] < r[1] || r[2] < r[1])
			return r[0] < r[2] ? u[0] : u[2];
		at = vertex(u, r);
		side = at < u[1] ? 0 : 2;
		if (fabs(at - u[1]) < NEAR_ENOUGH)
			return at;
		left = left_at(p, at);
		if (left < r[1]) {
			u[2 - side] = u[1];
			r[2 - side] = r[1];
			u[1] = at;
			r[1] = left;
		} else {
			u[side] = at;
			r[side] = left;
		}
	}
	return u[1];
}

/*
 * Best time constant: a grid, each half of the one before, so that a square takes the
 * place of exp(); then between its neighbours, unless the best of the grid leaves far
 * more than `enough`.
 */
static double search(const struct points *p, double period, double enough, struct ww_step_fit *f)
{
	double tau = SLOWEST * p->x[p->n - 1], g[WW_STEP_BINS], u[3], r[3] = {NAN, INFINITY, NAN},
	       at = 0, last = NAN;

	if (!(tau >= 0.8 * period))
		return INFINITY;
	decay(p, tau, g);
	while (tau >= 0.8 * period) {
		double left = left_of(p, g, tau);

		if (left < r[1]) {
			r[2] = last;
			r[1] = left;
			r[0] = NAN;
			at = tau;
		} else if (at == 2 * tau) {
			r[0] = left;
		}
		last = left;
		for (size_t i = 0; i < p->n; i++)
			g[i] *= g[i];
		tau /= 2;
	}
	if (at == 0)
		return INFINITY;
	if (r[1] > 2 * enough)
		return exponential(p, f, at);
	for (int k = 0; k < 3; k++) {
		u[k] = log(at) + (k - 1) * log(2);
		if (isnan(r[k]))
			r[k] = left_at(p, u[k]);
	}
	return exponential(p, f, exp(best_between(p, u, r)));
}

double ww_step_settling(const struct ww_step_data *d, size_t from, size_t to, double enough,
			struct ww_step_fit *f)
{
	struct points p;

	gather(&p, d, from, to);
	if (p.n < 3)
		return INFINITY;
	return search(&p, d->period, enough, f);
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

void ww_step_settling_cov(const struct ww_step_data *d, size_t from, size_t to,
			  struct ww_step_fit *f)
{
	double m[3][3] = {{0}};
	struct points points, *p = &points;
	int n = f->params;

	gather(p, d, from, to);
	memset(f->cov, 0, sizeof(f->cov));
	for (size_t i = 0; i < p->n; i++) {
		double g[3];

		ww_step_fit_slopes(f, p->t[i], g);
		for (int a = 0; a < n; a++)
			for (int b = 0; b < n; b++)
				m[a][b] += p->w[i] * g[a] * g[b];
	}
	while (n > 1 && !invert(m, n, f->cov))
		n--;
	if (n == 1)
		f->cov[0][0] = 1 / p->count;
}
