/* SPDX-License-Identifier: MIT */
/*
 * ttybeat: a heartbeat on a tty, for a machine whose suspend and resume are
 * measured from outside. One C99 file, nothing but libc and Linux, so that it
 * can be copied to the smallest machine. The format is described in
 * lib/text/beat.h. With TTYBEAT_MAIN defined it is a part of another program.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifdef TTYBEAT_MAIN
#define NAME "resumetime beat"
int TTYBEAT_MAIN(int argc, char **argv);
#else
#define NAME	     "ttybeat"
#define TTYBEAT_MAIN main
#endif

#define NS	    1000000000LL
#define MS	    1000000LL
#define FRAME	    23		    /* bytes of a stamped beat */
#define AHEAD	    2048	    /* bytes kept in the kernel's 4096: 178 ms at 115200 baud */
#define LATE_NS	    (20 * MS)	    /* a beat so late asks what happened */
#define STILL_NS    (150 * MS)	    /* a beat so late may have slept */
#define SETTLE_NS   (300 * MS)	    /* quiet time before telling it */
#define TRIES	    15		    /* beats that show how long one takes */
#define LINE_EVERY  10		    /* beats between two information lines */
#define LINE_NS	    (100 * MS)	    /* or so long, where a line is short beside a period */
#define TELL_NS	    (4 * SETTLE_NS) /* told by then, also where it never is quiet */
#define VALUE_MAX   512		    /* bytes of one value */
#define LINE_MAX_   48		    /* of them in one line: 5 ms at 115200 baud */
#define WAKERS	    256
#define STATES	    16
#define AGAIN_NS    (60 * NS) /* then all is told again, for those who listen only now */
#define OLD_NS	    (5 * NS)  /* awake; told so long ago, it is told with the next resume */
#define REOPEN_WAIT (100 * MS)

enum mode { STREAM, REOPEN, DRAIN };
enum group { NONE = 0, START = 1, RESUME = 2, REFUSED = 4, AGAIN = 8 };

#define KEYS_MAX 48

static const char *const mode_name[] = {"stream", "reopen", "drain"};

struct beat {
	/* asked for */
	const char *tty, *root;
	enum mode mode;
	int plain, info;
	char mark;
	long baud, count;
	int64_t period_ns, char_ns;
	size_t unit;	  /* bytes that one beat writes */
	int asked, paced; /* is the period one that was asked for, or the line's */
	/* the port */
	int fd, tfd, configured, have_saved, down;
	struct termios saved;
	int64_t retry_at, busy_until, clear_at; /* CLOCK_BOOTTIME */
	/* the beat */
	uint32_t seq;
	int64_t beats, mono_ns, off_ns;
	/* what is told */
	enum group group;
	size_t next, constant;
	int since_line, check;
	int64_t settle_at, asked_at, told_off, success, fail, again_at;
	unsigned long wakes[WAKERS];
	uint64_t idles[STATES][2]; /* s2idle: usage and us of cpu0's states, last told */
	int slept_idle;		   /* one of them rose at the last look */
	int64_t counted;	   /* suspends by suspend_stats in the last sleep, -1 unknown */
	int64_t said_at[KEYS_MAX]; /* by CLOCK_MONOTONIC */
	uint32_t said[KEYS_MAX];   /* check of what was told last of each key */
	size_t key, from;	   /* value that is on its way, and how far */
	char value[VALUE_MAX];
};

static volatile sig_atomic_t stop;

/* A signal that comes just before a write that blocks would be missed: come again. */
static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
	alarm(1);
}

static void say(const char *fmt, ...)
{
	va_list ap;

	fputs(NAME ": ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NS + ts.tv_nsec;
}

/*
 * Both clocks together. Within a waking stretch their difference is constant in
 * the kernel; what a preemption between two readings would add is kept out by
 * reading BOOTTIME between two readings of MONOTONIC.
 */
static int64_t take_clocks(struct beat *b)
{
	int64_t best = INT64_MAX, boot = 0;

	for (int i = 0; i < 8 && best > 20000; i++) {
		int64_t m1 = now_ns(CLOCK_MONOTONIC);
		int64_t t = now_ns(CLOCK_BOOTTIME);
		int64_t width = now_ns(CLOCK_MONOTONIC) - m1;

		if (width < best) {
			best = width;
			b->mono_ns = m1;
			boot = t;
		}
	}
	if (b->off_ns > boot - b->mono_ns || b->off_ns < boot - b->mono_ns - best)
		b->off_ns = boot - b->mono_ns - best / 2;
	return boot;
}

/* ------------------------------------------------------------------ format */

static unsigned crc16(const char *p, size_t n)
{
	unsigned crc = 0xFFFF;

	while (n--) {
		crc ^= (unsigned)(unsigned char)*p++ << 8;
		for (int i = 0; i < 8; i++)
			crc = crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xFFFF : crc << 1;
	}
	return crc;
}

static void digits(char *out, int n, uint64_t v)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	while (n--) {
		out[n] = alphabet[v & 63];
		v >>= 6;
	}
}

static void frame(const struct beat *b, char out[FRAME])
{
	out[0] = '!';
	digits(out + 1, 4, b->seq);
	digits(out + 5, 8, (uint64_t)(b->mono_ns / 1000));
	digits(out + 13, 7, (uint64_t)(b->off_ns > 0 ? b->off_ns / 1000 : 0));
	digits(out + 20, 2, crc16(out + 1, 19));
	out[22] = '\n';
}

