/* SPDX-License-Identifier: MIT */
/*
 * Cycles of suspend and resume, by commands. The campaign decides only when to act;
 * what happened is read from the trace later, where its marks say what was done when.
 */
#include "capture/capture.h"
#include "control/stage.h"

#include <poll.h>
#include <stdio.h>

#define LOOK_NS (20 * WW_NS_PER_MS)
/* A DUT that was reset boots from nothing. */
#define BOOT_NS (300 * WW_NS_PER_S)
/* A reset and the action at the end may take as long. */
#define STEP_NS (60 * WW_NS_PER_S)

enum phase {
	PH_READY,   /* waiting for a heartbeat before the command */
	PH_SUSPEND, /* command given, waiting for silence */
	PH_ASLEEP,  /* silent, waiting for the time to wake it */
	PH_WAKE,    /* wake given, waiting for a byte */
	PH_SETTLE,  /* back, waiting for quiet time */
	PH_RESET,   /* never came back: reset, waiting for a heartbeat */
	PH_OFF,	    /* the action at the end */
	PH_DONE
};

static const char *const phase_name[] = {"waiting for the heartbeat",
					 "suspending",
					 "asleep",
					 "waking",
					 "settling",
					 "resetting",
					 "switching off",
					 "done"};

enum { SUSPEND, WAKE, RESET, OFF, STEPS };

struct ww_campaign {
	struct ww_recorder *rec;
	uint32_t serial;
	struct ww_campaign_options opt;
	struct ww_stage step[STEPS];
	char setting[40]; /* of the suspend command: seconds of the alarm */
	struct ww_loop *loop;
	struct ww_timer *timer;
	enum phase phase;
	uint32_t cycle;
	int64_t since;	    /* when the phase began */
	int64_t steady_ns;  /* since when it beats without a silence */
	int64_t wake_ns;    /* when the wake began to be waited for */
	int64_t request_ns; /* when the suspend command was given */
	uint64_t bytes_at;  /* bytes seen when the phase began */
	bool alarm;	    /* it wakes by an alarm of its own, set by the suspend command */
	bool alarm_due;	    /* which has not rung yet */
	int64_t alarm_ns;   /* and does so from here on */
	bool hung, off_done;
	struct ww_error err;
};

static void mark(struct ww_campaign *c, const char *kind, const char *text)
{
	ww_stage_mark(&c->step[SUSPEND], (struct ww_interval){0}, kind, text);
}

static void enter(struct ww_campaign *c, enum phase p, int64_t now)
{
	int64_t last;

	c->phase = p;
	c->since = c->steady_ns = now;
	ww_recorder_activity(c->rec, c->serial, &last, &c->bytes_at);
}

static void finish(struct ww_campaign *c, int64_t now)
{
	if (c->phase == PH_OFF || c->phase == PH_DONE)
		return;
	c->off_done = true;
	enter(c, c->step[OFF].action ? PH_OFF : PH_DONE, now);
	if (c->step[OFF].action)
		ww_stage_begin(&c->step[OFF]);
}

static void end_cycle(struct ww_campaign *c, const char *how, int64_t now)
{
	ww_stage_end(&c->step[WAKE]);
	ww_stage_end(&c->step[SUSPEND]);
	mark(c, WW_MARK_CYCLE_END, how);
	if (c->hung && c->step[RESET].action) {
		c->hung = false;
		enter(c, PH_RESET, now);
		ww_stage_begin(&c->step[RESET]);
	} else if (c->hung || c->cycle >= c->opt.cycles) {
		finish(c, now);
	} else {
		enter(c, PH_READY, now);
	}
}

static void begin_cycle(struct ww_campaign *c, int64_t now)
{
	c->cycle++;
	c->alarm_due = false;
	c->request_ns = now;
	enter(c, PH_SUSPEND, now);
	ww_stage_begin(&c->step[SUSPEND]);
}

static void begin_wake(struct ww_campaign *c, int64_t now)
{
	c->wake_ns = now;
	enter(c, PH_WAKE, now);
	if (c->step[WAKE].action)
		ww_stage_begin(&c->step[WAKE]);
}

/*
 * The DUT set its alarm between the request and the end of the command, or, where that
 * ends only after the resume, before the silence: a beat was due within it.
 */
