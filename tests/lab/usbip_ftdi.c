/* SPDX-License-Identifier: MIT */
/*
 * An FT232R that is plugged into vhci-hcd (USB/IP's virtual host controller), in a
 * machine without one. It behaves as the chip does towards the host: packets of two
 * status bytes and up to 62 of data, sent when 62 wait, when the event character came,
 * and each time the latency timer runs out, with data or without.
 *
 *	usbip_ftdi --control FIFO [--log FILE] [--wire TTY] [--serial TEXT]
 *
 * What stands at its RX pin is what it is told to feed, or what the terminal TTY (an
 * emulated meter's) writes; what the host sends goes there. LOG gets a record of 24
 * bytes for each byte: CLOCK_BOOTTIME before it was put into the chip's buffer, how long
 * that took, the byte, whether it was lost, and when the chip sent it to the host. Orders
 * are read from FIFO, a line each: plug, unplug, feed N, tell FILE, quit.
 */
#include "usbip_ftdi.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NS	1000000000LL
#define CHAR_NS (10 * NS / 115200)

struct record {
	int64_t before_ns;
	uint32_t took_ns;
	uint8_t byte;
	uint8_t fate; /* 0 in the chip, 1 lost */
	uint16_t reserved;
	int64_t sent_ns; /* to the host */
};

/* What stands on the line in front of the chip. */
struct line {
	int wire; /* -1: none */
	uint8_t queue[512];
	size_t n, at;
	unsigned long to_feed, fed, lost;
	uint8_t value;
	uint32_t random;
	int64_t next_ns, last_ns;
	FILE *log;
};

static struct chip chip;
static struct record in_chip[FIFO_MAX];
static struct line line = {.wire = -1, .random = 1, .next_ns = INT64_MAX};
static int control;

int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

