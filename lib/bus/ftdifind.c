/* SPDX-License-Identifier: MIT */
#include "bus/ftdifind.h"

#include "bus/usbfind.h"

static const struct ww_usb_id known[] = {
	{.vid = 0x0403, .pid = 0x6001, .name = "FTDI chip"},
	{.vid = 0x0403, .pid = 0x6010},
	{.vid = 0x0403, .pid = 0x6011},
	{.vid = 0x0403, .pid = 0x6014},
	{.vid = 0x0403, .pid = 0x6015},
	{0},
};

bool ww_ftdi_known(unsigned vid, unsigned pid)
{
	for (size_t i = 0; known[i].vid; i++)
		if (known[i].vid == vid && known[i].pid == pid)
			return true;
	return false;
}

#ifdef WW_WITH_FTDI

#include "bus/portimpl.h"

#include <ctype.h>
#include <ftdi.h>
#include <libusb.h>
#include <unistd.h>

/* "1-2.3" is where it is plugged in; anything else a serial number. */
static bool is_place(const char *s)
{
	bool dash = false;

	for (; *s; s++) {
		if (*s == '-' && dash)
			return false;
		dash |= *s == '-';
		if (!isdigit((unsigned char)*s) && *s != '-' && *s != '.')
			return false;
	}
	return dash;
}

/*
 * Opening takes the chip from the kernel's driver, and its serial port from whoever has
 * that open: the kernel asks nobody, so we do.
 */
static int not_held(const struct ww_usb_dev *d, int interface, const char *name,
		    struct ww_error *err)
{
	char tty[80], who[128];

	if (ww_usb_tty(d->name, interface, tty, sizeof(tty)) && ww_holder(tty, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", name, tty, who);
	if (access(d->node, R_OK | W_OK) < 0 && errno == EACCES)
		return ww_fail(err, -EACCES,
			       "%s: permission denied for %s: install wakewatt's udev rules "
			       "(60-wakewatt.rules), then plug it in again",
			       name, d->node);
	return 0;
}

static int open_found(struct ftdi_context *c, libusb_device *d, const struct ww_usb_dev *dev,
		      const char *name, struct ww_error *err)
{
	char who[128];
	int rc = ftdi_usb_open_dev(c, d);

	if (rc == 0)
		return 0;
	/* libftdi: -5 means that the interface could not be claimed. */
	if (rc == -5 && ww_holder(dev->node, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", name, dev->node, who);
	return ww_fail(err, rc == -5 ? -EBUSY : -EIO, "%s: %s (%s)", name,
		       rc == -5 ? "in use by another program or driver" : "cannot be opened",
		       ftdi_get_error_string(c));
}

int ww_ftdi_open_dev(struct ftdi_context *c, const struct ww_usb_dev *dev, int interface,
		     const char *name, struct ww_error *err)
{
	libusb_device **list = NULL;
	ssize_t n;
	int rc = -ENODEV;

	if (interface && ftdi_set_interface(c, (enum ftdi_interface)interface) < 0)
		return ww_fail(err, -EINVAL, "%s: interface %d: %s", name, interface,
			       ftdi_get_error_string(c));
	n = libusb_get_device_list(c->usb_ctx, &list);
	if (n < 0)
		return ww_fail(err, -EIO, "%s: the USB bus cannot be listed: %s", name,
			       libusb_error_name((int)n));
	for (ssize_t i = 0; i < n && rc == -ENODEV; i++)
		if (libusb_get_bus_number(list[i]) == dev->bus &&
		    libusb_get_device_address(list[i]) == dev->address)
			rc = open_found(c, list[i], dev, name, err);
	libusb_free_device_list(list, 1);
	if (rc == -ENODEV)
		return ww_fail(err, -ENODEV, "%s: %s is gone again", name, dev->name);
	return rc;
}

int ww_ftdi_find(struct ww_port *p, const char *place, struct ww_uri *options,
		 struct ww_usb_dev *dev, int *interface, struct ww_error *err)
{
	struct ww_uri none = {.driver = "", .place = ""};
	struct ww_uri *u = options ? options : &none;
	struct ww_usb_want w = {.who = p->place,
				.ids = known,
				.what = "FTDI chip",
				.at = is_place(place) ? place : "",
				.memory = p->memory};
	int64_t iface = 0, vid = 0x0403, pid = -1;
	struct ww_usb_id asked[2] = {{0}};
	int rc;

	w.serial = ww_uri_get(u, "serial", is_place(place) ? "" : place);
	if (ww_uri_usb_id(u, "vid", &vid, err) < 0 || ww_uri_usb_id(u, "pid", &pid, err) < 0 ||
	    ww_uri_int(u, "interface", 1, 4, &iface, err) < 0)
		return -EINVAL;
	if (pid < 0 && vid != 0x0403)
		return ww_fail(err, -EINVAL, "%s: vid= needs pid= beside it", p->place);
	if (pid >= 0) {
		asked[0] = (struct ww_usb_id){.vid = (uint16_t)vid, .pid = (uint16_t)pid};
		w.ids = asked;
	}
	rc = ww_usb_find(&w, dev, err);
	if (rc == 0)
		rc = not_held(dev, iface ? (int)iface - 1 : 0, p->place, err);
	*interface = (int)iface;
	return rc;
}

#endif
