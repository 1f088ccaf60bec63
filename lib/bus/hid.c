/* SPDX-License-Identifier: MIT */
/*
 * A HID device by /dev/hidraw: each report is a message. Reading does not block. Opening
 * does (the kernel waits 50 ms for old reports, or longer for a device that comes or goes),
 * and writing as well, for as long as the device takes to accept a report (five seconds, if
 * it does not): a process beside ours does both.
 */
#include "bus/hidfind.h"
#include "bus/portimpl.h"
#include "bus/usbask.h"
#include "bus/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <unistd.h>

#define READS	   64	/* a call */
#define REPORT_MAX 4096 /* HID_MAX_BUFFER_SIZE was that, and is more now: none is so long */
#define GRACE_MS   50
#define FIRST_MS   3000 /* to open it, before anything runs */

struct hid {
	struct ww_hid_dev dev;
	struct ww_worker beside; /* opens it, and writes */
	struct ww_watch *said;
	struct ww_usb_power power;
};

/* ---------------------------------------------------------------- the writer */

struct opening {
	int code; /* errno, or 0 and a descriptor beside */
	int64_t empty_ns;
};

static int open_locked(const char *node, int *code)
{
	int fd = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	*code = fd < 0 ? errno : 0;
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	*code = EBUSY;
	close(fd);
	return -1;
}

/* Reports from before the opening have no time. @return the clock when none was left */
static int64_t purge(int fd, uint8_t *buf, size_t n)
{
	int64_t before = ww_clock_now_ns();

	for (int i = 0; i < READS && read(fd, buf, n) > 0; i++)
		before = ww_clock_now_ns();
	return before;
}

static int opens_and_writes(void *ctx, int fd)
{
	const struct hid *h = ctx;
	uint8_t report[REPORT_MAX + 1];
	struct opening o = {0};
	int code, dev = open_locked(h->dev.node, &o.code);
	size_t n;

	/* Before anything is written: what answers that is wanted. */
	if (dev >= 0)
		o.empty_ns = purge(dev, report, sizeof(report));
	if (!ww_worker_say_fd(fd, &o, sizeof(o), dev) || dev < 0)
		return 1;
	while ((n = ww_worker_hear(fd, report, sizeof(report)))) {
		code = write(dev, report, n) < 0 ? errno : 0;
		if (code && !ww_worker_say(fd, &code, sizeof(code)))
			break;
	}
	return 0;
}

