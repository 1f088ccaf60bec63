/* SPDX-License-Identifier: MIT */
/* Cycles of recordings and of kernel logs into a set. */
#include "analysis/cycleset.h"
#include "analysis/resume.h"
#include "base/str.h"

#include <math.h>

/* Which part of a suspend a figure is of, "resume_noirq" or, of a hibernation, "resume (thaw)". */
static void phase_name(struct ww_str *s, int phase, int verb)
{
	const char *name = ww_pm_phase_name(phase), *of = ww_pm_verb_name(verb);

	ww_str_reset(s);
	ww_str_add(s, name ? name : "");
	if (of && verb != WW_PM_NO_VERB && verb != WW_PM_V_SUSPEND && verb != WW_PM_V_RESUME)
		ww_str_addf(s, " (%s)", of);
}

static double mid_ms(struct ww_interval t)
{
	return ww_iv_ok(t) ? (double)ww_iv_mid(t) / 1e6 : NAN;
}

/* An end that is open tells nothing of the width. */
static double half_ms(struct ww_interval t, double res_ns)
{
	double half = ((double)t.hi_ns - (double)t.lo_ns) / 2e6;

	return fmax(half, isnan(res_ns) ? 0 : res_ns / 2e6);
}

static bool bounded(struct ww_interval t)
{
	return ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX;
}

/* What is left without the console's cost, where that is known. */
static struct ww_interval best(struct ww_interval corrected, struct ww_interval length)
{
	return bounded(corrected) ? corrected : length;
}

struct adding {
	struct ww_cycleset *set;
	const struct ww_pm_cycle *c;
	struct ww_str name, phase;
	struct ww_error *err;
};

static int put_kernel(struct adding *a, const char *name, struct ww_interval t, bool never)
{
	struct ww_metric_key key = {.name = name, .kind = "kernel", .unit = "ms"};

	if (never)
		return ww_cycleset_put(a->set, &key, INFINITY, NAN, NAN, a->err);
	if (!bounded(t))
		return 0;
	return ww_cycleset_put(a->set, &key, mid_ms(t), half_ms(t, a->c->stamp_res_ns), NAN,
			       a->err);
}

static int put_span(struct adding *a, const struct ww_pm_span *p)
{
	struct ww_metric_key key = {.kind = "phase", .unit = "ms"};
	struct ww_interval t = best(p->corrected, p->length);

	if (p->nested || p->failed || !bounded(t) || p->phase == WW_PM_NO_PHASE)
		return 0;
	phase_name(&a->phase, p->phase, p->verb);
	ww_str_reset(&a->name);
	ww_str_addf(&a->name, "phase %s", a->phase.p);
	if (a->name.bad || a->phase.bad)
		return ww_fail_nomem(a->err);
	key.name = a->name.p;
	key.phase = a->phase.p;
	return ww_cycleset_put(a->set, &key, mid_ms(t), half_ms(t, a->c->stamp_res_ns), NAN,
			       a->err);
}

static int put_device(struct adding *a, const struct ww_pm_device *d)
{
	struct ww_metric_key key = {.kind = "device", .unit = "ms"};
	struct ww_interval t = best(d->corrected, d->length);

	if (!bounded(t))
		return 0;
	phase_name(&a->phase, d->phase, d->verb);
	ww_str_reset(&a->name);
	ww_str_addf(&a->name, "device %s", d->name);
	if (*d->driver)
		ww_str_addf(&a->name, " %s", d->driver);
	if (a->phase.n)
		ww_str_addf(&a->name, " %s", a->phase.p);
	if (a->name.bad || a->phase.bad)
		return ww_fail_nomem(a->err);
	key.name = a->name.p;
	key.device = d->name;
	key.driver = d->driver;
	key.func = d->func;
	key.phase = a->phase.p;
	return ww_cycleset_put(a->set, &key, mid_ms(t), half_ms(t, a->c->stamp_res_ns),
			       d->critical ? (double)d->critical_ns / 1e6 : 0, a->err);
}

/* What is a time of its own; gaps and jumps are findings about the log. */
static int put_other(struct adding *a, const struct ww_pm_other *o)
{
	struct ww_metric_key key = {.kind = "other", .unit = "ms"};

	if (!bounded(o->length) || *o->before || *o->after || strstr(o->what, "gap") ||
	    strstr(o->what, "jump") || strstr(o->what, "attempt"))
		return 0;
	ww_str_reset(&a->name);
	ww_str_addf(&a->name, "other %s", o->what);
	if (a->name.bad)
		return ww_fail_nomem(a->err);
	key.name = a->name.p;
	return ww_cycleset_put(a->set, &key, mid_ms(o->length),
			       half_ms(o->length, a->c->stamp_res_ns), NAN, a->err);
}

static int put_parts(struct adding *a)
{
	const struct ww_pm_cycle *c = a->c;
	int rc = 0;

	for (size_t i = 0; i < c->spans && rc >= 0; i++)
		rc = put_span(a, &c->span[i]);
	for (size_t i = 0; i < c->devices && rc >= 0; i++)
		rc = put_device(a, &c->device[i]);
	for (size_t i = 0; i < c->others && rc >= 0; i++)
		rc = put_other(a, &c->other[i]);
	return rc;
}

