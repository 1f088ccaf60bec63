/* SPDX-License-Identifier: MIT */
/* Writing to a descriptor that may be a pipe. */
#ifndef WW_OUTPUT_H
#define WW_OUTPUT_H

#include "base/base.h"

/* Write all of it, waiting where needed; a reader that has gone is -EPIPE, never a signal. */
int ww_write_all(int fd, const void *p, size_t n, const char *what, struct ww_error *err);

#endif
