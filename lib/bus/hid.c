/* SPDX-License-Identifier: MIT */
/*
 * A HID device by /dev/hidraw: each report is a message. Reading does not block; writing
 * does, for as long as the device takes to accept a report (five seconds, if it does not),
 * and so a process beside ours does that.
 */
#include "bus/hidfind.h"
#include "bus/portimpl.h"
#include "bus/worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <unistd.h>

#define READS	   64	/* a call */
#define REPORT_MAX 4096 /* HID_MAX_BUFFER_SIZE was that, and is more now: none is so long */
#define GRACE_MS   50

struct hid {
	struct ww_hid_dev dev;
	struct ww_worker writer;
	struct ww_watch *said;
	struct ww_usb_power power;
};

/* ---------------------------------------------------------------- the writer */

struct job {
	int fd;
};

static int writes(void *ctx, int fd)
{
	const struct job *j = ctx;
	uint8_t report[REPORT_MAX + 1];
	size_t n;

	while ((n = ww_worker_hear(fd, report, sizeof(report)))) {
		int code = write(j->fd, report, n) < 0 ? errno : 0;

		if (code && !ww_worker_say(fd, &code, sizeof(code)))
			break;
	}
	return 0;
}

static void on_said(void *ctx, uint32_t events)
{
	struct ww_port *p = ctx;
	struct hid *h = p->impl;
	int code = 0;
	ssize_t n;

	(void)events;
	while (ww_port_alive(p) &&
	       (n = ww_worker_recv(&h->writer, &code, sizeof(code))) != -EAGAIN) {
		if (n <= 0)
			ww_port_lost(p, -EPIPE, "the process that writes to it has ended");
		else if (code == ENODEV || code == EIO || code == ENXIO)
			ww_port_lost(p, -code, "unplugged, or does not take what is sent to it");
		else
			ww_port_lost(p, -code, "does not take what is sent to it: %s",
				     strerror(code));
	}
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
	rc = ww_worker_send(&h->writer, report, n + 1);
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

static void hid_pump(struct ww_port *p)
{
	uint8_t buf[REPORT_MAX];

	for (int i = 0; i < READS && ww_port_alive(p); i++) {
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

/* --------------------------------------------------------------- open and close */

static void hid_close(struct ww_port *p)
{
	struct hid *h = p->impl;

	if (!h)
		return;
	ww_watch_free(h->said);
	ww_worker_end(&h->writer, GRACE_MS);
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

static int open_node(struct ww_port *p, const char *node, struct ww_error *err)
{
	char who[128];

	p->fd = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (p->fd < 0 && (errno == EACCES || errno == EPERM))
		return ww_fail(err, -EACCES,
			       "%s: permission denied for %s: install wakewatt's udev rules "
			       "(60-wakewatt.rules), then plug it in again",
			       p->place, node);
	if (p->fd < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO))
		return ww_fail(err, -ENODEV, "%s: %s is not there (unplugged?)", p->place, node);
	if (p->fd < 0)
		return ww_fail(err, -errno, "%s: %s cannot be opened: %s", p->place, node,
			       strerror(errno));
	if (flock(p->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK && ww_holder(node, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", p->place, node, who);
	return ww_fail(err, -EBUSY, "%s: %s is in use by another program", p->place, node);
}

static int start_writer(struct ww_port *p, struct ww_error *err)
{
	struct hid *h = p->impl;
	struct job j = {p->fd};
	const struct ww_worker_setup s = {.name = "ww-hid-write",
					  .run = writes,
					  .ctx = &j,
					  .keep = &p->fd,
					  .keeps = 1,
					  .dies_with_us = true};
	int rc = ww_worker_start(&h->writer, &s, err);

	if (rc < 0)
		return rc;
	return ww_loop_watch(p->loop, h->writer.fd, EPOLLIN, on_said, p, &h->said, err);
}

/* Reports from before the opening have no time. */
static void purge(struct ww_port *p)
{
	p->mute = true;
	p->empty_ns = WW_TIME_MIN;
	for (int i = 0; i < READS && p->empty_ns == WW_TIME_MIN && ww_port_alive(p); i++)
		hid_pump(p);
	p->mute = false;
}

int ww_hid_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	struct hid *h = calloc(1, sizeof(*h));
	struct ww_usb_want w;
	int rc;

	if (!h)
		return ww_fail_nomem(err);
	h->writer = (struct ww_worker){.fd = -1, .pid_fd = -1};
	p->impl = h;
	p->ops = &hid_ops;
	p->transport.name = "hidraw";
	ww_usb_want(&w, p, place, options, WW_BUS_HID);
	rc = ww_hid_find(&w, place, &h->dev, err);
	if (rc == 0)
		rc = open_node(p, h->dev.node, err);
	if (rc == 0)
		rc = start_writer(p, err);
	if (rc < 0)
		return rc;
	ww_hid_remember(p->memory, &h->dev);
	ww_port_setting(p, "hidraw=%s", h->dev.name);
	if (*h->dev.usb.dir) {
		ww_port_setting(p, "usb=%s interface=%d", h->dev.usb.name, h->dev.interface);
		ww_usb_awake(p, &h->dev.usb, true, &h->power);
	}
	/* Until the host looks, and until the kernel has told. */
	p->transport.delay_max_ns = h->dev.poll_ns + WW_NS_PER_MS;
	purge(p);
	if (p->dead)
		return ww_fail(err, -ENODEV, "%s: unplugged", p->place);
	return 0;
}
