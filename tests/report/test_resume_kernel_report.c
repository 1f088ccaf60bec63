/* SPDX-License-Identifier: MIT */
/* A recording with console and meter: what its report says of the kernel's phases. */
#include "../analysis/ksim.h"

#include <math.h>

#define CYCLES 5

static struct ksim k;

/* A line of a phase is said as a kernel with pm_debug_messages says it. */
static void suspend(struct ksim *k1, int64_t at, int64_t asleep_ms, int64_t lamp)
{
	struct sim_sleep *z = &k1->dut->sleep[k1->dut->sleeps];
	int64_t t0;

	ksim_enter(k1, at, 0);
	*z = (struct sim_sleep){.freeze = at + 12 * MS, .sleep = k1->t + 3 * MS, .asleep = 1};
	z->wake = z->sleep + asleep_ms * MS;
	k1->dut->sleeps++;
	z->uart_off = z->sleep - MS;
	k1->t = z->wake + 2 * MS;
	k1->sleeps++;
	z->uart_on = z->wake + 10 * MS;
	ksim_say(k1, "Enabling non-boot CPUs ...");
	ksim_say(k1, "CPU1 is up");
	ksim_say(k1, "PM: early resume of devices complete after 0.500 msecs");
	t0 = k1->t;
	ksim_device(k1, "lamp.1", "resume", lamp);
	ksim_device(k1, "lamp.0", "resume", 40000);
	ksim_say(k1, "PM: resume of devices complete after %lld.%03lld msecs",
		 (long long)(k1->t - t0) / 1000000, (long long)(k1->t - t0) / 1000 % 1000);
	ksim_say(k1, "OOM killer enabled.");
	ksim_say(k1, "Restarting tasks ... done.");
	z->thaw = k1->line[k1->n - 1].t + MS;
	ksim_say(k1, "PM: suspend exit");
}

/* 20 W awake, 1 W asleep, 30 W from the wake to the thaw, a reading a millisecond. */
static void store_watts(struct sim_trace *tr, const struct sim *s)
{
	struct ww_source_info meter = sim_source("meter", WW_METER, "sim:");
	struct ww_channel_info power = {
		.name = "power", .quantity = "power", .unit = "W", .scale = 0.1, .resolution = 0.1};
	int id;

	meter.period_ns = MS;
	id = ww_writer_source(tr->w, &meter, NULL);
	assert_true(id > 0);
	power.source = (uint32_t)id;
	assert_true(ww_writer_channel(tr->w, &power, NULL) > 0);
	for (int64_t t = s->start; t < s->end; t += MS) {
		int64_t code = 200;

		for (size_t i = 0; i < s->sleeps; i++)
			code = t >= s->sleep[i].sleep && t < s->sleep[i].wake  ? 10
			       : t >= s->sleep[i].wake && t < s->sleep[i].thaw ? 300
									       : code;
		assert_int_equal(ww_writer_samples(tr->w, (uint32_t)id, 1, &t, &t, &code, NULL), 0);
	}
}

static struct found campaign(struct sim *s)
{
	struct sim_trace tr;
	int64_t at[CYCLES];

	ksim_init(&k, s);
	for (size_t i = 0; i < CYCLES; i++) {
		ksim_idle(&k, k.t + 4 * S);
		at[i] = k.t + 50 * MS;
		/* The fourth is the worst. */
		suspend(&k, at[i], 1500, i == 3 ? 260 * MS : 60 * MS);
	}
	ksim_idle(&k, k.t + 4 * S);
	s->end = k.t;
	ksim_open(&k, &tr, 1, 1);
	store_watts(&tr, s);
	for (uint32_t i = 0; i < CYCLES; i++)
		cycle_marks(&tr, &s->sleep[i], i + 1);
	return analyse(&tr, NULL);
}

__attribute__((noinline)) static char *report(const struct found *f, int form)
{
	struct ww_error err = {0};
	char *text;

	assert_int_equal(ww_resume_report(f->r, form, &text, &err), 0);
	return text;
}

