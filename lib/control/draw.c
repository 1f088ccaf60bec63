/* SPDX-License-Identifier: MIT */
#include "control/draw.h"

#include <stdio.h>
#include <time.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (OOPSLA 2014). */
static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

int64_t ww_draw(uint64_t seed, uint32_t cycle, int64_t lo, int64_t hi, int64_t step)
{
	uint64_t n = hi > lo ? (uint64_t)((hi - lo) / step) + 1 : 1;

	return lo + (int64_t)(mix(seed + GOLDEN * ((uint64_t)cycle + 1)) % n) * step;
}

uint64_t ww_draw_seed(void)
{
	uint64_t seed = mix((uint64_t)ww_clock_ns(CLOCK_REALTIME)) % 1000000000;

	return seed ? seed : 1;
}

int ww_draw_alarm(const char *text, int64_t range_s[2], struct ww_error *err)
{
	const char *dots = text ? strstr(text, "..") : NULL;
	int64_t lo, hi;
	char low[32];

	if (!dots || strncmp(text, "rtc:", 4) != 0)
		return 0;
	snprintf(low, sizeof(low), "%.*s", (int)(dots - text - 4), text + 4);
	if ((size_t)(dots - text - 4) >= sizeof(low) || ww_duration_parse(low, &lo, NULL) < 0 ||
	    ww_duration_parse(dots + 2, &hi, NULL) < 0 || lo < WW_NS_PER_S || lo > hi ||
	    lo % WW_NS_PER_S || hi % WW_NS_PER_S)
		return ww_fail(err, -EINVAL,
			       "%s: expected whole seconds, the fewest and the most, as in "
			       "rtc:5s..20s",
			       text);
	range_s[0] = lo / WW_NS_PER_S;
	range_s[1] = hi / WW_NS_PER_S;
	return 1;
}
