/* SPDX-License-Identifier: MIT */
/* Which of the FTDI chips that are plugged in. */
#ifndef WW_BUS_FTDIFIND_H
#define WW_BUS_FTDIFIND_H

#include "base/uri.h"

struct ftdi_context;
struct ww_port;
struct ww_usb_dev;

/* FTDI's own product ids that are serial chips. */
bool ww_ftdi_known(unsigned vid, unsigned pid);
/*
 * By vid, pid, serial (or the place itself, or "1-2.3" as the place) and the port's memory, in
 * what the kernel says; refused while another program has its serial port open.
 * *interface: as asked for, 1 to 4; 0 the first.
 */
int ww_ftdi_find(struct ww_port *p, const char *place, struct ww_uri *options,
		 struct ww_usb_dev *dev, int *interface, struct ww_error *err);
int ww_ftdi_open_dev(struct ftdi_context *c, const struct ww_usb_dev *dev, int interface,
		     const char *name, struct ww_error *err);

#endif
