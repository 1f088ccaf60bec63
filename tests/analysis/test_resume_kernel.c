/* SPDX-License-Identifier: MIT */
/*
 * The kernel's clock on the bench's axis, across sleeps: every stated interval holds the true
 * time of its line, also where lines waited; and what the kernel's words add to a cycle.
 */
#include "ksim.h"

static struct ksim k;

static void request(struct sim_trace *tr, int64_t at, uint32_t n, const char *end)
{
	sim_mark(tr, at, WW_MARK_REQUEST, n, "echo mem > /sys/power/state");
	sim_mark(tr, at + MS, WW_MARK_REQUEST_END, n, end);
}

/* Each line of each suspend lies where the interval says. */
static void lines_hold(const struct found *f, size_t cycle, int64_t widest)
{
	size_t n = 0;
	const struct ww_pm_cycle *c = ww_resume_kernel(f->r, cycle);

	assert_non_null(c);
	assert_int_equal(c->clock, WW_PM_CLOCK_PRINTK);
	for (size_t i = 0; i < k.n; i++) {
		const struct ksim_line *l = &k.line[i];
		struct ww_interval t;

		if (l->stamp < c->t.lo_ns || l->stamp > c->t.hi_ns)
			continue;
		assert_int_equal(ww_resume_kernel_time(f->r, cycle, l->stamp, &t), 0);
		holds(l->text, t, l->t, widest);
		n++;
	}
	assert_true(n >= 12);
}

static void three_sleeps(int console_sleeps, int pace, int64_t widest)
{
	static const int64_t slept[] = {2000, 700, 5300};
	struct sim_trace tr;
	struct found f;
	struct sim s;
	int64_t at[3];

	ksim_init(&k, &s);
	s.skew = 42e-6;
	for (size_t i = 0; i < 3; i++) {
		ksim_idle(&k, k.t + 12 * S);
		at[i] = k.t + 50 * MS;
		ksim_suspend(&k, at[i], slept[i], console_sleeps);
	}
	ksim_idle(&k, k.t + 9 * S);
	s.end = k.t;
	ksim_open(&k, &tr, 1, pace);
	for (uint32_t i = 0; i < 3; i++)
		request(&tr, at[i] - 5 * MS, i + 1, "exit 0");
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 3);
	for (size_t i = 0; i < 3; i++) {
		const struct ww_cycle *c = ww_resume_at(f.r, i);
		const struct sim_sleep *z = &s.sleep[i];

		lines_hold(&f, i, widest);
		assert_int_equal(c->result, WW_RES_OK);
		holds("entry", c->event[WW_EV_KERNEL_ENTRY], at[i], widest);
		holds("asleep", c->event[WW_EV_KERNEL_ASLEEP], z->sleep, 20 * MS);
		holds("awake", c->event[WW_EV_KERNEL_AWAKE], z->wake, 20 * MS);
		assert_true(c->event[WW_EV_KERNEL_ENTRY].lo_ns >= at[i] - MS);
	}
	done(&f);
}

static void console_goes_on(void **state)
{
	(void)state;
	three_sleeps(0, 1, 600000);
}

/* Lines of a suspended console come late: they narrow nothing and spoil nothing. */
static void console_suspended(void **state)
{
	(void)state;
	three_sleeps(1, 1, 600000);
}

/* The pace is found from the lines themselves. */
static void pace_unknown(void **state)
{
	(void)state;
	three_sleeps(0, 0, 600000);
}

/* The driver that the kernel names stands in the cycle's reason. */
static void kernel_says_why(void **state)
{
	struct sim_trace tr;
	const struct ww_cycle *c;
	struct found f;
	struct sim s;
	int64_t at;

	(void)state;
	ksim_init(&k, &s);
	ksim_idle(&k, k.t + 4 * S);
	at = k.t;
	ksim_say(&k, "PM: suspend entry (deep)");
	ksim_say(&k, "Freezing user space processes");
	ksim_say(&k, "Freezing user space processes completed (elapsed 0.001 seconds)");
	ksim_say(&k, "lamp lamp.3: PM: calling lamp_suspend+0x0/0x40 @ 88, parent: platform");
	ksim_say(&k, "lamp lamp.3: PM: dpm_run_callback(): lamp_suspend+0x0/0x40 returns -16");
	ksim_say(&k, "lamp lamp.3: PM: lamp_suspend+0x0/0x40 returned -16 after 9000 usecs");
	ksim_say(&k, "lamp lamp.3: PM: failed to suspend: error -16");
	ksim_say(&k, "PM: Some devices failed to suspend, or early wake event detected");
	ksim_say(&k, "Restarting tasks ... done.");
	ksim_say(&k, "PM: suspend exit");
	ksim_idle(&k, k.t + 4 * S);
	s.end = k.t;
	ksim_open(&k, &tr, 1, 1);
	request(&tr, at - MS, 1, "exit 1");
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_REFUSED);
	assert_non_null(strstr(c->reason, "lamp.3"));
	assert_non_null(strstr(c->reason, "-16"));
	assert_false(seen(c->event[WW_EV_KERNEL_ASLEEP]));
	done(&f);
}

