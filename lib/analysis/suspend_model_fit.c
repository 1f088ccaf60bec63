/* SPDX-License-Identifier: MIT */
/*
 * Powers and transition energy from a trace of cycles. Each cycle's energy below idle,
 * D = (P_i - P_s) T - E_tr, is a line in its length T: the slope gives what suspend saves,
 * the intercept what both transitions cost. D is an integral whose ends lie in idle time, so
 * that a slow meter smears it but does not change it.
 */
#include "analysis/noise.h"
#include "analysis/suspend_model_fit.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>

#define PADS	  5.0 /* least periods of the meter around a cycle */
#define DIP_PADS  2.0 /* the same around a dip, beside the longer latency */
#define PADS_MOST 30.0
#define PAUSE	  0.4  /* part of the idle time between cycles, where that is more */
#define CLEAR	  1.25 /* pads from one cycle to the next: these may look at the same idle time */
#define AWAKE	  0.3  /* part of the way from idle to asleep, within which it is idle */
#define VARIED	  1.5  /* longest over shortest, from which the slope is trusted */

void ww_suspend_why(struct ww_suspend_fit *f, const char *text)
{
	size_t n = strlen(f->why);

	snprintf(f->why + n, sizeof(f->why) - n, "%s%s", n ? "; " : "", text);
}

static int room(struct ww_suspend_dips *f, size_t n, struct ww_error *err)
{
	f->c = calloc(n + 1, sizeof(*f->c));
	return f->c ? 0 : ww_fail_nomem(err);
}

/* ---- cycles of a heartbeat ---- */

static double mid_s(struct ww_interval t, int64_t origin)
{
	return ((double)t.lo_ns / 2 + (double)t.hi_ns / 2 - (double)origin) / 1e9;
}

static bool closed(struct ww_interval t)
{
	return ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX;
}

/* Median of a latency, with half of its spread over root n and of its resolution. */
static struct ww_quantity latency(const struct ww_resume *r, int which)
{
	const struct ww_latency_summary *s = ww_resume_summary(r, which);
	struct ww_quantity q = {NAN, NAN};

	if (!s || s->n == 0 || !isfinite(s->median) || s->bounds)
		return q;
	q.value = s->median / 1e3;
	/* Median of n: 1.25 sd/sqrt(n); the range of n holds about 2 to 4 sd. */
	q.u = hypot(s->n > 1 ? 1.25 * (s->max - s->min) / 3 / sqrt((double)s->n) : 0,
		    s->resolution / sqrt(3)) /
	      1e3;
	return q;
}

/* @return 1 found, 0 no heartbeat here, negative an error */
static int by_beats(struct ww_suspend_dips *f, struct ww_trace *t, struct ww_error *err)
{
	struct ww_error none = {0};
	struct ww_resume *r = NULL;
	bool off = false;
	int rc = ww_resume_new(t, NULL, &r, &none);

	if (rc == -ENOMEM)
		return ww_fail_nomem(err);
	if (rc < 0)
		return 0;
	rc = room(f, ww_resume_count(r), err);
	for (size_t i = 0; rc == 0 && i < ww_resume_count(r); i++) {
		const struct ww_cycle *c = ww_resume_at(r, i);
		struct ww_interval a = c->event[WW_EV_REQUEST], b = c->event[WW_EV_FIRST_BEAT];

		off = off || ww_iv_ok(c->event[WW_EV_OFF]);
		a = closed(a) ? a : c->event[WW_EV_LAST_BEAT];
		if (c->result == WW_RES_OK && closed(a) && closed(b))
			f->c[f->n++] = (struct ww_suspend_span){mid_s(a, f->x.origin_ns),
								mid_s(b, f->x.origin_ns)};
	}
	if (rc == 0 && f->n) {
		f->out->suspend_s = latency(r, WW_LAT_SUSPEND_ENTRY);
		f->out->resume_s = latency(r, WW_LAT_RESUME_TO_USER);
		if (isnan(f->out->resume_s.value))
			ww_suspend_why(
				f->out,
				"no moment of waking was recorded, so that the resume latency "
				"is not known");
		if (!off && isfinite(f->out->suspend_s.value))
			ww_suspend_why(
				f->out,
				"when it was off was not seen: the time into suspend ends with "
				"the last beat");
		f->out->from_beats = 1;
		rc = 1;
	} else if (rc == 0) {
		free(f->c);
		f->c = NULL;
	}
	ww_resume_free(r);
	return rc;
}

