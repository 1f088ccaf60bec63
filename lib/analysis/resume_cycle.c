/* SPDX-License-Identifier: MIT */
/* One cycle: its events and its latencies. Pure. */
#include "analysis/resume.h"

#define EV(out, e) ((out)->c.event[WW_EV_##e])

static bool seen(struct ww_interval t)
{
	return ww_iv_ok(t);
}

/* The mode that decides what a plain byte proves. */
static bool at_most_one_waits(const struct ww_scan *s)
{
	return s->mode == WW_BEAT_DRAIN || s->mode == WW_BEAT_REOPEN || s->line_idles;
}

static size_t beat_of(const struct ww_window *w, size_t byte)
{
	size_t lo = 0, hi = w->beats;

	while (lo < hi) {
		size_t m = lo + (hi - lo) / 2;

		if (w->beat[m].at < byte)
			lo = m + 1;
		else
			hi = m;
	}
	return lo;
}

/*
 * Plain. Where nothing can wait but one write, the first byte after as many bytes was
 * surely written after the thaw, and user space ran by then. In a stream the
 * first byte too many for the buffers bounds it from above only.
 */
static void plain_first(const struct ww_scan *s, const struct ww_window *w,
			const struct ww_silence *si, struct ww_cycle_out *out, size_t *u0)
{
	size_t u = beat_of(w, si->uart), late = u + WW_TTY_BUFFER + WW_TTY_FIFO;
	size_t unit = s->unit ? s->unit : 1;

	*u0 = u;
	if (u >= w->beats)
		return;
	if (at_most_one_waits(s)) {
		struct ww_interval a = ww_window_t(w, si->uart);

		if (u + unit < w->beats)
			a.hi_ns = w->hi[w->beat[u + unit].at];
		else
			a.hi_ns = WW_TIME_MAX;
		EV(out, FIRST_BEAT) = a;
		return;
	}
	out->only_uart = true;
	if (late < w->beats)
		out->user_by_ns = w->hi[w->beat[late].at] - w->lo[si->uart];
}

/*
 * When the first new beat was written at the earliest. Whenever a beat was written, the
 * byte that a full buffer would hold before it had left already; the stamps tell how
 * long before that beat the first one was written.
 */
static int64_t written_after(const struct ww_scan *s, const struct ww_window *w,
			     const struct ww_silence *si)
{
	int64_t best = w->lo[si->uart];

	for (size_t k = si->first; k < w->beats; k++) {
		const struct ww_rbeat *a = &w->beat[si->first], *b = &w->beat[k];
		int64_t since = (b->mono_us - a->mono_us + b->sleep_us - a->sleep_us) * 1000;
		size_t at = b->at + b->len;

		if (since < 0 || since > WW_NS_PER_S)
			break;
		at = at > s->ahead + WW_TTY_FIFO ? at - s->ahead - WW_TTY_FIFO : 0;
		/* No quartz is off by more than 500 ppm. */
		since += since / 2000 + 1000;
		if (at > si->uart && w->lo[at] - since > best)
			best = w->lo[at] - since;
	}
	return best;
}

/*
 * Stamped. Behind old beats on a line that did not fall idle the first new beat had
 * to queue: user space ran before it came, but after the UART was back.
 */
static void stamped_first(const struct ww_scan *s, const struct ww_window *w,
			  const struct ww_silence *si, struct ww_cycle_out *out)
{
	size_t at = w->beat[si->first].at;
	struct ww_interval t = ww_window_t(w, at);
	int64_t idle = 2 * s->char_ns + s->cadence.width_ns;

	if (si->uart < at && at > 0) {
		int64_t wire = ww_iv_mid(t) - ww_iv_mid(ww_window_t(w, at - 1)), lo;

		if (idle < s->cadence.median_ns)
			idle = s->cadence.median_ns;
		if (wire <= idle) {
			lo = written_after(s, w, si);
			out->queued = true;
			t.lo_ns = lo < t.lo_ns ? lo : t.lo_ns;
		}
	}
	EV(out, FIRST_BEAT) = t;
}

/* Firmware and a kernel that starts have the line to themselves. */
static uint64_t said(const struct ww_window *w, const struct ww_silence *si)
{
	uint64_t n = 0;

	for (size_t i = si->last; i < w->n && i < si->uart; i++)
		n += w->cls[i] == WW_CL_TEXT;
	return n;
}

static int text_events(const struct ww_window *w, const struct ww_cycle_in *in,
		       const struct ww_silence *si, const void *regex, struct ww_cycle_out *out,
		       struct ww_error *err)
{
	struct ww_interval fw, hand, *firmware = &EV(out, FIRMWARE), *handoff = &EV(out, HANDOFF);
	int64_t until_ns = in->to_ns;
	int rc;

