/* SPDX-License-Identifier: MIT */
/*
 * The page of cycles from cycles made by hand: places on a folded axis, lanes, hostile names,
 * the data of its script. `test_page --write FILE N` writes a page of N cycles to look at.
 */
#include "report/page.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#define MS INT64_C(1000000)
#define HOSTILE                                                                                    \
	"</script><script>alert(1)</script><!--\"'&\xff\xe2\x80\xae"                               \
	"\x01x"

static struct ww_interval exactly(int64_t ns)
{
	return (struct ww_interval){ns, ns};
}

#define DEVICES 70
#define SPANS	16

/* A suspend by hand. Its strings live as long as it does. */
struct made {
	struct ww_pm_cycle c;
	struct ww_pm_device device[DEVICES];
	struct ww_pm_span span[SPANS];
	struct ww_pm_other other[2];
	const char *error[1];
	char name[DEVICES][64];
	uint32_t rng;
};

static uint32_t rnd(struct made *m, uint32_t n)
{
	m->rng = m->rng * 1664525 + 1013904223;
	return (m->rng >> 8) % n;
}

static int64_t add_phase(struct made *m, int phase, int64_t at, int64_t length)
{
	m->span[m->c.spans++] = (struct ww_pm_span){.phase = phase,
						    .verb = phase <= WW_PM_MACHINE ? WW_PM_V_SUSPEND
										   : WW_PM_V_RESUME,
						    .start_ns = at,
						    .end_ns = at + length,
						    .length = exactly(length),
						    .printed = WW_INTERVAL_NONE,
						    .traced = WW_INTERVAL_NONE,
						    .corrected = exactly(length - length / 10)};
	return at + length;
}

static void add_device(struct made *m, const char *driver, int phase, int64_t at, int64_t length,
		       unsigned flags)
{
	size_t i = m->c.devices++;

	m->device[i] =
		(struct ww_pm_device){.name = m->name[i],
				      .driver = driver,
				      .parent = "pci0000:00",
				      .func = "pci_pm_resume",
				      .phase = phase,
				      .verb = phase <= WW_PM_MACHINE ? WW_PM_V_SUSPEND
								     : WW_PM_V_RESUME,
				      .start_ns = at,
				      .end_ns = at + length,
				      .length = exactly(length),
				      .corrected = length > 20 * MS ? exactly(length - 18 * MS)
								    : exactly(length),
				      .printed = WW_INTERVAL_NONE,
				      .error = flags & 4 ? -5 : 0,
				      .pid = 1000,
				      .async = flags & 1 ? 1 : 0,
				      .critical = flags & 2 ? 1 : 0,
				      .critical_ns = flags & 2 ? length : 0,
				      .from = 1};
}

static void fill_devices(struct made *m, int phase, int64_t at, int64_t length, size_t n)
{
	static const char *const drivers[] = {"ahci",	       "usb",	 "i915",
					      "snd_hda_intel", "e1000e", "sd"};

	for (size_t i = 0; i < n; i++) {
		int64_t start = at + length * rnd(m, 700) / 1000;
		int64_t room = at + length - start;

		snprintf(m->name[m->c.devices], sizeof(m->name[0]), "%s%u",
			 i % 3 ? "0000:00:1f." : "usb", (unsigned)i);
		add_device(m, drivers[i % 6], phase, start, room * (50 + rnd(m, 900)) / 1000,
			   i % 2 ? 1 : 0);
	}
}

