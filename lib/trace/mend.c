/* SPDX-License-Identifier: MIT */
/*
 * Opening the file of a trace: is its recorder alive, and if it died, turning what
 * it left into one plain file where that is possible. SQLite's own locks protect
 * this: as long as anybody has the file open in WAL mode, leaving that mode fails.
 */
#include "trace/trace.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* First bytes of a file, with a NUL after them. @return how many, 0 if it cannot be read */
static size_t read_head(const char *path, char *buf, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, cap - 1) : -1;

	buf[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* First line of a small file, without the newline; "" if it cannot be read. */
static void read_small(const char *path, char *buf, size_t cap)
{
	read_head(path, buf, cap);
	buf[strcspn(buf, "\n")] = '\0';
}

void ww_proc_identity(int64_t pid, char *boot_id, size_t boot_n, char *start, size_t start_n)
{
	char path[64], line[1024], *p;

	read_small("/proc/sys/kernel/random/boot_id", boot_id, boot_n);
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	read_small(path, line, sizeof(line));
	start[0] = '\0';
	/* Field 2 may hold anything, also spaces; field 22 is the 20th after its ')'. */
	p = strrchr(line, ')');
	/* Dead, though nobody has waited for it yet. */
	if (p && (p[1] == '\0' || strchr("ZXx", p[2])))
		return;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	if (p)
		snprintf(start, start_n, "%.*s", (int)strcspn(p + 1, " "), p + 1);
}

static void get_meta(sqlite3 *db, const char *key, char *buf, size_t n)
{
	sqlite3_stmt *st = NULL;

	buf[0] = '\0';
	if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = ?", -1, &st, NULL) ==
	    SQLITE_OK) {
		sqlite3_bind_text(st, 1, key, -1, SQLITE_STATIC);
		if (sqlite3_step(st) == SQLITE_ROW)
			snprintf(buf, n, "%s", ww_db_text(st, 0));
	}
	sqlite3_finalize(st);
}

bool ww_recorder_lives(sqlite3 *db)
{
	char pid[24], boot[64], start[32], boot_now[64], start_now[32];
	long long number;

	get_meta(db, WW_META_PID, pid, sizeof(pid));
	get_meta(db, WW_META_BOOT_ID, boot, sizeof(boot));
	get_meta(db, WW_META_START_TIME, start, sizeof(start));
	number = strtoll(pid, NULL, 10);
	if (number <= 0)
		return false;
	ww_proc_identity(number, boot_now, sizeof(boot_now), start_now, sizeof(start_now));
	if (strcmp(boot, boot_now) != 0)
		return false;
	if (start_now[0] == '\0') /* no /proc: is there any such process? */
		return access("/proc/self/stat", R_OK) != 0 && kill((pid_t)number, 0) == 0;
	return strcmp(start, start_now) == 0;
}

