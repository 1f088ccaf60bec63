/* SPDX-License-Identifier: MIT */
/* Cycles that come back: what is claimed holds, and what cannot be known is not claimed. */
#include "cycles.h"

/* Tasks thaw 400 ms after the UART's driver; 20 ms from the wake to that. */
static void late_thaw_stamped(void **state)
{
	(void)state;
	for (int mode = SIM_STREAM; mode <= SIM_DRAIN; mode++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;
		const struct ww_cycle *c;

		sim_init(&s);
		s.mode = (enum sim_mode)mode;
		s.period = 2 * MS;
		z = sim_suspend(&s, s.start + 5 * S, 3000, 400);
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		cycle_marks(&tr, z, 1);
		f = analyse(&tr, NULL);
		c = only(&f);
		assert_int_equal(c->result, WW_RES_OK);
		holds("first_beat", c->event[WW_EV_FIRST_BEAT], s.first_after[0], 3 * MS);
		holds("resume_to_user", c->latency[WW_LAT_RESUME_TO_USER],
		      s.first_after[0] - z->wake, 4 * MS);
		assert_true(c->latency[WW_LAT_RESUME_TO_USER].lo_ns > 400 * MS);
		/* In a stream beats wait for an unknown time: the bench confirms nothing closely.
		 */
		holds("dut_asleep", c->latency[WW_LAT_DUT_ASLEEP], 3000 * MS,
		      mode == SIM_STREAM ? 2 * S : 5000);
		if (mode == SIM_STREAM)
			holds("resume_to_uart", c->latency[WW_LAT_RESUME_TO_UART], 20 * MS + 86806,
			      3 * MS);
		assert_true(seen(c->event[WW_EV_LAST_BEAT]));
		assert_true(c->event[WW_EV_LAST_BEAT].lo_ns <= z->uart_off);
		assert_true(c->event[WW_EV_LAST_BEAT].hi_ns >= z->freeze - 2 * MS);
		holds("steady", c->event[WW_EV_STEADY], s.first_after[0], 3 * MS);
		done(&f);
	}
}

/* The same without stamps proves that the UART is back, and no more. */
static void late_thaw_plain(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;
	const struct ww_cycle *c;

	(void)state;
	sim_init(&s);
	s.mode = SIM_STREAM;
	s.plain = 1;
	z = sim_suspend(&s, s.start + 5 * S, 3000, 400);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_OK);
	assert_false(seen(c->event[WW_EV_FIRST_BEAT]));
	assert_false(seen(c->latency[WW_LAT_RESUME_TO_USER]));
	holds("resume_to_uart", c->latency[WW_LAT_RESUME_TO_UART], 20 * MS + 86806, 3 * MS);
	assert_true(noted(&f, "stamped beats"));
	/* Nor is a cadence claimed of what may be old. */
	assert_false(seen(c->event[WW_EV_STEADY]));
	/* No pause among what may have been buffered is called starvation. */
	assert_int_equal(c->stalls, 0);
	done(&f);
}

static void plain_drain(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = WW_BEAT_DRAIN};
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;
	const struct ww_cycle *c;

	(void)state;
	sim_init(&s);
	s.plain = 1;
	s.period = 4 * MS;
	z = sim_suspend(&s, s.start + 5 * S, 3000, 150);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, &opt);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_OK);
	holds("first_beat", c->event[WW_EV_FIRST_BEAT], s.first_after[0], 8 * MS);
	holds("resume_to_user", c->latency[WW_LAT_RESUME_TO_USER], s.first_after[0] - z->wake,
	      9 * MS);
	holds("steady", c->event[WW_EV_STEADY], s.first_after[0], 8 * MS);
	/* The first byte may be an old one: never steady before the first beat. */
	assert_true(c->event[WW_EV_STEADY].lo_ns >= c->event[WW_EV_FIRST_BEAT].lo_ns);
	assert_true(c->event[WW_EV_STEADY].hi_ns >= c->event[WW_EV_FIRST_BEAT].hi_ns);
	done(&f);
}

/*
 * A stream whose tasks thaw while old beats still leave: the first new beat queues, so
 * user space ran earlier than its byte came; the interval holds both.
 */
