/* SPDX-License-Identifier: MIT */
/*
 * The transitions' energy from dips of the power alone, where both latencies are known. The
 * power passes the middle of both levels when a transition begins or when it ends, or
 * amid it, by what it draws: that is fitted for each way (suspend_model_edges.c), and
 * E_tr = (P_in - P_s) t_s + (P_out - P_s) t_r.
 */
#include "analysis/suspend_model_fit.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>

#define EDGE	    2.0	 /* periods from a flank to its level */
#define DOUBT	    0.3	 /* of what idle would have drawn beyond asleep: less is told */
#define LONG	    12	 /* periods amid a dip, from which its middle tells the power */
#define UNSAID	    0.08 /* of a latency that came without an uncertainty, and does not fit */
#define TRIES	    24	 /* lengths of a transition, within its uncertainty */
#define LONG_ENOUGH 6

static double inside(const struct ww_suspend_dips *f, size_t k)
{
	return f->c[k].to - f->c[k].from - f->known.suspend_s.value - f->known.resume_s.value -
	       2 * EDGE * f->x.period_s;
}

/* Dips from this length on: long ones, or the longest quarter. */
static double long_dip(const struct ww_suspend_dips *f)
{
	for (size_t k = 0; k < f->n; k++)
		f->scratch[k] = inside(f, k);
	qsort(f->scratch, f->n, sizeof(*f->scratch), ww_cmp_double);
	return fmin(LONG * f->x.period_s, f->scratch[f->n - 1 - (f->n - 1) / 4]);
}

/* Mean of the later part of long dips' insides, where a filter has settled. */
void ww_suspend_amid(struct ww_suspend_dips *f)
{
	const struct ww_series *x = &f->x;
	double sum = 0, ss = 0, mean, least = long_dip(f);
	size_t n = 0, k = 0;

	for (size_t i = 0; i < x->n; i++) {
		double t = ww_series_s(x, x->t_ns[i]), to;

		while (k < f->n && f->c[k].to < t)
			k++;
		if (k == f->n)
			break;
		to = f->c[k].to - f->known.resume_s.value - EDGE * x->period_s;
		if (inside(f, k) >= least && t <= to && t >= to - inside(f, k) / 2)
			f->scratch[n++] = x->v[i];
	}
	if (n < LONG_ENOUGH)
		return;
	for (size_t i = 0; i < n; i++)
		sum += f->scratch[i];
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		f->scratch[i] -= mean;
		ss += f->scratch[i] * f->scratch[i];
	}
	f->out->suspended_watts.value = mean;
	f->out->suspended_watts.u =
		sqrt(ss / (double)(n - 1) / (double)n * ww_standby_tau(f->scratch, n));
}

static void say_range(struct ww_suspend_dips *f, double lo, double hi, bool unlike)
{
	char text[320], range[80];

	snprintf(range, sizeof(range), ", %.2g J or more", fmax(lo, 0));
	if (isfinite(hi))
		snprintf(range, sizeof(range), ", between %.2g and %.3g J", fmax(lo, 0), hi);
	snprintf(text, sizeof(text),
		 "the transitions' energy is not told%s: %s; give --transition or "
		 "--transition-energy",
		 unlike ? "" : range,
		 unlike ? "the readings do not look like one power for as long as was given; if a "
			  "time is not sure, say so (.25+-.05)"
		 : lo < hi / 10 ? "drawing as idle they look as if they drew as asleep and began "
				  "sooner"
				: "the meter is slow for them, or the times are not sure enough");
	ww_suspend_why(f->out, text);
}

/* Energy of one way, and all that the readings allow. */
struct way {
	double joules, lo, hi;
	bool unlike; /* no length near the one given explains the readings */
	struct {
		double length;
		struct ww_suspend_edge e;
	} tried[TRIES];
	size_t n;
};

static int try_length(struct way *w, struct ww_suspend_edges *in, double length,
		      struct ww_error *err)
{
	if (!(length > 0) || w->n == TRIES)
		return 0;
	in->length = w->tried[w->n].length = length;
	return ww_suspend_edges(in, &w->tried[w->n++].e, err);
}

static size_t best(const struct way *w)
{
	size_t k = 0;

	for (size_t i = 1; i < w->n; i++)
		if (w->tried[i].e.squares < w->tried[k].e.squares)
			k = i;
	return k;
}

/* The length within its uncertainty (k = 2) that fits; those that fit as well count, too. */
static int one_way(struct way *w, struct ww_suspend_edges *in, struct ww_quantity l,
		   struct ww_error *err)
{
	double step, centre, most;
	bool unsaid;
	int rc = try_length(w, in, l.value, err);

