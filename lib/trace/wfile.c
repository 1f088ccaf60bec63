/* SPDX-License-Identifier: MIT */
/* Writing a trace into SQLite: a file of its own, or a database in memory. */
#include "trace/trace.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_TRIES   40
#define CLOSE_WAIT_NS (50 * WW_NS_PER_MS)
/* Room that closing needs: the tail of the file, page maps, the -shm file. */
#define RESERVE_BYTES (192 * 1024)
#define WAL_BYTES     (1024 * 1024)

/* One list of the statements, in the order of w->st. */
#define STATEMENTS(X)                                                                              \
	X(SOURCE, "INSERT OR REPLACE INTO source VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")   \
	X(CHANNEL, "INSERT OR REPLACE INTO channel VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")               \
	X(MARK, "INSERT INTO mark(lo, hi, source, cycle, kind, text) VALUES(?,?,?,?,?,?)")         \
	X(GAP, "INSERT INTO gap(source, lo, hi, lost, reason) VALUES(?,?,?,?,?)")                  \
	X(CLOCK, "INSERT INTO clock(boot_ns, mono_ns, real_ns, width_ns, adj_state, adj_freq_ppb," \
		 " adj_maxerror_ns) VALUES(?,?,?,?,?,?,?)")                                        \
	X(META, "INSERT OR REPLACE INTO meta VALUES(?,?)")                                         \
	X(BLOCK, "INSERT INTO block(source, first, n, items, lo, hi, data) VALUES(?,?,?,?,?,?,?)") \
	X(TAIL, "UPDATE block SET n=?3, items=?4, lo=?5, hi=?6, data=?7 WHERE id=?1")              \
	X(COMMIT, "COMMIT")

enum {
#define ROW(name, sql) ST_##name,
	STATEMENTS(ROW)
#undef ROW
};

static int prepare_all(struct ww_writer *w, struct ww_error *err)
{
#define ROW(name, sql) sql,
	static const char *const text[] = {STATEMENTS(ROW)};
#undef ROW
	int rc = 0;

	_Static_assert(WW_COUNTOF(text) == WW_COUNTOF(w->st), "a statement without a place");
	for (size_t i = 0; rc == 0 && i < WW_COUNTOF(text); i++)
		rc = ww_db_prepare(w->db, w->path, text[i], &w->st[i], err);
	return rc;
}

static void bind_text(sqlite3_stmt *st, int i, const char *s)
{
	sqlite3_bind_text(st, i, s, -1, SQLITE_STATIC);
}

static int begin(struct ww_writer *w, struct ww_error *err)
{
	int rc;

	if (w->in_txn)
		return 0;
	rc = ww_db_exec(w->db, w->path, "BEGIN IMMEDIATE", err);
	if (rc == 0)
		w->in_txn = true;
	return rc;
}

static int run(struct ww_writer *w, int which, struct ww_error *err)
{
	int rc = begin(w, err);

	if (rc == 0)
		rc = ww_db_run(w->db, w->path, w->st[which], err);
	sqlite3_clear_bindings(w->st[which]);
	return rc;
}

static int put_source(struct ww_writer *w, const struct ww_source_info *s, bool update,
		      struct ww_error *err)
{
	sqlite3_stmt *st = w->st[ST_SOURCE];
	const char *text[] = {s->name,	 s->uri,      s->driver, s->model,
			      s->serial, s->firmware, s->notes,	 s->role};

	(void)update;
	sqlite3_bind_int64(st, 1, s->id);
	sqlite3_bind_int(st, 2, s->kind);
	for (int i = 0; i < (int)WW_COUNTOF(text); i++)
		bind_text(st, 3 + i, text[i]);
	sqlite3_bind_int64(st, 11, s->period_ns);
	sqlite3_bind_int64(st, 12, s->window_ns);
	sqlite3_bind_int64(st, 13, s->delay_min_ns);
	sqlite3_bind_int64(st, 14, s->delay_max_ns);
	bind_text(st, 15, s->transport.name);
	sqlite3_bind_int64(st, 16, s->transport.delay_min_ns);
	sqlite3_bind_int64(st, 17, s->transport.delay_max_ns);
	sqlite3_bind_int64(st, 18, s->transport.char_ns);
	bind_text(st, 19, s->transport.settings);
	return run(w, ST_SOURCE, err);
}

