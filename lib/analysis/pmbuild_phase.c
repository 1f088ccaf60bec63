/* SPDX-License-Identifier: MIT */
/* Phases of a suspend: begins and ends as they are told, and lengths by the better witness. */
#include "analysis/pmbuild.h"

/* The thaw of tasks takes milliseconds; a next line that is later tells nothing of its end. */
#define THAW_MAX (50 * WW_NS_PER_MS)

/* Making the image, writing and reading it: neither down nor up. */
static bool of_image(int phase)
{
	return phase == WW_PM_IMAGE || phase == WW_PM_IMAGE_IO || phase == WW_PM_IMAGE_READ;
}

bool ww_pm_phase_up(int phase, int verb)
{
	if (verb == WW_PM_V_THAW || verb == WW_PM_V_FREEZE || verb == WW_PM_V_HIBERNATE ||
	    verb == WW_PM_V_QUIESCE)
		return false;
	return phase >= WW_PM_SYSCORE_RESUME && phase < WW_PM_PHASES && !of_image(phase);
}

/* What follows a phase that ended well, where only ends are told. */
int ww_pm_phase_after(int phase)
{
	switch (phase) {
	case WW_PM_FREEZE:
	case WW_PM_PREPARE:
		return WW_PM_SUSPEND;
	case WW_PM_SUSPEND:
		return WW_PM_SUSPEND_LATE;
	case WW_PM_SUSPEND_LATE:
		return WW_PM_SUSPEND_NOIRQ;
	case WW_PM_SUSPEND_NOIRQ:
	case WW_PM_CPU_OFF:
		return WW_PM_MACHINE;
	case WW_PM_CPU_ON:
		return WW_PM_RESUME_NOIRQ;
	case WW_PM_RESUME_NOIRQ:
		return WW_PM_RESUME_EARLY;
	case WW_PM_RESUME_EARLY:
		return WW_PM_RESUME;
	case WW_PM_RESUME:
		return WW_PM_COMPLETE;
	case WW_PM_COMPLETE:
		return WW_PM_THAW;
	default:
		return phase;
	}
}

static struct ww_interval printed(const struct ww_pmev *e)
{
	int64_t d = e->dur_ns;

	if (d == WW_NO_TIME || d < 0)
		return WW_INTERVAL_NONE;
	if (of_image(e->phase))
		return (struct ww_interval){d, d + 10 * WW_NS_PER_MS};
	if (e->unit == WW_PM_UNIT_SECONDS)
		return (struct ww_interval){d, d + WW_NS_PER_MS}; /* cut off, not rounded */
	return (struct ww_interval){d, d + WW_NS_PER_US};
}

static struct ww_interval by_stamps(const struct ww_pmbuild *b, const struct ww_pm_span *s)
{
	int64_t res = (int64_t)b->w->c.stamp_res_ns, d;

	if (s->start_ns == WW_TIME_MIN || s->end_ns == WW_TIME_MAX || s->end_ns < s->start_ns)
		return WW_INTERVAL_NONE;
	d = s->end_ns - s->start_ns;
	return (struct ww_interval){d > res ? d - res : 0, d + res};
}

static bool narrower(struct ww_interval a, struct ww_interval b)
{
	return ww_iv_ok(a) && (!ww_iv_ok(b) || a.hi_ns - a.lo_ns <= b.hi_ns - b.lo_ns);
}

struct ww_pm_span *ww_pmbuild_add_span(struct ww_pmbuild *b, int phase, int verb)
{
	struct ww_pm_span *s;

	if (b->w->spans >= WW_PM_ROWS_MAX) {
		b->s.capped = true;
		return NULL;
	}
	s = ww_pm_add_span(b->w);
	if (s == NULL)
		return NULL;
	s->phase = phase;
	s->verb = verb;
	return s;
}

