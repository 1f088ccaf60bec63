/* SPDX-License-Identifier: MIT */
#include "analysis/series.h"
#include "analysis/stat.h"
#include "base/str.h"

#include <math.h>

int64_t ww_reading_place(const struct ww_source_info *src, int64_t before, int64_t lo, int64_t hi)
{
	int64_t next;

	if (src->period_ns <= 0 || before == -WW_READING_FAR ||
	    (double)hi - (double)lo <= (double)src->period_ns)
		return ww_iv_mid((struct ww_interval){lo, hi});
	next = ww_add_sat(before, src->period_ns);
	return next < lo ? lo : next > hi ? hi : next;
}

static int by_lo(const void *a, const void *b)
{
	const struct ww_interval *x = a, *y = b;

	if (x->lo_ns != y->lo_ns)
		return x->lo_ns < y->lo_ns ? -1 : 1;
	return (x->hi_ns > y->hi_ns) - (x->hi_ns < y->hi_ns);
}

int ww_source_gaps(const struct ww_trace *t, uint32_t source, struct ww_interval **out,
		   size_t *count)
{
	size_t all = ww_trace_gap_count(t), n = 0, kept = 0;
	struct ww_interval *gap = calloc(all + 1, sizeof(*gap));

	if (!gap)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct ww_gap *g = ww_trace_gap(t, i);

		if (g->source == source && ww_iv_ok(g->t))
			gap[n++] = g->t;
	}
	qsort(gap, n, sizeof(*gap), by_lo);
	for (size_t i = 0; i < n; i++) {
		struct ww_interval *last = kept ? &gap[kept - 1] : NULL;

		if (last && gap[i].lo_ns < last->hi_ns) {
			if (gap[i].hi_ns > last->hi_ns)
				last->hi_ns = gap[i].hi_ns;
		} else {
			gap[kept++] = gap[i];
		}
	}
	*out = gap;
	*count = kept;
	return 0;
}

/* ---- which channel is meant ---- */

static const struct ww_source_info *source_of(const struct ww_trace *t, uint32_t id)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->id == id)
			return ww_trace_source(t, i);
	return NULL;
}

static bool named(const char *name, const struct ww_source_info *src,
		  const struct ww_channel_info *ch)
{
	size_t n = strlen(src->name);

	if (!name)
		return true;
	if (strcmp(name, ch->name) == 0 || strcmp(name, src->name) == 0)
		return true;
	return strncmp(name, src->name, n) == 0 && name[n] == '.' &&
	       strcmp(name + n + 1, ch->name) == 0;
}

#define NAMES_TOLD 6

/* Why what is there will not do, where it looks as if it would. */
static const char *no_watts(const struct ww_trace *t)
{
	bool counter = false, apparent = false, volts = false, amps = false;

	for (size_t i = 0; i < ww_trace_channel_count(t); i++) {
		const struct ww_channel_info *ch = ww_trace_channel(t, i);

		counter |= strcmp(ch->quantity, "energy") == 0 && ch->semantics == WW_COUNTER;
		apparent |= strcmp(ch->quantity, "apparent_power") == 0;
		volts |= strcmp(ch->quantity, "voltage") == 0;
		amps |= strcmp(ch->quantity, "current") == 0;
	}
	return counter	  ? "; of a register of energy, 'pwrlog stat' tells energy and mean power"
	       : apparent ? "; volt-amperes are no watts: record the meter's watts"
	       : volts && amps
		       ? "; volts times amperes are watts for direct current only: record watts"
	       : amps ? "; of direct current alone, give its volts (--columns ms,uA@3.3V)"
		      : "";
}

