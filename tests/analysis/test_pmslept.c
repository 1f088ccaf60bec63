/* SPDX-License-Identifier: MIT */
/* The kernel's word on its sleep, beside the silence of its console. */
#include "pmhand.h"

/* Two lines 40 ms apart by the kernel's clock, and so far apart by the bench's. */
static struct hand silent(int64_t bench_ns, int64_t told_ns)
{
	struct hand h = hand_new(1000 * MS, 0);
	struct ww_pm_line *l;

	for (int i = 0; i < 4; i++) {
		int64_t at = 90000 * MS + i * MS + (i >= 2 ? bench_ns : 0);

		h.t = (1000 + i) * MS + (i >= 2 ? 40 * MS : 0);
		l = hand_line(&h, 0, -1);
		l->lo_ns = at;
		l->hi_ns = at + MS / 2;
	}
	h.w->c.sleeps = 1;
	h.w->c.slept = (struct ww_interval){told_ns, told_ns + MS};
	return h;
}

static void check(int64_t bench_ns, int64_t told_ns, size_t said, int64_t lo, int64_t hi)
{
	struct hand h = silent(bench_ns, told_ns);

	ww_pm_slept(h.w);
	assert_int_equal(h.w->contradictions.n, said);
	assert_int_equal(h.w->c.slept.lo_ns, lo);
	assert_in_range(h.w->c.slept.hi_ns, hi, hi + 2 * MS);
	ww_pm_work_free(h.w);
}

/* A sleep of less than the silence is one that may be. */
static void no_longer(void **state)
{
	(void)state;
	check(2300 * MS, 2140 * MS, 0, 2140 * MS, 2141 * MS);
	check(2300 * MS, 1500 * MS, 0, 1500 * MS, 1501 * MS);
}

/* An RTC of whole seconds: within one of them, and no longer than the silence. */
static void whole_seconds(void **state)
{
	(void)state;
	check(2300 * MS, 2810 * MS, 1, 1810 * MS, 2301 * MS);
	check(300 * MS, 810 * MS, 1, 0, 301 * MS);
}

/* What no RTC explains stays as it was told, and contradicted. */
static void beyond(void **state)
{
	(void)state;
	check(2300 * MS, 9000 * MS, 1, 9000 * MS, 9001 * MS);
}

/* Without the bench's clock there is nothing beside it. */
static void alone(void **state)
{
	struct hand h = silent(2300 * MS, 2810 * MS);

	(void)state;
	for (size_t i = 0; i < h.w->lines; i++)
		h.w->line[i].lo_ns = h.w->line[i].hi_ns = WW_NO_TIME;
	ww_pm_slept(h.w);
	assert_int_equal(h.w->contradictions.n, 0);
	assert_int_equal(h.w->c.slept.hi_ns, 2811 * MS);
	assert_true(ww_pm_slept_told(h.w));
	ww_pm_work_free(h.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_longer),
		cmocka_unit_test(whole_seconds),
		cmocka_unit_test(beyond),
		cmocka_unit_test(alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
