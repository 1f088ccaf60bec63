/* SPDX-License-Identifier: MIT */
/* Channels of the POWER-Z, shared by its two ways of measuring. */
#ifndef WW_METER_KM003C_H
#define WW_METER_KM003C_H

#include <stdint.h>

/* The first seven are in a stream too. */
enum {
	WW_KM_POWER,
	WW_KM_VOLTAGE,
	WW_KM_CURRENT,
	WW_KM_DP,
	WW_KM_DM,
	WW_KM_CC1,
	WW_KM_CC2,
	WW_KM_STREAMED,
	WW_KM_TEMPERATURE = WW_KM_STREAMED,
	WW_KM_USUAL,
	WW_KM_VDD = WW_KM_USUAL,
	WW_KM_VOLTAGE_MEAN,
	WW_KM_CURRENT_MEAN,
	WW_KM_CHANNELS
};

/* In uW: the meter sends none. */
static inline int64_t ww_km_power(int64_t uv, int64_t ua)
{
	int64_t p = uv * ua;

	return (p + (p < 0 ? -500000 : 500000)) / 1000000;
}

#endif
