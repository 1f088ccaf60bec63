/* SPDX-License-Identifier: MIT */
/* Samples as an Arrow C stream, taken as a consumer takes them: values, nulls, metadata, release.
 */
#include "../trace/common.h"
#include "report/arrowabi.h"

#include <math.h>
#include <stdbool.h>

#define ROWS  70000 /* more than a batch */
#define BATCH 65536
#define BEGIN INT64_C(5000000000000)
#define STEP  INT64_C(1000000)
#define REAL  INT64_C(1700000000000000000)

static bool missing(int64_t i)
{
	return i % 1000 == 7 || i == 0 || i == ROWS - 1;
}

static uint32_t add_two(struct ww_writer *w)
{
	struct ww_channel_info c = {.name = "power",
				    .quantity = "power",
				    .unit = "W",
				    .semantics = WW_AVERAGE,
				    .scale = 0.1,
				    .resolution = 0.1};
	struct ww_source_info s = {.kind = WW_METER, .name = "meter"};

	OK(ww_writer_source(w, &s, err));
	c.source = 1;
	OK(ww_writer_channel(w, &c, err));
	c = (struct ww_channel_info){.source = 1,
				     .name = "volt",
				     .quantity = "voltage",
				     .unit = "V",
				     .semantics = WW_INSTANT,
				     .scale = 0.001,
				     .offset = 5};
	OK(ww_writer_channel(w, &c, err));
	return 1;
}

/* Two meters; the first one's rows, a ms apart, arrive within 20 ns. */
static struct ww_trace *make(const char *name, bool wall)
{
	struct ww_anchor a = {.boot_ns = BEGIN, .mono_ns = BEGIN, .real_ns = REAL};
	struct ww_writer *w;
	struct ww_trace *t;
	uint32_t meter, other;

	OK(ww_writer_open(at(name), NULL, &w, err));
	if (wall)
		OK(ww_writer_anchor(w, &a, err));
	meter = add_two(w);
	other = add_meter(w, "other", 1);
	for (int64_t i = 0; i < ROWS; i++) {
		int64_t lo = BEGIN + i * STEP, hi = lo + 20;
		int64_t codes[] = {missing(i) ? WW_MISSING : i % 500, 225000 + i};

		OK(ww_writer_samples(w, meter, 1, &lo, &hi, codes, err));
	}
	OK(ww_writer_samples(w, other, 1, &(int64_t){BEGIN + 5}, &(int64_t){BEGIN + 5},
			     &(int64_t){1}, err));
	OK(ww_writer_close(w, err));
	OK(ww_trace_open(at(name), &t, err));
	return t;
}

static void check_child(const struct ArrowSchema *s, const char *name, const char *format,
			int64_t flags)
{
	assert_string_equal(s->name, name);
	assert_string_equal(s->format, format);
	assert_int_equal(s->flags, flags);
	assert_int_equal(s->n_children, 0);
	assert_null(s->dictionary);
	assert_non_null(s->release);
}

/* A list of pairs as the interface packs it: counts and lengths of 32 bits, no NUL. */
static void check_metadata(const char *have, int pairs, const char *const *word)
{
	int32_t n;

	assert_non_null(have);
	memcpy(&n, have, sizeof(n));
	assert_int_equal(n, pairs);
	have += sizeof(n);
	for (int i = 0; i < 2 * pairs; i++) {
		memcpy(&n, have, sizeof(n));
		assert_int_equal(n, strlen(word[i]));
		assert_memory_equal(have + sizeof(n), word[i], (size_t)n);
		have += sizeof(n) + (size_t)n;
	}
}

