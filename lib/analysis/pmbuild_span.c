/* SPDX-License-Identifier: MIT */
/* Phases that nobody tells, from what is told beside them; and their order. */
#include "analysis/pmbuild.h"

/* Prepare is not told by itself: prepare and suspend together are. */
static void prepare(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;
	struct ww_pm_span *s, *p;
	int64_t sum = 0;
	size_t i, at = 0;

	if (b->s.sum_ns == WW_NO_TIME)
		return;
	for (i = 0; i < w->spans; i++) {
		if (w->span[i].phase == WW_PM_PREPARE)
			return;
		if (w->span[i].phase == WW_PM_SUSPEND && ww_iv_ok(w->span[i].printed)) {
			sum += ww_iv_mid(w->span[i].printed);
			at = i + 1;
		}
	}
	if (at == 0 || sum > b->s.sum_ns)
		return;
	p = ww_pm_add_span(w);
	if (p == NULL)
		return;
	s = &w->span[at - 1];
	p->phase = WW_PM_PREPARE;
	p->verb = s->verb;
	p->length.lo_ns = b->s.sum_ns - sum - WW_NS_PER_US;
	p->length.hi_ns = b->s.sum_ns - sum + WW_NS_PER_US;
	if (p->length.lo_ns < 0)
		p->length.lo_ns = 0;
	p->printed = p->length;
	if (s->start_ns != WW_TIME_MIN) {
		p->end_ns = s->start_ns;
		p->start_ns = s->start_ns - (b->s.sum_ns - sum);
	}
}

static int by_start(const void *x, const void *y)
{
	const struct ww_pm_span *a = x, *c = y;

	if (a->start_ns != c->start_ns)
		return a->start_ns < c->start_ns ? -1 : 1;
	return a->phase - c->phase;
}

void ww_pm_order_spans(struct ww_pm_work *w)
{
	struct ww_pm_span s;
	size_t i, k;

	/* A hibernation may have two clocks in it: as it came is right. */
	if (w->c.mode == WW_PM_MODE_DISK && !w->ftrace)
		return;
	/* Coarse stamps tell less of the order than the lines do. */
	for (i = 0; i < w->spans && w->c.stamp_res_ns <= 1e6; i++) {
		if (w->span[i].start_ns == WW_TIME_MIN)
			break;
	}
	if (i == w->spans) {
		if (w->spans > 1)
			qsort(w->span, w->spans, sizeof(*w->span), by_start);
		return;
	}
	/* No times: prepare was added last and belongs before suspend. */
	if (w->spans < 2 || w->span[w->spans - 1].phase != WW_PM_PREPARE)
		return;
	for (i = 0; i < w->spans && w->span[i].phase != WW_PM_SUSPEND; i++)
		;
	s = w->span[w->spans - 1];
	for (k = w->spans - 1; k > i; k--)
		w->span[k] = w->span[k - 1];
	w->span[i] = s;
}

/* What was begun and is not known any further: one CPU alone has none to switch off. */
static void drop_empty(struct ww_pm_work *w)
{
	bool over = w->c.result == WW_PM_OK;
	size_t i, n = 0;

	for (i = 0; i < w->spans; i++) {
		const struct ww_pm_span *s = &w->span[i];

		if ((s->phase == WW_PM_CPU_OFF || s->phase == WW_PM_CPU_ON ||
		     (over && s->phase == WW_PM_IMAGE)) &&
		    s->end_ns == WW_TIME_MAX && !s->failed && !ww_iv_ok(s->length))
			continue;
		w->span[n++] = *s;
	}
	w->spans = n;
}

static bool told(const struct ww_pm_work *w, int phase)
{
	size_t i;

	for (i = 0; i < w->spans; i++) {
		if (w->span[i].phase == phase)
			return true;
	}
	return false;
}

/* The latest end before a phase, the earliest begin after it: it lies between them. */
static void bounds(const struct ww_pm_work *w, int phase, int64_t first, int64_t last,
		   struct ww_interval *out)
{
	size_t i;

	for (i = 0; i < w->spans; i++) {
		const struct ww_pm_span *s = &w->span[i];

		if (s->end_ns != WW_TIME_MAX && s->end_ns <= first && s->end_ns > out->lo_ns)
			out->lo_ns = s->end_ns;
		if (s->start_ns != WW_TIME_MIN && s->start_ns >= last && s->start_ns < out->hi_ns)
			out->hi_ns = s->start_ns;
	}
	if (phase < WW_PM_MACHINE && ww_iv_ok(w->c.sleep_begin) && w->c.sleep_begin.hi_ns >= last &&
	    w->c.sleep_begin.hi_ns < out->hi_ns)
		out->hi_ns = w->c.sleep_begin.hi_ns;
	if (phase > WW_PM_MACHINE && ww_iv_ok(w->c.sleep_end) && w->c.sleep_end.lo_ns <= first &&
	    w->c.sleep_end.lo_ns > out->lo_ns)
		out->lo_ns = w->c.sleep_end.lo_ns;
}

