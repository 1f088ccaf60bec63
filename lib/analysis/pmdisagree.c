/* SPDX-License-Identifier: MIT */
/*
 * Callbacks by two sources, side by side: which figures cannot both be right. Phases are compared
 * where the two become one (pmmerge.c), with the stamps of both at hand.
 */
#include "analysis/pmwork.h"
#include "base/str.h"

#define DEVICE_NS (500 * WW_NS_PER_US)
#define MOST	  5 /* sentences on devices */

static void put_ms(struct ww_str *s, struct ww_interval v)
{
	int64_t ns = ww_iv_mid(v);

	ww_str_fixed(s, (double)ns / 1e6, ns < 10 * WW_NS_PER_MS ? 3 : 1);
	ww_str_add(s, " ms");
}

static int64_t apart(struct ww_interval a, struct ww_interval b)
{
	if (a.lo_ns > b.hi_ns)
		return a.lo_ns - b.hi_ns;
	return b.lo_ns > a.hi_ns ? b.lo_ns - a.hi_ns : 0;
}

static void say(struct ww_pm_work *w, struct ww_str *s, struct ww_interval kernel,
		struct ww_interval trace)
{
	ww_str_add(s, ": ");
	put_ms(s, kernel);
	ww_str_add(s, " by the kernel text, ");
	put_ms(s, trace);
	ww_str_add(s, " by ftrace");
	if (s->bad)
		w->oom = true;
	else
		ww_note(&w->contradictions, "%s", s->p);
	ww_str_free(s);
}

static void devices(struct ww_pm_work *w)
{
	size_t n = 0;

	for (size_t i = 0; i < w->devices; i++) {
		const struct ww_pm_device *d = &w->device[i];
		struct ww_str s = {0};

		if (d->from != 3 || !ww_iv_ok(d->printed) || !ww_iv_ok(d->length) ||
		    apart(d->printed, d->length) <= DEVICE_NS + ww_iv_mid(d->length) / 33)
			continue;
		if (n++ >= MOST)
			continue;
		ww_str_addf(&s, "%s in %s", d->name, ww_pm_phase_name(d->phase));
		say(w, &s, d->printed, d->length);
	}
	if (n > MOST)
		ww_note(&w->contradictions,
			"%zu more callbacks have other times in the kernel text than in ftrace",
			n - MOST);
}

void ww_pm_disagree(struct ww_pm_work *w)
{
	devices(w);
	w->oom |= w->contradictions.bad;
}
