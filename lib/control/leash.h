/* SPDX-License-Identifier: MIT */
/*
 * A process beside ours that ends a command, and what the command started, where we are
 * killed and cannot: a command left behind would act on the DUT of the next recording.
 */
#ifndef WW_CONTROL_LEASH_H
#define WW_CONTROL_LEASH_H

#include "bus/worker.h"

int ww_leash_start(struct ww_worker *w, struct ww_error *err);
/* The leader of the group that runs now; 0: none. */
void ww_leash_hold(struct ww_worker *w, pid_t leader);

#endif
