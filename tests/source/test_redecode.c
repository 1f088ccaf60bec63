/* SPDX-License-Identifier: MIT */
/* Raw bytes and turns once more: what comes of them, and what cannot be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fakemeter.h"
#include "redecodetrace.h"

#include <stdio.h>

/* Rows of the meter: "hi in ms: power count", a line each. */
static char *rows_of(struct ww_trace *t)
{
	static char text[4096];
	struct ww_cursor *c;
	struct ww_batch b;
	size_t n = 0;

	text[0] = '\0';
	assert_int_equal(ww_cursor_open(t, 2, WW_TIME_MIN, WW_TIME_MAX, 0, &c, NULL), 0);
	while (ww_cursor_next(c, &b, NULL) > 0)
		for (size_t i = 0; i < b.n; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld: %lld%s",
					      (long long)(b.hi_ns[i] / 1000000),
					      (long long)b.codes[0][i], i + 1 < b.n ? "\n" : "");
	ww_cursor_close(c);
	return text;
}

static char *events_of(struct ww_trace *t)
{
	static char text[4096];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ww_trace_mark_count(t); i++) {
		const struct ww_mark *m = ww_trace_mark(t, i);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%lld %u %s %s\n",
				      (long long)(m->t.hi_ns / 1000000), m->source, m->kind,
				      m->text);
	}
	for (size_t i = 0; i < ww_trace_gap_count(t); i++) {
		const struct ww_gap *g = ww_trace_gap(t, i);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "gap %lld %u %lld %s\n",
				      (long long)(g->t.hi_ns / 1000000), g->source,
				      (long long)g->lost, g->reason);
	}
	return text;
}

static const char rows[] = "100500: 97\n100500: 98\n101000: 1004\n102000: 99\n105000: 100\n"
			   "105000: 2\n106000: 1000\n106000: 1\n106000: 101";

static void test_day(void **state)
{
	struct ww_error err = {0};
	struct ww_trace *y, *z;
	struct rt x, xx = {.t = NULL};
	int rc;

	(void)state;
	fake_drops = 0;
	rt_begin(&x, "fake", "fake:/dev/fake", true, true);
	rt_day(&x);
	rt_done(&x);
	y = rt_again(&x, NULL, &rc, &err);
	if (!y)
		fail_msg("%s", err.text);
	assert_int_equal(rc, 1);
	assert_string_equal(rows_of(y), rows);
	assert_string_equal(events_of(y), "100000 0 start \n"
					  "101000 0 label by hand\n"
					  "102000 2 device said something\n"
					  "103000 2 unplugged gone\n"
					  "104000 2 replugged after 1 s\n"
					  "105500 2 device overrun: 3\n"
					  "107000 0 stop \n"
					  "gap 105000 2 7 unplugged\n"
					  "gap 102000 2 3 three\n");
	assert_string_equal(ww_trace_meta(y, "bench.host"), "here");
	assert_null(ww_trace_meta(y, "redecode.note.01"));
	assert_non_null(ww_trace_meta(y, "redecode.source.meter"));
	assert_int_equal(ww_trace_source_count(y), 4);
	assert_string_equal(ww_trace_source(y, 1)->model, "model");
	assert_string_equal(ww_trace_source(y, 1)->firmware, "firmware");
	assert_int_equal(ww_trace_source(y, 1)->period_ns, WW_NS_PER_S);
	assert_int_equal(ww_trace_channel_count(y), 2);
	assert_string_equal(ww_trace_channel(y, 1)->name, "count");
	assert_int_equal(ww_trace_rows(y, 1, WW_TIME_MIN, WW_TIME_MAX, NULL), 4);
	/* As often as there were states. */
	assert_int_equal(fake_drops, 3);
	/* What was decoded again can be decoded again. */
	xx.t = y;
	z = rt_again(&xx, "meter", &rc, &err);
	assert_non_null(z);
	assert_string_equal(rows_of(z), rows);
	ww_trace_close(z);
	ww_trace_close(y);
	ww_trace_close(x.t);
}