static int no_quantity(const struct ww_trace *t, const char *quantity, struct ww_error *err)
{
	size_t all = ww_trace_channel_count(t);
	struct ww_str have = {0};
	int rc;

	for (size_t i = 0; i < all && i < NAMES_TOLD; i++) {
		const struct ww_channel_info *ch = ww_trace_channel(t, i);
		const struct ww_source_info *src = source_of(t, ch->source);

		ww_str_addf(&have, "%s%s.%s", i ? ", " : "", src ? src->name : "?", ch->name);
		if (*ch->unit && strcmp(ch->unit, "1") != 0)
			ww_str_addf(&have, " (%s)", ch->unit);
	}
	if (all > NAMES_TOLD)
		ww_str_addf(&have, " and %zu more", all - NAMES_TOLD);
	if (have.bad)
		rc = ww_fail_nomem(err);
	else
		rc = ww_fail(err, -ENODATA, "%s: no channel of %s in this trace; there %s %s%s",
			     ww_trace_path(t), quantity, all == 1 ? "is" : "are",
			     all ? have.p : "no channels",
			     strcmp(quantity, "power") == 0 ? no_watts(t) : "");
	ww_str_free(&have);
	return rc;
}

static int none_found(struct ww_trace *t, const char *name, const char *quantity,
		      const struct ww_str *all, size_t hits, struct ww_error *err)
{
	if (hits > 1)
		return ww_fail(err, -EINVAL,
			       "%s: %s%s%zu channels of %s: %s; name one with --channel",
			       ww_trace_path(t), name ? name : "", name ? " means " : "", hits,
			       quantity, all->p);
	if (all->n && name)
		return ww_fail(err, -ENOENT, "%s: no channel '%s' of %s; there %s %s",
			       ww_trace_path(t), name, quantity, strchr(all->p, ',') ? "are" : "is",
			       all->p);
	return no_quantity(t, quantity, err);
}

int ww_series_find(struct ww_trace *t, const char *name, const char *quantity, struct ww_error *err)
{
	size_t hits = 0, hit = 0;
	struct ww_str all = {0}, matching = {0};
	int rc;

	for (size_t i = 0; i < ww_trace_channel_count(t); i++) {
		const struct ww_channel_info *ch = ww_trace_channel(t, i);
		const struct ww_source_info *src = source_of(t, ch->source);

		if (!src || strcmp(ch->quantity, quantity) != 0 || ch->semantics == WW_COUNTER ||
		    ch->semantics == WW_EDGE)
			continue;
		ww_str_addf(&all, "%s%s.%s", all.n ? ", " : "", src->name, ch->name);
		if (!named(name, src, ch))
			continue;
		ww_str_addf(&matching, "%s%s.%s", matching.n ? ", " : "", src->name, ch->name);
		hits++;
		hit = i;
	}
	if (all.bad || matching.bad)
		rc = ww_fail_nomem(err);
	else if (hits == 1)
		rc = (int)hit;
	else
		rc = none_found(t, name, quantity, hits > 1 ? &matching : &all, hits, err);
	ww_str_free(&all);
	ww_str_free(&matching);
	return rc;
}

/* ---- the smallest step between values ---- */

#define STEPS_LOOKED_AT 4096

static bool multiples(const double *v, size_t n, size_t stride, double q)
{
	size_t bad = 0, m = 0;

	for (size_t i = 0; i < n; i += stride, m++) {
		double k = (v[i] - v[0]) / q;

		/* Doubles of decimal numbers are whole multiples to some digits only. */
		bad += fabs(k - round(k)) > fmax(1e-3, fabs(k) * 1e-9);
	}
	return bad * 100 <= m;
}

double ww_resolution_seen(const double *v, size_t n)
{
	double d[STEPS_LOOKED_AT], least;
	size_t stride = n / STEPS_LOOKED_AT + 1, m = 0;

	for (size_t i = 1; i < n && m < STEPS_LOOKED_AT; i += stride) {
		double x = fabs(v[i] - v[i - 1]);

		if (x > 0 && isfinite(x))
			d[m++] = x;
	}
	if (m < 3)
		return 0;
	qsort(d, m, sizeof(*d), ww_cmp_double);
	least = d[m / 20]; /* one that is misread or computed is no step */
	/* The step may be a part of every difference that occurred: 2 and 3 are steps of 1. */
	for (int part = 1; part <= 20; part++)
		if (multiples(v, n, stride, least / part))
			return least / part;
	return 0;
}

/* ---- reading ---- */

struct reading {
	struct ww_series *s;
	const struct ww_source_info *src;
	struct ww_scale scale;
	double joules; /* of one unit s: the factor to W; 1 for other quantities */
	size_t column, columns, cap;
	int64_t place; /* of the latest row */
	int64_t from, to;
	int64_t shift; /* from arrival to the end of what was measured */
};

