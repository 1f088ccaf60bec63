/* SPDX-License-Identifier: MIT */
/*
 * From sums to figures. Evaluation of uncertainty: JCGM 100 (GUM), type A from
 * the readings' own noise with its autocorrelation, type B from resolution and
 * the maker's bound (a/sqrt 3).
 */
#include "analysis/stat.h"

#include <math.h>

static const struct {
	const char *power, *energy;
	double joules;
} units[] = {{"W", "Ws", 1},	 {"mW", "mJ", 1e-3},   {"kW", "kJ", 1e3},     {"uW", "uJ", 1e-6},
	     {"MW", "MJ", 1e6},	 {NULL, "J", 1},       {NULL, "Wh", 3600},    {NULL, "kWh", 3600e3},
	     {NULL, "mWh", 3.6}, {NULL, "MWh", 3.6e9}, {NULL, "uWh", 3600e-6}};

double ww_power_joules(const char *unit)
{
	for (size_t i = 0; i < WW_COUNTOF(units); i++)
		if (units[i].power && strcmp(units[i].power, unit) == 0)
			return units[i].joules;
	return 0;
}

double ww_energy_joules(const char *unit)
{
	for (size_t i = 0; i < WW_COUNTOF(units); i++)
		if (strcmp(units[i].energy, unit) == 0)
			return units[i].joules;
	return 0;
}

/* A step that the values certainly have: the display's, else that of the codes. */
static double step_of(const struct ww_channel_info *i)
{
	return i->resolution > 0 ? i->resolution : fabs(i->scale);
}

double ww_stat_joules(const struct ww_stat_channel *c)
{
	const struct ww_integral *w = &c->w;
	double t = (double)(w->plain_ns + w->gap_ns);

	return (c->info.scale * ww_integral_area(w) + c->info.offset * t) / 1e9 *
	       ww_power_joules(c->info.unit);
}

/*
 * What the mean is uncertain by, without the maker's bound. The values beside a
 * gap stand for it too, so that what is wrong with them all holds there as well.
 */
static double readings_u2(const struct ww_stat_channel *c, double step)
{
	struct ww_noise_fit fit = ww_noise_get(&c->w.noise);
	double seen = isnan(fit.sigma) ? 0 : fit.sigma * fabs(c->info.scale), s, uq;

	uq = ww_quantiser_seen_u(step, isnan(fit.spread) ? 0 : fit.spread * fabs(c->info.scale));
	if (isnan(fit.sigma))
		return uq * uq;
	s = seen > step / sqrt(12) ? seen : step / sqrt(12);
	return s * s * fit.tau / (double)(c->w.n ? c->w.n : 1) + uq * uq;
}

/* Of the mean over ns: changes of the load between two readings of a moment. */
static double changes_u2(const struct ww_stat_channel *c, double ns)
{
	struct ww_noise_fit fit = ww_noise_get(&c->w.noise);
	double sigma = isnan(fit.sigma) ? 0 : fit.sigma;

	return pow(c->info.scale * ww_integral_jump_u(&c->w, 2 * sigma * sigma * (1 - fit.phi)) /
			   ns,
		   2);
}

static double maker_u2(const struct ww_channel_info *i, double value)
{
	double a = isnan(i->acc_abs) ? 0 : i->acc_abs, g = isnan(i->acc_rel) ? 0 : i->acc_rel;

	return (a * a + g * g * value * value) / 3;
}

static void register_figures(const struct ww_stat_channel *c, double u_own,
			     struct ww_channel_stat *out)
{
	const struct ww_stat_channel *k = c->counter;
	double r, e, joules;

	if (!k || k->k.begin >= k->k.end)
		return;
	joules = ww_energy_joules(k->info.unit);
	r = step_of(&k->info) * joules;
	out->register_J.value = ww_counter_get(&k->k) * k->info.scale * joules;
	out->register_J.u = r / sqrt(6);
	out->register_resets = k->k.resets;
	/* Between the same readings, and without the stretches in which it was reset. */
	e = c->pair_e - c->pair_e0 - c->skip_e;
	if (c->paired && c->pair_e > c->pair_e0)
		out->register_z = (e - (c->pair_r - c->pair_r0 - c->skip_r)) /
				  sqrt(u_own * u_own + r * r / 6);
}

