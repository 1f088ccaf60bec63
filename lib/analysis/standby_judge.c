/* SPDX-License-Identifier: MIT */
/* What the procedure asks for, what was seen of it, and what may be said in the end. */
#include "analysis/standby.h"
#include "base/str.h"

#include <math.h>

/*
 * IEC 62301, as commonly quoted (check its text): edition 2 allows 2 % at 1 W and above and
 * .02 W below, edition 1 2 % at .5 W and above and .01 W below. Where the maximum current
 * ratio MCR = CF/PF exceeds 10, edition 2 allows .02 [1 + .08 (MCR - 10)] of the reading.
 */
double ww_standby_u_limit(int procedure, double watts, double mcr)
{
	double part = 0.02, p = fabs(watts);

	if (procedure == WW_STANDBY_EDITION1)
		return p >= 0.5 ? part * p : 0.01;
	if (mcr > 10)
		part = 0.02 * (1 + 0.08 * (mcr - 10));
	return p >= 1 ? part * p : fmax(0.02, mcr > 10 ? part * p : 0);
}

/* ---- numbers in words ---- */

static void put(struct ww_str *s, double v, int decimals, const char *unit)
{
	ww_str_fixed(s, v, decimals);
	ww_str_add(s, unit);
}

/* Three digits. */
static void put3(struct ww_str *s, double v, const char *unit)
{
	int d = v != 0 && isfinite(v) ? 2 - (int)floor(log10(fabs(v))) : 0;

	put(s, v, d < 0 ? 0 : d > 9 ? 9 : d, unit);
}

static void put_milli(struct ww_str *s, struct ww_quantity q, const char *unit)
{
	struct ww_quantity m = {q.value * 1000, 2 * q.u * 1000}; /* k = 2 */
	int d = ww_decimals_for(m.u, 1);

	ww_str_fixed(s, ww_round_for(m.value, m.u), d);
	if (isfinite(m.u) && m.u > 0) {
		ww_str_add(s, " \xc2\xb1 ");
		ww_str_fixed(s, ww_round_for(m.u, m.u), d);
	}
	ww_str_add(s, unit);
}

/* ---- the list ---- */

struct clauses {
	struct ww_standby *s;
	struct ww_str asked, seen; /* of the next clause */
	int rc;
};

/* Name, what was put into asked and seen, and whether it holds. */
static void add(struct clauses *l, const char *name, int state, bool given)
{
	struct ww_clause *c, *more;
	struct ww_standby *s = l->s;

	more = realloc(s->clause, (s->clauses + 1) * sizeof(*more));
	if (more)
		s->clause = more;
	if (!more || l->asked.bad || l->seen.bad) {
		l->rc = -ENOMEM;
		return;
	}
	c = &s->clause[s->clauses++];
	*c = (struct ww_clause){.name = strdup(name),
				.requirement = strdup(l->asked.n ? l->asked.p : ""),
				.measured = strdup(l->seen.n ? l->seen.p : ""),
				.state = state,
				.given = given};
	if (!c->name || !c->requirement || !c->measured)
		l->rc = -ENOMEM;
	ww_str_reset(&l->asked);
	ww_str_reset(&l->seen);
}

static int holds(bool yes)
{
	return yes ? WW_CLAUSE_MET : WW_CLAUSE_NOT_MET;
}

/* |value - nominal| within `part`; not observed where it is NaN. */
static void add_supply(struct clauses *l, const char *name, double value, double nominal,
		       const char *unit, bool given)
{
	put3(&l->asked, nominal, unit);
	ww_str_add(&l->asked, " \xc2\xb1 1 %");
	if (isnan(value)) {
		add(l, name, WW_CLAUSE_NOT_OBSERVED, false);
		return;
	}
	put(&l->seen, value, 2, unit);
	add(l, name, holds(fabs(value - nominal) <= 0.01 * nominal), given);
}

