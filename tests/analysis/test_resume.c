/* SPDX-License-Identifier: MIT */
/* Cycles of a simulated DUT: what is claimed holds, and what cannot be known is not claimed. */
#include "dutsim.h"

#include <setjmp.h>
#include <cmocka.h>

struct found {
	struct ww_trace *t;
	struct ww_resume *r;
};

static struct found analyse(struct sim_trace *tr, struct ww_resume_options *opt)
{
	struct ww_resume_options none = {.size = sizeof(none)};
	struct ww_error err = {0};
	struct found f = {0};
	char *text = NULL;

	sim_close(tr);
	if (ww_trace_open(tr->path, &f.t, &err) < 0 ||
	    ww_resume_new(f.t, opt ? opt : &none, &f.r, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(ww_resume_report(f.r, WW_REPORT_TEXT, &text, &err), 0);
	if (getenv("SHOW"))
		fputs(text, stderr);
	ww_free(text);
	unlink(tr->path);
	return f;
}

static void done(struct found *f)
{
	ww_resume_free(f->r);
	ww_trace_close(f->t);
}

static const struct ww_cycle *only(const struct found *f)
{
	assert_int_equal(ww_resume_count(f->r), 1);
	return ww_resume_at(f->r, 0);
}

static int seen(struct ww_interval t)
{
	return t.lo_ns <= t.hi_ns;
}

static void holds(const char *what, struct ww_interval t, int64_t truth, int64_t widest)
{
	if (!seen(t))
		fail_msg("%s was not found", what);
	if (truth < t.lo_ns || truth > t.hi_ns)
		fail_msg("%s: truth %.3f ms is not in [%.3f, %.3f]", what, (double)truth / 1e6,
			 (double)t.lo_ns / 1e6, (double)t.hi_ns / 1e6);
	if (t.hi_ns - t.lo_ns > widest)
		fail_msg("%s: %.3f ms wide", what, (double)(t.hi_ns - t.lo_ns) / 1e6);
}

static int noted(const struct found *f, const char *words)
{
	const char *n;

	for (size_t i = 0; (n = ww_resume_note(f->r, i)) != NULL; i++)
		if (strstr(n, words))
			return 1;
	return 0;
}

static void cycle_marks(struct sim_trace *tr, const struct sim_sleep *z, uint32_t n)
{
	sim_mark(tr, z->freeze - 30 * MS, WW_MARK_REQUEST, n, "echo mem > /sys/power/state");
	sim_mark(tr, z->wake, WW_MARK_WAKE, n, "system_wakeup");
	sim_mark(tr, z->wake + MS / 2, WW_MARK_WAKE_END, n, "exit 0");
	sim_mark(tr, z->thaw + 100 * MS, WW_MARK_REQUEST_END, n, "exit 0");
	sim_mark(tr, z->thaw + 3 * S, WW_MARK_CYCLE_END, n, "ok");
}

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
		holds("dut_asleep", c->latency[WW_LAT_DUT_ASLEEP], 3000 * MS, 5000);
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
static void ipaq(int message, int wake)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .mode = WW_BEAT_REOPEN};
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
	done(&f);
}

static void ipaq_2006(void **state)
{
	(void)state;
	ipaq(1, 1);
	ipaq(1, 0);
	ipaq(0, 1);
	ipaq(0, 0);
}

static struct found one_failure(struct sim *s, struct sim_trace *tr, const char *exit_text,
				const char *end_text, int64_t at)
{
	sim_run(s);
	sim_open(tr);
	sim_store(s, tr);
	sim_mark(tr, at, WW_MARK_REQUEST, 1, "systemctl suspend");
	if (exit_text)
		sim_mark(tr, at + 150 * MS, WW_MARK_REQUEST_END, 1, exit_text);
	if (end_text)
		sim_mark(tr, at + 20 * S, WW_MARK_CYCLE_END, 1, end_text);
	return analyse(tr, NULL);
}

