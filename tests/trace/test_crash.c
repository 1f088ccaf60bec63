/* SPDX-License-Identifier: MIT */
/*
 * What happens to a trace when its recorder is killed, its disk is full, its folder is
 * read-only, or a follower stops following.
 */
#include "../part.h"
#include "common.h"

#include <sched.h>
#include <stdbool.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Seconds. */
#define DAY (86400 / TEST_PART)

#define KILLS 200

/* Row i has code i, so that a reader can tell that it lost or repeated nothing. */
static int write_row(struct ww_writer *w, int64_t i, struct ww_error *err)
{
	int64_t lo = i * 1000, hi = i * 1000 + 500;

	return ww_writer_samples(w, 1, 1, &lo, &hi, &i, err);
}

/* Write and acknowledge on fd, until killed. */
static void record(const char *path, int fd)
{
	struct ww_writer *w;
	struct ww_error err = {0};

	if (ww_writer_open(path, NULL, &w, &err) < 0)
		_exit(1);
	add_meter(w, "meter", 1);
	for (int64_t i = 0;;) {
		for (int k = 0; k < 700; k++)
			if (write_row(w, i++, &err) < 0)
				_exit(2);
		if (ww_writer_commit(w, &err) < 0 || write(fd, &i, sizeof(i)) != sizeof(i))
			_exit(3);
	}
}

/* All rows 0...n-1 are there, in order. @return n */
static int64_t check_rows(struct ww_trace *t)
{
	struct ww_error err = {0};
	struct ww_cursor *c;
	struct ww_batch b;
	int64_t n = 0;
	int rc;

	if (ww_trace_source_count(t) == 0)
		return 0;
	rc = ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, &err);
	while (rc >= 0 && (rc = ww_cursor_next(c, &b, &err)) > 0)
		for (size_t i = 0; i < b.n; i++, n++)
			assert_int_equal(b.codes[0][i], n);
	if (rc < 0)
		fail_msg("%s", err.text);
	ww_cursor_close(c);
	return n;
}

static void check_integrity(const char *path)
{
	sqlite3 *db;
	sqlite3_stmt *st;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &st, NULL);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(st, 0), "ok");
	sqlite3_finalize(st);
	sqlite3_close(db);
}

/* A recorder that is killed `us` after its first acknowledgement. @return rows acknowledged */
static int64_t kill_recorder(const char *path, long us)
{
	struct timespec wait = {.tv_nsec = us * 1000};
	int64_t done = 0, i;
	int p[2];
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0)
		record(path, p[1]);
	close(p[1]);
	assert_int_equal(read(p[0], &done, sizeof(done)), sizeof(done));
	nanosleep(&wait, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(p[0], &i, sizeof(i)) == sizeof(i))
		done = i;
	close(p[0]);
	return done;
}

static void test_killed(void **state)
{
	uint64_t seed = 4711;

	(void)state;
	for (int k = 0; k < KILLS; k++) {
		const char *path = at("killed.wwt");
		int64_t done = kill_recorder(path, (long)(next_random(&seed) % 25000));
		struct ww_trace *t;

		OK(ww_trace_open(path, &t, err));
		assert_int_equal(ww_trace_state(t), WW_TRACE_UNCLOSED);
		assert_true(check_rows(t) >= done);
		ww_trace_close(t);
		assert_int_equal(access(at("killed.wwt-wal"), F_OK), -1);
		check_integrity(path);
		/* Mended once, it stays so. */
		OK(ww_trace_open(path, &t, err));
		assert_int_equal(ww_trace_state(t), WW_TRACE_UNCLOSED);
		ww_trace_close(t);
		unlink(path);
	}
}

/* A follower sees that its recorder died, and has everything up to the last commit. */
static void test_death_is_seen(void **state)
{
	int64_t done = 0, i;
	struct ww_trace *t;
	int p[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0)
		record(at("dies.wwt"), p[1]);
	close(p[1]);
	assert_int_equal(read(p[0], &done, sizeof(done)), sizeof(done));
	OK(ww_trace_open(at("dies.wwt"), &t, err));
	assert_int_equal(ww_trace_state(t), WW_TRACE_LIVE);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(p[0], &i, sizeof(i)) == sizeof(i))
		done = i;
	close(p[0]);
	assert_int_equal(ww_trace_refresh(t, NULL), 1);
	assert_int_equal(ww_trace_state(t), WW_TRACE_UNCLOSED);
	assert_true(check_rows(t) >= done);
	ww_trace_close(t);
}

