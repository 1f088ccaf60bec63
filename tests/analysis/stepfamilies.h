/* SPDX-License-Identifier: MIT */
/*
 * The families of traces that step detection has to hold on: what was in the seeded
 * vectors of tests/data/vectors (sizes, noise, resolution, a meter that shows 1 W too
 * much), at random moments, in random order, plugged and unplugged.
 */
#ifndef TESTS_STEPFAMILIES_H
#define TESTS_STEPFAMILIES_H

#include "tracegen.h"

static const double gen_sizes[] = {1.5, 3.2, 6.4, 9, 14.6, 22.8, 25, 62};
#define GEN_SIZES 8

static inline void gen_begin(struct gen *g, uint64_t seed, const char *family)
{
	uint64_t h = seed * UINT64_C(0x9e3779b97f4a7c15);

	for (const char *p = family; *p; p++)
		h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
	*g = (struct gen){.rng = {h}, .seed = seed};
	g->meter = (struct gen_meter){.rate = 1, .offset = 1, .q = 0.1, .sigma = 0.12};
}

/* Sizes in random order, each by a tenth more or less. */
static inline void gen_shuffle(struct gen *g, double *size, size_t n)
{
	for (size_t i = 0; i < n; i++)
		size[i] = gen_sizes[i % GEN_SIZES] * gen_between(&g->rng, 0.9, 1.1);
	for (size_t i = n; i-- > 1;) {
		size_t j = (size_t)gen_pick(&g->rng, 0, (int)i);
		double a = size[i];

		size[i] = size[j];
		size[j] = a;
	}
}

/*
 * Eight devices, each plugged, and half of them unplugged again while others come,
 * `apart` seconds between two.
 */
static inline void gen_plugs(struct gen *g, double apart)
{
	double size[GEN_SIZES], t = 0.5 * apart;
	bool out[GEN_SIZES];

	gen_shuffle(g, size, GEN_SIZES);
	g->base = gen_between(&g->rng, 0, 3);
	for (size_t i = 0; i < GEN_SIZES; i++, t += apart) {
		gen_switch(g, t + gen_between(&g->rng, 0, 0.2) * apart, size[i]);
		out[i] = gen_uniform(&g->rng) < 0.5;
	}
	for (size_t i = 0; i < GEN_SIZES; i++)
		if (out[i]) {
			gen_switch(g, t + gen_between(&g->rng, 0, 0.2) * apart, -size[i]);
			t += apart;
		}
	g->length_s = t;
}

static inline void gen_plug_1w(struct gen *g)
{
	g->meter.q = 1;
	g->meter.sigma = 0.35;
	gen_plugs(g, 120);
}

static inline void gen_plug_01w(struct gen *g)
{
	gen_plugs(g, 120);
}

/* Four times as much for a reading or two, every other device settles with 12 s. */
static inline void gen_inrush(struct gen *g)
{
	gen_plugs(g, 150);
	for (size_t i = 0; i < g->changes; i++) {
		struct gen_change *c = &g->change[i];

		if (c->watts < 0)
			continue;
		c->inrush = gen_between(&g->rng, 3, 5);
		c->inrush_s = gen_between(&g->rng, 0.6, 2);
		if (gen_uniform(&g->rng) < 0.5) {
			c->settle = gen_between(&g->rng, 0.2, 0.3);
			c->tau = gen_between(&g->rng, 6, 15);
		}
	}
}

static inline void gen_drift(struct gen *g)
{
	static const double size[] = {3.2, 9, -3.2, 14.6, 6.4, -9};
	double sign = gen_uniform(&g->rng) < 0.7 ? 1 : -1;

	g->base = 17.5;
	g->drift_w = sign * gen_between(&g->rng, 1.5, 3);
	g->drift_s = gen_between(&g->rng, 600, 1200);
	g->length_s = 1500;
	for (size_t i = 0; i < 6; i++)
		gen_switch(g, 200 * (double)i + gen_between(&g->rng, 200, 300),
			   size[i] * gen_between(&g->rng, 0.9, 1.1));
}

/* Clean readings of a coarse meter: what is smaller than a count cannot be known. */
static inline void gen_subres(struct gen *g)
{
	g->meter.q = 1;
	g->meter.sigma = 0.05;
	g->base = gen_between(&g->rng, 8, 12);
	g->length_s = 1200;
	gen_switch(g, gen_between(&g->rng, 250, 350), gen_between(&g->rng, 0.2, 0.8))->must = false;
	gen_switch(g, gen_between(&g->rng, 550, 650), gen_between(&g->rng, 7, 12));
	gen_switch(g, gen_between(&g->rng, 850, 950), gen_between(&g->rng, 0.2, 0.8))->must = false;
	g->change[0].hidden = g->change[2].hidden = true;
}

/* Two at once or within four seconds are one; ten seconds apart they are two. */
static inline void gen_together(struct gen *g)
{
	double t = 60, size[GEN_SIZES];

	gen_shuffle(g, size, GEN_SIZES);
	g->base = gen_between(&g->rng, 0, 3);
	for (size_t i = 0; i < GEN_SIZES; i += 2, t += 120) {
		struct gen_change *a, *b;
		double dt;

		t += gen_between(&g->rng, 0, 30);
		a = gen_switch(g, t, size[i]);
		switch (gen_pick(&g->rng, 0, 2)) {
		case 0:
			dt = 0;
			break;
		case 1:
			dt = gen_between(&g->rng, 1, 4);
			break;
		default:
			dt = gen_between(&g->rng, 10, 20);
		}
		b = gen_switch(g, t + dt, size[i + 1]);
		/* one goes while another comes, where that leaves enough to be seen */
		if (dt == 0 && fabs(size[i] - size[i + 1]) > 1.4)
			b->watts = -b->watts;
		b->part = dt < 5;
		if (b->part)
			a->t_last = b->t;
	}
	g->length_s = t;
}

