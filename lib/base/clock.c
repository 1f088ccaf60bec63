/* SPDX-License-Identifier: MIT */
#include "base/base.h"

#include <sys/timex.h>
#include <time.h>

int64_t ww_clock_ns(int clockid)
{
	struct timespec ts;

	if (clock_gettime((clockid_t)clockid, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * WW_NS_PER_S + ts.tv_nsec;
}

int64_t ww_clock_now_ns(void)
{
	return ww_clock_ns(CLOCK_BOOTTIME);
}

/* adjtimex(2) with no mode bits only reads, and needs no privilege. */
static void read_adj(struct ww_anchor *a)
{
	struct timex tx = {0};
	int state = adjtimex(&tx);

	a->adj_state = state;
	a->adj_freq_ppb = 0;
	a->adj_maxerror_ns = -1;
	if (state < 0)
		return;
	/* tx.freq is ppm with a 16-bit fraction. */
	a->adj_freq_ppb = (int32_t)((int64_t)tx.freq * 1000 / 65536);
	a->adj_maxerror_ns = (int64_t)tx.maxerror * WW_NS_PER_US;
}

int ww_anchor_take(struct ww_anchor *out, struct ww_error *err)
{
	struct ww_anchor best = {.width_ns = INT64_MAX};

	for (int i = 0; i < 8; i++) {
		struct ww_anchor a = {0};
		int64_t before = ww_clock_ns(CLOCK_MONOTONIC_RAW);

		a.mono_ns = ww_clock_ns(CLOCK_MONOTONIC);
		a.boot_ns = ww_clock_ns(CLOCK_BOOTTIME);
		a.real_ns = ww_clock_ns(CLOCK_REALTIME);
		a.width_ns = ww_clock_ns(CLOCK_MONOTONIC_RAW) - before;
		if (a.width_ns < best.width_ns)
			best = a;
	}
	if (best.boot_ns == 0)
		return ww_fail(err, -ENOSYS, "CLOCK_BOOTTIME cannot be read on this system");
	read_adj(&best);
	*out = best;
	return 0;
}

int64_t ww_add_sat(int64_t a, int64_t b)
{
	int64_t r;

	if (__builtin_add_overflow(a, b, &r))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return r;
}

static int64_t sub_sat(int64_t a, int64_t b)
{
	int64_t r;

	if (__builtin_sub_overflow(a, b, &r))
		return b < 0 ? INT64_MAX : INT64_MIN;
	return r;
}

struct ww_interval ww_iv_since(struct ww_interval to, struct ww_interval from)
{
	struct ww_interval d;

	if (!ww_iv_ok(to) || !ww_iv_ok(from))
		return WW_INTERVAL_NONE;
	d.lo_ns = from.hi_ns == WW_TIME_MAX || to.lo_ns == WW_TIME_MIN
			  ? WW_TIME_MIN
			  : sub_sat(to.lo_ns, from.hi_ns);
	d.hi_ns = from.lo_ns == WW_TIME_MIN || to.hi_ns == WW_TIME_MAX
			  ? WW_TIME_MAX
			  : sub_sat(to.hi_ns, from.lo_ns);
	return d;
}

int64_t ww_iv_mid(struct ww_interval a)
{
	return a.lo_ns + (int64_t)(((uint64_t)a.hi_ns - (uint64_t)a.lo_ns) / 2);
}
