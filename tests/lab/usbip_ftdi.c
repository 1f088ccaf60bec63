/* SPDX-License-Identifier: MIT */
/*
 * An FT232R that is plugged into vhci-hcd (USB/IP's virtual host controller), in a
 * machine without one. It behaves as the chip does towards the host: packets of two
 * status bytes and up to 62 of data, sent when 62 wait, when the event character came,
 * and each time the latency timer runs out, with data or without.
 *
 *	usbip_ftdi --control FIFO [--log FILE] [--wire TTY] [--serial TEXT] [--port N]
 *
 * What stands at its RX pin is what it is told to feed, or what the terminal TTY (an
 * emulated meter's) writes; what the host sends goes there. LOG gets a record of 24
 * bytes for each byte: CLOCK_BOOTTIME before it was put into the chip's buffer, how long
 * that took, the byte, whether it was lost, and when the chip sent it to the host. Orders
 * are read from FIFO, a line each: plug [PORT], unplug, feed N, tell FILE, quit. PORT is the
 * controller's, from 0. "loop 1" connects TX with RX. "blink N" changes CTS (pin D3 as
 * well) N times; FILE of --lines gets a line for each: CLOCK_BOOTTIME before and after,
 * level, when the host was told.
 */
#include "usbip_ftdi.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
	uint8_t queue[65536];
	size_t n, at;
	unsigned long to_feed, fed, lost;
	uint8_t value;
	uint32_t random;
	int64_t next_ns, last_ns;
	int loop;
	unsigned long to_blink;
	struct {
		int64_t before_ns, after_ns; /* not told to the host yet; 0: it is */
	} edge;
	int64_t blink_ns;
	FILE *log, *lines;
};

static struct chip chip;
static struct record in_chip[FIFO_MAX];
static struct line line = {.wire = -1, .random = 1, .next_ns = INT64_MAX, .blink_ns = INT64_MAX};
static int control;
static unsigned port;

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

	r.fate = chip.usb.sock < 0 || !chip_receive(&chip, byte);
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
	if (line.edge.before_ns && line.lines)
		fprintf(line.lines, "%lld %lld %d %lld\n", (long long)line.edge.before_ns,
			(long long)line.edge.after_ns, (chip.modem & 0x10) != 0, (long long)t);
	line.edge.before_ns = 0;
	if (line.log)
		fwrite(in_chip, sizeof(in_chip[0]), n, line.log);
	memmove(in_chip, in_chip + n, left * sizeof(in_chip[0]));
}

/* What the chip sent to itself keeps the line's rate, also where this program was late. */
static void loop_turn(void)
{
	for (int i = 0; i < 64 && line.at < line.n && now_ns() >= line.next_ns; i++) {
		/* No machine that stood still for too long loses anything here. */
		if (chip.n == FIFO_MAX) {
			line.next_ns = now_ns() + CHAR_NS;
			return;
		}
		arrive(line.queue[line.at++]);
		line.next_ns += CHAR_NS;
	}
	if (line.at == line.n)
		line.next_ns = INT64_MAX;
}

