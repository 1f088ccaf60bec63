/* SPDX-License-Identifier: MIT */
#include "analysis/wall.h"

#include <stdio.h>

void ww_wall_read(struct ww_wall *w, const struct ww_trace *t)
{
	const char *zone = ww_trace_meta(t, "bench.timezone");
	const char *offset = ww_trace_meta(t, "bench.utc_offset_s");
	struct ww_interval span = ww_trace_span(t);

	*w = (struct ww_wall){.has_offset = offset != NULL};
	if (offset)
		w->offset_s = (int32_t)strtol(offset, NULL, 10);
	snprintf(w->zone, sizeof(w->zone), "%s", zone ? zone : "");
	w->known = ww_iv_ok(span) && ww_trace_wall(t, span.lo_ns, &w->real_ns) == 0;
}
