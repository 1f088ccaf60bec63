/* SPDX-License-Identifier: MIT */
/* What the kernel tells of the USB bus: its strings have been read already. */
#include "bus/usb.h"
#include "bus/sysfs.h"

#include <dirent.h>
#include <glob.h>
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

bool ww_usb_driver(const char *name, int interface, char *out, size_t n)
{
	char dir[224];

	snprintf(dir, sizeof(dir), DEVICES "/%.64s/%.64s:1.%d", name, name, interface);
	return ww_sysfs_link(dir, "driver", out, n);
}

bool ww_usb_node(const char *name, int interface, const char *class_name, char *out, size_t n)
{
	/* A class's folder is the interface's own, or one further down (hid, usb-serial). */
	static const char *const depth[] = {"", "/*", "/*/*"};
	char iface[224], pattern[320], tail[64];
	bool found = false;

	if (interface < 0)
		snprintf(iface, sizeof(iface), DEVICES "/%.64s/%.64s:*", name, name);
	else
		snprintf(iface, sizeof(iface), DEVICES "/%.64s/%.64s:*.%d", name, name, interface);
	for (size_t i = 0; i < WW_COUNTOF(depth) && !found; i++) {
		glob_t g = {0};

		snprintf(tail, sizeof(tail), "%s/%.20s/*", depth[i], class_name);
		snprintf(pattern, sizeof(pattern), "%s%s", iface, tail);
		if (glob(pattern, 0, NULL, &g) == 0) {
			const char *last = strrchr(g.gl_pathv[0], '/');

			snprintf(out, n, "/dev/%.64s", last + 1);
			found = true;
		}
		globfree(&g);
	}
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
	ww_usb_driver(name, 0, u->driver, sizeof(u->driver));
	return true;
}

int ww_usb_scan(ww_usb_fn fn, void *ctx)
{
	struct dirent **list = NULL;
	int n = scandir(DEVICES, &list, NULL, versionsort), rc = 0;

	for (int i = 0; i < n; i++) {
		struct ww_usb_device u;

		if (rc >= 0 && list[i]->d_name[0] != '.' && look(list[i]->d_name, &u))
			rc = fn(ctx, &u);
		free(list[i]);
	}
	free(list);
	return rc < 0 ? rc : 0;
}
