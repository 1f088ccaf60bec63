/* SPDX-License-Identifier: MIT */
/* A channel that is told anew is so in each form of a trace; nobody else is. */
#include "common.h"
#include "trace/writer.h"

static void write_all(struct ww_writer *w)
{
	const struct ww_source_info s = {.kind = WW_METER, .name = "plug", .driver = "tasmota"};
	struct ww_channel_info c = {
		.source = 1, .name = "power", .quantity = "power", .unit = "W", .scale = 0.001};
	struct ww_error e = {0};
	int64_t t = 5000, code = 52000;

	OK(ww_writer_source(w, &s, err));
	c.resolution = 1;
	OK(ww_writer_channel(w, &c, err));
	c.name = "current";
	c.unit = "A";
	OK(ww_writer_channel(w, &c, err));
	OK(ww_writer_samples(w, 1, 1, &t, &t, (int64_t[]){code, 250}, err));
	OK(ww_writer_commit(w, err));
	c.name = "power";
	c.unit = "W";
	c.resolution = 0.1;
	c.id = 1;
	OK(ww_writer_refine(w, &c, err));
	c.id = 3;
	assert_int_equal(ww_writer_refine(w, &c, &e), -EINVAL);
	assert_non_null(strstr(e.text, "there is no channel 3"));
	t++;
	OK(ww_writer_samples(w, 1, 1, &t, &t, (int64_t[]){code, 250}, err));
}

static void test_forms(void **state)
{
	(void)state;
	for (int form = WW_FORM_FILE; form <= WW_FORM_BINARY; form++) {
		const char *name = form == WW_FORM_FILE ? "a.wwt" : form == 1 ? "a.jsonl" : "a.bin";
		struct ww_writer_options o = {.size = sizeof(o), .form = form, .fd = -1};
		struct ww_writer *w;
		struct ww_trace *t;

		if (form != WW_FORM_FILE)
			o.fd = open(at(name), O_RDWR | O_CREAT, 0644);
		OK(ww_writer_open(form == WW_FORM_FILE ? at(name) : NULL, &o, &w, err));
		write_all(w);
		OK(ww_writer_close(w, err));
		OK(ww_trace_open(at(name), &t, err));
		assert_int_equal(ww_trace_channel_count(t), 2);
		assert_true(ww_trace_channel(t, 0)->resolution == 0.1);
		assert_true(ww_trace_channel(t, 1)->resolution == 1);
		assert_true(ww_trace_channel(t, 0)->scale == 0.001);
		assert_string_equal(ww_trace_channel(t, 0)->name, "power");
		assert_int_equal(ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL), 2);
		ww_trace_close(t);
		if (o.fd >= 0)
			close(o.fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
