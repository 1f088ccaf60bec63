/* SPDX-License-Identifier: MIT */
/*
 * A Watts up? meter on a pseudo-terminal, with the faults that real ones show.
 *
 *   wattsup_emu --link PATH [options]
 *
 * PATH becomes a link to the terminal. Orders come on standard input, a line
 * each: watts N, unplug, replug, silence on|off, raw TEXT (with \xHH), clear
 * (the energy register), banner, quit. Each is answered by "ok". What the host
 * sends is told as "got ..." lines, so that a test sees the meter's side too.
 *
 * Its sources are the maker's protocol text and public captures; it shares no code with
 * the driver that it tests.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { FULL = 0, INTERNAL = 1, EXTERNAL = 2 };

static struct emu {
	const char *link;
	int master, slave;
	int fields; /* 16: an old RS-232 model */
	int model, hwminor;
	int interval;	      /* seconds */
	double second;	      /* real length of the meter's second */
	const char *reserved; /* the only reserved argument that is accepted; NULL: any */
	bool reject_silently; /* a wrong one gets no answer at all (else #v) */
	bool nuls, crlf, deaf, silent, unlogged, stale_first;
	int chunk; /* bytes a write; 0: all at once */
	int mode;
	bool first;
	double watts, volts, pf, wh;
	unsigned long long wh_code0;
	unsigned flicker;
	int64_t next;
	char cmd[512];
	size_t n;
	bool in;
} e = {.fields = 18,
       .model = 1,
       .hwminor = 2,
       .interval = 1,
       .second = 1.0,
       .crlf = true,
       .master = -1,
       .slave = -1,
       .watts = 25.0,
       .volts = 230.0,
       .pf = 0.6};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void put(const char *p, size_t n)
{
	while (n && e.master >= 0) {
		size_t k = e.chunk && (size_t)e.chunk < n ? (size_t)e.chunk : n;
		ssize_t w = write(e.master, p, k);

		if (w <= 0)
			return;
		p += w;
		n -= (size_t)w;
		if (e.chunk && n)
			nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
	}
}

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	char buf[1024], out[2100];
	size_t k = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	for (const char *p = buf; *p; p++) {
		out[k++] = *p;
		if (e.nuls && *p == ',')
			out[k++] = '\0';
	}
	if (e.crlf) {
		out[k++] = '\r';
		out[k++] = '\n';
	}
	put(out, k);
}

static void version(void)
{
	say("#v,-,8,%d,65206,5,%d,3,14,200612211910,0;", e.model, e.hwminor);
}

/* 18 integers in the order of the maker's table. */
static void record(double watts)
{
	long w = (long)(watts * 10.0 + 0.5), v = (long)(e.volts * 10.0 + 0.5);
	long a = (long)(watts / (e.volts * e.pf) * 1000.0 + 0.5);
	long va = (long)(watts / e.pf * 10.0 + 0.5), pf = (long)(e.pf * 100.0 + 0.5);
	unsigned long long wh = (e.wh_code0 + (unsigned long long)(e.wh * 10.0)) & 0xffffffffu;

	/* The last digit of a live load moves. */
	if (w > 0)
		w += (long)(e.flicker++ % 3) - 1;
	if (e.unlogged)
		say("#d,-,18,%ld,%ld,%ld,%llu,_,_,_,%ld,_,_,_,_,_,%ld,_,_,_,_;", w, v, a, wh, w,
		    pf);
	else if (e.fields == 16)
		say("#d,-,16,%ld,%ld,%ld,%llu,0,2,0,%ld,%ld,%ld,%ld,%ld,%ld,%ld,0,0;", w, v, a, wh,
		    w, v, a, w, v, a, pf);
	else
		say("#d,-,18,%ld,%ld,%ld,%llu,0,2,0,%ld,%ld,%ld,%ld,%ld,%ld,%ld,0,0,500,%ld;", w, v,
		    a, wh, w, v, a, w, v, a, pf, va);
}

