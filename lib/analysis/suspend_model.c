/* SPDX-License-Identifier: MIT */
/* Opportunistic suspend: energy of a transition, break-even time, policies. */
#include "analysis/suspend_model.h"

#include <math.h>

static double sq(double x)
{
	return x * x;
}

static bool bad(struct ww_quantity q)
{
	return !(q.value >= 0) || !isfinite(q.value) || !(q.u >= 0) || !isfinite(q.u);
}

static bool bad_number(double v)
{
	return !(v >= 0) || !isfinite(v);
}

static int take_options(struct ww_suspend_options *o, const struct ww_suspend_options *opt,
			struct ww_error *err)
{
	static const struct ww_quantity none;

	o->idle_watts = WW_OPT(opt, idle_watts, none);
	o->suspended_watts = WW_OPT(opt, suspended_watts, none);
	o->transition_watts = WW_OPT(opt, transition_watts, none);
	o->transition_J = WW_OPT(opt, transition_J, none);
	o->suspend_s = WW_OPT(opt, suspend_s, none);
	o->resume_s = WW_OPT(opt, resume_s, none);
	o->gaps = WW_OPT(opt, gaps, 0);
	o->gap_mean = WW_OPT(opt, gap_mean, 0);
	o->gap_least = WW_OPT(opt, gap_least, 0);
	o->gap_alpha = WW_OPT(opt, gap_alpha, 0);
	o->gap_most = WW_OPT(opt, gap_most, 0);
	o->gap = WW_OPT(opt, gap, NULL);
	o->n = WW_OPT(opt, n, 0);
	o->timeout_s = WW_OPT(opt, timeout_s, 0);
	o->visible_J = WW_OPT(opt, visible_J, 0);
	o->visible_s = WW_OPT(opt, visible_s, 0);
	o->battery_Wh = WW_OPT(opt, battery_Wh, 0);
	o->generated_watts = WW_OPT(opt, generated_watts, 0);
	o->efficiency = WW_OPT(opt, efficiency, 0);
	o->ratio = WW_OPT(opt, ratio, 0);
	if (bad(o->idle_watts) || bad(o->suspended_watts) || bad(o->transition_watts) ||
	    bad(o->transition_J) || bad(o->suspend_s) || bad(o->resume_s))
		return ww_fail(
			err, -EINVAL,
			"powers, energies, latencies and their uncertainties are not negative");
	if (bad_number(o->timeout_s) || bad_number(o->visible_J) || bad_number(o->visible_s) ||
	    bad_number(o->battery_Wh) || bad_number(o->generated_watts) || bad_number(o->ratio) ||
	    bad_number(o->efficiency) || o->efficiency > 1)
		return ww_fail(err, -EINVAL,
			       "a time-out, price, battery, power or ratio is negative, "
			       "or an efficiency not between 0 and 1");
	o->timeout_s = o->timeout_s > 0 ? o->timeout_s : 15;
	o->visible_s = o->visible_s > 0 ? o->visible_s : 0.1;
	o->efficiency = o->efficiency > 0 ? o->efficiency : 1;
	o->ratio = o->ratio > 0 ? o->ratio : 10;
	return 0;
}

static int check_powers(const struct ww_suspend_options *o, struct ww_error *err)
{
	if (!(o->idle_watts.value > 0))
		return ww_fail(err, -EINVAL, "the power when idle is needed");
	if (o->suspended_watts.value >= o->idle_watts.value)
		return ww_fail(
			err, -EINVAL,
			"suspended, it draws no less than idle: there is nothing to be saved "
			"by suspending");
	if (o->transition_watts.value > 0 && o->transition_J.value > 0)
		return ww_fail(err, -EINVAL,
			       "the transitions' power and their energy exclude each "
			       "other");
	if (o->transition_watts.value > 0 && o->transition_watts.value < o->suspended_watts.value)
		return ww_fail(err, -EINVAL,
			       "the transitions draw less than suspended: check their power (the "
			       "mean over both, in W)");
	return 0;
}

/* E_tr = (P_tr - P_s)(t_s + t_r), or as measured, with its derivatives. */
static void set_power(struct ww_suspend_model *m)
{
	const struct ww_suspend_options *o = &m->opt;
	struct ww_suspend_power *p = &m->power;
	double latency = o->suspend_s.value + o->resume_s.value, beyond;

	*p = (struct ww_suspend_power){.idle = o->idle_watts.value,
				       .asleep = o->suspended_watts.value,
				       .enter = o->suspend_s.value,
				       .leave = o->resume_s.value};
	m->transition_taken = !(o->transition_watts.value > 0) && !(o->transition_J.value > 0);
	if (o->transition_J.value > 0) {
		p->e_tr = o->transition_J.value;
		p->by_e = 1;
	} else {
		beyond = (m->transition_taken ? p->idle : o->transition_watts.value) - p->asleep;
		p->e_tr = beyond * latency;
		p->by_idle = m->transition_taken ? latency : 0;
		p->by_tr = m->transition_taken ? 0 : latency;
		p->by_asleep = -latency;
		p->by_latency = beyond;
	}
	m->r.visible = p->leave > o->visible_s;
	p->cost_tr = p->e_tr + (m->r.visible ? o->visible_J : 0);
}

