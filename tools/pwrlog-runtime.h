/* SPDX-License-Identifier: MIT */
/* The options of pwrlog runtime. */
#ifndef TOOLS_PWRLOG_RUNTIME_H
#define TOOLS_PWRLOG_RUNTIME_H

#include "common.h"
#include "window.h"

#include <getopt.h>

#define POINTS 64

struct runtime_options {
	struct ww_runtime_options o;
	struct ww_runtime_point point[POINTS];
	struct tool_window window;
	const char *table, *table_unit, *channel;
	int form;
};

extern const struct option runtime_long_options[];
/* One option. @return 0, or TOOL_USAGE after it has said what is wrong */
int runtime_option(int c, char **argv, struct runtime_options *opt);

#endif
