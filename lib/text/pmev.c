// SPDX-License-Identifier: MIT
#include "text/pmev.h"

#include <string.h>

void ww_pmev_clear(struct ww_pmev *e)
{
	memset(e, 0, sizeof(*e));
	e->pid = -1;
	e->count = -1;
	e->dur_ns = WW_NO_TIME;
	e->utc_ns = WW_NO_TIME;
}