/* As much of the value as one line holds. @return bytes of it, the line's in *len */
static size_t info_line(char *out, const char *key, int more, const char *value, size_t *len)
{
	const unsigned char *v = (const unsigned char *)value;
	size_t n = (size_t)sprintf(out, "#%s%s=", key, more ? "+" : ""), end = n + LINE_MAX_;

	for (; *v; v++) {
		int escape = *v < 32 || *v == 127 || *v == '*' || *v == '%';
		size_t need = escape ? 3 : *v >= 0xF0 ? 4 : *v >= 0xE0 ? 3 : *v >= 0xC0 ? 2 : 1;

		if (n + need > end) /* never half a character */
			break;
		if (escape)
			n += (size_t)sprintf(out + n, "%%%02X", *v);
		else
			out[n++] = (char)*v;
	}
	digits(out + n + 1, 2, crc16(out + 1, n - 1));
	out[n] = '*';
	out[n + 3] = '\n';
	*len = n + 4;
	return (size_t)(v - (const unsigned char *)value);
}

/* ---------------------------------------------------- what the DUT knows */

/* First bytes of a file as one line. @return its length, 0 if it is not there */
static size_t slurp(const struct beat *b, char *out, size_t size, const char *fmt, ...)
{
	char path[PATH_MAX];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s", b->root);
	va_list ap;
	ssize_t got;
	int fd;

	out[0] = '\0';
	if (n >= sizeof(path))
		return 0;
	va_start(ap, fmt);
	vsnprintf(path + n, sizeof(path) - n, fmt, ap);
	va_end(ap);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, out, size - 1);
	close(fd);
	n = got > 0 ? (size_t)got : 0;
	while (n && (unsigned char)out[n - 1] <= ' ')
		n--;
	out[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)out[i] < ' ')
			out[i] = ' ';
	return n;
}

static void add(char *out, size_t size, const char *fmt, ...)
{
	size_t n = strlen(out);
	va_list ap;

	if (n && n + 1 < size) {
		out[n++] = ' ';
		out[n] = '\0';
	}
	va_start(ap, fmt);
	vsnprintf(out + n, size - n, fmt, ap);
	va_end(ap);
}

/*
 * A figure of suspend_stats: a file each, or before Linux 5.1 a line "name: value" of one in
 * debugfs, where that is mounted.
 */
static size_t stat_text(const struct beat *b, const char *name, char *out, size_t size)
{
	char all[2048], *p;
	size_t n = strlen(name);

	if (slurp(b, out, size, "/sys/power/suspend_stats/%s", name) ||
	    !slurp(b, all, sizeof(all), "/sys/kernel/debug/suspend_stats"))
		return strlen(out);
	for (p = strstr(all, name); p; p = strstr(p + 1, name)) {
		if ((p != all && p[-1] != ' ') || p[n] != ':')
			continue;
		p += n + 1;
		p += strspn(p, " ");
		n = strcspn(p, " ");
		/* The name of the next line: nothing is told. */
		if (n && p[n - 1] == ':')
			n = 0;
		n = n < size ? n : size - 1;
		memcpy(out, p, n);
		out[n] = '\0';
		return n;
	}
	return 0;
}

/* @return it, or -1 where this kernel does not count */
static int64_t stat_number(const struct beat *b, const char *name)
{
	char s[32];

	return stat_text(b, name, s, sizeof(s)) ? strtoll(s, NULL, 10) : -1;
}

static void get_own(struct beat *b, const char *key, char *out, size_t size)
{
	struct utsname u;

	uname(&u);
	if (!strcmp(key, "info"))
		add(out, size, "%s",
		    b->group == START	 ? "start"
		    : b->group == RESUME ? "resume"
		    : b->group == AGAIN	 ? "again"
					 : "refused");
	else if (!strcmp(key, "beat"))
		add(out, size, "1");
	else if (!strcmp(key, "mode"))
		add(out, size, "%s", mode_name[b->mode]);
	else if (!strcmp(key, "format"))
		add(out, size, "%s", b->plain ? "plain" : "stamped");
	else if (!strcmp(key, "period_us"))
		add(out, size, "%lld",
		    (long long)((b->paced && b->plain ? b->char_ns : b->period_ns) + 500) / 1000);
	else if (!strcmp(key, "tty"))
		add(out, size, "%s", b->tty);
	else if (!strcmp(key, "baud"))
		add(out, size, "%ld", b->baud);
	else if (!strcmp(key, "host"))
		add(out, size, "%s", u.nodename);
	else
		add(out, size, "%s %s %s %s", u.sysname, u.release, u.version, u.machine);
}

static void get_dmi(struct beat *b, const char *key, char *out, size_t size)
{
	static const char *const board[] = {"sys_vendor", "product_name", "board_name", NULL};
	static const char *const bios[] = {"bios_vendor", "bios_version", "bios_date", NULL};
	char s[128];

	for (const char *const *f = key[0] == 'b' ? board : bios; *f; f++)
		if (slurp(b, s, sizeof(s), "/sys/class/dmi/id/%s", *f))
			add(out, size, "%s", s);
	if (!*out && key[0] == 'b')
		slurp(b, out, size, "/proc/device-tree/model");
}

static void get_cpuidle(struct beat *b, const char *key, char *out, size_t size)
{
	char s[64], off[8];

	(void)key;
	if (slurp(b, s, sizeof(s), "/sys/devices/system/cpu/cpuidle/current_driver"))
		add(out, size, "%s:", s);
	for (int i = 0; i < 16; i++) {
		if (!slurp(b, s, sizeof(s), "/sys/devices/system/cpu/cpu0/cpuidle/state%d/name", i))
			break;
		slurp(b, off, sizeof(off), "/sys/devices/system/cpu/cpu0/cpuidle/state%d/disable",
		      i);
		add(out, size, "%s%s", s, off[0] == '1' ? "(off)" : "");
	}
}

