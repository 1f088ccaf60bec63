/* SPDX-License-Identifier: MIT */
#include "control/aim.h"
#include "bus/gpio.h"
#include "bus/sysfs.h"
#include "bus/usbfind.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* --------------------------------------------------------------------- GPIO */

static int in_use(const struct ww_act *a, const char *who, struct ww_error *err)
{
	return ww_fail(err, -EBUSY, "%s: the line is in use by %s%s", a->text,
		       *who ? who : "another program or a driver of the kernel",
		       strcmp(who, "wakewatt") == 0 ? ": one that is recorded (-g) or held cannot "
						      "be driven as well; what an action does is "
						      "in the marks, with its interval"
						    : "");
}

static int aim_gpio(const struct ww_act *a, struct ww_drive *out, struct ww_error *err)
{
	const struct ww_gpio_line l = {.chip = a->chip, .line = a->line};
	struct ww_gpio_place p;
	int rc = ww_gpio_find(&l, &p, err);

	if (rc < 0)
		return rc;
	if (p.used)
		return in_use(a, p.consumer, err);
	snprintf(out->path, sizeof(out->path), "%s", p.path);
	out->offset = p.offset;
	return 0;
}

/* ---------------------------------------------------------------------- tty */

static bool is_port(const struct ww_port_reach *r, const char *path)
{
	struct stat a, b;

	return r->fd >= 0 && fstat(r->fd, &a) == 0 && stat(path, &b) == 0 && S_ISCHR(b.st_mode) &&
	       a.st_rdev == b.st_rdev;
}

/* A port of ours that is this tty, or the chip at this node. */
static bool ours(const struct ww_open_ports *ports, const char *tty, const char *node,
		 int interface, struct ww_port_reach *out)
{
	bool more = ports->at != NULL;

	for (size_t i = 0; more; i++) {
		struct ww_port *p = ports->at(ports->ctx, i, &more);

		if (!more || !p || ww_port_reach(p, out) < 0)
			continue;
		if ((*tty && is_port(out, tty)) ||
		    (*node && strcmp(out->node, node) == 0 && out->interface == interface))
			return true;
	}
	*out = (struct ww_port_reach){.fd = -1};
	return false;
}

/* A pulse is to the other level than a line stands at, where that is known. */
static void resolve(struct ww_drive *d, const struct ww_port_reach *r)
{
	int bit = d->rts ? TIOCM_RTS : TIOCM_DTR;

	if (d->level == WW_DRIVE_OTHER)
		d->level = r->known & bit ? !(r->lines & bit) : 1;
}

static int aim_tty(const struct ww_act *a, const struct ww_open_ports *ports, struct ww_drive *out,
		   int *fd, struct ww_error *err)
{
	struct ww_port_reach r;
	struct stat st;
	char who[128];

	if (stat(out->path, &st) < 0 || !S_ISCHR(st.st_mode))
		return ww_fail(err, -ENODEV,
			       "%s: no such serial port; `pwrlog list` shows what is plugged in",
			       a->text);
	if (ours(ports, out->path, "", 0, &r)) {
		if (!(r.known & (out->rts ? TIOCM_RTS : TIOCM_DTR)))
			return ww_fail(err, -ENOTSUP, "%s: this port has no modem lines", a->text);
		*fd = r.fd;
	} else if (ww_holder(out->path, who, sizeof(who))) {
		return ww_fail(err, -EBUSY, "%s: in use by %s", a->text, who);
	} else if (access(out->path, R_OK | W_OK) < 0) {
		return ww_aim_failed(a, out, -EACCES, 0, err);
	}
	resolve(out, &r);
	return 0;
}

/* --------------------------------------------------------------------- FTDI */

static int find_chip(const struct ww_act *a, struct ww_usb_dev *out, struct ww_error *err)
{
	static const uint16_t pids[] = {0x6001, 0x6010, 0x6011, 0x6014, 0x6015};
	struct ww_usb_id id[WW_COUNTOF(pids) + 1] = {{0}};
	struct ww_usb_want w = {.who = a->text,
				.ids = id,
				.serial = a->serial,
				.at = "",
				.memory = "",
				.what = "FTDI chip"};
	uint16_t vid = (uint16_t)(a->vid < 0 ? 0x0403 : a->vid);

	for (size_t i = 0; i < WW_COUNTOF(pids) && (i == 0 || a->pid < 0); i++)
		id[i] = (struct ww_usb_id){.vid = vid,
					   .pid = (uint16_t)(a->pid < 0 ? pids[i] : a->pid)};
	return ww_usb_find(&w, out, err);
}