static double nearest(double value, double a, double b)
{
	return isnan(value) || fabs(value - a) <= fabs(value - b) ? a : b;
}

/* ---- clause by clause ---- */

static void readings(struct clauses *l, const struct ww_standby_data *d)
{
	static const double least[] = {900, 3000, 2400, 300, 1200};
	struct ww_standby *s = l->s;
	int p = s->opt.procedure;

	ww_str_add(&l->asked, "at least ");
	put(&l->asked, least[p] / 60, 0, " min");
	if (d->length < 120)
		put(&l->seen, d->length, 0, " s");
	else
		put(&l->seen, d->length / 60, 1, " min");
	add(l, "duration", holds(s->r.verdict != WW_STANDBY_TOO_SHORT), false);
	if (p == WW_STANDBY_SAMPLING || p == WW_STANDBY_ENERGYSTAR) {
		ww_str_add(&l->asked, "at most 1 s apart");
		put3(&l->seen, s->r.interval_s, " s");
		/* The jitter of a meter's own second is not held against it. */
		add(l, "interval", holds(s->r.interval_s <= 1.05), false);
	}
	ww_str_add(&l->asked, "no gap in the stretch");
	ww_str_addf(&l->seen, "%llu gap%s", (unsigned long long)s->r.gaps,
		    s->r.gaps == 1 ? "" : "s");
	add(l, "gaps", holds(s->r.gaps == 0), false);
}

static void cycles(struct clauses *l)
{
	struct ww_standby *s = l->s;

	if (!s->cycle.found)
		return;
	ww_str_addf(&l->asked, "%d whole cycles or more", WW_STANDBY_CYCLES);
	ww_str_addf(&l->seen, "%llu of ", (unsigned long long)s->r.cycles);
	put3(&l->seen, s->cycle.period, " s");
	add(l, "cycles", s->r.cycles >= WW_STANDBY_CYCLES ? WW_CLAUSE_MET : WW_CLAUSE_NOT_RESOLVED,
	    false);
}

static void stability(struct clauses *l)
{
	struct ww_standby *s = l->s;
	struct ww_standby_result *r = &s->r;
	int state = r->verdict == WW_STANDBY_STABLE	    ? WW_CLAUSE_MET
		    : r->verdict == WW_STANDBY_NOT_STABLE   ? WW_CLAUSE_NOT_MET
		    : r->verdict == WW_STANDBY_NOT_RESOLVED ? WW_CLAUSE_NOT_RESOLVED
							    : WW_CLAUSE_NOT_OBSERVED;

	if (s->opt.procedure == WW_STANDBY_ENERGYSTAR)
		return;
	if (s->opt.procedure == WW_STANDBY_EDITION1) {
		ww_str_add(&l->asked, "less than 5 % in 5 min, or energy");
		if (isfinite(r->variation))
			put(&l->seen, r->variation * 100, 1, " %");
		/* Energy over 5 min or more, or over whole cycles, is the procedure's other way. */
		if (r->verdict == WW_STANDBY_NOT_STABLE) {
			ww_str_add(&l->seen, l->seen.n ? "; by energy" : "by energy");
			state = WW_CLAUSE_MET;
		}
		add(l, "stability", state, false);
		return;
	}
	ww_str_add(&l->asked, "slope below ");
	put3(&l->asked, r->slope_limit * 1000, " mW/h");
	if (isfinite(r->slope.value))
		put_milli(&l->seen, r->slope, " mW/h");
	add(l, "stability", state, false);
}

