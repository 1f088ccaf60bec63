/* SPDX-License-Identifier: MIT */
/* A maker's table of runtimes: loads down, models across, minutes in the cells. */
#ifndef WW_TEXT_RTTABLE_H
#define WW_TEXT_RTTABLE_H

#include "base/str.h"

#define WW_RT_MODELS 64
#define WW_RT_ROWS   1000

struct ww_runtime_table {
	char *name; /* of the file */
	char unit[4];
	size_t rows, models;
	char *model[WW_RT_MODELS];
	double *load;	 /* [rows], rising */
	double *minutes; /* [rows * models], row by row; NaN: none stated */
	double *step;	 /* likewise: last digit that is stated, minutes */
	bool clock;	 /* times such as 1:30 were taken as hours and minutes */
};

#endif
