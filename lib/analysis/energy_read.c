/* SPDX-License-Identifier: MIT */
/* ww_stat: the rows of one source, pulled from the trace and handed on. */
#include "analysis/series.h"
#include "analysis/stat.h"

#include <math.h>

#define PREFIX	    512 /* rows from which the usual interval is taken */
#define CHUNK	    1024
#define GAP_PERIODS WW_GAP_PERIODS
#define FAR	    WW_READING_FAR

/* Readings of a channel in the trace's first rows. */
struct prefix {
	size_t n, rows;
	int64_t t[PREFIX];
	double skipped[PREFIX]; /* rows that gave something, since the reading before */
};

/* The usual interval between them, 0 if there is none. */
static double usual_interval(const struct prefix *p)
{
	double d[PREFIX], mean, median;
	size_t n = p->n;

	if (n < 3)
		return 0;
	for (size_t i = 1; i < n; i++)
		d[i - 1] = (double)p->t[i] - (double)p->t[i - 1];
	mean = ((double)p->t[n - 1] - (double)p->t[0]) / (double)(n - 1);
	median = ww_median(d, n - 1);
	/* Readings that arrive in bunches: the pauses between these are usual. */
	return median < mean / 10 ? d[(n - 1) * 9 / 10] : median;
}

/* A meter may give some values with every tenth of its readings only. */
static double usual_rows(const struct prefix *p)
{
	double v[PREFIX];

	if (p->n < 3)
		return 1;
	for (size_t i = 1; i < p->n; i++)
		v[i - 1] = p->skipped[i];
	return ww_median(v, p->n - 1);
}

static void note_row(struct prefix *p, const struct ww_batch *b, size_t k, size_t i, int64_t t)
{
	bool any = false;

	for (size_t c = 0; c < b->channels && !any; c++)
		any = b->codes[c][i] >= WW_CODE_MIN;
	p->rows += any;
	if (k >= b->channels || b->codes[k][i] < WW_CODE_MIN)
		return;
	p->skipped[p->n] = (double)p->rows;
	p->t[p->n++] = t;
	p->rows = 0;
}

static int read_prefix(struct ww_stat_reading *r, size_t k, struct prefix *p, struct ww_error *err)
{
	struct ww_cursor *c = NULL;
	struct ww_batch b;
	int64_t t = -FAR;
	size_t seen = 0;
	int rc = ww_cursor_open(r->trace, r->info->id, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err);

	p->n = p->rows = 0;
	while (rc >= 0 && p->n < PREFIX && seen < 64 * PREFIX &&
	       (rc = ww_cursor_next(c, &b, err)) > 0)
		for (size_t i = 0; i < b.n && p->n < PREFIX && seen < 64 * PREFIX; i++, seen++) {
			t = ww_reading_place(r->info, t, b.lo_ns[i], b.hi_ns[i]);
			note_row(p, &b, k, i, t);
		}
	ww_cursor_close(c);
	return rc;
}

/*
 * The driver's period wins over what is seen: where every second reading was lost,
 * the usual interval is two of them. A person reads when there is something to
 * read: no gaps between typed readings. Nor between those of a pulse meter, each of which
 * is the mean since the one before.
 */
int ww_stat_find_limits(struct ww_stat_reading *r, struct ww_error *err)
{
	struct prefix p;

	for (size_t k = 0; k < r->channels; k++) {
		struct ww_stat_channel *ch = r->channel[k];
		double period;
		int rc;

		ch->limit = INT64_MAX;
		if (r->info->kind == WW_MANUAL || ww_mean_since(r->info, ch->info.semantics))
			continue;
		rc = read_prefix(r, k, &p, err);
		if (rc < 0)
			return rc;
		period = r->info->period_ns > 0 ? (double)r->info->period_ns * usual_rows(&p)
						: usual_interval(&p);
		if (period > 0 && period < 1e18) {
			ch->limit = (int64_t)(GAP_PERIODS * period);
			ch->period = r->info->period_ns > 0 ? (int64_t)period : 0;
		}
	}
	return 0;
}

