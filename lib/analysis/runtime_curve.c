/* SPDX-License-Identifier: MIT */
/* Runtimes at other loads than those that are stated or measured. */
#include "analysis/runtime.h"

#include <math.h>

struct curve_ctx {
	const struct ww_curve2 *c;
};

/* A battery that has lost capacity lasts (C'/C)^k of the time, at the same load. */
static double curve_minutes(void *ctx, const double *in)
{
	const struct curve_ctx *x = ctx;
	struct ww_curve2_at at;

	if (!(in[WW_IN_LOAD] > 0))
		return NAN;
	ww_curve2_get(x->c, in[WW_IN_LOAD], &at);
	return at.minutes * pow(in[WW_IN_AGEING] * in[WW_IN_TEMPERATURE], in[WW_IN_PEUKERT]);
}

/* The heaviest of the loads between the ends that lasts so long. */
static double heaviest(struct curve_ctx *x, const double *in, double minutes)
{
	const struct ww_curve2 *c = x->c;
	double lo = c->load[0], hi = c->load[c->n - 1], try[WW_IN_COUNT];

	memcpy(try, in, sizeof(try));
	try[WW_IN_LOAD] = hi;
	if (curve_minutes(x, try) >= minutes)
		return hi;
	try[WW_IN_LOAD] = lo;
	if (!(curve_minutes(x, try) >= minutes))
		return NAN;
	for (int i = 0; i < 200; i++) {
		try[WW_IN_LOAD] = lo / 2 + hi / 2;
		*(curve_minutes(x, try) >= minutes ? &lo : &hi) = try[WW_IN_LOAD];
	}
	return lo;
}

/* What is not an input: the way between the points, and the points themselves. */
static void own_parts(const struct ww_curve2_at *at, struct ww_runtime_case *row, double scale,
		      const char *rounding, struct ww_budget *b)
{
	double t = row->minutes.value, part;

	part = isfinite(row->error_log) ? t * row->error_log * at->middle
					: fabs(at->linear * scale - t) / 2 * (at->side == 0);
	/* At a point itself both ways differ by the rounding of doubles. */
	part = part > 1e-9 * t ? part : 0;
	ww_budget_add(b, "interpolation", part);
	row->minutes.u = hypot(row->minutes.u, part);
	part = t * at->u_step;
	ww_budget_add(b, rounding, part);
	row->minutes.u = hypot(row->minutes.u, part);
	if (at->side) {
		part = t * at->u_exponent * fabs(log(row->load / at->end));
		ww_budget_add(b, "extrapolation", part);
		row->minutes.u = hypot(row->minutes.u, part);
	}
}

/*
 * Lighter: no shorter than at the lightest, no longer than without losses. Heavier: no
 * longer than at the heaviest. Where the slope at that end leads out of these, or tells
 * less than they do, they are all that is known.
 */
static void within_bounds(struct ww_runtime_job *j, struct ww_runtime_case *row,
			  const struct ww_curve2_at *at, double scale, double k)
{
	struct ww_budget *b = &j->r->budget[row - j->r->row];
	double end = at->end_minutes * scale, lo, hi, u;

	if (at->side == 0)
		return;
	lo = row->bounds_min[0] = at->side < 0 ? end : 0;
	hi = row->bounds_min[1] = at->side < 0 ? end * pow(at->end / row->load, fmax(k, 1)) : end;
	u = (hi - lo) / sqrt(12);
	if (row->minutes.value >= lo && row->minutes.value <= hi && row->minutes.u <= u)
		return;
	/* Twice it reaches to the bounds, and not beyond. */
	u = (hi - lo) / 4;
	row->minutes = (struct ww_quantity){(lo + hi) / 2, u};
	b->n = 0;
	ww_budget_add(b, "bounds", u);
	ww_note(&j->r->notes,
		"the slope at that end tells no more of so %s a load than the bounds do: the "
		"runtime is their middle",
		at->side < 0 ? "light" : "heavy");
}