static void make(struct made *m, uint32_t n)
{
	int64_t t = 100000 * MS + n * 20000 * MS, wake;

	*m = (struct made){.rng = n * 77 + 5};
	m->c = (struct ww_pm_cycle){.n = n,
				    .mode = WW_PM_MODE_MEM,
				    .result = n % 17 == 3 ? WW_PM_FAILED : WW_PM_OK,
				    .sleeps = 1,
				    .kernel = "6.1.0",
				    .stamp_res_ns = 1000,
				    .clock = WW_PM_CLOCK_PRINTK};
	m->c.reason = (struct ww_pm_reason){.step = "",
					    .device = "",
					    .driver = "",
					    .func = "",
					    .task = "",
					    .wakeup = "rtc0",
					    .text = ""};
	if (m->c.result == WW_PM_FAILED)
		m->c.reason = (struct ww_pm_reason){.step = "suspend",
						    .device = HOSTILE,
						    .driver = "usb",
						    .func = "",
						    .task = "",
						    .wakeup = "",
						    .text = "",
						    .error = -16};
	m->c.t.lo_ns = t;
	t = add_phase(m, WW_PM_SYNC, t, 12 * MS);
	t = add_phase(m, WW_PM_FREEZE, t, 9 * MS);
	fill_devices(m, WW_PM_SUSPEND, t, 190 * MS, 18);
	t = add_phase(m, WW_PM_SUSPEND, t, 190 * MS);
	t = add_phase(m, WW_PM_SUSPEND_LATE, t, 14 * MS);
	t = add_phase(m, WW_PM_SUSPEND_NOIRQ, t, 25 * MS);
	t = add_phase(m, WW_PM_CPU_OFF, t, 48 * MS);
	m->c.sleep_begin = m->c.sleep_end = exactly(t);
	wake = t;
	t = add_phase(m, WW_PM_CPU_ON, t, 61 * MS);
	t = add_phase(m, WW_PM_RESUME_NOIRQ, t, 22 * MS);
	t = add_phase(m, WW_PM_RESUME_EARLY, t, 8 * MS);
	fill_devices(m, WW_PM_RESUME, t, 330 * MS, 40);
	snprintf(m->name[m->c.devices], sizeof(m->name[0]), "%s", "latethaw.0");
	add_device(m, "latethaw", WW_PM_RESUME, t + 3 * MS, 320 * MS + rnd(m, 9) * MS, 3);
	snprintf(m->name[m->c.devices], sizeof(m->name[0]), "%s", HOSTILE);
	add_device(m, "evil'\"><b>", WW_PM_RESUME, t + 5 * MS, 90 * MS, 4);
	t = add_phase(m, WW_PM_RESUME, t, 330 * MS + rnd(m, 40) * MS);
	t = add_phase(m, WW_PM_COMPLETE, t, 3 * MS);
	t = add_phase(m, WW_PM_THAW, t, 5 * MS);
	m->c.t.hi_ns = t;
	m->c.suspend = exactly(wake - m->c.t.lo_ns);
	m->c.resume = m->c.result == WW_PM_OK ? (struct ww_interval){t - wake - MS, t - wake + MS}
					      : WW_INTERVAL_NONE;
	m->c.suspend_corrected = exactly(m->c.suspend.lo_ns - 30 * MS);
	m->c.resume_corrected = m->c.resume;
	m->c.slept = exactly(9579 * MS);
	m->c.firmware_suspend = m->c.firmware_resume = m->c.network = m->c.storage =
		WW_INTERVAL_NONE;
	m->c.bench_begin = m->c.bench_end = WW_INTERVAL_NONE;
	m->other[m->c.others++] = (struct ww_pm_other){.what = "silent gap",
						       .before = "a line before",
						       .after = HOSTILE,
						       .start_ns = wake + 100 * MS,
						       .length = exactly(120 * MS)};
	m->c.device = m->device;
	m->c.span = m->span;
	m->c.other = m->other;
}

static void make_page(struct ww_page *p, uint32_t cycles)
{
	struct ww_error err = {0};
	struct made *m = malloc(sizeof(*m));

	*p = (struct ww_page){.what = "resumetime kernlog"};
	ww_page_begin(p, NULL);
	p->title = "kernel log " HOSTILE;
	for (uint32_t i = 1; i <= cycles; i++) {
		make(m, i);
		if (ww_page_add(p, i - 1, NULL, &m->c, &err) < 0)
			fail_msg("%s", err.text);
	}
	free(m);
	ww_note(&p->notes, "a note with <b>, & and %s", HOSTILE);
	if (ww_page_finish(p, &err) < 0)
		fail_msg("%s", err.text);
}

static void axis_there_and_back(void **state)
{
	struct ww_page_axis a = {.lo = 0, .hi = 1000 * MS, .f0 = 300 * MS, .f1 = 800 * MS};
	double before = -1;

	(void)state;
	for (int folded = 0; folded < 2; folded++) {
		a.folded = folded;
		before = -1;
		for (int i = 0; i <= 1000; i++) {
			int64_t t = i * MS;
			double u = ww_page_u(&a, t);

			assert_true(u > before && u >= 0 && u <= 1 + 1e-12);
			assert_true(llabs(ww_page_t(&a, u) - t) <= 2);
			before = u;
		}
	}
	assert_true(fabs(ww_page_u(&a, a.f1) - ww_page_u(&a, a.f0) - WW_PAGE_FOLD) < 1e-9);
	/* Twice as long a sleep moves nothing. */
	before = ww_page_u(&a, a.f0);
	a.f1 += 500 * MS;
	a.hi += 500 * MS;
	assert_true(fabs(ww_page_u(&a, a.f0) - before) < 1e-9);
}

