/* SPDX-License-Identifier: MIT */
/* Files that a program writes beside its report. */
#ifndef TOOLS_OUTFILE_H
#define TOOLS_OUTFILE_H

#include "common.h"

/*
 * Write a text to a file, whole or not at all: what stood there before stays where the
 * disk is full. A pipe or a device is written to as it is. Frees the text.
 * @return TOOL_OK, or TOOL_FAILED after it has said why
 */
int tool_write_file(const char *path, char *text);

/* Both names are there and mean one file: a picture must not take a trace's place. */
bool tool_same_file(const char *a, const char *b);

#endif
