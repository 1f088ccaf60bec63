/* SPDX-License-Identifier: MIT */
/* What is written comes back: values, times, descriptions, windows, followers. */
#include "common.h"

#include <math.h>
#include <sqlite3.h>

#define ROWS 20000

struct rows {
	int64_t lo[ROWS], hi[ROWS], code[ROWS][2];
};

static struct rows in;

/* Values that a meter, a bug or an enemy could bring. */
static void make_rows(uint64_t seed)
{
	static const int64_t odd[] = {0,	1,	   -1,		WW_MISSING, WW_OVER,
				      WW_UNDER, INT64_MAX, WW_CODE_MIN, -INT64_MAX, 255,
				      256,	65535,	   65536,	INT32_MAX,  INT64_MIN + 15};
	int64_t hi = 1000;

	for (size_t i = 0; i < ROWS; i++) {
		uint64_t r = next_random(&seed);

		hi += (int64_t)(r % 5 == 0 ? 0 : r % 2000000);
		in.hi[i] = hi;
		in.lo[i] = r % 977 == 0 ? WW_TIME_MIN : hi - (int64_t)(r >> 50);
		in.code[i][0] = 1000 + (int64_t)(r >> 40 & 15);
		in.code[i][1] = r % 7 == 0 ? odd[(r >> 8) % 15] : 500 + (int64_t)(r >> 20 & 3);
	}
}

/* Read all through a cursor and compare with what was written, from row `from` on. */
static size_t compare(struct ww_cursor *c, size_t from)
{
	struct ww_error err = {0};
	struct ww_batch b;
	int rc;

	while ((rc = ww_cursor_next(c, &b, &err)) > 0) {
		assert_int_equal(b.channels, 2);
		for (size_t i = 0; i < b.n; i++, from++) {
			assert_int_equal(b.lo_ns[i], in.lo[from]);
			assert_int_equal(b.hi_ns[i], in.hi[from]);
			assert_int_equal(b.codes[0][i], in.code[from][0]);
			assert_int_equal(b.codes[1][i], in.code[from][1]);
		}
	}
	if (rc < 0)
		fail_msg("%s", err.text);
	return from;
}

/* Write rows in steps, committing after each. */
static void write_rows(struct ww_writer *w, uint32_t id, size_t from, size_t to, size_t step)
{
	for (size_t i = from; i < to; i += step) {
		size_t n = i + step < to ? step : to - i;

		OK(ww_writer_samples(w, id, n, in.lo + i, in.hi + i, in.code[i], err));
		OK(ww_writer_commit(w, err));
	}
}

static void test_values(void **state)
{
	static const size_t steps[] = {20000, 8192, 7001, 333};

	(void)state;
	make_rows(7);
	for (size_t k = 0; k < 4; k++) {
		struct ww_writer *w;
		struct ww_trace *t;
		struct ww_cursor *c;
		char name[16];

		snprintf(name, sizeof(name), "v%zu.wwt", k);
		OK(ww_writer_open(at(name), NULL, &w, err));
		assert_int_equal(add_meter(w, "meter", 2), 1);
		write_rows(w, 1, 0, ROWS, steps[k]);
		OK(ww_writer_close(w, err));
		assert_int_equal(access(at("v0.wwt-wal"), F_OK), -1);
		OK(ww_trace_open(at(name), &t, err));
		assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
		OK(ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
		assert_int_equal(compare(c, 0), ROWS);
		ww_cursor_close(c);
		assert_int_equal(ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL), ROWS);
		assert_int_equal(ww_trace_refresh(t, NULL), 0);
		ww_trace_close(t);
	}
}

/* Rows that touch a window, counted here and by the library. */
static void test_windows(void **state)
{
	struct ww_trace *t;
	uint64_t seed = 99;

	(void)state;
	OK(ww_trace_open(at("v2.wwt"), &t, err));
	for (int k = 0; k < 60; k++) {
		int64_t a = in.hi[next_random(&seed) % ROWS] + k % 3 - 1;
		int64_t b = k % 4 == 0 ? a : a + (int64_t)(next_random(&seed) % 3000000000u);
		size_t n = 0, got;
		static int64_t lo[ROWS], hi[ROWS];
		static double v[ROWS];

		if (k == 0)
			b = WW_TIME_MAX;
		got = (size_t)ww_trace_read(t, 1, a, b, ROWS, lo, hi, v, NULL);
		for (size_t i = 0; i < ROWS; i++) {
			if (in.hi[i] < a || in.lo[i] > b)
				continue;
			assert_true(n < got);
			assert_int_equal(hi[n], in.hi[i]);
			assert_int_equal(lo[n], in.lo[i]);
			assert_true(v[n] == (double)in.code[i][0] / 10);
			n++;
		}
		assert_int_equal(n, got);
		assert_int_equal(ww_trace_rows(t, 1, a, b, NULL), n);
	}
	ww_trace_close(t);
}