/* Who else has the interface: its serial port, or the chip itself. */
static int not_held(const struct ww_act *a, const struct ww_usb_dev *d, const char *tty,
		    int interface, struct ww_error *err)
{
	char who[128] = "another program", driver[64];

	if (*tty && ww_holder(tty, who, sizeof(who)))
		return ww_fail(err, -EBUSY, "%s: %s is in use by %s", a->text, tty, who);
	ww_usb_driver(d, (unsigned)interface, driver, sizeof(driver));
	if (strcmp(driver, "usbfs") != 0)
		return 0;
	ww_holder(d->node, who, sizeof(who));
	return ww_fail(err, -EBUSY, "%s: the chip is in use by %s", a->text, who);
}

static int aim_ftdi(const struct ww_act *a, const struct ww_open_ports *ports, struct ww_drive *out,
		    int *fd, struct ww_error *err)
{
	int interface = a->interface > 0 ? (int)a->interface - 1 : 0, rc;
	struct ww_usb_dev d;
	struct ww_port_reach r;
	char tty[80] = "";
	bool mine;

	rc = find_chip(a, &d, err);
	if (rc < 0)
		return rc;
	if (!ww_usb_tty(d.name, interface, tty, sizeof(tty)))
		tty[0] = '\0';
	snprintf(out->path, sizeof(out->path), "%s", d.node);
	out->interface = interface;
	/* Chips of several interfaces count them from 1 in a request, the others have 0. */
	out->index = d.pid == 0x6010 || d.pid == 0x6011 ? interface + 1 : 0;
	mine = ours(ports, tty, d.node, interface, &r);
	if (mine && out->kind == WW_DRIVE_BITS)
		return ww_fail(err, -EBUSY,
			       "%s: a data pin takes the chip from its serial port, which this "
			       "command has open: use another chip, or dtr= or rts=",
			       a->text);
	rc = mine ? 0 : not_held(a, &d, tty, interface, err);
	if (rc < 0)
		return rc;
	if (mine && r.fd >= 0 && out->kind == WW_DRIVE_MODEM) {
		out->kind = WW_DRIVE_TTY;
		*fd = r.fd;
	} else if (access(d.node, R_OK | W_OK) < 0) {
		return ww_aim_failed(a, out, -EACCES, 0, err);
	}
	resolve(out, &r);
	return 0;
}

/* ---------------------------------------------------------------------- any */

int ww_aim(const struct ww_act *a, const struct ww_open_ports *ports, struct ww_drive *out, int *fd,
	   struct ww_error *err)
{
	*out = a->drive;
	*fd = -1;
	if (a->kind == WW_ACT_GPIO)
		return aim_gpio(a, out, err);
	return a->kind == WW_ACT_TTY ? aim_tty(a, ports, out, fd, err)
				     : aim_ftdi(a, ports, out, fd, err);
}

static int denied(const struct ww_act *a, const struct ww_drive *d, struct ww_error *err)
{
	const char *way = d->kind == WW_DRIVE_GPIO
				  ? "`sudo usermod -aG gpio $USER` and log in again, "
				    "or install wakewatt's udev rules"
			  : d->kind == WW_DRIVE_TTY ? "`sudo usermod -aG dialout $USER` and log in "
						      "again, or install wakewatt's udev rules"
						    : "install wakewatt's udev rules "
						      "(60-wakewatt.rules), then plug it in again";

	return ww_fail(err, -EACCES, "%s: permission denied for %s: %s", a->text, d->path, way);
}

int ww_aim_failed(const struct ww_act *a, const struct ww_drive *d, int code, int taken,
		  struct ww_error *err)
{
	static const char *const done[] = {"taken", "driven", "put back"};
	const char *what = d->kind == WW_DRIVE_GPIO ? "the line" : d->path;
	struct ww_drive again;

	if (taken == 0 && (code == -EACCES || code == -EPERM))
		return denied(a, d, err);
	/* Looking once more finds who has it. */
	if (taken == 0 && code == -EBUSY && d->kind == WW_DRIVE_GPIO &&
	    aim_gpio(a, &again, err) == 0)
		return in_use(a, "", err);
	if (taken == 0 && code == -EBUSY && d->kind != WW_DRIVE_GPIO)
		return ww_fail(err, code, "%s: %s is in use by another program", a->text, what);
	if (taken == 0 && code == -ENOTSUP)
		return ww_fail(err, code, "%s: this port has no modem lines", a->text);
	if (taken == 0 && (code == -ENOENT || code == -ENODEV || code == -ENXIO))
		return ww_fail(err, -ENODEV, "%s: %s is gone", a->text, d->path);
	if (taken == 1 && d->kind == WW_DRIVE_GPIO)
		return ww_fail(err, code,
			       "%s: the line cannot be an output of this kind on this chip: %s",
			       a->text, strerror(-code));
	return ww_fail(err, code, "%s: %s could not be %s: %s", a->text, what, done[taken],
		       strerror(-code));
}
