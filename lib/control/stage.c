/* SPDX-License-Identifier: MIT */
#include "control/stage.h"

#include <stdio.h>

void ww_stage_mark(struct ww_stage *s, struct ww_interval t, const char *kind, const char *text)
{
	struct ww_mark m = {
		.t = t, .source = s->serial, .cycle = *s->cycle, .kind = kind, .text = text};

	ww_recorder_mark(s->rec, &m, s->err);
}

static void mark_now(struct ww_stage *s, const char *kind, const char *text)
{
	ww_stage_mark(s, (struct ww_interval){0}, kind, text);
}

/* A suspend that is refused is a result; a wake, a reset that fails is a mistake of the setup. */
static void say_status(struct ww_stage *s, const char *how)
{
	char text[WW_ERROR_TEXT];
	bool failed = strncmp(how, "exit ", 5) == 0 && strncmp(how, "exit 0", 6) != 0;

	if (!ww_action_is_command(s->action) || strcmp(s->begin_kind, WW_MARK_REQUEST) == 0 ||
	    (!failed && strncmp(how, "signal", 6) != 0))
		return;
	snprintf(text, sizeof(text), "the %s command failed: %s", s->begin_kind, how);
	ww_recorder_warn(s->rec, text);
}

/*
 * A command works at some time while it runs. Of the others it is known when they took
 * effect: between the first mark and the last, whenever the line was put back.
 */
static void over(struct ww_stage *s, int64_t now_ns)
{
	const char *how = ww_action_how(s->action);
	struct ww_interval t;

	s->begun = false;
	s->failed = ww_action_error(s->action)->code && ww_action_error(s->action)->code != -ETIME;
	s->over_ns = now_ns;
	if (!s->marked)
		mark_now(s, s->begin_kind, s->text);
	if (!ww_action_is_command(s->action) && ww_action_when(s->action, &t) == 0)
		ww_stage_mark(s, (struct ww_interval){t.hi_ns, t.hi_ns}, s->end_kind, how);
	else
		mark_now(s, s->end_kind, how);
	if (ww_action_error(s->action)->code)
		ww_recorder_warn(s->rec, ww_action_error(s->action)->text);
	else
		say_status(s, how);
}

static void changed(void *ctx)
{
	struct ww_stage *s = ctx;
	struct ww_interval t;

	if (!s->begun)
		return;
	if (!s->marked && ww_action_when(s->action, &t) == 0) {
		ww_stage_mark(s, t, s->begin_kind, s->text);
		s->marked = true;
	}
	if (!ww_action_running(s->action))
		over(s, ww_clock_now_ns());
}

void ww_stage_begin(struct ww_stage *s)
{
	struct ww_error err = {0};
	char text[WW_ERROR_TEXT + 16];

	s->over_ns = 0;
	s->failed = false;
	s->marked = ww_action_is_command(s->action);
	if (s->marked)
		mark_now(s, s->begin_kind, s->text);
	s->begun = true;
	if (ww_action_start(s->action, &err) == 0) {
		if (s->begun && !ww_action_running(s->action))
			changed(s);
		return;
	}
	s->begun = false;
	s->failed = true;
	s->over_ns = ww_clock_now_ns();
	if (!s->marked)
		mark_now(s, s->begin_kind, s->text);
	snprintf(text, sizeof(text), "failed: %s", err.text);
	mark_now(s, s->end_kind, text);
	ww_recorder_warn(s->rec, err.text);
}

void ww_stage_end(struct ww_stage *s)
{
	if (!s->action || !s->begun)
		return;
	ww_action_stop(s->action);
	over(s, ww_clock_now_ns());
}

struct ww_interval ww_stage_alarm_set(struct ww_stage *s, struct ww_interval t)
{
	ww_action_alarm_set(s->action, t);
	ww_action_when(s->action, &t);
	return t;
}

void ww_stage_alarm_rings(struct ww_stage *s)
{
	struct ww_interval t = WW_INTERVAL_NONE;

	ww_action_when(s->action, &t);
	ww_stage_mark(s, t, s->begin_kind, s->text);
	ww_stage_mark(s, (struct ww_interval){t.hi_ns, t.hi_ns}, s->end_kind,
		      ww_action_how(s->action));
}

static struct ww_port *port_at(void *ctx, size_t i, bool *more)
{
	return ww_recorder_port(ctx, i, more);
}

int ww_stage_make(struct ww_stage *s, struct ww_loop *loop, const char *text, int64_t alarm_s,
		  struct ww_error *err)
{
	struct ww_action_setup setup = {.loop = loop,
					.ports = {port_at, s->rec},
					.changed = changed,
					.ctx = s};

	if (!text)
		return 0;
	s->form = strdup(text);
	if (!s->form)
		return ww_fail_nomem(err);
	s->text = ww_act_fill(text, alarm_s);
	if (!s->text)
		return ww_fail_nomem(err);
	if (alarm_s) {
		snprintf(s->setting, sizeof(s->setting), "WAKEWATT_RTC=%lld", (long long)alarm_s);
		setup.setting = s->setting;
	}
	return ww_action_new_setup(s->text, &setup, &s->action, err);
}

int ww_stage_alarm(struct ww_stage *s, int64_t alarm_s, struct ww_error *err)
{
	char alarm[40], *text;
	int rc;

	snprintf(alarm, sizeof(alarm), "rtc:%llds", (long long)alarm_s);
	text = ww_action_alarm_s(s->action) ? strdup(alarm) : ww_act_fill(s->form, alarm_s);
	if (!text)
		return ww_fail_nomem(err);
	rc = ww_action_retext(s->action, text, err);
	if (rc < 0) {
		free(text);
		return rc;
	}
	free(s->text);
	s->text = text;
	/* The action has it lent. */
	if (s->setting[0])
		snprintf(s->setting, sizeof(s->setting), "WAKEWATT_RTC=%lld", (long long)alarm_s);
	return 0;
}

bool ww_stage_failed(const struct ww_stage *s)
{
	return s->action && s->failed;
}

void ww_stage_free(struct ww_stage *s)
{
	ww_action_free(s->action);
	free(s->form);
	free(s->text);
}
