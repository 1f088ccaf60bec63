/* SPDX-License-Identifier: MIT */
/*
 * Kernel text and ftrace of one suspend. The kernel writes the line of a call, then ftrace's
 * event, runs the callback, writes the event of its end and then the line of the return
 * (drivers/base/power/main.c: dpm_run_callback): each pair of lines holds the pair of events.
 * So every callback bounds the offset of the two clocks from both sides.
 */
#include "analysis/pmpair.h"

#define SAME_NS (2 * WW_NS_PER_US) /* stamps are whole microseconds */
#define FUZZ_NS (50 * WW_NS_PER_US)

static int compare(const struct ww_pm_device *x, const struct ww_pm_device *y)
{
	int rc;

	if (x->phase != y->phase)
		return x->phase < y->phase ? -1 : 1;
	rc = strcmp(x->name, y->name);
	if (rc != 0 || x->start_ns == y->start_ns)
		return rc;
	return x->start_ns < y->start_ns ? -1 : 1;
}

static int in_order(const void *a, const void *b, void *ctx)
{
	const struct ww_pm_device *d = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	int rc = compare(&d[i], &d[j]);

	return rc ? rc : (i > j) - (i < j);
}

static bool one_name(const struct ww_pm_device *a, const struct ww_pm_device *b)
{
	return a->phase == b->phase && strcmp(a->name, b->name) == 0;
}

static uint32_t *sorted(const struct ww_pm_work *w)
{
	uint32_t *v = calloc(w->devices + 1, sizeof(*v));

	if (!v)
		return NULL;
	for (size_t i = 0; i < w->devices; i++)
		v[i] = (uint32_t)i;
	qsort_r(v, w->devices, sizeof(*v), in_order, w->device);
	return v;
}

static size_t run(const struct ww_pm_work *w, const uint32_t *v, size_t i)
{
	size_t n = 1;

	while (i + n < w->devices && one_name(&w->device[v[i]], &w->device[v[i + n]]))
		n++;
	return n;
}

static void match(const struct ww_pm_work *text, const struct ww_pm_work *trace, const uint32_t *a,
		  const uint32_t *b, struct ww_pm_pairs *out)
{
	size_t i = 0, j = 0;

	while (i < text->devices && j < trace->devices) {
		const struct ww_pm_device *x = &text->device[a[i]], *y = &trace->device[b[j]];
		size_t n = run(text, a, i), m = run(trace, b, j);
		int rc;

		if (x->phase != y->phase)
			rc = x->phase < y->phase ? -1 : 1;
		else
			rc = strcmp(x->name, y->name);
		/* The first with the first, in each list in the order of time. */
		for (size_t k = 0; rc == 0 && k < n && k < m; k++) {
			out->pair[out->n++] = (struct ww_pm_pair){a[i + k], b[j + k]};
			out->text_has[a[i + k]] = 1;
			out->trace_has[b[j + k]] = 1;
		}
		i += rc <= 0 ? n : 0;
		j += rc >= 0 ? m : 0;
	}
}

bool ww_pm_pairs_find(const struct ww_pm_work *text, const struct ww_pm_work *trace,
		      struct ww_pm_pairs *out)
{
	uint32_t *a = sorted(text), *b = sorted(trace);
	bool ok;

	*out = (struct ww_pm_pairs){
		.pair = calloc(text->devices + 1, sizeof(*out->pair)),
		.text_has = calloc(text->devices + 1, 1),
		.trace_has = calloc(trace->devices + 1, 1),
	};
	ok = a && b && out->pair && out->text_has && out->trace_has;
	if (ok)
		match(text, trace, a, b, out);
	free(a);
	free(b);
	return ok;
}

void ww_pm_pairs_free(struct ww_pm_pairs *p)
{
	free(p->pair);
	free(p->text_has);
	free(p->trace_has);
	*p = (struct ww_pm_pairs){0};
}

const struct ww_pm_span *ww_pm_span_like(const struct ww_pm_work *of, const struct ww_pm_span *s,
					 const struct ww_pm_work *in)
{
	size_t k = 0;

	for (const struct ww_pm_span *x = of->span; x < s; x++)
		k += x->phase == s->phase;
	for (size_t i = 0; i < in->spans; i++)
		if (in->span[i].phase == s->phase && k-- == 0)
			return &in->span[i];
	return NULL;
}

