/* SPDX-License-Identifier: MIT */
/* What the tests of comparisons share. */
#ifndef TESTS_COMPARING_H
#define TESTS_COMPARING_H

#include "analysis/compare.h"
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static const double A[] = {100.2, 101.0, 99.8, 100.5, 100.9, 99.9, 100.4, 100.7};
static const double B[] = {98.9, 99.6, 98.8, 99.5, 99.3, 98.7, 99.1, 99.6};

#define OPT .size = sizeof(struct ww_compare_options)
#define SET(name, what, v)                                                                         \
	((struct ww_compare_set){.variant = (name),                                                \
				 .measure = (what),                                                \
				 .unit = "J",                                                      \
				 .value = (v),                                                     \
				 .n = sizeof(v) / sizeof((v)[0])})

static inline void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("got %.17g, want %.17g", got, want);
}

static inline struct ww_compare *compare(const struct ww_compare_set *set, size_t n,
					 const struct ww_compare_options *o)
{
	struct ww_compare *c = NULL;
	struct ww_error err = {0};

	if (ww_compare_new(set, n, o, &c, &err) < 0)
		fail_msg("%s", err.text);
	return c;
}

static inline bool says(const struct ww_compare *c, const char *part)
{
	const char *n;

	for (size_t i = 0; (n = ww_compare_note(c, i)); i++)
		if (strstr(n, part))
			return true;
	return false;
}

static uint64_t seed = 88172645463325252u;

static inline double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static inline double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

#endif
