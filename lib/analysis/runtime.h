/* SPDX-License-Identifier: MIT */
/*
 * How long a battery lasts. The models are pure functions of numbers; uncertainties go
 * through them by finite differences, one input after the other.
 */
#ifndef WW_RUNTIME_H
#define WW_RUNTIME_H

#include "base/notes.h"
#include "text/rttable.h"

/* Inputs of a model, in the order in which they are told. */
enum ww_runtime_input {
	WW_IN_LOAD,
	WW_IN_PF,
	WW_IN_CAPACITY,
	WW_IN_VOLTS,
	WW_IN_PEUKERT,
	WW_IN_EFFICIENCY,
	WW_IN_OWN,
	WW_IN_DEPTH,
	WW_IN_AGEING,
	WW_IN_TEMPERATURE,
	WW_IN_POINT_W,
	WW_IN_POINT_MIN,
	WW_IN_HOURS,
	WW_IN_COUNT
};

/* One column of a table, or points of one's own; loads rise. */
struct ww_curve2 {
	double *load, *minutes, *step; /* [n] */
	size_t n;
};

/* What interpolation in logarithms gives at a load. */
struct ww_curve2_at {
	double minutes;
	double exponent;
	int side;      /* -1, 1: beyond the ends */
	double middle; /* 4 f (1 - f): 0 at a point, 1 half-way between two */
	double linear; /* minutes by linear interpolation */
	double u_step; /* relative standard uncertainty that the rounding of the points leaves */
	double u_exponent; /* of the exponent, from its change between neighbours */
	double end;	   /* load of the nearest end, where side is not 0 */
	double end_minutes;
};

/* n >= 2, all positive. */
void ww_curve2_get(const struct ww_curve2 *c, double load, struct ww_curve2_at *out);
/*
 * Mean relative error of the inner points, each interpolated from its neighbours, in
 * logarithms and linearly; sums, so that several columns can be put together. @return how many
 */
size_t ww_curve2_errors(const struct ww_curve2 *c, double *log_sum, double *linear_sum);

/* A battery and its inverter: all there is to know for the time of a discharge. */
struct ww_battery {
	double in[WW_IN_COUNT];
	double strings, series;
	double rated_h;
	bool direct;
};

/* Watts that the battery gives for a load. */
double ww_battery_watts(const struct ww_battery *b, double load);
/*
 * Hours of a current of the whole battery: H (C/IH)^k (Peukert 1897), but never more
 * than C/I where the current is below the rated one: what is gained there is not sure.
 */
double ww_battery_hours(const struct ww_battery *b, double amps);
/* The current that lasts so many hours: the inverse. */
double ww_battery_amps(const struct ww_battery *b, double hours);
/* Capacity of one battery, Ah, that a load takes for so many hours. */
double ww_battery_capacity(const struct ww_battery *b, double load, double hours);
double ww_battery_minutes(const struct ww_battery *b, double load);
/* Watts from the battery that a measured runtime implies. */
double ww_battery_implied(const struct ww_battery *b);

struct ww_runtime_part {
	int input; /* enum, or beyond: what the table itself leaves */
	const char *name;
	double u;
};
#define WW_RUNTIME_PARTS (WW_IN_COUNT + 3)

struct ww_budget {
	struct ww_runtime_part part[WW_RUNTIME_PARTS];
	size_t n;
};

typedef double ww_runtime_fn(void *ctx, const double *in);
/*
 * Value and standard uncertainty of f at in[] +- u[] (GUM 5.1.3, differences over +-u),
 * with the contributions, largest first.
 */
struct ww_quantity ww_runtime_spread(ww_runtime_fn *f, void *ctx, const double *in, const double *u,
				     struct ww_budget *b);
void ww_budget_add(struct ww_budget *b, const char *name, double u);

/* All that is known, defaults filled in. */
struct ww_runtime_known {
	double in[WW_IN_COUNT], u[WW_IN_COUNT];
	bool given[WW_IN_COUNT];
};

struct ww_runtime {
	struct ww_runtime_case *row;
	struct ww_budget *budget; /* [rows] */
	size_t rows, cap;
	bool has_need;
	struct ww_runtime_need need;
	struct ww_budget need_budget;
	struct ww_notes notes;
	struct ww_notes texts;
	struct ww_quantity watts, va; /* NaN: unknown */
	double peak_W, rating_W, rating_VA;
	double wanted_h;
	double error_log, error_linear; /* of a whole table; NaN */
};

struct ww_runtime_job {
	struct ww_runtime *r;
	const struct ww_runtime_options *o;
	struct ww_error *err;
	struct ww_battery battery; /* with the defaults of its chemistry */
	struct ww_runtime_known known, sized;
	bool implied; /* a measured runtime told the loss */
	double watts; /* that the battery gave in it */
};

/* Defaults and checks. */
int ww_runtime_inputs(struct ww_runtime_job *j);
/* A case of its kind; adds a row. */
int ww_runtime_by_table(struct ww_runtime_job *j);
int ww_runtime_by_battery(struct ww_runtime_job *j);
int ww_runtime_by_points(struct ww_runtime_job *j);
int ww_runtime_by_own(struct ww_runtime_job *j);
int ww_runtime_size(struct ww_runtime_job *j, const struct ww_runtime_known *k);
int ww_runtime_needs(struct ww_runtime_job *j);
/* A new row with nothing in it. NULL without memory (said). */
struct ww_runtime_case *ww_runtime_row(struct ww_runtime_job *j);
void ww_runtime_remarks(struct ww_runtime_job *j);

#endif
