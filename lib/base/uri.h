/* SPDX-License-Identifier: MIT */
/* DRIVER:PLACE?option=value&option=value, and durations. */
#ifndef WW_URI_H
#define WW_URI_H

#include "base/base.h"

#define WW_URI_OPTIONS 24

/* Strings live in `text`. Percent escapes (%3F) are decoded in place and values. */
struct ww_uri {
	char *text;
	const char *driver; /* "" where the URI is a bare path */
	const char *place;
	size_t options;
	struct {
		const char *key;
		const char *value; /* "" for a bare key */
		bool used;
		bool single; /* read by a call that takes one value */
	} option[WW_URI_OPTIONS];
	char asked[480]; /* "baud, serial": all that somebody looked for, found or not */
};

/*
 * "/dev/ttyUSB0" has no driver; "tty:/dev/ttyUSB0?baud=115200" has "tty";
 * "ftdi:?serial=X" an empty place; "wattsup:ftdi:?serial=X" the place "ftdi:".
 */
int ww_uri_parse(const char *text, struct ww_uri *out, struct ww_error *err);
void ww_uri_free(struct ww_uri *u);
/* Value of an option (and note it as used), or dflt. */
const char *ww_uri_get(struct ww_uri *u, const char *key, const char *dflt);
/* vid= and pid=, in hexadecimal as lsusb prints them. 1 given, 0 not, negative. */
int ww_uri_usb_id(struct ww_uri *u, const char *key, int64_t *value, struct ww_error *err);
/* Numbers within [lo, hi]; the error names the URI and the option. */
int ww_uri_int(struct ww_uri *u, const char *key, int64_t lo, int64_t hi, int64_t *value,
	       struct ww_error *err);
int ww_uri_num(struct ww_uri *u, const char *key, double lo, double hi, double *value,
	       struct ww_error *err);
int ww_uri_dur(struct ww_uri *u, const char *key, int64_t *ns, struct ww_error *err);
/*
 * -EINVAL naming the first option that nobody used, or that has two values for one. known:
 * those that there are; NULL: all that were looked for.
 */
int ww_uri_check_used(const struct ww_uri *u, const char *known, struct ww_error *err);

/*
 * A copy without what only the device may know (the values of user=, password= and
 * token=, a login before a host); freed by the caller, NULL: no memory. command: the
 * text is a command line, whose arguments end at their quotes.
 */
char *ww_uri_hide(const char *text, bool command);
bool ww_uri_is_secret(const char *key);

#endif
