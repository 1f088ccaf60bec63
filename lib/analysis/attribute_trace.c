/* SPDX-License-Identifier: MIT */
/* Readings from a trace: the levels between its steps, and who was on by its marks. */
#include "analysis/attribute_walk.h"
#include "analysis/steps_match.h"

#include <math.h>

/* Changes nearer to each other than this, s, are one to the steps. */
#define NEAR_S 5

static size_t switched(const struct ww_onoff_reading *r, const struct ww_onoff *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->devices; i++)
		n += o->device[i].now != (i < r->devices ? r->on[i] : 0);
	return n;
}

/* Watts come later, when it is known which marks changed anything. */
static int read_state(struct ww_attr_walk *w)
{
	struct ww_onoff_reading r = {.va = (double)NAN,
				     .pf = (double)NAN,
				     .v = (double)NAN,
				     .a = (double)NAN};

	return ww_onoff_read(w->o, &r, w->err);
}

static bool has_step(const struct ww_steps *s, size_t label)
{
	for (size_t i = 0; i < s->steps; i++)
		if (s->step[i].mark == s->index[label])
			return true;
	return false;
}

/*
 * Marks without any figure, with too few readings around them: two plugs in one moment, or
 * the beginning. They go with the nearer of the steps around, the last of which is `i`.
 */
static int take_others(struct ww_attr_walk *w, size_t *next, size_t i)
{
	double from = i ? ww_attr_at(w, i - 1) : w->s->t_lo,
	       to = i < w->s->steps ? ww_attr_at(w, i) : w->s->t_hi;
	int rc = 0;

	for (; rc >= 0 && *next < w->s->labels; (*next)++) {
		const struct ww_mark *m = &w->s->mark[*next];
		double t = ((double)ww_iv_mid(m->t) - (double)w->s->origin_ns) / 1e9;

		if (t > (from + to) / 2)
			break;
		if (!has_step(w->s, *next))
			rc = ww_attr_take_mark(w, m->text, t);
	}
	return rc;
}

/* When the mark of a step was set, s; where it has none, the step's own time. */
static double said_at(const struct ww_attr_walk *w, size_t i)
{
	for (size_t k = 0; *w->s->step[i].label && k < w->s->labels; k++)
		if (w->s->index[k] == w->s->step[i].mark)
			return ((double)ww_iv_mid(w->s->mark[k].t) - (double)w->s->origin_ns) / 1e9;
	return ww_attr_at(w, i);
}

/* A mark and an edge so near that the edge may be of both: nothing lies between them. */
static bool near(const struct ww_attr_walk *w, size_t mark, size_t edge)
{
	const struct ww_step_when *when = w->s->when;
	double t = said_at(w, mark);

	return edge < w->s->steps && !when[mark].edge && when[edge].edge &&
	       t < when[edge].t_hi + WW_MATCH_EARLY_S && t > when[edge].t_lo - NEAR_S;
}

/*
 * Whether a step has its own reading behind it. "coffee break" inside of a level parts
 * nothing, and two plugs in one moment are one change.
 */
static bool parts(const struct ww_attr_walk *w, size_t i)
{
	if (w->s->when[i].edge)
		return true;
	return !near(w, i, i - 1) && !near(w, i, i + 1) &&
	       switched(&w->o->reading[w->o->readings - 1], w->o) > 0;
}

static int from_steps(struct ww_attr_walk *w)
{
	size_t kept = 0, next = 0;
	int rc = take_others(w, &next, 0);

	w->kept = calloc(w->s->steps + 1, sizeof(*w->kept));
	if (!w->kept)
		return ww_fail_nomem(w->err);
	if (rc >= 0)
		rc = read_state(w);
	for (size_t i = 0; rc >= 0 && i < w->s->steps; i++) {
		rc = ww_attr_take_step(w, i);
		if (rc >= 0)
			rc = take_others(w, &next, i + 1);
		if (rc >= 0 && parts(w, i)) {
			w->kept[kept++] = i;
			rc = read_state(w);
		} else if (rc >= 0 && near(w, i, i - 1)) {
			/* Said of the change just before: it belongs to that one's state. */
			ww_onoff_unread(w->o);
			rc = read_state(w);
		}
	}
	if (rc >= 0)
		rc = ww_onoff_end(w->o, w->err);
	if (rc >= 0)
		rc = ww_attr_levels(w);
	free(w->kept);
	if (rc < 0)
		return rc;
	ww_attr_about_levels(w);
	ww_attr_about_unmarked(w);
	return 0;
}

/* What the channel says of its meter, where no option says otherwise. */
static void take_spec(struct ww_attribute *a, const struct ww_channel_info *c)
{
	if (a->spec_abs == 0 && a->spec_rel == 0) {
		a->spec_abs = c->acc_abs > 0 ? c->acc_abs : 0;
		a->spec_rel = c->acc_rel > 0 && c->acc_rel < 1 ? c->acc_rel : 0;
	}
}

static bool is_manual(struct ww_trace *t, uint32_t source)
{
	for (size_t i = 0; i < ww_trace_source_count(t); i++)
		if (ww_trace_source(t, i)->id == source)
			return ww_trace_source(t, i)->kind == WW_MANUAL;
	return false;
}

static int stepped(struct ww_attr_walk *w, struct ww_trace *t)
{
	struct ww_steps_options o = {.size = sizeof(o),
				     .channel = w->a->channel,
				     .spike_ns = w->a->spike_ns};
	struct ww_steps *s = NULL;
	int rc = ww_steps_new(t, &o, &s, w->err);

	if (rc >= 0) {
		w->s = s;
		w->f->q = s->resolution;
		if (!w->a->has_wall) {
			w->a->wall = s->wall;
			w->a->has_wall = true;
		}
		rc = from_steps(w);
	}
	ww_steps_free(s);
	return rc;
}

int ww_attribute_trace(struct ww_attribute *a, int set, struct ww_trace *t, struct ww_error *err)
{
	const char *path = strcmp(ww_trace_path(t), "-") ? ww_trace_path(t) : "standard input";
	struct ww_attr_walk *w;
	int channel = ww_series_find(t, a->channel, "power", err), rc;
	const struct ww_channel_info *c;
	struct ww_attr_file *f;

	if (channel < 0)
		return channel;
	f = ww_attr_file_add(a, set, strrchr(path, '/') ? strrchr(path, '/') + 1 : path, err);
	if (!f)
		return a->solved ? -EINVAL : -ENOMEM;
	c = ww_trace_channel(t, (size_t)channel);
	f->trace = true;
	for (size_t i = 0; ww_import_note(t, i); i++)
		ww_note(&a->set[set].notes, "import: %s", ww_import_note(t, i));
	take_spec(a, c);
	w = calloc(1, sizeof(*w));
	if (!w)
		return ww_fail_nomem(err);
	*w = (struct ww_attr_walk){.a = a, .o = &a->set[set], .f = f, .err = err};
	w->moved_least = INFINITY;
	w->moved_most = -INFINITY;
	f->base = !is_manual(t, c->source);
	ww_onoff_begin(w->o);
	w->o->resets = 0;
	rc = is_manual(t, c->source) ? ww_attr_typed(w, t) : stepped(w, t);
	f->count = w->o->readings - f->first;
	f->base = f->base && w->o->resets == 0;
	if (rc >= 0 && f->count == 0)
		rc = ww_fail(err, -ENODATA, "%s: no reading", path);
	free(w);
	return rc < 0 ? rc : 0;
}
