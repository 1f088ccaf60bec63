/* SPDX-License-Identifier: MIT */
/* Notes of the suspend model: what was assumed, and where it does not hold. */
#include "analysis/suspend_model.h"
#include "base/str.h"

#include <math.h>

static void number(char *buf, size_t n, double v)
{
	int d = v != 0 && isfinite(v) ? 2 - (int)floor(log10(fabs(v))) : 0;

	ww_fixed_text(buf, n, v, d < 0 ? 0 : d > 6 ? 6 : d);
}

static void on_transition(struct ww_suspend_model *m)
{
	const struct ww_suspend_power *p = &m->power;
	const struct ww_suspend_options *o = &m->opt;
	double latency = p->enter + p->leave;
	char a[350], b[350];

	if (latency <= 0)
		ww_note(&m->notes, "no latencies were given: %s, and no delay is known",
			p->e_tr > 0 ? "only the energy of a transition counts"
				    : "a transition costs nothing, so that every gap is worth it");
	else if (!(p->enter > 0) || !(p->leave > 0))
		ww_note(&m->notes,
			"the time %s is not known and counts as 0: what it costs is not "
			"in the figures",
			p->enter > 0 ? "to resume" : "to suspend");
	if (latency > 0 && m->transition_taken)
		ww_note(&m->notes, "the power during transitions was not given: taken as that of "
				   "idle, without an uncertainty of its own");
	if (m->unsaved) {
		number(a, sizeof(a), p->idle - p->asleep);
		number(b, sizeof(b), 2 * hypot(o->idle_watts.u, o->suspended_watts.u));
		ww_note(&m->notes,
			"idle minus suspended is %s W with an uncertainty of %s W (k = 2), not "
			"told "
			"from 0: whether suspending saves anything, and from what gap on, is not "
			"known",
			a, b);
	}
	if (m->r.limited_by_latency && latency > 0 && !m->unsaved)
		ww_note(&m->notes,
			"break-even is bounded by the latencies: a gap shorter than both "
			"transitions cannot hold them, whatever they cost");
	if (o->idle_watts.u == 0 && o->suspended_watts.u == 0 && o->suspend_s.u == 0 &&
	    o->resume_s.u == 0 && o->transition_watts.u == 0 && o->transition_J.u == 0)
		ww_note(&m->notes, "the powers and latencies came without uncertainties: none of "
				   "theirs is in the figures");
}

static void on_gaps(struct ww_suspend_model *m)
{
	const struct ww_gap_law *g = &m->law;
	const struct ww_policy_result *best = &m->policy[WW_POLICY_BEST];
	char a[350], b[350];

	if (g->kind == WW_GAPS_NONE)
		return;
	ww_note(&m->notes, "averages are over idle time; what is drawn while at work is not in "
			   "them");
	ww_note(&m->notes, "a gap in which it suspends costs a whole transition, also where it is "
			   "shorter than that; what arrives meanwhile waits for its end");
	if (g->kind == WW_GAPS_RECORDED && g->n >= 2) {
		number(a, sizeof(a), best->watts.value);
		number(b, sizeof(b), m->r.best_cross_watts);
		ww_note(&m->notes,
			"the best time-out was chosen on the same gaps: %s W; chosen on nine "
			"tenths "
			"and tried on the rest it comes to %s W",
			a, b);
		ww_note(&m->notes, "uncertainties include which gaps were seen, as if each were "
				   "independent of the others");
		if (g->n < 100)
			ww_note(&m->notes, "%zu gaps are few: their rare long ones decide", g->n);
	}
	if (g->kind == WW_GAPS_PARETO && g->alpha <= 2 && !isfinite(g->most))
		ww_note(&m->notes, "with alpha of 2 or less gaps have no variance: averages settle "
				   "slowly, a day may differ much from the next");
	if (g->kind == WW_GAPS_EXPONENTIAL)
		ww_note(&m->notes,
			"exponential gaps have no memory: the best time-out is 0 or never");
}

void ww_suspend_remarks(struct ww_suspend_model *m)
{
	const struct ww_suspend_options *o = &m->opt;
	char a[350], b[350];

	on_transition(m);
	on_gaps(m);
	number(a, sizeof(a), o->visible_s * 1000);
	number(b, sizeof(b), m->power.leave * 1000);
	if (m->power.leave > 0)
		ww_note(&m->notes, "a resume of %s ms is %s (from %s ms on)%s", b,
			m->r.visible ? "noticed by a person" : "hardly noticed", a,
			m->r.visible && !(o->visible_J > 0) ? "; no price was put on that" : "");
	if (o->visible_J > 0 && !m->r.visible)
		ww_note(&m->notes, "the price of a noticed wake does not apply");
	if (m->r.needed_part > 1) {
		number(a, sizeof(a), m->r.needed_watts);
		ww_note(&m->notes, "%s W cannot be reached by suspending alone", a);
	}
}
