/* SPDX-License-Identifier: MIT */
/* Plain beats: what a byte without a stamp leaves open is not claimed. */
#include "cycles.h"

static void no_latency_is_negative(const struct ww_cycle *c)
{
	for (int l = 0; l < WW_LAT_COUNT; l++)
		if (seen(c->latency[l]))
			assert_true(c->latency[l].lo_ns >= 0);
}

/* The UART sends what it has for 300 ms, tasks never thaw: silent for long thereafter. */
static void hung_stream(void **state)
{
	(void)state;
	for (int marked = 0; marked < 2; marked++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;
		const struct ww_cycle *c;

		sim_init(&s);
		s.plain = 1;
		s.mode = SIM_STREAM;
		z = sim_suspend(&s, s.start + 5 * S, 1300, 10);
		z->thaw = WW_TIME_MAX / 2;
		z->never = 1;
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "systemctl suspend");
		sim_mark(&tr, s.start + 5 * S + MS, WW_MARK_REQUEST_END, 1, "exit 0");
		if (marked) {
			sim_mark(&tr, z->wake, WW_MARK_WAKE, 1, "etherwake");
			sim_mark(&tr, z->wake + MS / 2, WW_MARK_WAKE_END, 1, "exit 0");
		}
		sim_mark(&tr, z->wake + 5 * S, WW_MARK_CYCLE_END, 1, "timeout");
		f = analyse(&tr, NULL);
		c = only(&f);
		assert_int_equal(c->result, WW_RES_HUNG);
		assert_non_null(strstr(c->reason, "its UART sent what was buffered"));
		holds("last_beat", c->event[WW_EV_LAST_BEAT], z->uart_off, 2 * MS);
		holds("uart", c->event[WW_EV_UART], z->uart_on + 86806, 2 * MS);
		if (marked)
			holds("resume_to_uart", c->latency[WW_LAT_RESUME_TO_UART], 20 * MS + 86806,
			      3 * MS);
		assert_false(seen(c->event[WW_EV_FIRST_BEAT]));
		assert_false(noted(&f, "no request marked"));
		no_latency_is_negative(c);
		done(&f);
	}
}

/* The beat is slower than the entry: the last one came before the request. */
static void entry_within_a_period(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = WW_BEAT_DRAIN};
	const struct ww_latency_summary *m;
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	s.plain = 1;
	s.period = 100 * MS;
	z = sim_suspend(&s, s.start + 5 * S + 40 * MS, 9000, 150);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, &opt);
	assert_int_equal(only(&f)->result, WW_RES_OK);
	holds("suspend_entry", only(&f)->latency[WW_LAT_SUSPEND_ENTRY], 30 * MS, 120 * MS);
	assert_int_equal(only(&f)->latency[WW_LAT_SUSPEND_ENTRY].lo_ns, 0);
	m = ww_resume_summary(f.r, WW_LAT_SUSPEND_ENTRY);
	assert_int_equal(m->n, 0);
	assert_int_equal(m->bound_only, 1);
	assert_true(m->median != m->median);
	assert_true(noted(&f, "before the request"));
	no_latency_is_negative(only(&f));
	done(&f);
}

/* The campaign waits for a longer silence than the sleep: the bytes show it all the same. */
static void shorter_than_the_limit(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = WW_BEAT_DRAIN};

	(void)state;
	for (int load = 0; load < 2; load++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;

		sim_init(&s);
		s.plain = 1;
		s.period = 5 * MS;
		z = sim_suspend(&s, s.start + 5 * S, load ? 10 : 300, 100);
		sim_run(&s);
		sim_open(&tr);
		sim_store(&s, &tr);
		sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
		sim_mark(&tr, s.start + 5 * S + MS, WW_MARK_REQUEST_END, 1, "exit 0");
		sim_mark(&tr, s.start + 10 * S, WW_MARK_CYCLE_END, 1, "no silence");
		f = analyse(&tr, &opt);
		if (load) {
			assert_int_equal(only(&f)->result, WW_RES_REFUSED);
		} else {
			assert_int_equal(only(&f)->result, WW_RES_UNKNOWN);
			assert_non_null(strstr(only(&f)->reason, " ms, less than --silence: "));
			holds("silence", only(&f)->latency[WW_LAT_SILENCE],
			      s.first_after[0] - z->freeze, 15 * MS);
		}
		done(&f);
	}
}

