/* SPDX-License-Identifier: MIT */
#include "control/past.h"

static bool is(const struct ww_mark *m, const char *kind)
{
	return strcmp(m->kind, kind) == 0;
}

/* How the cycle of this number ended, NULL not. */
static const char *end_of(const struct ww_trace *t, uint32_t cycle)
{
	const struct ww_mark *m;

	for (size_t i = ww_trace_mark_count(t); i-- > 0;) {
		m = ww_trace_mark(t, i);
		if (m->cycle == cycle && is(m, WW_MARK_CYCLE_END))
			return m->text;
	}
	return NULL;
}

static bool warms_up(const struct ww_trace *t, uint32_t cycle)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(t, i)) != NULL; i++)
		if (m->cycle == cycle && is(m, WW_MARK_WARMUP))
			return true;
	return false;
}

static void take(const struct ww_trace *t, uint32_t cycle, struct ww_past *out)
{
	const char *end = end_of(t, cycle);

	out->last = cycle > out->last ? cycle : out->last;
	if (!end || strncmp(end, "stopped", 7) == 0)
		out->stopped++;
	else if (warms_up(t, cycle))
		out->warm++;
	else
		out->done++;
}

int ww_past_read(const char *path, struct ww_past *out, struct ww_error *err)
{
	struct ww_trace *t = NULL;
	const struct ww_mark *m;
	const char *seed;
	int rc = ww_trace_open(path, &t, err);

	*out = (struct ww_past){0};
	if (rc < 0)
		return rc;
	for (size_t i = 0; (m = ww_trace_mark(t, i)) != NULL; i++)
		if (is(m, WW_MARK_REQUEST) && m->cycle > out->last)
			take(t, m->cycle, out);
	seed = ww_trace_meta(t, "campaign.seed");
	out->seed = seed ? strtoull(seed, NULL, 10) : 0;
	ww_trace_close(t);
	return 0;
}
