/* SPDX-License-Identifier: MIT */
/* The worker's side of files.c: system calls only, nothing is allocated here. */
#include "bus/filework.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define UNDO   48
#define VALUE  256
#define SHARED 128

struct undo {
	char name[SHARED], value[VALUE];
};

struct ww_files_child {
	char folder[WW_SYSFS_PATH];
	char *shared;
	int dir, fd;
	struct stat was;
	size_t undos;
	struct undo undo[UNDO];
	char ask[WW_FILES_ASK + 8];
	char value[16384];
	struct {
		struct ww_files_head head;
		char text[WW_FILES_ANSWER];
	} answer;
	size_t n; /* of text */
};

struct ww_files_child *ww_files_child_new(const char *folder, char *shared)
{
	struct ww_files_child *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	memcpy(c->folder, folder, strnlen(folder, sizeof(c->folder) - 1));
	c->shared = shared;
	return c;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * WW_NS_PER_S + t.tv_nsec;
}

static void put(struct ww_files_child *c, const char *p, size_t n)
{
	if (n > sizeof(c->answer.text) - c->n)
		n = sizeof(c->answer.text) - c->n;
	memcpy(c->answer.text + c->n, p, n);
	c->n += n;
}

static void put_error(struct ww_files_child *c, int code)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{ENODATA, "ENODATA"},	  {EIO, "EIO"},
		{ENODEV, "ENODEV"},	  {ENOENT, "ENOENT"},
		{EACCES, "EACCES"},	  {EPERM, "EPERM"},
		{EAGAIN, "EAGAIN"},	  {EINVAL, "EINVAL"},
		{ETIMEDOUT, "ETIMEDOUT"}, {EBUSY, "EBUSY"},
		{ENXIO, "ENXIO"},	  {EREMOTEIO, "EREMOTEIO"},
		{EISDIR, "EISDIR"},	  {EOPNOTSUPP, "EOPNOTSUPP"},
		{ERANGE, "ERANGE"},	  {EROFS, "EROFS"},
	};
	char digits[8], *d = digits + sizeof(digits);

	put(c, "!", 1);
	for (size_t i = 0; i < WW_COUNTOF(names); i++) {
		if (names[i].code == code) {
			put(c, names[i].name, strlen(names[i].name));
			return;
		}
	}
	*--d = '\0';
	for (int v = code; d > digits && (v || d == digits + sizeof(digits) - 1); v /= 10)
		*--d = (char)('0' + v % 10);
	put(c, "E", 1);
	put(c, d, strlen(d));
}

/* The first line; all of them joined by \x1f where there are several. */
static size_t one_line(char *p, size_t n)
{
	while (n && (p[n - 1] == '\n' || p[n - 1] == ' ' || p[n - 1] == '\t' || p[n - 1] == '\0'))
		n--;
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n')
			p[i] = '\x1f';
		else if (p[i] == '\0' || p[i] == '\r')
			p[i] = ' ';
	}
	return n;
}

