/* SPDX-License-Identifier: MIT */
/* Tables become a trace in memory. */
#include "import/import.h"
#include "trace/trace.h"

#include <math.h>
#include <stdio.h>

#define ROWS_AT_ONCE 4096

/* One over a power of ten is what values are divided by: 0.1 exactly as it is read. */
static double scale_of(const struct ww_column *c)
{
	double ten = 1;

	for (int i = 0; i < c->decimals; i++)
		ten *= 10;
	return c->scale > 0 ? c->scale / ten : 1 / ten;
}

static double resolution_of(const struct ww_import *im, const struct ww_table *t,
			    const struct ww_column *c)
{
	double step;

	if (im->resolution > 0 && strcmp(c->quantity, "power") == 0)
		return im->resolution;
	if (c->resolution > 0)
		return c->resolution;
	/* Fifteen digits are a computer's, not a meter's. */
	step = c->capped || c->decimals >= 10 ? 0 : ww_column_step(c, t->rows);
	return c->scale > 0 ? step * c->scale : step;
}

static int64_t median_step(const struct ww_table *t)
{
	double v[1001];
	size_t n = 0, every = t->rows / 1000 + 1;

	for (size_t i = 1; i < t->rows && n < WW_COUNTOF(v); i += every)
		v[n++] = (double)(t->hi[i] - t->hi[i - 1]);
	return n ? (int64_t)ww_median(v, n) : 0;
}

static int put_source(struct ww_writer *w, const struct ww_import *im, const struct ww_table *t,
		      struct ww_error *err)
{
	struct ww_source_info s = {.kind = WW_METER,
				   .name = t->name,
				   .driver = t->driver,
				   .model = t->model,
				   .notes = t->notes,
				   .window_ns = t->window_ns};
	int id, rc = 0;

	s.period_ns = median_step(t);
	id = ww_writer_source(w, &s, err);
	for (size_t i = 0; id > 0 && rc >= 0 && i < t->columns; i++) {
		const struct ww_column *c = &t->column[i];
		struct ww_channel_info info = {.source = (uint32_t)id,
					       .name = c->name,
					       .quantity = c->quantity,
					       .unit = c->unit,
					       .semantics = c->semantics,
					       .scale = scale_of(c),
					       .resolution = resolution_of(im, t, c),
					       .acc_abs = NAN,
					       .acc_rel = NAN};

		rc = ww_writer_channel(w, &info, err);
	}
	return rc < 0 ? rc : id;
}

static int put_rows(struct ww_writer *w, uint32_t id, const struct ww_table *t,
		    struct ww_error *err)
{
	int64_t *codes = malloc(ROWS_AT_ONCE * t->columns * sizeof(*codes));
	int rc = codes ? 0 : ww_fail_nomem(err);

	for (size_t at = 0; rc == 0 && at < t->rows;) {
		size_t n = t->rows - at < ROWS_AT_ONCE ? t->rows - at : ROWS_AT_ONCE;

		for (size_t i = 0; i < n; i++)
			for (size_t c = 0; c < t->columns; c++)
				codes[i * t->columns + c] = t->column[c].code[at + i];
		rc = ww_writer_samples(w, id, n, (t->lo ? t->lo : t->hi) + at, t->hi + at, codes,
				       err);
		at += n;
	}
	free(codes);
	return rc;
}

static int put_breaks(struct ww_writer *w, uint32_t id, const struct ww_table *t,
		      struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->breaks; i++) {
		const struct ww_break *b = &t->brk[i];
		struct ww_gap g = {.source = id, .lost = b->lost, .reason = b->reason};

		if (t->rows == 0)
			continue;
		g.t.lo_ns = t->hi[b->row ? b->row - 1 : 0];
		g.t.hi_ns = t->hi[b->row < t->rows ? b->row : t->rows - 1];
		rc = ww_writer_gap(w, &g, err);
	}
	return rc;
}