static void begin_alarm(struct ww_campaign *c, int64_t now, int64_t last)
{
	int64_t by = (last > c->request_ns ? last : c->request_ns) + c->opt.silence_ns;
	int64_t over = c->step[SUSPEND].over_ns;
	struct ww_interval t;

	if (over && over < by)
		by = over;
	t = ww_stage_alarm_set(&c->step[WAKE], (struct ww_interval){c->request_ns, by});
	c->wake_ns = t.hi_ns;
	c->alarm_ns = t.lo_ns;
	c->alarm_due = true;
	enter(c, PH_WAKE, now);
}

/* A machine that is back before its alarm was woken by something else: no wake of ours. */
static void look_at_alarm(struct ww_campaign *c, int64_t now)
{
	if (c->alarm_due && now >= c->alarm_ns) {
		c->alarm_due = false;
		ww_stage_alarm_rings(&c->step[WAKE]);
	}
}

/*
 * The command is given to a DUT that beats: for longer than the silence that means
 * asleep, and without one.
 */
static void ready(struct ww_campaign *c, int64_t now, int64_t last, uint64_t bytes)
{
	long long waited = (long long)((now - c->since) / WW_NS_PER_S);
	int64_t patience = c->opt.resume_timeout_ns;

	if (c->phase == PH_RESET && patience < BOOT_NS)
		patience = BOOT_NS;
	if (bytes == c->bytes_at || now - last >= c->opt.silence_ns)
		c->steady_ns = now;
	if (now - c->steady_ns >= c->opt.silence_ns + c->opt.silence_ns / 4)
		begin_cycle(c, now);
	else if (now - c->since < patience)
		return;
	else if (c->phase == PH_RESET)
		ww_fail(&c->err, -ETIMEDOUT,
			"the DUT never came back, and no heartbeat in %lld s after its reset: does "
			"it start by itself at boot?",
			waited);
	else if (bytes == c->bytes_at)
		ww_fail(&c->err, -ETIMEDOUT,
			"no byte from the DUT in %lld s: does its heartbeat run, and is this the "
			"right port and baud rate?",
			waited);
	else
		ww_fail(&c->err, -ETIMEDOUT,
			"no steady heartbeat in %lld s: a beat slower than the silence that means "
			"asleep (%lld ms) needs a longer one",
			waited, (long long)(c->opt.silence_ns / WW_NS_PER_MS));
}

/* Bytes again before the wake was given. */
static void back(struct ww_campaign *c, int64_t now)
{
	c->wake_ns = now;
	enter(c, PH_SETTLE, now);
}

/*
 * The time to come back counts from the wake, however often a few bytes (a message of
 * the kernel, a beat slower than --silence) looked like a return.
 */
static void give_up(struct ww_campaign *c, int64_t now)
{
	if (now - c->wake_ns < c->opt.resume_timeout_ns)
		return;
	c->hung = true;
	end_cycle(c, "timeout", now);
}

/* What each phase waits for. */
static void step(struct ww_campaign *c, int64_t now)
{
	int64_t last, in_phase = now - c->since;
	uint64_t bytes;
	bool beating, silent;

	ww_recorder_activity(c->rec, c->serial, &last, &bytes);
	beating = bytes > c->bytes_at;
	silent = now - (last > c->request_ns ? last : c->request_ns) >= c->opt.silence_ns;
	switch (c->phase) {
	case PH_RESET:
		if (c->step[RESET].begun && in_phase < STEP_NS)
			break;
		ww_stage_end(&c->step[RESET]);
		if (c->cycle >= c->opt.cycles)
			finish(c, now);
		else
			ready(c, now, last, bytes);
		break;
	case PH_READY:
		ready(c, now, last, bytes);
		break;
	case PH_SUSPEND:
		if (silent)
			enter(c, PH_ASLEEP, now);
		else if (in_phase >= c->opt.suspend_timeout_ns)
			end_cycle(c, "no silence", now);
		break;
	case PH_ASLEEP:
		if (beating)
			back(c, now);
		else if (c->alarm)
			begin_alarm(c, now, last);
		else if (!c->step[WAKE].action || in_phase >= c->opt.asleep_ns)
			begin_wake(c, now);
		break;
	case PH_WAKE:
		look_at_alarm(c, now);
		if (beating)
			enter(c, PH_SETTLE, now);
		else
			give_up(c, now);
		break;
	case PH_SETTLE:
		if (now - last >= c->opt.silence_ns) {
			enter(c, PH_WAKE, now); /* a first byte, then silence: not back yet */
			give_up(c, now);
		} else if (in_phase >= c->opt.settle_ns) {
			end_cycle(c, "ok", now);
		}
		break;
	case PH_OFF:
		if (c->step[OFF].begun && in_phase < STEP_NS)
			break;
		ww_stage_end(&c->step[OFF]);
		enter(c, PH_DONE, now);
		break;
	case PH_DONE:
		break;
	}
}