/* The kernel's first words, on the port or on a console: a cold boot is no resume. */
static void cold_boot(void **state)
{
	static const char *const words[] = {
		"U-Boot 2023.01\r\nStarting kernel ...\r\n\r\n"
		"[    0.000000] Booting Linux on physical CPU 0x0\r\n"
		"[    0.000000] Machine model: a board\r\n",
		"Linux version 6.1.0 (gcc)\r\n",
		"[   77.000001] PM: resume of devices complete after 12.3 msecs\r\n"};

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct ww_source_info src = sim_source("console", WW_SERIAL, "unix:/y");
		struct sim s, con;
		struct sim_trace tr, ctr;
		struct sim_sleep *z;
		struct found f;
		int never = i >= 6, own = i / 3 % 2;

		sim_init(&s);
		sim_init(&con);
		s.plain = 1;
		s.period = 5 * MS;
		z = sim_suspend(&s, s.start + 5 * S, 1300, 2000);
		z->uart_on = never ? WW_TIME_MAX / 2 : z->thaw;
		z->thaw = never ? WW_TIME_MAX / 2 : z->thaw;
		z->never = never;
		sim_run(&s);
		sim_text(own ? &con : &s, z->wake + 100 * MS, words[i % 3]);
		sim_open(&tr);
		ctr = tr;
		ctr.port = (uint32_t)ww_writer_source(tr.w, &src, NULL);
		sim_store(&s, &tr);
		if (own)
			sim_store(&con, &ctr);
		sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
		sim_mark(&tr, z->wake, WW_MARK_WAKE, 1, "y");
		sim_mark(&tr, z->wake + MS, WW_MARK_WAKE_END, 1, "exit 0");
		sim_mark(&tr, z->wake + 5 * S, WW_MARK_CYCLE_END, 1, never ? "timeout" : "ok");
		f = analyse(&tr, NULL);
		assert_int_equal(only(&f)->result, i % 3 < 2 ? WW_RES_RESET
						   : never   ? WW_RES_HUNG
							     : WW_RES_OK);
		/* What a boot prints is no intruder's. */
		assert_false(noted(&f, "another writer"));
		done(&f);
	}
}

static struct found junk(int kind)
{
	static const uint8_t wrong[] = {0x00, 0x80, 0xf8, 0xfe};
	struct sim s;
	struct sim_trace tr;
	char line[100];

	sim_init(&s);
	for (int64_t t = s.start; t < s.end; t += 5 * MS) {
		/* Silences, so that there would be cycles. */
		if (t > s.start + 10 * S && t < s.start + 12 * S)
			continue;
		switch (kind) {
		case 0: /* a kernel that speaks now and then */
			t += sim_rnd(&s) % 200 * MS;
			snprintf(line, sizeof(line), "[%5u.%06u] usb 1-1: new device number %u\r\n",
				 sim_rnd(&s) % 100, sim_rnd(&s) % 1000000, sim_rnd(&s) % 1000);
			sim_text(&s, t, line);
			break;
		case 1: /* stamped beats at a wrong baud rate */
			for (int i = 0; i < 8; i++)
				sim_put(&s, t + i * 100000, wrong[sim_rnd(&s) % 4]);
			break;
		case 2: /* one byte, but by chance */
			t += (sim_rnd(&s) % 16) * (sim_rnd(&s) % 16) * MS;
			sim_put(&s, t, 0);
			break;
		default: /* and this is a heartbeat */
			sim_text(&s, t, "y\r\n");
		}
	}
	sim_open(&tr);
	sim_store(&s, &tr);
	return analyse(&tr, NULL);
}

/* A line full of other things has no heartbeat, and no cycle. */
static void no_heartbeat(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct found f = junk(kind);

		assert_int_equal(ww_resume_count(f.r), kind == 3);
		assert_int_equal(noted(&f, "no heartbeat was found"), kind < 3);
		assert_int_equal(noted(&f, "baud rate right"), kind < 3);
		assert_int_equal(noted(&f, "another writer"), 0);
		assert_int_equal(noted(&f, "no request marked"), kind == 3);
		done(&f);
	}
}

/* Nobody marked anything, and firmware speaks for seconds within one silence. */
static void one_silence_one_cycle(void **state)
{
	(void)state;
	for (int never = 0; never < 2; never++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z;
		struct found f;

		sim_init(&s);
		s.plain = 1;
		s.period = 5 * MS;
		z = sim_suspend(&s, s.start + 5 * S, 4000, 6000);
		z->uart_on = never ? WW_TIME_MAX / 2 : z->thaw;
		z->thaw = never ? WW_TIME_MAX / 2 : z->thaw;
		z->never = never;
		sim_run(&s);
		for (int i = 0; i < 30; i++)
			sim_text(&s, z->wake + i * 150 * MS, "loading from flash\r\n");
		sim_text(&s, z->wake + 5 * S, "Jumping to kernel\r\n");
		sim_open(&tr);
		sim_store(&s, &tr);
		f = analyse(&tr, NULL);
		assert_true(seen(only(&f)->event[WW_EV_LAST_BEAT]));
		holds("last_beat", only(&f)->event[WW_EV_LAST_BEAT], z->freeze, 20 * MS);
		assert_int_equal(seen(only(&f)->event[WW_EV_FIRST_BEAT]), !never);
		if (!never)
			assert_int_equal(only(&f)->result, WW_RES_OK);
		done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hung_stream),
		cmocka_unit_test(entry_within_a_period),
		cmocka_unit_test(shorter_than_the_limit),
		cmocka_unit_test(cold_boot),
		cmocka_unit_test(no_heartbeat),
		cmocka_unit_test(one_silence_one_cycle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
