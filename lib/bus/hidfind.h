/* SPDX-License-Identifier: MIT */
/* Which of the HID devices, by what the kernel says in /sys/class/hidraw. */
#ifndef WW_BUS_HIDFIND_H
#define WW_BUS_HIDFIND_H

#include "bus/usbfind.h"

struct ww_hid_dev {
	struct ww_usb_dev usb; /* dir "": not on the USB (Bluetooth, a program) */
	int interface;	       /* -1: none */
	bool boot;	       /* a keyboard or a mouse */
	char name[32];	       /* "hidraw3" */
	char node[64];	       /* "/dev/hidraw3" */
	struct ww_hid_reports reports;
	int64_t poll_ns;
};

/*
 * place: "hidraw3", "/dev/hidraw3", "1-2.3", or "": by w. Of the interfaces of a device
 * that of its table's row, else the first that is neither keyboard nor mouse.
 */
int ww_hid_find(struct ww_usb_want *w, const char *place, struct ww_hid_dev *out,
		struct ww_error *err);
/* As ww_usb_remember(), with the interface. */
void ww_hid_remember(char *memory, const struct ww_hid_dev *d);

#endif
