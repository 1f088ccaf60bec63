/* SPDX-License-Identifier: MIT */
/* What a trace that is gone on with holds of its campaign. */
#ifndef WW_CONTROL_PAST_H
#define WW_CONTROL_PAST_H

#include "base/base.h"

struct ww_past {
	uint32_t last;	  /* number of the last cycle, 0 none */
	uint32_t done;	  /* cycles that ended by themselves, warm-ups apart */
	uint32_t warm;	  /* warm-ups that did */
	uint32_t stopped; /* cycles that did not */
	uint64_t seed;	  /* 0 none */
};

int ww_past_read(const char *path, struct ww_past *out, struct ww_error *err);

#endif
