/* SPDX-License-Identifier: MIT */
#include "bus/usbfind.h"
#include "bus/portimpl.h"
#include "bus/usbask.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* ------------------------------------------------------------ what is there */

static bool hex_of(const char *dir, const char *name, uint16_t *out)
{
	char text[16], *end;

	if (!ww_sysfs_read(dir, name, text, sizeof(text)) || !*text)
		return false;
	*out = (uint16_t)strtoul(text, &end, 16);
	return !*end;
}

static void forget(struct ww_usb_dev *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

/* Ids only: cheap, and no lock of the kernel's is taken for them. */
static bool read_ids(const char *name, struct ww_usb_dev *out)
{
	memset(out, 0, sizeof(*out));
	if (strlen(name) >= sizeof(out->name) || strchr(name, ':') || strchr(name, '/') ||
	    name[0] == '.')
		return false;
	snprintf(out->name, sizeof(out->name), "%s", name);
	snprintf(out->dir, sizeof(out->dir), "%s/sys/bus/usb/devices/%s", ww_usb_root(), out->name);
	out->fd = -1;
	if (!hex_of(out->dir, "idVendor", &out->vid) || !hex_of(out->dir, "idProduct", &out->pid))
		return false;
	snprintf(out->ids, sizeof(out->ids), "%04x:%04x", out->vid, out->pid);
	return true;
}

static bool read_rest(struct ww_usb_dev *d)
{
	int64_t bus, address;

	if (!ww_sysfs_int(d->dir, "busnum", &bus) || !ww_sysfs_int(d->dir, "devnum", &address) ||
	    bus < 1 || bus > 255 || address < 1 || address > 255)
		return false;
	d->bus = (uint8_t)bus;
	d->address = (uint8_t)address;
	snprintf(d->node, sizeof(d->node), "%.24s/dev/bus/usb/%03u/%03u", ww_usb_root(), d->bus,
		 d->address);
	d->fd = -1;
	return true;
}

bool ww_usb_dev_read(const char *name, struct ww_usb_dev *out)
{
	return read_ids(name, out) && read_rest(out);
}

/* ------------------------------------------------------------- what is wanted */

void ww_usb_want(struct ww_usb_want *w, struct ww_port *p, const char *place,
		 struct ww_uri *options, uint32_t bus)
{
	*w = (struct ww_usb_want){.who = p->place,
				  .ids = p->usb,
				  .bus = bus,
				  .serial = options ? ww_uri_get(options, "serial", "") : "",
				  .at = place,
				  .memory = p->memory};
}

const struct ww_usb_id *ww_usb_row(const struct ww_usb_want *w, const struct ww_usb_dev *d)
{
	bool has_bus = false;

	for (const struct ww_usb_id *r = w->ids; r && r->vid; r++)
		has_bus |= r->bus == w->bus;
	for (const struct ww_usb_id *r = w->ids; r && r->vid; r++)
		if (r->vid == d->vid && r->pid == d->pid && (!has_bus || r->bus == w->bus))
			return r;
	return NULL;
}

void ww_usb_remember(char *memory, const struct ww_usb_dev *d)
{
	if (memory)
		snprintf(memory, WW_PORT_MEMORY, "%04x:%04x %s %s", d->vid, d->pid, d->name,
			 d->serial);
}

bool ww_usb_same(const char *memory, const struct ww_usb_dev *d, bool *exact)
{
	char ids[16];
	const char *name = memory ? strchr(memory, ' ') : NULL;
	const char *serial = name ? strchr(name + 1, ' ') : NULL;

	*exact = false;
	if (!serial)
		return false;
	snprintf(ids, sizeof(ids), "%04x:%04x", d->vid, d->pid);
	*exact = (size_t)(serial - name - 1) == strlen(d->name) &&
		 strncmp(name + 1, d->name, strlen(d->name)) == 0;
	return strncmp(memory, ids, 9) == 0 && strcmp(serial + 1, d->serial) == 0;
}

/* 2: the very one; 1: could be; 0: is not; -EAGAIN: does not tell just now. */
static int fits(const struct ww_usb_want *w, struct ww_usb_dev *d)
{
	bool remembered = w->memory && *w->memory, exact = false;
	int limit_ms = remembered ? WW_USB_ASK_MS : WW_USB_ASK_FIRST_MS;
	bool same;

	d->id = ww_usb_row(w, d);
	if (remembered ? strncmp(w->memory, d->ids, 9) != 0 : w->ids && !d->id)
		return 0;
	if (!remembered && *w->at && strcmp(w->at, d->name) != 0)
		return 0;
	if (!read_rest(d))
		return 0;
	if (ww_usb_ask(d, limit_ms, w->open ? &d->fd : NULL, &d->code) < 0)
		return -EAGAIN;
	same = !remembered || ww_usb_same(w->memory, d, &exact);
	if (same && (!*w->serial || strcmp(w->serial, d->serial) == 0))
		return exact ? 2 : 1;
	forget(d);
	return 0;
}

static const char *what_of(const struct ww_usb_want *w)
{
	if (w->what)
		return w->what;
	return w->ids && w->ids->vid && w->ids->name ? w->ids->name : "USB device";
}

static int none(const struct ww_usb_want *w, struct ww_error *err)
{
	struct ww_usb_dev there;

	if (w->memory && *w->memory)
		return ww_fail(err, -ENODEV, "%s: is not plugged in (%s)", w->who, w->memory);
	if (*w->at && ww_usb_dev_read(w->at, &there))
		return ww_fail(err, -ENODEV,
			       "%s: what is plugged in there is %s, and not the %s%s%s asked for",
			       w->who, there.ids, what_of(w), *w->serial ? " with serial " : "",
			       w->serial);
	return ww_fail(err, -ENODEV, "%s: no %s%s%s is plugged in%s%s; `pwrlog list` shows what is",
		       w->who, what_of(w), *w->serial ? " with serial " : "", w->serial,
		       *w->at ? " at " : "", w->at);
}

/* The best of those that fit: 2 the very one; *n of them, other: the name of another one. */
static int look(const struct ww_usb_want *w, struct ww_usb_dev *out, int *n, char *other, size_t on)
{
	char path[WW_SYSFS_PATH];
	struct ww_usb_dev d;
	struct dirent *e;
	int best = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%.32s/sys/bus/usb/devices", ww_usb_root());
	dir = opendir(path);
	while (dir && best < 2 && (e = readdir(dir))) {
		int how = read_ids(e->d_name, &d) ? fits(w, &d) : 0;

		if (how < 0 && !best)
			best = how;
		if (how <= 0)
			continue;
		++*n;
		if (how <= best) {
			snprintf(other, on, "%s", d.name);
			forget(&d);
			continue;
		}
		if (best > 0) {
			snprintf(other, on, "%s", out->name);
			forget(out);
		}
		best = how;
		*out = d;
	}
	if (dir)
		closedir(dir);
	return best;
}

int ww_usb_find(const struct ww_usb_want *w, struct ww_usb_dev *out, struct ww_error *err)
{
	char other[32] = "";
	int best, n = 0;

	*out = (struct ww_usb_dev){.fd = -1};
	best = look(w, out, &n, other, sizeof(other));
	if (best < 0)
		return ww_fail(err, -EAGAIN,
			       "%s: the kernel is busy with it (just plugged in, being removed, or "
			       "a driver that hangs): try again",
			       w->who);
	if (!n)
		return none(w, err);
	if (best < 2 && n > 1) {
		forget(out);
		return ww_fail(err, -ENOTUNIQ,
			       "%s: %d devices %s are plugged in: choose one by serial= or by "
			       "where it is (%s, %s); `pwrlog list` shows them",
			       w->who, n, what_of(w), out->name, other);
	}
	return 0;
}

/* ------------------------------------------------------ what belongs to it */

bool ww_usb_above(const char *folder, char *name, size_t n, int *interface)
{
	char real[PATH_MAX], text[16], *cut;

	*interface = -1;
	if (!realpath(folder, real))
		return false;
	while (!ww_sysfs_read(real, "idVendor", text, sizeof(text))) {
		if (ww_sysfs_read(real, "bInterfaceNumber", text, sizeof(text)))
			*interface = (int)strtol(text, NULL, 16);
		cut = strrchr(real, '/');
		if (!cut || cut == real)
			return false;
		*cut = '\0';
	}
	cut = strrchr(real, '/');
	return snprintf(name, n, "%s", cut + 1) < (int)n;
}

/*
 * By the names of its interfaces, "1-2:1.0": bConfigurationValue is told only when the device
 * is not locked.
 */
unsigned ww_usb_config(const struct ww_usb_dev *d)
{
	size_t n = strlen(d->name);
	unsigned config = 0;
	struct dirent *e;
	DIR *dir = opendir(d->dir);

	while (dir && !config && (e = readdir(dir)))
		if (strncmp(e->d_name, d->name, n) == 0 && e->d_name[n] == ':')
			config = (unsigned)strtoul(e->d_name + n + 1, NULL, 10);
	if (dir)
		closedir(dir);
	return config < 256 ? config : 0;
}

/* All configurations of all speeds fit; what is longer is no device's. */
#define DESC_MAX 16384

bool ww_usb_interface(const struct ww_usb_dev *d, const struct ww_usb_pick *want,
		      struct ww_usb_iface *out)
{
	char path[WW_SYSFS_PATH + 16];
	unsigned config = ww_usb_config(d);
	uint8_t *desc;
	size_t n = 0;
	bool found;
	int fd;

	snprintf(path, sizeof(path), "%s/descriptors", d->dir);
	if (!config)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	desc = malloc(DESC_MAX);
	while (fd >= 0 && desc && n < DESC_MAX) {
		ssize_t k = read(fd, desc + n, DESC_MAX - n);

		if (k <= 0)
			break;
		n += (size_t)k;
	}
	if (fd >= 0)
		close(fd);
	found = desc && ww_usb_desc_find(desc, n, config, want, out);
	free(desc);
	return found;
}

int64_t ww_usb_poll_ns(const struct ww_usb_dev *d, const struct ww_usb_iface *i)
{
	int64_t speed = 12;

	if (i->in_bulk || !i->interval)
		return WW_NS_PER_MS;
	ww_sysfs_int(d->dir, "speed", &speed);
	if (speed < 480)
		return i->interval * WW_NS_PER_MS;
	return (WW_NS_PER_MS / 8) << (i->interval > 16 ? 15 : i->interval - 1);
}

void ww_usb_driver(const struct ww_usb_dev *d, unsigned interface, char *out, size_t n)
{
	char dir[WW_SYSFS_PATH + 64];

	snprintf(dir, sizeof(dir), "%s/%s:%u.%u", d->dir, d->name, ww_usb_config(d), interface);
	ww_sysfs_link(dir, "driver", out, n);
}

/* --------------------------------------------------------------------- asleep */

void ww_usb_awake(struct ww_port *p, const struct ww_usb_dev *d, bool kept,
		  struct ww_usb_power *old)
{
	char now[16];

	old->dir[0] = '\0';
	if (!ww_sysfs_read(d->dir, "power/control", now, sizeof(now)))
		return;
	if (strcmp(now, "auto") != 0) {
		ww_port_setting(p, "power=%s", now);
	} else if (ww_sysfs_write(d->dir, "power/control", "on") == 0) {
		snprintf(old->dir, sizeof(old->dir), "%s", d->dir);
		ww_port_setting(p, "power=on(set)");
	} else if (kept) {
		ww_port_setting(p, "power=on(while open)");
	} else {
		ww_port_setting(p, "power=auto(refused)");
	}
}

void ww_usb_asleep(struct ww_usb_power *old)
{
	if (*old->dir)
		ww_sysfs_write(old->dir, "power/control", "auto");
	old->dir[0] = '\0';
}
