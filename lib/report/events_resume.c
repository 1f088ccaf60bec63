/* SPDX-License-Identifier: MIT */
/* Cycles of a recording as Trace Event JSON: seen from outside, by the kernel, and in watts. */
#include "analysis/resume.h"
#include "report/events.h"
#include "report/events_series.h"
#include "report/length.h"
#include "report/page.h"

#define FLUSH_BYTES (64u * 1024)
#define OUTSIDE	    1
#define KERNEL	    2
/* Around a cycle, so that one sees what it comes from. */
#define BEFORE_NS (WW_NS_PER_S / 2)
#define AFTER_NS  WW_NS_PER_S

enum { T_CYCLES = 1, T_LATENCIES, T_EVENTS, T_STARVED, T_LINES };

/* Lengths that follow each other in time, and where each begins. */
static const struct {
	int latency, from;
} parts[] = {
	{WW_LAT_SUSPEND_ENTRY, WW_EV_REQUEST}, {WW_LAT_ASLEEP, WW_EV_LAST_BEAT},
	{WW_LAT_FIRMWARE, WW_EV_WAKE},	       {WW_LAT_KERNEL, WW_EV_HANDOFF},
	{WW_LAT_RESUME_TO_USER, WW_EV_WAKE},   {WW_LAT_RESUME_TO_STEADY, WW_EV_WAKE},
};

static bool bounded(struct ww_interval t)
{
	return ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX;
}

/* From the first of its events to the last, widened. */
static bool window(const struct ww_cycle *c, struct ww_interval *out)
{
	*out = (struct ww_interval){WW_TIME_MAX, WW_TIME_MIN};
	for (int e = 0; e < WW_EV_COUNT; e++) {
		if (!bounded(c->event[e]))
			continue;
		out->lo_ns = c->event[e].lo_ns < out->lo_ns ? c->event[e].lo_ns : out->lo_ns;
		out->hi_ns = c->event[e].hi_ns > out->hi_ns ? c->event[e].hi_ns : out->hi_ns;
	}
	return ww_iv_ok(*out);
}

static void put_cycle(struct ww_events *e, const struct ww_cycle *c, struct ww_interval w,
		      int64_t zero)
{
	struct ww_json *j = &e->j;
	struct ww_str name = {0};

	ww_str_addf(&name, "cycle %u: %s", (unsigned)c->n, ww_result_name(c->result));
	e->out.s.bad = e->out.s.bad || name.bad;
	if (name.bad)
		return;
	ww_events_slice(e, OUTSIDE, T_CYCLES, "cycle", name.p, w.lo_ns - zero, w.hi_ns - w.lo_ns);
	ww_json_open(j, "args", '{');
	if (*c->reason)
		ww_json_text(j, "reason", c->reason);
	ww_json_trimmed(j, "energy_J", c->energy_J.value, 6);
	ww_json_trimmed(j, "asleep_W", c->asleep_watts.value, 6);
	ww_json_close(j, '}');
	ww_json_close(j, '}');
	ww_str_free(&name);
}

static void bounds(struct ww_json *j, struct ww_interval t)
{
	ww_json_open(j, "args", '{');
	ww_json_decimal(j, "lo_ms", t.lo_ns, 6);
	ww_json_decimal(j, "hi_ms", t.hi_ns, 6);
	ww_json_close(j, '}');
}

/* Each where its middle is; what holds it surely stands in its arguments. */
static void put_events(struct ww_events *e, const struct ww_cycle *c, int64_t zero)
{
	int order[WW_EV_COUNT], n = 0;

	for (int i = 0; i < WW_EV_COUNT; i++) {
		int at = n;

		if (!bounded(c->event[i]))
			continue;
		for (; at && ww_iv_mid(c->event[order[at - 1]]) > ww_iv_mid(c->event[i]); at--)
			order[at] = order[at - 1];
		order[at] = i;
		n++;
	}
	for (int k = 0; k < n; k++) {
		int i = order[k];
		struct ww_interval t = {c->event[i].lo_ns - zero, c->event[i].hi_ns - zero};

		ww_events_slice(e, OUTSIDE, T_EVENTS, "event", ww_event_name(i), ww_iv_mid(t), -1);
		bounds(&e->j, t);
		ww_json_close(&e->j, '}');
	}
}

static void put_latencies(struct ww_events *e, const struct ww_cycle *c, int64_t zero)
{
	struct ww_events_lane lane = {0};

	for (size_t i = 0; i < WW_COUNTOF(parts); i++) {
		struct ww_interval t = c->latency[parts[i].latency], from = c->event[parts[i].from];
		int64_t ns;

		if (parts[i].latency == WW_LAT_ASLEEP && ww_iv_ok(c->event[WW_EV_OFF]))
			from = c->event[WW_EV_OFF];
		if (!bounded(t) || !bounded(from) || ww_iv_mid(t) < 0)
			continue;
		ns = ww_iv_mid(from) - zero;
		if (!ww_events_fits(&lane, ns, ns + ww_iv_mid(t)))
			continue;
		ww_events_slice(e, OUTSIDE, T_LATENCIES, "latency",
				ww_latency_name(parts[i].latency), ns, ww_iv_mid(t));
		bounds(&e->j, t);
		ww_json_close(&e->j, '}');
	}
	for (size_t i = 0; i < c->stalls; i++) {
		if (!bounded(c->stall[i].t) || !bounded(c->stall[i].length))
			continue;
		ww_events_slice(e, OUTSIDE, T_STARVED, "starvation", "starved",
				ww_iv_mid(c->stall[i].t) - zero, ww_iv_mid(c->stall[i].length));
		bounds(&e->j, c->stall[i].length);
		ww_json_close(&e->j, '}');
	}
}

