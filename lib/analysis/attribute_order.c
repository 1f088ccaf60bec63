/* SPDX-License-Identifier: MIT */
/*
 * The table in another order: c'd with its variance c'Vc. A level that was read keeps the
 * uncertainty of two readings; one that is put together has that of all it is made of.
 */
#include "analysis/attribute.h"
#include "text/csv.h"

#include <math.h>

/* "monitor" or "monitor=standby", as an index of the devices. */
static int find_item(const struct ww_attribute *a, const struct ww_field *f, struct ww_error *err)
{
	size_t name = f->n;
	int device;

	for (size_t i = f->n; !f->quoted && i-- > 0;)
		if (f->p[i] == '=')
			name = i;
	device = ww_onoff_find(&a->set[0], f->p, name);
	for (uint32_t i = 0; device >= 0 && i < a->devices; i++) {
		const struct ww_attr_col *c = &a->col[a->device_col[i]];
		struct ww_field state = {f->p + name + 1, f->n - name - 1, false};

		if (c->device[0] != (size_t)device)
			continue;
		if (name == f->n ? strcmp(a->device[i].state, "on") == 0 ||
					   a->set[0].device[device].states == 1
				 : ww_field_is(&state, a->device[i].state))
			return (int)i;
	}
	return ww_fail(err, -EINVAL, "--order: no device '%.*s' in the readings",
		       f->n < 80 ? (int)f->n : 80, f->p);
}

/* Whether this state was read. */
static bool was_read(const struct ww_attribute *a, const uint8_t *on)
{
	for (size_t i = 0; i < a->set[0].readings; i++) {
		const struct ww_onoff_reading *r = &a->set[0].reading[i];
		bool same = true;

		for (size_t k = 0; same && k < a->set[0].devices; k++)
			same = (k < r->devices ? r->on[k] : 0) == on[k];
		if (same)
			return true;
	}
	return false;
}

/* c of one device more: its column, and its pairs with those that are on. */
static void add_one(const struct ww_attribute *a, const uint8_t *before, const uint8_t *on,
		    double *c)
{
	for (size_t k = 0; k < a->cols; k++)
		if (a->col[k].kind == WW_COL_DEVICE || a->col[k].kind == WW_COL_PAIR)
			c[k] = ww_attr_cell(&a->col[k], 0, on, a->set[0].devices) -
			       (before ? ww_attr_cell(&a->col[k], 0, before, a->set[0].devices)
				       : 0);
}

static int levels(struct ww_attribute *a, const struct ww_field *f, size_t n, double *c,
		  struct ww_error *err)
{
	uint8_t on[WW_ONOFF_DEVICES] = {0}, before[WW_ONOFF_DEVICES] = {0};

	for (size_t i = 0; i < n; i++) {
		struct ww_device_level *l = &a->level[a->levels];
		int d = find_item(a, &f[i], err);
		const struct ww_attr_col *col;

		if (d < 0)
			return d;
		col = &a->col[a->device_col[d]];
		if (on[col->device[0]])
			return ww_fail(err, -EINVAL, "--order: '%s' twice", a->device[d].name);
		memcpy(before, on, sizeof(before));
		on[col->device[0]] = col->state[0];
		l->device = (uint32_t)d;
		l->synthetic = !was_read(a, on);
		memset(c, 0, a->cols * sizeof(*c));
		add_one(a, before, on, c);
		l->added = ww_attr_power(a, c);
		add_one(a, NULL, on, c);
		l->watts = ww_attr_power(a, c);
		a->levels++;
	}
	return 0;
}

int ww_attr_order(struct ww_attribute *a, struct ww_error *err)
{
	struct ww_csv dialect = {',', false};
	struct ww_field f[WW_CSV_FIELDS];
	size_t n = ww_csv_split(&dialect, a->order, strlen(a->order), f, WW_CSV_FIELDS);
	double *c = calloc(a->cols, sizeof(*c));
	int rc;

	if (n > WW_CSV_FIELDS) {
		free(c);
		return ww_fail(err, -EINVAL, "--order: more than %d devices", WW_CSV_FIELDS);
	}
	a->level = calloc(n + 1, sizeof(*a->level));
	rc = c && a->level ? levels(a, f, n, c, err) : ww_fail_nomem(err);
	free(c);
	return rc;
}
