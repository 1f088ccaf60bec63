/* SPDX-License-Identifier: MIT */
/*
 * Two sets of cycles beside each other; internal. Failures rank above every time that was
 * measured, as +infinity: a build that never comes back is no faster one.
 */
#ifndef WW_ANALYSIS_SHIFT_H
#define WW_ANALYSIS_SHIFT_H

#include "analysis/cycleset.h"

#define WW_SHIFT_ALPHA 0.05

/* What a report says beyond the public row. */
struct ww_shift_extra {
	const struct ww_metric *m[2]; /* during ww_shift_new() only */
	const char *device, *driver, *phase;
	double least;  /* the smallest p that so few cycles can give */
	double own[2]; /* devices: median of their own part of the critical path, ms */
	double scatter[2];
};

enum ww_shift_state { WW_COND_NOT_MET = 0, WW_COND_MET, WW_COND_UNDECIDED };

enum ww_cond_kind { WW_COND_SHIFT = 0, WW_COND_FAILURES, WW_COND_MORE_FAILURES };

/* A condition of --fail-if. */
struct ww_shift_cond {
	char *text;    /* as it was given */
	char *subject; /* a row's name, "any device", "resume" */
	int kind;
	bool percent, faster, median;
	double limit;	/* ms, J, W, percent, or cycles */
	const char *in; /* unit of the limit; NULL percent, or none */
	/* Verdict. */
	int state;	     /* enum ww_shift_state */
	const char *of;	     /* the row that decided, NULL none */
	double value, upper; /* ends of the interval in its direction, or the estimate in both */
	double against;	     /* the limit in the row's unit */
	const char *unit;
	double grain;	 /* what the row's interval leaves of digits; NaN unknown */
	uint64_t needed; /* undecided: cycles a side that would decide it, about; 0 unknown */
};

struct ww_shift_side {
	char *name;
	uint64_t cycles, judged, failures;
	double rate_ci[2];
};

struct ww_shift {
	struct ww_shift_row *row;
	struct ww_shift_extra *extra;
	size_t rows, cap;
	struct ww_notes texts; /* what names in the rows are lent from */
	struct ww_shift_side side[2];
	double failures_p; /* Fisher, two-sided; NaN nothing to test */
	struct ww_shift_cond *cond;
	size_t conds;
	size_t top;
	size_t small_devices; /* left out: too short to matter */
	size_t tested[2];     /* phases, devices */
	struct ww_notes notes;
};

/* Both samples with INFINITY for failures; fills n, failures, median, shift, ci, p, mdd. */
int ww_shift_figures(const double *a, size_t n, const double *b, size_t m, struct ww_shift_row *r,
		     struct ww_shift_extra *x);
/* Two-sided exact test of x of n against y of m (Fisher, J. R. Stat. Soc. 85, 1922). */
double ww_fisher(uint64_t x, uint64_t n, uint64_t y, uint64_t m);
/* The verdict, once p_adjusted is there. tests: how many p-values Holm had. */
void ww_shift_judge(struct ww_shift_row *r, const struct ww_shift_extra *x, size_t tests);

int ww_shift_conds_parse(struct ww_shift *s, const char *text, struct ww_error *err);
int ww_shift_conds_judge(struct ww_shift *s, struct ww_error *err);
/* Is it a kind of rows: "phase", "device"? */
bool ww_shift_kind(const char *kind);
const char *ww_shift_verdict_name(int verdict);

#endif
