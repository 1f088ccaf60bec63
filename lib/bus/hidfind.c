/* SPDX-License-Identifier: MIT */
#include "bus/hidfind.h"
#include "bus/port.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define EXACT	 100
#define DESC_MAX 4096 /* HID_MAX_DESCRIPTOR_SIZE of the kernel */

static size_t slurp(const char *dir, const char *name, void *out, size_t n)
{
	char path[192];
	ssize_t k = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		k = read(fd, out, n);
		close(fd);
	}
	return k > 0 ? (size_t)k : 0;
}

/* "0003:00002E3C:00005558": bus, vendor, product */
static bool read_id(const char *s, struct ww_usb_dev *d)
{
	char *end;
	unsigned long vid, pid;

	strtoul(s, &end, 16);
	if (*end != ':')
		return false;
	vid = strtoul(end + 1, &end, 16);
	if (*end != ':')
		return false;
	pid = strtoul(end + 1, &end, 16);
	if (*end || vid > 0xffff || pid > 0xffff)
		return false;
	d->vid = (uint16_t)vid;
	d->pid = (uint16_t)pid;
	snprintf(d->ids, sizeof(d->ids), "%04x:%04x", d->vid, d->pid);
	return true;
}

/* HID_ID=0003:00002E3C:00005558, HID_UNIQ=serial */
static bool read_uevent(const char *dir, struct ww_usb_dev *d)
{
	char text[1024], *line, *rest = text;
	bool found = false;

	text[slurp(dir, "uevent", text, sizeof(text) - 1)] = '\0';
	while ((line = strtok_r(NULL, "\n", &rest))) {
		if (strncmp(line, "HID_ID=", 7) == 0)
			found = read_id(line + 7, d);
		else if (strncmp(line, "HID_UNIQ=", 9) == 0)
			snprintf(d->serial, sizeof(d->serial), "%s", line + 9);
	}
	return found;
}

static void read_usb(const char *dir, struct ww_hid_dev *h)
{
	struct ww_usb_iface i;
	char name[32];

	h->poll_ns = 10 * WW_NS_PER_MS;
	h->interface = -1;
	if (!ww_usb_above(dir, name, sizeof(name), &h->interface) ||
	    !ww_usb_dev_read(name, &h->usb)) {
		snprintf(h->usb.name, sizeof(h->usb.name), "-");
		h->usb.dir[0] = '\0';
		return;
	}
	if (h->interface < 0 ||
	    !ww_usb_interface(&h->usb, &(struct ww_usb_pick){h->interface, -1, -1, 0, 0}, &i))
		return;
	h->boot = i.subclass == 1 && i.protocol;
	h->poll_ns = ww_usb_poll_ns(&h->usb, &i);
}

static bool read_hid(const char *name, struct ww_hid_dev *h)
{
	char dir[128];
	uint8_t desc[DESC_MAX];

	memset(h, 0, sizeof(*h));
	if (strncmp(name, "hidraw", 6) != 0 || strlen(name) >= sizeof(h->name))
		return false;
	snprintf(h->name, sizeof(h->name), "%.31s", name);
	snprintf(h->node, sizeof(h->node), "%.24s/dev/%s", ww_usb_root(), h->name);
	snprintf(dir, sizeof(dir), "%.32s/sys/class/hidraw/%s/device", ww_usb_root(), h->name);
	read_usb(dir, h);
	if (!read_uevent(dir, &h->usb))
		return false;
	ww_hid_desc(desc, slurp(dir, "report_descriptor", desc, sizeof(desc)), &h->reports);
	return true;
}

void ww_hid_remember(char *memory, const struct ww_hid_dev *d)
{
	struct ww_usb_dev with = d->usb;

	snprintf(with.name, sizeof(with.name), "%.26s/%d", d->usb.name, d->interface);
	ww_usb_remember(memory, &with);
}

