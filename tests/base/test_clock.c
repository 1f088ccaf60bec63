/* SPDX-License-Identifier: MIT */
/* Clocks read together, intervals, errors, the sizes that bindings check. */
#include "base/base.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <cmocka.h>

/* Each clock of an anchor lies between two readings of it around the call. */
static void test_anchor(void **state)
{
	static const clockid_t id[] = {CLOCK_BOOTTIME, CLOCK_MONOTONIC, CLOCK_REALTIME};

	(void)state;
	for (int round = 0; round < 100; round++) {
		int64_t before[3], after[3];
		struct ww_anchor a;

		for (size_t i = 0; i < 3; i++)
			before[i] = ww_clock_ns(id[i]);
		assert_int_equal(ww_anchor_take(&a, NULL), 0);
		for (size_t i = 0; i < 3; i++)
			after[i] = ww_clock_ns(id[i]);
		assert_true(a.boot_ns >= before[0] && a.boot_ns <= after[0]);
		assert_true(a.mono_ns >= before[1] && a.mono_ns <= after[1]);
		assert_true(a.width_ns >= 0 && a.width_ns <= after[1] - before[1]);
		assert_true(a.adj_state >= -1 && a.adj_state <= 5);
		assert_true(a.adj_maxerror_ns >= -1);
		/* BOOTTIME includes sleep, MONOTONIC does not. */
		assert_true(a.boot_ns >= a.mono_ns - a.width_ns);
	}
	assert_true(ww_clock_now_ns() <= ww_clock_now_ns());
}

/* An unknown clock is not a time: none before the axis began. */
static void test_no_clock(void **state)
{
	(void)state;
	assert_int_equal(ww_clock_ns(12345), 0);
}

static void test_since(void **state)
{
	static const struct {
		struct ww_interval to, from, want;
	} row[] = {{{10, 12}, {1, 2}, {8, 11}},
		   {{5, 5}, {5, 5}, {0, 0}},
		   {{1, 2}, {3, 9}, {-8, -1}},
		   {{WW_TIME_MIN, 10}, {1, 2}, {WW_TIME_MIN, 9}},
		   {{10, WW_TIME_MAX}, {1, 2}, {8, WW_TIME_MAX}},
		   {{10, 12}, {WW_TIME_MIN, 2}, {8, WW_TIME_MAX}},
		   {{10, 12}, {1, WW_TIME_MAX}, {WW_TIME_MIN, 11}},
		   {{0, 0}, {WW_TIME_MIN, WW_TIME_MIN}, {WW_TIME_MAX, WW_TIME_MAX}},
		   {{WW_TIME_MAX - 1, WW_TIME_MAX - 1}, {-5, -5}, {WW_TIME_MAX, WW_TIME_MAX}}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(row); i++) {
		struct ww_interval d = ww_iv_since(row[i].to, row[i].from);

		assert_true(d.lo_ns == row[i].want.lo_ns && d.hi_ns == row[i].want.hi_ns);
	}
	assert_false(ww_iv_ok(ww_iv_since(WW_INTERVAL_NONE, row[0].to)));
	assert_false(ww_iv_ok(ww_iv_since(row[0].to, WW_INTERVAL_NONE)));
}

static void test_middle(void **state)
{
	(void)state;
	assert_true(ww_iv_mid((struct ww_interval){10, 20}) == 15);
	assert_true(ww_iv_mid((struct ww_interval){-3, -2}) == -3);
	assert_true(ww_iv_mid((struct ww_interval){WW_TIME_MIN, WW_TIME_MAX}) == -1);
	assert_true(ww_iv_mid((struct ww_interval){WW_TIME_MAX, WW_TIME_MAX}) == WW_TIME_MAX);
	assert_true(ww_add_sat(WW_TIME_MAX, 1) == WW_TIME_MAX);
	assert_true(ww_add_sat(WW_TIME_MIN, -1) == WW_TIME_MIN);
	assert_true(ww_add_sat(-5, 3) == -2);
}

static void test_first_error_wins(void **state)
{
	struct ww_error err = {0};

	(void)state;
	assert_int_equal(ww_fail(&err, -EIO, "meter: %s", "no reply"), -EIO);
	assert_int_equal(ww_fail(&err, -ENOSPC, "second"), -ENOSPC);
	assert_int_equal(err.code, -EIO);
	assert_string_equal(err.text, "meter: no reply");
	ww_error_clear(&err);
	assert_int_equal(err.code, 0);
	assert_string_equal(err.text, "");
	assert_int_equal(ww_fail_nomem(&err), -ENOMEM);
	assert_int_equal(err.code, -ENOMEM);
	assert_int_equal(ww_fail(NULL, -EINVAL, "nobody listens"), -EINVAL);
	ww_error_clear(NULL);
}

/* A sentence too long for its place ends with a whole character. */
static void test_long_error(void **state)
{
	char path[2 * WW_ERROR_TEXT] = "";

	(void)state;
	for (size_t lead = 0; lead < 4; lead++) {
		struct ww_error err = {0};
		const unsigned char *p = (const unsigned char *)err.text;
		size_t n;

		memset(path, 'x', lead);
		for (n = lead; n + 3 < sizeof(path); n += 3)
			memcpy(path + n, "\xe2\x82\xac", 4);
		ww_fail(&err, -EIO, "%s", path);
		n = strlen(err.text);
		assert_in_range(n, WW_ERROR_TEXT - 5, WW_ERROR_TEXT - 1);
		assert_int_equal((n - lead) % 3, 0);
		assert_int_equal(p[n - 1], 0xac);
	}
}

static void test_sizes(void **state)
{
	(void)state;
	assert_int_equal(ww_sizeof("ww_error"), sizeof(struct ww_error));
	assert_int_equal(ww_sizeof("ww_channel_stat"), sizeof(struct ww_channel_stat));
	assert_int_equal(ww_sizeof("ww_cycle"), sizeof(struct ww_cycle));
	assert_int_equal(ww_sizeof("no_such"), 0);
	assert_int_equal(ww_abi(), WW_ABI);
	assert_string_equal(ww_version(), WW_VERSION_STRING);
	assert_non_null(strstr(ww_features(), "sqlite"));
}

/* An older caller's shorter structure: what it lacks has its default. */
static void test_older_options(void **state)
{
	struct ww_stat_options o = {.from_ns = 5, .to_ns = 7}, *none = NULL;

	(void)state;
	o.size = offsetof(struct ww_stat_options, to_ns);
	assert_int_equal(WW_OPT(&o, from_ns, 1), 5);
	assert_int_equal(WW_OPT(&o, to_ns, 1), 1);
	o.size = sizeof(o);
	assert_int_equal(WW_OPT(&o, to_ns, 1), 7);
	assert_int_equal(WW_OPT(none, to_ns, 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_anchor),
					   cmocka_unit_test(test_no_clock),
					   cmocka_unit_test(test_since),
					   cmocka_unit_test(test_middle),
					   cmocka_unit_test(test_first_error_wins),
					   cmocka_unit_test(test_long_error),
					   cmocka_unit_test(test_sizes),
					   cmocka_unit_test(test_older_options)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