static void get_suspend_stats(struct beat *b, const char *key, char *out, size_t size)
{
	static const char *const names[] = {
		"success",
		"fail",
		"failed_freeze",
		"failed_prepare",
		"failed_suspend",
		"failed_suspend_late",
		"failed_suspend_noirq",
		"failed_resume",
		"failed_resume_early",
		"failed_resume_noirq",
		"last_failed_dev",
		"last_failed_errno",
		"last_failed_step",
	};
	char s[64];

	(void)key;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (stat_text(b, names[i], s, sizeof(s)) && (i < 2 || strcmp(s, "0")))
			add(out, size, "%s:%s", names[i], s);
}

/* One that fired since it was last told: "NAME:events:wakeups@ms", what is 0 left out. */
static void add_source(struct beat *b, unsigned long slot, char *name, const char *const v[3],
		       char *out, size_t size)
{
	unsigned long events = strtoul(v[0], NULL, 10), wakeups = strtoul(v[1], NULL, 10);
	char s[80];

	if (events == b->wakes[slot % WAKERS])
		return;
	b->wakes[slot % WAKERS] = events;
	for (char *p = name; *p; p++)
		if (*p == ' ')
			*p = '_';
	snprintf(s, sizeof(s), wakeups ? ":%lu:%lu" : ":%lu", events, wakeups);
	if (strtoul(v[2], NULL, 10))
		snprintf(s + strlen(s), sizeof(s) - strlen(s), "@%lu", strtoul(v[2], NULL, 10));
	add(out, size, "%s%s", name, s);
}

/* Before Linux 5.4: a table in debugfs, its columns apart by tabs. */
static void get_old_sources(struct beat *b, char *out, size_t size)
{
	char path[PATH_MAX], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/sys/kernel/debug/wakeup_sources", b->root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *col[10] = {line}, *p = line;
		unsigned long slot = 5381;
		int n = 1;

		for (; n < 10 && (p = strchr(p, '\t')) != NULL; n++) {
			while (*p == '\t')
				*p++ = '\0';
			col[n] = p;
		}
		if (n < 9 || !strtoul(col[2], NULL, 10))
			continue;
		for (p = line + strlen(line); p > line && p[-1] == ' ';)
			*--p = '\0';
		for (p = line; *p; p++)
			slot = slot * 33 + (unsigned char)*p;
		add_source(b, slot, line, (const char *const[]){col[2], col[3], col[8]}, out, size);
	}
	if (f)
		fclose(f);
}

/* Those that fired since they were last told: what woke the machine is among them. */
static void get_wakeup_sources(struct beat *b, const char *key, char *out, size_t size)
{
	char path[PATH_MAX], name[64], v[3][32];
	struct dirent *e;
	DIR *d;

	(void)key;
	snprintf(path, sizeof(path), "%s/sys/class/wakeup", b->root);
	d = opendir(path);
	if (!d)
		get_old_sources(b, out, size);
	while (d && (e = readdir(d))) {
		unsigned long id =
			strncmp(e->d_name, "wakeup", 6) ? WAKERS : strtoul(e->d_name + 6, NULL, 10);
		static const char *const file[] = {"event_count", "wakeup_count", "last_change_ms"};

		if (id >= WAKERS)
			continue;
		for (int i = 0; i < 3; i++)
			slurp(b, v[i], sizeof(v[i]), "/sys/class/wakeup/wakeup%lu/%s", id, file[i]);
		slurp(b, name, sizeof(name), "/sys/class/wakeup/wakeup%lu/name", id);
		add_source(b, id, name, (const char *const[]){v[0], v[1], v[2]}, out, size);
	}
	if (d)
		closedir(d);
}

/* The number, and what the interrupt is for: "9 acpi". */
static void get_wakeup_irq(struct beat *b, const char *key, char *out, size_t size)
{
	char irq[16], what[64], path[PATH_MAX], line[1024], *p;
	FILE *f;

	(void)key;
	if (!slurp(b, irq, sizeof(irq), "/sys/power/pm_wakeup_irq"))
		return;
	add(out, size, "%s", irq);
	if (slurp(b, what, sizeof(what), "/sys/kernel/irq/%s/actions", irq)) {
		add(out, size, "%s", what);
		return;
	}
	/* The last words of its line, behind the counts, the chip and the kind of edge. */
	snprintf(path, sizeof(path), "%s/proc/interrupts", b->root);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		p = line + strspn(line, " ");
		if (strncmp(p, irq, strlen(irq)) || p[strlen(irq)] != ':')
			continue;
		p = strstr(p, "  ") ? line + strcspn(line, "\n") : line;
		while (p > line && (unsigned char)p[-1] <= ' ')
			p--;
		*p = '\0';
		while (p > line && (p[-1] != ' ' || (p > line + 1 && p[-2] == ',')))
			p--;
		add(out, size, "%s", p);
		break;
	}
	if (f)
		fclose(f);
}

