/* SPDX-License-Identifier: MIT */
/* What a USB device is known by, and how its data is reached. Shared by bus and meter. */
#ifndef WW_USBID_H
#define WW_USBID_H

#include "base/base.h"

/* A row of a driver's table; ends with vid 0. */
struct ww_usb_id {
	uint16_t vid, pid;
	const char *name; /* "POWER-Z KM003C" */
	uint32_t bus;	  /* enum ww_bus that serves it best */
	int8_t interface; /* -1: found by its class, or the first */
	uint8_t ep_in;	  /* 0x81; 0: the first of the interface */
	uint8_t ep_out;	  /* 0x01; 0: the first, if there is one */
	bool generic;	  /* many other devices have this id: only asking tells */
};

/* Ways in which bytes and messages travel; a meter's description has a mask of them. */
enum ww_bus {
	WW_BUS_STREAM = 1, /* bytes without boundaries: tty, ftdi, unix, tcp */
	WW_BUS_USB = 2,	   /* packets of bulk or interrupt endpoints */
	WW_BUS_HID = 4,	   /* reports of /dev/hidraw */
	WW_BUS_TMC = 8,	   /* messages of USB test and measurement */
	WW_BUS_HTTP = 16,  /* a request, a reply */
	WW_BUS_FILES = 32, /* files of a folder in /sys */
	WW_BUS_IIO = 64,   /* such files, and a buffer of scans */
	WW_BUS_EDGES = 128 /* edges of a GPIO line */
};

#endif