static void line_turn(void)
{
	if (now_ns() < line.next_ns)
		return;
	if (line.loop) {
		loop_turn();
		return;
	}
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

/* A modem input changes, and a pin of the data bus with it. */
static void blink_turn(void)
{
	int64_t before = now_ns();

	if (before < line.blink_ns)
		return;
	if (line.edge.before_ns) { /* one after the other */
		line.blink_ns = before + 2000000;
		return;
	}
	chip.modem ^= 0x10;
	chip.pins ^= 0x08;
	chip.modem_changed = 1;
	line.edge.before_ns = before;
	line.edge.after_ns = now_ns();
	line.random = line.random * 1664525u + 1013904223u;
	line.blink_ns =
		--line.to_blink ? now_ns() + 4000000 + (line.random >> 8) % 50000000 : INT64_MAX;
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
		usbip_die(&chip.usb, path);
	cfmakeraw(&t);
	tcsetattr(line.wire, TCSANOW, &t);
}

/* What the host sends leaves at once; the meter's side is a terminal, which takes it. */
static void to_wire(const uint8_t *data, size_t n)
{
	if (line.loop) {
		if (line.at == line.n) {
			line.at = line.n = 0;
			line.next_ns = now_ns() + CHAR_NS;
		}
		n = n < sizeof(line.queue) - line.n ? n : sizeof(line.queue) - line.n;
		memcpy(line.queue + line.n, data, n);
		line.n += n;
		return;
	}
	if (line.wire >= 0 && write(line.wire, data, n) != (ssize_t)n)
		fprintf(stderr, "usbip_ftdi: the wire took less\n");
}

/* ------------------------------------------------------------------- the orders */

static void plug(void)
{
	chip_power_on(&chip);
	usbip_plug(&chip.usb, port, 2);
}

static void tell(const char *path)
{
	char part[1100];
	FILE *f;

	if (line.log)
		fflush(line.log);
	if (line.lines)
		fflush(line.lines);
	snprintf(part, sizeof(part), "%s.part", path);
	f = fopen(part, "w");
	if (!f)
		usbip_die(&chip.usb, part);
	fprintf(f,
		"plugged=%d\nlatency=%u\nevent=%d\nbaud=%u\nframe=%u\ndtr=%d\nrts=%d\n"
		"to_blink=%lu\nto_feed=%lu\nfed=%lu\nlost=%lu\nwaiting=%zu\nqueued=%zu\nunlinked=%"
		"lu\n"
		"packets=%lu\nmost_urbs=%zu\n",
		chip.usb.sock >= 0, chip.latency_ms, chip.event, chip.baud, chip.frame, chip.dtr,
		chip.rts, line.to_blink, line.to_feed + (line.n - line.at), line.fed, line.lost,
		chip.n, chip.usb.urbs, chip.usb.unlinked, chip.packets, chip.usb.most_urbs);
	fclose(f);
	rename(part, path);
}

static int order(char *s)
{
	if (!strcmp(s, "plug")) {
		plug();
	} else if (!strncmp(s, "plug ", 5)) {
		port = (unsigned)atoi(s + 5);
		plug();
	} else if (!strcmp(s, "unplug")) {
		usbip_unplug(&chip.usb);
	} else if (!strncmp(s, "feed ", 5)) {
		line.to_feed += strtoul(s + 5, NULL, 10);
		line.last_ns = now_ns();
		plan_next();
	} else if (!strncmp(s, "loop ", 5)) {
		line.loop = atoi(s + 5);
	} else if (!strncmp(s, "blink ", 6)) {
		line.to_blink = strtoul(s + 6, NULL, 10);
		line.blink_ns = now_ns();
	} else if (!strncmp(s, "tell ", 5)) {
		tell(s + 5);
	} else if (!strcmp(s, "quit")) {
		return 0;
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
			{.fd = chip.usb.sock, .events = POLLIN},
			{.fd = line.at < line.n ? -1 : line.wire, .events = POLLIN},
		};
		struct timespec ts;

		due = line.next_ns < due ? line.next_ns : due;
		due = line.blink_ns < due ? line.blink_ns : due;
		wait = due == INT64_MAX ? NS : due - now_ns();
		wait = wait < 0 ? 0 : wait;
		ts = (struct timespec){wait / NS, wait % NS};
		if (ppoll(p, 3, &ts, NULL) < 0 && errno != EINTR)
			usbip_die(&chip.usb, "poll");
		line_turn();
		blink_turn();
		if (p[1].revents && usbip_serve(&chip.usb) < 0)
			usbip_unplug(&chip.usb);
		if (p[2].revents)
			wire_ready();
		if (chip.usb.sock >= 0)
			chip_turn(&chip);
		if (p[0].revents && !usbip_orders(control, order))
			return;
	}
}

int main(int argc, char **argv)
{
	const char *fifo = NULL, *serial = "WW000001";

	chip = (struct chip){.sent = to_wire, .leave = leave};
	chip_init(&chip, NULL);
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--control"))
			fifo = argv[i + 1];
		else if (!strcmp(argv[i], "--log"))
			line.log = fopen(argv[i + 1], "wb");
		else if (!strcmp(argv[i], "--lines"))
			line.lines = fopen(argv[i + 1], "w");
		else if (!strcmp(argv[i], "--wire"))
			wire_open(argv[i + 1]);
		else if (!strcmp(argv[i], "--serial"))
			serial = argv[i + 1];
		else if (!strcmp(argv[i], "--port"))
			port = (unsigned)atoi(argv[i + 1]);
	}
	chip_init(&chip, serial);
	control = usbip_control_open(&chip.usb, fifo);
	plug();
	loop();
	return 0;
}