static void queued_behind_old(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;
	const struct ww_cycle *c;

	(void)state;
	sim_init(&s);
	s.mode = SIM_STREAM;
	sim_info(&s, s.start, "mode=stream");
	z = sim_suspend(&s, s.start + 5 * S, 3000, 50);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, NULL);
	c = only(&f);
	holds("first_beat (wire)", c->event[WW_EV_FIRST_BEAT], s.first_after[0], 400 * MS);
	holds("first_beat (written)", c->event[WW_EV_FIRST_BEAT], s.wrote_after[0], 400 * MS);
	/* 256 bytes of a FIFO are 22 ms: no earlier than that before the truth. */
	assert_true(c->event[WW_EV_FIRST_BEAT].lo_ns > s.wrote_after[0] - 30 * MS);
	assert_true(noted(&f, "queued"));
	done(&f);
}

/* 2006: characters every few ms, 340 ms of silence, the boot loader, 10 ms, a 180 ms gap. */
static void ipaq(int message, int wake, int mode)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = mode};
	struct sim s;
	struct sim_trace tr;
	struct found f;
	const struct ww_cycle *c;
	int64_t t, last, said = 0, first, stall, again, woke;

	sim_init(&s);
	s.plain = 1;
	for (t = s.start; t < s.start + 5 * S; t += 4 * MS)
		sim_put(&s, t, '.');
	last = t - 4 * MS;
	woke = last + 290 * MS;
	t = last + 340 * MS;
	if (message)
		said = t = sim_text(&s, t, "Resuming ...\r\n");
	first = t + 10 * MS;
	for (t = first; t < first + 40 * MS; t += 4 * MS)
		sim_put(&s, t, '.');
	stall = t - 4 * MS;
	again = stall + 180 * MS;
	for (t = again; t < again + 5 * S; t += 4 * MS)
		sim_put(&s, t, '.');
	sim_open(&tr);
	sim_store(&s, &tr);
	if (wake) {
		sim_mark(&tr, last - 20 * MS, WW_MARK_REQUEST, 0, "button");
		sim_mark(&tr, woke, WW_MARK_WAKE, 0, "button");
		sim_mark(&tr, woke + MS, WW_MARK_WAKE_END, 0, "exit 0");
	}
	f = analyse(&tr, &opt);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_OK);
	holds("last_beat", c->event[WW_EV_LAST_BEAT], last, 2 * MS);
	holds("first_beat", c->event[WW_EV_FIRST_BEAT], first, 7 * MS);
	holds("steady", c->event[WW_EV_STEADY], again, 2 * MS);
	assert_int_equal(c->stalls, 1);
	holds("starvation", c->stall[0].length, 180 * MS, 3 * MS);
	holds("starvation's start", c->stall[0].t, stall, 2 * MS);
	assert_int_equal(seen(c->latency[WW_LAT_RESUME_TO_USER]), wake);
	assert_int_equal(seen(c->event[WW_EV_HANDOFF]), message);
	assert_int_equal(seen(c->latency[WW_LAT_KERNEL]), message);
	assert_int_equal(seen(c->latency[WW_LAT_FIRMWARE]), message);
	/* Without a wake, sleep and firmware are one phase, and that one is known well. */
	assert_int_equal(seen(c->latency[WW_LAT_ASLEEP_FIRMWARE]), message && !wake);
	if (message && !wake)
		holds("asleep and firmware", c->latency[WW_LAT_ASLEEP_FIRMWARE], said - last,
		      4 * MS);
	holds("silence", c->latency[WW_LAT_SILENCE], first - last, 9 * MS);
	if (message) {
		holds("handoff", c->event[WW_EV_HANDOFF], said, 3 * MS);
		holds("kernel", c->latency[WW_LAT_KERNEL], first - said, 9 * MS);
		holds("firmware", c->latency[WW_LAT_FIRMWARE], said - woke,
		      wake ? 4 * MS : 400 * MS);
	} else {
		assert_true(noted(&f, "one phase"));
	}
	if (!wake)
		assert_true(noted(&f, "wake was not observed"));
	/* A bound is not in the median. */
	if (message) {
		const struct ww_latency_summary *m = ww_resume_summary(f.r, WW_LAT_FIRMWARE);

		assert_int_equal(m->n, wake);
		assert_int_equal(m->bound_only, !wake);
		assert_true(wake ? m->median > 0 : m->median != m->median);
		assert_true(wake || (m->bound[0] < 54 && m->bound[1] > 340));
	}
	done(&f);
}

static void ipaq_2006(void **state)
{
	(void)state;
	ipaq(1, 1, WW_BEAT_REOPEN);
	ipaq(1, 0, WW_BEAT_REOPEN);
	ipaq(0, 1, WW_BEAT_REOPEN);
	ipaq(0, 0, WW_BEAT_REOPEN);
	/* The message shows that the line is faster than the beats: nothing waits. */
	ipaq(1, 1, WW_BEAT_UNKNOWN);
	ipaq(1, 0, WW_BEAT_UNKNOWN);
}

