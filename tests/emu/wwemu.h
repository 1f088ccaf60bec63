/* SPDX-License-Identifier: MIT */
/* wwemu's wires: what leaves when, connections, a web server, plugs. */
#ifndef WWEMU_H
#define WWEMU_H

#include "emu.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum kind { PTY, TCP, UNIX, HTTP };

#define CLIENTS 8
#define QUEUE	65536
#define REQUEST 65536

struct message {
	struct message *next;
	int64_t at, end; /* when its first byte leaves, when it is through */
	size_t n, done;
	bool hangup;
	uint8_t p[];
};

struct client {
	int fd; /* -1: free */
	uint8_t *request;
	size_t n;
	bool asked; /* an answer is due */
	bool close; /* the client wants no second question */
};

static struct {
	const struct emu_model *model;
	struct emu_setup setup;
	void *meter;
	enum kind kind;
	const char *place;
	int master, slave, listener, port;
	struct client client[CLIENTS];
	struct message *first, **last;
	size_t waiting;	   /* bytes in the queue */
	int64_t line_free; /* when the line is free again */
	int64_t began;
	bool unplugged, silent, echo;
} e = {.setup = {.volts = 230, .amps = 0.1, .pf = 1, .hz = 50, .seed = 1},
       .master = -1,
       .slave = -1,
       .listener = -1,
       .last = &e.first};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * EMU_S + t.tv_nsec - e.began;
}

