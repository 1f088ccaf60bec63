/* SPDX-License-Identifier: MIT */
/* One cycle: its events, what became of it, its latencies. Pure. */
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

/* First edge from `from` on that does not surely lie behind `to`. */
static struct ww_interval edge(struct ww_edges e, int64_t from, int64_t to)
{
	for (size_t i = 0; i < e.n; i++)
		if (e.t[i].hi_ns >= from)
			return e.t[i].lo_ns <= to ? e.t[i] : WW_INTERVAL_NONE;
	return WW_INTERVAL_NONE;
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
	off = edge(in->off, from, to);
	t = edge(in->woken, last, to);
	if (!seen(off))
		off = edge(in->sleep, from, to);
	/* A sleep indicator falls when the machine sleeps and rises when it wakes. */
	if (!seen(t) && seen(edge(in->sleep, from, to)))
		t = edge(in->sleep, edge(in->sleep, from, to).hi_ns + 1, to);
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

static void say(struct ww_cycle_out *out, const char *text)
{
	if (!text || !*text)
		return;
	if (out->reason.n)
		ww_str_add(&out->reason, "; ");
	ww_str_add(&out->reason, text);
}

static void say_ms(struct ww_cycle_out *out, const char *before, int64_t ns, const char *after)
{
	struct ww_str s = {0};

	ww_str_add(&s, before);
	ww_str_fixed(&s, (double)ns / 1e6, 0);
	ww_str_add(&s, after);
	say(out, s.p);
	out->reason.bad |= s.bad;
	ww_str_free(&s);
}

static bool begins(const char *text, const char *head)
{
	return text && strncmp(text, head, strlen(head)) == 0;
}

static bool command_failed(const struct ww_cycle_in *in)
{
	/* "stopped" is the campaign's own doing: a remote shell that hung, say. */
	return (begins(in->exit_text, "exit ") && !begins(in->exit_text, "exit 0")) ||
	       begins(in->exit_text, "signal");
}

/* The campaign waited for a silence in vain. */
static bool never_silent(const struct ww_cycle_in *in)
{
	return begins(in->end_text, "no silence") || begins(in->end_text, "refused");
}

/* Words of suspend_stats that tell where the last attempt failed. */
static void say_stats(struct ww_cycle_out *out, const char *stats)
{
	const char *dev = stats ? strstr(stats, "last_failed_dev:") : NULL;
	const char *step = stats ? strstr(stats, "last_failed_step:") : NULL;

	if (dev) {
		ww_str_add(&out->reason, out->reason.n ? "; device " : "device ");
		dev += strlen("last_failed_dev:");
		ww_str_addn(&out->reason, dev, strcspn(dev, " "));
	}
	if (step) {
		ww_str_add(&out->reason, out->reason.n ? ", step " : "step ");
		step += strlen("last_failed_step:");
		ww_str_addn(&out->reason, step, strcspn(step, " "));
	}
}

static int refused(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	if (command_failed(in))
		say(out, in->exit_text);
	else if (in->told_refused)
		say(out, "the DUT's kernel counts a failed suspend");
	else
		say(out, "the beat went on as if nothing had been asked");
	if (in->told_refused)
		say_stats(out, in->stats);
	return WW_RES_REFUSED;
}

static int never_back(const struct ww_window *w, const struct ww_cycle_in *in,
		      const struct ww_silence *si, struct ww_cycle_out *out)
{
	bool over = !in->live || seen(in->end);
	bool woken = over && (seen(EV(out, WAKE)) || begins(in->end_text, "timeout"));
	int64_t since = si->last == SIZE_MAX ? 0 : in->to_ns - w->hi[si->last];

	if (si->uart != SIZE_MAX)
		say(out, "its UART sent what was buffered, but user space never came back");
	else if (seen(EV(out, HANDOFF)))
		say(out, "the boot loader handed over, but the kernel never came back");
	else if (seen(EV(out, FIRMWARE)))
		say(out, "firmware spoke, but user space never came back");
	else
		say_ms(out, "no beat for ", since,
		       in->trace_ends ? " ms, to the end of the trace" : " ms");
	if (command_failed(in))
		say(out, in->exit_text);
	if (in->wake_text && !begins(in->wake_text, "exit 0")) {
		ww_str_add(&out->reason, "; wake command: ");
		ww_str_add(&out->reason, in->wake_text);
	}
	if (!over)
		say(out, "the recording goes on");
	return woken ? WW_RES_HUNG : WW_RES_UNKNOWN;
}

static bool before_wake(const struct ww_cycle_in *in, const struct ww_cycle_out *out)
{
	struct ww_interval back = seen(EV(out, UART)) ? EV(out, UART) : EV(out, FIRST_BEAT);

	if (!seen(back))
		return false;
	if (seen(in->wake))
		return back.hi_ns < in->wake.lo_ns;
	return in->others_woken && seen(in->end) && !out->wake_line;
}

static bool testing(const struct ww_cycle_in *in)
{
	const char *sel = in->pm_test ? strchr(in->pm_test, '[') : NULL;

	if (!in->pm_test || !*in->pm_test)
		return false;
	return sel ? !begins(sel, "[none]") : !begins(in->pm_test, "none");
}

static int reset(const struct ww_window *w, const struct ww_silence *si, struct ww_cycle_out *out)
{
	if (si->kind == WW_SIL_RESET && si->first != SIZE_MAX)
		say_ms(out, "the DUT booted anew: its clock stood at ",
		       w->beat[si->first].mono_us * 1000, " ms at the first beat");
	else
		say(out, "the DUT booted anew: it has another boot_id");
	return WW_RES_RESET;
}

/* Nothing slept, but the beat paused. */
static int paused(const struct ww_window *w, const struct ww_cycle_in *in,
		  const struct ww_silence *si, struct ww_cycle_out *out)
{
	const struct ww_rbeat *b = &w->beat[si->first];
	int64_t pause = b->mono_us + b->sleep_us - b[-1].mono_us - b[-1].sleep_us;
	int rc = WW_RES_ABORTED;

	if (command_failed(in) || in->told_refused)
		rc = refused(in, out);
	say_ms(out, "tasks stood still for ", pause * 1000, " ms, and the machine did not sleep");
	return rc;
}

/* Why bytes are missing between the last beat and the first, NULL if none are. */
static const char *bytes_lost(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	struct ww_interval last = EV(out, LAST_BEAT), back = EV(out, UART);

	for (size_t i = 0; seen(last) && i < in->gaps; i++)
		if (in->gap[i].t.hi_ns >= last.lo_ns &&
		    in->gap[i].t.lo_ns <= (seen(back) ? back.hi_ns : in->to_ns)) {
			out->lost = true;
			return in->gap[i].reason;
		}
	return NULL;
}

static int judge(const struct ww_scan *s, const struct ww_window *w, const struct ww_cycle_in *in,
		 const struct ww_silence *si, struct ww_cycle_out *out)
{
	struct ww_interval back = EV(out, UART);
	const char *lost = bytes_lost(in, out);
	bool off = seen(EV(out, OFF));

	if (lost) {
		say(out, "bytes are missing: ");
		ww_str_add(&out->reason, lost);
		return WW_RES_UNKNOWN;
	}
	if (begins(in->end_text, "stopped") && !seen(back)) {
		say(out, "stopped by the user");
		return WW_RES_UNKNOWN;
	}
	if (si->kind == WW_SIL_RESET || (in->booted && si->kind != WW_SIL_NONE))
		return reset(w, si, out);
	if (si->kind == WW_SIL_FOREVER)
		return never_back(w, in, si, out);
	if (si->kind == WW_SIL_NONE) {
		if (!seen(in->request)) {
			say(out, "no silence found");
			return WW_RES_UNKNOWN;
		}
		return refused(in, out);
	}
	if (testing(in)) {
		say(out, "pm_test is set: ");
		ww_str_add(&out->reason, in->pm_test);
		return WW_RES_PM_TEST;
	}
	if (si->kind == WW_SIL_PAUSE)
		return paused(w, in, si, out);
	if (si->kind == WW_SIL_WIRE && (command_failed(in) || in->told_refused))
		return refused(in, out);
	if (!s->stamped && !off && seen(in->request) &&
	    ((command_failed(in) && before_wake(in, out)) || in->told_refused || never_silent(in)))
		return refused(in, out);
	if (before_wake(in, out)) {
		say(out, "back before the wake command was given");
		return WW_RES_EARLY;
	}
	if (out->backlog)
		say(out, "only beats from before the sleep came before the cycle ended: user "
			 "space was not observed");
	return WW_RES_OK;
}

/* Differences of events; what was not observed at both ends is not given. */
static void latencies(struct ww_cycle_out *out)
{
	struct ww_interval *l = out->c.latency, *e = out->c.event;
	bool back = out->c.result != WW_RES_EARLY && out->c.result != WW_RES_REFUSED &&
		    out->c.result != WW_RES_ABORTED;
	struct ww_interval from = seen(e[WW_EV_OFF]) ? e[WW_EV_OFF] : e[WW_EV_LAST_BEAT];
	struct ww_interval wake = back ? e[WW_EV_WAKE] : WW_INTERVAL_NONE;

	l[WW_LAT_SUSPEND_ENTRY] = ww_iv_since(e[WW_EV_LAST_BEAT], e[WW_EV_REQUEST]);
	l[WW_LAT_ASLEEP] = ww_iv_since(wake, from);
	l[WW_LAT_FIRMWARE] = ww_iv_since(e[WW_EV_HANDOFF], wake);
	/* Without it the wake still lies between the silence's start and the first text. */
	if (!seen(wake) && seen(e[WW_EV_HANDOFF]) && seen(from) && back)
		l[WW_LAT_FIRMWARE] =
			(struct ww_interval){e[WW_EV_HANDOFF].lo_ns - e[WW_EV_FIRMWARE].hi_ns,
					     e[WW_EV_HANDOFF].hi_ns - from.lo_ns};
	l[WW_LAT_KERNEL] = ww_iv_since(e[WW_EV_FIRST_BEAT], e[WW_EV_HANDOFF]);
	l[WW_LAT_RESUME_TO_UART] = ww_iv_since(e[WW_EV_UART], wake);
	l[WW_LAT_RESUME_TO_USER] = ww_iv_since(e[WW_EV_FIRST_BEAT], wake);
	l[WW_LAT_RESUME_TO_STEADY] = ww_iv_since(e[WW_EV_STEADY], wake);
	l[WW_LAT_SILENCE] =
		ww_iv_since(seen(e[WW_EV_FIRST_BEAT]) ? e[WW_EV_FIRST_BEAT] : e[WW_EV_UART],
			    e[WW_EV_LAST_BEAT]);
	if (!seen(e[WW_EV_WAKE]) && back)
		l[WW_LAT_ASLEEP_FIRMWARE] = ww_iv_since(e[WW_EV_HANDOFF], from);
	/* Ends that overlap order nothing, but no latency is negative. */
	for (int i = 0; i < WW_LAT_COUNT; i++)
		if (seen(l[i]) && l[i].lo_ns < 0 && l[i].hi_ns >= 0)
			l[i].lo_ns = 0;
}

static struct ww_cycle_out blank(uint32_t n)
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

	*out = blank(in->n);
	EV(out, REQUEST) = in->request;
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
	out->c.result = judge(s, w, in, &si, out);
	if (out->lost)
		EV(out, FIRST_BEAT) = EV(out, UART) = EV(out, STEADY) = WW_INTERVAL_NONE;
	latencies(out);
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
	o->stall = NULL;
	o->c.stall = NULL;
	o->c.stalls = 0;
	o->c.reason = "";
}
