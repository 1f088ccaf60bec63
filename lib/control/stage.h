/* SPDX-License-Identifier: MIT */
/* A step of a campaign: an action, and the marks that say when it was done. */
#ifndef WW_CONTROL_STAGE_H
#define WW_CONTROL_STAGE_H

#include "capture/capture.h"
#include "control/action.h"

struct ww_stage {
	/* Of the campaign, set before ww_stage_make(). */
	struct ww_recorder *rec;
	uint32_t serial;
	const uint32_t *cycle;
	struct ww_error *err; /* of a recording that takes no marks */
	const char *begin_kind, *end_kind;

	struct ww_action *action; /* NULL: not asked for */
	char *form;		  /* as it was asked for */
	char *text;		  /* as it is done */
	char setting[40];	  /* one more of a command's environment */
	bool begun, marked;	  /* runs; its first mark is written */
	bool failed;		  /* the last time: no such line, say; no matter what came of it */
	int64_t over_ns;	  /* when it was over; 0 it runs */
};

void ww_stage_mark(struct ww_stage *s, struct ww_interval t, const char *kind, const char *text);
/* alarm_s: what "{rtc}" in the text stands for, 0 none. text may be NULL. */
int ww_stage_make(struct ww_stage *s, struct ww_loop *loop, const char *text, int64_t alarm_s,
		  struct ww_error *err);
/* What cannot be begun is told in the trace, and the cycle shows what comes of it. */
void ww_stage_begin(struct ww_stage *s);
/* One that still runs ends, and is marked so. */
void ww_stage_end(struct ww_stage *s);
/* An alarm that was set in t: when it goes off; and its marks, once it does. */
struct ww_interval ww_stage_alarm_set(struct ww_stage *s, struct ww_interval t);
void ww_stage_alarm_rings(struct ww_stage *s);
/* The same with other seconds of the alarm: of the wake, and in the suspend command. */
int ww_stage_alarm(struct ww_stage *s, int64_t alarm_s, struct ww_error *err);
/* It could not be done the last time: no such line, say. */
bool ww_stage_failed(const struct ww_stage *s);
void ww_stage_free(struct ww_stage *s);

#endif