static void log_command(char **arg, int n)
{
	bool wanted;

	if (arg[1][0] == 'R') {
		e.mode = INTERNAL;
		say("#l,-,2,%s,%d;", e.unlogged ? "_" : "0", e.interval);
		return;
	}
	if (n < 6 || arg[1][0] != 'W') {
		version();
		return;
	}
	wanted = !e.reserved || strcmp(arg[4], e.reserved) == 0;
	if (!wanted) {
		if (!e.reject_silently)
			version();
		return;
	}
	e.interval = atoi(arg[5]) > 0 ? atoi(arg[5]) : 1;
	if (arg[3][0] == 'E') {
		e.mode = EXTERNAL;
		e.first = true;
		e.next = now_ns() + (e.stale_first ? 0 : (int64_t)(e.interval * e.second * 1e9));
	} else {
		e.mode = INTERNAL;
		e.wh = 0;
		say("#s,-,3,%s,%d,1;", arg[4], e.interval);
	}
}

static void banner(void)
{
	char text[] = "EED05F01 $Revision: 4.41 $ 200612212301 60Hz 120V\r\n";

	put(text, sizeof(text) - 1);
}

static void dump(void)
{
	say("#n,-,3,_,%d,3;", e.interval);
	for (int i = 0; i < 3; i++)
		record(e.watts);
	say("#l,-,2,_,%d;", e.interval);
}

static void other(char **arg, int n)
{
	switch (arg[0][0]) {
	case 'H':
		say("#h,-,18,W,V,A,WH,Cost,WH/Mo,Cost/"
		    "Mo,Wmax,Vmax,Amax,Wmin,Vmin,Amin,PF,DC,PC,Hz,VA;");
		break;
	case 'C':
		if (arg[1][0] == 'W') {
			e.wh = 0;
			say("#n,-,1,5000;");
		} else {
			say(e.unlogged ? "#c,-,18,1,1,1,1,0,0,0,1,0,0,0,0,0,1,0,0,0,0;"
				       : "#c,-,18,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1;");
		}
		break;
	case 'D':
		dump();
		break;
	case 'R':
		e.wh = 0;
		e.wh_code0 = 0;
		break;
	case 'S':
		if (n >= 5 && arg[1][0] == 'W')
			e.interval = atoi(arg[4]) > 0 ? atoi(arg[4]) : 1;
		say("#s,-,3,_,%d,%d;", e.interval, e.mode);
		break;
	case 'O':
		say("#o,-,1,1;");
		break;
	case 'N':
		say("#n,-,1,5000;");
		break;
	case 'U':
		say("#u,-,3,80,0,0;");
		break;
	default:
		version();
	}
}

/* One packet of the host, without '#' and ';'. */
static void command(char *s)
{
	char *arg[32];
	int n = 0;

	printf("got #%s;\n", s);
	fflush(stdout);
	for (char *p = s; n < 32; p++) {
		arg[n++] = p;
		p += strcspn(p, ",");
		if (!*p)
			break;
		*p = '\0';
	}
	if (e.deaf || n < 3)
		return;
	if (arg[0][0] == 'L')
		log_command(arg, n);
	else if (arg[0][0] == 'V' && arg[1][0] == 'W')
		banner();
	else if (arg[0][0] == 'V')
		version();
	else
		other(arg, n);
}

static void feed(const char *p, size_t n)
{
	for (; n; p++, n--) {
		if (*p == 0x18) {
			/* Whatever waits to be read is aborted. */
			tcflush(e.slave, TCIFLUSH);
			printf("got ^X\n");
			fflush(stdout);
		} else if (*p == '#') {
			e.in = true;
			e.n = 0;
		} else if (e.in && *p == ';') {
			e.cmd[e.n] = '\0';
			e.in = false;
			command(e.cmd);
		} else if (e.in && *p != '\r' && *p != '\n' && *p != '\t' &&
			   e.n < sizeof(e.cmd) - 1) {
			e.cmd[e.n++] = *p;
		}
	}
}

static void plug(void)
{
	struct termios t;
	char name[128];

	if (openpty(&e.master, &e.slave, name, NULL, NULL) < 0) {
		perror("openpty");
		exit(1);
	}
	tcgetattr(e.slave, &t);
	cfmakeraw(&t);
	tcsetattr(e.slave, TCSANOW, &t);
	unlink(e.link);
	if (symlink(name, e.link) < 0) {
		perror(e.link);
		exit(1);
	}
}

