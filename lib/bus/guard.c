/* SPDX-License-Identifier: MIT */
#include "bus/guard.h"

#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* poll() counts in milliseconds; the rest is slept by an absolute time. */
#define LAST_NS	 (2 * WW_NS_PER_MS)
#define SLACK_NS (50 * WW_NS_PER_MS)
#define END_MS	 1500

enum what { DRIVE = 1, BACK };

struct order {
	int32_t what;
	uint32_t id;
	int64_t for_ns;
	struct ww_drive drive;
};

/* ---------------------------------------------------------------- the child */

struct held {
	int sock;
	bool driven;
	struct ww_drive drive;
	struct ww_drive_state state;
	struct ww_pulse pulse;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * WW_NS_PER_S + t.tv_nsec;
}

/* Prompt where that is allowed: what it holds must not be held longer for want of time. */
static void be_prompt(void)
{
	struct sched_param p = {.sched_priority = 2};

	sched_setscheduler(0, SCHED_FIFO, &p);
	mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT);
	prctl(PR_SET_TIMERSLACK, 1UL);
}

/* One order, and the descriptor that came with it; false: the other side is gone. */
static bool hear(int sock, struct order *o, int *fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl;
	struct iovec v = {.iov_base = o, .iov_len = sizeof(*o)};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = &ctl,
			   .msg_controllen = sizeof(ctl)};
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*o))
		return false;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return true;
}

static void say(struct held *h, int stage)
{
	h->pulse.stage = stage;
	ww_worker_say(h->sock, &h->pulse, sizeof(h->pulse));
}

static void fail(struct held *h, int code, int taken)
{
	h->pulse.code = code;
	h->pulse.taken = taken;
	ww_drive_drop(&h->state, &h->drive);
	h->driven = false;
	say(h, WW_PULSE_FAILED);
}

static void put_back(struct held *h, bool pulse, int stage)
{
	int rc;

	if (!h->driven)
		return;
	h->pulse.off.lo_ns = now_ns();
	rc = ww_drive_back(&h->state, &h->drive, pulse);
	h->pulse.off.hi_ns = now_ns();
	if (rc < 0) {
		fail(h, rc, 2);
		return;
	}
	ww_drive_drop(&h->state, &h->drive);
	h->driven = false;
	say(h, stage);
}

/* Until a time, or a word from the other side, or its end. @return true: the time is over */
static bool wait_until(int sock, int64_t t)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	struct timespec ts = {t / WW_NS_PER_S, t % WW_NS_PER_S};
	int64_t left;

	while ((left = t - now_ns()) > LAST_NS) {
		int64_t ms = (left - LAST_NS) / WW_NS_PER_MS + 1;

		if (poll(&p, 1, ms > 60000 ? 60000 : (int)ms) > 0)
			return false;
	}
	while (now_ns() < t)
		clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL);
	return true;
}

static void drive(struct held *h, const struct order *o, int fd)
{
	int rc;

	/* Held already: not a moment without it. */
	if (h->driven && !o->for_ns && memcmp(&h->drive, &o->drive, sizeof(h->drive)) == 0) {
		if (fd >= 0)
			close(fd);
		h->pulse.id = o->id;
		h->pulse.on.lo_ns = h->pulse.on.hi_ns = now_ns();
		say(h, WW_PULSE_ON);
		return;
	}
	put_back(h, false, WW_PULSE_CUT);
	h->drive = o->drive;
	h->drive.path[sizeof(h->drive.path) - 1] = '\0';
	h->pulse = (struct ww_pulse){.id = o->id};
	/* Opening a serial port sets its lines. */
	h->pulse.on.lo_ns = now_ns();
	rc = ww_drive_take(&h->state, &h->drive, fd);
	if (rc < 0) {
		fail(h, rc, 0);
		return;
	}
	h->driven = true;
	h->pulse.input = h->state.input;
	h->pulse.level = h->state.level;
	if (h->drive.kind != WW_DRIVE_TTY || fd >= 0)
		h->pulse.on.lo_ns = now_ns();
	rc = ww_drive_set(&h->state, &h->drive);
	h->pulse.on.hi_ns = now_ns();
	if (rc < 0) {
		ww_drive_back(&h->state, &h->drive, true);
		fail(h, rc, 1);
		return;
	}
	say(h, WW_PULSE_ON);
	if (o->for_ns)
		put_back(h, true,
			 wait_until(h->sock, h->pulse.on.hi_ns + o->for_ns) ? WW_PULSE_OVER
									    : WW_PULSE_CUT);
}

static int guard(void *ctx, int sock)
{
	struct held h = {.sock = sock, .state = {.fd = -1, .line = -1}};
	struct order o;
	int fd;

	(void)ctx;
	be_prompt();
	while (hear(sock, &o, &fd)) {
		if (o.what == DRIVE)
			drive(&h, &o, fd);
		else
			put_back(&h, false, WW_PULSE_OVER);
	}
	put_back(&h, false, WW_PULSE_CUT);
	return 0;
}

/* ------------------------------------------------------------------ our side */

int ww_guard_start(struct ww_guard *g, struct ww_error *err)
{
	const struct ww_worker_setup s = {.name = "wakewatt-guard", .run = guard};

	return ww_worker_start(&g->worker, &s, err);
}

static int tell(struct ww_guard *g, struct order *o, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} ctl = {{0}};
	struct iovec v = {.iov_base = o, .iov_len = sizeof(*o)};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = &ctl;
		m.msg_controllen = sizeof(ctl.buf);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	do
		n = sendmsg(g->worker.fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int ww_guard_drive(struct ww_guard *g, const struct ww_drive *d, int fd, int64_t for_ns)
{
	struct order o = {.what = DRIVE, .id = ++g->id, .for_ns = for_ns, .drive = *d};

	return tell(g, &o, fd);
}

int ww_guard_back(struct ww_guard *g)
{
	struct order o = {.what = BACK};

	return tell(g, &o, -1);
}

int ww_guard_hear(struct ww_guard *g, struct ww_pulse *out)
{
	ssize_t n;

	do
		n = ww_worker_recv(&g->worker, out, sizeof(*out));
	while (n == (ssize_t)sizeof(*out) && out->id != g->id);
	return n == (ssize_t)sizeof(*out) ? 1 : n < 0 ? (int)n : 0;
}

void ww_guard_end(struct ww_guard *g)
{
	ww_worker_end(&g->worker, END_MS);
}

struct ww_interval ww_pulse_length(const struct ww_pulse *p)
{
	return ww_iv_since(p->off, p->on);
}

int64_t ww_pulse_most(int64_t asked_ns)
{
	return asked_ns + asked_ns / 20 + SLACK_NS;
}
