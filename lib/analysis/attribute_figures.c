/* SPDX-License-Identifier: MIT */
/* From the fit to the figures of devices, groups, sums and savings. */
#include "analysis/attribute.h"

#include <math.h>
#include <stdio.h>

#define HOURS_YEAR_DAYS 365.25

/* The state that a device is in when "all is on": that called "on", else its first. */
static uint8_t primary(const struct ww_onoff_device *d)
{
	for (size_t k = 0; k < d->states; k++)
		if (strcmp(d->state[k], "on") == 0)
			return (uint8_t)(k + 1);
	return 1;
}

/* c of a set's sum: every device in its first state, and its pairs. */
static void sum_of(const struct ww_attribute *a, int set, double *c)
{
	const struct ww_onoff_device *d = a->set[set].device;

	memset(c, 0, a->cols * sizeof(*c));
	for (size_t k = 0; k < a->cols; k++) {
		const struct ww_attr_col *col = &a->col[k];

		if (col->set != set)
			continue;
		if (col->kind == WW_COL_DEVICE)
			c[k] = col->state[0] == primary(&d[col->device[0]]);
		else if (col->kind == WW_COL_PAIR)
			c[k] = col->state[0] == primary(&d[col->device[0]]) &&
			       col->state[1] == primary(&d[col->device[1]]);
	}
}

static const struct ww_onoff_device *device_of(const struct ww_attribute *a, size_t i)
{
	return &a->set[0].device[a->col[a->device_col[i]].device[0]];
}

const char *ww_attr_label(const struct ww_attribute *a, size_t device, char *buf, size_t n)
{
	const struct ww_device *d = &a->device[device];

	if (device_of(a, device)->states == 1 && strcmp(d->state, "on") == 0)
		snprintf(buf, n, "%s", d->name);
	else
		snprintf(buf, n, "%s (%s)", d->name, d->state);
	return buf;
}

/* What a reading showed besides watts, where this was all that was on. */
static void alone(const struct ww_attribute *a, const struct ww_attr_col *c, struct ww_device *d)
{
	d->va = d->pf = (double)NAN;
	for (size_t i = 0; i < a->set[0].readings; i++) {
		const struct ww_onoff_reading *r = &a->set[0].reading[i];
		bool only = c->device[0] < r->devices;

		for (size_t k = 0; only && k < r->devices; k++)
			only = r->on[k] == (k == c->device[0] ? c->state[0] : 0);
		d->va = only && !isnan(r->va) ? r->va : d->va;
		d->pf = only && !isnan(r->pf) ? r->pf : d->pf;
	}
}

static void fill_device(struct ww_attribute *a, size_t k, double *c, struct ww_device *d)
{
	const struct ww_attr_col *col = &a->col[k];
	const struct ww_onoff_device *from = &a->set[0].device[col->device[0]];
	bool exact = a->meter.prior && a->meter.u == 0;

	*d = (struct ww_device){.name = from->name, .state = from->state[col->state[0] - 1]};
	for (size_t i = 0; i < a->rows; i++)
		if (ww_attr_on(a, &a->row[i], 0, col->device[0]) == col->state[0])
			d->readings += a->row[i].n;
	d->estimable = ww_lsq_estimable_at(&a->fit, k);
	memset(c, 0, a->cols * sizeof(*c));
	c[k] = 1;
	d->watts = ww_attr_power(a, c);
	if (!a->own_offsets && ww_attr_has_offset(a))
		c[0] = 1;
	d->with_offset = ww_attr_shown(a, c);
	if (exact)
		d->with_offset.value += a->meter.offset;
	if (a->own_offsets)
		d->with_offset = (struct ww_quantity){(double)NAN, (double)NAN};
	alone(a, col, d);
}

static int fill_devices(struct ww_attribute *a, double *c, struct ww_error *err)
{
	size_t n = 0;

	for (size_t k = 0; k < a->cols; k++)
		n += a->col[k].kind == WW_COL_DEVICE && a->col[k].set == 0;
	a->device = calloc(n + 1, sizeof(*a->device));
	a->device_col = calloc(n + 1, sizeof(*a->device_col));
	/* Once, since groups and proposals point into it. */
	a->index_cap = (n + 1) * (2 + 2 * WW_ATTR_NEXT);
	a->index = calloc(a->index_cap, sizeof(*a->index));
	if (!a->device || !a->device_col || !a->index)
		return ww_fail_nomem(err);
	for (size_t k = 0; k < a->cols; k++) {
		if (a->col[k].kind != WW_COL_DEVICE || a->col[k].set != 0)
			continue;
		a->device_col[a->devices] = k;
		fill_device(a, k, c, &a->device[a->devices++]);
	}
	return 0;
}

const uint32_t *ww_attr_index(struct ww_attribute *a, const uint32_t *list, size_t n)
{
	uint32_t *at = a->index + a->indices;

	if (n > a->index_cap - a->indices)
		n = a->index_cap - a->indices;
	memcpy(at, list, n * sizeof(*at));
	a->indices += n;
	return at;
}

