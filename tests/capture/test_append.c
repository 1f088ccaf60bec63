/* SPDX-License-Identifier: MIT */
/*
 * A recorder that goes on with a trace, on virtual clocks: of the same boot of the bench,
 * of a later one, and of one whose wall clock went back. Later stays later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "../scratch.h"
#include "capture/capture.h"

#include <sqlite3.h>
#include <stdio.h>

#define S	 WW_NS_PER_S
#define WALL	 (INT64_C(1790000000) * S)
#define METER	 "sim:?watts=25&rate=10"
#define BOOTED_1 (5000 * S)

struct bench {
	int64_t boot, wall; /* wall: REALTIME - BOOTTIME */
	int64_t maxerror;
};

static char path[64];

static int64_t now(void *ctx)
{
	return ((struct bench *)ctx)->boot;
}

static int anchor(void *ctx, struct ww_anchor *out)
{
	struct bench *b = ctx;

	*out = (struct ww_anchor){.boot_ns = b->boot,
				  .mono_ns = b->boot,
				  .real_ns = b->boot + b->wall,
				  .adj_maxerror_ns = b->maxerror};
	return 0;
}

static void advance(void *ctx, int64_t to)
{
	struct bench *b = ctx;

	b->boot = to > b->boot ? to : b->boot;
}

/* Records for so long, in cycle `cycle` if that is one: begun, and not ended. */
static int record(struct bench *b, int64_t for_ns, const char *uri, int append, uint32_t cycle,
		  struct ww_error *err)
{
	struct ww_recorder_options ro = {.size = sizeof(ro),
					 .path = path,
					 .append = append,
					 .command = "again"};
	struct ww_clock clock = {.ctx = b, .now = now, .anchor = anchor, .advance = advance};
	struct ww_mark m = {.cycle = cycle, .kind = WW_MARK_REQUEST, .text = "suspend"};
	struct ww_recorder *r;
	int64_t until = b->boot + for_ns;
	int rc = ww_recorder_new_clock(&ro, &clock, &r, err);

	if (rc < 0)
		return rc;
	rc = ww_recorder_add(r, uri, NULL, err);
	if (rc > 0)
		rc = ww_recorder_start(r, err);
	if (rc == 0 && cycle)
		rc = ww_recorder_mark(r, &m, err);
	while (rc >= 0 && b->boot < until)
		rc = ww_recorder_dispatch(r, err);
	if (rc >= 0)
		rc = ww_recorder_stop(r, err);
	ww_recorder_free(r);
	return rc < 0 ? rc : 0;
}

static void must(int rc, const struct ww_error *err)
{
	if (rc < 0)
		fail_msg("%s", err->text);
}

static void sql(const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static const struct ww_mark *mark(struct ww_trace *t, const char *kind, int nth)
{
	const struct ww_mark *m;

	for (size_t i = 0; (m = ww_trace_mark(t, i)) != NULL; i++)
		if (strcmp(m->kind, kind) == 0 && nth-- == 0)
			return m;
	fail_msg("no mark %s", kind);
	return NULL;
}

static struct ww_trace *open_trace(void)
{
	struct ww_error err = {0};
	struct ww_trace *t = NULL;

	must(ww_trace_open(path, &t, &err), &err);
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	return t;
}

/* One source, its rows in order, none in the hole; anchors rise. @return rows */
static int64_t check(struct ww_trace *t, struct ww_interval hole)
{
	struct ww_error err = {0};
	int64_t n = ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, &err), *lo, *hi;
	int64_t real;

	assert_int_equal(ww_trace_source_count(t), 1);
	assert_true(n > 0);
	lo = malloc((size_t)n * sizeof(*lo));
	hi = malloc((size_t)n * sizeof(*hi));
	assert_int_equal(ww_trace_read(t, 1, WW_TIME_MIN, WW_TIME_MAX, (size_t)n, lo, hi, NULL,
				       &err),
			 n);
	for (int64_t i = 0; i < n; i++) {
		assert_true(i == 0 || hi[i] > hi[i - 1]);
		assert_true(hi[i] <= hole.lo_ns || lo[i] >= hole.hi_ns);
	}
	free(lo);
	free(hi);
	for (size_t i = 1; i < ww_trace_anchor_count(t); i++)
		assert_true(ww_trace_anchor(t, i)->boot_ns >= ww_trace_anchor(t, i - 1)->boot_ns);
	assert_int_equal(ww_trace_wall(t, hole.lo_ns, &real), 0);
	assert_int_equal(real, hole.lo_ns + WALL);
	return n;
}

static void first(struct ww_error *err)
{
	struct bench b = {.boot = BOOTED_1, .wall = WALL, .maxerror = 20 * WW_NS_PER_MS};

	unlink(path);
	must(record(&b, 10 * S, METER, 0, 1, err), err);
}