/* Devices' phases are never open two at a time, except where a failure is rolled back. */
static bool inside_another(const struct ww_pmbuild *b, int phase)
{
	int i;

	if (phase < WW_PM_RESUME_NOIRQ || phase > WW_PM_COMPLETE)
		return false;
	for (i = WW_PM_PREPARE; i <= WW_PM_SUSPEND_NOIRQ; i++) {
		if (b->s.open[i])
			return true;
	}
	return false;
}

void ww_pmbuild_failed(struct ww_pmbuild *b, int phase)
{
	b->s.phase_failed = true;
	if (b->s.fail_phase == 0)
		b->s.fail_phase = phase;
}

static void begin(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	struct ww_pm_span *s;

	if (e->phase == WW_PM_FREEZE && b->s.open[WW_PM_FREEZE])
		return; /* its second half: kernel threads */
	if (e->phase == WW_PM_FREEZE && b->s.frozen && b->w->spans > 0 &&
	    b->w->span[b->w->spans - 1].phase == WW_PM_FREEZE) {
		b->s.open[WW_PM_FREEZE] = b->w->spans;
		return;
	}
	if (inside_another(b, e->phase) && b->s.side == WW_PM_DOWN) {
		/* Resumed again before the phase is over: what was to suspend failed. */
		for (int i = WW_PM_PREPARE; i <= WW_PM_SUSPEND_NOIRQ; i++) {
			if (b->s.open[i]) {
				b->w->span[b->s.open[i] - 1].failed = 1;
				ww_pmbuild_failed(b, i);
			}
		}
	}
	s = ww_pmbuild_add_span(b, e->phase, e->verb);
	if (s == NULL)
		return;
	if (b->s.booted && e->verb == WW_PM_NO_VERB)
		s->verb = WW_PM_V_QUIESCE; /* by the kernel that fetches the image */
	s->nested = inside_another(b, e->phase);
	b->s.open[e->phase] = b->w->spans;
	if (t != WW_NO_TIME)
		s->start_ns = t;
}

static void freeze_more(struct ww_pm_span *s, struct ww_interval p)
{
	if (!ww_iv_ok(p) || !ww_iv_ok(s->printed)) {
		s->printed = ww_iv_ok(p) ? p : s->printed;
		return;
	}
	s->printed.lo_ns += p.lo_ns;
	s->printed.hi_ns += p.hi_ns;
}

/* "Syncing filesystems ... done.": in one line, stamped when it began. */
static bool stamped_at_begin(const struct ww_pmev *e)
{
	return e->count == 1 &&
	       (e->phase == WW_PM_SYNC || e->phase == WW_PM_FREEZE || e->phase == WW_PM_THAW);
}

static struct ww_pm_span *end_of(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	struct ww_pm_span *s, *last = b->w->spans ? &b->w->span[b->w->spans - 1] : NULL;

	if (b->s.open[e->phase]) {
		s = &b->w->span[b->s.open[e->phase] - 1];
		b->s.open[e->phase] = 0;
		return s;
	}
	if (e->phase == WW_PM_FREEZE && last != NULL && last->phase == WW_PM_FREEZE &&
	    !last->failed)
		return last;
	/* "Image saving done." and then "Wrote ... in 7.00 seconds" are one. */
	if (of_image(e->phase) && last != NULL && last->phase == e->phase &&
	    e->dur_ns != WW_NO_TIME)
		return last;
	return ww_pmbuild_add_span(b, e->phase, e->verb);
}

void ww_pmbuild_settle(struct ww_pmbuild *b, struct ww_pm_span *s)
{
	struct ww_interval stamps = by_stamps(b, s);

	s->length = narrower(stamps, s->printed) ? stamps : s->printed;
	if (b->ftrace)
		s->traced = stamps;
}

static void thawed(struct ww_pmbuild *b, const struct ww_pm_in *in, struct ww_interval t)
{
	b->s.side = WW_PM_OVER;
	if (!b->s.exited)
		b->s.thaw_end = t;
	b->s.over_line = b->w->lines;
	b->s.ended_lines = 0;
	if (in->line.lo_ns != WW_NO_TIME)
		b->w->c.bench_end = (struct ww_interval){in->line.lo_ns, in->line.hi_ns};
}