/* Without pm_debug_messages phases are not told, but their devices' calls may be. */
static void from_devices(struct ww_pm_work *w)
{
	static const int of[] = {WW_PM_SUSPEND,	     WW_PM_SUSPEND_LATE, WW_PM_SUSPEND_NOIRQ,
				 WW_PM_RESUME_NOIRQ, WW_PM_RESUME_EARLY, WW_PM_RESUME};
	int64_t first[WW_COUNTOF(of)], last[WW_COUNTOF(of)];
	size_t i, k, n = w->spans;
	bool any = false;

	for (k = 0; k < WW_COUNTOF(of); k++) {
		first[k] = INT64_MAX;
		last[k] = INT64_MIN;
		if (told(w, of[k]))
			return; /* what is told, is told of all */
	}
	for (i = 0; i < w->devices; i++) {
		const struct ww_pm_device *d = &w->device[i];

		if (d->start_ns == WW_TIME_MIN || d->end_ns == WW_TIME_MAX)
			continue;
		for (k = 0; k < WW_COUNTOF(of) && of[k] != d->phase; k++)
			;
		if (k == WW_COUNTOF(of))
			continue;
		any = true;
		first[k] = d->start_ns < first[k] ? d->start_ns : first[k];
		last[k] = d->end_ns > last[k] ? d->end_ns : last[k];
	}
	for (k = 0; any && k < WW_COUNTOF(of); k++) {
		struct ww_pm_span *s = first[k] <= last[k] ? ww_pm_add_span(w) : NULL;

		if (s == NULL)
			continue;
		s->phase = of[k];
		s->start_ns = first[k];
		s->end_ns = last[k];
	}
	for (i = n; i < w->spans; i++) {
		struct ww_pm_span *s = &w->span[i];
		struct ww_interval around = {INT64_MIN, INT64_MAX};

		bounds(w, s->phase, s->start_ns, s->end_ns, &around);
		s->length.lo_ns = s->length.hi_ns = s->end_ns - s->start_ns;
		if (around.lo_ns != INT64_MIN && around.hi_ns != INT64_MAX)
			s->length.hi_ns = around.hi_ns - around.lo_ns;
	}
}

/* Resuming the core takes less; longer is the jump of the clock (timekeeping_resume()). */
#define SYSCORE_MOST (5 * WW_NS_PER_MS)
#define JUMP_LEAST   (WW_NS_PER_S / 2)

void ww_pmbuild_boot_clock(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;
	size_t i;

	for (i = 0; w->ftrace && i < w->spans; i++) {
		struct ww_pm_span *s = &w->span[i];

		if (s->phase != WW_PM_SYSCORE_RESUME || s->end_ns == WW_TIME_MAX ||
		    s->start_ns == WW_TIME_MIN || s->end_ns - s->start_ns < JUMP_LEAST)
			continue;
		b->s.slept.hi_ns = s->end_ns - s->start_ns;
		b->s.slept.lo_ns = b->s.slept.hi_ns - SYSCORE_MOST;
		w->c.sleeps = 1;
		b->s.awake_ns = s->end_ns;
		b->s.awake_slack_ns = SYSCORE_MOST;
		s->start_ns = s->end_ns - SYSCORE_MOST;
		s->length = s->traced = (struct ww_interval){0, SYSCORE_MOST};
		w->boot_clock = true;
	}
}

/* Lines in another order than they were printed in, or of two texts: where it ends counts. */
static void backwards(struct ww_pm_work *w)
{
	size_t i;

	for (i = 0; i < w->spans; i++) {
		struct ww_pm_span *s = &w->span[i];

		if (s->start_ns == WW_TIME_MIN || s->end_ns == WW_TIME_MAX ||
		    s->start_ns <= s->end_ns)
			continue;
		s->start_ns = ww_iv_ok(s->printed) ? s->end_ns - s->printed.lo_ns : WW_TIME_MIN;
	}
}

void ww_pmbuild_spans(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;

	prepare(b);
	backwards(w);
	drop_empty(w);
	if (!w->ftrace && !w->stamped_late)
		from_devices(w);
	ww_pm_order_spans(w);
}
