/* SPDX-License-Identifier: MIT */
/* What is on the USB bus. Opens no device. */
#ifndef WW_BUS_USB_H
#define WW_BUS_USB_H

#include "base/base.h"

struct ww_usb_device {
	uint16_t vid, pid;
	uint8_t bus, address, class_;
	char node[32];				    /* "/dev/bus/usb/001/002" */
	char maker[128], product[128], serial[128]; /* "" where the kernel has none */
	char driver[64]; /* of the kernel, for its first interface; "" none */
	bool allowed;	 /* we may open it */
};

typedef int (*ww_usb_fn)(void *ctx, const struct ww_usb_device *d);
/* Calls fn for each but hubs until it returns negative; -ENOTSUP without libusb. */
int ww_usb_scan(ww_usb_fn fn, void *ctx, struct ww_error *err);

#endif
