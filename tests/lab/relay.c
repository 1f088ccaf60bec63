/* SPDX-License-Identifier: MIT */
/*
 * The wire between a virtual machine's UART and the bench. QEMU's UART sends
 * a byte at once whatever its rate; here it takes the time of ten bits, and
 * what has not left holds the guest's UART back as a real one is held.
 *
 *	relay --fd N | --unix PATH  --pty LINK | --listen PATH  [--baud N] [--log FILE]
 *
 * The bench opens LINK (a pseudo-terminal) or connects to PATH, as often as it
 * likes. What arrives while nobody has it open is lost, as on a wire. LOG gets
 * a record of 16 bytes for each byte: when it was about to be handed over
 * (CLOCK_BOOTTIME, ns), how long that took, the byte, and what became of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL

enum fate { TO_BENCH = 0, LOST = 1, TO_DUT = 2 };

struct record {
	int64_t before_ns;
	uint32_t took_ns;
	uint8_t byte;
	uint8_t fate; /* enum fate */
	uint16_t reserved;
};

struct relay {
	int dut, bench, listener;
	const char *link;
	FILE *log;
	int64_t char_ns, down_at, up_at; /* when the line is free again, each way */
};

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int unix_socket(const char *path, int serve)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(path) >= sizeof(sa.sun_path))
		die(path);
	strcpy(sa.sun_path, path);
	if (!serve) {
		if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
			die(path);
		return fd;
	}
	unlink(path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) || listen(fd, 1))
		die(path);
	return fd;
}

/* Opened and closed once, so that the master knows that nobody has it open. */
static int pty_open(const char *link)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC), slave;
	struct termios t;

	if (fd < 0 || grantpt(fd) || unlockpt(fd))
		die("pty");
	slave = open(ptsname(fd), O_RDWR | O_NOCTTY);
	if (slave < 0 || tcgetattr(slave, &t))
		die(ptsname(fd));
	cfmakeraw(&t);
	tcsetattr(slave, TCSANOW, &t);
	close(slave);
	unlink(link);
	if (symlink(ptsname(fd), link))
		die(link);
	return fd;
}

/* Is the other end of the bench's side open? */
static int bench_there(const struct relay *r)
{
	struct pollfd p = {.fd = r->bench, .events = POLLIN};

	return r->bench >= 0 && poll(&p, 1, 0) >= 0 && !(p.revents & (POLLHUP | POLLERR));
}

static void note(struct relay *r, int64_t before, int64_t after, uint8_t byte, enum fate fate)
{
	struct record rec = {before, (uint32_t)(after - before), byte, (uint8_t)fate, 0};

	if (r->log)
		fwrite(&rec, sizeof(rec), 1, r->log);
}

static void bench_gone(struct relay *r)
{
	if (r->listener >= 0 && r->bench >= 0) {
		close(r->bench);
		r->bench = -1;
	}
}

static void sleep_until(int64_t t)
{
	struct timespec ts = {t / NS, t % NS};

	while (!stop && now_ns() < t)
		clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL);
}

/*
 * A byte that the guest's UART gave has travelled when its ten bits have. One that
 * waited for the byte before began when that ended. @return 0 if none waits
 */
static int from_dut(struct relay *r, int waited)
{
	int64_t before = now_ns(), begin = before;
	uint8_t byte;
	ssize_t n = recv(r->dut, &byte, 1, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		stop = 1;
	if (n <= 0)
		return 0;
	if (r->down_at > before || (waited && before - r->down_at < r->char_ns))
		begin = r->down_at;
	r->down_at = begin + r->char_ns;
	sleep_until(r->down_at);
	before = now_ns();
	n = -1;
	if (bench_there(r))
		n = r->listener < 0 ? write(r->bench, &byte, 1)
				    : send(r->bench, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	note(r, before, now_ns(), byte, n == 1 ? TO_BENCH : LOST);
	return 1;
}

static void from_bench(struct relay *r)
{
	int64_t before;
	uint8_t byte;
	ssize_t n = read(r->bench, &byte, 1);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		bench_gone(r);
		return;
	}
	if (n < 0)
		return;
	sleep_until(r->up_at);
	before = now_ns();
	r->up_at = before + r->char_ns;
	n = send(r->dut, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	note(r, before, now_ns(), byte, n == 1 ? TO_DUT : LOST);
}

static void loop(struct relay *r)
{
	while (!stop) {
		int there = bench_there(r);
		struct pollfd p[3] = {
			{.fd = r->dut, .events = POLLIN},
			{.fd = there ? r->bench : -1, .events = POLLIN},
			{.fd = r->listener, .events = POLLIN},
		};

		/* A pseudo-terminal that is opened again gives no event: look now and then. */
		int ready = poll(p, 3, 20);

		if (ready < 0 && errno != EINTR)
			die("poll");
		if (ready == 0 && r->log)
			fflush(r->log);
		if (p[0].revents)
			for (int n = 0; from_dut(r, n) && n < 16; n++)
				;
		if (p[1].revents)
			from_bench(r);
		if (r->bench >= 0 && !bench_there(r))
			bench_gone(r);
		if (p[2].revents && r->bench < 0)
			r->bench = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC);
	}
}

int main(int argc, char **argv)
{
	struct relay r = {.dut = -1, .bench = -1, .listener = -1, .char_ns = 10 * NS / 115200};
	struct sigaction sa = {.sa_handler = on_signal};

	for (int i = 1; i + 1 < argc; i += 2) {
		const char *key = argv[i], *v = argv[i + 1];

		if (!strcmp(key, "--fd"))
			r.dut = atoi(v);
		else if (!strcmp(key, "--unix"))
			r.dut = unix_socket(v, 0);
		else if (!strcmp(key, "--pty"))
			r.bench = pty_open(r.link = v);
		else if (!strcmp(key, "--listen"))
			r.listener = unix_socket(r.link = v, 1);
		else if (!strcmp(key, "--baud"))
			r.char_ns = 10 * NS / strtol(v, NULL, 10);
		else if (!strcmp(key, "--log"))
			r.log = fopen(v, "wb");
	}
	if (r.dut < 0 || !r.link) {
		fputs("Usage: relay --fd N | --unix PATH  --pty LINK | --listen PATH"
		      "  [--baud N] [--log FILE]\n",
		      stderr);
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1UL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	loop(&r);
	unlink(r.link);
	if (r.log)
		fclose(r.log);
	return 0;
}
