/* SPDX-License-Identifier: MIT */
#include "base/lsq.h"

#include <float.h>
#include <math.h>

/* A component along the null space that is rounding only. */
#define NULL_EPS 1e-7
/* Singular values below this part of the greatest are zero: columns hold 0, 1 and the like. */
#define RANK_EPS 1e-9

/* Householder triangularisation of a[m][n], m >= n; the same is done to b[m] if given. */
static void triangularise(double *a, size_t m, size_t n, double *b)
{
	for (size_t k = 0; k < n && k + 1 < m; k++) {
		double norm2 = 0, alpha, beta;

		for (size_t i = k; i < m; i++)
			norm2 += a[i * n + k] * a[i * n + k];
		if (!(norm2 > 0))
			continue;
		alpha = a[k * n + k] > 0 ? -sqrt(norm2) : sqrt(norm2);
		/* v = a_k - alpha e_k; H = 1 - 2vv'/v'v, v'v = 2(norm2 - alpha a_kk) */
		beta = norm2 - alpha * a[k * n + k];
		a[k * n + k] -= alpha;
		for (size_t j = k + 1; j <= n; j++) {
			double *p = j < n ? a + j : b, dot = 0;
			size_t step = j < n ? n : 1;

			if (!p)
				break;
			for (size_t i = k; i < m; i++)
				dot += a[i * n + k] * p[i * step];
			dot /= beta;
			for (size_t i = k; i < m; i++)
				p[i * step] -= dot * a[i * n + k];
		}
		a[k * n + k] = alpha;
		for (size_t i = k + 1; i < m; i++)
			a[i * n + k] = 0;
	}
}

/* Make columns p and q of a orthogonal, and turn v alike. @return whether they were not */
static bool rotate(double *a, size_t m, size_t n, double *v, size_t p, size_t q)
{
	double pp = 0, qq = 0, pq = 0, zeta, t, c, s;

	for (size_t i = 0; i < m; i++) {
		pp += a[i * n + p] * a[i * n + p];
		qq += a[i * n + q] * a[i * n + q];
		pq += a[i * n + p] * a[i * n + q];
	}
	if (fabs(pq) <= DBL_EPSILON * sqrt(pp * qq) || pq == 0)
		return false;
	zeta = (qq - pp) / (2 * pq);
	t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	c = 1 / sqrt(1 + t * t);
	s = c * t;
	for (size_t i = 0; i < m + n; i++) {
		double *row = i < m ? a + i * n : v + (i - m) * n, x = row[p];

		row[p] = c * x - s * row[q];
		row[q] = s * x + c * row[q];
	}
	return true;
}

static void swap_columns(double *v, size_t n, size_t p, size_t q)
{
	for (size_t i = 0; i < n; i++) {
		double x = v[i * n + p];

		v[i * n + p] = v[i * n + q];
		v[i * n + q] = x;
	}
}

/*
 * Singular values, falling, and right singular vectors (columns of v[n][n]) of
 * a[m][n], m >= n; a is destroyed.
 */
static void svd(double *a, size_t m, size_t n, double *s, double *v)
{
	bool again = true;

	triangularise(a, m, n, NULL);
	m = n;
	for (size_t i = 0; i < n * n; i++)
		v[i] = i % (n + 1) == 0;
	for (int sweep = 0; again && sweep < 60; sweep++) {
		again = false;
		for (size_t p = 0; p + 1 < n; p++)
			for (size_t q = p + 1; q < n; q++)
				again |= rotate(a, m, n, v, p, q);
	}
	for (size_t j = 0; j < n; j++) {
		double sum = 0;

		for (size_t i = 0; i < m; i++)
			sum += a[i * n + j] * a[i * n + j];
		s[j] = sqrt(sum);
	}
	for (size_t p = 0; p + 1 < n; p++) {
		size_t most = p;
		double x = s[p];

		for (size_t q = p + 1; q < n; q++)
			most = s[q] > s[most] ? q : most;
		s[p] = s[most];
		s[most] = x;
		if (most != p)
			swap_columns(v, n, p, most);
	}
}

/* Room of one fit; all of it is freed at its end. */
struct work {
	double *a; /* [max(m, n)][n] */
	double *v; /* [n][n] right singular vectors */
	double *s; /* [n] */
	double *b; /* [max(m, n)] */
	double *r; /* [n][n] inverse of a triangle */
	double *g; /* [n] */
};

