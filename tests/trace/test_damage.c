/* SPDX-License-Identifier: MIT */
/*
 * What a damaged block, a lost row of the table or a log that was left behind takes with
 * it: its own rows and nothing else, and the reader is told.
 */
#include "common.h"

#include <sqlite3.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define BLOCK  8192 /* rows of one block */
#define BLOCKS 5
#define ROWS   (BLOCKS * BLOCK - 100)

static void write_trace(const char *path, int64_t rows)
{
	struct ww_writer *w;
	uint64_t seed = 99;

	OK(ww_writer_open(path, NULL, &w, err));
	add_meter(w, "meter", 2);
	add_meter(w, "other", 1);
	add_serial(w, "port", 0);
	for (int64_t i = 0; i < rows; i++) {
		int64_t lo = i * 1000, hi = lo + 500, codes[2] = {i, 0};
		uint8_t byte = (uint8_t)i;

		codes[1] = (int64_t)(next_random(&seed) >> 40);
		OK(ww_writer_samples(w, 1, 1, &lo, &hi, codes, err));
		OK(ww_writer_bytes(w, 3, (struct ww_interval){lo, hi}, &byte, 1, err));
		if (i % 1000 == 0)
			OK(ww_writer_samples(w, 2, 1, &lo, &hi, codes, err));
	}
	OK(ww_writer_close(w, err));
}

static void sql(const char *path, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* Rows of the meter that a cursor gives; each must be one that was written, in order. */
static int64_t count_rows(struct ww_trace *t, int64_t from, int64_t to)
{
	struct ww_cursor *c;
	struct ww_batch b;
	int64_t n = 0, last = -1;
	int rc;

	OK(ww_cursor_open(t, 1, from, to, 0, &c, err));
	while ((rc = ww_cursor_next(c, &b, NULL)) > 0)
		for (size_t i = 0; i < b.n; i++, n++) {
			assert_true(b.codes[0][i] > last);
			last = b.codes[0][i];
			assert_int_equal(b.hi_ns[i], last * 1000 + 500);
		}
	assert_int_equal(rc, 0);
	ww_cursor_close(c);
	return n;
}

static const char harm[] = "UPDATE block SET data = substr(data, 1, 100) || x'00ff00ff' ||"
			   " substr(data, 105) WHERE source = %d AND first / 8192 IN (%s)";

static void test_blocks(void **state)
{
	/* Which blocks, the gap that is expected, in rows: last before, first after. */
	static const struct {
		const char *which;
		int64_t lost, before, after;
	} rows[] = {{"2", BLOCK, 2 * BLOCK - 1, 3 * BLOCK},
		    {"1, 2", 2 * BLOCK, BLOCK - 1, 3 * BLOCK},
		    {"0", BLOCK, -1, BLOCK},
		    {"4", BLOCK - 100, 4 * BLOCK - 1, -1},
		    {"0, 1, 2, 3, 4", ROWS, -1, -1}};
	char text[256];

	(void)state;
	write_trace(at("whole.wwt"), ROWS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = at("harmed.wwt");
		const struct ww_gap *g;
		struct ww_trace *t;

		snprintf(text, sizeof(text), "cp %s %s", at("whole.wwt"), path);
		assert_int_equal(system(text), 0);
		snprintf(text, sizeof(text), harm, 1, rows[i].which);
		sql(path, text);
		OK(ww_trace_open(path, &t, err));
		assert_int_equal(ww_trace_gap_count(t), 1);
		g = ww_trace_gap(t, 0);
		assert_string_equal(g->reason, WW_GAP_DAMAGED);
		assert_int_equal(g->source, 1);
		assert_int_equal(g->lost, rows[i].lost);
		assert_int_equal(g->t.lo_ns, rows[i].before < 0 ? 0 : rows[i].before * 1000 + 500);
		assert_int_equal(g->t.hi_ns, rows[i].after < 0 ? (ROWS - 1) * 1000 + 500
							       : rows[i].after * 1000);
		snprintf(text, sizeof(text), "%lld rows of meter from ", (long long)rows[i].lost);
		assert_memory_equal(ww_trace_warning(t, 0), text, strlen(text));
		assert_null(ww_trace_warning(t, 1));
		assert_int_equal(count_rows(t, WW_TIME_MIN, WW_TIME_MAX), ROWS - rows[i].lost);
		assert_int_equal(ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL),
				 ROWS - rows[i].lost);
		/* The other sources lost nothing. */
		assert_int_equal(ww_trace_rows(t, 2, 0, ROWS * 1000, NULL), (ROWS + 999) / 1000);
		assert_int_equal(ww_trace_rows(t, 3, 0, ROWS * 1000, NULL), ROWS);
		ww_trace_close(t);
	}
}

