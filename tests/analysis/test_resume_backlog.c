/* SPDX-License-Identifier: MIT */
/* Old beats in long buffers, clocks that err, and what plain bytes do not prove. */
#include "cycles.h"

#define SLOW_CHAR 557000 /* 17 950 baud: a full buffer lasts two seconds */

static void ends(struct sim_trace *tr, int64_t request, const struct sim_sleep *z, uint32_t n)
{
	sim_mark(tr, request, WW_MARK_REQUEST, n, "echo mem > /sys/power/state");
	sim_mark(tr, request + 450 * MS, WW_MARK_REQUEST_END, n, "exit 0");
	sim_mark(tr, z->wake, WW_MARK_WAKE, n, "system_wakeup");
	sim_mark(tr, z->wake + MS / 2, WW_MARK_WAKE_END, n, "exit 0");
	sim_mark(tr, z->thaw + S, WW_MARK_CYCLE_END, n, "ok");
}

static void slow_stream(struct sim *s)
{
	sim_init(s);
	s->mode = SIM_STREAM;
	s->char_ns = SLOW_CHAR;
	sim_info(s, s->start, "mode=stream");
}

/* The cycle ends before the first beat written after the thaw has come. */
static void backlog_outlasts(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;
	const struct ww_cycle *c;

	(void)state;
	slow_stream(&s);
	z = sim_suspend(&s, s.start + 6 * S, 2000, 30);
	s.end = z->thaw + 3 * S / 2;
	sim_run(&s);
	assert_true(s.first_after[0] > s.end);
	while (s.n > 0 && s.byte[s.n - 1].t > s.end)
		s.n--;
	sim_open(&tr);
	sim_store(&s, &tr);
	ends(&tr, s.start + 6 * S, z, 1);
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_OK);
	assert_true(seen(c->event[WW_EV_LAST_BEAT]));
	holds("uart", c->event[WW_EV_UART], z->uart_on + SLOW_CHAR, 2 * MS);
	assert_false(seen(c->event[WW_EV_FIRST_BEAT]));
	assert_false(seen(c->latency[WW_LAT_RESUME_TO_USER]));
	assert_true(noted(&f, "outlasted"));
	done(&f);
}

/* Long before, the writer had paused: that old pause in the stamps is no thaw. */
static void old_pause(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	slow_stream(&s);
	s.sleep[s.sleeps++] =
		(struct sim_sleep){.freeze = s.start + 5 * S, .thaw = s.start + 5 * S + 200 * MS};
	z = sim_suspend(&s, s.start + 6 * S, 2000, 30);
	s.end = z->thaw + 3 * S / 2;
	sim_run(&s);
	while (s.n > 0 && s.byte[s.n - 1].t > s.end)
		s.n--;
	sim_open(&tr);
	sim_store(&s, &tr);
	ends(&tr, s.start + 6 * S, z, 1);
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_OK);
	holds("uart", only(&f)->event[WW_EV_UART], z->uart_on + SLOW_CHAR, 2 * MS);
	assert_false(seen(only(&f)->event[WW_EV_FIRST_BEAT]));
	done(&f);
}

