/* SPDX-License-Identifier: MIT */
/*
 * ftrace has an event for every sleep (kernel/power/suspend.c: machine_suspend). Phases of a
 * resume without one roll back: a callback failed, a wake-up came first, or it was a test.
 */
#include "analysis/pmbuild.h"

#define TEST_NS (4500 * WW_NS_PER_MS) /* pm_test waits for 5 s */

static const struct ww_pm_device *culprit(const struct ww_pmbuild *b)
{
	size_t i;

	for (i = b->w->devices; i > 0; i--) {
		const struct ww_pm_device *d = &b->w->device[i - 1];

		if (d->error != 0 && d->phase >= WW_PM_PREPARE && d->phase <= WW_PM_SUSPEND_NOIRQ)
			return d;
	}
	return NULL;
}

static void refused_by(struct ww_pmbuild *b, const struct ww_pm_device *d)
{
	struct ww_pm_reason *r = &b->w->c.reason;
	size_t i;

	ww_pmbuild_failed(b, d->phase);
	r->device = d->name;
	r->driver = d->driver;
	r->error = d->error;
	r->async = d->async;
	for (i = b->w->spans; i > 0; i--) {
		if (b->w->span[i - 1].phase == d->phase) {
			b->w->span[i - 1].failed = 1;
			break;
		}
	}
}

/* The last phase that was gone through, on the way to sleep. */
static int reached(const struct ww_pmbuild *b)
{
	size_t i;

	for (i = b->w->spans; i > 0; i--) {
		int phase = b->w->span[i - 1].phase;

		if (phase <= WW_PM_MACHINE && phase != WW_PM_CONSOLE_OFF)
			return phase;
	}
	return 0;
}

void ww_pmbuild_unslept(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	const struct ww_pm_device *d;

	if (!b->ftrace || b->lost || b->s.cut || b->s.side != WW_PM_DOWN || b->s.phase_failed ||
	    b->w->c.mode == WW_PM_MODE_DISK || b->s.machine_ns != WW_NO_TIME ||
	    b->s.asleep_ns != WW_NO_TIME || b->s.awake_ns != WW_NO_TIME ||
	    e->phase < WW_PM_SYSCORE_RESUME || e->phase > WW_PM_THAW)
		return;
	d = culprit(b);
	if (e->phase == WW_PM_THAW && b->s.open[WW_PM_FREEZE] != 0) {
		/* Those that did freeze are thawed within it. */
		b->w->span[b->s.open[WW_PM_FREEZE] - 1].failed = 1;
		ww_pmbuild_failed(b, WW_PM_FREEZE);
	} else if (d != NULL) {
		refused_by(b, d);
	} else if (t != WW_NO_TIME && b->s.last_down_ns != WW_NO_TIME &&
		   t - b->s.last_down_ns > TEST_NS) {
		b->s.asleep_ns = b->s.last_down_ns;
		b->s.test_ns = t - b->s.last_down_ns;
	} else {
		b->s.wake_pending = true;
		b->s.fail_phase = reached(b);
		if (b->s.source.n > 0 && b->w->c.reason.wakeup[0] == '\0')
			b->w->c.reason.wakeup = ww_pm_str(b->w, ww_pm_kept_slice(&b->s.source));
	}
}
