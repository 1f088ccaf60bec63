/* SPDX-License-Identifier: MIT */
/* Times: as they stand, in order whatever the clock did, and nothing silently. */
#include "imported.h"

#define ARRAY(...) ((const double[]){__VA_ARGS__})

static int64_t start_of(const struct ww_trace *t)
{
	int64_t real;

	assert_int_equal(ww_trace_wall(t, ww_trace_span(t).lo_ns, &real), 0);
	return real;
}

/* 2023-11-14 22:13:20 UTC, in every way of writing it; the second row one second later. */
static void stamps(void **state)
{
	static const struct {
		const char *a, *b;
	} texts[] = {
		{"2023-11-14T22:13:20Z", "2023-11-14T22:13:21Z"},
		{"2023-11-14T23:13:20+01:00", "2023-11-14T23:13:21+01:00"},
		{"2023-11-14 17:13:20-0500", "2023-11-14 17:13:21-0500"},
		{"2023-11-14T22:13:20.000Z", "2023-11-14T22:13:21.000Z"},
		{"2023-11-14 22:13:20", "2023-11-14 22:13:21"},
		{"2023/11/14 22:13:20", "2023/11/14 22:13:21"},
		{"14/11/2023 22:13:20", "14/11/2023 22:13:21"},
		{"14.11.2023 22:13:20", "14.11.2023 22:13:21"},
		{"14.11.23 22:13:20", "14.11.23 22:13:21"},
		{"11/14/2023 10:13:20 PM", "11/14/2023 10:13:21 PM"},
		{"20231114T221320Z", "20231114T221321Z"},
		{"1700000000", "1700000001"},
		{"1700000000.000", "1700000001.000"},
		{"1700000000000", "1700000001000"},
		{"1700000000000000", "1700000001000000"},
		{"1700000000000000000", "1700000001000000000"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char text[200];
		struct ww_trace *t;

		snprintf(text, sizeof(text), "time,power_W\n%s,1\n%s,2\n", texts[i].a, texts[i].b);
		t = import(text);
		if (start_of(t) != 1700000000000000000)
			fail_msg("%s: %lld", texts[i].a, (long long)start_of(t));
		check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(1, 2));
		ww_trace_close(t);
	}
}

static void two_columns(void **state)
{
	struct ww_trace *t =
		import("Date;Time;Watts\n14.11.2023;22:13:20;1\n14.11.2023;22:13:21;2\n");

	(void)state;
	assert_int_equal(start_of(t), 1700000000000000000);
	check_rows(t, "power", 2, ARRAY(0, 1), ARRAY(1, 2));
	ww_trace_close(t);
	/* A time of day alone goes on past midnight. */
	t = import("time,watts\n23:59:59,1\n00:00:01,2\n00:00:02.5,3\n");
	assert_int_equal(ww_trace_anchor_count(t), 0);
	check_rows(t, "power", 3, ARRAY(86399, 86401, 86402.5), ARRAY(1, 2, 3));
	ww_trace_close(t);
	/* Time since the row before. */
	t = import("delta_ms,watts\n100,1\n100,2\n50,3\n");
	check_rows(t, "power", 3, ARRAY(0, 0.1, 0.15), ARRAY(1, 2, 3));
	ww_trace_close(t);
}

static void zones(void **state)
{
	struct ww_import_options o = {.size = sizeof(o), .offset_s = 3600, .has_offset = 1};
	struct ww_trace *t = import("time,power_W\n2023-11-14 22:13:20,1\n2023-11-14 22:13:21,2\n");

	(void)state;
	assert_true(noted(t, "taken as UTC"));
	assert_null(ww_trace_meta(t, "bench.utc_offset_s"));
	ww_trace_close(t);
	t = import_with("time,power_W\n2023-11-14 23:13:20,1\n2023-11-14 23:13:21,2\n", &o);
	assert_int_equal(start_of(t), 1700000000000000000);
	assert_string_equal(ww_trace_meta(t, "bench.utc_offset_s"), "3600");
	check_notes(t, 0);
	ww_trace_close(t);
	t = import("time,power_W\n2023-11-14T17:13:20-05:00,1\n2023-11-14T17:13:21-05:00,2\n");
	assert_string_equal(ww_trace_meta(t, "bench.utc_offset_s"), "-18000");
	check_notes(t, 0);
	ww_trace_close(t);
	t = import_with("time,power_W\n2023-11-14T22:13:20Z,1\n2023-11-14T22:13:21Z,2\n", &o);
	assert_true(noted(t, "the one given is not used"));
	ww_trace_close(t);
}

static void which_is_the_day(void **state)
{
	struct ww_trace *t = import("time,power_W\n02/03/2023 00:00,1\n02/03/2023 00:01,2\n");

	(void)state;
	assert_true(noted(t, "taken as day/month"));
	assert_int_equal(start_of(t), INT64_C(1677715200) * 1000000000);
	ww_trace_close(t);
	t = import("time,power_W\n03/02/2023 00:00,1\n03/13/2023 00:01,2\n");
	assert_false(noted(t, "day/month"));
	assert_int_equal(start_of(t), INT64_C(1677715200) * 1000000000);
	ww_trace_close(t);
	t = import("time,power_W\n03/02/2023 1:00:00 AM,1\n03/02/2023 1:00:01 AM,2\n");
	assert_true(noted(t, "month/day, as is usual"));
	assert_int_equal(start_of(t), INT64_C(1677718800) * 1000000000);
	ww_trace_close(t);
	/* A day that does not exist is no time. */
	t = import("time,power_W\n2023-02-28 00:00:00,1\n2023-02-29 00:00:00,2\n"
		   "2023-03-01 00:00:00,3\n");
	check_rows(t, "power", 2, ARRAY(0, 86400), ARRAY(1, 3));
	ww_trace_close(t);
}

