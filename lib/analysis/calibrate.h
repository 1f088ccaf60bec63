/* SPDX-License-Identifier: MIT */
#ifndef WW_ANALYSIS_CALIBRATE_H
#define WW_ANALYSIS_CALIBRATE_H

#include "base/notes.h"

struct ww_calibration {
	struct ww_calibration_info info;
	char *meter; /* what info.meter points to, or NULL */
	bool asked;  /* for a reading's correction */
	struct ww_quantity reading, corrected;
	struct ww_notes notes;
};

/* A known load and what the meter showed. */
struct ww_cal_point {
	double x, ux; /* reference, W */
	double y, uy; /* reading, W */
};

/* y = offset + gain x */
struct ww_cal_line {
	struct ww_quantity offset, gain;
	double cov, chi2;
};

/*
 * York's unified equations (Am. J. Phys. 72, 367, 2004) for errors in both that do not
 * depend on each other; with ux = 0 weighted least squares. Two points at least, not all
 * at one x. @return 0, -EINVAL
 */
int ww_cal_york(const struct ww_cal_point *p, size_t n, struct ww_cal_line *out);

#endif
