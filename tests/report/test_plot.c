/* SPDX-License-Identifier: MIT */
/* The picture: ticks, thinning, gaps, labels that do not overlap, text that stays text. */
#include "report/plotimpl.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (text = strstr(text, part); text; text = strstr(text + 1, part))
		n++;
	return n;
}

/* ---- ticks ---- */

static void test_plain_ticks(void **state)
{
	struct ww_ticks k;

	(void)state;
	ww_ticks_plain(&k, 0, 152, 8);
	assert_true(k.step == 50 && k.n == 4 && k.at[0] == 0 && k.at[3] == 150 && k.decimals == 0);
	ww_ticks_plain(&k, -0.03, 0.21, 8);
	assert_true(k.step == 0.05 && k.decimals == 2);
	ww_ticks_plain(&k, 9.5, 21, 8);
	assert_true(k.step == 2 && k.at[0] == 10);
	/* A flat or broken range has no ticks, and does not hang. */
	ww_ticks_plain(&k, 5, 5, 8);
	assert_int_equal(k.n, 0);
	ww_ticks_plain(&k, 0, INFINITY, 8);
	assert_int_equal(k.n, 0);
	ww_ticks_plain(&k, NAN, 3, 8);
	assert_int_equal(k.n, 0);
}

static void test_time_ticks(void **state)
{
	static const struct {
		double length, step;
	} cases[] = {{0.5, 0.05},
		     {4, 0.5},
		     {30, 5},
		     {90, 10},
		     {600, 60},
		     {1020, 120},
		     {3600, 600},
		     {86400, 10800},
		     {30 * 86400., 7 * 86400.},
		     {9e8, 1000 * 86400. * 2}};
	struct ww_ticks k;

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(cases); i++) {
		ww_ticks_time(&k, 0, cases[i].length, 0, 11);
		if (fabs(k.step - cases[i].step) > 1e-9 * k.step)
			fail_msg("%g s: step %g", cases[i].length, k.step);
		assert_true(k.n >= 3 && k.n <= 12);
	}
	/* The axis begins at 14:16:51: ticks stand at whole ten minutes of the day. */
	ww_ticks_time(&k, 0, 3600, 51411, 11);
	assert_true(k.step == 600 && k.at[0] == 51600 - 51411);
}

static void test_random_ticks(void **state)
{
	(void)state;
	for (int i = 1; i < 20000; i++) {
		double length = pow(10, (double)i / 1500 - 4), lo = sin(i) * length * 10;
		struct ww_ticks k;

		ww_ticks_time(&k, lo, lo + length, 12345.678, 11);
		assert_true(k.n >= 1 && k.n <= 12);
		for (size_t j = 0; j < k.n; j++)
			assert_true(k.at[j] > lo - 1e-6 * length &&
				    k.at[j] < lo + length * (1 + 1e-6));
		ww_ticks_plain(&k, lo, lo + length, 8);
		assert_true(k.n >= 2 && k.n <= 9);
	}
}

/* ---- text ---- */

static void test_markup(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {{"</svg><script>alert(1)</script>",
		      "&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;"},
		     {"a & \"b\" 'c'", "a &amp; &quot;b&quot; &#39;c&#39;"},
		     {"K\xc3\xbchlschrank \xe2\x82\xac", "K\xc3\xbchlschrank \xe2\x82\xac"},
		     {"\x1b[31m\x01", "\xef\xbf\xbd[31m\xef\xbf\xbd"},
		     {"\xff\xc3(", "\xef\xbf\xbd\xef\xbf\xbd("},
		     {"\xef\xbf\xbf", "\xef\xbf\xbd"},
		     {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		     {"a\tb\n", "a\tb\n"},
		     {"", ""}};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(cases); i++) {
		struct ww_str s = {0};

		ww_str_markup(&s, cases[i].in);
		assert_string_equal(s.n ? s.p : "", cases[i].out);
		ww_str_free(&s);
	}
}

/* ---- pictures ---- */

static struct ww_plot plot_of(const struct ww_curve *c, double length)
{
	return (struct ww_plot){.title = "meter.power",
				.y_title = "power, W",
				.t_hi = length,
				.curve = c,
				.level_name = "level",
				.tone_name = {"step", "known", "open"}};
}

