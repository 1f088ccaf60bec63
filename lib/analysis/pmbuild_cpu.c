/* SPDX-License-Identifier: MIT */
/* Processors going off and coming on: a phase, and a row for each of them. */
#include "analysis/pmbuild.h"

void ww_pmbuild_cpu_end(struct ww_pmbuild *b, int phase)
{
	if (b->s.open[phase]) {
		ww_pmbuild_settle(b, &b->w->span[b->s.open[phase] - 1]);
		b->s.open[phase] = 0;
	}
}

static void cpu_row(struct ww_pmbuild *b, int phase, int64_t number, int64_t from, int64_t t)
{
	bool again = b->s.cpu_other && number >= 0 && number == b->s.cpu_number;
	struct ww_pm_other *o;
	int64_t res = (int64_t)b->w->c.stamp_res_ns;

	if (t == WW_NO_TIME || from == WW_NO_TIME || t < from || number < 0)
		return;
	if (again) {
		o = &b->w->other[b->s.cpu_other - 1];
		from = o->start_ns;
	} else {
		if (b->w->others >= WW_PM_ROWS_MAX) {
			b->s.capped = true;
			return;
		}
		o = ww_pm_add_other(b->w);
		if (o == NULL)
			return;
		b->s.cpu_other = b->w->others;
		b->s.cpu_number = number;
		o->what = ww_pm_strf(b->w, "CPU %lld %s", (long long)number,
				     phase == WW_PM_CPU_OFF ? "offline" : "online");
		o->start_ns = from;
	}
	o->length = (struct ww_interval){t - from > res ? t - from - res : 0, t - from + res};
}

void ww_pmbuild_cpu(struct ww_pmbuild *b, const struct ww_pm_in *in, int64_t t)
{
	const struct ww_pmev *e = in->ev;
	bool off = e->kind == WW_PMEV_CPU_OFF || e->phase == WW_PM_CPU_OFF;
	bool begins = e->kind == WW_PMEV_BEGIN;
	int phase = off ? WW_PM_CPU_OFF : WW_PM_CPU_ON;
	struct ww_pmev as = *e;
	struct ww_pm_span *s;

	/* CPUs that users switch are none of the suspend's. */
	if (b->s.side == WW_PM_OVER || (!b->s.devices && !b->s.console && !b->s.entry && !begins &&
					!b->s.cut && !b->s.open[phase]))
		return;
	as.phase = phase;
	ww_pmbuild_side(b, &as, t);
	b->s.devices = true;
	b->s.cpus |= off;
	b->s.slept_mark |= !off && !b->s.phase_failed;
	ww_pmbuild_cpu_end(b, off ? WW_PM_CPU_ON : WW_PM_CPU_OFF);
	if (!b->s.open[phase]) {
		s = ww_pmbuild_add_span(b, phase, off ? WW_PM_V_SUSPEND : WW_PM_V_RESUME);
		if (s == NULL)
			return;
		b->s.open[phase] = b->w->spans;
		b->s.cpu_other = 0;
		if (t != WW_NO_TIME)
			s->start_ns = t;
	}
	/* No device is called while processors come on, and one alone has none to come. */
	b->s.at = begins && off ? phase : ww_pm_phase_after(phase);
	s = &b->w->span[b->s.open[phase] - 1];
	if (begins) {
		b->s.cpu_from_ns = t;
		b->s.cpu_other = e->count >= 0 ? 0 : b->s.cpu_other;
		return;
	}
	if (e->kind == WW_PMEV_ABORT || e->kind == WW_PMEV_FAIL) {
		s->failed = 1;
		if (off && b->s.side == WW_PM_DOWN) {
			ww_pmbuild_failed(b, phase);
			if (b->w->c.reason.error == 0)
				b->w->c.reason.error = e->err;
			if (b->w->c.reason.text[0] == '\0')
				b->w->c.reason.text = ww_pm_str(b->w, in->message);
		} else {
			ww_note(&b->w->errors, "%s", ww_pm_str(b->w, in->message));
		}
		return;
	}
	cpu_row(b, phase, e->count, b->s.cpu_from_ns, t);
	if (t != WW_NO_TIME) {
		s->end_ns = t;
		b->s.cpu_from_ns = t;
	}
	ww_pmbuild_settle(b, s);
}