void die(const char *what)
{
	fprintf(stderr, "usbip_ftdi: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* -------------------------------------------------------------------- the line */

/* Never faster than the line: bytes in a row, short and long gaps between them. */
static void plan_next(void)
{
	uint32_t x = line.random = line.random * 1664525u + 1013904223u;
	int64_t gap = 0;

	if (x >> 30 == 0)
		gap = (x >> 8) % 3000000;
	else if (x >> 28 == 4)
		gap = (x >> 8) % 40000000;
	line.next_ns = line.last_ns + CHAR_NS + gap;
}

static void arrive(uint8_t byte)
{
	struct record r = {.before_ns = now_ns(), .byte = byte};

	r.fate = chip.sock < 0 || !chip_receive(&chip, byte);
	line.last_ns = now_ns();
	r.took_ns = (uint32_t)(line.last_ns - r.before_ns);
	line.lost += r.fate;
	if (!r.fate)
		in_chip[chip.n - 1] = r;
	else if (line.log)
		fwrite(&r, sizeof(r), 1, line.log);
}

/* The chip's oldest n bytes leave it. */
static void leave(size_t n, size_t left, int64_t t)
{
	for (size_t i = 0; i < n; i++)
		in_chip[i].sent_ns = t;
	if (line.log)
		fwrite(in_chip, sizeof(in_chip[0]), n, line.log);
	memmove(in_chip, in_chip + n, left * sizeof(in_chip[0]));
}

static void line_turn(void)
{
	if (now_ns() < line.next_ns)
		return;
	if (line.to_feed) {
		arrive(line.value);
		line.value = (uint8_t)((line.value + 7) % 251);
		line.fed++;
		line.to_feed--;
	} else if (line.at < line.n) {
		arrive(line.queue[line.at++]);
	}
	if (line.to_feed)
		plan_next();
	else
		line.next_ns = line.at < line.n ? line.last_ns + CHAR_NS : INT64_MAX;
}

static void wire_ready(void)
{
	ssize_t n = read(line.wire, line.queue, sizeof(line.queue));

	if (n <= 0)
		return;
	line.n = (size_t)n;
	line.at = 0;
	line.next_ns = now_ns() + CHAR_NS;
}

static void wire_open(const char *path)
{
	struct termios t;

	line.wire = open(path, O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (line.wire < 0 || tcgetattr(line.wire, &t))
		die(path);
	cfmakeraw(&t);
	tcsetattr(line.wire, TCSANOW, &t);
}

/* What the host sends leaves at once; the meter's side is a terminal, which takes it. */
static void to_wire(const uint8_t *data, size_t n)
{
	if (line.wire >= 0 && write(line.wire, data, n) != (ssize_t)n)
		fprintf(stderr, "usbip_ftdi: the wire took less\n");
}

/* ------------------------------------------------------------------- the orders */

/*
 * What a controller's interrupt does is here done by two threads of the kernel: they
 * must not wait for a recorder with real-time priority, as no interrupt would.
 */
static void hurry_vhci(void)
{
	struct sched_param sp = {.sched_priority = 79};
	char path[300], name[32];
	struct dirent *e;
	DIR *d = opendir("/proc");
	FILE *f;

	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && !strncmp(name, "vhci_", 5))
			sched_setscheduler(atoi(e->d_name), SCHED_FIFO, &sp);
		fclose(f);
	}
	if (d)
		closedir(d);
}

static void plug(void)
{
	int fds[2], sys, n;
	char text[64];

	if (chip.sock >= 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		die("plug");
	/* port, socket, device, speed 2: full */
	n = snprintf(text, sizeof(text), "0 %d 65537 2", fds[0]);
	for (int i = 0;; i++) {
		sys = open("/sys/devices/platform/vhci_hcd.0/attach", O_WRONLY);
		if (sys < 0)
			die("vhci_hcd");
		if (write(sys, text, (size_t)n) == n)
			break;
		/* The port is being emptied of what was unplugged. */
		if (i == 500)
			die("attach");
		close(sys);
		usleep(10000);
	}
	close(sys);
	close(fds[0]);
	chip_power_on(&chip, fds[1]);
	hurry_vhci();
}

static void tell(const char *path)
{
	char part[1100];
	FILE *f;

	if (line.log)
		fflush(line.log);
	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "w");
	if (!f)
		die(part);
	fprintf(f,
		"plugged=%d\nlatency=%u\nevent=%d\nbaud=%u\nframe=%u\ndtr=%d\nrts=%d\n"
		"to_feed=%lu\nfed=%lu\nlost=%lu\nwaiting=%zu\nqueued=%zu\nunlinked=%lu\n"
		"packets=%lu\nmost_urbs=%zu\n",
		chip.sock >= 0, chip.latency_ms, chip.event, chip.baud, chip.frame, chip.dtr,
		chip.rts, line.to_feed + (line.n - line.at), line.fed, line.lost, chip.n, chip.urbs,
		chip.unlinked, chip.packets, chip.most_urbs);
	fclose(f);
	rename(part, path);
}

static int order(char *s)
{
	if (!strcmp(s, "plug")) {
		plug();
	} else if (!strcmp(s, "unplug")) {
		close(chip.sock);
		chip.sock = -1;
	} else if (!strncmp(s, "feed ", 5)) {
		line.to_feed += strtoul(s + 5, NULL, 10);
		line.last_ns = now_ns();
		plan_next();
	} else if (!strncmp(s, "tell ", 5)) {
		tell(s + 5);
	} else if (!strcmp(s, "quit")) {
		return 0;
	}
	return 1;
}

static int control_ready(void)
{
	static char buf[1024];
	static size_t n;
	ssize_t got = read(control, buf + n, sizeof(buf) - 1 - n);
	char *end;

	if (got <= 0)
		return 1;
	n += (size_t)got;
	buf[n] = '\0';
	while ((end = strchr(buf, '\n'))) {
		*end = '\0';
		if (!order(buf))
			return 0;
		n -= (size_t)(end + 1 - buf);
		memmove(buf, end + 1, n + 1);
	}
	return 1;
}

/* --------------------------------------------------------------------- the loop */

static void loop(void)
{
	for (;;) {
		int64_t due = chip_due(&chip), wait;
		struct pollfd p[3] = {
			{.fd = control, .events = POLLIN},
			{.fd = chip.sock, .events = POLLIN},
			{.fd = line.at < line.n ? -1 : line.wire, .events = POLLIN},
		};
		struct timespec ts;

		due = line.next_ns < due ? line.next_ns : due;
		wait = due == INT64_MAX ? NS : due - now_ns();
		wait = wait < 0 ? 0 : wait;
		ts = (struct timespec){wait / NS, wait % NS};
		if (ppoll(p, 3, &ts, NULL) < 0 && errno != EINTR)
			die("poll");
		line_turn();
		if (p[1].revents && chip_serve(&chip) < 0) {
			close(chip.sock);
			chip.sock = -1;
		}
		if (p[2].revents)
			wire_ready();
		if (chip.sock >= 0)
			chip_turn(&chip);
		if (p[0].revents && !control_ready())
			return;
	}
}

int main(int argc, char **argv)
{
	/* A chip is not kept waiting by what the machine does. */
	struct sched_param sp = {.sched_priority = 80};
	const char *fifo = NULL;

	chip = (struct chip){.sock = -1, .serial = "WW000001", .sent = to_wire, .leave = leave};
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--control"))
			fifo = argv[i + 1];
		else if (!strcmp(argv[i], "--log"))
			line.log = fopen(argv[i + 1], "wb");
		else if (!strcmp(argv[i], "--wire"))
			wire_open(argv[i + 1]);
		else if (!strcmp(argv[i], "--serial"))
			chip.serial = argv[i + 1];
	}
	if (!fifo || (mkfifo(fifo, 0600) && errno != EEXIST))
		die("--control FIFO");
	control = open(fifo, O_RDWR | O_NONBLOCK);
	if (control < 0)
		die(fifo);
	prctl(PR_SET_TIMERSLACK, 1UL);
	sched_setscheduler(0, SCHED_FIFO, &sp);
	plug();
	loop();
	return 0;
}