static size_t tall(const struct ww_lsq *f)
{
	return f->m > f->n ? f->m : f->n;
}

/* Rank and null space, of X without its weights. */
static void find_rank(struct ww_lsq *f, const double *x, struct work *w)
{
	size_t n = f->n;

	memset(w->a, 0, tall(f) * n * sizeof(*w->a));
	memcpy(w->a, x, f->m * n * sizeof(*x));
	svd(w->a, tall(f), n, w->s, w->v);
	while (f->rank < n && w->s[f->rank] > RANK_EPS * w->s[0])
		f->rank++;
	f->nulls = n - f->rank;
	f->dof = f->m - f->rank;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < f->nulls; k++)
			f->null[i * f->nulls + k] = w->v[i * n + f->rank + k];
}

/* a = diag(1/u) X V, of the first `rank` columns of V; b = y/u. */
static void weigh(const struct ww_lsq *f, const double *x, const double *y, const double *u,
		  struct work *w)
{
	for (size_t i = 0; i < f->m; i++) {
		for (size_t k = 0; k < f->rank; k++) {
			double sum = 0;

			for (size_t j = 0; j < f->n; j++)
				sum += x[i * f->n + j] * w->v[j * f->n + k];
			w->a[i * f->rank + k] = sum / u[i];
		}
		w->b[i] = y[i] / u[i];
	}
}

/* g = R^-1 b and r = R^-1, R the upper triangle in a. */
static void invert(const struct ww_lsq *f, struct work *w)
{
	size_t n = f->rank;

	memset(w->r, 0, n * n * sizeof(*w->r));
	for (size_t c = 0; c < n; c++) {
		w->r[c * n + c] = 1 / w->a[c * n + c];
		for (size_t i = c; i-- > 0;) {
			double sum = 0;

			for (size_t k = i + 1; k <= c; k++)
				sum += w->a[i * n + k] * w->r[k * n + c];
			w->r[i * n + c] = -sum / w->a[i * n + i];
		}
	}
	for (size_t i = 0; i < n; i++) {
		w->g[i] = 0;
		for (size_t c = i; c < n; c++)
			w->g[i] += w->r[i * n + c] * w->b[c];
	}
}

/* beta = V g; cov = (V R^-1)(V R^-1)'. */
static void expand(struct ww_lsq *f, struct work *w)
{
	size_t n = f->n, r = f->rank;

	for (size_t i = 0; i < n; i++) {
		f->beta[i] = 0;
		for (size_t k = 0; k < r; k++)
			f->beta[i] += w->v[i * n + k] * w->g[k];
		for (size_t c = 0; c < r; c++) {
			w->s[c] = 0;
			for (size_t k = 0; k <= c; k++)
				w->s[c] += w->v[i * n + k] * w->r[k * r + c];
		}
		memcpy(w->a + i * r, w->s, r * sizeof(*w->s));
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < n; j++) {
			double sum = 0;

			for (size_t c = 0; c < r; c++)
				sum += w->a[i * r + c] * w->a[j * r + c];
			f->cov[i * n + j] = sum;
		}
	}
}

static void find_residuals(struct ww_lsq *f, const double *x, const double *y, const double *u)
{
	f->chi2 = 0;
	for (size_t i = 0; i < f->m; i++) {
		f->residual[i] = y[i] - ww_lsq_value(f, x + i * f->n);
		f->chi2 += pow(f->residual[i] / u[i], 2);
	}
}

static int reserve(struct ww_lsq *f, struct work *w)
{
	size_t n = f->n;

	f->beta = calloc(n, sizeof(double));
	f->cov = calloc(n * n, sizeof(double));
	f->null = calloc(n * n, sizeof(double));
	f->residual = calloc(f->m, sizeof(double));
	w->a = calloc(tall(f) * n, sizeof(double));
	w->v = calloc(n * n, sizeof(double));
	w->s = calloc(n, sizeof(double));
	w->b = calloc(tall(f), sizeof(double));
	w->r = calloc(n * n, sizeof(double));
	w->g = calloc(n, sizeof(double));
	return f->beta && f->cov && f->null && f->residual && w->a && w->v && w->s && w->b &&
			       w->r && w->g
		       ? 0
		       : -ENOMEM;
}

