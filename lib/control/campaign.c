/* SPDX-License-Identifier: MIT */
/*
 * Cycles of suspend and resume, by commands. The campaign decides only when to act;
 * what happened is read from the trace later, where its marks say what was done when.
 */
#include "capture/capture.h"
#include "control/child.h"

#include <stdio.h>

#define LOOK_NS (20 * WW_NS_PER_MS)

enum phase {
	PH_READY,   /* waiting for a heartbeat before the command */
	PH_SUSPEND, /* command given, waiting for silence */
	PH_ASLEEP,  /* silent, waiting for the time to wake it */
	PH_WAKE,    /* wake given, waiting for a byte */
	PH_SETTLE,  /* back, waiting for quiet time */
	PH_DONE
};

static const char *const phase_name[] = {
	"waiting for the heartbeat", "suspending", "asleep", "waking", "settling", "done"};

struct ww_campaign {
	struct ww_recorder *rec;
	uint32_t serial;
	struct ww_campaign_options opt;
	char *suspend, *wake;
	struct ww_loop *loop;
	struct ww_timer *timer;
	struct ww_child suspend_child, wake_child;
	enum phase phase;
	uint32_t cycle;
	int64_t since;	    /* when the phase began */
	int64_t steady_ns;  /* since when it beats without a silence */
	int64_t wake_ns;    /* when the wake began to be waited for */
	int64_t request_ns; /* when the suspend command was given */
	uint64_t bytes_at;  /* bytes seen when the phase began */
	bool wake_running;  /* its end is still to be marked */
	bool suspend_running;
	bool hung;
	struct ww_error err;
};

static void mark(struct ww_campaign *c, const char *kind, const char *text)
{
	struct ww_mark m = {.source = c->serial, .cycle = c->cycle, .kind = kind, .text = text};

	ww_recorder_mark(c->rec, &m, &c->err);
}

static void enter(struct ww_campaign *c, enum phase p, int64_t now)
{
	int64_t last;

	c->phase = p;
	c->since = c->steady_ns = now;
	ww_recorder_activity(c->rec, c->serial, &last, &c->bytes_at);
}

static void suspend_ended(void *ctx)
{
	struct ww_campaign *c = ctx;
	char how[WW_CHILD_WORDS + 32];

	c->suspend_running = false;
	ww_child_how(&c->suspend_child, how, sizeof(how));
	mark(c, WW_MARK_REQUEST_END, how);
}

static void wake_ended(void *ctx)
{
	struct ww_campaign *c = ctx;
	char how[WW_CHILD_WORDS + 32];

	c->wake_running = false;
	ww_child_how(&c->wake_child, how, sizeof(how));
	mark(c, WW_MARK_WAKE_END, how);
}

static void end_cycle(struct ww_campaign *c, const char *how, int64_t now)
{
	/* A command that still runs belongs to this cycle: its end is marked now. */
	if (c->wake_running) {
		ww_child_end(&c->wake_child);
		c->wake_running = false;
		mark(c, WW_MARK_WAKE_END, "stopped: it still ran at the end of the cycle");
	}
	if (c->suspend_running) {
		ww_child_end(&c->suspend_child);
		c->suspend_running = false;
		mark(c, WW_MARK_REQUEST_END, "stopped: it still ran at the end of the cycle");
	}
	mark(c, WW_MARK_CYCLE_END, how);
	if (c->hung || c->cycle >= c->opt.cycles)
		enter(c, PH_DONE, now);
	else
		enter(c, PH_READY, now);
}

static void begin_cycle(struct ww_campaign *c, int64_t now)
{
	c->cycle++;
	c->request_ns = now;
	enter(c, PH_SUSPEND, now);
	mark(c, WW_MARK_REQUEST, c->suspend);
	c->suspend_running = true;
	if (ww_child_start(&c->suspend_child, c->loop, c->suspend, suspend_ended, c, &c->err) < 0)
		c->suspend_running = false;
}

static void begin_wake(struct ww_campaign *c, int64_t now)
{
	c->wake_ns = now;
	enter(c, PH_WAKE, now);
	if (!c->wake)
		return;
	mark(c, WW_MARK_WAKE, c->wake);
	c->wake_running = true;
	if (ww_child_start(&c->wake_child, c->loop, c->wake, wake_ended, c, &c->err) < 0)
		c->wake_running = false;
}

/*
 * The command is given to a DUT that beats: for longer than the silence that means
 * asleep, and without one.
 */
static void ready(struct ww_campaign *c, int64_t now, int64_t last, uint64_t bytes)
{
	long long waited = (long long)((now - c->since) / WW_NS_PER_S);

	if (bytes == c->bytes_at || now - last >= c->opt.silence_ns)
		c->steady_ns = now;
	if (now - c->steady_ns >= c->opt.silence_ns + c->opt.silence_ns / 4)
		begin_cycle(c, now);
	else if (now - c->since < c->opt.resume_timeout_ns)
		return;
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
		else if (!c->wake || in_phase >= c->opt.asleep_ns)
			begin_wake(c, now);
		break;
	case PH_WAKE:
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
	c->suspend_child.pid_fd = c->suspend_child.out_fd = -1;
	c->wake_child.pid_fd = c->wake_child.out_fd = -1;
	c->opt.cycles = WW_OPT(opt, cycles, 0) ? opt->cycles : 1;
	c->opt.asleep_ns = dflt(WW_OPT(opt, asleep_ns, 0), 3);
	c->opt.suspend_timeout_ns = dflt(WW_OPT(opt, suspend_timeout_ns, 0), 20);
	c->opt.resume_timeout_ns = dflt(WW_OPT(opt, resume_timeout_ns, 0), opt->wake ? 60 : 300);
	c->opt.settle_ns = dflt(WW_OPT(opt, settle_ns, 0), 3);
	c->opt.silence_ns = dflt(WW_OPT(opt, silence_ns, 0), 1);
	c->suspend = strdup(opt->suspend);
	c->wake = WW_OPT(opt, wake, NULL) ? strdup(opt->wake) : NULL;
	if (!c->suspend || (WW_OPT(opt, wake, NULL) && !c->wake))
		rc = ww_fail_nomem(err);
	if (rc == 0)
		rc = ww_loop_new(NULL, &c->loop, err);
	if (rc == 0)
		rc = ww_loop_timer(c->loop, look, c, &c->timer, err);
	if (rc < 0) {
		ww_campaign_free(c);
		return rc;
	}
	now = ww_loop_now(c->loop);
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
	return c->phase == PH_READY ? c->cycle + 1 : c->cycle;
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

void ww_campaign_free(struct ww_campaign *c)
{
	if (!c)
		return;
	if (c->phase != PH_DONE && c->phase != PH_READY)
		mark(c, WW_MARK_CYCLE_END, "stopped");
	tell_end(c);
	ww_child_end(&c->suspend_child);
	ww_child_end(&c->wake_child);
	ww_timer_free(c->timer);
	ww_loop_free(c->loop);
	free(c->suspend);
	free(c->wake);
	free(c);
}
