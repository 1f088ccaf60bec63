/* SPDX-License-Identifier: MIT */
/*
 * Readings from a trace: the levels between its steps, and who was on by its marks. A
 * meter with only a display was read by a person: each reading counts as it stands.
 */
#include "analysis/attribute.h"
#include "analysis/series.h"
#include "analysis/steps_info.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define NAME 200
/* Slower than this, s, a level that settles is more than an inrush. */
#define SLOW_S 30
/* Seconds by which a step is vague even where nothing is missing. */
#define VAGUE_S 2
/* So many changes of a load without marks are a cycle. */
#define CYCLES 4
/* A fall belongs to the rise that it undoes within this many u. */
#define SAME_U 4

struct walk {
	struct ww_attribute *a;
	struct ww_onoff *o;
	struct ww_attr_file *f;
	const struct ww_steps *s;
	double rise[WW_ONOFF_DEVICES]; /* of devices that are steps without a mark; 0 others */
	unsigned changes[WW_ONOFF_DEVICES];
	size_t unmarked, falls, marked, moving, slow, holes;
	double slow_most, slow_at, hole_at; /* s: the longest, the first ones */
	double moved_least, moved_most;	    /* W, of levels that move by themselves */
	struct ww_error *err;
};

static const char *watts(char *buf, double v, double u)
{
	int d = ww_decimals_for(u, 2);

	ww_fixed_text(buf, 40, ww_round_for(v, u), d);
	return buf;
}

static const char *seconds(char *buf, double t)
{
	ww_fixed_text(buf, 40, t, fabs(t) < 10 ? 1 : 0);
	return buf;
}

static double at(const struct walk *w, size_t i)
{
	return (w->s->when[i].t_lo + w->s->when[i].t_hi) / 2;
}

/* --- what a step was */

/* "+box" as it is said, or "+" in front of it. */
static int plug(struct walk *w, const char *name, bool in)
{
	struct ww_str s = {0};
	int rc;

	ww_str_addf(&s, "%s\"%s\"", in ? "+" : "-", name);
	rc = s.bad ? ww_fail_nomem(w->err) : ww_onoff_change(w->o, s.p, s.n, w->f->name, 0, w->err);
	ww_str_free(&s);
	return rc;
}

/* A rise is a device of its own; a fall undoes the latest rise of its size. */
static int step_alone(struct walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	char name[NAME], t[40];
	int d = -1, rc;

	for (size_t k = w->o->devices; k-- > 0 && d < 0;) {
		bool on = w->o->device[k].now != 0;
		double rise = w->rise[k], size = on ? -p->delta.value : p->delta.value;

		if (rise != 0 &&
		    fabs(rise - size) <= SAME_U * sqrt(2) * p->delta.u + 0.02 * fabs(rise))
			d = (int)k;
	}
	if (d < 0 && w->o->devices == WW_ONOFF_DEVICES)
		return ww_fail(
			w->err, -EINVAL,
			"%s: more than %d steps that are not each other's undoing: this load "
			"switches by itself; record what you plug in, with marks such as "
			"'+box'",
			w->f->name, WW_ONOFF_DEVICES);
	if (d < 0) {
		w->falls += p->delta.value < 0;
		snprintf(name, sizeof(name), "%s %zu at %s s",
			 p->delta.value < 0 ? WW_ATTR_FALL : "step", ++w->unmarked,
			 seconds(t, at(w, i)));
		rc = plug(w, name, true);
		d = ww_onoff_find(w->o, name, strlen(name));
		if (rc < 0 || d < 0)
			return rc < 0 ? rc : d;
		w->rise[d] = p->delta.value;
	} else {
		rc = plug(w, w->o->device[d].name, w->o->device[d].now == 0);
	}
	w->changes[d]++;
	return rc < 0 ? rc : 0;
}

/* A name alone: in with a rise, out with a fall. */
static int bare_label(struct walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	int d = ww_onoff_find(w->o, p->label, strlen(p->label));
	bool on = d >= 0 && w->o->device[d].now != 0, in = p->delta.value > 0;
	char t[40];

	if (p->state != WW_STEP_DETECTED) {
		ww_note(&w->o->notes,
			"%s: the mark '%s' at %s s has neither a sign nor a step: it is left out",
			w->f->name, p->label, seconds(t, at(w, i)));
		return 0;
	}
	if (on == in)
		return step_alone(w, i);
	w->marked++;
	return plug(w, p->label, in);
}

static void unresolved(struct walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	char t[40], lo[40], hi[40];

	ww_note(&w->o->notes,
		"%s: the step %s%s%sat %s s lies below the resolution: between %s and %s W",
		w->f->name, *p->label ? "of the mark '" : "", p->label, *p->label ? "' " : "",
		seconds(t, at(w, i)), watts(lo, p->bounds[0], w->s->resolution / 10),
		watts(hi, p->bounds[1], w->s->resolution / 10));
}

