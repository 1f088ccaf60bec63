/* SPDX-License-Identifier: MIT */
/* Eastron's meters: one machine (sdm.c), a map of registers for each (sdm_map.c). */
#ifndef WW_METER_SDM_H
#define WW_METER_SDM_H

#include "meter/modbus.h"
#include "meter/pace.h"

/* Its registers are renewed no more often. */
#define WW_SDM_FASTEST_NS (200 * WW_NS_PER_MS)

struct ww_sdm_channel {
	uint16_t reg;
	double step; /* of a code, in the meter's unit: 1e-4 kWh are 0.1 Wh */
};

struct ww_sdm_row {
	const char *model;
	const struct ww_meter_desc *desc;
	int64_t baud; /* as it leaves the factory */
	const char *baud_text;
	bool three_phase;
	size_t channels;
	size_t watts, volts, amps, wh, hz; /* which channels these are */
	struct ww_sdm_channel channel[16];
};

enum ww_sdm_phase { WW_SDM_IDLE, WW_SDM_ASK, WW_SDM_RUN, WW_SDM_DEAD };

struct ww_sdm {
	const struct ww_sdm_row *row;
	enum ww_sdm_phase phase;
	struct ww_modbus mb;
	struct ww_pace pace;
	uint8_t unit;
	bool scan, fixed; /* look for the speed; it is found */
	size_t tries;
	int64_t baud;
	bool single; /* value by value */
	size_t at;   /* which one is asked */
	bool begun;
	int64_t begun_ns;     /* when the first of a round was asked */
	struct ww_interval t; /* of the values at hand */
	float value[WW_METER_CHANNELS];
	uint32_t refuses; /* channels that it does not have */
	uint64_t heard;
	char why[160];
	bool refused_told, idle_told, nan_told;
};

int ww_sdm_init(void *state, const struct ww_sdm_row *row, struct ww_uri *options, int64_t every_ns,
		struct ww_error *err);
void ww_sdm_shape(const void *state, struct ww_meter_shape *s);
void ww_sdm_channel(const void *state, size_t i, struct ww_channel_info *c);
void ww_sdm_start(void *state, int64_t now_ns, const struct ww_meter_out *out);
void ww_sdm_feed(void *state, struct ww_interval t, const uint8_t *p, size_t n,
		 const struct ww_meter_out *out);
int64_t ww_sdm_deadline(const void *state);
void ww_sdm_tick(void *state, int64_t now_ns, const struct ww_meter_out *out);
void ww_sdm_stop(void *state, const struct ww_meter_out *out);
bool ww_sdm_busy(const void *state);

#endif
