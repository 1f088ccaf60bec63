/* SPDX-License-Identifier: MIT */
/*
 * The design: a row for each reading, a column for the meter's offset and for each
 * device in each of its states, for pairs of devices and for drift where asked.
 */
#include "analysis/attribute.h"
#include "analysis/series.h"

#include <float.h>
#include <math.h>

/* With more devices than this, pairs are no longer looked at. */
#define PAIR_DEVICES 24
/* What of a column is not a combination of the others, at least. */
#define NEW_PART 1e-7

uint8_t ww_attr_on(const struct ww_attribute *a, const struct ww_attr_row *r, int set,
		   size_t device)
{
	return a->file[r->file].set == set && device < r->r->devices ? r->r->on[device] : 0;
}

double ww_attr_cell(const struct ww_attr_col *c, int set, const uint8_t *on, size_t devices)
{
	size_t n = c->kind == WW_COL_PAIR ? 2 : 1;

	if (c->kind == WW_COL_OFFSET)
		return 1;
	if (c->kind == WW_COL_DRIFT || c->set != set)
		return 0;
	for (size_t k = 0; k < n; k++)
		if (c->device[k] >= devices || on[c->device[k]] != c->state[k])
			return 0;
	return 1;
}

/* --- rows */

/* The step of the display that typed readings show: of the most digits in the table. */
static void find_step(struct ww_attribute *a, struct ww_attr_file *f)
{
	const struct ww_onoff_reading *r = a->set[f->set].reading + f->first;
	double least = INFINITY, *v, seen;

	if (a->resolution > 0) {
		f->q = a->resolution;
		return;
	}
	for (size_t i = 0; !f->trace && i < f->count; i++)
		if (r[i].step > 0 && r[i].step < least)
			least = r[i].step;
	if (isfinite(least))
		f->q = least;
	/* Steps of 2 or 5 last digits show in enough readings. */
	if (f->trace || f->count < 8)
		return;
	v = malloc(f->count * sizeof(*v));
	if (!v) {
		a->notes.bad = true;
		return;
	}
	for (size_t i = 0; i < f->count; i++)
		v[i] = r[i].watts;
	seen = ww_resolution_seen(v, f->count);
	for (size_t i = 0; i < 3; i++) {
		double step = f->q * (double[]){2, 5, 10}[i];

		if (fabs(seen - step) < 1e-6 * step) {
			f->q = step;
			break;
		}
	}
	free(v);
}

static bool told(const struct ww_onoff_reading *r)
{
	return r->u > 0;
}

static bool same_state(const struct ww_onoff_reading *a, const struct ww_onoff_reading *b)
{
	size_t most = a->devices > b->devices ? a->devices : b->devices;

	for (size_t i = 0; i < most; i++)
		if ((i < a->devices ? a->on[i] : 0) != (i < b->devices ? b->on[i] : 0))
			return false;
	return true;
}

static bool all_off(const struct ww_onoff_reading *r)
{
	for (size_t i = 0; i < r->devices; i++)
		if (r->on[i])
			return false;
	return true;
}

/*
 * The row that holds the same state, read from the same display: of this file, or of any
 * where nothing was on.
 */
static struct ww_attr_row *twin(struct ww_attribute *a, size_t from,
				const struct ww_onoff_reading *r)
{
	bool off = all_off(r) && !a->own_offsets;

	for (size_t i = off ? 0 : from; i < a->rows; i++)
		if (!told(a->row[i].r) && !a->file[a->row[i].file].trace &&
		    (i < from ? all_off(a->row[i].r) : same_state(a->row[i].r, r)))
			return &a->row[i];
	return NULL;
}

/*
 * What a display rounds off is the same each time it shows the same state: it does not
 * average out. So readings of one state are one row, u^2 = q^2/12 + s^2/n.
 */
static void finish_row(struct ww_attr_row *r, double q)
{
	double n = (double)r->n, noise = r->n > 1 ? r->u / (n - 1) / n : 0;

	if (told(r->r))
		r->u = r->r->u;
	else
		r->u = q > 0 || noise > 0 ? sqrt(q * q / 12 + noise) : 1;
}

static void file_rows(struct ww_attribute *a, size_t file, bool merge)
{
	struct ww_attr_file *f = &a->file[file];
	size_t from = a->rows;

	f->row = from;
	find_step(a, f);
	for (size_t i = 0; i < f->count; i++) {
		const struct ww_onoff_reading *r = &a->set[f->set].reading[f->first + i];
		struct ww_attr_row *row = merge && !told(r) ? twin(a, from, r) : NULL;
		double delta;

		if (a->skip_empty && all_off(r))
			continue;
		if (!row) {
			row = &a->row[a->rows++];
			*row = (struct ww_attr_row){.file = file, .r = r, .t_s = r->t_s};
		}
		/* Welford's sums: u holds that of squares until the row is finished. */
		row->n++;
		delta = r->watts - row->y;
		row->y += delta / (double)row->n;
		row->u += delta * (r->watts - row->y);
	}
}

