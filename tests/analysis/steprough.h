/* SPDX-License-Identifier: MIT */
/*
 * Traces that step detection was not tuned on: other noise, meters that filter, hold
 * and change their range, loads that settle unevenly. What is missed here is told in
 * pwrlog-steps(1).
 */
#ifndef TESTS_STEPROUGH_H
#define TESTS_STEPROUGH_H

#include "stepfamilies.h"

static inline void rough_pink(struct gen *g)
{
	g->meter.pink = 0.05;
	gen_plugs(g, 120);
}

static inline void rough_pink_null(struct gen *g)
{
	g->meter.pink = 0.05;
	g->base = gen_between(&g->rng, 1, 30);
	g->length_s = 3600;
}

/* The mains voltage moves, and the power of all that is plugged with it. */
static inline void rough_mains_null(struct gen *g)
{
	g->meter.pink_part = 0.003;
	g->base = gen_between(&g->rng, 20, 60);
	g->length_s = 3600;
}

static inline void rough_mains(struct gen *g)
{
	g->meter.pink_part = 0.003;
	gen_plugs(g, 120);
}

static inline void rough_average(struct gen *g)
{
	g->meter.average_s = gen_between(&g->rng, 3, 6);
	gen_plugs(g, 120);
}

static inline void rough_iir(struct gen *g)
{
	g->meter.iir_s = gen_between(&g->rng, 1, 3);
	gen_plugs(g, 120);
}

static inline void rough_hold(struct gen *g)
{
	g->meter.hold_lo_s = 2;
	g->meter.hold_hi_s = 3;
	gen_plugs(g, 120);
}

static inline void rough_display(struct gen *g)
{
	g->meter.iir_s = 2;
	g->meter.q = 1;
	g->meter.sigma = 0.35;
	rough_hold(g);
}

static inline void rough_level(struct gen *g)
{
	g->meter.relative = 0.005;
	gen_plugs(g, 120);
}

/* A heater and little things: noise of 1 % of the load while it is on. */
static inline void rough_heater(struct gen *g)
{
	double size[GEN_SIZES];
	double t = 60;

	gen_shuffle(g, size, 5);
	g->meter.relative = 0.01;
	g->base = 2;
	for (size_t i = 0; i < 5; i++, t += 240) {
		gen_switch(g, t, 1200 + gen_between(&g->rng, -20, 20));
		gen_switch(g, t + gen_between(&g->rng, 90, 110), -g->change[2 * i].watts);
	}
	for (size_t i = 0; i < 5; i++) /* while the heater is off */
		gen_switch(g, 60 + 240 * (double)i + gen_between(&g->rng, 165, 180), size[i]);
	g->length_s = t;
}

/* Quick up, slow down: what is unplugged still draws for half a minute. */
static inline void rough_slow_down(struct gen *g)
{
	gen_plugs(g, 240);
	for (size_t i = 0; i < g->changes; i++) {
		struct gen_change *c = &g->change[i];

		c->settle = c->watts > 0 ? 0.2 : -1;
		c->tau = c->watts > 0 ? gen_between(&g->rng, 2, 5) : gen_between(&g->rng, 10, 30);
	}
}

/* Slow up: a lamp that warms, a supply whose capacitors fill. */
static inline void rough_slow_up(struct gen *g)
{
	gen_plugs(g, 240);
	for (size_t i = 0; i < g->changes; i++) {
		struct gen_change *c = &g->change[i];

		if (c->watts < 0)
			continue;
		c->settle = -gen_between(&g->rng, 0.3, 0.6);
		c->tau = gen_between(&g->rng, 15, 40);
	}
}

static inline void rough_bursts(struct gen *g)
{
	g->meter.bursts = 1 / 120.;
	gen_plugs(g, 120);
}

static inline void rough_range(struct gen *g)
{
	g->meter.range_w = gen_between(&g->rng, 20, 60);
	gen_plugs(g, 120);
}

static inline void rough_irregular(struct gen *g)
{
	g->meter.jitter = 0.9;
	g->meter.lose = 0.3;
	gen_plugs(g, 120);
}

/* A corrector of the power factor starts seconds later and takes 5 % less. */
static inline void rough_pfc(struct gen *g)
{
	size_t n;

	gen_plugs(g, 120);
	n = g->changes;
	for (size_t i = 0; i < n; i++) {
		struct gen_change was = g->change[i];

		if (was.watts > 10) {
			struct gen_change *c = gen_switch(g, 0, -0.05 * was.watts);

			c->t = was.t + gen_between(&g->rng, 1, 3.5);
			c->t_last = c->t;
			g->change[i].t_last = c->t;
			c->part = true;
			/* a part stands behind its whole */
			for (size_t k = g->changes - 1; k > i + 1; k--) {
				struct gen_change a = g->change[k];

				g->change[k] = g->change[k - 1];
				g->change[k - 1] = a;
			}
			i++;
			n++;
		}
	}
}

static inline void rough_50(struct gen *g)
{
	gen_mains(g);
	g->meter.mains_moves = 0.1;
}

