/* SPDX-License-Identifier: MIT */
/*
 * The device's side of USB/IP: a device that is plugged into vhci-hcd, in a machine without
 * one. Facts: the kernel's usbip_protocol.rst (48-byte headers, big-endian), USB 2.0
 * chapter 9 (standard requests).
 */
#ifndef USBIP_H
#define USBIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define URBS	    64
#define URB_MAX	    16384
#define USBIP_OTHER 1000 /* of control(): a standard request, to be answered by the standard */

/* A transfer of the host's that waits. */
struct urb {
	uint32_t seq;
	uint8_t ep; /* 0x81 in, 0x01 out */
	size_t want, have;
	uint8_t data[URB_MAX];
};

struct usbip {
	const char *name; /* of the program, for what it says */
	int sock;	  /* -1: unplugged */
	const uint8_t *device, *config;
	size_t config_n;
	const char *string[4]; /* 1 maker, 2 product, 3 serial; NULL: none */
	bool calm;	       /* its own time does not matter: no real-time priority for it */
	void *ctx;
	/* data: what came with it. Bytes put to out (256), or -EPIPE, or USBIP_OTHER. */
	int (*control)(void *ctx, const uint8_t *setup, const uint8_t *data, uint8_t *out);
	/* The host sends u: 1 taken, 0 it has to wait, or -EPIPE. */
	int (*out)(void *ctx, struct urb *u);
	struct urb *urb[URBS]; /* waiting, the oldest first */
	size_t urbs, most_urbs;
	unsigned long unlinked;
};

int64_t now_ns(void); /* CLOCK_BOOTTIME */
void usbip_die(const struct usbip *u, const char *what);
/* port: of the controller, from 0; speed: 2 full, 3 high */
void usbip_plug(struct usbip *u, unsigned port, unsigned speed);
void usbip_unplug(struct usbip *u);
/* One request of the host. Negative: the host is gone. */
int usbip_serve(struct usbip *u);
/* The oldest that waits at an endpoint; NULL none. */
struct urb *usbip_first(struct usbip *u, uint8_t ep);
/* Ends it: status 0 or a negative errno; in: urb->have bytes of urb->data. */
void usbip_finish(struct usbip *u, struct urb *urb, int status);
/* Opens the FIFO of orders. */
int usbip_control_open(const struct usbip *u, const char *fifo);
/* Reads orders, a line each, and calls fn for each; 0: it said that this is the end. */
int usbip_orders(int fd, int (*fn)(char *line));

#endif
