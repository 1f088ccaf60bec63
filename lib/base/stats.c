/* SPDX-License-Identifier: MIT */
#include "base/stats.h"

#include <math.h>

void ww_sum_add(struct ww_sum *k, double v)
{
	double t = k->s + v;

	if (fabs(k->s) >= fabs(v))
		k->c += (k->s - t) + v;
	else
		k->c += (v - t) + k->s;
	k->s = t;
}

double ww_sum_get(const struct ww_sum *k)
{
	return k->s + k->c;
}

int ww_cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double ww_median(double *v, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(v, n, sizeof(*v), ww_cmp_double);
	/* Halves first: the sum of two huge values would overflow. */
	return n % 2 ? v[n / 2] : v[n / 2 - 1] / 2 + v[n / 2] / 2;
}

double ww_median_low(double *v, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(v, n, sizeof(*v), ww_cmp_double);
	return v[(n - 1) / 2];
}

/* Continued fraction of the incomplete beta function, modified Lentz. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < 10000; m++) {
		double num = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), step;

		for (int half = 0; half < 2; half++) {
			d = 1 + num * d;
			c = 1 + num / c;
			d = 1 / (fabs(d) < tiny ? tiny : d);
			c = fabs(c) < tiny ? tiny : c;
			step = d * c;
			h *= step;
			num = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		}
		if (fabs(step - 1) < 1e-15)
			break;
	}
	return h;
}

/* lgamma() writes the global signgam; its reentrant form does not. */
static double lgam(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double ww_beta_inc(double a, double b, double x)
{
	double front;

	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	front = exp(lgam(a + b) - lgam(a) - lgam(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double ww_binom_cdf(int64_t k, int64_t n, double p)
{
	if (k < 0)
		return 0;
	if (k >= n)
		return 1;
	return ww_beta_inc((double)(n - k), (double)(k + 1), 1 - p);
}

void ww_quantile_ranks(size_t n, double p, double conf, size_t *lower, size_t *upper)
{
	double tail = (1 - conf) / 2;
	int64_t r, s, m = (int64_t)n;

	/* Largest r with P(X <= r-1) <= tail: below rank r the quantile seldom lies. */
	for (r = 0; r < m && ww_binom_cdf(r, m, p) <= tail; r++)
		;
	/* Smallest s with P(X >= s) <= tail. */
	for (s = m + 1; s > 1 && 1 - ww_binom_cdf(s - 2, m, p) <= tail; s--)
		;
	*lower = (size_t)r;
	*upper = (size_t)s;
}

static double beta_quantile(double q, double a, double b)
{
	double lo = 0, hi = 1;

	for (int i = 0; i < 200 && hi - lo > 1e-16 * hi; i++) {
		double mid = lo + (hi - lo) / 2;

		if (ww_beta_inc(a, b, mid) < q)
			lo = mid;
		else
			hi = mid;
	}
	return lo + (hi - lo) / 2;
}

void ww_clopper_pearson(int64_t k, int64_t n, double conf, double *lo, double *hi)
{
	double tail = (1 - conf) / 2;

	*lo = k > 0 ? beta_quantile(tail, (double)k, (double)(n - k + 1)) : 0;
	*hi = k < n ? beta_quantile(1 - tail, (double)(k + 1), (double)(n - k)) : 1;
}

double ww_student_t(double conf, double df)
{
	double lo = 0, hi = 1e6;

	/* P(|T| > t) = I_{df/(df+t^2)}(df/2, 1/2). */
	for (int i = 0; i < 200; i++) {
		double t = lo + (hi - lo) / 2;

		if (ww_beta_inc(df / 2, 0.5, df / (df + t * t)) > 1 - conf)
			lo = t;
		else
			hi = t;
	}
	return lo + (hi - lo) / 2;
}