/* A refrigerator's compressor beside devices that are plugged meanwhile. */
static inline void gen_cycling(struct gen *g)
{
	double t = gen_between(&g->rng, 100, 250), size[GEN_SIZES];
	size_t next = 0;

	gen_shuffle(g, size, GEN_SIZES);
	g->base = 12;
	while (t < 3300) {
		double on = gen_between(&g->rng, 150, 220), off = gen_between(&g->rng, 200, 300);
		double watts = gen_between(&g->rng, 88, 92);
		struct gen_change *c = gen_switch(g, t, watts);

		c->inrush = gen_between(&g->rng, 3, 5);
		c->inrush_s = gen_between(&g->rng, 0.6, 1.5);
		c->settle = 0.08;
		c->tau = gen_between(&g->rng, 10, 15);
		gen_switch(g, t + on, -watts);
		if (next < GEN_SIZES) {
			double middle = t + on + 0.5 * off + gen_between(&g->rng, -25, 25);

			gen_switch(g, middle, size[next++]);
		}
		t += on + off;
	}
	g->length_s = t + 50;
}

/* One reading in seven lost; a hole with a change in it, and one without. */
static inline void gen_gaps(struct gen *g)
{
	static const double size[] = {3.2, 6.4, 9, 14.6, 22.8};
	size_t in = (size_t)gen_pick(&g->rng, 0, 4), quiet = (in + 2) % 5;

	g->base = gen_between(&g->rng, 0, 3);
	g->meter.lose = 1 / 7.;
	g->length_s = 850;
	for (size_t i = 0; i < 5; i++) {
		double t = 100 + 150 * (double)i + gen_between(&g->rng, -20, 20);
		double w = size[i] * (gen_uniform(&g->rng) < 0.7 ? 1 : -0.5);

		gen_switch(g, t, w * gen_between(&g->rng, 0.9, 1.1));
		if (i == in || i == quiet) {
			double a = i == in ? t - gen_between(&g->rng, 5, 30)
					   : t + gen_between(&g->rng, 20, 40);

			g->hole[g->holes][0] = a;
			g->hole[g->holes++][1] = a + gen_between(&g->rng, 35, 60);
		}
	}
}

/* Spikes of up to three readings, some of them large. */
static inline void gen_spikes(struct gen *g)
{
	g->meter.spikes = 0.01;
	gen_plugs(g, 120);
}

/* u of a change is 0.5 W sqrt(9 * 2/150) = 0.17 W; the limit is ten of it. */
static inline void gen_ar1(struct gen *g)
{
	g->meter.sigma = 0.5;
	g->meter.phi = 0.8;
	gen_plugs(g, 150);
	for (size_t i = 0; i < g->changes; i++)
		g->change[i].must = fabs(g->change[i].watts) >= 1.7;
}

static inline void gen_ar1_null(struct gen *g)
{
	g->meter.sigma = 0.5;
	g->meter.phi = 0.8;
	g->base = gen_between(&g->rng, 1, 30);
	g->length_s = 1800;
}

static inline void gen_white_null(struct gen *g)
{
	g->meter.q = 1;
	g->meter.sigma = 0.5;
	g->base = gen_between(&g->rng, 1, 30);
	g->length_s = 3600;
}

/* 2000 readings a second of a load that pulses with the mains. */
static inline void gen_mains(struct gen *g)
{
	g->meter = (struct gen_meter){.rate = 2000, .q = 0.05, .sigma = 1, .ripple = 50};
	g->base = gen_between(&g->rng, 15, 30);
	g->length_s = 4;
	gen_switch(g, gen_between(&g->rng, 1, 3), gen_uniform(&g->rng) < 0.5 ? 5 : -5);
}

struct gen_family {
	const char *name;
	void (*make)(struct gen *g);
	double least_found;  /* part of the changes */
	double most_covered; /* of intervals with k = 2 */
	unsigned times;	     /* so many times the seeds: few changes in a trace */
};

static const struct gen_family gen_families[] = {
	{"plug-ins, 1 W", gen_plug_1w, 0.99, 0.99, 1},
	{"plug-ins, 0.1 W", gen_plug_01w, 0.99, 0.99, 1},
	{"inrush, settling", gen_inrush, 0.99, 0.99, 1},
	{"drift", gen_drift, 0.99, 0.99, 1},
	{"below resolution", gen_subres, 0.99, 1, 1},
	{"close together", gen_together, 0.99, 0.99, 1},
	{"cycling load", gen_cycling, 0.99, 1, 1},
	{"gaps", gen_gaps, 0.99, 0.99, 1},
	{"spikes", gen_spikes, 0.99, 0.99, 1},
	{"correlated noise", gen_ar1, 0.99, 0.99, 1},
	{"correlated, no step", gen_ar1_null, 0.99, 1, 1},
	{"white, no step", gen_white_null, 0.99, 1, 1},
	{"2 kHz", gen_mains, 0.99, 0.99, 4},
};

#endif
