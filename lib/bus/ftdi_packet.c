/* SPDX-License-Identifier: MIT */
#include "bus/ftdi.h"

size_t ww_ftdi_strip(uint8_t *buf, size_t n, size_t max_packet, struct ww_ftdi_status *st)
{
	size_t out = 0;

	*st = (struct ww_ftdi_status){0};
	/* A packet of one byte or none has no status; it carries no data either. */
	for (size_t at = 0; max_packet > 2 && n - at >= 2; at += max_packet) {
		size_t len = n - at < max_packet ? n - at : max_packet;

		st->modem = buf[at];
		st->line |= buf[at + 1];
		st->packets++;
		memmove(buf + out, buf + at + 2, len - 2);
		out += len - 2;
		if (len < max_packet)
			break;
	}
	return out;
}
