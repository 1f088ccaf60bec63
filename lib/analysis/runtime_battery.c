/* SPDX-License-Identifier: MIT */
/* Runtime from a battery's capacity, with or without a runtime that was measured. */
#include "analysis/runtime.h"

#include <math.h>

struct battery_ctx {
	struct ww_battery b;
	bool own_given; /* then a measured runtime tells the efficiency, else the own loss */
	bool measured;
};

static void fill(struct battery_ctx *x, const double *in)
{
	double w = in[WW_IN_POINT_W], implied;

	memcpy(x->b.in, in, sizeof(x->b.in));
	if (!x->measured)
		return;
	/* One equation, P = P0 + W/eta: one of both has to be assumed. */
	implied = ww_battery_implied(&x->b);
	if (!x->own_given)
		x->b.in[WW_IN_OWN] = implied - w / in[WW_IN_EFFICIENCY];
	if (x->own_given || x->b.in[WW_IN_OWN] < 0) {
		x->b.in[WW_IN_OWN] = x->own_given ? in[WW_IN_OWN] : 0;
		x->b.in[WW_IN_EFFICIENCY] = w / (implied - x->b.in[WW_IN_OWN]);
	}
}

static double minutes(void *ctx, const double *in)
{
	struct battery_ctx *x = ctx;

	fill(x, in);
	return ww_battery_minutes(&x->b, in[WW_IN_LOAD]);
}

static double watts(void *ctx, const double *in)
{
	struct battery_ctx *x = ctx;

	fill(x, in);
	return ww_battery_watts(&x->b, in[WW_IN_LOAD]);
}

static double amps(void *ctx, const double *in)
{
	struct battery_ctx *x = ctx;

	return watts(ctx, in) / (in[WW_IN_VOLTS] * x->b.series * x->b.strings);
}

static double own(void *ctx, const double *in)
{
	struct battery_ctx *x = ctx;

	fill(x, in);
	return x->b.in[WW_IN_OWN];
}

static double efficiency(void *ctx, const double *in)
{
	struct battery_ctx *x = ctx;

	fill(x, in);
	return x->b.in[WW_IN_EFFICIENCY];
}

static double delivered(void *ctx, const double *in)
{
	return minutes(ctx, in) / 60 * in[WW_IN_LOAD];
}

static struct ww_quantity quantity(struct ww_runtime_job *j, ww_runtime_fn *f,
				   struct battery_ctx *x)
{
	struct ww_budget scratch = {.n = 0};

	return ww_runtime_spread(f, x, j->known.in, j->known.u, &scratch);
}

/* The heaviest load that lasts so long; 0: not even none does. */
static double heaviest(struct battery_ctx *x, const double *in, double want)
{
	double try[WW_IN_COUNT], lo = 0, hi = 1e9;

	memcpy(try, in, sizeof(try));
	for (int i = 0; i < 200; i++) {
		try[WW_IN_LOAD] = lo / 2 + hi / 2;
		*(minutes(x, try) >= want ? &lo : &hi) = try[WW_IN_LOAD];
	}
	return lo;
}

static void figures(struct ww_runtime_job *j, struct battery_ctx *x, struct ww_runtime_case *row)
{
	const double *in = j->known.in;
	double stored = in[WW_IN_VOLTS] * in[WW_IN_CAPACITY] * x->b.series * x->b.strings;

	row->load = in[WW_IN_LOAD];
	row->minutes =
		ww_runtime_spread(minutes, x, in, j->known.u, &j->r->budget[row - j->r->row]);
	row->battery_W = quantity(j, watts, x);
	row->battery_A = quantity(j, amps, x);
	row->own_W = quantity(j, own, x);
	row->efficiency = quantity(j, efficiency, x);
	row->delivered_Wh = quantity(j, delivered, x);
	row->nameplate = row->delivered_Wh.value / stored;
	if (j->known.given[WW_IN_HOURS])
		row->heaviest = heaviest(x, in, 60 * in[WW_IN_HOURS]);
}

int ww_runtime_by_battery(struct ww_runtime_job *j)
{
	struct battery_ctx x = {.b = j->battery};
	struct ww_runtime_case *row = ww_runtime_row(j);

	if (!row)
		return -ENOMEM;
	row->method = WW_RUNTIME_BATTERY;
	if (isnan(j->r->watts.value))
		row->why = "a battery gives watts, which VA do not tell: give --load in W, or --pf";
	else
		figures(j, &x, row);
	return 0;
}

