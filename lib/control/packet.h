/* SPDX-License-Identifier: MIT */
/* The packet of an action wol:, sent once. */
#ifndef WW_CONTROL_PACKET_H
#define WW_CONTROL_PACKET_H

#include "bus/loop.h"
#include "control/form.h"

/* Is the address one? Nothing is looked up. */
int ww_packet_check(const struct ww_act *a, struct ww_error *err);
/* sent: the clock before and after. Never blocks. */
int ww_packet_send(const struct ww_act *a, struct ww_loop *loop, struct ww_interval *sent,
		   struct ww_error *err);

#endif
