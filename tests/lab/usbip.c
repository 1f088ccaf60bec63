/* SPDX-License-Identifier: MIT */
#include "usbip.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SUBMIT = 1, UNLINK, RET_SUBMIT, RET_UNLINK };
enum { COMMAND, SEQ, DEVID, DIRECTION, EP, FLAGS, LENGTH, STATUS = 5, ACTUAL, WORDS = 12 };

int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

void usbip_die(const struct usbip *u, const char *what)
{
	fprintf(stderr, "%s: %s: %s\n", u->name, what, strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------------ the host's link */

static int read_all(int fd, void *to, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(fd, (uint8_t *)to + at, n - at);

		if (got <= 0 && !(got < 0 && errno == EINTR))
			return -1;
		at += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

static int answer(struct usbip *u, uint32_t seq, int status, const void *data, size_t n,
		  size_t actual)
{
	uint8_t out[48 + URB_MAX];
	uint32_t h[WORDS] = {htonl(RET_SUBMIT), htonl(seq)};

	h[STATUS] = htonl((uint32_t)status);
	h[ACTUAL] = htonl((uint32_t)actual);
	memcpy(out, h, sizeof(h));
	if (n)
		memcpy(out + sizeof(h), data, n);
	return write(u->sock, out, sizeof(h) + n) == (ssize_t)(sizeof(h) + n) ? 0 : -1;
}

static void drop(struct usbip *u, size_t i)
{
	free(u->urb[i]);
	memmove(u->urb + i, u->urb + i + 1, (--u->urbs - i) * sizeof(u->urb[0]));
}

struct urb *usbip_first(struct usbip *u, uint8_t ep)
{
	for (size_t i = 0; i < u->urbs; i++)
		if (u->urb[i]->ep == ep)
			return u->urb[i];
	return NULL;
}

void usbip_finish(struct usbip *u, struct urb *urb, int status)
{
	size_t i = 0;

	while (i < u->urbs && u->urb[i] != urb)
		i++;
	if (i == u->urbs)
		return;
	if (urb->ep & 0x80)
		answer(u, urb->seq, status, urb->data, status ? 0 : urb->have,
		       status ? 0 : urb->have);
	else
		answer(u, urb->seq, status, NULL, 0, status ? 0 : urb->want);
	drop(u, i);
}

void usbip_unplug(struct usbip *u)
{
	if (u->sock >= 0)
		close(u->sock);
	u->sock = -1;
	while (u->urbs)
		free(u->urb[--u->urbs]);
}

/*
 * Real-time priority, and that of the controller's threads: what the interrupt of a real one
 * does must not wait for a recorder.
 */
static void hurry(const struct usbip *u)
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
	if (u->calm)
		return;
	sp.sched_priority = 80;
	prctl(PR_SET_TIMERSLACK, 1UL);
	sched_setscheduler(0, SCHED_FIFO, &sp);
}

void usbip_plug(struct usbip *u, unsigned port, unsigned speed)
{
	int fds[2], sys, n;
	char text[64];

	if (u->sock >= 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		usbip_die(u, "plug");
	while (u->urbs)
		free(u->urb[--u->urbs]);
	n = snprintf(text, sizeof(text), "%u %d 65537 %u", port, fds[0], speed);
	for (int i = 0;; i++) {
		sys = open("/sys/devices/platform/vhci_hcd.0/attach", O_WRONLY);
		if (sys < 0)
			usbip_die(u, "vhci_hcd");
		if (write(sys, text, (size_t)n) == n)
			break;
		/* The port is being emptied of what was unplugged. */
		if (i == 500)
			usbip_die(u, "attach");
		close(sys);
		usleep(10000);
	}
	close(sys);
	close(fds[0]);
	u->sock = fds[1];
	hurry(u);
}

/* ---------------------------------------------------------------- the requests */

static int string_desc(const struct usbip *u, unsigned index, uint8_t *out)
{
	const char *text = index && index < 4 ? u->string[index] : NULL;
	size_t n;

	out[1] = 3;
	if (!index) {
		memcpy(out, (uint8_t[]){4, 3, 0x09, 0x04}, 4);
		return 4;
	}
	if (!text)
		return -EPIPE;
	n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		out[2 + 2 * i] = (uint8_t)text[i];
		out[3 + 2 * i] = 0;
	}
	out[0] = (uint8_t)(2 + 2 * n);
	return out[0];
}

static int standard(const struct usbip *u, const uint8_t *s, uint8_t *out)
{
	switch (s[1]) {
	case 0: /* GET_STATUS */
		memset(out, 0, 2);
		return 2;
	case 6: /* GET_DESCRIPTOR */
		if (s[3] == 1) {
			memcpy(out, u->device, 18);
			return 18;
		}
		if (s[3] == 2) {
			memcpy(out, u->config, u->config_n);
			return (int)u->config_n;
		}
		return s[3] == 3 ? string_desc(u, s[2], out) : -EPIPE;
	case 8: /* GET_CONFIGURATION */
		out[0] = 1;
		return 1;
	case 1:	 /* CLEAR_FEATURE */
	case 3:	 /* SET_FEATURE */
	case 9:	 /* SET_CONFIGURATION */
	case 11: /* SET_INTERFACE */
		return 0;
	default:
		return -EPIPE;
	}
}

static int control_request(struct usbip *u, uint32_t seq, const uint8_t *s, const uint8_t *data,
			   size_t length)
{
	uint8_t out[512] = {0};
	int n = u->control(u->ctx, s, data, out);
	size_t give;

	if (n == USBIP_OTHER)
		n = (s[0] & 0x60) ? -EPIPE : standard(u, s, out);
	if (n < 0)
		return answer(u, seq, n, NULL, 0, 0);
	if (!(s[0] & 0x80))
		return answer(u, seq, 0, NULL, 0, length);
	give = (size_t)n < length ? (size_t)n : length;
	return answer(u, seq, 0, out, give, give);
}

static struct urb *queue(struct usbip *u, uint32_t seq, uint8_t ep, size_t length)
{
	struct urb *urb;

	if (u->urbs == URBS || length > URB_MAX)
		return NULL;
	urb = malloc(sizeof(*urb));
	if (!urb)
		usbip_die(u, "memory");
	urb->seq = seq;
	urb->ep = ep;
	urb->want = length;
	urb->have = 0;
	u->urb[u->urbs++] = urb;
	if (u->urbs > u->most_urbs)
		u->most_urbs = u->urbs;
	return urb;
}

/* Taken back if it still waits; else its answer is on the way already. */
static int unlink_urb(struct usbip *u, uint32_t seq, uint32_t target)
{
	uint32_t h[WORDS] = {htonl(RET_UNLINK), htonl(seq)};

	for (size_t i = 0; i < u->urbs; i++) {
		if (u->urb[i]->seq != target)
			continue;
		drop(u, i);
		h[STATUS] = htonl((uint32_t)-ECONNRESET);
		u->unlinked++;
		break;
	}
	return write(u->sock, h, sizeof(h)) == (ssize_t)sizeof(h) ? 0 : -1;
}

static int data_request(struct usbip *u, uint32_t seq, uint8_t ep, const uint8_t *data,
			size_t length)
{
	struct urb *urb = queue(u, seq, ep, length);
	int rc;

	if (!urb)
		return answer(u, seq, -EPIPE, NULL, 0, 0);
	if (ep & 0x80)
		return 0;
	memcpy(urb->data, data, length);
	rc = u->out(u->ctx, urb);
	if (rc)
		usbip_finish(u, urb, rc < 0 ? rc : 0);
	return 0;
}

int usbip_serve(struct usbip *u)
{
	static uint8_t data[URB_MAX];
	uint32_t h[WORDS], seq;
	uint8_t ep;
	size_t length;

	if (read_all(u->sock, h, sizeof(h)))
		return -1;
	seq = ntohl(h[SEQ]);
	ep = (uint8_t)ntohl(h[EP]);
	length = ntohl(h[LENGTH]);
	if (ntohl(h[COMMAND]) == UNLINK)
		return unlink_urb(u, seq, ntohl(h[FLAGS]));
	if (ntohl(h[COMMAND]) != SUBMIT || length > sizeof(data))
		return -1;
	if (!ntohl(h[DIRECTION]) && read_all(u->sock, data, length))
		return -1;
	if (!ep)
		return control_request(u, seq, (const uint8_t *)(h + 10), data, length);
	return data_request(u, seq, (uint8_t)(ep | (ntohl(h[DIRECTION]) ? 0x80 : 0)), data, length);
}

/* ----------------------------------------------------------------- the program */

int usbip_control_open(const struct usbip *u, const char *fifo)
{
	int fd;

	if (!fifo || (mkfifo(fifo, 0600) && errno != EEXIST))
		usbip_die(u, "--control FIFO");
	fd = open(fifo, O_RDWR | O_NONBLOCK);
	if (fd < 0)
		usbip_die(u, fifo);
	return fd;
}

int usbip_orders(int fd, int (*fn)(char *line))
{
	static char buf[1024];
	static size_t n;
	ssize_t got = read(fd, buf + n, sizeof(buf) - 1 - n);
	char *end;

	if (got <= 0)
		return 1;
	n += (size_t)got;
	buf[n] = '\0';
	while ((end = strchr(buf, '\n'))) {
		*end = '\0';
		if (!fn(buf))
			return 0;
		n -= (size_t)(end + 1 - buf);
		memmove(buf, end + 1, n + 1);
	}
	return 1;
}