static void at_least(struct ww_pm_offset *o, int64_t a, int64_t b)
{
	if (a != WW_TIME_MIN && a != WW_TIME_MAX && b != WW_TIME_MIN && b != WW_TIME_MAX &&
	    a - b > o->lo_ns)
		o->lo_ns = a - b;
}

static void at_most(struct ww_pm_offset *o, int64_t a, int64_t b)
{
	if (a != WW_TIME_MIN && a != WW_TIME_MAX && b != WW_TIME_MIN && b != WW_TIME_MAX &&
	    a - b < o->hi_ns)
		o->hi_ns = a - b;
}

static bool on_side(int phase, bool after)
{
	return after ? phase > WW_PM_MACHINE : phase < WW_PM_MACHINE && phase != WW_PM_NO_PHASE;
}

/* A phase is announced to be complete before ftrace's event of its end, too. */
static void by_spans(const struct ww_pm_work *text, const struct ww_pm_work *trace, bool after,
		     struct ww_pm_offset *o)
{
	for (size_t i = 0; i < text->spans; i++) {
		const struct ww_pm_span *a = &text->span[i], *b;

		if (!on_side(a->phase, after) || a->failed)
			continue;
		b = ww_pm_span_like(text, a, trace);
		if (!b || b->failed)
			continue;
		if (a->phase == WW_PM_FREEZE || a->phase == WW_PM_THAW)
			at_most(o, a->start_ns, b->start_ns);
		if (a->phase == WW_PM_FREEZE ||
		    (a->phase >= WW_PM_SUSPEND && a->phase <= WW_PM_SUSPEND_NOIRQ) ||
		    (a->phase >= WW_PM_RESUME_NOIRQ && a->phase <= WW_PM_RESUME))
			at_least(o, a->end_ns, b->end_ns);
	}
}

static void choose(struct ww_pm_offset *o)
{
	bool lo = o->lo_ns != WW_TIME_MIN, hi = o->hi_ns != WW_TIME_MAX;

	o->known = lo || hi;
	if (lo && hi && o->lo_ns > o->hi_ns + FUZZ_NS)
		o->conflict_ns = o->lo_ns - o->hi_ns;
	if ((!lo || o->lo_ns <= SAME_NS) && (!hi || o->hi_ns >= -SAME_NS))
		o->ns = 0; /* one clock */
	else if (lo && hi)
		o->ns = o->lo_ns + (o->hi_ns - o->lo_ns) / 2;
	else
		o->ns = lo ? o->lo_ns : o->hi_ns;
}

void ww_pm_offset_find(const struct ww_pm_work *text, const struct ww_pm_work *trace,
		       const struct ww_pm_pairs *p, bool after, struct ww_pm_offset *out)
{
	*out = (struct ww_pm_offset){.lo_ns = WW_TIME_MIN, .hi_ns = WW_TIME_MAX};
	for (size_t i = 0; i < p->n; i++) {
		const struct ww_pm_device *a = &text->device[p->pair[i].text];
		const struct ww_pm_device *b = &trace->device[p->pair[i].trace];

		if (!on_side(a->phase, after))
			continue;
		at_most(out, b->start_ns == WW_TIME_MIN ? WW_TIME_MAX : a->end_ns, b->end_ns);
		at_least(out, a->start_ns, b->start_ns);
	}
	by_spans(text, trace, after, out);
	/* Whatever the text ends with comes after the thaw began. */
	for (size_t i = 0; after && i < trace->spans; i++)
		if (trace->span[i].phase == WW_PM_THAW)
			at_most(out, text->c.t.hi_ns, trace->span[i].start_ns);
	choose(out);
}

void ww_pm_offset_join(struct ww_pm_offset *a, struct ww_pm_offset *b)
{
	int64_t lo = a->lo_ns > b->lo_ns ? a->lo_ns : b->lo_ns;
	int64_t hi = a->hi_ns < b->hi_ns ? a->hi_ns : b->hi_ns;

	if (lo > hi || !a->known || !b->known)
		return;
	a->lo_ns = b->lo_ns = lo;
	a->hi_ns = b->hi_ns = hi;
	choose(a);
	choose(b);
}
