/* SPDX-License-Identifier: MIT */
/*
 * What a transition of known length draws, from readings around many of them: the power goes
 * from one level to P for that time, then to the other level, and a reading is its mean over
 * the reading's window. When each began is fitted to that cycle alone, P to all of them; every P
 * that the readings allow is kept (profile likelihood: Venzon & Moolgavkar, Applied
 * Statistics 37, 1988). A transition that draws as idle or as asleep looks the same, begun
 * sooner or later: both are kept then.
 */
#include "analysis/suspend_model.h"

#include <math.h>

#define GRID   48
#define BINS   96   /* of readings around one transition */
#define FINE   12   /* bins to a transition: more readings than that are averaged */
#define SPAN   1.5  /* readings by which the middle of a flank may err */
#define MOST   100  /* transitions that are looked at */
#define LEVEL  4.0  /* two standard deviations */
#define OTHERS 6.25 /* times that, within which another power may be the true one */
#define GOLDEN 0.38196601125
#define STEPS  18
#define HALVES 12
#define WORST  3.0

struct bins {
	double begin[BINS], end[BINS], v[BINS];
	size_t n;
};

struct around {
	const struct ww_suspend_edges *in;
	struct bins *b; /* [k] */
	double *first, *last;
	size_t k, readings, group;
	double before, after;
	bool point; /* each reading is of its moment, not of the time since the one before */
};

/* Mean of the model over [a, b], for a transition that began at e. */
static double model(const struct around *w, double p, double e, double a, double b)
{
	double l = w->in->length;
	double head = fmin(fmax(e - a, 0), b - a), tail = fmin(fmax(b - e - l, 0), b - a);

	if (w->point)
		return b < e ? w->before : b < e + l ? p : w->after;
	return (w->before * head + p * (b - a - head - tail) + w->after * tail) / (b - a);
}