static void look(void *ctx, int64_t now, int64_t late)
{
	struct ww_campaign *c = ctx;

	(void)late;
	if (c->phase != PH_DONE)
		step(c, now);
}

static int64_t dflt(int64_t v, int64_t seconds)
{
	return v > 0 ? v : seconds * WW_NS_PER_S;
}

/* What an action by hand may do and a cycle may not. */
static int fits(const struct ww_stage *s, bool wakes, struct ww_error *err)
{
	const struct ww_act *a = ww_action_form(s->action);

	if (a->alarm_s && !wakes)
		return ww_fail(err, -EINVAL, "%s: an alarm of the DUT's own can only wake it",
			       s->text);
	/* Held, it would be a press that never ends, and none at all in the next cycle. */
	if ((a->kind == WW_ACT_GPIO || a->kind == WW_ACT_TTY || a->kind == WW_ACT_FTDI) &&
	    !a->for_ns)
		return ww_fail(err, -EINVAL,
			       "%s: in a campaign a line needs a time, as in %s,200ms", s->text,
			       a->word);
	return 0;
}

static int alarm_fits(const struct ww_stage *suspend, const struct ww_stage *wake,
		      struct ww_error *err)
{
	if (!wake->action || !ww_action_alarm_s(wake->action) ||
	    ww_action_is_command(suspend->action))
		return 0;
	return ww_fail(err, -EINVAL,
		       "%s: the suspend command sets this alarm, but %s is no command", wake->text,
		       suspend->text);
}

static int make_steps(struct ww_campaign *c, const struct ww_campaign_options *opt,
		      struct ww_error *err)
{
	const char *const text[STEPS] = {opt->suspend, WW_OPT(opt, wake, NULL),
					 WW_OPT(opt, reset, NULL), WW_OPT(opt, off, NULL)};
	static const int order[STEPS] = {WAKE, SUSPEND, RESET, OFF};
	static const char *const begin[STEPS] = {WW_MARK_REQUEST, WW_MARK_WAKE, WW_MARK_DUT_RESET,
						 WW_MARK_DUT_OFF};
	static const char *const end[STEPS] = {WW_MARK_REQUEST_END, WW_MARK_WAKE_END,
					       WW_MARK_DUT_RESET_END, WW_MARK_DUT_OFF_END};
	int64_t alarm_s = 0;

	for (size_t i = 0; i < STEPS; i++) {
		struct ww_stage *s = &c->step[order[i]];
		int rc;

		s->rec = c->rec;
		s->serial = c->serial;
		s->cycle = &c->cycle;
		s->err = &c->err;
		s->begin_kind = begin[order[i]];
		s->end_kind = end[order[i]];
		rc = ww_stage_make(s, c->loop, text[order[i]], order[i] == SUSPEND ? alarm_s : 0,
				   err);
		if (rc == 0 && s->action)
			rc = fits(s, order[i] == WAKE, err);
		if (rc < 0)
			return rc;
		if (order[i] == WAKE && s->action)
			alarm_s = ww_action_alarm_s(s->action);
	}
	c->alarm = alarm_s > 0;
	return alarm_fits(&c->step[SUSPEND], &c->step[WAKE], err);
}

int ww_campaign_new(struct ww_recorder *r, uint32_t serial, const struct ww_campaign_options *opt,
		    struct ww_campaign **out, struct ww_error *err)
{
	struct ww_campaign *c;
	int64_t now;
	int rc;

