/* SPDX-License-Identifier: MIT */
/* Sets of cycles with figures of known truth. To be included behind cmocka.h. */
#ifndef TESTS_CYCLESETS_H
#define TESTS_CYCLESETS_H

#include "analysis/cycleset.h"

#include <math.h>

/* Marsaglia's xorshift (2003): the same everywhere. The seed is not 0. */
struct draws {
	uint64_t x;
};

static inline double draw(struct draws *d)
{
	d->x ^= d->x << 13;
	d->x ^= d->x >> 7;
	d->x ^= d->x << 17;
	return (double)(d->x >> 11) / 9007199254740992.0;
}

/* Neighbouring seeds begin alike. */
static inline struct draws draws_of(uint32_t seed)
{
	struct draws d = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};

	for (int i = 0; i < 20; i++)
		draw(&d);
	return d;
}

/* Long to one side, as times of resume are: median 0, some of ten. */
static inline double draw_skewed(struct draws *d)
{
	return -log(1 - draw(d)) - 0.6931471805599453;
}

static inline struct ww_cycleset *set_new(const char *name)
{
	struct ww_cycleset *s = NULL;

	assert_int_equal(ww_cycleset_new(name, &s, NULL), 0);
	return s;
}

static inline void set_cycle(struct ww_cycleset *s, enum ww_set_outcome outcome)
{
	assert_int_equal(ww_cycleset_cycle(s, outcome, NULL), 0);
}

static inline void set_put(struct ww_cycleset *s, const char *kind, const char *name, double v,
			   double half)
{
	struct ww_metric_key k = {.name = name, .kind = kind, .unit = "ms"};

	assert_int_equal(ww_cycleset_put(s, &k, v, half, NAN, NULL), 0);
}

static inline void set_device(struct ww_cycleset *s, const char *device, const char *driver,
			      const char *phase, double v, double own)
{
	char name[128];
	struct ww_metric_key k = {.name = name,
				  .kind = "device",
				  .unit = "ms",
				  .device = device,
				  .driver = driver,
				  .phase = phase};

	snprintf(name, sizeof(name), "device %s %s %s", device, driver, phase);
	assert_int_equal(ww_cycleset_put(s, &k, v, 0.001, own, NULL), 0);
}

/* A set with one latency, a value a cycle; infinite ones are cycles that failed. */
static inline struct ww_cycleset *set_of(const char *name, const double *v, size_t n, double half)
{
	struct ww_cycleset *s = set_new(name);

	for (size_t i = 0; i < n; i++) {
		set_cycle(s, isinf(v[i]) ? WW_SET_FAILED : WW_SET_OK);
		set_put(s, "latency", "resume_to_user", v[i], half);
	}
	return s;
}

#endif
