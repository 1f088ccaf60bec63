/* SPDX-License-Identifier: MIT */
#include "bus/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static bool join(char *out, size_t n, const char *dir, const char *name)
{
	int k = snprintf(out, n, "%s/%s", dir, name);

	return k > 0 && (size_t)k < n;
}

static bool slurp(const char *path, char *out, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t k;

	out[0] = '\0';
	if (fd < 0)
		return false;
	k = read(fd, out, n - 1);
	close(fd);
	out[k > 0 ? k : 0] = '\0';
	return k >= 0;
}

bool ww_sysfs_read(const char *dir, const char *name, char *out, size_t n)
{
	char path[PATH_MAX];
	size_t k;

	out[0] = '\0';
	if (!join(path, sizeof(path), dir, name) || !slurp(path, out, n))
		return false;
	k = strcspn(out, "\n");
	while (k && isspace((unsigned char)out[k - 1]))
		k--;
	out[k] = '\0';
	return true;
}

bool ww_sysfs_int(const char *dir, const char *name, int64_t *out)
{
	char text[64], *end;
	long long v;

	if (!ww_sysfs_read(dir, name, text, sizeof(text)))
		return false;
	errno = 0;
	v = strtoll(text, &end, 0);
	if (end == text || *end || errno)
		return false;
	*out = v;
	return true;
}

int ww_sysfs_write(const char *dir, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd, rc = 0;

	if (!join(path, sizeof(path), dir, name))
		return -ENAMETOOLONG;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

bool ww_sysfs_link(const char *dir, const char *name, char *out, size_t n)
{
	char path[PATH_MAX], to[PATH_MAX];
	const char *last;
	ssize_t k;

	out[0] = '\0';
	if (!join(path, sizeof(path), dir, name))
		return false;
	k = readlink(path, to, sizeof(to) - 1);
	if (k <= 0)
		return false;
	to[k] = '\0';
	last = strrchr(to, '/');
	snprintf(out, n, "%s", last ? last + 1 : to);
	return true;
}

bool ww_usb_name(unsigned bus, const uint8_t *ports, int n, char *out, size_t size)
{
	size_t at = (size_t)snprintf(out, size, "%u", bus);

	for (int i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, "%c%u", i ? '.' : '-', ports[i]);
	return n > 0 && at < size;
}

bool ww_usb_tty(const char *usb_name, int interface, char *out, size_t n)
{
	char dir[PATH_MAX];
	struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(dir, sizeof(dir), "/sys/bus/usb/devices/%s:1.%d", usb_name, interface);
	d = opendir(dir);
	while (d && !found && (e = readdir(d))) {
		found = strncmp(e->d_name, "ttyUSB", 6) == 0;
		if (found)
			snprintf(out, n, "/dev/%.64s", e->d_name);
	}
	if (d)
		closedir(d);
	return found;
}

static void usb_parent(struct ww_tty_info *t)
{
	char path[PATH_MAX], real[PATH_MAX], *cut;

	if (!join(path, sizeof(path), t->dir, "device") || !realpath(path, real))
		return;
	while (!ww_sysfs_read(real, "idVendor", t->vid, sizeof(t->vid))) {
		cut = strrchr(real, '/');
		if (!cut || cut == real)
			return;
		*cut = '\0';
	}
	ww_sysfs_read(real, "idProduct", t->pid, sizeof(t->pid));
	ww_sysfs_read(real, "manufacturer", t->maker, sizeof(t->maker));
	ww_sysfs_read(real, "product", t->product, sizeof(t->product));
	ww_sysfs_read(real, "serial", t->serial, sizeof(t->serial));
}

static void name_transport(struct ww_tty_info *t)
{
	static const struct {
		const char *driver, *transport;
		bool bridge;
	} map[] = {{"ftdi_sio", "ftdi_sio", true}, {"cp210x", "cp210x", true},
		   {"ch341", "ch341", true},	   {"ch341-uart", "ch341", true},
		   {"pl2303", "pl2303", true},	   {"cdc_acm", "cdc", false}};

	for (size_t i = 0; i < WW_COUNTOF(map); i++) {
		if (strcmp(map[i].driver, t->driver) == 0) {
			snprintf(t->transport, sizeof(t->transport), "%s", map[i].transport);
			t->bridge = map[i].bridge;
			return;
		}
	}
	if (t->type > 0)
		snprintf(t->transport, sizeof(t->transport), "uart");
	else if (*t->vid)
		snprintf(t->transport, sizeof(t->transport), "usb-serial");
	else
		snprintf(t->transport, sizeof(t->transport), "tty");
}

void ww_tty_info_name(const char *name, struct ww_tty_info *out)
{
	char device[WW_SYSFS_PATH + 8];

	memset(out, 0, sizeof(*out));
	out->type = -1;
	snprintf(out->name, sizeof(out->name), "%s", name);
	snprintf(out->dir, sizeof(out->dir), "/sys/class/tty/%s", out->name);
	if (access(out->dir, F_OK) != 0) {
		out->dir[0] = '\0';
		name_transport(out);
		return;
	}
	snprintf(device, sizeof(device), "%s/device", out->dir);
	ww_sysfs_link(device, "driver", out->driver, sizeof(out->driver));
	ww_sysfs_int(out->dir, "type", &out->type);
	usb_parent(out);
	name_transport(out);
}

/* A UNIX98 pseudo-terminal's far end: see the kernel's devices.txt. */
bool ww_is_pty(dev_t rdev)
{
	return major(rdev) >= 136 && major(rdev) <= 143;
}

void ww_tty_name(const char *path, char *out, size_t n)
{
	char real[PATH_MAX];
	const char *last = strncmp(path, "/dev/tty", 8) == 0 ? strrchr(path, '/') : NULL;

	if (!last && *path && realpath(path, real))
		last = strrchr(real, '/');
	snprintf(out, n, "%s", last ? last + 1 : "");
}

void ww_tty_info_path(const char *path, dev_t rdev, struct ww_tty_info *out)
{
	char link[64], name[256];

	ww_tty_name(path, name, sizeof(name));
	ww_tty_info_name(*name ? name : path, out);
	if (ww_is_pty(rdev)) {
		snprintf(out->transport, sizeof(out->transport), "pty");
		return;
	}
	if (*out->dir)
		return;
	snprintf(link, sizeof(link), "%u:%u", major(rdev), minor(rdev));
	if (ww_sysfs_link("/sys/dev/char", link, name, sizeof(name)))
		ww_tty_info_name(name, out);
}

bool ww_in_vm(void)
{
	char text[4096];

	if (slurp("/proc/cpuinfo", text, sizeof(text)) && strstr(text, " hypervisor"))
		return true;
	return access("/proc/device-tree/hypervisor", F_OK) == 0 ||
	       (slurp("/sys/hypervisor/type", text, sizeof(text)) && *text);
}
