/* SPDX-License-Identifier: MIT */
/*
 * A journal's daemon is frozen with the rest: what the kernel says from then on is stamped
 * after the thaw, all at once. The jump of its clock then stands before lines that were printed
 * before the sleep, and what such stamps tell of phases and callbacks is nothing.
 */
#include "analysis/pmbuild.h"
#include "analysis/resume.h"

/* No phase before the sleep is silent for so long, but a sleep is. */
#define LATE_NS (2 * WW_NS_PER_S)

/* Suspend and resume, that the jump holds beside the sleep, take less where nobody says more. */
#define REST_NS (10 * WW_NS_PER_S)
/* So long nobody is silent but who sleeps. */
#define LONG_NS (60 * WW_NS_PER_S)

/* The first stamp behind a jump that stands before the last line on the way down. */
static int64_t behind_jump(const struct ww_pmbuild *b, int64_t *jump)
{
	const struct ww_pm_work *w = b->w;
	int64_t last = WW_NO_TIME;
	size_t i;

	for (i = 0; b->s.last_down_ns != WW_NO_TIME && i < w->lines; i++) {
		int64_t t = w->line[i].t_ns;

		if (t == WW_NO_TIME || !w->line[i].kernel)
			continue;
		if (last != WW_NO_TIME && t <= b->s.last_down_ns && t - last > LATE_NS) {
			*jump = t - last;
			return t;
		}
		last = t;
	}
	return WW_NO_TIME;
}

/* The jump is the sleep and what the kernel did on both sides of it. */
static void slept(struct ww_pm_work *w, int64_t from, int64_t jump)
{
	int64_t res = (int64_t)w->c.stamp_res_ns, rest = REST_NS;
	size_t i;

	if (w->c.result != WW_PM_OK || jump < 2 * REST_NS)
		return;
	for (i = 0; i < w->spans; i++) {
		const struct ww_pm_span *s = &w->span[i];

		if (s->start_ns >= from - rest && ww_iv_ok(s->printed))
			rest = ww_add_sat(rest, s->printed.hi_ns);
	}
	rest = ww_add_sat(rest, res);
	w->c.slept = (struct ww_interval){jump > rest ? jump - rest : 0, jump + res};
}

/* The freeze took longer than its two lines lie apart. */
static int64_t at_once(const struct ww_pmbuild *b)
{
	const struct ww_pm_work *w = b->w;
	size_t i;

	for (i = 0; i < w->spans; i++) {
		const struct ww_pm_span *s = &w->span[i];

		if (s->phase == WW_PM_FREEZE && ww_iv_ok(s->printed) &&
		    s->start_ns != WW_TIME_MIN && s->end_ns != WW_TIME_MAX &&
		    (double)(s->end_ns - s->start_ns) + w->c.stamp_res_ns <
			    (double)s->printed.lo_ns)
			return s->start_ns;
	}
	return WW_NO_TIME;
}

static void forget(struct ww_pm_work *w, int64_t from)
{
	size_t i, n = 0;

	for (i = 0; i < w->spans; i++) {
		struct ww_pm_span *s = &w->span[i];

		if (s->start_ns == WW_TIME_MIN || s->start_ns >= from)
			s->length = s->printed;
	}
	for (i = 0; i < w->devices; i++) {
		struct ww_pm_device *d = &w->device[i];

		if (d->start_ns != WW_TIME_MIN && d->start_ns >= from) {
			d->length = d->printed;
			d->start_ns = WW_TIME_MIN;
			d->end_ns = d->end_ns == WW_TIME_MAX ? WW_TIME_MAX : WW_TIME_MIN;
		}
	}
	for (i = 0; i < w->others; i++) {
		const struct ww_pm_other *o = &w->other[i];

		if (o->start_ns == WW_TIME_MIN || o->start_ns < from)
			w->other[n++] = *o;
	}
	w->others = n;
}

void ww_pmbuild_late(struct ww_pmbuild *b)
{
	struct ww_pm_work *w = b->w;
	int64_t from, jump = 0;

	if (w->c.clock != WW_PM_CLOCK_HOST)
		return;
	from = behind_jump(b, &jump);
	if (from == WW_NO_TIME)
		from = at_once(b);
	if (from == WW_NO_TIME)
		return;
	w->stamped_late = true;
	slept(w, from, jump);
	forget(w, from);
}

/*
 * Suspend-to-idle of kernels whose clock ran on: of a long stretch without a line nearly all is
 * the sleep.
 */
void ww_pmbuild_ran_on(struct ww_pmbuild *b)
{
	struct ww_pm_cycle *c = &b->w->c;
	int64_t lo = c->sleep_begin.lo_ns, hi = c->sleep_end.hi_ns;

	if (c->clock != WW_PM_CLOCK_PRINTK || b->ftrace || c->mode != WW_PM_MODE_S2IDLE ||
	    c->result != WW_PM_OK || b->s.asleep_ns != WW_NO_TIME || b->s.awake_ns != WW_NO_TIME ||
	    ww_iv_ok(b->s.slept) || !ww_iv_ok(c->sleep_begin) || !ww_iv_ok(c->sleep_end) ||
	    hi - lo < LONG_NS)
		return;
	c->sleep_begin = (struct ww_interval){lo, lo + REST_NS};
	c->sleep_end = (struct ww_interval){hi - REST_NS, hi};
	c->slept = (struct ww_interval){hi - lo - 2 * REST_NS, hi - lo};
	b->w->ran_on = true;
}
