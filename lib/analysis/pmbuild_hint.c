/* SPDX-License-Identifier: MIT */
/*
 * Lines of drivers that are printed on one side of the sleep only. Where the kernel tells
 * little of itself they show how near to the sleep its last and its first lines are.
 */
#include "analysis/pmbuild.h"

struct hint {
	const char *text;
	uint8_t n;
	bool begins, up;
};

#define BEGINS(text, up)                                                                           \
	{                                                                                          \
		text, sizeof(text) - 1, true, up                                                   \
	}
#define HOLDS(text, up)                                                                            \
	{                                                                                          \
		text, sizeof(text) - 1, false, up                                                  \
	}

static const struct hint hints[] = {
	BEGINS("OOM killer enabled", true),
	BEGINS("random: crng reseeded", true),
	BEGINS("ACPI: EC: interrupt blocked", false),
	BEGINS("ACPI: EC: interrupt unblocked", true),
	BEGINS("ACPI: EC: event blocked", false),
	BEGINS("ACPI: EC: EC stopped", false),
	BEGINS("ACPI: EC: event unblocked", true),
	BEGINS("ACPI: EC: EC started", true),
	BEGINS("ACPI: PM: Saving platform NVS", false),
	BEGINS("PM: Saving platform NVS", false),
	BEGINS("ACPI: PM: Restoring platform NVS", true),
	BEGINS("PM: Restoring platform NVS", true),
	BEGINS("x86: Booting SMP configuration", true),
	BEGINS("smpboot: Booting Node", true),
	BEGINS("Broke affinity for irq", false),
	HOLDS(": no longer affine to CPU", false),
	HOLDS("] Synchronizing SCSI cache", false),
	HOLDS("] Stopping disk", false),
	HOLDS("] Starting disk", true),
	HOLDS(": System wakeup enabled by ACPI", false),
	HOLDS(": System wakeup disabled by ACPI", true),
	HOLDS(" default/read/poll queues", true),
	HOLDS(": Booted secondary processor", true),
	HOLDS("VIPT I-cache on CPU", true),
	HOLDS(": found redistributor", true),
};

void ww_pmbuild_hint(struct ww_pmbuild *b, struct ww_slice m, int64_t t)
{
	size_t i;

	if (b->s.side != WW_PM_DOWN || b->ftrace || b->s.booted || m.n < 12 ||
	    !(b->s.console || b->s.devices || b->s.frozen))
		return;
	for (i = 0; i < WW_COUNTOF(hints); i++) {
		const struct hint *h = &hints[i];

		if (m.n < h->n || (h->begins ? memcmp(m.p, h->text, h->n) != 0
					     : memmem(m.p, m.n, h->text, h->n) == NULL))
			continue;
		if (!h->up)
			ww_pmbuild_down(b, t);
		else if (b->w->c.mode != WW_PM_MODE_DISK || b->s.slept_mark)
			ww_pmbuild_turn(b, t);
		return;
	}
}