/* Least sum of squares while e goes from e0 to e1, between which the model is linear. */
static double on_piece(const struct around *w, const struct bins *b, double p, double e0, double e1)
{
	double rr = 0, rd = 0, dd = 0, x;

	if (w->point)
		e0 = e1 = (e0 + e1) / 2;
	for (size_t i = 0; i < b->n; i++) {
		double m = model(w, p, e0, b->begin[i], b->end[i]);
		double d = model(w, p, e1, b->begin[i], b->end[i]) - m, r = b->v[i] - m;

		rr += r * r;
		rd += r * d;
		dd += d * d;
	}
	x = dd > 0 ? fmin(fmax(rd / dd, 0), 1) : 0;
	return rr - 2 * x * rd + x * x * dd;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double of_cycle(const struct around *w, size_t k, double p)
{
	const struct bins *b = &w->b[k];
	double cut[4 * BINS + 2], least = INFINITY, lo = w->first[k], hi = w->last[k];
	size_t n = 0;

	cut[n++] = lo;
	cut[n++] = hi;
	for (size_t i = 0; i < b->n; i++) {
		double at[4] = {b->begin[i], b->end[i], b->begin[i] - w->in->length,
				b->end[i] - w->in->length};

		for (int j = 0; j < 4; j++)
			if (at[j] > lo && at[j] < hi && (i == 0 || j % 2 || at[j] > b->end[i - 1]))
				cut[n++] = at[j];
	}
	qsort(cut, n, sizeof(*cut), ascending);
	for (size_t i = 1; i < n; i++)
		if (cut[i] > cut[i - 1])
			least = fmin(least, on_piece(w, b, p, cut[i - 1], cut[i]));
	return least;
}

static double of_all(const struct around *w, double p)
{
	double sum = 0;

	for (size_t k = 0; k < w->k; k++)
		sum += of_cycle(w, k, p);
	return sum;
}

/* "Momentary" is what files of other programs are taken for; most meters average. */
static double squares(const struct around *w, double p)
{
	struct around momentary = *w;

	momentary.point = true;
	if (w->in->x->semantics == WW_INSTANT && w->group == 1)
		return fmin(of_all(w, p), of_all(&momentary, p));
	return of_all(w, p);
}

/* ---- readings around the flanks ---- */

static void put(struct around *w, struct bins *b, size_t i, size_t n)
{
	const struct ww_series *x = w->in->x;
	double begin = ww_series_s(x, x->t_ns[i]), end = ww_series_s(x, x->t_ns[i + n - 1]),
	       sum = 0;
	double before = i && !x->hole[i] ? ww_series_s(x, x->t_ns[i - 1]) : begin - x->period_s;

	for (size_t j = i; j < i + n; j++)
		sum += x->v[j];
	if (b->n == BINS || !(end > before))
		return;
	b->begin[b->n] = before;
	b->end[b->n] = end;
	b->v[b->n++] = sum / (double)n;
}

static void gather(struct around *w, double at)
{
	const struct ww_series *x = w->in->x;
	double l = w->in->longest, dt = x->period_s * (double)w->group;
	double from = at - l - (SPAN + 0.5) * dt, to = at + l + (SPAN + 0.5) * dt;
	struct bins *b = &w->b[w->k];
	size_t lo = 0, hi = x->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ww_series_s(x, x->t_ns[mid]) < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	b->n = 0;
	for (; lo + w->group <= x->n && ww_series_s(x, x->t_ns[lo]) <= to; lo += w->group)
		put(w, b, lo, w->group);
	if (b->n < 4)
		return;
	w->first[w->k] = at - l - SPAN * dt;
	w->last[w->k] = at + SPAN * dt;
	w->readings += b->n;
	w->k++;
}

/* ---- every power that the readings allow ---- */

static double golden(const struct around *w, double a, double b, double *p)
{
	double x = a + GOLDEN * (b - a), y = b - GOLDEN * (b - a);
	double fx = squares(w, x), fy = squares(w, y);

	for (int i = 0; i < STEPS; i++) {
		if (fx < fy) {
			b = y, y = x, fy = fx;
			x = a + GOLDEN * (b - a), fx = squares(w, x);
		} else {
			a = x, x = y, fx = fy;
			y = b - GOLDEN * (b - a), fy = squares(w, y);
		}
	}
	*p = fx < fy ? x : y;
	return fmin(fx, fy);
}

/* Where the sum of squares passes `most` between a power within and one beyond. */
static double bound(const struct around *w, double within, double beyond, double most)
{
	for (int i = 0; i < HALVES; i++) {
		double mid = (within + beyond) / 2;

		if (squares(w, mid) <= most)
			within = mid;
		else
			beyond = mid;
	}
	return (within + beyond) / 2;
}

/* How much worse than the best may be, by noise and by what the model does not describe. */
static double allowance(const struct around *w, double least, bool *not_noise)
{
	double n = (double)w->readings - (double)w->k - 1, group = (double)w->group;
	double noise = w->in->noise * w->in->noise / group, left = least / fmax(n, 1), misfit;

	if (w->in->step > 0)
		noise += w->in->step * w->in->step;
	misfit = fmax(0, left - noise * (1 + WORST * sqrt(2 / fmax(n, 1))));
	*not_noise = misfit > 0;
	/* What is not described repeats in each cycle: more of them do not average it away. */
	return LEVEL * (fmax(noise, fmin(left, 2 * noise)) + misfit * (double)w->k);
}

static void search(const struct around *w, double top, struct ww_suspend_edge *out)
{
	double p[GRID + 2], s[GRID + 2], min_p[GRID + 2] = {0}, min_s[GRID + 2] = {0},
						      least = INFINITY, most;
	double low = fmin(w->before, w->after), high = fmax(w->before, w->after);
	size_t n = GRID + 1, k = 0;

	for (size_t i = 0; i < n; i++) {
		double part = (double)i / GRID;

		/* A third of them up to idle, which is one of them. */
		p[i] = part <= 1 / 3.0 ? low + 3 * part * (high - low)
				       : high + (1.5 * part - 0.5) * (top - high);
		s[i] = squares(w, p[i]);
	}
	for (size_t i = 0; i < n; i++) {
		if ((i && s[i - 1] < s[i]) || (i + 1 < n && s[i + 1] < s[i]))
			continue;
		min_s[k] = golden(w, p[i ? i - 1 : 0], p[i + 1 < n ? i + 1 : i], &min_p[k]);
		if (s[i] < min_s[k]) {
			min_s[k] = s[i];
			min_p[k] = p[i];
		}
		if (min_s[k] < least) {
			least = min_s[k];
			out->watts = min_p[k];
		}
		k++;
	}
	most = allowance(w, least, &out->misfit);
	out->squares = least;
	out->worse = most;
	out->lo = out->hi = out->watts;
	for (size_t j = 0; j < k; j++) {
		if (min_s[j] > least + OTHERS * most)
			continue;
		out->lo = fmin(out->lo, min_p[j]);
		out->hi = fmax(out->hi, min_p[j]);
	}
	most += least;
	for (size_t j = 0; j < k; j++) {
		size_t a = 0, b = 0;

		if (min_s[j] > most)
			continue;
		while (b < n && (p[b] <= min_p[j] || s[b] <= most))
			b++;
		for (size_t i = 0; i < n; i++)
			if (p[i] < min_p[j] && s[i] > most)
				a = i + 1;
		out->lo = fmin(out->lo, a ? bound(w, min_p[j], p[a - 1], most) : p[0]);
		out->hi = fmax(out->hi, b < n ? bound(w, min_p[j], p[b], most) : INFINITY);
	}
}

int ww_suspend_edges(const struct ww_suspend_edges *in, struct ww_suspend_edge *out,
		     struct ww_error *err)
{
	struct around w = {.in = in,
			   .before = in->rising ? in->asleep : in->idle,
			   .after = in->rising ? in->idle : in->asleep};
	double dt = in->x->period_s, top = in->idle;
	size_t every = (in->n + MOST - 1) / MOST;

	*out = (struct ww_suspend_edge){NAN, NAN, NAN, INFINITY, 0, false};
	w.group = dt > 0 ? (size_t)fmax(1, fmin(in->longest / dt / FINE, 1e6)) : 1;
	w.b = calloc(MOST + 1, sizeof(*w.b));
	w.first = calloc(2 * MOST + 2, sizeof(*w.first));
	if (!w.b || !w.first) {
		free(w.b);
		free(w.first);
		return ww_fail_nomem(err);
	}
	w.last = w.first + MOST + 1;
	for (size_t i = 0; i < in->n && w.k < MOST; i += every)
		gather(&w, in->at[i]);
	for (size_t k = 0; k < w.k; k++)
		for (size_t i = 0; i < w.b[k].n; i++)
			top = fmax(top, w.b[k].v[i]);
	/* A reading longer than the transition shows a part of it. */
	dt *= (double)w.group;
	top = in->idle + fmax(2 * (in->idle - in->asleep),
			      2 * (top - in->idle) * fmax(1, 2 * dt / in->length));
	if (w.k >= 2)
		search(&w, top, out);
	free(w.b);
	free(w.first);
	return 0;
}
