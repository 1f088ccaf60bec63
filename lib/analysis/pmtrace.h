/* SPDX-License-Identifier: MIT */
/* A serial source of a trace as text. */
#ifndef WW_ANALYSIS_PMTRACE_H
#define WW_ANALYSIS_PMTRACE_H

#include "text/textin.h"

int ww_text_source(struct ww_trace *t, const struct ww_source_info *source, struct ww_text **out,
		   struct ww_error *err);

#endif