/* What a paired register should have counted up to this row, in its codes. */
static double expected(const struct ww_stat_channel *c, int64_t t, int64_t code)
{
	const struct ww_integral *w = &c->w;
	double per = c->counter->info.scale * ww_energy_joules(c->counter->info.unit), watts;

	if (!w->any || code < WW_CODE_MIN || !(per > 0))
		return NAN;
	watts = ((double)w->c0 + (double)code) / 2 * c->info.scale + c->info.offset;
	return watts * ww_power_joules(c->info.unit) * ((double)t - (double)w->t0) / 1e9 / per;
}

/*
 * Note how far integral and register are, at a row that has both. What lies in a
 * gap, or round a reset, only one of them knows: it is left out of the comparison.
 */
static void pair_up(struct ww_stat_channel *c)
{
	const struct ww_counter *k = &c->counter->k;
	const struct ww_integral *w = &c->w;
	double e = ww_stat_joules(c), r = ww_counter_get(k) * c->counter->info.scale *
					  ww_energy_joules(c->counter->info.unit);
	bool apart = k->resets + k->turns_unknown != c->pair_resets || w->gap_ns != c->pair_gap_ns;

	if (c->paired && !apart) {
		c->pair_E += e - c->pair_e;
		c->pair_R += r - c->pair_r;
		c->pair_ns += (double)w->t0 - (double)c->pair_t;
		c->pieces += c->fresh;
		c->fresh = false;
	} else {
		c->fresh = true;
	}
	c->paired = true;
	c->pair_e = e;
	c->pair_r = r;
	c->pair_t = w->t0;
	c->pair_resets = k->resets + k->turns_unknown;
	c->pair_gap_ns = w->gap_ns;
}

/* Whether the driver told of a reset since the last row. Marks keep their order. */
static bool told_reset(struct ww_stat_reading *r, int64_t t)
{
	bool told = false;

	for (; r->next_reset < r->resets && r->reset[r->next_reset] <= t; r->next_reset++)
		told = true;
	return told;
}

/* Row by row, registers first: the integral may need them to cross a gap. */
static void feed_pairs(struct ww_stat_reading *r, const struct ww_rows *rows,
		       const struct ww_batch *b, size_t at)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct ww_rows one = {1, rows->t + i, rows->lo + i, rows->hi + i};
		bool told = told_reset(r, one.t[0]);

		for (size_t k = 0; k < r->channels; k++) {
			struct ww_stat_channel *c = r->channel[k];
			int64_t own = b->codes[k][at + i];
			double expect = NAN;

			if (!c->is_counter)
				continue;
			c->k.told_reset |= told;
			for (size_t p = 0; p < r->channels && own >= WW_CODE_MIN; p++)
				if (r->channel[p]->counter == c)
					expect = expected(r->channel[p], one.t[0],
							  b->codes[p][at + i]);
			ww_counter_add(&c->k, one.t[0], own, expect);
		}
		for (size_t k = 0; k < r->channels; k++) {
			struct ww_stat_channel *c = r->channel[k];

			if (c->is_counter)
				continue;
			ww_integral_add(&c->w, &one, b->codes[k] + at + i);
			if (c->counter && c->w.any && c->counter->k.any && c->w.t0 == one.t[0] &&
			    c->counter->k.t1 == one.t[0])
				pair_up(c);
		}
	}
}

static void feed(struct ww_stat_reading *r, const struct ww_batch *b)
{
	int64_t t[CHUNK];

	for (size_t at = 0; at < b->n; at += CHUNK) {
		size_t n = b->n - at < CHUNK ? b->n - at : CHUNK;
		struct ww_rows rows = {n, t, b->lo_ns + at, b->hi_ns + at};

		for (size_t i = 0; i < n; i++) {
			int64_t mid = ww_reading_place(r->info, r->t, rows.lo[i], rows.hi[i]);

			/* Within 146 years of the axis' zero no difference overflows. */
			if (mid > r->t && mid < FAR)
				r->t = mid;
			t[i] = r->t;
		}
		if (r->pairs || r->resets) {
			feed_pairs(r, &rows, b, at);
			continue;
		}
		for (size_t k = 0; k < r->channels; k++) {
			struct ww_stat_channel *c = r->channel[k];

			if (!c->is_counter)
				ww_integral_add(&c->w, &rows, b->codes[k] + at);
			for (size_t i = 0; c->is_counter && i < n; i++)
				ww_counter_add(&c->k, t[i], b->codes[k][at + i], NAN);
		}
	}
}

