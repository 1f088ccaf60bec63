/* SPDX-License-Identifier: MIT */
/* Which cycles are a sample of which latency, and all of them summarised. */
#include "analysis/resume.h"
#include "base/stats.h"

static bool counts_as_failure(const struct ww_cycle_out *o, int latency)
{
	bool never = o->c.result == WW_RES_HUNG || o->c.result == WW_RES_RESET;

	switch (latency) {
	case WW_LAT_SUSPEND_ENTRY:
		return o->c.result == WW_RES_REFUSED || o->c.result == WW_RES_ABORTED;
	case WW_LAT_KERNEL:
		return never && ww_iv_ok(o->c.event[WW_EV_HANDOFF]);
	case WW_LAT_RESUME_TO_UART:
		return !o->control && never && ww_iv_ok(o->c.event[WW_EV_WAKE]) &&
		       !ww_iv_ok(o->c.event[WW_EV_UART]);
	case WW_LAT_RESUME_TO_SETTLED:
		return never && o->settles && ww_iv_ok(o->c.event[WW_EV_WAKE]);
	case WW_LAT_RESUME_TO_ALIVE:
		return o->control && never && ww_iv_ok(o->c.event[WW_EV_WAKE]);
	case WW_LAT_RESUME_TO_USER:
	case WW_LAT_RESUME_TO_STEADY:
		return !o->control && never && ww_iv_ok(o->c.event[WW_EV_WAKE]);
	case WW_LAT_SILENCE:
		return !o->control && never;
	default:
		return false;
	}
}

/*
 * Cycles that woke, but not from the sleep that was asked for, are no sample. Of the way
 * into silence each is one, whatever came of it.
 */
static bool sample(const struct ww_cycle_out *o, int latency)
{
	int r = o->c.result;

	if (!ww_iv_ok(o->c.latency[latency]) || counts_as_failure(o, latency))
		return false;
	if (latency == WW_LAT_SUSPEND_ENTRY)
		return r != WW_RES_UNKNOWN;
	return r == WW_RES_OK || r == WW_RES_PM_TEST;
}

int ww_resume_kind_of(const struct ww_cycle_out *o, int latency)
{
	if (o->c.warmup)
		return WW_KIND_NONE;
	if (counts_as_failure(o, latency))
		return WW_KIND_NEVER;
	if (!sample(o, latency))
		return WW_KIND_NONE;
	return o->bound_only >> latency & 1 ? WW_KIND_BOUND : WW_KIND_VALUE;
}

int ww_resume_summarise(struct ww_resume *r, struct ww_error *err)
{
	struct ww_interval *v = calloc(r->cycles + 1, sizeof(*v));
	uint64_t bad = 0, judged = 0;
	int rc = 0;

	if (!v)
		return ww_fail_nomem(err);
	for (int l = 0; l < WW_LAT_COUNT && rc >= 0; l++) {
		uint64_t failures = 0;
		size_t n = 0;

		for (size_t i = 0; i < r->cycles; i++) {
			int kind = ww_resume_kind_of(&r->cycle[i], l);

			failures += kind == WW_KIND_NEVER;
			if (kind == WW_KIND_VALUE)
				v[n++] = r->cycle[i].c.latency[l];
		}
		rc = ww_latency_summarise(v, n, failures, &r->summary[l], err);
		for (size_t i = 0; i < r->cycles && rc >= 0; i++)
			if (ww_resume_kind_of(&r->cycle[i], l) == WW_KIND_BOUND)
				ww_latency_bound(r->cycle[i].c.latency[l], &r->summary[l]);
	}
	free(v);
	for (size_t i = 0; i < r->cycles; i++) {
		int result = r->cycle[i].c.result;

		if (r->cycle[i].c.warmup) {
			r->warmups++;
			continue;
		}
		r->results[result]++;
		judged += result != WW_RES_UNKNOWN;
		bad += result != WW_RES_UNKNOWN && result != WW_RES_OK && result != WW_RES_PM_TEST;
	}
	ww_clopper_pearson((int64_t)bad, (int64_t)judged, .95, &r->fail_ci[0], &r->fail_ci[1]);
	return rc;
}