static void test_describes(void **state)
{
	struct ww_source_info s = {.kind = WW_METER,
				   .name = "mètre",
				   .uri = "wattsup:/dev/ttyUSB0",
				   .driver = "wattsup",
				   .period_ns = 1000000000,
				   .window_ns = 1,
				   .delay_min_ns = 2,
				   .delay_max_ns = 3,
				   .role = "r",
				   .transport = {"ftdi", 4, 5, 6, "baud=115200"}};
	struct ww_channel_info c = {.source = 1,
				    .name = "power",
				    .quantity = "power",
				    .unit = "W",
				    .semantics = WW_HOLD,
				    .scale = 0.1,
				    .offset = -3,
				    .resolution = 0.1,
				    .acc_abs = NAN,
				    .acc_rel = 0.015,
				    .wrap = 65536};
	struct ww_mark m = {
		.t = {5, 9}, .source = 1, .cycle = 3, .kind = "label", .text = "a\nb\"c"};
	struct ww_gap g = {.t = {6, WW_TIME_MAX}, .source = 1, .lost = -1, .reason = "unplugged"};
	struct ww_anchor a = {100, 90, 1700000000000000000, 50, 0, -12, 7};
	const struct ww_source_info *s2;
	const struct ww_channel_info *c2;
	struct ww_writer *w;
	struct ww_trace *t;
	int64_t real;

	(void)state;
	OK(ww_writer_open(at("d.wwt"), NULL, &w, err));
	OK(ww_writer_source(w, &s, err));
	OK(ww_writer_channel(w, &c, err));
	s.id = 1;
	s.model = "PRO";
	OK(ww_writer_update_source(w, &s, err));
	OK(ww_writer_mark(w, &m, err));
	OK(ww_writer_gap(w, &g, err));
	OK(ww_writer_anchor(w, &a, err));
	OK(ww_writer_meta(w, "bench.kernel", "6.1", err));
	OK(ww_writer_meta(w, "bench.kernel", "6.2", err));
	OK(ww_writer_close(w, err));
	OK(ww_trace_open(at("d.wwt"), &t, err));
	s2 = ww_trace_source(t, 0);
	assert_string_equal(s2->name, "mètre");
	assert_string_equal(s2->model, "PRO");
	assert_string_equal(s2->serial, "");
	assert_string_equal(s2->role, "r");
	assert_int_equal(s2->delay_max_ns, 3);
	assert_string_equal(s2->transport.name, "ftdi");
	assert_int_equal(s2->transport.char_ns, 6);
	assert_string_equal(s2->transport.settings, "baud=115200");
	assert_null(ww_trace_source(t, 1));
	c2 = ww_trace_channel(t, 0);
	assert_true(c2->offset == -3 && c2->wrap == 65536 && isnan(c2->acc_abs));
	assert_int_equal(c2->semantics, WW_HOLD);
	assert_string_equal(ww_trace_mark(t, 0)->text, "a\nb\"c");
	assert_int_equal(ww_trace_mark(t, 0)->cycle, 3);
	assert_int_equal(ww_trace_gap(t, 0)->t.hi_ns, WW_TIME_MAX);
	assert_int_equal(ww_trace_anchor(t, 0)->adj_freq_ppb, -12);
	assert_string_equal(ww_trace_meta(t, "bench.kernel"), "6.2");
	assert_null(ww_trace_meta(t, "no"));
	assert_int_equal(ww_trace_span(t).lo_ns, 5);
	assert_int_equal(ww_trace_span(t).hi_ns, 9);
	assert_int_equal(ww_trace_wall(t, 150, &real), 0);
	assert_int_equal(real, 1700000000000000050);
	ww_trace_close(t);
}

