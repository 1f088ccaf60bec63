/* SPDX-License-Identifier: MIT */
/* Shared by iio.c (what a device has) and iiorun.c (reading it). */
#ifndef WW_METER_IIO_H
#define WW_METER_IIO_H

#include "meter/iioscan.h"
#include "meter/sysval.h"

#define WW_IIO_ITEMS 16

struct ww_iio_item {
	char file[40];	  /* "in_voltage1_raw" */
	char element[32]; /* "in_voltage1" */
	char name[24];
	const char *quantity, *unit;
	double scale, offset; /* of SI: value = code * scale + offset */
	bool negative;	      /* codes turned round: scales are positive */
	bool counter;
};

enum ww_iio_phase { WW_IIO_OFF, WW_IIO_POLL, WW_IIO_SETUP, WW_IIO_BEGIN, WW_IIO_RUN };

struct ww_iio {
	enum ww_iio_phase phase;
	const char *wanted; /* chip that the driver's name asks for; NULL any */
	char chip[32];
	int64_t every_ns, length; /* asked; length -1: as it comes */
	int64_t conversion_ns;	  /* one of all channels; 0 unknown */
	size_t n;
	struct ww_iio_item item[WW_IIO_ITEMS];
	bool has_buffer, boottime;
	struct ww_scan scan;
	struct ww_sysask ask;
	int64_t limit_ns; /* of setting up */

	bool has_last, nonsense_told;
	struct ww_interval last;
	int64_t dt[16]; /* last distances of scans */
	size_t dts;
};

void ww_iio_begin(struct ww_iio *s, int64_t now_ns, const struct ww_meter_out *out);
void ww_iio_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		 const struct ww_meter_out *out);
int64_t ww_iio_deadline(const void *state);
void ww_iio_tick(void *state, int64_t now_ns, const struct ww_meter_out *out);

#endif
