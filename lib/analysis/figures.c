/* SPDX-License-Identifier: MIT */
/*
 * From sums to figures. Evaluation of uncertainty: JCGM 100 (GUM), type A from
 * the readings' own noise with its autocorrelation, type B from resolution and
 * the maker's bound (a/sqrt 3).
 */
#include "analysis/stat.h"

#include <float.h>
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
static double readings_u2(const struct ww_stat_channel *c, double step, double *quantiser)
{
	const struct ww_integral *w = &c->w;
	struct ww_noise_fit fit = ww_noise_get(&w->noise);
	double k = fabs(c->info.scale), uq, un = 0;

	/* What a person read, was worth writing down: differences are no noise. */
	if (isnan(fit.sigma) || c->manual)
		return pow(*quantiser = ww_quantiser_seen_u(step, 0), 2);
	*quantiser = uq = ww_quantiser_seen_u(step, fit.spread * k);
	if (w->n > 1)
		un = k * ww_noise_mean_u(&w->noise, &fit, w->n, step / k / sqrt(12),
					 sqrt(ww_spread_var(&w->all)));
	return un * un + uq * uq;
}

/* Of the mean over ns: changes of the load between two readings of a moment. */
static double changes_u2(const struct ww_stat_channel *c, double ns)
{
	struct ww_noise_fit fit = ww_noise_get(&c->w.noise);
	double spread = isnan(fit.sigma) || c->manual ? 0 : fit.spread;

	return pow(c->info.scale * ww_integral_jump_u(&c->w, 2 * spread * spread) / ns, 2);
}

static double maker_u2(const struct ww_channel_info *i, double value)
{
	double a = isnan(i->acc_abs) ? 0 : i->acc_abs, g = isnan(i->acc_rel) ? 0 : i->acc_rel;

	return (a * a + g * g * value * value) / 3;
}

/* Why what a register counted is not known to its rounding; "" if it is. */
static const char *lost_counts(const struct ww_counter *k)
{
	if (k->resets)
		return "what the register counted around its reset is lost";
	return k->turns_unknown ? "the register may have turned more than once between readings"
				: "";
}

double ww_register_z(double E, double u, double R, double r, double pieces)
{
	return (E - R) / sqrt(u * u + r * r / 6 * pieces);
}

static void register_figures(const struct ww_stat_channel *c, double u_own,
			     struct ww_channel_stat *out, struct ww_stat_extra *extra)
{
	const struct ww_stat_channel *k = c->counter;
	double r, joules, part, pace;

	if (!k || k->k.begin >= k->k.end)
		return;
	joules = ww_energy_joules(k->info.unit);
	r = step_of(&k->info) * joules;
	extra->lost = lost_counts(&k->k);
	out->register_J.value = ww_counter_get(&k->k) * k->info.scale * joules;
	out->register_J.u = *extra->lost ? NAN : r / sqrt(6);
	out->register_resets = k->k.resets;
	if (!(c->pair_ns > 0) || (c->one_way && out->min < 0))
		return;
	extra->pair_E = c->pair_E;
	extra->pair_R = c->pair_R;
	part = u_own * c->pair_ns / (double)(c->w.plain_ns + c->w.gap_ns);
	/*
	 * What the ends of each stretch show may be of another age; of all in the same way. A
	 * register that stood still may be about to be renewed.
	 */
	pace = fmax(fabs(c->pair_R), fabs(c->pair_E)) / c->pair_ns;
	part = hypot(part, pace * c->w.counter_ns / sqrt(6) * (double)c->pieces);
	if (!*extra->lost)
		out->register_J.u = hypot(out->register_J.u, pace * c->w.counter_ns / sqrt(6));
	out->register_z = ww_register_z(c->pair_E, part, c->pair_R, r, (double)c->pieces);
}

/* Square of what the mean over ns is uncertain by beside its seen readings. */
static double holes_u2(const struct ww_stat_channel *c, double ns)
{
	return pow(c->info.scale * ww_integral_gap_u(&c->w) / ns, 2);
}

static void energy_figures(const struct ww_stat_channel *c, double seen,
			   struct ww_channel_stat *out, struct ww_stat_extra *extra)
{
	double ns = (double)(c->w.plain_ns + c->w.gap_ns), joules = ww_power_joules(c->info.unit);
	double stamps = c->info.scale * ww_integral_stamp_u(&c->w, c->info.offset / c->info.scale) /
			1e9 * joules;

	extra->stamps_J = stamps;
	out->energy_J.value = ww_stat_joules(c);
	out->energy_J.u = hypot(out->mean.u * joules * ns / 1e9, stamps);
	register_figures(c, hypot(sqrt(seen) * joules * ns / 1e9, stamps), out, extra);
}

static void integral_figures(const struct ww_stat_channel *c, struct ww_channel_stat *out,
			     struct ww_stat_extra *extra)
{
	const struct ww_channel_info *info = &c->info;
	const struct ww_integral *w = &c->w;
	double ns = (double)(w->plain_ns + w->gap_ns), step = step_of(info), seen, holes = 0;
	double joules = strcmp(info->quantity, "power") == 0 ? ww_power_joules(info->unit) : 0;

	out->n = w->n;
	out->missing = w->missing;
	out->duration_s = ns / 1e9;
	out->gap_s = (double)w->gap_ns / 1e9;
	out->gaps = w->gaps;
	out->coverage = ns > 0 ? (double)(w->plain_ns - w->thin_ns) / ns : w->n ? 1 : 0;
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
	seen = readings_u2(c, step, &extra->quantiser_u);
	if (ns > 0) {
		seen += changes_u2(c, ns);
		holes = holes_u2(c, ns);
	}
	/* No double holds a value more exactly than that. */
	seen += pow(out->mean.value * DBL_EPSILON, 2);
	extra->readings_u = sqrt(seen + holes);
	extra->spread = fabs(info->scale) * ww_noise_get(&w->noise).spread;
	if (step > 0)
		out->mean.u = sqrt(seen + holes + maker_u2(info, out->mean.value));
	else
		out->why = "the resolution is unknown";
	if (joules == 0)
		return;
	if (ns > 0)
		energy_figures(c, seen, out, extra);
	else
		out->why = "one reading covers no time";
}

static void counter_figures(const struct ww_stat_channel *c, struct ww_channel_stat *out,
			    struct ww_stat_extra *extra)
{
	const struct ww_channel_info *info = &c->info;
	const struct ww_counter *k = &c->k;
	double joules = ww_energy_joules(info->unit), late;

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
	extra->lost = lost_counts(k);
	/*
	 * Two readings, each anywhere within a step, and of a moment anywhere within its
	 * delay; the maker's bound in proportion.
	 */
	out->energy_J.value = ww_counter_get(k) * info->scale * joules;
	late = out->energy_J.value / out->duration_s * c->delay_s;
	if (*extra->lost)
		out->why = extra->lost;
	else
		out->energy_J.u = sqrt(pow(step_of(info) * joules, 2) / 6 + pow(late, 2) / 6 +
				       (isnan(info->acc_rel)
						? 0
						: pow(info->acc_rel * out->energy_J.value, 2) / 3));
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
	extra->lost = "";
	extra->pair_E = extra->pair_R = NAN;
	extra->readings_u = extra->stamps_J = extra->spread = extra->quantiser_u = NAN;
	extra->accuracy_known = !isnan(c->info.acc_abs) && !isnan(c->info.acc_rel);
	extra->to_joules =
		c->is_counter ? ww_energy_joules(c->info.unit) : ww_power_joules(c->info.unit);
	if (c->is_counter)
		counter_figures(c, out, extra);
	else
		integral_figures(c, out, extra);
}
