/* SPDX-License-Identifier: MIT */
/* Conditions on a comparison: what they say, and what is no condition. */
#include "analysis/shift.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "cyclesets.h"

/* Ten and ten: a latency 50 ms slower, a phase the same, a device 30 ms slower, another 2 faster.
 */
static struct ww_cycleset *build(const char *name, uint32_t seed, bool b, size_t n, size_t failed)
{
	struct ww_cycleset *s = set_new(name);
	struct draws d = draws_of(seed);

	for (size_t i = 0; i < n; i++) {
		double more = b ? 1 : 0;

		set_cycle(s, i < failed ? WW_SET_FAILED : WW_SET_OK);
		set_put(s, "latency", "resume_to_user", 1000 + 50 * more + 4 * draw(&d), 0.5);
		set_put(s, "kernel", "kernel resume", 900 + 2 * draw(&d), 0);
		set_put(s, "phase", "phase resume", 100 + 4 * draw(&d), 0);
		set_device(s, "1-1", "usb", "resume", 40 + 30 * more + draw(&d), 0);
		set_device(s, "1-1.4", "usb", "resume", 20 - 2 * more + draw(&d), 0);
	}
	return s;
}

static int judge(const char *text, size_t n, size_t failed_a, size_t failed_b,
		 struct ww_shift **out)
{
	struct ww_cycleset *a = build("a", 3, false, n, failed_a);
	struct ww_cycleset *b = build("b", 4, true, n, failed_b);
	struct ww_shift_options o = {.size = sizeof(o), .fail_if = text};
	struct ww_error err = {0};
	int rc = ww_shift_new(a, b, &o, out, &err);

	ww_cycleset_free(a);
	ww_cycleset_free(b);
	if (rc < 0) {
		assert_null(*out);
		assert_int_equal(err.code, rc);
		return rc;
	}
	return ww_shift_failed(*out);
}

static void state_of(const char *text, int state, const char *of)
{
	struct ww_shift *s = NULL;
	int rc = judge(text, 10, 0, 4, &s);

	if (rc < 0 && rc != -EAGAIN)
		fail_msg("'%s': %d", text, rc);
	if (s->conds != 1 || s->cond[0].state != state)
		fail_msg("'%s' is %d", text, s->cond[0].state);
	if (of && (!s->cond[0].of || strcmp(s->cond[0].of, of) != 0))
		fail_msg("'%s' by %s", text, s->cond[0].of ? s->cond[0].of : "none");
	assert_string_equal(s->cond[0].text, text);
	assert_int_equal(rc, state == WW_COND_MET ? 1 : state == WW_COND_UNDECIDED ? -EAGAIN : 0);
	ww_shift_free(s);
}

static void test_states(void **state)
{
	(void)state;
	/* The interval of the shift is about 48 to 52 ms. */
	state_of("resume > 4% slower", WW_COND_MET, "resume_to_user");
	state_of("resume_to_user > 40 ms slower", WW_COND_MET, "resume_to_user");
	state_of("resume_to_user>0.04s slower", WW_COND_MET, NULL);
	state_of("resume_to_user > 40000 us slower", WW_COND_MET, NULL);
	state_of("resume > 6% slower", WW_COND_NOT_MET, "resume_to_user");
	state_of("resume > 5% slower", WW_COND_UNDECIDED, "resume_to_user");
	state_of("resume slower", WW_COND_MET, NULL);
	state_of("resume more", WW_COND_MET, NULL);
	state_of("resume faster", WW_COND_NOT_MET, NULL);
	state_of("median resume > 49 ms slower", WW_COND_MET, NULL);
	state_of("resume median > 51 ms slower", WW_COND_NOT_MET, NULL);
	state_of("kernel resume > 10 ms slower", WW_COND_NOT_MET, "kernel resume");
	state_of("kernel resume slower", WW_COND_UNDECIDED, "kernel resume");
	state_of("phase resume > 10 % slower", WW_COND_NOT_MET, "phase resume");
	state_of("any device > 20ms slower", WW_COND_MET, "device 1-1 usb resume");
	state_of("any device > 40ms slower", WW_COND_NOT_MET, "device 1-1 usb resume");
	state_of("any device > 1 ms faster", WW_COND_MET, "device 1-1.4 usb resume");
	/* All callbacks of one device, not of its namesakes. */
	state_of("device 1-1 > 20 ms slower", WW_COND_MET, "device 1-1 usb resume");
	state_of("device 1-1.4 slower", WW_COND_NOT_MET, "device 1-1.4 usb resume");
	state_of("device 1-1 usb resume > 20 ms slower", WW_COND_MET, NULL);
	state_of("any phase > 20 ms slower", WW_COND_NOT_MET, "phase resume");
}

