/* SPDX-License-Identifier: MIT */
/* Each allocation fails once: an error with a sentence, no leak, no crash. */
#include "common.h"

#include <sqlite3.h>
#include <stdbool.h>

static long countdown = -1; /* allocations until one fails, < 0 never */

static bool fails(void)
{
	return countdown >= 0 && countdown-- == 0;
}

#include "../failalloc.h"

static int write_one(const char *path, int form, int fd, struct ww_error *err)
{
	struct ww_writer_options o = {
		.size = sizeof(o), .form = form, .fd = fd, .program = "p", .command = "c"};
	struct ww_source_info s = {.kind = WW_METER, .name = "m"},
			      p = {.kind = WW_SERIAL, .name = "p"};
	struct ww_channel_info c = {.source = 1, .name = "power", .unit = "W", .scale = 0.1};
	struct ww_mark m = {.t = {1, 2}, .kind = "label", .text = "a"};
	struct ww_gap g = {.t = {1, 2}, .source = 1, .lost = 1, .reason = "r"};
	int64_t lo = 5, hi = 6, code = 7;
	struct ww_writer *w;
	int rc = ww_writer_open(path, &o, &w, err), end;

	if (rc < 0)
		return rc;
	rc = ww_writer_source(w, &s, err);
	rc = rc < 0 ? rc : ww_writer_source(w, &p, err);
	s.id = 1;
	rc = rc < 0 ? rc : ww_writer_update_source(w, &s, err);
	rc = rc < 0 ? rc : ww_writer_channel(w, &c, err);
	rc = rc < 0 ? rc : ww_writer_samples(w, 1, 1, &lo, &hi, &code, err);
	rc = rc < 0 ? rc
		    : ww_writer_bytes(w, 2, (struct ww_interval){1, 2}, (const uint8_t *)"x", 1,
				      err);
	rc = rc < 0 ? rc : ww_writer_mark(w, &m, err);
	rc = rc < 0 ? rc : ww_writer_gap(w, &g, err);
	end = ww_writer_close(w, err);
	return rc < 0 ? rc : end;
}

static int read_one(const char *path, struct ww_error *err)
{
	struct ww_export_options o = {.size = sizeof(o), .redact = 1};
	struct ww_trace *t;
	char *text = NULL;
	int64_t v = ww_trace_open(path, &t, err);
	double d;
	int fd = open("/dev/null", O_WRONLY);

	if (v < 0) {
		close(fd);
		return (int)v;
	}
	v = ww_trace_rows(t, 1, 0, 10, err);
	v = v < 0 ? v : ww_trace_read(t, 1, 0, 10, 1, NULL, NULL, &d, err);
	for (o.what = 0; v >= 0 && o.what <= WW_EXPORT_GAPS; o.what++)
		v = ww_export(t, &o, fd, err);
	for (int form = 0; v >= 0 && form < 2; form++) {
		v = ww_info_report(t, form, &text, err);
		ww_free(v < 0 ? NULL : text);
	}
	close(fd);
	ww_trace_close(t);
	return v < 0 ? (int)v : 0;
}

/* @return whether the allocation number i was reached, and so failed */
static bool one_round(long i, int form, const char *path, bool reading)
{
	struct ww_error why = {0};
	int fd = -1, rc;
	bool reached;

	if (!reading && form != WW_FORM_FILE)
		fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0644);
	countdown = i;
	rc = reading ? read_one(path, &why) : write_one(path, form, fd, &why);
	reached = countdown < 0;
	countdown = -1;
	if (fd >= 0)
		close(fd);
	if (!reached) {
		if (rc < 0)
			fail_msg("%s", why.text);
	} else if (rc < 0) {
		/* One that only spoils an extra, such as the watch on the disk, is no error. */
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(why.code, -ENOMEM);
	}
	return reached;
}

static void test_each(void **state)
{
	static const char *const names[] = {"a.wwt", "a.jsonl", "a.bin"};

	(void)state;
	for (int form = 0; form < 3; form++) {
		long i = 0;

		while (unlink(at(names[form])), one_round(i, form, at(names[form]), false))
			i++;
		assert_true(i > 10);
		for (i = 0; one_round(i, form, at(names[form]), true);)
			i++;
		assert_true(i > 10);
	}
}

/* @return 0: everything that should be told was told */
static int read_damaged(const char *path, struct ww_error *err)
{
	struct ww_export_options o = {.size = sizeof(o)};
	struct ww_trace *t;
	char *text = NULL;
	int fd, rc = ww_trace_open(path, &t, err);
	int64_t n;

	if (rc < 0)
		return rc;
	assert_int_equal(ww_trace_gap_count(t), 2);
	assert_non_null(ww_trace_warning(t, 0));
	fd = open("/dev/null", O_WRONLY);
	n = ww_export(t, &o, fd, err);
	close(fd);
	if (n == -EBADMSG) {
		ww_error_clear(err);
		n = ww_info_report(t, WW_REPORT_TEXT, &text, err);
		ww_free(n < 0 ? NULL : text);
	}
	ww_trace_close(t);
	return (int)n;
}

static void test_damaged(void **state)
{
	const char *path = at("damaged.wwt");
	sqlite3 *db;
	bool more = true;

	(void)state;
	OK(write_one(path, WW_FORM_FILE, -1, err));
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE block SET data = x'01' WHERE source = 1", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
	for (long i = 0; more; i++) {
		struct ww_error why = {0};
		int rc;

		countdown = i;
		rc = read_damaged(path, &why);
		more = countdown < 0;
		countdown = -1;
		if (rc < 0 && (!more || rc != -ENOMEM))
			fail_msg("%ld: %d: %s", i, rc, why.text);
		assert_true(more || i > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_each),
					   cmocka_unit_test(test_damaged)};

	return cmocka_run_group_tests_name("trace allocations", tests, make_folder, remove_folder);
}
