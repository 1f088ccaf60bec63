/* SPDX-License-Identifier: MIT */
/* Means beside each other, by Student's distribution; what they could have shown. */
#include "base/ranks.h"
#include "base/stats.h"

#include <math.h>

double ww_normal_cdf(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

double ww_normal_quantile(double p)
{
	double lo = -40, hi = 40;

	if (!(p >= 0 && p <= 1))
		return NAN;
	if (p == 0 || p == 1)
		return p == 0 ? -INFINITY : INFINITY;
	for (int i = 0; i < 200; i++) {
		double mid = lo + (hi - lo) / 2;

		*(ww_normal_cdf(mid) < p ? &lo : &hi) = mid;
	}
	return lo + (hi - lo) / 2;
}

double ww_student_p(double t, double df)
{
	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return 0;
	/* Beyond this the two distributions agree to eight digits. */
	if (df > 1e8)
		return erfc(fabs(t) / sqrt(2));
	return ww_beta_inc(df / 2, 0.5, df / (df + t * t));
}

double ww_student_quantile(double p, double df)
{
	if (!(df > 0) || !(p > 0 && p < 1))
		return NAN;
	if (df > 1e8)
		return ww_normal_quantile(p);
	if (p == 0.5)
		return 0;
	return p < 0.5 ? -ww_student_t(1 - 2 * p, df) : ww_student_t(2 * p - 1, df);
}

static double mean_of(const double *v, size_t n)
{
	struct ww_sum s = {0};

	for (size_t i = 0; i < n; i++)
		ww_sum_add(&s, v[i]);
	return ww_sum_get(&s) / (double)n;
}

/* Sum of squares around the mean. */
static double squares(const double *v, size_t n, double mean)
{
	struct ww_sum s = {0};

	for (size_t i = 0; i < n; i++)
		ww_sum_add(&s, (v[i] - mean) * (v[i] - mean));
	return ww_sum_get(&s);
}

void ww_paired_mean(const double *d, size_t n, struct ww_mean_test *out)
{
	*out = (struct ww_mean_test){NAN, NAN, NAN, NAN};
	if (n == 0)
		return;
	out->value = mean_of(d, n);
	if (n < 2)
		return;
	out->df = (double)(n - 1);
	out->sd = sqrt(squares(d, n, out->value) / out->df);
	out->se = out->sd / sqrt((double)n);
}

void ww_welch_mean(const double *a, size_t n, const double *b, size_t m, struct ww_mean_test *out)
{
	double ma, mb, sa, sb, va, vb;

	*out = (struct ww_mean_test){NAN, NAN, NAN, NAN};
	if (n == 0 || m == 0)
		return;
	ma = mean_of(a, n);
	mb = mean_of(b, m);
	out->value = mb - ma;
	if (n < 2 || m < 2)
		return;
	sa = squares(a, n, ma);
	sb = squares(b, m, mb);
	va = sa / (double)(n - 1) / (double)n;
	vb = sb / (double)(m - 1) / (double)m;
	out->sd = sqrt((sa + sb) / (double)(n + m - 2));
	out->se = sqrt(va + vb);
	/* Satterthwaite; two samples without any spread leave 0/0. */
	out->df = va + vb > 0 ? (va + vb) * (va + vb) /
					(va * va / (double)(n - 1) + vb * vb / (double)(m - 1))
			      : (double)(n + m - 2);
}

bool ww_fieller(double ma, double va, double mb, double vb, double cov, double t, double *lo,
		double *hi)
{
	/* (mb - r ma)^2 <= t^2 (vb - 2 r cov + r^2 va) */
	double a = ma * ma - t * t * va, b = ma * mb - t * t * cov, c = mb * mb - t * t * vb;
	double root = b * b - a * c;

	*lo = -INFINITY;
	*hi = INFINITY;
	if (!(a > 0) || !(root >= 0))
		return false;
	*lo = (b - sqrt(root)) / a;
	*hi = (b + sqrt(root)) / a;
	return true;
}

int ww_brunner_munzel(const double *a, size_t n, const double *b, size_t m,
		      struct ww_brunner_munzel *out)
{
	size_t all = n + m, most = all ? all : 1;
	double *v = malloc(most * sizeof(*v)), ma = 0, mb = 0, sa = 0, sb = 0, ties;
	uint32_t *r = malloc(most * sizeof(*r)), *in = malloc(most * sizeof(*in));
	double dn = (double)n, dm = (double)m, va, vb;
	int rc = v && r && in ? 0 : -ENOMEM;

	*out = (struct ww_brunner_munzel){NAN, NAN, NAN, NAN};
	for (size_t i = 0; rc == 0 && i < all; i++)
		v[i] = i < n ? a[i] : b[i - n];
	if (rc == 0)
		rc = ww_midranks2(v, all, r, &ties);
	if (rc == 0)
		rc = ww_midranks2(v, n, in, &ties);
	if (rc == 0)
		rc = ww_midranks2(v + n, m, in + n, &ties);
	if (rc == 0 && n && m) {
		for (size_t i = 0; i < all; i++)
			*(i < n ? &ma : &mb) += r[i] / 2.0;
		ma /= dn;
		mb /= dm;
		for (size_t i = 0; i < all; i++) {
			double e = i < n ? ma - (dn + 1) / 2 : mb - (dm + 1) / 2;
			double x = r[i] / 2.0 - in[i] / 2.0 - e;

			*(i < n ? &sa : &sb) += x * x;
		}
		out->effect = (mb - (dm + 1) / 2) / dn;
		va = n > 1 ? sa / (dn - 1) : NAN;
		vb = m > 1 ? sb / (dm - 1) : NAN;
		if (dn * va + dm * vb > 0) {
			out->stat = dn * dm * (mb - ma) / ((dn + dm) * sqrt(dn * va + dm * vb));
			out->df = pow(dn * va + dm * vb, 2) /
				  (pow(dn * va, 2) / (dn - 1) + pow(dm * vb, 2) / (dm - 1));
			out->p = ww_student_p(out->stat, out->df);
		}
	}
	free(v);
	free(r);
	free(in);
	return rc;
}

double ww_detectable(double se, double df, double conf, double power)
{
	return (ww_student_quantile((1 + conf) / 2, df) + ww_student_quantile(power, df)) * se;
}

uint64_t ww_pairs_needed(double sd, double difference, double conf, double power, bool normal)
{
	double z = ww_normal_quantile((1 + conf) / 2) + ww_normal_quantile(power);
	double n = ceil(pow(z * sd / difference, 2));

	if (!(n <= 1e6))
		return 0;
	if (normal)
		return n > 2 ? (uint64_t)n : 2;
	/* Student's quantiles are larger, so that no fewer will do. */
	for (uint64_t k = n > 2 ? (uint64_t)n : 2; k <= 1000100; k++) {
		n = (double)k;
		if (ww_detectable(sd / sqrt(n), n - 1, conf, power) <= difference)
			return k;
	}
	return 0;
}

int ww_holm(double *p, size_t k)
{
	double *old = calloc(k ? k : 1, sizeof(*old)), last = 0;
	size_t known = 0;

	if (!old)
		return -ENOMEM;
	for (size_t i = 0; i < k; i++) {
		old[i] = p[i];
		known += isnan(p[i]) ? 0 : 1;
	}
	for (size_t left = known; left > 0; left--) {
		size_t least = k;

		for (size_t i = 0; i < k; i++)
			if (!isnan(old[i]) && (least == k || old[i] < old[least]))
				least = i;
		if (least == k)
			break;
		last = fmax(last, fmin(1, (double)left * old[least]));
		p[least] = last;
		old[least] = NAN;
	}
	free(old);
	return 0;
}