static void meter(struct clauses *l, const struct ww_standby_data *d)
{
	struct ww_standby *s = l->s;
	struct ww_standby_result *r = &s->r;
	double finest = r->watts.value <= 10 ? 0.01 : r->watts.value <= 100 ? 0.1 : 1;

	ww_str_add(&l->asked, "U (95 %) at most ");
	put3(&l->asked, r->expanded_limit, " W");
	if (isfinite(r->expanded)) {
		put3(&l->seen, r->expanded, " W");
		add(l, "uncertainty", holds(r->expanded <= r->expanded_limit),
		    s->opt.acc_abs > 0 || s->opt.acc_rel > 0);
	} else {
		add(l, "uncertainty", WW_CLAUSE_NOT_OBSERVED, false);
	}
	put3(&l->asked, finest, " W or finer");
	if (d->q > 0)
		put3(&l->seen, d->q, " W");
	add(l, "resolution", d->q > 0 ? holds(d->q <= finest * 1.0001) : WW_CLAUSE_NOT_OBSERVED,
	    false);
	ww_str_add(&l->asked, "crest and PF known");
	if (isfinite(r->mcr)) {
		ww_str_add(&l->seen, "MCR ");
		put(&l->seen, r->mcr, 1, "");
	}
	add(l, "MCR", isfinite(r->mcr) ? WW_CLAUSE_MET : WW_CLAUSE_NOT_OBSERVED,
	    s->opt.crest > 0 || s->opt.power_factor > 0);
}

static void surroundings(struct clauses *l)
{
	struct ww_standby *s = l->s;
	struct ww_standby_result *r = &s->r;
	double temp = s->opt.ambient_degC;
	double volts = s->opt.supply_volts, hz = s->opt.supply_hz;

	if (!(volts > 0))
		volts = nearest(r->volts, 230, 115);
	if (!(hz > 0))
		hz = isnan(r->hz) && volts < 150 ? 60 : nearest(r->hz, 50, 60);
	add_supply(l, "supply voltage", r->volts, volts, " V", false);
	add_supply(l, "supply frequency", r->hz, hz, " Hz", false);
	ww_str_add(&l->asked, "harmonics at most 2 %");
	if (isfinite(r->thd))
		put(&l->seen, r->thd * 100, 1, " %");
	add(l, "supply harmonics",
	    isfinite(r->thd) ? holds(r->thd <= 0.02) : WW_CLAUSE_NOT_OBSERVED, false);
	ww_str_add(&l->asked, "1.34 to 1.49");
	if (isfinite(r->volts_crest))
		put(&l->seen, r->volts_crest, 3, "");
	add(l, "voltage crest",
	    isfinite(r->volts_crest) ? holds(r->volts_crest >= 1.34 && r->volts_crest <= 1.49)
				     : WW_CLAUSE_NOT_OBSERVED,
	    false);
	ww_str_add(&l->asked, "23 \xc2\xb1 5 \xc2\xb0"
			      "C");
	if (temp != 0)
		put(&l->seen, temp, 1,
		    " \xc2\xb0"
		    "C");
	add(l, "room temperature", temp != 0 ? holds(fabs(temp - 23) <= 5) : WW_CLAUSE_NOT_OBSERVED,
	    temp != 0);
	ww_str_add(&l->asked, "below 0.5 m/s");
	add(l, "air speed", WW_CLAUSE_NOT_OBSERVED, false);
}

/* ---- figures ---- */

static void gaps(struct ww_standby *s, const struct ww_standby_data *d)
{
	const struct ww_standby_fit *f = &s->fit;
	double lost = 0, all = f->b > f->a ? d->t[f->b - 1] - d->t[f->a] : 0;

	for (size_t i = f->a + 1; i < f->b; i++)
		if (d->hole[i]) {
			s->r.gaps++;
			lost += d->t[i] - d->t[i - 1];
		}
	s->r.coverage = all > 0 ? 1 - lost / all : 1;
}

