/* SPDX-License-Identifier: MIT */
#include "bus/portimpl.h"

int ww_iio_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	(void)place;
	(void)options;
	return ww_fail(err, -ENOTSUP, "%s: built without -: install -, then make",
		       p->place);
}