/* By how much cpu0's states were used for s2idle since they were last told. */
static void get_s2idle_states(struct beat *b, const char *key, char *out, size_t size)
{
	static const char *const file[] = {"usage", "time"};
	char s[32], name[32];

	(void)key;
	for (int i = 0; i < STATES; i++) {
		uint64_t d[2] = {0, 0};

		for (int k = 0; k < 2; k++) {
			uint64_t v = 0;

			if (slurp(b, s, sizeof(s),
				  "/sys/devices/system/cpu/cpu0/cpuidle/state%d/s2idle/%s", i,
				  file[k]))
				v = strtoull(s, NULL, 10);
			d[k] = v - b->idles[i][k];
			b->idles[i][k] = v;
		}
		if (!d[0] || b->group != RESUME)
			continue;
		b->slept_idle = 1;
		slurp(b, name, sizeof(name), "/sys/devices/system/cpu/cpu0/cpuidle/state%d/name",
		      i);
		add(out, size, "%s:%llu/%llu", name, (unsigned long long)d[0],
		    (unsigned long long)d[1]);
	}
}

/*
 * What it came back from. Only suspends are counted by suspend_stats: a sleep without one
 * was a hibernation. Of suspends those that used the idle states were s2idle, whatever is
 * chosen for "mem".
 */
static void get_sleep_mode(struct beat *b, const char *key, char *out, size_t size)
{
	char s[64], *p;

	(void)key;
	if (b->counted == 0) {
		add(out, size, "disk");
		return;
	}
	if (b->slept_idle) {
		add(out, size, "s2idle");
		return;
	}
	if (!slurp(b, s, sizeof(s), "/sys/power/mem_sleep")) {
		if (slurp(b, s, sizeof(s), "/sys/power/state") && strstr(s, "mem"))
			add(out, size, "mem");
		return;
	}
	p = strchr(s, '[');
	if (p && p[1 + strcspn(p + 1, "]")]) {
		p[1 + strcspn(p + 1, "]")] = '\0';
		add(out, size, "%s", strcmp(p + 1, "deep") ? p + 1 : "mem");
	}
}

static const struct {
	const char *key;
	int groups; /* in which it is told */
	const char *path;
	void (*get)(struct beat *, const char *key, char *out, size_t size);
} keys[] = {
#define ALWAYS (START | RESUME | AGAIN)
#define SLEPT  (RESUME | REFUSED)
	{"info", ALWAYS | REFUSED, NULL, get_own},
	{"beat", START | AGAIN, NULL, get_own},
	{"format", START | AGAIN, NULL, get_own},
	{"period_us", START | AGAIN, NULL, get_own},
	{"boot_id", START | AGAIN, "/proc/sys/kernel/random/boot_id", NULL},
	{"suspend_stats", ALWAYS | REFUSED, NULL, get_suspend_stats},
	{"wakeup_irq", SLEPT, NULL, get_wakeup_irq},
	{"wakeup_sources", ALWAYS | REFUSED, NULL, get_wakeup_sources},
	{"s2idle_states", START | RESUME, NULL, get_s2idle_states},
	{"sleep_mode", RESUME, NULL, get_sleep_mode},
	{"hw_sleep_us", RESUME, "/sys/power/suspend_stats/last_hw_sleep", NULL},
	{"hw_sleep_total_us", RESUME, "/sys/power/suspend_stats/total_hw_sleep", NULL},
	{"s2idle_residency_us", RESUME,
	 "/sys/devices/system/cpu/cpuidle/low_power_idle_system_residency_us", NULL},
	{"s2idle_cpu_us", RESUME, "/sys/devices/system/cpu/cpuidle/low_power_idle_cpu_residency_us",
	 NULL},
	{"wake_lock", ALWAYS | REFUSED, "/sys/power/wake_lock", NULL},
	{"clocksource", ALWAYS, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
	 NULL},
	{"pm_test", ALWAYS | REFUSED, "/sys/power/pm_test", NULL},
	/* From here on what does not change; a group that was cut short is gone on with. */
	{"mode", ALWAYS, NULL, get_own},
	{"kernel", ALWAYS, NULL, get_own},
	{"mem_sleep", ALWAYS, "/sys/power/mem_sleep", NULL},
	{"state", ALWAYS, "/sys/power/state", NULL},
	{"autosleep", ALWAYS, "/sys/power/autosleep", NULL},
	{"disk", ALWAYS, "/sys/power/disk", NULL},
	{"image_size", ALWAYS, "/sys/power/image_size", NULL},
	{"hw_sleep_max_us", ALWAYS, "/sys/power/suspend_stats/max_hw_sleep", NULL},
	{"tty", ALWAYS, NULL, get_own},
	{"baud", ALWAYS, NULL, get_own},
	{"host", ALWAYS, NULL, get_own},
	{"cmdline", ALWAYS, "/proc/cmdline", NULL},
	{"board", ALWAYS, NULL, get_dmi},
	{"firmware", ALWAYS, NULL, get_dmi},
	{"governor", ALWAYS, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL},
	{"cpuidle", ALWAYS, NULL, get_cpuidle},
	{"aspm", ALWAYS, "/sys/module/pcie_aspm/parameters/policy", NULL},
};
#define CHANGING 17
#define KEYS	 (sizeof(keys) / sizeof(*keys))

typedef char keys_have_room[KEYS <= KEYS_MAX ? 1 : -1];

/* -------------------------------------------------------------------- port */

static const struct {
	long rate;
	speed_t speed;
} bauds[] = {
#define R(n) n, B##n
	{R(300)},     {R(600)},	    {R(1200)},	  {R(2400)},	{R(4800)},    {R(9600)},
	{R(19200)},   {R(38400)},   {R(57600)},	  {R(115200)},	{R(230400)},  {R(460800)},
	{R(500000)},  {R(576000)},  {R(921600)},  {R(1000000)}, {R(1152000)}, {R(1500000)},
	{R(2000000)}, {R(2500000)}, {R(3000000)}, {R(3500000)}, {R(4000000)},
#undef R
};

