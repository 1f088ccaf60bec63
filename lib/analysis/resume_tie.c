/* SPDX-License-Identifier: MIT */
/*
 * The kernel's clock and the bench's, tied by what both saw of user space: a request came before
 * the kernel's first line of it; a beat that came was written before tasks froze, and the one
 * due next was not; the first one after was written when they thawed.
 */
#include "analysis/resume_kernel.h"

#define AHEAD_NS (400 * WW_NS_PER_MS) /* a beat of a stream may have waited so long */
#define DRAIN_NS (5 * WW_NS_PER_MS)   /* and any other */

static const struct ww_pm_span *phase(const struct ww_pm_cycle *c, int which)
{
	for (size_t i = 0; i < c->spans; i++)
		if (c->span[i].phase == which)
			return &c->span[i];
	return NULL;
}

static bool known(int64_t t)
{
	return t > WW_TIME_MIN / 2 && t < WW_TIME_MAX / 2;
}

static void at_least(struct ww_interval *tie, int64_t bench, int64_t kernel)
{
	if (known(bench) && known(kernel) && bench - kernel > tie->lo_ns)
		tie->lo_ns = bench - kernel;
}

static void at_most(struct ww_interval *tie, int64_t bench, int64_t kernel)
{
	if (known(bench) && known(kernel) && bench - kernel < tie->hi_ns)
		tie->hi_ns = bench - kernel;
}

void ww_kernel_tie(const struct ww_resume *r, size_t i, struct ww_kernel_cycle *kc)
{
	const struct ww_interval *e = r->cycle[i].c.event, last = e[WW_EV_LAST_BEAT];
	const struct ww_interval first = e[WW_EV_FIRST_BEAT];
	const struct ww_pm_span *freeze = phase(kc->c, WW_PM_FREEZE);
	const struct ww_pm_span *thaw = phase(kc->c, WW_PM_THAW);
	int64_t waits = r->scan.mode == WW_BEAT_STREAM ? AHEAD_NS : DRAIN_NS;
	int64_t due = r->scan.cadence.limit_ns;
	/* Of one that did not sleep both sides are one. */
	struct ww_interval *back = &kc->tie[ww_kernel_slept(kc->c) ? 1 : 0];

	kc->tie[0] = kc->tie[1] = (struct ww_interval){WW_TIME_MIN, WW_TIME_MAX};
	if (ww_iv_ok(e[WW_EV_REQUEST]))
		at_least(&kc->tie[0], e[WW_EV_REQUEST].lo_ns, kc->c->t.lo_ns);
	if (freeze && ww_iv_ok(last)) {
		at_least(&kc->tie[0], last.lo_ns - waits, freeze->end_ns);
		at_most(&kc->tie[0], last.hi_ns + due, freeze->start_ns);
	}
	if (thaw && ww_iv_ok(first)) {
		at_least(back, first.lo_ns - waits - due, thaw->end_ns);
		at_most(back, first.hi_ns, thaw->start_ns);
	}
	if (back == &kc->tie[0])
		kc->tie[1] = kc->tie[0];
}
