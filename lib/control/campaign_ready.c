/* SPDX-License-Identifier: MIT */
/*
 * Is there a DUT to be suspended? One that sleeps (the bench was switched off meanwhile)
 * is woken, one that hangs is reset, before it is given up.
 */
#include "control/campaign.h"

#include <stdio.h>

/* A DUT that was reset boots from nothing. */
#define BOOT_NS (300 * WW_NS_PER_S)
/* So much longer than a silence that means asleep, before anything is done about it. */
#define PATIENT_NS (3 * WW_NS_PER_S)

static const char *sign_of(const struct ww_campaign *c)
{
	return c->opt.alive ? c->opt.alive : "heartbeat";
}

struct lasted {
	char s[32];
};

/* "0.7 s", "60 s" */
static struct lasted lasted(int64_t ns)
{
	long long tenths = (long long)((ns + WW_NS_PER_S / 20) / (WW_NS_PER_S / 10));
	struct lasted l;

	if (tenths < 100 && tenths % 10)
		snprintf(l.s, sizeof(l.s), "%lld.%lld s", tenths / 10, tenths % 10);
	else
		snprintf(l.s, sizeof(l.s), "%lld s", (tenths + 5) / 10);
	return l;
}

void ww_campaign_tell(struct ww_campaign *c, const char *what)
{
	char text[WW_ERROR_TEXT], before[40] = "before the first cycle";

	if (c->cycle)
		snprintf(before, sizeof(before), "after cycle %u", c->cycle);
	snprintf(text, sizeof(text), "%s: %s", before, what);
	ww_recorder_warn(c->rec, text);
}

/* No sign of life since then. */
static int64_t quiet_since(const struct ww_campaign *c)
{
	return c->life.n == c->bytes_at || c->life.last_ns < c->since ? c->since : c->life.last_ns;
}

static int64_t patience(const struct ww_campaign *c)
{
	int64_t t = c->opt.resume_timeout_ns;

	return c->phase == PH_RESET && t < BOOT_NS ? BOOT_NS : t;
}

/* A DUT that sleeps is woken once; an alarm of its own was set before, or never. */
static bool can_wake(const struct ww_campaign *c)
{
	return c->phase == PH_READY && c->step[WAKE].action && !c->alarm && !c->roused;
}

/* How long nothing comes before something is done about it. */
static int64_t grace(const struct ww_campaign *c)
{
	int64_t most = c->opt.resume_timeout_ns;

	return c->opt.silence_ns + (PATIENT_NS < most ? PATIENT_NS : most);
}

static const char *tried(const struct ww_campaign *c)
{
	return c->roused && c->again ? ", also not after the wake and reset actions"
	       : c->roused	     ? ", also not after the wake action"
	       : c->again	     ? ", also not after the reset action"
				     : "";
}

static void no_beat(struct ww_campaign *c, int64_t now)
{
	struct lasted waited = lasted(now - c->since);

	if (c->phase == PH_RESET) {
		ww_fail(&c->err, -ETIMEDOUT,
			"the DUT never came back, and no %s in %s after its reset: does it "
			"start by itself at boot?",
			sign_of(c), waited.s);
	} else if (c->opt.alive) {
		ww_fail(&c->err, -ETIMEDOUT,
			"no lasting sign of life (%s) in %s%s: does the DUT run, and is this "
			"what shows it?",
			sign_of(c), waited.s, tried(c));
	} else if (c->life.n == c->bytes_at) {
		ww_fail(&c->err, -ETIMEDOUT,
			"no byte from the DUT in %s%s: does its heartbeat run, and is this the "
			"right port and baud rate?",
			waited.s, tried(c));
	} else {
		ww_fail(&c->err, -ETIMEDOUT,
			"no steady heartbeat in %s%s: a beat slower than the silence that "
			"means asleep (%lld ms) needs a longer one",
			waited.s, tried(c), (long long)(c->opt.silence_ns / WW_NS_PER_MS));
	}
}

/* What is waited for is said once, also where no terminal shows it. */
static void say_waiting(struct ww_campaign *c, int64_t now, bool wakes)
{
	char text[WW_ERROR_TEXT];

	c->waited = true;
	snprintf(text, sizeof(text), "no %s%s in %s: %swaiting up to %s%s",
		 c->life.n == c->bytes_at ? "" : "steady ", sign_of(c), lasted(now - c->since).s,
		 wakes ? "the wake action is given, then " : "", lasted(patience(c)).s,
		 c->phase == PH_READY && c->step[RESET].action ? ", then it is reset" : "");
	ww_campaign_tell(c, text);
}

/* In no cycle: a cycle's own wake is another. */
static void rouse(struct ww_campaign *c, int64_t now)
{
	c->step[WAKE].cycle = &c->no_cycle;
	c->roused = true;
	c->wake_ns = now;
	ww_stage_begin(&c->step[WAKE]);
}

static void silent(struct ww_campaign *c, int64_t now)
{
	bool wakes = can_wake(c) && now - quiet_since(c) >= grace(c);
	const struct ww_stage *wake = &c->step[WAKE];

	if (wakes || !c->waited)
		say_waiting(c, now, wakes);
	if (wakes)
		rouse(c, now);
	else if (c->roused && ww_stage_failed(wake) && !wake->begun &&
		 now - wake->over_ns >= WW_CAMPAIGN_AGAIN_NS)
		ww_stage_begin(&c->step[WAKE]);
}

static enum ww_ready give_up(struct ww_campaign *c, int64_t now)
{
	char text[WW_ERROR_TEXT];

	if (c->phase != PH_READY || !c->step[RESET].action || c->again) {
		no_beat(c, now);
		return WW_READY_WAIT;
	}
	snprintf(text, sizeof(text), "no %s%s in %s%s: the reset action is given",
		 c->life.n == c->bytes_at ? "" : "steady ", sign_of(c), lasted(now - c->since).s,
		 tried(c));
	ww_campaign_tell(c, text);
	c->again = true;
	return WW_READY_RESET;
}

/* It beats for longer than the silence that means asleep, and without one. */
enum ww_ready ww_campaign_ready(struct ww_campaign *c, int64_t now)
{
	int64_t from = c->roused && c->phase == PH_READY ? c->wake_ns : c->since;

	if (c->life.n == c->bytes_at || now - c->life.last_ns >= c->opt.silence_ns)
		c->steady_ns = now;
	if (now - c->steady_ns >= c->opt.silence_ns + c->opt.silence_ns / 4)
		return WW_READY_GO;
	if (now - from >= patience(c) && now - from > grace(c) + WW_CAMPAIGN_LOOK_NS)
		return give_up(c, now);
	if (now - c->since >= grace(c))
		silent(c, now);
	return WW_READY_WAIT;
}

void ww_campaign_ready_over(struct ww_campaign *c)
{
	ww_stage_end(&c->step[WAKE]);
	c->step[WAKE].cycle = &c->cycle;
	c->roused = c->waited = false;
}