static int64_t window_lo(const struct ww_stat_channel *c)
{
	return c->is_counter ? c->k.from : c->w.from;
}

static bool all_done(const struct ww_stat_reading *r)
{
	for (size_t k = 0; k < r->channels; k++)
		if (!(r->channel[k]->is_counter ? r->channel[k]->k.done : r->channel[k]->w.done))
			return false;
	return true;
}

/* Whether every channel has a value at or before the window in the rows from `start`. */
static int covers(struct ww_stat_reading *r, int64_t start, int64_t last, struct ww_error *err)
{
	struct ww_cursor *c = NULL;
	struct ww_batch b;
	uint64_t seen = 0, need = r->channels < 64 ? (UINT64_C(1) << r->channels) - 1 : UINT64_MAX;
	int rc = ww_cursor_open(r->trace, r->info->id, start, last, 0, &c, err);

	while (rc >= 0 && seen != need && (rc = ww_cursor_next(c, &b, err)) > 0)
		for (size_t k = 0; k < b.channels && k < 64; k++)
			for (size_t i = 0; i < b.n && !(seen >> k & 1); i++)
				if (b.hi_ns[i] <= window_lo(r->channel[k]) &&
				    b.codes[k][i] >= WW_CODE_MIN)
					seen |= UINT64_C(1) << k;
	ww_cursor_close(c);
	return rc < 0 ? rc : seen == need;
}

/* Where to begin, so that the interval across the window's start is seen whole. */
static int find_start(struct ww_stat_reading *r, int64_t *start, struct ww_error *err)
{
	int64_t first = ww_trace_span(r->trace).lo_ns, from = WW_TIME_MIN, back = 4 * WW_NS_PER_S;
	int rc = 0;

	*start = WW_TIME_MIN;
	for (size_t k = 0; k < r->channels; k++)
		if (window_lo(r->channel[k]) > from)
			from = window_lo(r->channel[k]);
	while (from != WW_TIME_MIN) {
		int64_t s = ww_add_sat(from, -back);

		if (s <= first || back > INT64_MAX / 16)
			return 0;
		rc = covers(r, s, from, err);
		if (rc < 0)
			return rc;
		if (rc) {
			*start = s;
			return 0;
		}
		back *= 16;
	}
	return 0;
}

int ww_stat_read(struct ww_stat_reading *r, struct ww_error *err)
{
	struct ww_cursor *c = NULL;
	struct ww_batch b;
	int64_t start;
	int rc;

	for (size_t k = 0; k < r->channels; k++) {
		struct ww_stat_channel *ch = r->channel[k];

		if (ch->is_counter)
			continue;
		ch->w.limit = ch->limit;
		ch->w.period = ch->period;
		ch->w.gap = r->gap;
		ch->w.gaps_recorded = r->gaps;
	}
	rc = find_start(r, &start, err);
	if (rc < 0)
		return rc;
	rc = ww_cursor_open(r->trace, r->info->id, start, WW_TIME_MAX, 0, &c, err);
	r->t = -FAR;
	while (rc >= 0 && !all_done(r) && (rc = ww_cursor_next(c, &b, err)) > 0) {
		if (b.channels == r->channels)
			feed(r, &b);
		else
			rc = ww_fail(err, -EIO, "%s: %s: rows of %zu channels, described are %zu",
				     ww_trace_path(r->trace), r->info->name, b.channels,
				     r->channels);
	}
	ww_cursor_close(c);
	return rc < 0 ? rc : 0;
}
