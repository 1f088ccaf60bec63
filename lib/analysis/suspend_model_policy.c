/* SPDX-License-Identifier: MIT */
/*
 * What each policy comes to. All are reduced to two figures of a gap: how long it idles
 * on average (A) and in which part of the gaps it suspends (S); a gap of mean m then costs
 * P_i A + S E_tr + P_s (m - A). Augustine, Irani & Swamy (SIAM J. Comput. 37, 2008); Albers
 * (CACM 53/5, 2010).
 */
#include "analysis/suspend_model.h"

#include <math.h>

#define PANELS 2000 /* of Simpson's rule over the random time-out */
#define FOLDS  10

struct idles {
	double a, s;   /* as above, per gap */
	double late;   /* s of (enter - rest of the gap), where positive: per gap */
	double asleep; /* s between both transitions, where the gap is that long: per gap */
};

/* ---- a random time-out: density exp(x/T)/(T(e - 1)) on [0, T] ---- */

static double below(double x, double t)
{
	return t > 0 ? expm1(fmin(x / t, 1)) / (M_E - 1) : 1;
}

/* Integral of x times the density up to x. */
static double moment(double x, double t)
{
	double u = t > 0 ? fmin(x / t, 1) : 1;

	return t * ((u - 1) * exp(u) + 1) / (M_E - 1);
}

/* ---- one gap (recorded), or the whole law ---- */

static struct idles one_gap(const struct ww_suspend_model *m, int policy, double tau, double g)
{
	double edge = m->power.edge;
	struct idles x = {g, 0, 0, 0};

	if (policy == WW_POLICY_CLAIRVOYANT) {
		if (g > edge)
			x = (struct idles){0, 1, 0, 0};
	} else if (policy == WW_POLICY_RANDOM) {
		x.s = g > 0 ? below(g, edge) : 0;
		x.a = moment(g, edge) + g * (1 - x.s);
	} else if (g > tau) {
		x = (struct idles){tau, 1, fmax(0, m->power.enter - (g - tau)), 0};
	}
	return x;
}

static struct idles at_timeout(const struct ww_suspend_model *m, double tau)
{
	const struct ww_gap_law *g = &m->law;
	const struct ww_suspend_power *p = &m->power;
	struct idles x = {ww_gap_upto(g, tau), ww_gap_beyond(g, tau), 0, 0};

	x.asleep = fmax(0, g->mean - ww_gap_upto(g, tau + p->enter + p->leave));
	if (x.s > 0)
		x.late = p->enter * x.s - (ww_gap_upto(g, tau + p->enter) - x.a);
	return x;
}

static struct idles at_random(const struct ww_suspend_model *m)
{
	double t = m->power.edge, h = t / PANELS;
	struct idles sum = {0, 0, 0, 0};

	if (!(t > 0))
		return at_timeout(m, 0);
	for (int i = 0; i <= PANELS; i++) {
		double w = (i == 0 || i == PANELS ? 1
			    : i % 2		  ? 4
						  : 2) *
			   h / 3 * exp((double)i / PANELS) / (t * (M_E - 1));
		struct idles x = at_timeout(m, i * h);

		sum.a += w * x.a;
		sum.s += w * x.s;
		sum.late += w * x.late;
		sum.asleep += w * x.asleep;
	}
	return sum;
}

/* Time asleep per gap; what the transitions take of it is not. */
static double asleep(const struct ww_suspend_model *m, int policy, double tau)
{
	const struct ww_suspend_power *p = &m->power;
	double l = p->enter + p->leave, t = p->edge;

	if (policy == WW_POLICY_RANDOM)
		return at_random(m).asleep;
	if (policy == WW_POLICY_CLAIRVOYANT && t > l)
		return fmax(0, m->law.mean - ww_gap_upto(&m->law, t) +
				       (t - l) * ww_gap_beyond(&m->law, t));
	return at_timeout(m, policy == WW_POLICY_CLAIRVOYANT ? 0 : tau).asleep;
}

static struct idles of_law(const struct ww_suspend_model *m, int policy, double tau)
{
	double t = m->power.edge;

	if (policy == WW_POLICY_RANDOM)
		return at_random(m);
	if (policy == WW_POLICY_CLAIRVOYANT) {
		double s = ww_gap_beyond(&m->law, t);

		return (struct idles){ww_gap_upto(&m->law, t) - t * s, s, 0, 0};
	}
	return at_timeout(m, tau);
}

/* Mean over the record. */
static struct idles of_record(const struct ww_suspend_model *m, int policy, double tau)
{
	struct idles sum = {0, 0, 0, 0};
	double n = (double)m->law.n;

