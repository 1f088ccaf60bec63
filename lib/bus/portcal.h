/* SPDX-License-Identifier: MIT */
/*
 * What a loopback measured of a serial path, kept for later openings of the same adapter
 * with the same driver, rate and latency timer: a small text file of lines key=value below
 * $WAKEWATT_STATE, $XDG_STATE_HOME/wakewatt or ~/.local/state/wakewatt.
 */
#ifndef WW_BUS_PORTCAL_H
#define WW_BUS_PORTCAL_H

#include "base/base.h"

struct ww_port;
struct ww_tty_info;

#define WW_PORTCAL_TEXT 2048 /* longest file */

struct ww_portcal {
	char adapter[192]; /* "usb:0403:6001:A7005IDU:0", "uart:0x3F8" */
	char driver[32];   /* name of the transport */
	int64_t baud;
	int64_t latency_ms; /* in force; -1 none */
	int64_t bytes;	    /* measured with so many */
	/* From the end of a byte on the line to where it can be read. */
	int64_t delay_min_ns, delay_max_ns;
	char date[11]; /* "2026-11-30" */
};

/* -EBADMSG: it is none, or damaged. */
int ww_portcal_parse(const char *text, size_t n, struct ww_portcal *out);
/* Its own file, replaced at once; path (n bytes) may be NULL. */
int ww_portcal_store(const struct ww_portcal *c, char *path, size_t n, struct ww_error *err);
/*
 * What is stored for c's adapter, driver, rate and latency timer. @return 1 and *c filled,
 * 0 nothing, -EBADMSG with a sentence that says which file cannot be used.
 */
int ww_portcal_load(struct ww_portcal *c, struct ww_error *err);
/* What an adapter is known by: by serial number, or where it is plugged in. "" if nothing. */
void ww_usb_adapter(unsigned vid, unsigned pid, const char *serial, int interface, char *out,
		    size_t n);
void ww_tty_adapter(const struct ww_tty_info *info, char *out, size_t n);
/*
 * For a port that is being opened, its transport set: uses what was measured. A delay that
 * was only assumed gives way to it; one that is known for sure is only widened.
 */
void ww_portcal_use(struct ww_port *p, int64_t baud, bool assumed);

#endif
