/* SPDX-License-Identifier: MIT */
/*
 * Devices that never answer, beside a heartbeat whose true times are known: a child writes
 * the moment of each beat into a pseudo-terminal. Recordings without and with the black
 * holes follow each other, so that both see the same machine.
 */
#ifndef BLACKHOLE_H
#define BLACKHOLE_H

#include "base/base.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define BH_BEAT_MS   5
#define BH_BEATS_MAX 20000
#define BH_HOLES     5

struct blackhole {
	pid_t child;
	int beat_master, beat_slave, mute_master, mute_slave;
	int mute_socket, full_socket, filler[4];
	char beat[96], hole[BH_HOLES][160];
	char path[96];
};

/* One recording: how late beats were stamped, and how wide. */
struct bh_stretch {
	size_t n;
	int64_t late_p50, late_p99, late_max, width_p99;
	int64_t stop_ns; /* how long the end of the recording took */
};

/*
 * libcurl asks for names by this function, in its own thread: the program's own comes before
 * the C library's. One name is never answered.
 */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **out)
{
	int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
	void *p = dlsym(RTLD_NEXT, "getaddrinfo");

	if (node && strcmp(node, "black-hole.invalid") == 0) {
		poll(NULL, 0, 20000);
		return EAI_AGAIN;
	}
	memcpy(&real, &p, sizeof(p));
	return real(node, service, hints, out);
}

_Noreturn static void bh_fail(const char *what)
{
	perror(what);
	exit(1);
}

static void bh_pty(int *master, int *slave, char *name)
{
	struct termios t;

	if (openpty(master, slave, name, NULL, NULL) < 0)
		bh_fail("openpty");
	tcgetattr(*slave, &t);
	cfmakeraw(&t);
	tcsetattr(*slave, TCSANOW, &t);
}

static int bh_listen(int backlog, int *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, backlog) < 0)
		bh_fail("listen");
	getsockname(fd, (struct sockaddr *)&a, &n);
	*port = ntohs(a.sin_port);
	return fd;
}

/* Its backlog is full: the next SYN is swallowed. */
static void bh_fill(struct blackhole *b, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	for (size_t i = 0; i < WW_COUNTOF(b->filler); i++) {
		b->filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(b->filler[i], (struct sockaddr *)&a, sizeof(a)) < 0 &&
		    errno != EINPROGRESS)
			bh_fail("connect");
	}
}

