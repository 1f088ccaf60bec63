/* SPDX-License-Identifier: MIT */
/*
 * Means and sums of squares of any stretch in no time. Sums since the begin of a long
 * trace would lose the digits of a short stretch, so they begin anew every so often and
 * are put together (Chan, Golub & LeVeque, The American Statistician 37, 1983).
 */
#include "analysis/steps_core.h"

#define CHUNK 1024

void ww_step_data_sum(struct ww_step_data *d)
{
	struct ww_step_sums s = {.w = 0};
	double origin = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (i % CHUNK == 0) {
			s = (struct ww_step_sums){.w = 0};
			origin = d->t[i];
		}
		if (!d->out[i]) {
			double t = d->t[i] - origin, v = d->v[i];

			s.w += 1;
			s.v += v;
			s.vv += v * v;
			s.t += t;
			s.tt += t * t;
			s.tv += t * v;
		}
		d->sum[i] = s;
	}
}

static double positive(double x)
{
	return x > 0 ? x : 0;
}

/* Of readings that begin anew at most at `from`. */
static void inside(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_moments *m)
{
	struct ww_step_sums s = d->sum[to - 1];

	if (from % CHUNK) {
		const struct ww_step_sums *b = &d->sum[from - 1];

		s.w -= b->w;
		s.v -= b->v;
		s.vv -= b->vv;
		s.t -= b->t;
		s.tt -= b->tt;
		s.tv -= b->tv;
	}
	*m = (struct ww_step_moments){.w = s.w};
	if (s.w < 0.5)
		return;
	m->t = s.t / s.w;
	m->v = s.v / s.w;
	if (s.w > 1.5) {
		m->tt = positive(s.tt - m->t * s.t);
		m->tv = s.tv - m->t * s.v;
		m->vv = positive(s.vv - m->v * s.v);
	}
	m->t += d->t[from - from % CHUNK];
}

static void merge(struct ww_step_moments *m, const struct ww_step_moments *b)
{
	double w = m->w + b->w, both, dt, dv;

	if (b->w < 0.5)
		return;
	if (m->w < 0.5) {
		*m = *b;
		return;
	}
	both = m->w * b->w / w;
	dt = b->t - m->t;
	dv = b->v - m->v;
	m->tt += b->tt + both * dt * dt;
	m->tv += b->tv + both * dt * dv;
	m->vv += b->vv + both * dv * dv;
	m->t += dt * b->w / w;
	m->v += dv * b->w / w;
	m->w = w;
}

void ww_step_moments(const struct ww_step_data *d, size_t from, size_t to,
		     struct ww_step_moments *m)
{
	struct ww_step_moments part;

	if (from >= to) {
		*m = (struct ww_step_moments){.w = 0};
		return;
	}
	for (size_t end = 0, begin = from; begin < to; begin = end) {
		end = begin - begin % CHUNK + CHUNK;
		end = end < to ? end : to;
		inside(d, begin, end, begin == from ? m : &part);
		if (begin != from)
			merge(m, &part);
	}
}