static void shuffled(void **state)
{
	struct ww_trace *t = import("t_s,power_W\n0,1\n2,3\n1,2\n3,4\n4,5\n5,6\n");

	(void)state;
	check_rows(t, "power", 6, ARRAY(0, 1, 2, 3, 4, 5), ARRAY(1, 2, 3, 4, 5, 6));
	assert_true(noted(t, "not in the order of time"));
	ww_trace_close(t);
	t = import("t_s,power_W\n4,5\n3,4\n2,3\n1,2\n0,1\n"); /* newest first */
	check_rows(t, "power", 5, ARRAY(0, 1, 2, 3, 4), ARRAY(1, 2, 3, 4, 5));
	ww_trace_close(t);
	/* Two files put together the wrong way round. */
	t = import("t_s,power_W\n10,1\n11,2\n12,3\n13,4\n14,5\n0,6\n1,7\n2,8\n3,9\n4,10\n");
	assert_int_equal(rows_of(t, "power").hi[0], 0);
	assert_true(rows_of(t, "power").v[0] == 6);
	ww_trace_close(t);
}

/* The clock is set back in the middle: nothing is mixed, and the hole is a gap. */
static void set_back(void **state)
{
	struct ww_trace *t = import("t_s,power_W\n100,1\n101,2\n102,3\n103,4\n104,5\n"
				    "101,6\n102,7\n103,8\n104,9\n105,10\n");

	(void)state;
	check_rows(t, "power", 10, ARRAY(100, 101, 102, 103, 104, 105, 106, 107, 108, 109),
		   ARRAY(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
	assert_true(noted(t, "goes back 1 time (first by 3 s)"));
	assert_int_equal(ww_trace_gap_count(t), 1);
	assert_int_equal(ww_trace_gap(t, 0)->t.lo_ns, INT64_C(104000000000));
	assert_int_equal(ww_trace_gap(t, 0)->lost, -1);
	ww_trace_close(t);
}

/* 02:00 to 03:00 comes twice when summer time ends; there is no gap. */
static void fold(void **state)
{
	struct ww_trace *t;
	char text[2000] = "time,power_W\n";
	size_t n = strlen(text);

	(void)state;
	for (int i = 0; i < 20; i++) {
		int m = i * 10 - (i >= 12 ? 60 : 0);

		n += (size_t)snprintf(text + n, sizeof(text) - n, "2023-10-29 %02d:%02d:00,%d\n",
				      1 + m / 60, m % 60, i);
	}
	t = import(text);
	assert_true(noted(t, "end of summer time"));
	assert_int_equal(ww_trace_gap_count(t), 0);
	assert_int_equal(rows_of(t, "power").n, 20);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(rows_of(t, "power").hi[i], i * INT64_C(600000000000));
		assert_true(rows_of(t, "power").v[i] == i);
	}
	ww_trace_close(t);
}

static void absurd(void **state)
{
	struct ww_trace *t = import("t_s,power_W\n0,1\n1,2\n9999999,99\n2,3\n3,4\n-5e8,77\n4,5\n");

	(void)state;
	check_rows(t, "power", 5, ARRAY(0, 1, 2, 3, 4), ARRAY(1, 2, 3, 4, 5));
	assert_true(noted(t, "2 rows with a time far from those around them left out"));
	ww_trace_close(t);
	/* Negative times are times. */
	t = import("t_s,power_W\n-2,1\n-1,2\n0,3\n");
	check_rows(t, "power", 3, ARRAY(-2, -1, 0), ARRAY(1, 2, 3));
	ww_trace_close(t);
	t = import("time,power_W\n1970-01-01T00:00:05Z,0\n2023-11-14T22:13:20Z,1\n"
		   "2023-11-14T22:13:21Z,2\n");
	assert_true(noted(t, "a hole of 19675 days before row 2"));
	ww_trace_close(t);
}

static void repeated(void **state)
{
	struct ww_trace *t = import("t_s,power_W\n0.0,1\n0.1,2\n0.1,2\n0.2,3\n0.3,4\n");

	(void)state;
	check_rows(t, "power", 4, ARRAY(0, 0.1, 0.2, 0.3), ARRAY(1, 2, 3, 4));
	assert_true(noted(t, "1 row is there twice"));
	ww_trace_close(t);
	/* Two readings a second, stamped in whole seconds, lie half a second apart. */
	t = import("time,power_W\n12:00:00,1\n12:00:00,1\n12:00:01,2\n12:00:01,3\n12:00:02,4\n"
		   "12:00:02,5\n");
	check_rows(t, "power", 6, ARRAY(43200, 43200.5, 43201, 43201.5, 43202, 43202.5),
		   ARRAY(1, 1, 2, 3, 4, 5));
	assert_true(noted(t, "3 rows have the time of the row before"));
	ww_trace_close(t);
	/* Only as far as the next row. */
	t = import("t_s,power_W\n0,1\n10,2\n10,3\n10.5,4\n");
	check_rows(t, "power", 4, ARRAY(0, 10, 10.05, 10.5), ARRAY(1, 2, 3, 4));
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps),   cmocka_unit_test(two_columns),
		cmocka_unit_test(zones),    cmocka_unit_test(which_is_the_day),
		cmocka_unit_test(shuffled), cmocka_unit_test(set_back),
		cmocka_unit_test(fold),	    cmocka_unit_test(absurd),
		cmocka_unit_test(repeated)};

	return cmocka_run_group_tests_name("import times", tests, make_folder, remove_folder);
}
