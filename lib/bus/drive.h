/* SPDX-License-Identifier: MIT */
/*
 * A line that is driven: taken, set, put back as it was found. Runs in the guard
 * (guard.h), a process that may call the kernel and nothing else, so GPIO lines are
 * driven by the kernel's own interface (Linux 5.10 or newer) whatever libgpiod there
 * is, and FTDI chips by vendor requests, which need no claim of an interface.
 */
#ifndef WW_BUS_DRIVE_H
#define WW_BUS_DRIVE_H

#include "base/base.h"

enum ww_drive_kind {
	WW_DRIVE_GPIO = 1,
	WW_DRIVE_TTY,	/* DTR or RTS of a serial port of the kernel */
	WW_DRIVE_MODEM, /* DTR or RTS of an FTDI chip */
	WW_DRIVE_CBUS,	/* CBUS pin of an FTDI chip */
	WW_DRIVE_BITS	/* data pin of an FTDI chip, in bit-bang mode */
};

enum ww_drive_type { WW_PUSH_PULL, WW_OPEN_DRAIN, WW_OPEN_SOURCE };

#define WW_DRIVE_OTHER (-1) /* the level that it has not: a tty that tells */

/* Goes to the guard as it is. */
struct ww_drive {
	int32_t kind;	   /* enum ww_drive_kind */
	int32_t level;	   /* while it is driven: 1 high (DTR, RTS: asserted), 0, WW_DRIVE_OTHER */
	int32_t type;	   /* enum ww_drive_type, GPIO */
	int32_t rts;	   /* 1: RTS, 0: DTR */
	uint32_t offset;   /* of a GPIO line; bit of a pin */
	int32_t interface; /* of an FTDI chip, from 0 */
	int32_t index;	   /* the same in its requests, from 1; 0 where it has one */
	int32_t reserved;
	char path[128]; /* chip, tty, USB node */
};

struct ww_drive_state {
	int fd, line;  /* -1 none */
	bool borrowed; /* fd is another's port */
	bool input;    /* as it was found */
	bool claimed;
	int level;	/* as it was found */
	uint64_t found; /* flags of a GPIO line */
};

/* fd: an open tty that is lent, -1 none. Changes nothing but what opening does. */
int ww_drive_take(struct ww_drive_state *s, const struct ww_drive *d, int fd);
int ww_drive_set(struct ww_drive_state *s, const struct ww_drive *d);
/*
 * As it was found; an output after a pulse (rather than held) goes to the other level, so
 * that a line which stood at the level of a press does not stay pressed.
 */
int ww_drive_back(struct ww_drive_state *s, const struct ww_drive *d, bool pulse);
void ww_drive_drop(struct ww_drive_state *s, const struct ww_drive *d);

#endif
