/* SPDX-License-Identifier: MIT */
/* Files of a folder of the kernel, as messages. */
#include "bus/filework.h"
#include "bus/folder.h"
#include "bus/portimpl.h"

#include <stdio.h>

/* Answers wake by the descriptor and have times of their own: this is for what does not come. */
#define TICK_NS (100 * WW_NS_PER_MS)

struct files {
	struct ww_files f;
	char *listing;
	size_t n;
};

void ww_files_pump(struct ww_port *p, struct ww_files *f, int64_t now_ns,
		   void (*answer)(struct ww_port *p, const struct ww_files_head *head,
				  const char *text, size_t n))
{
	struct ww_files_head head;
	struct ww_interval t;
	const char *text;
	char say[200];
	size_t n;
	int rc;

	while (ww_port_alive(p) && (rc = ww_files_next(f, now_ns, &head, &text, &n)) != 0) {
		if (rc == -ENODEV)
			ww_port_lost(p, rc, "%s is gone: unplugged, or its driver was unbound",
				     f->folder);
		else if (rc < 0)
			ww_port_lost(p, rc, "the process that reads %s has ended", f->folder);
		else
			answer(p, &head, text, n);
	}
	text = ww_port_alive(p) ? ww_files_slow(f, now_ns, &t) : NULL;
	if (!text)
		return;
	snprintf(say, sizeof(say), "%s has not returned for %lld s: a slow or dead chip", text,
		 (long long)(WW_FILES_SLOW / WW_NS_PER_S));
	ww_port_trouble(p, t, -1, say);
}

static void pass_on(struct ww_port *p, const struct ww_files_head *head, const char *text, size_t n)
{
	ww_port_message(p, (struct ww_interval){head->lo_ns, head->hi_ns}, (const uint8_t *)text,
			n);
}

static void files_pump(struct ww_port *p)
{
	struct files *s = p->impl;
	int64_t now = ww_loop_now(p->loop);

	ww_files_pump(p, &s->f, now, pass_on);
	ww_port_empty(p, now);
}

static int files_message(struct ww_port *p, const uint8_t *data, size_t n, struct ww_error *err)
{
	struct files *s = p->impl;

	return ww_files_ask(&s->f, data, n, ww_loop_now(p->loop), err);
}

static const char *files_listing(const struct ww_port *p, size_t *n)
{
	const struct files *s = p->impl;

	*n = s->n;
	return s->listing;
}

static void files_close(struct ww_port *p)
{
	struct files *s = p->impl;

	ww_files_end(&s->f);
	free(s->listing);
	free(s);
	p->impl = NULL;
}

static const struct ww_port_ops files_ops = {
	.pump = files_pump,
	.message = files_message,
	.listing = files_listing,
	.close = files_close,
};

int ww_files_open(struct ww_port *p, const char *place, struct ww_uri *options,
		  struct ww_error *err)
{
	char folder[WW_SYSFS_PATH];
	struct files *s;
	int rc = ww_folder_find("/sys", place, p->memory ? p->memory : "", folder, err);

	(void)options;
	if (rc < 0)
		return rc;
	s = calloc(1, sizeof(*s));
	if (!s)
		return ww_fail_nomem(err);
	rc = ww_files_start(&s->f, folder, err);
	if (rc < 0) {
		free(s);
		return rc;
	}
	p->ops = &files_ops;
	p->impl = s;
	p->fd = s->f.worker.fd;
	p->transport.name = "sysfs";
	p->tick_ns = TICK_NS;
	ww_port_setting(p, "folder=%s", folder);
	rc = ww_files_list(&s->f, &s->listing, &s->n, err);
	if (rc == 0 && p->memory)
		ww_folder_identity(folder, p->memory, WW_PORT_MEMORY);
	return rc;
}