static char *draw(const struct ww_plot *p)
{
	struct ww_str s = {0};
	char *out = NULL;

	ww_plot_svg(&s, p, true);
	assert_int_equal(ww_str_take(&s, &out, NULL), 0);
	assert_int_equal(count(out, "<svg"), 1);
	assert_int_equal(count(out, "</svg>"), 1);
	assert_null(strstr(out, "nan"));
	assert_null(strstr(out, "inf"));
	assert_null(strstr(out, "http://www.w3.org/1999"));
	assert_int_equal(count(out, "://"), 1); /* its own namespace */
	return out;
}

static struct ww_series readings(size_t n, double (*v)(size_t))
{
	struct ww_series s = {.n = n};

	s.t_ns = calloc(n, sizeof(*s.t_ns));
	s.v = calloc(n, sizeof(*s.v));
	s.hole = calloc(n, 1);
	assert_true(s.t_ns && s.v && s.hole);
	for (size_t i = 0; i < n; i++) {
		s.t_ns[i] = (int64_t)i * WW_NS_PER_S;
		s.v[i] = v(i);
	}
	return s;
}

static double spike(size_t i)
{
	return i == 777777 ? 50 : 20 + (double)(i % 7) / 10;
}

/* A million readings: the picture is small, and the one spike is in it. */
static void test_million(void **state)
{
	struct ww_series s = readings(1000000, spike);
	struct ww_curve c;
	struct ww_plot p;
	double most = 0;
	size_t n = 0;
	char *svg;

	(void)state;
	assert_int_equal(ww_curve_make(&c, &s, 1200, NULL), 0);
	assert_int_equal(c.n, 1200);
	for (size_t i = 0; i < c.n; i++) {
		most = fmax(most, c.bin[i].hi);
		n += c.bin[i].n;
		assert_true(i == 0 || c.bin[i].t0 > c.bin[i - 1].t1);
	}
	assert_true(most == 50);
	assert_int_equal(n, 1000000);
	p = plot_of(&c, 999999);
	svg = draw(&p);
	assert_true(strlen(svg) < 120000);
	assert_non_null(strstr(svg, "least to greatest"));
	ww_free(svg);
	ww_curve_free(&c);
	ww_series_free(&s);
}

static double ramp(size_t i)
{
	return (double)i;
}

static void test_gap_breaks(void **state)
{
	struct ww_series s = readings(10, ramp);
	struct ww_curve c;
	struct ww_plot p;
	char *svg;

	(void)state;
	s.hole[4] = s.hole[5] = 1; /* reading 4 stands alone */
	assert_int_equal(ww_curve_make(&c, &s, 1200, NULL), 0);
	p = plot_of(&c, 9);
	svg = draw(&p);
	{
		const char *path = strstr(svg, "class=\"ww-curve\" stroke-width");
		char d[1024];

		assert_non_null(path);
		snprintf(d, sizeof(d), "%.*s", (int)strcspn(path, "/"), path);
		assert_int_equal(count(d, "M"), 3);
		assert_int_equal(count(d, "L"), 7);
		assert_int_equal(count(d, "h1"), 1);
	}
	ww_free(svg);
	ww_curve_free(&c);
	ww_series_free(&s);
}

/* Labels in one lane never overlap, by the width that they are given. */
static void test_lanes(void **state)
{
	enum { N = 200 };
	struct ww_plot_event e[N];
	struct ww_plot p = {.t_hi = 1000, .event = e, .events = N};
	struct ww_frame f = {.left = 66, .right = 944};
	size_t *lane, shown = 0;

	(void)state;
	for (size_t i = 0; i < N; i++)
		e[i] = (struct ww_plot_event){.t_lo = (double)(i * i % 1000),
					      .t_hi = (double)(i * i % 1000),
					      .weight = (double)(i % 17),
					      .label = i % 3 ? "+12.5 W" : "kitchen lamp +25.04 W",
					      .tooltip = ""};
	e[7].weight = 100;
	lane = ww_plot_lanes(&f, &p);
	assert_non_null(lane);
	assert_int_equal(lane[7], 0);
	for (size_t i = 0; i < N; i++) {
		double x = ww_plot_x(&f, e[i].t_lo), w = ww_plot_width(e[i].label);
		double a = x + 4 + w > f.right + 8 ? x - 4 - w : x + 4, z = a + w;

		if (lane[i] == WW_PLOT_NO_LANE)
			continue;
		shown++;
		assert_true(lane[i] < WW_PLOT_LANES_MAX && a > 0 && z < 960);
		for (size_t k = 0; k < i; k++) {
			double y = ww_plot_x(&f, e[k].t_lo), v = ww_plot_width(e[k].label);
			double b = y + 4 + v > f.right + 8 ? y - 4 - v : y + 4;

			assert_true(lane[k] != lane[i] || b + v <= a || z <= b);
		}
	}
	assert_true(shown > 20 && shown < N);
	free(lane);
}

