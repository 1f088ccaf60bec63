/* SPDX-License-Identifier: MIT */
/* A folder that looks like /sys/class/tty and the USB devices behind it. */
#ifndef TTYSYS_H
#define TTYSYS_H

#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64], class_dir[80];

static void put(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

/* A device at `place` with one more serial port. serial NULL: it has none. */
static void plug(const char *place, const char *ids, const char *serial, int interface,
		 const char *tty)
{
	char dev[160], iface[256], port[384], link[400], number[8];

	snprintf(dev, sizeof(dev), "%s/devices/%s", root, place);
	mkdir(dev, 0755);
	put(dev, "idVendor", (char[]){ids[0], ids[1], ids[2], ids[3], 0});
	put(dev, "idProduct", ids + 5);
	if (serial)
		put(dev, "serial", serial);
	snprintf(iface, sizeof(iface), "%s/%s:1.%d", dev, place, interface);
	mkdir(iface, 0755);
	snprintf(number, sizeof(number), "%02x", (unsigned)interface);
	put(iface, "bInterfaceNumber", number);
	snprintf(port, sizeof(port), "%s/%s", class_dir, tty);
	mkdir(port, 0755);
	snprintf(link, sizeof(link), "%s/device", port);
	unlink(link);
	assert_int_equal(symlink(iface, link), 0);
}

static void unplug(const char *tty)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s/device", class_dir, tty);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", class_dir, tty);
	assert_int_equal(rmdir(path), 0);
}

static int remove_one(const char *path, const struct stat *st, int what, struct FTW *f)
{
	(void)st;
	(void)what;
	(void)f;
	return remove(path);
}

static int fresh(void **state)
{
	char dir[80];

	(void)state;
	snprintf(root, sizeof(root), "/tmp/ww-ttyfind-%d", (int)getpid());
	snprintf(dir, sizeof(dir), "%s/devices", root);
	snprintf(class_dir, sizeof(class_dir), "%s/class", root);
	return mkdir(root, 0755) || mkdir(dir, 0755) || mkdir(class_dir, 0755);
}

static int gone(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
