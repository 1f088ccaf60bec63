/* SPDX-License-Identifier: MIT */
/* Figures of many cycles, by name; internal. */
#ifndef WW_ANALYSIS_CYCLESET_H
#define WW_ANALYSIS_CYCLESET_H

#include "base/base.h"
#include "base/notes.h"

struct ww_metric {
	char *name;	  /* unique in the set */
	const char *kind; /* "latency", "kernel", "phase", "device", "energy" */
	const char *unit; /* "ms", "J", "W" */
	/* Devices: else "". */
	char *device, *driver, *func, *phase;
	size_t cap;
	double *v;    /* by cycle: NaN not observed, INFINITY it never ended */
	double *half; /* half-width of its interval; NaN unknown */
	double *own;  /* devices: own part of the critical path, ms; NaN */
};

struct ww_cycleset {
	char *name;
	size_t cycles, metrics, metrics_cap;
	struct ww_metric *metric;
	uint32_t *hash; /* name -> index + 1 */
	size_t hash_n;
	uint64_t failures; /* cycles that were not ok */
	uint8_t *failed;   /* by cycle */
	size_t failed_cap;
	struct ww_notes notes;
};

/* NULL: none of that name. */
const struct ww_metric *ww_cycleset_find(const struct ww_cycleset *s, const char *name);

#endif
