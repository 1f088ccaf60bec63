/* SPDX-License-Identifier: MIT */
/* What came of the cycles so far, whether it is enough, and how long it goes on. */
#include "control/campaign.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* A judge that has not answered by then does not hold up the campaign. */
#define JUDGE_NS (60 * WW_NS_PER_S)

void ww_campaign_count(struct ww_campaign *c, const char *how, int64_t now)
{
	bool good = strcmp(how, "ok") == 0 && !c->early;

	c->spent_ns += now - c->begun_ns;
	c->spent++;
	if (c->warming) {
		c->warm++;
	} else {
		c->done++;
		c->good += good && !c->was_away;
		c->bad += !good && (!c->was_away || c->hung);
		c->unknown += c->was_away && !c->hung;
	}
	if (c->look_at)
		ww_look_ask(c->look_at, c->cycle);
}

static void take_found(struct ww_campaign *c)
{
	if (c->look_at)
		ww_look_take(c->look_at, &c->found);
}

bool ww_campaign_judged(struct ww_campaign *c, int64_t now)
{
	take_found(c);
	if (!c->opt.until_failure && !c->opt.until_width_ns)
		return true;
	return !c->look_at || c->spent == 0 || c->found.cycle == c->cycle ||
	       now - c->since >= JUDGE_NS;
}

static bool failed(const struct ww_campaign *c)
{
	return c->bad > 0 || (c->found.cycle == c->cycle && c->found.last_failed);
}

static uint64_t least(const struct ww_campaign *c)
{
	return c->opt.until_least ? c->opt.until_least : WW_LOOK_LEAST;
}

static bool narrow(const struct ww_campaign *c)
{
	return c->opt.until_width_ns && c->found.cycle && c->found.rc >= 0 &&
	       c->found.n >= least(c) && c->found.width_ms <= (double)c->opt.until_width_ns / 1e6;
}

static void say_width(struct ww_campaign *c, const char *head)
{
	struct ww_str s = {0};

	ww_str_add(&s, head);
	if (c->found.latency < 0 || !isfinite(c->found.width_ms)) {
		ww_str_add(&s, "the median cannot be told yet");
	} else {
		ww_str_addf(&s, "the median of %s is known to ", ww_latency_name(c->found.latency));
		ww_str_fixed(&s, c->found.width_ms, 2);
		ww_str_addf(&s, " ms (99 %%) from %llu cycles", (unsigned long long)c->found.n);
	}
	if (!s.bad)
		snprintf(c->end, sizeof(c->end), "%s", s.p);
	ww_str_free(&s);
}

bool ww_campaign_enough(struct ww_campaign *c)
{
	take_found(c);
	if (c->opt.until_failure && failed(c)) {
		snprintf(c->end, sizeof(c->end), "cycle %u failed", c->cycle);
		return true;
	}
	if (narrow(c)) {
		say_width(c, "");
		return true;
	}
	if (c->done < c->opt.cycles)
		return false;
	if (c->opt.until_width_ns)
		say_width(c, "all cycles were run, and ");
	else if (c->opt.until_failure)
		snprintf(c->end, sizeof(c->end), "all cycles were run, and none failed");
	return true;
}

/* ---------------------------------------------------------------- progress */

const char *ww_campaign_phase(const struct ww_campaign *c)
{
	static const char *const name[] = {"waiting for the heartbeat",
					   "suspending",
					   "asleep",
					   "waking",
					   "settling",
					   "resetting",
					   "switching off",
					   "done"};

	if (c->hung)
		return "the DUT never came back";
	if (c->away_ns)
		return "an adapter is unplugged";
	return c->phase == PH_READY && c->opt.alive ? "waiting for a sign of life" : name[c->phase];
}

static bool between(const struct ww_campaign *c)
{
	return c->phase == PH_READY || c->phase == PH_RESET;
}

uint32_t ww_campaign_progress(const struct ww_campaign *c, const char **phase)
{
	if (phase)
		*phase = ww_campaign_phase(c);
	return between(c) ? c->cycle + 1 : c->cycle;
}

/* The width of a median goes with the square root of the cycles. */
static double cycles_left(const struct ww_campaign *c)
{
	double most = (double)(c->opt.cycles - c->done), warm = 0, n;

	if (c->opt.warmup > c->warm)
		warm = (double)(c->opt.warmup - c->warm);
	if (c->opt.until_width_ns && c->found.n && isfinite(c->found.width_ms)) {
		n = (double)c->found.n *
		    pow(c->found.width_ms * 1e6 / (double)c->opt.until_width_ns, 2);
		n = fmax(n, (double)least(c)) - (double)c->found.n;
		most = fmin(most, fmax(n, 0));
	}
	return most + warm;
}

static int64_t time_left(const struct ww_campaign *c)
{
	double each, left;

	if (c->spent == 0 || c->done >= c->opt.cycles)
		return c->spent ? 0 : -1;
	each = (double)c->spent_ns / c->spent;
	left = each * cycles_left(c);
	if (!between(c))
		left -= fmin((double)(ww_loop_now(c->loop) - c->begun_ns), each);
	return (int64_t)fmax(left, 0);
}

void ww_campaign_state(const struct ww_campaign *c, struct ww_campaign_state *out)
{
	bool judged = c->found.cycle && c->found.rc >= 0;

	*out = (struct ww_campaign_state){.cycle = ww_campaign_progress(c, NULL),
					  .cycles = c->opt.cycles + c->opt.warmup + c->stopped,
					  .ok = judged ? c->found.ok : c->good,
					  .failed = judged ? c->found.failed : c->bad,
					  .other = judged ? c->found.other : c->unknown,
					  .latency = judged ? c->found.latency : -1,
					  .median_ms = judged ? c->found.median_ms : NAN,
					  .width_ms = judged ? c->found.width_ms : INFINITY,
					  .left_ns = time_left(c),
					  .phase = ww_campaign_phase(c),
					  .end = c->end};
}
