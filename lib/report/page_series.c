/* SPDX-License-Identifier: MIT */
/* Bytes and watts of a cycle, thinned to what a picture shows. */
#include "report/page.h"

#include <math.h>

struct bins {
	const struct ww_page_axis *axis;
	struct ww_page_point bin[WW_PAGE_BINS];
	double n[WW_PAGE_BINS];
};

static void clear(struct bins *b, const struct ww_page_axis *a)
{
	*b = (struct bins){.axis = a};
	for (size_t i = 0; i < WW_PAGE_BINS; i++)
		b->bin[i] =
			(struct ww_page_point){.bin = (unsigned)i, .lo = INFINITY, .hi = -INFINITY};
}

static void add(struct bins *b, int64_t t, double v)
{
	double u = ww_page_u(b->axis, t);
	size_t i;

	if (!(u >= 0 && u < 1) || isnan(v))
		return;
	i = (size_t)(u * WW_PAGE_BINS);
	i = i < WW_PAGE_BINS ? i : WW_PAGE_BINS - 1;
	b->bin[i].lo = fmin(b->bin[i].lo, v);
	b->bin[i].hi = fmax(b->bin[i].hi, v);
	b->n[i]++;
}

/* Bins that hold anything. Bytes: how many. */
static int keep(const struct bins *b, bool bytes, struct ww_page_series *out, struct ww_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < WW_PAGE_BINS; i++)
		n += b->n[i] > 0;
	out->point = calloc(n + 1, sizeof(*out->point));
	if (!out->point)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < WW_PAGE_BINS; i++) {
		struct ww_page_point p = b->bin[i];

		if (b->n[i] == 0)
			continue;
		if (bytes)
			p.lo = p.hi = b->n[i];
		out->point[out->n++] = p;
	}
	return 0;
}

static int read_bytes(struct ww_page *p, struct ww_page_cycle *c, struct bins *b,
		      const struct ww_source_info *s, struct ww_error *err)
{
	struct ww_page_series *out = &c->series[c->serieses];
	struct ww_cursor *k;
	struct ww_batch batch;
	int rc = ww_cursor_open(p->t, s->id, c->axis.lo, c->axis.hi, 0, &k, err);

	if (rc < 0)
		return rc;
	clear(b, &c->axis);
	while ((rc = ww_cursor_next(k, &batch, err)) > 0)
		for (size_t i = 0; i < batch.n; i++)
			add(b, ww_iv_mid((struct ww_interval){batch.lo_ns[i], batch.hi_ns[i]}), 1);
	ww_cursor_close(k);
	if (rc < 0)
		return rc;
	*out = (struct ww_page_series){.name = s->name, .unit = ""};
	rc = keep(b, true, out, err);
	c->serieses += rc >= 0;
	return rc;
}

/* A reading stands where the middle of its window was. */
static int read_watts(struct ww_page *p, struct ww_page_cycle *c, struct bins *b,
		      const struct ww_source_info *s, const struct ww_channel_info *ch,
		      size_t column, struct ww_error *err)
{
	int64_t back = (s->window_ns > 0 ? s->window_ns / 2 : 0) + s->delay_min_ns / 2 +
		       s->delay_max_ns / 2;
	struct ww_scale scale = ww_scale_of(ch->scale, ch->offset);
	struct ww_page_series *out = &c->series[c->serieses];
	struct ww_cursor *k;
	struct ww_batch batch;
	int rc = ww_cursor_open(p->t, s->id, c->axis.lo, ww_add_sat(c->axis.hi, back), 0, &k, err);

	if (rc < 0)
		return rc;
	clear(b, &c->axis);
	while ((rc = ww_cursor_next(k, &batch, err)) > 0)
		for (size_t i = 0; i < batch.n && column < batch.channels; i++)
			add(b,
			    ww_iv_mid((struct ww_interval){batch.lo_ns[i], batch.hi_ns[i]}) - back,
			    ww_code_value(&scale, batch.codes[column][i]));
	ww_cursor_close(k);
	if (rc < 0)
		return rc;
	*out = (struct ww_page_series){.name = s->name, .unit = ch->unit};
	rc = keep(b, false, out, err);
	c->serieses += rc >= 0;
	return rc;
}

static int read_power(struct ww_page *p, struct ww_page_cycle *c, struct bins *b,
		      const struct ww_source_info *s, struct ww_error *err)
{
	size_t column = 0;
	int rc = 0;

	for (size_t i = 0; i < ww_trace_channel_count(p->t) && rc >= 0; i++) {
		const struct ww_channel_info *ch = ww_trace_channel(p->t, i);

		if (ch->source != s->id)
			continue;
		if (strcmp(ch->quantity, "power") == 0 && c->serieses < WW_PAGE_SERIES)
			rc = read_watts(p, c, b, s, ch, column, err);
		column++;
	}
	return rc;
}

int ww_page_read(struct ww_page *p, struct ww_page_cycle *c, struct ww_error *err)
{
	struct bins *b = malloc(sizeof(*b));
	int rc = 0;

	if (!b)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < ww_trace_source_count(p->t) && rc >= 0; i++) {
		const struct ww_source_info *s = ww_trace_source(p->t, i);

		if (s->kind == WW_SERIAL && c->serieses < WW_PAGE_SERIES)
			rc = read_bytes(p, c, b, s, err);
		else if (s->kind == WW_METER || s->kind == WW_MANUAL)
			rc = read_power(p, c, b, s, err);
	}
	free(b);
	return rc < 0 ? rc : 0;
}
