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

/*
 * The same by descriptor, for what is written piece by piece: open, write to `fd`, close. What
 * stood there before stays until `good` is told, and for ever where it is not.
 * @return 0, or a negative errno
 */
struct tool_out {
	int fd;
	char *temporary, *real; /* NULL: written into what is there */
};
int tool_out_open(struct tool_out *o, const char *path);
int tool_out_close(struct tool_out *o, bool good);
/*
 * Says what went wrong: the library's sentence where there is one, in which "output" is this
 * file. @return TOOL_FAILED
 */
int tool_out_failed(const char *path, int rc, const struct ww_error *err);

/* Both names are there and mean one file: a picture must not take a trace's place. */
bool tool_same_file(const char *a, const char *b);
/* Two files to write are one, though neither may be there yet. */
bool tool_same_output(const char *a, const char *b);

#endif
