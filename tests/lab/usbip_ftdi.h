/* SPDX-License-Identifier: MIT */
/* The chip and its USB side; the line in front of it is usbip_ftdi.c's. */
#ifndef USBIP_FTDI_H
#define USBIP_FTDI_H

#include <stddef.h>
#include <stdint.h>

#define URBS	 64
#define URB_MAX	 16384
#define FIFO_MAX 256 /* of the FT232R, towards the host */

/* A read of the host that waits for data; filled by whole packets. */
struct urb {
	uint32_t seq;
	size_t want, have;
	uint8_t data[URB_MAX];
};

struct chip {
	int sock; /* -1: unplugged */
	const char *serial;
	void (*sent)(const uint8_t *data, size_t n); /* by the host */
	/* n bytes of data go to the host at t, and so many are left. */
	void (*leave)(size_t n, size_t left, int64_t t);
	unsigned latency_ms;
	int event; /* -1: none */
	int event_came;
	unsigned baud; /* as the divisor says */
	unsigned frame;
	int dtr, rts;
	uint8_t overrun;
	uint8_t fifo[FIFO_MAX];
	size_t n;
	int64_t packet_ns;     /* when the last one was sent */
	struct urb *urb[URBS]; /* waiting, the oldest first */
	size_t urbs, most_urbs;
	unsigned long packets, unlinked;
};

int64_t now_ns(void);
void die(const char *what);

void chip_power_on(struct chip *c, int sock);
/* A byte from the line; 0: the buffer is full. */
int chip_receive(struct chip *c, uint8_t byte);
/* When chip_turn() has something to do; INT64_MAX: it waits for the host. */
int64_t chip_due(const struct chip *c);
/* Sends the packets that are due. */
void chip_turn(struct chip *c);
/* One request of the host. Negative: the host is gone. */
int chip_serve(struct chip *c);

#endif