static int put_labels(struct ww_writer *w, uint32_t id, const struct ww_table *t,
		      struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < t->labels; i++) {
		const struct ww_label *l = &t->label[i];
		int64_t at = l->timed ? l->at : t->rows ? t->hi[l->row] : 0;
		struct ww_mark m = {.t = {at, at}, .source = id, .kind = l->kind, .text = l->text};

		rc = ww_writer_mark(w, &m, err);
	}
	return rc;
}

static void shift_times(struct ww_table *t, int64_t by)
{
	for (size_t k = 0; k < t->rows; k++) {
		t->hi[k] -= by;
		if (t->lo)
			t->lo[k] -= by;
	}
	for (size_t k = 0; k < t->labels; k++)
		t->label[k].at -= by;
}

/* Times of day: the axis begins at 0, and an anchor says when that was. */
static int put_clock(struct ww_writer *w, struct ww_import *im, struct ww_error *err)
{
	struct ww_anchor a = {.adj_state = -1, .adj_maxerror_ns = -1};
	int64_t first = INT64_MAX;
	int32_t zone = im->has_offset && !im->zoned ? im->offset_s : im->zone_s;
	char text[16];
	int rc;

	if (im->clock != WW_CLOCK_LOCAL && im->clock != WW_CLOCK_UTC)
		return 0;
	for (size_t i = 0; i < im->tables; i++) {
		const struct ww_table *t = &im->table[i];

		if (t->rows && (t->lo ? t->lo[0] : t->hi[0]) < first)
			first = t->lo ? t->lo[0] : t->hi[0];
	}
	if (first == INT64_MAX)
		first = 0;
	for (size_t i = 0; i < im->tables; i++)
		shift_times(&im->table[i], first);
	a.real_ns = first;
	if (im->clock == WW_CLOCK_LOCAL)
		a.real_ns -= im->offset_s * WW_NS_PER_S;
	rc = ww_writer_anchor(w, &a, err);
	snprintf(text, sizeof(text), "%d", zone);
	return rc < 0 || (!im->zoned && !im->has_offset)
		       ? rc
		       : ww_writer_meta(w, "bench.utc_offset_s", text, err);
}

static int put_meta(struct ww_writer *w, const struct ww_import *im, struct ww_error *err)
{
	int rc = ww_writer_meta(w, WW_META_IMPORT, im->format, err);
	const char *note;
	char key[40];

	for (size_t i = 0; rc == 0 && (note = ww_note_at(&im->notes, i)); i++) {
		snprintf(key, sizeof(key), WW_META_IMPORT_NOTE "%02zu", i + 1);
		rc = ww_writer_meta(w, key, note, err);
	}
	if (rc == 0 && im->notes.bad)
		rc = ww_fail_nomem(err);
	return rc;
}

static int fill(struct ww_writer *w, struct ww_import *im, struct ww_error *err)
{
	int rc = put_clock(w, im, err);

	if (rc == 0)
		rc = put_meta(w, im, err);
	for (size_t i = 0; rc == 0 && i < im->tables; i++) {
		const struct ww_table *t = &im->table[i];
		int id = put_source(w, im, t, err);

		rc = id < 0 ? id : put_rows(w, (uint32_t)id, t, err);
		if (rc == 0)
			rc = put_breaks(w, (uint32_t)id, t, err);
		if (rc == 0)
			rc = put_labels(w, (uint32_t)id, t, err);
	}
	return rc;
}

int ww_import_build(struct ww_import *im, struct ww_trace **out, struct ww_error *err)
{
	struct ww_writer *w;
	struct ww_trace *t;
	int rc = ww_memory_new(im->path, &t, &w, err), end;

	if (rc < 0)
		return rc;
	rc = fill(w, im, err);
	end = ww_memory_done(t, w, err);
	if (rc == 0)
		rc = end;
	if (rc < 0)
		ww_trace_close(t);
	else
		*out = t;
	return rc < 0 ? rc : 0;
}
