/* SPDX-License-Identifier: MIT */
/* The models: interpolation in logarithms, Peukert, an inverter with a fixed loss. */
#include "analysis/runtime.h"

#include <math.h>

static double slope(const struct ww_curve2 *c, size_t i)
{
	return log(c->minutes[i + 1] / c->minutes[i]) / log(c->load[i + 1] / c->load[i]);
}

void ww_curve2_get(const struct ww_curve2 *c, double load, struct ww_curve2_at *out)
{
	size_t i = 0;
	double f, g, n, a, b;

	while (i + 2 < c->n && load > c->load[i + 1])
		i++;
	n = slope(c, i);
	f = log(load / c->load[i]) / log(c->load[i + 1] / c->load[i]);
	g = (load - c->load[i]) / (c->load[i + 1] - c->load[i]);
	*out = (struct ww_curve2_at){
		.minutes = c->minutes[i] * exp(n * log(load / c->load[i])),
		.exponent = -n,
		.side = load < c->load[0]	   ? -1
			: load > c->load[c->n - 1] ? 1
						   : 0,
		.linear = c->minutes[i] + g * (c->minutes[i + 1] - c->minutes[i]),
	};
	if (out->side == 0)
		out->middle = 4 * f * (1 - f);
	a = c->step[i] / sqrt(12) / c->minutes[i] * (1 - f);
	b = c->step[i + 1] / sqrt(12) / c->minutes[i + 1] * f;
	out->u_step = hypot(a, b);
	if (out->side) {
		size_t end = out->side < 0 ? 0 : c->n - 1;

		out->end = c->load[end];
		out->end_minutes = c->minutes[end];
		/* With two points nothing tells how the slope changes. */
		out->u_exponent = c->n < 3	  ? fabs(n) / 2
				  : out->side < 0 ? fabs(slope(c, 1) - n)
						  : fabs(slope(c, c->n - 3) - n);
	}
}

size_t ww_curve2_errors(const struct ww_curve2 *c, double *log_sum, double *linear_sum)
{
	for (size_t i = 1; i + 1 < c->n; i++) {
		double f = log(c->load[i] / c->load[i - 1]) / log(c->load[i + 1] / c->load[i - 1]);
		double g = (c->load[i] - c->load[i - 1]) / (c->load[i + 1] - c->load[i - 1]);
		double by_log = c->minutes[i - 1] * pow(c->minutes[i + 1] / c->minutes[i - 1], f);
		double linear = c->minutes[i - 1] + g * (c->minutes[i + 1] - c->minutes[i - 1]);

		*log_sum += fabs(by_log / c->minutes[i] - 1);
		*linear_sum += fabs(linear / c->minutes[i] - 1);
	}
	return c->n > 2 ? c->n - 2 : 0;
}

static double volts(const struct ww_battery *b)
{
	return b->in[WW_IN_VOLTS] * b->series;
}

/* Capacity of the whole battery, as aged and as cold as it is. */
static double whole(const struct ww_battery *b)
{
	return b->in[WW_IN_CAPACITY] * b->strings * b->in[WW_IN_AGEING] * b->in[WW_IN_TEMPERATURE];
}

double ww_battery_watts(const struct ww_battery *b, double load)
{
	return b->in[WW_IN_OWN] + load / b->in[WW_IN_EFFICIENCY];
}

double ww_battery_hours(const struct ww_battery *b, double amps)
{
	double c = whole(b), h = b->rated_h;

	return amps * h > c ? h * pow(c / (amps * h), b->in[WW_IN_PEUKERT]) : c / amps;
}

double ww_battery_amps(const struct ww_battery *b, double hours)
{
	double c = whole(b), h = b->rated_h;

	return hours < h ? c / h * pow(h / hours, 1 / b->in[WW_IN_PEUKERT]) : c / hours;
}

double ww_battery_minutes(const struct ww_battery *b, double load)
{
	double amps = ww_battery_watts(b, load) / volts(b);

	return 60 * b->in[WW_IN_DEPTH] * ww_battery_hours(b, amps);
}

double ww_battery_capacity(const struct ww_battery *b, double load, double hours)
{
	double amps = ww_battery_watts(b, load) / volts(b) / b->strings;
	double full = hours / b->in[WW_IN_DEPTH], h = b->rated_h;
	double c = full < h ? amps * h * pow(full / h, 1 / b->in[WW_IN_PEUKERT]) : amps * full;

	return c / (b->in[WW_IN_AGEING] * b->in[WW_IN_TEMPERATURE]);
}

double ww_battery_implied(const struct ww_battery *b)
{
	double full = b->in[WW_IN_POINT_MIN] / 60 / b->in[WW_IN_DEPTH];

	return ww_battery_amps(b, full) * volts(b);
}

static const char *const input_names[WW_IN_COUNT] = {
	"load",		 "power factor",  "capacity",	    "voltage", "Peukert exponent",
	"efficiency",	 "own loss",	  "depth",	    "ageing",  "temperature",
	"measured load", "measured time", "runtime wanted",
};

void ww_budget_add(struct ww_budget *b, const char *name, double u)
{
	size_t k;

	if (!(u > 0) || !isfinite(u) || b->n == WW_RUNTIME_PARTS)
		return;
	for (k = b->n++; k > 0 && b->part[k - 1].u < u; k--)
		b->part[k] = b->part[k - 1];
	b->part[k].name = name;
	b->part[k].u = u;
}

struct ww_quantity ww_runtime_spread(ww_runtime_fn *f, void *ctx, const double *in, const double *u,
				     struct ww_budget *b)
{
	struct ww_quantity q = {f(ctx, in), 0};

	for (size_t i = 0; i < WW_IN_COUNT; i++) {
		double x[WW_IN_COUNT], up, down, part;

		if (!(u[i] > 0))
			continue;
		memcpy(x, in, sizeof(x));
		x[i] = in[i] + u[i];
		up = f(ctx, x);
		/* What cannot be negative is varied upwards only. */
		x[i] = in[i] > u[i] ? in[i] - u[i] : in[i];
		down = f(ctx, x);
		part = fabs(up - down) / (in[i] > u[i] ? 2 : 1);
		/* What cancels leaves the rounding of doubles. */
		if (isfinite(part) && part > 1e-9 * fabs(q.value)) {
			ww_budget_add(b, input_names[i], part);
			q.u = hypot(q.u, part);
		}
	}
	return q;
}
