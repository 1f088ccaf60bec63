/* SPDX-License-Identifier: MIT */
/*
 * The integral of one channel over time by its declared semantics, and the
 * increments of a register that counts. Pure: rows in, figures out. Codes and
 * nanoseconds are whole numbers, so that whole intervals add up exactly and in
 * any grouping.
 */
#ifndef WW_INTEGRAL_H
#define WW_INTEGRAL_H

#include "analysis/noise.h"
#include "base/stats.h"

/* Readings since some point: their number and how far they spread. */
struct ww_spread {
	uint64_t n;
	double first; /* differences are taken from this one */
	double s, ss;
};

static inline void ww_spread_add(struct ww_spread *p, double v)
{
	double d;

	if (p->n++ == 0)
		p->first = v;
	d = v - p->first;
	p->s += d;
	p->ss += d * d;
}

/* Sample variance; 0 with fewer than two. */
double ww_spread_var(const struct ww_spread *p);

/* Rows of one source. t is the time of the reading and never falls. */
struct ww_rows {
	size_t n;
	const int64_t *t;
	const int64_t *lo; /* arrival, to be compared with recorded gaps */
	const int64_t *hi;
};

/* A register beside the integral: what it counted in the latest interval. */
struct ww_counter;

struct ww_integral {
	/* set before the first row */
	int32_t semantics;
	int64_t from, to;	       /* of t */
	int64_t limit;		       /* longer intervals are gaps */
	int64_t period;		       /* what a reading covers at most; 0: its interval */
	bool opens;		       /* a first row without a value begins the first mean */
	const struct ww_interval *gap; /* recorded, of arrival, ordered by lo */
	size_t gaps_recorded;
	const struct ww_counter *counter; /* may be NULL: used across gaps */
	double counter_area;		  /* code ns of this channel for one count of it */
	double counter_base;		  /* added for each ns (an offset of this channel) */
	double counter_u;  /* standard uncertainty of a difference of readings, code ns */
	double counter_ns; /* by how much its age may differ from reading to reading */

	/* results: codes and ns */
	uint64_t n, missing;
	int64_t min, max;
	int64_t begin, end; /* what is covered; begin > end: nothing */
	int64_t plain_ns;
	int64_t gap_ns;
	uint64_t gaps;
	uint64_t gaps_counted; /* of these, filled from the register */
	int64_t thin_ns;       /* part of plain_ns that lost readings should have covered */
	uint64_t thin;	       /* intervals in which some were lost */
	double begin_width;    /* ns of the first stamp where that is the beginning, else 0 */
	int64_t begin_code;
	double last; /* latest code in the window */
	struct ww_noise noise;

	/* state */
	bool any, done, was_gap, was_counted;
	bool opened; /* the row before had no value, and began a mean */
	bool ends;   /* the latest reading is the end of what is covered */
	int64_t t0, c0, lo0, hi0;
	size_t next_gap;
	size_t was_record;
	__int128 sum0, sum1; /* of dt c0 and dt c1 over whole intervals */
	struct ww_sum cut;   /* code ns of intervals cut by the window */
	struct ww_sum gap_area;
	struct ww_sum gap_var;
	/* the latest gap, as far as known: sums of d^2 and of (d (c1 - c0))^2 / 12 */
	double open_d2, open_jump;
	double side_var;	/* of the readings before it */
	struct ww_spread piece; /* readings since then */
	struct ww_spread all;
	struct ww_sum jump; /* of (dt (c1 - c0))^2 over plain intervals */
	struct ww_sum dt2;  /* of dt^2 over the same */
};

void ww_integral_init(struct ww_integral *w, int32_t semantics);
void ww_integral_add(struct ww_integral *w, const struct ww_rows *r, const int64_t *codes);
/* Integral so far, code ns. */
double ww_integral_area(const struct ww_integral *w);
/* Standard uncertainty of the part that lies in gaps, code ns. */
double ww_integral_gap_u(const struct ww_integral *w);
/*
 * Likewise of the times of the first and the last reading: their stamps' widths.
 * base: added to each code (an offset of the channel).
 */
double ww_integral_stamp_u(const struct ww_integral *w, double base);
/*
 * Likewise of changes between readings: of a moment's values nobody knows when in
 * the interval between them the load changed. noise2: variance of the difference of
 * two neighbours by noise alone, which is no change.
 */
double ww_integral_jump_u(const struct ww_integral *w, double noise2);

struct ww_counter {
	/* set before the first row */
	int64_t from, to;
	int64_t wrap; /* codes after which it starts again, 0 never */

	/* results */
	uint64_t n, missing;
	int64_t min, max;
	int64_t begin, end;
	uint64_t wraps, resets;
	uint64_t turns_unknown; /* intervals so long that it may have turned more than once */

	/* the latest interval */
	bool last_ok;	/* false: none, or it was reset or turned an unknown number of times */
	int64_t t0, t1; /* from and to */
	int64_t last;	/* counts */

	/* state */
	bool told_reset; /* set by the caller: it was set to nothing since the last reading */
	bool any, done;
	int64_t c1;
	int64_t counted_ns; /* time and counts of all intervals, for the usual pace */
	__int128 counted;
	__int128 sum; /* whole intervals inside the window */
	struct ww_sum cut;
};

void ww_counter_init(struct ww_counter *k);
/*
 * One row. expect: what it should have counted since the last reading, from a
 * wattmeter beside it; NaN unknown.
 */
void ww_counter_add(struct ww_counter *k, int64_t t, int64_t code, double expect);
/* Counts between begin and end. */
double ww_counter_get(const struct ww_counter *k);

#endif
