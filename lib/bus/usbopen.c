/* SPDX-License-Identifier: MIT */
/* A USB device of our own: opened by its node, its interface taken from the kernel's driver. */
#include "bus/usbloop.h"

#ifdef WW_WITH_USB

#include "bus/usbinit.h"
#include "bus/worker.h"

#include <dirent.h>
#include <linux/usbdevice_fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* A driver's probe may wait for a device that does not answer: not at our cost. */
#define ATTACH_MS  300
#define CONTROL_MS 1000

/* ------------------------------------------------------------------- who has it */

/* The node that a driver made for an interface: "/dev/usbtmc0". */
static bool node_of(const struct ww_usb_dev *d, unsigned interface, char *out, size_t n)
{
	char dir[WW_SYSFS_PATH + 64];
	struct dirent *e;
	bool found = false;
	DIR *list;

	snprintf(dir, sizeof(dir), "%s/%s:%u.%u/usbmisc", d->dir, d->name, ww_usb_config(d),
		 interface);
	list = opendir(dir);
	while (list && !found && (e = readdir(list))) {
		found = e->d_name[0] != '.';
		if (found)
			snprintf(out, n, "%s/dev/%.64s", ww_usb_root(), e->d_name);
	}
	if (list)
		closedir(list);
	return found;
}

