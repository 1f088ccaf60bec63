/* SPDX-License-Identifier: MIT */
/*
 * The unit of the "usecs" that the kernel prints for a callback. Up to 5.9 it divided ns by
 * 1024 and called the quotient microseconds (drivers/base/power/main.c). Stamps tell: what lies
 * between call and return is 1.024 times the figure, or just it. Where they cannot, the form of
 * the lines tells the kernel's age.
 */
#include "analysis/pmwork.h"

/* Shorter ones are mostly the printing of their own lines. */
#define LEAST_NS (2 * WW_NS_PER_MS)

enum verdict { UNKNOWN, MICRO, SHIFTED };

/*
 * Each callback votes. Stamps hold the call and the printing besides, so they are never
 * shorter than the time printed: one that is within 1.2 % is no 1.024.
 */
static enum verdict by_stamps(const struct ww_pm_work *w)
{
	size_t micro = 0, shifted = 0, i;
	double ratio;

	for (i = 0; i < w->devices; i++) {
		const struct ww_pm_device *d = &w->device[i];

		if (!(d->from & 1) || !ww_iv_ok(d->printed) || !ww_iv_ok(d->length) ||
		    d->printed.lo_ns < LEAST_NS ||
		    d->length.hi_ns - d->length.lo_ns > d->printed.lo_ns / 200)
			continue;
		ratio = (double)ww_iv_mid(d->length) / (double)d->printed.lo_ns;
		if (ratio > 0.995 && ratio < 1.012)
			micro++;
		else if (ratio >= 1.0225 && ratio < 1.032)
			shifted++;
	}
	if (micro == shifted)
		return UNKNOWN;
	return micro > shifted ? MICRO : SHIFTED;
}

static enum verdict by_age(const struct ww_pm_work *w)
{
	const char *p = w->c.kernel;
	char *end;
	unsigned long major = strtoul(p, &end, 10), minor;

	if (*p >= '0' && *p <= '9' && *end == '.') {
		minor = strtoul(end + 1, NULL, 10);
		if (major < 5 || (major == 5 && minor < 8))
			return SHIFTED;
		if (major > 5 || minor >= 10)
			return MICRO;
	}
	if (w->generation == 'A' || w->generation == 'B')
		return SHIFTED;
	return MICRO;
}

static struct ww_interval shifted(struct ww_interval v)
{
	/* n means at least n and less than n + 1 units. */
	v.lo_ns = v.lo_ns / 1000 * 1024;
	v.hi_ns = v.lo_ns + 1024;
	return v;
}

void ww_pm_units(struct ww_pm_work *w)
{
	enum verdict v;
	size_t i;

	if (w->generation == 0)
		return;
	v = by_stamps(w);
	w->usecs_known = v != UNKNOWN;
	if (v == UNKNOWN)
		v = by_age(w);
	w->usecs_1024 = v == SHIFTED;
	for (i = 0; i < w->devices; i++) {
		struct ww_pm_device *d = &w->device[i];

		if (!ww_iv_ok(d->printed))
			continue;
		if (w->usecs_1024)
			d->printed = shifted(d->printed);
		if (!ww_iv_ok(d->length))
			d->length = d->printed;
	}
}
