/* SPDX-License-Identifier: MIT */
/*
 * Traces of a wattmeter with known changes of level, each from a seed: loads that are
 * switched, and the meter that shows their sum. The families of stepfamilies.h and
 * steprough.h are made of these parts.
 */
#ifndef TESTS_TRACEGEN_H
#define TESTS_TRACEGEN_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define GEN_CHANGES 96
#define GEN_MOST    8192
#define GEN_PI	    3.14159265358979323846

/* splitmix64, and Box-Muller's normal numbers of it. */
struct gen_rng {
	uint64_t s;
};

static inline uint64_t gen_bits(struct gen_rng *g)
{
	uint64_t z = (g->s += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static inline double gen_uniform(struct gen_rng *g)
{
	return ((double)(gen_bits(g) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double gen_between(struct gen_rng *g, double lo, double hi)
{
	return lo + (hi - lo) * gen_uniform(g);
}

static inline double gen_normal(struct gen_rng *g)
{
	double r = sqrt(-2 * log(gen_uniform(g)));

	return r * cos(2 * GEN_PI * gen_uniform(g));
}

/* Whole number in [lo, hi]. */
static inline int gen_pick(struct gen_rng *g, int lo, int hi)
{
	return lo + (int)(gen_bits(g) % (uint64_t)(hi - lo + 1));
}

/*
 * A load that is switched: from t on it draws `watts` more, beside that `inrush` times
 * as much for inrush_s, and `settle` times as much that dies away with tau.
 */
struct gen_change {
	double t, watts;
	double inrush, inrush_s;
	double settle, tau;
	/* What a report must say of it. Several within a few seconds are one. */
	double t_last; /* of the latest that is part of it */
	bool must;     /* above the limits: not to be missed */
	bool hidden;   /* below the resolution: not to be claimed as found */
	bool part;     /* of the change before it: no truth of its own */
};

struct gen_meter {
	double rate;   /* Hz */
	double offset; /* W, of the meter */
	double q;      /* W, resolution; 0: none */
	double sigma;  /* W, noise of a reading */
	double phi;    /* its correlation from one reading to the next */
	double spikes; /* part of the readings at which one begins */
	double lose;   /* part of the readings that are lost */
	double ripple; /* Hz of the mains, the load pulsing at twice of it; 0: none */

	/* a meter that is less simple */
	double relative;	     /* noise that grows with the load, part of it */
	double pink;		     /* W, 1/f noise: each octave's standard deviation */
	double pink_part;	     /* likewise, part of the load: the mains voltage moves */
	double average_s;	     /* readings are means of so long */
	double iir_s;		     /* or a low-pass filter's */
	double hold_lo_s, hold_hi_s; /* the display is renewed so often */
	double jitter;		     /* readings come irregularly: part of the period */
	double bursts;		     /* a second, begin of noise that is ten times as much */
	double range_w;		     /* above it the display shows ten times the resolution */
	double mains_moves;	     /* Hz by which the mains frequency wanders */
};

struct gen {
	struct gen_rng rng;
	uint64_t seed;
	double base;		 /* W before anything is switched */
	double drift_w, drift_s; /* warms up: base rises by drift_w with this constant */
	double hole[4][2];	 /* s, no readings from .. to */
	size_t holes;
	double length_s;
	struct gen_change change[GEN_CHANGES];
	size_t changes;
	struct gen_meter meter;

	size_t n;
	int64_t t_ns[GEN_MOST];
	double v[GEN_MOST];
};

/* A change; what it looks like is filled in by the caller. */
static inline struct gen_change *gen_switch(struct gen *g, double t, double watts)
{
	struct gen_change *c = &g->change[g->changes++];

	if (g->changes > GEN_CHANGES)
		abort();
	*c = (struct gen_change){.t = t, .watts = watts, .t_last = t, .must = true};
	return c;
}

static inline double gen_load(const struct gen *g, double t)
{
	double p = g->base;

	if (g->drift_s > 0)
		p += g->drift_w * (1 - exp(-t / g->drift_s));
	for (size_t i = 0; i < g->changes; i++) {
		const struct gen_change *c = &g->change[i];
		double dt = t - c->t, more = 1;

		if (dt < 0)
			continue;
		if (dt < c->inrush_s)
			more += c->inrush;
		if (c->tau > 0 && dt < 30 * c->tau)
			more += c->settle * exp(-dt / c->tau);
		p += c->watts * more;
	}
	return p;
}

/* What one reading adds to the load: state of all the noise there is. */
struct gen_noise {
	double ar, pink[10];
	double burst_until;
	int spike;
	double spike_w;
};

/* Sum of relaxations an octave apart: a spectrum of 1/f over three decades. */
static inline double gen_pink(struct gen_rng *r, struct gen_noise *z)
{
	double sum = 0;

	for (int k = 0; k < 10; k++) {
		double a = exp(-1 / (double)(1 << k));

		z->pink[k] = a * z->pink[k] + sqrt(1 - a * a) * gen_normal(r);
		sum += z->pink[k];
	}
	return sum;
}

static inline double gen_disturb(struct gen *g, struct gen_noise *z, double t, double load)
{
	const struct gen_meter *m = &g->meter;
	double sigma = m->sigma + m->relative * fabs(load), out = 0;

	if (m->bursts > 0) {
		if (gen_uniform(&g->rng) < m->bursts / m->rate)
			z->burst_until = t + gen_between(&g->rng, 2, 8);
		if (t < z->burst_until)
			sigma *= 10;
	}
	z->ar = m->phi * z->ar + sqrt(1 - m->phi * m->phi) * gen_normal(&g->rng);
	out += sigma * z->ar;
	if (m->pink > 0 || m->pink_part > 0)
		out += (m->pink + m->pink_part * fabs(load)) * gen_pink(&g->rng, z);
	if (m->spikes > 0) {
		if (z->spike == 0 && gen_uniform(&g->rng) < m->spikes) {
			z->spike = gen_pick(&g->rng, 1, 3);
			z->spike_w = gen_between(&g->rng, 3, 60) *
				     (gen_uniform(&g->rng) < 0.8 ? 1 : -0.1);
		}
		if (z->spike > 0) {
			z->spike--;
			out += z->spike_w;
		}
	}
	return out;
}

/* What the meter makes of the load at t: filtered, as an instant or a mean. */
static inline double gen_see(const struct gen *g, double from, double t, double *filter)
{
	const struct gen_meter *m = &g->meter;
	double sum = 0;

	if (m->average_s > 0) {
		for (int i = 0; i < 20; i++)
			sum += gen_load(g, t - m->average_s * (i + 0.5) / 20) / 20;
		return sum;
	}
	if (m->iir_s > 0) {
		double dt = (t - from) / 10;

		for (int i = 1; i <= 10; i++)
			*filter += (gen_load(g, from + i * dt) - *filter) * -expm1(-dt / m->iir_s);
		return *filter;
	}
	return gen_load(g, t);
}

static inline bool gen_in_hole(const struct gen *g, double t)
{
	for (size_t i = 0; i < g->holes; i++)
		if (t > g->hole[i][0] && t < g->hole[i][1])
			return true;
	return false;
}

static inline double gen_show(const struct gen_meter *m, double p)
{
	double q = m->range_w > 0 && fabs(p) >= m->range_w ? 10 * m->q : m->q;

	if (q > 0 && q < 1)
		return round(p * round(1 / q)) / round(1 / q); /* as decimals are read */
	return q > 0 ? round(p / q) * q : p;
}

/* Readings of the whole. */
static inline void gen_run(struct gen *g)
{
	const struct gen_meter *m = &g->meter;
	double filter = gen_load(g, 0), shown = NAN, next_show = 0, before = 0, phase = 0;
	struct gen_noise z = {0};
	size_t all = (size_t)(g->length_s * m->rate + 0.5);

	z.ar = gen_normal(&g->rng);
	for (int k = 0; k < 10; k++)
		z.pink[k] = gen_normal(&g->rng);
	g->n = 0;
	for (size_t i = 0; i < all && g->n < GEN_MOST; i++) {
		double t = (double)i / m->rate, p;

		if (m->jitter > 0)
			t += m->jitter * gen_uniform(&g->rng) / m->rate;
		p = gen_see(g, before, t, &filter);
		if (m->ripple > 0) {
			double f = m->ripple + m->mains_moves * sin(2 * GEN_PI * t / 3);

			phase += 2 * GEN_PI * 2 * f * (t - before);
			p *= 1 - cos(phase);
		}
		before = t;
		p += m->offset + gen_disturb(g, &z, t, p);
		if (m->hold_hi_s > 0) {
			if (t >= next_show) {
				shown = p;
				next_show = t + gen_between(&g->rng, m->hold_lo_s, m->hold_hi_s);
			}
			p = shown;
		}
		if (gen_in_hole(g, t) || (m->lose > 0 && gen_uniform(&g->rng) < m->lose))
			continue;
		g->t_ns[g->n] = (int64_t)llround(t * 1e9);
		g->v[g->n++] = gen_show(m, p);
	}
}

/* For a person, and for pwrlog: time and watts, what was switched as comments. */
static inline void gen_dump(FILE *f, const struct gen *g)
{
	for (size_t i = 0; i < g->changes; i++)
		fprintf(f, "# %.3f s: %+.3f W%s%s\n", g->change[i].t, g->change[i].watts,
			g->change[i].must ? "" : ", below the limits",
			g->change[i].part ? ", with the one before" : "");
	fputs("t_s,power_W\n", f);
	for (size_t i = 0; i < g->n; i++)
		fprintf(f, "%.6f,%.6g\n", (double)g->t_ns[i] / 1e9, g->v[i]);
}

#endif
