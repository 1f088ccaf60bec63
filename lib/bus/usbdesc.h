/* SPDX-License-Identifier: MIT */
/*
 * What a device says of itself, as the kernel keeps it: descriptors of USB 2.0 chapter 9
 * and of HID 1.11 chapter 6. Pure, and everything in it is hostile.
 */
#ifndef WW_BUS_USBDESC_H
#define WW_BUS_USBDESC_H

#include "base/base.h"

struct ww_usb_iface {
	uint8_t number, class_, subclass, protocol;
	uint8_t ep_in, ep_out;	  /* 0: there is none */
	uint16_t in_max, out_max; /* largest packet, 1 to 1024 */
	bool in_bulk, out_bulk;	  /* else interrupt */
	uint8_t interval;	  /* bInterval of ep_in */
};

/* Which interface, and which of its endpoints; -1 and 0: any. */
struct ww_usb_pick {
	int number, class_, subclass;
	uint8_t ep_in, ep_out;
};

/*
 * d: the device descriptor, and those of its configurations (sysfs' "descriptors").
 * config: value of the one in force. The first interface that is as asked and can be read,
 * its first alternate setting; bulk endpoints before those of interrupts. false: none.
 */
bool ww_usb_desc_find(const uint8_t *d, size_t n, unsigned config, const struct ww_usb_pick *want,
		      struct ww_usb_iface *out);

/* What a HID report descriptor says of numbers before reports. */
struct ww_hid_reports {
	bool numbered;
	uint8_t out_id; /* of the first output report; 0 none */
};
void ww_hid_desc(const uint8_t *d, size_t n, struct ww_hid_reports *out);

#endif
