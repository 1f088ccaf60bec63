/* SPDX-License-Identifier: MIT */
/*
 * ww_runs: the energy of each run, by the integral of ww_stat, and what of it lies above
 * the baseline. Uncertainty: JCGM 100 (GUM).
 *
 * A reading that covers a window, and that the start of a run cuts, is partly of the time
 * before it. Where nothing else runs there, the baseline tells how much: what lies above
 * it belongs to the run, wherever in the reading it was drawn.
 */
#include "analysis/runs.h"
#include "analysis/stat.h"
#include "base/str.h"

#include <math.h>

/* Differences of baselines from which their scatter is taken. */
#define LEAST_CHANGES 4

static const struct ww_quantity none = {NAN, NAN};

/* What ww_stat says of a stretch of the channel. */
struct piece {
	double seconds; /* covered */
	double joules;
	double mean, min, max;
	double readings_u; /* W, of the mean */
	double quantiser_u;
	double spread; /* W, of neighbouring readings */
	double stamps_J;
	double read; /* part of the stretch that was asked for */
	uint64_t n, gaps;
};

static int measure(struct ww_runs *r, struct ww_trace *t, int64_t from, int64_t to, struct piece *p,
		   struct ww_error *err)
{
	struct ww_stat_options opt = {.size = sizeof(opt), .from_ns = from, .to_ns = to};
	struct ww_stat *s = NULL;
	int rc = 0;

	*p = (struct piece){.joules = NAN, .mean = NAN, .min = NAN, .max = NAN, .spread = NAN};
	if (from >= to || from == 0 || to == 0)
		return 0;
	rc = ww_stat_new(t, &opt, &s, err);
	for (size_t i = 0; rc == 0 && i < s->channels; i++) {
		const struct ww_channel_stat *c = &s->channel[i];

		if (strcmp(c->name, r->meter.channel) != 0 || !(c->duration_s > 0))
			continue;
		p->seconds = c->duration_s;
		p->joules = c->energy_J.value;
		p->mean = c->energy_J.value / c->duration_s;
		p->min = c->min * s->extra[i].to_joules;
		p->max = c->max * s->extra[i].to_joules;
		p->readings_u = s->extra[i].readings_u * s->extra[i].to_joules;
		p->quantiser_u = s->extra[i].quantiser_u * s->extra[i].to_joules;
		p->spread = s->extra[i].spread * s->extra[i].to_joules;
		p->stamps_J = s->extra[i].stamps_J;
		p->read = c->coverage * c->duration_s / ((double)(to - from) / 1e9);
		p->n = c->n;
		p->gaps = c->gaps;
	}
	ww_stat_free(s);
	return rc;
}

/* ---- baselines ---- */

/* Readings that a run before or after it touches are left out. */
static int read_base(struct ww_runs *r, struct ww_trace *t, struct ww_runs_base *b, size_t next,
		     struct ww_error *err)
{
	int64_t from = b->from, to = b->to, edge;
	struct piece p;
	double unread;
	int rc;

	if (next > 0 && ww_iv_ok(r->run[next - 1].end)) {
		edge = ww_add_sat(r->run[next - 1].end.hi_ns, r->pad_ns);
		from = edge > from ? edge : from;
	}
	if (next < r->runs) {
		edge = ww_add_sat(r->run[next].start.lo_ns, -r->pad_ns);
		to = edge < to ? edge : to;
	}
	if (to == WW_TIME_MIN)
		return 0;
	rc = measure(r, t, from, to, &p, err);
	b->n = p.n;
	/* What the last reading before an end by itself does not reach is no gap. */
	unread = (1 - p.read) * ((double)to - (double)from) / 1e9;
	b->read = p.n > 0 && p.gaps == 0 &&
		  (p.read > 1 - WW_RUNS_UNREAD || unread <= 1.5 * r->meter.period_s);
	if (b->read)
		b->watts = (struct ww_quantity){p.mean, p.readings_u};
	b->quantiser_u = p.quantiser_u;
	b->spread = p.spread;
	return rc;
}