/* The next cycle sleeps before the beats of the first thaw have come: they are not its own. */
static void backlog_of_another_cycle(void **state)
{
	(void)state;
	for (int more = 0; more < 2; more++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *a, *b;
		struct found f;
		const struct ww_cycle *c;
		int64_t again;

		slow_stream(&s);
		a = sim_suspend(&s, s.start + 6 * S, 2000, 30);
		again = a->thaw + 5 * S / 4;
		b = sim_suspend(&s, again, 3000, 30);
		s.end = b->thaw + (more ? 15 * S : 3 * S / 2);
		sim_run(&s);
		while (s.n > 0 && s.byte[s.n - 1].t > s.end)
			s.n--;
		assert_true(s.first_after[0] > b->uart_on);
		sim_open(&tr);
		sim_store(&s, &tr);
		ends(&tr, s.start + 6 * S, a, 1);
		ends(&tr, again, b, 2);
		f = analyse(&tr, NULL);
		assert_int_equal(ww_resume_count(f.r), 2);
		c = ww_resume_at(f.r, 0);
		assert_int_equal(c->result, WW_RES_OK);
		assert_false(seen(c->event[WW_EV_FIRST_BEAT]));
		holds("dut_asleep", c->latency[WW_LAT_DUT_ASLEEP], 2000 * MS, 2 * S);
		c = ww_resume_at(f.r, 1);
		assert_int_equal(c->result, WW_RES_OK);
		assert_int_equal(seen(c->event[WW_EV_FIRST_BEAT]), more);
		if (more) {
			holds("first_beat", c->event[WW_EV_FIRST_BEAT], s.first_after[1], 3 * S);
			holds("written", c->event[WW_EV_FIRST_BEAT], s.wrote_after[1], 3 * S);
			holds("dut_asleep", c->latency[WW_LAT_DUT_ASLEEP], 3000 * MS, 2 * S);
		}
		done(&f);
	}
}

/* A stream that nothing stopped is refused, and tasks that stood still did not sleep. */
static void no_silence_no_sleep(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	slow_stream(&s);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + 6 * S, WW_MARK_REQUEST, 1, "x");
	sim_mark(&tr, s.start + 6 * S + 450 * MS, WW_MARK_REQUEST_END, 1, "exit 0");
	sim_mark(&tr, s.start + 16 * S, WW_MARK_CYCLE_END, 1, "no silence");
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_REFUSED);
	done(&f);
	/* A long way to a refusal: the line was silent, but the stamps account for all of it. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 6 * S, 2000, 10);
	z->asleep = 0;
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	ends(&tr, s.start + 6 * S, z, 1);
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_ABORTED);
	done(&f);
}

/* Bytes held up on their way for 1.5 s are no sleep: the stamps ran on and catch up. */
static void held_up_stamps(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct found f;

	(void)state;
	sim_init(&s);
	sim_run(&s);
	for (size_t i = 0; i < s.n; i++)
		if (s.byte[i].t > s.start + 6 * S && s.byte[i].t < s.start + 15 * S / 2)
			s.byte[i].t = s.start + 15 * S / 2 + (int64_t)i;
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + 11 * S / 2, WW_MARK_REQUEST, 1, "x");
	sim_mark(&tr, s.start + 6 * S, WW_MARK_REQUEST_END, 1, "exit 0");
	sim_mark(&tr, s.start + 12 * S, WW_MARK_CYCLE_END, 1, "ok");
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_REFUSED);
	assert_false(seen(only(&f)->event[WW_EV_UART]));
	done(&f);
}

/* A plain stream that was named drain: the line tells otherwise. */
static void stream_named_drain(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = WW_BEAT_DRAIN};
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	s.mode = SIM_STREAM;
	s.plain = 1;
	sim_info(&s, s.start, "baud=115200");
	z = sim_suspend(&s, s.start + 5 * S, 3000, 400);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, &opt);
	assert_int_equal(only(&f)->result, WW_RES_OK);
	assert_false(seen(only(&f)->event[WW_EV_FIRST_BEAT]));
	assert_true(noted(&f, "fill the line"));
	done(&f);
}

/* An RTC of whole seconds: the figure holds the truth, and the note says how wrong it was. */
static void rtc(void **state)
{
	static const int64_t wrong[] = {700, -1200, 300, -450};
	struct sim s;
	struct sim_trace tr;
	struct found f;

	(void)state;
	sim_init(&s);
	s.end = s.start + 60 * S;
	s.skew = -20e-6;
	for (int i = 0; i < 4; i++)
		sim_suspend(&s, s.start + (5 + 12 * i) * S, 3000, 30)->wrong = wrong[i] * MS;
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	for (uint32_t i = 0; i < 4; i++)
		cycle_marks(&tr, &s.sleep[i], i + 1);
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 4);
	for (size_t i = 0; i < 4; i++) {
		struct ww_interval d = ww_resume_at(f.r, i)->latency[WW_LAT_DUT_ASLEEP];

		assert_int_equal(ww_resume_at(f.r, i)->result, WW_RES_OK);
		holds("dut_asleep", d, 3000 * MS, 2500 * MS);
		assert_true(d.hi_ns - d.lo_ns >= 2 * S);
	}
	assert_true(noted(&f, "off by -119") || noted(&f, "off by -12"));
	assert_true(noted(&f, "RTC"));
	done(&f);
}

