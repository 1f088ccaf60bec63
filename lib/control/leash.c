/* SPDX-License-Identifier: MIT */
#include "control/leash.h"

#include <signal.h>
#include <time.h>

static int leash(void *ctx, int sock)
{
	const struct timespec grace = {.tv_nsec = 200 * WW_NS_PER_MS};
	pid_t leader = 0, next;

	(void)ctx;
	while (ww_worker_hear(sock, &next, sizeof(next)) == sizeof(next))
		leader = next;
	if (leader <= 0 || kill(-leader, SIGTERM) < 0)
		return 0;
	nanosleep(&grace, NULL);
	kill(-leader, SIGKILL);
	return 0;
}

int ww_leash_start(struct ww_worker *w, struct ww_error *err)
{
	const struct ww_worker_setup s = {.name = "wakewatt-leash", .run = leash};

	return ww_worker_start(w, &s, err);
}

void ww_leash_hold(struct ww_worker *w, pid_t leader)
{
	ww_worker_send(w, &leader, sizeof(leader));
}