/*
 * Where there are some baselines, what they change by from one to the next shows how
 * well a single one is known, whatever makes it change: the mean square of successive
 * differences (von Neumann 1941). Two of them tell too little of it.
 */
static void pool_bases(struct ww_runs *r)
{
	double ss = 0, last = NAN;
	size_t n = 0;

	for (size_t i = 0; i < r->bases; i++) {
		if (!r->base[i].read)
			continue;
		n += isnan(last) ? 0 : 1;
		ss += isnan(last) ? 0 : pow(r->base[i].watts.value - last, 2);
		last = r->base[i].watts.value;
	}
	for (size_t i = 0; i < r->bases && n >= LEAST_CHANGES; i++)
		r->base[i].watts.u = fmax(r->base[i].watts.u, sqrt(ss / 2 / (double)n));
}

static int read_bases(struct ww_runs *r, struct ww_trace *t, struct ww_error *err)
{
	size_t next = 0, unread = 0;
	int rc = 0;

	for (size_t i = 0; i < r->bases && rc == 0; i++) {
		while (next < r->runs && r->run[next].start.lo_ns < r->base[i].from)
			next++;
		rc = read_base(r, t, &r->base[i], next, err);
		unread += !r->base[i].read;
	}
	pool_bases(r);
	if (unread)
		ww_note(&r->notes,
			"%zu of %zu baselines: no readings without gaps; they are left out", unread,
			r->bases);
	return rc;
}

/* The nearest that was read, on either side. */
static const struct ww_runs_base *base_before(const struct ww_runs *r, int64_t t)
{
	const struct ww_runs_base *best = NULL;

	for (size_t i = 0; i < r->bases && r->base[i].to <= t; i++)
		if (r->base[i].read)
			best = &r->base[i];
	return best;
}

static const struct ww_runs_base *base_after(const struct ww_runs *r, int64_t t)
{
	for (size_t i = 0; i < r->bases; i++)
		if (r->base[i].read && r->base[i].from >= t)
			return &r->base[i];
	return NULL;
}

static struct ww_quantity base_mean(struct ww_quantity b0, struct ww_quantity b1)
{
	if (isnan(b0.value))
		return b1;
	if (isnan(b1.value))
		return b0;
	return (struct ww_quantity){(b0.value + b1.value) / 2, hypot(b0.u, b1.u) / 2};
}

struct ww_quantity ww_above_baseline(struct ww_quantity energy, double seconds,
				     struct ww_quantity b0, struct ww_quantity b1)
{
	struct ww_quantity b = base_mean(b0, b1);

	return (struct ww_quantity){energy.value - seconds * b.value,
				    hypot(energy.u, seconds * b.u)};
}

/* ---- one run ---- */

/* Time that a reading covers, or that lies between two. */
static double reading_s(const struct ww_runs *r)
{
	return fmax(r->meter.period_s, r->meter.window_s);
}

/* Whether nothing else ran within a reading of it. */
static bool alone(const struct ww_runs *r, size_t i)
{
	const struct ww_run *run = &r->run[i];
	int64_t lo = ww_add_sat(run->start.lo_ns, -r->pad_ns);
	int64_t hi = ww_add_sat(run->end.hi_ns, r->pad_ns);

	if (i > 0 && (!ww_iv_ok(run[-1].end) || run[-1].end.hi_ns > lo))
		return false;
	return i + 1 == r->runs || run[1].start.lo_ns >= hi;
}

static bool unplugged(const struct ww_runs *r, struct ww_trace *t, const struct ww_run *run)
{
	size_t n = strcspn(r->meter.channel, ".");

	for (size_t i = 0; i < ww_trace_gap_count(t); i++) {
		const struct ww_gap *g = ww_trace_gap(t, i);

		if (strcmp(g->reason, "unplugged") != 0 || g->t.hi_ns <= run->start.lo_ns ||
		    g->t.lo_ns >= run->end.hi_ns)
			continue;
		for (size_t k = 0; k < ww_trace_source_count(t); k++) {
			const struct ww_source_info *s = ww_trace_source(t, k);

			if (s->id == g->source && strncmp(s->name, r->meter.channel, n) == 0 &&
			    s->name[n] == '\0')
				return true;
		}
	}
	return false;
}