static void die(const char *what)
{
	fprintf(stderr, "wwemu: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ------------------------------------------------------------ towards the host */

static void queue(int64_t at, const void *p, size_t n, bool hangup)
{
	struct message *m;

	if (e.silent || e.unplugged || e.waiting + n > QUEUE)
		return;
	m = malloc(sizeof(*m) + n + 1);
	if (!m)
		return;
	*m = (struct message){.at = at, .end = at, .n = n, .hangup = hangup};
	if (n)
		memcpy(m->p, p, n);
	m->p[n] = '\0';
	if (e.kind != HTTP && e.model->baud > 0) {
		m->at = at > e.line_free ? at : e.line_free;
		m->end = m->at + (int64_t)n * 10 * EMU_S / e.model->baud;
		e.line_free = m->end;
	}
	*e.last = m;
	e.last = &m->next;
	e.waiting += n;
}

static void on_send(void *ctx, int64_t at, const void *p, size_t n)
{
	(void)ctx;
	queue(at, p, n, false);
}

static void on_hangup(void *ctx, int64_t at)
{
	(void)ctx;
	queue(at, NULL, 0, true);
}

static const struct emu_out out = {.send = on_send, .hangup = on_hangup};

static void pop(void)
{
	struct message *m = e.first;

	e.waiting -= m->n;
	e.first = m->next;
	if (!e.first)
		e.last = &e.first;
	free(m);
}

static void drop_all(void)
{
	while (e.first)
		pop();
	e.line_free = 0;
}

static void drop_client(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->request);
	*c = (struct client){.fd = -1};
}

static int stream_fd(void)
{
	return e.kind == PTY ? e.master : e.client[0].fd;
}

/* Bytes of a message that the line has carried until now. */
static size_t carried(const struct message *m, int64_t now)
{
	if (m->end <= now)
		return m->n;
	return m->at >= now
		       ? 0
		       : (size_t)((double)m->n * (double)(now - m->at) / (double)(m->end - m->at));
}

/* Returns false where the host takes no more. */
static bool put_stream(struct message *m, int64_t now)
{
	size_t upto = carried(m, now);
	ssize_t k;

	while (m->done < upto && stream_fd() >= 0) {
		k = write(stream_fd(), m->p + m->done, upto - m->done);
		if (k < 0)
			return errno != EAGAIN && errno != EINTR;
		m->done += (size_t)k;
	}
	if (m->hangup && e.kind != PTY)
		drop_client(&e.client[0]);
	return true;
}

/* "200\nbody" as a web server says it, to whoever has asked first. */
static void put_answer(const struct message *m)
{
	const char *text = (const char *)m->p, *body = memchr(text, '\n', m->n);
	size_t n = body ? m->n - (size_t)(++body - text) : 0;
	int code = atoi(text);
	char head[256];

	for (int i = 0; i < CLIENTS; i++) {
		struct client *c = &e.client[i];
		int k;

		if (c->fd < 0 || !c->asked)
			continue;
		k = snprintf(head, sizeof(head),
			     "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
			     "Connection: %s\r\n\r\n",
			     code, code == 200 ? "OK" : "No",
			     n && (*body == '{' || *body == '[') ? "application/json" : "text/html",
			     n, c->close ? "close" : "keep-alive");
		if (write(c->fd, head, (size_t)k) != k || (n && write(c->fd, body, n) < 0) ||
		    c->close)
			drop_client(c);
		else
			c->asked = false;
		return;
	}
}

static void deliver(int64_t now)
{
	while (e.first && (e.first->at <= now || e.first->end <= now)) {
		struct message *m = e.first;

		if (e.kind == HTTP)
			put_answer(m);
		else if (!put_stream(m, now))
			return;
		if (m->end > now)
			return;
		pop();
	}
}

/* --------------------------------------------------------- what the host sends */

static void heard(const uint8_t *p, size_t n)
{
	if (e.echo) {
		printf("got ");
		for (size_t i = 0; i < n; i++)
			printf("%02x", p[i]);
		printf("\n");
		fflush(stdout);
	}
	if (!e.silent)
		e.model->host(e.meter, now_ns(), p, n, &out);
}

/* Length of the question's body; its head ends at `end`. */
static size_t body_length(const char *head, const char *end)
{
	for (const char *p = head; p < end; p = strchr(p, '\n') + 1) {
		if (strncasecmp(p, "Content-Length:", 15) == 0)
			return strtoul(p + 15, NULL, 10);
		if (!strchr(p, '\n'))
			break;
	}
	return 0;
}

/* One whole question, if it is here; false: not yet. */
static bool question(struct client *c)
{
	char *text = (char *)c->request, *end, *path, *space, *message;
	size_t body, whole;
	int k;

	text[c->n] = '\0';
	end = strstr(text, "\r\n\r\n");
	if (!end || c->asked)
		return false;
	body = body_length(text, end + 2);
	whole = (size_t)(end + 4 - text) + body;
	if (body > REQUEST || c->n < whole)
		return false;
	c->close = strstr(text, "Connection: close") && strstr(text, "Connection: close") < end;
	path = strchr(text, ' ');
	space = path ? strchr(path + 1, ' ') : NULL;
	message = malloc(whole + 8);
	if (!space || space > end || !message) {
		free(message);
		drop_client(c);
		return false;
	}
	k = snprintf(message, whole + 8, "%.*s%s%.*s", (int)(space - text), text, body ? "\n" : "",
		     (int)body, end + 4);
	memmove(text, text + whole, c->n - whole);
	c->n -= whole;
	c->asked = true;
	heard((const uint8_t *)message, (size_t)k);
	free(message);
	return true;
}

static void read_client(struct client *c)
{
	ssize_t k;

	if (!c->request)
		c->request = malloc(REQUEST + 1);
	k = c->request && c->n < REQUEST ? read(c->fd, c->request + c->n, REQUEST - c->n) : 0;
	if (k < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (k <= 0) {
		drop_client(c);
		return;
	}
	if (e.kind != HTTP) {
		heard(c->request, (size_t)k);
		return;
	}
	c->n += (size_t)k;
	while (c->fd >= 0 && question(c))
		;
}

static void read_pty(void)
{
	uint8_t buf[4096];
	ssize_t k = read(e.master, buf, sizeof(buf));

	if (k > 0)
		heard(buf, (size_t)k);
}

static void new_client(void)
{
	int fd = accept(e.listener, NULL, NULL), one = 1;
	/* A line has one other end, and the newest has it. */
	struct client *c = &e.client[0];

	for (int i = 0; e.kind == HTTP && i < CLIENTS; i++)
		if (e.client[i].fd < 0)
			c = &e.client[i];
	if (fd < 0)
		return;
	drop_client(c);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (e.kind != UNIX)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->fd = fd;
	if (e.kind == HTTP)
		return;
	drop_all();
	if (e.model->opened)
		e.model->opened(e.meter, now_ns());
}

/* ------------------------------------------------------------- plug and unplug */

static void plug_pty(void)
{
	struct termios t;
	char name[128];

	if (openpty(&e.master, &e.slave, name, NULL, NULL) < 0)
		die("openpty");
	tcgetattr(e.slave, &t);
	cfmakeraw(&t);
	tcsetattr(e.slave, TCSANOW, &t);
	fcntl(e.master, F_SETFL, O_NONBLOCK);
	unlink(e.place);
	if (symlink(name, e.place) < 0)
		die(e.place);
}

static void plug_unix(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", e.place);
	unlink(e.place);
	e.listener = socket(AF_UNIX, SOCK_STREAM, 0);
	if (e.listener < 0 || bind(e.listener, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    listen(e.listener, 8) < 0)
		die(e.place);
}

/* [ADDR:]PORT; once any port has been given, it stays. */
static void plug_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET};
	const char *colon = strrchr(e.place, ':');
	socklen_t len = sizeof(a);
	char host[64];
	int one = 1;

	snprintf(host, sizeof(host), "%.*s", colon ? (int)(colon - e.place) : 9,
		 colon ? e.place : "127.0.0.1");
	a.sin_port = htons((uint16_t)(e.port ? e.port : atoi(colon ? colon + 1 : e.place)));
	e.listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(e.listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (inet_pton(AF_INET, host, &a.sin_addr) != 1 ||
	    bind(e.listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(e.listener, 8) < 0 ||
	    getsockname(e.listener, (struct sockaddr *)&a, &len) < 0)
		die(e.place);
	e.port = ntohs(a.sin_port);
}

static void plug(void)
{
	e.unplugged = false;
	if (e.kind == PTY)
		plug_pty();
	else if (e.kind == UNIX)
		plug_unix();
	else
		plug_tcp();
}

static void unplug(void)
{
	drop_all();
	e.unplugged = true;
	if (e.kind == PTY || e.kind == UNIX)
		unlink(e.place);
	for (int i = 0; i < CLIENTS; i++)
		drop_client(&e.client[i]);
	if (e.master >= 0)
		close(e.master);
	if (e.slave >= 0)
		close(e.slave);
	if (e.listener >= 0)
		close(e.listener);
	e.master = e.slave = e.listener = -1;
}

#endif
