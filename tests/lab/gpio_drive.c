/* SPDX-License-Identifier: MIT */
/*
 * Drives a line of gpio-sim and logs when: gpio_drive PULL N LOG [MS]
 *
 * Writes pull-up and pull-down to PULL in turn, N times, MS (1) to MS + 19 ms apart. LOG gets
 * a line each: CLOCK_BOOTTIME in ns before and after the write, and the level.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	static const char *const pull[] = {"pull-down", "pull-up"};
	int least = argc == 5 ? atoi(argv[4]) : 1;
	int fd = argc >= 4 && least > 0 && least < 900 ? open(argv[1], O_WRONLY) : -1;
	FILE *log = fd >= 0 ? fopen(argv[3], "w") : NULL;
	uint32_t x = 1;

	if (!log) {
		fprintf(stderr, "Usage: gpio_drive PULL N LOG [MS]\n");
		return 2;
	}
	for (int i = 1; i <= atoi(argv[2]); i++) {
		const char *text = pull[i & 1];
		struct timespec ts = {0, 0};
		long long before;

		x = x * 1664525u + 1013904223u;
		ts.tv_nsec = 1000000L * least + (x >> 8) % 19000000;
		nanosleep(&ts, NULL);
		before = now_ns();
		if (pwrite(fd, text, strlen(text), 0) < 0) {
			perror(argv[1]);
			return 1;
		}
		fprintf(log, "%lld %lld %d\n", before, now_ns(), i & 1);
	}
	return fclose(log) != 0;
}