/* ---- the kernel's view ---- */

struct place {
	const struct ww_resume *r;
	const struct ww_pm_cycle *pm;
	size_t i;
	int64_t zero;
};

/* By the alignment; without one from where the recording saw it begin. */
static bool on_bench(void *arg, int64_t kernel_ns, int64_t *ns)
{
	const struct place *p = arg;
	struct ww_interval t;

	if (ww_resume_kernel_time(p->r, p->i, kernel_ns, &t) == 0 && bounded(t)) {
		*ns = ww_iv_mid(t) - p->zero;
		return true;
	}
	if (!bounded(p->pm->bench_begin) || p->pm->t.lo_ns == WW_TIME_MIN)
		return false;
	*ns = ww_iv_mid(p->pm->bench_begin) - p->zero + (kernel_ns - p->pm->t.lo_ns);
	return true;
}

static void put_kernel(struct ww_events *e, const struct ww_resume *r, size_t i)
{
	struct place p = {r, ww_resume_kernel(r, i), i, r->span.lo_ns};

	if (!p.pm)
		return;
	e->clock = on_bench;
	e->arg = &p;
	ww_events_cycle(e, p.pm);
	e->clock = NULL;
	e->arg = NULL;
}

/* ---- all ---- */

static void names(struct ww_events *e)
{
	ww_events_name(e, OUTSIDE, 0, "seen from outside");
	ww_events_name(e, OUTSIDE, T_CYCLES, "cycles");
	ww_events_name(e, OUTSIDE, T_LATENCIES, "latencies");
	ww_events_name(e, OUTSIDE, T_EVENTS, "events");
	ww_events_name(e, OUTSIDE, T_STARVED, "starvation");
}

static int put_all(struct ww_events *e, const struct ww_resume *r, struct ww_trace *t,
		   struct ww_error *err)
{
	struct ww_events_series s = {.e = e,
				     .t = t,
				     .pid = OUTSIDE,
				     .thread = T_LINES,
				     .zero = r->span.lo_ns,
				     .cycles = r->cycles,
				     .beats = r->port};
	int64_t until = WW_TIME_MIN;
	int rc = 0;

	names(e);
	for (size_t i = 0; i < r->cycles && rc >= 0; i++) {
		const struct ww_cycle *c = &r->cycle[i].c;
		struct ww_interval w;

		put_kernel(e, r, i);
		if (!window(c, &w))
			continue;
		put_cycle(e, c, w, r->span.lo_ns);
		put_events(e, c, r->span.lo_ns);
		put_latencies(e, c, r->span.lo_ns);
		w.lo_ns = ww_add_sat(w.lo_ns, -BEFORE_NS);
		w.hi_ns = ww_add_sat(w.hi_ns, AFTER_NS);
		w.lo_ns = ww_events_bin(w.lo_ns, r->span.lo_ns);
		w.hi_ns = ww_events_bin(w.hi_ns, r->span.lo_ns);
		/* A stretch between two cycles belongs to one of them. */
		w.lo_ns = w.lo_ns < until ? until : w.lo_ns;
		if (t && w.lo_ns < w.hi_ns)
			rc = ww_events_series(&s, w, err);
		until = w.hi_ns > until ? w.hi_ns : until;
		if (rc >= 0)
			rc = ww_sink_flush(&e->out, FLUSH_BYTES, err);
	}
	return rc;
}

static int resume_events(const struct ww_resume *r, struct ww_trace *t, int fd,
			 struct ww_error *err)
{
	struct ww_events e;
	int rc;

	ww_events_open(&e, fd);
	e.pid = e.first_pid = KERNEL;
	rc = put_all(&e, r, t, err);
	if (rc >= 0)
		return ww_events_close(&e, NULL, err);
	ww_str_free(&e.out.s);
	return rc;
}

int ww_resume_page(const struct ww_resume *r, struct ww_trace *t, int form,
		   const struct ww_page_options *opt, int fd, struct ww_error *err)
{
	int rc = WW_OPT_CHECK(opt, err);

	if (rc < 0)
		return rc;
	if (form == WW_REPORT_HTML)
		return ww_page_resume(r, t, opt, fd, err);
	if (form == WW_REPORT_TRACE_EVENTS)
		return resume_events(r, t, fd, err);
	return ww_fail(err, -EINVAL, "report form %d is no page", form);
}
