/* SPDX-License-Identifier: MIT */
/*
 * One channel of a trace as arrays, by the time at which the meter measured, for
 * analyses that need to look at readings more than once. Memory is linear in n.
 */
#ifndef WW_SERIES_H
#define WW_SERIES_H

#include "base/base.h"

struct ww_series {
	char *name;	/* "meter.power" */
	char *unit;	/* "W" */
	char *quantity; /* "power" */
	uint32_t channel, source;
	int32_t semantics;
	bool manual;	   /* a person read it: irregular, no gaps */
	bool any_pace;	   /* as ww_mean_since(): a long pause is no hole */
	double resolution; /* smallest step shown, in W (or the unit); found from the values where
			      the channel does not tell; 0: none to be seen */
	bool resolution_seen;	 /* it was found from the values */
	double acc_abs, acc_rel; /* maker's bounds; NaN unknown */
	double period_s;	 /* usual interval between readings; 0: fewer than two */
	double window_s;	 /* that a reading covers */
	int64_t origin_ns;	 /* t = 0: the trace's first record, or: */
	bool own_time; /* 0 of the time column that an imported file had, which told no date */

	size_t n;		/* readings with a value; missing ones are left out */
	uint64_t missing;	/* rows without one, over- and under-range included */
	int64_t *t_ns;		/* [n] on the axis: end of what the reading covers, never falls */
	int64_t *lo_ns, *hi_ns; /* [n] all that it covers surely lies in here */
	double *v;		/* [n] in the unit; power in W whatever the unit was */
	uint8_t *hole; /* [n] 1: a gap lies before this reading (recorded, or > 2.5 periods) */
	size_t holes;
};

/*
 * Read a channel. name: "SOURCE.CHANNEL", or a source's or channel's name alone where
 * that is unique; NULL: the only channel of `quantity` ("power"), an error that lists
 * the names where there are several. from, to as everywhere; 0 means open.
 */
int ww_series_read(struct ww_trace *t, const char *name, const char *quantity, int64_t from_ns,
		   int64_t to_ns, struct ww_series *out, struct ww_error *err);
/* The channel that a name means. @return its index in the trace, or negative */
int ww_series_find(struct ww_trace *t, const char *name, const char *quantity,
		   struct ww_error *err);
void ww_series_free(struct ww_series *s);
/* Seconds since the trace's first record. */
static inline double ww_series_s(const struct ww_series *s, int64_t t_ns)
{
	return ((double)t_ns - (double)s->origin_ns) / 1e9;
}
/*
 * Smallest step between n values: a step q that nearly all differences are whole
 * multiples of; 0 where there is none.
 */
double ww_resolution_seen(const double *v, size_t n);

/* Intervals between readings of more than so many periods are gaps. */
#define WW_GAP_PERIODS 2.5
#define WW_READING_FAR (INT64_C(1) << 62)
/*
 * When a row that arrived in [lo, hi] was measured, the one before at `before`
 * (-WW_READING_FAR: none). Several that were read at once, after the recorder or the
 * line had stalled, have wide intervals that overlap: the meter took them at its own
 * pace.
 */
int64_t ww_reading_place(const struct ww_source_info *src, int64_t before, int64_t lo, int64_t hi);
/* Does each reading of a channel cover the time since the one before, however long? */
static inline bool ww_mean_since(const struct ww_source_info *src, int32_t semantics)
{
	return src->kind == WW_METER && semantics == WW_AVERAGE && src->window_ns < 0;
}
/* A source's recorded gaps, in order, those that overlap joined; *out is malloc'ed. -ENOMEM */
int ww_source_gaps(const struct ww_trace *t, uint32_t source, struct ww_interval **out,
		   size_t *count);

#endif
