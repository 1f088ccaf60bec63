/* SPDX-License-Identifier: MIT */
/*
 * ww_stat: energy and mean of every channel. It pulls the rows from the
 * trace (energy_read.c), adds them up (integral.c, counter.c) and evaluates
 * (figures.c, remarks.c).
 */
#include "analysis/series.h"
#include "analysis/stat.h"
#include "base/str.h"

#include <math.h>

static char *keep(struct ww_stat *s, int *rc, const char *text)
{
	char **v = realloc(s->text, (s->texts + 1) * sizeof(*v)), *copy;

	if (!v) {
		*rc = -ENOMEM;
		return NULL;
	}
	s->text = v;
	copy = strdup(text);
	if (!copy)
		*rc = -ENOMEM;
	else
		v[s->texts++] = copy;
	return copy;
}

static int by_time(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Resets that the driver told of. */
static int load_resets(struct ww_stat_reading *r)
{
	size_t all = ww_trace_mark_count(r->trace);

	r->reset = calloc(all + 1, sizeof(*r->reset));
	if (!r->reset)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct ww_mark *m = ww_trace_mark(r->trace, i);

		if (m->source == r->info->id && strcmp(m->kind, WW_MARK_RESET) == 0)
			r->reset[r->resets++] = ww_iv_mid(m->t);
	}
	qsort(r->reset, r->resets, sizeof(*r->reset), by_time);
	return 0;
}

static bool is_power(const struct ww_channel_info *i)
{
	return strcmp(i->quantity, "power") == 0 && ww_power_joules(i->unit) > 0 &&
	       i->semantics != WW_COUNTER;
}

/* "power2" belongs to "energy2"; alone they need no like names. */
static void find_register(struct ww_stat_reading *r, struct ww_stat_channel *c)
{
	size_t powers = 0, registers = 0;
	struct ww_stat_channel *like = NULL, *any = NULL;

	for (size_t k = 0; k < r->channels; k++) {
		struct ww_stat_channel *o = r->channel[k];
		const char *name = o->info.name;

		powers += is_power(&o->info);
		if (!o->is_counter || strcmp(o->info.quantity, "energy") != 0 ||
		    ww_energy_joules(o->info.unit) == 0 || !(o->info.scale > 0))
			continue;
		registers++;
		any = o;
		c->one_way |= strcmp(name, "energy_export") == 0;
		if (strncmp(name, "energy", 6) == 0 && strncmp(c->info.name, "power", 5) == 0 &&
		    strcmp(name + 6, c->info.name + 5) == 0)
			like = o;
	}
	c->counter = powers == 1 && registers == 1 ? any : like;
	if (c->counter && c->info.scale > 0) {
		double w = c->info.scale * ww_power_joules(c->info.unit);
		double j = c->counter->info.scale * ww_energy_joules(c->counter->info.unit);
		double step = c->counter->info.resolution > 0
				      ? c->counter->info.resolution / c->counter->info.scale
				      : 1;

		r->pairs = true;
		c->w.counter = &c->counter->k;
		c->w.counter_area = j / w * 1e9;
		c->w.counter_base = c->info.offset / c->info.scale;
		c->w.counter_u = step * c->w.counter_area / sqrt(6);
		c->w.counter_ns = (double)(r->info->delay_max_ns - r->info->delay_min_ns);
	} else {
		c->counter = NULL;
	}
}

static void set_window(struct ww_stat_channel *c, const struct ww_source_info *src,
		       struct ww_interval window, struct ww_interval span)
{
	int64_t shift = ww_iv_mid((struct ww_interval){src->delay_min_ns, src->delay_max_ns});
	int64_t from = window.lo_ns, to = window.hi_ns;

	/* A value that stands for a moment stands for the middle of its window. */
	if (c->info.semantics == WW_INSTANT)
		shift += src->window_ns / 2;
	if (from != WW_TIME_MIN)
		from = ww_add_sat(from, shift);
	if (to != WW_TIME_MAX)
		to = ww_add_sat(to, shift);
	c->want_lo = from > span.lo_ns ? from : span.lo_ns;
	c->want_hi = to < span.hi_ns ? to : span.hi_ns;
	c->delay_s = ((double)src->delay_max_ns - (double)src->delay_min_ns) / 1e9;
	c->is_counter = c->info.semantics == WW_COUNTER;
	if (c->is_counter) {
		ww_counter_init(&c->k);
		c->k.from = from;
		c->k.to = to;
		if (c->info.wrap > 0 && c->info.scale > 0 && c->info.wrap / c->info.scale < 9e18)
			c->k.wrap = (int64_t)llround(c->info.wrap / c->info.scale);
	} else {
		ww_integral_init(&c->w, c->info.semantics);
		if (c->info.resolution > 0 && c->info.scale != 0)
			c->w.noise.quantum = fmax(1, c->info.resolution / fabs(c->info.scale));
		c->manual = src->kind == WW_MANUAL || ww_mean_since(src, c->info.semantics);
		c->w.opens = ww_mean_since(src, c->info.semantics);
		c->w.from = from;
		c->w.to = to;
	}
}

