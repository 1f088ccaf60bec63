/* SPDX-License-Identifier: MIT */
/* Delays that someone wrote, found among callbacks that take long for other reasons. */
#include "analysis/vet.h"
#include "analysis/cycleset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct ww_error err;

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static void put(struct ww_cycleset *s, const char *device, const char *driver, double v,
		double half, double own)
{
	char name[128];
	struct ww_metric_key key = {.name = name,
				    .kind = "device",
				    .unit = "ms",
				    .device = device,
				    .driver = driver,
				    .func = "qx_resume",
				    .phase = "resume"};

	snprintf(name, sizeof(name), "device %s %s resume", device, driver);
	assert_int_equal(ww_cycleset_put(s, &key, v, half, own, &err), 0);
}

/*
 * Cycles of one machine: a panel that waits 150 ms by msleep() at 1000 Hz, a PHY with 20 ms at
 * 250 Hz, a disk that takes what it takes, a short one, and one that is beside another.
 */
static struct ww_cycleset *machine(const char *name, int cycles, double panel)
{
	struct ww_cycleset *s = NULL;

	assert_int_equal(ww_cycleset_new(name, &s, &err), 0);
	for (int i = 0; i < cycles; i++) {
		assert_int_equal(ww_cycleset_cycle(s, WW_SET_OK, &err), 0);
		put(s, "panel", "qx_panel", panel + 0.1 + 0.8 * uniform(), 0.001, 149);
		put(s, "phy0", "qx_phy", 22 + 0.3 * uniform(), 0.001, 22);
		put(s, "disk", "qx_disk", 300 + 200 * uniform(), 0.001, i % 2 ? 200 : 0);
		put(s, "led", "qx_led", 0.2, 0.001, 0.2);
		put(s, "fan", "qx_fan", 60.5 + 0.1 * uniform(), 0.001, 0);
		/* msleep(200) at 250 Hz. */
		put(s, "dock", "qx_dock", 200.2 + 3.9 * uniform(), 0.001, 180);
		/* A clock of whole 10 ms. */
		put(s, "slow", "qx_slow", 100 + 10 * floor(2 * uniform()), 5, NAN);
	}
	return s;
}

static const struct ww_vet_row *row(const struct ww_vet *v, const char *device)
{
	const struct ww_vet_row *r;

	for (size_t i = 0; (r = ww_vet_at(v, i)) != NULL; i++)
		if (strcmp(r->device, device) == 0)
			return r;
	return NULL;
}

static bool noted(const struct ww_vet *v, const char *what)
{
	for (size_t i = 0; ww_vet_note(v, i); i++)
		if (strstr(ww_vet_note(v, i), what))
			return true;
	return false;
}

static void test_one_machine(void **state)
{
	struct ww_cycleset *s = machine("quartz", 20, 150);
	struct ww_vet *v = NULL;
	const struct ww_vet_row *r;

	(void)state;
	assert_int_equal(ww_vet_new(&s, 1, NULL, &v, &err), 0);
	r = ww_vet_at(v, 0);
	/* By what removing it saves. */
	assert_string_equal(r->device, "panel");
	assert_string_equal(r->driver, "qx_panel");
	assert_string_equal(r->func, "qx_resume");
	assert_string_equal(r->phase, "resume");
	assert_int_equal(r->fixed, 1);
	assert_int_equal(r->n, 20);
	assert_true(r->nearest_ms > 149.9 && r->nearest_ms < 150.1);
	assert_true(r->saving_ms > 148.9 && r->saving_ms < 149.1);
	assert_true(r->spread_ms > 0.3 && r->spread_ms < 0.8);
	assert_true(r->min_ms >= 150.1 && r->max_ms <= 150.9 && r->median_ms > r->min_ms);
	assert_string_equal(ww_vet_at(v, 1)->device, "phy0");
	/* 20 ms and a jiffy at 250 Hz. */
	assert_true(fabs(ww_vet_at(v, 1)->nearest_ms - 20) < 0.1);
	/* Nothing is saved where another takes as long beside it. */
	assert_string_equal(ww_vet_at(v, 2)->device, "fan");
	assert_true(fabs(ww_vet_at(v, 2)->saving_ms) < 0.01);
	assert_string_equal(ww_vet_at(v, 3)->device, "dock");
	assert_int_equal(row(v, "dock")->fixed, WW_VET_TICK);
	assert_true(fabs(row(v, "dock")->nearest_ms - 200) < 0.1);
	/* Long, but not fixed. */
	assert_int_equal(row(v, "disk")->fixed, 0);
	assert_true(isnan(row(v, "disk")->nearest_ms));
	assert_null(row(v, "led"));
	/* Its stamps do not tell. */
	assert_null(row(v, "slow"));
	assert_true(noted(v, "no better stamps"));
	assert_true(noted(v, "msleep()"));
	assert_null(ww_vet_at(v, 5));
	ww_vet_free(v);
	ww_cycleset_free(s);
}

