/* SPDX-License-Identifier: MIT */
/*
 * Something done to a DUT, and when. What drives a line is done by the guard, which was
 * forked when the action was made; commands by a shell; a packet by one call.
 */
#include "control/action.h"
#include "base/str.h"
#include "bus/guard.h"
#include "control/child.h"
#include "control/leash.h"
#include "control/packet.h"

#include <stdio.h>
#include <sys/epoll.h>

#define LEASH_END_MS 500
#define ANSWER_NS    (2 * WW_NS_PER_S) /* the guard answers within this, beyond the pulse */

struct ww_action {
	struct ww_act act;
	struct ww_action_setup setup;
	struct ww_loop *loop;
	bool own_loop, guarded, running, known;
	struct ww_guard guard;
	struct ww_watch *watch;
	struct ww_timer *late;
	struct ww_child child;
	struct ww_worker leash; /* of a command */
	int show_fd;
	int64_t start_ns;
	struct ww_drive drive; /* as it is plugged in */
	struct ww_interval when, length;
	char how[WW_CHILD_WORDS + 64];
	struct ww_error err;
};

static void changed(struct ww_action *a)
{
	if (a->setup.changed)
		a->setup.changed(a->setup.ctx);
}

static void over(struct ww_action *a)
{
	a->running = false;
	ww_timer_set(a->late, WW_TIME_MAX, 0);
	changed(a);
}

static void at(struct ww_action *a, int64_t lo_ns, int64_t hi_ns)
{
	a->when = (struct ww_interval){lo_ns + a->act.delay_min_ns, hi_ns + a->act.delay_max_ns};
	a->known = true;
}

/* ------------------------------------------------------------------ the guard */

static void ms_text(char *out, size_t n, double ns)
{
	ww_fixed_text(out, n, ns / 1e6, 1);
}

static void judge(struct ww_action *a, const struct ww_pulse *p)
{
	struct ww_interval len = ww_pulse_length(p);
	bool held = !a->act.for_ns;
	char ms[350], asked[32];

	a->length = len;
	ms_text(ms, sizeof(ms), (double)ww_iv_mid(len));
	snprintf(a->how, sizeof(a->how), "%s %.40s ms%s", held ? "held for" : "pulse of", ms,
		 p->stage == WW_PULSE_CUT ? ", cut short" : "");
	if (held || len.hi_ns <= ww_pulse_most(a->act.for_ns))
		return;
	ww_num_text(asked, sizeof(asked), (double)a->act.for_ns / 1e6);
	snprintf(a->how, sizeof(a->how), "too long: pulse of %.40s ms instead of %s ms", ms, asked);
	ww_fail(&a->err, -ETIME,
		"%s: the line was driven for %.40s ms instead of %s ms: this machine was too busy "
		"(real-time priority helps: root, or a limit `rtprio`)",
		a->act.text, ms, asked);
}

static void failed(struct ww_action *a, const struct ww_pulse *p)
{
	ww_aim_failed(&a->act, &a->drive, p->code, p->taken, &a->err);
	snprintf(a->how, sizeof(a->how), "failed: %.200s", a->err.text);
}

static void guard_gone(struct ww_action *a)
{
	ww_watch_free(a->watch);
	a->watch = NULL;
	if (!a->running)
		return;
	ww_fail(&a->err, -EIO, "%s: the process that holds the line has ended", a->act.text);
	snprintf(a->how, sizeof(a->how), "failed: its guard has ended");
	over(a);
}

static void take_word(struct ww_action *a, const struct ww_pulse *p)
{
	switch (p->stage) {
	case WW_PULSE_ON:
		at(a, p->on.lo_ns, p->on.hi_ns);
		if (a->act.for_ns) {
			changed(a);
			return;
		}
		snprintf(a->how, sizeof(a->how), "held %s", a->act.word);
		break;
	case WW_PULSE_FAILED:
		failed(a, p);
		break;
	default:
		judge(a, p);
	}
	if (a->running)
		over(a);
}

static void on_guard(void *ctx, uint32_t events)
{
	struct ww_action *a = ctx;
	struct ww_pulse p;
	int rc = 1;

	(void)events;
	while (a->watch && (rc = ww_guard_hear(&a->guard, &p)) == 1)
		take_word(a, &p);
	if (rc == 0 && a->watch)
		guard_gone(a);
}