/* Why there is no energy of it; "" if there is. */
static const char *why_not(struct ww_runs *r, struct ww_trace *t, const struct ww_run *run,
			   const struct piece *p)
{
	double unread = (1 - run->coverage) * run->duration_s.value;
	struct ww_str s = {0};
	const char *why = "";

	if (unplugged(r, t, run)) {
		ww_str_add(&s, "the meter was away during the run");
	} else if (r->meter.semantics != WW_AVERAGE &&
		   run->duration_s.value < WW_RUNS_READINGS * reading_s(r)) {
		ww_str_add(&s, "shorter than ");
		ww_str_num(&s, WW_RUNS_READINGS);
		ww_str_add(&s, " readings of this meter (one every ");
		ww_str_num(&s, reading_s(r));
		ww_str_add(&s, " s): repeat the command inside of one run (--repeat)");
	} else if (isnan(p->joules) ||
		   (run->coverage < 1 - WW_RUNS_UNREAD && unread > 1.5 * r->meter.period_s)) {
		ww_str_add(&s, "the meter gave no readings for ");
		ww_str_fixed(&s, isnan(p->joules) ? run->duration_s.value : unread, 2);
		ww_str_add(&s, " s of it");
	} else {
		return "";
	}
	r->bad = r->bad || s.bad;
	if (!s.bad)
		why = ww_runs_keep(r, s.p);
	ww_str_free(&s);
	return why;
}

/* What a meter of moments, or of a held display, leaves open at both edges, in J. */
static double edge_u(const struct ww_runs *r, const struct piece *p, bool balanced)
{
	double jump = (p->max - p->min) * reading_s(r);

	if (r->meter.semantics == WW_AVERAGE)
		return balanced ? 0 : jump / 2 / sqrt(3); /* two times a quarter, at most */
	return jump * sqrt(2.0 / 12);
}

/*
 * The noise of the readings at rest, scaled to as many as the run has; and what its own
 * readings scatter more from neighbour to neighbour, as noise that grows with the load.
 */
static double readings_u(const struct ww_runs *r, const struct piece *all,
			 const struct piece *inner, const struct ww_runs_base *b0,
			 const struct ww_runs_base *b1)
{
	const struct ww_runs_base *b[] = {b0 ? b0 : b1, b1 ? b1 : b0};
	double n = (double)all->n, noise2 = 0, spread2 = 0, quantiser2 = 0;

	/* Means over all of the time: that the load changed makes them no less sure. */
	if (r->meter.semantics != WW_AVERAGE || !b[0] || all->n == 0)
		return all->readings_u;
	for (size_t i = 0; i < 2; i++) {
		double q2 = pow(b[i]->quantiser_u, 2);

		noise2 += (pow(b[i]->watts.u, 2) - q2) * (double)b[i]->n / n / 2;
		spread2 += pow(b[i]->spread, 2) / 2;
		quantiser2 += q2 / 2;
	}
	/* fmax() passes over what is not known. */
	return sqrt(fmax(0, noise2) + fmax(0, (pow(inner->spread, 2) - spread2) / n) + quantiser2);
}

