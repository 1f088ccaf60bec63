/* SPDX-License-Identifier: MIT */
#include "capture/capture.h"

/* Copies into one block: called twice, first with at NULL to measure. */
static const char *keep(char **at, size_t *need, const char *s)
{
	size_t n = strlen(s ? s : "") + 1;
	char *p = *at;

	*need += n;
	if (!p)
		return "";
	memcpy(p, s ? s : "", n);
	*at += n;
	return p;
}

static size_t copy_strings(struct ww_desc *d, char *at)
{
	struct ww_source_info *i = &d->info;
	size_t need = 0;

	i->name = keep(&at, &need, i->name);
	i->uri = keep(&at, &need, i->uri);
	i->driver = keep(&at, &need, i->driver);
	i->model = keep(&at, &need, i->model);
	i->serial = keep(&at, &need, i->serial);
	i->firmware = keep(&at, &need, i->firmware);
	i->role = keep(&at, &need, i->role);
	i->notes = keep(&at, &need, i->notes);
	i->transport.name = keep(&at, &need, i->transport.name);
	i->transport.settings = keep(&at, &need, i->transport.settings);
	for (size_t c = 0; c < d->channels; c++) {
		d->channel[c].name = keep(&at, &need, d->channel[c].name);
		d->channel[c].quantity = keep(&at, &need, d->channel[c].quantity);
		d->channel[c].unit = keep(&at, &need, d->channel[c].unit);
	}
	return need;
}

struct ww_desc *ww_desc_copy(const struct ww_source_info *info,
			     const struct ww_channel_info *channel, size_t n, const char *name)
{
	struct ww_desc measure = {.info = *info, .channels = n};
	struct ww_desc *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	measure.channel = calloc(n + 1, sizeof(*measure.channel));
	d->channel = calloc(n + 1, sizeof(*d->channel));
	if (!measure.channel || !d->channel)
		goto fail;
	if (n) {
		memcpy(measure.channel, channel, n * sizeof(*channel));
		memcpy(d->channel, channel, n * sizeof(*channel));
	}
	measure.info.name = name;
	d->strings = malloc(copy_strings(&measure, NULL));
	if (!d->strings)
		goto fail;
	d->info = *info;
	d->info.name = name;
	d->channels = n;
	copy_strings(d, d->strings);
	free(measure.channel);
	return d;
fail:
	free(measure.channel);
	ww_desc_free(d);
	return NULL;
}

void ww_desc_free(struct ww_desc *d)
{
	if (!d)
		return;
	free(d->channel);
	free(d->strings);
	free(d);
}