/* A curve as a case: for tables and for measured points. */
static void by_curve(struct ww_runtime_job *j, const struct ww_curve2 *c,
		     struct ww_runtime_case *row, const double *in, const double *u)
{
	struct ww_budget *b = &j->r->budget[row - j->r->row];
	struct curve_ctx x = {c};
	struct ww_curve2_at at;
	double log_sum = 0, linear_sum = 0, k = in[WW_IN_PEUKERT];
	double scale = pow(in[WW_IN_AGEING] * in[WW_IN_TEMPERATURE], k);
	size_t inner = ww_curve2_errors(c, &log_sum, &linear_sum);

	row->load = in[WW_IN_LOAD];
	row->points = c->n;
	if (inner) {
		row->error_log = log_sum / (double)inner;
		row->error_linear = linear_sum / (double)inner;
	}
	ww_curve2_get(c, row->load, &at);
	row->exponent = at.exponent;
	row->extrapolated = at.side;
	if (at.exponent < 0) {
		row->why = "around this load the stated runtime grows with the load: a slip?";
		return;
	}
	row->minutes = ww_runtime_spread(curve_minutes, &x, in, u, b);
	own_parts(&at, row, scale,
		  row->method == WW_RUNTIME_TABLE ? "rounding in the table" : "measured points", b);
	within_bounds(j, row, &at, scale, k);
	if (j->known.given[WW_IN_HOURS])
		row->heaviest = heaviest(&x, in, 60 * in[WW_IN_HOURS]);
	if (row->heaviest >= c->load[c->n - 1])
		ww_note(&j->r->notes,
			"%s%sthe heaviest load that is stated lasts the wanted runtime: what is "
			"heavier is not known",
			row->model, *row->model ? ": " : "");
	if (!isnan(j->r->watts.value)) {
		double w = j->r->watts.value;

		row->delivered_Wh.value = w * row->minutes.value / 60;
		row->delivered_Wh.u = row->delivered_Wh.value *
				      hypot(row->minutes.u / row->minutes.value, j->r->watts.u / w);
	}
}

static const char *keep(struct ww_runtime *r, const char *text)
{
	ww_note(&r->texts, "%s", text);
	for (size_t i = 0; i < r->texts.n; i++)
		if (strcmp(r->texts.note[i], text) == 0)
			return r->texts.note[i];
	return "";
}

static void column(const struct ww_runtime_table *t, size_t model, struct ww_curve2 *c)
{
	c->n = 0;
	for (size_t i = 0; i < t->rows; i++) {
		double m = t->minutes[i * t->models + model];

		if (isnan(m))
			continue;
		c->load[c->n] = t->load[i];
		c->step[c->n] = t->step[i * t->models + model];
		c->minutes[c->n++] = m;
	}
}

static bool rises(const struct ww_curve2 *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->minutes[i] > c->minutes[i - 1])
			return true;
	return false;
}

static void one_model(struct ww_runtime_job *j, size_t model, struct ww_curve2 *c,
		      struct ww_runtime_case *row, const double *in, const double *u)
{
	const struct ww_runtime_table *t = j->o->table;

	row->model = keep(j->r, t->model[model]);
	row->unit = strcmp(t->unit, "VA") == 0 ? "VA" : "W";
	row->load = in[WW_IN_LOAD];
	row->method = WW_RUNTIME_TABLE;
	column(t, model, c);
	row->points = c->n;
	if (c->n < 2) {
		row->why = "the table states fewer than two runtimes of it";
		return;
	}
	if (rises(c))
		ww_note(&j->r->notes,
			"%s: the runtime of '%s' rises with the load somewhere: a slip?", t->name,
			t->model[model]);
	by_curve(j, c, row, in, u);
}

static int alloc(struct ww_curve2 *c, size_t n)
{
	c->load = calloc(n + 1, sizeof(*c->load));
	c->minutes = calloc(n + 1, sizeof(*c->minutes));
	c->step = calloc(n + 1, sizeof(*c->step));
	return c->load && c->minutes && c->step ? 0 : -ENOMEM;
}

static void release(struct ww_curve2 *c)
{
	free(c->load);
	free(c->minutes);
	free(c->step);
}

/* How far all columns are off, each point from its neighbours. */
static void whole_table(struct ww_runtime_job *j, struct ww_curve2 *c)
{
	const struct ww_runtime_table *t = j->o->table;
	double log_sum = 0, linear_sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->models; i++) {
		column(t, i, c);
		n += ww_curve2_errors(c, &log_sum, &linear_sum);
	}
	if (n) {
		j->r->error_log = log_sum / (double)n;
		j->r->error_linear = linear_sum / (double)n;
	}
}

