/* SPDX-License-Identifier: MIT */
/* What became of a cycle, and what stands beside the beat: meters, lines, text. */
#include "cycles.h"
#include "analysis/resume.h"

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
	/* It fell silent as one that hung did. */
	assert_int_equal(ww_resume_summary(f.r, WW_LAT_SUSPEND_ENTRY)->n, 1);
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
	assert_true(noted(&f, "port lost bytes 1 time (unplugged): "));
	assert_false(seen(only(&f)->latency[WW_LAT_RESUME_TO_USER]));
	done(&f);
}

/* A fast meter beside the beat: 20 W awake, 1 W asleep, for 3 s; a line falls and rises. */
static void power_and_lines_of(int lines)
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
	for (int i = 0; lines && i < 2; i++) {
		int64_t t = i ? z->wake : z->sleep, hi = t + 1000, code = i;

		assert_int_equal(ww_writer_samples(tr.w, (uint32_t)edge, 1, &t, &hi, &code, NULL),
				 0);
	}
	sim_mark(&tr, s.start + 5 * S, WW_MARK_REQUEST, 1, "x");
	if (!lines)
		sim_mark(&tr, z->wake, WW_MARK_WAKE, 1, "y");
	if (!lines)
		sim_mark(&tr, z->wake + MS, WW_MARK_WAKE_END, 1, "exit 0");
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_OK);
	holds("off", c->event[WW_EV_OFF], z->sleep, lines ? MS : 15 * MS);
	holds("wake", c->event[WW_EV_WAKE], z->wake, 2 * MS);
	holds("asleep", c->latency[WW_LAT_ASLEEP], z->wake - z->sleep, lines ? MS : 17 * MS);
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

/* The meter alone tells when the power fell, and "asleep" begins there. */
static void power_and_lines(void **state)
{
	(void)state;
	power_and_lines_of(1);
	power_and_lines_of(0);
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

static int says(const struct found *f, const char *words)
{
	struct ww_error err = {0};
	char *text = NULL;
	int found;

	assert_int_equal(ww_resume_report(f->r, WW_REPORT_TEXT, &text, &err), 0);
	found = strstr(text, words) != NULL;
	ww_free(text);
	return found;
}

/* A clock's rate is printed where it says something; an empty list leaves its name. */
static void said_of_the_dut(void **state)
{
	static const struct {
		double skew, u;
		int printed;
	} v[] = {{20e-6, 2e-6, 1}, {20e-6, 150e-6, 0}, {.01e-6, .02e-6, 0}, {.01e-6, 2e-6, 1}};
	struct sim s;
	struct sim_trace tr;
	struct found f;

	(void)state;
	sim_init(&s);
	sim_info(&s, s.start, "cpuidle=none:");
	sim_suspend(&s, s.start + 5 * S, 3000, 30);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	f = analyse(&tr, NULL);
	assert_true(says(&f, "\nDUT cpuidle: none\n"));
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		f.r->skew = v[i].skew;
		f.r->skew_u = v[i].u;
		assert_int_equal(says(&f, " ppm\n"), v[i].printed);
	}
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(hung_and_reset),
		cmocka_unit_test(early_and_pm_test),
		cmocka_unit_test(unplugged),
		cmocka_unit_test(power_and_lines),
		cmocka_unit_test(slow_meter),
		cmocka_unit_test(console_text),
		cmocka_unit_test(kernel_speaks),
		cmocka_unit_test(getty),
		cmocka_unit_test(said_of_the_dut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
