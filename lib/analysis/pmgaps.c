/* SPDX-License-Identifier: MIT */
/*
 * What takes time and is no device: stretches without a line, jumps of a clock, CPUs, and
 * phases that are not made of devices.
 */
#include "analysis/pmwork.h"

#include <stdio.h>

/* Lines change places by microseconds: no jump. */
#define JUMP_NS	 (WW_NS_PER_S)
#define GAPS_MAX 200

/* Text of a line; the next one that has any where it was not kept. */
static const char *text_at(const struct ww_pm_work *w, size_t i, size_t to)
{
	for (; i < to; i++) {
		if (w->line[i].text != NULL)
			return w->line[i].text;
	}
	return "";
}

static void gap(struct ww_pm_work *w, const char *what, size_t from, size_t to,
		struct ww_interval length)
{
	struct ww_pm_other *o = ww_pm_add_other(w);

	if (o == NULL)
		return;
	o->what = what;
	o->before = text_at(w, from, to);
	o->after = w->line[to].text != NULL ? w->line[to].text : "";
	if (w->line[from].t_ns != WW_NO_TIME)
		o->start_ns = w->line[from].t_ns;
	o->length = length;
}

static struct ww_interval about(int64_t d, int64_t res)
{
	return (struct ww_interval){d > res ? d - res : 0, d + res};
}

/* Between neighbours on the axis of the cycle. */
static size_t axis_gaps(struct ww_pm_work *w, int64_t gap_ns)
{
	int64_t res = (int64_t)w->c.stamp_res_ns, d;
	size_t i, last = SIZE_MAX, found = 0;

	if (w->c.clock == WW_PM_CLOCK_BENCH)
		return 0;
	for (i = 0; i < w->lines && found < GAPS_MAX; i++) {
		if (w->line[i].t_ns == WW_NO_TIME || !w->line[i].kernel)
			continue;
		if (last != SIZE_MAX) {
			d = w->line[i].t_ns - w->line[last].t_ns;
			if (d - (res > WW_NS_PER_MS ? res : 0) >= gap_ns) {
				gap(w, "silent gap", last, i, about(d, res));
				found++;
			} else if (d <= -JUMP_NS) {
				gap(w, "clock jumps back", last, i, about(-d, res));
				found++;
			}
		}
		last = i;
	}
	return found;
}

static int64_t other_clock(const struct ww_pm_line *l, bool bench)
{
	return bench ? l->lo_ns : l->host_ns;
}

static bool axis_has(const struct ww_pm_work *w, size_t from, size_t to, int64_t d)
{
	int64_t a = w->line[from].t_ns, b = w->line[to].t_ns;

	return a != WW_NO_TIME && b != WW_NO_TIME && b - a > d / 2;
}

/*
 * By the clock of who logged the lines: the sleep itself, and what the kernel's clock does
 * not count. Lines that the kernel's clock already shows to be apart are told above.
 */
static void outer_gaps(struct ww_pm_work *w, int64_t gap_ns, bool bench)
{
	size_t i, last = SIZE_MAX, found = 0;
	int64_t d, res = bench || w->host_res_ns < WW_NS_PER_MS ? WW_NS_PER_MS : w->host_res_ns;

	for (i = 0; i < w->lines && found < GAPS_MAX; i++) {
		int64_t t = other_clock(&w->line[i], bench);

		if (t == WW_NO_TIME)
			continue;
		if (last != SIZE_MAX) {
			d = t - other_clock(&w->line[last], bench);
			if (d - (res > WW_NS_PER_MS ? res : 0) >= gap_ns &&
			    !axis_has(w, last, i, d)) {
				gap(w, bench ? "silent gap, bench" : "silent gap, host", last, i,
				    about(d, res));
				found++;
			} else if (d <= -JUMP_NS - res) {
				gap(w, bench ? "bench clock jumps back" : "host clock jumps back",
				    last, i, about(-d, res));
				found++;
			}
		}
		last = i;
	}
}

