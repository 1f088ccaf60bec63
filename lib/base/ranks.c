/* SPDX-License-Identifier: MIT */
#include "base/ranks.h"
#include "base/stats.h"

#include <math.h>

/* Additions in the largest exact distribution that is worth its time (about 0.1 s). */
#define EXACT_WORK 4e7

struct item {
	double v;
	size_t at;
};

static int cmp_item(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->v != y->v)
		return x->v < y->v ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

int ww_midranks2(const double *v, size_t n, uint32_t *rank2, double *ties)
{
	struct item *it = calloc(n ? n : 1, sizeof(*it));

	if (!it)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		it[i] = (struct item){v[i], i};
	qsort(it, n, sizeof(*it), cmp_item);
	*ties = 0;
	for (size_t i = 0, k; i < n; i = k) {
		for (k = i; k < n && it[k].v == it[i].v; k++)
			;
		/* Mean of the ranks i + 1 ... k, doubled. */
		for (size_t j = i; j < k; j++)
			rank2[it[j].at] = (uint32_t)(i + 1 + k);
		*ties += pow((double)(k - i), 3) - (double)(k - i);
	}
	free(it);
	return 0;
}

/*
 * Two-sided p of a symmetric-or-not distribution of weights w over sums 0..top: what lies
 * at least as far from the mean as `seen`. Doubled sums are whole numbers, so that equality
 * is exact.
 */
static double tail_p(const double *w, size_t top, double mean, double seen, double *least)
{
	double far = fabs(seen - mean), all = 0, tail = 0, edge = 0, most = 0;

	for (size_t s = 0; s <= top; s++) {
		double d = fabs((double)s - mean);

		if (w[s] == 0)
			continue;
		all += w[s];
		tail += d >= far ? w[s] : 0;
		if (d > most) {
			most = d;
			edge = 0;
		}
		edge += d == most ? w[s] : 0;
	}
	*least = fmin(1, edge / all);
	return fmin(1, tail / all);
}

double *ww_subset_sums(const uint32_t *rank2, size_t n, size_t k, size_t *top)
{
	size_t sum = 0, width;
	double *w, *out;

	for (size_t i = 0; i < n; i++)
		sum += rank2[i];
	width = sum + 1;
	*top = sum;
	w = calloc((k + 1) * width, sizeof(*w));
	if (!w)
		return NULL;
	w[0] = 1;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1 < k ? i + 1 : k; j >= 1; j--) {
			double *to = w + j * width;
			const double *from = to - width;

			for (size_t s = sum; s >= rank2[i]; s--)
				to[s] += from[s - rank2[i]];
		}
	}
	out = malloc(width * sizeof(*out));
	if (out)
		memcpy(out, w + k * width, width * sizeof(*out));
	free(w);
	return out;
}

bool ww_subsets_small(size_t n, size_t k)
{
	double N = (double)n;

	return N * (double)k * N * (N + 1) <= EXACT_WORK;
}

/* p of the sum of the k ranks of the smaller sample. */
static int subset_p(const uint32_t *rank2, size_t n, size_t k, double sum2,
		    struct ww_rank_test *out)
{
	double mean2 = (double)k * (double)(n + 1);
	size_t top;
	double *w = ww_subset_sums(rank2, n, k, &top);

	if (!w)
		return -ENOMEM;
	out->p = tail_p(w, top, mean2, sum2, &out->least);
	out->exact = true;
	free(w);
	return 0;
}

static double normal_p(double stat, double mean, double var, double *least)
{
	double z = fmax(0, fabs(stat - mean) - 0.5) / sqrt(var);

	*least = 0;
	return var > 0 ? fmin(1, erfc(z / sqrt(2))) : 1;
}

