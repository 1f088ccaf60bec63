/* SPDX-License-Identifier: MIT */
/* Console servers and virtual machines: lines behind UNIX and TCP sockets. */
#include "bus/lookup.h"
#include "bus/portimpl.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONNECT_NS (10 * WW_NS_PER_S)
#define RESOLVE_NS (10 * WW_NS_PER_S)

struct sock {
	struct ww_lookup *lookup; /* a name is being resolved */
	struct addrinfo *list;
	struct addrinfo *next; /* address to try if this one fails */
	int64_t give_up_ns;
};

static void sock_close(struct ww_port *p)
{
	struct sock *s = p->impl;

	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	if (!s)
		return;
	ww_lookup_free(s->lookup);
	if (s->list)
		freeaddrinfo(s->list);
	free(s);
	p->impl = NULL;
}

static bool sock_ready(struct ww_port *p, uint32_t events);
static void resolved(struct ww_port *p);

static void sock_pump(struct ww_port *p)
{
	struct sock *s = p->impl;

	if (!p->connecting) {
		ww_port_fd_pump(p);
	} else if (s->lookup) {
		resolved(p);
	} else if (ww_loop_now(p->loop) > s->give_up_ns) {
		ww_port_lost(p, -ETIMEDOUT, "no connection in 10 s");
	}
}

/* MSG_NOSIGNAL: the library must not let its application die of SIGPIPE. */
static ssize_t sock_send(struct ww_port *p, const uint8_t *data, size_t n)
{
	ssize_t k;

	if (p->connecting)
		return -EAGAIN;
	k = send(p->fd, data, n, MSG_NOSIGNAL);
	if (k >= 0)
		return k;
	return errno == EINTR ? -EAGAIN : -errno;
}

static const struct ww_port_ops sock_ops = {
	.pump = sock_pump,
	.send = sock_send,
	.ready = sock_ready,
	.close = sock_close,
};

static struct sock *sock_new(struct ww_port *p, const char *name)
{
	struct sock *s = calloc(1, sizeof(*s));

	p->ops = &sock_ops;
	p->impl = s;
	p->transport.name = name;
	return s;
}

/* ---------------------------------------------------------------------- UNIX */

