/* SPDX-License-Identifier: MIT */
/* How a scan of an IIO buffer is laid out (Documentation/driver-api/iio/buffers.rst). */
#ifndef WW_METER_IIOSCAN_H
#define WW_METER_IIOSCAN_H

#include "base/base.h"

#define WW_SCAN_ELEMENTS 40

struct ww_scan_element {
	char name[32]; /* "in_voltage1", "in_timestamp" */
	unsigned index;
	bool on, is_signed, big_endian;
	uint8_t bits, storage, shift; /* storage in bytes */
	uint16_t repeat;
	size_t at; /* within a scan */
};

struct ww_scan {
	size_t n, bytes;
	struct ww_scan_element e[WW_SCAN_ELEMENTS];
};

/* "le:s64/64>>0", "be:u12/16>>4", "le:s12/16X2>>0"; false: nonsense. */
bool ww_scan_type(const char *text, size_t n, struct ww_scan_element *e);
/* Sorts by index and lays out what is on; false: two of one index, or nothing on. */
bool ww_scan_layout(struct ww_scan *s);
int64_t ww_scan_value(const struct ww_scan_element *e, const uint8_t *scan);
struct ww_scan_element *ww_scan_find(struct ww_scan *s, const char *name);

#endif
