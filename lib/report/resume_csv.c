/* SPDX-License-Identifier: MIT */
/* Cycles of suspend and resume as CSV (RFC 4180): a line each, units in the heads. */
#include "report/kernlog.h"
#include "report/length.h"
#include "report/resume.h"

#include <math.h>

static void head(struct ww_str *s)
{
	ww_str_add(s, "cycle,result,reason,mode,warmup");
	for (int e = 0; e < WW_EV_COUNT; e++)
		ww_str_addf(s, ",%s_lo_s,%s_hi_s", ww_event_name(e), ww_event_name(e));
	for (int l = 0; l < WW_LAT_COUNT; l++)
		ww_str_addf(s, ",%s_lo_ms,%s_hi_ms", ww_latency_name(l), ww_latency_name(l));
	ww_str_add(s, ",starved,starved_longest_ms,energy_J,energy_u_J,asleep_W,asleep_u_W,"
		      "kernel_result,kernel_reason,kernel_suspend_ms,kernel_resume_ms,"
		      "kernel_slept_ms,kernel_suspend_corrected_ms,kernel_resume_corrected_ms,"
		      "kernel_slowest,kernel_slowest_ms\n");
}

static void ends(struct ww_str *s, struct ww_interval t, int64_t zero, int digits)
{
	ww_str_add(s, ",");
	if (ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN)
		ww_str_decimal(s, t.lo_ns - zero, digits);
	ww_str_add(s, ",");
	if (ww_iv_ok(t) && t.hi_ns != WW_TIME_MAX)
		ww_str_decimal(s, t.hi_ns - zero, digits);
}

static void middle(struct ww_str *s, struct ww_interval t)
{
	ww_str_add(s, ",");
	if (ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX)
		ww_str_decimal(s, ww_iv_mid(t), 6);
}

static void quantity(struct ww_str *s, struct ww_quantity q)
{
	int d = ww_decimals_for(q.u, 4) + 1;

	ww_str_add(s, ",");
	if (isfinite(q.value))
		ww_str_fixed(s, q.value, d);
	ww_str_add(s, ",");
	if (isfinite(q.value) && isfinite(q.u))
		ww_str_fixed(s, q.u, d);
}

static void text(struct ww_str *s, const char *t)
{
	ww_str_add(s, ",");
	ww_str_csv(s, t ? t : "");
}

static void starved(struct ww_str *s, const struct ww_cycle *c)
{
	int64_t longest = 0;

	for (size_t i = 0; i < c->stalls; i++)
		if (ww_iv_mid(c->stall[i].length) > longest)
			longest = ww_iv_mid(c->stall[i].length);
	ww_str_addf(s, ",%llu,", (unsigned long long)c->stalls);
	if (c->stalls)
		ww_str_decimal(s, longest, 6);
}

static void kernel(struct ww_str *s, const struct ww_pm_cycle *c)
{
	const struct ww_pm_device *d;
	struct ww_str why = {0}, name = {0};

	if (!c) {
		ww_str_add(s, ",,,,,,,,,");
		return;
	}
	d = ww_pm_slowest(c);
	ww_pm_why(&why, c);
	if (d)
		ww_str_addf(&name, "%s%s%s %s", d->driver, *d->driver ? " " : "", d->name,
			    d->phase > 0 ? ww_pm_phase_name(d->phase) : "");
	text(s, ww_pm_result_name(c->result));
	text(s, ww_pm_why_alone(&why));
	middle(s, c->suspend);
	middle(s, c->resume);
	middle(s, c->slept);
	middle(s, c->suspend_corrected);
	middle(s, c->resume_corrected);
	text(s, name.n ? name.p : "");
	middle(s, d ? d->length : WW_INTERVAL_NONE);
	s->bad = s->bad || why.bad || name.bad;
	ww_str_free(&why);
	ww_str_free(&name);
}

void ww_resume_csv(struct ww_str *s, const struct ww_resume *r)
{
	head(s);
	for (size_t i = 0; i < r->cycles; i++) {
		const struct ww_cycle *c = &r->cycle[i].c;

		ww_str_addf(s, "%u", (unsigned)c->n);
		text(s, ww_result_name(c->result));
		text(s, c->reason);
		text(s, c->mode == WW_PM_MODE_UNKNOWN ? "" : ww_pm_mode_name(c->mode));
		ww_str_addf(s, ",%d", c->warmup != 0);
		for (int e = 0; e < WW_EV_COUNT; e++)
			ends(s, c->event[e], r->span.lo_ns, 9);
		for (int l = 0; l < WW_LAT_COUNT; l++)
			ends(s, c->latency[l], 0, 6);
		starved(s, c);
		quantity(s, c->energy_J);
		quantity(s, c->asleep_watts);
		kernel(s, ww_resume_kernel(r, i));
		ww_str_add(s, "\n");
	}
}