static speed_t speed_of(long rate)
{
	for (size_t i = 0; i < sizeof(bauds) / sizeof(*bauds); i++)
		if (bauds[i].rate == rate)
			return bauds[i].speed;
	return B0;
}

static int configure(struct beat *b, int fd)
{
	struct termios t;

	if (tcgetattr(fd, &t))
		return -1;
	if (!b->have_saved) {
		b->saved = t;
		b->have_saved = 1;
	}
	cfmakeraw(&t);
	t.c_cflag |= CLOCAL | CREAD;
	/* HUPCL would drop DTR at each close of mode reopen. */
	t.c_cflag &= ~(tcflag_t)(CRTSCTS | CSTOPB | HUPCL);
	cfsetispeed(&t, speed_of(b->baud));
	cfsetospeed(&t, speed_of(b->baud));
	if (tcsetattr(fd, TCSANOW, &t) || tcgetattr(fd, &t))
		return -1;
	if (cfgetospeed(&t) != speed_of(b->baud)) {
		errno = EINVAL; /* Linux takes the nearest rate silently */
		return -1;
	}
	b->configured = 1;
	return 0;
}

/* Non-blocking only while opening: a modem line that is down must not hold us. */
static int port_open(struct beat *b)
{
	int fd = open(b->tty, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -1;
	if ((!b->configured && configure(b, fd)) ||
	    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK) < 0) {
		int e = errno;

		close(fd);
		errno = e;
		return -1;
	}
	b->fd = fd;
	return 0;
}

static void port_close(struct beat *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

static void port_lost(struct beat *b)
{
	if (!b->down)
		say("%s: %s; waiting for it to come back", b->tty, strerror(errno));
	b->down = 1;
	b->configured = 0;
	b->retry_at = now_ns(CLOCK_BOOTTIME) + REOPEN_WAIT;
	port_close(b);
}

/* @return 0 if the port is open now */
static int port_ready(struct beat *b)
{
	if (b->fd >= 0)
		return 0;
	if (b->down && now_ns(CLOCK_BOOTTIME) < b->retry_at)
		return -1;
	if (port_open(b)) {
		if (errno != EINTR)
			port_lost(b);
		return -1;
	}
	if (b->down)
		say("%s: is back", b->tty);
	b->down = 0;
	return 0;
}

static void sleep_until(int64_t boot_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(boot_ns / NS), .tv_nsec = (long)(boot_ns % NS)};

	clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &ts, NULL);
}

/*
 * Wait until the line is empty. A tty's drain looks once a tick of the kernel,
 * which makes 12 ms of a frame's 2; so the transmitter is asked directly, where
 * it can be, before drain has the last word. The sleeps are on BOOTTIME: they
 * end at the thaw.
 */
static void port_drain(struct beat *b)
{
	int64_t now = b->clear_at, give_up = now + 500 * MS;
	int lsr;

	sleep_until(now);
	while (!stop && now < give_up && ioctl(b->fd, TIOCSERGETLSR, &lsr) == 0 &&
	       !(lsr & TIOCSER_TEMT)) {
		sleep_until(now + 200000);
		now = now_ns(CLOCK_BOOTTIME);
	}
	while (tcdrain(b->fd) && errno == EINTR && !stop)
		;
}

/* What the mode does before the next may be written. */
static void port_settle(struct beat *b)
{
	if (b->mode == STREAM || b->fd < 0)
		return;
	port_drain(b);
	if (b->mode == REOPEN)
		port_close(b);
}

/* Write all. @return 0 if it went */
static int port_send(struct beat *b, const char *p, size_t n)
{
	size_t len = n;

	if (port_ready(b))
		return -1;
	while (n) {
		ssize_t did = write(b->fd, p, n);

		if (did > 0) {
			p += did;
			n -= (size_t)did;
		} else if (stop) {
			return -1;
		} else if (errno != EINTR) {
			port_lost(b);
			return -1;
		}
	}
	b->clear_at = now_ns(CLOCK_BOOTTIME) + (int64_t)len * b->char_ns + b->char_ns;
	if (b->mode == REOPEN)
		port_settle(b);
	return 0;
}

static void port_restore(struct beat *b)
{
	if (!b->have_saved || (b->fd < 0 && port_open(b)))
		return;
	if (stop) /* a line that stands still must not hold us */
		tcflush(b->fd, TCOFLUSH);
	else
		tcdrain(b->fd);
	tcsetattr(b->fd, TCSANOW, &b->saved);
	port_close(b);
}

/* ------------------------------------------------------------------- beats */

static void send_beat(struct beat *b)
{
	char buf[128];

	if (b->mode == DRAIN)
		port_settle(b);
	if (b->plain) {
		memset(buf, b->mark, b->unit);
	} else {
		take_clocks(b);
		frame(b, buf);
	}
	if (port_send(b, buf, b->unit))
		return;
	b->seq++;
	b->beats++;
	b->since_line++;
}

/*
 * Stream: what the kernel still holds tells whether the line has a pace of its
 * own. If so the buffer is kept filled, but never so full that a write would wait
 * (a tty wakes its writers only when it is nearly empty again, and stamps would
 * come in lumps), nor so full that what is sent of it after a resume covers a late
 * thaw; otherwise our timer is the only pace.
 */
