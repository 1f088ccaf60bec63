/* SPDX-License-Identifier: MIT */
/*
 * Storing and reading: rows of two 16-bit channels with noise of 4 counts, at
 * 100 000 rows a second of trace time; beside it the same rows in SQLite with a row
 * each, and in CSV. CPU is that of the whole process.
 */
#include <wakewatt.h>

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCH	   100 /* rows of one read: 1 ms */
#define PER_COMMIT 50000

static char folder[] = "/tmp/wwbench.XXXXXX";

static double cpu(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

/* Normal, Box and Muller. */
static int64_t noise(double sd)
{
	return llround(sd * sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform()));
}

struct batch {
	int64_t lo[BATCH], hi[BATCH], code[BATCH][2];
};

/* Made beforehand, so that only the storing is measured. */
static struct batch *make(size_t batches)
{
	struct batch *b = calloc(batches, sizeof(*b));
	int64_t t = 1000000000;

	for (size_t i = 0; b && i < batches; i++) {
		/* The loop reads every 1 ms, a little late each time. */
		int64_t hi = t + (int64_t)(i + 1) * 1000000 + (int64_t)(uniform() * 60000);

		for (int k = 0; k < BATCH; k++) {
			b[i].lo[k] = hi - 1050000;
			b[i].hi[k] = hi;
			b[i].code[k][0] = 24900 + noise(4);
			b[i].code[k][1] = 12000 + noise(4);
		}
	}
	return b;
}

static _Noreturn void die(const struct ww_error *err)
{
	fprintf(stderr, "bench_trace: %s\n", err->text);
	exit(1);
}

static void line(const char *what, double rows, double s, double bytes)
{
	printf("%-28s %8.2f million rows/s of one core", what, rows / s / 1e6);
	if (bytes > 0)
		printf(", %6.2f bytes a row", bytes / rows);
	printf("\n");
}

static void write_trace(const char *path, const struct batch *b, size_t batches)
{
	struct ww_source_info s = {.kind = WW_METER, .name = "meter"};
	struct ww_error err = {0};
	struct ww_writer *w;
	double start = cpu(), used;

	if (ww_writer_open(path, NULL, &w, &err) < 0 || ww_writer_source(w, &s, &err) < 0)
		die(&err);
	for (int k = 0; k < 2; k++) {
		struct ww_channel_info c = {.source = 1,
					    .name = k ? "voltage" : "power",
					    .unit = k ? "V" : "W",
					    .scale = 0.001};

		if (ww_writer_channel(w, &c, &err) < 0)
			die(&err);
	}
	for (size_t i = 0; i < batches; i++) {
		if (ww_writer_samples(w, 1, BATCH, b[i].lo, b[i].hi, b[i].code[0], &err) < 0)
			die(&err);
		if ((i + 1) % (PER_COMMIT / BATCH) == 0 && ww_writer_commit(w, &err) < 0)
			die(&err);
	}
	if (ww_writer_close(w, &err) < 0)
		die(&err);
	used = cpu() - start;
	line("wakewatt, write", (double)batches * BATCH, used, size_of(path));
	printf("%-28s %8.2f %% of one core at 100 000 rows/s\n", "",
	       100 * used / ((double)batches * BATCH / 100000));
}

static void read_trace(const char *path, double rows)
{
	struct ww_error err = {0};
	struct ww_trace *t;
	struct ww_cursor *c;
	struct ww_batch b;
	int64_t sum = 0, n = 0;
	double *v, start = cpu();
	size_t max = (size_t)rows;

	if (ww_trace_open(path, &t, &err) < 0 ||
	    ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, &err) < 0)
		die(&err);
	while (ww_cursor_next(c, &b, &err) > 0) {
		for (size_t i = 0; i < b.n; i++)
			sum += b.codes[0][i] + b.codes[1][i];
		n += (int64_t)b.n;
	}
	ww_cursor_close(c);
	line("wakewatt, read by cursor", (double)n, cpu() - start, 0);
	v = malloc(max * sizeof(*v));
	if (v) {
		memset(v, 0, max * sizeof(*v));
		start = cpu();
		n = ww_trace_read(t, 1, WW_TIME_MIN, WW_TIME_MAX, max, NULL, NULL, v, &err);
		line("wakewatt, read one channel", (double)n, cpu() - start, 0);
	}
	free(v);
	ww_trace_close(t);
	if (sum == 0)
		printf("nothing was read\n");
}

