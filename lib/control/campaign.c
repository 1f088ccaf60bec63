/* SPDX-License-Identifier: MIT */
/*
 * Cycles of suspend and resume, by commands. The campaign decides only when to act;
 * what happened is read from the trace later, where its marks say what was done when.
 */
#include "control/campaign.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

/* A reset and the action at the end may take as long. */
#define STEP_NS (60 * WW_NS_PER_S)
/* How often an action's adapter is looked for that is away. */
#define CHECK_NS (WW_NS_PER_S / 2)

static void mark_at(struct ww_campaign *c, struct ww_interval t, const char *kind, const char *text)
{
	ww_stage_mark(&c->step[SUSPEND], t, kind, text);
}

static void mark(struct ww_campaign *c, const char *kind, const char *text)
{
	mark_at(c, (struct ww_interval){0}, kind, text);
}

/* Without a heartbeat nothing else in the trace tells when it lived. */
static void mark_life(struct ww_campaign *c, const char *kind, struct ww_interval t)
{
	if (c->opt.alive && ww_iv_ok(t))
		mark_at(c, t, kind, c->opt.alive);
}

void ww_campaign_enter(struct ww_campaign *c, enum ww_phase p, int64_t now)
{
	c->phase = p;
	c->since = c->steady_ns = now;
	c->bytes_at = c->life.n;
}

static void finish(struct ww_campaign *c, int64_t now)
{
	if (c->phase == PH_OFF || c->phase == PH_DONE)
		return;
	c->off_done = true;
	ww_campaign_enter(c, c->step[OFF].action ? PH_OFF : PH_DONE, now);
	if (c->step[OFF].action)
		ww_stage_begin(&c->step[OFF]);
}

static void reset(struct ww_campaign *c, int64_t now)
{
	ww_campaign_ready_over(c);
	ww_campaign_enter(c, PH_RESET, now);
	ww_stage_begin(&c->step[RESET]);
}

static void end_cycle(struct ww_campaign *c, const char *how, int64_t now)
{
	ww_stage_end(&c->step[WAKE]);
	ww_stage_end(&c->step[SUSPEND]);
	mark(c, WW_MARK_CYCLE_END, c->was_away && !c->hung ? "unplugged" : how);
	ww_campaign_count(c, how, now);
	/* A failure that is looked for is left as it is. */
	if ((ww_campaign_enough(c) && (!c->hung || c->opt.until_failure)) ||
	    (c->hung && !c->step[RESET].action)) {
		finish(c, now);
	} else if (c->hung) {
		c->hung = false;
		ww_campaign_tell(c, "it never came back: the reset action is given");
		reset(c, now);
	} else {
		ww_campaign_enter(c, PH_READY, now);
	}
}

/* All that a cycle needs is plugged in. */
static bool all_there(const struct ww_campaign *c)
{
	struct ww_error why = {0};

	for (size_t i = 0; i < OFF; i++)
		if (c->step[i].action && ww_action_there(c->step[i].action, &why) == -ENODEV)
			return false;
	return true;
}

/* What goes on after somebody removed its trace leaves nothing behind. */
static bool has_trace(struct ww_campaign *c)
{
	const char *path = c->rec->opt.form == WW_FORM_FILE ? c->rec->path : NULL;

	if (path && access(path, F_OK) < 0 && errno == ENOENT)
		ww_fail(&c->err, -ENOENT,
			"%s is gone: somebody removed or moved it, and what was recorded with it; "
			"the campaign ends",
			path);
	return !c->err.code;
}

static void begin_cycle(struct ww_campaign *c, int64_t now)
{
	if (!has_trace(c))
		return;
	ww_campaign_ready_over(c);
	c->cycle++;
	c->again = c->was_away = c->early = c->alarm_due = false;
	c->warming = c->warm < c->opt.warmup;
	c->begun_ns = now;
	if (ww_campaign_draw(c) < 0)
		return;
	if (c->warming)
		mark(c, WW_MARK_WARMUP, "");
	c->request_ns = now;
	ww_campaign_enter(c, PH_SUSPEND, now);
	ww_stage_begin(&c->step[SUSPEND]);
}