static bool any_on(const struct ww_attribute *a)
{
	for (int set = 0; set < 2; set++)
		for (size_t i = 0; i < a->set[set].readings; i++)
			if (!all_off(&a->set[set].reading[i]))
				return true;
	return false;
}

int ww_attr_rows(struct ww_attribute *a, bool merge, struct ww_error *err)
{
	size_t n = a->set[0].readings + a->set[1].readings;

	free(a->row);
	a->rows = 0;
	a->row = calloc(n, sizeof(*a->row));
	if (!a->row)
		return ww_fail_nomem(err);
	a->skip_empty = a->calibrated && a->cal.dead_zone && any_on(a);
	for (size_t i = 0; i < a->files; i++)
		file_rows(a, i, merge);
	for (size_t i = 0; i < a->rows; i++)
		finish_row(&a->row[i], a->file[a->row[i].file].q);
	for (size_t i = 0; i < a->files; i++)
		if (ww_attr_chain(a, &a->file[i], err) < 0)
			return -ENOMEM;
	return 0;
}

/* --- columns */

static int add_column(struct ww_attribute *a, struct ww_attr_col c, struct ww_error *err)
{
	struct ww_attr_col *p = realloc(a->col, (a->cols + 1) * sizeof(*p));

	if (!p)
		return ww_fail_nomem(err);
	a->col = p;
	p[a->cols++] = c;
	return 0;
}

static int offset_columns(struct ww_attribute *a, struct ww_error *err)
{
	int rc = 0;

	if (a->meter.prior && a->meter.u == 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < (a->own_offsets ? a->files : 1); i++)
		rc = add_column(a, (struct ww_attr_col){.kind = WW_COL_OFFSET, .file = i}, err);
	return rc;
}

static int device_columns(struct ww_attribute *a, int set, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < a->set[set].devices; i++)
		for (size_t k = 0; rc == 0 && k < a->set[set].device[i].states; k++)
			rc = add_column(a,
					(struct ww_attr_col){.kind = WW_COL_DEVICE,
							     .set = set,
							     .device = {i},
							     .state = {(uint8_t)(k + 1)}},
					err);
	return rc;
}

/* Time about which drift turns, and whether a file has times at all. */
static bool has_times(const struct ww_attribute *a, size_t file, double *mean)
{
	double sum = 0, least = INFINITY, most = -INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < a->rows; i++) {
		const struct ww_attr_row *r = &a->row[i];

		if (r->file != file)
			continue;
		if (isnan(r->t_s))
			return false;
		sum += r->t_s;
		least = fmin(least, r->t_s);
		most = fmax(most, r->t_s);
		n++;
	}
	*mean = sum / (double)n;
	return n > 2 && most > least;
}

static int drift_columns(struct ww_attribute *a, struct ww_error *err)
{
	bool any = false;
	int rc = 0;

	free(a->drift_zero);
	a->drift_zero = calloc(a->files, sizeof(*a->drift_zero));
	if (!a->drift_zero)
		return ww_fail_nomem(err);
	for (size_t i = 0; rc == 0 && i < a->files; i++) {
		if (!has_times(a, i, &a->drift_zero[i]))
			continue;
		any = true;
		rc = add_column(a, (struct ww_attr_col){.kind = WW_COL_DRIFT, .file = i}, err);
	}
	if (rc == 0 && !any && a->drift > 0)
		return ww_fail(err, -EINVAL,
			       "drift needs to know when each reading was made: give the table a "
			       "column 'time' (seconds, or 14:05)");
	return rc;
}

double ww_attr_row_cell(const struct ww_attribute *a, size_t row, const struct ww_attr_col *c)
{
	const struct ww_attr_row *r = &a->row[row];
	int set = a->file[r->file].set;

	if (c->kind == WW_COL_DRIFT)
		return c->file == r->file ? (r->t_s - a->drift_zero[c->file]) / 3600 : 0;
	if (c->kind == WW_COL_OFFSET)
		return !a->own_offsets || c->file == r->file;
	return ww_attr_cell(c, set, r->r->on, r->r->devices);
}

/* --- pairs: only those that the other columns do not already make up */

/* Orthonormal columns; a new one is kept where it adds a direction (Gram-Schmidt, twice). */
struct basis {
	double *q; /* [cap][rows] */
	size_t n, cap, rows;
};