static void end(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t, bool failed)
{
	const struct ww_pmev *e = in->ev;
	bool fresh = b->s.open[e->phase] == 0;
	struct ww_pm_span *s = end_of(b, e);
	struct ww_interval p = printed(e);
	bool late = fresh && stamped_at_begin(e);

	if (s == NULL)
		return;
	if (e->phase == WW_PM_FREEZE)
		freeze_more(s, p);
	else if (ww_iv_ok(p))
		s->printed = p;
	s->failed |= failed;
	if (late && t != WW_NO_TIME) {
		if (s->start_ns == WW_TIME_MIN)
			s->start_ns = t;
		b->s.pending = (size_t)(s - b->w->span) + 1;
		b->s.pending_lo = ww_iv_ok(p) ? p.lo_ns : 0;
	} else if (t != WW_NO_TIME && (s->end_ns == WW_TIME_MAX || e->phase < WW_PM_IMAGE ||
				       s->length.lo_ns <= 0 || !ww_iv_ok(s->length))) {
		s->end_ns = t;
		if (s->start_ns == WW_TIME_MIN && e->phase == WW_PM_SYNC && b->s.entry)
			s->start_ns = t - (ww_iv_ok(p) ? p.lo_ns : 0);
		else if (s->start_ns == WW_TIME_MIN && ww_iv_ok(p))
			s->start_ns = t - p.lo_ns;
	}
	if (fresh && !late && ww_iv_ok(s->printed) && e->phase != WW_PM_FREEZE) {
		s->length = s->printed; /* its begin is no stamp */
		if (b->ftrace)
			s->traced = by_stamps(b, s);
	} else {
		ww_pmbuild_settle(b, s);
	}
	if (e->phase == WW_PM_FREEZE && !failed)
		b->s.frozen = true;
	if (e->phase == WW_PM_THAW)
		thawed(b, in, t == WW_NO_TIME ? WW_INTERVAL_NONE : (struct ww_interval){t, t});
}

void ww_pmbuild_pending(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	struct ww_pm_span *s = &b->w->span[b->s.pending - 1];
	bool sync = s->phase == WW_PM_SYNC;

	if (t == WW_NO_TIME)
		return;
	b->s.pending = 0;
	if (s->phase == WW_PM_THAW) {
		/* Nobody else's line came between: it was over before this one. */
		if (t >= s->start_ns && t - s->start_ns <= THAW_MAX) {
			b->s.thaw_end.hi_ns = t;
			s->length = (struct ww_interval){0, t - s->start_ns};
			s->end_ns = t;
		} else {
			s->end_ns = s->start_ns;
		}
		return;
	}
	if (t < s->start_ns) {
		s->end_ns = s->start_ns;
		return;
	}
	s->end_ns = t;
	if (ww_iv_ok(s->printed)) {
		struct ww_interval stamps = by_stamps(b, s);

		/* Another line, much later, ends nothing. */
		s->length = stamps.lo_ns <= s->printed.hi_ns && narrower(stamps, s->printed)
				    ? stamps
				    : s->printed;
		if (stamps.lo_ns > s->printed.hi_ns)
			s->end_ns = s->start_ns + s->printed.hi_ns;
		return;
	}
	s->length = by_stamps(b, s);
	if (!(sync && (in->ev->kind == WW_PMEV_MODE || in->ev->kind == WW_PMEV_BEGIN ||
		       in->ev->kind == WW_PMEV_END)))
		s->length.lo_ns = 0;
}

/* "(elapsed 0.001 seconds) done." that a console let out after the freezing of the kernel's. */
static void frozen_late(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	size_t i;

	if (e->dur_ns == WW_NO_TIME || b->s.side != WW_PM_DOWN || b->w->c.clock != WW_PM_CLOCK_NONE)
		return;
	for (i = b->w->spans; i > 0; i--) {
		struct ww_pm_span *s = &b->w->span[i - 1];

		if (s->phase != WW_PM_FREEZE)
			continue;
		freeze_more(s, printed(e));
		ww_pmbuild_settle(b, s);
		return;
	}
}