static void refused(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	f = one_failure(&s, &tr, "exit 1: write error: Device or resource busy", "refused",
			s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_REFUSED);
	assert_non_null(strstr(only(&f)->reason, "Device or resource busy"));
	assert_false(seen(only(&f)->event[WW_EV_LAST_BEAT]));
	assert_false(seen(only(&f)->latency[WW_LAT_RESUME_TO_USER]));
	done(&f);
	/* Tasks were frozen for 120 ms before a device refused. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 0, 10);
	z->asleep = 0;
	f = one_failure(&s, &tr, "exit 1: write error: Device or resource busy", "refused",
			s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_REFUSED);
	done(&f);
	/* The same after a command that says it went well: given up on the way. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 0, 10);
	z->asleep = 0;
	f = one_failure(&s, &tr, "exit 0", NULL, s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_ABORTED);
	done(&f);
}

static void hung_and_reset(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	/* Never seen again. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 10);
	z->thaw = z->uart_on = WW_TIME_MAX / 2;
	z->never = 1;
	f = one_failure(&s, &tr, "exit 0", "timeout", s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_HUNG);
	assert_false(seen(only(&f)->event[WW_EV_FIRST_BEAT]));
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_SILENCE)->failures, 1);
	done(&f);
	/* The UART sends what it has, tasks never thaw. */
	sim_init(&s);
	s.mode = SIM_STREAM;
	z = sim_suspend(&s, s.start + 5 * S, 3000, 10);
	z->thaw = WW_TIME_MAX / 2;
	z->never = 1;
	f = one_failure(&s, &tr, "exit 0", "timeout", s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_HUNG);
	assert_false(seen(only(&f)->event[WW_EV_FIRST_BEAT]));
	holds("uart", only(&f)->event[WW_EV_UART], z->uart_on + 86806, 2 * MS);
	done(&f);
	/* It boots instead of resuming. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 4000);
	z->boots = 1;
	f = one_failure(&s, &tr, "exit 0", "ok", s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_RESET);
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_SILENCE)->failures, 1);
	done(&f);
	/* The user ended the campaign while it slept: no failure of the DUT's. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 10);
	z->thaw = z->uart_on = WW_TIME_MAX / 2;
	z->never = 1;
	f = one_failure(&s, &tr, NULL, "stopped", s.start + 5 * S);
	assert_int_equal(only(&f)->result, WW_RES_UNKNOWN);
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_SILENCE)->failures, 0);
	done(&f);
}

static void early_and_pm_test(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 1500, 10);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	sim_mark(&tr, z->thaw + S, WW_MARK_WAKE, 1, "x");
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_EARLY);
	assert_false(seen(only(&f)->latency[WW_LAT_RESUME_TO_USER]));
	done(&f);
	/* pm_test=devices: everything stops for 5 s and no clock stands still. */
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 5000, 10);
	z->asleep = 0;
	sim_info(&s, s.start, "pm_test=none core processors platform [devices] freezer");
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_PM_TEST);
	done(&f);
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

static void unplugged(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct ww_gap g = {.lost = -1, .reason = "unplugged"};
	struct found f;

	(void)state;
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 30);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	g.source = tr.port;
	g.t = (struct ww_interval){z->uart_on - S, z->uart_on - MS};
	assert_int_equal(ww_writer_gap(tr.w, &g, NULL), 0);
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_UNKNOWN);
	assert_non_null(strstr(only(&f)->reason, "unplugged"));
	assert_false(seen(only(&f)->latency[WW_LAT_RESUME_TO_USER]));
	done(&f);
}

/* A fast meter beside the beat: 20 W awake, 1 W asleep, for 3 s; a line falls and rises. */
static void power_and_lines(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;
	const struct ww_cycle *c;
	struct ww_source_info meter = sim_source("meter", WW_METER, "sim:");
	struct ww_source_info line = sim_source("line1", WW_LINE, "gpio:gpiochip0/1?role=sleep");
	struct ww_channel_info power = {
		.name = "power", .quantity = "power", .unit = "W", .scale = 0.1, .resolution = 0.1};
	struct ww_channel_info level = {.name = "level",
					.quantity = "level",
					.unit = "1",
					.semantics = WW_EDGE,
					.scale = 1};
	int id, edge;

	(void)state;
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 30);
	sim_run(&s);
	sim_open(&tr);
	meter.period_ns = 10 * MS;
	meter.delay_max_ns = 2 * MS;
	power.source = (uint32_t)(id = ww_writer_source(tr.w, &meter, NULL));
	assert_true(id > 0);
	level.source = (uint32_t)(edge = ww_writer_source(tr.w, &line, NULL));
	assert_true(ww_writer_channel(tr.w, &power, NULL) > 0);
	assert_true(ww_writer_channel(tr.w, &level, NULL) > 0);
	sim_store(&s, &tr);
	for (int64_t t = s.start; t < s.end; t += 10 * MS) {
		int64_t code = t >= z->sleep && t < z->wake ? 10 : 200, lo = t, hi = t + 2 * MS;

		assert_int_equal(ww_writer_samples(tr.w, (uint32_t)id, 1, &lo, &hi, &code, NULL),
				 0);
	}
	for (int i = 0; i < 2; i++) {
		int64_t t = i ? z->wake : z->sleep, hi = t + 1000, code = i;

		assert_int_equal(ww_writer_samples(tr.w, (uint32_t)edge, 1, &t, &hi, &code, NULL),
				 0);
	}
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_OK);
	holds("off", c->event[WW_EV_OFF], z->sleep, MS);
	holds("wake", c->event[WW_EV_WAKE], z->wake, MS);
	holds("asleep", c->latency[WW_LAT_ASLEEP], z->wake - z->sleep, MS);
	holds("settled", c->event[WW_EV_SETTLED], z->wake, 15 * MS);
	assert_true(c->asleep_watts.value > 0.95 && c->asleep_watts.value < 1.05);
	/* 3 s at 1 W, the rest from the request to the steady beat at 20 W. */
	assert_true(c->energy_J.value - 3 * c->energy_J.u <
			    3 + 20 * (double)(s.first_after[0] - s.start - 8 * S) / 1e9 &&
		    c->energy_J.value + 3 * c->energy_J.u >
			    3 + 20 * (double)(s.first_after[0] - s.start - 8 * S) / 1e9);
	assert_true(c->energy_J.u < 1);
	done(&f);
}

