/* SPDX-License-Identifier: MIT */
/*
 * An FT232R behind USB/IP. Facts: USB 2.0 chapter 9 (standard requests), FTDI's AN232B-04
 * (latency timer, packets), the request numbers of the kernel's ftdi_sio.h, and the
 * kernel's usbip_protocol.rst (48-byte headers, big-endian).
 */
#include "usbip_ftdi.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PACKET 64
#define DATA   62
#define MS     1000000LL

enum { SUBMIT = 1, UNLINK, RET_SUBMIT, RET_UNLINK };
enum { COMMAND, SEQ, DEVID, DIRECTION, EP, FLAGS, LENGTH, STATUS = 5, ACTUAL, WORDS = 12 };

static const uint8_t device_desc[18] = {18,   1,    0x00, 0x02, 0,    0, 0, 8, 0x03,
					0x04, 0x01, 0x60, 0x00, 0x06, 1, 2, 3, 1};
static const uint8_t config_desc[32] = {9,  2, 32, 0,	 1,    1,    0, 0xa0, 45, 9,	4,
					0,  0, 2,  0xff, 0xff, 0xff, 2, 7,    5,  0x81, 2,
					64, 0, 0,  7,	 5,    0x02, 2, 64,   0,  0};

static int read_all(int fd, void *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (uint8_t *)to + at, n - at);

		if (got <= 0 && !(got < 0 && errno == EINTR))
			return -1;
		at += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int answer(struct chip *c, uint32_t seq, int status, const void *data, size_t n,
		  size_t actual)
{
	uint8_t out[48 + URB_MAX];
	uint32_t h[WORDS] = {htonl(RET_SUBMIT), htonl(seq)};

	h[STATUS] = htonl((uint32_t)status);
	h[ACTUAL] = htonl((uint32_t)actual);
	memcpy(out, h, sizeof(h));
	if (n)
		memcpy(out + sizeof(h), data, n);
	return write(c->sock, out, sizeof(h) + n) == (ssize_t)(sizeof(h) + n) ? 0 : -1;
}

/* ------------------------------------------------------------------ the buffer */

void chip_power_on(struct chip *c, int sock)
{
	while (c->urbs)
		free(c->urb[--c->urbs]);
	c->sock = sock;
	c->latency_ms = 16;
	c->event = -1;
	c->event_came = 0;
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
	if (c->sock < 0 || !c->urbs)
		return INT64_MAX;
	if (c->n >= DATA || c->event_came)
		return 0;
	return c->packet_ns + (int64_t)(c->latency_ms ? c->latency_ms : 1) * MS;
}

void chip_turn(struct chip *c)
{
	while (chip_due(c) <= now_ns()) {
		struct urb *u = c->urb[0];
		size_t n = c->n < DATA ? c->n : DATA;
		uint8_t *p = u->data + u->have;

		if (u->want - u->have < PACKET) /* never asked so by a driver */
			n = 0;
		p[0] = 0x01 | 0x10 | 0x20; /* CTS, DSR */
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
		answer(c, u->seq, 0, u->data, u->have, u->have);
		memmove(c->urb, c->urb + 1, --c->urbs * sizeof(c->urb[0]));
		free(u);
	}
}

/* ---------------------------------------------------------------- the requests */

static int string_desc(const struct chip *c, unsigned index, uint8_t *out)
{
	const char *text = index == 1 ? "FTDI" : index == 2 ? "FT232R USB UART" : c->serial;
	size_t n = strlen(text);

	out[1] = 3;
	if (!index) {
		memcpy(out, (uint8_t[]){4, 3, 0x09, 0x04}, 4);
		return 4;
	}
	if (index > 3)
		return -EPIPE;
	for (size_t i = 0; i < n; i++) {
		out[2 + 2 * i] = (uint8_t)text[i];
		out[3 + 2 * i] = 0;
	}
	out[0] = (uint8_t)(2 + 2 * n);
	return out[0];
}

