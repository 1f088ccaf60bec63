/* SPDX-License-Identifier: MIT */
#include "bus/ftdifind.h"

bool ww_ftdi_known(unsigned vid, unsigned pid)
{
	static const uint16_t known[] = {0x6001, 0x6010, 0x6011, 0x6014, 0x6015};

	for (size_t i = 0; vid == 0x0403 && i < WW_COUNTOF(known); i++)
		if (known[i] == pid)
			return true;
	return false;
}

#ifdef WW_WITH_FTDI

#include "bus/sysfs.h"

#include <ftdi.h>
#include <libusb.h>
#include <stdio.h>

#define DEPTH 7 /* hubs in a row, and the device */

struct want {
	int64_t vid, pid;   /* -1 any of the known */
	const char *serial; /* "" any */
};

static bool ids_match(const struct want *w, libusb_device *d)
{
	struct libusb_device_descriptor desc;

	if (libusb_get_device_descriptor(d, &desc) < 0)
		return false;
	if (w->vid < 0 && w->pid < 0)
		return ww_ftdi_known(desc.idVendor, desc.idProduct);
	return (w->vid < 0 ? 0x0403 : w->vid) == desc.idVendor &&
	       (w->pid < 0 || w->pid == desc.idProduct);
}

/* 1 is it, 0 another, negative: cannot be looked at. */
static int serial_matches(const struct want *w, libusb_device *d)
{
	struct libusb_device_descriptor desc;
	unsigned char text[128];
	libusb_device_handle *h;
	int rc, n = 0;

	rc = libusb_open(d, &h);
	if (rc < 0)
		return rc;
	if (libusb_get_device_descriptor(d, &desc) == 0 && desc.iSerialNumber)
		n = libusb_get_string_descriptor_ascii(h, desc.iSerialNumber, text, sizeof(text));
	libusb_close(h);
	if (!*w->serial)
		return 1;
	return n > 0 && strlen(w->serial) == (size_t)n && memcmp(text, w->serial, (size_t)n) == 0;
}

static int not_found(const struct want *w, const char *name, int denied, struct ww_error *err)
{
	if (denied == LIBUSB_ERROR_ACCESS)
		return ww_fail(err, -EACCES,
			       "%s: permission denied: install wakewatt's udev rules "
			       "(60-wakewatt.rules), then plug it in again",
			       name);
	if (denied == LIBUSB_ERROR_NO_DEVICE || denied == 0)
		return ww_fail(err, -ENODEV, "%s: no FTDI chip%s%s is plugged in", name,
			       *w->serial ? " with serial " : "", w->serial);
	return ww_fail(err, -EIO, "%s: cannot be opened: %s", name, libusb_error_name(denied));
}

static int pick(libusb_device **list, ssize_t n, const struct want *w, const char *name,
		libusb_device **out, struct ww_error *err)
{
	size_t found = 0;
	int denied = 0;

	for (ssize_t i = 0; i < n; i++) {
		int rc;

		if (!ids_match(w, list[i]))
			continue;
		rc = serial_matches(w, list[i]);
		if (rc < 0)
			denied = rc;
		if (rc <= 0)
			continue;
		if (!found++)
			*out = list[i];
	}
	if (!found)
		return not_found(w, name, denied, err);
	if (found > 1)
		return ww_fail(err, -ENOTUNIQ,
			       "%s: %zu FTDI chips are plugged in: choose one by serial=; "
			       "`pwrlog list` shows them",
			       name, found);
	return 0;
}

/*
 * Opening takes the chip from the kernel's driver, and its serial port from whoever has
 * that open: the kernel asks nobody, so we do.
 */
static int not_held(struct ftdi_context *c, libusb_device *d, const char *name,
		    struct ww_error *err)
{
	char usb[64], tty[80], who[128];
	uint8_t ports[DEPTH];
	int depth = libusb_get_port_numbers(d, ports, DEPTH);

	if (ww_usb_name(libusb_get_bus_number(d), ports, depth, usb, sizeof(usb)) &&
	    ww_usb_tty(usb, c->interface, tty, sizeof(tty)) && ww_holder(tty, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", name, tty, who);
	return 0;
}

static int open_found(struct ftdi_context *c, libusb_device *d, const char *name,
		      struct ww_error *err)
{
	int rc = not_held(c, d, name, err);

	if (rc < 0)
		return rc;
	rc = ftdi_usb_open_dev(c, d);
	if (rc == 0)
		return 0;
	/* libftdi: -5 means that the interface could not be claimed. */
	return ww_fail(err, rc == -5 ? -EBUSY : -EIO, "%s: %s (%s)", name,
		       rc == -5 ? "in use by another program or driver" : "cannot be opened",
		       ftdi_get_error_string(c));
}

int ww_ftdi_find_open(struct ftdi_context *c, const char *name, const char *place,
		      struct ww_uri *options, struct ww_error *err)
{
	struct ww_uri none = {.driver = "", .place = ""};
	struct ww_uri *u = options ? options : &none;
	struct want w = {.vid = -1, .pid = -1};
	libusb_device **list = NULL, *d = NULL;
	int64_t interface = 0;
	ssize_t n;
	int rc;

	w.serial = ww_uri_get(u, "serial", place);
	if (ww_uri_int(u, "vid", 1, 0xffff, &w.vid, err) < 0 ||
	    ww_uri_int(u, "pid", 1, 0xffff, &w.pid, err) < 0 ||
	    ww_uri_int(u, "interface", 1, 4, &interface, err) < 0)
		return -EINVAL;
	if (interface && ftdi_set_interface(c, (enum ftdi_interface)interface) < 0)
		return ww_fail(err, -EINVAL, "%s: interface %d: %s", name, (int)interface,
			       ftdi_get_error_string(c));
	n = libusb_get_device_list(c->usb_ctx, &list);
	if (n < 0)
		return ww_fail(err, -EIO, "%s: the USB bus cannot be listed: %s", name,
			       libusb_error_name((int)n));
	rc = pick(list, n, &w, name, &d, err);
	if (rc == 0)
		rc = open_found(c, d, name, err);
	libusb_free_device_list(list, 1);
	return rc;
}

#endif
