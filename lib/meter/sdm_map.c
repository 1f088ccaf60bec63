/* SPDX-License-Identifier: MIT */
#include "meter/sdm.h"

#include <math.h>

/* What a channel is, for F: register, step of a code, name, quantity, unit, semantics, scale. */
/* clang-format off */
#define MEAN(F, r, n, q, u, s) F(r, s, n, q, u, WW_AVERAGE, s)
#define KWH(F, r, n)	       F(r, 1e-4, n, "energy", "Wh", WW_COUNTER, 0.1)
#define ONE_PHASE(F)                                                                               \
	MEAN(F, 0x000c, "power", "power", "W", 0.001),                                             \
	MEAN(F, 0x0000, "voltage", "voltage", "V", 0.001),                                         \
	MEAN(F, 0x0006, "current", "current", "A", 0.0001),                                        \
	KWH(F, 0x0048, "energy"),                                                                  \
	MEAN(F, 0x0046, "frequency", "frequency", "Hz", 0.001),                                    \
	MEAN(F, 0x001e, "power_factor", "power_factor", "1", 0.0001),                              \
	MEAN(F, 0x0012, "apparent_power", "apparent_power", "VA", 0.001),                          \
	MEAN(F, 0x0018, "reactive_power", "other", "var", 0.001),                                  \
	KWH(F, 0x004a, "energy_export")
#define WITH_ANGLE(F)                                                                              \
	ONE_PHASE(F), MEAN(F, 0x0024, "phase_angle", "other", "deg", 0.001)
#define PHASE(F, i)                                                                                \
	MEAN(F, 0x000c + 2 * (i - 1), "power_" #i, "power", "W", 0.001),                           \
	MEAN(F, 0x0000 + 2 * (i - 1), "voltage_" #i, "voltage", "V", 0.001),                       \
	MEAN(F, 0x0006 + 2 * (i - 1), "current_" #i, "current", "A", 0.0001)
#define THREE_PHASES(F)                                                                            \
	MEAN(F, 0x0034, "power", "power", "W", 0.001),                                             \
	PHASE(F, 1), PHASE(F, 2), PHASE(F, 3),                                                     \
	KWH(F, 0x0048, "energy"),                                                                  \
	MEAN(F, 0x0046, "frequency", "frequency", "Hz", 0.001),                                    \
	KWH(F, 0x004a, "energy_export")

#define ROW(r, st, n, q, u, sem, s) {.reg = r, .step = st}
/* No accuracy is stated where the map comes from: unknown, not zero. */
#define INFO(r, st, n, q, u, sem, s)                                                               \
	{                                                                                          \
		.name = n, .quantity = q, .unit = u, .semantics = sem, .scale = s,                 \
		.resolution = s, .acc_abs = (double)NAN, .acc_rel = (double)NAN                    \
	}
#define FIRST  .watts = 0, .volts = 1, .amps = 2, .wh = 3, .hz = 4
#define TOTALS .watts = 0, .volts = 2, .amps = 3, .wh = 10, .hz = 11, .three_phase = true

#define SDM(n, title, text, speed, count, list, ...)                                               \
	extern const struct ww_meter_ops ww_meter_##n;                                             \
	static const struct ww_sdm_row n = {                                                       \
		.model = title, .desc = &ww_meter_##n.desc, .baud = speed, .baud_text = #speed,    \
		.channels = count, .channel = {list(ROW)}, __VA_ARGS__};                           \
	static int init_##n(void *state, struct ww_uri *options, int64_t every_ns,                 \
			    struct ww_error *err)                                                  \
	{                                                                                          \
		return ww_sdm_init(state, &n, options, every_ns, err);                             \
	}                                                                                          \
	const struct ww_meter_ops ww_meter_##n = {                                                 \
		.desc = {.name = #n, .summary = text, .example = #n ":/dev/ttyUSB0",               \
			 .baud = speed, .period_ns = WW_NS_PER_S, .window_ns = WW_NS_PER_S,        \
			 .fastest_ns = WW_SDM_FASTEST_NS,                                          \
			 /* Renewed each 0.2 to 1 s; 30 to 60 ms to answer. */                     \
			 .delay_min_ns = 0, .delay_max_ns = WW_NS_PER_S + 100 * WW_NS_PER_MS,      \
			 .channels = count, .channel = {list(INFO)},                               \
			 .state_size = sizeof(struct ww_sdm)},                                     \
		.init = init_##n, .shape = ww_sdm_shape,                                            \
		.channel = ww_sdm_channel, .start = ww_sdm_start,                                  \
		.feed = ww_sdm_feed, .deadline = ww_sdm_deadline, .tick = ww_sdm_tick,             \
		.stop = ww_sdm_stop, .busy = ww_sdm_busy}

SDM(sdm120, "SDM120", "Eastron SDM120 (Modbus, 1 s)", 2400, 9, ONE_PHASE, FIRST);
SDM(sdm220, "SDM220", "Eastron SDM220 (Modbus, 1 s)", 9600, 10, WITH_ANGLE, FIRST);
SDM(sdm230, "SDM230", "Eastron SDM230 (Modbus, 1 s)", 9600, 10, WITH_ANGLE, FIRST);
SDM(sdm630, "SDM630", "Eastron SDM630, three phases (Modbus, 1 s)", 9600, 13, THREE_PHASES,
    TOTALS);
/* clang-format on */
