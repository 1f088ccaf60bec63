/* SPDX-License-Identifier: MIT */
/* What is plugged in: opens no serial port and no USB device, changes nothing. */
#include "source/list.h"
#include "bus/gpio.h"
#include "bus/sysfs.h"
#include "meter/meter.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

int ww_list_add(struct ww_list *l, const char *uri, const char *what, const char *detail,
		const char *hint)
{
	const char *in[] = {uri, what, detail, hint};
	struct ww_list_entry *e;

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 16;
		struct ww_list_entry *more = realloc(l->e, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->e = more;
		l->cap = cap;
	}
	e = &l->e[l->n++];
	*e = (struct ww_list_entry){0};
	for (size_t i = 0; i < 4; i++) {
		e->text[i] = strdup(in[i]);
		if (!e->text[i])
			return -ENOMEM;
	}
	e->f = (struct ww_found){e->text[0], e->text[1], e->text[2], e->text[3]};
	return 0;
}

int ww_list_may_ask(struct ww_list *l, const char *place)
{
	l->e[l->n - 1].ask = strdup(place);
	return l->e[l->n - 1].ask ? 0 : -ENOMEM;
}

int ww_list_change(struct ww_list_entry *e, const char *uri, const char *what, const char *detail,
		   const char *hint)
{
	const char *in[] = {uri, what, detail, hint};

	for (size_t i = 0; i < 4; i++) {
		char *copy = in[i] ? strdup(in[i]) : NULL;

		if (!in[i])
			continue;
		if (!copy)
			return -ENOMEM;
		free(e->text[i]);
		e->text[i] = copy;
	}
	e->f = (struct ww_found){e->text[0], e->text[1], e->text[2], e->text[3]};
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

int ww_list_names(const char *dir, const char *prefix, char ***out, size_t *n)
{
	struct dirent *e;
	char **list = NULL;
	size_t cap = 0;
	DIR *d = opendir(dir);
	int rc = 0;

	*n = 0;
	while (d && rc == 0 && (e = readdir(d))) {
		if (e->d_name[0] == '.' || strncmp(e->d_name, prefix, strlen(prefix)) != 0)
			continue;
		if (*n == cap) {
			char **more = realloc(list, (cap + 32) * sizeof(*more));

			if (!more) {
				rc = -ENOMEM;
				break;
			}
			list = more;
			cap += 32;
		}
		list[*n] = strdup(e->d_name);
		rc = list[*n] ? 0 : -ENOMEM;
		*n += rc == 0;
	}
	if (d)
		closedir(d);
	if (*n)
		qsort(list, *n, sizeof(*list), by_name);
	*out = list;
	return rc;
}

void ww_list_names_free(char **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list[i]);
	free(list);
}

void ww_list_ids(char *out, size_t n, const char *maker, const char *product, const char *serial)
{
	snprintf(out, n, "%s%s%s%s%s", maker, *maker && *product ? " " : "", product,
		 *serial ? ", serial " : "", serial);
}

/* ------------------------------------------------------------------------- ttys */

static int add_tty(struct ww_list *l, const char *name)
{
	struct ww_tty_info t;
	char node[80], what[128], detail[448], device[WW_SYSFS_PATH + 8];
	const char *hint = "";

	ww_tty_info_name(name, &t);
	snprintf(device, sizeof(device), "%s/device", t.dir);
	/* Virtual consoles have no device; type 0 is a place for a UART that is not there. */
	if (!*t.dir || access(device, F_OK) != 0 || t.type == 0)
		return 0;
	snprintf(node, sizeof(node), "/dev/%s", t.name);
	snprintf(what, sizeof(what), "serial port (%s)", t.transport);
	ww_list_ids(detail, sizeof(detail), t.maker, t.product, t.serial);
	if (access(node, F_OK) != 0)
		hint = "its node in /dev is missing: is this a container? pass the device in";
	else if (access(node, R_OK | W_OK) != 0)
		hint = "no permission: `sudo usermod -aG dialout $USER`, then log in again";
	/* Newer kernels put a driver called "port" before the UART's own. */
	if (!*detail && strcmp(t.driver, "port") != 0)
		snprintf(detail, sizeof(detail), "%s", t.driver);
	if (ww_list_add(l, node, what, detail, hint) < 0)
		return -ENOMEM;
	/* A chip that any meter may have inside; one with an id of its own is told by that. */
	return *hint || !t.bridge ? 0 : ww_list_may_ask(l, node);
}

