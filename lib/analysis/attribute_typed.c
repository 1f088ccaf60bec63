/* SPDX-License-Identifier: MIT */
/* A meter with only a display was read by a person: each reading counts as it stands. */
#include "analysis/attribute_walk.h"
#include "analysis/series.h"

#include <math.h>

/* Marks up to a time, in their order, that were not taken yet. */
static int take_marks(struct ww_attr_walk *w, struct ww_trace *t, size_t *next, int64_t until)
{
	int rc = 0;

	for (; *next < ww_trace_mark_count(t) && rc >= 0; (*next)++) {
		const struct ww_mark *m = ww_trace_mark(t, *next);

		if (m->t.lo_ns > until)
			break;
		if (strcmp(m->kind, WW_MARK_LABEL) != 0)
			continue;
		rc = ww_onoff_change(w->o, m->text, strlen(m->text), w->f->name, 0, w->err);
		if (rc == WW_CHANGE_BARE)
			rc = ww_attr_plug(w, m->text, true);
	}
	return rc;
}

static int from_readings(struct ww_attr_walk *w, struct ww_trace *t, const struct ww_series *x)
{
	size_t next = 0;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < x->n; i++) {
		struct ww_onoff_reading r = {.watts = x->v[i],
					     .u = (double)NAN,
					     .step = x->resolution,
					     .va = (double)NAN,
					     .pf = (double)NAN,
					     .v = (double)NAN,
					     .a = (double)NAN,
					     .t_s = ww_series_s(x, x->t_ns[i])};

		rc = take_marks(w, t, &next, x->hi_ns[i]);
		if (rc >= 0)
			rc = ww_onoff_read(w->o, &r, w->err);
	}
	return rc < 0 ? rc : 0;
}

int ww_attr_typed(struct ww_attr_walk *w, struct ww_trace *t)
{
	struct ww_series x = {0};
	int rc = ww_series_read(t, w->a->channel, "power", 0, 0, &x, w->err);

	if (rc >= 0) {
		w->f->q = x.resolution;
		w->f->trace = false;
		rc = from_readings(w, t, &x);
	}
	ww_series_free(&x);
	return rc;
}