static void has(const char *text, const char *want)
{
	if (!strstr(text, want))
		fail_msg("'%s' is not in\n%s", want, text);
}

static void has_not(const char *text, const char *what)
{
	if (strstr(text, what))
		fail_msg("'%s' is in\n%s", what, text);
}

static void test_text(void **state)
{
	struct sim s;
	struct found f = campaign(&s);
	char *text = report(&f, WW_REPORT_TEXT);
	const char *line;

	(void)state;
	has(text, "\nworst by resume to user space; `--html` shows them on a time line\n"
		  "  cycle 4: ");
	has(text, " ms lamp lamp.1 in resume\n");
	has(text, "\nthe same cycles as the kernel saw them\n");
	has(text, "\n5 cycles by the kernel: 5 ok\n");
	has(text, "    without the console  5 ");
	/* 60 ms in four cycles, 260 ms in the fourth: the line's own time is taken out. */
	line = strstr(text, "  callbacks that took most time over all cycles\n");
	assert_non_null(line);
	line = strchr(strchr(line, '\n') + 1, '\n') + 1;
	has(line, "         4     60.00");
	has(line, " resume   lamp lamp.1\n");
	/* 30 W from the wake to the thaw. */
	has(text, "\n  resume      5 ");
	has(text, "  30.000 \xc2\xb1 0.058\n");
	ww_free(text);
	done(&f);
}

/* The number that follows a text; NaN where it does not stand there. */
static double number_after(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? strtod(at + strlen(what), NULL) : (double)NAN;
}

static void test_json(void **state)
{
	struct sim s;
	struct found f = campaign(&s);
	char *text = report(&f, WW_REPORT_JSON);
	const char *kernel = strstr(text, "\"kernel\":{\"begin_s\":["), *energy, *worst;

	(void)state;
	assert_non_null(kernel);
	has(kernel, "\"n\":1,\"mode\":\"mem\",\"result\":\"ok\"");
	has(kernel, "\"clock\":\"printk\"");
	energy = strstr(kernel, "\"phase_energy\":[");
	assert_non_null(energy);
	energy = strstr(energy, "{\"name\":\"resume\",");
	assert_non_null(energy);
	assert_true(fabs(number_after(energy, "\"W\":{\"value\":") - 30) < .2);
	assert_true(number_after(energy, "\"u\":") > 0);
	worst = strstr(text, "\"worst\":[{\"cycle\":4,\"result\":\"ok\",\"latency\":"
			     "\"resume_to_user\",\"ms\":");
	assert_non_null(worst);
	assert_true(number_after(worst, "\"ms\":") > 300);
	has(worst, "\"kernel\":{\"cycles\":5,\"results\":{\"ok\":5},\"reasons\":[]");
	has(worst, "\"slowest\":[{\"name\":\"lamp.1\",\"driver\":\"lamp\",\"phase\":\"resume\"");
	ww_free(text);
	done(&f);
}

/* A line a cycle, each with as many fields as the head. */
static size_t fields(const char *line)
{
	size_t n = 1;
	bool quoted = false;

	for (; *line && *line != '\n'; line++) {
		quoted ^= *line == '"';
		n += *line == ',' && !quoted;
	}
	return n;
}

static void test_csv(void **state)
{
	struct sim s;
	struct found f = campaign(&s);
	char *text = report(&f, WW_REPORT_CSV);
	size_t lines = 0;

	(void)state;
	for (const char *p = text; *p; p = strchr(p, '\n') + 1, lines++)
		assert_int_equal(fields(p), fields(text));
	assert_int_equal(lines, 1 + CYCLES);
	has(text, "cycle,result,reason,mode,warmup,request_lo_s,request_hi_s,");
	has(text, ",resume_to_user_lo_ms,resume_to_user_hi_ms,");
	has(text, "kernel_slowest,kernel_slowest_ms\n1,ok,");
	has(text, ",lamp lamp.1 resume,67.4");
	ww_free(text);
	done(&f);
}