static bool basis_add(struct basis *b, double *c)
{
	double before = 0, after = 0;

	for (size_t i = 0; i < b->rows; i++)
		before += c[i] * c[i];
	for (int pass = 0; pass < 2; pass++) {
		for (size_t k = 0; k < b->n; k++) {
			const double *q = b->q + k * b->rows;
			double dot = 0;

			for (size_t i = 0; i < b->rows; i++)
				dot += q[i] * c[i];
			for (size_t i = 0; i < b->rows; i++)
				c[i] -= dot * q[i];
		}
	}
	for (size_t i = 0; i < b->rows; i++)
		after += c[i] * c[i];
	if (!(after > NEW_PART * before) || b->n == b->cap)
		return false;
	for (size_t i = 0; i < b->rows; i++)
		b->q[b->n * b->rows + i] = c[i] / sqrt(after);
	b->n++;
	return true;
}

static int try_pair(struct ww_attribute *a, struct basis *b, double *c, struct ww_attr_col pair,
		    struct ww_error *err)
{
	for (size_t i = 0; i < a->rows; i++)
		c[i] = ww_attr_row_cell(a, i, &pair);
	return basis_add(b, c) ? add_column(a, pair, err) : 0;
}

static int add_pairs(struct ww_attribute *a, struct basis *b, double *c, struct ww_error *err)
{
	size_t singles = a->cols;

	for (size_t k = 0; k < singles; k++) {
		for (size_t i = 0; i < a->rows; i++)
			c[i] = ww_attr_row_cell(a, i, &a->col[k]);
		basis_add(b, c);
	}
	for (size_t j = 0; j < singles; j++) {
		for (size_t k = j + 1; k < singles; k++) {
			struct ww_attr_col x = a->col[j], y = a->col[k];

			if (x.kind != WW_COL_DEVICE || y.kind != WW_COL_DEVICE || x.set || y.set ||
			    x.device[0] == y.device[0])
				continue;
			x.kind = WW_COL_PAIR;
			x.device[1] = y.device[0];
			x.state[1] = y.state[0];
			if (try_pair(a, b, c, x, err) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int pair_columns(struct ww_attribute *a, struct ww_error *err)
{
	struct basis b = {.rows = a->rows, .cap = a->rows};
	double *c;
	int rc;

	if (a->set[0].devices > PAIR_DEVICES) {
		ww_note(&a->notes, "pairs of devices are looked at up to %d devices only",
			PAIR_DEVICES);
		return 0;
	}
	if (b.cap > a->cols + PAIR_DEVICES * PAIR_DEVICES)
		b.cap = a->cols + PAIR_DEVICES * PAIR_DEVICES;
	b.q = calloc(b.cap * b.rows + 1, sizeof(*b.q));
	c = calloc(b.rows + 1, sizeof(*c));
	rc = b.q && c ? add_pairs(a, &b, c, err) : ww_fail_nomem(err);
	free(b.q);
	free(c);
	return rc;
}

int ww_attr_columns(struct ww_attribute *a, bool drift, struct ww_error *err)
{
	int rc;

	a->cols = 0;
	rc = offset_columns(a, err);
	for (int set = 0; rc == 0 && set < 2; set++)
		rc = device_columns(a, set, err);
	if (rc == 0 && drift)
		rc = drift_columns(a, err);
	if (rc == 0 && a->interactions)
		rc = pair_columns(a, err);
	if (rc == 0 && a->cols == 0)
		return ww_fail(err, -EINVAL,
			       "no device was ever on: write what was plugged in, such as "
			       "'+box, 13'");
	return rc;
}

/* --- numbers */

int ww_attr_matrix(struct ww_attribute *a, struct ww_error *err)
{
	size_t most = a->rows + a->files + 1;
	bool shift = a->meter.prior && a->meter.u == 0;
	double *column;

	free(a->x);
	free(a->y);
	free(a->u);
	a->x = calloc(most * a->cols, sizeof(double));
	a->y = calloc(most, sizeof(double));
	a->u = calloc(most, sizeof(double));
	a->priors = 0;
	if (!a->x || !a->y || !a->u)
		return ww_fail_nomem(err);
	column = calloc(a->rows + 1, sizeof(double));
	if (!column)
		return ww_fail_nomem(err);
	for (size_t k = 0; k < a->cols; k++) {
		ww_attr_column(a, &a->col[k], column);
		for (size_t i = 0; i < a->rows; i++)
			a->x[i * a->cols + k] = column[i];
	}
	free(column);
	ww_attr_numbers(a, shift ? a->meter.offset : 0, a->y, a->u);
	/* What is known of the offset beforehand is a reading of the offset alone. */
	for (size_t k = 0; a->meter.prior && !shift && k < a->cols; k++) {
		size_t i = a->rows + a->priors;

		if (a->col[k].kind != WW_COL_OFFSET)
			continue;
		a->x[i * a->cols + k] = 1;
		a->y[i] = a->meter.offset / a->meter.gain;
		a->u[i] = a->meter.u / a->meter.gain;
		a->priors++;
	}
	return 0;
}