/* All of the loss fixed, or all of it in proportion: between these it lies. */
static void extremes(struct ww_runtime_job *j, struct battery_ctx *x, struct ww_runtime_case *row)
{
	double w = j->known.in[WW_IN_POINT_W], load = j->known.in[WW_IN_LOAD], implied, a, b;
	struct ww_battery e;

	fill(x, j->known.in);
	e = x->b;
	implied = ww_battery_implied(&e);
	e.in[WW_IN_EFFICIENCY] = 1;
	e.in[WW_IN_OWN] = implied - w;
	a = ww_battery_minutes(&e, load);
	e.in[WW_IN_EFFICIENCY] = w / implied;
	e.in[WW_IN_OWN] = 0;
	b = ww_battery_minutes(&e, load);
	if (fabs(a - b) > 1e-9 * a) {
		row->bounds_min[0] = fmin(a, b);
		row->bounds_min[1] = fmax(a, b);
	}
}

/* One runtime and no capacity: only what no battery can break. */
static void bounds_alone(struct ww_runtime_job *j, struct ww_runtime_case *row)
{
	double w = j->known.in[WW_IN_POINT_W], t = j->known.in[WW_IN_POINT_MIN];
	double load = j->known.in[WW_IN_LOAD], k = j->known.in[WW_IN_PEUKERT];
	double other = t * pow(w / load, k);

	row->load = load;
	if (load == w) {
		row->minutes = (struct ww_quantity){t, j->known.u[WW_IN_POINT_MIN]};
		return;
	}
	row->bounds_min[0] = fmin(t, other);
	row->bounds_min[1] = fmax(t, other);
	row->why = "one runtime does not tell how much of the loss is fixed: give --capacity, "
		   "or measure a second load";
}

int ww_runtime_by_points(struct ww_runtime_job *j)
{
	struct battery_ctx x = {.b = j->battery, .measured = true};
	struct ww_runtime_case *row;
	double implied;

	if (WW_OPT(j->o, points, 0) > 1)
		return ww_runtime_by_own(j);
	row = ww_runtime_row(j);
	if (!row)
		return -ENOMEM;
	row->method = WW_RUNTIME_MEASURED;
	row->points = 1;
	x.own_given = j->known.given[WW_IN_OWN];
	if (isnan(j->r->watts.value)) {
		row->why = "measured in W, and the load is known in VA only";
		return 0;
	}
	if (!j->known.given[WW_IN_CAPACITY]) {
		bounds_alone(j, row);
		return 0;
	}
	implied = ww_battery_implied(&x.b);
	if (!(implied > j->known.in[WW_IN_POINT_W] + j->known.in[WW_IN_OWN])) {
		row->why = "the battery would have given less than the load took: its capacity is "
			   "more than that, or less was drawn";
		return 0;
	}
	figures(j, &x, row);
	extremes(j, &x, row);
	/* What to buy is reckoned with what was found. */
	j->known.in[WW_IN_OWN] = row->own_W.value;
	j->known.u[WW_IN_OWN] = row->own_W.u;
	j->known.in[WW_IN_EFFICIENCY] = row->efficiency.value;
	j->known.u[WW_IN_EFFICIENCY] = row->efficiency.u;
	j->implied = true;
	j->watts = implied;
	return 0;
}

static double capacity(void *ctx, const double *in)
{
	struct battery_ctx *x = ctx;

	memcpy(x->b.in, in, sizeof(x->b.in));
	return ww_battery_capacity(&x->b, in[WW_IN_LOAD], in[WW_IN_HOURS]);
}

int ww_runtime_size(struct ww_runtime_job *j, const struct ww_runtime_known *k)
{
	struct battery_ctx x = {.b = j->battery};
	struct ww_runtime_need *n = &j->r->need;

	x.b.strings = 1;
	n->Ah = ww_runtime_spread(capacity, &x, k->in, k->u, &j->r->need_budget);
	if (k->given[WW_IN_CAPACITY] && n->Ah.value / k->in[WW_IN_CAPACITY] < 1e9)
		n->strings = (uint64_t)ceil(n->Ah.value / k->in[WW_IN_CAPACITY] - 1e-9);
	j->sized = *k;
	return 0;
}