static void on_late(void *ctx, int64_t now_ns, int64_t late_ns)
{
	struct ww_action *a = ctx;

	(void)now_ns;
	(void)late_ns;
	if (!a->running)
		return;
	ww_fail(&a->err, -ETIMEDOUT, "%s: the device does not answer", a->act.text);
	snprintf(a->how, sizeof(a->how), "failed: the device does not answer");
	over(a);
}

static int start_drive(struct ww_action *a, struct ww_error *err)
{
	int fd, rc = ww_aim(&a->act, &a->setup.ports, &a->drive, &fd, err);

	if (rc < 0)
		return rc;
	rc = ww_guard_drive(&a->guard, &a->drive, fd, a->act.for_ns);
	if (rc < 0)
		return ww_fail(err, rc, "%s: the process that holds the line has ended",
			       a->act.text);
	ww_timer_set(a->late, a->start_ns + a->act.for_ns + ANSWER_NS, 0);
	return 0;
}

/* ------------------------------------------------------------------ the others */

static void on_end(void *ctx)
{
	struct ww_action *a = ctx;

	ww_leash_hold(&a->leash, 0);
	at(a, a->start_ns, ww_loop_now(a->loop));
	ww_child_how(&a->child, a->how, sizeof(a->how));
	over(a);
}

static int start_command(struct ww_action *a, struct ww_error *err)
{
	int rc = ww_child_start(&a->child, a->loop, a->act.text, a->setup.setting, on_end, a, err);

	a->child.show_fd = a->show_fd;
	if (rc == 0)
		ww_leash_hold(&a->leash, a->child.pid);
	return rc;
}

static void end_command(struct ww_action *a)
{
	ww_child_end(&a->child);
	ww_leash_hold(&a->leash, 0);
}

static int start_packet(struct ww_action *a, struct ww_error *err)
{
	struct ww_interval sent;
	int rc = ww_packet_send(&a->act, a->loop, &sent, err);

	if (rc < 0)
		return rc;
	at(a, sent.lo_ns, sent.hi_ns);
	snprintf(a->how, sizeof(a->how), "sent");
	over(a);
	return 0;
}

void ww_action_alarm_set(struct ww_action *a, struct ww_interval t)
{
	at(a, t.lo_ns, t.hi_ns);
	snprintf(a->how, sizeof(a->how), "alarm of %lld s", (long long)a->act.alarm_s);
}

/* ---------------------------------------------------------------------- public */

static int prepare(struct ww_action *a, struct ww_error *err)
{
	int fd, rc;

	if (a->act.kind == WW_ACT_WOL)
		return ww_packet_check(&a->act, err);
	if (a->act.kind == WW_ACT_COMMAND)
		return ww_leash_start(&a->leash, err);
	if (a->act.kind == WW_ACT_RTC)
		return 0;
	rc = ww_aim(&a->act, &a->setup.ports, &a->drive, &fd, err);
	if (rc == 0)
		rc = ww_guard_start(&a->guard, err);
	a->guarded = rc == 0;
	if (rc == 0)
		rc = ww_loop_watch(a->loop, a->guard.worker.fd, EPOLLIN, on_guard, a, &a->watch,
				   err);
	return rc;
}

int ww_action_new_setup(const char *text, const struct ww_action_setup *s, struct ww_action **out,
			struct ww_error *err)
{
	struct ww_action *a = calloc(1, sizeof(*a));
	int rc;

	*out = NULL;
	if (!a)
		return ww_fail_nomem(err);
	a->length = (struct ww_interval){1, 0};
	a->setup = *s;
	a->loop = s->loop;
	a->child.pid_fd = a->child.out_fd = -1;
	a->leash = (struct ww_worker){.fd = -1, .pid_fd = -1};
	rc = ww_act_parse(text, &a->act, err);
	if (rc == 0 && !a->loop) {
		rc = ww_loop_new(NULL, &a->loop, err);
		a->own_loop = rc == 0;
	}
	if (rc == 0)
		rc = ww_loop_timer(a->loop, on_late, a, &a->late, err);
	if (rc == 0)
		rc = prepare(a, err);
	if (rc < 0) {
		ww_action_free(a);
		return rc;
	}
	*out = a;
	return 0;
}