static int grow(struct reading *r, size_t more)
{
	struct ww_series *s = r->s;
	size_t cap = r->cap ? r->cap : 1024;
	void *p[5];

	if (s->n + more <= r->cap)
		return 0;
	while (cap < s->n + more)
		cap *= 2;
	if ((p[0] = realloc(s->t_ns, cap * sizeof(*s->t_ns))))
		s->t_ns = p[0];
	if ((p[1] = realloc(s->lo_ns, cap * sizeof(*s->lo_ns))))
		s->lo_ns = p[1];
	if ((p[2] = realloc(s->hi_ns, cap * sizeof(*s->hi_ns))))
		s->hi_ns = p[2];
	if ((p[3] = realloc(s->v, cap * sizeof(*s->v))))
		s->v = p[3];
	if ((p[4] = realloc(s->hole, cap)))
		s->hole = p[4];
	if (!p[0] || !p[1] || !p[2] || !p[3] || !p[4])
		return -ENOMEM;
	r->cap = cap;
	return 0;
}

static int take(struct reading *r, const struct ww_batch *b)
{
	struct ww_series *s = r->s;
	const int64_t *code = b->codes[r->column];
	int rc = grow(r, b->n);

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		int64_t mid = ww_reading_place(r->src, r->place, b->lo_ns[i], b->hi_ns[i]), t;

		if (mid > r->place && mid < WW_READING_FAR)
			r->place = mid;
		t = ww_add_sat(r->place, -r->shift);
		if (t < r->from || t > r->to)
			continue;
		if (code[i] < WW_CODE_MIN) {
			s->missing++;
			continue;
		}
		s->t_ns[s->n] = t;
		s->lo_ns[s->n] = ww_add_sat(b->lo_ns[i], -r->src->delay_max_ns - r->src->window_ns);
		s->hi_ns[s->n] = ww_add_sat(b->hi_ns[i], -r->src->delay_min_ns);
		s->v[s->n] = ww_code_value(&r->scale, code[i]) * r->joules;
		s->hole[s->n++] = 0;
	}
	return rc;
}

/* Usual time between readings, from as many as say it. */
static double usual_interval(const struct ww_series *s)
{
	double d[STEPS_LOOKED_AT], mean, median;
	size_t m = 0, stride = s->n / STEPS_LOOKED_AT + 1;

	for (size_t i = 1; i < s->n && m < STEPS_LOOKED_AT; i += stride)
		d[m++] = (double)s->t_ns[i] - (double)s->t_ns[i - 1];
	if (m == 0)
		return 0;
	mean = 0;
	for (size_t i = 0; i < m; i++)
		mean += d[i] / (double)m;
	median = ww_median(d, m);
	/* Readings that arrive in bunches: the pauses between these are usual. */
	return (median < mean / 10 ? d[(m - 1) * 9 / 10] : median) / 1e9;
}

/* Which readings come after a hole: a recorded one, or a long pause. */
static int find_holes(struct ww_series *s, const struct ww_trace *t)
{
	struct ww_interval *gap;
	size_t gaps, g = 0;
	int rc = ww_source_gaps(t, s->source, &gap, &gaps);

	if (rc < 0)
		return rc;
	for (size_t i = 1; i < s->n; i++) {
		double d = ((double)s->t_ns[i] - (double)s->t_ns[i - 1]) / 1e9;

		while (g < gaps && gap[g].hi_ns <= s->t_ns[i - 1])
			g++;
		s->hole[i] =
			!s->manual &&
			((g < gaps && gap[g].lo_ns < s->t_ns[i] && gap[g].hi_ns > gap[g].lo_ns) ||
			 (!s->any_pace && d > WW_GAP_PERIODS * s->period_s));
		s->holes += s->hole[i];
	}
	free(gap);
	return 0;
}

static int describe(struct reading *r, const struct ww_trace *t, const struct ww_channel_info *ch,
		    struct ww_error *err)
{
	struct ww_series *s = r->s;
	struct ww_str name = {0};
	int rc;