static int unknown_model(struct ww_runtime_job *j, const char *model)
{
	const struct ww_runtime_table *t = j->o->table;
	struct ww_str s = {0};
	int rc;

	for (size_t i = 0; i < t->models; i++)
		ww_str_addf(&s, "%s%s", i ? ", " : "", t->model[i]);
	rc = ww_fail(j->err, -ENOENT, "%s: no model '%s'; there are %s", t->name, model,
		     s.p ? s.p : "none");
	ww_str_free(&s);
	return rc;
}

int ww_runtime_by_table(struct ww_runtime_job *j)
{
	const struct ww_runtime_table *t = j->o->table;
	const char *model = WW_OPT(j->o, model, NULL);
	struct ww_quantity load = strcmp(t->unit, "VA") == 0 ? j->r->va : j->r->watts;
	double in[WW_IN_COUNT], u[WW_IN_COUNT];
	struct ww_curve2 c = {0};
	size_t found = 0;
	int rc = 0;

	if (isnan(load.value))
		return ww_fail(
			j->err, -EINVAL,
			"%s: its loads are in %s, which %s do not tell: give %s, or the power "
			"factor with --pf",
			t->name, t->unit, strcmp(t->unit, "VA") == 0 ? "watts" : "VA",
			strcmp(t->unit, "VA") == 0 ? "--va" : "--load in W");
	if (alloc(&c, t->rows) < 0)
		rc = ww_fail_nomem(j->err);
	memcpy(in, j->known.in, sizeof(in));
	memcpy(u, j->known.u, sizeof(u));
	in[WW_IN_LOAD] = load.value;
	u[WW_IN_LOAD] = load.u;
	for (size_t i = 0; rc == 0 && i < t->models; i++) {
		struct ww_runtime_case *row;

		if (model && strcmp(model, t->model[i]) != 0)
			continue;
		found++;
		row = ww_runtime_row(j);
		if (!row)
			rc = -ENOMEM;
		else
			one_model(j, i, &c, row, in, u);
	}
	if (rc == 0 && found == 0)
		rc = unknown_model(j, model);
	if (rc == 0)
		whole_table(j, &c);
	release(&c);
	return rc;
}

/* Two and more runtimes of one's own are a table, by watts; equal loads are averaged. */
int ww_runtime_by_own(struct ww_runtime_job *j)
{
	const struct ww_runtime_point *p = j->o->measured;
	size_t n = j->o->points;
	struct ww_runtime_case *row;
	struct ww_curve2 c = {0};
	int rc = alloc(&c, n) < 0 ? ww_fail_nomem(j->err) : 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		double w = p[i].watts.value, t = p[i].minutes.value, same = 0, sum = 0;
		/* As if it were the rounding of a table; a load's u counts by Peukert's law. */
		double u = hypot(p[i].minutes.u / t, j->known.in[WW_IN_PEUKERT] * p[i].watts.u / w);
		size_t k;
		bool seen = false;

		for (k = 0; k < n; k++) {
			same += p[k].watts.value == w;
			sum += p[k].watts.value == w ? p[k].minutes.value : 0;
			seen = seen || (k < i && p[k].watts.value == w);
		}
		if (seen)
			continue;
		for (k = c.n++; k > 0 && c.load[k - 1] > w; k--) {
			c.load[k] = c.load[k - 1];
			c.minutes[k] = c.minutes[k - 1];
			c.step[k] = c.step[k - 1];
		}
		c.load[k] = w;
		c.minutes[k] = sum / same;
		c.step[k] = sum / same * u * sqrt(12 / same);
	}
	row = rc == 0 ? ww_runtime_row(j) : NULL;
	if (rc == 0 && !row)
		rc = -ENOMEM;
	if (row) {
		row->method = WW_RUNTIME_MEASURED;
		if (c.n < 2)
			row->why = "all were measured at one load";
		else if (isnan(j->r->watts.value))
			row->why = "measured in W, and the load is known in VA only";
		else
			by_curve(j, &c, row, j->known.in, j->known.u);
	}
	release(&c);
	return rc;
}
