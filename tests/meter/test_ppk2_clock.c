/* SPDX-License-Identifier: MIT */
/*
 * Times of a PPK2's samples where nothing is lost: whatever its quartz and however busy the
 * machine, each interval holds the truth and no two samples lie apart as if one were missing.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "analysis/series.h"
#include "meter/ppk2.h"

#define US	WW_NS_PER_US
#define MS	WW_NS_PER_MS
#define SECONDS 40

static uint32_t seed;

static int64_t chance(int64_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (int64_t)((uint64_t)(seed >> 8) * (uint64_t)below >> 24);
}

/* A read each 4 ms or so; now and then the machine is away for long. */
static int64_t next_read(int64_t now, int64_t busy)
{
	now += 3817 * US + chance(200 * US);
	return chance(100) ? now : now + chance(busy);
}

static void check(int64_t ppm, int64_t busy)
{
	const struct ww_source_info src = {.period_ns = WW_PPK2_T_NS};
	int64_t now = 1000 * WW_NS_PER_S, empty = now, begun = now + 700, before = -WW_READING_FAR;
	struct ww_ppk2_clock c;
	uint64_t given = 0;

	seed = 7;
	ww_ppk2_clock_init(&c);
	for (int64_t end = now + SECONDS * WW_NS_PER_S; now < end; empty = now) {
		const char *why = NULL;
		int64_t frame;
		uint64_t n;

		now = next_read(now, busy);
		/* All that was made until the latest frame of USB, of a millisecond each. */
		frame = now - 30 * US - (now - 30 * US) % MS;
		n = frame > begun ? (uint64_t)((frame - begun) * 100 / (1000000 + ppm)) : 0;
		if (n <= given)
			continue;
		assert_int_equal(ww_ppk2_clock_read(&c, (struct ww_interval){empty, now}, n - given,
						    &why),
				 0);
		for (; given < n; given++) {
			struct ww_interval t = ww_ppk2_clock_next(&c);
			int64_t truth = begun + (int64_t)given * (1000000 + ppm) / 100;
			int64_t place = ww_reading_place(&src, before, t.lo_ns, t.hi_ns);

			if (truth < t.lo_ns || truth > t.hi_ns)
				fail_msg("sample %llu: %lld ns after its interval's begin, %lld "
					 "before its end",
					 (unsigned long long)given, (long long)(truth - t.lo_ns),
					 (long long)(t.hi_ns - truth));
			if (given && (place < before || place - before > WW_PPK2_T_NS * 3 / 2))
				fail_msg("sample %llu: %lld ns after the one before",
					 (unsigned long long)given, (long long)(place - before));
			before = place;
		}
	}
	assert_true(given > (SECONDS - 1) * UINT64_C(100000));
}

static void exact(void **unused)
{
	(void)unused;
	check(0, 20 * MS);
}

static void slow_quartz(void **unused)
{
	(void)unused;
	check(95, 20 * MS);
}

static void fast_quartz(void **unused)
{
	(void)unused;
	check(-95, 20 * MS);
}

static void busy_machine(void **unused)
{
	(void)unused;
	check(50, 200 * MS);
	check(-50, 200 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact),
		cmocka_unit_test(slow_quartz),
		cmocka_unit_test(fast_quartz),
		cmocka_unit_test(busy_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
