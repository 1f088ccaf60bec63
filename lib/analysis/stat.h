/* SPDX-License-Identifier: MIT */
/* Inside of `struct ww_stat`, for the report; and how its figures come about. */
#ifndef WW_ANALYSIS_STAT_H
#define WW_ANALYSIS_STAT_H

#include "analysis/integral.h"
#include "analysis/wall.h"
#include "base/notes.h"

/* What a report says beyond the public figures of a channel. */
struct ww_stat_extra {
	bool accuracy_known;
	bool counter;	       /* figures of a register, not of values over time */
	const char *lost;      /* why what a register counted is uncertain, "" */
	double pair_E, pair_R; /* J by integral and register, in the stretches z compares */
	double to_joules;      /* J in one unit s (or one unit, for a register); 0: no energy */
	double readings_u;     /* part of mean.u that is not the maker's bound */
	double quantiser_u;    /* part of readings_u that more readings do not make less */
	double spread;	       /* of neighbouring readings, in the unit; NaN unknown */
	double stamps_J;       /* part of energy_J.u from the times of the first and the last */
};

struct ww_stat {
	struct ww_channel_stat *channel;
	struct ww_stat_extra *extra;
	size_t channels;
	struct ww_notes notes;
	char **text; /* names, quantities and units of the channels */
	size_t texts;
	struct ww_wall wall; /* of the first record */
	double from_s, to_s; /* window, since the first record */
};

/* One channel while it is being read. */
struct ww_stat_channel {
	struct ww_channel_info info;
	struct ww_stat_channel *counter; /* register beside a power channel */
	bool is_counter;
	bool one_way;		  /* its register leaves to another one what flows back */
	bool manual;		  /* a person read it */
	int64_t want_lo, want_hi; /* window asked for, as far as the trace goes */
	int64_t limit;		  /* longer intervals are gaps; INT64_MAX: none are */
	int64_t period;		  /* declared, between readings; 0 irregular */
	double delay_s;		  /* by so much the delay of a reading may differ */
	union {
		struct ww_integral w;
		struct ww_counter k;
	};
	/*
	 * Readings of the register with a value of the power beside them: sums over
	 * the stretches that both saw whole, and where both were at the latest.
	 */
	bool paired, fresh;
	double pair_E, pair_R, pair_ns;
	uint64_t pieces; /* stretches: each begins and ends with a rounding of its own */
	double pair_e, pair_r;
	int64_t pair_t, pair_gap_ns;
	uint64_t pair_resets;
};

/* One source while it is being read. */
struct ww_stat_reading {
	struct ww_stat *stat;
	struct ww_trace *trace;
	const struct ww_source_info
		*info;			  /* a copy: what a trace lends lives until the next call */
	struct ww_stat_channel **channel; /* in the order of the columns */
	size_t channels;
	bool pairs; /* a register stands beside a power channel */
	struct ww_interval *gap;
	size_t gaps;
	int64_t *reset; /* times of marks that tell of a reset, in order */
	size_t resets, next_reset;
	int64_t t; /* of the latest row: times never fall */
};

/*
 * Which intervals are gaps, channel by channel (a meter may give some values
 * with every tenth reading only).
 */
int ww_stat_find_limits(struct ww_stat_reading *r, struct ww_error *err);
/* All rows that the window needs, through the integrals and registers. */
int ww_stat_read(struct ww_stat_reading *r, struct ww_error *err);

/*
 * Difference of an integral E (standard uncertainty u) and what a register of step r
 * counted over so many stretches, over its standard uncertainty. Each stretch has two
 * roundings of its own.
 */
double ww_register_z(double E, double u, double R, double r, double pieces);

/* Joules in one `unit` second; 0: not a unit of power. */
double ww_power_joules(const char *unit);
/* Joules in one `unit`; 0: not a unit of energy. */
double ww_energy_joules(const char *unit);

/* A note; a failed allocation is kept in *rc. */
#define ww_stat_say(s, rc, ...)                                                                    \
	(ww_note(&(s)->notes, __VA_ARGS__), *(rc) = (s)->notes.bad ? -ENOMEM : *(rc))

/* Figures and their uncertainties from what was read. */
void ww_stat_figures(const struct ww_stat_channel *c, struct ww_channel_stat *out,
		     struct ww_stat_extra *extra);
/* Energy of a power channel so far, J, for register pairs. */
double ww_stat_joules(const struct ww_stat_channel *c);

/* Notes on a channel whose figures are s->channel[i], and on the whole. */
void ww_stat_remarks(struct ww_stat *s, int *rc, const struct ww_source_info *src,
		     const struct ww_stat_channel *c, size_t i);
void ww_stat_common_remarks(struct ww_stat *s, int *rc, struct ww_trace *t);

#endif
