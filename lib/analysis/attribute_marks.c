/* SPDX-License-Identifier: MIT */
/* What a step of a trace did: by its mark, or by its size where there is none. */
#include "analysis/attribute_walk.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

#define NAME 200
/* Seconds by which a step is vague even where nothing is missing. */
#define VAGUE_S 2
/* So many changes of a load without marks are a cycle. */
#define CYCLES 4
/* A fall belongs to the rise that it undoes within this many u. */
#define SAME_U 4

const char *ww_attr_watts(char *buf, double v, double u)
{
	int d = ww_decimals_for(u, 2);

	ww_fixed_text(buf, 40, ww_round_for(v, u), d);
	return buf;
}

const char *ww_attr_seconds(char *buf, double t)
{
	ww_fixed_text(buf, 40, t, fabs(t) < 10 ? 1 : 0);
	return buf;
}

double ww_attr_at(const struct ww_attr_walk *w, size_t i)
{
	return (w->s->when[i].t_lo + w->s->when[i].t_hi) / 2;
}

/* "+box" as it is said, or "+" in front of it. */
int ww_attr_plug(struct ww_attr_walk *w, const char *name, bool in)
{
	struct ww_str s = {0};
	int rc;

	ww_str_addf(&s, "%s\"%s\"", in ? "+" : "-", name);
	rc = s.bad ? ww_fail_nomem(w->err) : ww_onoff_change(w->o, s.p, s.n, w->f->name, 0, w->err);
	ww_str_free(&s);
	return rc;
}

/* A rise is a device of its own; a fall undoes the latest rise of its size. */
static int step_alone(struct ww_attr_walk *w, size_t i)
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
			 ww_attr_seconds(t, ww_attr_at(w, i)));
		rc = ww_attr_plug(w, name, true);
		d = ww_onoff_find(w->o, name, strlen(name));
		if (rc < 0 || d < 0)
			return rc < 0 ? rc : d;
		w->rise[d] = p->delta.value;
	} else {
		rc = ww_attr_plug(w, w->o->device[d].name, w->o->device[d].now == 0);
	}
	w->changes[d]++;
	return rc < 0 ? rc : 0;
}

/*
 * A name alone: in with a rise, out with a fall; one that was never in was on before. Where
 * no step stands out it goes in or out as it can.
 */
static int bare_label(struct ww_attr_walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	int d = ww_onoff_find(w->o, p->label, strlen(p->label));
	bool on = d >= 0 && w->o->device[d].now != 0, in = p->delta.value > 0;
	char where[NAME], t[40];
	int rc;

	if (p->state != WW_STEP_DETECTED)
		in = !on;
	if (!on && !in) {
		snprintf(where, sizeof(where), "%s at %s s", w->f->name,
			 ww_attr_seconds(t, ww_attr_at(w, i)));
		rc = ww_onoff_was_on(w->o, p->label, strlen(p->label), where, w->err);
		if (rc < 0)
			return rc;
		on = rc == 1;
	}
	if (on == in)
		return step_alone(w, i);
	w->marked++;
	rc = ww_attr_plug(w, p->label, in);
	return rc;
}

static void unresolved(struct ww_attr_walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	char t[40], lo[40], hi[40];

	ww_note(&w->o->notes,
		"%s: the step %s%s%sat %s s lies below the resolution: between %s and %s W",
		w->f->name, *p->label ? "of the mark '" : "", p->label, *p->label ? "' " : "",
		ww_attr_seconds(t, ww_attr_at(w, i)),
		ww_attr_watts(lo, p->bounds[0], w->s->resolution / 10),
		ww_attr_watts(hi, p->bounds[1], w->s->resolution / 10));
}

static void remark(struct ww_attr_walk *w, size_t i, int rc, const struct ww_error *e)
{
	const struct ww_step *p = &w->s->step[i];
	char v[40], u[40];

	if (rc < 0) {
		ww_note(&w->o->notes, "%s; it is taken as a step without a mark", e->text);
	} else if (p->state == WW_STEP_KNOWN_TIME) {
		ww_note(&w->o->notes,
			"%s: no step stands out at the mark '%s': %s \xc2\xb1 %s W there",
			w->f->name, p->label, ww_attr_watts(v, p->delta.value, p->delta.u),
			ww_attr_watts(u, 2 * p->delta.u, p->delta.u));
	} else if (p->state == WW_STEP_UNRESOLVED) {
		unresolved(w, i);
	} else if (p->label[0] == '+' && p->delta.value < 0) {
		ww_note(&w->o->notes, "%s: the mark '%s' meets a fall, of %s W", w->f->name,
			p->label, ww_attr_watts(v, -p->delta.value, p->delta.u));
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
int ww_attr_take_step(struct ww_attr_walk *w, size_t i)
{
	const struct ww_step *p = &w->s->step[i];
	struct ww_error e = {0};
	char where[NAME], t[40];
	size_t was;
	int rc;

	if (p->state == WW_STEP_DETECTED &&
	    w->s->when[i].t_hi - w->s->when[i].t_lo > WW_GAP_PERIODS * w->s->period_s + VAGUE_S)
		w->hole_at = w->holes++ ? w->hole_at : ww_attr_at(w, i);
	if (!*p->label && p->state == WW_STEP_UNRESOLVED)
		unresolved(w, i);
	if (!*p->label)
		return p->state == WW_STEP_KNOWN_TIME ? 0 : step_alone(w, i);
	snprintf(where, sizeof(where), "%s at %s s", w->f->name,
		 ww_attr_seconds(t, ww_attr_at(w, i)));
	was = switched(w->o);
	rc = ww_onoff_change(w->o, p->label, strlen(p->label), where, 0, &e);
	if (rc == -ENOMEM)
		return ww_fail_nomem(w->err);
	if (rc == WW_CHANGE_BARE) {
		if (p->state != WW_STEP_DETECTED)
			remark(w, i, 0, &e);
		return bare_label(w, i);
	}
	/* "all unplugged" where nothing was in has no step to look for. */
	if (rc < 0 || p->state == WW_STEP_DETECTED || switched(w->o) != was)
		remark(w, i, rc, &e);
	w->marked++;
	return rc < 0 && p->state == WW_STEP_DETECTED ? step_alone(w, i) : 0;
}

int ww_attr_take_mark(struct ww_attr_walk *w, const char *text, double t)
{
	struct ww_error e = {0};
	char where[NAME], s[40];
	int rc, d;

	snprintf(where, sizeof(where), "%s at %s s", w->f->name, ww_attr_seconds(s, t));
	rc = ww_onoff_change(w->o, text, strlen(text), where, 0, &e);
	if (rc == WW_CHANGE_BARE) {
		d = ww_onoff_find(w->o, text, strlen(text));
		return ww_attr_plug(w, text, d < 0 || w->o->device[d].now == 0);
	}
	if (rc == -ENOMEM)
		return ww_fail_nomem(w->err);
	if (rc < 0)
		ww_note(&w->o->notes, "%s; the mark is left out", e.text);
	return 0;
}

void ww_attr_about_unmarked(struct ww_attr_walk *w)
{
	char v[40];

	for (size_t i = 0; i < w->o->devices; i++)
		if (w->changes[i] >= CYCLES)
			ww_note(&w->o->notes,
				"%s: a load of %s W goes on and off by itself (%u changes)",
				w->f->name,
				ww_attr_watts(v, fabs(w->rise[i]), 0.01 * fabs(w->rise[i])),
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