static void test_same_boot(void **state)
{
	struct bench b = {.boot = BOOTED_1 + 30 * S, .wall = WALL};
	struct ww_error err = {0};
	struct ww_trace *t;
	const struct ww_mark *m;

	(void)state;
	first(&err);
	must(record(&b, 10 * S, METER, 1, 2, &err), &err);
	t = open_trace();
	m = mark(t, WW_MARK_CONTINUED, 0);
	assert_string_equal(m->text, "the same boot of the bench, 20.000 s after the last record");
	assert_int_equal(m->t.hi_ns, BOOTED_1 + 30 * S);
	assert_true(check(t, m->t) >= 190);
	/* The cycle that was open is closed, in the hole. */
	m = mark(t, WW_MARK_CYCLE_END, 0);
	assert_int_equal(m->cycle, 1);
	assert_memory_equal(m->text, "stopped", 7);
	assert_int_equal(mark(t, WW_MARK_REQUEST, 1)->t.lo_ns, BOOTED_1 + 30 * S);
	assert_int_equal(ww_trace_gap_count(t), 1);
	assert_string_equal(ww_trace_gap(t, 0)->reason, "nothing was recorded");
	assert_string_equal(ww_trace_meta(t, "command.continued"), "again");
	ww_trace_close(t);
}

static void test_another_boot(void **state)
{
	/* 100 s after the first ended, by the wall; and once more in that boot. */
	struct bench b = {.boot = 40 * S, .maxerror = 30 * WW_NS_PER_MS};
	struct ww_error err = {0};
	struct ww_trace *t;
	const struct ww_mark *m;

	(void)state;
	first(&err);
	sql("UPDATE meta SET value = 'another' WHERE key = 'recorder.boot_id'");
	b.wall = BOOTED_1 + 110 * S + WALL - b.boot;
	must(record(&b, 10 * S, METER, 1, 2, &err), &err);
	b.boot += 5 * S;
	must(record(&b, 10 * S, METER, 1, 3, &err), &err);
	t = open_trace();
	m = mark(t, WW_MARK_CONTINUED, 0);
	assert_string_equal(m->text, "the bench was started anew: times go on by its wall clock, "
				     "100 s after the last record, within 0.050 s");
	assert_int_equal(m->t.lo_ns, BOOTED_1 + 10 * S);
	assert_int_equal(m->t.hi_ns, BOOTED_1 + 110 * S);
	assert_true(check(t, m->t) >= 285);
	m = mark(t, WW_MARK_CONTINUED, 1);
	assert_string_equal(m->text, "the same boot of the bench, 5.000 s after the last record");
	assert_int_equal(m->t.hi_ns, BOOTED_1 + 125 * S);
	check(t, m->t);
	assert_int_equal(mark(t, WW_MARK_REQUEST, 2)->t.lo_ns, BOOTED_1 + 125 * S);
	assert_int_equal(mark(t, WW_MARK_CYCLE_END, 1)->cycle, 2);
	ww_trace_close(t);
}

/* A board without a clock of its own wakes up in 1970. */
static void test_the_wall_went_back(void **state)
{
	struct bench b = {.boot = 3 * S, .maxerror = -1};
	struct ww_error err = {0};
	struct ww_trace *t;
	const struct ww_mark *m;

	(void)state;
	first(&err);
	sql("UPDATE meta SET value = 'another' WHERE key = 'recorder.boot_id'");
	must(record(&b, 2 * S, METER, 1, 0, &err), &err);
	t = open_trace();
	m = mark(t, WW_MARK_CONTINUED, 0);
	assert_non_null(strstr(m->text, "which went back, so that how long it was away is not"));
	assert_int_equal(m->t.hi_ns, BOOTED_1 + 10 * S + WW_NS_PER_MS);
	check(t, m->t);
	ww_trace_close(t);
}

static void test_refused(void **state)
{
	struct bench b = {.boot = BOOTED_1 + 30 * S, .wall = WALL};
	struct ww_error err = {0};
	char text[300];
	struct ww_trace *t;

	(void)state;
	first(&err);
	/* Not the same meter: nothing of it may come into the rows of the first. */
	assert_int_equal(record(&b, S, "sim:?watts=25&rate=10&resolution=0.5", 1, 0, &err),
			 -EINVAL);
	assert_non_null(strstr(err.text, "its source meter is another one"));
	t = open_trace();
	assert_int_equal(ww_trace_gap_count(t), 0);
	ww_trace_close(t);
	ww_error_clear(&err);
	unlink(path);
	assert_int_equal(record(&b, S, METER, 1, 0, &err), -ENOENT);
	ww_error_clear(&err);
	first(&err);
	snprintf(text, sizeof(text),
		 "UPDATE meta SET value = 'live' WHERE key = 'state';"
		 "UPDATE meta SET value = %d WHERE key = 'recorder.pid'",
		 (int)getpid());
	sql(text);
	/* Ours is the process that started then. */
	assert_int_equal(record(&b, S, METER, 1, 0, &err), -EBUSY);
	assert_non_null(strstr(err.text, "is being recorded"));
}

static int setup(void **state)
{
	(void)state;
	snprintf(path, sizeof(path), "%s/ww-append-%d.wwt", scratch(), (int)getpid());
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_boot),
		cmocka_unit_test(test_another_boot),
		cmocka_unit_test(test_the_wall_went_back),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
