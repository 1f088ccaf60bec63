/* SPDX-License-Identifier: MIT */
/* The live line on a terminal: as wide as the terminal at most, redrawn in place. */
#ifndef TOOLS_LIVE_H
#define TOOLS_LIVE_H

#include "recording.h"

/* A terminal is there, and this program has it. */
bool live_here(void);
/* typed[n]: what was typed so far is shown at the end of the line. */
void live_draw(const struct recording *r, int64_t start_ns, const char *typed, size_t n);
void live_wipe(void);

#endif