/* ---- dips of the power alone ---- */

static double at_s(const struct ww_series *x, size_t i)
{
	return ww_series_s(x, x->t_ns[i]);
}

/* Two levels a good way apart; dips that begin and end inside of the trace. */
static int by_dips(struct ww_suspend_dips *f, struct ww_error *err)
{
	const struct ww_series *x = &f->x;
	double low, high, up, down, begin = NAN;
	bool asleep;
	int rc = room(f, x->n, err);

	if (rc < 0)
		return rc;
	memcpy(f->scratch, x->v, x->n * sizeof(*x->v));
	qsort(f->scratch, x->n, sizeof(*f->scratch), ww_cmp_double);
	if (!ww_standby_levels(f->scratch, x->n, f->scratch + x->n, x->resolution, &low, &high))
		return ww_fail(err, -ENODATA,
			       "%s: no two levels of power, idle and suspended, stand out: give "
			       "--idle and --suspended as numbers",
			       x->name);
	up = low + 0.65 * (high - low);
	down = low + 0.35 * (high - low);
	asleep = x->v[0] < down;
	for (size_t i = 1; i < x->n; i++) {
		/* Half a period before a reading, where it is the first of its level. */
		double t = at_s(x, i) - (at_s(x, i) - at_s(x, i - 1)) / 2;

		if (!asleep && x->v[i] < down) {
			asleep = true;
			begin = t;
		} else if (asleep && x->v[i] > up) {
			asleep = false;
			if (!isnan(begin))
				f->c[f->n++] = (struct ww_suspend_span){begin, t};
		}
	}
	return 0;
}

/* ---- the line ---- */

static bool near_cycle(const struct ww_suspend_dips *f, size_t *k, double t)
{
	while (*k < f->n && f->c[*k].to + f->pad < t)
		++*k;
	return *k < f->n && t > f->c[*k].from - f->pad;
}

/* Drop what is no idle: a cycle that was refused, hung, or cut by an end of the trace. */
static size_t awake(const struct ww_suspend_dips *f, size_t n)
{
	double low = INFINITY, floor_;
	size_t kept = 0;

	for (size_t i = 0; i < f->x.n; i++)
		low = fmin(low, f->x.v[i]);
	memcpy(f->scratch + f->x.n, f->scratch, n * sizeof(*f->scratch));
	floor_ = ww_median(f->scratch + f->x.n, n);
	floor_ -= AWAKE * (floor_ - low);
	for (size_t i = 0; i < n; i++)
		if (f->scratch[i] >= floor_)
			f->scratch[kept++] = f->scratch[i];
	return kept;
}

/* Mean of what lies outside of all cycles, with its correlation. */
static void idle_power(struct ww_suspend_dips *f)
{
	const struct ww_series *x = &f->x;
	double sum = 0, ss = 0, mean;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < x->n; i++)
		if (!near_cycle(f, &k, at_s(x, i)))
			f->scratch[n++] = x->v[i];
	n = awake(f, n);
	if (n < 3)
		return;
	for (size_t i = 0; i < n; i++)
		sum += f->scratch[i];
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		f->scratch[i] -= mean;
		ss += f->scratch[i] * f->scratch[i];
	}
	f->noise = sqrt(ss / (double)(n - 1) * ww_standby_tau(f->scratch, n));
	f->u_step = ww_quantiser_seen_u(x->resolution, sqrt(ss / (double)(n - 1)));
	f->out->idle_watts.value = mean;
	f->out->idle_watts.u = hypot(f->noise / sqrt((double)n), f->u_step);
}

