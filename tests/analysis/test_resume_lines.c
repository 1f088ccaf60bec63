/* SPDX-License-Identifier: MIT */
/* Lines as the truth of sleep, and what a campaign's own actions leave in the marks. */
#include "cycles.h"

struct edge {
	int64_t t;
	int level;
};

/* A line whose edges are as wide as a microsecond. */
static void add_line(struct sim_trace *tr, const char *name, const char *uri, const struct edge *e,
		     size_t n)
{
	struct ww_source_info line = sim_source(name, WW_LINE, uri);
	struct ww_channel_info level = {.name = "level",
					.quantity = "level",
					.unit = "1",
					.semantics = WW_EDGE,
					.scale = 1};
	int id = ww_writer_source(tr->w, &line, NULL);

	assert_true(id > 0);
	level.source = (uint32_t)id;
	assert_true(ww_writer_channel(tr->w, &level, NULL) > 0);
	for (size_t i = 0; i < n; i++) {
		int64_t lo = e[i].t - 1000, hi = e[i].t + 1000, code = e[i].level;

		assert_int_equal(ww_writer_samples(tr->w, level.source, 1, &lo, &hi, &code, NULL),
				 0);
	}
}

/* A machine that sleeps for `ms`, and the lines that are given for it. */
static struct sim_sleep *sleeper(struct sim *s, struct sim_trace *tr, int64_t ms)
{
	struct sim_sleep *z;

	sim_init(s);
	z = sim_suspend(s, s->start + 5 * S, ms, 30);
	sim_run(s);
	sim_open(tr);
	return z;
}

static struct found told(struct sim *s, struct sim_trace *tr)
{
	sim_store(s, tr);
	sim_mark(tr, s->start + 5 * S, WW_MARK_REQUEST, 1, "x");
	return analyse(tr, NULL);
}

static void both_ends(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z = sleeper(&s, &tr, 3000);
	const struct edge e[] = {{z->sleep - 3 * S, 1}, {z->sleep, 0}, {z->wake, 1}};
	struct found f;

	(void)state;
	add_line(&tr, "line1", "gpio:gpiochip0/S3?role=sleep", e, 3);
	f = told(&s, &tr);
	holds("off", only(&f)->event[WW_EV_OFF], z->sleep, 2000);
	holds("wake", only(&f)->event[WW_EV_WAKE], z->wake, 2000);
	holds("asleep", only(&f)->latency[WW_LAT_ASLEEP], z->wake - z->sleep, 4000);
	done(&f);
}

/* The rail and the button are lines of their own; the button is idle high. */
static void rail_and_button(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z = sleeper(&s, &tr, 3000);
	const struct edge rail[] = {{z->sleep + 40 * MS, 0}, {z->wake + 10 * MS, 1}};
	const struct edge button[] = {{z->wake, 0}, {z->wake + 200 * MS, 1}};
	const struct edge s3[] = {{z->sleep, 0}, {z->wake + 5 * MS, 1}};
	struct found f;

	(void)state;
	add_line(&tr, "rail", "gpio:gpiochip0/1?role=off", rail, 2);
	add_line(&tr, "button", "gpio:gpiochip0/2?role=wake", button, 2);
	add_line(&tr, "s3", "gpio:gpiochip0/3?role=sleep", s3, 2);
	f = told(&s, &tr);
	holds("off", only(&f)->event[WW_EV_OFF], z->sleep + 40 * MS, 2000);
	holds("wake", only(&f)->event[WW_EV_WAKE], z->wake, 2000);
	done(&f);
}

/*
 * One button for both: it is let go, and bounces, when the machine is silent already.
 * Where it is not pressed again, something else woke the machine.
 */
static void one_button(void **state)
{
	static const int64_t bounce[] = {0, 2 * MS, 15 * MS};

	(void)state;
	for (size_t i = 0; i < 3 * WW_COUNTOF(bounce); i++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z = sleeper(&s, &tr, 3000);
		int64_t press = s.start + 5 * S + MS, up = z->sleep + 70 * MS, b = bounce[i / 3];
		const struct edge e[] = {{press, 0},	       {up, 1},
					 {up + b, 0},	       {up + 2 * b, 1},
					 {z->wake, 0},	       {z->wake + b, 1},
					 {z->wake + 2 * b, 0}, {z->wake + 150 * MS, 1}};
		struct edge used[WW_COUNTOF(e)];
		size_t n = 0;
		struct found f;

		for (size_t k = 0; k < WW_COUNTOF(e) && (i % 3 != 1 || k < 4); k++)
			if (b || (k != 2 && k != 3 && k != 5 && k != 6))
				used[n++] = (struct edge){e[k].t,
							  i % 3 == 2 ? !e[k].level : e[k].level};
		add_line(&tr, "button", "gpio:gpiochip0/2?role=wake", used, n);
		f = told(&s, &tr);
		if (i % 3 == 1)
			assert_false(ww_iv_ok(only(&f)->event[WW_EV_WAKE]));
		else
			holds("wake", only(&f)->event[WW_EV_WAKE], z->wake, 2000);
		done(&f);
	}
}

