/* SPDX-License-Identifier: MIT */
/*
 * The DUT's clock against the bench's. A beat stamped s by the DUT's MONOTONIC
 * reaches the bench at r = (1 + alpha) s + offset + d with d >= d_min. All waking
 * stretches share one alpha; each has its own offset, because MONOTONIC stands
 * still in suspend. alpha minimises the convex sum over the stretches of
 * sum(z - min z), z = r - (1 + alpha) s, the linear programme of Moon, Skelly and
 * Towsley (INFOCOM 1999) taken over several stretches. min z lies on the lower
 * convex hull of a stretch, so only hulls are kept and memory stays small.
 */
#include "analysis/resume.h"

#include <math.h>

/* No quartz is worse than this by far. */
#define SKEW_MAX 2e-3

static double cross(const struct ww_hull_point *a, const struct ww_hull_point *b,
		    const struct ww_hull_point *c)
{
	return (b->s - a->s) * (c->r - a->r) - (b->r - a->r) * (c->s - a->s);
}

/* Monotone chain (Andrew 1979); points come in the order of s. */
static int hull_add(struct ww_stretch *h, struct ww_hull_point p, struct ww_error *err)
{
	int rc;

	if (h->hull_n && p.s <= h->hull[h->hull_n - 1].s) {
		if (p.r >= h->hull[h->hull_n - 1].r)
			return 0;
		h->hull_n--;
	}
	while (h->hull_n >= 2 && cross(&h->hull[h->hull_n - 2], &h->hull[h->hull_n - 1], &p) <= 0)
		h->hull_n--;
	rc = ww_grow(&h->hull, &h->hull_cap, h->hull_n, sizeof(*h->hull), err);
	if (rc < 0)
		return rc;
	h->hull[h->hull_n++] = p;
	return 0;
}

int ww_skew_point(struct ww_skew *k, bool begins, bool fresh, int64_t mono_us, int64_t slept_us,
		  int64_t host_ns, struct ww_error *err)
{
	struct ww_stretch *h;
	struct ww_hull_point p;
	int rc;

	if (begins || k->n == 0) {
		rc = ww_grow(&k->stretch, &k->cap, k->n, sizeof(*k->stretch), err);
		if (rc < 0)
			return rc;
		k->stretch[k->n++] = (struct ww_stretch){.s0_us = mono_us,
							 .r0_ns = host_ns,
							 .slept_us = slept_us,
							 .fresh = fresh};
	}
	h = &k->stretch[k->n - 1];
	p.s = (double)(mono_us - h->s0_us) * 1e3;
	p.r = (double)(host_ns - h->r0_ns);
	h->n++;
	h->sum_s += p.s;
	h->sum_r += p.r;
	return hull_add(h, p, err);
}

/* r - s first: both are large and nearly equal. */
static double above(const struct ww_hull_point *p, double alpha)
{
	return (p->r - p->s) - alpha * p->s;
}

/* Along a lower hull the distance to a line falls and then rises. */
static size_t nearest(const struct ww_stretch *h, double alpha)
{
	size_t lo = 0, hi = h->hull_n;

	for (hi--; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (above(&h->hull[mid], alpha) <= above(&h->hull[mid + 1], alpha))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static double least(const struct ww_stretch *h, double alpha)
{
	return h->hull_n ? above(&h->hull[nearest(h, alpha)], alpha) : INFINITY;
}

double ww_skew_least(const struct ww_skew *k, double alpha, size_t i, double *at)
{
	const struct ww_stretch *h = &k->stretch[i];
	size_t j = nearest(h, alpha);

	*at = h->hull[j].s;
	return above(&h->hull[j], alpha);
}

static double cost(const struct ww_skew *k, double alpha)
{
	double sum = 0;

	for (size_t i = 0; i < k->n; i++) {
		const struct ww_stretch *h = &k->stretch[i];

		sum += (h->sum_r - h->sum_s) - alpha * h->sum_s - (double)h->n * least(h, alpha);
	}
	return sum;
}

double ww_skew_fit(const struct ww_skew *k)
{
	double lo = -SKEW_MAX, hi = SKEW_MAX, longest = 0;

	for (size_t i = 0; i < k->n; i++) {
		const struct ww_stretch *h = &k->stretch[i];

		if (h->hull_n >= 2 && h->hull[h->hull_n - 1].s > longest)
			longest = h->hull[h->hull_n - 1].s;
	}
	/* A millisecond of jitter in less than a second says nothing about a quartz. */
	if (longest < 1e9)
		return NAN;
	for (int i = 0; i < 120; i++) {
		double a = lo + (hi - lo) / 3, b = hi - (hi - lo) / 3;

		if (cost(k, a) <= cost(k, b))
			hi = b;
		else
			lo = a;
	}
	/* At the limit no line fits: the delay was no delay of a line. */
	return fabs((lo + hi) / 2) > .99 * SKEW_MAX ? NAN : (lo + hi) / 2;
}

/*
 * The parts have the whole span but fewer chances of a short delay each, so that their
 * scatter, undivided, is no less than the error of the whole.
 */
double ww_skew_u(const double *part, size_t n)
{
	double sum = 0, sum2 = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(part[i]))
			return NAN;
		sum += part[i];
		sum2 += part[i] * part[i];
	}
	return n < 2 ? NAN : sqrt(fmax(sum2 - sum * sum / (double)n, 0) / (double)(n - 1));
}

/*
 * Offset of a stretch less that of the one before it: the bench time that passed
 * less the DUT's waking time. d_min is in both and cancels.
 */
double ww_skew_slept(const struct ww_skew *k, double alpha, size_t i)
{
	const struct ww_stretch *a, *b;
	double awake;

	if (i == 0 || i >= k->n || k->stretch[i].fresh || isnan(alpha))
		return NAN;
	a = &k->stretch[i - 1];
	b = &k->stretch[i];
	awake = (double)(b->s0_us - a->s0_us) * 1e3;
	return (double)(b->r0_ns - a->r0_ns) - awake - alpha * awake + least(b, alpha) -
	       least(a, alpha);
}

void ww_skew_free(struct ww_skew *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->stretch[i].hull);
	free(k->stretch);
	*k = (struct ww_skew){0};
}