/* One reading a second says nothing of a sleep of three. */
static void slow_meter(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct found f;
	const struct ww_cycle *c;
	struct ww_source_info meter = sim_source("meter", WW_METER, "wattsup:/dev/x");
	struct ww_channel_info power = {.name = "power",
					.quantity = "power",
					.unit = "W",
					.semantics = WW_AVERAGE,
					.scale = 0.1,
					.resolution = 0.1};
	int id;

	(void)state;
	sim_init(&s);
	sim_suspend(&s, s.start + 5 * S, 3000, 30);
	sim_run(&s);
	sim_open(&tr);
	meter.period_ns = meter.window_ns = S;
	power.source = (uint32_t)(id = ww_writer_source(tr.w, &meter, NULL));
	assert_true(ww_writer_channel(tr.w, &power, NULL) > 0);
	sim_store(&s, &tr);
	for (int64_t t = s.start; t < s.end; t += S) {
		int64_t code = 100, hi = t + MS;

		assert_int_equal(ww_writer_samples(tr.w, (uint32_t)id, 1, &t, &hi, &code, NULL), 0);
	}
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_true(c->energy_J.value != c->energy_J.value);
	assert_non_null(strstr(c->energy_why, "too long"));
	assert_true(c->asleep_watts.value != c->asleep_watts.value);
	assert_false(seen(c->event[WW_EV_OFF]));
	assert_false(seen(c->event[WW_EV_SETTLED]));
	done(&f);
}

/* Boot loader and kernel on a console of their own; a pattern of the user's. */
static void console_text(void **state)
{
	struct ww_resume_options opt = {.size = sizeof(opt), .handoff = "^BL31: exit"};
	struct sim s, con;
	struct sim_trace tr, ctr;
	struct sim_sleep *z;
	struct found f;
	const struct ww_cycle *c;
	struct ww_source_info src = sim_source("console", WW_SERIAL, "unix:/y");
	int64_t first, hand, t;

	(void)state;
	sim_init(&s);
	sim_init(&con);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 200);
	sim_run(&s);
	sim_open(&tr);
	ctr = tr;
	ctr.port = (uint32_t)ww_writer_source(tr.w, &src, NULL);
	sim_text(&con, z->freeze, "[   12.000001] PM: suspend entry (deep)\r\n");
	t = z->wake + 3 * MS;
	first = t + con.char_ns;
	t = sim_text(&con, t, "BL2: warm boot\r\nBL31: exit to the kernel");
	hand = t;
	sim_text(&con, t, "\r\n[   12.100000] PM: resume devices took 0.1 s, waking up\r\n");
	sim_store(&s, &tr);
	sim_store(&con, &ctr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, &opt);
	c = only(&f);
	holds("firmware", c->event[WW_EV_FIRMWARE], first, 2 * MS);
	holds("handoff", c->event[WW_EV_HANDOFF], hand, 2 * MS);
	holds("kernel", c->latency[WW_LAT_KERNEL], s.first_after[0] - hand, 4 * MS);
	done(&f);
}

/* A kernel's own words after the silence are no firmware's, and hand nothing over. */
static void kernel_speaks(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 200);
	sim_run(&s);
	sim_text(&s, z->uart_on + 10 * MS, "[   12.1] ACPI: PM: Waking up from system sleep\r\n");
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_OK);
	assert_false(seen(only(&f)->event[WW_EV_FIRMWARE]));
	assert_false(seen(only(&f)->event[WW_EV_HANDOFF]));
	assert_false(seen(only(&f)->latency[WW_LAT_KERNEL]));
	holds("first_beat", only(&f)->event[WW_EV_FIRST_BEAT], s.first_after[0], 3 * MS);
	done(&f);
}

/* A getty on the DUT's port prints a prompt and echoes beats. */
static void getty(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 30);
	sim_run(&s);
	sim_text(&s, s.start + 2 * S + 5 * MS, "\r\nDebian GNU/Linux 12 dut ttyS1\r\ndut login: ");
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, z, 1);
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_OK);
	assert_true(noted(&f, "getty"));
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late_thaw_stamped), cmocka_unit_test(late_thaw_plain),
		cmocka_unit_test(plain_drain),	     cmocka_unit_test(queued_behind_old),
		cmocka_unit_test(ipaq_2006),	     cmocka_unit_test(refused),
		cmocka_unit_test(hung_and_reset),    cmocka_unit_test(early_and_pm_test),
		cmocka_unit_test(rough_line),	     cmocka_unit_test(watched),
		cmocka_unit_test(sleep_unseen),	     cmocka_unit_test(unplugged),
		cmocka_unit_test(power_and_lines),   cmocka_unit_test(slow_meter),
		cmocka_unit_test(console_text),	     cmocka_unit_test(getty),
		cmocka_unit_test(kernel_speaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