	if (si->last == SIZE_MAX)
		return 0;
	if (si->uart != SIZE_MAX)
		until_ns = w->hi[si->uart];
	rc = ww_text_events(w, si->last, si->uart, until_ns, &EV(out, WAKE), regex, firmware,
			    handoff, err);
	if (rc >= 0 && in->console) {
		size_t from = 0;

		while (from + 1 < in->console->n && in->console->hi[from + 1] < w->lo[si->last])
			from++;
		rc = ww_text_events(in->console, from, SIZE_MAX, until_ns, &EV(out, WAKE), regex,
				    &fw, &hand, err);
		if (rc >= 0 && seen(fw) && (!seen(*firmware) || fw.lo_ns < firmware->lo_ns))
			*firmware = fw;
		if (rc >= 0 && seen(hand) && (!seen(*handoff) || hand.lo_ns > handoff->lo_ns))
			*handoff = hand;
	}
	/* A command that is slow to end: the boot loader's first byte ends the doubt too. */
	if (!out->wake_line && seen(*firmware) && EV(out, WAKE).hi_ns > firmware->hi_ns)
		EV(out, WAKE).hi_ns = firmware->hi_ns;
	out->text_no_hand = seen(*firmware) && !seen(*handoff);
	return rc;
}

static int64_t back_by(const struct ww_window *w, const struct ww_cycle_in *in,
		       const struct ww_silence *si)
{
	return si->uart != SIZE_MAX ? w->hi[si->uart] : in->to_ns;
}

/* Lines know best; else the wake command ran from wake to wake-end. */
static void wake_event(const struct ww_window *w, const struct ww_cycle_in *in,
		       const struct ww_silence *si, struct ww_cycle_out *out)
{
	int64_t last = si->last == SIZE_MAX ? WW_TIME_MIN : w->lo[si->last];
	int64_t from = seen(in->request) && in->request.lo_ns < last ? in->request.lo_ns : last;
	int64_t to = back_by(w, in, si);
	struct ww_interval t, off;

	if (si->kind == WW_SIL_NONE)
		return;
	ww_cycle_lines(in, from, last, to, &off, &t, out);
	out->wake_line = seen(t);
	if (!seen(t) && seen(in->wake)) {
		t = in->wake;
		t.hi_ns = seen(in->wake_end) ? in->wake_end.hi_ns : WW_TIME_MAX;
		/* What the DUT sent ends the doubt. */
		if (si->uart != SIZE_MAX && w->hi[si->uart] < t.hi_ns && w->hi[si->uart] >= t.lo_ns)
			t.hi_ns = w->hi[si->uart];
	}
	EV(out, OFF) = off;
	EV(out, WAKE) = t;
}

/* Differences of events; what was not observed at both ends is not given. */
void ww_cycle_latencies(const struct ww_scan *s, struct ww_cycle_out *out)
{
	struct ww_interval *l = out->c.latency, *e = out->c.event;
	bool back = out->c.result != WW_RES_EARLY && out->c.result != WW_RES_REFUSED &&
		    out->c.result != WW_RES_ABORTED;
	struct ww_interval from = seen(e[WW_EV_OFF]) ? e[WW_EV_OFF] : e[WW_EV_LAST_BEAT];
	struct ww_interval wake = back ? e[WW_EV_WAKE] : WW_INTERVAL_NONE;

	if (out->control && !seen(from))
		from = out->silent;

	l[WW_LAT_SUSPEND_ENTRY] = ww_iv_since(e[WW_EV_LAST_BEAT], e[WW_EV_REQUEST]);
	l[WW_LAT_ASLEEP] = ww_iv_since(wake, from);
	l[WW_LAT_FIRMWARE] = ww_iv_since(e[WW_EV_HANDOFF], wake);
	out->bound_only = 0;
	/* Without it the wake still lies between the silence's start and the first text. */
	if (!seen(wake) && seen(e[WW_EV_HANDOFF]) && seen(from) && back) {
		l[WW_LAT_FIRMWARE] =
			(struct ww_interval){e[WW_EV_HANDOFF].lo_ns - e[WW_EV_FIRMWARE].hi_ns,
					     e[WW_EV_HANDOFF].hi_ns - from.lo_ns};
		out->bound_only |= 1U << WW_LAT_FIRMWARE;
	}
	l[WW_LAT_KERNEL] = ww_iv_since(e[WW_EV_FIRST_BEAT], e[WW_EV_HANDOFF]);
	l[WW_LAT_RESUME_TO_UART] = ww_iv_since(e[WW_EV_UART], wake);
	l[WW_LAT_RESUME_TO_USER] = ww_iv_since(e[WW_EV_FIRST_BEAT], wake);
	l[WW_LAT_RESUME_TO_STEADY] = ww_iv_since(e[WW_EV_STEADY], wake);
	l[WW_LAT_SILENCE] =
		ww_iv_since(seen(e[WW_EV_FIRST_BEAT]) ? e[WW_EV_FIRST_BEAT] : e[WW_EV_UART],
			    e[WW_EV_LAST_BEAT]);
	if (out->control)
		l[WW_LAT_RESUME_TO_ALIVE] = ww_iv_since(e[WW_EV_ALIVE], wake);
	l[WW_LAT_RESUME_TO_SETTLED] = ww_iv_since(e[WW_EV_SETTLED], wake);
	if (!seen(e[WW_EV_WAKE]) && back)
		l[WW_LAT_ASLEEP_FIRMWARE] = ww_iv_since(e[WW_EV_HANDOFF], from);
	/* The last beat came before the request, and the freeze before the next one was due. */
	if (seen(l[WW_LAT_SUSPEND_ENTRY]) && l[WW_LAT_SUSPEND_ENTRY].hi_ns < 0) {
		l[WW_LAT_SUSPEND_ENTRY].hi_ns += s->cadence.limit_ns;
		out->bound_only |= 1U << WW_LAT_SUSPEND_ENTRY;
	}
	/* Ends that overlap order nothing, but no latency is negative. */
	for (int i = 0; i < WW_LAT_COUNT; i++) {
		if (seen(l[i]) && l[i].hi_ns < 0)
			l[i] = WW_INTERVAL_NONE;
		else if (seen(l[i]) && l[i].lo_ns < 0)
			l[i].lo_ns = 0;
	}
}

