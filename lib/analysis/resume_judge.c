/* SPDX-License-Identifier: MIT */
/* What became of a cycle, and why it is said. Pure. */
#include "analysis/resume.h"

#define SHORT_NS (250 * WW_NS_PER_MS) /* of a silence that may be a sleep */

#define LINE_NS (100 * WW_NS_PER_MS) /* of text */

#define EV(out, e) ((out)->c.event[WW_EV_##e])

static bool seen(struct ww_interval t)
{
	return ww_iv_ok(t);
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

/* The campaign ended what hung. */
static bool still_ran(const char *text)
{
	return begins(text, "stopped: it still ran");
}

static void say_running(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	if (still_ran(in->exit_text))
		say(out, "the suspend command still ran at the end of the cycle");
	if (still_ran(in->wake_text))
		say(out, "the wake command still ran at the end of the cycle");
}

/* It was requested, and nothing says that it ended before the trace did. */
static bool unfinished(const struct ww_cycle_in *in)
{
	return seen(in->request) && !seen(in->end) && in->trace_ends;
}

static int not_over(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	say(out, in->live ? "the recording goes on" : "the trace ends too early");
	return WW_RES_UNKNOWN;
}

static int refused(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	/* An adapter that was away is no refusal of the DUT. */
	if (begins(in->exit_text, "failed")) {
		say(out, "the request could not be made: ");
		ww_str_add(&out->reason, in->exit_text);
		return WW_RES_UNKNOWN;
	}
	if (command_failed(in))
		say(out, in->exit_text);
	else if (in->told_refused)
		say(out, "the DUT's kernel counts a failed suspend");
	else
		say(out, "the beat went on as if nothing had been asked");
	say_running(in, out);
	if (in->told_refused)
		say_stats(out, in->stats);
	return WW_RES_REFUSED;
}

static int never_back(const struct ww_window *w, const struct ww_cycle_in *in,
		      const struct ww_silence *si, struct ww_cycle_out *out)
{
	bool over = seen(in->end) || (!in->live && !unfinished(in));
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
	say_running(in, out);
	if (in->wake_text && !still_ran(in->wake_text) && !begins(in->wake_text, "exit 0")) {
		ww_str_add(&out->reason, "; wake command: ");
		ww_str_add(&out->reason, in->wake_text);
	}
	if (!over)
		return not_over(in, out);
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

static int reset(const struct ww_window *w, const struct ww_cycle_in *in,
		 const struct ww_silence *si, struct ww_cycle_out *out)
{
	if (si->kind == WW_SIL_RESET && si->first != SIZE_MAX)
		say_ms(out, "the DUT booted anew: its clock stood at ",
		       w->beat[si->first].mono_us * 1000, " ms at the first beat");
	else if (in->booted)
		say(out, "the DUT booted anew: it has another boot_id");
	else
		say(out, "the DUT booted anew: its kernel's first messages came");
	return WW_RES_RESET;
}

/* Nothing slept, but the beat paused. */
static int paused(const struct ww_window *w, const struct ww_cycle_in *in,
		  const struct ww_silence *si, struct ww_cycle_out *out)
{
	const struct ww_rbeat *b = &w->beat[si->first];
	bool open = unfinished(in) && (in->unclosed || !seen(in->request_end));
	int64_t pause = b->mono_us + b->sleep_us - b[-1].mono_us - b[-1].sleep_us;
	int rc = WW_RES_ABORTED;

	if (command_failed(in) || in->told_refused)
		rc = refused(in, out);
	else if (open)
		rc = not_over(in, out);
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

/* Where no stamp tells, the first words of a kernel do. */
static bool boots(const struct ww_window *w, const struct ww_cycle_in *in,
		  const struct ww_silence *si, const struct ww_cycle_out *out)
{
	struct ww_interval last = EV(out, LAST_BEAT), back = EV(out, FIRST_BEAT);
	int64_t to;

	if (!seen(back))
		back = EV(out, UART);
	if (!seen(last) || (si->kind != WW_SIL_PLAIN && si->kind != WW_SIL_FOREVER))
		return false;
	/* Text that looked like a beat may have ended the silence. */
	to = seen(back) && back.hi_ns < in->to_ns - LINE_NS ? back.hi_ns + LINE_NS : in->to_ns;
	return ww_text_boots(w, last.lo_ns, to) ||
	       (in->console && ww_text_boots(in->console, last.lo_ns, to));
}

/*
 * The campaign saw no silence, the bytes show one. Plain beats do not tell a short sleep
 * from tasks that stood still; what load does is no more than a pause.
 */
static int too_short(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	struct ww_interval last = EV(out, LAST_BEAT);
	int64_t len = ww_iv_mid(EV(out, UART)) - ww_iv_mid(last);

	if (len < SHORT_NS)
		return refused(in, out);
	if (seen(in->end) && last.lo_ns > in->end.hi_ns)
		say_ms(out, "the line fell silent for ", len,
		       " ms, but only after the campaign had given up: raise --suspend-timeout");
	else
		say_ms(out, "the line was silent for ", len, " ms, less than --silence: lower it");
	return WW_RES_UNKNOWN;
}

/* The user ended it, the bench was killed or switched off, or the line was away. */
static bool not_watched(const struct ww_cycle_in *in, struct ww_cycle_out *out, const char *lost)
{
	bool stopped = begins(in->end_text, "stopped") && !seen(EV(out, UART));
	const char *why = stopped ? strchr(in->end_text, ':') : NULL;

	if (why) {
		say(out, why + 2);
	} else if (lost) {
		say(out, "bytes are missing: ");
		ww_str_add(&out->reason, lost);
	} else if (stopped) {
		say(out, "stopped by the user");
	}
	return lost || stopped;
}

int ww_cycle_result(const struct ww_scan *s, const struct ww_window *w,
		    const struct ww_cycle_in *in, const struct ww_silence *si,
		    struct ww_cycle_out *out)
{
	const char *lost = bytes_lost(in, out);
	bool off = seen(EV(out, OFF));

	if (not_watched(in, out, lost))
		return WW_RES_UNKNOWN;
	if (si->kind == WW_SIL_RESET || (in->booted && si->kind != WW_SIL_NONE) ||
	    boots(w, in, si, out))
		return reset(w, in, si, out);
	if (si->kind == WW_SIL_FOREVER)
		return never_back(w, in, si, out);
	if (si->kind == WW_SIL_NONE) {
		if (!seen(in->request)) {
			say(out, "no silence found");
			return WW_RES_UNKNOWN;
		}
		if (s->beats == 0 && !command_failed(in)) {
			say(out, s->bytes ? "no heartbeat was found on the line"
					  : "not one byte came on the line");
			return WW_RES_UNKNOWN;
		}
		if (unfinished(in) && !command_failed(in) && !in->told_refused)
			return not_over(in, out);
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
	if (!s->stamped && !off && seen(in->request)) {
		if (in->told_refused ||
		    (command_failed(in) && (before_wake(in, out) || never_silent(in))))
			return refused(in, out);
		if (never_silent(in))
			return too_short(in, out);
	}
	if (before_wake(in, out)) {
		say(out, "back before the wake command was given");
		return WW_RES_EARLY;
	}
	if (out->backlog)
		say(out, "only beats from before the sleep came before the cycle ended: user "
			 "space was not observed");
	return WW_RES_OK;
}
