/* SPDX-License-Identifier: MIT */
/* What the marks of a campaign say of a cycle, and what follows where one is missing. */
#include "cycles.h"

#include "analysis/resume.h"

#include <math.h>

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

/* The bench was started anew between two cycles, and its wall clock is 30 ms off. */
static void broken_off(void **state)
{
	(void)state;
	for (int told = 0; told < 2; told++) {
		struct sim s;
		struct sim_trace tr;
		struct found f;
		size_t kept = 0;

		sim_init(&s);
		s.skew = 40e-6;
		s.end = s.start + 60 * S;
		for (int i = 0; i < 2; i++)
			sim_suspend(&s, s.start + (3 + 50 * i) * S, 2000, 30);
		sim_run(&s);
		for (size_t i = 0; i < s.n; i++) {
			if (s.byte[i].t > s.start + 29 * S)
				s.byte[i].t -= 30 * MS;
			else if (s.byte[i].t > s.start + 28 * S)
				continue;
			s.byte[kept++] = s.byte[i];
		}
		s.n = kept;
		s.sleep[1].wake -= 30 * MS;
		sim_open(&tr);
		sim_store(&s, &tr);
		for (int i = 0; i < 2; i++) {
			if (i == 1 && told)
				sim_mark(&tr, s.start + 28 * S, WW_MARK_CONTINUED, 0, "anew");
			cycle_marks(&tr, &s.sleep[i], (uint32_t)i + 1);
		}
		f = analyse(&tr, NULL);
		assert_int_equal(ww_resume_count(f.r), 2);
		/* Untold, the jump would be taken for the rate of a quartz, or worse. */
		assert_int_equal(fabs(f.r->skew - 40e-6) < 10e-6, told);
		done(&f);
	}
}

static void warm_ups(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct found f;

	(void)state;
	sim_init(&s);
	for (int i = 0; i < 3; i++)
		sim_suspend(&s, s.start + (3 + 7 * i) * S, 2000, i == 0 ? 900 : 30 + i);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + S, WW_MARK_WARMUP, 1, "");
	for (int i = 0; i < 3; i++)
		cycle_marks(&tr, &s.sleep[i], (uint32_t)i + 1);
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ww_resume_at(f.r, i)->warmup, i == 0);
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_RESUME_TO_USER)->n, 2);
	assert_true(ww_resume_summary(f.r, WW_LAT_RESUME_TO_USER)->max < 200);
	assert_int_equal(f.r->results[WW_RES_OK], 2);
	done(&f);
}

