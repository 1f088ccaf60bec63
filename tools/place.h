/* SPDX-License-Identifier: MIT */
/* What was named: a meter, or a serial port. */
#ifndef TOOLS_PLACE_H
#define TOOLS_PLACE_H

#include "common.h"

/*
 * -m: has its driver. @return TOOL_OK, or TOOL_USAGE after it has asked which meter it is
 */
int place_meter(const char *uri);
/* -p: a serial port; `option`: where another source is named, NULL nowhere. @return likewise */
int place_port(const char *uri, const char *option);

#endif
