/* SPDX-License-Identifier: MIT */
/* Attribution from changes: what warms up, marks that no step stands out at, what was on before. */
#include "attrtrace.h"

#define N(h) (sizeof(h) / sizeof(*(h)))

static struct ww_attribute *a;

/* One reading a second of offset 1 W, what is drawn, and what warms up. */
static void solve(const struct happening *h, size_t n, double until, double warm, double step)
{
	struct chan display = POWER;
	struct bench b;
	struct ww_trace *t;
	double watts = 0;
	size_t said = 0, done = 0;

	display.scale = step;
	display.resolution = step;
	seed = attr_seed;
	bench_open(&b, NULL, &display, 1);
	for (double s = 0; s < until; s++) {
		for (; said < n && h[said].t - 2 <= s; said++)
			if (h[said].label)
				attr_mark(&b, s, h[said].label);
		for (; done < n && h[done].t <= s; done++)
			watts = h[done].watts;
		bench_row(&b, s,
			  (double[]){1 + watts + warm * (1 - exp(-s / 600)) +
				     (step < 1 ? 0.12 : 0.01) * normal()});
	}
	t = bench_read(&b);
	ww_attribute_free(a);
	a = NULL;
	OK(ww_attribute_new(NULL, &a, err));
	OK(ww_attribute_trace(a, WW_SET_NOW, t, err));
	OK(ww_attribute_solve(a, err));
	bench_end(&b, t);
}

static const struct ww_device *device(const char *name)
{
	for (size_t i = 0; ww_attribute_device(a, i); i++)
		if (strcmp(ww_attribute_device(a, i)->name, name) == 0)
			return ww_attribute_device(a, i);
	fail_msg("no device '%s'", name);
	return NULL;
}

static void is(const char *name, double watts, double most)
{
	const struct ww_device *d = device(name);

	if (!(fabs(d->watts.value - watts) <= 3 * d->watts.u) || !(d->watts.u < most))
		fail_msg("%s: %g +- %g, not %g", name, d->watts.value, d->watts.u, watts);
}

static bool noted(const char *part)
{
	for (size_t i = 0; ww_attribute_note(a, i); i++)
		if (strstr(ww_attribute_note(a, i), part))
			return true;
	return false;
}

/* 2.5 W of warming up belong to no device: the changes are what they are. */
static void test_warm_up(void **state)
{
	static const struct happening h[] = {{30, 0, "all unplugged"}, {90, 12, "+box"},
					     {190, 39.5, "+monitor"},  {290, 45.7, "+lamp"},
					     {390, 33.7, "-box"},      {500, 6.2, "-monitor"},
					     {600, 33.7, "+monitor"},  {700, 45.7, "+box"},
					     {820, 39.5, "-lamp"}};
	static const char *const name[] = {"box", "monitor", "lamp"};
	static const double truth[] = {12, 27.5, 6.2};
	unsigned inside = 0, far = 0, all = 0;

	(void)state;
	for (attr_seed = 300; attr_seed < 348; attr_seed++) {
		solve(h, N(h), 920, 2.5, 0.1);
		for (size_t i = 0; i < 3; i++) {
			const struct ww_device *d = device(name[i]);
			double off = fabs(d->watts.value - truth[i]);

			inside += off <= 2 * d->watts.u;
			far += off > 3 * d->watts.u;
			all++;
			assert_true(d->watts.u < 0.05);
		}
	}
	attr_seed = 11;
	if (inside < 0.90 * all || inside > 0.99 * all || far > 0.03 * all)
		fail_msg("%u of %u, %u beyond 3 u", inside, all, far);
}

/* A display of 1 W without noise: what lies below it has its bounds, and the others theirs. */
static void test_unresolved(void **state)
{
	static const struct happening h[] = {{300, 0.4, "dev1"},
					     {600, 9.9, "dev2"},
					     {900, 10.2, "dev3"}};

	(void)state;
	solve(h, N(h), 1200, 0, 1);
	is("dev1", 0.4, 0.8);
	is("dev2", 9.5, 0.8);
	is("dev3", 0.3, 0.8);
	assert_true(device("dev1")->watts.u > 0.2);
	assert_true(noted("below the resolution"));
	assert_null(ww_attribute_device(a, 3));
}

/* A name alone where the load falls: it was on before. */
static void test_bare_fall(void **state)
{
	static const struct happening h[] = {{1, 20, NULL},
					     {300, 29, "dev2"},
					     {500, 25.8, "dev3"},
					     {700, 16.8, "dev2"}};

	(void)state;
	solve(h, N(h), 900, 0, 0.1);
	is("dev2", 9, 0.05);
	is("dev3", 3.2, 0.05);
	assert_true(noted("'dev3' goes out without having come in"));
}

/* All on at first, and out one by one; back in again is the same device. */
static void test_unplugged(void **state)
{
	static const struct happening h[] = {{0, 32, NULL},
					     {60, 12, "-b"},
					     {120, 0, "-a"},
					     {180, 20, "+b"}};

	(void)state;
	solve(h, N(h), 240, 0, 0.1);
	is("b", 20, 0.05);
	is("a", 12, 0.05);
	assert_null(ww_attribute_device(a, 2));
	assert_true(fabs(ww_attribute_get(a)->offset.value - 1) <
		    3 * ww_attribute_get(a)->offset.u);
}

/* Two plugs in one moment are one change of two devices. */
static void test_together(void **state)
{
	static const struct happening
		h[] = {{20, 0, "all unplugged"}, {101, 10, "+a"}, {102, 30, "+b"}, {300, 20, "-a"}},
		once[] = {{20, 0, "all unplugged"}, {99, 0, "a"}, {100, 0, "b"}, {101, 30, NULL}};
	const struct ww_device_group *g;

	(void)state;
	solve(h, 3, 400, 0, 0.1);
	g = ww_attribute_group(a, 0);
	assert_non_null(g);
	assert_int_equal(g->count, 2);
	assert_true(fabs(g->sum.value - 30) < 3 * g->sum.u);
	solve(h, 4, 400, 0, 0.1);
	is("a", 10, 0.05);
	is("b", 20, 0.05);
	solve(once, N(once), 400, 0, 0.1);
	g = ww_attribute_group(a, 0);
	assert_non_null(g);
	assert_int_equal(g->count, 2);
	assert_true(fabs(g->sum.value - 30) < 3 * g->sum.u);
}

static int end(void **state)
{
	(void)state;
	ww_attribute_free(a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_warm_up),	  cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_bare_fall), cmocka_unit_test(test_unplugged),
		cmocka_unit_test(test_together),
	};

	return cmocka_run_group_tests(tests, NULL, end);
}
