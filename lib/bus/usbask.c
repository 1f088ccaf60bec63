/* SPDX-License-Identifier: MIT */
#include "bus/usbask.h"
#include "bus/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	char serial[WW_SYSFS_PATH + 16]; /* path */
	char node[64];			 /* "" not wanted */
};

struct reply {
	int code;
	char serial[96];
};

bool ww_worker_say_fd(int to, const void *data, size_t n, int fd)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {0};
	struct iovec v = {.iov_base = (void *)(uintptr_t)data, .iov_len = n};
	struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

	if (fd >= 0) {
		m.msg_control = c.room;
		m.msg_controllen = sizeof(c.room);
		c.h.cmsg_level = SOL_SOCKET;
		c.h.cmsg_type = SCM_RIGHTS;
		c.h.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&c.h), &fd, sizeof(fd));
	}
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)n;
}

ssize_t ww_worker_recv_fd(int from, void *buf, size_t n, int *fd, int limit_ms)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = {0};
	struct iovec v = {.iov_base = buf, .iov_len = n};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = c.room,
			   .msg_controllen = sizeof(c.room)};
	struct pollfd p = {.fd = from, .events = POLLIN};
	ssize_t k;

	*fd = -1;
	if (limit_ms > 0)
		poll(&p, 1, limit_ms);
	k = recvmsg(from, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (k < 0)
		return errno == EAGAIN || errno == EINTR ? -EAGAIN : 0;
	if (m.msg_controllen >= sizeof(struct cmsghdr) && c.h.cmsg_level == SOL_SOCKET &&
	    c.h.cmsg_type == SCM_RIGHTS && c.h.cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(&c.h), sizeof(*fd));
	return k;
}

static int ask(void *ctx, int fd)
{
	const struct question *q = ctx;
	struct reply r = {0};
	int node = -1, text = open(q->serial, O_RDONLY | O_CLOEXEC);
	ssize_t n = text >= 0 ? read(text, r.serial, sizeof(r.serial) - 1) : 0;

	/* As ww_sysfs_read(): the first line, without blanks at its end. */
	for (ssize_t i = 0; i < n; i++)
		if (r.serial[i] == '\n')
			n = i;
	while (n > 0 && r.serial[n - 1] == ' ')
		n--;
	r.serial[n > 0 ? n : 0] = '\0';
	if (*q->node) {
		node = open(q->node, O_RDWR | O_CLOEXEC);
		r.code = node < 0 ? -errno : 0;
	}
	return !ww_worker_say_fd(fd, &r, sizeof(r), node);
}

int ww_usb_ask(struct ww_usb_dev *d, int limit_ms, int *fd, int *code)
{
	struct question q = {0};
	const struct ww_worker_setup s = {.name = "ww-usb-ask",
					  .run = ask,
					  .ctx = &q,
					  .dies_with_us = true};
	struct ww_worker w;
	struct reply r;
	int got = -1;
	ssize_t n;

	snprintf(q.serial, sizeof(q.serial), "%s/serial", d->dir);
	if (fd) {
		snprintf(q.node, sizeof(q.node), "%s", d->node);
		*fd = -1;
	}
	if (ww_worker_start(&w, &s, NULL) < 0)
		return -EAGAIN;
	n = ww_worker_recv_fd(w.fd, &r, sizeof(r), &got, limit_ms);
	ww_worker_end(&w, 0);
	if (n != (ssize_t)sizeof(r)) {
		if (got >= 0)
			close(got);
		return -EAGAIN;
	}
	r.serial[sizeof(r.serial) - 1] = '\0';
	memcpy(d->serial, r.serial, sizeof(d->serial));
	if (fd) {
		*fd = got;
		*code = r.code;
	}
	return 0;
}