static void unplug(void)
{
	unlink(e.link);
	close(e.master);
	close(e.slave);
	e.master = e.slave = -1;
}

static void raw(const char *s)
{
	for (; *s; s++) {
		char c = *s;

		if (s[0] == '\\' && s[1] == 'x' && s[2] && s[3]) {
			c = (char)strtol((char[]){s[2], s[3], 0}, NULL, 16);
			s += 3;
		}
		put(&c, 1);
	}
}

static bool order(char *s)
{
	s[strcspn(s, "\n")] = '\0';
	if (strncmp(s, "watts ", 6) == 0)
		e.watts = strtod(s + 6, NULL);
	else if (strcmp(s, "unplug") == 0)
		unplug();
	else if (strcmp(s, "replug") == 0)
		plug();
	else if (strcmp(s, "silence on") == 0)
		e.silent = true;
	else if (strcmp(s, "silence off") == 0)
		e.silent = false;
	else if (strncmp(s, "raw ", 4) == 0)
		raw(s + 4);
	else if (strcmp(s, "clear") == 0)
		e.wh = 0, e.wh_code0 = 0;
	else if (strcmp(s, "banner") == 0)
		e.mode = INTERNAL, banner();
	else if (strcmp(s, "quit") == 0)
		return false;
	printf("ok\n");
	fflush(stdout);
	return true;
}

static void options(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : "";

#define FLAG(name, does)                                                                           \
	if (strcmp(a, name) == 0) {                                                                \
		does;                                                                              \
		continue;                                                                          \
	}
		FLAG("--nuls", e.nuls = true)
		FLAG("--no-crlf", e.crlf = false)
		FLAG("--deaf", e.deaf = true)
		FLAG("--unlogged", e.unlogged = true)
		FLAG("--stale-first", e.stale_first = true)
		FLAG("--reject-silently", e.reject_silently = true)
		FLAG("--streaming", e.mode = EXTERNAL)
		FLAG("--link", (e.link = v, i++))
		FLAG("--fields", (e.fields = atoi(v), i++))
		FLAG("--model", (e.model = atoi(v), i++))
		FLAG("--hwminor", (e.hwminor = atoi(v), i++))
		FLAG("--reserved", (e.reserved = v, i++))
		FLAG("--chunk", (e.chunk = atoi(v), i++))
		FLAG("--second", (e.second = strtod(v, NULL), i++))
		FLAG("--watts", (e.watts = strtod(v, NULL), i++))
		FLAG("--wh", (e.wh_code0 = strtoull(v, NULL, 0), i++))
#undef FLAG
		fprintf(stderr, "wattsup_emu: unknown option %s\n", a);
		exit(2);
	}
	if (!e.link) {
		fprintf(stderr, "usage: wattsup_emu --link PATH [options]\n");
		exit(2);
	}
}

static void due(void)
{
	int64_t step = (int64_t)(e.interval * e.second * 1e9);

	e.wh += e.watts * e.interval / 3600.0;
	if (e.mode == EXTERNAL && !e.silent)
		record(e.first && e.stale_first ? e.watts + 1000.0 : e.watts);
	e.first = false;
	e.next += step > 0 ? step : 1;
}

int main(int argc, char **argv)
{
	static char buf[512], line[1024];

	setvbuf(stdin, NULL, _IONBF, 0);
	options(argc, argv);
	plug();
	printf("ready\n");
	fflush(stdout);
	e.next = now_ns();
	for (;;) {
		struct pollfd f[2] = {{.fd = e.master, .events = POLLIN},
				      {.fd = 0, .events = POLLIN}};
		int64_t wait = (e.next - now_ns()) / 1000000;
		ssize_t n;

		poll(f, 2, wait < 0 ? 0 : (int)wait + 1);
		if (f[1].revents) {
			if (!fgets(line, sizeof(line), stdin) || !order(line))
				break;
		}
		if (e.master >= 0 && (f[0].revents & POLLIN)) {
			n = read(e.master, buf, sizeof(buf));
			if (n > 0)
				feed(buf, (size_t)n);
		}
		if (now_ns() >= e.next)
			due();
	}
	unlink(e.link);
	return 0;
}
