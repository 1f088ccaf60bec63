/* SPDX-License-Identifier: MIT */
/* Suspends made by hand: a kernel whose console takes the time that its bytes take. */
#ifndef TESTS_PMHAND_H
#define TESTS_PMHAND_H

#include "analysis/pmwork.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#define US INT64_C(1000)
#define MS INT64_C(1000000)

struct hand {
	struct ww_pm_work *w;
	int64_t t;	  /* now */
	double char_ns;	  /* 0: nothing is printed at once */
	int64_t over_ns;  /* of each line */
	uint32_t seed;	  /* not 0: each line takes 1.1 to 3 times its bytes' time */
	int64_t lines_at; /* the next line's stamp is whole microseconds */
};

static inline struct hand hand_new(int64_t t, double baud)
{
	struct hand h = {.w = ww_pm_work_new(), .t = t, .over_ns = 7 * US};

	assert_non_null(h.w);
	h.char_ns = baud > 0 ? 1e10 / baud : 0;
	h.w->c.clock = WW_PM_CLOCK_PRINTK;
	h.w->c.stamp_res_ns = 1000;
	h.w->c.t.lo_ns = t;
	return h;
}

/* A line of so many bytes, now; its task waits until they are sent. */
static inline struct ww_pm_line *hand_line(struct hand *h, uint32_t bytes, int32_t pid)
{
	struct ww_pm_line *l = ww_pm_add_line(h->w);

	assert_non_null(l);
	*l = (struct ww_pm_line){.t_ns = h->t / US * US,
				 .host_ns = WW_NO_TIME,
				 .lo_ns = WW_NO_TIME,
				 .hi_ns = WW_NO_TIME,
				 .first_lo_ns = WW_NO_TIME,
				 .bytes = bytes,
				 .pid = pid,
				 .kernel = 1};
	if (h->char_ns > 0 && h->seed) {
		h->seed = h->seed * 1664525u + 1013904223u;
		h->t += (int64_t)(bytes * h->char_ns * (1.1 + 1.9 * (h->seed >> 8) / 0x1000000));
	} else if (h->char_ns > 0)
		h->t += (int64_t)(bytes * h->char_ns) + h->over_ns;
	else
		h->t += 3 * US;
	return l;
}

static inline size_t hand_call(struct hand *h, int phase, const char *name, const char *parent,
			       int32_t pid, uint32_t bytes)
{
	struct ww_pm_device *d = ww_pm_add_device(h->w);

	assert_non_null(d);
	d->name = name;
	d->driver = "drv";
	d->parent = parent;
	d->func = "";
	d->phase = phase;
	d->start_ns = h->t / US * US;
	d->pid = pid;
	d->from = 1;
	hand_line(h, bytes, pid)->device = (uint32_t)h->w->devices;
	return h->w->devices - 1;
}

/* printed_us < 0: the kernel says nothing. */
static inline void hand_return(struct hand *h, size_t i, uint32_t bytes, int64_t printed_us)
{
	struct ww_pm_device *d = &h->w->device[i];
	struct ww_pm_line *l;

	d->end_ns = h->t / US * US;
	d->length = (struct ww_interval){d->end_ns - d->start_ns, d->end_ns - d->start_ns};
	if (printed_us >= 0)
		d->printed = (struct ww_interval){printed_us * US, (printed_us + 1) * US};
	l = hand_line(h, bytes, d->pid);
	l->device = (uint32_t)i + 1;
	l->returns = 1;
}

static inline struct ww_pm_span *hand_span(struct hand *h, int phase, int64_t from, int64_t to)
{
	struct ww_pm_span *s = ww_pm_add_span(h->w);

	assert_non_null(s);
	s->phase = phase;
	s->start_ns = from / US * US;
	s->end_ns = to / US * US;
	s->length = (struct ww_interval){to - from, to - from};
	return s;
}

static inline void hand_holds(const char *what, struct ww_interval v, int64_t truth, int64_t width)
{
	if (v.lo_ns <= truth && truth <= v.hi_ns && v.hi_ns - v.lo_ns <= width)
		return;
	fail_msg("%s: %lld..%lld does not hold %lld within %lld", what, (long long)v.lo_ns,
		 (long long)v.hi_ns, (long long)truth, (long long)width);
}

#endif