static void rows_in_sqlite(const char *path, const struct batch *b, size_t batches)
{
	sqlite3 *db;
	sqlite3_stmt *st;
	double start = cpu();
	int64_t sum = 0;

	sqlite3_open(path, &db);
	sqlite3_exec(db,
		     "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
		     "CREATE TABLE s(lo INTEGER, hi INTEGER, a INTEGER, b INTEGER); BEGIN",
		     NULL, NULL, NULL);
	sqlite3_prepare_v2(db, "INSERT INTO s VALUES(?,?,?,?)", -1, &st, NULL);
	for (size_t i = 0; i < batches; i++) {
		for (int k = 0; k < BATCH; k++) {
			sqlite3_bind_int64(st, 1, b[i].lo[k]);
			sqlite3_bind_int64(st, 2, b[i].hi[k]);
			sqlite3_bind_int64(st, 3, b[i].code[k][0]);
			sqlite3_bind_int64(st, 4, b[i].code[k][1]);
			sqlite3_step(st);
			sqlite3_reset(st);
		}
		if ((i + 1) % (PER_COMMIT / BATCH) == 0)
			sqlite3_exec(db, "COMMIT; BEGIN", NULL, NULL, NULL);
	}
	sqlite3_exec(db, "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	sqlite3_finalize(st);
	line("SQLite, a row each, write", (double)batches * BATCH, cpu() - start, size_of(path));
	start = cpu();
	sqlite3_prepare_v2(db, "SELECT lo, hi, a, b FROM s", -1, &st, NULL);
	while (sqlite3_step(st) == SQLITE_ROW)
		sum += sqlite3_column_int64(st, 0) + sqlite3_column_int64(st, 1) +
		       sqlite3_column_int64(st, 2) + sqlite3_column_int64(st, 3);
	line("SQLite, a row each, read", (double)batches * BATCH, cpu() - start, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	if (sum == 0)
		printf("nothing was read\n");
}

static void rows_in_csv(const char *path, const struct batch *b, size_t batches)
{
	double start = cpu();
	FILE *f = fopen(path, "w");
	long long v[4], sum = 0, n = 0;

	for (size_t i = 0; f && i < batches; i++)
		for (int k = 0; k < BATCH; k++)
			fprintf(f, "%lld,%lld,%lld,%lld\n", (long long)b[i].lo[k],
				(long long)b[i].hi[k], (long long)b[i].code[k][0],
				(long long)b[i].code[k][1]);
	if (!f || fclose(f) != 0)
		return;
	line("CSV, write", (double)batches * BATCH, cpu() - start, size_of(path));
	start = cpu();
	f = fopen(path, "r");
	while (f && fscanf(f, "%lld,%lld,%lld,%lld", &v[0], &v[1], &v[2], &v[3]) == 4) {
		sum += v[0] + v[1] + v[2] + v[3];
		n++;
	}
	line("CSV, read", (double)n, cpu() - start, 0);
	if (f)
		fclose(f);
	if (sum == 0)
		printf("nothing was read\n");
}

int main(int argc, char **argv)
{
	size_t batches = (argc > 1 ? strtoul(argv[1], NULL, 10) : 10000000) / BATCH;
	struct batch *b = make(batches);
	char path[64];

	if (!b || !mkdtemp(folder))
		return 1;
	printf("%zu rows of two 16-bit channels, noise of 4 counts, commits of %d rows\n",
	       batches * BATCH, PER_COMMIT);
	snprintf(path, sizeof(path), "%s/t.wwt", folder);
	write_trace(path, b, batches);
	read_trace(path, (double)batches * BATCH);
	unlink(path);
	batches = batches < 10000 ? batches : 10000; /* the slow ones: a million rows */
	snprintf(path, sizeof(path), "%s/t.db", folder);
	rows_in_sqlite(path, b, batches);
	unlink(path);
	snprintf(path, sizeof(path), "%s/t.csv", folder);
	rows_in_csv(path, b, batches);
	unlink(path);
	rmdir(folder);
	free(b);
	return 0;
}