static void figures(struct ww_standby *s, const struct ww_standby_data *d)
{
	struct ww_standby_result *r = &s->r;
	const struct ww_standby_fit *f = &s->fit;
	double a = s->opt.acc_abs, g = s->opt.acc_rel, last = NAN;

	s->acc_abs = a > 0 || g > 0 ? a : s->series.acc_abs;
	s->acc_rel = a > 0 || g > 0 ? g : s->series.acc_rel;
	r->n = f->b - f->a;
	if (s->opt.procedure == WW_STANDBY_DIRECT && r->verdict != WW_STANDBY_TOO_SHORT &&
	    !s->cycle.found)
		r->n = 2;
	r->cycles = s->cycle.found && s->fit.n < r->n ? f->n : 0;
	r->period_s = s->cycle.found ? s->cycle.period : (double)NAN;
	r->u_noise = f->u_noise;
	r->u_resolution = f->u_q;
	r->dof = f->dof;
	r->u_accuracy = hypot(isnan(s->acc_abs) ? 0 : s->acc_abs,
			      isnan(s->acc_rel) ? 0 : s->acc_rel * f->mean) /
			sqrt(3);
	if (isnan(s->acc_abs) && isnan(s->acc_rel))
		r->u_accuracy = NAN;
	r->watts.value = f->mean;
	r->watts.u = hypot(hypot(f->u_noise, f->u_q), isnan(r->u_accuracy) ? 0 : r->u_accuracy);
	r->expanded = isnan(r->u_accuracy) ? (double)NAN : 2 * r->watts.u;
	if (s->opt.procedure != WW_STANDBY_EDITION1 && s->opt.procedure != WW_STANDBY_ENERGYSTAR)
		r->slope = (struct ww_quantity){f->slope, f->u_slope};
	else
		r->slope = (struct ww_quantity){NAN, NAN};
	r->mcr = r->crest / r->power_factor;
	if (!isfinite(r->mcr))
		r->mcr = NAN;
	r->expanded_limit = ww_standby_u_limit(s->opt.procedure, f->mean, r->mcr);
	for (size_t i = f->a + 1; i < f->b; i++)
		last = fmax(isnan(last) ? 0 : last, d->t[i] - d->t[i - 1]);
	r->interval_s = last;
	/* What was averaged to a second came faster. */
	if (s->series.period_s < d->dt && !(last > 1.5))
		r->interval_s = s->series.period_s;
}

static void against_limit(struct ww_standby_result *r)
{
	r->under = -2;
	if (isnan(r->limit_watts))
		return;
	r->under = 0;
	if (isfinite(r->expanded) && r->watts.value + r->expanded <= r->limit_watts)
		r->under = 1;
	else if (isfinite(r->expanded) && r->watts.value - r->expanded > r->limit_watts)
		r->under = -1;
}

static int standing(const struct ww_standby *s)
{
	bool all = true;

	for (size_t i = 0; i < s->clauses; i++) {
		if (s->clause[i].state == WW_CLAUSE_NOT_MET ||
		    s->clause[i].state == WW_CLAUSE_NOT_RESOLVED)
			return WW_STANDBY_INFORMATIVE;
		all = all && s->clause[i].state == WW_CLAUSE_MET;
	}
	if (s->r.verdict == WW_STANDBY_TOO_SHORT)
		return WW_STANDBY_INFORMATIVE;
	return all ? WW_STANDBY_AS_OBSERVED : WW_STANDBY_NOT_SHOWN;
}

int ww_standby_judge(struct ww_standby *s, const struct ww_standby_data *d, struct ww_error *err)
{
	struct clauses l = {.s = s};

	figures(s, d);
	gaps(s, d);
	against_limit(&s->r);
	readings(&l, d);
	cycles(&l);
	stability(&l);
	if (s->opt.procedure != WW_STANDBY_ENERGYSTAR) {
		meter(&l, d);
		surroundings(&l);
	}
	ww_str_free(&l.asked);
	ww_str_free(&l.seen);
	if (l.rc < 0)
		return ww_fail_nomem(err);
	s->r.standing = standing(s);
	ww_standby_remarks(s, d);
	return s->notes.bad ? ww_fail_nomem(err) : 0;
}