static void done(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	static const int may[] = {WW_PM_THAW, WW_PM_FREEZE, WW_PM_SYNC, WW_PM_IMAGE};
	struct ww_pmev e = *in->ev;
	struct ww_pm_in as = *in;
	size_t i;

	for (i = 0; i < WW_COUNTOF(may) && !b->s.open[may[i]]; i++)
		;
	if (i == WW_COUNTOF(may)) {
		frozen_late(b, in->ev);
		return;
	}
	e.kind = WW_PMEV_END;
	e.phase = may[i];
	as.ev = &e;
	end(b, &as, t, false);
}

void ww_pmbuild_side(struct ww_pmbuild *b, const struct ww_pmev *e, int64_t t)
{
	if (e->verb == WW_PM_V_FREEZE || e->verb == WW_PM_V_HIBERNATE ||
	    e->verb == WW_PM_V_QUIESCE || e->verb == WW_PM_V_THAW || e->verb == WW_PM_V_RESTORE ||
	    of_image(e->phase)) {
		if (e->verb != WW_PM_NO_VERB || b->w->c.mode == WW_PM_MODE_UNKNOWN)
			b->w->c.mode = WW_PM_MODE_DISK;
		if (e->phase != WW_PM_IMAGE_IO && e->phase != WW_PM_IMAGE_READ)
			b->s.booted = b->s.booted && e->verb != WW_PM_V_RESTORE;
	}
	if (e->verb == WW_PM_V_RECOVER)
		ww_pmbuild_failed(b, b->s.at);
	if (b->w->c.mode == WW_PM_MODE_DISK &&
	    (e->phase == WW_PM_SYSCORE_RESUME || e->phase == WW_PM_CPU_ON)) {
		if (b->s.maybe_up_ns == WW_NO_TIME)
			b->s.maybe_up_ns = t;
		return;
	}
	if (ww_pm_phase_up(e->phase, e->verb)) {
		ww_pmbuild_unslept(b, e, t);
		/* What is told at its end began that much earlier, where the machine was up. */
		if (e->kind == WW_PMEV_END && e->dur_ns != WW_NO_TIME && t != WW_NO_TIME &&
		    !b->s.open[e->phase] && t - e->dur_ns >= b->s.last_down_ns)
			t -= e->dur_ns;
		ww_pmbuild_turn(b, t);
	} else if (b->s.side == WW_PM_DOWN) {
		ww_pmbuild_down(b, t);
	}
}

/* "noirq suspend of devices failed" comes after the devices that did suspend are back. */
static void failed_late(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	size_t i;

	if (b->s.side != WW_PM_UP || ww_pm_phase_up(e->phase, e->verb) || b->s.slept_mark)
		return;
	b->s.side = WW_PM_BACK;
	for (i = 0; i < b->w->spans; i++) {
		if (b->w->span[i].phase >= WW_PM_RESUME_NOIRQ &&
		    b->w->span[i].phase <= WW_PM_RESUME_EARLY)
			b->w->span[i].nested = 1;
	}
}

static void fail(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;
	struct ww_pm_span *last = b->w->spans ? &b->w->span[b->w->spans - 1] : NULL;
	/* "Failed to load hibernation image" is said of devices, too, that failed later. */
	bool again = b->s.phase_failed && of_image(e->phase);

	ww_pmbuild_failed(b, e->phase);
	if (e->kind == WW_PMEV_ABORT && e->phase == WW_PM_FREEZE)
		b->s.early = true;
	failed_late(b, e);
	if (b->w->c.reason.text[0] == '\0')
		b->w->c.reason.text = ww_pm_str(b->w, in->message);
	if (e->dur_ns != WW_NO_TIME || b->s.open[e->phase]) {
		end(b, in, t, true);
	} else if (last != NULL && last->phase == e->phase) {
		last->failed = 1;
	} else if (!again) {
		last = ww_pmbuild_add_span(b, e->phase, e->verb);
		if (last != NULL)
			last->failed = 1;
	}
}

