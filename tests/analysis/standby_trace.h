/* SPDX-License-Identifier: MIT */
/* Traces for the tests of ww_standby: from a vector, and simulated modes. */
#ifndef TESTS_STANDBY_TRACE_H
#define TESTS_STANDBY_TRACE_H

#include "stat_trace.h"

#include "base/str.h"

/* A trace of n readings at 1/s. */
static inline struct ww_trace *trace_of(struct bench *b, const double *v, size_t n, double dt,
					double scale, const struct chan *like)
{
	struct chan c = like ? *like : (struct chan){"power", "power", "W", WW_AVERAGE, scale,
						     scale,   0,       0,   0};
	struct ww_source_info info = {.kind = WW_METER,
				      .name = "meter",
				      .period_ns = (int64_t)(dt * 1e9)};

	bench_open(b, &info, &c, 1);
	for (size_t i = 0; i < n; i++)
		bench_row(b, (double)i * dt, &v[i]);
	return bench_read(b);
}

/* The vector's readings; free() them. */
static inline double *vector(const char *name, size_t *n)
{
	char path[256], text[128];
	double *v = calloc(20000, sizeof(*v));
	FILE *f;

	snprintf(path, sizeof(path), "tests/data/vectors/%s.csv", name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s is not there", path);
	*n = 0;
	assert_non_null(fgets(text, sizeof(text), f));
	while (fgets(text, sizeof(text), f))
		v[(*n)++] = ww_strtod(strchr(text, ',') + 1, NULL);
	fclose(f);
	return v;
}

#endif
