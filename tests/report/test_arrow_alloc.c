/* SPDX-License-Identifier: MIT */
/* Each allocation of an Arrow stream fails once, before it is given away and after. */
#include "base/base.h"

static int left = -1;

static bool fails(void)
{
	return left >= 0 && left-- == 0;
}

#include "../trace/common.h"
#include "../failalloc.h"
#include "report/arrowabi.h"

#define ROWS 300

static struct ww_trace *make(void)
{
	struct ww_anchor a = {.boot_ns = 1000, .mono_ns = 1000, .real_ns = 5000};
	struct ww_writer *w;
	struct ww_trace *t;
	uint32_t meter;

	OK(ww_writer_open(at("arrow.wwt"), NULL, &w, err));
	OK(ww_writer_anchor(w, &a, err));
	meter = add_meter(w, "meter", 2);
	for (int64_t i = 0; i < ROWS; i++)
		OK(ww_writer_samples(w, meter, 1, &(int64_t){1000 + i}, &(int64_t){1001 + i},
				     (int64_t[]){i, i % 3 ? i : WW_MISSING}, err));
	OK(ww_writer_close(w, err));
	OK(ww_trace_open(at("arrow.wwt"), &t, err));
	return t;
}

/* The consumer's side: what the stream says of itself when memory ends. */
static void consume(struct ArrowArrayStream *s)
{
	struct ArrowSchema schema;
	struct ArrowArray a;

	left = 0;
	assert_int_equal(s->get_schema(s, &schema), ENOMEM);
	assert_string_equal(s->get_last_error(s), "out of memory");
	left = -1;
	assert_int_equal(s->get_schema(s, &schema), 0);
	schema.release(&schema);
	left = 0;
	assert_int_equal(s->get_next(s, &a), 0); /* nothing more is needed for it */
	left = -1;
	assert_int_equal(a.length, ROWS);
	assert_int_equal(a.children[5]->null_count, ROWS / 3);
	a.release(&a);
	s->release(s);
}

static void test_each(void **state)
{
	struct ww_trace *t = make();
	int n = 0, rc = -ENOMEM;

	(void)state;
	for (; rc < 0; n++) {
		struct ArrowArrayStream s;
		struct ww_error e = {0};

		assert_true(n < 1000);
		left = n;
		rc = ww_trace_arrow(t, (uint32_t[]){1, 2}, 2, WW_TIME_MIN, WW_TIME_MAX, &s, &e);
		left = -1;
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_int_equal(e.code, rc);
		if (rc == 0)
			consume(&s);
		else
			assert_true(e.text[0] && s.release == NULL);
	}
	assert_true(n > 15);
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
