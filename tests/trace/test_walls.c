/* SPDX-License-Identifier: MIT */
/* The wall clock of many moments: each by the nearest anchor at or before it, in any order. */
#include "common.h"

static struct ww_trace *make(const char *name, const struct ww_anchor *a, size_t n)
{
	struct ww_mark m = {.t = {100, 900}, .kind = "label", .text = ""};
	struct ww_writer *w;
	struct ww_trace *t;

	OK(ww_writer_open(at(name), NULL, &w, err));
	for (size_t i = 0; i < n; i++)
		OK(ww_writer_anchor(w, &a[i], err));
	OK(ww_writer_mark(w, &m, err));
	OK(ww_writer_close(w, err));
	OK(ww_trace_open(at(name), &t, err));
	return t;
}

/* The clock is set forward by 1000 between the first two anchors, then back; one comes late. */
static const struct ww_anchor ANCHOR[] = {{.boot_ns = 100, .real_ns = 5100},
					  {.boot_ns = 300, .real_ns = 6300},
					  {.boot_ns = 200, .real_ns = 5200},
					  {.boot_ns = 500, .real_ns = 5000}};

static void test_any_order(void **state)
{
	const int64_t boot[] = {350, 100, 499, 0, 300, 299, 500, 250, 10000, -50, 350, 350, 501};
	const int64_t want[] = {6350, 5100,  6499, 5000, 6300, 5299, 5000,
				5250, 14500, 4950, 6350, 6350, 5001};
	struct ww_trace *t = make("order.wwt", ANCHOR, 4);
	int64_t real[13], same[13], one;

	(void)state;
	OK(ww_trace_walls(t, 13, boot, real, err));
	for (size_t i = 0; i < 13; i++) {
		assert_int_equal(real[i], want[i]);
		assert_int_equal(ww_trace_wall(t, boot[i], &one), 0);
		assert_int_equal(one, want[i]);
	}
	memcpy(same, boot, sizeof(same));
	OK(ww_trace_walls(t, 13, same, same, err)); /* in place */
	assert_memory_equal(same, want, sizeof(want));
	OK(ww_trace_walls(t, 0, NULL, NULL, err));
	ww_trace_close(t);
}

static void test_ends_of_the_axis(void **state)
{
	const int64_t boot[] = {WW_TIME_MAX, WW_TIME_MIN, WW_TIME_MAX};
	struct ww_trace *t = make("ends.wwt", ANCHOR, 4);
	int64_t real[3];

	(void)state;
	OK(ww_trace_walls(t, 3, boot, real, err));
	assert_int_equal(real[0], INT64_MAX);
	assert_int_equal(real[1], INT64_MIN + 5000);
	assert_int_equal(real[2], INT64_MAX);
	ww_trace_close(t);
}

static void test_no_anchors(void **state)
{
	struct ww_trace *t = make("none.wwt", NULL, 0);
	int64_t real = 7;
	struct ww_error e = {0};

	(void)state;
	assert_int_equal(ww_trace_walls(t, 1, &(int64_t){5}, &real, &e), -ENODATA);
	assert_int_equal(e.code, -ENODATA);
	assert_non_null(strstr(e.text, "none.wwt: no reading of the wall clock"));
	assert_int_equal(real, 7);
	assert_int_equal(ww_trace_wall(t, 5, &real), -ENODATA);
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_order),
					   cmocka_unit_test(test_ends_of_the_axis),
					   cmocka_unit_test(test_no_anchors)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
