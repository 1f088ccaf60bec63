/* SPDX-License-Identifier: MIT */
/* The text of an action, read: no device is looked for here. */
#ifndef WW_CONTROL_FORM_H
#define WW_CONTROL_FORM_H

#include "base/uri.h"
#include "bus/drive.h"

enum ww_act_kind {
	WW_ACT_COMMAND, /* sh -c */
	WW_ACT_GPIO,	/* gpio:CHIP/LINE=low,200ms */
	WW_ACT_TTY,	/* tty:/dev/ttyS0?dtr=pulse,200ms */
	WW_ACT_FTDI,	/* ftdi:?serial=X&dtr=pulse,200ms, or a pin */
	WW_ACT_RTC,	/* rtc:20s */
	WW_ACT_WOL	/* wol:00:11:22:33:44:55 */
};

#define WW_WOL_MAX 108 /* 6 bytes, the address 16 times, a password of 6 bytes at most */

struct ww_act {
	int kind;	   /* enum ww_act_kind */
	char *text;	   /* as it was given */
	struct ww_uri uri; /* holds strings of the rest */
	/* What a line does, and its delay from our call until the DUT sees it. */
	struct ww_drive drive; /* kind, level, type, rts, offset of a pin */
	char chip[128], line[64], word[16];
	int64_t for_ns; /* 0: held until the end */
	bool hold;
	int64_t delay_min_ns, delay_max_ns;
	/* A chip. */
	const char *serial;
	int64_t vid, pid, interface; /* -1 any; interface from 1, 0 the first */
	int64_t alarm_s;	     /* rtc */
	/* wol */
	uint8_t packet[WW_WOL_MAX];
	size_t packet_n;
	const char *host, *device;
	int64_t port;
};

int ww_act_parse(const char *text, struct ww_act *out, struct ww_error *err);
void ww_act_free(struct ww_act *a);
/* `{rtc}` in a command becomes the seconds of an alarm. malloc'ed; NULL: no memory. */
char *ww_act_fill(const char *command, int64_t alarm_s);

#endif
