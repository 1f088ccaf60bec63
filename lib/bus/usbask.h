/* SPDX-License-Identifier: MIT */
/*
 * What the kernel answers only when nobody else has the device locked: while a driver is
 * being bound to it, or while it is being removed, that may take seconds. A process beside
 * ours asks, and is left alone with it where it takes too long.
 */
#ifndef WW_BUS_USBASK_H
#define WW_BUS_USBASK_H

#include "bus/usbfind.h"

#define WW_USB_ASK_MS	    50	 /* in the loop, of a device that was here before */
#define WW_USB_ASK_FIRST_MS 2000 /* before anything runs */

/*
 * d->serial; and *fd, of its node, if fd is not NULL: -1 if it cannot be opened, and then
 * *code tells why (a negative errno). -EAGAIN: no answer in time.
 */
int ww_usb_ask(struct ww_usb_dev *d, int limit_ms, int *fd, int *code);

/* For a worker: a message, with a descriptor beside it unless fd is -1. */
bool ww_worker_say_fd(int to, const void *data, size_t n, int fd);
/* As ww_worker_recv(); *fd: -1 none. Waits at most so long. */
ssize_t ww_worker_recv_fd(int from, void *buf, size_t n, int *fd, int limit_ms);

#endif