/* It never came back: the callback that never returned is named. */
static void kernel_says_where(void **state)
{
	struct sim_trace tr;
	const struct ww_cycle *c;
	struct found f;
	struct sim s;
	struct sim_sleep *z;
	int64_t at;

	(void)state;
	ksim_init(&k, &s);
	ksim_idle(&k, k.t + 4 * S);
	at = k.t;
	ksim_enter(&k, at, 0);
	z = &s.sleep[s.sleeps++];
	*z = (struct sim_sleep){.freeze = at + 12 * MS,
				.uart_off = k.t,
				.sleep = k.t + 3 * MS,
				.wake = k.t + 1003 * MS,
				.asleep = 1,
				.never = 1,
				.uart_on = WW_TIME_MAX / 2,
				.thaw = WW_TIME_MAX / 2};
	k.t = z->wake + 2 * MS;
	ksim_say(&k, "Enabling non-boot CPUs ...");
	ksim_say(&k, "CPU1 is up");
	ksim_device(&k, "lamp.1", "resume", 60 * MS);
	ksim_say(&k, "lamp lamp.0: PM: calling lamp_resume+0x0/0x40 @ 88, parent: platform");
	s.end = k.t + 8 * S;
	ksim_open(&k, &tr, 1, 1);
	request(&tr, at - MS, 1, "exit 0");
	sim_mark(&tr, z->wake, WW_MARK_WAKE, 1, "y");
	sim_mark(&tr, s.end, WW_MARK_CYCLE_END, 1, "timeout");
	f = analyse(&tr, NULL);
	c = only(&f);
	assert_int_equal(c->result, WW_RES_HUNG);
	if (!strstr(c->reason, " of lamp.0 (lamp) began and never returned"))
		fail_msg("%s", c->reason);
	done(&f);
}

static void write_text(char *path, size_t size, size_t from, size_t to)
{
	FILE *out;

	snprintf(path, size, "%s/wwdmesg.txt", scratch());
	out = fopen(path, "w");
	assert_non_null(out);
	for (size_t i = from; i < to; i++)
		fprintf(out, "[%5lld.%06lld] %s\n", (long long)(k.line[i].stamp / S),
			(long long)(k.line[i].stamp % S / 1000), k.line[i].text);
	fclose(out);
}

static void add(struct found *f, const char *path, int expected)
{
	struct ww_error err = {0};
	struct ww_text *text;

	assert_int_equal(ww_text_open(path, &text, &err), 0);
	assert_int_equal(ww_resume_add_text(f->r, &text, 1, NULL, &err), expected);
	ww_text_close(text);
	unlink(path);
}

/* No console: dmesg, read afterwards, finds its cycles, the ring's oldest lines gone. */
static void text_afterwards(void **state)
{
	struct sim_trace tr;
	struct found f;
	struct sim s;
	size_t second = 0;
	char path[128];

	(void)state;
	ksim_init(&k, &s);
	s.skew = -30e-6;
	for (size_t i = 0; i < 4; i++) {
		ksim_idle(&k, k.t + (int64_t)(7 + i) * S);
		if (i == 1)
			second = k.n;
		ksim_suspend(&k, k.t + 20 * MS, 1500 + 333 * (int64_t)i, 1);
	}
	ksim_idle(&k, k.t + 3 * S);
	s.end = k.t;
	ksim_open(&k, &tr, 0, 0);
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 4);
	assert_null(ww_resume_kernel(f.r, 1));
	write_text(path, sizeof(path), second, k.n);
	add(&f, path, 3);
	assert_null(ww_resume_kernel(f.r, 0));
	for (size_t i = 1; i < 4; i++)
		lines_hold(&f, i, 400 * MS);
	done(&f);
}

