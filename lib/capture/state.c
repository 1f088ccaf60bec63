/* SPDX-License-Identifier: MIT */
/* What a recorder knows of itself: live values, counts, warnings. */
#include "capture/capture.h"

#include <math.h>
#include <sys/stat.h>

void ww_recorder_warn(struct ww_recorder *r, const char *text)
{
	int64_t now = ww_loop_now(r->loop);

	ww_recorder_warn_at(r, (struct ww_interval){now, now}, text);
}

void ww_recorder_warn_at(struct ww_recorder *r, struct ww_interval t, const char *text)
{
	for (size_t i = 0; i < r->warnings; i++)
		if (strcmp(r->warning[i], text) == 0)
			return;
	if (r->warnings < WW_RECORDER_WARNINGS) {
		r->warning[r->warnings] = strdup(text);
		if (r->warning[r->warnings])
			r->warnings++;
	}
	ww_recorder_put_mark(r, WW_SOURCE_NONE, t, 0, "warning", text);
}

const char *ww_recorder_warning(const struct ww_recorder *r, size_t i)
{
	return i < r->warnings ? r->warning[i] : NULL;
}

struct ww_port *ww_recorder_port(const struct ww_recorder *r, size_t i, bool *more)
{
	const struct ww_track *t = i < r->tracks ? r->track[i] : NULL;

	*more = t != NULL;
	return t && t->source && t->source->ops->port ? t->source->ops->port(t->source) : NULL;
}

void ww_recorder_activity(const struct ww_recorder *r, uint32_t source, int64_t *last_ns,
			  uint64_t *n)
{
	*last_ns = 0;
	*n = 0;
	if (source < 1 || source > r->tracks)
		return;
	*last_ns = r->track[source - 1]->last_ns;
	*n = r->track[source - 1]->n;
}

bool ww_recorder_away(const struct ww_recorder *r, uint32_t source)
{
	return source >= 1 && source <= r->tracks &&
	       r->track[source - 1]->state == WW_TRACK_UNPLUGGED;
}

static void worse(int64_t *a, int64_t b)
{
	if (b > *a)
		*a = b;
}

void ww_recorder_lateness(const struct ww_recorder *r, int64_t *max_ns, int64_t *p99_ns)
{
	const struct ww_late *own = &r->keeper.late;

	*max_ns = r->late_max;
	*p99_ns = r->late_p99;
	worse(max_ns, own->n ? own->max_ns : -1);
	worse(p99_ns, ww_late_quantile(own, 0.99));
	for (size_t i = 0; i < r->tracks; i++) {
		const struct ww_source *s = r->track[i]->source;
		int64_t max = -1, p99 = -1;

		if (!s || !s->ops->lateness)
			continue;
		s->ops->lateness(s, &max, &p99);
		worse(max_ns, max);
		worse(p99_ns, p99);
	}
}

/* After the end: what the trace holds, which a full disk may have made less. */
static void count_stored(const struct ww_recorder *r, struct ww_recorder_stats *out)
{
	out->samples = out->bytes = out->raw = 0;
	out->gaps = r->store.stored.gaps;
	for (size_t i = 0; i < r->tracks; i++) {
		const struct ww_track *t = r->track[i];
		bool serial = t->desc && t->desc->info.kind == WW_SERIAL;

		*(serial ? &out->bytes : &out->samples) += r->store.stored.n[t->index];
		if (t->raw.index != WW_SOURCE_NONE)
			out->raw += r->store.stored.n[t->raw.index];
	}
}

void ww_recorder_stats(const struct ww_recorder *r, struct ww_recorder_stats *out)
{
	struct stat st;

	*out = (struct ww_recorder_stats){.samples = r->samples,
					  .bytes = r->bytes,
					  .raw = r->raw,
					  .lost = r->lost,
					  .gaps = r->gaps,
					  .queue_peak = r->store.ring.peak};
	ww_recorder_lateness(r, &out->late_max_ns, &out->late_p99_ns);
	if (r->stopped && r->store.kept)
		count_stored(r, out);
	if (r->path && stat(r->path, &st) == 0)
		out->stored = (uint64_t)st.st_size;
}

/* A serial source is one entry; every other source one a channel. */
static size_t entries(const struct ww_track *t)
{
	return t->desc->info.kind == WW_SERIAL ? 1 : t->desc->channels;
}

static void fill(const struct ww_track *t, size_t c, struct ww_live *out)
{
	bool away = t->state == WW_TRACK_UNPLUGGED;

	*out = (struct ww_live){.source = t->label,
				.channel = "",
				.unit = "",
				.value = NAN,
				.t_ns = t->last_ns,
				.n = t->n,
				.state = t->state,
				.kind = t->desc->info.kind};
	if (c < t->desc->channels) {
		const struct ww_channel_info *ch = &t->desc->channel[c];

		out->channel = ch->name;
		out->unit = ch->unit;
		out->resolution = ch->resolution;
		if (!away) {
			struct ww_scale scale = ww_scale_of(ch->scale, ch->offset);

			out->value = ww_code_value(&scale, t->code[c]);
		}
	}
}

int ww_recorder_live(const struct ww_recorder *r, size_t i, struct ww_live *out)
{
	for (size_t k = 0; k < r->tracks; k++) {
		size_t n = entries(r->track[k]);

		if (i < n) {
			fill(r->track[k], i, out);
			return 1;
		}
		i -= n;
	}
	return 0;
}