static inline void rough_60(struct gen *g)
{
	gen_mains(g);
	g->meter.ripple = gen_between(&g->rng, 59.95, 60.05);
}

/* A computer at work: up and down by some watts every 8 to 30 s. */
static inline void rough_busy(struct gen *g)
{
	double t = 60, level = 0;

	g->base = 20;
	for (size_t i = 0; i < 40; i++, t += gen_between(&g->rng, 8, 30)) {
		double to = level;

		while (fabs(to - level) < 1.5)
			to = gen_between(&g->rng, 0, 15);
		gen_switch(g, t, to - level);
		level = to;
	}
	g->length_s = t + 30;
}

/* Pulses as short as spikes are no steps; of 4 to 8 s they are neither. */
static inline void rough_pulses(struct gen *g)
{
	g->base = 20;
	for (size_t i = 0; i < 20; i++) {
		double t = 60 + 60 * (double)i + gen_between(&g->rng, 0, 10);
		double watts = gen_between(&g->rng, 5, 15);

		gen_switch(g, t, watts);
		gen_switch(g, t + gen_between(&g->rng, 4, 8), -watts);
	}
	g->length_s = 1300;
}

/* A battery whose charger tapers: no change, but no level either. */
static inline void rough_taper(struct gen *g)
{
	g->base = gen_between(&g->rng, 25, 50);
	g->drift_w = -gen_between(&g->rng, 15, 20);
	g->drift_s = gen_between(&g->rng, 300, 1500);
	g->length_s = 3600;
}

/* Little changes on noise of 0.5 W: sizes in parts of it. */
static inline void rough_small(struct gen *g, double watts)
{
	g->meter.sigma = 0.5;
	g->base = gen_between(&g->rng, 10, 20);
	for (size_t i = 0; i < 8; i++)
		gen_switch(g, 60 + 120 * (double)i + gen_between(&g->rng, 0, 24),
			   i % 2 ? -watts : watts);
	g->length_s = 1080;
}

static inline void rough_small_06(struct gen *g)
{
	rough_small(g, 0.3);
}

static inline void rough_small_08(struct gen *g)
{
	rough_small(g, 0.4);
}

static inline void rough_small_1(struct gen *g)
{
	rough_small(g, 0.5);
}

/* A count and less of a meter of 1 W, with noise of a third of a count. */
static inline void rough_one_count(struct gen *g)
{
	rough_small(g, 0.8);
	g->meter.q = 1;
	g->meter.sigma = 0.35;
}

/* Something small goes within a minute of something large that came. */
static inline void rough_after(struct gen *g)
{
	double t = 60;

	g->base = 2;
	for (size_t i = 0; i < 6; i++, t += 150) {
		double watts = gen_between(&g->rng, 20, 60);

		gen_switch(g, t, watts);
		gen_switch(g, t + gen_between(&g->rng, 10, 50),
			   -watts * gen_between(&g->rng, 0.1, 0.3));
	}
	g->length_s = t;
}

static const struct gen_family rough_families[] = {
	{"1/f noise", rough_pink, 0.9, 1, 1},
	{"1/f noise, no step", rough_pink_null, 0.9, 1, 1},
	{"mains voltage moves", rough_mains, 0.9, 1, 1},
	{"mains voltage moves, no step", rough_mains_null, 0.9, 1, 1},
	{"meter averages 3-6 s", rough_average, 0.9, 1, 1},
	{"meter filters, 1-3 s", rough_iir, 0.9, 1, 1},
	{"display holds 2-3 s", rough_hold, 0.9, 1, 1},
	{"1 W display filters and holds", rough_display, 0.9, 1, 1},
	{"noise 0.5 % of the load", rough_level, 0.9, 1, 1},
	{"heater, noise 1 % of the load", rough_heater, 0.9, 1, 1},
	{"unplugged decays 10-30 s", rough_slow_down, 0.9, 1, 1},
	{"half comes slowly, 15-40 s", rough_slow_up, 0.9, 1, 1},
	{"bursts of noise", rough_bursts, 0.9, 1, 1},
	{"range with coarser display", rough_range, 0.9, 1, 1},
	{"irregular readings, 30 % lost", rough_irregular, 0.9, 1, 1},
	{"power factor corrector starts", rough_pfc, 0.9, 1, 1},
	{"2 kHz, mains 49.9-50.1 Hz", rough_50, 0.9, 1, 4},
	{"2 kHz, mains 60 Hz", rough_60, 0.9, 1, 4},
	{"busy computer, 8-30 s", rough_busy, 0.9, 1, 1},
	{"pulses of 4-8 s", rough_pulses, 0.5, 1, 1},
	{"charger tapers, no step", rough_taper, 0.9, 1, 1},
	{"step 0.6 of the noise", rough_small_06, 0, 1, 1},
	{"step 0.8 of the noise", rough_small_08, 0.7, 1, 1},
	{"step 1.0 of the noise", rough_small_1, 0.8, 1, 1},
	{"step 0.8 of a count", rough_one_count, 0.9, 1, 1},
	{"small off after large on", rough_after, 0.9, 1, 1},
};

#endif