static void test_schema(void **state)
{
	struct ww_trace *t = make("schema.wwt", true);
	struct ArrowArrayStream s;
	struct ArrowSchema all, kept;

	(void)state;
	OK(ww_trace_arrow(t, (uint32_t[]){1, 2}, 2, WW_TIME_MIN, WW_TIME_MAX, &s, err));
	ww_trace_close(t); /* the stream lives longer */
	assert_int_equal(s.get_schema(&s, &all), 0);
	s.release(&s);
	assert_null(s.release);
	/* The schema lives longer than the stream, too. */
	assert_string_equal(all.format, "+s");
	assert_int_equal(all.n_children, 6);
	check_child(all.children[0], "time", "tsn:UTC", 0);
	check_child(all.children[1], "t_s", "g", 0);
	check_child(all.children[2], "lo_ns", "l", 0);
	check_child(all.children[3], "hi_ns", "l", 0);
	check_child(all.children[4], "power", "g", ARROW_FLAG_NULLABLE);
	check_child(all.children[5], "volt", "g", ARROW_FLAG_NULLABLE);
	check_metadata(all.children[1]->metadata, 1, (const char *[]){"unit", "s"});
	check_metadata(all.children[4]->metadata, 4,
		       (const char *[]){"unit", "W", "quantity", "power", "semantics", "average",
					"resolution", "0.1"});
	/* A child that was moved out outlives its parent. */
	kept = *all.children[5];
	all.children[5]->release = NULL;
	all.release(&all);
	assert_null(all.release);
	check_metadata(kept.metadata, 3,
		       (const char *[]){"unit", "V", "quantity", "voltage", "semantics",
					"instant"});
	kept.release(&kept);
	assert_null(kept.release);
}

static void check_rows(const struct ArrowArray *a, int64_t first)
{
	const int64_t *time = a->children[0]->buffers[1], *lo = a->children[2]->buffers[1],
		      *hi = a->children[3]->buffers[1];
	const double *t_s = a->children[1]->buffers[1], *power = a->children[4]->buffers[1],
		     *volt = a->children[5]->buffers[1];
	const uint8_t *valid = a->children[4]->buffers[0];
	int64_t nulls = 0;

	for (int64_t k = 0; k < a->length; k++) {
		int64_t i = first + k;

		assert_int_equal(lo[k], BEGIN + i * STEP);
		assert_int_equal(hi[k], lo[k] + 20);
		assert_int_equal(time[k], REAL + i * STEP + 10);
		assert_true(fabs(t_s[k] - ((double)i * 1e-3 + 10e-9)) < 1e-11);
		assert_true(fabs(volt[k] - (230 + (double)i * 1e-3)) < 1e-9);
		assert_int_equal(valid[k / 8] >> (k % 8) & 1, !missing(i));
		nulls += missing(i);
		if (!missing(i))
			assert_true(fabs(power[k] - (double)(i % 500) * 0.1) < 1e-12);
	}
	assert_int_equal(a->children[4]->null_count, nulls);
	assert_int_equal(a->children[5]->null_count, 0);
	assert_null(a->children[5]->buffers[0]); /* none is missing: no bitmap */
}

static void test_rows(void **state)
{
	struct ww_trace *t = make("rows.wwt", true);
	struct ArrowArrayStream s;
	struct ArrowArray a[3], moved;

	(void)state;
	OK(ww_trace_arrow(t, (uint32_t[]){1, 2}, 2, WW_TIME_MIN, WW_TIME_MAX, &s, err));
	ww_trace_close(t);
	for (int i = 0; i < 3; i++)
		assert_int_equal(s.get_next(&s, &a[i]), 0);
	assert_null(a[2].release); /* the end */
	assert_int_equal(s.get_next(&s, &a[2]), 0);
	assert_null(a[2].release);
	s.release(&s);
	assert_int_equal(a[0].length, BATCH);
	assert_int_equal(a[1].length, ROWS - BATCH);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(a[i].n_children, 6);
		assert_int_equal(a[i].n_buffers, 1);
		assert_null(a[i].buffers[0]);
		assert_int_equal(a[i].null_count, 0);
		for (int k = 0; k < 6; k++)
			assert_int_equal(a[i].children[k]->length, a[i].length);
		check_rows(&a[i], i * BATCH);
	}
	/* Any order: the first batch goes last but one, a child that was moved out last of all. */
	a[1].release(&a[1]);
	moved = *a[0].children[4];
	a[0].children[4]->release = NULL;
	a[0].release(&a[0]);
	assert_null(a[0].release);
	assert_true(((const double *)moved.buffers[1])[2] == 0.2);
	moved.release(&moved);
	assert_null(moved.release);
}