/* Twenty cycles with the sequence about to wrap, lost and broken bytes, other writers. */
static void rough_line(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct found f;

	(void)state;
	sim_init(&s);
	s.seq = 0xfffff0;
	s.end = s.start + 130 * S;
	s.info_at_thaw = 1;
	s.period = 5 * MS;
	s.skew = 40e-6;
	for (int i = 0; i < 20; i++)
		sim_suspend(&s, s.start + (3 + 6 * i) * S, 1000 + 37 * i, 30 + 10 * i);
	sim_run(&s);
	for (size_t i = 0; i < s.n; i++) {
		/* Far from the events, whose truth is known to the byte. */
		int64_t in = (s.byte[i].t - s.start) % (6 * S);

		if (in < S + S / 2 && s.byte[i].t > s.start + S && sim_rnd(&s) % 400 == 0)
			s.byte[i].c ^= (uint8_t)(1 << sim_rnd(&s) % 7);
	}
	for (int i = 0; i < 20; i++)
		sim_text(&s, s.start + (7 + 6 * i) * S, "[  123.456] usb 1-1: new device #!\r\n");
	sim_open(&tr);
	sim_store(&s, &tr);
	for (int i = 0; i < 20; i++)
		cycle_marks(&tr, &s.sleep[i], (uint32_t)i + 1);
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 20);
	for (size_t i = 0; i < 20; i++) {
		const struct ww_cycle *c = ww_resume_at(f.r, i);

		assert_int_equal(c->result, WW_RES_OK);
		holds("resume_to_user", c->latency[WW_LAT_RESUME_TO_USER],
		      s.first_after[i] - s.sleep[i].wake, 4 * MS);
		holds("dut_asleep", c->latency[WW_LAT_DUT_ASLEEP],
		      (s.sleep[i].wake - s.sleep[i].sleep) * 24999 / 25000, 3000 + 5000);
	}
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_RESUME_TO_USER)->n, 20);
	done(&f);
}

/* Nobody asked for anything: sleeps are found from the stamps, silences from the bytes. */
static void watched(void **state)
{
	(void)state;
	for (int plain = 0; plain < 2; plain++) {
		struct sim s;
		struct sim_trace tr;
		struct found f;

		sim_init(&s);
		s.plain = plain;
		sim_suspend(&s, s.start + 5 * S, 2000, 30);
		sim_suspend(&s, s.start + 12 * S, 4000, 30);
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		f = analyse(&tr, NULL);
		assert_int_equal(ww_resume_count(f.r), 2);
		for (size_t i = 0; i < 2; i++) {
			const struct ww_cycle *c = ww_resume_at(f.r, i);

			assert_int_equal(c->result, WW_RES_OK);
			assert_false(seen(c->event[WW_EV_WAKE]));
			assert_false(seen(c->latency[WW_LAT_RESUME_TO_USER]));
			assert_true(seen(c->latency[WW_LAT_SILENCE]));
			if (!plain)
				holds("first_beat", c->event[WW_EV_FIRST_BEAT], s.first_after[i],
				      3 * MS);
		}
		assert_true(noted(&f, "wake was not observed"));
		done(&f);
	}
}

/* A sleep too short for the DUT's RTC: no clock of its own moved, the bench's did. */
static void sleep_unseen(void **state)
{
	(void)state;
	for (int marks = 0; marks < 2; marks++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;
		const struct ww_cycle *c;

		sim_init(&s);
		z = sim_suspend(&s, s.start + 5 * S, 900, 30);
		z->unseen = 1;
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		if (marks)
			cycle_marks(&tr, z, 1);
		f = analyse(&tr, NULL);
		c = only(&f);
		assert_int_equal(c->result, WW_RES_OK);
		holds("first_beat", c->event[WW_EV_FIRST_BEAT], s.first_after[0], 3 * MS);
		assert_false(seen(c->latency[WW_LAT_DUT_ASLEEP]));
		done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_thaw_stamped), cmocka_unit_test(late_thaw_plain),
		cmocka_unit_test(plain_drain),	     cmocka_unit_test(queued_behind_old),
		cmocka_unit_test(ipaq_2006),	     cmocka_unit_test(rough_line),
		cmocka_unit_test(watched),	     cmocka_unit_test(sleep_unseen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