static int add_ttys(struct ww_list *l)
{
	char **names;
	size_t n;
	int rc = ww_list_names("/sys/class/tty", "", &names, &n);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_tty(l, names[i]);
	ww_list_names_free(names, n);
	return rc;
}

/* ------------------------------------------------------------------------- GPIO */

static int add_chip(struct ww_list *l, const char *name)
{
	char uri[96], label[64] = "", detail[128] = "";
	const char *hint = "";
	unsigned lines = 0;
	int rc = ww_gpio_chip(name, label, sizeof(label), &lines);

	snprintf(uri, sizeof(uri), "gpio:%.64s/0", name);
	if (rc == 0)
		snprintf(detail, sizeof(detail), "%s, %u lines", label, lines);
	else if (rc == -EACCES || rc == -EPERM)
		hint = WW_UDEV_HINT;
	else if (rc == -ENOTSUP)
		hint = "built without libgpiod: install libgpiod-dev, then make";
	else
		hint = "does not answer as a GPIO chip";
	return ww_list_add(l, uri, "gpiochip", detail, hint);
}

static int add_chips(struct ww_list *l)
{
	char **names;
	size_t n;
	int rc = ww_list_names("/dev", "gpiochip", &names, &n);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_chip(l, names[i]);
	ww_list_names_free(names, n);
	return rc;
}

/* ----------------------------------------------------------- what was left out */

static int add_left_out(struct ww_list *l)
{
	static const struct {
		const char *feature, *library, *package, *without;
	} parts[] = {
		{"usb", "libusb", "libusb-1.0-0-dev", "USB devices are not listed"},
		{"ftdi", "libftdi", "libftdi1-dev", "ftdi: does not work; ttys of FTDI chips do"},
		{"gpio", "libgpiod", "libgpiod-dev", "gpio: and s0: do not work"},
		{"curl", "libcurl", "libcurl4-openssl-dev", "http: does not work: no smart plugs"},
		{"jansson", "jansson", "libjansson-dev", "smart plugs are not understood"},
		{"nettle", "nettle", "nettle-dev", "tc66c: does not work, nor km003c:?stream"},
	};
	int rc = 0;

	for (size_t i = 0; i < WW_COUNTOF(parts) && rc == 0; i++) {
		char hint[128];

		if (strstr(ww_features(), parts[i].feature))
			continue;
		snprintf(hint, sizeof(hint), "`sudo apt install %s`, then make", parts[i].package);
		rc = ww_list_add(l, "", "left out of this build", parts[i].without, hint);
	}
	return rc;
}

int ww_list_new(struct ww_list **out, struct ww_error *err)
{
	struct ww_list *l = calloc(1, sizeof(*l));

	if (!l)
		return ww_fail_nomem(err);
	if (add_ttys(l) < 0 || ww_list_usb(l) < 0 || add_chips(l) < 0 || ww_list_kernel(l) < 0 ||
	    add_left_out(l) < 0) {
		ww_list_free(l);
		return ww_fail_nomem(err);
	}
	*out = l;
	return 0;
}

const struct ww_found *ww_list_at(const struct ww_list *l, size_t i)
{
	return i < l->n ? &l->e[i].f : NULL;
}

void ww_list_free(struct ww_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < 4; k++)
			free(l->e[i].text[k]);
		free(l->e[i].ask);
	}
	free(l->e);
	free(l);
}
