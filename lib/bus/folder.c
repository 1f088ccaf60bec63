/* SPDX-License-Identifier: MIT */
#include "bus/folder.h"
#include "bus/port.h"
#include "base/str.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a user may call a class, where it lies, and how its devices' names begin there. */
static const struct class
{
	const char *name, *dir, *entry;
} classes[] = {
	{"hwmon", "class/hwmon", "hwmon"},	    {"battery", "class/power_supply", ""},
	{"power_supply", "class/power_supply", ""}, {"rapl", "class/powercap", "intel-rapl:"},
	{"powercap", "class/powercap", ""},	    {"iio", "bus/iio/devices", "iio:device"},
};

/* Devices that fit, for a sentence; the first one's name. */
struct found {
	size_t n;
	char first[NAME_MAX + 1];
	char list[200];
};

static bool join(char *out, size_t n, const char *a, const char *b)
{
	int k = snprintf(out, n, "%s/%s", a, b);

	return k > 0 && (size_t)k < n;
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---------------------------------------------------------------- identity */

/* Serial number of the USB device that `path` hangs below; "" none. */
static void usb_serial(const char *path, char *out, size_t n)
{
	char up[PATH_MAX], id[16];
	char *slash;

	out[0] = '\0';
	snprintf(up, sizeof(up), "%s", path);
	while ((slash = strrchr(up, '/')) && slash > up) {
		if (ww_sysfs_read(up, "idVendor", id, sizeof(id))) {
			ww_sysfs_read(up, "serial", out, n);
			return;
		}
		*slash = '\0';
	}
}

void ww_folder_identity(const char *path, char *out, size_t n)
{
	char link[PATH_MAX], device[PATH_MAX], name[64], serial[64];
	const char *base = strrchr(path, '/');

	if (!join(link, sizeof(link), path, "device") || !realpath(link, device)) {
		char *slash = realpath(path, device) ? strrchr(device, '/') : NULL;

		if (slash)
			*slash = '\0';
		else
			device[0] = '\0';
	}
	if (!ww_sysfs_read(path, "name", name, sizeof(name)) || !*name)
		snprintf(name, sizeof(name), "%.63s", base ? base + 1 : path);
	usb_serial(device, serial, sizeof(serial));
	snprintf(out, n, "%s|%s|%s", name, device, serial);
}

struct identity {
	char text[WW_PORT_MEMORY];
	const char *name, *device, *serial;
};

static void split(struct identity *id)
{
	char *bar = strchr(id->text, '|');

	id->name = id->text;
	id->device = id->serial = "";
	if (!bar)
		return;
	*bar++ = '\0';
	id->device = bar;
	bar = strchr(bar, '|');
	if (!bar)
		return;
	*bar++ = '\0';
	id->serial = bar;
}

static void identify(struct identity *id, const char *path)
{
	ww_folder_identity(path, id->text, sizeof(id->text));
	split(id);
}

/*
 * 3: the same place, 2: the same device, 1: one of USB that may be it on another
 * port, 0: another one.
 */
static int alike(const struct identity *a, const struct identity *b, bool same_entry)
{
	if (strcmp(a->name, b->name) != 0)
		return 0;
	if (strcmp(a->device, b->device) == 0)
		return same_entry ? 3 : 2;
	if (*a->serial || *b->serial)
		return strcmp(a->serial, b->serial) == 0 ? 2 : 0;
	return strstr(a->device, "/usb") && strstr(b->device, "/usb") ? 1 : 0;
}

/* ------------------------------------------------------------------- search */

typedef bool (*fits_fn)(const char *path, const char *entry, const void *what);

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void note(struct found *f, const char *path, const char *entry)
{
	size_t k = strlen(f->list);
	struct identity id;
	const char *slash;

	identify(&id, path);
	slash = strrchr(id.device, '/');
	if (f->n++ == 0)
		snprintf(f->first, sizeof(f->first), "%s", entry);
	snprintf(f->list + k, sizeof(f->list) - k, "%s%s (%s%s%s)", k ? ", " : "", entry, id.name,
		 slash ? "@" : "", slash ? slash + 1 : "");
}

/* Of all entries of dir in the order of their names. */
static void search(const char *dir, fits_fn fits, const void *what, struct found *f)
{
	char *names[256], path[WW_SYSFS_PATH];
	struct dirent *e;
	size_t n = 0;
	DIR *d = opendir(dir);

	if (!d)
		return;
	while (n < WW_COUNTOF(names) && (e = readdir(d)))
		if (e->d_name[0] != '.' && (names[n] = strdup(e->d_name)))
			n++;
	closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		if (join(path, sizeof(path), dir, names[i]) && is_dir(path) &&
		    fits(path, names[i], what))
			note(f, path, names[i]);
		free(names[i]);
	}
}

static bool has_begin(const char *path, const char *begin)
{
	struct dirent *e;
	DIR *d = opendir(path);
	bool has = false;

	while (d && !has && (e = readdir(d)))
		has = strncmp(e->d_name, begin, strlen(begin)) == 0;
	if (d)
		closedir(d);
	return has;
}

/* Without a name: what measures at all. */
static bool measures(const char *path, const char *entry, const void *what)
{
	const struct class *c = what;
	char text[32];

	if (strncmp(entry, c->entry, strlen(c->entry)) != 0)
		return false;
	if (strcmp(c->dir, "class/power_supply") == 0)
		return ww_sysfs_read(path, "type", text, sizeof(text)) &&
		       strcmp(text, "Battery") == 0 &&
		       !(ww_sysfs_read(path, "scope", text, sizeof(text)) &&
			 strcmp(text, "Device") == 0);
	if (strcmp(c->dir, "class/powercap") == 0)
		return strcmp(entry, "intel-rapl:0") == 0;
	return has_begin(path, "power") || has_begin(path, "curr") || has_begin(path, "in_power") ||
	       has_begin(path, "in_current");
}

