/* SPDX-License-Identifier: MIT */
/*
 * Which USB device a serial port belongs to, whatever name the kernel gives it: a
 * device that was unplugged comes back as ttyUSB1, and another one may be ttyUSB0 then.
 */
#ifndef WW_BUS_TTYFIND_H
#define WW_BUS_TTYFIND_H

#include "base/base.h"
#include "base/usbid.h"

#define WW_TTY_CLASS "/sys/class/tty"

struct ww_tty_ident {
	char name[64]; /* "ttyUSB0" */
	unsigned vid, pid;
	int interface;
	char place[64];	  /* where it is plugged in: "1-2.3" */
	char serial[112]; /* "" where it has none */
};

/* By the name of a serial port; false: none behind USB. `class_dir`: WW_TTY_CLASS. */
bool ww_tty_ident(const char *class_dir, const char *name, struct ww_tty_ident *out);
/* As text of at most n bytes, and from it (without the name). */
void ww_tty_ident_put(const struct ww_tty_ident *id, char *text, size_t n);
bool ww_tty_ident_get(const char *text, struct ww_tty_ident *out);
/* Is it the same device? By its serial number, or by its place if it has none. */
bool ww_tty_ident_same(const struct ww_tty_ident *a, const struct ww_tty_ident *b);
/* The serial port that this device has now; 0, -ENODEV. */
int ww_tty_find_again(const char *class_dir, const struct ww_tty_ident *was,
		      struct ww_tty_ident *out);
/*
 * The serial port of a device of these ids (ends with vid 0), of several that with this
 * serial number (NULL: any). -ENODEV: there is none, -ENOTUNIQ: several; err says which.
 */
int ww_tty_find_ids(const char *class_dir, const struct ww_usb_id *ids, const char *serial,
		    struct ww_tty_ident *out, struct ww_error *err);

#endif