static void begin_wake(struct ww_campaign *c, int64_t now)
{
	c->wake_ns = now;
	ww_campaign_enter(c, PH_WAKE, now);
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
	ww_campaign_enter(c, PH_WAKE, now);
}

/* A machine that is back before its alarm was woken by something else: no wake of ours. */
static void look_at_alarm(struct ww_campaign *c, int64_t now)
{
	if (c->alarm_due && now >= c->alarm_ns) {
		c->alarm_due = false;
		ww_stage_alarm_rings(&c->step[WAKE]);
	}
}

/* The command is given to a DUT that is there. */
static void ready(struct ww_campaign *c, int64_t now)
{
	switch (ww_campaign_ready(c, now)) {
	case WW_READY_RESET:
		reset(c, now);
		break;
	case WW_READY_GO:
		if (!ww_campaign_judged(c, now))
			break;
		if (ww_campaign_enough(c))
			finish(c, now);
		else if (all_there(c))
			begin_cycle(c, now);
		else
			c->away_ns = c->checked_ns = now;
		break;
	case WW_READY_WAIT:
		break;
	}
}

/* A sign of life before the wake was given. */
static void back(struct ww_campaign *c, int64_t now)
{
	mark_life(c, WW_MARK_ALIVE, c->life.back);
	c->early = c->step[WAKE].action != NULL;
	c->wake_ns = now;
	ww_campaign_enter(c, PH_SETTLE, now);
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

static void asleep(struct ww_campaign *c, int64_t now, bool beating)
{
	if (beating)
		back(c, now);
	else if (c->alarm)
		begin_alarm(c, now, c->life.last_ns);
	else if (!c->step[WAKE].action || now - c->since >= c->asleep_ns)
		begin_wake(c, now);
}

static void waking(struct ww_campaign *c, int64_t now, bool beating)
{
	const struct ww_stage *wake = &c->step[WAKE];

	look_at_alarm(c, now);
	if (beating) {
		mark_life(c, WW_MARK_ALIVE, c->life.back);
		c->early = c->alarm_due;
		ww_campaign_enter(c, PH_SETTLE, now);
	} else if (ww_stage_failed(wake) && !wake->begun &&
		   now - wake->over_ns >= WW_CAMPAIGN_AGAIN_NS &&
		   now - c->wake_ns < c->opt.resume_timeout_ns) {
		ww_stage_begin(&c->step[WAKE]);
	} else {
		give_up(c, now);
	}
}

/* What each phase waits for. */
static void step(struct ww_campaign *c, int64_t now)
{
	int64_t in_phase = now - c->since, last = c->life.last_ns;
	bool beating = c->life.n > c->bytes_at, silent;

	last = last > c->request_ns ? last : c->request_ns;
	silent = now - (last > c->back_ns ? last : c->back_ns) >= c->opt.silence_ns;
	switch (c->phase) {
	case PH_RESET:
		if (c->step[RESET].begun && in_phase < STEP_NS)
			break;
		ww_stage_end(&c->step[RESET]);
		if (ww_campaign_enough(c))
			finish(c, now);
		else
			ready(c, now);
		break;
	case PH_READY:
		ready(c, now);
		break;
	case PH_SUSPEND:
		if (silent) {
			mark_life(c, WW_MARK_SILENT, c->life.gone);
			ww_campaign_enter(c, PH_ASLEEP, now);
		} else if (in_phase >= c->opt.suspend_timeout_ns) {
			end_cycle(c, "no silence", now);
		}
		break;
	case PH_ASLEEP:
		asleep(c, now, beating);
		break;
	case PH_WAKE:
		waking(c, now, beating);
		break;
	case PH_SETTLE:
		if (now - c->life.last_ns >= c->opt.silence_ns) {
			ww_campaign_enter(c, PH_WAKE,
					  now); /* a first byte, then silence: not back yet */
			give_up(c, now);
		} else if (in_phase >= c->opt.settle_ns) {
			end_cycle(c, "ok", now);
		}
		break;
	case PH_OFF:
		if (c->step[OFF].begun && in_phase < STEP_NS)
			break;
		ww_stage_end(&c->step[OFF]);
		ww_campaign_enter(c, PH_DONE, now);
		break;
	case PH_DONE:
		break;
	}
}

/*
 * An adapter is unplugged: its silence says nothing, and nothing is done on such grounds.
 * Time stands still for the campaign until it is back. @return true: it is away
 */
static bool wait_for_adapter(struct ww_campaign *c, int64_t now)
{
	bool away = ww_life_away(&c->life);
	int64_t gone;

	if (c->phase == PH_OFF || c->phase == PH_DONE)
		return false;
	if (away && !c->away_ns)
		c->away_ns = now;
	if (!away && c->away_ns && c->checked_ns) {
		if (now - c->checked_ns < CHECK_NS)
			return true;
		away = !all_there(c);
		c->checked_ns = away ? now : 0;
	}
	if (!c->away_ns)
		return false;
	gone = now - c->away_ns;
	c->was_away = c->was_away || c->phase != PH_READY;
	if (away) {
		if (gone >= c->opt.away_timeout_ns)
			ww_fail(&c->err, -ENODEV,
				"an adapter is unplugged for %lld s: plug it in, and go on with "
				"--continue",
				(long long)(gone / WW_NS_PER_S));
		return true;
	}
	c->away_ns = 0;
	c->back_ns = c->steady_ns = now;
	c->since += gone;
	c->wake_ns += gone;
	c->bytes_at = c->life.n;
	return false;
}

void ww_campaign_look(void *ctx, int64_t now, int64_t late)
{
	struct ww_campaign *c = ctx;

	(void)late;
	if (c->phase == PH_DONE || c->err.code)
		return;
	ww_life_look(&c->life, now);
	if (!wait_for_adapter(c, now))
		step(c, now);
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

/* How many of the cycles wanted were run, and why not all. */
static void tell_end(struct ww_campaign *c, bool open)
{
	uint32_t run = c->done + (open && !c->warming);
	char text[WW_ERROR_TEXT + 64];

	if (c->done >= c->opt.cycles)
		return;
	if (c->end[0])
		snprintf(text, sizeof(text), "%u cycles run: %s", run, c->end);
	else
		snprintf(text, sizeof(text), "%u of %u cycles run: %s", run, c->opt.cycles,
			 c->hung		     ? "the DUT never came back"
			 : c->err.code == -ENODEV    ? "an adapter is unplugged"
			 : c->err.code == -ETIMEDOUT ? "no heartbeat"
			 : c->err.code		     ? c->err.text
						     : "the recording was ended");
	mark(c, WW_MARK_CAMPAIGN_END, text);
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
	bool open;

	if (!c)
		return;
	open = c->phase == PH_SUSPEND || c->phase == PH_ASLEEP || c->phase == PH_WAKE ||
	       c->phase == PH_SETTLE;
	if (c->timer)
		ww_timer_set(c->timer, WW_TIME_MAX, 0);
	ww_stage_end(&c->step[WAKE]);
	ww_stage_end(&c->step[SUSPEND]);
	ww_stage_end(&c->step[RESET]);
	if (open)
		mark(c, WW_MARK_CYCLE_END, "stopped");
	if (c->made)
		tell_end(c, open);
	switch_off(c);
	ww_look_free(c->look_at);
	ww_life_free(&c->life);
	for (size_t i = 0; i < STEPS; i++)
		ww_stage_free(&c->step[i]);
	ww_timer_free(c->timer);
	ww_loop_free(c->loop);
	free((char *)(uintptr_t)c->opt.alive);
	free(c);
}
