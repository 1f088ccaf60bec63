/* SPDX-License-Identifier: MIT */
/*
 * The pace of a meter that is asked again and again: when to ask next, which answer only
 * repeats the last one, what was lost between two, and a register that fell back.
 */
#ifndef WW_METER_PACE_H
#define WW_METER_PACE_H

#include "meter/meter.h"

struct ww_pace {
	int64_t every_ns;   /* between questions */
	int64_t refresh_ns; /* the same values sooner than this are a repeat; 0: none are */
	size_t channels;
	bool live; /* mains: its values never stay the same for long */

	int64_t next_ns; /* of the next question */
	/* When the question at hand, that of `last` and that of `seen` were due. */
	bool asks;
	int64_t asked_ns, last_asked_ns, seen_asked_ns;
	bool has_last;
	struct ww_interval last; /* reading that was given */
	struct ww_interval seen; /* last answer, repeats too */
	int64_t code[WW_METER_CHANNELS];
	int64_t changed_ns;
	bool frozen;	       /* told */
	unsigned missed;       /* questions in a row */
	const char *why;       /* the last of them */
	int64_t told_ns, told; /* silence already told: up to when, how many readings */
};

void ww_pace_init(struct ww_pace *p, size_t channels, int64_t every_ns, int64_t refresh_ns);
/* Time between readings. */
int64_t ww_pace_period(const struct ww_pace *p);
/* A question is asked now: sets next_ns. */
void ww_pace_asked(struct ww_pace *p, int64_t now_ns);
/* An answer: a reading, or (false) the repeat of one. */
bool ww_pace_give(struct ww_pace *p, struct ww_interval t, const int64_t *codes,
		  const struct ww_meter_out *out);
/* No answer, or none that can be used; why is a constant: "silent", "damaged". */
void ww_pace_miss(struct ww_pace *p, int64_t now_ns, const char *why,
		  const struct ww_meter_out *out);
/* Before ww_pace_give(): did the counter `channel` fall without its wrap (in codes)? */
void ww_pace_register(const struct ww_pace *p, struct ww_interval t, const int64_t *codes,
		      size_t channel, int64_t wrap, const char *what,
		      const struct ww_meter_out *out);
void ww_meter_tell(const struct ww_meter_out *out, struct ww_interval t, const char *fmt, ...)
	WW_PRINTF(3, 4);
/*
 * Where readings were lost that should have come after `from` and before the one at t:
 * not in the time for which that one stands itself.
 */
struct ww_interval ww_lost_before(int64_t from, struct ww_interval t, int64_t period_ns);
/* a - b; intervals may be open. */
static inline int64_t ww_since(int64_t a, int64_t b)
{
	int64_t r;

	return __builtin_sub_overflow(a, b, &r) ? (a > b ? WW_TIME_MAX : WW_TIME_MIN) : r;
}

#endif
