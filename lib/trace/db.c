/* SPDX-License-Identifier: MIT */
#include "trace/db.h"

/* The errno that fits what SQLite last said. */
static int errno_of(sqlite3 *db, int code)
{
	int sys = db ? sqlite3_system_errno(db) : 0;

	switch (code & 0xff) {
	case SQLITE_OK:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
		return sys > 0 ? -sys : -EIO;
	default:
		return -EIO;
	}
}

int ww_db_fail(sqlite3 *db, const char *path, struct ww_error *err)
{
	int code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
	int no = errno_of(db, code);

	if (no == 0)
		no = -EIO;
	if (no == -ENOSPC || no == -EFBIG || no == -EDQUOT)
		return ww_fail(err, no, "%s: %s; everything up to the last commit is kept", path,
			       no == -EFBIG ? "the greatest size of a file is reached"
					    : "disk full");
	if (no == -EBADMSG)
		return ww_fail(err, no,
			       "%s: damaged, or cut short as it was copied (%s): copy it anew; "
			       "'sqlite3 FILE .recover' saves what is left",
			       path, sqlite3_errmsg(db));
	return ww_fail(err, no, "%s: %s", path, db ? sqlite3_errmsg(db) : "out of memory");
}

int ww_db_exec(sqlite3 *db, const char *path, const char *sql, struct ww_error *err)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : ww_db_fail(db, path, err);
}

int ww_db_prepare(sqlite3 *db, const char *path, const char *sql, sqlite3_stmt **out,
		  struct ww_error *err)
{
	return sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out, NULL) == SQLITE_OK
		       ? 0
		       : ww_db_fail(db, path, err);
}

int ww_db_run(sqlite3 *db, const char *path, sqlite3_stmt *st, struct ww_error *err)
{
	int code = sqlite3_step(st), rc = 0;

	if (code != SQLITE_DONE && code != SQLITE_ROW)
		rc = ww_db_fail(db, path, err);
	sqlite3_reset(st);
	return rc;
}

int64_t ww_db_int(sqlite3 *db, const char *sql, int64_t dflt)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		dflt = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return dflt;
}

const char *ww_db_text(sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);

	return s ? s : "";
}

/* wakewatt-trace(5) describes each column. */
static const char schema[] =
	"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE clock(id INTEGER PRIMARY KEY, boot_ns INTEGER NOT NULL,"
	" mono_ns INTEGER NOT NULL, real_ns INTEGER NOT NULL, width_ns INTEGER NOT NULL,"
	" adj_state INTEGER NOT NULL, adj_freq_ppb INTEGER NOT NULL,"
	" adj_maxerror_ns INTEGER NOT NULL);"
	"CREATE TABLE source(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL,"
	" name TEXT NOT NULL UNIQUE, uri TEXT, driver TEXT, model TEXT, serial TEXT,"
	" firmware TEXT, notes TEXT, role TEXT, period_ns INTEGER, window_ns INTEGER,"
	" delay_min_ns INTEGER, delay_max_ns INTEGER, transport TEXT,"
	" transport_delay_min_ns INTEGER, transport_delay_max_ns INTEGER,"
	" transport_char_ns INTEGER, transport_settings TEXT);"
	"CREATE TABLE channel(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source,"
	" name TEXT NOT NULL, quantity TEXT, unit TEXT, semantics INTEGER NOT NULL,"
	" scale REAL NOT NULL, offset REAL NOT NULL, resolution REAL, acc_abs REAL,"
	" acc_rel REAL, wrap REAL);"
	"CREATE TABLE block(id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source,"
	" first INTEGER NOT NULL, n INTEGER NOT NULL, items INTEGER NOT NULL,"
	" lo INTEGER NOT NULL, hi INTEGER NOT NULL, data BLOB NOT NULL);"
	"CREATE INDEX block_at ON block(source, first, n, items, lo, hi);"
	"CREATE TABLE mark(id INTEGER PRIMARY KEY, lo INTEGER NOT NULL, hi INTEGER NOT NULL,"
	" source INTEGER NOT NULL, cycle INTEGER NOT NULL, kind TEXT NOT NULL,"
	" text TEXT NOT NULL);"
	"CREATE TABLE gap(id INTEGER PRIMARY KEY, source INTEGER NOT NULL, lo INTEGER NOT NULL,"
	" hi INTEGER NOT NULL, lost INTEGER NOT NULL, reason TEXT NOT NULL);";

int ww_db_create(sqlite3 *db, const char *path, struct ww_error *err)
{
	char sql[128];

	/* One transaction: each would wait for the disk on its own. */
	sqlite3_snprintf(sizeof(sql), sql,
			 "BEGIN; PRAGMA application_id=%d; PRAGMA user_version=%d;",
			 WW_APPLICATION_ID, WW_SCHEMA_VERSION);
	int rc = ww_db_exec(db, path, sql, err);

	if (rc == 0)
		rc = ww_db_exec(db, path, schema, err);
	return rc < 0 ? rc : ww_db_exec(db, path, "COMMIT", err);
}

void ww_block_head_read(sqlite3_stmt *st, struct ww_block_head *h)
{
	h->id = sqlite3_column_int64(st, 0);
	h->first = sqlite3_column_int64(st, 1);
	h->n = sqlite3_column_int64(st, 2);
	h->items = sqlite3_column_int64(st, 3);
	h->lo = sqlite3_column_int64(st, 4);
	h->hi = sqlite3_column_int64(st, 5);
}

/* The block and its row must say the same. */
static int check_block(const char *path, const struct ww_block_head *h, const struct ww_rows *r,
		       struct ww_error *err)
{
	bool ok = h->first >= 0 && h->first <= INT64_MAX / 2 && h->n == (int64_t)r->n &&
		  h->items == (int64_t)(r->bytes ? r->data_n : r->n);

	return ok ? 0
		  : ww_fail(err, -EBADMSG, "%s: block %lld does not hold what its row says", path,
			    (long long)h->id);
}

int ww_fetch_block(sqlite3_stmt *st, const char *path, struct ww_codec *codec, uint32_t source,
		   int64_t pos, struct ww_block_head *head, struct ww_rows *rows,
		   struct ww_error *err)
{
	struct ww_error why = {0};
	int code, rc;

	sqlite3_bind_int64(st, 1, source);
	sqlite3_bind_int64(st, 2, pos);
	code = sqlite3_step(st);
	if (code == SQLITE_ROW) {
		ww_block_head_read(st, head);
		if (head->n < 1 || pos - head->first >= head->n) {
			sqlite3_reset(st);
			return 0;
		}
		rc = ww_block_decode(codec, sqlite3_column_blob(st, 6),
				     (size_t)sqlite3_column_bytes(st, 6), rows, &why);
		if (rc < 0)
			ww_fail(err, rc, "%s: block %lld: %s", path, (long long)head->id, why.text);
		else
			rc = check_block(path, head, rows, err);
		sqlite3_reset(st);
		return rc < 0 ? rc : 1;
	}
	rc = code == SQLITE_DONE ? 0 : ww_db_fail(sqlite3_db_handle(st), path, err);
	sqlite3_reset(st);
	return rc;
}
