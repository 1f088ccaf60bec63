/* SPDX-License-Identifier: MIT */
/* From the words of an action to the device that it drives, as it is plugged in now. */
#ifndef WW_CONTROL_AIM_H
#define WW_CONTROL_AIM_H

#include "bus/port.h"
#include "control/form.h"

/* Ports that are open in this process: the i-th, NULL where that is none; *more: not the last. */
struct ww_open_ports {
	struct ww_port *(*at)(void *ctx, size_t i, bool *more);
	void *ctx;
};

/*
 * Completes a->drive. *fd: a tty of ours that the guard is to be lent, else -1. Tells what
 * cannot work: no such device, in use and by whom, not permitted.
 */
int ww_aim(const struct ww_act *a, const struct ww_open_ports *ports, struct ww_drive *out, int *fd,
	   struct ww_error *err);
/* Why the guard could not drive it; code: its negative errno, taken: see struct ww_pulse. */
int ww_aim_failed(const struct ww_act *a, const struct ww_drive *d, int code, int taken,
		  struct ww_error *err);

#endif
