/* SPDX-License-Identifier: MIT */
/*
 * What shows that a DUT runs: bytes of a serial line, the level of a meter or a line, or
 * a command that succeeds.
 */
#ifndef WW_CONTROL_LIFE_H
#define WW_CONTROL_LIFE_H

#include "capture/capture.h"
#include "control/action.h"

enum ww_life_kind { WW_LIFE_BYTES, WW_LIFE_LEVEL, WW_LIFE_COMMAND };

struct ww_life {
	struct ww_recorder *rec;
	struct ww_loop *loop;
	int kind;
	uint32_t source; /* recorder's id of a serial line, a meter or a line */
	size_t column;	 /* of a level */
	char sign;	 /* '<', '>', '=' */
	double level;
	struct ww_action *ask;
	struct ww_timer *again;
	struct ww_error *err; /* of a command that cannot be started; lent */
	/* What was seen. */
	bool alive;
	int64_t last_ns; /* of the newest sign, 0 none */
	uint64_t n;	 /* signs so far */
	int64_t seen_ns; /* of the newest evidence, of either kind */
	int64_t look_ns;
	struct ww_interval gone, back; /* the two newest changes; lo > hi: none yet */
};

/* text NULL: the bytes of `serial`. */
int ww_life_new(struct ww_life *l, uint32_t serial, const char *text, struct ww_error *err);
/* Once for every look of the campaign. */
void ww_life_look(struct ww_life *l, int64_t now);
/* Its adapter is unplugged. */
bool ww_life_away(const struct ww_life *l);
void ww_life_free(struct ww_life *l);

#endif