/* One component: its devices of the present set, and their sum. */
static void fill_group(struct ww_attribute *a, const size_t *group, size_t number, double *c)
{
	struct ww_device_group g = {0};
	uint32_t *list = a->index + a->indices;
	bool offset = ww_attr_has_offset(a) && !a->own_offsets && group[0] == number;

	memset(c, 0, a->cols * sizeof(*c));
	for (uint32_t i = 0; i < a->devices; i++) {
		if (group[a->device_col[i]] != number || a->device[i].readings == 0)
			continue;
		list[g.count++] = i;
		c[a->device_col[i]] = 1;
	}
	if (g.count == 0 || (g.count == 1 && !offset))
		return;
	a->indices += g.count;
	g.device = list;
	g.with_offset = offset;
	if (offset)
		c[0] = 1;
	g.sum = offset ? ww_attr_shown(a, c) : ww_attr_power(a, c);
	a->group[a->groups++] = g;
	for (size_t i = 0; i < g.count; i++)
		a->device[list[i]].group = (uint32_t)a->groups;
}

static int fill_groups(struct ww_attribute *a, double *c, struct ww_error *err)
{
	size_t *group = calloc(a->cols, sizeof(*group)), n;

	a->group = calloc(a->cols, sizeof(*a->group));
	if (!group || !a->group) {
		free(group);
		return ww_fail_nomem(err);
	}
	n = ww_lsq_groups(&a->fit, group);
	for (size_t i = 1; i <= n; i++)
		fill_group(a, group, i, c);
	free(group);
	return 0;
}

static uint32_t index_of(const struct ww_attribute *a, size_t device, uint8_t state)
{
	for (uint32_t i = 0; i < a->devices; i++)
		if (a->col[a->device_col[i]].device[0] == device &&
		    a->col[a->device_col[i]].state[0] == state)
			return i;
	return 0;
}

static int fill_pairs(struct ww_attribute *a, double *c, struct ww_error *err)
{
	a->pair = calloc(a->cols, sizeof(*a->pair));
	if (!a->pair)
		return ww_fail_nomem(err);
	for (size_t k = 0; k < a->cols; k++) {
		const struct ww_attr_col *col = &a->col[k];

		if (col->kind != WW_COL_PAIR)
			continue;
		memset(c, 0, a->cols * sizeof(*c));
		c[k] = 1;
		a->pair[a->pairs++] =
			(struct ww_device_pair){.a = index_of(a, col->device[0], col->state[0]),
						.b = index_of(a, col->device[1], col->state[1]),
						.extra = ww_attr_power(a, c)};
	}
	return 0;
}

/* With everything on, as read. */
static void read_total(struct ww_attribute *a)
{
	const struct ww_onoff *o = &a->set[0];

	a->info.total_va = a->info.total_pf = (double)NAN;
	a->info.total_synthetic = 1;
	for (size_t i = 0; i < o->readings; i++) {
		const struct ww_onoff_reading *r = &o->reading[i];
		bool all = r->devices == o->devices;

		for (size_t k = 0; all && k < o->devices; k++)
			all = r->on[k] == primary(&o->device[k]);
		if (all)
			a->info.total_synthetic = 0;
		a->info.total_va = all && !isnan(r->va) ? r->va : a->info.total_va;
		a->info.total_pf = all && !isnan(r->pf) ? r->pf : a->info.total_pf;
	}
}

/* A reading less what the fit says of its state. */
static double left_over(const struct ww_attribute *a, size_t row, double *c)
{
	double shift = a->meter.prior && a->meter.u == 0 ? a->meter.offset : 0;

	for (size_t k = 0; k < a->cols; k++)
		c[k] = ww_attr_row_cell(a, row, &a->col[k]);
	return (a->row[row].y - shift) / a->meter.gain - ww_lsq_value(&a->fit, c);
}

/*
 * Levels that drift are taken at their changes, which tells nothing of the drift: it is a
 * line through what the levels' middles have left over, where it stands out of it.
 */
static struct ww_quantity drift_left(const struct ww_attribute *a, const struct ww_attr_file *f,
				     double *c)
{
	double sum[6] = {0}, det, slope, chi2, scale, var;

	for (size_t i = f->row; i < f->row + f->count; i++) {
		double w = pow(a->meter.gain / a->row[i].u, 2), y = left_over(a, i, c),
		       t = (a->row[i].t_s - a->row[f->row].t_s) / 3600;

		sum[0] += w;
		sum[1] += w * t;
		sum[2] += w * t * t;
		sum[3] += w * y;
		sum[4] += w * t * y;
		sum[5] += w * y * y;
	}
	det = sum[0] * sum[2] - sum[1] * sum[1];
	slope = (sum[0] * sum[4] - sum[1] * sum[3]) / det;
	chi2 = sum[5] - sum[3] * sum[3] / sum[0] - slope * slope * det / sum[0];
	scale = fmax(1, chi2 / ((double)f->count - 2));
	var = scale * sum[0] / det;
	if (f->count < 3 || !(det > 0) || !(fabs(slope) > WW_ATTR_DRIFT_U * sqrt(var)))
		return (struct ww_quantity){(double)NAN, (double)NAN};
	return (struct ww_quantity){slope * a->meter.gain, sqrt(var) * a->meter.gain};
}

