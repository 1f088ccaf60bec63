/* SPDX-License-Identifier: MIT */
/*
 * Which of the USB devices that are plugged in, by what the kernel says in /sys. No
 * device is opened and no descriptor read from one, so that looking again four times a
 * second while it is away costs nothing.
 */
#ifndef WW_BUS_USBFIND_H
#define WW_BUS_USBFIND_H

#include "base/uri.h"
#include "base/usbid.h"
#include "bus/sysfs.h"
#include "bus/usbdesc.h"

struct ww_port;

struct ww_usb_dev {
	char name[32]; /* "1-2.3" */
	char dir[WW_SYSFS_PATH];
	char node[64]; /* "/dev/bus/usb/001/002" */
	uint16_t vid, pid;
	char ids[12]; /* "5fc9:0063" */
	uint8_t bus, address;
	char serial[96];
	const struct ww_usb_id *id; /* row of the table; NULL: none was asked for */
	int fd, code;		    /* if asked for: its node, or -1 and why */
};

/* What it is looked for by. */
struct ww_usb_want {
	const char *who;	     /* begins the error's text */
	const struct ww_usb_id *ids; /* NULL: any */
	uint32_t bus;		     /* rows of this bus, if the table has any */
	const char *serial;	     /* "" any */
	const char *at;		     /* "1-2.3"; "" anywhere */
	const char *memory;	     /* that one and no other; NULL or "" none */
	const char *what;	     /* "FTDI chip"; NULL: the name of the row, or "device" */
	bool open;		     /* its node, into fd */
};

/*
 * -ENODEV: not there (yet). -EAGAIN: it comes or goes just now. -ENOTUNIQ: more than one. A device
 * that is remembered is found by its serial number wherever it is plugged in; one without a serial
 * number where it was, else as the only one of its id.
 */
int ww_usb_find(const struct ww_usb_want *w, struct ww_usb_dev *out, struct ww_error *err);
/* The one of this name, without its serial number. Waits for nothing. */
bool ww_usb_dev_read(const char *name, struct ww_usb_dev *out);
/* "1-2.3" and serial= as what is wanted. */
void ww_usb_want(struct ww_usb_want *w, struct ww_port *p, const char *place,
		 struct ww_uri *options, uint32_t bus);
/* Row of the table that it is; NULL none. */
const struct ww_usb_id *ww_usb_row(const struct ww_usb_want *w, const struct ww_usb_dev *d);
/* Its memory: WW_PORT_MEMORY bytes; may be NULL. */
void ww_usb_remember(char *memory, const struct ww_usb_dev *d);
/* Is it the remembered one, for those that have their own list? exact: at the same place. */
bool ww_usb_same(const char *memory, const struct ww_usb_dev *d, bool *exact);
/*
 * Name of the USB device to which a folder of /sys belongs, and the number of the interface;
 * -1 if it is not below one.
 */
bool ww_usb_above(const char *folder, char *name, size_t n, int *interface);
/* Interface of the configuration in force. */
bool ww_usb_interface(const struct ww_usb_dev *d, const struct ww_usb_pick *want,
		      struct ww_usb_iface *out);
/* Longest time between two looks of the host at its IN endpoint. */
int64_t ww_usb_poll_ns(const struct ww_usb_dev *d, const struct ww_usb_iface *i);
/* Value of the configuration in force; 0: not configured. */
unsigned ww_usb_config(const struct ww_usb_dev *d);
/* Kernel's driver of an interface: "usbfs" where a program has it; "" none. */
void ww_usb_driver(const struct ww_usb_dev *d, unsigned interface, char *out, size_t n);

struct ww_usb_power {
	char dir[WW_SYSFS_PATH + 8]; /* "" nothing to be put back */
};
/*
 * Keeps the device from falling asleep while the port is open and notes what is in force.
 * kept: the kernel itself keeps it awake as long as it is open.
 */
void ww_usb_awake(struct ww_port *p, const struct ww_usb_dev *d, bool kept,
		  struct ww_usb_power *old);
/* As it was found. */
void ww_usb_asleep(struct ww_usb_power *old);

/* usbroot.c: put before "/sys" and "/dev": "". A test that has its own is linked first. */
const char *ww_usb_root(void);

#endif
