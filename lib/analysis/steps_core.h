/* SPDX-License-Identifier: MIT */
/* What the parts of step detection share; steps.h is what others see. */
#ifndef WW_STEPS_CORE_H
#define WW_STEPS_CORE_H

#include "analysis/steps.h"

#include <math.h>

#define WW_STEP_BLOCK 32 /* readings whose noise is looked at together */
#define WW_STEP_LAGS  5
#define WW_STEP_BINS  64 /* most points that an exponential is fitted to */

/* Physical limits of what belongs to one change. */
#define WW_STEP_TOGETHER_S 5.0	/* changes so close are one, */
#define WW_STEP_INRUSH_S   1.0	/* among fast readings these, */
#define WW_STEP_LEVEL_N	   8	/* or as long as so many readings take */
#define WW_STEP_SETTLING_S 60.0 /* later ones may be its settling */
#define WW_STEP_SETTLING   0.35 /* if they are no larger a part of it */
#define WW_STEP_FADED	   0.2	/* time constant of what has settled, in parts of its level */

/* Sums over readings. */
struct ww_step_sums {
	double w, v, vv, t, tt, tv;
};

/* How many, their means, and sums of products about these. */
struct ww_step_moments {
	double w, t, v, tt, tv, vv;
};

/* The readings as they are looked at: maybe averages over cycles of the mains. */
struct ww_step_data {
	size_t n;
	double *t;	 /* s since origin, which is the first reading */
	double *lo, *hi; /* s as they came */
	double origin;
	double *v; /* less centre */
	uint8_t *hole;
	uint8_t *out; /* 1: outlier, or between two levels: no part of a fit */
	double centre;
	double q;		    /* step of the display; 0 */
	double coarse, coarse_from; /* its step in a higher range, above that; 0 */
	double floor;		    /* least sigma */
	double period;		    /* s */
	double spike;		    /* readings of the longest spike */
	double gain;		    /* bound of it, a part */
	bool spiky;		    /* it has spikes apart from changes */
	size_t block;		    /* readings averaged into one */
	size_t *first;		    /* [n] the first of them */
	double mains_hz;

	size_t lag; /* readings apart that differ by noise: 2 where each is shown twice */
	double sigma, phi, tau;	 /* usual noise */
	double odd_phi, odd_tau; /* of blocks whose noise is of another size */
	uint8_t *odd;		 /* by blocks: 1: it is */
	double slope2;		 /* variance of the levels' slopes; 0: no drift */
	bool flat;		 /* no level of it drifts: neither lines nor slow curves */
	double smooth;		 /* a change saves so many variances against one curve */
	bool drifting, steep;	 /* levels, a level, beyond doubt */
	double *local;		 /* by blocks of WW_STEP_BLOCK: standard deviation there */
	double beta, bound;	 /* of the partition, in standard deviations */
	double least;		 /* a change has so many standard uncertainties at least */

	struct ww_step_sums *sum; /* see ww_step_data_sum() */
};

/* Between two levels: the first reading that shows it, and the first after it. */
struct ww_step_bound {
	size_t i, f;
};

/* A level's shape: c; c + a (t - t0); c + a exp(-(t - t0)/tau_s). */
struct ww_step_fit {
	int32_t shape; /* enum ww_level_shape */
	int32_t params;
	bool drifts;	      /* see ww_step_drifts() */
	double n;	      /* readings; 0: no fit */
	double t0, t1, tau_s; /* t1: of the last reading */
	double c, a;
	double rss;
	double cov[3][3]; /* of c, a, tau_s for variance 1 and no correlation */
	double tau;	  /* of the noise there */
	double hold;	  /* of a line: what its slope is held by */
	double s2;	  /* variance of the readings, shrunk towards the usual */
	double dof;	  /* that s2 rests upon */
	double q;	  /* step of the display there; of results only */
};

/* step_data.c: take the readings over, find what noise they have. */
int ww_step_data_init(struct ww_step_data *d, const struct ww_step_input *in, struct ww_error *err);
void ww_step_data_free(struct ww_step_data *d);

/* step_range.c: find a coarser range of the display. */
void ww_step_range(struct ww_step_data *d);
/* The step in [from, to). */
double ww_step_own_q(const struct ww_step_data *d, size_t from, size_t to);

/* step_moments.c: sums for the fits, after out[] was set. */
void ww_step_data_sum(struct ww_step_data *d);
/* Of the readings in [from, to) that are not out. */
void ww_step_moments(const struct ww_step_data *d, size_t from, size_t to,
		     struct ww_step_moments *m);

/* step_noise.c */
int ww_step_noise(struct ww_step_data *d);
/* What a change must cost, in variances, for n, tau and spike. */
void ww_step_penalty(struct ww_step_data *d);
static inline double ww_step_local(const struct ww_step_data *d, size_t i)
{
	return d->local[i / WW_STEP_BLOCK];
}

