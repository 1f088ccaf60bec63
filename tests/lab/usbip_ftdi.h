/* SPDX-License-Identifier: MIT */
/* The chip and its USB side; the line in front of it is usbip_ftdi.c's. */
#ifndef USBIP_FTDI_H
#define USBIP_FTDI_H

#include "usbip.h"

#define FIFO_MAX 256 /* of the FT232R, towards the host */

struct chip {
	struct usbip usb;
	void (*sent)(const uint8_t *data, size_t n); /* by the host */
	/* n bytes of data go to the host at t, and so many are left. */
	void (*leave)(size_t n, size_t left, int64_t t);
	unsigned latency_ms;
	int event; /* -1: none */
	int event_came;
	unsigned baud; /* as the divisor says */
	unsigned frame;
	int dtr, rts;
	uint8_t modem; /* CTS 0x10, DSR 0x20, RI 0x40, DCD 0x80 */
	int modem_changed;
	uint8_t pins; /* of the data bus */
	uint8_t overrun;
	uint8_t fifo[FIFO_MAX];
	size_t n;
	int64_t packet_ns; /* when the last one was sent */
	unsigned long packets;
};

/* Before it is plugged in for the first time. */
void chip_init(struct chip *c, const char *serial);
void chip_power_on(struct chip *c);
/* A byte from the line; 0: the buffer is full. */
int chip_receive(struct chip *c, uint8_t byte);
/* When chip_turn() has something to do; INT64_MAX: it waits for the host. */
int64_t chip_due(const struct chip *c);
/* Sends the packets that are due. */
void chip_turn(struct chip *c);

#endif
