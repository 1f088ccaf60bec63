/* SPDX-License-Identifier: MIT */
/*
 * A table of a million lines becomes a trace; beside it the same lines through fgets()
 * and strtod() alone, which keep nothing but a sum.
 */
#include <wakewatt.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LINES 1000000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int make(const char *path, int stamps)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -1;
	fputs("time,power_W\n", f);
	for (int i = 0; i < LINES; i++) {
		int s = i / 100, r = i % 1000 * 7919 % 1000;

		if (stamps)
			fprintf(f, "2023-11-14 %02d:%02d:%02d.%02d,%d.%03d\n", s / 3600,
				s / 60 % 60, s % 60, i % 100, 25 + i % 3, r);
		else
			fprintf(f, "%d.%02d,%d.%03d\n", s, i % 100, 25 + i % 3, r);
	}
	return fclose(f);
}

static double peer(const char *path, double *sum)
{
	double from = now();
	FILE *f = fopen(path, "r");
	char line[256], *end;

	while (f && fgets(line, sizeof(line), f)) {
		*sum += strtod(line, &end);
		if (*end == ',')
			*sum += strtod(end + 1, NULL);
	}
	if (f)
		fclose(f);
	return now() - from;
}

static double ours(const char *path)
{
	struct ww_error err = {0};
	struct ww_trace *t;
	double from = now();

	if (ww_import_open(path, NULL, &t, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	from = now() - from;
	ww_trace_close(t);
	return from;
}

int main(void)
{
	static const char *const what[] = {"seconds", "dates"};
	char path[] = "/tmp/wwbench.XXXXXX";
	int fd = mkstemp(path);
	double sum = 0;

	if (fd < 0)
		return 1;
	close(fd);
	for (int i = 0; i < 2; i++) {
		double a = 1e9, b = 1e9;

		if (make(path, i) != 0)
			return 1;
		for (int k = 0; k < 3; k++) {
			double x = ours(path), y = peer(path, &sum);

			a = x < a ? x : a;
			b = y < b ? y : b;
		}
		printf("%-8s %d lines: import %.2f s, fgets and strtod %.2f s, ratio %.1f\n",
		       what[i], LINES, a, b, a / b);
	}
	unlink(path);
	return sum > 0 ? 0 : 1;
}