static void stream_beats(struct beat *b)
{
	int queued = 0, first = 1;

	while (!stop && (!b->count || b->beats < b->count)) {
		if (b->paced && b->fd >= 0 && ioctl(b->fd, TIOCOUTQ, &queued))
			queued = 0;
		if ((!first && queued == 0) || (size_t)queued + b->unit > AHEAD)
			return;
		send_beat(b);
		if (b->fd < 0)
			return;
		first = 0;
	}
}

/* After a late beat, once quiet: was it a suspend, a refused one, or only load? */
static void what_happened(struct beat *b)
{
	int64_t success = stat_number(b, "success"), fail = stat_number(b, "fail");

	b->check = 0;
	if (b->off_ns - b->told_off > MS || success != b->success)
		b->group = RESUME;
	else if (fail != b->fail && (b->group == NONE || b->group == AGAIN))
		b->group = REFUSED;
	else
		return;
	b->counted = success < 0 || b->success < 0 ? -1 : success - b->success;
	b->slept_idle = 0;
	b->next = b->from = 0;
	b->value[0] = '\0';
	b->told_off = b->off_ns;
	b->success = success;
	b->fail = fail;
}

/*
 * What does not change with a sleep is told again only where it did, or after a while: who
 * records may have begun since.
 */
static int is_news(struct beat *b, size_t k)
{
	int64_t now = now_ns(CLOCK_MONOTONIC);
	uint32_t sum = 2166136261U;

	for (const char *p = b->value; *p; p++)
		sum = (sum ^ (unsigned char)*p) * 16777619U;
	if (k >= KEYS_MAX)
		return 1;
	if (k >= CHANGING && b->group == RESUME && sum == b->said[k] &&
	    now - b->said_at[k] < OLD_NS)
		return 0;
	b->said[k] = sum;
	b->said_at[k] = now;
	return 1;
}

/* Next key of the group that has a value to be told. @return 0 at the end */
static int next_key(struct beat *b)
{
	while (b->next < KEYS) {
		size_t k = b->next++;

		if (k >= CHANGING)
			k = CHANGING + b->constant++ % (KEYS - CHANGING);
		if (!(keys[k].groups & (int)b->group))
			continue;
		b->key = k;
		b->from = 0;
		b->value[0] = '\0';
		if (keys[k].get)
			keys[k].get(b, keys[k].key, b->value, sizeof(b->value));
		else
			slurp(b, b->value, sizeof(b->value), "%s", keys[k].path);
		if (b->value[0] && is_news(b, k))
			return 1;
	}
	b->group = NONE;
	b->value[0] = '\0';
	b->again_at = now_ns(CLOCK_BOOTTIME) + AGAIN_NS;
	return 0;
}

static int beats_between(const struct beat *b)
{
	int64_t line = (LINE_MAX_ + 24) * b->char_ns, n = LINE_NS / b->period_ns;

	if (2 * line > b->period_ns || n >= LINE_EVERY)
		return LINE_EVERY;
	return n > 1 ? (int)n : 1;
}

/* One information line, if it is time for one; then the line is busy with it. */
static void tell(struct beat *b, int64_t now)
{
	char line[LINE_MAX_ + 64];
	size_t n, took;

	if (b->check && now >= b->settle_at)
		what_happened(b);
	if (b->group == NONE && now >= b->again_at) {
		b->group = AGAIN;
		b->next = 0;
	}
	if (b->group == NONE || b->check > 1 || b->since_line < beats_between(b))
		return;
	if (!b->value[b->from] && !next_key(b))
		return;
	took = info_line(line, keys[b->key].key, b->from > 0, b->value + b->from, &n);
	if (b->mode == DRAIN)
		port_settle(b);
	if (port_send(b, line, n))
		return;
	b->from += took;
	b->since_line = 0;
	b->busy_until = now_ns(CLOCK_BOOTTIME) + (b->paced ? 0 : (int64_t)n * b->char_ns);
}

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * Mode reopen, and a slow driver: the period is what a few beats really took. Not the
 * slowest of them: what else runs once must not make all beats slow.
 */
static void try_period(struct beat *b)
{
	int64_t t0 = now_ns(CLOCK_MONOTONIC), took[TRIES] = {0}, usual;

	for (int i = -1; i < TRIES && !stop && (!b->count || b->beats < b->count); i++) {
		int64_t t1;

		send_beat(b);
		t1 = now_ns(CLOCK_MONOTONIC);
		if (i >= 0) /* the first opens the port */
			took[i] = t1 - t0;
		t0 = t1;
	}
	qsort(took, TRIES, sizeof(*took), by_length);
	usual = took[TRIES * 3 / 4] * 9 / 8;
	if (usual > b->period_ns)
		b->period_ns = usual / 100000 * 100000 + 100000;
}

static int timer(struct beat *b)
{
	clockid_t clock = CLOCK_BOOTTIME;
	struct itimerspec it = {0};
	int64_t first;

	b->tfd = timerfd_create(clock, TFD_CLOEXEC);
	if (b->tfd < 0 && errno == EINVAL) { /* Linux before 3.15 */
		clock = CLOCK_MONOTONIC;
		b->tfd = timerfd_create(clock, TFD_CLOEXEC);
		say("warning: this kernel has no CLOCK_BOOTTIME timer: the first beat after a "
		    "resume may come up to one period late");
	}
	first = now_ns(clock) + b->period_ns;
	it.it_value.tv_sec = (time_t)(first / NS);
	it.it_value.tv_nsec = (long)(first % NS);
	it.it_interval.tv_sec = (time_t)(b->period_ns / NS);
	it.it_interval.tv_nsec = (long)(b->period_ns % NS);
	return b->tfd < 0 ? -1 : timerfd_settime(b->tfd, TFD_TIMER_ABSTIME, &it, NULL);
}