	unsaid = rc == 0 && l.u == 0 && w->tried[0].e.misfit;
	if (unsaid)
		l.u = UNSAID * l.value;
	step = l.u;
	for (int i = -4; i <= 4 && rc == 0 && l.u > 0; i++)
		if (i)
			rc = try_length(w, in, l.value + i * l.u / 2, err);
	while (rc == 0 && l.u > 0 && w->n + 2 <= TRIES) {
		step /= 2;
		centre = w->tried[best(w)].length;
		for (int side = -1; side <= 1 && rc == 0; side += 2)
			if (fabs(centre + side * step / 2 - l.value) <= 2 * l.u)
				rc = try_length(w, in, centre + side * step / 2, err);
		if (step < 0.01 * l.u)
			break;
	}
	if (rc < 0)
		return rc;
	/* Another length than was said is believed only where it explains all. */
	w->unlike = unsaid && w->tried[best(w)].e.misfit;
	centre = in->asleep;
	w->joules = (w->tried[best(w)].e.watts - centre) * w->tried[best(w)].length;
	w->lo = w->hi = w->joules;
	most = w->tried[best(w)].e.squares + w->tried[best(w)].e.worse;
	for (size_t i = 0; i < w->n; i++)
		if (w->tried[i].e.squares <= most || w->tried[best(w)].e.misfit) {
			w->lo = fmin(w->lo, (w->tried[i].e.lo - centre) * w->tried[i].length);
			w->hi = fmax(w->hi, (w->tried[i].e.hi - centre) * w->tried[i].length);
		}
	return 0;
}

static void say_length(struct ww_suspend_dips *f, const char *what, struct ww_quantity l,
		       const struct way *w)
{
	char text[120];

	if (l.u > 0 || w->n < 2 || best(w) == 0)
		return;
	snprintf(text, sizeof(text), "the time to %s looks like %.3g s rather than %.3g s", what,
		 w->tried[best(w)].length, l.value);
	ww_suspend_why(f->out, text);
}

/* As two standard uncertainties to either side where these are all that is left. */
static void told(struct ww_suspend_dips *f, const struct way w[2])
{
	const struct ww_quantity l[2] = {f->known.suspend_s, f->known.resume_s};
	double lo = w[0].lo + w[1].lo, hi = w[0].hi + w[1].hi, sum = 0, u2 = 0;
	double c = f->out->idle_watts.value - f->out->suspended_watts.value;
	double level = hypot(f->out->idle_watts.u, f->out->suspended_watts.u);

	for (int i = 0; i < 2; i++) {
		sum += w[i].joules;
		u2 += pow(fmax(w[i].hi - w[i].joules, w[i].joules - w[i].lo) / 2, 2) +
		      pow(level * l[i].value, 2);
	}
	if (w[0].unlike || w[1].unlike ||
	    !(hi - lo <= DOUBT * fmax(sum, c * (l[0].value + l[1].value)))) {
		say_range(f, lo, hi, w[0].unlike || w[1].unlike);
		return;
	}
	f->out->transition_J = (struct ww_quantity){sum, sqrt(u2)};
	say_length(f, "suspend", l[0], &w[0]);
	say_length(f, "resume", l[1], &w[1]);
}

int ww_suspend_by_edges(struct ww_suspend_dips *f, struct ww_error *err)
{
	const struct ww_quantity l[2] = {f->known.suspend_s, f->known.resume_s};
	struct ww_suspend_edges in = {.x = &f->x,
				      .idle = f->out->idle_watts.value,
				      .asleep = f->out->suspended_watts.value,
				      .noise = f->noise,
				      .step = f->u_step,
				      .at = f->scratch};
	struct way w[2] = {0};

	if (f->known.transition_watts.value > 0 || f->known.transition_J.value > 0)
		return 0;
	if (!(l[0].value > 0) || !(l[1].value > 0)) {
		ww_suspend_why(f->out, "a trace of power alone tells neither latencies nor what "
				       "transitions cost: give --suspend-time and --resume-time");
		return 0;
	}
	if (!(in.asleep < in.idle))
		return 0;
	for (int i = 0; i < 2; i++) {
		int rc;

		in.n = 0;
		in.rising = i == 1;
		in.longest = l[i].value + 2 * fmax(l[i].u, UNSAID * l[i].value);
		for (size_t k = 0; k < f->n; k++)
			if (f->c[k].to - f->c[k].from > l[0].value + l[1].value + 5 * f->x.period_s)
				f->scratch[in.n++] = i ? f->c[k].to : f->c[k].from;
		rc = one_way(&w[i], &in, l[i], err);
		if (rc < 0)
			return rc;
	}
	if (isnan(w[0].joules) || isnan(w[1].joules))
		ww_suspend_why(f->out, "too few cycles are long enough to tell what transitions "
				       "cost");
	else
		told(f, w);
	return 0;
}
