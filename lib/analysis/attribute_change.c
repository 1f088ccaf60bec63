/* SPDX-License-Identifier: MIT */
/*
 * What a trace knows best are the changes: levels that drift or settle are taken at the
 * moment of each. So its rows are one level and the differences from one to the next, whose
 * errors are those of neighbours: the covariance has a band of two beside the diagonal.
 * Its Cholesky factor (Golub & Van Loan, Matrix Computations, 4.3) makes them independent.
 */
#include "analysis/attribute.h"

#include <math.h>

/* A pivot below this part of its variance is what rounding left. */
#define PIVOT 1e-4

/* The change that row r of a chain stands for; the anchor's own row is none. */
static size_t change_of(const struct ww_attr_file *f, size_t r)
{
	return r < f->anchor ? r + 1 : r;
}

static double variance(const struct ww_attr_file *f, const struct ww_attr_row *row, size_t r)
{
	return r == f->anchor ? row[r].u * row[r].u : f->change[change_of(f, r)].var;
}

/* Covariance of rows r and r + ahead. */
static double covariance(const struct ww_attr_file *f, size_t r, size_t ahead)
{
	size_t b = f->anchor;

	if (ahead == 2)
		return r + 1 == b ? -f->change[b].cov : 0;
	if (r == b)
		return -f->change[b].own_end;
	return r + 1 == b ? f->change[b].own_begin : -f->change[change_of(f, r)].cov;
}

static bool all_off(const struct ww_onoff_reading *r)
{
	for (size_t i = 0; i < r->devices; i++)
		if (r->on[i])
			return false;
	return true;
}

int ww_attr_chain(struct ww_attribute *a, struct ww_attr_file *f, struct ww_error *err)
{
	const struct ww_attr_row *row = a->row + f->row;
	double *l;

	f->chained = f->change && a->drift <= 0 && !a->skip_empty && f->count > 1;
	if (!f->chained)
		return 0;
	free(f->factor);
	f->factor = l = calloc(3 * f->count, sizeof(*l));
	if (!l) {
		f->chained = false;
		return ww_fail_nomem(err);
	}
	for (f->anchor = 0; f->anchor < f->count && !all_off(row[f->anchor].r);)
		f->anchor++;
	f->anchor = f->anchor == f->count ? 0 : f->anchor;
	for (size_t r = 0; r < f->count; r++) {
		double var = variance(f, row, r), *p = l + 3 * r, pivot;

		p[2] = r > 1 ? covariance(f, r - 2, 2) / l[3 * (r - 2)] : 0;
		p[1] = r > 0 ? (covariance(f, r - 1, 1) - p[2] * (r > 1 ? l[3 * (r - 1) + 1] : 0)) /
				       l[3 * (r - 1)]
			     : 0;
		pivot = var - p[1] * p[1] - p[2] * p[2];
		if (!(pivot > PIVOT * var)) {
			p[1] = p[2] = 0;
			pivot = var;
		}
		p[0] = sqrt(pivot);
	}
	return 0;
}

/* v, the rows' own numbers or differences, as independent ones of the rows' uncertainty. */
static void whiten(const struct ww_attribute *a, const struct ww_attr_file *f, double *v)
{
	const double *l = f->factor;

	for (size_t r = 0; r < f->count; r++) {
		const double *p = l + 3 * r;

		v[r] -= (r > 0 ? p[1] * v[r - 1] : 0) + (r > 1 ? p[2] * v[r - 2] : 0);
		v[r] /= p[0];
	}
	for (size_t r = 0; r < f->count; r++)
		v[r] *= sqrt(variance(f, a->row + f->row, r));
}

static double step_of(const struct ww_attr_file *f, size_t r, const double *raw, bool time)
{
	const struct ww_attr_change *c = &f->change[change_of(f, r)];

	if (time)
		return r == f->anchor ? 0 : (c->t_to - c->t_from) / 3600;
	return r == f->anchor ? raw[r] : raw[change_of(f, r)] - raw[change_of(f, r) - 1];
}

void ww_attr_column(const struct ww_attribute *a, const struct ww_attr_col *c, double *out)
{
	for (size_t i = 0; i < a->rows; i++)
		out[i] = ww_attr_row_cell(a, i, c);
	for (size_t i = 0; i < a->files; i++) {
		const struct ww_attr_file *f = &a->file[i];
		double *v = out + f->row, last, here = 0;

		if (!f->chained)
			continue;
		/* Differences in place: below the anchor upwards, above it downwards. */
		last = v[f->anchor];
		for (size_t r = 0; r < f->anchor; r++)
			v[r] = step_of(f, r, v, c->kind == WW_COL_DRIFT);
		for (size_t r = f->count; r-- > f->anchor + 1;) {
			here = r == f->anchor + 1 ? last : v[r - 1];
			v[r] = c->kind == WW_COL_DRIFT ? step_of(f, r, v, true) : v[r] - here;
		}
		v[f->anchor] = c->kind == WW_COL_DRIFT ? 0 : last;
		whiten(a, f, v);
	}
}

void ww_attr_numbers(const struct ww_attribute *a, double shift, double *y, double *u)
{
	for (size_t i = 0; i < a->rows; i++) {
		y[i] = (a->row[i].y - shift) / a->meter.gain;
		u[i] = a->row[i].u / a->meter.gain;
	}
	for (size_t i = 0; i < a->files; i++) {
		const struct ww_attr_file *f = &a->file[i];

		if (!f->chained)
			continue;
		for (size_t r = 0; r < f->count; r++) {
			u[f->row + r] = sqrt(variance(f, a->row + f->row, r)) / a->meter.gain;
			if (r != f->anchor)
				y[f->row + r] = f->change[change_of(f, r)].y / a->meter.gain;
		}
		whiten(a, f, y + f->row);
	}
}
