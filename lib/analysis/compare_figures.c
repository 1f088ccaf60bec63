/* SPDX-License-Identifier: MIT */
/* Figures of two samples: ratio, difference, tests, effect, what would have been seen. */
#include "analysis/compare.h"
#include "analysis/noise.h"
#include "analysis/series.h"
#include "base/stats.h"

#include <float.h>
#include <math.h>

#define COVER 0.9545 /* of twice a standard uncertainty */

static double mean_sd(const double *v, size_t n, double *sd)
{
	struct ww_mean_test t;

	ww_paired_mean(v, n, &t);
	*sd = t.sd;
	return t.value;
}

/* Few runs do not know their own scatter: twice the result covers 95 %. */
static double widened(double u, double df)
{
	return df > 0 && isfinite(df) ? u * ww_student_t(COVER, df) / 2 : u;
}

static bool positive(const double *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(v[i] > 0))
			return false;
	return true;
}

/* The mean of d = y - x, or of y less that of x, with or without logarithms. */
static int mean_test(const struct ww_samples2 *s, bool logs, struct ww_mean_test *out)
{
	size_t all = s->n + s->m;
	double *v = calloc(all, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		double x = i < s->n ? s->a[i] : s->b[i - s->n];

		v[i] = logs ? log(x) : x;
	}
	if (s->paired) {
		for (size_t i = 0; i < s->n; i++)
			v[i] = v[s->n + i] - v[i];
		ww_paired_mean(v, s->n, out);
	} else {
		ww_welch_mean(v, s->n, v + s->n, s->m, out);
	}
	free(v);
	return 0;
}

/* What rounding leaves in the two means, as it shows in their scatter. */
static double rounding_u(const struct ww_comparison *r, double q, double wa, double wb)
{
	double ua = ww_quantiser_seen_u(q, r->sd_a), ub = ww_quantiser_seen_u(q, r->sd_b);

	return q > 0 && isfinite(r->sd_a) && isfinite(r->sd_b) ? hypot(ua * wa, ub * wb) : 0;
}

/*
 * Standard uncertainty that the meter leaves in wb b - wa a: wa = wb = 1 for the
 * difference, 1/mean for the logarithm of the ratio, where a common gain cancels.
 */
static double meter_u(const struct ww_compare_meter *m, const struct ww_comparison *r, double wa,
		      double wb)
{
	double oa = m->per_offset[0] * wa, ob = m->per_offset[1] * wb;
	double ga = r->mean_a.value * wa * m->per_gain, gb = r->mean_b.value * wb * m->per_gain;
	double o = m->other ? hypot(oa, ob) : fabs(ob - oa);
	double g = m->other ? hypot(ga, gb) : fabs(gb - ga);

	return hypot(o * m->offset_u, g * m->gain_u);
}

/* Effective degrees of freedom of a scatter with df and another part with many (GUM G.4.1). */
static double effective(double se, double df, double u)
{
	return se > 0 ? df * pow(hypot(se, u) / se, 4) : INFINITY;
}

static void by_logs(const struct ww_mean_test *t, const struct ww_compare_meter *m, double conf,
		    double power, struct ww_comparison *r)
{
	double wa = 1 / r->mean_a.value, wb = 1 / r->mean_b.value;
	double u = hypot(meter_u(m, r, wa, wb), rounding_u(r, m->resolution, wa, wb));
	double all = hypot(t->se, u), k;

	r->ratio = exp(t->value);
	r->u_runs = t->se;
	r->u_meter = u;
	r->cohens_d = t->sd > 0 ? t->value / t->sd : NAN;
	if (!(all > 0))
		return;
	r->df = effective(t->se, t->df, u);
	k = ww_student_quantile((1 + conf) / 2, r->df);
	r->ratio_ci[0] = exp(t->value - k * all);
	r->ratio_ci[1] = exp(t->value + k * all);
	r->p = ww_student_p(t->value / all, r->df);
	r->detectable = expm1(ww_detectable(all, r->df, conf, power));
}

/* Where a value is zero or less: differences, and Fieller's interval of the ratio. */
static void by_differences(const struct ww_samples2 *s, const struct ww_mean_test *t,
			   const struct ww_compare_meter *m, double conf, double power,
			   struct ww_comparison *r)
{
	double u = hypot(meter_u(m, r, 1, 1), rounding_u(r, m->resolution, 1, 1));
	double all = hypot(t->se, u), cov = 0, k, lo, hi;
	double va = r->sd_a * r->sd_a / (double)s->n, vb = r->sd_b * r->sd_b / (double)s->m;

	/* So many times something negative tells nobody anything. */
	r->ratio = r->mean_a.value > 0 ? r->mean_b.value / r->mean_a.value : NAN;
	r->cohens_d = t->sd > 0 ? t->value / t->sd : NAN;
	if (!(all > 0))
		return;
	r->u_runs = t->se / fabs(r->mean_a.value);
	r->u_meter = u / fabs(r->mean_a.value);
	r->df = effective(t->se, t->df, u);
	k = ww_student_quantile((1 + conf) / 2, r->df);
	r->p = ww_student_p(t->value / all, r->df);
	for (size_t i = 0; s->paired && i < s->n; i++)
		cov += (s->a[i] - r->mean_a.value) * (s->b[i] - r->mean_b.value);
	if (s->paired)
		cov /= (double)s->n * ((double)s->n - 1);
	if (r->mean_a.value > 0 &&
	    ww_fieller(r->mean_a.value, va, r->mean_b.value, vb + u * u, cov, k, &lo, &hi)) {
		r->ratio_ci[0] = lo;
		r->ratio_ci[1] = hi;
		r->detectable = ww_detectable(all, r->df, conf, power) / fabs(r->mean_a.value);
	} else {
		r->ratio = NAN;
	}
}

