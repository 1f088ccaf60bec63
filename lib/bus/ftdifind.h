/* SPDX-License-Identifier: MIT */
/* Which of the FTDI chips that are plugged in. */
#ifndef WW_BUS_FTDIFIND_H
#define WW_BUS_FTDIFIND_H

#include "base/uri.h"

struct ftdi_context;

/* FTDI's own product ids that are serial chips. */
bool ww_ftdi_known(unsigned vid, unsigned pid);
/* Find by vid, pid, serial (or the place itself), interface; open it. */
int ww_ftdi_find_open(struct ftdi_context *c, const char *name, const char *place,
		      struct ww_uri *options, struct ww_error *err);

#endif
