/* SPDX-License-Identifier: MIT */
/*
 * Readings of the wattmeter around each cycle, kept, so that the energy of a phase can be told
 * when the kernel's phases become known, which may be long after the trace was read.
 */
#include "analysis/resume.h"

#include <math.h>

/* Before the cycle and after it. */
#define LEAD_NS	 WW_NS_PER_S
#define TRAIL_NS (3 * WW_NS_PER_S)
/* Of more readings only the first are kept: no cycle is worth more memory. */
#define POINTS_MAX 200000
/* A phase lasts at least so many times what one reading may cover. */
#define MUCH 2

static bool window(const struct ww_cycle *c, struct ww_interval *w)
{
	*w = WW_INTERVAL_NONE;
	for (int e = 0; e < WW_EV_COUNT; e++) {
		struct ww_interval t = c->event[e];

		if (!ww_iv_ok(t) || t.lo_ns == WW_TIME_MIN || t.hi_ns == WW_TIME_MAX)
			continue;
		if (!ww_iv_ok(*w))
			*w = t;
		w->lo_ns = t.lo_ns < w->lo_ns ? t.lo_ns : w->lo_ns;
		w->hi_ns = t.hi_ns > w->hi_ns ? t.hi_ns : w->hi_ns;
	}
	if (!ww_iv_ok(*w))
		return false;
	w->lo_ns = ww_add_sat(w->lo_ns, -LEAD_NS);
	w->hi_ns = ww_add_sat(w->hi_ns, TRAIL_NS);
	return true;
}

int ww_resume_watts(struct ww_trace *t, const struct ww_resume_meter *m, struct ww_cycle_out *o,
		    struct ww_error *err)
{
	struct ww_interval w;
	struct ww_cursor *k = NULL;
	struct ww_batch b;
	size_t cap = 0;
	int rc;

	if (!window(&o->c, &w))
		return 0;
	rc = ww_cursor_open(t, m->source, w.lo_ns, ww_add_sat(w.hi_ns, m->shift_ns), 0, &k, err);
	while (rc >= 0 && (rc = ww_cursor_next(k, &b, err)) > 0)
		for (size_t i = 0; i < b.n && rc >= 0 && o->powers < POINTS_MAX; i++) {
			double v = ww_code_value(&m->scale, b.codes[m->column][i]);

			if (isnan(v))
				continue;
			rc = ww_grow(&o->power, &cap, o->powers, sizeof(*o->power), err);
			if (rc < 0)
				break;
			o->power[o->powers++] = (struct ww_power_point){
				ww_iv_mid((struct ww_interval){b.lo_ns[i], b.hi_ns[i]}) -
					m->shift_ns,
				v};
		}
	ww_cursor_close(k);
	return rc < 0 ? rc : 0;
}

/* Joules between two times, and the least and greatest watts near one of them. */
static double joules(const struct ww_cycle_out *o, int64_t from, int64_t to)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < o->powers; i++) {
		const struct ww_power_point *p = &o->power[i], *q = p + 1;
		int64_t a = p->t_ns > from ? p->t_ns : from, b = q->t_ns < to ? q->t_ns : to;
		double slope =
			q->t_ns > p->t_ns ? (q->watts - p->watts) / (double)(q->t_ns - p->t_ns) : 0;

		if (b > a)
			sum += (p->watts + slope * ((double)(a - p->t_ns) + (double)(b - a) / 2)) *
			       (double)(b - a) / 1e9;
	}
	return sum;
}

/* What an end that is known only so well may change: the power may step there. */
static double edge(const struct ww_resume *r, const struct ww_cycle_out *o, struct ww_interval t)
{
	double blur = (double)r->meter.blur_ns, width = (double)(t.hi_ns - t.lo_ns);
	double lo = INFINITY, hi = -INFINITY;

	for (size_t i = 0; i < o->powers; i++) {
		if (o->power[i].t_ns < t.lo_ns - r->meter.blur_ns ||
		    o->power[i].t_ns > t.hi_ns + r->meter.blur_ns)
			continue;
		lo = fmin(lo, o->power[i].watts);
		hi = fmax(hi, o->power[i].watts);
	}
	return hi > lo ? (hi - lo) * sqrt((blur * blur + width * width) / 12) / 1e9 : 0;
}

static double type_b(const struct ww_resume_meter *m, double watts)
{
	double q = m->resolution / sqrt(12), a = 0;

	if (!isnan(m->acc_abs) || !isnan(m->acc_rel))
		a = ((isnan(m->acc_abs) ? 0 : m->acc_abs) +
		     (isnan(m->acc_rel) ? 0 : m->acc_rel * fabs(watts))) /
		    sqrt(3);
	return sqrt(q * q + a * a);
}

int ww_resume_energy(const struct ww_resume *r, size_t i, struct ww_interval from,
		     struct ww_interval to, struct ww_quantity *out)
{
	const struct ww_cycle_out *o = &r->cycle[i];
	int64_t a = ww_iv_mid(from), b = ww_iv_mid(to);
	double seconds = (double)(b - a) / 1e9, e0, e1, type;

	if (o->powers < 2 || !ww_iv_ok(from) || !ww_iv_ok(to) || b - a < MUCH * r->meter.blur_ns ||
	    a < o->power[0].t_ns || b > o->power[o->powers - 1].t_ns)
		return -ENODATA;
	out->value = joules(o, a, b);
	e0 = edge(r, o, from);
	e1 = edge(r, o, to);
	type = type_b(&r->meter, out->value / seconds) * seconds;
	out->u = sqrt(e0 * e0 + e1 * e1 + type * type);
	return 0;
}
