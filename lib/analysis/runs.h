/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_runs`: runs of a command in a trace, and what they drew. */
#ifndef WW_RUNS_H
#define WW_RUNS_H

#include "analysis/wall.h"
#include "base/notes.h"

/* Parts of a run that were not read: more than this and its energy is not given. */
#define WW_RUNS_UNREAD 0.05
/* A meter of moments has to read so often in a run. */
#define WW_RUNS_READINGS 2.5

/* Nothing ran from here to there. */
struct ww_runs_base {
	int64_t from, to;
	bool read;		  /* W is known */
	double quantiser_u;	  /* part of watts.u that more readings do not make less */
	uint64_t n;		  /* readings in it */
	double spread;		  /* W, of neighbours among them; NaN unknown */
	struct ww_quantity watts; /* u: of the readings, without the meter's accuracy */
};

struct ww_runs {
	struct ww_run *run;
	size_t runs;
	struct ww_run_variant *variant;
	int64_t *place; /* of each variant in the plan, as the marks tell it */
	size_t variants;
	struct ww_runs_base *base;
	size_t bases;
	bool base_open; /* a baseline began and has not ended */
	struct ww_runs_meter meter;
	int64_t pad_ns; /* readings touched by a run lie no further outside of it */
	/* above the baseline between the end of a run and the next baseline, of all runs */
	double tail_J, tail_u2;
	size_t tails;
	bool failed; /* failed runs count, too */
	struct ww_notes notes;
	struct ww_wall wall;
	int64_t origin_ns; /* the trace's first record */
	char **text;	   /* what the public structures point to */
	size_t texts;
	bool bad; /* out of memory */
};

/* A copy that lives as long as r; "" without memory (r->bad is set). */
const char *ww_runs_keep(struct ww_runs *r, const char *text);
/*
 * Value of a word `key=value` of a mark's text, %XX decoded; `command` takes the rest.
 * False where it is not there; cut to n - 1 bytes.
 */
bool ww_runs_word(const char *text, const char *key, char *out, size_t n);

/* Runs, variants and baselines from the marks. */
void ww_runs_marks(struct ww_runs *r, struct ww_trace *t);
/* Their energies. */
int ww_runs_energies(struct ww_runs *r, struct ww_trace *t, struct ww_error *err);
/* Work and ratios of each run, and the variants' summaries. */
void ww_runs_sums(struct ww_runs *r);

/*
 * What a stretch of T seconds drew above the mean of two baselines (a NaN one is left
 * out): E - T (b0 + b1)/2, u_base = T/2 sqrt(u0^2 + u1^2). Baselines change linearly,
 * or by chance.
 */
struct ww_quantity ww_above_baseline(struct ww_quantity energy, double seconds,
				     struct ww_quantity b0, struct ww_quantity b1);
/* a/b; relative variances are added: the logarithm's delta method. */
struct ww_quantity ww_ratio_u(struct ww_quantity a, struct ww_quantity b);

#endif