/* As fits() of usbfind.c; 0: is not. */
static int fits_memory(const char *memory, const struct ww_hid_dev *h)
{
	struct ww_usb_dev with = h->usb;
	char tail[16];
	bool exact;

	snprintf(with.name, sizeof(with.name), "%.26s/%d", h->usb.name, h->interface);
	snprintf(tail, sizeof(tail), "/%d ", h->interface);
	if (!ww_usb_same(memory, &with, &exact) || !strstr(memory, tail))
		return 0;
	return exact ? EXACT : 1;
}

/* How well it fits; 0: not at all, EXACT: it is the one. */
static int fits(const struct ww_usb_want *w, const char *node, struct ww_hid_dev *h)
{
	h->usb.id = ww_usb_row(w, &h->usb);
	if (w->memory && *w->memory)
		return fits_memory(w->memory, h);
	if (*node)
		return strcmp(node, h->name) == 0 ? EXACT : 0;
	if ((w->ids && !h->usb.id) || (*w->at && strcmp(w->at, h->usb.name) != 0) ||
	    (*w->serial && strcmp(w->serial, h->usb.serial) != 0))
		return 0;
	if (h->usb.id && h->usb.id->bus == WW_BUS_HID && h->usb.id->interface >= 0)
		return h->interface == h->usb.id->interface ? 50 : 0;
	/* The first interface before the others, keyboards and mice last. */
	return (h->boot ? 1 : 20) +
	       (h->interface >= 0 && h->interface < 16 ? 16 - h->interface : 0);
}

static int none(const struct ww_usb_want *w, const char *node, struct ww_error *err)
{
	const char *what = w->ids && w->ids->vid && w->ids->name ? w->ids->name : "HID device";

	if (w->memory && *w->memory)
		return ww_fail(err, -ENODEV, "%s: is not plugged in (%s)", w->who, w->memory);
	if (*node)
		return ww_fail(err, -ENODEV,
			       "%s: no such HID device; `pwrlog list` shows what is "
			       "plugged in",
			       w->who);
	return ww_fail(err, -ENODEV, "%s: no %s%s%s is plugged in%s%s; `pwrlog list` shows what is",
		       w->who, what, *w->serial ? " with serial " : "", w->serial,
		       *w->at ? " at " : "", w->at);
}

static bool same_device(const struct ww_hid_dev *a, const struct ww_hid_dev *b)
{
	return strcmp(a->usb.name, b->usb.name) == 0 && strcmp(a->usb.serial, b->usb.serial) == 0;
}

/* The best; other: the name of one that is another device and would do as well. */
static int look(const struct ww_usb_want *w, const char *node, struct ww_hid_dev *out, char *other,
		size_t n)
{
	struct ww_hid_dev h;
	char path[128];
	struct dirent *e;
	int best = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%.32s/sys/class/hidraw", ww_usb_root());
	dir = opendir(path);
	while (dir && best < EXACT && (e = readdir(dir))) {
		int how = read_hid(e->d_name, &h) ? fits(w, node, &h) : 0;

		if (!how)
			continue;
		if (how < EXACT && best && !same_device(&h, out)) {
			snprintf(other, n, "%s", h.name);
			continue;
		}
		if (how > best) {
			best = how;
			*out = h;
		}
	}
	if (dir)
		closedir(dir);
	return best;
}

int ww_hid_find(struct ww_usb_want *w, const char *place, struct ww_hid_dev *out,
		struct ww_error *err)
{
	const char *node = "";
	char other[32] = "";
	int best;

	if (strncmp(place, "/dev/", 5) == 0)
		place += 5;
	if (strncmp(place, "hidraw", 6) == 0)
		node = place;
	w->at = *node ? "" : place;
	best = look(w, node, out, other, sizeof(other));
	if (!best)
		return none(w, node, err);
	if (best < EXACT && *other)
		return ww_fail(err, -ENOTUNIQ,
			       "%s: several such devices are plugged in: choose one by serial= or "
			       "name it (%s, %s); `pwrlog list` shows them",
			       w->who, out->name, other);
	return 0;
}