/* What comes after a phase that failed. */
static int rolled_back(int phase)
{
	switch (phase) {
	case WW_PM_SUSPEND_NOIRQ:
		return WW_PM_RESUME_EARLY;
	case WW_PM_PREPARE:
		return WW_PM_COMPLETE;
	case WW_PM_SUSPEND:
	case WW_PM_SUSPEND_LATE:
		return WW_PM_RESUME;
	default:
		return phase < WW_PM_PREPARE ? WW_PM_THAW : phase;
	}
}

static void progress(struct ww_pmbuild *b, const struct ww_pmev *e)
{
	if (e->phase >= WW_PM_SUSPEND && e->phase <= WW_PM_RESUME && e->kind != WW_PMEV_BEGIN)
		b->s.ends_told = true;
	if (e->phase >= WW_PM_PREPARE && e->phase <= WW_PM_COMPLETE)
		b->s.devices = true;
	if (e->phase == WW_PM_CONSOLE_OFF)
		b->s.console = true;
	if (b->s.side == WW_PM_OVER)
		return;
	if (e->kind == WW_PMEV_ABORT || e->kind == WW_PMEV_FAIL)
		b->s.at = rolled_back(e->phase);
	else
		b->s.at = e->kind == WW_PMEV_BEGIN ? e->phase : ww_pm_phase_after(e->phase);
	if (e->phase == WW_PM_CONSOLE_OFF)
		b->s.at = WW_PM_SUSPEND;
	if (e->verb != WW_PM_NO_VERB)
		b->s.verb = e->verb;
}

/* "suspend devices took 1.559 seconds": wanted only where nothing finer was said. */
static void coarse(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	size_t i;

	for (i = 0; i < b->w->spans; i++) {
		if (b->w->span[i].phase == in->ev->phase)
			return;
	}
	ww_pmbuild_side(b, in->ev, t);
	end(b, in, t, false);
	progress(b, in->ev);
}

void ww_pmbuild_phase(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;

	if (e->kind == WW_PMEV_DONE) {
		done(b, in, t);
		return;
	}
	if (e->phase <= WW_PM_NO_PHASE || e->phase >= WW_PM_PHASES)
		return;
	if (e->phase == WW_PM_CPU_OFF || e->phase == WW_PM_CPU_ON) {
		ww_pmbuild_cpu(b, in, t);
		return;
	}
	ww_pmbuild_cpu_end(b, WW_PM_CPU_OFF);
	ww_pmbuild_cpu_end(b, WW_PM_CPU_ON);
	if (e->kind == WW_PMEV_SUM) {
		b->s.sum_ns = e->dur_ns;
		return;
	}
	if (e->kind == WW_PMEV_TOOK) {
		coarse(b, in, t);
		return;
	}
	if (e->mode != WW_PM_MODE_UNKNOWN)
		b->w->c.mode = e->mode;
	if (e->phase == WW_PM_CONSOLE_OFF && !b->ftrace)
		b->w->console_off_ns = t;
	if (e->kind == WW_PMEV_ABORT || e->kind == WW_PMEV_FAIL) {
		ww_pmbuild_side(b, e, t);
		fail(b, in, t);
	} else {
		/* A roll-back tells of itself by its begin, before the side changes. */
		if (e->kind == WW_PMEV_BEGIN && (b->ftrace || e->phase != WW_PM_CONSOLE_OFF))
			begin(b, e, t);
		ww_pmbuild_side(b, e, t);
		if (e->kind == WW_PMEV_END)
			end(b, in, t, false);
	}
	if (e->kind != WW_PMEV_BEGIN)
		ww_pmbuild_told(b, e->phase);
	progress(b, e);
}