/* Nothing but marks: what became of each is told, and no heartbeat is asked for. */
static void control(void **state)
{
	static const struct {
		const char *end, *exit;
		int64_t wake, alive; /* ms after the request; 0 none */
		int result;
	} v[] = {{"ok", "exit 0", 3000, 3400, WW_RES_OK},
		 {"no silence", "exit 16: busy", 0, 0, WW_RES_REFUSED},
		 {"no silence", "failed: no such line", 0, 0, WW_RES_UNKNOWN},
		 {"timeout", "exit 0", 3000, 0, WW_RES_HUNG},
		 {"ok", "exit 0", 0, 2000, WW_RES_EARLY},
		 {"unplugged", "exit 0", 3000, 3600, WW_RES_UNKNOWN},
		 {"stopped", "exit 0", 3000, 0, WW_RES_UNKNOWN}};
	struct ww_error err = {0};
	struct sim_trace tr;
	struct found f;
	int64_t at = 1000 * S;

	(void)state;
	snprintf(tr.path, sizeof(tr.path), "%s/ww-control-%d.wwt", scratch(), (int)getpid());
	unlink(tr.path);
	assert_int_equal(ww_writer_open(tr.path, NULL, &tr.w, &err), 0);
	ww_writer_meta(tr.w, "campaign.alive", "ping dut", &err);
	ww_writer_meta(tr.w, "campaign.wake", "wol", &err);
	for (uint32_t i = 0; i < WW_COUNTOF(v); i++, at += 20 * S) {
		sim_mark(&tr, at, WW_MARK_REQUEST, i + 1, "suspend");
		sim_mark(&tr, at + 10 * MS, WW_MARK_REQUEST_END, i + 1, v[i].exit);
		if (v[i].wake || v[i].alive)
			sim_mark(&tr, at + S, WW_MARK_SILENT, i + 1, "ping dut");
		if (v[i].wake) {
			sim_mark(&tr, at + v[i].wake * MS, WW_MARK_WAKE, i + 1, "wol");
			sim_mark(&tr, at + v[i].wake * MS + MS, WW_MARK_WAKE_END, i + 1, "sent");
		}
		if (v[i].alive)
			sim_mark(&tr, at + v[i].alive * MS, WW_MARK_ALIVE, i + 1, "ping dut");
		sim_mark(&tr, at + 9 * S, WW_MARK_CYCLE_END, i + 1, v[i].end);
	}
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), WW_COUNTOF(v));
	for (size_t i = 0; i < WW_COUNTOF(v); i++) {
		const struct ww_cycle *c = ww_resume_at(f.r, i);

		assert_int_equal(c->result, v[i].result);
		assert_int_equal(seen(c->event[WW_EV_ALIVE]), v[i].alive != 0);
		assert_false(seen(c->latency[WW_LAT_RESUME_TO_USER]));
		assert_int_equal(seen(c->latency[WW_LAT_RESUME_TO_ALIVE]), i == 0 || i == 5);
	}
	holds("alive", ww_resume_at(f.r, 0)->latency[WW_LAT_RESUME_TO_ALIVE], 400 * MS, 2 * MS);
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_RESUME_TO_ALIVE)->n, 1);
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_RESUME_TO_ALIVE)->failures, 1);
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_RESUME_TO_USER)->failures, 0);
	assert_non_null(strstr(ww_resume_at(f.r, 2)->reason, "the request could not be made"));
	assert_true(noted(&f, "'ping dut'"));
	done(&f);
}

/* A boot between two cycles, of which boot_id is told only after the next one. */
static void told_late(void **state)
{
	for (int why = 0; why < 4; why++) {
		struct ww_scan scan = {0};
		struct ww_error err = {0};
		struct sim_trace tr;
		struct ww_trace *t;
		struct ww_interval at = {S, S}, start = {5 * S, 5 * S}, late = {20 * S, 20 * S};
		struct ww_happened boot = {.before = {2 * S, 2 * S}, .after = start, .reset = true};

		(void)state;
		snprintf(tr.path, sizeof(tr.path), "%s/ww-late-%d.wwt", scratch(), (int)getpid());
		unlink(tr.path);
		assert_int_equal(ww_writer_open(tr.path, NULL, &tr.w, &err), 0);
		sim_mark(&tr, 4 * S, why == 1 ? WW_MARK_DUT_RESET : WW_MARK_LABEL, 1, "x");
		sim_close(&tr);
		assert_int_equal(ww_trace_open(tr.path, &t, &err), 0);
		ww_scan_told(&scan, at, "boot_id", "one", &err);
		if (why == 2)
			ww_scan_told(&scan, start, "info", "start", &err);
		ww_scan_told(&scan, late, "boot_id", "two", &err);
		if (why == 3) {
			scan.happened = &boot;
			scan.happenings = 1;
		}
		assert_int_equal(ww_scan_booted(&scan, t, 10 * S, 30 * S), why == 0);
		assert_false(ww_scan_booted(&scan, t, 10 * S, 15 * S));
		scan.happened = NULL;
		ww_scan_free(&scan);
		ww_trace_close(t);
		unlink(tr.path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unfinished),	cmocka_unit_test(goes_on),
		cmocka_unit_test(command_hung), cmocka_unit_test(broken_off),
		cmocka_unit_test(warm_ups),	cmocka_unit_test(control),
		cmocka_unit_test(told_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