static void remark(struct walk *w, size_t i, int rc, const struct ww_error *e)
{
	const struct ww_step *p = &w->s->step[i];
	char v[40], u[40];

	if (rc < 0) {
		ww_note(&w->o->notes, "%s; it is taken as a step without a mark", e->text);
	} else if (p->state == WW_STEP_KNOWN_TIME) {
		ww_note(&w->o->notes,
			"%s: no step stands out at the mark '%s': %s \xc2\xb1 %s W there",
			w->f->name, p->label, watts(v, p->delta.value, p->delta.u),
			watts(u, 2 * p->delta.u, p->delta.u));
	} else if (p->state == WW_STEP_UNRESOLVED) {
		unresolved(w, i);
	} else if (p->label[0] == '+' && p->delta.value < 0) {
		ww_note(&w->o->notes, "%s: the mark '%s' meets a fall, of %s W", w->f->name,
			p->label, watts(v, -p->delta.value, p->delta.u));
	}
}

/* Another number where a sentence changed the state, save for two that undo each other. */
static size_t switched(const struct ww_onoff *o)
{
	size_t sum = 0;

	for (size_t i = 0; i < o->devices; i++)
		sum += o->device[i].now;
	return sum;
}

/* What this step did to the state. */
static int take_step(struct walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	struct ww_error e = {0};
	char where[NAME], t[40];
	size_t was;
	int rc;

	if (p->state == WW_STEP_DETECTED &&
	    w->s->when[i].t_hi - w->s->when[i].t_lo > WW_GAP_PERIODS * w->s->period_s + VAGUE_S)
		w->hole_at = w->holes++ ? w->hole_at : at(w, i);
	if (!*p->label && p->state == WW_STEP_UNRESOLVED)
		unresolved(w, i);
	if (!*p->label)
		return p->state == WW_STEP_KNOWN_TIME ? 0 : step_alone(w, i);
	snprintf(where, sizeof(where), "%s at %s s", w->f->name, seconds(t, at(w, i)));
	was = switched(w->o);
	rc = ww_onoff_change(w->o, p->label, strlen(p->label), where, 0, &e);
	if (rc == -ENOMEM)
		return ww_fail_nomem(w->err);
	if (rc == WW_CHANGE_BARE)
		return bare_label(w, i);
	/* "all unplugged" where nothing was in has no step to look for. */
	if (rc < 0 || p->state == WW_STEP_DETECTED || switched(w->o) != was)
		remark(w, i, rc, &e);
	w->marked++;
	return rc < 0 && p->state == WW_STEP_DETECTED ? step_alone(w, i) : 0;
}

/* --- levels */

/* The level that lies between two steps; NULL: none is long enough. */
static const struct ww_level *level_between(const struct walk *w, double lo, double hi)
{
	const struct ww_level *best = NULL;

	for (size_t i = 0; i < w->s->levels; i++) {
		const struct ww_level *l = &w->s->level[i];
		double mid =
			((double)l->from_ns / 2 + (double)l->to_ns / 2 - (double)w->s->origin_ns) /
			1e9;

		if (mid >= lo && mid <= hi && (!best || l->n > best->n))
			best = l;
	}
	return best;
}

static bool in_level(const struct ww_step *p)
{
	return p && p->state == WW_STEP_KNOWN_TIME;
}

/* How much a level moved by itself, W: its value in the middle is that uncertain. */
static double moved(const struct ww_level *l)
{
	return l->shape == WW_LEVEL_LINE
		       ? l->slope / 3600 * ((double)l->to_ns - (double)l->from_ns) / 1e9
		       : 0;
}

static void about_level(struct walk *w, const struct ww_level *l, size_t next)
{
	double most = fmax(3 * l->watts.u, w->s->resolution), m = moved(l);

	if (fabs(m) > most) {
		w->moving++;
		w->moved_least = fmin(w->moved_least, m);
		w->moved_most = fmax(w->moved_most, m);
	}
	if (l->shape == WW_LEVEL_SETTLING && next > 0 && next <= w->s->steps) {
		double slow = w->s->when[next - 1].settled - w->s->when[next - 1].t_hi;

		if (slow > SLOW_S) {
			w->slow_at = w->slow++ ? w->slow_at : at(w, next - 1);
			w->slow_most = fmax(w->slow_most, slow);
		}
	}
}

