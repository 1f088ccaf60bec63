/* SPDX-License-Identifier: MIT */
/*
 * Inside a campaign. campaign.c decides when to act, campaign_ready.c whether the DUT is
 * there, campaign_make.c reads the options, campaign_stop.c counts and knows when it is
 * enough.
 */
#ifndef WW_CONTROL_CAMPAIGN_H
#define WW_CONTROL_CAMPAIGN_H

#include "control/draw.h"
#include "control/life.h"
#include "control/look.h"
#include "control/past.h"
#include "control/stage.h"

#define WW_CAMPAIGN_LOOK_NS (20 * WW_NS_PER_MS)
/* A wake that could not be given is tried again. */
#define WW_CAMPAIGN_AGAIN_NS (2 * WW_NS_PER_S)

enum ww_phase {
	PH_READY,   /* waiting for a heartbeat before the command */
	PH_SUSPEND, /* command given, waiting for silence */
	PH_ASLEEP,  /* silent, waiting for the time to wake it */
	PH_WAKE,    /* wake given, waiting for a byte */
	PH_SETTLE,  /* back, waiting for quiet time */
	PH_RESET,   /* never came back: reset, waiting for a heartbeat */
	PH_OFF,	    /* the action at the end */
	PH_DONE
};

enum { SUSPEND, WAKE, RESET, OFF, STEPS };

struct ww_campaign {
	struct ww_recorder *rec;
	uint32_t serial;
	struct ww_campaign_options opt;
	int64_t alarm_s[2]; /* of a wake "rtc:2s..10s"; 0: none is drawn */
	struct ww_stage step[STEPS];
	struct ww_loop *loop;
	struct ww_timer *timer;
	struct ww_life life;
	struct ww_look *look_at; /* NULL: nobody asks how the cycles are */
	struct ww_look_found found;
	enum ww_phase phase;
	uint32_t cycle;		      /* number of the last that was begun */
	uint32_t done, warm, stopped; /* ended: counted ones, warm-ups, others */
	uint32_t good, bad, unknown;  /* of those that are counted, as the campaign saw them */
	bool warming;		      /* this one is a warm-up */
	int64_t asleep_ns;	      /* of this one */
	int64_t since;		      /* when the phase began */
	int64_t steady_ns;	      /* since when it beats without a silence */
	int64_t wake_ns;	      /* when the wake began to be waited for */
	int64_t request_ns;	      /* when the suspend command was given */
	uint64_t bytes_at;	      /* signs of life seen when the phase began */
	bool alarm;	    /* it wakes by an alarm of its own, set by the suspend command */
	bool alarm_due;	    /* which has not rung yet */
	int64_t alarm_ns;   /* and does so from here on */
	int64_t away_ns;    /* since when an adapter is unplugged, 0 none */
	int64_t checked_ns; /* when the adapter of an action was looked for, 0: it is there */
	int64_t back_ns;    /* when it was plugged in again */
	bool was_away;	    /* in this cycle */
	bool early;	    /* it was back before the wake was given */
	bool again;	    /* a machine that does not beat was reset once */
	bool roused;	    /* and woken before, between two cycles */
	bool waited;	    /* what is waited for was said */
	uint32_t no_cycle;  /* 0: marks between two cycles */
	bool hung, off_done, made;
	int64_t begun_ns, spent_ns; /* of this cycle; of all that ended here */
	uint32_t spent;
	char end[200]; /* why it ended, or "" */
	struct ww_error err;
};

/* campaign.c */
void ww_campaign_enter(struct ww_campaign *c, enum ww_phase p, int64_t now);
void ww_campaign_look(void *ctx, int64_t now, int64_t late);

/* campaign_ready.c: between two cycles, and after a reset. */
enum ww_ready { WW_READY_WAIT, WW_READY_GO, WW_READY_RESET };

/* Whether it lives steadily; what can be done to a DUT that does not is done. */
enum ww_ready ww_campaign_ready(struct ww_campaign *c, int64_t now);
/* On standard error, and in the trace. */
void ww_campaign_tell(struct ww_campaign *c, const char *what);
void ww_campaign_ready_over(struct ww_campaign *c);

/* campaign_make.c: what this cycle is given. */
int ww_campaign_draw(struct ww_campaign *c);

/* campaign_stop.c */
void ww_campaign_count(struct ww_campaign *c, const char *how, int64_t now);
/* Enough? Then c->end says why. */
bool ww_campaign_enough(struct ww_campaign *c);
/* Is the last cycle judged, or need not be? */
bool ww_campaign_judged(struct ww_campaign *c, int64_t now);
const char *ww_campaign_phase(const struct ww_campaign *c);

#endif