/* A device that came back with another pace: its bytes keep only what is sure. */
static void test_pace_that_changed(void **state)
{
	struct ww_source_info s = {.kind = WW_SERIAL, .name = "port", .transport.char_ns = 100};
	struct ww_batch b;
	struct ww_writer *w;
	struct ww_cursor *c;
	struct ww_trace *t;

	(void)state;
	for (int change = 0; change < 2; change++) {
		const char *path = change ? at("p1.wwt") : at("p0.wwt");

		s.transport.char_ns = 100;
		OK(ww_writer_open(path, NULL, &w, err));
		s.id = 1;
		OK(ww_writer_source(w, &s, err));
		OK(ww_writer_bytes(w, s.id, (struct ww_interval){1000, 2000},
				   (const uint8_t *)"abc", 3, err));
		s.transport.char_ns = change ? 50 : 100;
		OK(ww_writer_update_source(w, &s, err));
		OK(ww_writer_close(w, err));
		OK(ww_trace_open(path, &t, err));
		OK(ww_cursor_open(t, s.id, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
		OK(ww_cursor_next(c, &b, err));
		assert_int_equal(b.n, 3);
		assert_int_equal(b.lo_ns[2], change ? 1000 : 1200);
		assert_int_equal(b.hi_ns[0], change ? 2000 : 1800);
		ww_cursor_close(c);
		ww_trace_close(t);
	}
}

static void expect_refused(int rc, struct ww_error *err, const char *words)
{
	assert_int_equal(rc, -EINVAL);
	if (!strstr(err->text, words))
		fail_msg("'%s' does not say '%s'", err->text, words);
	ww_error_clear(err);
}

static void test_refuses(void **state)
{
	struct ww_error why = {0};
	struct ww_source_info s = {.kind = WW_METER, .name = "meter"};
	struct ww_channel_info c = {.source = 1, .name = "x"};
	struct ww_writer_options opt = {0};
	int64_t lo[2] = {5, 6}, hi[2] = {9, 8}, codes[2] = {1, 2};
	struct ww_writer *w;

	(void)state;
	OK(ww_writer_open(at("r.wwt"), NULL, &w, err));
	assert_int_equal(ww_writer_open(at("r.wwt"), NULL, &w, &why), -EEXIST);
	assert_non_null(strstr(why.text, "r.wwt exists already"));
	ww_error_clear(&why);
	assert_int_equal(ww_writer_open(at("r2.wwt"), &opt, &w, &why), -EINVAL);
	ww_error_clear(&why);
	assert_int_equal(ww_writer_open(at("no/r.wwt"), NULL, &w, &why), -ENOENT);
	ww_error_clear(&why);
	add_meter(w, "meter", 1);
	expect_refused(ww_writer_source(w, &s, &why), &why, "two sources");
	expect_refused(ww_writer_samples(w, 1, 2, lo, hi, codes, &why), &why, "time falls");
	lo[0] = 10;
	expect_refused(ww_writer_samples(w, 1, 1, lo, hi, codes, &why), &why, "reversed");
	lo[0] = 5;
	OK(ww_writer_samples(w, 1, 1, lo, hi, codes, err));
	expect_refused(ww_writer_samples(w, 1, 1, lo + 1, hi + 1, codes, &why), &why, "time falls");
	expect_refused(ww_writer_channel(w, &c, &why), &why, "after its first samples");
	expect_refused(ww_writer_bytes(w, 1, (struct ww_interval){9, 9}, (uint8_t *)"x", 1, &why),
		       &why, "not bytes");
	expect_refused(ww_writer_samples(w, 2, 1, lo, hi, codes, &why), &why, "no source 2");
	OK(ww_writer_close(w, err));
}

/* A cursor goes on in a tail that grows, and sees nothing before a refresh. */
static void test_follow(void **state)
{
	struct ww_writer *w;
	struct ww_trace *t;
	struct ww_cursor *c;
	size_t seen = 0;

	(void)state;
	OK(ww_writer_open(at("f.wwt"), NULL, &w, err));
	add_meter(w, "meter", 2);
	OK(ww_writer_commit(w, err));
	OK(ww_trace_open(at("f.wwt"), &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_LIVE);
	assert_true(ww_trace_fd(t) >= 0);
	OK(ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
	for (size_t i = 0; i < ROWS; i += 1777) {
		size_t end = i + 1777 < ROWS ? i + 1777 : ROWS;

		write_rows(w, 1, i, end, 500);
		assert_int_equal(compare(c, seen), seen);
		assert_int_equal(ww_trace_refresh(t, NULL), 1);
		assert_int_equal(ww_trace_refresh(t, NULL), 0);
		seen = compare(c, seen);
		assert_int_equal(seen, end);
	}
	OK(ww_writer_close(w, err));
	assert_int_equal(ww_trace_refresh(t, NULL), 1);
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	assert_int_equal(compare(c, seen), seen);
	ww_cursor_close(c);
	ww_trace_close(t);
	/* The writer could not wait for a follower in its own thread; the next opening mends. */
	OK(ww_trace_open(at("f.wwt"), &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_CLOSED);
	OK(ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
	assert_int_equal(compare(c, 0), ROWS);
	ww_cursor_close(c);
	ww_trace_close(t);
	assert_int_equal(access(at("f.wwt-wal"), F_OK), -1);
}

/* Bytes: each its own interval, narrowed where the line's pace is known. */
static void test_bytes(void **state)
{
	static uint8_t data[70000];
	struct ww_writer *w;
	struct ww_trace *t;
	struct ww_cursor *c;
	struct ww_batch b;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	OK(ww_writer_open(at("b.wwt"), NULL, &w, err));
	add_serial(w, "port", 100);
	OK(ww_writer_bytes(w, 1, (struct ww_interval){1000, 2000}, data, 3, err));
	OK(ww_writer_bytes(w, 1, (struct ww_interval){2000, 2100}, data + 3, 4, err));
	OK(ww_writer_bytes(w, 1, (struct ww_interval){3000, 9000}, data + 7, 69993, err));
	OK(ww_writer_close(w, err));
	OK(ww_trace_open(at("b.wwt"), &t, err));
	assert_int_equal(ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL), 70000);
	assert_int_equal(ww_trace_rows(t, 1, 1901, 2000, NULL), 1 + 4);
	OK(ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
	while (ww_cursor_next(c, &b, NULL) > 0) {
		assert_int_equal(b.channels, 0);
		for (size_t i = 0; i < b.n; i++, n++) {
			assert_int_equal(b.data[i], data[n]);
			if (n < 3) {
				assert_int_equal(b.lo_ns[i], 1000 + (int64_t)n * 100);
				assert_int_equal(b.hi_ns[i], 2000 - (2 - (int64_t)n) * 100);
			} else if (n < 7) { /* too tight for its pace: the sure interval */
				assert_int_equal(b.lo_ns[i], 2000);
				assert_int_equal(b.hi_ns[i], 2100);
			}
		}
	}
	assert_int_equal(n, 70000);
	ww_cursor_close(c);
	OK(ww_cursor_open(t, 1, 0, 2000, WW_CURSOR_SURE, &c, err));
	assert_int_equal(ww_cursor_next(c, &b, NULL), 1);
	assert_int_equal(b.n, 7);
	assert_int_equal(b.lo_ns[2], 1000);
	ww_cursor_close(c);
	ww_trace_close(t);
}

static void test_kinds(void **state)
{
	static const struct {
		const char *name, *content, *words;
	} files[] = {{"empty", "", "an empty file"},
		     {"text", "hello\n", "a text file"},
		     {"gz", "\x1f\x8b\x08 xxxxxxxxxxxxxxxxxxxx", "a gzip file"}};
	struct ww_trace *t;
	sqlite3 *db;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct ww_error why = {0};
		FILE *f = fopen(at(files[i].name), "w");

		fputs(files[i].content, f);
		fclose(f);
		expect_refused(ww_trace_open(at(files[i].name), &t, &why), &why, files[i].words);
	}
	struct ww_error why = {0};

	assert_int_equal(ww_trace_open(at("none"), &t, &why), -ENOENT);
	ww_error_clear(&why);
	assert_int_equal(ww_trace_open(folder, &t, &why), -EISDIR);
	ww_error_clear(&why);
	sqlite3_open(at("other.db"), &db);
	sqlite3_exec(db, "CREATE TABLE x(y)", NULL, NULL, NULL);
	sqlite3_close(db);
	expect_refused(ww_trace_open(at("other.db"), &t, &why), &why, "of another program");
	sqlite3_open(at("d.wwt"), &db);
	sqlite3_exec(db, "PRAGMA user_version=7", NULL, NULL, NULL);
	sqlite3_close(db);
	expect_refused(ww_trace_open(at("d.wwt"), &t, &why), &why, "a newer one is needed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	  cmocka_unit_test(test_windows),
		cmocka_unit_test(test_describes), cmocka_unit_test(test_pace_that_changed),
		cmocka_unit_test(test_refuses),	  cmocka_unit_test(test_follow),
		cmocka_unit_test(test_bytes),	  cmocka_unit_test(test_kinds)};

	return cmocka_run_group_tests_name("trace", tests, make_folder, remove_folder);
}