/* The reading between step next - 1 and step next. */
static int read_between(struct walk *w, size_t next)
{
	const struct ww_steps *s = w->s;
	const struct ww_step *p = next > 0 ? &s->step[next - 1] : NULL,
			     *q = next < s->steps ? &s->step[next] : NULL;
	double lo = p ? at(w, next - 1) : -INFINITY, hi = q ? at(w, next) : INFINITY;
	const struct ww_level *l = in_level(p) || in_level(q) ? NULL : level_between(w, lo, hi);
	struct ww_quantity v = l	     ? l->watts
			       : in_level(p) ? p->after
			       : q	     ? q->before
			       : p	     ? p->after
					     : (struct ww_quantity){(double)NAN, (double)NAN};
	struct ww_onoff_reading r = {.watts = v.value,
				     .va = (double)NAN,
				     .pf = (double)NAN,
				     .v = (double)NAN,
				     .a = (double)NAN};

	if (!isfinite(v.value) || !(v.u >= 0))
		return 0;
	r.u = l ? hypot(v.u, moved(l) / sqrt(12)) : v.u;
	if (!(r.u > 0))
		r.u = s->resolution > 0 ? s->resolution / sqrt(12) : 1e-6;
	r.t_s = fmax(lo, s->t_lo) / 2 + fmin(hi, s->t_hi) / 2;
	if (l)
		about_level(w, l, next);
	return ww_onoff_read(w->o, &r, w->err);
}

/* "the step", "7 steps, the first" */
static const char *several(char *buf, size_t n)
{
	if (n == 1)
		return "the step";
	snprintf(buf, 40, "%zu steps, the first", n);
	return buf;
}

static void about_levels(struct walk *w)
{
	char v[40], lo[40], text[40];

	if (w->moving)
		ww_note(&w->o->notes,
			"%s: %zu level%s by %s to %s W: a battery that charges, or something that "
			"warms up; readings are uncertain by that",
			w->f->name, w->moving,
			w->moving == 1 ? " moves by itself," : "s move by themselves,",
			watts(lo, w->moved_least, 0.5), watts(v, w->moved_most, 0.5));
	if (w->slow)
		ww_note(&w->o->notes,
			"%s: after %s at %s s the level took up to %s s to settle: a supply that "
			"warms up, or a battery that charges; the settled level counts",
			w->f->name, several(text, w->slow), seconds(lo, w->slow_at),
			seconds(v, w->slow_most));
	if (w->holes)
		ww_note(&w->o->notes, "%s: readings are missing around %s at %s s", w->f->name,
			several(text, w->holes), seconds(v, w->hole_at));
}

static void about_unmarked(struct walk *w)
{
	char v[40];

	for (size_t i = 0; i < w->o->devices; i++)
		if (w->changes[i] >= CYCLES)
			ww_note(&w->o->notes,
				"%s: a load of %s W goes on and off by itself (%u changes)",
				w->f->name, watts(v, fabs(w->rise[i]), 0.01 * fabs(w->rise[i])),
				w->changes[i]);
	if (w->unmarked && w->marked)
		ww_note(&w->o->notes,
			"%s: %zu step%s without a mark: a mark was forgotten, or a load switches "
			"by "
			"itself",
			w->f->name, w->unmarked, w->unmarked == 1 ? "" : "s");
	else if (w->unmarked)
		ww_note(&w->o->notes,
			"%s: there are no marks: each step is a device, in the order in which they "
			"came",
			w->f->name);
	if (w->falls)
		ww_note(&w->o->notes,
			"%s: %zu fall%s no rise of the same size: below zero, of something that "
			"was "
			"on before, or of several at once",
			w->f->name, w->falls, w->falls == 1 ? " undoes" : "s undo");
}

static int from_steps(struct walk *w)
{
	int rc = read_between(w, 0);

	for (size_t i = 0; rc >= 0 && i < w->s->steps; i++) {
		rc = take_step(w, i);
		if (rc >= 0)
			rc = read_between(w, i + 1);
	}
	if (rc < 0)
		return rc;
	about_levels(w);
	about_unmarked(w);
	return 0;
}

/* --- a person with a display */

/* Marks up to a time, in their order, that were not taken yet. */
static int take_marks(struct walk *w, struct ww_trace *t, size_t *next, int64_t until)
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
			rc = plug(w, m->text, true);
	}
	return rc;
}

static int from_readings(struct walk *w, struct ww_trace *t, const struct ww_series *x)
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

/* --- */

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

static int typed(struct walk *w, struct ww_trace *t)
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

static int stepped(struct walk *w, struct ww_trace *t)
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
	const char *path = ww_trace_path(t);
	struct walk *w;
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
	*w = (struct walk){.a = a, .o = &a->set[set], .f = f, .err = err};
	w->moved_least = INFINITY;
	w->moved_most = -INFINITY;
	f->base = !is_manual(t, c->source);
	ww_onoff_reset(w->o, 0);
	w->o->resets = 0;
	rc = is_manual(t, c->source) ? typed(w, t) : stepped(w, t);
	f->count = w->o->readings - f->first;
	f->base = f->base && w->o->resets == 0;
	if (rc >= 0 && f->count == 0)
		rc = ww_fail(err, -ENODATA, "%s: no reading", path);
	free(w);
	return rc < 0 ? rc : 0;
}