static void test_hostile(void **state)
{
	struct ww_plot_event e = {.t_lo = 4,
				  .t_hi = 6,
				  .label = "</svg><script>alert(1)</script>",
				  .tooltip = "\"/><image href='x'>"};
	struct ww_series s = readings(10, ramp);
	struct ww_curve c;
	struct ww_plot p;
	char *svg;

	(void)state;
	assert_int_equal(ww_curve_make(&c, &s, 1200, NULL), 0);
	p = plot_of(&c, 9);
	p.title = "<b>&";
	p.event = &e;
	p.events = 1;
	svg = draw(&p);
	assert_null(strstr(svg, "<script"));
	assert_null(strstr(svg, "<image"));
	assert_null(strstr(svg, "<b>"));
	assert_non_null(strstr(svg, "&lt;/svg&gt;&lt;script&gt;"));
	ww_free(svg);
	ww_curve_free(&c);
	ww_series_free(&s);
}

/* Nothing, one reading, values all alike: still a picture. */
static void test_little(void **state)
{
	(void)state;
	for (size_t n = 0; n < 3; n++) {
		struct ww_series s = readings(n + 1, spike);
		struct ww_curve c;
		struct ww_plot p;

		s.n = n;
		assert_int_equal(ww_curve_make(&c, &s, 1200, NULL), 0);
		p = plot_of(&c, n ? (double)n - 1 : 0);
		ww_free(draw(&p));
		p.wall = true;
		p.zone = "UTC";
		ww_free(draw(&p));
		ww_curve_free(&c);
		ww_series_free(&s);
	}
}

/* A charger: 8 W for a third of the time, then 1 W, which is the level that was found. */
static double charging(size_t i)
{
	return i < 700 ? 8 - (double)i / 200 : 1 + (double)(i % 5) / 50;
}

static double inrush(size_t i)
{
	return i % 1000 == 500 ? 900 : charging(i);
}

static char *draw_with(double (*v)(size_t), size_t n)
{
	struct ww_plot_level l = {700, 2000, 1.04, 1.04, 0.01};
	struct ww_series s = readings(n, v);
	struct ww_curve c;
	struct ww_plot p;
	char *svg;

	assert_int_equal(ww_curve_make(&c, &s, 1200, NULL), 0);
	p = plot_of(&c, (double)n);
	p.level = &l;
	p.levels = 1;
	svg = draw(&p);
	ww_curve_free(&c);
	ww_series_free(&s);
	return svg;
}

/* Few short spikes leave the load to be seen, and are told; the load is never cut. */
static void test_spikes_cut(void **state)
{
	char *svg = draw_with(inrush, 2000);

	(void)state;
	assert_non_null(strstr(svg, "cut, up to 900"));
	assert_non_null(strstr(svg, ">8<")); /* a tick of the axis */
	ww_free(svg);
	svg = draw_with(charging, 2000);
	assert_null(strstr(svg, "cut, up to"));
	assert_non_null(strstr(svg, ">8<"));
	ww_free(svg);
}

/* 2026-11-30T23:30 and an hour on, an hour east of Greenwich: the new day is told. */
static void test_midnight(void **state)
{
	struct ww_series s = readings(3601, spike);
	struct ww_curve c;
	struct ww_plot p;
	char *svg;

	(void)state;
	assert_int_equal(ww_curve_make(&c, &s, 1200, NULL), 0);
	p = plot_of(&c, 3600);
	p.wall = true;
	p.real_ns = INT64_C(1796077800) * WW_NS_PER_S;
	p.offset_s = 3600;
	p.zone = "Europe/Berlin";
	svg = draw(&p);
	assert_non_null(strstr(svg, ">23:30<"));
	assert_non_null(strstr(svg, ">2026-11-30<"));
	assert_non_null(strstr(svg, ">00:00<"));
	assert_non_null(strstr(svg, ">2026-12-01<"));
	assert_non_null(strstr(svg, "time of day, Europe/Berlin"));
	ww_free(svg);
	ww_curve_free(&c);
	ww_series_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_ticks),  cmocka_unit_test(test_time_ticks),
		cmocka_unit_test(test_random_ticks), cmocka_unit_test(test_markup),
		cmocka_unit_test(test_million),	     cmocka_unit_test(test_gap_breaks),
		cmocka_unit_test(test_lanes),	     cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_little),	     cmocka_unit_test(test_spikes_cut),
		cmocka_unit_test(test_midnight)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
