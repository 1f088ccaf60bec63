/* SPDX-License-Identifier: MIT */
#include "bus/portimpl.h"

int ww_http_open(struct ww_port *p, const char *place, struct ww_uri *options, struct ww_error *err)
{
	(void)place;
	(void)options;
	return ww_fail(err, -ENOTSUP, "%s: built without libcurl: install libcurl4-openssl-dev, then make",
		       p->place);
}
