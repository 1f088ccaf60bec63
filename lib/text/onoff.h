/* SPDX-License-Identifier: MIT */
/*
 * Who was on when a meter was read: devices with their states, changed by sentences
 * such as "+monitor", "-monitor", "monitor=standby", "all unplugged"; and tables of such
 * changes and readings as people type them. Pure.
 */
#ifndef WW_TEXT_ONOFF_H
#define WW_TEXT_ONOFF_H

#include "base/notes.h"

#define WW_ONOFF_DEVICES  250
#define WW_ONOFF_STATES	  16 /* of a device, off not counted */
#define WW_ONOFF_READINGS 20000

struct ww_onoff_device {
	char *name;
	char *state[WW_ONOFF_STATES]; /* "on", "standby"; state 1 is state[0] */
	size_t states;
	uint8_t now; /* 0 off */
	size_t line; /* that changed it last; 0 none */
	bool named;  /* in the present input */
	bool begun;  /* went out without ever having come in: it was on before */
};

struct ww_onoff_reading {
	size_t line;	     /* of the text; 0: of no text */
	uint8_t *on;	     /* state of each device; those known later were off */
	size_t devices;	     /* length of `on` */
	double watts;	     /* as the meter showed it */
	double u;	     /* its standard uncertainty as told; NaN */
	double step;	     /* one of its last digit, W: 0.1 of "40.5"; 0: not typed */
	double va, pf, v, a; /* NaN: not given */
	double t_s;	     /* NaN: not known */
};

/* Zero-initialise. */
struct ww_onoff {
	struct ww_onoff_device *device;
	size_t devices;
	struct ww_onoff_reading *reading;
	size_t readings, cap;
	size_t resets; /* how often all was said to be off */
	size_t first;  /* reading of the present input */
	bool emptied;  /* all was said to be off in it */
	/* "all on": from this reading on, whatever is named later; alone: nothing was named yet. */
	bool all_on, alone;
	size_t all_from;
	struct ww_notes notes;
};

void ww_onoff_free(struct ww_onoff *o);

/* Number of a device, in whatever case its ASCII letters are; negative: none such. */
int ww_onoff_find(const struct ww_onoff *o, const char *name, size_t n);
/* The same, made where it is not known. Blanks around and in a row do not count. */
int ww_onoff_device(struct ww_onoff *o, const char *name, size_t n, struct ww_error *err);
/* Number, from 1, of a state of a device; 0: off. Made where it is not known. */
int ww_onoff_state(struct ww_onoff *o, size_t device, const char *name, size_t n,
		   struct ww_error *err);

enum ww_change {
	WW_CHANGE_BARE = 0, /* a name without a sign: nothing was done */
	WW_CHANGE_DONE = 1
};
/*
 * Do what a sentence says: one change or several ("+box +monitor"). `where`, "table:3",
 * begins an error; `line` is kept for later errors. What contradicts (plugged in twice, out
 * without having been in) is -EINVAL and changes nothing. @return enum ww_change
 */
int ww_onoff_change(struct ww_onoff *o, const char *text, size_t n, const char *where, size_t line,
		    struct ww_error *err);
/*
 * A table or trace begins, in which anything may be on. What goes out in it without having
 * come in was on from its beginning, or from "all on". What "all on" spoke of and nobody
 * named is a device of its own where the readings tell it from nothing.
 */
void ww_onoff_begin(struct ww_onoff *o);
int ww_onoff_end(struct ww_onoff *o, struct ww_error *err);
/* Was it on before it went out? Then it is made so. @return 1, 0, -ENOMEM */
int ww_onoff_was_on(struct ww_onoff *o, const char *name, size_t n, const char *where,
		    struct ww_error *err);
/* "all on" */
int ww_onoff_all_on(struct ww_onoff *o, size_t line, struct ww_error *err);
/* All off, which somebody said. @return 0, -ENOMEM, -EINVAL */
int ww_onoff_reset(struct ww_onoff *o, size_t line, struct ww_error *err);
/* A reading in the present state; all but watts and `on` are as given in r. */
int ww_onoff_read(struct ww_onoff *o, const struct ww_onoff_reading *r, struct ww_error *err);

/* Forget the last reading. */
void ww_onoff_unread(struct ww_onoff *o);

/*
 * A table: one reading a line, in either form of pwrlog-attribute(1). `name` begins the
 * errors: "name:3: 'abc' is not a reading in W".
 */
int ww_onoff_table(struct ww_onoff *o, const char *name, const char *text, size_t n,
		   struct ww_error *err);

/* A reading with or without unit and uncertainty. */
struct ww_onoff_number {
	double value, u, step; /* u NaN: not told */
};
/*
 * "13.5 W", "13,5", "25 ± 0.5 W" (k = 2), "1.2 kW", "0.60 kWh / 24 h". unit: what it must be, "W",
 * "VA", "V", "A" or "" (no unit). @return 1, 0 empty, -EINVAL
 */
int ww_onoff_number(const char *p, size_t n, const char *unit, double scale,
		    struct ww_onoff_number *out);

#endif