int ww_action_new(const char *text, struct ww_action **out, struct ww_error *err)
{
	const struct ww_action_setup s = {0};

	return ww_action_new_setup(text, &s, out, err);
}

int ww_action_start(struct ww_action *a, struct ww_error *err)
{
	int rc = 0;

	if (a->running)
		return ww_fail(err, -EBUSY, "%s: still runs", a->act.text);
	a->start_ns = ww_loop_now(a->loop);
	a->known = false;
	a->length = (struct ww_interval){1, 0};
	a->how[0] = '\0';
	ww_error_clear(&a->err);
	a->running = true;
	if (a->act.kind == WW_ACT_COMMAND)
		rc = start_command(a, err);
	else if (a->act.kind == WW_ACT_WOL)
		rc = start_packet(a, err);
	else if (a->act.kind != WW_ACT_RTC)
		rc = start_drive(a, err);
	if (a->act.kind == WW_ACT_RTC) {
		a->running = false;
		ww_action_alarm_set(a, (struct ww_interval){a->start_ns, a->start_ns});
	}
	if (rc < 0)
		a->running = false;
	return rc < 0 ? rc : 0;
}

void ww_action_show(struct ww_action *a, int fd)
{
	a->show_fd = fd > 0 ? fd : 0;
}

int ww_action_fd(const struct ww_action *a)
{
	return ww_loop_fd(a->loop);
}

int ww_action_dispatch(struct ww_action *a, struct ww_error *err)
{
	int rc = a->own_loop ? ww_loop_dispatch(a->loop, err) : 0;

	if (rc < 0)
		return rc;
	if (a->err.code)
		return ww_fail(err, a->err.code, "%s", a->err.text);
	return a->running;
}

int ww_action_when(const struct ww_action *a, struct ww_interval *out)
{
	if (!a->known)
		return -EAGAIN;
	*out = a->when;
	return 0;
}

const char *ww_action_how(const struct ww_action *a)
{
	return a->how;
}

bool ww_action_is_command(const struct ww_action *a)
{
	return a->act.kind == WW_ACT_COMMAND;
}

bool ww_action_running(const struct ww_action *a)
{
	return a->running;
}

const struct ww_act *ww_action_form(const struct ww_action *a)
{
	return &a->act;
}

struct ww_interval ww_action_length(const struct ww_action *a)
{
	return a->length;
}

int64_t ww_action_alarm_s(const struct ww_action *a)
{
	return a->act.alarm_s;
}

int ww_action_retext(struct ww_action *a, const char *text, struct ww_error *err)
{
	struct ww_act act;
	int rc = a->running ? ww_fail(err, -EBUSY, "%s: still runs", a->act.text)
			    : ww_act_parse(text, &act, err);

	if (rc < 0)
		return rc;
	if (act.kind != a->act.kind) {
		ww_act_free(&act);
		return ww_fail(err, -EINVAL, "%s: an action of another kind", text);
	}
	ww_act_free(&a->act);
	a->act = act;
	return 0;
}

int ww_action_there(const struct ww_action *a, struct ww_error *err)
{
	struct ww_drive drive;
	int fd;

	return a->guarded ? ww_aim(&a->act, &a->setup.ports, &drive, &fd, err) : 0;
}

const struct ww_error *ww_action_error(const struct ww_action *a)
{
	return &a->err;
}

void ww_action_stop(struct ww_action *a)
{
	if (!a->running)
		return;
	if (a->act.kind == WW_ACT_COMMAND)
		end_command(a);
	else if (a->guarded)
		ww_guard_back(&a->guard);
	a->running = false;
	snprintf(a->how, sizeof(a->how), "stopped: it still ran at the end of the cycle");
}

void ww_action_free(struct ww_action *a)
{
	if (!a)
		return;
	if (a->act.kind == WW_ACT_COMMAND)
		end_command(a);
	ww_worker_end(&a->leash, LEASH_END_MS);
	ww_watch_free(a->watch);
	if (a->guarded)
		ww_guard_end(&a->guard);
	ww_timer_free(a->late);
	if (a->own_loop)
		ww_loop_free(a->loop);
	ww_act_free(&a->act);
	free(a);
}
