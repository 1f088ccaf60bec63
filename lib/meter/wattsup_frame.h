/* SPDX-License-Identifier: MIT */
/* Watts up?: bytes to packets "#c,s,n,a1,...,an;" and to what lies between them. */
#ifndef WW_WATTSUP_FRAME_H
#define WW_WATTSUP_FRAME_H

#include "base/base.h"

#define WW_WU_PACKET 480
#define WW_WU_FIELDS 18

struct ww_wu_frame {
	char buf[WW_WU_PACKET]; /* the packet, or the line outside packets; ends with NUL */
	size_t n;
	bool in;
	struct ww_interval t; /* of its first byte */
};

enum ww_wu_event {
	WW_WU_NONE,
	WW_WU_PACKET_END, /* buf: what stood between '#' and ';' */
	WW_WU_HEADLESS,	  /* buf: what stood before a ';' that no '#' opened */
	WW_WU_LINE,	  /* buf: text outside packets */
	WW_WU_UNENDED,	  /* a '#' within a packet: what was before it is lost */
	WW_WU_TOO_LONG
};

/* buf and t are valid until the next byte. */
enum ww_wu_event ww_wu_byte(struct ww_wu_frame *f, struct ww_interval t, char c);

/*
 * Split a packet at its commas, in place: arg[0] command, arg[1] subcommand, then
 * the values. @return number of values, -1 if it is not what the packet announces
 */
int ww_wu_split(char *packet, char **arg, size_t max);
/* "_" and "" are WW_MISSING. False where s is no number of at most 4 bytes. */
bool ww_wu_number(const char *s, int64_t *v);

/* The fields in the order of the channels: where each stands in a record, and its range. */
extern const struct ww_wu_field {
	unsigned index;
	const char *name;
	int64_t lo, hi;
} ww_wu_field[WW_WU_FIELDS];

#endif
