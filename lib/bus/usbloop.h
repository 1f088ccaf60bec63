/* SPDX-License-Identifier: MIT */
/*
 * Transfers of libusb in our loop, for every kind of port that has them: its descriptors
 * are watched, its callbacks only stamp and note, and what they noted is taken afterwards,
 * outside of libusb, which must not be entered again from within.
 */
#ifndef WW_BUS_USBLOOP_H
#define WW_BUS_USBLOOP_H

#if defined(WW_WITH_USB) || defined(WW_WITH_FTDI)

#include "bus/portimpl.h"
#include "bus/usbfind.h"

#include <libusb.h>

#define WW_USB_FDS 8

struct ww_usb_xfer {
	struct ww_usbloop *l;
	struct libusb_transfer *t;
	struct ww_usb_xfer *next; /* of those done */
	bool in_flight;
	int64_t done_ns; /* clock in its callback: the earliest that a program can know of it */
};

struct ww_usbloop {
	struct ww_port *p;
	libusb_context *c;
	struct ww_usb_xfer **x; /* all of the port's */
	size_t n;
	struct ww_usb_xfer *first, **last;
	/* A transfer has ended; t->status tells how. */
	void (*take)(void *ctx, struct ww_usb_xfer *x);
	void *ctx;
	bool gone; /* libusb has given up the device's descriptor */
	struct {
		int fd;
		struct ww_watch *w;
	} fds[WW_USB_FDS];
};

/* Makes the transfer and enters it; *x lives as long as the loop. */
int ww_usb_xfer_new(struct ww_usbloop *l, struct ww_usb_xfer *x, struct ww_error *err);
/* The callback to be filled in; user_data is the struct ww_usb_xfer. */
void LIBUSB_CALL ww_usb_xfer_done(struct libusb_transfer *t);
/* false: the port is lost. */
bool ww_usb_submit(struct ww_usb_xfer *x);
void ww_usbloop_watch(struct ww_usbloop *l);
/*
 * Takes what has ended. @return the clock before a look that found nothing more, or
 * WW_TIME_MIN if there is no end to it, or the port is gone.
 */
int64_t ww_usbloop_turn(struct ww_usbloop *l);
/* Takes back what is in flight, within half a second, and frees it; to be called before closing. */
void ww_usbloop_stop(struct ww_usbloop *l);

/* A device of our own, its interface claimed. */
struct ww_usb_handle {
	libusb_context *c;
	libusb_device_handle *h;
	int fd; /* of its node; -1 none */
	bool claimed;
	struct ww_usb_dev dev;
	struct ww_usb_iface iface;
	struct ww_usb_power power;
};

/* *u is zeroed memory. Notes the device in the port's memory and settings. */
int ww_usb_claim(struct ww_usb_handle *u, struct ww_port *p, struct ww_usb_want *w,
		 const struct ww_usb_pick *pick, struct ww_error *err);
/* Gives the interface back to the kernel's driver. */
void ww_usb_unclaim(struct ww_usb_handle *u);

#define WW_USB_CONTROL_DATA 64
/* A control request of the loop's. */
struct ww_usb_control {
	struct ww_usb_xfer x;
	uint8_t buf[LIBUSB_CONTROL_SETUP_SIZE + WW_USB_CONTROL_DATA];
};
/* Data that comes, if any, is at buf + LIBUSB_CONTROL_SETUP_SIZE. false: lost. */
bool ww_usb_control(struct ww_usb_control *c, const struct ww_usb_handle *u, uint8_t type,
		    uint8_t request, uint16_t value, uint16_t index, uint16_t length);
/*
 * An endpoint that answered STALL is asked to go on. Not by libusb_clear_halt(), which waits
 * for a device that may not answer; when the request is through, ww_usb_unhalted().
 */
bool ww_usb_unhalt(struct ww_usb_control *c, const struct ww_usb_handle *u, uint8_t ep);
/* The host's side of the endpoint begins anew, as the device's has. */
void ww_usb_unhalted(const struct ww_usb_handle *u, uint8_t ep);
#endif
#endif
