/* SPDX-License-Identifier: MIT */
#include "meter/meter.h"

extern const struct ww_meter_ops ww_meter_wattsup;

const struct ww_meter_ops *const ww_meters[] = {
	&ww_meter_wattsup,
	NULL,
};

size_t ww_meter_shape(const struct ww_meter_ops *m, const void *state, int64_t *period_ns)
{
	size_t channels = m->desc.channels;
	int64_t period = m->desc.period_ns;

	if (m->shape)
		m->shape(state, &channels, &period);
	if (period_ns)
		*period_ns = period;
	return channels;
}

const struct ww_meter_ops *ww_meter_find(const char *name)
{
	for (size_t i = 0; ww_meters[i]; i++)
		if (strcmp(ww_meters[i]->desc.name, name) == 0)
			return ww_meters[i];
	return NULL;
}