/* Whoever asked is no more: what still holds is given up. */
static bool orphan(const struct ww_files_child *c)
{
	char byte;

	return recv(c->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* A call that a signal broke off is made again, but for nobody. */
static bool again(const struct ww_files_child *c, ssize_t rc)
{
	return rc < 0 && errno == EINTR && !orphan(c);
}

/* Bytes in c->value, or a negative errno. */
static ssize_t get(struct ww_files_child *c, const char *name)
{
	size_t n = 0;
	ssize_t k;
	int code, fd;

	do
		fd = openat(c->dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	while (again(c, fd));
	if (fd < 0)
		return -errno;
	do {
		k = read(fd, c->value + n, sizeof(c->value) - n);
		n += k > 0 ? (size_t)k : 0;
	} while (k > 0 || again(c, k));
	code = errno;
	close(fd);
	return k < 0 && !n ? -code : (ssize_t)one_line(c->value, n);
}

static int set(struct ww_files_child *c, const char *name, const char *value)
{
	int fd = openat(c->dir, name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_TRUNC);
	ssize_t k;
	int code;

	if (fd < 0)
		return -errno;
	k = write(fd, value, strlen(value));
	code = errno;
	close(fd);
	return k < 0 ? -code : 0;
}

/* What it held before we came, once for each file. */
static void remember(struct ww_files_child *c, const char *name)
{
	struct undo *u = &c->undo[c->undos];
	ssize_t n;

	for (size_t i = 0; i < c->undos; i++)
		if (strcmp(c->undo[i].name, name) == 0)
			return;
	n = c->undos < UNDO && strlen(name) < sizeof(u->name) ? get(c, name) : -1;
	if (n < 0 || (size_t)n >= sizeof(u->value))
		return;
	memcpy(u->name, name, strlen(name) + 1);
	memcpy(u->value, c->value, (size_t)n);
	u->value[n] = '\0';
	c->undos++;
}

/* A name of the folder or of one in it, nothing else. */
static bool decent(const char *name)
{
	const char *slash = strchr(name, '/');

	return *name && *name != '/' && strncmp(name, "..", 2) != 0 && !strstr(name, "/..") &&
	       (!slash || !strchr(slash + 1, '/'));
}

static int line(struct ww_files_child *c, char *name)
{
	char *value = strstr(name, ":=");
	ssize_t n;

	if (value)
		*value = '\0';
	n = (ssize_t)strnlen(name, SHARED - 1);
	memcpy(c->shared, name, (size_t)n);
	c->shared[n] = '\0';
	put(c, name, strlen(name));
	if (!decent(name)) {
		n = -EINVAL;
	} else if (value) {
		remember(c, name);
		n = set(c, name, value + 2);
	} else {
		n = get(c, name);
	}
	if (n < 0) {
		put_error(c, (int)-n);
	} else if (value) {
		put(c, ":=", 2);
		put(c, value + 2, strlen(value + 2));
	} else {
		put(c, "=", 1);
		put(c, c->value, (size_t)n);
	}
	put(c, "\n", 1);
	return n < 0 ? (int)n : 0;
}

/* Another folder lies at that path now, or none. */
static bool gone(const struct ww_files_child *c)
{
	struct stat st;

	return stat(c->folder, &st) < 0 || st.st_ino != c->was.st_ino || st.st_dev != c->was.st_dev;
}

static void work(struct ww_files_child *c, size_t n)
{
	struct ww_files_head *h = &c->answer.head;
	char *p = c->ask + sizeof(h->seq), *next;
	bool missing = false;

	*h = (struct ww_files_head){.lo_ns = now()};
	memcpy(&h->seq, c->ask, sizeof(h->seq));
	c->ask[n] = '\0';
	for (c->n = 0; p && *p; p = next) {
		int rc;

		next = strchr(p, '\n');
		if (next)
			*next++ = '\0';
		rc = *p ? line(c, p) : 0;
		missing |= rc == -ENOENT || rc == -ENODEV || rc == -ENXIO;
	}
	h->hi_ns = now();
	h->gone = missing && gone(c);
	c->shared[0] = '\0';
}

/* Breaks off the call that holds, and comes again in case it was about to be made. */
static void on_alarm(int signal)
{
	(void)signal;
	alarm(1);
}

int ww_files_child_run(void *child, int fd)
{
	const struct sigaction act = {.sa_handler = on_alarm}; /* no SA_RESTART */
	struct ww_files_child *c = child;
	size_t n;

	c->fd = fd;
	/* A file that never returns would keep us for ever after a kill of the recorder. */
	sigaction(SIGALRM, &act, NULL);
	prctl(PR_SET_PDEATHSIG, SIGALRM);

	c->dir = open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->dir < 0 || fstat(c->dir, &c->was) < 0)
		return 1;
	while ((n = ww_worker_hear(fd, c->ask, sizeof(c->ask) - 1)) > sizeof(uint32_t)) {
		work(c, n);
		if (!ww_worker_say(fd, &c->answer, sizeof(c->answer.head) + c->n))
			break;
	}
	/* As it was found: the last that was changed first. */
	while (c->undos--)
		set(c, c->undo[c->undos].name, c->undo[c->undos].value);
	return 0;
}