/* Lit 250 ms of each second while it sleeps, from `lit_at` after the sleep on. */
static size_t blinks(const struct sim_sleep *z, int64_t dark_first, struct edge *e)
{
	size_t n = 0;

	e[n++] = (struct edge){z->sleep, 0};
	for (int64_t t = z->sleep + dark_first; t < z->wake; t += S) {
		e[n++] = (struct edge){t, 1};
		if (t + 250 * MS < z->wake)
			e[n++] = (struct edge){t + 250 * MS, 0};
	}
	if (e[n - 1].level == 0)
		e[n++] = (struct edge){z->wake, 1};
	return n;
}

static void blinking_led(void **state)
{
	static const struct {
		int64_t ms, widest;
	} how[] = {
		{5100, 250 * MS}, /* woken while a blink had it lit: the rise came before */
		{5400, 2 * MS},	  /* in the dark, too soon for a blink */
		{5745, 250 * MS}, /* just when one was due: it may be either */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		struct sim s;
		struct sim_trace tr;
		struct sim_sleep *z = sleeper(&s, &tr, how[i].ms + 750);
		struct edge e[32];
		struct found f;

		add_line(&tr, "led", "gpio:gpiochip0/LED?role=sleep", e, blinks(z, 750 * MS, e));
		f = told(&s, &tr);
		holds("off", only(&f)->event[WW_EV_OFF], z->sleep, 252 * MS);
		holds("wake", only(&f)->event[WW_EV_WAKE], z->wake, how[i].widest + 3 * MS);
		assert_true(noted(&f, "led blinked in 1 cycle"));
		done(&f);
	}
}

/* It still blinks when the UART is back: the line does not tell the wake. */
static void blinks_on(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z = sleeper(&s, &tr, 5850);
	struct edge e[32];
	size_t n = blinks(z, 750 * MS, e);
	struct found f;

	(void)state;
	/* Lit by a blink, dark again when that ends, lit for good only then. */
	e[n] = (struct edge){e[n - 1].t + 250 * MS, 0};
	e[n + 1] = (struct edge){e[n].t + 300 * MS, 1};
	add_line(&tr, "led", "gpio:gpiochip0/LED?role=sleep", e, n + 2);
	f = told(&s, &tr);
	assert_false(seen(only(&f)->event[WW_EV_WAKE]));
	done(&f);
}

/* Wired the other way round it says the same; of two such lines the first one tells. */
static void other_way_round(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z = sleeper(&s, &tr, 3000);
	const struct edge e[] = {{z->sleep, 1}, {z->wake, 0}};
	const struct edge other[] = {{z->sleep + S, 0}};
	struct found f;

	(void)state;
	add_line(&tr, "line1", "gpio:gpiochip0/S3?role=sleep&active_low=1", e, 2);
	add_line(&tr, "line2", "gpio:gpiochip0/S4?role=sleep", other, 1);
	f = told(&s, &tr);
	holds("off", only(&f)->event[WW_EV_OFF], z->sleep, 2000);
	holds("wake", only(&f)->event[WW_EV_WAKE], z->wake, 2000);
	assert_true(noted(&f, "lines line1 and line2 have the same role: only line1 is used"));
	done(&f);
}

/* The beats after a reset are no return of the cycle that hung. */
static void reset_ends_a_cycle(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;

	(void)state;
	sim_init(&s);
	z = sim_suspend(&s, s.start + 5 * S, 3000, 4000);
	z->boots = 1;
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	sim_mark(&tr, z->sleep + S, WW_MARK_WAKE, 1, "gpio:gpiochip0/3=low,200ms");
	sim_mark(&tr, z->sleep + S, WW_MARK_WAKE_END, 1, "pulse of 200.1 ms");
	sim_mark(&tr, z->wake - S, WW_MARK_CYCLE_END, 1, "timeout");
	sim_mark(&tr, z->wake - S / 2, WW_MARK_DUT_RESET, 1, "gpio:gpiochip0/4=low,200ms");
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_HUNG);
	assert_non_null(strstr(only(&f)->reason, "wake command: pulse of 200.1 ms"));
	done(&f);
}

/* An alarm: the wake mark is as wide as its clock is coarse, and the end mark closes it. */
static void alarm_marks(void **state)
{
	struct sim s;
	struct sim_trace tr;
	struct sim_sleep *z = sleeper(&s, &tr, 3000);
	struct ww_mark m = {.cycle = 1, .kind = WW_MARK_WAKE, .text = "rtc:4s"};
	struct found f;

	(void)state;
	sim_store(&s, &tr);
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	m.t = (struct ww_interval){z->wake - S, z->wake + S};
	assert_int_equal(ww_writer_mark(tr.w, &m, NULL), 0);
	m.t.lo_ns = m.t.hi_ns;
	m.kind = WW_MARK_WAKE_END;
	m.text = "alarm of 4 s";
	assert_int_equal(ww_writer_mark(tr.w, &m, NULL), 0);
	f = analyse(&tr, NULL);
	assert_int_equal(only(&f)->result, WW_RES_OK);
	/* Ended by the first byte, which is after the wake. */
	holds("wake", only(&f)->event[WW_EV_WAKE], z->wake, 2 * S);
	holds("resume_to_user", only(&f)->latency[WW_LAT_RESUME_TO_USER],
	      s.first_after[0] - z->wake, 2 * S);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ends),	   cmocka_unit_test(rail_and_button),
		cmocka_unit_test(blinking_led),	   cmocka_unit_test(blinks_on),
		cmocka_unit_test(other_way_round), cmocka_unit_test(reset_ends_a_cycle),
		cmocka_unit_test(alarm_marks),	   cmocka_unit_test(one_button),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