static char *page(const struct found *f, struct ww_trace *t, int form)
{
	struct ww_error err = {0};
	FILE *file = tmpfile();
	char *text;
	long n;

	assert_non_null(file);
	if (ww_resume_page(f->r, t, form, NULL, fileno(file), &err) < 0)
		fail_msg("%s", err.text);
	n = lseek(fileno(file), 0, SEEK_END);
	text = calloc(1, (size_t)n + 1);
	assert_non_null(text);
	assert_int_equal(pread(fileno(file), text, (size_t)n, 0), n);
	fclose(file);
	return text;
}

static void test_events(void **state)
{
	struct sim s;
	struct found f = campaign(&s);
	char *text = page(&f, f.t, WW_REPORT_TRACE_EVENTS), *without;
	const char *lamp = strstr(text, "{\"name\":\"lamp lamp.1\",\"cat\":\"device\",");
	double ts, truth = 0;

	(void)state;
	if (getenv("SHOW"))
		fputs(text, stderr);
	has(text, "\"args\":{\"name\":\"seen from outside\"}}");
	has(text, "{\"name\":\"cycle 4: ok\",\"cat\":\"cycle\",\"ph\":\"X\",");
	has(text, "{\"name\":\"first_beat\",\"cat\":\"event\",\"ph\":\"i\",");
	has(text, "{\"name\":\"asleep\",\"cat\":\"latency\",\"ph\":\"X\",");
	has(text, "{\"name\":\"meter.power\",\"ph\":\"C\",");
	has(text, ",\"args\":{\"W\":30}}");
	has(text, "{\"name\":\"port\",\"ph\":\"C\",");
	has(text, "\"args\":{\"name\":\"lines of console\"}}");
	has(text, "PM: suspend entry (deep)\",\"cat\":\"line\",");
	/* The kernel's callback stands where it truly was, on the trace's axis. */
	assert_non_null(lamp);
	ts = number_after(lamp, "\"ts\":");
	for (size_t i = 0; i < k.n && truth == 0; i++)
		if (strstr(k.line[i].text, "lamp.1: PM: calling lamp_suspend"))
			truth = (double)(k.line[i].t - ww_trace_span(f.t).lo_ns) / 1e3;
	assert_true(fabs(ts - truth) < 400);
	without = page(&f, NULL, WW_REPORT_TRACE_EVENTS);
	has(without, "lamp lamp.1");
	has_not(without, "meter.power");
	free(without);
	free(text);
	done(&f);
}

static void test_form(void **state)
{
	struct ww_error err = {0};
	struct sim s;
	struct found f = campaign(&s);
	char *text;

	(void)state;
	assert_int_equal(ww_resume_report(f.r, WW_REPORT_JUNIT, &text, &err), -EINVAL);
	ww_error_clear(&err);
	assert_int_equal(ww_resume_page(f.r, f.t, WW_REPORT_CSV, NULL, 1, &err), -EINVAL);
	done(&f);
}

/* Without a console and without a meter nothing is said of either. */
static void test_without(void **state)
{
	struct sim_trace tr;
	struct found f;
	struct sim s;
	char *text;

	(void)state;
	sim_init(&s);
	sim_suspend(&s, s.start + 5 * S, 3000, 30);
	sim_run(&s);
	sim_open(&tr);
	sim_store(&s, &tr);
	cycle_marks(&tr, &s.sleep[0], 1);
	f = analyse(&tr, NULL);
	text = report(&f, WW_REPORT_TEXT);
	has_not(text, "kernel saw");
	has_not(text, "energy of");
	has_not(text, "worst by");
	ww_free(text);
	text = report(&f, WW_REPORT_JSON);
	has_not(text, "phase_energy");
	ww_free(text);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text), cmocka_unit_test(test_json),
		cmocka_unit_test(test_csv),  cmocka_unit_test(test_events),
		cmocka_unit_test(test_form), cmocka_unit_test(test_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