static int put_channel(struct ww_writer *w, const struct ww_channel_info *c, struct ww_error *err)
{
	sqlite3_stmt *st = w->st[ST_CHANNEL];
	const double num[] = {c->scale, c->offset, c->resolution, c->acc_abs, c->acc_rel, c->wrap};

	sqlite3_bind_int64(st, 1, c->id);
	sqlite3_bind_int64(st, 2, c->source);
	bind_text(st, 3, c->name);
	bind_text(st, 4, c->quantity);
	bind_text(st, 5, c->unit);
	sqlite3_bind_int(st, 6, c->semantics);
	for (int i = 0; i < (int)WW_COUNTOF(num); i++)
		sqlite3_bind_double(st, 7 + i, num[i]); /* NaN becomes NULL */
	return run(w, ST_CHANNEL, err);
}

static int put_mark(struct ww_writer *w, const struct ww_mark *m, struct ww_error *err)
{
	sqlite3_stmt *st = w->st[ST_MARK];

	sqlite3_bind_int64(st, 1, m->t.lo_ns);
	sqlite3_bind_int64(st, 2, m->t.hi_ns);
	sqlite3_bind_int64(st, 3, m->source);
	sqlite3_bind_int64(st, 4, m->cycle);
	bind_text(st, 5, m->kind);
	bind_text(st, 6, m->text);
	return run(w, ST_MARK, err);
}

static int put_gap(struct ww_writer *w, const struct ww_gap *g, struct ww_error *err)
{
	sqlite3_stmt *st = w->st[ST_GAP];

	sqlite3_bind_int64(st, 1, g->source);
	sqlite3_bind_int64(st, 2, g->t.lo_ns);
	sqlite3_bind_int64(st, 3, g->t.hi_ns);
	sqlite3_bind_int64(st, 4, g->lost);
	bind_text(st, 5, g->reason);
	return run(w, ST_GAP, err);
}

static int put_anchor(struct ww_writer *w, const struct ww_anchor *a, struct ww_error *err)
{
	const int64_t v[] = {a->boot_ns,   a->mono_ns,	    a->real_ns,	       a->width_ns,
			     a->adj_state, a->adj_freq_ppb, a->adj_maxerror_ns};

	for (int i = 0; i < (int)WW_COUNTOF(v); i++)
		sqlite3_bind_int64(w->st[ST_CLOCK], 1 + i, v[i]);
	return run(w, ST_CLOCK, err);
}

static int put_meta(struct ww_writer *w, const char *key, const char *value, struct ww_error *err)
{
	bind_text(w->st[ST_META], 1, key);
	bind_text(w->st[ST_META], 2, value);
	return run(w, ST_META, err);
}

/* The tail of a source: a new row of `block`, or the same row again. */
static int put_rows(struct ww_writer *w, struct ww_wsource *s, struct ww_error *err)
{
	sqlite3_stmt *st = w->st[s->rowid ? ST_TAIL : ST_BLOCK];
	const struct ww_rows *t = &s->tail;
	const uint8_t *blob;
	int64_t lo = t->lo[0];
	size_t n;
	int rc = ww_block_encode(w->codec, t, &blob, &n, err);

	if (rc < 0)
		return rc;
	for (size_t i = 1; i < t->n; i++)
		lo = t->lo[i] < lo ? t->lo[i] : lo;
	sqlite3_bind_int64(st, 1, s->rowid ? s->rowid : s->id);
	if (!s->rowid)
		sqlite3_bind_int64(st, 2, s->first);
	sqlite3_bind_int64(st, 3, (int64_t)t->n);
	sqlite3_bind_int64(st, 4, (int64_t)(t->bytes ? t->data_n : t->n));
	sqlite3_bind_int64(st, 5, lo);
	sqlite3_bind_int64(st, 6, t->hi[t->n - 1]);
	sqlite3_bind_blob64(st, 7, blob, n, SQLITE_STATIC);
	rc = run(w, s->rowid ? ST_TAIL : ST_BLOCK, err);
	if (rc == 0 && !s->rowid)
		s->rowid = sqlite3_last_insert_rowid(w->db);
	return rc;
}

/* Stop while there is still room to close the file: its log may yet go into it. */
static int check_room(struct ww_writer *w, struct ww_error *err)
{
	struct ww_str log = {0};
	struct statvfs fs;
	struct stat st;
	struct tm tm = {0};
	char until[40] = "the last commit";
	uint64_t left, need = RESERVE_BYTES;
	time_t t = (time_t)(w->last_real_ns / WW_NS_PER_S);

	if (!w->own_db || statvfs(w->path, &fs) != 0)
		return 0;
	ww_str_addf(&log, "%s-wal", w->path);
	if (!log.bad && stat(log.p, &st) == 0)
		need += (uint64_t)st.st_size;
	ww_str_free(&log);
	left = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (left >= need)
		return 0;
	if (t > 0 && gmtime_r(&t, &tm))
		strftime(until, sizeof(until), "%Y-%m-%d %H:%M:%S UTC", &tm);
	return ww_fail(err, -ENOSPC, "%s: disk full: %llu kB left; recorded up to %s", w->path,
		       (unsigned long long)(left / 1024), until);
}