/* Channels of a source, set up; the columns of the cursor are in this order. */
static int set_up(struct ww_stat_reading *r, struct ww_interval window)
{
	size_t all = ww_trace_channel_count(r->trace);
	int rc = 0;

	r->channel = calloc(all + 1, sizeof(struct ww_stat_channel *));
	if (!r->channel)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct ww_channel_info *info = ww_trace_channel(r->trace, i);
		struct ww_stat_channel *c;

		if (info->source != r->info->id)
			continue;
		c = calloc(1, sizeof(*c));
		if (!c)
			return -ENOMEM;
		r->channel[r->channels++] = c;
		c->info = *info;
		c->info.name = keep(r->stat, &rc, info->name);
		c->info.quantity = keep(r->stat, &rc, info->quantity);
		c->info.unit = keep(r->stat, &rc, info->unit);
		if (rc < 0)
			return rc;
		set_window(c, r->info, window, ww_trace_span(r->trace));
	}
	for (size_t k = 0; k < r->channels; k++)
		if (is_power(&r->channel[k]->info))
			find_register(r, r->channel[k]);
	rc = ww_source_gaps(r->trace, r->info->id, &r->gap, &r->gaps);
	return rc == 0 ? load_resets(r) : rc;
}

/* Figures of a source that was read. */
static int add_figures(struct ww_stat *s, const struct ww_stat_reading *r)
{
	int rc = 0;

	for (size_t k = 0; k < r->channels && rc == 0; k++) {
		const struct ww_stat_channel *c = r->channel[k];
		struct ww_channel_stat *out = &s->channel[s->channels];
		struct ww_str name = {0};

		if (c->info.semantics == WW_EDGE) {
			ww_stat_say(s, &rc, "%s.%s: edges of a line are events and have no mean",
				    r->info->name, c->info.name);
			continue;
		}
		ww_str_addf(&name, "%s.%s", r->info->name, c->info.name);
		out->name = name.bad ? NULL : keep(s, &rc, name.p);
		rc = name.bad ? -ENOMEM : rc;
		ww_str_free(&name);
		out->quantity = c->info.quantity;
		out->unit = c->info.unit;
		if (rc)
			break;
		ww_stat_figures(c, out, &s->extra[s->channels]);
		ww_stat_remarks(s, &rc, r->info, c, s->channels++);
	}
	return rc;
}

static int add_source(struct ww_stat *s, struct ww_trace *t, const struct ww_source_info *info,
		      struct ww_interval window, struct ww_error *err)
{
	struct ww_source_info copy = *info;
	struct ww_stat_reading r = {.stat = s, .trace = t, .info = &copy};
	int rc = 0;

	copy.name = keep(s, &rc, info->name);
	if (rc == 0)
		rc = set_up(&r, window);
	if (rc == 0 && r.channels) {
		rc = ww_stat_find_limits(&r, err);
		if (rc == 0)
			rc = ww_stat_read(&r, err);
		if (rc == 0)
			rc = add_figures(s, &r);
	}
	for (size_t k = 0; r.channel && k < r.channels; k++)
		free(r.channel[k]);
	free(r.channel);
	free(r.gap);
	free(r.reset);
	return rc == -ENOMEM ? ww_fail_nomem(err) : rc;
}

static int describe(struct ww_stat *s, struct ww_trace *t, struct ww_interval window)
{
	struct ww_interval span = ww_trace_span(t);
	int rc = 0;

	s->channel = calloc(ww_trace_channel_count(t) + 1, sizeof(*s->channel));
	s->extra = calloc(ww_trace_channel_count(t) + 1, sizeof(*s->extra));
	ww_wall_read(&s->wall, t);
	if (!s->channel || !s->extra)
		return -ENOMEM;
	if (!ww_iv_ok(span))
		return rc;
	s->to_s = ((double)span.hi_ns - (double)span.lo_ns) / 1e9;
	if (window.lo_ns != WW_TIME_MIN)
		s->from_s = ((double)window.lo_ns - (double)span.lo_ns) / 1e9;
	if (window.hi_ns != WW_TIME_MAX)
		s->to_s = ((double)window.hi_ns - (double)span.lo_ns) / 1e9;
	return rc;
}

int ww_stat_new(struct ww_trace *t, const struct ww_stat_options *opt, struct ww_stat **out,
		struct ww_error *err)
{
	struct ww_interval w = {WW_OPT(opt, from_ns, 0), WW_OPT(opt, to_ns, 0)};
	struct ww_stat *s;
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	if (w.lo_ns == 0)
		w.lo_ns = WW_TIME_MIN;
	if (w.hi_ns == 0)
		w.hi_ns = WW_TIME_MAX;
	if (w.lo_ns >= w.hi_ns)
		return ww_fail(err, -EINVAL, "%s: the window ends before it begins",
			       ww_trace_path(t));
	s = calloc(1, sizeof(*s));
	if (!s)
		return ww_fail_nomem(err);
	rc = describe(s, t, w);
	for (size_t i = 0; rc == 0 && i < ww_trace_source_count(t); i++)
		rc = add_source(s, t, ww_trace_source(t, i), w, err);
	if (rc == 0)
		ww_stat_common_remarks(s, &rc, t);
	if (rc < 0) {
		ww_stat_free(s);
		return rc == -ENOMEM ? ww_fail_nomem(err) : rc;
	}
	*out = s;
	return 0;
}

const struct ww_channel_stat *ww_stat_at(const struct ww_stat *s, size_t i)
{
	return i < s->channels ? &s->channel[i] : NULL;
}

const char *ww_stat_note(const struct ww_stat *s, size_t i)
{
	return ww_note_at(&s->notes, i);
}

void ww_stat_free(struct ww_stat *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->texts; i++)
		free(s->text[i]);
	ww_notes_free(&s->notes);
	free(s->text);
	free(s->channel);
	free(s->extra);
	free(s);
}
