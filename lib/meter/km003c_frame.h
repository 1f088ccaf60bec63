/* SPDX-License-Identifier: MIT */
/*
 * Messages of the POWER-Z KM002C and KM003C: a header of four bytes, little-endian, with
 * type and number; data has a header of its own for each part. Memory is read, and the
 * right to stream is asked for, in AES-128.
 */
#ifndef WW_METER_KM003C_FRAME_H
#define WW_METER_KM003C_FRAME_H

#include "base/base.h"

enum ww_km_type {
	WW_KM_CONNECT = 0x02,
	WW_KM_DISCONNECT = 0x03,
	WW_KM_ACCEPT = 0x05,
	WW_KM_REJECT = 0x06,
	WW_KM_GET = 0x0c,
	WW_KM_START = 0x0e,
	WW_KM_STOP = 0x0f,
	WW_KM_DATA = 0x41,
	WW_KM_MEMORY = 0x44,
	WW_KM_AUTH = 0x4c
};

enum { WW_KM_ADC = 1, WW_KM_QUEUE = 2 };

#define WW_KM_ADC_SIZE	  44
#define WW_KM_SAMPLE_SIZE 20
#define WW_KM_ORDER	  36   /* longest of ours */
#define WW_KM_MAX	  2048 /* longest of its: more than 63 samples */
#define WW_KM_HARDWARE	  0x40010450u
#define WW_KM_FIRMWARE	  0x00004420u
#define WW_KM_CALIBRATION 0x03000c00u

struct ww_km_msg {
	uint8_t type; /* 7 bits */
	uint8_t id;
	uint16_t word;	    /* of a control message, as it stands there */
	const uint8_t *adc; /* WW_KM_ADC_SIZE bytes; NULL: none in it. Lent */
	const uint8_t *queue;
	unsigned samples; /* of WW_KM_SAMPLE_SIZE at `queue` */
};

/* The message at p: its length, 0 if more bytes are needed, -1 if there is none. */
int ww_km_parse(const uint8_t *p, size_t n, struct ww_km_msg *m);

struct ww_km_adc {
	int32_t uv, ua, uv_mean, ua_mean;
	int16_t temperature;		/* 1/128 degree */
	uint16_t cc1, cc2, dp, dm, vdd; /* 0.1 mV */
};
void ww_km_adc(const uint8_t *p, struct ww_km_adc *a);

struct ww_km_sample {
	uint16_t tick; /* ms of its own */
	int32_t uv, ua;
	uint16_t cc1, cc2, dp, dm; /* 0.1 mV at 2 samples a second, else 1 mV */
};
void ww_km_sample(const uint8_t *p, struct ww_km_sample *s);

/* Orders; their length. */
size_t ww_km_control(uint8_t *p, uint8_t type, uint8_t id, unsigned attribute);
size_t ww_km_read(uint8_t *p, uint8_t id, uint32_t address, uint32_t size);
size_t ww_km_auth(uint8_t *p, uint8_t id, const uint8_t hardware[12]);
/* What memory held: n whole blocks of 16. */
void ww_km_memory(uint8_t *to, const uint8_t *from, size_t n);

#endif
