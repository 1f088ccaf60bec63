/* SPDX-License-Identifier: MIT */
/* A line through points that are uncertain in both directions. */
#include "analysis/calibrate.h"

#include <math.h>

struct sums {
	double w, x, y;
};

/* One step from a slope: York (2004), his table I, without correlations. */
static double york_step(const struct ww_cal_point *p, size_t n, double b, struct ww_cal_line *out)
{
	struct sums s = {0};
	double num = 0, den = 0, xm, ym, sw = 0, sx = 0, var = 0;

	for (size_t i = 0; i < n; i++) {
		double w = 1 / (p[i].uy * p[i].uy + b * b * p[i].ux * p[i].ux);

		s.w += w;
		s.x += w * p[i].x;
		s.y += w * p[i].y;
	}
	xm = s.x / s.w;
	ym = s.y / s.w;
	for (size_t i = 0; i < n; i++) {
		double uy2 = p[i].uy * p[i].uy, ux2 = p[i].ux * p[i].ux,
		       w = 1 / (uy2 + b * b * ux2), u = p[i].x - xm, v = p[i].y - ym,
		       beta = w * (u * uy2 + b * v * ux2);

		num += w * beta * v;
		den += w * beta * u;
		sw += w;
		sx += w * (xm + beta);
	}
	if (!(den != 0))
		return (double)NAN;
	b = num / den;
	out->chi2 = 0;
	for (size_t i = 0; i < n; i++) {
		double uy2 = p[i].uy * p[i].uy, ux2 = p[i].ux * p[i].ux,
		       w = 1 / (uy2 + b * b * ux2), u = p[i].x - xm, v = p[i].y - ym,
		       beta = w * (u * uy2 + b * v * ux2), d = xm + beta - sx / sw;

		var += w * d * d;
		out->chi2 += w * pow(v - b * u, 2);
	}
	out->gain = (struct ww_quantity){b, sqrt(1 / var)};
	out->offset = (struct ww_quantity){ym - b * xm, sqrt(1 / sw + pow(sx / sw, 2) / var)};
	out->cov = -(sx / sw) / var;
	return b;
}

int ww_cal_york(const struct ww_cal_point *p, size_t n, struct ww_cal_line *out)
{
	double least = INFINITY, most = -INFINITY, b = 1, next;

	for (size_t i = 0; i < n; i++) {
		least = fmin(least, p[i].x);
		most = fmax(most, p[i].x);
		if (!(p[i].uy > 0) || !(p[i].ux >= 0))
			return -EINVAL;
	}
	if (n < 2 || !(most > least))
		return -EINVAL;
	for (int i = 0; i < 200; i++) {
		next = york_step(p, n, b, out);
		if (!isfinite(next))
			return -EINVAL;
		if (fabs(next - b) <= 1e-15 * fabs(b))
			break;
		b = next;
	}
	return 0;
}