/* Half-taken streams leave nothing behind: the sanitizers see it. */
static void test_half(void **state)
{
	struct ww_trace *t = make("half.wwt", true);
	struct ArrowArrayStream s;
	struct ArrowArray a;

	(void)state;
	OK(ww_trace_arrow(t, (uint32_t[]){2}, 1, WW_TIME_MIN, WW_TIME_MAX, &s, err));
	assert_int_equal(s.get_next(&s, &a), 0);
	s.release(&s);
	assert_int_equal(a.n_children, 5);
	assert_true(fabs(((const double *)a.children[4]->buffers[1])[9] - 230.009) < 1e-9);
	a.release(&a);
	OK(ww_trace_arrow(t, (uint32_t[]){2}, 1, WW_TIME_MIN, WW_TIME_MAX, &s, err));
	s.release(&s);
	ww_trace_close(t);
}

static void test_stretch(void **state)
{
	struct ww_trace *t = make("stretch.wwt", false);
	struct ArrowArrayStream s;
	struct ArrowSchema schema;
	struct ArrowArray a;

	(void)state;
	/* From within the interval of row 1 to the beginning of row 3; no wall clock. */
	OK(ww_trace_arrow(t, (uint32_t[]){2, 1}, 2, BEGIN + STEP + 20, BEGIN + 3 * STEP, &s, err));
	assert_int_equal(s.get_schema(&s, &schema), 0);
	assert_int_equal(schema.n_children, 5);
	check_child(schema.children[0], "t_s", "g", 0);
	check_child(schema.children[3], "volt", "g", ARROW_FLAG_NULLABLE);
	check_child(schema.children[4], "power", "g", ARROW_FLAG_NULLABLE);
	schema.release(&schema);
	assert_int_equal(s.get_next(&s, &a), 0);
	assert_int_equal(a.length, 3);
	assert_true(fabs(((const double *)a.children[4]->buffers[1])[0] - 0.1) < 1e-12);
	assert_true(fabs(((const double *)a.children[0]->buffers[1])[2] - 3.00001e-3) < 1e-12);
	a.release(&a);
	s.release(&s);
	/* Nothing there: a schema, no batch. */
	OK(ww_trace_arrow(t, (uint32_t[]){1}, 1, 0, 1, &s, err));
	assert_int_equal(s.get_next(&s, &a), 0);
	assert_null(a.release);
	assert_int_equal(s.get_schema(&s, &schema), 0);
	schema.release(&schema);
	s.release(&s);
	ww_trace_close(t);
}

static void refused(struct ww_trace *t, const uint32_t *channel, size_t n, const char *says)
{
	struct ArrowArrayStream s;
	struct ww_error e = {0};

	memset(&s, 0x55, sizeof(s));
	assert_int_equal(ww_trace_arrow(t, channel, n, WW_TIME_MIN, WW_TIME_MAX, &s, &e), -EINVAL);
	assert_non_null(strstr(e.text, says));
	assert_null(s.release); /* nothing to release */
}

static void test_refused(void **state)
{
	struct ww_trace *t = make("refused.wwt", true);

	(void)state;
	refused(t, NULL, 0, "without channels");
	refused(t, (uint32_t[]){1, 99}, 2, "no channel 99");
	refused(t, (uint32_t[]){1, 3}, 2, "two sources");
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_schema),	cmocka_unit_test(test_rows),
		cmocka_unit_test(test_half),	cmocka_unit_test(test_stretch),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
