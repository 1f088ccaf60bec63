/* SPDX-License-Identifier: MIT */
#include "report/plot.h"

#include <math.h>

static void fill(struct ww_ticks *k, double lo, double hi, double shift)
{
	double first = ceil((lo + shift) / k->step - 1e-9);

	k->n = 0;
	for (double i = first; k->n < WW_TICKS_MAX; i++) {
		double at = i * k->step - shift;

		if (at > hi + 1e-9 * k->step)
			break;
		k->at[k->n++] = at;
	}
}

void ww_ticks_plain(struct ww_ticks *k, double lo, double hi, size_t most)
{
	static const double steps[] = {1, 2, 5};
	double raw = (hi - lo) / (double)(most > 1 ? most - 1 : 1), ten;

	*k = (struct ww_ticks){0};
	if (!(raw > 0) || !isfinite(raw))
		return;
	ten = pow(10, floor(log10(raw)));
	k->step = 10 * ten;
	for (size_t i = WW_COUNTOF(steps); i-- > 0;)
		if (steps[i] * ten >= raw * (1 - 1e-9))
			k->step = steps[i] * ten;
	k->decimals = k->step < 1 ? (int)ceil(-log10(k->step) - 1e-9) : 0;
	fill(k, lo, hi, 0);
}

void ww_ticks_time(struct ww_ticks *k, double lo, double hi, double shift, size_t most)
{
	static const double steps[] = {1,     2,     5,	    10,	   15,	      30,	60,
				       120,   300,   600,   900,   1800,      3600,	7200,
				       10800, 21600, 43200, 86400, 2 * 86400, 7 * 86400};
	double raw = (hi - lo) / (double)(most > 1 ? most - 1 : 1);
	size_t i = 0;

	if (!(raw > 1)) {
		ww_ticks_plain(k, lo, hi, most);
		return;
	}
	*k = (struct ww_ticks){0};
	while (i + 1 < WW_COUNTOF(steps) && steps[i] < raw * (1 - 1e-9))
		i++;
	k->step = steps[i];
	if (k->step < raw * (1 - 1e-9)) {
		/* Many weeks: whole days, 1, 2 or 5 times a power of ten of them. */
		ww_ticks_plain(k, lo / 86400, hi / 86400, most);
		k->step *= 86400;
		k->decimals = 0;
	}
	fill(k, lo, hi, shift);
}