struct ww_cycle_out ww_cycle_blank(uint32_t n)
{
	struct ww_cycle_out o = {.c = {.n = n, .reason = "", .energy_why = ""}, .slept_us = -1};

	for (int i = 0; i < WW_EV_COUNT; i++)
		o.c.event[i] = WW_INTERVAL_NONE;
	for (int i = 0; i < WW_LAT_COUNT; i++)
		o.c.latency[i] = WW_INTERVAL_NONE;
	o.c.energy_J = o.c.asleep_watts =
		(struct ww_quantity){__builtin_nan(""), __builtin_nan("")};
	return o;
}

int ww_cycle_judge(const struct ww_scan *s, const struct ww_window *w, const struct ww_cycle_in *in,
		   const void *regex, struct ww_cycle_out *out, struct ww_error *err)
{
	struct ww_silence si;
	size_t u0 = SIZE_MAX;
	int rc;

	*out = ww_cycle_blank(in->n);
	EV(out, REQUEST) = in->request;
	out->c.warmup = in->warmup;
	ww_silence_find(s, w, in, &si);
	out->slept_us = si.slept_us;
	out->awake_us = si.awake_us;
	out->backlog = si.kind == WW_SIL_WIRE;
	out->paid = si.paid;
	memcpy(out->paid_us, si.paid_us, sizeof(out->paid_us));
	if (si.kind != WW_SIL_NONE && si.last != SIZE_MAX)
		EV(out, LAST_BEAT) = ww_window_t(w, si.last);
	if (si.kind != WW_SIL_NONE && si.uart != SIZE_MAX)
		EV(out, UART) = ww_window_t(w, si.uart);
	if (si.kind != WW_SIL_NONE)
		out->said = said(w, &si);
	wake_event(w, in, &si, out);
	rc = si.kind == WW_SIL_NONE ? 0 : text_events(w, in, &si, regex, out, err);
	if (si.first != SIZE_MAX) {
		stamped_first(s, w, &si, out);
		u0 = si.first;
	} else if (!s->stamped && si.uart != SIZE_MAX && si.kind == WW_SIL_PLAIN) {
		plain_first(s, w, &si, out, &u0);
	}
	if (rc >= 0 && u0 < w->beats && si.kind != WW_SIL_NONE)
		rc = ww_cadence_after(s, w, u0, out, err);
	out->c.stall = out->stall;
	out->c.result = ww_cycle_result(s, w, in, &si, out);
	if (out->lost)
		EV(out, FIRST_BEAT) = EV(out, UART) = EV(out, STEADY) = WW_INTERVAL_NONE;
	ww_cycle_latencies(s, out);
	if (rc >= 0 && out->reason.bad)
		rc = ww_fail_nomem(err);
	out->c.reason = out->reason.p ? out->reason.p : "";
	if (rc < 0)
		ww_cycle_out_free(out);
	return rc < 0 ? rc : 0;
}

void ww_cycle_out_free(struct ww_cycle_out *o)
{
	ww_str_free(&o->reason);
	free(o->stall);
	for (size_t i = 0; i < o->told_n; i++) {
		free(o->told[i].key);
		free(o->told[i].value);
	}
	free(o->told);
	o->told = NULL;
	o->told_n = o->told_cap = 0;
	free(o->power);
	o->power = NULL;
	o->powers = 0;
	o->stall = NULL;
	o->c.stall = NULL;
	o->c.stalls = 0;
	o->c.reason = "";
}