/* Nothing is read yet. */
static int open_unread(const char *path, const char *query, int flags, sqlite3 **out)
{
	struct ww_str uri = {0};
	int code;

	ww_str_add(&uri, "file:");
	if (path[0] != '/')
		ww_str_add(&uri, "./");
	for (const char *p = path; *p; p++)
		if (*p == '?' || *p == '#' || *p == '%')
			ww_str_addf(&uri, "%%%02x", (unsigned)*p);
		else
			ww_str_addn(&uri, p, 1);
	ww_str_add(&uri, query);
	if (uri.bad) {
		ww_str_free(&uri);
		*out = NULL;
		return SQLITE_NOMEM;
	}
	code = sqlite3_open_v2(uri.p, out, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	ww_str_free(&uri);
	return code;
}

static int open_db(const char *path, const char *query, int flags, sqlite3 **out)
{
	int code = open_unread(path, query, flags, out);

	if (code == SQLITE_OK) {
		sqlite3_busy_timeout(*out, 2000);
		/* A trace may come from anywhere: its schema runs no functions. */
		sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		/* Touch the file, and the log if there is one. */
		code = sqlite3_exec(*out, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	}
	return code;
}

/* Leave WAL mode and write down what happened. Failing is no error. */
static void mend(const char *path, bool died, bool lost)
{
	sqlite3 *db = NULL;

	if (access(path, W_OK) == 0 &&
	    open_db(path, "?mode=rw", SQLITE_OPEN_READWRITE, &db) == SQLITE_OK) {
		sqlite3_busy_timeout(db, 0);
		sqlite3_exec(db, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
		if (died)
			sqlite3_exec(db,
				     "UPDATE meta SET value='" WW_STATE_DIED
				     "' WHERE key='" WW_META_STATE "' AND value='" WW_STATE_LIVE
				     "'",
				     NULL, NULL, NULL);
		if (lost)
			sqlite3_exec(db,
				     "INSERT OR REPLACE INTO meta VALUES('" WW_META_WARNING
				     "', '" WW_LOG_LOST "')",
				     NULL, NULL, NULL);
	}
	sqlite3_close(db);
}

/* What a file that is no database looks like. It is safe to open it: no locks of ours. */
static int fail_kind(const char *path, struct ww_error *err)
{
	static const struct {
		const char *magic, *name;
	} known[] = {{"\x7f"
		      "ELF",
		      "an executable"},
		     {"\x1f\x8b", "a gzip file"},
		     {"\x28\xb5\x2f\xfd", "a zstd file"},
		     {"PK\x03\x04", "a zip file"},
		     {"\x89HDF", "an HDF5 file"},
		     {"%PDF", "a PDF document"},
		     {"\x89PNG", "a PNG image"}};
	char head[4096];
	size_t n = read_head(path, head, sizeof(head));

	for (size_t i = 0; i < WW_COUNTOF(known); i++)
		if (strncmp(head, known[i].magic, strlen(known[i].magic)) == 0)
			return ww_fail(err, -EINVAL, "%s: not a trace but %s", path, known[i].name);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)head[i] < 0x20 && !strchr("\t\n\r\f\v\033", head[i]))
			return ww_fail(err, -EINVAL, "%s: not a trace but some binary file", path);
	return ww_fail(err, -EINVAL, "%s: not a trace but %s", path,
		       n ? "a text file" : "an empty file");
}

static int fail_foreign(const char *path, struct ww_error *err)
{
	return ww_fail(err, -EINVAL, "%s: not a trace but a SQLite database of another program",
		       path);
}

int ww_trace_check_kind(struct ww_trace *t, struct ww_error *err)
{
	int64_t version = ww_db_int(t->db, "PRAGMA user_version", 0);

	if (ww_db_int(t->db, "SELECT count(*) FROM sqlite_schema", 0) == 0 &&
	    ww_db_int(t->db, "PRAGMA application_id", 0) == 0)
		return ww_fail(err, -EINVAL, "%s: not a trace but an empty file", t->path);
	if (ww_db_int(t->db, "PRAGMA application_id", 0) != WW_APPLICATION_ID)
		return fail_foreign(t->path, err);
	if (version > WW_SCHEMA_VERSION)
		return ww_fail(
			err, -EINVAL,
			"%s: written in version %lld of the form of traces; this is "
			"libwakewatt %s, which reads up to version %d: a newer one is needed",
			t->path, (long long)version, ww_version(), WW_SCHEMA_VERSION);
	return 0;
}

static bool in_wal(sqlite3 *db)
{
	sqlite3_stmt *st = NULL;
	bool wal = false;

	if (sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		wal = strcmp(ww_db_text(st, 0), "wal") == 0;
	sqlite3_finalize(st);
	return wal;
}

/*
 * No -shm can be made (a read-only folder, a full disk): the index of the log goes
 * into memory. Without locks, so only where nobody writes.
 */
static int open_private(struct ww_trace *t)
{
	int code;

	sqlite3_close(t->db);
	t->db = NULL;
	code = sqlite3_open_v2(t->path, &t->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
			       "unix-none");
	if (code == SQLITE_OK)
		code = sqlite3_exec(t->db,
				    "PRAGMA locking_mode=EXCLUSIVE;"
				    "SELECT count(*) FROM sqlite_schema",
				    NULL, NULL, NULL);
	if (code == SQLITE_OK && ww_recorder_lives(t->db))
		code = SQLITE_CANTOPEN;
	return code;
}

static int open_read(struct ww_trace *t, struct ww_error *err)
{
	int code = open_db(t->path, "?mode=ro", SQLITE_OPEN_READONLY, &t->db);
	int plain = code & 0xff;

	if (code == SQLITE_OK)
		return 0;
	if (plain == SQLITE_NOTADB)
		return fail_kind(t->path, err);
	if (access(t->path, R_OK) != 0)
		return ww_fail(err, -errno, "%s: %s", t->path, strerror(errno));
	if ((plain == SQLITE_CANTOPEN || plain == SQLITE_READONLY || plain == SQLITE_FULL ||
	     plain == SQLITE_IOERR) &&
	    open_private(t) == SQLITE_OK)
		return 0;
	if (plain == SQLITE_CANTOPEN || plain == SQLITE_READONLY)
		return ww_fail(
			err, -EROFS,
			"%s: it was not closed, its last part lies in %s-wal, and the folder "
			"is read-only: copy both files into a writable folder and open it "
			"there",
			t->path, t->path);
	return ww_db_fail(t->db, t->path, err);
}

static uint32_t be32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

enum ww_log ww_log_of(const uint8_t *head, size_t n)
{
	if (n < WW_HEAD_BYTES || memcmp(head, "SQLite format 3", 16) != 0 || head[18] != 2)
		return WW_LOG_NONE;
	if (be32(head + 68) == WW_APPLICATION_ID)
		return WW_LOG_REST;
	/* One page and no application: it was only made ready for a log. */
	return be32(head + 68) == 0 && be32(head + 28) <= 1 ? WW_LOG_ALL : WW_LOG_FOREIGN;
}

/*
 * Is the file in WAL mode, and no log beside it? Looked at before SQLite makes the side
 * files anew, and through SQLite's own descriptor: closing another one would drop the
 * locks that a recorder in this process may hold.
 */
static enum ww_log missing_log(const char *path)
{
	uint8_t head[WW_HEAD_BYTES] = {0};
	struct ww_str log = {0};
	sqlite3_file *f = NULL;
	sqlite3 *db = NULL;
	bool there;

	ww_str_addf(&log, "%s-wal", path);
	there = log.bad || access(log.p, F_OK) == 0;
	ww_str_free(&log);
	if (there)
		return WW_LOG_NONE;
	if (open_unread(path, "?mode=ro", SQLITE_OPEN_READONLY, &db) == SQLITE_OK &&
	    sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f) == SQLITE_OK && f &&
	    f->pMethods && f->pMethods->xRead(f, head, sizeof(head), 0) != SQLITE_OK)
		head[0] = 0;
	sqlite3_close(db);
	return ww_log_of(head, sizeof(head));
}

/* Refuse what cannot be read without its log, before side files are made. */
static int check_log(struct ww_trace *t, bool *lost, struct ww_error *err)
{
	enum ww_log log = missing_log(t->path);

	*lost = log == WW_LOG_REST;
	if (log == WW_LOG_FOREIGN)
		return fail_foreign(t->path, err);
	if (log != WW_LOG_ALL)
		return 0;
	return ww_fail(err, -ENOENT,
		       "%s: its recorder has not closed it, and what it stored lies in %s-wal, "
		       "which is not here: copy both files",
		       t->path, t->path);
}

int ww_trace_connect(struct ww_trace *t, struct ww_error *err)
{
	bool lost = false;
	char state[16];
	int rc = check_log(t, &lost, err);

	if (rc == 0)
		rc = open_read(t, err);
	if (rc == 0)
		rc = ww_trace_check_kind(t, err);
	if (rc < 0)
		return rc;
	get_meta(t->db, WW_META_STATE, state, sizeof(state));
	if (ww_sql_register(t->db) != SQLITE_OK)
		return ww_fail_nomem(err);
	t->keep = true;
	if (in_wal(t->db)) {
		bool died = strcmp(state, WW_STATE_LIVE) == 0 && !ww_recorder_lives(t->db);
		bool closed = strcmp(state, WW_STATE_LIVE) != 0;

		if (died && lost)
			t->log = WW_LOG_LOST;
		if (died || closed) {
			sqlite3_close(t->db);
			t->db = NULL;
			mend(t->path, died, died && lost);
			rc = open_read(t, err);
			if (rc < 0)
				return rc;
		}
		t->keep = !closed || !in_wal(t->db);
	}
	return 0;
}