/* Energy below idle of cycle k. */
static double below_idle(const struct ww_suspend_dips *f, size_t k)
{
	const struct ww_series *x = &f->x;
	double from = f->c[k].from - f->pad, to = f->c[k].to + f->pad, joules = 0;

	for (size_t i = 1; i < x->n; i++) {
		double a = at_s(x, i - 1), b = at_s(x, i), v = x->v[i];

		if (b <= from || a >= to)
			continue;
		if (x->semantics == WW_INSTANT)
			v = (x->v[i] + x->v[i - 1]) / 2;
		else if (x->semantics == WW_HOLD)
			v = x->v[i - 1];
		joules += (fmin(b, to) - fmax(a, from)) * (f->out->idle_watts.value - v);
	}
	return joules;
}

/*
 * How far around a cycle it still shows: a meter that filters trails behind. As much of
 * the usual idle time as can be spared; what is left is the idle level.
 */
static void set_pad(struct ww_suspend_dips *f)
{
	double period = f->x.period_s, least = fmax(PADS * period, f->x.window_s);
	size_t n = 0;

	if (!f->out->from_beats)
		least = fmax(DIP_PADS * period, f->x.window_s) +
			fmax(f->known.suspend_s.value, f->known.resume_s.value);

	for (size_t i = 1; i < f->n; i++)
		f->scratch[n++] = f->c[i].from - f->c[i - 1].to;
	f->pad = least;
	if (n == 0)
		return;
	qsort(f->scratch, n, sizeof(*f->scratch), ww_cmp_double);
	f->pad = fmax(least, fmin(PAUSE * f->scratch[n / 4], PADS_MOST * period));
}

/* Cycles that their neighbours do not touch, inside of the trace. */
static void choose(struct ww_suspend_dips *f)
{
	double last = at_s(&f->x, f->x.n - 1), first = at_s(&f->x, 0);
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		struct ww_suspend_span c = f->c[i];
		double before = n ? f->c[n - 1].to : first;
		double after = i + 1 < f->n ? f->c[i + 1].from : last;

		if (c.to > c.from && c.from - CLEAR * f->pad >= before &&
		    c.to + CLEAR * f->pad <= after)
			f->c[n++] = c;
	}
	if (n < f->n)
		ww_suspend_why(
			f->out,
			"cycles that follow one another within the meter's time were left out");
	f->n = n;
}

/* All of one length: what the readings amid the dips say, for want of a slope. */
static void amid(struct ww_suspend_dips *f, double mean_t, double mean_d)
{
	const struct ww_series *x = &f->x;
	double sum = 0, ss = 0;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < x->n; i++) {
		double t = at_s(x, i), third;

		while (k < f->n && f->c[k].to < t)
			k++;
		if (k == f->n)
			break;
		third = (f->c[k].to - f->c[k].from) / 3;
		if (t < f->c[k].from + third || t > f->c[k].to - third)
			continue;
		sum += x->v[i];
		ss += x->v[i] * x->v[i];
		n++;
	}
	ww_suspend_why(f->out,
		       "the cycles are nearly of one length: suspended power is what the middle of "
		       "them shows, and the transitions' energy is less sure");
	if (n < 2)
		return;
	f->out->suspended_watts.value = sum / (double)n;
	f->out->suspended_watts.u =
		sqrt(fmax(0, ss / (double)n - sum * sum / (double)n / (double)n) / (double)(n - 1));
	f->out->transition_J.value =
		(f->out->idle_watts.value - f->out->suspended_watts.value) * mean_t - mean_d;
	f->out->transition_J.u =
		hypot(f->out->suspended_watts.u * mean_t, f->out->idle_watts.u * 2 * f->pad);
}

