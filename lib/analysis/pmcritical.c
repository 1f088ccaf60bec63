/* SPDX-License-Identifier: MIT */
/*
 * The critical path through a phase: which callbacks, each waiting for the one before, made it
 * as long as it was. Walked from the phase's end backwards. A callback begins when the last
 * of those that it waits for ended: the one before it in the same task; its children (suspend)
 * or its parent (resume), as drivers/base/power/main.c has it (dpm_wait_for_subordinate,
 * dpm_wait_for_superior). Suppliers by device links are in no text: a callback that ended
 * just before is taken for one where neither task nor family explains the moment.
 */
#include "analysis/pmwork.h"

#define EARLY_NS (20 * WW_NS_PER_US)  /* stamps of one moment differ by so much */
#define WAKE_NS	 (300 * WW_NS_PER_US) /* a task that waited runs again so soon */

struct order {
	struct ww_pm_device **by_end; /* those of one phase, by their end */
	size_t n;
	bool down; /* suspend: children first */
};

static bool timed(const struct ww_pm_device *d)
{
	return d->start_ns != WW_TIME_MIN && d->end_ns != WW_TIME_MAX && d->start_ns <= d->end_ns;
}

static bool downwards(int phase)
{
	return phase >= WW_PM_PREPARE && phase <= WW_PM_SUSPEND_NOIRQ;
}

static int ends_before(const void *a, const void *b)
{
	const struct ww_pm_device *x = *(struct ww_pm_device *const *)a;
	const struct ww_pm_device *y = *(struct ww_pm_device *const *)b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static bool same_task(const struct ww_pm_device *a, const struct ww_pm_device *b)
{
	return a->pid >= 0 && a->pid == b->pid;
}

/* Does d wait for `for_`? The same device comes twice: for its class, its bus. */
static bool family(const struct order *o, const struct ww_pm_device *d,
		   const struct ww_pm_device *for_)
{
	if (strcmp(d->name, for_->name) == 0)
		return true;
	if (o->down)
		return *for_->parent && strcmp(for_->parent, d->name) == 0;
	return *d->parent && strcmp(d->parent, for_->name) == 0;
}

/* First of those that end after t. */
static size_t after(const struct order *o, int64_t t)
{
	size_t lo = 0, hi = o->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (o->by_end[mid]->end_ns <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* What d waited for, NULL: nothing that is known. */
static struct ww_pm_device *waited_for(const struct order *o, const struct ww_pm_device *d)
{
	struct ww_pm_device *near = NULL;

	for (size_t i = after(o, d->start_ns + EARLY_NS); i-- > 0;) {
		struct ww_pm_device *x = o->by_end[i];

		/* Each step goes back in time, so that the walk ends. */
		if (x == d || x->start_ns >= d->start_ns)
			continue;
		if (near && x->end_ns < d->start_ns - WAKE_NS)
			return near;
		if (same_task(d, x) || family(o, d, x))
			return x;
		if (!near && x->end_ns >= d->start_ns - WAKE_NS)
			near = x;
	}
	return near;
}

static void walk(const struct order *o, int64_t end_ns)
{
	size_t i = after(o, end_ns == WW_TIME_MAX ? end_ns : end_ns + EARLY_NS);
	struct ww_pm_device *d = i ? o->by_end[i - 1] : NULL;
	int64_t until = end_ns;

	while (d && !d->critical) {
		int64_t to = d->end_ns < until ? d->end_ns : until;

		d->critical = 1;
		d->critical_ns = to > d->start_ns ? to - d->start_ns : 0;
		until = d->start_ns < until ? d->start_ns : until;
		d = waited_for(o, d);
	}
}

/* Does the callback belong to this stretch of its phase? */
static bool within(const struct ww_pm_device *d, const struct ww_pm_span *s)
{
	if (d->phase != s->phase || !timed(d))
		return false;
	if (d->verb && s->verb && d->verb != s->verb)
		return false;
	return (s->start_ns == WW_TIME_MIN || d->end_ns >= s->start_ns) &&
	       (s->end_ns == WW_TIME_MAX || d->start_ns <= s->end_ns);
}

static void one(struct ww_pm_work *w, struct order *o, const struct ww_pm_span *s)
{
	o->n = 0;
	o->down = downwards(s->phase);
	for (size_t i = 0; i < w->devices; i++)
		if (within(&w->device[i], s))
			o->by_end[o->n++] = &w->device[i];
	if (o->n == 0)
		return;
	qsort(o->by_end, o->n, sizeof(struct ww_pm_device *), ends_before);
	walk(o, s->end_ns);
}

/* Phases without a span of their own: a text that begins or ends within one. */
static bool has_span(const struct ww_pm_work *w, int phase)
{
	for (size_t i = 0; i < w->spans; i++)
		if (w->span[i].phase == phase)
			return true;
	return false;
}

void ww_pm_critical(struct ww_pm_work *w)
{
	struct order o = {0};

	if (w->devices == 0)
		return;
	o.by_end = malloc(w->devices * sizeof(struct ww_pm_device *));
	if (!o.by_end) {
		w->oom = true;
		return;
	}
	for (size_t i = 0; i < w->devices; i++) {
		w->device[i].critical = 0;
		w->device[i].critical_ns = 0;
	}
	for (size_t i = 0; i < w->spans; i++)
		one(w, &o, &w->span[i]);
	for (int p = WW_PM_PREPARE; p <= WW_PM_COMPLETE; p++)
		if (!has_span(w, p))
			one(w, &o,
			    &(struct ww_pm_span){.phase = p,
						 .start_ns = WW_TIME_MIN,
						 .end_ns = WW_TIME_MAX});
	free(o.by_end);
}
