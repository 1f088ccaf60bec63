/* SPDX-License-Identifier: MIT */
/* The actions of a campaign, what is drawn for them, and what was there before. */
#include "control/campaign.h"

#include <stdio.h>

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

static int make_actions(struct ww_campaign *c, const char *const text[STEPS], struct ww_error *err)
{
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

static int make_steps(struct ww_campaign *c, const struct ww_campaign_options *opt,
		      struct ww_error *err)
{
	const char *text[STEPS] = {opt->suspend, WW_OPT(opt, wake, NULL), WW_OPT(opt, reset, NULL),
				   WW_OPT(opt, off, NULL)};
	const char *alive = WW_OPT(opt, alive, NULL);
	char alarm[40];
	int rc = ww_draw_alarm(text[WAKE], c->alarm_s, err);

	if (rc < 0)
		return rc;
	if (rc == 1) {
		snprintf(alarm, sizeof(alarm), "rtc:%llds", (long long)c->alarm_s[1]);
		text[WAKE] = alarm;
	}
	rc = make_actions(c, text, err);
	if (rc < 0)
		return rc;
	if (alive) {
		c->opt.alive = strdup(alive);
		if (!c->opt.alive)
			return ww_fail_nomem(err);
	}
	c->life.rec = c->rec;
	c->life.loop = c->loop;
	c->life.err = &c->err;
	return ww_life_new(&c->life, c->serial, c->opt.alive, err);
}

/* ------------------------------------------------------------- drawn, and found */

static bool draws(const struct ww_campaign *c)
{
	return c->alarm_s[1] > 0 || c->opt.asleep_max_ns > c->opt.asleep_ns;
}

int ww_campaign_draw(struct ww_campaign *c)
{
	struct ww_mark m = {.source = c->serial, .cycle = c->cycle, .kind = "asleep"};
	char text[48];
	int rc = 0;

	c->asleep_ns = c->opt.asleep_ns;
	if (!draws(c))
		return 0;
	if (c->alarm_s[1]) {
		int64_t s = ww_draw(c->opt.seed, c->cycle, c->alarm_s[0], c->alarm_s[1], 1);

		snprintf(text, sizeof(text), "%lld s", (long long)s);
		rc = ww_stage_alarm(&c->step[WAKE], s, &c->err);
		if (rc == 0)
			rc = ww_stage_alarm(&c->step[SUSPEND], s, &c->err);
	} else {
		c->asleep_ns = ww_draw(c->opt.seed, c->cycle, c->opt.asleep_ns,
				       c->opt.asleep_max_ns, WW_NS_PER_MS);
		snprintf(text, sizeof(text), "%lld ms", (long long)(c->asleep_ns / WW_NS_PER_MS));
	}
	m.text = text;
	return rc < 0 ? rc : ww_recorder_mark(c->rec, &m, &c->err);
}

/* A trace that is gone on with: how far its campaign was. */
static int find_past(struct ww_campaign *c, struct ww_error *err)
{
	struct ww_past past;
	int rc;

	if (!c->rec->opt.append)
		return 0;
	rc = ww_past_read(c->rec->path, &past, err);
	if (rc < 0)
		return rc;
	c->cycle = past.last;
	c->done = past.done;
	c->warm = past.warm;
	c->stopped = past.stopped;
	if (c->done >= c->opt.cycles)
		return ww_fail(err, -EALREADY,
			       "%s: all %u cycles are there; --cycles asks for more", c->rec->path,
			       c->done);
	if (past.seed && !c->opt.seed)
		c->opt.seed = past.seed;
	return 0;
}

static int take_past(struct ww_campaign *c, struct ww_error *err)
{
	int rc = find_past(c, err);
	char text[32];

	if (rc < 0)
		return rc;
	if (c->opt.until_width_ns && !c->rec->path)
		return ww_fail(err, -EINVAL,
			       "how well the median is known is found from the trace: a width to "
			       "end at needs one in a file");
	if (draws(c)) {
		c->opt.seed = c->opt.seed ? c->opt.seed : ww_draw_seed();
		snprintf(text, sizeof(text), "%llu", (unsigned long long)c->opt.seed);
		rc = ww_recorder_meta(c->rec, "campaign.seed", text, err);
	}
	if (rc == 0 && c->rec->path && c->rec->opt.form == WW_FORM_FILE &&
	    (c->opt.look || c->opt.until_failure || c->opt.until_width_ns))
		rc = ww_look_new(c->rec->path, draws(c), &c->look_at, err);
	return rc < 0 ? rc : 0;
}

/* ------------------------------------------------------------------------ new */

static int64_t dflt(int64_t v, int64_t seconds)
{
	return v > 0 ? v : seconds * WW_NS_PER_S;
}

static void take_options(struct ww_campaign *c, const struct ww_campaign_options *opt)
{
	c->opt.cycles = WW_OPT(opt, cycles, 0) ? opt->cycles : 1;
	c->opt.asleep_ns = dflt(WW_OPT(opt, asleep_ns, 0), 3);
	c->opt.asleep_max_ns = WW_OPT(opt, asleep_max_ns, 0);
	c->opt.suspend_timeout_ns = dflt(WW_OPT(opt, suspend_timeout_ns, 0), 20);
	c->opt.resume_timeout_ns =
		dflt(WW_OPT(opt, resume_timeout_ns, 0), WW_OPT(opt, wake, NULL) ? 60 : 300);
	c->opt.settle_ns = dflt(WW_OPT(opt, settle_ns, 0), 3);
	c->opt.silence_ns = dflt(WW_OPT(opt, silence_ns, 0), 1);
	c->opt.seed = WW_OPT(opt, seed, 0);
	c->opt.warmup = WW_OPT(opt, warmup, 0);
	c->opt.until_failure = WW_OPT(opt, until_failure, 0);
	c->opt.until_width_ns = WW_OPT(opt, until_width_ns, 0);
	c->opt.look = WW_OPT(opt, look, 0);
	c->opt.until_least = WW_OPT(opt, until_least, 0);
	c->opt.away_timeout_ns = dflt(WW_OPT(opt, away_timeout_ns, 0), 3600);
}

static int make(struct ww_campaign *c, const struct ww_campaign_options *opt, struct ww_error *err)
{
	int rc = ww_loop_new(NULL, &c->loop, err);

	if (rc == 0)
		rc = ww_loop_timer(c->loop, ww_campaign_look, c, &c->timer, err);
	if (rc == 0)
		rc = make_steps(c, opt, err);
	return rc == 0 ? take_past(c, err) : rc;
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
	if (serial == 0 && !WW_OPT(opt, alive, NULL))
		return ww_fail(err, -EINVAL, "cycles need a serial port to see the DUT come back");
	c = calloc(1, sizeof(*c));
	if (!c)
		return ww_fail_nomem(err);
	c->rec = r;
	c->serial = serial;
	c->phase = PH_DONE; /* nothing is done before all is there */
	c->off_done = true;
	take_options(c, opt);
	rc = make(c, opt, err);
	if (rc < 0) {
		ww_campaign_free(c);
		return rc;
	}
	now = ww_loop_now(c->loop);
	c->off_done = false;
	c->made = true;
	ww_campaign_enter(c, PH_READY, now);
	ww_timer_set(c->timer, now + WW_CAMPAIGN_LOOK_NS, WW_CAMPAIGN_LOOK_NS);
	*out = c;
	return 0;
}
