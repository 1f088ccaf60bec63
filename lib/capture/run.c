/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>

#include <string.h>

#include "base/base.h"

int ww_recorder_run(struct ww_recorder *r, int wake_fd, struct ww_error *err)
{
	struct pollfd p[2] = {{.fd = ww_recorder_fd(r), .events = POLLIN},
			      {.fd = wake_fd, .events = POLLIN}};
	int rc;

	do {
		/* A signal is the business of another thread: this one only looks again. */
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return ww_fail(err, -errno, "recorder: poll: %s", strerror(errno));
		rc = ww_recorder_dispatch(r, err);
	} while (rc > 0 && !(p[1].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)));
	return rc;
}
