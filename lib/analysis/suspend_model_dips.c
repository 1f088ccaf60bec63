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

#define EDGE	    2.0 /* periods from a flank to its level */
#define DOUBT	    0.3 /* of what idle would have drawn beyond asleep: less is told */
#define LONG	    12	/* periods amid a dip, from which its middle tells the power */
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

static void say_range(struct ww_suspend_dips *f, double lo, double hi)
{
	bool like_asleep = lo < hi / 10;
	char text[300], range[80];

	snprintf(range, sizeof(range), "%.2g J or more", fmax(lo, 0));
	if (isfinite(hi))
		snprintf(range, sizeof(range), "between %.2g and %.3g J", fmax(lo, 0), hi);
	snprintf(text, sizeof(text),
		 "the transitions' energy is not told, %s: %s; give --transition or "
		 "--transition-energy",
		 range,
		 like_asleep ? "drawing as idle they look as if they drew as asleep and began "
			       "sooner"
			     : "they are not of one power for as long as was given, or the meter "
			       "is slow");
	ww_suspend_why(f->out, text);
}

/* As two standard uncertainties to either side where these are all that is left. */
static void told(struct ww_suspend_dips *f, const struct ww_suspend_edge e[2])
{
	const struct ww_quantity l[2] = {f->known.suspend_s, f->known.resume_s};
	double lo = 0, hi = 0, sum = 0, u2 = 0, lows = f->out->suspended_watts.value;
	double c = f->out->idle_watts.value - lows;
	double level = hypot(f->out->idle_watts.u, f->out->suspended_watts.u);

	for (int i = 0; i < 2; i++) {
		sum += (e[i].watts - lows) * l[i].value;
		lo += (e[i].lo - lows) * l[i].value;
		hi += (e[i].hi - lows) * l[i].value;
		u2 += pow(fmax(e[i].hi - e[i].watts, e[i].watts - e[i].lo) / 2 * l[i].value, 2) +
		      pow(c * l[i].u, 2) + pow(level * l[i].value, 2);
	}
	if (!(hi - lo <= DOUBT * fmax(sum, c * (l[0].value + l[1].value))))
		say_range(f, lo, hi);
	else
		f->out->transition_J = (struct ww_quantity){sum, sqrt(u2)};
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
	struct ww_suspend_edge e[2];

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
		in.length = l[i].value;
		for (size_t k = 0; k < f->n; k++)
			if (f->c[k].to - f->c[k].from > l[0].value + l[1].value + 5 * f->x.period_s)
				f->scratch[in.n++] = i ? f->c[k].to : f->c[k].from;
		rc = ww_suspend_edges(&in, &e[i], err);
		if (rc < 0)
			return rc;
	}
	if (isnan(e[0].watts) || isnan(e[1].watts))
		ww_suspend_why(f->out, "too few cycles are long enough to tell what transitions "
				       "cost");
	else
		told(f, e);
	return 0;
}