int ww_lsq_fit(struct ww_lsq *f, const double *x, const double *y, const double *u, size_t m,
	       size_t n, struct ww_error *err)
{
	struct work w = {0};
	int rc;

	*f = (struct ww_lsq){.m = m, .n = n};
	if (m == 0 || n == 0)
		return ww_fail(err, -EINVAL, "least squares without %s", m ? "columns" : "rows");
	rc = reserve(f, &w);
	if (rc == 0) {
		find_rank(f, x, &w);
		weigh(f, x, y, u, &w);
		triangularise(w.a, m, f->rank, w.b);
		invert(f, &w);
		expand(f, &w);
		find_residuals(f, x, y, u);
	}
	free(w.a);
	free(w.v);
	free(w.s);
	free(w.b);
	free(w.r);
	free(w.g);
	if (rc < 0) {
		ww_lsq_free(f);
		return ww_fail_nomem(err);
	}
	return 0;
}

void ww_lsq_free(struct ww_lsq *f)
{
	free(f->beta);
	free(f->cov);
	free(f->null);
	free(f->residual);
	*f = (struct ww_lsq){0};
}

double ww_lsq_value(const struct ww_lsq *f, const double *c)
{
	double sum = 0;

	for (size_t j = 0; j < f->n; j++)
		sum += c[j] * f->beta[j];
	return sum;
}

double ww_lsq_cov(const struct ww_lsq *f, const double *c, const double *d)
{
	double sum = 0;

	for (size_t i = 0; i < f->n; i++)
		for (size_t j = 0; c[i] != 0 && j < f->n; j++)
			sum += c[i] * f->cov[i * f->n + j] * d[j];
	return sum;
}

bool ww_lsq_estimable(const struct ww_lsq *f, const double *c)
{
	double size = 0;

	for (size_t j = 0; j < f->n; j++)
		size = fmax(size, fabs(c[j]));
	for (size_t k = 0; k < f->nulls; k++) {
		double dot = 0;

		for (size_t j = 0; j < f->n; j++)
			dot += f->null[j * f->nulls + k] * c[j];
		if (fabs(dot) > NULL_EPS * size)
			return false;
	}
	return true;
}

bool ww_lsq_estimable_at(const struct ww_lsq *f, size_t j)
{
	for (size_t k = 0; k < f->nulls; k++)
		if (fabs(f->null[j * f->nulls + k]) > NULL_EPS)
			return false;
	return true;
}

static double projection(const struct ww_lsq *f, size_t i, size_t j)
{
	double sum = 0;

	for (size_t k = 0; k < f->nulls; k++)
		sum += f->null[i * f->nulls + k] * f->null[j * f->nulls + k];
	return sum;
}

size_t ww_lsq_groups(const struct ww_lsq *f, size_t *group)
{
	size_t groups = 0;

	memset(group, 0, f->n * sizeof(*group));
	for (size_t j = 0; j < f->n; j++) {
		bool grew = true;

		if (group[j] || ww_lsq_estimable_at(f, j))
			continue;
		group[j] = ++groups;
		while (grew) {
			grew = false;
			for (size_t a = 0; a < f->n; a++)
				for (size_t b = 0; group[a] == groups && b < f->n; b++)
					if (!group[b] && fabs(projection(f, a, b)) > NULL_EPS) {
						group[b] = groups;
						grew = true;
					}
		}
	}
	return groups;
}

/* Series for x < a + 1, else Lentz's continued fraction (Abramowitz & Stegun 6.5.29, 6.5.31). */
double ww_chi2_q(double chi2, double nu)
{
	double a = nu / 2, x = chi2 / 2, head;
	int sign;

	if (!(nu > 0) || isnan(chi2))
		return (double)NAN;
	if (!(x > 0))
		return 1;
	/* lgamma() writes the global signgam; its reentrant form does not. */
	head = exp(a * log(x) - x - lgamma_r(a, &sign));
	if (x < a + 1) {
		double term = 1 / a, sum = term;

		for (int i = 1; i < 10000 && term > sum * DBL_EPSILON; i++) {
			term *= x / (a + i);
			sum += term;
		}
		return 1 - head * sum;
	}
	{
		double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, h = d;

		for (int i = 1; i < 10000; i++) {
			double an = -i * (i - a), step;

			b += 2;
			d = 1 / (an * d + b);
			c = b + an / c;
			step = c * d;
			h *= step;
			if (fabs(step - 1) < DBL_EPSILON)
				break;
		}
		return head * h;
	}
}
