/* SPDX-License-Identifier: MIT */
/* USB devices: meters by their ids, FTDI chips, and what else is there. */
#include "source/list.h"
#include "bus/ftdifind.h"
#include "bus/sysfs.h"
#include "bus/usb.h"
#include "meter/meter.h"

#include <stdio.h>
#include <unistd.h>

static const struct ww_meter_desc *meter_of(const struct ww_usb_device *d,
					    const struct ww_usb_id **id)
{
	for (size_t i = 0; ww_meters[i]; i++) {
		const struct ww_usb_id *u = ww_meters[i]->desc.usb;

		for (; u && u->vid; u++) {
			if (u->vid != d->vid || u->pid != d->pid || u->generic)
				continue;
			*id = u;
			return &ww_meters[i]->desc;
		}
	}
	return NULL;
}

/* The node through which the meter is reached, "" where the kernel has made none. */
static void node_of(const struct ww_usb_device *d, const struct ww_usb_id *id, char *out, size_t n)
{
	out[0] = '\0';
	if (id->bus == WW_BUS_HID)
		ww_usb_node(d->name, id->interface, "hidraw", out, n);
	else if (id->bus == WW_BUS_STREAM)
		ww_usb_node(d->name, id->interface, "tty", out, n);
	else
		snprintf(out, n, "%s", d->node);
}

static void hint_of(const struct ww_meter_desc *m, const struct ww_usb_id *id, const char *node,
		    char *out, size_t n)
{
	char who[128];

	out[0] = '\0';
	if (m->left_out)
		snprintf(out, n, "built without %s: `sudo apt install %s-dev`, then make", m->needs,
			 m->needs);
	else if (!*node && id->bus == WW_BUS_HID)
		snprintf(out, n, "the kernel has made no hidraw of it: `sudo modprobe usbhid`");
	else if (!*node && id->bus == WW_BUS_STREAM)
		snprintf(out, n, "the kernel has made no tty of it: `sudo modprobe cdc-acm`");
	else if (access(node, F_OK) != 0)
		snprintf(out, n, "%s is missing: is this a container? pass the device in", node);
	else if (access(node, R_OK | W_OK) != 0)
		snprintf(out, n, "%s", WW_UDEV_HINT);
	else if (ww_holder(node, who, sizeof(who)))
		snprintf(out, n, "%s is in use by %s: end that first", node, who);
}

static int add_meter(struct ww_list *l, const struct ww_usb_device *d,
		     const struct ww_meter_desc *m, const struct ww_usb_id *id)
{
	char uri[224], what[96], detail[576], ids[448], hint[512], node[80], driver[64] = "";

	snprintf(uri, sizeof(uri), *d->serial ? "%.32s:?serial=%.128s" : "%.32s:", m->name,
		 d->serial);
	snprintf(what, sizeof(what), "%.32s (%.48s)", m->name, id->name);
	ww_list_ids(ids, sizeof(ids), d->maker, d->product, d->serial);
	node_of(d, id, node, sizeof(node));
	if (id->bus & (WW_BUS_USB | WW_BUS_TMC))
		ww_usb_bound(d->name, id->interface < 0 ? 0 : id->interface, driver,
			     sizeof(driver));
	/* It is taken from its driver while it is recorded, and given back. */
	if (*driver && strcmp(driver, "usbfs") != 0)
		snprintf(detail, sizeof(detail), "%s; the kernel's %.60s lets go of it meanwhile",
			 ids, driver);
	else
		snprintf(detail, sizeof(detail), "%s", ids);
	hint_of(m, id, node, hint, sizeof(hint));
	return ww_list_add(l, uri, what, detail, hint);
}

static int add_device(void *ctx, const struct ww_usb_device *d)
{
	const struct ww_usb_id *id = NULL;
	const struct ww_meter_desc *m = meter_of(d, &id);
	bool ftdi = ww_ftdi_known(d->vid, d->pid);
	char uri[160] = "", what[64], detail[448], tty[80];
	int rc;

	if (m)
		return add_meter(ctx, d, m, id);
	if (ftdi && *d->serial)
		snprintf(uri, sizeof(uri), "ftdi:?serial=%s", d->serial);
	else if (ftdi)
		snprintf(uri, sizeof(uri), "ftdi:");
	snprintf(what, sizeof(what), "%s %04x:%04x", ftdi ? "FTDI chip" : "USB device", d->vid,
		 d->pid);
	ww_list_ids(detail, sizeof(detail), d->maker, d->product, d->serial);
	rc = ww_list_add(ctx, uri, what, detail, ftdi && !d->allowed ? WW_UDEV_HINT : "");
	/* Where it is a tty too, that one is asked. */
	if (rc == 0 && ftdi && d->allowed && strstr(ww_features(), "ftdi") &&
	    !ww_usb_node(d->name, -1, "tty", tty, sizeof(tty)))
		rc = ww_list_may_ask(ctx, uri);
	return rc;
}

int ww_list_usb(struct ww_list *l)
{
	return ww_usb_scan(add_device, l);
}