static void energies(struct ww_runs *r, struct ww_run *run, const struct piece *in,
		     const struct piece *inner, const struct piece *wide,
		     const struct ww_runs_base *b0, const struct ww_runs_base *b1)
{
	double T = run->duration_s.value, own, gain = isnan(r->meter.gain_u) ? 0 : r->meter.gain_u;
	double offset = isnan(r->meter.offset_u) ? 0 : r->meter.offset_u;
	const struct ww_runs_base *b = b0 ? b0 : b1;
	struct ww_quantity level;
	const struct piece *p = wide ? wide : in;

	run->before_W = b0 ? b0->watts : none;
	run->after_W = b1 ? b1->watts : none;
	level = base_mean(run->before_W, run->after_W);
	own = hypot(hypot(readings_u(r, p, inner, b0, b1) * p->seconds, p->stamps_J),
		    edge_u(r, p, wide != NULL));
	if (wide) {
		/* What is above the baseline in the readings that the edges cut is its own. */
		run->marginal_J = ww_above_baseline((struct ww_quantity){wide->joules, own},
						    wide->seconds, run->before_W, run->after_W);
		run->gross_J.value = run->marginal_J.value + level.value * T;
		run->edges_J = run->gross_J.value - in->joules / in->seconds * T;
		own = hypot(own, (wide->seconds - T) * level.u);
		own = hypot(own, level.value * run->duration_s.u);
	} else {
		run->gross_J.value = in->joules / in->seconds * T;
		run->edges_J = 0;
		own = hypot(own, in->max * run->duration_s.u);
		if (b)
			run->marginal_J =
				ww_above_baseline((struct ww_quantity){run->gross_J.value, own}, T,
						  run->before_W, run->after_W);
	}
	run->gross_own_u = own;
	run->gross_J.u = hypot(own, hypot(offset * T, gain * run->gross_J.value));
	run->mean_W = ww_ratio_u(run->gross_J, (struct ww_quantity){T, 0});
	run->marginal_own_u = run->marginal_J.u;
	/* An offset cancels in a difference, a gain does not. */
	run->marginal_J.u = hypot(run->marginal_own_u, gain * run->marginal_J.value);
	if (T >= 2 * reading_s(r))
		run->peak_W = in->max;
}

/* What a run left behind: a fan that goes on, a disk that is written later. */
static int read_tail(struct ww_runs *r, struct ww_trace *t, const struct ww_run *run,
		     const struct ww_runs_base *after, struct ww_error *err)
{
	struct piece p;
	int rc;

	if (!after)
		return 0;
	rc = measure(r, t, ww_add_sat(run->end.hi_ns, r->pad_ns), after->from, &p, err);
	if (rc < 0 || p.n == 0 || p.gaps)
		return rc;
	r->tail_J += p.joules - p.seconds * after->watts.value;
	r->tail_u2 += pow(p.seconds * after->watts.u, 2) * (1 + (double)after->n / (double)p.n);
	r->tails++;
	return 0;
}

static int read_run(struct ww_runs *r, struct ww_trace *t, size_t i, struct ww_error *err)
{
	struct ww_run *run = &r->run[i];
	const struct ww_runs_base *b0 = base_before(r, run->start.lo_ns);
	const struct ww_runs_base *b1 = base_after(r, run->end.hi_ns);
	struct piece in, inner, wide = {0};
	bool balanced = false;
	int rc;

	if (!ww_iv_ok(run->end) || !(run->duration_s.value > 0))
		return 0;
	rc = measure(r, t, ww_iv_mid(run->start), ww_iv_mid(run->end), &in, err);
	if (rc < 0)
		return rc;
	run->coverage = fmin(1, in.read);
	run->why = why_not(r, t, run, &in);
	if (*run->why)
		return 0;
	if ((b0 || b1) && alone(r, i)) {
		rc = measure(r, t, ww_add_sat(run->start.lo_ns, -r->pad_ns),
			     ww_add_sat(run->end.hi_ns, r->pad_ns), &wide, err);
		balanced = wide.gaps == in.gaps && wide.seconds >= in.seconds;
	}
	/* Readings that lie in it as a whole. */
	if (rc == 0)
		rc = measure(r, t, ww_add_sat(run->start.hi_ns, r->pad_ns), run->end.lo_ns, &inner,
			     err);
	if (rc == 0)
		energies(r, run, &in, &inner, balanced ? &wide : NULL, b0, b1);
	return rc < 0 ? rc : read_tail(r, t, run, alone(r, i) ? b1 : NULL, err);
}

int ww_runs_energies(struct ww_runs *r, struct ww_trace *t, struct ww_error *err)
{
	int rc = read_bases(r, t, err);

	for (size_t i = 0; i < r->runs && rc == 0 && !r->bad; i++)
		rc = read_run(r, t, i, err);
	return rc < 0 ? rc : 0;
}
