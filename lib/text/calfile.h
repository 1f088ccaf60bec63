/* SPDX-License-Identifier: MIT */
/* The file of a calibration: JSON, schema wakewatt/calibration/1. Pure. */
#ifndef WW_TEXT_CALFILE_H
#define WW_TEXT_CALFILE_H

#include "base/base.h"

/*
 * info->meter is malloc'ed text, NULL where there is none. Members that are missing and not
 * needed are NaN or 0. @return 0, -EINVAL with a sentence, -ENOMEM
 */
int ww_calfile_read(const char *name, const char *text, size_t n, struct ww_calibration_info *info,
		    char **meter, struct ww_error *err);

#endif
