/* SPDX-License-Identifier: MIT */
/* The simulator on a virtual clock: its truth is arithmetic that is done here again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "sinklog.h"

#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#define SEC WW_NS_PER_S
#define T0  (1000 * SEC)

static struct ww_source *begin(struct sinklog *s, const char *uri)
{
	struct ww_error err = {0};
	struct ww_source *src;

	assert_int_equal(sl_init(s, T0, &err), 0);
	if (sl_open(s, uri, 0, 0, &src, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(src->ops->start(src, &err), 0);
	return src;
}

static void end(struct sinklog *s, struct ww_source *src)
{
	if (src)
		src->ops->close(src);
	sl_free(s);
}

static void steady(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "sim:?watts=25&rate=100&end=10s");

	(void)unused;
	sl_run(&s, 60 * SEC);
	assert_true(s.ended);
	assert_int_equal(s.n, 1000);
	for (size_t i = 0; i < s.n; i++) {
		assert_true(s.lo[i] == T0 + (int64_t)(i + 1) * 10000000);
		assert_true(s.hi[i] == s.lo[i]);
		assert_int_equal(s.codes[i * SINK_CHANNELS], 250);
	}
	assert_int_equal(s.channel[0].semantics, WW_AVERAGE);
	assert_string_equal(s.names, "power[W]");
	end(&s, src);
}

/* A step inside a window changes an average by the part of the window that is left. */
static void steps(void **unused)
{
	struct sinklog s;
	struct ww_source *src =
		begin(&s, "sim:?watts=10&rate=1&resolution=0.001&step=4500ms:-2&step=2250ms:%2B4");

	(void)unused;
	sl_run(&s, 6 * SEC + 1);
	assert_int_equal(s.n, 6);
	assert_true(fabs(sl_value(&s, 1, 0) - 10) < 1e-9);
	assert_true(fabs(sl_value(&s, 2, 0) - 13) < 1e-9);
	assert_true(fabs(sl_value(&s, 3, 0) - 14) < 1e-9);
	assert_true(fabs(sl_value(&s, 4, 0) - 13) < 1e-9);
	assert_true(fabs(sl_value(&s, 5, 0) - 12) < 1e-9);
	end(&s, src);
	src = begin(&s, "sim:?watts=10&rate=1&step=2250ms:+4&semantics=instant");
	sl_run(&s, 3 * SEC + 1);
	assert_true(fabs(sl_value(&s, 2, 0) - 14) < 1e-9);
	end(&s, src);
}

static void electrical(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "sim:?watts=69&rate=10&volts=230&pf=0.6");

	(void)unused;
	sl_run(&s, SEC + 1);
	assert_string_equal(s.names, "power[W] voltage[V] current[A] power_factor[1] "
				     "apparent_power[VA]");
	assert_true(fabs(sl_value(&s, 0, 1) - 230) < 1e-9);
	assert_true(fabs(sl_value(&s, 0, 2) - 0.5) < 1e-9);
	assert_true(fabs(sl_value(&s, 0, 3) - 0.6) < 1e-9);
	assert_true(fabs(sl_value(&s, 0, 4) - 115) < 1e-9);
	end(&s, src);
}

/* 3600 W for a second are one Wh; the register shows whole steps that are full. */
static void energy_register(void **unused)
{
	struct sinklog s;
	struct ww_source *src =
		begin(&s, "sim:?watts=3600&rate=2&wh=1&wh_resolution=1&wrap=4&reset=6250ms");

	static const int64_t want[] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 1, 1, 2, 0, 0, 1, 1};

	(void)unused;
	sl_run(&s, 8 * SEC + 1);
	assert_int_equal(s.n, 16);
	for (size_t i = 0; i < s.n; i++)
		assert_int_equal(s.codes[i * SINK_CHANNELS + 1], want[i]);
	assert_string_equal(sl_text(&s), "mark 6500 counter-reset energy register set to zero\n");
	assert_int_equal(s.channel[1].semantics, WW_COUNTER);
	assert_true(fabs(s.channel[1].wrap - 4) < 1e-9);
	end(&s, src);
}

static void drift(void **unused)
{
	struct sinklog s;
	struct ww_source *src =
		begin(&s,
		      "sim:?watts=10&drift=3600&rate=1&resolution=0.001&wh=1&semantics=average");

	(void)unused;
	/* 1 W more each second: 10.5 in the first, 19.5 in the tenth; 150 J in all. */
	sl_run(&s, 10 * SEC + 1);
	assert_true(fabs(sl_value(&s, 0, 0) - 10.5) < 1e-9);
	assert_true(fabs(sl_value(&s, 9, 0) - 19.5) < 1e-9);
	assert_true(fabs(sl_value(&s, 9, 1) - 0.041) < 1e-9);
	end(&s, src);
}

static void lost_samples(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "sim:?rate=10&gap=1s:500ms&gap=2050ms:100ms&end=3s");

	(void)unused;
	sl_run(&s, 60 * SEC);
	assert_true(s.ended);
	assert_int_equal(s.n, 24);
	assert_true(s.hi[9] == T0 + SEC);
	assert_true(s.hi[10] == T0 + 1600000000);
	assert_string_equal(sl_text(&s), "gap 1000..1500 5 sequence\ngap 2000..2100 1 sequence\n");
	end(&s, src);
}

