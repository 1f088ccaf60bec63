/* SPDX-License-Identifier: MIT */
/*
 * The wires of a bench whose lines are simulated: gpio_wire PORT LOG NAME=VALUE[:PULL]...
 *
 * Watches the lines that the bench drives (VALUE, of gpio-sim) and tells their changes
 * on PORT, a serial port that leads to the machine which presses the buttons: "NAME LEVEL".
 * A line with PULL is wired to another one, which follows it. LOG gets a line for each
 * change: name, CLOCK_BOOTTIME of the look before and after it, level; and "NAME.pull" with
 * the time before and after that write. A 'T' from PORT is answered by the clock.
 * `gpio_wire kill PID` kills a process, and prints the clock right before.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define LINES 4

struct line {
	const char *name;
	int value, pull; /* descriptors; -1 none */
	char level;
	long long looked;
};

static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int open_port(const char *path)
{
	int fd = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
	struct termios t;

	if (fd >= 0 && tcgetattr(fd, &t) == 0) {
		cfmakeraw(&t);
		cfsetspeed(&t, B115200);
		tcsetattr(fd, TCSANOW, &t);
	}
	return fd;
}

static int parse(struct line *l, char *text)
{
	char *value = strchr(text, '='), *pull;

	if (!value)
		return -1;
	*value++ = '\0';
	pull = strchr(value, ':');
	if (pull)
		*pull++ = '\0';
	*l = (struct line){text, open(value, O_RDONLY), pull ? open(pull, O_WRONLY) : -1, 0, 0};
	return l->value < 0 || (pull && l->pull < 0) ? -1 : 0;
}

static void look(struct line *l, int port, FILE *log)
{
	static const char *const pull[] = {"pull-down", "pull-up"};
	long long before = now_ns(), after;
	char c = 0;

	if (pread(l->value, &c, 1, 0) != 1)
		return;
	after = now_ns();
	if (l->level && c != l->level) {
		if (l->pull >= 0) {
			long long begin = now_ns();

			if (pwrite(l->pull, pull[c - '0'], strlen(pull[c - '0']), 0) < 0)
				perror(l->name);
			fprintf(log, "%s.pull %lld %lld %c\n", l->name, begin, now_ns(), c);
		}
		dprintf(port, "%s %c\n", l->name, c);
		fprintf(log, "%s %lld %lld %c\n", l->name, l->looked, after, c);
		fflush(log);
	}
	l->level = c;
	l->looked = before;
}

int main(int argc, char **argv)
{
	const struct timespec pause = {0, 200000};
	struct line line[LINES];
	int port, n = 0;
	FILE *log;
	char c;

	if (argc == 3 && strcmp(argv[1], "kill") == 0) {
		long long at = now_ns();

		return kill(atoi(argv[2]), SIGKILL) < 0 || printf("%lld\n", at) < 0;
	}
	port = argc > 3 ? open_port(argv[1]) : -1;
	log = port >= 0 ? fopen(argv[2], "w") : NULL;
	for (; log && n < LINES && n + 3 < argc; n++)
		if (parse(&line[n], argv[n + 3]) < 0)
			log = NULL;
	if (!log) {
		fprintf(stderr, "Usage: gpio_wire PORT LOG NAME=VALUE[:PULL]...\n");
		return 2;
	}
	for (;;) {
		for (int i = 0; i < n; i++)
			look(&line[i], port, log);
		if (read(port, &c, 1) == 1 && c == 'T')
			dprintf(port, "T %lld\n", now_ns());
		nanosleep(&pause, NULL);
	}
}
