/* SPDX-License-Identifier: MIT */
/* Which serial port is opened: the one that is named, or the device that was there before. */
#ifndef WW_BUS_TTYCHOOSE_H
#define WW_BUS_TTYCHOOSE_H

#include "bus/portimpl.h"
#include "bus/ttyfind.h"

/*
 * The path to open: as asked, unless the device of the port's memory has another name by
 * now, or only ids are known. `id`: of the device, vid 0 where it is not behind USB.
 * -EREMCHG: another device has taken the name.
 */
int ww_tty_choose(struct ww_port *p, const char *path, struct ww_uri *options, char *out, size_t n,
		  struct ww_tty_ident *id, struct ww_error *err);
/* It is open: the same one is to be opened the next time. A new name is told. */
void ww_tty_remember(struct ww_port *p, const char *asked, const char *path,
		     const struct ww_tty_ident *id);

#endif