static int put_whole(struct adding *a, bool gave_up, bool never)
{
	const struct ww_pm_cycle *c = a->c;
	bool whole = c->result != WW_PM_TRUNCATED;
	int rc = put_kernel(a, "kernel suspend", best(c->suspend_corrected, c->suspend), gave_up);

	if (rc >= 0 && !gave_up)
		rc = put_kernel(a, "kernel resume", best(c->resume_corrected, c->resume), never);
	if (rc >= 0 && whole && !gave_up && !never)
		rc = put_kernel(a, "network back", c->network, false);
	if (rc >= 0 && whole && !gave_up && !never)
		rc = put_kernel(a, "storage back", c->storage, false);
	if (rc >= 0)
		rc = put_kernel(a, "firmware resume", c->firmware_resume, false);
	return rc;
}

/*
 * A cycle that was given up never slept: its suspend never ended, and what it rolled back is no
 * resume. One that did not come back has no resume that ended.
 */
static int put_pm(struct ww_cycleset *s, const struct ww_pm_cycle *c, struct ww_error *err)
{
	struct adding a = {.set = s, .c = c, .err = err};
	bool gave_up = c->result == WW_PM_FAILED || c->result == WW_PM_ABORTED;
	bool never = c->result == WW_PM_RESET || c->result == WW_PM_HUNG;
	int rc = put_whole(&a, gave_up, never);

	if (rc >= 0 && !gave_up)
		rc = put_parts(&a);
	ww_str_free(&a.name);
	ww_str_free(&a.phase);
	return rc;
}

static enum ww_set_outcome outcome_pm(int result)
{
	switch (result) {
	case WW_PM_OK:
	case WW_PM_TEST:
		return WW_SET_OK;
	case WW_PM_TRUNCATED:
		return WW_SET_UNKNOWN;
	default:
		return WW_SET_FAILED;
	}
}

int ww_cycleset_add_kernlog(struct ww_cycleset *s, struct ww_kernlog *k, struct ww_error *err)
{
	const struct ww_pm_cycle *c;
	const char *note;
	int rc;

	while ((rc = ww_kernlog_next(k, &c, err)) > 0) {
		rc = ww_cycleset_cycle(s, outcome_pm(c->result), err);
		if (rc >= 0)
			rc = put_pm(s, c, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; (note = ww_kernlog_note(k, i)); i++)
		ww_note(&s->notes, "%s", note);
	if (rc == 0 && s->notes.bad)
		rc = ww_fail_nomem(err);
	return rc;
}

static enum ww_set_outcome outcome_resume(int result)
{
	switch (result) {
	case WW_RES_OK:
	case WW_RES_PM_TEST:
		return WW_SET_OK;
	case WW_RES_UNKNOWN:
		return WW_SET_UNKNOWN;
	default:
		return WW_SET_FAILED;
	}
}

/* Lengths of the sleep itself are the bench's choice. */
static bool chosen(int latency)
{
	return latency == WW_LAT_ASLEEP || latency == WW_LAT_DUT_ASLEEP ||
	       latency == WW_LAT_ASLEEP_FIRMWARE || latency == WW_LAT_SILENCE;
}

static int put_latencies(struct ww_cycleset *s, const struct ww_cycle_out *o, struct ww_error *err)
{
	int rc = 0;

	for (int l = 0; l < WW_LAT_COUNT && rc >= 0; l++) {
		struct ww_metric_key key = {.name = ww_latency_name(l),
					    .kind = "latency",
					    .unit = "ms"};
		int kind = chosen(l) ? WW_KIND_NONE : ww_resume_kind_of(o, l);

		if (kind == WW_KIND_NEVER)
			rc = ww_cycleset_put(s, &key, INFINITY, NAN, NAN, err);
		else if (kind == WW_KIND_VALUE && bounded(o->c.latency[l]))
			rc = ww_cycleset_put(s, &key, mid_ms(o->c.latency[l]),
					     half_ms(o->c.latency[l], NAN), NAN, err);
	}
	return rc;
}

static int put_power(struct ww_cycleset *s, const struct ww_cycle *c, struct ww_error *err)
{
	static const struct ww_metric_key energy = {.name = "energy",
						    .kind = "energy",
						    .unit = "J"};
	static const struct ww_metric_key asleep = {.name = "asleep power",
						    .kind = "energy",
						    .unit = "W"};
	int rc;

	if (c->result != WW_RES_OK)
		return 0;
	rc = ww_cycleset_put(s, &energy, c->energy_J.value, 2 * c->energy_J.u, NAN, err);
	if (rc >= 0)
		rc = ww_cycleset_put(s, &asleep, c->asleep_watts.value, 2 * c->asleep_watts.u, NAN,
				     err);
	return rc;
}

int ww_cycleset_add_resume(struct ww_cycleset *s, const struct ww_resume *r, struct ww_error *err)
{
	const char *note;
	int rc = 0;

	for (size_t i = 0; i < r->cycles && rc >= 0; i++) {
		const struct ww_cycle_out *o = &r->cycle[i];
		const struct ww_pm_cycle *k = ww_resume_kernel(r, i);

		if (o->c.warmup)
			continue;
		rc = ww_cycleset_cycle(s, outcome_resume(o->c.result), err);
		if (rc >= 0)
			rc = put_latencies(s, o, err);
		if (rc >= 0)
			rc = put_power(s, &o->c, err);
		if (rc >= 0 && k)
			rc = put_pm(s, k, err);
	}
	for (size_t i = 0; rc >= 0 && (note = ww_resume_note(r, i)); i++)
		ww_note(&s->notes, "%s", note);
	if (rc >= 0 && s->notes.bad)
		rc = ww_fail_nomem(err);
	return rc;
}
