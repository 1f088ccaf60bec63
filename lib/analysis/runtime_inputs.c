/* SPDX-License-Identifier: MIT */
/* What was given, what is assumed instead, and whether it can be so. */
#include "analysis/runtime.h"

#include <math.h>

/* Assumed where nothing is given; u 0: a choice of the design, no estimate. */
struct defaults {
	const char *name;
	double peukert, u_peukert;
	double depth, ageing; /* to size a battery that shall last for years */
	double per_kelvin, u_per_kelvin;
};

static const struct defaults chemistry[] = {
	/* Capacity in the cold: 0.6 to 1 % a kelvin for lead (IEC 60896-11). */
	{"lead-acid", 1.2, 0.05, 0.5, 0.8, 0.008, 0.0012},
	{"LiFePO4", 1.05, 0.02, 0.8, 0.8, 0.006, 0.003},
	{"lithium-ion", 1.05, 0.02, 0.8, 0.8, 0.006, 0.003},
};

#define INVERTER   0.85
#define U_INVERTER 0.04
#define DC_DC	   0.92
#define U_DC_DC	   0.02

struct range {
	const char *name;
	double least, most;
};

static int put(struct ww_runtime_job *j, int i, struct ww_quantity q, struct range r)
{
	if (q.value == 0 && !(q.u > 0))
		return 0;
	if (!(q.value > r.least && q.value <= r.most) || !(q.u >= 0) || !isfinite(q.u)) {
		char v[32], lo[32], hi[32];

		ww_num_text(v, sizeof(v), q.value);
		ww_num_text(lo, sizeof(lo), r.least);
		ww_num_text(hi, sizeof(hi), r.most);
		return ww_fail(j->err, -EINVAL, "%s: %s is not above %s and at most %s", r.name, v,
			       lo, hi);
	}
	j->known.in[i] = q.value;
	j->known.u[i] = q.u;
	j->known.given[i] = true;
	return 0;
}

static void assume(struct ww_runtime_job *j, int i, double v, double u)
{
	if (j->known.given[i])
		return;
	j->known.in[i] = v;
	j->known.u[i] = u;
}