/*
 * Asked about once it is quiet; a machine that is always busy is asked all the same. What
 * is being told is held up only by what looks like a sleep.
 */
static void was_late(struct beat *b, int64_t now, int64_t by, int slept)
{
	int sleep = slept || by > STILL_NS;

	if (!b->check || (sleep && b->check == 1))
		b->asked_at = now;
	b->check = sleep || b->check > 1 || b->group == NONE ? 2 : 1;
	b->settle_at = now + SETTLE_NS;
	if (b->settle_at > b->asked_at + TELL_NS)
		b->settle_at = b->asked_at + TELL_NS;
}

static int run(struct beat *b)
{
	int64_t last_off;

	take_clocks(b);
	b->told_off = last_off = b->off_ns;
	b->success = stat_number(b, "success");
	b->fail = stat_number(b, "fail");
	b->group = b->info ? START : NONE;
	if (b->mode != STREAM && !b->asked)
		try_period(b);
	if (timer(b)) {
		say("timer: %s", strerror(errno));
		return 1;
	}
	while (!stop && (!b->count || b->beats < b->count)) {
		uint64_t ticks; /* missed ones are skipped: they would only come in a bunch */
		int64_t now;

		if (read(b->tfd, &ticks, sizeof(ticks)) != (ssize_t)sizeof(ticks))
			continue;
		now = now_ns(CLOCK_BOOTTIME);
		if (now < b->busy_until)
			continue;
		if (b->mode == STREAM)
			stream_beats(b);
		else
			send_beat(b);
		if (!b->info)
			continue;
		if (b->plain)
			take_clocks(b);
		if ((int64_t)ticks * b->period_ns > LATE_NS + b->period_ns ||
		    b->off_ns - last_off > MS) {
			was_late(b, now, (int64_t)ticks * b->period_ns, b->off_ns - last_off > MS);
			last_off = b->off_ns;
		}
		tell(b, now);
	}
	return 0;
}

/* ---------------------------------------------------------------- warnings */

static int is_console(const struct beat *b, const char *name)
{
	char s[4096], *p, *save = NULL;
	size_t n = strlen(name);

	slurp(b, s, sizeof(s), "/proc/consoles");
	for (p = strtok_r(s, " ", &save); p; p = strtok_r(NULL, " ", &save))
		if (!strcmp(p, name))
			return 1;
	slurp(b, s, sizeof(s), "/proc/cmdline");
	for (p = strtok_r(s, " ", &save); p; p = strtok_r(NULL, " ", &save))
		if (!strncmp(p, "console=", 8) && !strncmp(p + 8, name, n) &&
		    (!p[8 + n] || p[8 + n] == ','))
			return 1;
	return 0;
}

static int has_open(const struct beat *b, const char *pid, const char *tty)
{
	char path[PATH_MAX], link[PATH_MAX];
	struct dirent *e;
	int found = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/proc/%s/fd", b->root, pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof(link) - 1);

		if (n > 0) {
			link[n] = '\0';
			found = !strcmp(link, tty);
		}
	}
	if (d)
		closedir(d);
	return found;
}

static void warn_of_others(const struct beat *b)
{
	const char *defeat = b->mode == REOPEN ? ", and mode reopen never really closes it" : "";
	char real[PATH_MAX], path[PATH_MAX], comm[64];
	struct dirent *e;
	DIR *d;

	if (!realpath(b->tty, real))
		return;
	if (is_console(b, real + (strncmp(real, "/dev/", 5) ? 0 : 5)))
		say("warning: %s is a console of the kernel: its messages mix with the beats%s",
		    b->tty, defeat);
	snprintf(path, sizeof(path), "%s/proc", b->root);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		long pid = strtol(e->d_name, NULL, 10);

		if (pid <= 0 || pid == (long)getpid() || !has_open(b, e->d_name, real))
			continue;
		slurp(b, comm, sizeof(comm), "/proc/%ld/comm", pid);
		say("warning: %s (process %ld) has %s open: what it writes mixes with the "
		    "beats%s",
		    comm, pid, b->tty, defeat);
	}
	if (d)
		closedir(d);
}

/* ----------------------------------------------------------------- options */

static const char usage[] =
	"Usage: " NAME " --tty DEV [OPTION]...\n"
	"Write a heartbeat on a tty, for measuring suspend and resume from outside.\n"
	"\n"
	"  -t, --tty DEV      the tty to write on\n"
	"  -m, --mode MODE    stream: write ahead, the kernel's buffer keeps the pace\n"
	"                     reopen: open, write one beat, close\n"
	"                     drain:  write one beat, wait until it has left (default)\n"
	"  -f, --format FMT   stamped: sequence number and clocks, 23 bytes (default)\n"
	"                     plain:   one character\n"
	"  -e, --every DUR    period (2ms, 500us, 1s); default: what the line carries\n"
	"  -b, --baud N       rate of the line (default 115200)\n"
	"  -c, --char C       character of plain beats (default .)\n"
	"  -n, --count N      stop after N beats\n"
	"      --no-info      do not tell what this machine knows of itself\n"
	"      --root DIR     look for /proc and /sys below DIR (for tests)\n"
	"  -h, --help         this text\n"
	"  -V, --version      the version\n";

