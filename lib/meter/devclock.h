/* SPDX-License-Identifier: MIT */
/*
 * A device that counts its own time, seen from the host: each message bounds by how much
 * the two differ, all of them together bound it far better, and the bounds widen as the
 * two quartz crystals may drift.
 */
#ifndef WW_METER_DEVCLOCK_H
#define WW_METER_DEVCLOCK_H

#include "base/base.h"

struct ww_devclock {
	bool set;
	int64_t lo_ns, hi_ns; /* host minus device */
	int64_t at_ns;	      /* of the device, when these were true */
	unsigned torn;	      /* times that no one difference could be right: begun anew */
};

/* The device's moment dev_ns lies in `host`, of which either side may be open. */
void ww_devclock_bound(struct ww_devclock *c, int64_t dev_ns, struct ww_interval host);
/* When that was, for the host. */
struct ww_interval ww_devclock_host(const struct ww_devclock *c, int64_t dev_ns);

#endif
