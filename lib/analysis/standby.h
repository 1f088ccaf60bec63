/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_standby`: the readings, the tests of stability, the clauses. */
#ifndef WW_ANALYSIS_STANDBY_H
#define WW_ANALYSIS_STANDBY_H

#include "analysis/series.h"
#include "analysis/wall.h"
#include "base/notes.h"

#define WW_STANDBY_LONGEST_S 10800.0 /* no procedure goes on beyond 3 h */
#define WW_STANDBY_STEP_S    60.0    /* time between two tests of the same trace */
#define WW_STANDBY_CYCLES    4	     /* whole ones that a mean and its slope need */

/* Readings since the mode was entered; averaged to 1 s where they come faster. */
struct ww_standby_data {
	size_t n;
	double *t;	  /* s since the mode was entered */
	double *v;	  /* W */
	double *within;	  /* variance of the readings behind v[i], W^2; 0: one reading */
	double *scratch;  /* [n] */
	double *scratch2; /* [n] */
	double *room;	  /* [2 ww_standby_room(n)], for a transform */
	uint8_t *hole;
	double q;      /* resolution, W; 0 unknown */
	double dt;     /* usual interval, s */
	double begin;  /* s after the trace's first record */
	double length; /* what the trace covers of it, s */
	bool live;
};

/* Level and slope of a stretch with what the noise leaves open. */
struct ww_standby_fit {
	size_t a, b; /* readings [a, b) */
	double from, to;
	uint64_t n;	    /* readings, or cycles */
	double mean, slope; /* W, W/h */
	double u_noise, u_q, u_slope;
	double dof;
	double s, tau; /* scatter around the line, and how long it is correlated, readings */
};

/* Cycles of a mode. */
struct ww_standby_cycle {
	bool found;
	bool on_off;   /* two levels; else by autocorrelation */
	double period; /* s */
	double spread; /* standard deviation of the periods, s; on_off only */
	double swing;  /* W, between high and low */
	double noise;  /* standard deviation of one reading beside the cycles, W */
	size_t rises;
};

struct ww_standby {
	struct ww_standby_result r;
	struct ww_clause *clause;
	size_t clauses;
	struct ww_notes notes;
	struct ww_wall wall;
	struct ww_standby_fit fit;
	struct ww_standby_cycle cycle;
	struct ww_standby_cycle later; /* none up to the verdict, but seen in all of the stretch */
	double early_s;	    /* what the procedure would have ended with, had it ended there */
	double early_watts; /* NaN: no such */
	int32_t early_verdict;
	struct ww_standby_options opt; /* as given; strings are not kept */
	struct ww_series series;       /* its readings are dropped once they were used */
	double acc_abs, acc_rel;       /* in force; NaN unknown */
	char *uri, *driver, *model, *serial, *firmware; /* of the meter */
	char **dut;					/* "key", "value", ... */
	size_t duts;
	char *program, *command; /* that recorded the trace */
	char sha256[65]; /* of the readings: time and value, 8 bytes each, the least first */
};

/* Power of two that holds 2 n. */
size_t ww_standby_room(size_t n);
/* First reading at or after t. */
size_t ww_standby_at(const struct ww_standby_data *d, double t);
/* A line through the readings in [from, to). false: fewer than three of them. */
bool ww_standby_line(struct ww_standby_data *d, double from, double to, struct ww_standby_fit *f);
/* The uncertainties of f: autocorrelation of its residuals, resolution of the meter. */
void ww_standby_line_u(struct ww_standby_data *d, struct ww_standby_fit *f);
/*
 * Sum of the autocorrelations of e: n/tau readings are independent. At least 1. Initial
 * positive sequence, Geyer, Statistical Science 7 (1992).
 */
double ww_standby_tau(const double *e, size_t n);
/* Twice this covers 95 %, with so few degrees of freedom. */
double ww_standby_widen(double u, double dof);

/*
 * Two levels that stand apart, in sorted values. buf: room for n; least: the step of the
 * meter. false: one cloud of values.
 */
bool ww_standby_levels(const double *sorted, size_t n, double *buf, double least, double *low,
		       double *high);
/* Look for cycles in what was read before `to`; `from` is where the result may begin. */
void ww_standby_find_cycles(struct ww_standby_data *d, double from, double to,
			    struct ww_standby_cycle *c);
/* Mean over whole cycles in [from, to) and the slope of their means. false: not one whole. */
bool ww_standby_by_cycles(struct ww_standby_data *d, double from, double to,
			  const struct ww_standby_cycle *c, struct ww_standby_fit *f);

/* The procedure: sets fit, cycle and the verdict in r. */
int ww_standby_run(struct ww_standby *s, struct ww_standby_data *d, struct ww_error *err);
/* IEC 62301 edition 2, as commonly quoted: MCR = CF/PF; NaN unknown counts as 10 or less. */
double ww_standby_u_limit(int procedure, double watts, double mcr);
/* Supply, crest and power factor where they were recorded; the meter; the DUT. */
int ww_standby_surroundings(struct ww_standby *s, struct ww_trace *t, struct ww_error *err);
/* Uncertainty against its limit, clauses, standing, notes. */
int ww_standby_judge(struct ww_standby *s, const struct ww_standby_data *d, struct ww_error *err);
/* Notes. */
void ww_standby_remarks(struct ww_standby *s, const struct ww_standby_data *d);

#endif