/* T_be = max[E_tr/(P_i - P_s), t_s + t_r] */
static void set_break_even(struct ww_suspend_model *m)
{
	const struct ww_suspend_options *o = &m->opt;
	struct ww_suspend_power *p = &m->power;
	struct ww_suspend_result *r = &m->r;
	double latency = p->enter + p->leave, c = p->idle - p->asleep;
	double u_latency2 = sq(o->suspend_s.u) + sq(o->resume_s.u), e = p->e_tr / sq(c), u;

	r->transition_J.value = p->e_tr;
	r->transition_J.u =
		sqrt(sq(p->by_idle * o->idle_watts.u) + sq(p->by_asleep * o->suspended_watts.u) +
		     sq(p->by_tr * o->transition_watts.u) + sq(p->by_e * o->transition_J.u) +
		     sq(p->by_latency) * u_latency2);
	u = sqrt(sq((p->by_idle / c - e) * o->idle_watts.u) +
		 sq((p->by_asleep / c + e) * o->suspended_watts.u) +
		 sq(p->by_tr / c * o->transition_watts.u) + sq(p->by_e / c * o->transition_J.u) +
		 sq(p->by_latency / c) * u_latency2);
	r->limited_by_latency = p->e_tr / c <= latency;
	r->break_even_s.value = fmax(p->e_tr / c, latency);
	/* What costs about as much as the latencies may yet turn out to be what counts. */
	r->break_even_s.u =
		r->limited_by_latency ? fmax(sqrt(u_latency2), (p->e_tr / c - latency) / 2 + u) : u;
	m->unsaved = c < 2 * hypot(o->idle_watts.u, o->suspended_watts.u);
	p->edge = r->break_even_s.value;
	if (m->unsaved)
		r->break_even_s = (struct ww_quantity){NAN, NAN};
	p->edge_cost = r->break_even_cost_s = fmax(p->cost_tr / c, latency);
	r->needed_watts = r->needed_part = NAN;
	if (o->generated_watts > 0) {
		r->needed_watts = o->efficiency * o->generated_watts / o->ratio;
		r->needed_part = fmax(0, (p->idle - r->needed_watts) / c);
	}
}

int ww_suspend_model_new(const struct ww_suspend_options *opt, struct ww_suspend_model **out,
			 struct ww_error *err)
{
	struct ww_suspend_model *m;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	m = calloc(1, sizeof(*m));
	if (!m)
		return ww_fail_nomem(err);
	rc = take_options(&m->opt, opt, err);
	if (rc == 0)
		rc = check_powers(&m->opt, err);
	if (rc == 0) {
		set_power(m);
		set_break_even(m);
		rc = ww_gap_law_make(&m->law, &m->opt, err);
	}
	m->r.gap_mean = m->law.mean;
	m->r.best_cross_watts = NAN;
	if (rc == 0 && m->law.kind != WW_GAPS_NONE) {
		ww_suspend_policies(m);
		if (m->law.kind == WW_GAPS_RECORDED)
			ww_suspend_cross(m, &m->r.best_cross_watts);
	}
	m->opt.gap = NULL; /* the caller's; law has its own */
	if (rc == 0)
		ww_suspend_remarks(m);
	if (rc == 0 && m->notes.bad)
		rc = ww_fail_nomem(err);
	if (rc < 0) {
		ww_suspend_model_free(m);
		return rc;
	}
	*out = m;
	return 0;
}

const struct ww_suspend_result *ww_suspend_model_get(const struct ww_suspend_model *m)
{
	return &m->r;
}

const struct ww_policy_result *ww_suspend_model_policy(const struct ww_suspend_model *m, int policy)
{
	if (m->law.kind == WW_GAPS_NONE || policy < 0 || policy >= WW_POLICY_COUNT)
		return NULL;
	return &m->policy[policy];
}

const char *ww_suspend_model_note(const struct ww_suspend_model *m, size_t i)
{
	return ww_note_at(&m->notes, i);
}

void ww_suspend_model_free(struct ww_suspend_model *m)
{
	if (!m)
		return;
	ww_gap_law_free(&m->law);
	ww_notes_free(&m->notes);
	free(m);
}

const char *ww_policy_name(int policy)
{
	static const char *const name[] = {"never",  "at once", "time-out",   "break-even",
					   "random", "best",	"clairvoyant"};

	return policy >= 0 && (size_t)policy < WW_COUNTOF(name) ? name[policy] : NULL;
}