/* Two machines: what is fixed on each, but not the same, is no written delay. */
static void test_two_machines(void **state)
{
	struct ww_cycleset *s[] = {machine("quartz", 10, 150), machine("jasper", 10, 180)};
	struct ww_vet_options o = {.size = sizeof(o), .min_ms = 10, .min_cycles = 12};
	struct ww_vet *v = NULL;

	(void)state;
	put(s[1], "lone", "qx_lone", 70, 0.001, 70);
	assert_int_equal(ww_vet_new(s, 2, &o, &v, &err), 0);
	assert_int_equal(row(v, "panel")->fixed, 0);
	assert_int_equal(row(v, "panel")->n, 20);
	assert_int_equal(row(v, "phy0")->fixed, 1);
	assert_int_equal(row(v, "phy0")->n, 20);
	assert_null(row(v, "lone"));
	assert_true(noted(v, "fewer than 12 cycles"));
	ww_vet_free(v);
	ww_cycleset_free(s[0]);
	ww_cycleset_free(s[1]);
}

/* One outlier in ten does not unmake a fixed delay; two in ten do. */
static void test_outliers(void **state)
{
	double v[] = {50, 50.1, 50.2, 50.3, 50.4, 50.5, 50.6, 50.7, 50.8, 90};

	(void)state;
	assert_true(fabs(ww_vet_spread(v, 10) - 0.8) < 1e-9);
	v[8] = 89;
	assert_true(ww_vet_spread(v, 10) > 38);
	assert_true(fabs(ww_vet_spread(v, 3) - 0.2) < 1e-9);
	assert_true(fabs(ww_vet_spread(v, 1)) < 1e-9);
	assert_true(isnan(ww_vet_spread(v, 0)));
}

static void test_written(void **state)
{
	static const struct {
		double min, median, want;
	} t[] = {{150.1, 150.5, 150},  {100.0, 100.2, 100}, {99.995, 100.1, 100},
		 {59.9, 60.2, 50},     {23.9, 24.0, 20},    {10.2, 19.9, NAN},
		 {5.1, 5.3, 5},	       {148.2, 148.5, NAN}, {160, 160.3, 150},
		 {1004, 1004.2, 1000}, {0.4, 0.5, NAN},	    {205, 212.5, NAN}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(t); i++) {
		double got = ww_vet_written(t[i].min, t[i].median);

		if (isnan(t[i].want) ? !isnan(got) : !(fabs(got - t[i].want) < 1e-9))
			fail_msg("%zu: %g, not %g", i, got, t[i].want);
	}
}

static void test_nothing(void **state)
{
	struct ww_cycleset *s = NULL;
	struct ww_vet *v = NULL;
	char *text = NULL;

	(void)state;
	assert_int_equal(ww_cycleset_new("none", &s, &err), 0);
	assert_int_equal(ww_vet_new(&s, 1, NULL, &v, &err), -ENODATA);
	assert_null(v);
	assert_string_equal(err.text, "none: no cycle of suspend and resume to look at");
	ww_error_clear(&err);
	assert_int_equal(ww_cycleset_cycle(s, WW_SET_OK, &err), 0);
	/* A quiet log: that nothing is written is not what it shows. */
	assert_int_equal(ww_vet_new(&s, 1, NULL, &v, &err), 0);
	assert_int_equal(ww_vet_report(v, WW_REPORT_TEXT, &text, &err), 0);
	assert_non_null(strstr(text, "No callback of a driver is in them"));
	assert_null(strstr(text, "took the same time"));
	ww_free(text);
	ww_vet_free(v);
	put(s, "fan", "qx_fan", 60, 0.001, 0);
	assert_int_equal(ww_vet_new(&s, 1, NULL, &v, &err), 0);
	assert_null(ww_vet_at(v, 0));
	assert_int_equal(ww_vet_report(v, WW_REPORT_TEXT, &text, &err), 0);
	assert_non_null(strstr(text, "1 cycle of none; 1 callback\n"));
	assert_non_null(strstr(text, "No callback of 5 ms and more took the same time"));
	ww_free(text);
	assert_int_equal(ww_vet_report(v, WW_REPORT_JUNIT, &text, &err), -EINVAL);
	ww_error_clear(&err);
	ww_vet_free(v);
	ww_cycleset_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_machine), cmocka_unit_test(test_two_machines),
		cmocka_unit_test(test_outliers),    cmocka_unit_test(test_written),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
