/* SPDX-License-Identifier: MIT */
#include "analysis/runtime.h"

#include <math.h>

struct ww_runtime_case *ww_runtime_row(struct ww_runtime_job *j)
{
	struct ww_runtime *r = j->r;
	const struct ww_quantity none = {NAN, NAN};
	struct ww_runtime_case *row;

	if (r->rows == r->cap) {
		ww_fail_nomem(j->err);
		return NULL;
	}
	row = &r->row[r->rows++];
	*row = (struct ww_runtime_case){
		.model = "",
		.unit = "W",
		.load = NAN,
		.minutes = none,
		.bounds_min = {NAN, NAN},
		.exponent = NAN,
		.error_log = NAN,
		.error_linear = NAN,
		.battery_W = none,
		.battery_A = none,
		.own_W = none,
		.efficiency = none,
		.delivered_Wh = none,
		.nameplate = NAN,
		.heaviest = NAN,
		.why = "",
	};
	return row;
}

/* The most that a case can be: a model each, a battery, measured points. */
static int alloc(struct ww_runtime *r, const struct ww_runtime_options *o)
{
	const struct ww_runtime_table *t = WW_OPT(o, table, NULL);

	r->cap = (t ? t->models : 0) + 2;
	r->row = calloc(r->cap, sizeof(*r->row));
	r->budget = calloc(r->cap, sizeof(*r->budget));
	return r->row && r->budget ? 0 : -ENOMEM;
}

/* A report in which nothing is known is an error, which says why. */
static int something(struct ww_runtime_job *j)
{
	const struct ww_runtime *r = j->r;

	for (size_t i = 0; i < r->rows; i++)
		if (!isnan(r->row[i].minutes.value) || !isnan(r->row[i].bounds_min[0]))
			return 0;
	if (r->rows && *r->row[0].model)
		return ww_fail(j->err, -ENODATA, "%s: %s", r->row[0].model, r->row[0].why);
	return r->rows ? ww_fail(j->err, -ENODATA, "%s", r->row[0].why) : 0;
}

static int all(struct ww_runtime_job *j)
{
	const struct ww_runtime_options *o = j->o;
	struct ww_runtime *r = j->r;
	bool any = WW_OPT(o, table, NULL) || WW_OPT(o, points, 0) ||
		   j->known.given[WW_IN_CAPACITY] || j->known.given[WW_IN_HOURS];
	int rc = 0;

	if (isnan(r->watts.value) && isnan(r->va.value))
		return ww_fail(j->err, -EINVAL,
			       "the load is not given: watts, as in 25W, or a trace");
	if (!any)
		return ww_fail(j->err, -EINVAL,
			       "nothing tells how long it lasts: give a maker's table, a measured "
			       "runtime, a capacity, or the runtime that is wanted");
	if (WW_OPT(o, table, NULL))
		rc = ww_runtime_by_table(j);
	if (rc == 0 && WW_OPT(o, points, 0))
		rc = ww_runtime_by_points(j);
	else if (rc == 0 && j->known.given[WW_IN_CAPACITY])
		rc = ww_runtime_by_battery(j);
	/* Who chooses from a table does not build a battery. */
	if (rc == 0 && (!WW_OPT(o, table, NULL) || j->known.given[WW_IN_CAPACITY]))
		rc = ww_runtime_needs(j);
	r->wanted_h = j->known.in[WW_IN_HOURS];
	if (rc == 0 && !r->has_need)
		rc = something(j);
	if (rc == 0 && r->rows == 0 && !r->has_need)
		rc = ww_fail(
			j->err, -EINVAL,
			"watts are not known, and are never derived from VA: give --load or --pf");
	if (rc == 0)
		ww_runtime_remarks(j);
	return rc;
}

int ww_runtime_new(const struct ww_runtime_options *opt, struct ww_runtime **out,
		   struct ww_error *err)
{
	struct ww_runtime_job j = {.o = opt, .err = err};
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	j.r = calloc(1, sizeof(*j.r));
	if (!j.r || alloc(j.r, opt) < 0) {
		ww_runtime_free(j.r);
		return ww_fail_nomem(err);
	}
	j.r->error_log = j.r->error_linear = NAN;
	j.r->peak_W = WW_OPT(opt, peak_W, 0);
	j.r->rating_W = WW_OPT(opt, rating_W, 0);
	j.r->rating_VA = WW_OPT(opt, rating_VA, 0);
	rc = ww_runtime_inputs(&j);
	if (rc == 0)
		rc = all(&j);
	if (rc == 0 && (j.r->notes.bad || j.r->texts.bad))
		rc = ww_fail_nomem(err);
	if (rc < 0) {
		ww_runtime_free(j.r);
		return rc;
	}
	*out = j.r;
	return 0;
}

const struct ww_runtime_case *ww_runtime_at(const struct ww_runtime *r, size_t i)
{
	return i < r->rows ? &r->row[i] : NULL;
}

const struct ww_runtime_need *ww_runtime_need(const struct ww_runtime *r)
{
	return r->has_need ? &r->need : NULL;
}

int ww_runtime_budget(const struct ww_runtime *r, size_t i, size_t k, const char **name, double *u)
{
	const struct ww_budget *b = i == SIZE_MAX ? &r->need_budget
				    : i < r->rows ? &r->budget[i]
						  : NULL;

	if (!b || k >= b->n)
		return 0;
	*name = b->part[k].name;
	*u = b->part[k].u;
	return 1;
}

const char *ww_runtime_note(const struct ww_runtime *r, size_t i)
{
	return ww_note_at(&r->notes, i);
}

void ww_runtime_free(struct ww_runtime *r)
{
	if (!r)
		return;
	free(r->row);
	free(r->budget);
	ww_notes_free(&r->notes);
	ww_notes_free(&r->texts);
	free(r);
}