static void difference(const struct ww_mean_test *t, const struct ww_compare_meter *m, double conf,
		       double power, struct ww_comparison *r)
{
	double u = hypot(meter_u(m, r, 1, 1), rounding_u(r, m->resolution, 1, 1)), k, df;
	double all = hypot(t->se, u);

	r->difference = (struct ww_quantity){t->value, NAN};
	if (!(all > 0))
		return;
	df = effective(t->se, t->df, u);
	k = ww_student_quantile((1 + conf) / 2, df);
	r->difference.u = widened(all, df);
	r->detectable_abs = ww_detectable(all, df, conf, power);
	r->difference_ci[0] = t->value - k * all;
	r->difference_ci[1] = t->value + k * all;
}

static int ranks(const struct ww_samples2 *s, double conf, struct ww_comparison *r)
{
	struct ww_rank_test mw, sr = {.p = NAN};
	struct ww_brunner_munzel bm = {0};
	struct ww_rank_shift shift = {0};
	double *d = NULL;
	int rc = ww_mann_whitney(s->a, s->n, s->b, s->m, &mw);

	if (rc == 0)
		rc = ww_brunner_munzel(s->a, s->n, s->b, s->m, &bm);
	if (rc == 0)
		rc = ww_cliffs_delta(s->a, s->n, s->b, s->m, &r->cliffs_delta);
	if (rc == 0 && s->paired) {
		d = calloc(s->n, sizeof(*d));
		rc = d ? 0 : -ENOMEM;
		for (size_t i = 0; d && i < s->n; i++)
			d[i] = s->b[i] - s->a[i];
		if (d)
			rc = ww_signed_rank(d, s->n, &sr);
		if (rc == 0)
			rc = ww_walsh(d, s->n, conf, &shift);
		free(d);
	} else if (rc == 0) {
		rc = ww_hodges_lehmann(s->a, s->n, s->b, s->m, conf, &shift);
	}
	if (rc < 0)
		return rc;
	r->mann_whitney_u = mw.stat;
	r->mann_whitney_p = mw.p;
	r->signed_rank_p = sr.p;
	r->brunner_munzel_p = bm.p;
	r->shift = shift.value;
	r->shift_ci[0] = shift.lo;
	r->shift_ci[1] = shift.hi;
	return 0;
}

/* Runs that would see half of what these would have seen: sd per pair or per run. */
static void needed(const struct ww_samples2 *s, const struct ww_mean_test *t, bool logs,
		   double conf, double power, struct ww_comparison *r)
{
	double half = logs ? log1p(r->detectable / 2) : r->detectable / 2 * fabs(r->mean_a.value);
	double sd = s->paired ? t->sd : t->sd * sqrt(2);
	uint64_t n;

	if (!(t->sd > 0) || !(half > 0))
		return;
	n = ww_pairs_needed(sd, half, conf, power, false);
	r->needed = n ? (double)n : NAN;
}

int ww_compare_figures(const struct ww_samples2 *s, const struct ww_compare_meter *m, double conf,
		       double power, struct ww_comparison *r)
{
	struct ww_mean_test plain = {0}, t = {0};
	bool logs;
	int rc;

	r->n_a = s->n;
	r->n_b = s->m;
	r->pairs = s->paired ? s->n : 0;
	if (s->n == 0 || s->m == 0)
		return 0;
	r->mean_a.value = mean_sd(s->a, s->n, &r->sd_a);
	r->mean_b.value = mean_sd(s->b, s->m, &r->sd_b);
	r->mean_a.u = widened(r->sd_a / sqrt((double)s->n), (double)s->n - 1);
	r->mean_b.u = widened(r->sd_b / sqrt((double)s->m), (double)s->m - 1);
	logs = positive(s->a, s->n) && positive(s->b, s->m);
	rc = ranks(s, conf, r);
	if (rc == 0)
		rc = mean_test(s, false, &plain);
	if (rc == 0)
		rc = mean_test(s, logs, &t);
	if (rc < 0)
		return rc;
	difference(&plain, m, conf, power, r);
	r->method = logs	? s->paired ? WW_COMPARE_PAIRED_LOG : WW_COMPARE_WELCH_LOG
		    : s->paired ? WW_COMPARE_PAIRED
				: WW_COMPARE_WELCH;
	if (logs)
		by_logs(&t, m, conf, power, r);
	else
		by_differences(s, &t, m, conf, power, r);
	if (isnan(t.se))
		r->method = WW_COMPARE_NONE;
	needed(s, &t, logs, conf, power, r);
	return 0;
}

void ww_compare_judge(struct ww_comparison *r, double conf, double resolution)
{
	/* Values that hardly scatter tell no less than half a step, however many they are. */
	bool still = r->sd_a < resolution / 2 && r->sd_b < resolution / 2;
	bool by_log = r->method == WW_COMPARE_PAIRED_LOG || r->method == WW_COMPARE_WELCH_LOG;

	if (isnan(r->p))
		r->verdict = WW_VERDICT_NONE;
	else if (still && fabs(r->shift) < resolution / 2)
		r->verdict = WW_VERDICT_UNRESOLVED;
	else if (!(r->p_holm <= 1 - conf))
		r->verdict = WW_VERDICT_SAME;
	else
		r->verdict = (by_log ? r->ratio < 1 : r->difference.value < 0) ? WW_VERDICT_LESS
									       : WW_VERDICT_MORE;
}