/* Run in a child, as nobody where we are root; its assertions count by its exit status. */
static void in_child(void (*run)(void), bool drop)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (drop && geteuid() == 0 && setuid(65534) != 0)
			_exit(99);
		run();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void child_reads_closed(void)
{
	struct ww_error err = {0};
	struct ww_trace *t;

	if (ww_trace_open(at("ro/closed.wwt"), &t, &err) < 0)
		_exit(1);
	if (ww_trace_state(t) != WW_TRACE_CLOSED ||
	    ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, &err) != 100)
		_exit(2);
	ww_trace_close(t);
}

static int64_t acknowledged;

/* Not closed, and nothing can be mended: it is read, or the way out is told. */
static void child_reads_unclosed(void)
{
	struct ww_error err = {0};
	struct ww_trace *t;

	if (ww_trace_open(at("ro/unclosed.wwt"), &t, &err) < 0)
		_exit(strstr(err.text, "copy both files into a writable folder") ? 0 : 1);
	if (ww_trace_state(t) != WW_TRACE_UNCLOSED)
		_exit(2);
	if (ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, &err) < acknowledged)
		_exit(3);
	ww_trace_close(t);
}

static void test_read_only(void **state)
{
	struct ww_writer *w;

	(void)state;
	mkdir(at("ro"), 0755);
	chmod(folder, 0755);
	OK(ww_writer_open(at("ro/closed.wwt"), NULL, &w, err));
	add_meter(w, "meter", 1);
	for (int64_t i = 0; i < 100; i++)
		assert_int_equal(write_row(w, i, NULL), 0);
	OK(ww_writer_close(w, err));
	acknowledged = kill_recorder(at("ro/unclosed.wwt"), 3000);
	assert_int_equal(access(at("ro/unclosed.wwt-wal"), F_OK), 0);
	chmod(at("ro/closed.wwt"), 0444);
	chmod(at("ro/unclosed.wwt"), 0444);
	chmod(at("ro/unclosed.wwt-wal"), 0444);
	chmod(at("ro"), 0555);
	in_child(child_reads_closed, true);
	in_child(child_reads_unclosed, true);
	/* Without the index that the recorder left, too. */
	chmod(at("ro"), 0755);
	unlink(at("ro/unclosed.wwt-shm"));
	chmod(at("ro"), 0555);
	in_child(child_reads_unclosed, true);
	chmod(at("ro"), 0755);
}

/* Write rows of noise until it fails; then what was committed must be there. */
static void fill_up(const char *path, int expect1, int expect2)
{
	struct ww_error err = {0};
	struct ww_writer *w;
	struct ww_trace *t;
	uint64_t seed = 5;
	int64_t i = 0, done = 0;
	int rc = ww_writer_open(path, NULL, &w, &err);

	if (rc < 0)
		_exit(10);
	add_meter(w, "meter", 2);
	while (rc >= 0) {
		for (int k = 0; k < 2000 && rc >= 0; k++, i++) {
			int64_t lo = i * 1000, code[2] = {i, (int64_t)next_random(&seed)};

			rc = ww_writer_samples(w, 1, 1, &lo, &lo, code, &err);
		}
		if (rc >= 0)
			rc = ww_writer_commit(w, &err);
		if (rc >= 0)
			done = i;
		if (i > 10000000)
			_exit(11);
	}
	if (rc != expect1 && rc != expect2)
		_exit(12);
	if (strncmp(err.text, path, strlen(path)) != 0 || done == 0)
		_exit(13);
	ww_writer_close(w, NULL);
	ww_error_clear(&err);
	if (ww_trace_open(path, &t, &err) < 0)
		_exit(14);
	if (check_rows(t) < 0)
		_exit(15);
	if (ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, &err) < done)
		_exit(16);
	ww_trace_close(t);
}

static void child_fills_limit(void)
{
	struct rlimit r = {3000000, 3000000};

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &r);
	/* Rows are compared by the parent's helper: only the first column counts. */
	fill_up(at("limit.wwt"), -EFBIG, -ENOSPC);
}

static const char *tmpfs_size;

static void child_fills_tmpfs(void)
{
	char options[32];

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		_exit(0); /* not allowed here: RLIMIT_FSIZE has shown the rest */
	mkdir(at("small"), 0755);
	snprintf(options, sizeof(options), "size=%s", tmpfs_size);
	if (mount("none", at("small"), "tmpfs", 0, options) != 0)
		_exit(0);
	fill_up(at("small/t.wwt"), -ENOSPC, -ENOSPC);
	if (access(at("small/t.wwt-wal"), F_OK) == 0)
		_exit(17);
}

