/* SPDX-License-Identifier: MIT */
/*
 * Cycles of a mode: found before anything is averaged, since a slope over a cycle
 * and a half may well be flat while the mean is wrong.
 */
#include "analysis/noise.h"
#include "analysis/standby.h"
#include "base/stats.h"

#include <math.h>

#define PI	3.14159265358979323846
#define HOUR	3600.0
#define APART	6.0 /* levels are two where they lie this many scatters apart */
#define PEAK	0.6 /* autocorrelation that makes a period */
#define PEAK2	0.4 /* and at twice the period, where that can be seen */
#define PERIODS 3.0 /* that must fit into the stretch, by autocorrelation */
#define ENDED	2.0 /* periods without a rise: the mode no longer cycles */

/* ---- two levels ---- */

/* Scatter of one reading from its neighbour: half of the squares, drifts and cycles apart. */
static double neighbour_noise(const struct ww_standby_data *d, size_t n, double *buf)
{
	double m;

	if (n < 3)
		return 0;
	for (size_t i = 1; i < n; i++)
		buf[i - 1] = fabs(d->v[i] - d->v[i - 1]);
	m = ww_median(buf, n - 1) * 1.4826 / sqrt(2);
	return fmax(m, d->q / sqrt(12));
}

/* The cut of sorted values into two classes that lie furthest apart (Otsu, 1979). */
static size_t best_cut(const double *v, size_t n)
{
	double sum = 0, left = 0, best = -1;
	size_t cut = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i] - v[0];
	for (size_t i = 1; i < n; i++) {
		double d, between;

		left += v[i - 1] - v[0];
		d = (sum - left) / (double)(n - i) - left / (double)i;
		between = (double)i * (double)(n - i) * d * d;
		if (between > best) {
			best = between;
			cut = i;
		}
	}
	return cut;
}

/* Median of sorted values, and 1.48 times the median distance from it. */
static double scatter(const double *sorted, size_t n, double *buf, double *median)
{
	*median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
	for (size_t i = 0; i < n; i++)
		buf[i] = fabs(sorted[i] - *median);
	return 1.4826 * ww_median(buf, n);
}

bool ww_standby_levels(const double *sorted, size_t n, double *buf, double least, double *low,
		       double *high)
{
	size_t cut = best_cut(sorted, n);
	double w0, w1;

	if (cut == 0)
		return false;
	w0 = scatter(sorted, cut, buf, low);
	w1 = scatter(sorted + cut, n - cut, buf, high);
	return *high - *low > APART * fmax(fmax(w0, w1), least / sqrt(12)) &&
	       *high - *low > 1.5 * least;
}

/* Low and high level. false: one cloud of values. */
static bool two_levels(struct ww_standby_data *d, size_t n, double *low, double *high,
		       double *noise)
{
	*noise = neighbour_noise(d, n, d->scratch);
	memcpy(d->scratch, d->v, n * sizeof(*d->v));
	qsort(d->scratch, n, sizeof(*d->scratch), ww_cmp_double);
	return ww_standby_levels(d->scratch, n, d->scratch2, d->q, low, high) &&
	       *high - *low > APART * *noise;
}

/* Times of rises through the middle, with a dead zone of 30 % of the swing. */
static size_t rises(const struct ww_standby_data *d, size_t n, double low, double high, double *at)
{
	double up = low + 0.65 * (high - low), down = low + 0.35 * (high - low);
	size_t k = 0;
	int state = d->v[0] > up;

	for (size_t i = 1; i < n; i++) {
		if (state == 0 && d->v[i] > up) {
			at[k++] = (d->t[i] + d->t[i - 1]) / 2;
			state = 1;
		} else if (state == 1 && d->v[i] < down) {
			state = 0;
		}
	}
	return k;
}

static void find_on_off(struct ww_standby_data *d, double from, double to,
			struct ww_standby_cycle *c)
{
	size_t n = ww_standby_at(d, to), k;
	double low, high, sum = 0;
	double *at = d->scratch;

