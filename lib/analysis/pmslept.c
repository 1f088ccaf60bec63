/* SPDX-License-Identifier: MIT */
/*
 * How long the kernel says that it slept, beside how long its console was silent. Its figure
 * is as good as the clock that goes on in the sleep: an RTC tells whole seconds.
 */
#include "analysis/pmwork.h"

#define RTC_NS	 WW_NS_PER_S
#define SLACK_NS (5 * WW_NS_PER_MS)

/* Between neighbours where the bench's clock went on and the kernel's did not: no longer. */
static int64_t silent_most(const struct ww_pm_work *w)
{
	int64_t most = -1, stood = 0;
	size_t last = SIZE_MAX, i;

	for (i = 0; i < w->lines; i++) {
		const struct ww_pm_line *l = &w->line[i];

		if (l->t_ns == WW_NO_TIME || l->lo_ns == WW_NO_TIME || l->hi_ns == WW_NO_TIME ||
		    !l->kernel)
			continue;
		if (last != SIZE_MAX) {
			int64_t bench = l->hi_ns - w->line[last].lo_ns;
			int64_t still = bench - (l->t_ns - w->line[last].t_ns);

			if (still > stood) {
				stood = still;
				most = bench;
			}
		}
		last = i;
	}
	return most;
}

bool ww_pm_slept_told(const struct ww_pm_work *w)
{
	const struct ww_pm_cycle *c = &w->c;

	return !w->ftrace && c->sleeps > 0 && ww_iv_ok(c->slept) &&
	       c->slept.hi_ns - c->slept.lo_ns <= c->sleeps * WW_NS_PER_MS;
}

void ww_pm_slept(struct ww_pm_work *w)
{
	struct ww_interval *s = &w->c.slept;
	int64_t most;

	if (!ww_pm_slept_told(w) || w->c.sleeps != 1 || w->c.clock != WW_PM_CLOCK_PRINTK)
		return;
	most = silent_most(w);
	if (most < 0 || s->lo_ns <= most + most / 1000 + SLACK_NS)
		return;
	ww_note(&w->contradictions,
		"the kernel says that it slept %lld ms, but its console was silent for %lld ms at "
		"most: the clock that it asks after the sleep is not that good",
		(long long)(s->lo_ns / WW_NS_PER_MS), (long long)(most / WW_NS_PER_MS));
	/* Off by more than whole seconds explain: which of the two is wrong is not known. */
	if (s->lo_ns - RTC_NS > most)
		return;
	s->lo_ns = s->lo_ns > RTC_NS ? s->lo_ns - RTC_NS : 0;
	s->hi_ns = most;
}