int ww_mann_whitney(const double *a, size_t n, const double *b, size_t m, struct ww_rank_test *out)
{
	size_t all = n + m;
	double *v = calloc(all ? all : 1, sizeof(*v)), sum2a = 0, sum2b = 0, ties = 0;
	uint32_t *rank2 = malloc((all ? all : 1) * sizeof(*rank2));
	double dn = (double)n, dm = (double)m, N = (double)all;
	int rc = v && rank2 ? 0 : -ENOMEM;

	*out = (struct ww_rank_test){.stat = NAN, .p = NAN, .least = NAN, .n = all};
	if (rc == 0) {
		for (size_t i = 0; i < n; i++)
			v[i] = a[i];
		for (size_t i = 0; i < m; i++)
			v[n + i] = b[i];
		rc = ww_midranks2(v, all, rank2, &ties);
	}
	if (rc == 0 && n && m) {
		for (size_t i = 0; i < all; i++)
			*(i < n ? &sum2a : &sum2b) += rank2[i];
		out->stat = sum2b / 2 - dm * (dm + 1) / 2;
		if (ww_subsets_small(all, n < m ? n : m)) {
			rc = subset_p(rank2, all, n < m ? n : m, n < m ? sum2a : sum2b, out);
		} else {
			out->p = normal_p(out->stat, dn * dm / 2,
					  dn * dm / 12 * (N + 1 - ties / (N * (N - 1))),
					  &out->least);
		}
	}
	free(v);
	free(rank2);
	return rc;
}

int ww_cliffs_delta(const double *a, size_t n, const double *b, size_t m, double *delta)
{
	size_t all = n + m;
	double *v = calloc(all ? all : 1, sizeof(*v)), sum2 = 0, dm = (double)m, ties;
	uint32_t *rank2 = malloc((all ? all : 1) * sizeof(*rank2));
	int rc = v && rank2 ? 0 : -ENOMEM;

	for (size_t i = 0; rc == 0 && i < all; i++)
		v[i] = i < n ? a[i] : b[i - n];
	if (rc == 0)
		rc = ww_midranks2(v, all, rank2, &ties);
	for (size_t i = n; rc == 0 && i < all; i++)
		sum2 += rank2[i];
	*delta = rc == 0 && n && m ? (sum2 - dm * (dm + 1)) / (dm * (double)n) - 1 : NAN;
	free(v);
	free(rank2);
	return rc;
}

double *ww_sign_sums(const uint32_t *rank2, size_t n, size_t *top)
{
	size_t sum = 0, reach = 0;
	double *w;

	for (size_t i = 0; i < n; i++)
		sum += rank2[i];
	*top = sum;
	w = calloc(sum + 1, sizeof(*w));
	if (!w)
		return NULL;
	w[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t r = rank2[i];

		reach += r;
		for (size_t s = reach + 1; s-- > 0;)
			w[s] = (w[s] + (s >= r ? w[s - r] : 0)) / 2;
	}
	return w;
}

bool ww_signs_small(size_t n)
{
	double N = (double)n;

	return N * N * (N + 1) <= EXACT_WORK / 2;
}

int ww_signed_rank(const double *d, size_t n, struct ww_rank_test *out)
{
	double *v = calloc(n ? n : 1, sizeof(*v)), plus2 = 0, ties = 0, *w, N;
	uint32_t *rank2 = malloc((n ? n : 1) * sizeof(*rank2));
	unsigned char *up = malloc(n ? n : 1);
	size_t k = 0, top;
	int rc = v && rank2 && up ? 0 : -ENOMEM;

	*out = (struct ww_rank_test){.stat = NAN, .p = NAN, .least = NAN};
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (d[i] != 0) {
			up[k] = d[i] > 0;
			v[k++] = fabs(d[i]);
		}
	}
	if (rc == 0)
		rc = ww_midranks2(v, k, rank2, &ties);
	out->n = k;
	N = (double)k;
	if (rc == 0 && k) {
		for (size_t i = 0; i < k; i++)
			plus2 += up[i] ? rank2[i] : 0;
		out->stat = plus2 / 2;
		if (ww_signs_small(k)) {
			w = ww_sign_sums(rank2, k, &top);
			rc = w ? 0 : -ENOMEM;
			if (w)
				out->p = tail_p(w, top, (double)top / 2, plus2, &out->least);
			out->exact = w != NULL;
			free(w);
		} else {
			out->p = normal_p(out->stat, N * (N + 1) / 4,
					  N * (N + 1) * (2 * N + 1) / 24 - ties / 48, &out->least);
		}
	}
	free(v);
	free(rank2);
	free(up);
	return rc;
}
