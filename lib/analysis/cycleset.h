/* SPDX-License-Identifier: MIT */
/* Figures of many cycles, by name; internal. */
#ifndef WW_ANALYSIS_CYCLESET_H
#define WW_ANALYSIS_CYCLESET_H

#include "base/base.h"
#include "base/notes.h"

struct ww_metric {
	char *name;	  /* unique in the set */
	const char *kind; /* "latency", "kernel", "phase", "other", "device", "energy" */
	const char *unit; /* "ms", "J", "W" */
	/* Devices: else "". */
	char *device, *driver, *func, *phase;
	size_t cap;
	double *v;    /* by cycle: NaN not observed, INFINITY it never ended */
	double *half; /* half-width of its interval; NaN unknown */
	double *own;  /* devices: own part of the critical path, ms; NaN */
};

enum ww_set_outcome { WW_SET_OK = 0, WW_SET_FAILED, WW_SET_UNKNOWN };

/* The value of a cycle past `cap`: none. */
static inline double ww_metric_value(const struct ww_metric *m, size_t cycle)
{
	return cycle < m->cap ? m->v[cycle] : __builtin_nan("");
}

struct ww_cycleset {
	char *name;
	size_t cycles, metrics, metrics_cap;
	struct ww_metric *metric;
	uint32_t *hash; /* name -> index + 1 */
	size_t hash_n;
	uint64_t failures, judged; /* cycles that were not ok; that have a verdict at all */
	uint8_t *failed;	   /* by cycle: enum ww_set_outcome */
	size_t failed_cap;
	struct ww_notes notes;
};

/* A further cycle. @return 0 or -ENOMEM */
int ww_cycleset_cycle(struct ww_cycleset *s, enum ww_set_outcome outcome, struct ww_error *err);
/* What a value of the latest cycle is of; strings are copied. */
struct ww_metric_key {
	const char *name, *kind, *unit; /* kind and unit: constants */
	const char *device, *driver, *func, *phase;
};
/*
 * A value of the latest cycle; a second one of the same name is added to the first. own: NaN
 * none. @return 0 or -ENOMEM
 */
int ww_cycleset_put(struct ww_cycleset *s, const struct ww_metric_key *key, double v, double half,
		    double own, struct ww_error *err);
/* NULL: none of that name. */
const struct ww_metric *ww_cycleset_find(const struct ww_cycleset *s, const char *name);

#endif