static int commit(struct ww_writer *w, struct ww_error *err)
{
	int rc;

	if (!w->in_txn)
		return 0;
	rc = check_room(w, err);
	if (rc == 0)
		rc = ww_db_run(w->db, w->path, w->st[ST_COMMIT], err);
	if (rc < 0)
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	w->in_txn = false;
	return rc;
}

static bool is_wal(sqlite3 *db)
{
	sqlite3_stmt *st = NULL;
	bool wal = true;

	if (sqlite3_prepare_v2(db, "PRAGMA journal_mode=DELETE", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		wal = strcmp(ww_db_text(st, 0), "wal") == 0;
	sqlite3_finalize(st);
	return wal;
}

/*
 * One plain file again. Followers let go of it when they see that it is closed;
 * one that is stopped keeps the log, which the next opening takes up.
 */
static void make_plain(struct ww_writer *w)
{
	struct timespec wait = {.tv_nsec = CLOSE_WAIT_NS};

	sqlite3_exec(w->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
	for (int i = 0; i < CLOSE_TRIES; i++) {
		sqlite3_wal_checkpoint_v2(w->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
		if (!is_wal(w->db))
			return;
		nanosleep(&wait, NULL);
	}
}

/* Nothing is left behind by a trace that could not begin. */
static void remove_file(const char *path)
{
	static const char *const suffix[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < WW_COUNTOF(suffix); i++) {
		struct ww_str s = {0};

		ww_str_addf(&s, "%s%s", path, suffix[i]);
		if (!s.bad)
			unlink(s.p);
		ww_str_free(&s);
	}
}

static int close_file(struct ww_writer *w, struct ww_error *err)
{
	int rc = 0;

	if (w->in_txn)
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	w->in_txn = false;
	if (w->own_db && w->db && w->st[ST_COMMIT]) {
		/* Room was kept for this: why the recording is shorter than it was to be. */
		if (w->born && w->failed.code)
			put_meta(w, WW_META_ERROR, w->failed.text, NULL);
		rc = put_meta(w, WW_META_STATE, WW_STATE_CLOSED, err);
		if (rc == 0)
			rc = ww_db_run(w->db, w->path, w->st[ST_COMMIT], err);
		w->in_txn = false;
	}
	for (size_t i = 0; i < WW_COUNTOF(w->st); i++) {
		sqlite3_finalize(w->st[i]);
		w->st[i] = NULL;
	}
	if (w->own_db && w->db) {
		if (rc == 0 && w->born)
			make_plain(w);
		sqlite3_close(w->db);
	}
	w->db = NULL;
	if (w->own_db && !w->born)
		remove_file(w->path);
	return rc;
}

static const struct ww_writer_ops file_ops = {.source = put_source,
					      .channel = put_channel,
					      .mark = put_mark,
					      .gap = put_gap,
					      .anchor = put_anchor,
					      .meta = put_meta,
					      .rows = put_rows,
					      .commit = commit,
					      .close = close_file};

/* Who records, so that a reader can tell a live recorder from a dead one. */
static int put_recorder(struct ww_writer *w, struct ww_error *err)
{
	char pid[16], boot[64], start[32];
	int rc;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	ww_proc_identity(getpid(), boot, sizeof(boot), start, sizeof(start));
	rc = put_meta(w, WW_META_PID, pid, err);
	if (rc == 0)
		rc = put_meta(w, WW_META_BOOT_ID, boot, err);
	if (rc == 0)
		rc = put_meta(w, WW_META_START_TIME, start, err);
	if (rc == 0)
		rc = put_meta(w, WW_META_STATE, WW_STATE_LIVE, err);
	return rc;
}

/* Tables, and who records; in one transaction that is still open. */
static int make_tables(struct ww_writer *w, struct ww_error *err)
{
	int rc = ww_db_exec(w->db, w->path, "PRAGMA auto_vacuum=INCREMENTAL", err);

	if (rc == 0)
		rc = ww_db_create(w->db, w->path, err);
	if (rc == 0)
		rc = prepare_all(w, err);
	if (rc == 0)
		rc = put_recorder(w, err);
	return rc;
}

/* The bytes of a trace that holds nothing yet. *bytes is sqlite3_free()d. */
static int make_newborn(struct ww_writer *w, unsigned char **bytes, sqlite3_int64 *n,
			struct ww_error *err)
{
	int rc = 0;

	*bytes = NULL;
	if (sqlite3_open_v2(":memory:", &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		rc = ww_db_fail(w->db, w->path, err);
	if (rc == 0)
		rc = make_tables(w, err);
	if (rc == 0)
		rc = ww_db_run(w->db, w->path, w->st[ST_COMMIT], err);
	w->in_txn = false;
	for (size_t i = 0; i < WW_COUNTOF(w->st); i++) {
		sqlite3_finalize(w->st[i]);
		w->st[i] = NULL;
	}
	if (rc == 0 && !(*bytes = sqlite3_serialize(w->db, "main", n, 0)))
		rc = ww_fail_nomem(err);
	sqlite3_close(w->db);
	w->db = NULL;
	return rc;
}

/* An own name, exclusively. @return 1 an empty file, 0 one with its tables, negative */
static int create_file(struct ww_writer *w, struct ww_error *err)
{
	unsigned char *bytes;
	sqlite3_int64 n = 0;
	int fd, rc = make_newborn(w, &bytes, &n, err);

	if (rc < 0)
		return rc;
	rc = ww_wfile_birth(w->path, bytes, (size_t)n);
	sqlite3_free(bytes);
	if (rc == 1) {
		fd = open(w->path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
		rc = fd < 0 ? -errno : 1;
		if (fd >= 0)
			close(fd);
	}
	if (rc == -EEXIST)
		return ww_fail(err, rc,
			       "%s exists already and is not overwritten: choose another name",
			       w->path);
	if (rc == -ENOSPC)
		return ww_fail(err, rc, "%s: cannot be created: disk full", w->path);
	return rc < 0 ? ww_fail(err, rc, "%s: cannot be created: %s", w->path, strerror(-rc)) : rc;
}

static int open_file(struct ww_writer *w, struct ww_error *err)
{
	char pragmas[256];

	if (sqlite3_open_v2(w->path, &w->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		return ww_db_fail(w->db, w->path, err);
	sqlite3_busy_timeout(w->db, 2000);
	sqlite3_snprintf(sizeof(pragmas), pragmas,
			 "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL;"
			 "PRAGMA synchronous=FULL; PRAGMA journal_size_limit=%d;"
			 "PRAGMA wal_autocheckpoint=%d;",
			 WAL_BYTES, WAL_BYTES / 4096);
	return ww_db_exec(w->db, w->path, pragmas, err);
}

static int set_up_file(struct ww_writer *w, bool empty, struct ww_error *err)
{
	int rc = open_file(w, err);

	if (rc < 0)
		return rc;
	return empty ? make_tables(w, err) : prepare_all(w, err);
}

int ww_wfile_open(struct ww_writer *w, struct ww_error *err)
{
	struct ww_error why = {0};
	int rc = create_file(w, err);

	if (rc < 0)
		return rc;
	w->own_db = true;
	rc = set_up_file(w, rc == 1, &why);
	if (rc == 0) {
		w->ops = &file_ops;
		return 0;
	}
	ww_fail(err, rc, "%s%s", rc == -ENOSPC ? w->path : why.text,
		rc == -ENOSPC ? ": cannot be created: disk full" : "");
	ww_fail(&w->failed, rc, "never opened");
	close_file(w, NULL);
	return rc;
}

int ww_wfile_attach(struct ww_writer *w, struct ww_error *err)
{
	int rc;

	w->ops = &file_ops;
	rc = ww_db_create(w->db, w->path, err);
	return rc < 0 ? rc : prepare_all(w, err);
}

/* Is it a trace of this form, and does nobody record it? Then it is ours, in one transaction. */
static int take_over(struct ww_writer *w, struct ww_error *err)
{
	int64_t version = ww_db_int(w->db, "PRAGMA user_version", 0);
	int rc;

	if (ww_db_int(w->db, "PRAGMA application_id", 0) != WW_APPLICATION_ID ||
	    version != WW_SCHEMA_VERSION)
		return ww_fail(err, -EINVAL,
			       "%s: a trace of version %lld cannot be gone on with, only one of "
			       "version %d",
			       w->path, (long long)version, WW_SCHEMA_VERSION);
	rc = begin(w, err);
	if (rc == 0 &&
	    ww_db_int(w->db,
		      "SELECT count(*) FROM meta WHERE key = '" WW_META_STATE
		      "' AND value = '" WW_STATE_LIVE "'",
		      0) &&
	    ww_recorder_lives(w->db))
		rc = ww_fail(err, -EBUSY, "%s: is being recorded", w->path);
	if (rc == 0)
		rc = prepare_all(w, err);
	return rc == 0 ? put_recorder(w, err) : rc;
}

int ww_wfile_append(struct ww_writer *w, struct ww_error *err)
{
	int rc;

	w->ops = &file_ops;
	w->own_db = w->born = true; /* whatever happens, it stays */
	rc = open_file(w, err);
	if (rc == 0)
		rc = take_over(w, err);
	return rc == 0 ? ww_wknown_load(w, err) : rc;
}