	if (n < 6 || !two_levels(d, n, &low, &high, &c->noise))
		return;
	k = rises(d, n, low, high, at);
	c->swing = high - low;
	if (k < 2 || at[k - 1] < from)
		return;
	c->period = (at[k - 1] - at[0]) / (double)(k - 1);
	if (to - at[k - 1] > ENDED * c->period)
		return;
	for (size_t i = 1; i < k; i++)
		sum += pow(at[i] - at[i - 1] - c->period, 2);
	c->spread = k > 2 ? sqrt(sum / (double)(k - 2)) : NAN;
	c->rises = k;
	c->on_off = c->found = true;
}

/* ---- any shape ---- */

size_t ww_standby_room(size_t n)
{
	size_t m = 1;

	while (m < 2 * n)
		m *= 2;
	return m;
}

/* Radix-2 transform in place, m a power of two (Cooley & Tukey 1965). */
static void transform(double *re, double *im, size_t m)
{
	for (size_t i = 1, j = 0; i < m; i++) {
		size_t bit = m >> 1;

		for (; j & bit; bit >>= 1)
			j ^= bit;
		j |= bit;
		if (i < j) {
			double r = re[i], q = im[i];

			re[i] = re[j], im[i] = im[j];
			re[j] = r, im[j] = q;
		}
	}
	for (size_t len = 2; len <= m; len <<= 1)
		for (size_t k = 0; k < len / 2; k++) {
			double a = -2 * PI * (double)k / (double)len, wr = cos(a), wi = sin(a);

			for (size_t i = k; i < m; i += len) {
				size_t j = i + len / 2;
				double xr = re[j] * wr - im[j] * wi, xi = re[j] * wi + im[j] * wr;

				re[j] = re[i] - xr, im[j] = im[i] - xi;
				re[i] += xr, im[i] += xi;
			}
		}
}

/* Autocorrelation of e into r[0..n): unbiased and 1 at lag 0. false: flat. */
static bool autocorrelation(double *room, const double *e, size_t n, double *r)
{
	size_t m = ww_standby_room(n);
	double *re = room, *im = room + m;
	bool ok;

	memset(room, 0, 2 * m * sizeof(*room));
	memcpy(re, e, n * sizeof(*e));
	transform(re, im, m);
	for (size_t i = 0; i < m; i++) {
		re[i] = re[i] * re[i] + im[i] * im[i];
		im[i] = 0;
	}
	transform(re, im, m);
	ok = re[0] > 0;
	for (size_t k = 0; k < n && ok; k++)
		r[k] = re[k] / re[0] * (double)n / (double)(n - k);
	return ok;
}

/* Lag of the first peak that is as high as any; 0 none. */
static double first_peak(const double *r, size_t n)
{
	size_t last = (size_t)((double)n / PERIODS), low = 1;
	double best = 0;

	while (low < last && r[low] > 0.2)
		low++;
	for (size_t k = low; k < last; k++)
		best = fmax(best, r[k]);
	if (best < PEAK)
		return 0;
	for (size_t k = low + 1; k + 1 < last; k++) {
		double a = r[k - 1], b = r[k], c = r[k + 1];

		if (b < 0.9 * best || b < a || b < c)
			continue;
		if (2 * k < n * 3 / 4 && r[2 * k] < PEAK2)
			continue;
		/* Top of the parabola through the three. */
		return (double)k + (2 * b - a - c > 0 ? (c - a) / 2 / (2 * b - a - c) : 0);
	}
	return 0;
}

static void find_period(struct ww_standby_data *d, double from, double to,
			struct ww_standby_cycle *c)
{
	struct ww_standby_fit f;
	double lag, ms = 0, noise;

	if (!ww_standby_line(d, from, to, &f) || f.n < 24)
		return;
	noise = neighbour_noise(d, f.b, d->scratch2);
	/* Steps of a display that beat with its readings are no cycles of the load. */
	if (!(f.s > d->q))
		return;
	if (!autocorrelation(d->room, d->scratch, f.n, d->scratch2))
		return;
	lag = first_peak(d->scratch2, f.n);
	if (!(lag >= 3))
		return;
	for (size_t i = 0; i < f.n; i++)
		ms += d->scratch[i] * d->scratch[i] / (double)f.n;
	c->found = true;
	c->period = lag * (d->t[f.b - 1] - d->t[f.a]) / (double)(f.n - 1);
	c->spread = NAN;
	c->swing = 2 * sqrt(2 * ms);
	c->noise = noise;
}

