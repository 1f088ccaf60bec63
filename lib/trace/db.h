/* SPDX-License-Identifier: MIT */
/* SQLite with this library's errors; the schema; fetching one block. */
#ifndef WW_DB_H
#define WW_DB_H

#include "trace/block.h"

#include <sqlite3.h>

#define WW_APPLICATION_ID 0x57575431 /* "WWT1" */
#define WW_SCHEMA_VERSION 1
#define WW_STATE_LIVE	  "live"
#define WW_STATE_CLOSED	  "closed"
#define WW_STATE_DIED	  "died"
#define WW_META_STATE	  "state"
#define WW_META_WARNING	  "warning"
#define WW_LOG_LOST                                                                                \
	"its log, the -wal file, was not there after its recorder had died: what was "             \
	"stored last is missing"
#define WW_META_PID	   "recorder.pid"
#define WW_META_BOOT_ID	   "recorder.boot_id"
#define WW_META_START_TIME "recorder.start"

/* A sentence "path: SQLite's words". Returns the negative errno. */
int ww_db_fail(sqlite3 *db, const char *path, struct ww_error *err);
int ww_db_exec(sqlite3 *db, const char *path, const char *sql, struct ww_error *err);
int ww_db_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **out,
		  struct ww_error *err);
/* Run a statement that gives no rows, and reset it. */
int ww_db_run(sqlite3 *db, const char *path, sqlite3_stmt *st, struct ww_error *err);
/* First integer that a query gives, dflt if none. */
int64_t ww_db_int(sqlite3 *db, const char *sql, int64_t dflt);
/* Text of a column, "" for NULL. */
const char *ww_db_text(sqlite3_stmt *st, int column);
/* Make the tables in a new file or in memory. */
int ww_db_create(sqlite3 *db, const char *path, struct ww_error *err);

/* What `block` says of the block that holds row `pos` of a source. */
struct ww_block_head {
	int64_t id;
	int64_t first; /* number of its first row in the source */
	int64_t n;     /* rows; chunks for bytes */
	int64_t items; /* rows; bytes for bytes */
	int64_t lo;    /* least lo */
	int64_t hi;    /* greatest hi */
};
/* Order of the columns that ww_block_head_read() expects. */
#define WW_BLOCK_HEAD "id, first, n, items, lo, hi"
void ww_block_head_read(sqlite3_stmt *st, struct ww_block_head *h);

/* The statement that ww_fetch_block() runs; both parameters are bound by it. */
#define WW_FETCH_SQL                                                                               \
	"SELECT " WW_BLOCK_HEAD ", data FROM block WHERE source = ?1 AND first <= ?2 "             \
	"ORDER BY first DESC LIMIT 1"
/*
 * Fetch and unpack the block that holds row pos; no read transaction is left open.
 * @return 1, 0 if there is no such row (yet), negative error
 */
int ww_fetch_block(sqlite3_stmt *st, const char *path, struct ww_codec *codec, uint32_t source,
		   int64_t pos, struct ww_block_head *head, struct ww_rows *rows,
		   struct ww_error *err);

/* What tells a process from a later one with its number; "" where unknown. */
void ww_proc_identity(int64_t pid, char *boot_id, size_t boot_n, char *start, size_t start_n);

/* Table-valued function ww_samples() on a connection. @return a code of SQLite */
int ww_sql_register(sqlite3 *db);

#endif
