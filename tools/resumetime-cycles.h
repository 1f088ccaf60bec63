/* SPDX-License-Identifier: MIT */
/* Files of cycles, for the commands that look at many: recordings, kernel logs, ftrace. */
#ifndef TOOLS_RESUMETIME_CYCLES_H
#define TOOLS_RESUMETIME_CYCLES_H

#include "common.h"

struct tool_cycles_options {
	struct ww_resume_options resume;
	struct ww_kernlog_options kernlog;
};

/* What each of them takes: --port, --console, --baud, --no-console. */
enum { CYCLES_PORT = 0x200, CYCLES_CONSOLE, CYCLES_BAUD, CYCLES_NO_CONSOLE };
/* @return -1 taken, -2 not one of these, else the exit status */
int tool_cycles_take(int c, const char *text, struct tool_cycles_options *opt);

/*
 * All cycles of an operand: a recording (with its kernel's, by its console), a kernel log or
 * ftrace; several joined by '+' ("slow.wwt+trace.dat") tell of the same cycles.
 * @return 0, or TOOL_FAILED after it has said why
 */
int tool_cycles_add(struct ww_cycleset *s, const char *operand,
		    const struct tool_cycles_options *opt);
/* Whether that file is among those of an operand: it must not be written to then. */
bool tool_cycles_reads(const char *operand, const char *path);
/* Name of an operand for reports: its file's, without folder and ending; malloc'ed. */
char *tool_cycles_name(const char *operand);

#endif
