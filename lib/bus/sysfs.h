/* SPDX-License-Identifier: MIT */
/* What the kernel tells of a device in /sys. */
#ifndef WW_BUS_SYSFS_H
#define WW_BUS_SYSFS_H

#include "base/base.h"

#include <sys/types.h>

/* First line of DIR/NAME without white space at its end. false: not there. */
bool ww_sysfs_read(const char *dir, const char *name, char *out, size_t n);
/* A whole number; false if it is none. Understands 0x. */
bool ww_sysfs_int(const char *dir, const char *name, int64_t *out);
int ww_sysfs_write(const char *dir, const char *name, const char *text);
/* Last part of where the link DIR/NAME leads. */
bool ww_sysfs_link(const char *dir, const char *name, char *out, size_t n);

#define WW_SYSFS_PATH 320

struct ww_tty_info {
	char name[64];		 /* "ttyUSB0" */
	char dir[WW_SYSFS_PATH]; /* "/sys/class/tty/ttyUSB0"; "" unknown */
	char driver[64];	 /* of the kernel: "ftdi_sio"; "" unknown */
	char transport[32];	 /* name of a ww_transport */
	bool bridge;		 /* a real UART behind USB: the line has a pace */
	int64_t type;		 /* PORT_ of serial_core.h; 0: no UART there; -1 no such thing */
	char vid[8], pid[8];	 /* of the USB device, "" if none */
	char maker[128], product[128], serial[128];
};
/* The kernel's name of a USB device, "1-2.3": its bus and the ports on the way to it. */
bool ww_usb_name(unsigned bus, const uint8_t *ports, int n, char *out, size_t size);
/* Path of the serial port that the kernel has made of a USB interface; false: none. */
bool ww_usb_tty(const char *usb_name, int interface, char *out, size_t n);
/* The kernel's name of a path, "ttyUSB0" of "/dev/serial/by-id/..."; "" unknown. */
void ww_tty_name(const char *path, char *out, size_t n);
/* By name below /sys/class/tty. */
void ww_tty_info_name(const char *name, struct ww_tty_info *out);
/* By path and device number. */
void ww_tty_info_path(const char *path, dev_t rdev, struct ww_tty_info *out);

/* Does a hypervisor run below us? An emulated UART keeps no pace. */
bool ww_in_vm(void);

/* A UNIX98 pseudo-terminal's far end? */
bool ww_is_pty(dev_t rdev);

/*
 * holder.c: who keeps `path` from us, "process 12 (minicom)": who has locked it, or who
 * has it open. "this command itself, ..." where it was opened twice. false if unseen.
 */
bool ww_holder(const char *path, char *out, size_t n);

#endif
