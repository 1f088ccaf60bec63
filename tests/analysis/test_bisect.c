/* SPDX-License-Identifier: MIT */
/* Good, bad or skip: how often the rule is wrong, by simulation, and what it says of builds. */
#include "analysis/bisect.h"
#include "analysis/cycleset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct ww_error err;
static uint64_t seed = 1;

static double uniform(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* One build, looked at after each cycle. */
static int build(double slow, double part, double certainty, int most)
{
	struct ww_bet b;

	ww_bet_begin(&b, part, certainty);
	for (int i = 0; i < most && b.verdict == WW_BISECT_SKIP; i++)
		ww_bet_add(&b, uniform() < slow ? WW_BET_SLOW : WW_BET_FAST);
	return b.verdict;
}

/*
 * At the border itself, where errors are most frequent, and beyond it: at most 1 - certainty
 * are wrong, though each was looked at 100 times. 2000 builds: 5 % of them have a standard
 * deviation of 0.5 %.
 */
static void test_errors(void **state)
{
	static const double part[] = {0.5, 0.1}, certainty[] = {0.9, 0.95, 0.99};
	const int builds = 2000;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(part); i++)
		for (size_t j = 0; j < WW_COUNTOF(certainty); j++) {
			double a = 1 - certainty[j];
			int bad = 0, good = 0, limit;

			limit = (int)(builds * a + 4 * sqrt(builds * a * (1 - a)));
			for (int k = 0; k < builds; k++) {
				/* The best of the bad and the worst of the good. */
				good += build(part[i] * 1.0001, part[i], certainty[j], 100) ==
					WW_BISECT_GOOD;
				bad += build(part[i] * 0.9999, part[i], certainty[j], 100) ==
				       WW_BISECT_BAD;
			}
			if (good > limit || bad > limit)
				fail_msg("part %g, %g: %d and %d of %d wrong", part[i],
					 certainty[j], good, bad, builds);
		}
}

/* Builds that differ are decided, and soon. */
static void test_power(void **state)
{
	int decided = 0;
	struct ww_bet b;

	(void)state;
	for (int k = 0; k < 1000; k++)
		decided += build(0.9, 0.5, 0.99, 40) == WW_BISECT_BAD;
	assert_true(decided > 960);
	ww_bet_begin(&b, 0.5, 0.99);
	assert_int_equal(ww_bet_more_cycles(&b), 9);
	for (int i = 0; i < 9; i++) {
		assert_int_equal(b.verdict, WW_BISECT_SKIP);
		ww_bet_add(&b, WW_BET_SLOW);
		assert_int_equal(ww_bet_more_cycles(&b), 8 - i);
	}
	assert_int_equal(b.verdict, WW_BISECT_BAD);
	assert_int_equal(b.at, 9);
	/* Half and half is never decided. */
	ww_bet_begin(&b, 0.5, 0.99);
	for (int i = 0; i < 1000; i++)
		ww_bet_add(&b, i % 2 ? WW_BET_SLOW : WW_BET_FAST);
	assert_int_equal(b.verdict, WW_BISECT_SKIP);
	assert_true(ww_bet_more_cycles(&b) == UINT64_MAX);
}

/* What cannot be told apart from the threshold decides nothing. */
static void test_either(void **state)
{
	struct ww_bet b;

	(void)state;
	ww_bet_begin(&b, 0.5, 0.9);
	for (int i = 0; i < 100; i++)
		ww_bet_add(&b, WW_BET_EITHER);
	assert_int_equal(b.verdict, WW_BISECT_SKIP);
}

/* The opposite later: such a build is none to judge. */
static void test_changed(void **state)
{
	struct ww_bet b;

	(void)state;
	ww_bet_begin(&b, 0.5, 0.99);
	for (int i = 0; i < 9; i++)
		ww_bet_add(&b, WW_BET_SLOW);
	assert_false(b.both);
	for (int i = 0; i < 60; i++)
		ww_bet_add(&b, WW_BET_FAST);
	assert_true(b.both);
}

static void cycle(struct ww_cycleset *s, const char *name, double v, double half,
		  enum ww_set_outcome o)
{
	struct ww_metric_key key = {.name = name, .kind = "latency", .unit = "ms"};

	assert_int_equal(ww_cycleset_cycle(s, o, &err), 0);
	assert_int_equal(ww_cycleset_put(s, &key, v, half, NAN, &err), 0);
}

static struct ww_cycleset *cycles(const char *name, int n, double ms)
{
	struct ww_cycleset *s = NULL;

	assert_int_equal(ww_cycleset_new(name, &s, &err), 0);
	for (int i = 0; i < n; i++)
		cycle(s, "resume_to_user", ms + 8 * uniform(), 0.5, WW_SET_OK);
	return s;
}