/* Unplugged it says so once, does not open for its time, and its own time goes on. */
static void unplugged(void **unused)
{
	static const char uri[] =
		"sim:?watts=3600&rate=10&unplug=2s:3s&wh=1&wh_resolution=1&seed=4";
	struct ww_error err = {0};
	struct sinklog s;
	struct ww_source *src = begin(&s, uri);

	(void)unused;
	sl_run(&s, 60 * SEC);
	assert_true(s.lost);
	assert_true(s.now_ns == T0 + 2 * SEC);
	assert_int_equal(s.n, 20);
	src->ops->close(src);
	assert_int_equal(sl_run(&s, SEC), 0);
	assert_int_equal(sl_open(&s, uri, 0, T0, &src, &err), -ENODEV);
	assert_non_null(strstr(err.text, "unplugged for another 2000 ms"));
	assert_null(src);
	ww_error_clear(&err);
	sl_run(&s, 2030 * WW_NS_PER_MS);
	assert_int_equal(sl_open(&s, uri, 0, T0, &src, &err), 0);
	assert_int_equal(src->ops->start(src, &err), 0);
	sl_run(&s, SEC);
	assert_false(s.lost);
	assert_true(s.hi[20] == T0 + 5100 * WW_NS_PER_MS);
	assert_int_equal(s.codes[20 * SINK_CHANNELS + 1], 5);
	end(&s, src);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* A file that something else writes: a number, a word; missing or odd: the last holds. */
static void follows(void **unused)
{
	char dir[] = "/tmp/ww_sim_XXXXXX", path[64], uri[160];
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state", dir);
	snprintf(uri, sizeof(uri), "sim:?watts=3&rate=10&follow=%s&on=25&off=0.5&step=1s:%%2B1",
		 path);
	src = begin(&s, uri);
	sl_run(&s, 500 * WW_NS_PER_MS + 1);
	assert_true(fabs(sl_value(&s, 4, 0) - 3) < 1e-9);
	write_file(path, "on\n");
	sl_run(&s, 300 * WW_NS_PER_MS);
	assert_true(fabs(sl_value(&s, 7, 0) - 25) < 1e-9);
	write_file(path, "what\n");
	sl_run(&s, 400 * WW_NS_PER_MS);
	assert_true(fabs(sl_value(&s, 11, 0) - 26) < 1e-9);
	write_file(path, "40.5");
	sl_run(&s, 200 * WW_NS_PER_MS);
	assert_true(fabs(sl_value(&s, 13, 0) - 41.5) < 1e-9);
	unlink(path);
	sl_run(&s, 200 * WW_NS_PER_MS);
	assert_true(fabs(sl_value(&s, 15, 0) - 41.5) < 1e-9);
	write_file(path, "off");
	sl_run(&s, 200 * WW_NS_PER_MS);
	assert_true(fabs(sl_value(&s, 17, 0) - 1.5) < 1e-9);
	/* Stopped, it says nothing more, whatever the file does. */
	assert_int_equal(src->ops->stop(src), 0);
	write_file(path, "on");
	sl_run(&s, SEC);
	assert_int_equal(s.n, 18);
	end(&s, src);
	unlink(path);
	rmdir(dir);
}

/* A change in the middle of a window counts for the half of it. */
static void follows_within_a_window(void **unused)
{
	char dir[] = "/tmp/ww_sim_XXXXXX", path[64], uri[160];
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state", dir);
	snprintf(uri, sizeof(uri), "sim:?watts=10&rate=1&follow=%s", path);
	src = begin(&s, uri);
	sl_run(&s, 1500 * WW_NS_PER_MS);
	write_file(path, "20");
	sl_run(&s, 1500 * WW_NS_PER_MS + 1);
	assert_int_equal(s.n, 3);
	assert_true(fabs(sl_value(&s, 0, 0) - 10) < 1e-9);
	assert_true(fabs(sl_value(&s, 1, 0) - 15) < 0.051);
	assert_true(fabs(sl_value(&s, 2, 0) - 20) < 1e-9);
	end(&s, src);
	unlink(path);
	rmdir(dir);
}

/* A display rounds to its nearest step, below zero as above. */
static void rounding(void **unused)
{
	static const struct {
		const char *uri;
		int64_t code;
	} want[] = {{"sim:?watts=24.96", 250},
		    {"sim:?watts=24.94", 249},
		    {"sim:?watts=-0.26", -3},
		    {"sim:?watts=-0.24", -2},
		    {"sim:?watts=26&resolution=4", 7}};

	(void)unused;
	for (size_t i = 0; i < WW_COUNTOF(want); i++) {
		struct sinklog s;
		struct ww_source *src = begin(&s, want[i].uri);

		sl_run(&s, 100 * WW_NS_PER_MS + 1);
		assert_int_equal(s.n, 1);
		assert_int_equal(s.codes[0], want[i].code);
		end(&s, src);
	}
}

static void moments(const struct sinklog *s, size_t c, double *mean, double *sd, double *kurtosis)
{
	double m = 0, v = 0, k = 0;

	for (size_t i = 0; i < s->n; i++)
		m += (double)s->codes[i * SINK_CHANNELS + c];
	m /= (double)s->n;
	for (size_t i = 0; i < s->n; i++) {
		double d = (double)s->codes[i * SINK_CHANNELS + c] - m;

		v += d * d;
		k += d * d * d * d;
	}
	v /= (double)s->n;
	*mean = m;
	*sd = sqrt(v);
	*kurtosis = k / (double)s->n / (v * v);
}

/* White noise of 4 counts in 16-bit codes, and not a row is lost or late on the axis. */
static void codes(void **unused)
{
	struct sinklog s;
	struct ww_source *src = begin(&s, "sim:?channels=codes&rate=100000&end=2s");
	double mean, sd, kurtosis, cross = 0, serial = 0;

	(void)unused;
	sl_run(&s, 60 * SEC);
	assert_int_equal(s.n, 200000);
	assert_string_equal(s.names, "code0[1] code1[1]");
	for (size_t c = 0; c < 2; c++) {
		moments(&s, c, &mean, &sd, &kurtosis);
		/* Rounding adds 1/12 to the variance; 5 sigma of the estimates. */
		assert_true(fabs(mean - (c ? 20000 : 30000)) < 5 * 4 / sqrt(2e5));
		assert_true(fabs(sd - sqrt(16 + 1.0 / 12)) < 5 * 4 / sqrt(4e5));
		assert_true(fabs(kurtosis - 2.9) < 0.06);
	}
	for (size_t i = 1; i < s.n; i++) {
		double a = (double)(s.codes[i * SINK_CHANNELS] - 30000);

		cross += a * (double)(s.codes[i * SINK_CHANNELS + 1] - 20000);
		serial += a * (double)(s.codes[(i - 1) * SINK_CHANNELS] - 30000);
		assert_true(s.hi[i] == s.hi[i - 1] + 10000);
	}
	assert_true(fabs(cross / 16 / 2e5) < 5 / sqrt(2e5));
	assert_true(fabs(serial / 16 / 2e5) < 5 / sqrt(2e5));
	end(&s, src);
}

/* A seed gives the same codes with every compiler: the first ones are written down. */
static void seeded(void **unused)
{
	static const int64_t want[3][2] = {{29994, 19996}, {29997, 20005}, {30005, 19999}};
	struct sinklog s;
	struct ww_source *src = begin(&s, "sim:?channels=codes&rate=1000&end=3ms&seed=1");

	(void)unused;
	sl_run(&s, SEC);
	assert_int_equal(s.n, 3);
	for (size_t i = 0; i < 3; i++)
		for (size_t c = 0; c < 2; c++)
			assert_int_equal(s.codes[i * SINK_CHANNELS + c], want[i][c]);
	end(&s, src);
	src = begin(&s, "sim:?channels=codes&rate=1000&end=3ms&seed=2");
	sl_run(&s, SEC);
	assert_int_not_equal(s.codes[0] * 100000 + s.codes[1], want[0][0] * 100000 + want[0][1]);
	end(&s, src);
}

static void every(void **unused)
{
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_int_equal(sl_init(&s, T0, &err), 0);
	assert_int_equal(sl_open(&s, "sim:?rate=100", 2 * SEC, 0, &src, &err), 0);
	assert_true(s.info.period_ns == 2 * SEC);
	end(&s, src);
}

static void refused(void **unused)
{
	static const char *const bad[][2] = {
		{"sim:?wats=3", "unknown option wats"},
		{"sim:?step=5", "option step=5"},
		{"sim:?step=1s:x", "option step=1s:x"},
		{"sim:?gap=1s", "option gap=1s"},
		{"sim:?unplug=1s:never", "option unplug"},
		{"sim:?rate=0", "option rate=0"},
		{"sim:?semantics=mean", "option semantics=mean"},
		{"sim:?channels=three", "option channels=three"},
		{"sim:?follow=/no/such/folder/x", "cannot be watched"},
		{"simm:?watts=1", "there is no driver 'simm'"},
	};
	struct ww_error err = {0};
	struct ww_source *src;
	struct sinklog s;

	(void)unused;
	assert_int_equal(sl_init(&s, T0, &err), 0);
	for (size_t i = 0; i < WW_COUNTOF(bad); i++) {
		ww_error_clear(&err);
		assert_true(sl_open(&s, bad[i][0], 0, 0, &src, &err) < 0);
		assert_null(src);
		if (!strstr(err.text, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], err.text);
	}
	sl_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady),
		cmocka_unit_test(steps),
		cmocka_unit_test(electrical),
		cmocka_unit_test(energy_register),
		cmocka_unit_test(drift),
		cmocka_unit_test(lost_samples),
		cmocka_unit_test(unplugged),
		cmocka_unit_test(follows),
		cmocka_unit_test(follows_within_a_window),
		cmocka_unit_test(rounding),
		cmocka_unit_test(codes),
		cmocka_unit_test(seeded),
		cmocka_unit_test(every),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
