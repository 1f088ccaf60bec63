/* SPDX-License-Identifier: MIT */
#include "bus/usbloop.h"

#if defined(WW_WITH_USB) || defined(WW_WITH_FTDI)

#include <poll.h>
#include <sys/epoll.h>

#define ROUNDS	     16
#define DRAIN_ROUNDS 50
#define DRAIN_US     10000

int ww_usb_xfer_new(struct ww_usbloop *l, struct ww_usb_xfer *x, struct ww_error *err)
{
	struct ww_usb_xfer **more = realloc(l->x, (l->n + 1) * sizeof(*more));

	if (!more)
		return ww_fail_nomem(err);
	l->x = more;
	x->l = l;
	x->in_flight = false;
	x->t = libusb_alloc_transfer(0);
	if (!x->t)
		return ww_fail_nomem(err);
	l->x[l->n++] = x;
	return 0;
}

void LIBUSB_CALL ww_usb_xfer_done(struct libusb_transfer *t)
{
	struct ww_usb_xfer *x = t->user_data;
	struct ww_usbloop *l = x->l;

	x->in_flight = false;
	x->done_ns = ww_loop_now(l->p->loop);
	x->next = NULL;
	*(l->first ? l->last : &l->first) = x;
	l->last = &x->next;
}

bool ww_usb_submit(struct ww_usb_xfer *x)
{
	struct ww_port *p = x->l->p;
	int rc = libusb_submit_transfer(x->t);

	if (rc == 0)
		x->in_flight = true;
	else if (rc == LIBUSB_ERROR_NO_DEVICE)
		ww_port_lost(p, -ENODEV, "unplugged");
	else
		ww_port_lost(p, -EIO, "USB: %s", libusb_error_name(rc));
	return rc == 0;
}

int64_t ww_usbloop_turn(struct ww_usbloop *l)
{
	struct timeval zero = {0, 0};

	for (int i = 0; i < ROUNDS && ww_port_alive(l->p); i++) {
		int64_t before = ww_loop_now(l->p->loop);
		struct ww_usb_xfer *x;

		/* A request that waits for its answer, as libftdi's do, may have ended some
		 * already. */
		libusb_handle_events_timeout_completed(l->c, &zero, NULL);
		if (!l->first) {
			/* Where nothing was in flight, no transfer has told it. */
			if (l->gone)
				ww_port_lost(l->p, -ENODEV, "unplugged");
			return before;
		}
		/* The one that is taken may be in flight again, and have another next. */
		while ((x = l->first) && ww_port_alive(l->p)) {
			l->first = x->next;
			l->take(l->ctx, x);
		}
	}
	return WW_TIME_MIN;
}

/* ------------------------------------------------------------ libusb's descriptors */

static void on_fd(void *ctx, uint32_t events)
{
	struct ww_usbloop *l = ctx;

	(void)events;
	ww_port_pump(l->p);
}

static void LIBUSB_CALL fd_added(int fd, short events, void *ctx)
{
	struct ww_usbloop *l = ctx;
	uint32_t ev = (events & POLLIN ? (uint32_t)EPOLLIN : 0) |
		      (events & POLLOUT ? (uint32_t)EPOLLOUT : 0);

	for (size_t i = 0; i < WW_USB_FDS; i++) {
		if (l->fds[i].w)
			continue;
		l->fds[i].fd = fd;
		/* What cannot be watched is polled by the port's tick all the same. */
		ww_loop_watch(l->p->loop, fd, ev, on_fd, l, &l->fds[i].w, NULL);
		return;
	}
}

static void LIBUSB_CALL fd_removed(int fd, void *ctx)
{
	struct ww_usbloop *l = ctx;

	l->gone = true;
	for (size_t i = 0; i < WW_USB_FDS; i++) {
		if (l->fds[i].w && l->fds[i].fd == fd) {
			ww_watch_free(l->fds[i].w);
			l->fds[i].w = NULL;
		}
	}
}

void ww_usbloop_watch(struct ww_usbloop *l)
{
	const struct libusb_pollfd **list = libusb_get_pollfds(l->c);

	libusb_set_pollfd_notifiers(l->c, fd_added, fd_removed, l);
	for (size_t i = 0; list && list[i]; i++)
		fd_added(list[i]->fd, list[i]->events, l);
	libusb_free_pollfds(list);
}

void ww_usbloop_stop(struct ww_usbloop *l)
{
	struct timeval wait = {0, DRAIN_US};
	bool flying = true;

	if (!l->n) {
		free(l->x);
		l->x = NULL;
		return;
	}
	libusb_set_pollfd_notifiers(l->c, NULL, NULL, NULL);
	for (size_t i = 0; i < WW_USB_FDS; i++) {
		ww_watch_free(l->fds[i].w);
		l->fds[i].w = NULL;
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->x[i]->in_flight)
			libusb_cancel_transfer(l->x[i]->t);
	for (int round = 0; round < DRAIN_ROUNDS && flying; round++) {
		flying = false;
		for (size_t i = 0; i < l->n; i++)
			flying |= l->x[i]->in_flight;
		if (flying)
			libusb_handle_events_timeout_completed(l->c, &wait, NULL);
	}
	/* One that never came back is libusb's: a leak is better than what it may write to. */
	for (size_t i = 0; i < l->n; i++)
		if (!l->x[i]->in_flight)
			libusb_free_transfer(l->x[i]->t);
	free(l->x);
	l->x = NULL;
	l->n = 0;
}

#endif
