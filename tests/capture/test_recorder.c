/* SPDX-License-Identifier: MIT */
/*
 * The recorder on a virtual clock: an hour with a meter that is unplugged, a bench that
 * sleeps and a wall clock that is stepped. What the simulator did is known; the trace
 * must say the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "capture/capture.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define START_NS INT64_C(5000000000000)

struct virtual_clock {
	int64_t boot;
	int64_t slept; /* BOOTTIME - MONOTONIC */
	int64_t wall;  /* REALTIME - BOOTTIME */
	int64_t sleep_at, sleep_ns, step_at, step_ns;
};

static int64_t vnow(void *ctx)
{
	return ((struct virtual_clock *)ctx)->boot;
}

static int vanchor(void *ctx, struct ww_anchor *out)
{
	struct virtual_clock *c = ctx;

	*out = (struct ww_anchor){.boot_ns = c->boot,
				  .mono_ns = c->boot - c->slept,
				  .real_ns = c->boot + c->wall,
				  .width_ns = 100,
				  .adj_maxerror_ns = -1};
	return 0;
}

static void vadvance(void *ctx, int64_t to)
{
	struct virtual_clock *c = ctx;

	if (to > c->boot)
		c->boot = to;
	if (c->sleep_ns && c->boot >= c->sleep_at) {
		c->boot += c->sleep_ns;
		c->slept += c->sleep_ns;
		c->sleep_ns = 0;
	}
	if (c->step_ns && c->boot >= c->step_at) {
		c->wall += c->step_ns;
		c->step_ns = 0;
	}
}

static struct ww_clock clock_of(struct virtual_clock *c)
{
	return (struct ww_clock){.ctx = c, .now = vnow, .anchor = vanchor, .advance = vadvance};
}

static char *fresh(char *buf, size_t n, const char *name)
{
	snprintf(buf, n, "/tmp/ww-%s-%d.wwt", name, (int)getpid());
	unlink(buf);
	return buf;
}

static void run_until(struct ww_recorder *r, struct virtual_clock *c, int64_t until)
{
	struct ww_error err = {0};

	while (c->boot < until) {
		int rc = ww_recorder_dispatch(r, &err);

		if (rc < 0)
			fail_msg("%s", err.text);
		if (rc == 0)
			break;
	}
}

static size_t marks_of(struct ww_trace *t, const char *kind, const struct ww_mark **first)
{
	size_t n = 0;

	for (size_t i = 0; i < ww_trace_mark_count(t); i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		if (strcmp(m->kind, kind) == 0 && n++ == 0 && first)
			*first = m;
	}
	return n;
}