static int given(struct ww_runtime_job *j)
{
	const struct ww_runtime_options *o = j->o;
	const struct ww_quantity none = {0, 0};
	const struct {
		int input;
		struct ww_quantity q;
		struct range r;
	} list[] = {
		{WW_IN_LOAD, WW_OPT(o, watts, none), {"load", 0, 1e7}},
		{WW_IN_PF, WW_OPT(o, pf, none), {"power factor", 0, 1}},
		{WW_IN_CAPACITY, WW_OPT(o, capacity_Ah, none), {"capacity in Ah", 0, 1e6}},
		{WW_IN_VOLTS, WW_OPT(o, volts, none), {"voltage", 0, 2000}},
		{WW_IN_PEUKERT, WW_OPT(o, peukert, none), {"Peukert's exponent", 0.999, 2}},
		{WW_IN_EFFICIENCY, WW_OPT(o, efficiency, none), {"efficiency", 0, 1}},
		{WW_IN_OWN, WW_OPT(o, own_W, none), {"own loss in W", 0, 1e6}},
		{WW_IN_DEPTH, WW_OPT(o, depth, none), {"depth of discharge", 0, 1}},
		{WW_IN_AGEING, WW_OPT(o, ageing, none), {"part left of the capacity", 0, 1}},
		{WW_IN_TEMPERATURE,
		 WW_OPT(o, temperature, none),
		 {"part of the capacity in the cold", 0, 1.2}},
		{WW_IN_HOURS, WW_OPT(o, wanted_h, none), {"runtime wanted in h", 0, 1e5}},
	};

	for (size_t i = 0; i < WW_COUNTOF(list); i++) {
		int rc = put(j, list[i].input, list[i].q, list[i].r);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void cold(struct ww_runtime_job *j, const struct defaults *d)
{
	const struct ww_quantity none = {0, 0};
	struct ww_quantity t = WW_OPT(j->o, celsius, none);
	double k = 25 - t.value;

	if (!WW_OPT(j->o, has_celsius, 0) || j->known.given[WW_IN_TEMPERATURE])
		return;
	/* Warmth gives little more, and costs life. */
	j->known.in[WW_IN_TEMPERATURE] = k > 0 ? fmax(0.1, 1 - d->per_kelvin * k) : 1;
	j->known.u[WW_IN_TEMPERATURE] = k > 0 ? hypot(d->u_per_kelvin * k, d->per_kelvin * t.u) : 0;
	j->known.given[WW_IN_TEMPERATURE] = true;
}

static int points(struct ww_runtime_job *j)
{
	const struct ww_runtime_point *p = WW_OPT(j->o, measured, NULL);
	size_t n = WW_OPT(j->o, points, 0);

	for (size_t i = 0; p && i < n; i++)
		if (!(p[i].watts.value > 0) || !(p[i].minutes.value > 0) ||
		    !isfinite(p[i].watts.value) || !isfinite(p[i].minutes.value) ||
		    !(p[i].watts.u >= 0) || !(p[i].minutes.u >= 0))
			return ww_fail(j->err, -EINVAL,
				       "a measured runtime is minutes at watts, both above 0");
	if (p && n == 1) {
		j->known.in[WW_IN_POINT_W] = p->watts.value;
		j->known.u[WW_IN_POINT_W] = p->watts.u;
		j->known.in[WW_IN_POINT_MIN] = p->minutes.value;
		j->known.u[WW_IN_POINT_MIN] = p->minutes.u;
		j->known.given[WW_IN_POINT_W] = j->known.given[WW_IN_POINT_MIN] = true;
	}
	return 0;
}

/* W is never made of VA, nor VA of W, but by a power factor that was given. */
static void load(struct ww_runtime_job *j)
{
	const struct ww_quantity none = {0, 0};
	struct ww_quantity w = WW_OPT(j->o, watts, none), va = WW_OPT(j->o, va, none);
	struct ww_quantity pf = WW_OPT(j->o, pf, none);
	struct ww_runtime *r = j->r;

	r->watts = w.value > 0 ? w : (struct ww_quantity){NAN, NAN};
	r->va = va.value > 0 ? va : (struct ww_quantity){NAN, NAN};
	if (isnan(r->watts.value) && va.value > 0 && pf.value > 0) {
		r->watts.value = va.value * pf.value;
		r->watts.u = hypot(va.u * pf.value, va.value * pf.u);
	}
	if (isnan(r->va.value) && w.value > 0 && pf.value > 0) {
		r->va.value = w.value / pf.value;
		r->va.u = r->va.value * hypot(w.u / w.value, pf.u / pf.value);
	}
	if (r->watts.value > 0) {
		j->known.in[WW_IN_LOAD] = r->watts.value;
		j->known.u[WW_IN_LOAD] = r->watts.u;
		/* It went into the watts above. */
		j->known.u[WW_IN_PF] = 0;
	}
}

/* By more than what is not known of both, and than a meter's last digits. */
static bool above(struct ww_quantity a, struct ww_quantity b)
{
	return a.value > 1.01 * b.value + 2 * hypot(a.u, b.u);
}

/* Watts, VA, power factor and peak that no load can have together. */
static int together(struct ww_runtime_job *j)
{
	const struct ww_quantity none = {0, 0};
	struct ww_quantity w = j->r->watts, va = j->r->va, pf = WW_OPT(j->o, pf, none), p;
	char a[32], b[32], c[32];

	ww_num_text(a, sizeof(a), w.value);
	ww_num_text(b, sizeof(b), va.value);
	ww_num_text(c, sizeof(c), pf.value);
	if (w.value > 0 && va.value > 0 && above(w, va))
		return ww_fail(j->err, -EINVAL, "%s W of %s VA: no load takes more watts than VA",
			       a, b);
	p = (struct ww_quantity){va.value * pf.value, hypot(va.u * pf.value, va.value * pf.u)};
	if (w.value > 0 && va.value > 0 && pf.value > 0 && (above(w, p) || above(p, w)))
		return ww_fail(j->err, -EINVAL,
			       "%s W are not %s of %s VA: give two of load, VA and power factor", a,
			       c, b);
	ww_num_text(b, sizeof(b), j->r->peak_W);
	if (j->r->peak_W > 0 && w.value > 0 && above(w, (struct ww_quantity){j->r->peak_W, 0}))
		return ww_fail(j->err, -EINVAL,
			       "a peak of %s W is less than the load of %s W itself", b, a);
	return 0;
}

int ww_runtime_inputs(struct ww_runtime_job *j)
{
	const struct ww_runtime_options *o = j->o;
	int kind = WW_OPT(o, chemistry, WW_LEAD), rc;
	double rated = WW_OPT(o, rated_h, 0);
	const struct defaults *d;

	if (kind < 0 || (size_t)kind >= WW_COUNTOF(chemistry))
		return ww_fail(j->err, -EINVAL, "chemistry %d is unknown", kind);
	d = &chemistry[kind];
	rc = given(j);
	if (rc == 0)
		rc = points(j);
	if (rc < 0)
		return rc;
	if (rated < 0 || rated > 1000 || isnan(rated))
		return ww_fail(j->err, -EINVAL,
			       "a capacity is rated for a discharge of some hours, 20 as a rule");
	cold(j, d);
	load(j);
	rc = together(j);
	if (rc < 0)
		return rc;
	j->battery.direct = WW_OPT(o, direct, 0) != 0;
	j->battery.rated_h = rated > 0 ? rated : 20;
	j->battery.series = WW_OPT(o, series, 0) ? WW_OPT(o, series, 0) : 1;
	j->battery.strings = WW_OPT(o, parallel, 0) ? WW_OPT(o, parallel, 0) : 1;
	assume(j, WW_IN_VOLTS, 12, 0);
	assume(j, WW_IN_PEUKERT, d->peukert, d->u_peukert);
	assume(j, WW_IN_EFFICIENCY, j->battery.direct ? DC_DC : INVERTER,
	       j->battery.direct ? U_DC_DC : U_INVERTER);
	/* A new battery that is emptied, unless one asks what to buy. */
	assume(j, WW_IN_DEPTH, 1, 0);
	assume(j, WW_IN_AGEING, 1, 0);
	assume(j, WW_IN_TEMPERATURE, 1, 0);
	memcpy(j->battery.in, j->known.in, sizeof(j->battery.in));
	return 0;
}

int ww_runtime_needs(struct ww_runtime_job *j)
{
	const struct defaults *d = &chemistry[WW_OPT(j->o, chemistry, WW_LEAD)];
	struct ww_runtime *r = j->r;
	struct ww_runtime_known k = j->known;
	struct ww_runtime_need *n = &r->need;
	double e;

	if (!k.given[WW_IN_HOURS] || isnan(r->watts.value))
		return 0;
	if (!k.given[WW_IN_DEPTH])
		k.in[WW_IN_DEPTH] = d->depth;
	if (!k.given[WW_IN_AGEING])
		k.in[WW_IN_AGEING] = d->ageing;
	r->has_need = true;
	n->hours = (struct ww_quantity){k.in[WW_IN_HOURS], k.u[WW_IN_HOURS]};
	e = r->watts.value * n->hours.value;
	n->energy_Wh = (struct ww_quantity){e, e * hypot(r->watts.u / r->watts.value,
							 n->hours.u / n->hours.value)};
	n->volts = k.in[WW_IN_VOLTS] * j->battery.series;
	n->ideal_Ah = e / n->volts;
	return ww_runtime_size(j, &k);
}