static int not_opened(struct ww_port *p, const char *node, int code, struct ww_error *err)
{
	char who[128];

	if (code == EACCES || code == EPERM)
		return ww_fail(err, -EACCES,
			       "%s: permission denied for %s: install wakewatt's udev rules "
			       "(60-wakewatt.rules), then plug it in again",
			       p->place, node);
	if (code == ENOENT || code == ENODEV || code == ENXIO)
		return ww_fail(err, -ENODEV, "%s: %s is not there (unplugged?)", p->place, node);
	if (code != EBUSY)
		return ww_fail(err, -code, "%s: %s cannot be opened: %s", p->place, node,
			       strerror(code));
	if (ww_holder(node, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", p->place, node, who);
	return ww_fail(err, -EBUSY, "%s: %s is in use by another program", p->place, node);
}

/* Its descriptor, once it is open. -EAGAIN: not yet. */
static int take_node(struct ww_port *p, int limit_ms, struct ww_error *err)
{
	struct hid *h = p->impl;
	struct opening o = {.code = EPIPE};
	ssize_t n = ww_worker_recv_fd(h->beside.fd, &o, sizeof(o), &p->fd, limit_ms);

	if (n == -EAGAIN)
		return -EAGAIN;
	if (p->fd < 0)
		return not_opened(p, h->dev.node,
				  n == (ssize_t)sizeof(o) && o.code ? o.code : EPIPE, err);
	ww_port_empty(p, o.empty_ns);
	return 0;
}

static void opened(struct ww_port *p)
{
	struct ww_error err = {0};
	int rc = take_node(p, 0, &err);

	if (rc == 0)
		rc = ww_port_rewatch(p, EPOLLIN);
	if (rc < 0 && rc != -EAGAIN)
		ww_port_lost(p, rc, "cannot be opened: %s", strerror(-rc));
}

/* What the process beside says of what it was to write. */
static void hear(struct ww_port *p)
{
	struct hid *h = p->impl;
	int code = 0;
	ssize_t n;

	while (ww_port_alive(p) &&
	       (n = ww_worker_recv(&h->beside, &code, sizeof(code))) != -EAGAIN) {
		if (n <= 0)
			ww_port_lost(p, -EPIPE, "the process that writes to it has ended");
		else if (code == ENODEV || code == ENXIO)
			ww_port_lost(p, -code, "unplugged");
		else
			ww_port_lost(p, -code, "does not take what is sent to it: %s",
				     strerror(code));
	}
}

static void on_said(void *ctx, uint32_t events)
{
	(void)events;
	ww_port_pump(ctx);
}

static int hid_message(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err)
{
	struct hid *h = p->impl;
	uint8_t report[REPORT_MAX + 1];
	int rc;

	if (n > REPORT_MAX)
		return ww_fail(err, -EMSGSIZE, "%s: a report of %zu bytes", p->place, n);
	/* The kernel wants a number before each; 0 is that of reports without one. */
	report[0] = h->dev.reports.out_id;
	memcpy(report + 1, data, n);
	rc = ww_worker_send(&h->beside, report, n + 1);
	if (rc == -EAGAIN)
		return ww_fail(err, -ENOBUFS, "%s: takes nothing of what is sent to it", p->place);
	if (rc < 0)
		return ww_fail(err, rc, "%s: the process that writes to it has ended", p->place);
	return 0;
}

/* ------------------------------------------------------------------- reading */

static void take_report(struct ww_port *p, const uint8_t *buf, size_t n, int64_t done_ns)
{
	const struct hid *h = p->impl;
	size_t skip = h->dev.reports.numbered ? 1 : 0;

	if (n > skip)
		ww_port_got(p, done_ns, buf + skip, n - skip);
}

static void read_all(struct ww_port *p)
{
	uint8_t buf[REPORT_MAX];

	for (int i = 0; i < READS && p->fd >= 0 && ww_port_alive(p); i++) {
		int64_t before = ww_loop_now(p->loop);
		ssize_t n = read(p->fd, buf, sizeof(buf));
		int code = errno;

		if (n < 0 && code == EAGAIN) {
			ww_port_empty(p, before);
			return;
		}
		if (n > 0)
			take_report(p, buf, (size_t)n, ww_loop_now(p->loop));
		else if (n == 0 || code == EIO || code == ENODEV || code == ENXIO)
			ww_port_lost(p, n ? -code : -ENODEV, "unplugged");
		else if (code != EINTR)
			ww_port_lost(p, -code, "reading: %s", strerror(code));
	}
}

static void hid_pump(struct ww_port *p)
{
	if (p->fd < 0)
		opened(p);
	else
		hear(p);
	if (ww_port_alive(p))
		read_all(p);
}

/* --------------------------------------------------------------- open and close */

static void hid_close(struct ww_port *p)
{
	struct hid *h = p->impl;

	if (!h)
		return;
	ww_watch_free(h->said);
	ww_worker_end(&h->beside, GRACE_MS);
	ww_usb_asleep(&h->power);
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	free(h);
	p->impl = NULL;
}

static const struct ww_port_ops hid_ops = {
	.pump = hid_pump,
	.message = hid_message,
	.close = hid_close,
};

static int start_beside(struct ww_port *p, struct ww_error *err)
{
	struct hid *h = p->impl;
	const struct ww_worker_setup s = {.name = "ww-hid-write",
					  .run = opens_and_writes,
					  .ctx = h,
					  .dies_with_us = true};
	bool again = p->memory && *p->memory;
	int rc = ww_worker_start(&h->beside, &s, err);

	if (rc < 0)
		return rc;
	/* One that comes back is waited for in the loop. */
	rc = take_node(p, again ? 0 : FIRST_MS, err);
	if (rc == -EAGAIN && !again)
		return ww_fail(err, -ETIMEDOUT, "%s: %s does not open", p->place, h->dev.node);
	if (rc < 0 && rc != -EAGAIN)
		return rc;
	return ww_loop_watch(p->loop, h->beside.fd, EPOLLIN, on_said, p, &h->said, err);
}

int ww_hid_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	struct hid *h = calloc(1, sizeof(*h));
	struct ww_usb_want w;
	int rc;

	if (!h)
		return ww_fail_nomem(err);
	h->beside = (struct ww_worker){.fd = -1, .pid_fd = -1};
	p->impl = h;
	p->ops = &hid_ops;
	p->transport.name = "hidraw";
	ww_usb_want(&w, p, place, options, WW_BUS_HID);
	rc = ww_hid_find(&w, place, &h->dev, err);
	if (rc < 0)
		return rc;
	/* Until the host looks, and until the kernel has told. */
	p->transport.delay_max_ns = h->dev.poll_ns + WW_NS_PER_MS;
	rc = start_beside(p, err);
	if (rc < 0)
		return rc;
	ww_hid_remember(p->memory, &h->dev);
	ww_port_setting(p, "hidraw=%s", h->dev.name);
	if (*h->dev.usb.dir) {
		ww_port_setting(p, "usb=%s interface=%d", h->dev.usb.name, h->dev.interface);
		ww_usb_awake(p, &h->dev.usb, true, &h->power);
	}
	if (p->dead)
		return ww_fail(err, -ENODEV, "%s: unplugged", p->place);
	return 0;
}