static void check_hour(const char *path)
{
	const struct ww_mark *m = NULL;
	struct ww_error err = {0};
	struct ww_trace *t;
	double *v, min = 1e9, max = -1e9;
	int64_t n;

	if (ww_trace_open(path, &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	assert_int_equal(marks_of(t, WW_MARK_UNPLUGGED, &m), 3);
	assert_in_range(m->t.hi_ns - START_NS, 599 * WW_NS_PER_S, 601 * WW_NS_PER_S);
	assert_int_equal(marks_of(t, WW_MARK_REPLUGGED, &m), 3);
	assert_in_range(m->t.hi_ns - START_NS, 629 * WW_NS_PER_S, 632 * WW_NS_PER_S);
	assert_int_equal(marks_of(t, WW_MARK_BENCH_RESUME, &m), 1);
	assert_non_null(strstr(m->text, "120.0"));
	assert_int_equal(marks_of(t, WW_MARK_CLOCK_STEP, &m), 1);
	assert_non_null(strstr(m->text, "-3.5"));
	/* One every 10 s, and one after each of sleep and step, and at both ends. */
	assert_in_range(ww_trace_anchor_count(t), 340, 365);
	assert_true(ww_trace_gap_count(t) >= 3);
	assert_int_equal(ww_trace_gap(t, 0)->source, 1);
	n = ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, &err);
	/* 10 a second, less 40 s unplugged; the simulator went on while the bench slept. */
	assert_in_range(n, 35580, 35610);
	v = malloc((size_t)n * sizeof(*v));
	assert_int_equal(ww_trace_read(t, 1, WW_TIME_MIN, WW_TIME_MAX, (size_t)n, NULL, NULL, v,
				       &err),
			 n);
	for (int64_t i = 0; i < n; i++) {
		min = fmin(min, v[i]);
		max = fmax(max, v[i]);
	}
	assert_true(min > 23 && max < 27 && max > min);
	free(v);
	ww_trace_close(t);
}

static void test_one_hour(void **state)
{
	struct virtual_clock vc = {.boot = START_NS,
				   .wall = INT64_C(1700000000000000000),
				   .sleep_at = START_NS + 1200 * WW_NS_PER_S,
				   .sleep_ns = 120 * WW_NS_PER_S,
				   .step_at = START_NS + 2400 * WW_NS_PER_S,
				   .step_ns = -3500 * WW_NS_PER_MS};
	struct ww_clock clock = clock_of(&vc);
	struct ww_recorder *r;
	struct ww_error err = {0};
	char path[64];
	struct ww_recorder_options opt = {.size = sizeof(opt)};

	(void)state;
	opt.path = fresh(path, sizeof(path), "hour");
	if (ww_recorder_new_clock(&opt, &clock, &r, &err) < 0 ||
	    ww_recorder_add(r,
			    "sim:?watts=25&noise=0.2&rate=10&resolution=0.1&wh=1&wrap=5"
			    "&unplug=600s:30s&unplug=2000s:5s&unplug=3000s:5s",
			    NULL, &err) != 1 ||
	    ww_recorder_start(r, &err) < 0)
		fail_msg("%s", err.text);
	run_until(r, &vc, START_NS + 3600 * WW_NS_PER_S);
	if (ww_recorder_stop(r, &err) < 0)
		fail_msg("%s", err.text);
	ww_recorder_free(r);
	check_hour(path);
	unlink(path);
}

static void test_options_without_size_are_refused(void **state)
{
	struct ww_recorder_options opt = {.path = "/tmp/ww-never.wwt"};
	struct ww_error err = {0};
	struct ww_recorder *r;

	(void)state;
	assert_int_equal(ww_recorder_new(&opt, &r, &err), -EINVAL);
	assert_null(r);
}

static void test_existing_trace_is_kept(void **state)
{
	struct ww_recorder_options opt = {.size = sizeof(opt)};
	struct ww_error err = {0};
	struct ww_recorder *r;
	char path[64];
	FILE *f;

	(void)state;
	opt.path = fresh(path, sizeof(path), "exists");
	f = fopen(path, "w");
	fputs("precious", f);
	fclose(f);
	assert_int_equal(ww_recorder_new(&opt, &r, &err), -EEXIST);
	assert_non_null(strstr(err.text, path));
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	assert_int_equal(ftell(f), 8);
	fclose(f);
	unlink(path);
}

static void test_wrong_uri_names_itself(void **state)
{
	struct ww_recorder_options opt = {.size = sizeof(opt)};
	struct ww_error err = {0};
	struct ww_recorder *r;

	(void)state;
	assert_int_equal(ww_recorder_new(&opt, &r, &err), 0);
	assert_true(ww_recorder_add(r, "nosuchmeter:/dev/ttyX", NULL, &err) < 0);
	assert_non_null(strstr(err.text, "nosuchmeter"));
	ww_error_clear(&err);
	assert_true(ww_recorder_add(r, "/dev/no-such-tty", NULL, &err) < 0);
	assert_non_null(strstr(err.text, "/dev/no-such-tty"));
	ww_recorder_free(r);
}

static void test_names_are_unique(void **state)
{
	struct virtual_clock vc = {.boot = START_NS};
	struct ww_clock clock = clock_of(&vc);
	struct ww_recorder_options opt = {.size = sizeof(opt)};
	struct ww_error err = {0};
	struct ww_recorder *r;
	struct ww_live l;

	(void)state;
	assert_int_equal(ww_recorder_new_clock(&opt, &clock, &r, &err), 0);
	assert_int_equal(ww_recorder_add(r, "sim:?watts=1", NULL, &err), 1);
	assert_int_equal(ww_recorder_add(r, "sim:?watts=2", NULL, &err), 2);
	assert_int_equal(ww_recorder_add(r, "sim:?watts=3", "wall", &err), 3);
	assert_int_equal(ww_recorder_start(r, &err), 0);
	run_until(r, &vc, START_NS + 3 * WW_NS_PER_S);
	assert_int_equal(ww_recorder_live(r, 0, &l), 1);
	assert_string_equal(l.source, "meter");
	assert_true(fabs(l.value - 1) < 1e-9);
	assert_int_equal(ww_recorder_live(r, 1, &l), 1);
	assert_string_equal(l.source, "meter2");
	assert_int_equal(ww_recorder_live(r, 2, &l), 1);
	assert_string_equal(l.source, "wall");
	assert_int_equal(ww_recorder_live(r, 3, &l), 0);
	assert_int_equal(ww_recorder_stop(r, &err), 0);
	ww_recorder_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_hour),
		cmocka_unit_test(test_options_without_size_are_refused),
		cmocka_unit_test(test_existing_trace_is_kept),
		cmocka_unit_test(test_wrong_uri_names_itself),
		cmocka_unit_test(test_names_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