static void test_builds(void **state)
{
	struct ww_cycleset *good = cycles("good", 12, 400), *bad = cycles("bad", 12, 600);
	struct ww_cycleset *slow = cycles("slow", 9, 590), *fast = cycles("fast", 9, 410);
	struct ww_cycleset *few = cycles("few", 4, 600), *none = cycles("none", 0, 0);
	struct ww_bisect b;

	(void)state;
	assert_int_equal(ww_bisect_judge(slow, good, bad, NULL, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_BAD);
	assert_true(b.probability >= 0.99 && b.cycles == 9 && b.more == 0);
	assert_true(b.threshold_ms > 500 && b.threshold_ms < 508);
	assert_true(b.ci_ms[0] >= 590 && b.median_ms >= b.ci_ms[0] && b.ci_ms[1] <= 598);
	assert_int_equal(ww_bisect_judge(fast, good, bad, NULL, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_GOOD);
	assert_int_equal(ww_bisect_judge(few, good, bad, NULL, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_SKIP);
	assert_int_equal(b.more, 5);
	assert_non_null(strstr(b.why, "about 5 cycles more for 99 %"));
	assert_int_equal(ww_bisect_judge(none, good, bad, NULL, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_SKIP);
	assert_non_null(strstr(b.why, "did not boot"));
	/* The same builds: no third can be judged by them. */
	assert_int_equal(ww_bisect_judge(slow, good, fast, NULL, &b, &err), 0);
	assert_int_equal(ww_bisect_judge(slow, good, good, NULL, &b, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not told apart"));
	ww_error_clear(&err);
	assert_int_equal(ww_bisect_judge(slow, bad, good, NULL, &b, &err), -EINVAL);
	assert_non_null(strstr(err.text, "exchanged"));
	ww_error_clear(&err);
	assert_int_equal(ww_bisect_judge(slow, few, NULL, NULL, &b, &err), -EINVAL);
	assert_non_null(strstr(err.text, "give a threshold"));
	ww_error_clear(&err);
	ww_cycleset_free(good);
	ww_cycleset_free(bad);
	ww_cycleset_free(slow);
	ww_cycleset_free(fast);
	ww_cycleset_free(few);
	ww_cycleset_free(none);
}

static void test_options(void **state)
{
	struct ww_cycleset *s = cycles("now", 9, 100);
	struct ww_bisect_options o = {.size = sizeof(o), .threshold_ms = 90};
	struct ww_bisect b;

	(void)state;
	cycle(s, "phase resume_noirq", 5, 0.001, WW_SET_OK);
	cycle(s, "phase resume_early", 5, 0.001, WW_SET_OK);
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_BAD);
	assert_non_null(strstr(b.why, "9 of 9 cycles above 90.0 ms; 2 more have no such time"));
	o.certainty = 0.999;
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_SKIP);
	/* A name by its words. */
	o.metric = "noirq";
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), 0);
	assert_non_null(strstr(b.why, "phase resume_noirq: 0 of 1"));
	o.metric = "phase";
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), -EINVAL);
	assert_non_null(strstr(err.text, "fits several"));
	ww_error_clear(&err);
	o.metric = "quartz";
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), -EINVAL);
	assert_non_null(strstr(err.text, "no figure 'quartz'"));
	ww_error_clear(&err);
	o.metric = NULL;
	o.certainty = 1;
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), -EINVAL);
	ww_error_clear(&err);
	/* Within what one cycle resolves of it, nothing is decided. */
	o.certainty = 0;
	o.threshold_ms = 104;
	for (int i = 0; i < 200; i++)
		cycle(s, "resume_to_user", 104.2, 0.5, WW_SET_OK);
	assert_int_equal(ww_bisect_judge(s, NULL, NULL, &o, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_SKIP);
	ww_cycleset_free(s);
}

/* A build that fails at times, against one that does not. */
static void test_failures(void **state)
{
	struct ww_cycleset *good = cycles("good", 60, 400), *bad = cycles("bad", 60, 400);
	struct ww_cycleset *now = cycles("now", 150, 400);
	struct ww_bisect_options o = {.size = sizeof(o), .metric = "failures"};
	struct ww_bisect b;

	(void)state;
	for (int i = 0; i < 12; i++)
		cycle(bad, "resume_to_user", INFINITY, NAN, WW_SET_FAILED);
	assert_int_equal(ww_bisect_judge(now, good, bad, &o, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_GOOD);
	assert_true(b.failure_rate > 0.05 && b.failure_rate < 0.12 && isnan(b.threshold_ms));
	assert_string_equal(b.why, "0 of 150 cycles failed");
	ww_cycleset_free(now);
	now = cycles("now", 3, 400);
	for (int i = 0; i < 6; i++)
		cycle(now, "resume_to_user", INFINITY, NAN, WW_SET_FAILED);
	assert_int_equal(ww_bisect_judge(now, good, bad, &o, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_BAD);
	assert_int_equal(ww_bisect_judge(now, good, good, &o, &b, &err), -EINVAL);
	ww_error_clear(&err);
	/* One that never comes back is slower than any threshold. */
	o.metric = NULL;
	o.threshold_ms = 1e6;
	for (int i = 0; i < 30; i++)
		cycle(now, "resume_to_user", INFINITY, NAN, WW_SET_FAILED);
	assert_int_equal(ww_bisect_judge(now, NULL, NULL, &o, &b, &err), 0);
	assert_int_equal(b.verdict, WW_BISECT_BAD);
	ww_cycleset_free(now);
	ww_cycleset_free(good);
	ww_cycleset_free(bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errors),	 cmocka_unit_test(test_power),
		cmocka_unit_test(test_either),	 cmocka_unit_test(test_changed),
		cmocka_unit_test(test_builds),	 cmocka_unit_test(test_options),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
