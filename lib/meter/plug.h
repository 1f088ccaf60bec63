/* SPDX-License-Identifier: MIT */
/*
 * What smart plugs have in common: asked once a second, they show values that they renew
 * each second or two, and give up in the same ways. Pure, like the drivers that use it.
 */
#ifndef WW_METER_PLUG_H
#define WW_METER_PLUG_H

#include "meter/pace.h"

/* The plug's own update interval, as far as makers and users tell. */
#define WW_PLUG_WINDOW_NS WW_NS_PER_S
/* A value may be as old as two updates when it is asked for. */
#define WW_PLUG_DELAY_NS (2 * WW_NS_PER_S)
#define WW_PLUG_WHY	 200

enum ww_plug_phase { WW_PLUG_IDLE, WW_PLUG_WAIT, WW_PLUG_REST, WW_PLUG_DEAD };

struct ww_plug {
	struct ww_pace pace; /* first readings, repeats, silence */
	enum ww_plug_phase phase;
	int64_t reply_ns; /* an answer that takes longer is none */
	int64_t deadline_ns, begun_ns;
	bool known;	       /* has answered once as it should */
	char why[WW_PLUG_WHY]; /* the last question had no answer because of that */
	bool odd;	       /* told: see ww_plug_check() */
	int8_t decimals[8];    /* of each channel, as seen; -1 none yet */
};

int ww_plug_init(struct ww_plug *p, const char *name, size_t channels, int64_t every_ns,
		 int64_t reply_ns, struct ww_error *err);
void ww_plug_start(struct ww_plug *p, int64_t now_ns);
/* Call the driver's question now? Tells silence, and gives up on what never answered. */
bool ww_plug_tick(struct ww_plug *p, int64_t now_ns, const char *hint,
		  const struct ww_meter_out *out);
/* A question is on its way; values: it is that for values, which sets the pace. */
void ww_plug_asked(struct ww_plug *p, int64_t now_ns, bool values);
/* The next question in its time. */
void ww_plug_rest(struct ww_plug *p, int64_t now_ns);
/* Values came. */
void ww_plug_good(struct ww_plug *p, struct ww_interval t, const int64_t *codes,
		  const struct ww_meter_out *out);
/* Nobody answered, because of `why`, of n bytes. */
void ww_plug_silent(struct ww_plug *p, struct ww_interval t, const char *why, size_t n,
		    const struct ww_meter_out *out);
/* An answer that is no use this time. */
void ww_plug_bad(struct ww_plug *p, struct ww_interval t, const char *why,
		 const struct ww_meter_out *out);
/* This device can never be used. */
void ww_plug_fail(struct ww_plug *p, const struct ww_meter_out *out, int code, const char *fmt, ...)
	WW_PRINTF(4, 5);
/*
 * "200\n{...}": 1 and the body where it is that. Else the matter is settled: told
 * as silence, or given up (a login, a server that is no such plug). who: "Tasmota".
 */
int ww_plug_http(struct ww_plug *p, struct ww_interval t, const uint8_t *msg, size_t n,
		 const char *who, const uint8_t **body, size_t *len,
		 const struct ww_meter_out *out);
/*
 * What no chip measures: more watts than volts times amperes (a phantom spike) is told
 * once, and 0 A beside watts are below its threshold: then there is no current.
 * NAN: not known.
 */
void ww_plug_check(struct ww_plug *p, struct ww_interval t, double watts, double volts, double amps,
		   int64_t *amps_code, const struct ww_meter_out *out);
/*
 * The resolution of a channel whose digits count in `unit`: what was seen is as coarse as
 * that or finer, since a reader of JSON loses zeros at the end; `usual` until then.
 */
double ww_plug_resolution(const struct ww_plug *p, size_t c, double unit, double usual);
/* Channel c had so many decimals; true: the description has become finer, tell it again. */
bool ww_plug_seen(struct ww_plug *p, size_t c, int decimals);

#endif
