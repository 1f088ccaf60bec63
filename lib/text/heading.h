/* SPDX-License-Identifier: MIT */
/* What the name of a column says: quantity and unit. Pure. */
#ifndef WW_TEXT_HEADING_H
#define WW_TEXT_HEADING_H

#include "base/base.h"

enum ww_heading_kind {
	WW_HEAD_UNKNOWN,
	WW_HEAD_TIME,  /* since something, or a stamp */
	WW_HEAD_DATE,  /* of a stamp whose time of day stands in another column */
	WW_HEAD_STEP,  /* time since the row before */
	WW_HEAD_LABEL, /* text that says what was going on */
	WW_HEAD_VALUE
};

struct ww_heading {
	int kind;
	bool utc;	      /* a time that is told to be UTC */
	bool has_unit;	      /* the name tells it; else it is the usual one */
	bool wide;	      /* the name alone, without a unit, is no proof: "p", "v", "i" */
	const char *quantity; /* "power", ...; static */
	const char *unit;     /* base unit: "W", "V", "A", "Wh", "J", ...; static */
	int exponent;	      /* of ten: value in the base unit = number * 10^exponent; of
				 times: of a second */
	int seconds;	      /* times in minutes or hours: 60, 3600; else 1 */
	char name[48];	      /* for a channel: the heading without its unit; "" the quantity's */
};

/* "power_W", "Current (mA)", "watts", "Time [ms]", "t", "PF", "CPU_ENERGY (J)" */
void ww_heading_read(const char *text, struct ww_heading *out);
/* A unit alone: "mW", "Watts". false: none that is known */
bool ww_unit_read(const char *p, size_t n, struct ww_heading *out);

#endif
