/* SPDX-License-Identifier: MIT */
/* What is on the USB bus. Opens no device. */
#ifndef WW_BUS_USB_H
#define WW_BUS_USB_H

#include "base/base.h"

struct ww_usb_device {
	uint16_t vid, pid;
	uint8_t bus, address, class_;
	char name[64];				    /* of the kernel: "1-2.3" */
	char node[32];				    /* "/dev/bus/usb/001/002" */
	char maker[128], product[128], serial[128]; /* "" where the kernel has none */
	char driver[64]; /* of the kernel, for its first interface; "" none */
	bool allowed;	 /* we may open it */
};

typedef int (*ww_usb_fn)(void *ctx, const struct ww_usb_device *d);
/* Calls fn for each but hubs, in the order of their names, until it returns negative. */
int ww_usb_scan(ww_usb_fn fn, void *ctx);
/* The kernel's driver of an interface; false: none. */
bool ww_usb_bound(const char *name, int interface, char *out, size_t n);
/*
 * The node of a USB device in a class that its interface (-1: any) has become part of:
 * "hidraw", "usbmisc", "tty". false: none.
 */
bool ww_usb_node(const char *name, int interface, const char *class_name, char *out, size_t n);

#endif
