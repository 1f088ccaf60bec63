/* SPDX-License-Identifier: MIT */
/* How well the median of a latency is known, at any confidence. */
#include "analysis/resume.h"
#include "base/stats.h"

#include <math.h>

int ww_resume_width(const struct ww_resume *r, int latency, double conf, double *median_ms,
		    double *width_ms)
{
	double *v = calloc(r->cycles + 1, sizeof(*v));
	size_t n = 0, lower, upper;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < r->cycles; i++) {
		int kind = ww_resume_kind_of(&r->cycle[i], latency);

		if (kind == WW_KIND_VALUE)
			v[n++] = (double)ww_iv_mid(r->cycle[i].c.latency[latency]) / 1e6;
		else if (kind == WW_KIND_NEVER)
			v[n++] = INFINITY;
	}
	*width_ms = INFINITY;
	ww_quantile_ranks(n, .5, conf, &lower, &upper);
	qsort(v, n, sizeof(*v), ww_cmp_double);
	if (n && lower >= 1 && upper <= n && isfinite(v[upper - 1]))
		*width_ms = v[upper - 1] - v[lower - 1];
	*median_ms = n == 0		  ? NAN
		     : n % 2		  ? v[n / 2]
		     : isfinite(v[n / 2]) ? (v[n / 2 - 1] + v[n / 2]) / 2
					  : INFINITY;
	free(v);
	return 0;
}
