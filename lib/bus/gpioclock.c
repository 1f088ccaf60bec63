/* SPDX-License-Identifier: MIT */
#include "bus/gpio.h"

/* Two readings that disagree by more than their widths and this are a suspend. */
#define STEP_NS (10 * WW_NS_PER_US)
/* A stamp this much older than its delivery is of another clock. */
#define OLDEST_NS (3600 * WW_NS_PER_S)

void ww_gpio_clock_anchor(struct ww_gpio_clock *c, const struct ww_anchor *a)
{
	int64_t off = a->boot_ns - a->mono_ns;
	int64_t d = off - c->off_ns;

	if (!c->known) {
		*c = (struct ww_gpio_clock){.known = true,
					    .off_ns = off,
					    .width_ns = a->width_ns,
					    .old_off_ns = off,
					    .old_width_ns = a->width_ns,
					    .old_until_ns = INT64_MIN,
					    .new_from_ns = INT64_MIN};
	} else if (d > STEP_NS + a->width_ns + c->width_ns) {
		c->old_off_ns = c->off_ns;
		c->old_width_ns = c->width_ns;
		c->old_until_ns = c->seen_ns;
		c->new_from_ns = a->mono_ns;
		c->off_ns = off;
		c->width_ns = a->width_ns;
	} else if (a->width_ns < c->width_ns) {
		/* The same stretch, read more narrowly. */
		c->off_ns = off;
		c->width_ns = a->width_ns;
	}
	c->seen_ns = a->mono_ns;
}

struct ww_interval ww_gpio_shift(const struct ww_gpio_clock *c, const struct ww_anchor *a,
				 int64_t stamp_ns, int64_t empty_ns)
{
	struct ww_interval t = {stamp_ns + c->off_ns - c->width_ns,
				stamp_ns + c->off_ns + c->width_ns};
	int64_t age = a->mono_ns + a->width_ns - stamp_ns;
	int64_t real_age = a->real_ns + a->width_ns - stamp_ns;

	if (age >= 0 && age < OLDEST_NS) {
		if (stamp_ns < c->new_from_ns)
			t.lo_ns = stamp_ns + c->old_off_ns - c->old_width_ns;
		if (stamp_ns <= c->old_until_ns)
			t.hi_ns = stamp_ns + c->old_off_ns + c->old_width_ns;
	} else if (real_age >= 0 && real_age < OLDEST_NS) {
		/* CLOCK_REALTIME may have been stepped since: no earlier than known empty. */
		t.lo_ns = a->boot_ns - real_age;
		t.hi_ns = t.lo_ns + 2 * a->width_ns;
	} else {
		t = (struct ww_interval){empty_ns, a->boot_ns};
	}
	/* It was delivered: whatever the clocks say, it was not in the future. */
	if (t.hi_ns > a->boot_ns + a->width_ns)
		t.hi_ns = a->boot_ns + a->width_ns;
	if (t.lo_ns > t.hi_ns)
		t.lo_ns = t.hi_ns;
	return t;
}