/* "y\r\n" and a tcdrain: three bytes can wait, so only the fourth is surely new. */
static void lines_of_three(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = WW_BEAT_DRAIN};
	static const uint8_t text[] = {'y', '\r', '\n'};
	const int64_t c = 1041667;
	struct sim s;
	struct sim_trace tr;
	struct found f;
	int64_t t, thaw;

	(void)state;
	sim_init(&s);
	for (t = s.start; t < s.start + 5 * S; t += 20 * MS)
		for (int i = 0; i < 3; i++)
			sim_put(&s, t + (i + 1) * c, text[i]);
	/* Frozen when the first of three had left; the driver sends the rest, tasks thaw later. */
	sim_put(&s, t + c, 'y');
	t += 3 * S;
	sim_put(&s, t + c, '\r');
	sim_put(&s, t + 2 * c, '\n');
	thaw = t + 400 * MS;
	for (t = thaw; t < thaw + 5 * S; t += 20 * MS)
		for (int i = 0; i < 3; i++)
			sim_put(&s, t + (i + 1) * c, text[i]);
	sim_open(&tr);
	sim_store(&s, &tr);
	f = analyse(&tr, &opt);
	holds("first_beat", only(&f)->event[WW_EV_FIRST_BEAT], thaw + c, S / 2);
	done(&f);
}

/*
 * A slow stream whose bytes were once held up on their way and came together: no proof of
 * a faster line. The tasks thaw 400 ms after the driver: no user space is claimed.
 */
static void held_up_stream(void **state)
{
	const int64_t c = 4166667; /* 2400 baud */

	(void)state;
	for (int mode = WW_BEAT_UNKNOWN; mode <= WW_BEAT_STREAM; mode++) {
		struct ww_resume_options opt = {.size = sizeof(opt), .mode = mode};
		struct sim s;
		struct sim_trace tr;
		struct found f;
		int64_t t, on;

		sim_init(&s);
		for (t = s.start; t < s.start + 8 * S; t += c)
			sim_put(&s,
				t > s.start + 2 * S && t < s.start + 2 * S + 90 * MS
					? s.start + 2 * S + 90 * MS
					: t,
				'a');
		on = t + 3 * S;
		/* What waited leaves for 300 ms, then nothing until the thaw. */
		for (t = on; t < on + 300 * MS; t += c)
			sim_put(&s, t + c, 'a');
		for (t = on + 400 * MS; t < on + 8 * S; t += c)
			sim_put(&s, t + c, 'a');
		sim_open(&tr);
		sim_store(&s, &tr);
		f = analyse(&tr, &opt);
		assert_int_equal(only(&f)->result, WW_RES_OK);
		holds("uart", only(&f)->event[WW_EV_UART], on + c, 2 * MS);
		assert_false(seen(only(&f)->event[WW_EV_FIRST_BEAT]));
		assert_int_equal(only(&f)->stalls, 0);
		done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(backlog_outlasts),    cmocka_unit_test(backlog_of_another_cycle),
		cmocka_unit_test(no_silence_no_sleep), cmocka_unit_test(rtc),
		cmocka_unit_test(old_pause),	       cmocka_unit_test(held_up_stamps),
		cmocka_unit_test(stream_named_drain),

		cmocka_unit_test(lines_of_three),      cmocka_unit_test(held_up_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