int sqlite3_wakewatt_init(sqlite3 *db, char **message, const void *api);

/* In SQL a damaged block is one row without a value. */
static void test_sql(void **state)
{
	static const int64_t want[] = {ROWS - BLOCK, 1, 2 * BLOCK * 1000,
				       (3 * BLOCK - 1) * 1000 + 500};
	sqlite3_stmt *st;
	char text[256];
	sqlite3 *db;

	(void)state;
	write_trace(at("sql.wwt"), ROWS);
	snprintf(text, sizeof(text), harm, 1, "2");
	sql(at("sql.wwt"), text);
	sqlite3_auto_extension((void (*)(void))sqlite3_wakewatt_init);
	assert_int_equal(sqlite3_open(at("sql.wwt"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "SELECT count(value), count(*) - count(value),"
					    " max(CASE WHEN value IS NULL THEN lo END),"
					    " max(CASE WHEN value IS NULL THEN hi END)"
					    " FROM ww_samples('meter') WHERE channel = 'c0'",
					    -1, &st, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	for (int i = 0; i < 4; i++)
		assert_int_equal(sqlite3_column_int64(st, i), want[i]);
	sqlite3_finalize(st);
	sqlite3_close(db);
	sqlite3_reset_auto_extension();
}

/* A window that begins or ends in what is lost. */
static void test_windows(void **state)
{
	char text[256];
	struct ww_trace *t;

	(void)state;
	write_trace(at("window.wwt"), ROWS);
	snprintf(text, sizeof(text), harm, 1, "2");
	sql(at("window.wwt"), text);
	OK(ww_trace_open(at("window.wwt"), &t, err));
	assert_int_equal(count_rows(t, (2 * BLOCK + 10) * 1000, (3 * BLOCK + 9) * 1000), 10);
	assert_int_equal(count_rows(t, (2 * BLOCK - 10) * 1000, (2 * BLOCK + 9) * 1000), 10);
	assert_int_equal(count_rows(t, (2 * BLOCK + 1) * 1000, (2 * BLOCK + 9) * 1000), 0);
	assert_int_equal(count_rows(t, (2 * BLOCK - 10) * 1000, (3 * BLOCK + 9) * 1000), 20);
	ww_trace_close(t);
}

/* Bytes, a row of the table that is gone, a row that says something else than its block. */
static void test_other_ways(void **state)
{
	static const struct {
		const char *what;
		uint32_t source;
		int64_t lost, left;
	} rows[] = {{"UPDATE block SET data = x'00' WHERE source = 3 AND first = 8192", 3, BLOCK,
		     ROWS - BLOCK},
		    {"DELETE FROM block WHERE source = 1 AND first = 8192", 1, -1, ROWS - BLOCK},
		    {"UPDATE block SET n = 0 WHERE source = 1 AND first = 8192", 1, -1,
		     ROWS - BLOCK},
		    {"UPDATE block SET n = 8191 WHERE source = 1 AND first = 8192", 1, -1,
		     ROWS - BLOCK},
		    {"UPDATE block SET data = x'' WHERE source = 1 AND first = 8192", 1, BLOCK,
		     ROWS - BLOCK}};
	char text[256];

	(void)state;
	write_trace(at("ways.wwt"), ROWS);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ww_trace *t;

		snprintf(text, sizeof(text), "cp %s %s", at("ways.wwt"), at("way.wwt"));
		assert_int_equal(system(text), 0);
		sql(at("way.wwt"), rows[i].what);
		OK(ww_trace_open(at("way.wwt"), &t, err));
		assert_int_equal(ww_trace_gap_count(t), 1);
		assert_int_equal(ww_trace_gap(t, 0)->source, rows[i].source);
		if (rows[i].lost >= 0)
			assert_int_equal(ww_trace_gap(t, 0)->lost, rows[i].lost);
		assert_non_null(ww_trace_warning(t, 0));
		assert_int_equal(ww_trace_rows(t, rows[i].source, 0, ROWS * 1000, NULL),
				 rows[i].left);
		ww_trace_close(t);
	}
}

/* Tables that only describe take no rows with them; one that lies about its size is refused. */
static void test_tables(void **state)
{
	static const char *const describing[] = {"mark", "gap", "clock"};
	struct ww_error why = {0};
	struct ww_trace *t;
	char text[256];

	(void)state;
	write_trace(at("tables.wwt"), 100);
	for (size_t i = 0; i < sizeof(describing) / sizeof(describing[0]); i++) {
		snprintf(text, sizeof(text), "cp %s %s", at("tables.wwt"), at("table.wwt"));
		assert_int_equal(system(text), 0);
		snprintf(text, sizeof(text),
			 "PRAGMA writable_schema=ON;"
			 "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema"
			 " WHERE name = 'block_at') WHERE name = '%s'",
			 describing[i]);
		sql(at("table.wwt"), text);
		OK(ww_trace_open(at("table.wwt"), &t, err));
		snprintf(text, sizeof(text), "not all of the table %s can be read", describing[i]);
		assert_memory_equal(ww_trace_warning(t, 0), text, strlen(text));
		assert_null(ww_trace_warning(t, 1));
		assert_int_equal(count_rows(t, WW_TIME_MIN, WW_TIME_MAX), 100);
		ww_trace_close(t);
	}
	/* Sources are counted by an index that is empty. */
	sql(at("tables.wwt"), "CREATE TABLE x(a TEXT UNIQUE); PRAGMA writable_schema=ON;"
			      "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM "
			      "sqlite_schema WHERE name = 'sqlite_autoindex_x_1')"
			      " WHERE name = 'sqlite_autoindex_source_1'");
	assert_int_equal(ww_trace_open(at("tables.wwt"), &t, &why), -EBADMSG);
	assert_non_null(strstr(why.text, "table source has more rows than it counts"));
}

/* Any one page of the file is garbage: a sentence, or the rest with a warning. */
static void test_pages(void **state)
{
	size_t opened = 0, pages;
	struct stat st;
	char text[256];

	(void)state;
	write_trace(at("pages.wwt"), ROWS);
	assert_int_equal(stat(at("pages.wwt"), &st), 0);
	pages = (size_t)st.st_size / 4096;
	for (size_t p = 1; p < pages; p++) {
		struct ww_error why = {0};
		struct ww_trace *t;

		snprintf(text, sizeof(text),
			 "cp %s %s && tr '\\0' '\\377' </dev/zero | dd of=%s bs=4096 seek=%zu "
			 "count=1 iflag=fullblock conv=notrunc status=none",
			 at("pages.wwt"), at("page.wwt"), at("page.wwt"), p);
		assert_int_equal(system(text), 0);
		if (ww_trace_open(at("page.wwt"), &t, &why) < 0) {
			assert_true(strlen(why.text) > 0);
			continue;
		}
		if (ww_trace_source_count(t) == 3) {
			int64_t n = count_rows(t, WW_TIME_MIN, WW_TIME_MAX);

			assert_true(n == ROWS || ww_trace_warning(t, 0));
			opened++;
		}
		ww_trace_close(t);
	}
	/* Only few pages hold the tables that tell where everything is. */
	assert_true(opened * 10 > pages * 8);
}

/* A recorder is killed after `rows`; only its file is copied, not the log. */
static void copy_without_log(int64_t rows, const char *to)
{
	int p[2], status;
	char text[256], c = 0;
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		struct ww_writer *w;
		struct ww_error err = {0};
		uint64_t seed = 5;

		if (ww_writer_open(at("killed.wwt"), NULL, &w, &err) < 0)
			_exit(1);
		add_meter(w, "meter", 1);
		for (int64_t i = 0; i < rows; i++) {
			int64_t lo = i, code = (int64_t)(next_random(&seed) >> 8);

			if (ww_writer_samples(w, 1, 1, &lo, &lo, &code, &err) < 0 ||
			    (i % BLOCK == 0 && ww_writer_commit(w, &err) < 0))
				_exit(2);
		}
		if (ww_writer_commit(w, &err) < 0 || write(p[1], &c, 1) != 1)
			_exit(3);
		for (;;)
			pause();
	}
	close(p[1]);
	assert_int_equal(read(p[0], &c, 1), 1);
	close(p[0]);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	snprintf(text, sizeof(text), "cp %s %s; rm %s*", at("killed.wwt"), to, at("killed.wwt"));
	assert_int_equal(system(text), 0);
}

static void test_log_left_behind(void **state)
{
	struct ww_error why = {0};
	char side[512];
	struct ww_trace *t;

	(void)state;
	/* All samples are in the log: what is left is a trace without any, and says so. */
	copy_without_log(100, at("alone.wwt"));
	OK(ww_trace_open(at("alone.wwt"), &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_UNCLOSED);
	assert_int_equal(ww_trace_source_count(t), 0);
	assert_non_null(strstr(ww_trace_warning(t, 0), "-wal file, was not there"));
	ww_trace_close(t);
	/* Even its tables are, as on file systems where a file has a name from its birth. */
	snprintf(side, sizeof(side),
		 "python3 -c \"import sqlite3,shutil; d=sqlite3.connect('%s'); "
		 "d.execute('PRAGMA journal_mode=WAL'); d.execute('CREATE TABLE meta(a)'); "
		 "shutil.copy('%s', '%s')\"",
		 at("first.wwt"), at("first.wwt"), at("bare.wwt"));
	assert_int_equal(system(side), 0);
	assert_int_equal(ww_trace_open(at("bare.wwt"), &t, &why), -ENOENT);
	assert_non_null(strstr(why.text, "bare.wwt-wal, which is not here: copy both files"));
	snprintf(side, sizeof(side), "%s-wal", at("bare.wwt"));
	assert_int_equal(access(side, F_OK), -1);
	snprintf(side, sizeof(side), "%s-shm", at("bare.wwt"));
	assert_int_equal(access(side, F_OK), -1);
	/* Much of it was taken over already: that is kept, and it is said, also later. */
	copy_without_log(100 * BLOCK, at("most.wwt"));
	for (int i = 0; i < 2; i++) {
		OK(ww_trace_open(at("most.wwt"), &t, err));
		assert_int_equal(ww_trace_state(t), WW_TRACE_UNCLOSED);
		assert_true(ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL) > BLOCK);
		assert_non_null(strstr(ww_trace_warning(t, 0), "-wal file, was not there"));
		ww_trace_close(t);
	}
}

/* What is no trace is named for what it is, and nothing is left beside it. */
static void test_no_trace(void **state)
{
	struct ww_error why = {0};
	uint8_t noise[5000];
	uint64_t seed = 3;
	char side[160];
	struct ww_trace *t;
	FILE *f = fopen(at("noise"), "wb");

	(void)state;
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(next_random(&seed) >> 33);
	/* Looks like text for a line. */
	memcpy(noise, "looks like text\n", 17);
	assert_int_equal(fwrite(noise, 1, sizeof(noise), f), sizeof(noise));
	fclose(f);
	assert_int_equal(ww_trace_open(at("noise"), &t, &why), -EINVAL);
	assert_non_null(strstr(why.text, "some binary file"));
	ww_error_clear(&why);
	sql(at("foreign"), "PRAGMA journal_mode=WAL; CREATE TABLE a(b)");
	assert_int_equal(ww_trace_open(at("foreign"), &t, &why), -EINVAL);
	assert_non_null(strstr(why.text, "a SQLite database of another program"));
	snprintf(side, sizeof(side), "%s-wal", at("foreign"));
	assert_int_equal(access(side, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
					   cmocka_unit_test(test_windows),
					   cmocka_unit_test(test_sql),
					   cmocka_unit_test(test_other_ways),
					   cmocka_unit_test(test_tables),
					   cmocka_unit_test(test_pages),
					   cmocka_unit_test(test_log_left_behind),
					   cmocka_unit_test(test_no_trace)};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
