/* SPDX-License-Identifier: MIT */
#include "meter/devclock.h"
#include "meter/pace.h"

/* 100 ppm each: what quartz of consumer devices may be off. */
#define DRIFT 5000 /* a ns for each so many */

static int64_t drift(const struct ww_devclock *c, int64_t dev_ns)
{
	int64_t dt = ww_since(dev_ns, c->at_ns);

	return (dt < 0 ? -(dt + 1) : dt) / DRIFT;
}

void ww_devclock_bound(struct ww_devclock *c, int64_t dev_ns, struct ww_interval host)
{
	int64_t lo = host.lo_ns == WW_TIME_MIN ? WW_TIME_MIN : ww_since(host.lo_ns, dev_ns);
	int64_t hi = host.hi_ns == WW_TIME_MAX ? WW_TIME_MAX : ww_since(host.hi_ns, dev_ns);

	if (c->set) {
		int64_t d = drift(c, dev_ns);
		int64_t was_lo = ww_add_sat(c->lo_ns, -d), was_hi = ww_add_sat(c->hi_ns, d);

		if (was_lo > hi || was_hi < lo) {
			c->torn++;
		} else {
			lo = was_lo > lo ? was_lo : lo;
			hi = was_hi < hi ? was_hi : hi;
		}
	}
	*c = (struct ww_devclock){true, lo, hi, dev_ns, c->torn};
}

struct ww_interval ww_devclock_host(const struct ww_devclock *c, int64_t dev_ns)
{
	int64_t d = drift(c, dev_ns);

	return (struct ww_interval){ww_add_sat(dev_ns, ww_add_sat(c->lo_ns, -d)),
				    ww_add_sat(dev_ns, ww_add_sat(c->hi_ns, d))};
}