static int in_use(const struct ww_usb_handle *u, struct ww_port *p, struct ww_error *err)
{
	char who[128];

	if (ww_holder(u->dev.node, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s (%s) is in use by %s", p->place, u->dev.name,
			       u->dev.node, who);
	return ww_fail(err, -EBUSY, "%s: %s (%s) is in use by another program", p->place,
		       u->dev.name, u->dev.node);
}

/* The kernel takes it from its driver whoever has that open, and asks nobody: so we do. */
static int not_held(const struct ww_usb_handle *u, struct ww_port *p, const char *driver,
		    struct ww_error *err)
{
	char node[128], who[128];

	if (strcmp(driver, "usbfs") == 0)
		return in_use(u, p, err);
	if (*driver && node_of(&u->dev, u->iface.number, node, sizeof(node)) &&
	    ww_holder(node, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", p->place, node, who);
	return 0;
}

/* -------------------------------------------------------------------- opening */

static int not_opened(const struct ww_usb_dev *d, struct ww_port *p, struct ww_error *err)
{
	if (d->code == -EACCES || d->code == -EPERM)
		return ww_fail(err, -EACCES,
			       "%s: permission denied for %s: install wakewatt's udev rules "
			       "(60-wakewatt.rules), then plug it in again",
			       p->place, d->node);
	if (d->code == -ENOENT || d->code == -ENODEV || d->code == -ENXIO)
		return ww_fail(err, -ENODEV, "%s: %s is not there (unplugged?)", p->place, d->node);
	return ww_fail(err, d->code, "%s: %s cannot be opened: %s", p->place, d->node,
		       strerror(-d->code));
}

static int usb_failed(const struct ww_port *p, const char *what, int rc, struct ww_error *err)
{
	return ww_fail(err, rc == LIBUSB_ERROR_NO_DEVICE ? -ENODEV : -EIO, "%s: %s: %s", p->place,
		       what, libusb_strerror(rc));
}

static int take_interface(struct ww_usb_handle *u, struct ww_port *p, const char *driver,
			  struct ww_error *err)
{
	int number = u->iface.number, rc = ww_usb_init_known(&u->c);

	if (rc < 0)
		return usb_failed(p, "libusb cannot be used here", rc, err);
	rc = libusb_wrap_sys_device(u->c, u->fd, &u->h);
	if (rc < 0)
		return usb_failed(p, u->dev.node, rc, err);
	rc = *driver ? libusb_detach_kernel_driver(u->h, number) : 0;
	if (rc < 0 && rc != LIBUSB_ERROR_NOT_FOUND)
		return usb_failed(p, "the kernel's driver does not let go of it", rc, err);
	rc = libusb_claim_interface(u->h, number);
	if (rc == LIBUSB_ERROR_BUSY)
		return in_use(u, p, err);
	if (rc < 0)
		return usb_failed(p, "its interface cannot be claimed", rc, err);
	u->claimed = true;
	return 0;
}

int ww_usb_claim(struct ww_usb_handle *u, struct ww_port *p, struct ww_usb_want *w,
		 const struct ww_usb_pick *pick, struct ww_error *err)
{
	struct ww_usb_pick one = *pick;
	char driver[64];
	int rc;

	w->open = true;
	rc = ww_usb_find(w, &u->dev, err);
	u->fd = u->dev.fd;
	if (rc < 0)
		return rc;
	if (u->fd < 0)
		return not_opened(&u->dev, p, err);
	if (u->dev.id && u->dev.id->bus == w->bus && u->dev.id->interface >= 0) {
		one = (struct ww_usb_pick){u->dev.id->interface, -1, -1, 0, 0};
		one.ep_in = u->dev.id->ep_in;
		one.ep_out = u->dev.id->ep_out;
	}
	if (!ww_usb_interface(&u->dev, &one, &u->iface) &&
	    (pick->number >= 0 || one.number >= 0 || w->bus != WW_BUS_USB ||
	     !ww_usb_interface(&u->dev, &(struct ww_usb_pick){-1, -1, -1, 0, 0}, &u->iface)))
		return ww_fail(err, -EPROTO,
			       "%s: %s (%04x:%04x) has no such interface and endpoints: it is "
			       "another device, or one that the kernel has not configured",
			       p->place, u->dev.name, u->dev.vid, u->dev.pid);
	ww_usb_driver(&u->dev, u->iface.number, driver, sizeof(driver));
	rc = not_held(u, p, driver, err);
	if (rc == 0)
		rc = take_interface(u, p, driver, err);
	if (rc < 0)
		return rc;
	ww_usb_remember(p->memory, &u->dev);
	ww_port_setting(p, "usb=%s interface=%u", u->dev.name, u->iface.number);
	if (*driver)
		ww_port_setting(p, "detached=%s", driver);
	ww_usb_awake(p, &u->dev, true, &u->power);
	return 0;
}

/* -------------------------------------------------------------------- closing */

static int attach(void *ctx, int fd)
{
	const struct ww_usb_handle *u = ctx;
	struct usbdevfs_ioctl c = {.ifno = u->iface.number, .ioctl_code = USBDEVFS_CONNECT};

	(void)fd;
	return ioctl(u->fd, USBDEVFS_IOCTL, &c) < 0;
}

/* Something else may be plugged in there by now. */
static bool still_there(const struct ww_usb_dev *d)
{
	int64_t address;

	return ww_sysfs_int(d->dir, "devnum", &address) && address == d->address;
}

void ww_usb_unclaim(struct ww_usb_handle *u)
{
	const struct ww_worker_setup s = {
		.name = "ww-usb-attach", .run = attach, .ctx = u, .keep = &u->fd, .keeps = 1};
	struct ww_worker w;

	if (u->claimed)
		libusb_release_interface(u->h, u->iface.number);
	if (u->h)
		libusb_close(u->h);
	if (u->c)
		libusb_exit(u->c);
	if (u->claimed && still_there(&u->dev)) {
		/* Also where there was no driver: a recorder that was killed leaves it so. */
		if (ww_worker_start(&w, &s, NULL) == 0)
			ww_worker_end(&w, ATTACH_MS);
		ww_usb_asleep(&u->power);
	}
	if (u->fd >= 0)
		close(u->fd);
	*u = (struct ww_usb_handle){.fd = -1};
}

/* ----------------------------------------------------------- control requests */

bool ww_usb_control(struct ww_usb_control *c, const struct ww_usb_handle *u, uint8_t type,
		    uint8_t request, uint16_t value, uint16_t index, uint16_t length)
{
	libusb_fill_control_setup(c->buf, type, request, value, index, length);
	libusb_fill_control_transfer(c->x.t, u->h, c->buf, ww_usb_xfer_done, &c->x, CONTROL_MS);
	return ww_usb_submit(&c->x);
}

bool ww_usb_unhalt(struct ww_usb_control *c, const struct ww_usb_handle *u, uint8_t ep)
{
	return ww_usb_control(c, u, LIBUSB_RECIPIENT_ENDPOINT, LIBUSB_REQUEST_CLEAR_FEATURE, 0, ep,
			      0);
}

void ww_usb_unhalted(const struct ww_usb_handle *u, uint8_t ep)
{
	unsigned n = ep;

	ioctl(u->fd, USBDEVFS_RESETEP, &n);
}

#endif
