/* SPDX-License-Identifier: MIT */
/* What the kernel tells of the USB bus: its strings have been read already. */
#include "bus/usb.h"
#include "bus/sysfs.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#define DEVICES "/sys/bus/usb/devices"
#define HUB	9 /* bDeviceClass */

static int64_t number(const char *dir, const char *name, int base)
{
	char text[32], *end;
	long v;

	if (!ww_sysfs_read(dir, name, text, sizeof(text)))
		return -1;
	v = strtol(text, &end, base);
	return end == text || *end || v < 0 || v > 0xffff ? -1 : v;
}

bool ww_usb_bound(const char *name, int interface, char *out, size_t n)
{
	char dir[224];

	snprintf(dir, sizeof(dir), DEVICES "/%.64s/%.64s:1.%d", name, name, interface);
	return ww_sysfs_link(dir, "driver", out, n);
}

/* dir/class_name/X, or the same in a folder further down. */
static bool node_below(const char *dir, const char *class_name, int depth, char *out, size_t n)
{
	char path[WW_SYSFS_PATH + 280];
	struct dirent *e;
	bool found = false;
	DIR *d = opendir(dir);

	while (d && !found && (e = readdir(d))) {
		struct dirent *inner;
		DIR *c;

		/* A folder, and no link that leads up again. */
		if (e->d_name[0] == '.' || e->d_type == DT_LNK || e->d_type == DT_REG)
			continue;
		snprintf(path, sizeof(path), "%.320s/%.255s", dir, e->d_name);
		if (strcmp(e->d_name, class_name) != 0) {
			found = depth > 0 && node_below(path, class_name, depth - 1, out, n);
			continue;
		}
		c = opendir(path);
		while (c && !found && (inner = readdir(c))) {
			found = inner->d_name[0] != '.';
			if (found)
				snprintf(out, n, "/dev/%.64s", inner->d_name);
		}
		if (c)
			closedir(c);
	}
	if (d)
		closedir(d);
	return found;
}

bool ww_usb_node(const char *name, int interface, const char *class_name, char *out, size_t n)
{
	char dir[sizeof(DEVICES) + 80], iface[WW_SYSFS_PATH], tail[16];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof(dir), DEVICES "/%.64s", name);
	snprintf(tail, sizeof(tail), ".%d", interface);
	d = opendir(dir);
	while (d && !found && (e = readdir(d))) {
		const char *colon = strchr(e->d_name, ':');
		const char *dot = strrchr(e->d_name, '.');

		if (!colon || (interface >= 0 && (!dot || strcmp(dot, tail) != 0)))
			continue;
		snprintf(iface, sizeof(iface), "%.120s/%.190s", dir, e->d_name);
		/* A class's folder is the interface's own, or below a hid or usb-serial device. */
		found = node_below(iface, class_name, 1, out, n);
	}
	if (d)
		closedir(d);
	return found;
}

static bool look(const char *name, struct ww_usb_device *u)
{
	char dir[sizeof(DEVICES) + 80];
	int64_t vid, pid, bus, address, class_;

	snprintf(dir, sizeof(dir), DEVICES "/%.64s", name);
	*u = (struct ww_usb_device){0};
	vid = number(dir, "idVendor", 16);
	pid = number(dir, "idProduct", 16);
	bus = number(dir, "busnum", 10);
	address = number(dir, "devnum", 10);
	class_ = number(dir, "bDeviceClass", 16);
	/* Interfaces have none of these. */
	if (vid < 0 || pid < 0 || bus < 0 || address < 0 || class_ == HUB)
		return false;
	u->vid = (uint16_t)vid;
	u->pid = (uint16_t)pid;
	u->bus = (uint8_t)bus;
	u->address = (uint8_t)address;
	u->class_ = (uint8_t)(class_ < 0 ? 0 : class_);
	snprintf(u->name, sizeof(u->name), "%.63s", name);
	snprintf(u->node, sizeof(u->node), "/dev/bus/usb/%03u/%03u", u->bus, u->address);
	u->allowed = access(u->node, R_OK | W_OK) == 0;
	ww_sysfs_read(dir, "manufacturer", u->maker, sizeof(u->maker));
	ww_sysfs_read(dir, "product", u->product, sizeof(u->product));
	ww_sysfs_read(dir, "serial", u->serial, sizeof(u->serial));
	ww_usb_bound(name, 0, u->driver, sizeof(u->driver));
	return true;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(((const struct ww_usb_device *)a)->name,
			  ((const struct ww_usb_device *)b)->name);
}

int ww_usb_scan(ww_usb_fn fn, void *ctx)
{
	struct ww_usb_device *list = NULL;
	size_t n = 0, cap = 0;
	struct dirent *e;
	int rc = 0;
	DIR *d = opendir(DEVICES);

	while (d && rc == 0 && (e = readdir(d))) {
		if (n == cap) {
			struct ww_usb_device *more = realloc(list, (cap + 16) * sizeof(*more));

			if (!more) {
				rc = -ENOMEM;
				break;
			}
			list = more;
			cap += 16;
		}
		n += e->d_name[0] != '.' && look(e->d_name, &list[n]);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(list, n, sizeof(*list), by_name);
	for (size_t i = 0; i < n && rc >= 0; i++)
		rc = fn(ctx, &list[i]);
	free(list);
	return rc < 0 ? rc : 0;
}