static void integral_figures(const struct ww_stat_channel *c, struct ww_channel_stat *out)
{
	const struct ww_channel_info *info = &c->info;
	const struct ww_integral *w = &c->w;
	double ns = (double)(w->plain_ns + w->gap_ns), step = step_of(info), own, bound;
	double joules = strcmp(info->quantity, "power") == 0 ? ww_power_joules(info->unit) : 0;

	out->n = w->n;
	out->missing = w->missing;
	out->duration_s = ns / 1e9;
	out->gap_s = (double)w->gap_ns / 1e9;
	out->gaps = w->gaps;
	out->coverage = ns > 0 ? (double)w->plain_ns / ns : w->n ? 1 : 0;
	if (w->begin > w->end) {
		out->why = "no readings in this time";
		return;
	}
	if (w->min <= w->max) {
		double a = (double)w->min * info->scale + info->offset;
		double b = (double)w->max * info->scale + info->offset;

		out->min = a < b ? a : b;
		out->max = a < b ? b : a;
	}
	out->mean.value =
		(ns > 0 ? ww_integral_area(w) / ns : w->last) * info->scale + info->offset;
	own = readings_u2(c, step);
	if (ns > 0)
		own += pow(info->scale * ww_integral_gap_u(w) / ns, 2) + changes_u2(c, ns);
	bound = maker_u2(info, out->mean.value);
	if (step > 0)
		out->mean.u = sqrt(own + bound);
	else
		out->why = "the resolution is unknown";
	if (joules == 0)
		return;
	if (!(ns > 0)) {
		out->why = "one reading covers no time";
		return;
	}
	out->energy_J.value = ww_stat_joules(c);
	out->energy_J.u = out->mean.u * joules * ns / 1e9;
	register_figures(c, sqrt(own) * joules * ns / 1e9, out);
}

static void counter_figures(const struct ww_stat_channel *c, struct ww_channel_stat *out)
{
	const struct ww_channel_info *info = &c->info;
	const struct ww_counter *k = &c->k;
	double joules = ww_energy_joules(info->unit);

	out->n = k->n;
	out->missing = k->missing;
	out->register_resets = k->resets;
	out->why = k->n ? "a register has no mean" : "no readings in this time";
	out->coverage = k->n ? 1 : 0;
	if (k->min <= k->max) {
		out->min = (double)k->min * info->scale + info->offset;
		out->max = (double)k->max * info->scale + info->offset;
	}
	if (k->begin >= k->end)
		return;
	out->duration_s = ((double)k->end - (double)k->begin) / 1e9;
	if (strcmp(info->quantity, "energy") != 0 || joules == 0)
		return;
	/* Two readings, each anywhere within a step; the maker's bound in proportion. */
	out->energy_J.value = ww_counter_get(k) * info->scale * joules;
	out->energy_J.u =
		sqrt(pow(step_of(info) * joules, 2) / 6 +
		     (isnan(info->acc_rel) ? 0 : pow(info->acc_rel * out->energy_J.value, 2) / 3));
}

void ww_stat_figures(const struct ww_stat_channel *c, struct ww_channel_stat *out,
		     struct ww_stat_extra *extra)
{
	const struct ww_quantity none = {NAN, NAN};

	/* Strings were set by the caller. */
	out->min = out->max = NAN;
	out->mean = out->energy_J = out->register_J = none;
	out->register_z = NAN;
	out->resolution = c->info.resolution;
	out->semantics = c->info.semantics;
	out->why = "";
	extra->counter = c->is_counter;
	extra->accuracy_known = !isnan(c->info.acc_abs) && !isnan(c->info.acc_rel);
	extra->to_joules =
		c->is_counter ? ww_energy_joules(c->info.unit) : ww_power_joules(c->info.unit);
	if (c->is_counter)
		counter_figures(c, out);
	else
		integral_figures(c, out);
}
