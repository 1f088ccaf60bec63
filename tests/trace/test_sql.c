/* SPDX-License-Identifier: MIT */
/* ww_samples() in SQL, by SQLite's own way of loading extensions. */
#include "common.h"

#include <sqlite3.h>

int sqlite3_wakewatt_init(sqlite3 *db, char **message, const void *api);

static sqlite3 *db;

static int set_up(void **state)
{
	struct ww_writer *w;
	static int64_t lo[9000], hi[9000], codes[9000][2];

	if (make_folder(state) != 0)
		return -1;
	OK(ww_writer_open(at("s.wwt"), NULL, &w, err));
	add_meter(w, "meter", 2);
	add_serial(w, "port", 0);
	for (int64_t i = 0; i < 9000; i++) {
		lo[i] = i * 10;
		hi[i] = i * 10 + 4;
		codes[i][0] = 249;
		codes[i][1] = i % 2 ? WW_MISSING : i;
	}
	OK(ww_writer_samples(w, 1, 9000, lo, hi, codes[0], err));
	OK(ww_writer_close(w, err));
	sqlite3_auto_extension((void (*)(void))sqlite3_wakewatt_init);
	return sqlite3_open_v2(at("s.wwt"), &db, SQLITE_OPEN_READONLY, NULL);
}

static int tear_down(void **state)
{
	sqlite3_close(db);
	return remove_folder(state);
}

/* The one row of a query as text, or the error. */
static const char *ask(const char *sql)
{
	static char answer[256];
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW) {
		const char *text = (const char *)sqlite3_column_text(st, 0);

		snprintf(answer, sizeof(answer), "%s", text ? text : "NULL");
	} else {
		snprintf(answer, sizeof(answer), "%s", sqlite3_errmsg(db));
	}
	sqlite3_finalize(st);
	return answer;
}

static void test_function(void **state)
{
	(void)state;
	assert_string_equal(ask("SELECT count(*) FROM ww_samples('meter')"), "18000");
	assert_string_equal(ask("SELECT value FROM ww_samples('meter') WHERE channel='c0'"),
			    "24.9");
	assert_string_equal(ask("SELECT t FROM ww_samples('meter') LIMIT 1 OFFSET 2"), "12");
	assert_string_equal(ask("SELECT max(hi) FROM ww_samples('meter')"), "89994");
	assert_string_equal(ask("SELECT count(*) FROM ww_samples('meter') WHERE channel='c1'"
				" AND value IS NULL"),
			    "4500");
	assert_string_equal(ask("SELECT max(value) || unit FROM ww_samples('meter')"
				" WHERE channel='c1'"),
			    "8.998W");
	/* Joined with the tables beside it. */
	assert_string_equal(ask("SELECT count(*) FROM source, ww_samples(source.name)"
				" WHERE kind = 0"),
			    "18000");
}

static void test_errors(void **state)
{
	(void)state;
	assert_string_equal(ask("SELECT * FROM ww_samples('no')"),
			    "ww_samples: there is no source of that name");
	assert_string_equal(ask("SELECT * FROM ww_samples('port')"),
			    "ww_samples: that source gives bytes, not samples");
	assert_string_equal(ask("SELECT * FROM ww_samples"),
			    "ww_samples: name a source: ww_samples('meter')");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_function),
					   cmocka_unit_test(test_errors)};

	return cmocka_run_group_tests_name("sql", tests, set_up, tear_down);
}