static void line(struct ww_suspend_dips *f)
{
	double mt = 0, md = 0, stt = 0, std = 0, ss = 0, lo = INFINITY, hi = 0, slope, s, n;
	double *d = f->scratch;

	for (size_t k = 0; k < f->n; k++) {
		double t = f->c[k].to - f->c[k].from;

		d[k] = below_idle(f, k);
		mt += t / (double)f->n;
		md += d[k] / (double)f->n;
		lo = fmin(lo, t);
		hi = fmax(hi, t);
	}
	if (f->n < 3 || hi < VARIED * lo) {
		amid(f, mt, md);
		return;
	}
	n = (double)f->n;
	for (size_t k = 0; k < f->n; k++) {
		double t = f->c[k].to - f->c[k].from;

		stt += (t - mt) * (t - mt);
		std += (t - mt) * (d[k] - md);
	}
	slope = std / stt;
	for (size_t k = 0; k < f->n; k++) {
		double e = d[k] - md - slope * (f->c[k].to - f->c[k].from - mt);

		ss += e * e;
	}
	s = ww_standby_widen(sqrt(ss / (n - 2)), n - 2);
	/* An error of the idle level is common to all: it cancels in P_s. */
	f->out->suspended_watts =
		(struct ww_quantity){f->out->idle_watts.value - slope, s / sqrt(stt)};
	f->out->transition_J =
		(struct ww_quantity){slope * mt - md, hypot(s * sqrt(1 / n + mt * mt / stt),
							    f->out->idle_watts.u * 2 * f->pad)};
}

static int fit(struct ww_suspend_dips *f, struct ww_trace *t, struct ww_error *err)
{
	int rc = by_beats(f, t, err);

	if (rc == 0)
		rc = by_dips(f, err);
	if (rc < 0)
		return rc;
	set_pad(f);
	idle_power(f);
	choose(f);
	f->out->cycles = f->n;
	if (f->n == 0)
		return ww_fail(err, -ENODATA,
			       "%s: no whole cycle of suspend and resume with idle time around it",
			       ww_trace_path(t));
	if (isnan(f->out->idle_watts.value))
		return ww_fail(err, -ENODATA, "%s: no idle time outside of the cycles",
			       ww_trace_path(t));
	line(f);
	if (!f->out->from_beats) {
		f->out->transition_J = (struct ww_quantity){NAN, NAN};
		ww_suspend_amid(f);
		rc = ww_suspend_by_edges(f, err);
		if (rc < 0)
			return rc;
	}
	f->out->suspended_watts.u = hypot(f->out->suspended_watts.u, f->u_step);
	ww_suspend_why(f->out, "the meter's accuracy is not in the uncertainties");
	if (f->out->transition_J.value < 0)
		ww_suspend_why(f->out,
			       "the transitions' energy came out below zero: less than this meter "
			       "resolves");
	return 0;
}

int ww_suspend_fit(struct ww_trace *t, const char *channel, const struct ww_suspend_options *known,
		   struct ww_suspend_fit *out, struct ww_error *err)
{
	static const struct ww_quantity unknown = {NAN, NAN};
	struct ww_suspend_dips f = {.out = out};
	int rc;

	if (known)
		f.known = *known;
	*out = (struct ww_suspend_fit){.idle_watts = unknown,
				       .suspended_watts = unknown,
				       .transition_J = unknown,
				       .suspend_s = unknown,
				       .resume_s = unknown};
	rc = ww_series_read(t, channel, "power", 0, 0, &f.x, err);
	if (rc < 0)
		return rc;
	f.scratch = calloc(2 * f.x.n + 1, sizeof(*f.scratch));
	if (f.x.n < 16)
		rc = ww_fail(err, -ENODATA, "%s: %zu readings are too few", ww_trace_path(t),
			     f.x.n);
	else if (!f.scratch)
		rc = ww_fail_nomem(err);
	else
		rc = fit(&f, t, err);
	free(f.c);
	free(f.scratch);
	ww_series_free(&f.x);
	return rc;
}