/* Before turns were kept: called at its deadlines, and that is said. */
static void test_without_turns(void **state)
{
	struct ww_error err = {0};
	struct ww_trace *y;
	struct rt x;
	int rc;

	(void)state;
	rt_begin(&x, "fake", "fake:/dev/fake", true, false);
	rt_day(&x);
	rt_done(&x);
	y = rt_again(&x, NULL, &rc, &err);
	if (!y)
		fail_msg("%s", err.text);
	assert_string_equal(rows_of(y), "100500: 97\n100500: 98\n101000: 1000\n102000: 1001\n"
					"102000: 99\n103000: 1002\n104000: 1003\n105000: 1000\n"
					"105000: 100\n105000: 3\n105000: 1\n105900: 101\n"
					"106000: 1001\n107000: 1002");
	assert_non_null(strstr(ww_trace_meta(y, "redecode.note.01"), "before its driver's turns"));
	ww_trace_close(y);
	ww_trace_close(x.t);
}

/* What the disk was too slow for is missing; what is there is decoded in its place. */
static void test_missing(void **state)
{
	struct ww_error err = {0};
	struct ww_trace *y;
	struct rt x;
	int rc;

	(void)state;
	rt_begin(&x, "fake", "fake:/dev/fake", true, true);
	rt_at(&x, WW_TURN_START, 100, 0);
	rt_feed(&x, 101, "a");
	rt_turn(&x, WW_TURN_FEED, SEC(102), SEC(102), 5, NULL); /* its bytes were lost */
	rt_feed(&x, 103, "b");
	rt_raw(&x, SEC(104), SEC(104), "xyz"); /* its turn was lost */
	rt_feed(&x, 105, "c");
	rt_turn(&x, WW_TURN_FEED, SEC(106), SEC(106), 5, NULL); /* killed here */
	rt_done(&x);
	y = rt_again(&x, NULL, &rc, &err);
	if (!y)
		fail_msg("%s", err.text);
	assert_string_equal(rows_of(y), "101000: 97\n103000: 98\n105000: 99");
	assert_string_equal(ww_trace_meta(y, "redecode.note.01"),
			    "meter: 5 bytes that it sent were not stored: less is decoded");
	assert_string_equal(ww_trace_meta(y, "redecode.note.02"),
			    "meter: 3 bytes have no turn of its driver: they are left out");
	ww_trace_close(y);
	ww_trace_close(x.t);
}

/* Channels that the folder decided about; a driver that gives up now. */
static void test_folder(void **state)
{
	struct ww_error err = {0};
	struct ww_trace *y;
	struct rt x;
	int rc;

	(void)state;
	rt_begin(&x, "fakefiles", "fakefiles:hwmon3", true, true);
	rt_turn(&x, WW_TURN_LOOK, SEC(100), SEC(100), 11, "channels=1\n");
	rt_at(&x, WW_TURN_START, 100, 0);
	rt_feed(&x, 101, "ab~c");
	rt_feed(&x, 102, "d");
	rt_done(&x);
	y = rt_again(&x, NULL, &rc, &err);
	if (!y)
		fail_msg("%s", err.text);
	assert_int_equal(ww_trace_channel_count(y), 1);
	assert_string_equal(rows_of(y), "101000: 97\n101000: 98\n101000: 99");
	assert_string_equal(ww_trace_meta(y, "redecode.note.01"),
			    "meter: its driver now gives it up: nonsense came");
	ww_trace_close(y);
	ww_trace_close(x.t);
}

/* One that never sent a byte is decoded again, too: its driver says the same of it. */
static void test_mute(void **state)
{
	struct ww_error err = {0};
	struct ww_trace *y;
	struct rt x;
	int rc;

	(void)state;
	rt_begin(&x, "fake", "fake:/dev/fake", false, true);
	/* A port of somebody's that only has such a name. */
	rt_source(&x, WW_SERIAL, "meter.raw", "tty", "tty:/dev/ttyS1");
	rt_at(&x, WW_TURN_START, 100, (uint64_t)SEC(4));
	rt_at(&x, WW_TURN_TICK, 101, 0);
	rt_at(&x, WW_TURN_STOP, 107, 0);
	rt_done(&x);
	y = rt_again(&x, NULL, &rc, &err);
	if (!y)
		fail_msg("%s", err.text);
	assert_int_equal(rc, 1);
	assert_null(ww_trace_meta(y, "redecode.note.01"));
	assert_string_equal(rows_of(y), "101000: 1004");
	ww_trace_close(y);
	ww_trace_close(x.t);
}