/* What the partition takes for one standard deviation: penalties are by the usual tau. */
static inline double ww_step_reach(const struct ww_step_data *d, size_t i)
{
	size_t b = i / WW_STEP_BLOCK;
	double s = d->odd[b] ? d->local[b] * sqrt(d->odd_tau / d->tau) : d->local[b];

	/* A display's next count is never an outlier. */
	return s * d->bound < 1.6 * d->q ? 1.6 * d->q / d->bound : s;
}

static inline double ww_step_tau(const struct ww_step_data *d, size_t i)
{
	return d->odd[i / WW_STEP_BLOCK] ? d->odd_tau : d->tau;
}

/* step_mains.c: 50 or 60 Hz seen in it, or 0; readings to be averaged. */
size_t ww_step_mains(const struct ww_step_input *in, double period, double *hz);

/* Place a change among the readings themselves. */
void ww_step_refine(const struct ww_step_data *d, const struct ww_step_input *in,
		    struct ww_step_event *e);

/* step_events.c: changes taken together. *bound is the caller's to free. */
int ww_step_bounds(struct ww_step_data *d, const double *marker, size_t markers,
		   struct ww_step_bound **bound, size_t *bounds);
/* Those that are left, so close that they are one; true: some were. */
bool ww_step_together(struct ww_step_data *d, const double *marker, size_t markers,
		      struct ww_step_bound *bound, size_t *bounds);

/* step_bend.c: a change that is the late settling of the one before it is no change. */
void ww_step_bends(struct ww_step_data *d, const double *marker, size_t markers,
		   struct ww_step_bound *bound, size_t *bounds);

/* step_level.c: the shape that [from, to) has. */
void ww_step_fit(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit);
/* Without the covariance of an exponential, which takes time. */
void ww_step_shape(const struct ww_step_data *d, size_t from, size_t to, struct ww_step_fit *fit);
/* A line, whatever the level's shape. */
void ww_step_fit_line(const struct ww_step_data *d, size_t from, size_t to,
		      struct ww_step_fit *fit);
/* One shape only, for comparison: residual sum of squares. */
double ww_step_fit_as(const struct ww_step_data *d, size_t from, size_t to, int32_t shape);
double ww_step_fit_at(const struct ww_step_fit *f, double t);
/* Its derivatives by c, a and the time constant. */
void ww_step_fit_slopes(const struct ww_step_fit *f, double t, double g[3]);
/* Covariance of the fit at two times, for variance 1 and no correlation. */
double ww_step_fit_cov(const struct ww_step_fit *f, double t1, double t2);

/* step_settling.c: an exponential, no better than need be if it leaves far more than enough. */
double ww_step_settling(const struct ww_step_data *d, size_t from, size_t to, double enough,
			struct ww_step_fit *f);
/* Covariance of its parameters. */
void ww_step_settling_cov(const struct ww_step_data *d, size_t from, size_t to,
			  struct ww_step_fit *f);

/* step_prune.c: drop what does not stand out; *bounds falls. */
int ww_step_prune(struct ww_step_data *d, struct ww_step_bound *bound, size_t *bounds);

/* step_drift.c: slope2 and drifting of the whole trace. all: changes before some were dropped. */
void ww_step_drift(struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		   const struct ww_step_bound *all, size_t n);
/*
 * Whether it drifts as the level before did (NULL: none), which no change of the load
 * makes; otherwise it settles after the change that it begins with.
 */
bool ww_step_drifts(const struct ww_step_fit *f, const struct ww_step_fit *before);
/* When the fit gives the level that counts for a change at t: then, or in the end. */
double ww_step_when(const struct ww_step_fit *f, bool drifts, double t);

/* step_pool.c: phi and tau of the residuals of levels whose noise is odd, or is not. */
void ww_step_pooled(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		    bool odd, double *phi, double *tau);

/* step_u.c */
/* Standard deviation that is seen, whatever was known before. */
double ww_step_seen(const struct ww_step_fit *f);
/* Noise before the quantiser, if all levels have the same. */
double ww_step_dither(const struct ww_step_data *d, const struct ww_step_fit *fit, size_t n);
/* What the quantiser leaves in a level's mean. */
double ww_step_quantiser(const struct ww_step_fit *f, double dither);
/* Half of what covers 95.45 %: for twice the standard uncertainty to do so. */
double ww_step_student(double dof);
/* uA, uG, u and dof of an event from the variances of both levels; uQ is set. */
void ww_step_uncertainty(const struct ww_step_data *d, double va, double dof_a, double vb,
			 double dof_b, struct ww_step_event *e);
/* The state: as given, or unresolved with bounds. */
void ww_step_judge(const struct ww_step_level *a, const struct ww_step_level *b,
		   struct ww_step_event *e, int32_t state);
/* step_result.c: the events and levels. */
int ww_step_results(const struct ww_step_data *d, const struct ww_step_bound *bound, size_t bounds,
		    struct ww_step_result *out);

#endif
