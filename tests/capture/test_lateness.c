/* SPDX-License-Identifier: MIT */
/* A recorder that stood still says so in its trace; a bench that slept is no such case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "capture/capture.h"

#include <stdio.h>
#include <unistd.h>

#define START_NS INT64_C(7000000000000)

/* Jumps once, as if nothing had run for a while; asleep: the bench slept through it. */
struct jumpy {
	int64_t boot, slept, at, by;
	bool asleep;
};

static int64_t jnow(void *ctx)
{
	return ((struct jumpy *)ctx)->boot;
}

static int janchor(void *ctx, struct ww_anchor *out)
{
	struct jumpy *c = ctx;

	*out = (struct ww_anchor){.boot_ns = c->boot,
				  .mono_ns = c->boot - c->slept,
				  .real_ns = c->boot + 1,
				  .width_ns = 100,
				  .adj_maxerror_ns = -1};
	return 0;
}

static void jadvance(void *ctx, int64_t to)
{
	struct jumpy *c = ctx;

	c->boot = to > c->boot ? to : c->boot;
	if (!c->by || c->boot < c->at)
		return;
	c->boot += c->by;
	c->slept += c->asleep ? c->by : 0;
	c->by = 0;
}

static const struct ww_mark *warning(struct ww_trace *t)
{
	for (size_t i = 0; i < ww_trace_mark_count(t); i++)
		if (strcmp(ww_trace_mark(t, i)->kind, "warning") == 0 &&
		    strstr(ww_trace_mark(t, i)->text, "stood still"))
			return ww_trace_mark(t, i);
	return NULL;
}

/* Ten seconds with one jump, recorded; the trace of it. */
static struct ww_trace *ten_seconds(int64_t by, bool asleep, struct ww_recorder_stats *stats)
{
	struct jumpy c = {.boot = START_NS, .at = START_NS + 3 * WW_NS_PER_S, .by = by};
	struct ww_clock clock = {.ctx = &c, .now = jnow, .anchor = janchor, .advance = jadvance};
	struct ww_recorder_options opt = {.size = sizeof(opt)};
	struct ww_error err = {0};
	struct ww_recorder *r;
	struct ww_trace *t;
	char path[64];

	c.asleep = asleep;
	snprintf(path, sizeof(path), "/tmp/ww-late-%d.wwt", (int)getpid());
	unlink(path);
	opt.path = path;
	assert_int_equal(ww_recorder_new_clock(&opt, &clock, &r, &err), 0);
	assert_int_equal(ww_recorder_add(r, "sim:?rate=10", NULL, &err), 1);
	assert_int_equal(ww_recorder_start(r, &err), 0);
	while (c.boot < START_NS + 10 * WW_NS_PER_S)
		assert_int_equal(ww_recorder_dispatch(r, &err), 1);
	assert_int_equal(ww_recorder_stop(r, &err), 0);
	ww_recorder_stats(r, stats);
	ww_recorder_free(r);
	assert_int_equal(ww_trace_open(path, &t, &err), 0);
	unlink(path);
	return t;
}

static void test_stood_still(void **state)
{
	struct ww_recorder_stats stats;
	struct ww_trace *t = ten_seconds(6 * WW_NS_PER_S, false, &stats);
	const struct ww_mark *m = warning(t);
	int64_t meta = strtoll(ww_trace_meta(t, "recorder.late_max_ns"), NULL, 10);

	(void)state;
	assert_non_null(m);
	/* The beat is due ten times a second: what it cannot see is less than that. */
	assert_in_range(m->t.hi_ns - m->t.lo_ns, 59 * WW_NS_PER_S / 10, 6 * WW_NS_PER_S);
	assert_true(m->t.lo_ns >= START_NS + 3 * WW_NS_PER_S);
	assert_int_equal(meta, m->t.hi_ns - m->t.lo_ns);
	assert_int_equal(stats.late_max_ns, meta);
	ww_trace_close(t);
}

static void test_short_stall_has_no_mark(void **state)
{
	struct ww_recorder_stats stats;
	struct ww_trace *t = ten_seconds(90 * WW_NS_PER_MS, false, &stats);

	(void)state;
	assert_null(warning(t));
	assert_in_range(stats.late_max_ns, 1, 90 * WW_NS_PER_MS);
	ww_trace_close(t);
}

static void test_bench_slept(void **state)
{
	struct ww_recorder_stats stats;
	struct ww_trace *t = ten_seconds(6 * WW_NS_PER_S, true, &stats);

	(void)state;
	assert_null(warning(t));
	assert_in_range(stats.late_max_ns, 0, 100 * WW_NS_PER_MS);
	assert_string_equal(ww_trace_meta(t, "recorder.late_p99_ns"), "0");
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stood_still),
		cmocka_unit_test(test_short_stall_has_no_mark),
		cmocka_unit_test(test_bench_slept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