/* Each is said. */
static void test_cannot(void **state)
{
	static const struct {
		const char *driver, *uri, *source, *why;
		bool raw, turns;
	} list[] = {
		{"nothere", "nothere:/dev/x", NULL, "this version has no driver 'nothere'", true,
		 true},
		{"fake", "fake:/dev/x", NULL, "record with --raw", false, true},
		{"fake", "fake:/dev/x?refuse=1", NULL, "this option is refused", true, true},
		{"fake", "fake:/dev/x", "nobody", "there is no source 'nobody'", true, true},
		{"fake", "fake:/dev/x", "port", "port is no meter", true, true},
		{"fakefiles", "fakefiles:hwmon3", NULL, "before what its folder held was kept",
		 true, false},
	};

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(list); i++) {
		struct ww_error err = {0};
		struct rt x;
		int rc;

		rt_begin(&x, list[i].driver, list[i].uri, list[i].raw, list[i].turns);
		rt_at(&x, WW_TURN_START, 100, 0);
		rt_feed(&x, 101, "a");
		rt_done(&x);
		assert_null(rt_again(&x, list[i].source, &rc, &err));
		assert_int_equal(rc, err.code);
		if (!strstr(err.text, list[i].why))
			fail_msg("%s: %s", list[i].why, err.text);
		ww_trace_close(x.t);
	}
}

/* Turns are the disk's: whatever stands there, it ends. */
static void test_hostile(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct ww_error err = {0};
		struct ww_trace *y;
		uint8_t b[64];
		struct rt x;
		int rc;

		rt_begin(&x, "fakefiles", "fakefiles:hwmon3", true, true);
		rt_turn(&x, WW_TURN_LOOK, SEC(100), SEC(100), 11, "channels=1\n");
		rt_at(&x, WW_TURN_START, 100, 0);
		rt_feed(&x, 101, "ab");
		for (size_t k = 0; k < sizeof(b); k++) {
			seed = seed * 1664525 + 1013904223;
			b[k] = k % 7 == 0 ? (uint8_t) "LSTFEBP"[(seed >> 16) % 7]
					  : (uint8_t)(seed >> 24);
		}
		assert_int_equal(ww_writer_bytes(x.w, x.turns,
						 (struct ww_interval){SEC(102), SEC(102)}, b,
						 sizeof(b), NULL),
				 0);
		rt_done(&x);
		y = rt_again(&x, NULL, &rc, &err);
		if (!y)
			assert_true(rc < 0 && err.code == rc && *err.text);
		ww_trace_close(y);
		ww_trace_close(x.t);
	}
}

static void test_turns(void **state)
{
	static const int64_t times[] = {0, 1, -1, WW_TIME_MAX, WW_TIME_MIN + 1, SEC(1e6)};
	uint8_t b[WW_TURN_HEAD];

	(void)state;
	for (size_t i = 0; i < WW_COUNTOF(times); i++)
		for (size_t k = 0; k < WW_COUNTOF(times); k++) {
			struct ww_interval t = {WW_TIME_MIN, times[i]};
			struct ww_turn_record r;
			size_t n;

			if (k && times[k] <= times[i])
				t.lo_ns = times[k];
			n = ww_turn_put(b, WW_TURN_FEED, t, times[k], UINT64_MAX >> k);
			assert_true(n <= sizeof(b));
			for (size_t less = 0; less < n; less++)
				assert_int_equal(ww_turn_get(b, less, times[k], &r), 0);
			assert_int_equal(ww_turn_get(b, n, times[k], &r), n);
			assert_int_equal(r.turn, WW_TURN_FEED);
			assert_int_equal(r.t.lo_ns, t.lo_ns);
			assert_int_equal(r.t.hi_ns, t.hi_ns);
			assert_true(r.n == UINT64_MAX >> k);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_turns),	      cmocka_unit_test(test_day),
		cmocka_unit_test(test_without_turns), cmocka_unit_test(test_missing),
		cmocka_unit_test(test_folder),	      cmocka_unit_test(test_cannot),
		cmocka_unit_test(test_hostile),	      cmocka_unit_test(test_mute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
