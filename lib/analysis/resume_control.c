/* SPDX-License-Identifier: MIT */
/*
 * A cycle that was watched without a heartbeat: its marks say when the last sign of life
 * came and when the first after it did; lines, a wattmeter and a console say the rest.
 * Nothing here is called user space: nobody saw it.
 */
#include "analysis/resume_input.h"

#define EV(out, e) ((out)->c.event[WW_EV_##e])

static bool begins(const char *text, const char *head)
{
	return text && strncmp(text, head, strlen(head)) == 0;
}

static void say(struct ww_cycle_out *out, const char *text)
{
	if (out->reason.n)
		ww_str_add(&out->reason, "; ");
	ww_str_add(&out->reason, text);
}

static bool command_failed(const struct ww_cycle_in *in)
{
	return (begins(in->exit_text, "exit ") && strcmp(in->exit_text, "exit 0") != 0) ||
	       begins(in->exit_text, "signal");
}

static int64_t until(const struct ww_cycle_in *in)
{
	return ww_iv_ok(in->alive) ? in->alive.hi_ns : in->to_ns;
}

/* A line knows best when it was woken; else the command, and at the latest the sign of life. */
static void wake_event(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	int64_t last = ww_iv_ok(in->silent) ? in->silent.lo_ns : in->request.lo_ns;
	struct ww_interval wake;

	ww_cycle_lines(in, in->request.lo_ns, last, until(in), &EV(out, OFF), &wake, out);
	out->wake_line = ww_iv_ok(wake);
	if (!out->wake_line && ww_iv_ok(in->wake)) {
		wake = in->wake;
		wake.hi_ns = ww_iv_ok(in->wake_end) ? in->wake_end.hi_ns : WW_TIME_MAX;
		if (ww_iv_ok(in->alive) && in->alive.hi_ns < wake.hi_ns &&
		    in->alive.hi_ns >= wake.lo_ns)
			wake.hi_ns = in->alive.hi_ns;
	}
	EV(out, WAKE) = wake;
}

static int text_events(const struct ww_cycle_in *in, const void *regex, struct ww_cycle_out *out,
		       struct ww_error *err)
{
	int64_t last = ww_iv_ok(in->silent) ? in->silent.lo_ns : in->request.lo_ns;
	size_t from = 0;

	if (!in->console || in->console->n == 0)
		return 0;
	while (from + 1 < in->console->n && in->console->hi[from + 1] < last)
		from++;
	return ww_text_events(in->console, from, SIZE_MAX, until(in), &EV(out, WAKE), regex,
			      &EV(out, FIRMWARE), &EV(out, HANDOFF), err);
}

static int refused(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	if (begins(in->exit_text, "failed")) {
		say(out, "the request could not be made: ");
		ww_str_add(&out->reason, in->exit_text);
		return WW_RES_UNKNOWN;
	}
	say(out, command_failed(in) ? in->exit_text
				    : "the sign of life went on as if nothing had been asked");
	return WW_RES_REFUSED;
}

static bool booted(const struct ww_cycle_in *in)
{
	int64_t to = ww_iv_ok(in->end) ? in->end.hi_ns : in->to_ns;

	return in->console && ww_iv_ok(in->silent) &&
	       ww_text_boots(in->console, in->silent.lo_ns, to);
}

static bool early(const struct ww_cycle_in *in, const struct ww_cycle_out *out)
{
	if (!ww_iv_ok(in->alive) || out->wake_line)
		return false;
	return ww_iv_ok(in->wake) ? in->alive.hi_ns < in->wake.lo_ns : in->others_woken;
}

static int result(const struct ww_cycle_in *in, struct ww_cycle_out *out)
{
	if (begins(in->end_text, "stopped")) {
		say(out, in->end_text);
		return WW_RES_UNKNOWN;
	}
	if (begins(in->end_text, "unplugged")) {
		say(out, "what shows its life was unplugged");
		return WW_RES_UNKNOWN;
	}
	if (begins(in->end_text, "no silence"))
		return refused(in, out);
	if (booted(in)) {
		say(out, "the DUT booted anew: its kernel's first messages came");
		return WW_RES_RESET;
	}
	if (begins(in->end_text, "timeout")) {
		say(out, "no sign of life");
		return WW_RES_HUNG;
	}
	if (!ww_iv_ok(in->end)) {
		say(out, in->live ? "the recording goes on" : "the trace ends too early");
		return WW_RES_UNKNOWN;
	}
	if (early(in, out)) {
		say(out, "back before the wake was given");
		return WW_RES_EARLY;
	}
	return WW_RES_OK;
}

int ww_control_judge(const struct ww_cycle_in *in, const void *regex, struct ww_cycle_out *out,
		     struct ww_error *err)
{
	static const struct ww_scan none;
	int rc;

	*out = ww_cycle_blank(in->n);
	out->control = true;
	out->silent = in->silent;
	out->c.warmup = in->warmup;
	EV(out, REQUEST) = in->request;
	EV(out, ALIVE) = in->alive;
	wake_event(in, out);
	rc = text_events(in, regex, out, err);
	out->c.result = result(in, out);
	ww_cycle_latencies(&none, out);
	if (rc >= 0 && out->reason.bad)
		rc = ww_fail_nomem(err);
	out->c.reason = out->reason.p ? out->reason.p : "";
	if (rc < 0)
		ww_cycle_out_free(out);
	return rc < 0 ? rc : 0;
}

static size_t count(const struct ww_resume *r, int event)
{
	size_t n = 0;

	for (size_t i = 0; i < r->cycles; i++)
		n += ww_iv_ok(r->cycle[i].c.event[event]);
	return n;
}

int ww_control_notes(struct ww_resume *r, const char *sign, struct ww_error *err)
{
	struct ww_notes *v = &r->notes;
	int rc = ww_notes_add(v, err,
			      "a control without a heartbeat: that it lives was seen by '%s', so "
			      "that user space is not observed, and the time of the first sign is "
			      "no better than what shows it",
			      sign);

	if (rc >= 0 && r->cycles && count(r, WW_EV_WAKE) == 0)
		rc = ww_notes_add(v, err,
				  "the wake was not observed: latencies that begin with it are not "
				  "given");
	if (rc >= 0 && r->cycles && count(r, WW_EV_OFF) == 0)
		rc = ww_notes_add(v, err,
				  "no line and no meter saw when it fell asleep: \"asleep\" begins "
				  "with the last sign of life");
	if (rc >= 0 && count(r, WW_EV_SETTLED))
		rc = ww_notes_add(v, err, "energy runs from the request to the first sign of life");
	return rc < 0 ? rc : 0;
}
