/* SPDX-License-Identifier: MIT */
/* A finished cycle as one under construction again: to be joined with another text's. */
#include "analysis/resume_kernel.h"

static const char *own(struct ww_pm_work *w, const char *s)
{
	return *s ? ww_pm_str(w, (struct ww_slice){s, strlen(s)}) : "";
}

static void rows(struct ww_pm_work *w, const struct ww_pm_cycle *c)
{
	for (size_t i = 0; i < c->spans; i++) {
		struct ww_pm_span *s = ww_pm_add_span(w);

		if (s)
			*s = c->span[i];
	}
	for (size_t i = 0; i < c->devices; i++) {
		struct ww_pm_device *d = ww_pm_add_device(w);

		if (!d)
			continue;
		*d = c->device[i];
		d->name = own(w, d->name);
		d->driver = own(w, d->driver);
		d->parent = own(w, d->parent);
		d->func = own(w, d->func);
	}
	for (size_t i = 0; i < c->others; i++) {
		struct ww_pm_other *o = ww_pm_add_other(w);

		if (!o)
			continue;
		*o = c->other[i];
		o->what = own(w, o->what);
		o->before = own(w, o->before);
		o->after = own(w, o->after);
	}
	for (size_t i = 0; i < c->errors; i++)
		ww_note(&w->errors, "%s", c->error[i]);
	for (size_t i = 0; i < c->contradictions; i++)
		ww_note(&w->contradictions, "%s", c->contradiction[i]);
}

struct ww_pm_work *ww_pm_work_of(const struct ww_pm_cycle *c)
{
	struct ww_pm_work *w = ww_pm_work_new();
	struct ww_pm_reason *r;

	if (!w)
		return NULL;
	w->c = *c;
	w->ftrace = c->clock == WW_PM_CLOCK_TRACE;
	r = &w->c.reason;
	w->c.kernel = own(w, c->kernel);
	r->step = own(w, r->step);
	r->device = own(w, r->device);
	r->driver = own(w, r->driver);
	r->func = own(w, r->func);
	r->task = own(w, r->task);
	r->wakeup = own(w, r->wakeup);
	r->text = own(w, r->text);
	rows(w, c);
	if (w->oom || w->errors.bad || w->contradictions.bad) {
		ww_pm_work_free(w);
		return NULL;
	}
	return w;
}
