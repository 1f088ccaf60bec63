/* SPDX-License-Identifier: MIT */
/*
 * A finished cycle as one under construction again: to be joined with another text's. The lines
 * of a console are kept beside it, in few bytes.
 */
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

#define LINES_MAX 1000000 /* 16 MB */

/* The task that printed it: told, or that of its callback, if this is still its place. */
static int32_t printed_by(const struct ww_pm_work *w, const struct ww_pm_line *l)
{
	const struct ww_pm_device *d;

	if (l->device == 0 || l->device > w->devices)
		return l->pid;
	d = &w->device[l->device - 1];
	return l->t_ns == (l->returns ? d->end_ns : d->start_ns) ? d->pid : l->pid;
}

int ww_kernel_keep_lines(struct ww_kernel *k, struct ww_kernel_cycle *kc,
			 const struct ww_pm_work *w, struct ww_error *err)
{
	if (w->c.baud == 0 || w->lines == 0 || k->lines + w->lines > LINES_MAX)
		return 0;
	kc->line = malloc(w->lines * sizeof(*kc->line));
	if (!kc->line)
		return ww_fail_nomem(err);
	for (size_t i = 0; i < w->lines; i++) {
		const struct ww_pm_line *l = &w->line[i];

		if (l->kernel && l->bytes && l->t_ns != WW_NO_TIME)
			kc->line[kc->lines++] =
				(struct ww_kernel_line){l->t_ns, l->bytes, printed_by(w, l)};
	}
	kc->console_off_ns = w->console_off_ns;
	k->lines += kc->lines;
	return 0;
}

/* The call or the return of a callback: by its stamp and its task. */
static void whose(const struct ww_pm_work *w, struct ww_pm_line *l)
{
	for (size_t i = 0; l->pid >= 0 && i < w->devices; i++) {
		const struct ww_pm_device *d = &w->device[i];

		if (d->pid != l->pid || (d->start_ns != l->t_ns && d->end_ns != l->t_ns))
			continue;
		l->device = (uint32_t)i + 1;
		l->returns = d->start_ns != l->t_ns;
		return;
	}
}

void ww_kernel_give_lines(const struct ww_kernel_cycle *kc, struct ww_pm_work *w)
{
	w->console_off_ns = kc->console_off_ns;
	for (size_t i = 0; i < kc->lines; i++) {
		struct ww_pm_line *l = ww_pm_add_line(w);

		if (!l)
			return;
		*l = (struct ww_pm_line){.t_ns = kc->line[i].t_ns,
					 .host_ns = WW_NO_TIME,
					 .lo_ns = WW_NO_TIME,
					 .hi_ns = WW_NO_TIME,
					 .first_lo_ns = WW_NO_TIME,
					 .bytes = kc->line[i].bytes,
					 .pid = kc->line[i].pid,
					 .kernel = 1};
		whose(w, l);
	}
}
