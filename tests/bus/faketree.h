/* SPDX-License-Identifier: MIT */
/* A folder that stands for / in what looks for USB devices: a /sys and a /dev of one's own. */
#ifndef FAKETREE_H
#define FAKETREE_H

#include "bus/usbfind.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char tree_root[64];

const char *ww_usb_root(void)
{
	return tree_root;
}

static int tree_rm(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st;
	(void)flag;
	(void)f;
	return remove(path);
}

static inline void tree_new(void)
{
	snprintf(tree_root, sizeof(tree_root), "/tmp/ww-tree-XXXXXX");
	assert_non_null(mkdtemp(tree_root));
}

static inline void tree_free(void)
{
	nftw(tree_root, tree_rm, 8, FTW_DEPTH | FTW_PHYS);
	tree_root[0] = '\0';
}

/* The folders above are made. */
static inline void tree_put(const char *path, const void *data, size_t n)
{
	char full[512];
	FILE *f;

	assert_true(snprintf(full, sizeof(full), "%s%s", tree_root, path) < (int)sizeof(full));
	for (char *s = strchr(full + strlen(tree_root) + 1, '/'); s; s = strchr(s + 1, '/')) {
		*s = '\0';
		mkdir(full, 0700);
		*s = '/';
	}
	f = fopen(full, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, n, f), n);
	fclose(f);
}

static inline void tree_text(const char *dir, const char *name, const char *text)
{
	char path[256], line[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	tree_put(path, line, (size_t)snprintf(line, sizeof(line), "%s\n", text));
}

/* serial NULL: the device has none. desc: configuration descriptors; NULL none. */
static inline void tree_usb(const char *name, unsigned vid, unsigned pid, unsigned address,
			    const char *serial, const void *desc, size_t n)
{
	char dir[128], path[160], text[32];

	snprintf(dir, sizeof(dir), "/sys/bus/usb/devices/%s", name);
	snprintf(text, sizeof(text), "%04x", vid);
	tree_text(dir, "idVendor", text);
	snprintf(text, sizeof(text), "%04x", pid);
	tree_text(dir, "idProduct", text);
	tree_text(dir, "busnum", "1");
	snprintf(text, sizeof(text), "%u", address);
	tree_text(dir, "devnum", text);
	tree_text(dir, "speed", "12");
	tree_text(dir, "bConfigurationValue", "1");
	tree_text(dir, "power/control", "on");
	if (serial)
		tree_text(dir, "serial", serial);
	snprintf(path, sizeof(path), "%s/descriptors", dir);
	if (desc)
		tree_put(path, desc, n);
	snprintf(path, sizeof(path), "/dev/bus/usb/001/%03u", address);
	tree_put(path, "", 0);
}

static inline void tree_gone(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/bus/usb/devices/%s", tree_root, name);
	nftw(path, tree_rm, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
