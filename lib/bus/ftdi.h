/* SPDX-License-Identifier: MIT */
/* The pure part of an FTDI chip's protocol. */
#ifndef WW_BUS_FTDI_H
#define WW_BUS_FTDI_H

#include "base/base.h"

/* What the two status bytes before each packet's data say (AN232B-04, ftdi_sio.h). */
struct ww_ftdi_status {
	uint8_t modem; /* CTS 0x10, DSR 0x20, RI 0x40, DCD 0x80 */
	uint8_t line;  /* overrun 0x02, parity 0x04, framing 0x08, break 0x10 */
	unsigned packets;
};
#define WW_FTDI_OVERRUN 0x02
#define WW_FTDI_PARITY	0x04
#define WW_FTDI_FRAMING 0x08
#define WW_FTDI_BREAK	0x10

/*
 * A transfer is a row of packets of max_packet bytes, the last one shorter; each
 * begins with two status bytes. Moves the data together at the front of buf.
 * @return bytes of data. st->line gathers the errors of all packets.
 */
size_t ww_ftdi_strip(uint8_t *buf, size_t n, size_t max_packet, struct ww_ftdi_status *st);

#endif