/* Phases that are no devices', told once more where people look for them. */
static void sums(struct ww_pm_work *w)
{
	static const struct {
		int phase;
		const char *what;
	} of[] = {{WW_PM_CPU_OFF, "CPU offline"},      {WW_PM_CPU_ON, "CPU online"},
		  {WW_PM_NOTIFIERS, "notifiers"},      {WW_PM_POST_NOTIFIERS, "notifiers, after"},
		  {WW_PM_COMPLETE, "completion"},      {WW_PM_CONSOLE_OFF, "console suspend"},
		  {WW_PM_CONSOLE_ON, "console resume"}};
	size_t i, k;

	for (i = 0; i < w->spans; i++) {
		for (k = 0; k < WW_COUNTOF(of) && of[k].phase != w->span[i].phase; k++)
			;
		if (k < WW_COUNTOF(of) && ww_iv_ok(w->span[i].length)) {
			struct ww_pm_other *o = ww_pm_add_other(w);

			if (o == NULL)
				return;
			o->what = of[k].what;
			o->start_ns = w->span[i].start_ns;
			o->length = w->span[i].length;
		}
	}
}

/*
 * Notifiers are told by nobody: they run between the freeze's begin and what was before it
 * (ftrace), and between the thaw's end and the exit.
 */
static const struct ww_pm_span *find(const struct ww_pm_work *w, int phase)
{
	size_t i;

	for (i = 0; i < w->spans; i++) {
		if (w->span[i].phase == phase)
			return &w->span[i];
	}
	return NULL;
}

static void between(struct ww_pm_work *w, const char *what, int64_t from, int64_t to)
{
	struct ww_pm_other *o;

	if (from == WW_TIME_MIN || from == WW_TIME_MAX || to == WW_TIME_MIN || to == WW_TIME_MAX ||
	    to - from < WW_NS_PER_MS)
		return;
	o = ww_pm_add_other(w);
	if (o == NULL)
		return;
	o->what = what;
	o->start_ns = from;
	o->length = about(to - from, (int64_t)w->c.stamp_res_ns);
}

static void unseen(struct ww_pm_work *w)
{
	const struct ww_pm_span *sync = find(w, WW_PM_SYNC), *freeze = find(w, WW_PM_FREEZE);
	const struct ww_pm_span *thaw = find(w, WW_PM_THAW);

	if (w->c.stamp_res_ns > 1e6 || w->stamped_late)
		return;
	if (sync != NULL && freeze != NULL && sync->end_ns < freeze->start_ns)
		between(w, "notifiers, between sync and freeze", sync->end_ns, freeze->start_ns);
	if (thaw != NULL && thaw->end_ns < w->c.t.hi_ns)
		between(w, "notifiers and the rest, from the thaw to the exit", thaw->end_ns,
			w->c.t.hi_ns);
}

void ww_pm_gaps(struct ww_pm_work *w, int64_t gap_ns)
{
	if (gap_ns <= 0)
		gap_ns = 100 * WW_NS_PER_MS;
	unseen(w);
	sums(w);
	if (w->ftrace && w->lines == 0)
		return;
	axis_gaps(w, gap_ns);
	if (w->c.clock == WW_PM_CLOCK_PRINTK)
		outer_gaps(w, gap_ns, false);
	if (w->c.clock != WW_PM_CLOCK_NONE)
		outer_gaps(w, gap_ns, true);
}

static bool is_told(const struct ww_pm_work *w, const char *name)
{
	size_t i;

	for (i = 0; i < w->errors.n; i++) {
		if (strstr(w->errors.note[i], name) != NULL)
			return true;
	}
	return false;
}

void ww_pm_device_errors(struct ww_pm_work *w)
{
	size_t i, found = 0;

	for (i = 0; i < w->devices && found < GAPS_MAX; i++) {
		const struct ww_pm_device *d = &w->device[i];

		if (d->error == 0 || d->phase < WW_PM_MACHINE || is_told(w, d->name))
			continue;
		found++;
		ww_note(&w->errors, "%s%s%s: %s returned %d in %s", d->driver,
			d->driver[0] != '\0' ? " " : "", d->name,
			d->func[0] != '\0' ? d->func : "its callback", (int)d->error,
			ww_pm_phase_name(d->phase));
	}
}