/* No room even to begin: nothing is left behind. */
static void child_cannot_begin(void)
{
	struct ww_error why = {0};
	struct ww_writer *w;

	if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		_exit(0);
	mkdir(at("small"), 0755);
	if (mount("none", at("small"), "tmpfs", 0, "size=200k") != 0)
		_exit(0);
	if (ww_writer_open(at("small/t.wwt"), NULL, &w, &why) != -ENOSPC)
		_exit(1);
	if (!strstr(why.text, "disk full") || access(at("small/t.wwt"), F_OK) == 0)
		_exit(2);
}

static void test_disk_full(void **state)
{
	static const char *const sizes[] = {"1m", "2m", "3m", "5m"};

	(void)state;
	in_child(child_fills_limit, false);
	in_child(child_cannot_begin, false);
	for (size_t i = 0; i < 4; i++) {
		tmpfs_size = sizes[i];
		in_child(child_fills_tmpfs, false);
	}
}

static off_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_size : 0;
}

/* A day at a row a second, each committed, while a follower has stopped looking. */
static void test_stalled_follower(void **state)
{
	char dir[] = "/dev/shm/wwtest.XXXXXX", path[96], wal[112];
	bool shm = mkdtemp(dir) != NULL;
	struct ww_writer *w;
	struct ww_trace *t;
	struct ww_cursor *c;
	struct ww_batch b;
	uint64_t seed = 3;
	off_t most = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/day.wwt", shm ? dir : folder);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	OK(ww_writer_open(path, NULL, &w, err));
	add_meter(w, "meter", 1);
	assert_int_equal(write_row(w, 0, NULL), 0);
	OK(ww_writer_commit(w, err));
	OK(ww_trace_open(path, &t, err));
	OK(ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, err));
	assert_int_equal(ww_cursor_next(c, &b, NULL), 1);
	for (int64_t i = 1; i < DAY; i++) {
		int64_t hi = i * 1000000000 + (int64_t)(next_random(&seed) % 300000);
		int64_t lo = hi - 1000000, code = 250 + (int64_t)(next_random(&seed) % 8);

		OK(ww_writer_samples(w, 1, 1, &lo, &hi, &code, err));
		OK(ww_writer_commit(w, err));
		if (i % 100 == 0 && size_of(wal) > most)
			most = size_of(wal);
	}
	assert_true(most < 2 << 20);
	assert_true(size_of(path) < 1 << 20);
	/* It wakes up and has missed nothing. */
	OK(ww_trace_refresh(t, err));
	assert_int_equal(ww_trace_rows(t, 1, WW_TIME_MIN, WW_TIME_MAX, NULL), DAY);
	ww_cursor_close(c);
	ww_trace_close(t);
	OK(ww_writer_close(w, err));
	assert_true(size_of(path) < 1 << 20);
	assert_int_equal(access(wal, F_OK), -1);
	unlink(path);
	if (shm)
		rmdir(dir);
}

/* A follower of a recorder that closes lets go, so that one plain file remains. */
static void test_close_with_follower(void **state)
{
	struct ww_error err = {0};
	struct ww_trace *t;
	int p[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(p), 0);
	pid = fork();
	if (pid == 0) {
		struct ww_writer *w;

		if (ww_writer_open(at("let.wwt"), NULL, &w, &err) < 0)
			_exit(1);
		add_meter(w, "meter", 1);
		for (int64_t i = 0; i < 5000; i++)
			if (write_row(w, i, &err) < 0)
				_exit(2);
		if (ww_writer_commit(w, &err) < 0 || write(p[1], "x", 1) != 1)
			_exit(3);
		usleep(50000);
		_exit(ww_writer_close(w, &err) < 0 ? 4 : 0);
	}
	assert_int_equal(read(p[0], &byte, 1), 1);
	assert_int_equal(ww_trace_open(at("let.wwt"), &t, &err), 0);
	assert_int_equal(ww_trace_state(t), WW_TRACE_LIVE);
	while (ww_trace_state(t) == WW_TRACE_LIVE) {
		assert_true(ww_trace_refresh(t, &err) >= 0);
		usleep(5000);
	}
	assert_int_equal(check_rows(t), 5000);
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	assert_int_equal(access(at("let.wwt-wal"), F_OK), -1);
	assert_int_equal(check_rows(t), 5000);
	ww_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_killed),
					   cmocka_unit_test(test_death_is_seen),
					   cmocka_unit_test(test_read_only),
					   cmocka_unit_test(test_disk_full),
					   cmocka_unit_test(test_close_with_follower),
					   cmocka_unit_test(test_stalled_follower)};

	return cmocka_run_group_tests_name("crash", tests, make_folder, remove_folder);
}
