/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_suspend_model`: powers, gaps, policies. */
#ifndef WW_ANALYSIS_SUSPEND_MODEL_H
#define WW_ANALYSIS_SUSPEND_MODEL_H

#include "analysis/series.h"
#include "base/base.h"
#include "base/notes.h"

/* A transition into suspend and back, and what an idle gap costs with and without. */
struct ww_suspend_power {
	double idle, asleep; /* W */
	double e_tr;	     /* J beyond asleep, both ways */
	double cost_tr;	     /* the same with the price of a wake that is noticed */
	double enter, leave; /* s */
	double edge;	     /* s: gaps longer than this are worth it; T_be */
	double edge_cost;    /* likewise with the price */
	/* e_tr's derivatives by idle, asleep, transition_watts, latency, and by itself */
	double by_idle, by_asleep, by_tr, by_latency, by_e;
};

/* The law of the gaps: a distribution, or what was recorded (a fixed length is one gap). */
struct ww_gap_law {
	int32_t kind;
	double mean;		     /* s */
	double theta;		     /* exponential */
	double least, alpha, most;   /* Pareto */
	size_t n;		     /* recorded */
	double *gap, *sorted, *upto; /* [n], [n], [n + 1]: sums of the shortest */
	size_t *order;		     /* [n]: index in gap of each of sorted */
	double total;
};

struct ww_suspend_model {
	struct ww_suspend_options opt;
	struct ww_suspend_power power;
	struct ww_gap_law law;
	struct ww_suspend_result r;
	struct ww_policy_result policy[WW_POLICY_COUNT];
	bool transition_taken; /* its power was not given: that of idle */
	bool unsaved;	       /* idle and suspended power are not told apart */
	struct ww_notes notes;
};

/* Transitions of one kind: into suspend, or out of it. */
struct ww_suspend_edges {
	const struct ww_series *x;
	double idle, asleep; /* W */
	double noise;	     /* of a reading, correlation included */
	double step;	     /* what the meter's steps add */
	double length;	     /* s, above 0 */
	double longest;	     /* that it may be: as far around a flank readings are looked at */
	bool rising;	     /* out of suspend */
	const double *at;    /* [n] s: where the power passes the middle of both levels */
	size_t n;
};

/* Mean power during them: the best, and all that the readings allow. NaN: too few. */
struct ww_suspend_edge {
	double watts, lo, hi;  /* hi: INFINITY where nothing bounds it */
	double squares, worse; /* of the best, and how much more is allowed */
	bool misfit;	       /* more than noise is left: not one power, or not that length */
};

int ww_suspend_edges(const struct ww_suspend_edges *in, struct ww_suspend_edge *out,
		     struct ww_error *err);

int ww_gap_law_make(struct ww_gap_law *g, const struct ww_suspend_options *o, struct ww_error *err);
void ww_gap_law_free(struct ww_gap_law *g);
/* E[min(gap, x)] and P(gap > x); x may be INFINITY. */
double ww_gap_upto(const struct ww_gap_law *g, double x);
double ww_gap_beyond(const struct ww_gap_law *g, double x);
/* x with P(gap - t > x | gap > t) = .95: what a gap goes on for, in all but 5 % of them. */
double ww_gap_rest(const struct ww_gap_law *g, double t);

/* Average W where each tenth of the gaps is judged by the time-out that suits the others. */
int ww_suspend_cross(const struct ww_suspend_model *m, double *watts);
void ww_suspend_policies(struct ww_suspend_model *m);
void ww_suspend_remarks(struct ww_suspend_model *m);

#endif
