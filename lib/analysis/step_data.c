/* SPDX-License-Identifier: MIT */
#include "analysis/steps_core.h"
#include "base/stats.h"

#include <math.h>

#define SAMPLED 1024

static int check(const struct ww_step_input *in, struct ww_error *err)
{
	for (size_t i = 0; i < in->n; i++) {
		if (!isfinite(in->v[i]))
			return ww_fail(err, -EINVAL, "reading %zu is no number", i);
		if (!isfinite(in->t[i]) || (i && in->t[i] < in->t[i - 1]))
			return ww_fail(err, -EINVAL, "the time of reading %zu falls", i);
	}
	return 0;
}

/* Median of evenly spaced ones, which is near enough. */
static double usual(const double *v, size_t n)
{
	double tmp[SAMPLED];
	size_t m = n < SAMPLED ? n : SAMPLED;

	for (size_t i = 0; i < m; i++)
		tmp[i] = v[(size_t)((double)i * (double)n / (double)m)];
	return n ? ww_median(tmp, m) : 0;
}

static double usual_period(const struct ww_step_input *in)
{
	double tmp[SAMPLED], p;
	size_t m = 0, stride = in->n / SAMPLED + 1;

	if (in->period > 0)
		return in->period;
	for (size_t i = 1; i < in->n && m < SAMPLED; i += stride)
		if (!in->hole || !in->hole[i])
			tmp[m++] = in->t[i] - in->t[i - 1];
	p = m ? ww_median(tmp, m) : 1;
	return p > 0 ? p : 1;
}

static int allocate(struct ww_step_data *d, size_t n)
{
	size_t blocks = n / WW_STEP_BLOCK + 2;

	d->t = malloc(n * sizeof(double));
	d->lo = malloc(n * sizeof(double));
	d->hi = malloc(n * sizeof(double));
	d->v = malloc(n * sizeof(double));
	d->hole = calloc(n, 1);
	d->out = calloc(n, 1);
	d->first = malloc(n * sizeof(size_t));
	d->local = malloc(blocks * sizeof(double));
	d->odd = calloc(blocks, 1);
	d->sum = malloc((n + 1) * sizeof(*d->sum));
	if (!d->t || !d->lo || !d->hi || !d->v || !d->hole || !d->out || !d->first || !d->local ||
	    !d->odd || !d->sum)
		return -ENOMEM;
	return 0;
}

/* Averages over whole blocks; what does not fill one before a hole is left out. */
static void take(struct ww_step_data *d, const struct ww_step_input *in)
{
	size_t b = d->block;
	bool hole = false;

	for (size_t i = 0; i + b <= in->n;) {
		size_t k, last = i + b - 1;
		double sum = 0;

		for (k = i + 1; k <= last && !(in->hole && in->hole[k]); k++)
			;
		hole = hole || (in->hole && in->hole[i]);
		if (k <= last) {
			hole = true;
			i = k;
			continue;
		}
		for (k = i; k <= last; k++)
			sum += in->v[k] - d->centre;
		d->first[d->n] = i;
		d->t[d->n] = in->t[last] - d->origin;
		d->lo[d->n] = in->lo ? in->lo[i] : in->t[i];
		d->hi[d->n] = in->hi ? in->hi[last] : in->t[last];
		d->v[d->n] = sum / (double)b;
		d->hole[d->n++] = hole;
		hole = false;
		i = last + 1;
	}
}

int ww_step_data_init(struct ww_step_data *d, const struct ww_step_input *in, struct ww_error *err)
{
	double raw;
	int rc = check(in, err);

	*d = (struct ww_step_data){.n = 0};
	if (rc < 0)
		return rc;
	raw = usual_period(in);
	d->block = ww_step_mains(in, raw, &d->mains_hz);
	d->centre = usual(in->v, in->n);
	d->origin = in->n ? in->t[0] : 0;
	if (allocate(d, in->n / d->block + 1) < 0)
		return ww_fail_nomem(err);
	take(d, in);
	d->period = raw * (double)d->block;
	/* The average of many codes is as good as not quantised. */
	d->q = in->resolution > 0 ? in->resolution : 0;
	if (d->block > 1)
		d->q = 0;
	ww_step_range(d);
	d->spike = in->spike_s > 0 ? fmax(1, floor(in->spike_s / d->period + 0.5)) : 3;
	d->gain = in->acc_rel > 0 ? in->acc_rel : 0;
	return ww_step_noise(d) < 0 ? ww_fail_nomem(err) : 0;
}

void ww_step_data_free(struct ww_step_data *d)
{
	free(d->t);
	free(d->lo);
	free(d->hi);
	free(d->v);
	free(d->hole);
	free(d->out);
	free(d->first);
	free(d->local);
	free(d->odd);
	free(d->sum);
}