/* "ina226" or "ina226@1-0040". */
static bool called(const char *path, const char *entry, const void *what)
{
	const char *name = what, *at = strchr(name, '@'), *slash;
	size_t n = at ? (size_t)(at - name) : strlen(name);
	struct identity id;

	if (strcmp(entry, name) == 0)
		return true;
	identify(&id, path);
	if (strlen(id.name) != n || strncmp(id.name, name, n) != 0)
		return false;
	slash = strrchr(id.device, '/');
	return !at || (slash && strcmp(slash + 1, at + 1) == 0);
}

struct wanted {
	struct identity id;
	const char *entry;
	int best;
};

static bool remembered(const char *path, const char *entry, const void *what)
{
	const struct wanted *w = what;
	struct identity id;

	identify(&id, path);
	return alike(&w->id, &id, strcmp(entry, w->entry) == 0) >= w->best;
}

/* The device of `memory` among its neighbours: by its path, else as its likeness. */
static int recall(const char *dir, const char *entry, const char *memory, char *out,
		  struct ww_error *err)
{
	struct wanted w = {.entry = entry, .best = 3};

	snprintf(w.id.text, sizeof(w.id.text), "%s", memory);
	split(&w.id);
	for (; w.best > 0; w.best--) {
		struct found f = {0};

		search(dir, remembered, &w, &f);
		if (f.n == 1 || (f.n && w.best == 2))
			return join(out, WW_SYSFS_PATH, dir, f.first) ? 0 : -ENAMETOOLONG;
		if (f.n)
			break;
	}
	return ww_fail(err, -ENODEV, "%s (%s) is not there now", w.id.name, w.id.device);
}

static int choose(const char *dir, const struct found *f, const char *name, char *out,
		  struct ww_error *err)
{
	if (f->n == 1)
		return join(out, WW_SYSFS_PATH, dir, f->first) ? 0 : -ENAMETOOLONG;
	if (f->n)
		return ww_fail(err, -EINVAL, "%s: which one? %s", *name ? name : dir, f->list);
	return ww_fail(err, -ENODEV, "%s%s in %s ('pwrlog list' tells what there is)", name,
		       *name ? ": no such device" : " nothing of the kind", dir);
}

/* The class that the place names; NULL none. *rest: what is left of the place. */
static const struct class *class_of(const char *sys, const char *place, const char **rest)
{
	char path[WW_SYSFS_PATH];

	*rest = place;
	for (size_t i = 0; i < WW_COUNTOF(classes); i++) {
		size_t n = strlen(classes[i].entry);

		if (n && strncmp(place, classes[i].entry, n) == 0 && ww_is_digit(place[n]))
			return &classes[i];
	}
	for (size_t i = 0; i < WW_COUNTOF(classes); i++) {
		size_t n = strlen(classes[i].name);

		if (strncmp(place, classes[i].name, n) != 0 || place[n] != ':')
			continue;
		*rest = place + n + 1;
		return &classes[i];
	}
	for (size_t i = 0; i < WW_COUNTOF(classes); i++) {
		int k = snprintf(path, sizeof(path), "%s/%s/%s", sys, classes[i].dir, place);

		if (k > 0 && (size_t)k < sizeof(path) && is_dir(path))
			return &classes[i];
	}
	return NULL;
}

static int by_path(const char *place, const char *memory, char *out, struct ww_error *err)
{
	char dir[WW_SYSFS_PATH], *slash;
	int k = snprintf(dir, sizeof(dir), "%s", place);

	if (k <= 0 || (size_t)k >= sizeof(dir))
		return ww_fail(err, -ENAMETOOLONG, "%s: too long", place);
	while (k > 1 && dir[k - 1] == '/')
		dir[--k] = '\0';
	slash = strrchr(dir, '/');
	if (*memory && slash > dir) {
		*slash = '\0';
		return recall(dir, slash + 1, memory, out, err);
	}
	snprintf(out, WW_SYSFS_PATH, "%s", dir);
	return is_dir(out) ? 0 : ww_fail(err, -ENODEV, "%s: no such folder", place);
}

static int in_class(const char *sys, const struct class *c, const char *rest, const char *memory,
		    char *out, struct ww_error *err)
{
	char dir[WW_SYSFS_PATH];
	struct found f = {0};

	if (!join(dir, sizeof(dir), sys, c->dir))
		return ww_fail(err, -ENAMETOOLONG, "%s: too long", sys);
	if (*memory)
		return recall(dir, rest, memory, out, err);
	if (*rest)
		search(dir, called, rest, &f);
	else
		search(dir, measures, c, &f);
	return choose(dir, &f, rest, out, err);
}

int ww_folder_find(const char *sys, const char *place, const char *memory, char *out,
		   struct ww_error *err)
{
	struct ww_error why = {0};
	const struct class *c;
	const char *rest;

	if (*place == '/')
		return by_path(place, memory, out, err);
	if (strchr(place, '/'))
		return ww_fail(err, -EINVAL, "%s: a name or an absolute path", place);
	c = class_of(sys, place, &rest);
	/* Only what a chip is called, or nothing that is there now. */
	for (size_t i = 0; !c && i < WW_COUNTOF(classes); i++) {
		if (*memory && in_class(sys, &classes[i], rest, memory, out, &why) == 0)
			return 0;
		ww_error_clear(&why);
	}
	return in_class(sys, c ? c : &classes[0], rest, memory, out, err);
}