void ww_standby_find_cycles(struct ww_standby_data *d, double from, double to,
			    struct ww_standby_cycle *c)
{
	*c = (struct ww_standby_cycle){.period = NAN, .spread = NAN};
	find_on_off(d, from, to, c);
	if (!c->found)
		find_period(d, from, to, c);
}

/* ---- whole cycles ---- */

/* Bounds of whole cycles in [from, to) into at[]. @return how many bounds */
static size_t bounds(struct ww_standby_data *d, double from, double to,
		     const struct ww_standby_cycle *c, double *at)
{
	size_t k = 0, m;

	if (!c->on_off) {
		m = (size_t)((to - from) / c->period + 1e-9);
		for (size_t i = 0; i <= m; i++)
			at[k++] = to - (double)(m - i) * c->period;
		return m ? k : 0;
	}
	{
		double low, high, noise;
		size_t n = ww_standby_at(d, to), all;

		if (!two_levels(d, n, &low, &high, &noise))
			return 0;
		all = rises(d, n, low, high, at);
		for (size_t i = 0; i < all; i++)
			if (at[i] >= from)
				at[k++] = at[i];
	}
	return k;
}

/* Mean and slope of the cycles' means y at times x. */
static void fit_means(struct ww_standby_fit *f, const double *x, const double *y, size_t m)
{
	double mx = 0, my = 0, sxx = 0, sxy = 0, ss = 0;

	for (size_t i = 0; i < m; i++) {
		mx += x[i] / (double)m;
		my += y[i] / (double)m;
	}
	for (size_t i = 0; i < m; i++) {
		sxx += (x[i] - mx) * (x[i] - mx);
		sxy += (x[i] - mx) * (y[i] - my);
	}
	/* Two means lie on a line whatever they are. */
	f->slope = m > 2 ? sxy / sxx * HOUR : (double)NAN;
	f->dof = (double)m - 2;
	for (size_t i = 0; i < m; i++)
		ss += pow(y[i] - my - (m > 2 ? f->slope / HOUR * (x[i] - mx) : 0), 2);
	f->s = m > 2 ? sqrt(ss / f->dof) : NAN;
	f->u_noise = m > 2 ? ww_standby_widen(f->s / sqrt((double)m), f->dof) : NAN;
	f->u_slope = m > 2 ? ww_standby_widen(f->s / sqrt(sxx) * HOUR, f->dof) : NAN;
}

bool ww_standby_by_cycles(struct ww_standby_data *d, double from, double to,
			  const struct ww_standby_cycle *c, struct ww_standby_fit *f)
{
	/* Bounds and means share the scratch: a cycle has at least three readings. */
	double *at = d->scratch, *x = d->scratch2, *y, edge, sum = 0, length;
	size_t k = bounds(d, from, to, c, at), all = 0;

	*f = (struct ww_standby_fit){.from = from, .to = to, .u_noise = NAN, .tau = 1};
	if (k < 2 || 2 * k > d->n)
		return false;
	y = d->scratch2 + k;
	for (size_t i = 0; i + 1 < k; i++) {
		size_t a = ww_standby_at(d, at[i]), b = ww_standby_at(d, at[i + 1]);
		double s = 0;

		for (size_t j = a; j < b; j++)
			s += d->v[j];
		if (b == a)
			return false;
		x[i] = (at[i] + at[i + 1]) / 2;
		y[i] = s / (double)(b - a);
		sum += s;
		all += b - a;
	}
	f->from = at[0];
	f->to = at[k - 1];
	f->a = ww_standby_at(d, f->from);
	f->b = ww_standby_at(d, f->to);
	f->n = k - 1;
	fit_means(f, x, y, k - 1);
	f->mean = sum / (double)all;
	/* Either end is known to one reading: a rectangular distribution of that width. */
	length = f->to - f->from;
	edge = c->swing * d->dt / length / sqrt(6);
	f->u_noise = sqrt(f->u_noise * f->u_noise + edge * edge);
	f->u_q = ww_quantiser_seen_u(d->q, c->noise);
	f->u_slope = sqrt(f->u_slope * f->u_slope + pow(2 * f->u_q / length * HOUR, 2));
	return true;
}
