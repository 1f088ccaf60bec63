/* SPDX-License-Identifier: MIT */
/*
 * Estimates of shift by ranks. The n m differences are never listed: how many of them
 * are at most v is counted in one pass over two sorted samples, and bisection over v ends
 * at the difference itself, since its neighbours among the doubles are told apart.
 */
#include "base/ranks.h"
#include "base/stats.h"

#include <math.h>

/* Sorted samples. Two: differences b - a. One (a == NULL): averages (b_i + b_j)/2, i <= j. */
struct pairs {
	double *a, *b;
	size_t n, m;
};

static double total(const struct pairs *p)
{
	double m = (double)p->m;

	return p->a ? (double)p->n * m : m * (m + 1) / 2;
}

static double at_most(const struct pairs *p, double v)
{
	double count = 0;
	size_t j = p->a ? 0 : p->m;

	if (p->a) {
		/* As a rises, more of b are near enough. */
		for (size_t i = 0; i < p->n; i++) {
			while (j < p->m && p->b[j] - p->a[i] <= v)
				j++;
			count += (double)j;
		}
		return count;
	}
	for (size_t i = 0; i < p->m; i++) {
		while (j > i && p->b[i] / 2 + p->b[j - 1] / 2 > v)
			j--;
		count += j > i ? (double)(j - i) : 0;
	}
	return count;
}

static double kth(const struct pairs *p, double k)
{
	double lo = p->a ? p->b[0] - p->a[p->n - 1] : p->b[0];
	double hi = p->a ? p->b[p->m - 1] - p->a[0] : p->b[p->m - 1];

	if (at_most(p, lo) >= k)
		return lo;
	/* Zero, around which doubles are endlessly fine, is tried by itself. */
	if (lo < 0 && hi > 0)
		*(at_most(p, 0) >= k ? &hi : &lo) = 0;
	for (;;) {
		double mid = lo / 2 + hi / 2;

		if (!(mid > lo && mid < hi))
			return hi;
		*(at_most(p, mid) >= k ? &hi : &lo) = mid;
	}
}

static double median_of(const struct pairs *p)
{
	double n = total(p), half = floor(n / 2);

	if (n - 2 * half > 0)
		return kth(p, half + 1);
	return kth(p, half) / 2 + kth(p, half + 1) / 2;
}

/* Most pairs that may lie beyond each end: the largest k with P(statistic < k) <= tail. */
static double cut(const double *w, size_t from, size_t top, double tail)
{
	double all = 0, sum = 0, k = 0;

	for (size_t s = from; s <= top; s++)
		all += w[s];
	for (size_t s = from; s <= top; s++, k++) {
		sum += w[s];
		if (sum > tail * all)
			break;
	}
	return k;
}

static int cut_rank(const struct pairs *p, double conf, double *k)
{
	size_t all = p->a ? p->n + p->m : p->m, few = p->a && p->n < p->m ? p->n : p->m, top;
	double n = (double)p->n, m = (double)p->m, pairs = total(p), tail = (1 - conf) / 2, var;
	uint32_t *rank;
	double *w;

	if (!(p->a ? ww_subsets_small(all, few) : ww_signs_small(all))) {
		var = p->a ? n * m * (n + m + 1) / 12 : m * (m + 1) * (2 * m + 1) / 24;
		*k = fmax(0, floor(pairs / 2 + 0.5 + ww_normal_quantile(tail) * sqrt(var)));
		return 0;
	}
	rank = malloc(all * sizeof(*rank));
	for (size_t i = 0; rank && i < all; i++)
		rank[i] = (uint32_t)i + 1;
	w = !rank  ? NULL
	    : p->a ? ww_subset_sums(rank, all, few, &top)
		   : ww_sign_sums(rank, all, &top);
	if (w)
		*k = cut(w, p->a ? few * (few + 1) / 2 : 0, top, tail);
	free(rank);
	free(w);
	return w ? 0 : -ENOMEM;
}

static double *sorted(const double *v, size_t n)
{
	double *s = malloc(n * sizeof(*s));

	if (s) {
		memcpy(s, v, n * sizeof(*s));
		qsort(s, n, sizeof(*s), ww_cmp_double);
	}
	return s;
}

static int shift(struct pairs *p, double conf, struct ww_rank_shift *out)
{
	double k = 0;
	int rc = cut_rank(p, conf, &k);

	if (rc < 0)
		return rc;
	out->value = median_of(p);
	out->lo = k >= 1 ? kth(p, k) : -INFINITY;
	out->hi = k >= 1 ? kth(p, total(p) + 1 - k) : INFINITY;
	return 0;
}

int ww_hodges_lehmann(const double *a, size_t n, const double *b, size_t m, double conf,
		      struct ww_rank_shift *out)
{
	struct pairs p = {.n = n, .m = m};
	int rc = -ENOMEM;

	*out = (struct ww_rank_shift){NAN, -INFINITY, INFINITY};
	if (n == 0 || m == 0)
		return 0;
	p.a = sorted(a, n);
	p.b = sorted(b, m);
	if (p.a && p.b)
		rc = shift(&p, conf, out);
	free(p.a);
	free(p.b);
	return rc;
}

int ww_walsh(const double *d, size_t n, double conf, struct ww_rank_shift *out)
{
	struct pairs p = {.m = n};
	int rc = -ENOMEM;

	*out = (struct ww_rank_shift){NAN, -INFINITY, INFINITY};
	if (n == 0)
		return 0;
	p.b = sorted(d, n);
	if (p.b)
		rc = shift(&p, conf, out);
	free(p.b);
	return rc;
}
