/* SPDX-License-Identifier: MIT */
#include "bus/ttyfind.h"

#include "base/str.h"
#include "bus/sysfs.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

/* Folders between a tty and its USB device: ".../1-2.3/1-2.3:1.0/ttyUSB0/tty/ttyUSB0". */
#define LEVELS 6

static bool hex(const char *dir, const char *name, unsigned *out)
{
	char text[16], *end;

	if (!ww_sysfs_read(dir, name, text, sizeof(text)))
		return false;
	*out = (unsigned)strtoul(text, &end, 16);
	return end != text && !*end && *out <= 0xffff;
}

static void copy(char *to, size_t n, const char *from)
{
	snprintf(to, n, "%s", from);
}

bool ww_tty_ident(const char *class_dir, const char *name, struct ww_tty_ident *out)
{
	char path[PATH_MAX], dir[PATH_MAX], *cut;
	unsigned interface;

	*out = (struct ww_tty_ident){.interface = -1};
	if (strlen(name) >= sizeof(out->name) || strchr(name, '/'))
		return false;
	copy(out->name, sizeof(out->name), name);
	snprintf(path, sizeof(path), "%.3000s/%s/device", class_dir, out->name);
	if (!realpath(path, dir))
		return false;
	for (int i = 0; i < LEVELS; i++) {
		if (out->interface < 0 && hex(dir, "bInterfaceNumber", &interface))
			out->interface = (int)interface;
		if (hex(dir, "idVendor", &out->vid))
			break;
		cut = strrchr(dir, '/');
		if (!cut || cut == dir)
			return false;
		*cut = '\0';
	}
	cut = strrchr(dir, '/');
	if (!out->vid || !cut || strlen(cut + 1) >= sizeof(out->place) ||
	    !hex(dir, "idProduct", &out->pid))
		return false;
	copy(out->place, sizeof(out->place), cut + 1);
	ww_sysfs_read(dir, "serial", out->serial, sizeof(out->serial));
	return true;
}

void ww_tty_ident_put(const struct ww_tty_ident *id, char *text, size_t n)
{
	snprintf(text, n, "tty %04x:%04x %d %s %s", id->vid, id->pid, id->interface, id->place,
		 id->serial);
}

bool ww_tty_ident_get(const char *text, struct ww_tty_ident *out)
{
	int at = 0;

	*out = (struct ww_tty_ident){.interface = -1};
	/* NOLINTNEXTLINE(cert-err34-c): a text of ours, of four digits */
	if (sscanf(text, "tty %4x:%4x %d %63s%n", &out->vid, &out->pid, &out->interface, out->place,
		   &at) != 4)
		return false;
	/* A serial number may have blanks in it. */
	copy(out->serial, sizeof(out->serial), text[at] == ' ' ? text + at + 1 : "");
	return true;
}

bool ww_tty_ident_same(const struct ww_tty_ident *a, const struct ww_tty_ident *b)
{
	if (a->vid != b->vid || a->pid != b->pid || a->interface != b->interface ||
	    strcmp(a->serial, b->serial) != 0)
		return false;
	return *a->serial || strcmp(a->place, b->place) == 0;
}

/* Calls `each` for every USB serial port. */
static void for_all(const char *class_dir, void (*each)(void *ctx, const struct ww_tty_ident *id),
		    void *ctx)
{
	struct ww_tty_ident id;
	struct dirent *e;
	DIR *d = opendir(class_dir);

	while (d && (e = readdir(d))) {
		/* The others are many, and none is behind USB. */
		if (strncmp(e->d_name, "ttyUSB", 6) != 0 && strncmp(e->d_name, "ttyACM", 6) != 0)
			continue;
		if (ww_tty_ident(class_dir, e->d_name, &id))
			each(ctx, &id);
	}
	if (d)
		closedir(d);
}

struct again {
	const struct ww_tty_ident *was;
	struct ww_tty_ident *out;
	bool found;
};

static void same(void *ctx, const struct ww_tty_ident *id)
{
	struct again *a = ctx;

	if (!ww_tty_ident_same(id, a->was))
		return;
	/* Two with one serial number, as cheap chips have: the one in the same place. */
	if (a->found && strcmp(id->place, a->was->place) != 0)
		return;
	*a->out = *id;
	a->found = true;
}

int ww_tty_find_again(const char *class_dir, const struct ww_tty_ident *was,
		      struct ww_tty_ident *out)
{
	struct again a = {was, out, false};

	for_all(class_dir, same, &a);
	return a.found ? 0 : -ENODEV;
}

struct by_ids {
	const struct ww_usb_id *ids;
	const char *serial;
	struct ww_tty_ident *out;
	size_t found;
	struct ww_str which;
};

static bool fits(const struct by_ids *s, const struct ww_tty_ident *id)
{
	const struct ww_usb_id *u = s->ids;

	while (u && u->vid && (u->vid != id->vid || u->pid != id->pid || u->generic))
		u++;
	if (!u || !u->vid || (u->interface >= 0 && u->interface != id->interface))
		return false;
	return !s->serial || strcmp(s->serial, id->serial) == 0;
}

static void take(void *ctx, const struct ww_tty_ident *id)
{
	struct by_ids *s = ctx;

	if (!fits(s, id))
		return;
	/* Of one device the first port speaks; others are for its maker. */
	if (s->found && strcmp(id->place, s->out->place) == 0) {
		if (id->interface < s->out->interface)
			*s->out = *id;
		return;
	}
	ww_str_addf(&s->which, "%s/dev/%s (serial=%s)", s->found ? ", " : "", id->name,
		    *id->serial ? id->serial : "none");
	if (!s->found++)
		*s->out = *id;
}

int ww_tty_find_ids(const char *class_dir, const struct ww_usb_id *ids, const char *serial,
		    struct ww_tty_ident *out, struct ww_error *err)
{
	struct by_ids s = {.ids = ids, .serial = serial, .out = out};
	int rc = 0;

	for_all(class_dir, take, &s);
	if (s.which.bad)
		rc = ww_fail_nomem(err);
	else if (s.found > 1)
		rc = ww_fail(err, -ENOTUNIQ,
			     "tty:: several of them are plugged in: %s; choose one by "
			     "its serial number or its name",
			     s.which.p);
	else if (s.found == 0)
		rc = ww_fail(err, -ENODEV,
			     "tty:: no serial port of %s%s%s is there; `pwrlog list` "
			     "shows what is plugged in",
			     ids && ids->name ? ids->name : "this device",
			     serial ? " with serial=" : "", serial ? serial : "");
	ww_str_free(&s.which);
	return rc;
}