/* The console's cost is out of it, before the two become one and after. */
static void slow_one(const struct ww_pm_cycle *c)
{
	for (size_t i = 0; i < c->devices; i++) {
		const struct ww_pm_device *d = &c->device[i];

		if (strcmp(d->name, "lamp.1") != 0 || d->phase < WW_PM_MACHINE)
			continue;
		assert_true(d->length.lo_ns > 66 * MS);
		holds("corrected", d->corrected, 60 * MS, 200000);
		return;
	}
	fail_msg("no resume of lamp.1");
}

/* The console and dmesg of it tell the same: joined, not doubled, nothing contradicts. */
static void console_and_text(void **state)
{
	struct sim_trace tr;
	struct found f;
	struct sim s;
	char path[128];

	(void)state;
	ksim_init(&k, &s);
	for (size_t i = 0; i < 2; i++) {
		ksim_idle(&k, k.t + 6 * S);
		ksim_suspend(&k, k.t, 2000, 0);
	}
	ksim_idle(&k, k.t + 3 * S);
	s.end = k.t;
	ksim_open(&k, &tr, 1, 1);
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 2);
	slow_one(ww_resume_kernel(f.r, 0));
	write_text(path, sizeof(path), 0, k.n);
	add(&f, path, 2);
	for (size_t i = 0; i < 2; i++) {
		lines_hold(&f, i, MS);
		assert_int_equal(ww_resume_kernel(f.r, i)->contradictions, 0);
		slow_one(ww_resume_kernel(f.r, i));
	}
	done(&f);
}

static const char *told(const struct found *f, size_t i, const char *want)
{
	const char *key, *value;

	for (size_t j = 0; ww_resume_cycle_info_at(f->r, i, j, &key, &value); j++)
		if (strcmp(key, want) == 0)
			return value;
	return NULL;
}

static void tell(struct sim *s, int64_t at, const char *text)
{
	s->wire = at;
	sim_info(s, at, text);
}

/* Counters since the boot become what each cycle added. */
static void dut_tells(void **state)
{
	struct sim_trace tr;
	struct sim_sleep *z;
	struct found f;
	struct sim s;

	(void)state;
	sim_init(&s);
	s.period = 100 * MS; /* room for the lines between beats */
	s.end = s.start + 16 * S;
	z = sim_suspend(&s, s.start + 3 * S, 1500, 200);
	sim_suspend(&s, s.start + 9 * S, 1500, 200);
	sim_run(&s);
	tell(&s, s.start + 130 * MS, "info=start");
	tell(&s, s.start + 150 * MS, "suspend_stats=success:7 fail:2 failed_suspend:2");
	tell(&s, s.start + 170 * MS, "s2idle_residency_us=1000");
	tell(&s, z->thaw + 530 * MS, "info=resume");
	tell(&s, z->thaw + 550 * MS,
	     "suspend_stats=success:8 fail:3 failed_suspend:3 last_failed_dev:1-1");
	tell(&s, z->thaw + 570 * MS, "s2idle_residency_us=901000");
	tell(&s, z->thaw + 630 * MS, "wakeup_irq=9 acpi");
	tell(&s, z[1].thaw + 530 * MS, "info=resume");
	tell(&s, z[1].thaw + 550 * MS,
	     "suspend_stats=success:9 fail:3 failed_suspend:3 last_failed_dev:1-1");
	sim_open(&tr);
	sim_store(&s, &tr);
	f = analyse(&tr, NULL);
	assert_int_equal(ww_resume_count(f.r), 2);
	assert_string_equal(told(&f, 0, "attempts_ok"), "1");
	assert_string_equal(told(&f, 0, "attempts_failed"), "1");
	assert_string_equal(told(&f, 0, "failed_suspend"), "1");
	assert_string_equal(told(&f, 0, "last_failed_dev"), "1-1");
	assert_string_equal(told(&f, 0, "s2idle_residency_us"), "900000");
	assert_string_equal(told(&f, 0, "wakeup_irq"), "9 acpi");
	assert_string_equal(told(&f, 1, "attempts_failed"), "0");
	assert_null(told(&f, 1, "last_failed_dev"));
	assert_null(told(&f, 1, "wakeup_irq"));
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(console_goes_on),   cmocka_unit_test(console_suspended),
		cmocka_unit_test(pace_unknown),	     cmocka_unit_test(kernel_says_why),
		cmocka_unit_test(kernel_says_where), cmocka_unit_test(text_afterwards),
		cmocka_unit_test(console_and_text),  cmocka_unit_test(dut_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
