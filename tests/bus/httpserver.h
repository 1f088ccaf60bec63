/* SPDX-License-Identifier: MIT */
/* A web server for tests, in a process of its own: the path says how it behaves. */
#ifndef HTTPSERVER_H
#define HTTPSERVER_H

#include "base/sha256.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct httpserver {
	pid_t pid;
	int port;
	int fd;
};

#define HS_NONCE "60dc59c6"

static void hs_say(int fd, const char *s)
{
	if (send(fd, s, strlen(s), MSG_NOSIGNAL) < 0)
		_exit(0);
}

static void hs_answer(int fd, int status, const char *extra, const char *body)
{
	char text[512];

	snprintf(text, sizeof(text), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n%s", status,
		 strlen(body), extra, body);
	hs_say(fd, text);
}

/* For ever, as fast as it goes, or a byte each 20 ms. */
static void hs_endless(int fd, const char *head, const char *piece, int ms)
{
	hs_say(fd, head);
	for (;;) {
		hs_say(fd, piece);
		if (ms)
			poll(NULL, 0, ms);
	}
}

static void hs_hash(char *hex, const char *a, const char *b, const char *c)
{
	struct ww_sha256 h;
	struct ww_str s = {0};

	ww_str_addf(&s, "%s:%s", a, b);
	if (c)
		ww_str_addf(&s, ":%s", c);
	ww_sha256_init(&h);
	ww_sha256_add(&h, s.p, s.n);
	ww_sha256_end(&h, hex);
	ww_str_free(&s);
}

static bool hs_field(const char *q, const char *key, char *out, size_t n)
{
	const char *p = strstr(q, key);
	size_t k;

	if (!p)
		return false;
	p += strlen(key);
	p += *p == '"';
	k = strcspn(p, "\", \r");
	snprintf(out, n, "%.*s", (int)k, p);
	return true;
}

/* Is the question signed by admin, "secret", as RFC 7616 says? */
static bool hs_signed(const char *q, const char *path)
{
	char nc[16], cnonce[128], response[80], ha1[65], ha2[65], want[65], tail[320];

	if (!hs_field(q, "nc=", nc, sizeof(nc)) ||
	    !hs_field(q, "cnonce=", cnonce, sizeof(cnonce)) ||
	    !hs_field(q, "response=", response, sizeof(response)))
		return false;
	hs_hash(ha1, "admin", "plug", "secret");
	hs_hash(ha2, "GET", path, NULL);
	snprintf(tail, sizeof(tail), "%s:%s:auth:%s", nc, cnonce, ha2);
	hs_hash(want, ha1, HS_NONCE, tail);
	return strcmp(want, response) == 0;
}

static void hs_behave(int fd, const char *q, const char *path, unsigned nth)
{
	char text[64];

	snprintf(text, sizeof(text), "\"question %u\"", nth);
	if (strcmp(path, "/ok") == 0)
		hs_answer(fd, 200, "", text);
	else if (strcmp(path, "/slow") == 0)
		poll(NULL, 0, 200), hs_answer(fd, 200, "", "slow");
	else if (strcmp(path, "/never") == 0)
		poll(NULL, 0, 20000);
	else if (strcmp(path, "/drip") == 0)
		hs_endless(fd, "HTTP/1.1 200 OK\r\n\r\n", "x", 20);
	else if (strcmp(path, "/huge") == 0)
		hs_endless(fd, "HTTP/1.1 200 OK\r\n\r\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n", 0);
	else if (strcmp(path, "/headers") == 0)
		hs_endless(fd, "HTTP/1.1 200 OK\r\n", "X-More: xxxxxxxxxxxxxxxxxxxxxx\r\n", 0);
	else if (strcmp(path, "/chunked") == 0)
		hs_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
			   "4\r\nhell\r\n2\r\no!\r\n0\r\n\r\n");
	else if (strcmp(path, "/badchunk") == 0)
		hs_say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n");
	else if (strcmp(path, "/garbage") == 0)
		hs_say(fd, "\x01\x02\xff no web server \r\n\r\n"), shutdown(fd, SHUT_RDWR);
	else if (strcmp(path, "/early") == 0)
		hs_say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
			shutdown(fd, SHUT_RDWR);
	else if (strcmp(path, "/500") == 0)
		hs_answer(fd, 500, "", "broken");
	else if (strcmp(path, "/loop") == 0)
		hs_answer(fd, 302, "Location: /loop\r\n", "");
	else if (strcmp(path, "/digest") == 0)
		hs_answer(fd, hs_signed(q, path) ? 200 : 401,
			  "WWW-Authenticate: Digest qop=\"auth\", realm=\"plug\", nonce=\"" HS_NONCE
			  "\", algorithm=SHA-256\r\n",
			  hs_signed(q, path) ? text : "");
	else if (strcmp(path, "/basic") == 0)
		hs_answer(fd, strstr(q, "Basic YWRtaW46c2VjcmV0") ? 200 : 401,
			  "WWW-Authenticate: Basic realm=\"plug\"\r\n", "");
	else
		hs_answer(fd, 404, "", "");
}

static void hs_connection(int fd)
{
	char q[4096], path[64];
	unsigned nth = 0;
	size_t n = 0;

	for (ssize_t k; (k = recv(fd, q + n, sizeof(q) - 1 - n, 0)) > 0;) {
		char *end, *body;

		n += (size_t)k;
		q[n] = '\0';
		end = strstr(q, "\r\n\r\n");
		if (!end)
			continue;
		body = end + 4;
		if (strncmp(q, "POST /echo ", 11) == 0) {
			const char *length = strstr(q, "Content-Length: ");

			if (!length || strlen(body) < strtoul(length + 16, NULL, 10))
				continue;
			hs_answer(fd, strstr(q, "application/json") ? 200 : 415, "", body);
		} else {
			size_t at = strcspn(q, " ") + 1;

			snprintf(path, sizeof(path), "%.*s", (int)strcspn(q + at, " "), q + at);
			hs_behave(fd, q, path, ++nth);
		}
		n = 0;
	}
	_exit(0);
}

static void hs_serve(int listening)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listening, NULL, NULL);

		if (fd >= 0 && fork() == 0)
			hs_connection(fd);
		close(fd);
	}
}

/* port 0: any; serving false: takes connections and never looks at them. */
static inline void hs_start(struct httpserver *s, int port, bool serving)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int one = 1, rc;

	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	/* Processes of the one before may take a moment to die. */
	for (int i = 0; (rc = bind(s->fd, (struct sockaddr *)&a, sizeof(a))) < 0 && i < 500; i++)
		poll(NULL, 0, 10);
	assert_int_equal(rc, 0);
	assert_int_equal(listen(s->fd, 8), 0);
	getsockname(s->fd, (struct sockaddr *)&a, &n);
	s->port = ntohs(a.sin_port);
	s->pid = 0;
	if (!serving)
		return;
	s->pid = fork();
	if (s->pid == 0) {
		setpgid(0, 0);
		hs_serve(s->fd);
	}
	setpgid(s->pid, s->pid);
	close(s->fd);
	s->fd = -1;
}

static inline void hs_stop(struct httpserver *s)
{
	if (s->pid > 0) {
		kill(-s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	if (s->fd >= 0)
		close(s->fd);
	s->pid = 0;
	s->fd = -1;
}

#endif