int ww_unix_open(struct ww_port *p, const char *path, struct ww_error *err)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (!sock_new(p, "unix"))
		return ww_fail_nomem(err);
	if (!*path || strlen(path) >= sizeof(a.sun_path))
		return ww_fail(err, -EINVAL, "unix:%s: expected a path of 1 to %zu bytes", path,
			       sizeof(a.sun_path) - 1);
	memcpy(a.sun_path, path, strlen(path));
	p->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd < 0)
		return ww_fail(err, -errno, "unix:%s: socket: %s", path, strerror(errno));
	p->empty_ns = ww_loop_now(p->loop);
	if (connect(p->fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return 0;
	switch (errno) {
	case ENOENT:
		return ww_fail(err, -ENOENT, "unix:%s: no such socket", path);
	case ECONNREFUSED:
		return ww_fail(err, -ECONNREFUSED, "unix:%s: nobody listens on this socket", path);
	case EAGAIN:
		return ww_fail(err, -EAGAIN, "unix:%s: its server accepts no more connections",
			       path);
	default:
		return ww_fail(err, -errno, "unix:%s: %s", path, strerror(errno));
	}
}

/* ----------------------------------------------------------------------- TCP */

int ww_hostport(const char *text, char *host, size_t hn, char *port, size_t pn,
		struct ww_error *err)
{
	const char *h = strncmp(text, "//", 2) == 0 ? text + 2 : text, *end, *colon;

	if (*h == '[') {
		end = strchr(++h, ']');
		colon = end && end[1] == ':' ? end + 1 : NULL;
	} else {
		end = colon = strrchr(h, ':');
		/* An IPv6 address without brackets has no end. */
		if (colon && memchr(h, ':', (size_t)(colon - h)))
			colon = NULL;
	}
	if (!colon || end == h || !colon[1] || (size_t)(end - h) >= hn || strlen(colon + 1) >= pn)
		return ww_fail(err, -EINVAL, "tcp:%s: expected tcp://host:port", text);
	memcpy(host, h, (size_t)(end - h));
	host[end - h] = '\0';
	memcpy(port, colon + 1, strlen(colon + 1) + 1);
	return 0;
}

/* Start with the next address. 0, or a negative errno where none is left. */
static int tcp_try(struct ww_port *p)
{
	struct sock *s = p->impl;
	int rc = -EHOSTUNREACH, one = 1, fd;

	while (s->next) {
		struct addrinfo *a = s->next;

		s->next = a->ai_next;
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (fd < 0) {
			rc = -errno;
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
		p->empty_ns = ww_loop_now(p->loop);
		if (connect(fd, a->ai_addr, a->ai_addrlen) == 0 || errno == EINPROGRESS) {
			/* Connected at once or later: the same way through sock_ready(). */
			p->connecting = true;
			s->give_up_ns = p->empty_ns + CONNECT_NS;
			p->fd = fd;
			return 0;
		}
		rc = -errno;
		close(fd);
	}
	return rc;
}

static void next_address(struct ww_port *p, int code)
{
	ww_watch_free(p->watch);
	p->watch = NULL;
	close(p->fd);
	p->fd = -1;
	if (tcp_try(p) == 0 && ww_port_rewatch(p, EPOLLIN | EPOLLOUT) == 0)
		return;
	ww_port_lost(p, -code, "no connection: %s", strerror(code));
}

/* Once a tick while a name is being resolved. */
static void resolved(struct ww_port *p)
{
	struct sock *s = p->impl;
	int rc = ww_lookup_result(s->lookup, &s->list);

	if (rc == EAI_INPROGRESS) {
		if (ww_loop_now(p->loop) > s->give_up_ns)
			ww_port_lost(p, -ETIMEDOUT,
				     "the name was not resolved in %d s: "
				     "no name server answers",
				     (int)(RESOLVE_NS / WW_NS_PER_S));
		return;
	}
	ww_lookup_free(s->lookup);
	s->lookup = NULL;
	if (rc != 0) {
		ww_port_lost(p, -EHOSTUNREACH, "%s", gai_strerror(rc));
		return;
	}
	s->next = s->list;
	rc = tcp_try(p);
	if (rc == 0)
		rc = ww_port_rewatch(p, EPOLLIN | EPOLLOUT);
	if (rc < 0)
		ww_port_lost(p, rc, "no connection: %s", strerror(-rc));
}

static bool sock_ready(struct ww_port *p, uint32_t events)
{
	socklen_t len = sizeof(int);
	int code = 0;

	if (!p->connecting)
		return true;
	if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
		return false;
	if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &len) < 0)
		code = errno;
	if (code) {
		next_address(p, code);
		return false;
	}
	p->connecting = false;
	ww_port_flush(p);
	return true;
}

/* An address needs nobody; a name is asked for while the loop goes on. */
static int find_host(struct ww_port *p, const char *host, const char *port, struct ww_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct sock *s = p->impl;
	int rc = getaddrinfo(host, port, &hints, &s->list);

	if (rc == 0) {
		s->next = s->list;
		rc = tcp_try(p);
		p->events = EPOLLIN | EPOLLOUT;
		return rc < 0 ? ww_fail(err, rc, "%s: %s", p->place, strerror(-rc)) : 0;
	}
	s->list = NULL;
	rc = ww_lookup_new(host, port, &s->lookup, err);
	if (rc < 0)
		return rc;
	p->connecting = true;
	p->empty_ns = ww_loop_now(p->loop);
	s->give_up_ns = p->empty_ns + RESOLVE_NS;
	return 0;
}

int ww_tcp_open(struct ww_port *p, const char *hostport, struct ww_error *err)
{
	char host[256], port[32];
	int rc;

	if (!sock_new(p, "tcp"))
		return ww_fail_nomem(err);
	rc = ww_hostport(hostport, host, sizeof(host), port, sizeof(port), err);
	if (rc == 0)
		rc = find_host(p, host, port, err);
	if (rc < 0)
		return rc;
	ww_port_setting(p, "delay=unknown(times are of arrival over the network)");
	return 0;
}
