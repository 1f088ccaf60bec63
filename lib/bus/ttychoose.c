/* SPDX-License-Identifier: MIT */
#include "bus/ttychoose.h"

#include "bus/sysfs.h"

#include <stdio.h>

/* Another device has taken the name of the one that was here. */
static int taken(const char *path, const struct ww_tty_ident *was, const struct ww_tty_ident *is,
		 struct ww_error *err)
{
	return ww_fail(err, -EREMCHG,
		       "%s: is another device now (%04x:%04x, serial %s); waiting for %04x:%04x, "
		       "%s%s",
		       path, is->vid, is->pid, *is->serial ? is->serial : "none", was->vid,
		       was->pid, *was->serial ? "serial " : "at ",
		       *was->serial ? was->serial : was->place);
}

int ww_tty_choose(struct ww_port *p, const char *path, struct ww_uri *options, char *out, size_t n,
		  struct ww_tty_ident *id, struct ww_error *err)
{
	const char *serial = !*path && options ? ww_uri_get(options, "serial", NULL) : NULL;
	struct ww_tty_ident was, now;
	char name[256];
	bool is;
	int rc = 0;

	snprintf(out, n, "%s", path);
	ww_tty_name(path, name, sizeof(name));
	is = ww_tty_ident(WW_TTY_CLASS, name, id);
	if (p->memory && ww_tty_ident_get(p->memory, &was)) {
		if (is && ww_tty_ident_same(id, &was))
			return 0;
		if (ww_tty_find_again(WW_TTY_CLASS, &was, &now) < 0)
			return is ? taken(path, &was, id, err)
				  : ww_fail(err, -ENODEV, "%s: is not plugged in", p->place);
		*id = now;
	} else if (*path) {
		return 0;
	} else {
		rc = ww_tty_find_ids(WW_TTY_CLASS, p->usb, serial, id, err);
	}
	snprintf(out, n, "/dev/%s", id->name);
	return rc;
}

void ww_tty_remember(struct ww_port *p, const char *asked, const char *path,
		     const struct ww_tty_ident *id)
{
	int64_t now = ww_loop_now(p->loop);
	struct ww_tty_ident was;
	char text[160];

	if (!id->vid)
		return;
	if (strcmp(asked, path) != 0)
		ww_port_setting(p, "device=%s", path);
	if (!p->memory)
		return;
	if (*asked && strcmp(asked, path) != 0 && ww_tty_ident_get(p->memory, &was)) {
		snprintf(text, sizeof(text), "came back as /dev/%s", id->name);
		ww_port_trouble(p, (struct ww_interval){now, now}, 0, text);
	}
	if (!*p->memory)
		ww_tty_ident_put(id, p->memory, WW_PORT_MEMORY);
}