static int bad(const char *fmt, const char *what)
{
	say(fmt, what);
	fputs("Try '" NAME " --help'.\n", stderr);
	return 2;
}

static int64_t duration(const char *s)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
	char *end;
	double v = strtod(s, &end);

	for (size_t i = 0; end != s && i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(end, units[i].unit) && v * units[i].ns >= 1e5 &&
		    v * units[i].ns <= 3.6e12)
			return (int64_t)(v * units[i].ns);
	return -1;
}

static int option(struct beat *b, int c, const char *arg)
{
	char *end = NULL;
	int i;

	switch (c) {
	case 't':
		b->tty = arg;
		return 0;
	case 'm':
		for (i = 0; i < 3 && strcmp(arg, mode_name[i]); i++)
			;
		if (i == 3)
			return bad("--mode %s: give stream, reopen or drain", arg);
		b->mode = (enum mode)i;
		return 0;
	case 'f':
		b->plain = !strcmp(arg, "plain");
		return b->plain || !strcmp(arg, "stamped")
			       ? 0
			       : bad("--format %s: give plain or stamped", arg);
	case 'e':
		b->period_ns = duration(arg);
		return b->period_ns > 0 ? 0 : bad("--every %s: give 100us to 3600s", arg);
	case 'b':
		b->baud = strtol(arg, &end, 10);
		return !*end && speed_of(b->baud) != B0
			       ? 0
			       : bad("--baud %s: not a rate that a tty knows by name", arg);
	case 'c':
		b->mark = arg[0];
		return arg[0] > ' ' && arg[0] < 127 && !arg[1] && !strchr("!#", arg[0])
			       ? 0
			       : bad("--char %s: give one printable ASCII character, not ! or #",
				     arg);
	case 'n':
		b->count = strtol(arg, &end, 10);
		return end != arg && !*end && b->count > 0 ? 0
							   : bad("--count %s: give 1 or more", arg);
	case 'I':
		b->info = 0;
		return 0;
	case 'R':
		b->root = arg;
		return 0;
	}
	return -1;
}

static int options(struct beat *b, int argc, char **argv)
{
	static const struct option longs[] = {
		{"tty", 1, NULL, 't'},	 {"mode", 1, NULL, 'm'},    {"format", 1, NULL, 'f'},
		{"every", 1, NULL, 'e'}, {"baud", 1, NULL, 'b'},    {"char", 1, NULL, 'c'},
		{"count", 1, NULL, 'n'}, {"no-info", 0, NULL, 'I'}, {"root", 1, NULL, 'R'},
		{"help", 0, NULL, 'h'},	 {"version", 0, NULL, 'V'}, {NULL, 0, NULL, 0},
	};
	int c, r;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":t:m:f:e:b:c:n:hV", longs, NULL)) != -1) {
		if (c == 'h')
			return fputs(usage, stdout) < 0 ? 1 : -1;
		if (c == 'V')
			return puts(NAME " (wakewatt) 0.1.0") < 0 ? 1 : -1;
		if (c == ':')
			return bad("%s: a value is missing", argv[optind - 1]);
		if (c == '?')
			return bad("%s: no such option", argv[optind - 1]);
		r = option(b, c, optarg);
		if (r)
			return r;
	}
	if (optind < argc)
		return bad("%s: no argument is expected here", argv[optind]);
	return b->tty ? 0 : bad("no tty%s: give --tty DEV", "");
}

/* What the line carries, with a margin where a beat waits for the one before. */
static void set_period(struct beat *b)
{
	int64_t wire;

	b->char_ns = 10 * NS / b->baud;
	b->unit = b->plain ? 1 : FRAME;
	wire = (int64_t)b->unit * b->char_ns;
	if (b->period_ns) {
		b->asked = 1;
		if (b->period_ns < wire)
			say("warning: %ld baud carries a beat only every %.3f ms", b->baud,
			    (double)wire / 1e6);
		return;
	}
	if (b->mode != STREAM) {
		b->period_ns = wire * 5 / 4 > 2 * MS ? wire * 5 / 4 : 2 * MS;
		return;
	}
	b->paced = 1;
	if (b->plain && wire < MS)
		b->unit = (size_t)(MS / wire);
	if (b->unit > 100)
		b->unit = 100;
	/* a little faster than the line, so that its buffer fills */
	b->period_ns = (int64_t)b->unit * b->char_ns * 95 / 100;
}

int TTYBEAT_MAIN(int argc, char **argv)
{
	struct beat b = {.root = "",
			 .mode = DRAIN,
			 .info = 1,
			 .mark = '.',
			 .baud = 115200,
			 .fd = -1,
			 .tfd = -1};
	struct sigaction sa = {.sa_handler = on_signal};
	int r = options(&b, argc, argv);

	if (r)
		return r < 0 ? 0 : r;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	signal(SIGTTOU, SIG_IGN);
	if (port_open(&b)) {
		say("%s: %s", b.tty,
		    errno == ENOTTY   ? "is not a tty"
		    : errno == EINVAL ? "does not take this rate (--baud)"
				      : strerror(errno));
		return 1;
	}
	set_period(&b);
	if (b.mode == STREAM && b.plain)
		say("note: a stream of plain characters proves that the UART's driver runs, not "
		    "user space: what waits in the buffer leaves before tasks thaw");
	warn_of_others(&b);
	r = run(&b);
	port_restore(&b);
	if (b.tfd >= 0)
		close(b.tfd);
	alarm(0);
	return r;
}
