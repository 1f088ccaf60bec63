/* SPDX-License-Identifier: MIT */
/* Baud rates and the raw line: what of termios needs the kernel's own headers. */
#ifndef WW_BUS_BAUD_H
#define WW_BUS_BAUD_H

#include "bus/portimpl.h"

/* The kernel's code (B115200) of a rate, 0 where it has none and BOTHER is needed. */
uint32_t ww_baud_code(int64_t baud);
/* i-th rate that has a code, rising; 0 past the end. */
int64_t ww_baud_at(size_t i);

/* The line's settings as they were found. */
struct ww_termios;
/*
 * Set the line raw. *saved receives what was found. What the driver gave instead
 * of what was asked is an error, or, with lenient (a pseudo-terminal has no
 * line), passed over. *baud: the rate in force.
 */
int ww_line_set(int fd, const char *name, const struct ww_line *line, bool lenient,
		struct ww_termios **saved, int64_t *baud, struct ww_error *err);
/*
 * Put back what was found, but leave HUPCL off, since with it DTR would fall at
 * the close and reset what hangs on it. Frees saved (may be NULL).
 */
void ww_line_restore(int fd, struct ww_termios *saved);

#endif
