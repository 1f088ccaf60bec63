/* SPDX-License-Identifier: MIT */
/* What the rows that were read turned out to be: told, or refused. */
#include "import/csv.h"

#include <math.h>

void ww_rows_cells(struct ww_import *im, const struct ww_table *t)
{
	for (size_t i = 0; i < t->columns; i++) {
		const struct ww_column *c = &t->column[i];

		if (c->missing + c->empty)
			ww_note(&im->notes, "%s: %zu of %zu readings are missing", c->name,
				c->missing + c->empty, t->rows);
		if (c->over)
			ww_note(&im->notes, "%s: %zu reading%s beyond any meter's range", c->name,
				c->over, c->over == 1 ? " is" : "s are");
	}
}

static bool has_power(const struct ww_table *t)
{
	for (size_t i = 0; i < t->columns; i++)
		if (strcmp(t->column[i].quantity, "power") == 0)
			return true;
	return false;
}

/* The energy of each row over the time since the row before: its mean power. */
static int mean_power(struct ww_import *im, struct ww_table *t, size_t k, struct ww_error *err)
{
	double scale = t->column[k].scale > 0 ? t->column[k].scale : 1;
	int p;

	for (size_t i = 1; i < t->rows; i++)
		if (t->hi[i] <= t->hi[i - 1])
			return 0; /* not before its times are in order */
	if (t->columns >= 60 || has_power(t) || t->rows < 2)
		return 0;
	p = ww_table_column(t, "power", "power", "W", WW_AVERAGE, err);
	if (p < 0)
		return p;
	t->column[p].decimals = 6;
	t->column[p].resolution = ww_column_step(&t->column[k], t->rows) * scale * 3600e9 /
				  (double)(t->hi[1] - t->hi[0]);
	for (size_t i = 1; i < t->rows; i++) {
		double w = ww_column_value(&t->column[k], i) * scale * 3600e9 /
			   (double)(t->hi[i] - t->hi[i - 1]);

		if (fabs(w) < 1e9)
			t->column[p].code[i] = llround(w * 1e6);
	}
	ww_note(&im->notes,
		"power is the energy of each row over the time since the row before; where rows "
		"tell the beginning of their time, all of it lies one row too early");
	return 0;
}

int ww_rows_counters(struct ww_import *im, struct ww_table *t, struct ww_error *err)
{
	size_t columns = t->columns;
	bool fell = false;
	int rc = 0;

	for (size_t k = 0; k < columns && rc >= 0; k++) {
		struct ww_column *c = &t->column[k];
		size_t falls = 0;

		for (size_t i = 1; i < t->rows; i++)
			falls += c->code[i] < c->code[i - 1] && c->code[i] >= WW_CODE_MIN;
		if (c->semantics != WW_COUNTER || falls * 20 <= t->rows)
			continue;
		c->semantics = WW_INSTANT;
		c->quantity = "other";
		ww_note(&im->notes,
			"%s falls again and again: it is no register that counts up, but the "
			"energy of each row",
			c->name);
		rc = mean_power(im, t, k, err);
		fell = true;
	}
	/* Beside such a column, one that never rises ("returned energy") is of its kind. */
	for (size_t k = 0; k < columns && fell; k++) {
		struct ww_column *c = &t->column[k];

		if (c->semantics != WW_COUNTER || c->code[t->rows - 1] > c->code[0])
			continue;
		c->semantics = WW_INSTANT;
		c->quantity = "other";
	}
	return rc;
}

void ww_rows_power(const struct ww_plan *p, struct ww_table *t, size_t power)
{
	const struct ww_column *v = p->fixed.code ? NULL : &t->column[p->col[p->volts].column];
	const struct ww_column *a = &t->column[p->col[p->amps].column];
	double step = a->resolution > 0 ? a->resolution : ww_column_step(a, t->rows), sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->rows; i++) {
		if (!v || v->code[i] < WW_CODE_MIN)
			continue;
		sum += fabs(ww_column_value(v, i));
		n++;
	}
	if (!v) {
		sum = p->fixed.value;
		n = 1;
	}
	if (n && sum > 0) {
		double size = step * sum / (double)n, unit = pow(10, floor(log10(size)));

		t->column[power].resolution = size > 0 ? round(size / unit) * unit : 0;
	}
}

static int odd_column(const struct ww_import *im, const struct ww_table *t, size_t column,
		      const char *name, const struct ww_odd *odd, struct ww_error *err)
{
	struct ww_import at = *im;
	struct ww_str text = {0};
	int rc;

	at.line = odd->line;
	ww_field_text(&odd->cell, &text);
	rc = ww_import_fail(
		&at, err, "column %zu (%s): '%.40s' is no number, and neither are %zu of %zu cells",
		column + 1, name, text.p ? text.p : "", odd->n, t->rows);
	ww_str_free(&text);
	return rc;
}

int ww_rows_odd(struct ww_import *im, const struct ww_plan *p, const struct ww_table *t,
		const struct ww_odd *odd, struct ww_error *err)
{
	const struct ww_odd *first = NULL;
	struct ww_str text = {0};
	size_t all = 0;

	for (size_t i = 0; i < p->fields; i++) {
		const struct ww_column *c = &t->column[p->col[i].column];

		if (p->col[i].role != WW_ROLE_VALUE || odd[i].n == 0)
			continue;
		if (t->rows - c->missing - c->empty < odd[i].n)
			return odd_column(im, t, i, c->name, &odd[i], err);
		all += odd[i].n;
		if (!first || odd[i].line < first->line)
			first = &odd[i];
	}
	if (!first)
		return 0;
	ww_field_text(&first->cell, &text);
	ww_note(&im->notes, "%zu cell%s no number: the first is '%.40s' in line %zu, column %zu",
		all, all == 1 ? " is" : "s are", text.p ? text.p : "", first->line,
		(size_t)(first - odd) + 1);
	im->notes.bad |= text.bad;
	ww_str_free(&text);
	return 0;
}
