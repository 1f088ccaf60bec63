/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "control/campaign.h"

int ww_campaign_run(struct ww_campaign *c, int wake_fd, struct ww_error *err)
{
	struct pollfd p[3] = {{.fd = ww_recorder_fd(c->rec), .events = POLLIN},
			      {.fd = ww_campaign_fd(c), .events = POLLIN},
			      {.fd = wake_fd, .events = POLLIN}};
	int rc;

	do {
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			return ww_fail(err, -errno, "campaign: poll: %s", strerror(errno));
		rc = ww_recorder_dispatch(c->rec, err);
		if (rc > 0)
			rc = ww_campaign_dispatch(c, err);
	} while (rc > 0 && !(p[2].revents & (POLLIN | POLLHUP | POLLERR | POLLNVAL)));
	return rc;
}
