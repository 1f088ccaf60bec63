/* SPDX-License-Identifier: MIT */
/*
 * Weighted least squares for small dense problems, with rank decision, null space and
 * covariance. Matrices are row by row.
 */
#ifndef WW_LSQ_H
#define WW_LSQ_H

#include "base/base.h"

struct ww_lsq {
	size_t m, n, rank, nulls; /* rows, columns; nulls = n - rank */
	double *beta;		  /* [n] the solution of least length */
	double *cov;		  /* [n][n] its covariance, for the u given: (X'WX)^+ */
	double *null;		  /* [n][nulls] orthonormal basis of what X does not see */
	double *residual;	  /* [m] y - X beta */
	double chi2;
	size_t dof; /* m - rank */
};

/*
 * Minimise the sum of ((y - X beta)/u)^2; u > 0 is the standard uncertainty of each
 * row. The rank is that of X itself: weights do not change what can be told apart.
 * Householder QR, then one-sided Jacobi (Golub & Van Loan, Matrix Computations, 5.2,
 * 8.6). @return 0, -EINVAL (no rows or columns), -ENOMEM
 */
int ww_lsq_fit(struct ww_lsq *f, const double *x, const double *y, const double *u, size_t m,
	       size_t n, struct ww_error *err);
void ww_lsq_free(struct ww_lsq *f);

/* c' beta */
double ww_lsq_value(const struct ww_lsq *f, const double *c);
/* c' V d */
double ww_lsq_cov(const struct ww_lsq *f, const double *c, const double *d);
/* Whether c' beta is the same for all solutions: N'c = 0. */
bool ww_lsq_estimable(const struct ww_lsq *f, const double *c);
/* The same for one column. */
bool ww_lsq_estimable_at(const struct ww_lsq *f, size_t j);
/*
 * group[j]: number, from 1, of the connected component of NN' that column j lies in;
 * 0: estimable by itself. @return how many groups
 */
size_t ww_lsq_groups(const struct ww_lsq *f, size_t *group);

/* P(X >= chi2) for nu degrees of freedom: the regularised upper incomplete gamma. */
double ww_chi2_q(double chi2, double nu);

#endif