static void fill_info(struct ww_attribute *a, double *c)
{
	struct ww_attribute_info *info = &a->info;
	struct ww_quantity none = {(double)NAN, (double)NAN};

	info->drift = none;
	for (size_t k = a->cols; k-- > 0;) {
		if (a->col[k].kind != WW_COL_DRIFT)
			continue;
		memset(c, 0, a->cols * sizeof(*c));
		c[k] = 1;
		info->drift = ww_attr_shown(a, c);
	}
	for (size_t i = 0; a->drift == 0 && isnan(info->drift.value) && i < a->files; i++)
		if (a->file[i].chained)
			info->drift = drift_left(a, &a->file[i], c);
	sum_of(a, 0, c);
	info->total = ww_attr_power(a, c);
	if (ww_attr_has_offset(a))
		c[0] = 1;
	info->total_shown = ww_attr_shown(a, c);
	memset(c, 0, a->cols * sizeof(*c));
	if (ww_attr_has_offset(a)) {
		c[0] = 1;
		info->offset = ww_attr_shown(a, c);
	} else {
		info->offset = (struct ww_quantity){a->meter.offset, 0};
		info->total_shown.value += a->meter.offset;
	}
	read_total(a);
}

/* A ratio whose lower part may be nothing has an interval with an open end. */
static void payback(struct ww_saving *s)
{
	double lo = s->money_year.value - 2 * s->money_year.u,
	       hi = s->money_year.value + 2 * s->money_year.u;

	s->payback_years = (struct ww_quantity){(double)NAN, (double)NAN};
	s->payback_ci[0] = s->payback_ci[1] = (double)NAN;
	if (!(s->cost > 0) || isnan(s->money_year.value) || !(hi > 0))
		return;
	s->payback_ci[0] = s->cost / hi;
	s->payback_ci[1] = lo > 0 ? s->cost / lo : (double)INFINITY;
	if (!(s->money_year.value > 0))
		return;
	s->payback_years.value = s->cost / s->money_year.value;
	s->payback_years.u = lo > 0 ? s->payback_years.value * s->money_year.u / s->money_year.value
				    : (double)NAN;
}

static void saving(struct ww_attribute *a, double *c)
{
	struct ww_saving *s = &a->saving;
	double k = a->hours * HOURS_YEAR_DAYS / 1000;

	if (a->set[WW_SET_BEFORE].readings == 0)
		return;
	a->has_saving = true;
	s->now = a->info.total;
	sum_of(a, WW_SET_BEFORE, c);
	s->before = ww_attr_power(a, c);
	if (ww_attr_has_offset(a))
		c[0] = 1;
	s->now_shown = a->info.total_shown;
	s->before_shown = ww_attr_shown(a, c);
	if (!ww_attr_has_offset(a))
		s->before_shown.value += a->meter.offset;
	c[0] = ww_attr_has_offset(a) ? 0 : c[0];
	for (size_t i = 0; i < a->cols; i++) {
		const struct ww_attr_col *col = &a->col[i];

		if (col->set != WW_SET_NOW ||
		    (col->kind != WW_COL_DEVICE && col->kind != WW_COL_PAIR))
			continue;
		c[i] = -(double)(col->state[0] == primary(&a->set[0].device[col->device[0]]));
		if (col->kind == WW_COL_PAIR &&
		    col->state[1] != primary(&a->set[0].device[col->device[1]]))
			c[i] = 0;
	}
	s->watts = ww_attr_power(a, c);
	s->kwh_year = (struct ww_quantity){s->watts.value * k, s->watts.u * k};
	s->money_year = (struct ww_quantity){(double)NAN, (double)NAN};
	if (a->price > 0)
		s->money_year = (struct ww_quantity){s->kwh_year.value * a->price,
						     s->kwh_year.u * a->price};
	s->hours_per_day = a->hours;
	s->price = a->price;
	s->cost = a->cost;
	s->currency = a->currency;
	payback(s);
}

int ww_attr_figures(struct ww_attribute *a, struct ww_error *err)
{
	double *c = calloc(a->cols, sizeof(*c));
	int rc = c ? fill_devices(a, c, err) : ww_fail_nomem(err);

	if (rc == 0)
		rc = fill_groups(a, c, err);
	if (rc == 0)
		rc = fill_pairs(a, c, err);
	if (rc == 0) {
		fill_info(a, c);
		saving(a, c);
	}
	free(c);
	return rc;
}