	for (size_t i = 0; i < m->law.n; i++) {
		struct idles x = one_gap(m, policy, tau, m->law.gap[i]);

		sum.a += x.a;
		sum.s += x.s;
		sum.late += x.late;
	}
	if (policy == WW_POLICY_RANDOM)
		sum.late = at_random(m).late * n;
	return (struct idles){sum.a / n, sum.s / n, sum.late / n, 0};
}

/* ---- the best time-out ---- */

static double cost(const struct ww_suspend_model *m, const struct idles *x)
{
	const struct ww_suspend_power *p = &m->power;

	return p->idle * x->a + p->cost_tr * x->s + p->asleep * (m->law.mean - x->a);
}

/*
 * The least cost lies at 0, at one of the gaps (just not suspending in it) or at never.
 * From one to the next longer the idle time of all longer ones grows and one transition is
 * saved. `skip`: gaps with index % FOLDS == skip are left out; FOLDS or more: none.
 */
static double scan(const struct ww_suspend_model *m, size_t skip)
{
	const struct ww_gap_law *g = &m->law;
	double c = m->power.idle - m->power.asleep, e = m->power.cost_tr;
	double best = 0, tau = 0, at = 0, now = 0;
	size_t left = 0;

	for (size_t i = 0; i < g->n; i++)
		left += g->order[i] % FOLDS != skip;
	for (size_t i = 0; i < g->n; i++) {
		if (g->order[i] % FOLDS == skip)
			continue;
		now += c * (double)left * (g->sorted[i] - at);
		at = g->sorted[i];
		left--;
		now -= at > 0 ? e : 0;
		if (now < best) {
			best = now;
			tau = left ? at : INFINITY;
		}
	}
	return tau;
}

/* Time-out with the least cost of all. */
static double best_timeout(const struct ww_suspend_model *m)
{
	double tau[3] = {0, INFINITY, 0}, least = INFINITY, best = 0;

	if (m->law.n)
		return scan(m, FOLDS);
	/* Where the hazard falls, it is best to wait until it is 1/T: alpha T for Pareto. */
	if (m->law.kind == WW_GAPS_PARETO) {
		tau[2] = m->law.alpha * m->power.cost_tr / (m->power.idle - m->power.asleep);
		if (tau[2] < m->law.least || tau[2] >= m->law.most)
			tau[2] = 0;
	}
	for (int i = 0; i < 3; i++) {
		struct idles x = at_timeout(m, tau[i]);

		if (cost(m, &x) < least) {
			least = cost(m, &x);
			best = tau[i];
		}
	}
	return best;
}

int ww_suspend_cross(const struct ww_suspend_model *m, double *watts)
{
	const struct ww_suspend_power *p = &m->power;
	double joules = 0;

	*watts = NAN;
	if (m->law.n < 2)
		return 0;
	for (size_t k = 0; k < FOLDS && k < m->law.n; k++) {
		double tau = scan(m, k);

		for (size_t i = k; i < m->law.n; i += FOLDS) {
			double g = m->law.gap[i];
			struct idles x = one_gap(m, WW_POLICY_BEST, tau, g);

			joules += p->idle * x.a + p->e_tr * x.s + p->asleep * (g - x.a);
		}
	}
	*watts = joules / m->law.total;
	return 0;
}

/* ---- a policy's figures ---- */

static double sq(double x)
{
	return x * x;
}

/* Variance of W (or, with idle != 0, of idle/W) by the quantities that were measured. */
static double by_inputs(const struct ww_suspend_model *m, const struct idles *x, double watts,
			bool life)
{
	const struct ww_suspend_options *o = &m->opt;
	const struct ww_suspend_power *p = &m->power;
	double mean = m->law.mean, s = x->s / mean, k = life ? -p->idle / sq(watts) : 1;
	double d_idle = k * (x->a / mean + s * p->by_idle) + (life ? 1 / watts : 0);
	double d_asleep = k * (1 - x->a / mean + s * p->by_asleep);

	return sq(d_idle * o->idle_watts.u) + sq(d_asleep * o->suspended_watts.u) +
	       sq(k * s * p->by_tr * o->transition_watts.u) +
	       sq(k * s * p->by_e * o->transition_J.u) +
	       sq(k * s * p->by_latency) * (sq(o->suspend_s.u) + sq(o->resume_s.u));
}

