/* SPDX-License-Identifier: MIT */
/*
 * An FT232R behind USB/IP. Facts: FTDI's AN232B-04 (latency timer, packets), and the request
 * numbers of the kernel's ftdi_sio.h.
 */
#include "usbip_ftdi.h"

#include <errno.h>
#include <string.h>

#define PACKET 64
#define DATA   62
#define MS     1000000LL

static const uint8_t device_desc[18] = {18,   1,    0x00, 0x02, 0,    0, 0, 8, 0x03,
					0x04, 0x01, 0x60, 0x00, 0x06, 1, 2, 3, 1};
static const uint8_t config_desc[32] = {9,  2, 32, 0,	 1,    1,    0, 0xa0, 45, 9,	4,
					0,  0, 2,  0xff, 0xff, 0xff, 2, 7,    5,  0x81, 2,
					64, 0, 0,  7,	 5,    0x02, 2, 64,   0,  0};

/* ------------------------------------------------------------------ the buffer */

void chip_power_on(struct chip *c)
{
	c->latency_ms = 16;
	c->event = -1;
	c->event_came = c->modem_changed = 0;
	c->modem = 0x10 | 0x20;
	c->pins = 0xff;
	c->baud = c->frame = 0;
	c->dtr = c->rts = 0;
	c->overrun = 0;
	c->n = 0;
	c->packet_ns = now_ns();
}

int chip_receive(struct chip *c, uint8_t byte)
{
	if (c->n == FIFO_MAX) {
		c->overrun = 0x02;
		return 0;
	}
	c->fifo[c->n++] = byte;
	if (byte == c->event)
		c->event_came = 1;
	return 1;
}

int64_t chip_due(const struct chip *c)
{
	if (c->usb.sock < 0 || !c->usb.urbs)
		return INT64_MAX;
	if (c->n >= DATA || c->event_came || c->modem_changed)
		return 0;
	return c->packet_ns + (int64_t)(c->latency_ms ? c->latency_ms : 1) * MS;
}

void chip_turn(struct chip *c)
{
	while (chip_due(c) <= now_ns()) {
		struct urb *u = c->usb.urb[0];
		size_t n = c->n < DATA ? c->n : DATA;
		uint8_t *p = u->data + u->have;

		if (u->want - u->have < PACKET) /* never asked so by a driver */
			n = 0;
		p[0] = 0x01 | c->modem;
		c->modem_changed = 0;
		p[1] = 0x60 | c->overrun;
		memcpy(p + 2, c->fifo, n);
		memmove(c->fifo, c->fifo + n, c->n - n);
		c->n -= n;
		c->event_came = c->event_came && c->n;
		c->overrun = 0;
		c->packet_ns = now_ns();
		c->packets++;
		c->leave(n, c->n, c->packet_ns);
		u->have += n + 2;
		if (n == DATA && u->have + PACKET <= u->want)
			continue; /* a full packet does not end the transfer */
		usbip_finish(&c->usb, u, 0);
	}
}

/* ---------------------------------------------------------------- the requests */

/* 3 MHz over a divisor whose fraction is coded in three bits. */
static unsigned baud_of(unsigned value, unsigned index)
{
	static const unsigned eighths[] = {0, 4, 2, 1, 3, 5, 6, 7};
	unsigned whole = value & 0x3fff;
	unsigned code = value >> 14 | (index & 1) << 2;

	if (whole < 2 && !code)
		return whole ? 2000000 : 3000000;
	return 24000000u / (8 * whole + eighths[code]);
}

static void reset(struct chip *c, unsigned what)
{
	/* 1 empties what goes to the line, 2 what goes to the host, 0 both. */
	if (what != 1) {
		c->n = 0;
		c->event_came = 0;
	}
}

static int vendor(struct chip *c, const uint8_t *s, uint8_t *out)
{
	unsigned value = s[2] | (unsigned)s[3] << 8, index = s[4] | (unsigned)s[5] << 8;

	switch (s[1]) {
	case 0:
		reset(c, value);
		return 0;
	case 1:
		if (value & 0x100)
			c->dtr = value & 1;
		if (value & 0x200)
			c->rts = (value >> 1) & 1;
		return 0;
	case 3:
		c->baud = baud_of(value, index);
		return 0;
	case 4:
		c->frame = value;
		return 0;
	case 5: /* modem status */
		out[0] = 0x01 | c->modem;
		out[1] = 0x60;
		return 2;
	case 6:
		c->event = value & 0x100 ? (int)(value & 0xff) : -1;
		return 0;
	case 9:
		c->latency_ms = value & 0xff;
		return 0;
	case 10:
		out[0] = (uint8_t)c->latency_ms;
		return 1;
	case 12: /* pins */
		out[0] = c->pins;
		c->leave(0, c->n, now_ns());
		return 1;
	case 0x90: /* a word of an empty EEPROM */
		out[0] = out[1] = 0xff;
		return 2;
	case 2:	 /* flow control */
	case 7:	 /* error character */
	case 11: /* bit mode */
		return 0;
	default:
		return -EPIPE;
	}
}

static int control(void *ctx, const uint8_t *s, const uint8_t *data, uint8_t *out)
{
	(void)data;
	return (s[0] & 0x60) == 0x40 ? vendor(ctx, s, out) : USBIP_OTHER;
}

static int from_host(void *ctx, struct urb *u)
{
	struct chip *c = ctx;

	c->sent(u->data, u->want);
	return 1;
}

void chip_init(struct chip *c, const char *serial)
{
	c->usb = (struct usbip){.name = "usbip_ftdi",
				.sock = -1,
				.device = device_desc,
				.config = config_desc,
				.config_n = sizeof(config_desc),
				.string = {NULL, "FTDI", "FT232R USB UART", serial},
				.ctx = c,
				.control = control,
				.out = from_host};
}
