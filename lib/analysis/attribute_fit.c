/* SPDX-License-Identifier: MIT */
/*
 * The fit, its goodness, and the covariance of what is derived from it.
 * Sources: JCGM 100 (GUM) 4.3.7, 5.2; Birge, Phys. Rev. 40, 207 (1932).
 */
#include "analysis/attribute.h"

#include <math.h>

/* Errors are scaled where chance would explain the misfit less often than this. */
#define MISFIT_P 0.05
/* Numbers in the matrix, at most. */
#define LARGEST 8000000

bool ww_attr_has_offset(const struct ww_attribute *a)
{
	return a->cols > 0 && a->col[0].kind == WW_COL_OFFSET;
}

static void find_meter(struct ww_attribute *a)
{
	struct ww_attr_meter *m = &a->meter;

	*m = (struct ww_attr_meter){.gain = 1, .gain_u = a->spec_rel / sqrt(3)};
	if (a->calibrated) {
		m->gain = a->cal.gain.value;
		m->gain_u = a->cal.gain.u / a->cal.gain.value;
		m->cov = a->cal.cov;
		m->prior = true;
		m->offset = a->cal.offset.value;
		m->u = a->cal.offset.u;
	} else if (a->offset_known) {
		m->prior = true;
		m->offset = a->known_offset.value;
		m->u = a->known_offset.u;
	}
}

static int fit_once(struct ww_attribute *a, bool merge, bool drift, struct ww_error *err)
{
	int rc = ww_attr_rows(a, merge, err);

	if (rc == 0)
		rc = ww_attr_columns(a, drift, err);
	if (rc == 0 && (a->rows + a->files) * a->cols > LARGEST)
		rc = ww_fail(err, -EINVAL, "%zu readings of %zu devices are too many together",
			     a->rows, a->set[0].devices + a->set[1].devices);
	if (rc == 0)
		rc = ww_attr_matrix(a, err);
	ww_lsq_free(&a->fit);
	return rc < 0 ? rc
		      : ww_lsq_fit(&a->fit, a->x, a->y, a->u, a->rows + a->priors, a->cols, err);
}

static double misfit_scale(const struct ww_lsq *f)
{
	double nu = (double)f->dof;

	return f->dof && f->chi2 > nu && ww_chi2_q(f->chi2, nu) < MISFIT_P ? sqrt(f->chi2 / nu) : 1;
}

/* Whether any file's drift stands out of what it is uncertain by. */
static bool drift_shows(const struct ww_attribute *a)
{
	double scale = misfit_scale(&a->fit);

	if (a->fit.dof == 0)
		return false;
	for (size_t k = 0; k < a->cols; k++)
		if (a->col[k].kind == WW_COL_DRIFT && ww_lsq_estimable_at(&a->fit, k) &&
		    fabs(a->fit.beta[k]) >
			    WW_ATTR_DRIFT_U * scale * sqrt(a->fit.cov[k * a->cols + k]))
			return true;
	return false;
}

static bool times_known(const struct ww_attribute *a)
{
	for (int set = 0; set < 2; set++)
		for (size_t i = 0; i < a->set[set].readings; i++)
			if (!isnan(a->set[set].reading[i].t_s))
				return true;
	return false;
}

static int fit_with_drift(struct ww_attribute *a, struct ww_error *err)
{
	bool ask = a->drift > 0, look = a->drift == 0 && times_known(a);
	int rc;

	if (ask || look) {
		rc = fit_once(a, false, true, err);
		if (rc < 0 || ask || drift_shows(a))
			return rc;
	}
	return fit_once(a, true, false, err);
}

/*
 * Nobody has read the meter with all unplugged: where its maker states +-a, that is
 * what is known of its offset, rectangular.
 */
static bool spec_tells_offset(const struct ww_attribute *a)
{
	return ww_attr_has_offset(a) && !a->meter.prior && a->spec_abs > 0 && !a->own_offsets &&
	       !ww_lsq_estimable_at(&a->fit, 0);
}

/* How far each column moves with the offset's prior: V x/u^2. */
static int find_influence(struct ww_attribute *a, struct ww_error *err)
{
	a->influence = calloc(a->cols, sizeof(double));
	if (!a->influence)
		return ww_fail_nomem(err);
	for (size_t i = a->rows; i < a->rows + a->priors; i++)
		for (size_t k = 0; k < a->cols; k++)
			for (size_t j = 0; j < a->cols; j++)
				a->influence[k] += a->fit.cov[k * a->cols + j] *
						   a->x[i * a->cols + j] / (a->u[i] * a->u[i]);
	return 0;
}

int ww_attr_fit(struct ww_attribute *a, struct ww_error *err)
{
	struct ww_attribute_info *info = &a->info;
	int rc;

	find_meter(a);
	rc = fit_with_drift(a, err);
	if (rc == 0 && spec_tells_offset(a)) {
		a->meter.prior = true;
		a->meter.u = a->spec_abs / sqrt(3);
		ww_note(&a->notes, "nothing was read with all unplugged: the meter's offset is 0 "
				   "within the maker's bound");
		rc = fit_with_drift(a, err);
	}
	if (rc < 0)
		return rc;
	if (a->priors)
		rc = find_influence(a, err);
	a->scale = misfit_scale(&a->fit);
	info->chi2 = a->fit.dof ? a->fit.chi2 : 0;
	info->dof = a->fit.dof;
	info->rank = a->fit.rank;
	info->birge = a->fit.dof ? sqrt(a->fit.chi2 / (double)a->fit.dof) : (double)NAN;
	info->p = a->fit.dof ? ww_chi2_q(a->fit.chi2, (double)a->fit.dof) : (double)NAN;
	info->scale = a->scale;
	for (size_t i = 0; i < a->rows; i++)
		info->readings += a->row[i].n;
	for (size_t i = 0; i < a->files; i++)
		a->base |= a->file[i].base && !a->meter.prior;
	for (size_t i = 0; i < a->files; i++)
		info->resolution = fmax(info->resolution, a->file[i].q);
	return rc;
}

static struct ww_quantity none(void)
{
	return (struct ww_quantity){(double)NAN, (double)NAN};
}

/* var(c'd) of the fit alone, with the scaling for misfit. */
static double fit_var(const struct ww_attribute *a, const double *c)
{
	return a->scale * a->scale * ww_lsq_cov(&a->fit, c, c);
}

struct ww_quantity ww_attr_power(const struct ww_attribute *a, const double *c)
{
	double value, var, moved = 0;

	if (!ww_lsq_estimable(&a->fit, c))
		return none();
	value = ww_lsq_value(&a->fit, c);
	var = fit_var(a, c) + pow(value * a->meter.gain_u, 2);
	for (size_t k = 0; a->influence && k < a->cols; k++)
		moved += c[k] * a->influence[k];
	var -= 2 * moved * value * a->meter.cov / (a->meter.gain * a->meter.gain);
	return (struct ww_quantity){value, sqrt(fmax(var, 0))};
}

struct ww_quantity ww_attr_shown(const struct ww_attribute *a, const double *c)
{
	if (!ww_lsq_estimable(&a->fit, c))
		return none();
	return (struct ww_quantity){ww_lsq_value(&a->fit, c) * a->meter.gain,
				    sqrt(fit_var(a, c)) * a->meter.gain};
}
