/* SPDX-License-Identifier: MIT */
/*
 * A device of the kernel's Industrial I/O: its files as those of files.c, and its
 * buffer, which the loop reads itself. Answers begin with 'T', scans with 'B'.
 */
#include "bus/filework.h"
#include "bus/folder.h"
#include "bus/portimpl.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#define SCANS 8192

struct iio {
	struct ww_files f;
	char *listing;
	size_t n;
	char node[WW_SYSFS_PATH]; /* "/dev/iio:device0" */
	int fd;			  /* of its buffer; -1 closed */
	struct ww_watch *watch;
	int64_t empty_ns; /* before the last read that found nothing */
	unsigned length;  /* asked for; 0 none */
	uint8_t *said;	  /* message under construction */
};

static void close_buffer(struct iio *s)
{
	ww_watch_free(s->watch);
	s->watch = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

static void pump_buffer(struct ww_port *p)
{
	struct iio *s = p->impl;
	int64_t before = ww_loop_now(p->loop), done;

	for (int i = 0; i < 16 && ww_port_alive(p) && s->fd >= 0; i++) {
		ssize_t n = read(s->fd, s->said + 1, SCANS);
		int code = errno;

		done = ww_loop_now(p->loop);
		if (n > 0) {
			s->said[0] = 'B';
			ww_port_message(p, (struct ww_interval){s->empty_ns, done}, s->said,
					(size_t)n + 1);
		} else if (n == 0 || code == EAGAIN) {
			s->empty_ns = before;
			return;
		} else if (code != EINTR) {
			close_buffer(s);
			ww_port_lost(p, -code, "%s: %s: unplugged, or its driver was unbound",
				     s->node, strerror(code));
		}
		before = done;
	}
}

static void on_buffer(void *ctx, uint32_t events)
{
	struct ww_port *p = ctx;

	(void)events;
	ww_port_pump(p);
}

/* The kernel has switched it on, or says why not: "buffer=64", "buffer!EACCES". */
static void buffer_answer(struct ww_port *p, const char *text, char *out, size_t n)
{
	struct iio *s = p->impl;
	const char *no = strstr(text, "buffer/enable!");
	struct ww_error err = {0};

	close_buffer(s);
	if (no || s->length == 0) {
		snprintf(out, n, no ? "buffer!%.*s\n" : "buffer=0\n",
			 no ? (int)strcspn(no + 14, "\n") : 0, no ? no + 14 : "");
		return;
	}
	s->fd = open(s->node, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	s->empty_ns = ww_loop_now(p->loop);
	if (s->fd < 0)
		snprintf(out, n, "buffer!%s\n",
			 errno == EACCES  ? "EACCES"
			 : errno == EBUSY ? "EBUSY"
					  : "ENODEV");
	else if (ww_loop_watch(p->loop, s->fd, EPOLLIN, on_buffer, p, &s->watch, &err) < 0)
		snprintf(out, n, "buffer!ENOMEM\n");
	else
		snprintf(out, n, "buffer=%u\n", s->length);
}

static void answer(struct ww_port *p, const struct ww_files_head *h, const char *text, size_t n)
{
	struct iio *s = p->impl;
	char line[64];

	s->said[0] = 'T';
	memcpy(s->said + 1, text, n);
	if (strncmp(text, "buffer/enable", 13) == 0) {
		buffer_answer(p, strchr(text, '\n') ? strchr(text, '\n') + 1 : "", line,
			      sizeof(line));
		n = strlen(line);
		memcpy(s->said + 1, line, n);
	}
	ww_port_message(p, (struct ww_interval){h->lo_ns, h->hi_ns}, s->said, n + 1);
}

static void iio_pump(struct ww_port *p)
{
	struct iio *s = p->impl;
	int64_t now = ww_loop_now(p->loop);

	ww_files_pump(p, &s->f, now, answer);
	if (ww_port_alive(p))
		pump_buffer(p);
	ww_port_empty(p, now);
}

static int iio_message(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err)
{
	struct iio *s = p->impl;
	char text[160];
	int k;

	if (n < 8 || memcmp(data, "buffer=", 7) != 0)
		return ww_files_ask(&s->f, data, n, ww_loop_now(p->loop), err);
	s->length = 0;
	for (size_t i = 7; i < n && data[i] >= '0' && data[i] <= '9' && s->length < 1000000; i++)
		s->length = 10 * s->length + (unsigned)(data[i] - '0');
	/* Its length and what is in a scan can be changed only while it is off. */
	if (!s->length)
		close_buffer(s);
	k = s->length ? snprintf(text, sizeof(text),
				 "buffer/enable:=0\nbuffer/length:=%u\nbuffer/enable:=1", s->length)
		      : snprintf(text, sizeof(text), "buffer/enable:=0\n");
	return ww_files_ask(&s->f, text, (size_t)k, ww_loop_now(p->loop), err);
}

static const char *iio_listing(const struct ww_port *p, size_t *n)
{
	const struct iio *s = p->impl;

	*n = s->n;
	return s->listing;
}

static void iio_close(struct ww_port *p)
{
	struct iio *s = p->impl;

	close_buffer(s);
	ww_files_end(&s->f);
	free(s->listing);
	free(s->said);
	free(s);
	p->impl = NULL;
}

static const struct ww_port_ops iio_ops = {
	.pump = iio_pump,
	.message = iio_message,
	.listing = iio_listing,
	.close = iio_close,
};

/* "device0", "ina226", "ina226@1-0040", "/sys/bus/iio/devices/iio:device0". */
static int find(struct ww_port *p, const char *place, char *folder, struct ww_error *err)
{
	char name[WW_SYSFS_PATH];

	snprintf(name, sizeof(name),
		 *place == '/' || strncmp(place, "iio:", 4) == 0 ? "%.300s" : "iio:%.300s", place);
	return ww_folder_find("/sys", name, p->memory ? p->memory : "", folder, err);
}

int ww_iio_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	char folder[WW_SYSFS_PATH];
	struct iio *s;
	int rc = find(p, place, folder, err);

	(void)options;
	if (rc < 0)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ww_fail_nomem(err);
	s->fd = -1;
	s->said = malloc(1 + (WW_FILES_ANSWER > SCANS ? WW_FILES_ANSWER : SCANS));
	rc = s->said ? ww_files_start(&s->f, folder, err) : ww_fail_nomem(err);
	if (rc < 0) {
		free(s->said);
		free(s);
		return rc;
	}
	/* A copy of such a folder elsewhere has its buffer beside it. */
	if (strncmp(folder, "/sys/", 5) == 0)
		snprintf(s->node, sizeof(s->node), "/dev/%.64s", strrchr(folder, '/') + 1);
	else
		snprintf(s->node, sizeof(s->node), "%.300s/scans", folder);
	p->ops = &iio_ops;
	p->impl = s;
	p->fd = s->f.worker.fd;
	p->transport.name = "iio";
	ww_port_setting(p, "folder=%s", folder);
	rc = ww_files_list(&s->f, &s->listing, &s->n, err);
	if (rc == 0 && p->memory)
		ww_folder_identity(folder, p->memory, WW_PORT_MEMORY);
	return rc;
}
