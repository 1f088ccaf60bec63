/* SPDX-License-Identifier: MIT */
/*
 * Meters on a stream that say something only when asked: when to ask, what is missing,
 * how long to wait for silence after garbage. Pure, like the drivers that use it.
 */
#ifndef WW_METER_ASK_H
#define WW_METER_ASK_H

#include "meter/meter.h"

enum ww_ask_phase {
	WW_ASK_IDLE,
	WW_ASK_DRAIN, /* until nothing more comes */
	WW_ASK_WAIT,  /* for the answer */
	WW_ASK_REST,  /* until it is time to ask */
	WW_ASK_DEAD
};

enum ww_ask_todo { WW_ASK_NOTHING, WW_ASK_SEND, WW_ASK_GIVE_UP };

struct ww_ask {
	int64_t period_ns; /* between requests */
	int64_t expect_ns; /* between readings, to count those that are missing */
	int64_t reply_ns;  /* an answer that takes longer is none */
	int64_t least_ns;  /* between an answer and the next request */
	int64_t piece_ns;  /* between two pieces of an answer */
	int64_t quiet_ns;  /* nothing for so long: the line is free */

	enum ww_ask_phase phase;
	int64_t deadline_ns, limit_ns, next_ns, begun_ns;
	int64_t sent_ns, rtt_ns; /* last request; longest time to an answer */
	int64_t held_ns;	 /* by how much that is part of the delay */
	unsigned slow;		 /* answers in a row that took longer than the period */
	bool slower;		 /* expect_ns or held_ns has grown: to be told */
	bool known;		 /* has answered */
	uint64_t heard, heard_before, bad;
	unsigned missed;

	bool has_last, damaged;
	struct ww_interval last;
	int64_t told_ns, told; /* silence already told: up to when, how many */
};

/* Of an answer that took so long: more than this is part of the delay. */
#define WW_ASK_USUAL_NS (100 * WW_NS_PER_MS)

void ww_ask_start(struct ww_ask *a, int64_t now_ns);
/* n bytes came. */
void ww_ask_heard(struct ww_ask *a, struct ww_interval t, size_t n);
/* They were a whole answer. */
void ww_ask_good(struct ww_ask *a, struct ww_interval t, const struct ww_meter_out *out);
/* They were none: wait for silence, then ask again. */
void ww_ask_bad(struct ww_ask *a, struct ww_interval t);
/* GIVE_UP once only, if it has never answered within limit_ns of the start. */
enum ww_ask_todo ww_ask_tick(struct ww_ask *a, int64_t now_ns, const struct ww_meter_out *out);
void ww_ask_stop(struct ww_ask *a);

/* What was heard by a meter that never answered, for the sentence of failure. */
void ww_ask_tale(const struct ww_ask *a, const uint8_t *first, size_t n, char *out, size_t size);

#endif