	*out = NULL;
	rc = WW_OPT_CHECK(opt, err);
	if (rc < 0)
		return rc;
	if (!WW_OPT(opt, suspend, NULL))
		return ww_fail(err, -EINVAL, "cycles need a command that suspends the DUT");
	if (serial == 0)
		return ww_fail(err, -EINVAL, "cycles need a serial port to see the DUT come back");
	c = calloc(1, sizeof(*c));
	if (!c)
		return ww_fail_nomem(err);
	c->rec = r;
	c->serial = serial;
	c->phase = PH_DONE; /* nothing is done before all is there */
	c->off_done = true;
	c->opt.cycles = WW_OPT(opt, cycles, 0) ? opt->cycles : 1;
	c->cycle = c->opt.cycles;
	c->opt.asleep_ns = dflt(WW_OPT(opt, asleep_ns, 0), 3);
	c->opt.suspend_timeout_ns = dflt(WW_OPT(opt, suspend_timeout_ns, 0), 20);
	c->opt.resume_timeout_ns =
		dflt(WW_OPT(opt, resume_timeout_ns, 0), WW_OPT(opt, wake, NULL) ? 60 : 300);
	c->opt.settle_ns = dflt(WW_OPT(opt, settle_ns, 0), 3);
	c->opt.silence_ns = dflt(WW_OPT(opt, silence_ns, 0), 1);
	rc = ww_loop_new(NULL, &c->loop, err);
	if (rc == 0)
		rc = ww_loop_timer(c->loop, look, c, &c->timer, err);
	if (rc == 0)
		rc = make_steps(c, opt, err);
	if (rc < 0) {
		ww_campaign_free(c);
		return rc;
	}
	now = ww_loop_now(c->loop);
	c->cycle = 0;
	c->off_done = false;
	enter(c, PH_READY, now);
	ww_timer_set(c->timer, now + LOOK_NS, LOOK_NS);
	*out = c;
	return 0;
}

int ww_campaign_fd(const struct ww_campaign *c)
{
	return ww_loop_fd(c->loop);
}

int ww_campaign_dispatch(struct ww_campaign *c, struct ww_error *err)
{
	int rc = ww_loop_dispatch(c->loop, err);

	if (rc < 0)
		return rc;
	if (c->err.code)
		return ww_fail(err, c->err.code, "%s", c->err.text);
	return c->phase == PH_DONE ? 0 : 1;
}

uint32_t ww_campaign_progress(const struct ww_campaign *c, const char **phase)
{
	if (phase)
		*phase = c->hung ? "the DUT never came back" : phase_name[c->phase];
	return c->phase == PH_READY || c->phase == PH_RESET ? c->cycle + 1 : c->cycle;
}

/* How many of the cycles wanted were run, and why not all. */
static void tell_end(struct ww_campaign *c)
{
	char text[160];

	if (c->cycle >= c->opt.cycles)
		return;
	snprintf(text, sizeof(text), "%u of %u cycles run: %s", c->cycle, c->opt.cycles,
		 c->hung       ? "the DUT never came back"
		 : c->err.code ? "no heartbeat"
			       : "the recording was ended");
	mark(c, "campaign-end", text);
}

/* Whatever ended the campaign: only this is still waited for. */
static void switch_off(struct ww_campaign *c)
{
	int64_t until = c->loop ? ww_loop_now(c->loop) + STEP_NS : 0;

	if (!c->off_done && c->step[OFF].action) {
		c->phase = PH_OFF;
		ww_stage_begin(&c->step[OFF]);
	}
	while (c->step[OFF].begun && ww_loop_now(c->loop) < until) {
		struct pollfd p[2] = {{.fd = ww_loop_fd(c->loop), .events = POLLIN},
				      {.fd = ww_recorder_fd(c->rec), .events = POLLIN}};

		poll(p, 2, 100);
		/* What comes meanwhile is recorded too. */
		ww_recorder_dispatch(c->rec, NULL);
		if (ww_loop_dispatch(c->loop, NULL) < 0)
			break;
	}
	ww_stage_end(&c->step[OFF]);
}

void ww_campaign_free(struct ww_campaign *c)
{
	if (!c)
		return;
	if (c->timer)
		ww_timer_set(c->timer, WW_TIME_MAX, 0);
	ww_stage_end(&c->step[WAKE]);
	ww_stage_end(&c->step[SUSPEND]);
	ww_stage_end(&c->step[RESET]);
	if (c->phase == PH_SUSPEND || c->phase == PH_ASLEEP || c->phase == PH_WAKE ||
	    c->phase == PH_SETTLE)
		mark(c, WW_MARK_CYCLE_END, "stopped");
	tell_end(c);
	switch_off(c);
	for (size_t i = 0; i < STEPS; i++)
		ww_stage_free(&c->step[i]);
	ww_timer_free(c->timer);
	ww_loop_free(c->loop);
	free(c);
}
