/* SPDX-License-Identifier: MIT */
#include "meter/meter.h"

extern const struct ww_meter_ops ww_meter_pzem004t, ww_meter_pzem017;
extern const struct ww_meter_ops ww_meter_wt310, ww_meter_gpm8310;
extern const struct ww_meter_ops ww_meter_sdm120, ww_meter_sdm220, ww_meter_sdm230, ww_meter_sdm630;
extern const struct ww_meter_ops ww_meter_tasmota, ww_meter_shelly, ww_meter_kasa;
extern const struct ww_meter_ops ww_meter_wattsup, ww_meter_s0;
extern const struct ww_meter_ops ww_meter_um24c, ww_meter_um25c, ww_meter_um34c, ww_meter_tc66c;
extern const struct ww_meter_ops ww_meter_fnb48, ww_meter_fnb48s, ww_meter_fnb58, ww_meter_c1;
extern const struct ww_meter_ops ww_meter_km003c;
extern const struct ww_meter_ops ww_meter_hwmon;
extern const struct ww_meter_ops ww_meter_battery;
extern const struct ww_meter_ops ww_meter_rapl;
extern const struct ww_meter_ops ww_meter_iio, ww_meter_ina226, ww_meter_ina219;
extern const struct ww_meter_ops ww_meter_ppk2;

/* One a line: many hands add to it. */
/* clang-format off */
const struct ww_meter_ops *const ww_meters[] = {
	&ww_meter_pzem004t,
	&ww_meter_pzem017,
	&ww_meter_sdm120,
	&ww_meter_sdm220,
	&ww_meter_sdm230,
	&ww_meter_sdm630,
	&ww_meter_wt310,
	&ww_meter_gpm8310,
	&ww_meter_s0,
	&ww_meter_wattsup,
	&ww_meter_tasmota,
	&ww_meter_shelly,
	&ww_meter_kasa,
	&ww_meter_um24c,
	&ww_meter_um25c,
	&ww_meter_um34c,
	&ww_meter_tc66c,
	&ww_meter_fnb48,
	&ww_meter_fnb48s,
	&ww_meter_fnb58,
	&ww_meter_c1,
	&ww_meter_km003c,
	&ww_meter_hwmon,
	&ww_meter_battery,
	&ww_meter_rapl,
	&ww_meter_iio,
	&ww_meter_ina226,
	&ww_meter_ina219,
	&ww_meter_ppk2,
	NULL,
};
/* clang-format on */

struct ww_meter_shape ww_meter_shape(const struct ww_meter_ops *m, const void *state)
{
	const struct ww_meter_desc *d = &m->desc;
	struct ww_meter_shape s = {d->channels, d->period_ns, d->window_ns, d->delay_min_ns,
				   d->delay_max_ns};

	if (m->shape)
		m->shape(state, &s);
	return s;
}

void ww_meter_channel(const struct ww_meter_ops *m, const void *state, size_t i,
		      struct ww_channel_info *out)
{
	if (m->channel)
		m->channel(state, i, out);
	else
		*out = m->desc.channel[i];
}

const struct ww_meter_ops *ww_meter_find(const char *name)
{
	for (size_t i = 0; ww_meters[i]; i++)
		if (strcmp(ww_meters[i]->desc.name, name) == 0)
			return ww_meters[i];
	return NULL;
}
