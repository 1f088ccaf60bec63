/* SPDX-License-Identifier: MIT */
/* What the marks of a campaign say of a cycle, and what follows where one is missing. */
#include "cycles.h"

/* Killed, cut or still running in the middle of a cycle: nothing is known of its end. */
static void unfinished(void **state)
{
	(void)state;
	for (int asleep = 0; asleep < 3; asleep++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;

		sim_init(&s);
		s.plain = asleep == 2;
		z = sim_suspend(&s, s.start + 27 * S, 30000, 10);
		if (!asleep)
			s.sleeps = 0;
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		sim_mark(&tr, s.start + 27 * S, WW_MARK_REQUEST, 1, "x");
		sim_mark(&tr, s.start + 27 * S + 10 * MS, WW_MARK_REQUEST_END, 1, "exit 0");
		if (asleep)
			sim_mark(&tr, z->freeze + 2 * S, WW_MARK_WAKE, 1, "y");
		f = analyse(&tr, NULL);
		assert_int_equal(only(&f)->result, WW_RES_UNKNOWN);
		assert_non_null(strstr(only(&f)->reason, "the trace ends too early"));
		for (int l = 0; l < WW_LAT_COUNT; l++)
			assert_int_equal(ww_resume_summary(f.r, l)->failures, 0);
		done(&f);
	}
}

/* A report of a recording that goes on in the middle of a cycle. */
static void goes_on(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt)};
	struct ww_error err = {0};
	struct sim s;
	struct sim_trace tr;
	struct found f = {0};

	(void)state;
	sim_init(&s);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.end - S, WW_MARK_REQUEST, 1, "x");
	assert_int_equal(ww_writer_commit(tr.w, NULL), 0);
	assert_int_equal(ww_trace_open(tr.path, &f.t, &err), 0);
	assert_int_equal(ww_resume_new(f.t, &opt, &f.r, &err), 0);
	assert_int_equal(only(&f)->result, WW_RES_UNKNOWN);
	assert_string_equal(only(&f)->reason, "the recording goes on");
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_SUSPEND_ENTRY)->failures, 0);
	done(&f);
	sim_close(&tr);
	unlink(tr.path);
}

/* A command that hangs is named in the reason. */
static void command_hung(void **state)
{
	static const char stopped[] = "stopped: it still ran at the end of the cycle";

	(void)state;
	for (int woke = 0; woke < 2; woke++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;

		sim_init(&s);
		if (woke) {
			z = sim_suspend(&s, s.start + 5 * S, 3000, 10);
			z->thaw = z->uart_on = WW_TIME_MAX / 2;
			z->never = 1;
		}
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "sleep 1000");
		if (woke)
			sim_mark(&tr, s.start + 8 * S, WW_MARK_WAKE, 1, "sleep 1000");
		if (woke)
			sim_mark(&tr, s.start + 20 * S, WW_MARK_WAKE_END, 1, stopped);
		else
			sim_mark(&tr, s.start + 20 * S, WW_MARK_REQUEST_END, 1, stopped);
		sim_mark(&tr, s.start + 20 * S, WW_MARK_CYCLE_END, 1,
			 woke ? "timeout" : "no silence");
		f = analyse(&tr, NULL);
		assert_int_equal(only(&f)->result, woke ? WW_RES_HUNG : WW_RES_REFUSED);
		assert_non_null(strstr(only(&f)->reason,
				       woke ? "the wake command still ran at the end of the cycle"
					    : "the suspend command still ran at the end of the "
					      "cycle"));
		done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unfinished),
		cmocka_unit_test(goes_on),
		cmocka_unit_test(command_hung),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
