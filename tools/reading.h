/* SPDX-License-Identifier: MIT */
/* What a person types for a meter that has only a display. */
#ifndef TOOLS_READING_H
#define TOOLS_READING_H

#include <stddef.h>

enum reading_kind {
	READING_MARK,	/* a label alone */
	READING_VALUE,	/* a number, perhaps with a label */
	READING_REFUSED /* could be read in two ways: why says what to type instead */
};

struct reading {
	double value;
	const char *label; /* in the line */
	char why[256];
};

/*
 * "40.5", "40,5 W", "40.5 +monitor", "+monitor 40.5", "router, 2"; see
 * pwrlog-record(1). Changes the line. unit: of the meter's channel.
 */
enum reading_kind reading_parse(char *line, const char *unit, struct reading *r);

#endif