static int standard(const struct chip *c, const uint8_t *s, uint8_t *out)
{
	switch (s[1]) {
	case 0: /* GET_STATUS */
		memset(out, 0, 2);
		return 2;
	case 6: /* GET_DESCRIPTOR */
		if (s[3] == 1) {
			memcpy(out, device_desc, sizeof(device_desc));
			return sizeof(device_desc);
		}
		if (s[3] == 2) {
			memcpy(out, config_desc, sizeof(config_desc));
			return sizeof(config_desc);
		}
		return s[3] == 3 ? string_desc(c, s[2], out) : -EPIPE;
	case 8: /* GET_CONFIGURATION */
		out[0] = 1;
		return 1;
	case 1:	 /* CLEAR_FEATURE */
	case 3:	 /* SET_FEATURE */
	case 9:	 /* SET_CONFIGURATION */
	case 11: /* SET_INTERFACE */
		return 0;
	default:
		return -EPIPE;
	}
}

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
		out[0] = 0x01 | 0x10 | 0x20;
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
		out[0] = 0xff;
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

static int control_request(struct chip *c, uint32_t seq, const uint8_t *s, size_t length)
{
	uint8_t out[256] = {0};
	int n = (s[0] & 0x60) == 0x40 ? vendor(c, s, out) : standard(c, s, out);
	size_t give;

	if (n < 0)
		return answer(c, seq, n, NULL, 0, 0);
	if (!(s[0] & 0x80))
		return answer(c, seq, 0, NULL, 0, length);
	give = (size_t)n < length ? (size_t)n : length;
	return answer(c, seq, 0, out, give, give);
}

/* ----------------------------------------------------------------------- USB/IP */

static int queue_in(struct chip *c, uint32_t seq, size_t length)
{
	struct urb *u;

	if (c->urbs == URBS || length > URB_MAX || length < 2)
		return answer(c, seq, -EPIPE, NULL, 0, 0);
	u = malloc(sizeof(*u));
	if (!u)
		die("memory");
	u->seq = seq;
	u->want = length;
	u->have = 0;
	c->urb[c->urbs++] = u;
	if (c->urbs > c->most_urbs)
		c->most_urbs = c->urbs;
	return 0;
}

/* Taken back if it still waits; else its answer is on the way already. */
static int unlink_urb(struct chip *c, uint32_t seq, uint32_t target)
{
	uint32_t h[WORDS] = {htonl(RET_UNLINK), htonl(seq)};

	for (size_t i = 0; i < c->urbs; i++) {
		if (c->urb[i]->seq != target)
			continue;
		free(c->urb[i]);
		memmove(c->urb + i, c->urb + i + 1, (--c->urbs - i) * sizeof(c->urb[0]));
		h[STATUS] = htonl((uint32_t)-ECONNRESET);
		c->unlinked++;
		break;
	}
	return write(c->sock, h, sizeof(h)) == (ssize_t)sizeof(h) ? 0 : -1;
}

int chip_serve(struct chip *c)
{
	static uint8_t data[URB_MAX];
	uint32_t h[WORDS], seq;
	size_t length;

	if (read_all(c->sock, h, sizeof(h)))
		return -1;
	seq = ntohl(h[SEQ]);
	length = ntohl(h[LENGTH]);
	if (ntohl(h[COMMAND]) == UNLINK)
		return unlink_urb(c, seq, ntohl(h[FLAGS]));
	if (ntohl(h[COMMAND]) != SUBMIT || length > sizeof(data))
		return -1;
	if (!ntohl(h[DIRECTION]) && read_all(c->sock, data, length))
		return -1;
	if (!ntohl(h[EP]))
		return control_request(c, seq, (const uint8_t *)(h + 10), length);
	if (ntohl(h[DIRECTION]))
		return queue_in(c, seq, length);
	if (answer(c, seq, 0, NULL, 0, length))
		return -1;
	c->sent(data, length);
	return 0;
}