static void bh_beat_forever(int fd)
{
	int64_t next = ww_clock_now_ns();
	char text[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (;;) {
		int64_t wait = next - ww_clock_now_ns();
		struct timespec t = {0, wait > 0 ? wait : 0};
		int n;

		nanosleep(&t, NULL);
		next += BH_BEAT_MS * WW_NS_PER_MS;
		n = snprintf(text, sizeof(text), "%lld\n", (long long)ww_clock_now_ns());
		if (write(fd, text, (size_t)n) < 0 && errno != EAGAIN)
			_exit(0);
	}
}

static void bh_open(struct blackhole *b, const char *folder)
{
	char name[64];
	int mute, full;

	memset(b, 0, sizeof(*b));
	snprintf(b->path, sizeof(b->path), "%s/ww-blackhole-%d.wwt", folder, (int)getpid());
	bh_pty(&b->beat_master, &b->beat_slave, name);
	snprintf(b->beat, sizeof(b->beat), "tty:%s", name);
	bh_pty(&b->mute_master, &b->mute_slave, name);
	b->mute_socket = bh_listen(64, &mute);
	b->full_socket = bh_listen(0, &full);
	bh_fill(b, full);
	/* A Modbus slave, a web server, a SYN, a plug's port and a name server. */
	snprintf(b->hole[0], sizeof(b->hole[0]), "pzem004t:%s", name);
	snprintf(b->hole[1], sizeof(b->hole[1]), "tasmota:http://127.0.0.1:%d?timeout=300ms", mute);
	snprintf(b->hole[2], sizeof(b->hole[2]), "shelly:http://127.0.0.1:%d?timeout=400ms", full);
	snprintf(b->hole[3], sizeof(b->hole[3]), "kasa:tcp://127.0.0.1:%d", full);
	snprintf(b->hole[4], sizeof(b->hole[4]), "tasmota:http://black-hole.invalid?timeout=350ms");
	b->child = fork();
	if (b->child == 0)
		bh_beat_forever(b->beat_master);
}

static void bh_close(struct blackhole *b)
{
	kill(b->child, SIGKILL);
	waitpid(b->child, NULL, 0);
	unlink(b->path);
	for (size_t i = 0; i < WW_COUNTOF(b->filler); i++)
		close(b->filler[i]);
	close(b->mute_socket);
	close(b->full_socket);
	close(b->beat_master);
	close(b->beat_slave);
	close(b->mute_master);
	close(b->mute_slave);
}

static int bh_order(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int64_t bh_quantile(int64_t *v, size_t n, double q)
{
	qsort(v, n, sizeof(*v), bh_order);
	return n ? v[(size_t)((double)(n - 1) * q)] : -1;
}

/* The beats that a trace holds. The first tenth is the port's opening, with what had waited. */
static void bh_read(const char *path, struct bh_stretch *s)
{
	static int64_t late[BH_BEATS_MAX], width[BH_BEATS_MAX];
	struct ww_error err = {0};
	struct ww_cursor *c = NULL;
	struct ww_trace *t;
	struct ww_batch b;
	char text[32];
	size_t k = 0, skip;

	if (ww_trace_open(path, &t, &err) < 0 ||
	    ww_cursor_open(t, 1, WW_TIME_MIN, WW_TIME_MAX, 0, &c, &err) < 0)
		bh_fail(err.text);
	while (ww_cursor_next(c, &b, &err) > 0) {
		for (size_t i = 0; i < b.n; i++) {
			if (b.data[i] != '\n') {
				text[k] = (char)b.data[i];
				k += k < sizeof(text) - 1;
				continue;
			}
			text[k] = '\0';
			if (k > 10 && s->n < BH_BEATS_MAX) {
				late[s->n] = b.hi_ns[i] - strtoll(text, NULL, 10);
				width[s->n++] = b.hi_ns[i] - b.lo_ns[i];
			}
			k = 0;
		}
	}
	ww_cursor_close(c);
	ww_trace_close(t);
	skip = s->n / 10;
	s->n -= skip;
	s->late_p50 = bh_quantile(late + skip, s->n, 0.5);
	s->late_p99 = bh_quantile(late + skip, s->n, 0.99);
	s->late_max = bh_quantile(late + skip, s->n, 1);
	s->width_p99 = bh_quantile(width + skip, s->n, 0.99);
}

/* Record for a while, without or with them. */
static void bh_record(struct blackhole *b, bool holes, int64_t ns, struct bh_stretch *s)
{
	struct ww_recorder_options opt = {.size = sizeof(opt), .path = b->path};
	struct ww_error err = {0};
	struct ww_recorder *r;
	int64_t end;

	*s = (struct bh_stretch){0};
	unlink(b->path);
	tcflush(b->beat_slave, TCIFLUSH);
	if (ww_recorder_new(&opt, &r, &err) < 0 || ww_recorder_add(r, b->beat, NULL, &err) < 0)
		bh_fail(err.text);
	for (size_t i = 0; holes && i < BH_HOLES; i++)
		if (ww_recorder_add(r, b->hole[i], NULL, &err) < 0)
			bh_fail(err.text);
	if (ww_recorder_start(r, &err) < 0)
		bh_fail(err.text);
	end = ww_clock_now_ns() + ns;
	while (ww_clock_now_ns() < end) {
		struct pollfd p = {.fd = ww_recorder_fd(r), .events = POLLIN};

		poll(&p, 1, 50);
		if (ww_recorder_dispatch(r, &err) < 0)
			bh_fail(err.text);
	}
	end = ww_clock_now_ns();
	if (ww_recorder_stop(r, &err) < 0)
		bh_fail(err.text);
	ww_recorder_free(r);
	s->stop_ns = ww_clock_now_ns() - end;
	bh_read(b->path, s);
}

#endif
