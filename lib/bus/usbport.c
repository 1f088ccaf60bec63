/* SPDX-License-Identifier: MIT */
#include "bus/portimpl.h"

int ww_usb_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	(void)place;
	(void)options;
	return ww_fail(err, -ENOTSUP, "%s: built without libusb: install libusb-1.0-0-dev, then make",
		       p->place);
}