/* Variance of W by which gaps were seen: of a ratio of sums (Cochran, Sampling Techniques). */
static double by_gaps(const struct ww_suspend_model *m, int policy, double tau, double watts)
{
	const struct ww_suspend_power *p = &m->power;
	double ss = 0, n = (double)m->law.n;

	if (m->law.kind != WW_GAPS_RECORDED || m->law.n < 2)
		return 0;
	for (size_t i = 0; i < m->law.n; i++) {
		double g = m->law.gap[i];
		struct idles x = one_gap(m, policy, tau, g);

		ss += sq(p->idle * x.a + p->e_tr * x.s + p->asleep * (g - x.a) - watts * g);
	}
	/* Never to suspend costs the same whatever the gaps: what is left is rounding. */
	return ss > 1e-20 * sq(watts * m->law.total) ? ss * n / (n - 1) / sq(m->law.total) : 0;
}

/* At most so many times what the clairvoyant spends beyond P_s, whatever the gaps. */
static double competitive(const struct ww_suspend_model *m, int policy, double tau)
{
	const struct ww_suspend_power *p = &m->power;
	double c = p->idle - p->asleep, least = p->e_tr / c;

	switch (policy) {
	case WW_POLICY_CLAIRVOYANT:
		return 1;
	case WW_POLICY_RANDOM:
		/* The bound is that of T = E_tr/(P_i - P_s). */
		return fabs(p->edge - least) <= 1e-9 * p->edge ? M_E / (M_E - 1) : (double)NAN;
	case WW_POLICY_BREAK_EVEN:
	case WW_POLICY_TIMEOUT:
		if (!(least > 0) || !(tau > 0))
			return INFINITY;
		return fmax(1 + tau / least, 1 + least / tau);
	default:
		return INFINITY; /* a gap short or long enough makes it as bad as one likes */
	}
}

static void delays(const struct ww_suspend_model *m, struct ww_policy_result *r,
		   const struct idles *x)
{
	const struct ww_suspend_power *p = &m->power;

	r->delay_mean_s = r->delay_p95_s = NAN;
	if (!(x->s > 0))
		return;
	if (r->policy == WW_POLICY_CLAIRVOYANT) {
		r->delay_mean_s = r->delay_p95_s = 0; /* it wakes up beforehand */
		return;
	}
	r->delay_mean_s = p->leave + x->late / x->s;
	if (r->policy != WW_POLICY_RANDOM)
		r->delay_p95_s = p->leave + fmax(0, p->enter - ww_gap_rest(&m->law, r->timeout_s));
}

static void figures(struct ww_suspend_model *m, int policy, double tau)
{
	const struct ww_suspend_options *o = &m->opt;
	const struct ww_suspend_power *p = &m->power;
	struct ww_policy_result *r = &m->policy[policy];
	struct idles x = m->law.n ? of_record(m, policy, tau) : of_law(m, policy, tau);
	double mean = m->law.mean, w, sampled;

	*r = (struct ww_policy_result){.policy = policy, .timeout_s = tau};
	w = (p->idle * x.a + p->e_tr * x.s + p->asleep * (mean - x.a)) / mean;
	sampled = by_gaps(m, policy, tau, w);
	r->watts = (struct ww_quantity){w, sqrt(by_inputs(m, &x, w, false) + sampled)};
	r->life.value = p->idle / w;
	r->life.u = policy == WW_POLICY_NEVER
			    ? 0
			    : sqrt(by_inputs(m, &x, w, true) + sampled * sq(p->idle / sq(w)));
	r->joules = m->law.kind == WW_GAPS_RECORDED ? w * m->law.total : (double)NAN;
	r->cost_watts = w + (p->cost_tr - p->e_tr) * x.s / mean;
	r->competitive = competitive(m, policy, tau);
	r->wakes_per_hour = x.s / mean * 3600;
	r->wakes = m->law.kind == WW_GAPS_RECORDED ? x.s * (double)m->law.n : (double)NAN;
	r->gaps_part = x.s;
	delays(m, r, &x);
	r->suspended_part = asleep(m, policy, tau) / mean;
	r->hours = o->battery_Wh > 0 ? o->battery_Wh / w : (double)NAN;
	r->ratio = o->generated_watts > 0 ? o->efficiency * o->generated_watts / w : (double)NAN;
}

void ww_suspend_policies(struct ww_suspend_model *m)
{
	figures(m, WW_POLICY_NEVER, INFINITY);
	figures(m, WW_POLICY_AT_ONCE, 0);
	figures(m, WW_POLICY_TIMEOUT, m->opt.timeout_s);
	figures(m, WW_POLICY_BREAK_EVEN, m->power.edge);
	figures(m, WW_POLICY_RANDOM, NAN);
	figures(m, WW_POLICY_BEST, best_timeout(m));
	figures(m, WW_POLICY_CLAIRVOYANT, NAN);
}