	r->src = source_of(t, ch->source);
	r->scale = ww_scale_of(ch->scale, ch->offset);
	r->joules = strcmp(ch->quantity, "power") == 0 ? ww_power_joules(ch->unit) : 1;
	if (!(r->joules > 0))
		return ww_fail(err, -EINVAL, "%s: %s.%s: '%s' is not a unit of power",
			       ww_trace_path(t), r->src->name, ch->name, ch->unit);
	r->shift = ww_iv_mid((struct ww_interval){r->src->delay_min_ns, r->src->delay_max_ns});
	s->channel = ch->id;
	s->source = ch->source;
	s->semantics = ch->semantics;
	s->manual = r->src->kind == WW_MANUAL;
	s->any_pace = ww_mean_since(r->src, ch->semantics);
	s->resolution = ch->resolution > 0 ? ch->resolution * r->joules : 0;
	s->acc_abs = ch->acc_abs * r->joules;
	s->acc_rel = ch->acc_rel;
	s->window_s = (double)r->src->window_ns / 1e9;
	s->period_s = (double)r->src->period_ns / 1e9;
	s->own_time = ww_import_name(t) && ww_trace_anchor_count(t) == 0;
	s->origin_ns = s->own_time ? 0 : ww_trace_span(t).lo_ns;
	for (size_t i = 0; i < ww_trace_channel_count(t); i++)
		if (ww_trace_channel(t, i)->source == ch->source) {
			r->column = ww_trace_channel(t, i)->id == ch->id ? r->columns : r->column;
			r->columns++;
		}
	ww_str_addf(&name, "%s.%s", r->src->name, ch->name);
	rc = ww_str_take(&name, &s->name, err);
	s->unit = rc < 0 ? NULL : strdup(strcmp(ch->quantity, "power") == 0 ? "W" : ch->unit);
	s->quantity = rc < 0 ? NULL : strdup(ch->quantity);
	return s->unit && s->quantity ? 0 : ww_fail_nomem(err);
}

static int pull(struct reading *r, struct ww_trace *t, struct ww_error *err)
{
	struct ww_cursor *c = NULL;
	struct ww_batch b;
	int rc = ww_cursor_open(t, r->s->source, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err);

	while (rc >= 0 && r->place - r->shift <= r->to && (rc = ww_cursor_next(c, &b, err)) > 0) {
		if (b.channels != r->columns)
			rc = ww_fail(err, -EIO, "%s: %s: rows of %zu channels, described are %zu",
				     ww_trace_path(t), r->s->name, b.channels, r->columns);
		else if ((rc = take(r, &b)) < 0)
			ww_fail_nomem(err);
	}
	ww_cursor_close(c);
	return rc < 0 ? rc : 0;
}

int ww_series_read(struct ww_trace *t, const char *name, const char *quantity, int64_t from_ns,
		   int64_t to_ns, struct ww_series *out, struct ww_error *err)
{
	struct reading r = {.s = out, .place = -WW_READING_FAR};
	struct ww_source_info src;
	int rc;

	*out = (struct ww_series){0};
	r.from = from_ns ? from_ns : WW_TIME_MIN;
	r.to = to_ns ? to_ns : WW_TIME_MAX;
	rc = ww_series_find(t, name, quantity, err);
	if (rc >= 0)
		rc = describe(&r, t, ww_trace_channel(t, (size_t)rc), err);
	if (rc == 0) {
		src = *r.src; /* what a trace lends lives until the next call */
		r.src = &src;
		rc = pull(&r, t, err);
	}
	if (rc == 0) {
		if (!(out->period_s > 0) || out->missing * 2 > out->n)
			out->period_s = usual_interval(out);
		if (!(out->resolution > 0)) {
			out->resolution = ww_resolution_seen(out->v, out->n);
			out->resolution_seen = out->resolution > 0;
		}
		if (find_holes(out, t) < 0)
			rc = ww_fail_nomem(err);
	}
	if (rc < 0)
		ww_series_free(out);
	return rc;
}

void ww_series_free(struct ww_series *s)
{
	free(s->name);
	free(s->unit);
	free(s->quantity);
	free(s->t_ns);
	free(s->lo_ns);
	free(s->hi_ns);
	free(s->v);
	free(s->hole);
	*s = (struct ww_series){0};
}