static void test_failures(void **state)
{
	(void)state;
	state_of("failures > 0", WW_COND_MET, NULL);
	state_of("failures > 3", WW_COND_MET, NULL);
	state_of("failures > 4", WW_COND_NOT_MET, NULL);
	/* Clopper and Pearson, 4 of 10: 12.2 to 73.8 %. */
	state_of("failures > 12%", WW_COND_MET, NULL);
	state_of("failures > 13 %", WW_COND_UNDECIDED, NULL);
	state_of("failures > 74%", WW_COND_NOT_MET, NULL);
	/* 0 and 4 of 10: Fisher's p is 0.087. */
	state_of("failures more", WW_COND_UNDECIDED, NULL);
}

static void test_more_failures(void **state)
{
	struct ww_shift *s = NULL;

	(void)state;
	assert_int_equal(judge("failures more", 10, 0, 6, &s), 1);
	ww_shift_free(s);
	assert_int_equal(judge("failures more", 10, 4, 4, &s), 0);
	ww_shift_free(s);
}

/* Several: one that is met is enough; else one that is open keeps all open. */
static void test_several(void **state)
{
	struct ww_shift *s = NULL;

	(void)state;
	assert_int_equal(judge("resume > 6% slower, failures > 0", 10, 0, 1, &s), 1);
	assert_int_equal(s->conds, 2);
	assert_string_equal(s->cond[1].text, "failures > 0");
	ww_shift_free(s);
	assert_int_equal(judge("resume > 6% slower,resume > 5% slower", 10, 0, 0, &s), -EAGAIN);
	assert_true(s->cond[1].needed > 10);
	ww_shift_free(s);
	assert_int_equal(judge(NULL, 10, 0, 0, &s), 0);
	ww_shift_free(s);
	/* Three and three bound nothing. */
	assert_int_equal(judge("resume > 1% slower", 3, 0, 0, &s), -EAGAIN);
	assert_int_equal(s->cond[0].needed, 0);
	ww_shift_free(s);
}

static void test_wrong(void **state)
{
	static const char *const wrong[] = {"",
					    "resume",
					    "resume > 5%",
					    "slower",
					    "> 5% slower",
					    "resume > slower",
					    "resume > 5 slower",
					    "resume > x% slower",
					    "resume > -5% slower",
					    "resume > 5% ms slower",
					    "resume > 5 lightyears slower",
					    "failures",
					    "failures >",
					    "failures > many",
					    "failures > 1 2",
					    "failures slower",
					    "resume > 5% slower,",
					    "median > 5% slower",
					    "any devices > 5 ms slower",
					    "any thing slower",
					    "resume > 5 J slower",
					    "failures > 5 ms"};
	struct ww_shift *s = NULL;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(wrong); i++)
		if (judge(wrong[i], 10, 0, 0, &s) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
	assert_int_equal(judge("resume_to_desktop slower", 10, 0, 0, &s), -ENODATA);
	assert_int_equal(judge("device 1 slower", 10, 0, 0, &s), -ENODATA);
}

/* A log without callbacks does not say that none was slower. */
static void test_untold(void **state)
{
	struct ww_cycleset *set[2] = {set_new("a"), set_new("b")};
	struct ww_shift_options o = {.size = sizeof(o), .fail_if = "any device > 5 ms slower"};
	struct ww_error err = {0};
	struct ww_shift *s = NULL;

	(void)state;
	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 10; k++) {
			set_cycle(set[i], WW_SET_OK);
			set_put(set[i], "kernel", "kernel resume", 900 + k, 0);
		}
	assert_int_equal(ww_shift_new(set[0], set[1], &o, &s, &err), 0);
	assert_int_equal(ww_shift_failed(s), -EAGAIN);
	ww_shift_free(s);
	ww_cycleset_free(set[0]);
	ww_cycleset_free(set[1]);
}

static void test_empty(void **state)
{
	struct ww_cycleset *a = set_new("first.wwt"), *b = build("b", 1, true, 4, 0);
	struct ww_error err = {0};
	struct ww_shift *s = NULL;

	(void)state;
	assert_int_equal(ww_shift_new(a, b, NULL, &s, &err), -ENODATA);
	assert_non_null(strstr(err.text, "first.wwt"));
	assert_null(s);
	ww_cycleset_free(a);
	ww_cycleset_free(b);
	ww_cycleset_free(NULL);
	ww_shift_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),	      cmocka_unit_test(test_failures),
		cmocka_unit_test(test_more_failures), cmocka_unit_test(test_several),
		cmocka_unit_test(test_wrong),	      cmocka_unit_test(test_untold),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests_name("shift_cond", tests, NULL, NULL);
}
