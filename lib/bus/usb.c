/* SPDX-License-Identifier: MIT */
#include "bus/usb.h"

#ifdef WW_WITH_USB

#include "bus/sysfs.h"

#include <libusb.h>
#include <stdio.h>
#include <unistd.h>

#define DEPTH 7

/* The kernel has read the strings already; asking the device would mean opening it. */
static void from_sysfs(libusb_device *d, struct ww_usb_device *u)
{
	char name[64], dir[96], iface[200];
	uint8_t ports[DEPTH];
	int depth = libusb_get_port_numbers(d, ports, DEPTH);

	if (!ww_usb_name(libusb_get_bus_number(d), ports, depth, name, sizeof(name)))
		return;
	snprintf(dir, sizeof(dir), "/sys/bus/usb/devices/%s", name);
	ww_sysfs_read(dir, "manufacturer", u->maker, sizeof(u->maker));
	ww_sysfs_read(dir, "product", u->product, sizeof(u->product));
	ww_sysfs_read(dir, "serial", u->serial, sizeof(u->serial));
	snprintf(iface, sizeof(iface), "%s/%s:1.0", dir, name);
	ww_sysfs_link(iface, "driver", u->driver, sizeof(u->driver));
}

static int visit(libusb_device *d, ww_usb_fn fn, void *ctx)
{
	struct libusb_device_descriptor desc;
	struct ww_usb_device u = {0};

	if (libusb_get_device_descriptor(d, &desc) < 0 || desc.bDeviceClass == LIBUSB_CLASS_HUB)
		return 0;
	u.vid = desc.idVendor;
	u.pid = desc.idProduct;
	u.class_ = desc.bDeviceClass;
	u.bus = libusb_get_bus_number(d);
	u.address = libusb_get_device_address(d);
	snprintf(u.node, sizeof(u.node), "/dev/bus/usb/%03u/%03u", u.bus, u.address);
	u.allowed = access(u.node, R_OK | W_OK) == 0;
	from_sysfs(d, &u);
	return fn(ctx, &u);
}

int ww_usb_scan(ww_usb_fn fn, void *ctx, struct ww_error *err)
{
	libusb_device **list = NULL;
	libusb_context *c = NULL;
	ssize_t n;
	int rc = libusb_init(&c);

	if (rc < 0)
		return ww_fail(err, -ENODEV, "no USB here: %s", libusb_strerror(rc));
	n = libusb_get_device_list(c, &list);
	rc = n < 0 ? ww_fail(err, -EIO, "the USB bus cannot be listed: %s", libusb_strerror((int)n))
		   : 0;
	for (ssize_t i = 0; i < n && rc >= 0; i++)
		rc = visit(list[i], fn, ctx);
	if (list)
		libusb_free_device_list(list, 1);
	libusb_exit(c);
	return rc < 0 ? rc : 0;
}

#else

int ww_usb_scan(ww_usb_fn fn, void *ctx, struct ww_error *err)
{
	(void)fn;
	(void)ctx;
	return ww_fail(err, -ENOTSUP, "built without libusb: install libusb-1.0-0-dev, then make");
}

#endif