static void a_clock_that_stood_still(void **state)
{
	struct ww_page p;
	const struct ww_page_axis *a;

	(void)state;
	make_page(&p, 1);
	a = &p.cycle[0].axis;
	assert_true(a->folded && a->f0 == a->f1 && a->zero == a->f1);
	assert_true(ww_page_u(a, a->f0 + 1) - ww_page_u(a, a->f0) > WW_PAGE_FOLD - 1e-6);
	ww_page_free(&p);
}

static void no_two_in_a_lane(void **state)
{
	struct ww_page p;
	const struct ww_page_cycle *c;
	size_t seen = 0;

	(void)state;
	make_page(&p, 1);
	c = &p.cycle[0];
	assert_true(c->lanes > 3 && c->lanes < 40);
	for (size_t i = 0; i < c->pm->devices; i++)
		for (size_t k = 0; k < i; k++) {
			if (c->lane[i] != c->lane[k])
				continue;
			seen++;
			assert_true(c->start[i] >= c->end[k] || c->start[k] >= c->end[i]);
		}
	assert_true(seen > 0);
	ww_page_free(&p);
}

static void failures_and_the_typical(void **state)
{
	struct ww_page p;

	(void)state;
	make_page(&p, 40);
	assert_int_equal(p.bad, 3); /* cycles 3, 20, 37 */
	assert_int_equal(p.good, 37);
	assert_true(p.main == WW_PAGE_RESUME);
	assert_true(p.has_typical && p.chosens == 4);
	assert_false(p.cycle[p.chosen[0]].bad);
	for (size_t k = 1; k < 4; k++)
		assert_true(p.cycle[p.chosen[k]].bad);
	assert_string_equal(p.sum.device[0].name, "latethaw.0");
	assert_int_equal(p.sum.device[0].ms.n, 40);
	ww_page_free(&p);
}

/* The text of a page. */
static char *written(struct ww_page *p)
{
	FILE *f = tmpfile();
	struct ww_error err = {0};
	char *text;
	long n;

	if (!f || ww_page_write(p, fileno(f), &err) < 0)
		fail_msg("%s", err.text);
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	text = malloc((size_t)n + 1);
	assert_int_equal(fread(text, 1, (size_t)n, f), n);
	text[n] = '\0';
	fclose(f);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (const char *at = text; (at = strstr(at, what)) != NULL; at++)
		n++;
	return n;
}

static void hostile_names(void **state)
{
	struct ww_page p;
	char *text;

	(void)state;
	make_page(&p, 5);
	text = written(&p);
	assert_int_equal(count(text, "<script"), 2); /* data, script */
	assert_int_equal(count(text, "</script"), 2);
	assert_int_equal(count(text, "<!--"), 0);
	assert_int_equal(count(text, "alert(1)"), count(text, "&lt;script&gt;alert(1)") +
							  count(text, "\\u003cscript>alert(1)"));
	assert_int_equal(count(text, "<b>x"), 0);
	assert_int_equal(count(text, "\x01"), 0);
	assert_int_equal(count(text, "\xff"), 0);
	assert_int_equal(count(text, "\xe2\x80\xae"), 0); /* turns what follows around */
	assert_int_equal(count(text, "://"), 0);
	assert_true(count(text, "Content-Security-Policy") == 1);
	free(text);
	ww_page_free(&p);
}

static void no_cycle_at_all(void **state)
{
	struct ww_page p;
	char *text;

	(void)state;
	make_page(&p, 0);
	text = written(&p);
	assert_true(count(text, "0 suspend/resume cycles") > 0);
	assert_int_equal(count(text, "nan"), 0);
	free(text);
	ww_page_free(&p);
}

static int write_to(const char *path, int cycles)
{
	struct ww_error err = {0};
	struct ww_page p;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), rc;

	if (fd < 0)
		return 1;
	make_page(&p, (uint32_t)cycles);
	rc = ww_page_write(&p, fd, &err);
	close(fd);
	ww_page_free(&p);
	return rc < 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(axis_there_and_back), cmocka_unit_test(a_clock_that_stood_still),
		cmocka_unit_test(no_two_in_a_lane),    cmocka_unit_test(failures_and_the_typical),
		cmocka_unit_test(hostile_names),       cmocka_unit_test(no_cycle_at_all),
	};

	if (argc == 4 && strcmp(argv[1], "--write") == 0)
		return write_to(argv[2], (int)strtol(argv[3], NULL, 10));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
