/* SPDX-License-Identifier: MIT */
/*
 * The core of step detection: arrays in, events and levels out. Pure and
 * deterministic; memory is linear in n. Nothing to tune but the longest spike.
 *
 * A change is first found by functional pruning with the biweight loss (fpop.h),
 * neighbouring changes that belong to one (inrush, settling) are taken together,
 * each level is fitted by a constant, a line or an exponential, and what does not
 * stand out of the noise is dropped again.
 */
#ifndef WW_STEPS_H
#define WW_STEPS_H

#include "base/base.h"

/* Times in s from any origin, the same for all. Values in any unit (W). */
struct ww_step_input {
	size_t n;
	const double *t;       /* end of what the reading covers; never falls */
	const double *lo, *hi; /* surely in here; NULL: t itself */
	const double *v;       /* finite */
	const uint8_t *hole;   /* 1: readings are missing before this one; NULL: none */
	double resolution;     /* step of the display; 0: none */
	double period;	       /* usual interval of readings; 0: the median of them */
	double spike_s;	       /* longest spike to ignore; 0: three readings */
	double acc_rel;	       /* maker's bound of the gain, +- a part; 0 or NaN: not known */
	const double *marker;  /* when somebody said that something changed; in order */
	size_t markers;
};

/*
 * A change. event[] of the result holds what the readings show (state DETECTED, or
 * UNRESOLVED: of one count or less, see bounds); known[] what is found at a mark
 * that no event was matched to (KNOWN_TIME, or UNRESOLVED).
 */
struct ww_step_event {
	size_t i;	      /* first reading that shows it */
	size_t settled_i;     /* first reading of the settled level after it */
	double t_lo, t_hi;    /* when it began: surely between these; a hole is inside */
	double settled;	      /* s: when the level after it was reached */
	double delta;	      /* after - before */
	double u;	      /* standard uncertainty: noise, quantiser and gain */
	double uA, uQ, uG;    /* its parts; u^2 = uA^2 + uQ^2 + uG^2 */
	double dof;	      /* effective degrees of freedom of u; INFINITY: many */
	double before, after; /* levels at this change (a drifting one at its moment) */
	double before_u, after_u;
	/*
	 * Covariance of delta with the next event's delta (the level between them is
	 * common), without the gain: that part is uG of the one times uG of the other,
	 * times the signs of the deltas, for any two events. 0 for the last.
	 */
	double cov_next;
	double peak;	  /* largest excursion beyond both levels until settled; NaN: none */
	double bounds[2]; /* UNRESOLVED: the change lies in between; else NaN */
	int32_t state;	  /* enum ww_step_state */
	int32_t marker;	  /* index of its marker; -1: none */
};

/* What lies between two events: level k before event k, level k + 1 after it. */
struct ww_step_level {
	size_t from, to;  /* readings [from, to) between the events */
	size_t settled_i; /* first one of the settled level, from <= settled_i < to */
	size_t used;	  /* readings that the fit rests upon: no outliers, no inrush */
	double value;	  /* settled level; of a line its value in the middle */
	double u;	  /* standard uncertainty of value: uA and uQ */
	double uA, uQ;	  /* noise; quantiser */
	double dof;	  /* effective degrees of freedom of u */
	double n_eff;	  /* independent readings that `used` are worth */
	double sigma;	  /* standard deviation of the readings about the fit */
	double slope;	  /* per s, of a line; 0 */
	double slope_u;
	double begin, end;  /* fit at the first used and the last reading */
	double settling_s;  /* time constant of an exponential; 0 */
	double min, max;    /* of the used readings */
	int32_t shape;	    /* enum ww_level_shape */
	double q;	    /* step of the display there; 0 */
	int32_t undithered; /* 1: too little noise for the mean to tell parts of a count */
};

struct ww_step_result {
	struct ww_step_event *event; /* in order of time; events + 1 levels, unless n = 0 */
	size_t events;
	struct ww_step_level *level;
	size_t levels;
	struct ww_step_event *known; /* marks without an event, in order of time */
	size_t knowns;
	double least; /* an event's |delta| has so many standard uncertainties (uA) at least */
	double sigma, phi, tau; /* noise of the usual level: (1 + phi)/(1 - phi) */
	double mains_hz;	/* 50 or 60 where readings were averaged by its cycles, else 0 */
	size_t block;		/* readings averaged into one before looking; 1: none */
};

/*
 * Find the changes. out need not be initialised; ww_steps_clear() frees what it
 * holds (also after a failure). -EINVAL: a time that falls, a value that is no
 * number; -ENOMEM.
 */
int ww_steps_find(const struct ww_step_input *in, struct ww_step_result *out, struct ww_error *err);
void ww_steps_clear(struct ww_step_result *r);

/*
 * Estimate of a change at a known time, whether or not anything is to be seen
 * there, with respect to the events of r. state is KNOWN_TIME, or UNRESOLVED with
 * bounds where there is too little noise and the change is one count or less.
 * -ENODATA: fewer than two readings on either side.
 */
int ww_steps_known(const struct ww_step_input *in, const struct ww_step_result *r, double t,
		   struct ww_step_event *out, struct ww_error *err);

/* Quantised mean of level x: noise sigma before a quantiser of step q. */
double ww_quantised_mean(double x, double q, double sigma);

#endif
