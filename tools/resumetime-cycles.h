/* SPDX-License-Identifier: MIT */
/* Files of cycles, for the commands that look at many: recordings, kernel logs, ftrace. */
#ifndef TOOLS_RESUMETIME_CYCLES_H
#define TOOLS_RESUMETIME_CYCLES_H

#include "common.h"

struct tool_cycles_options {
	struct ww_resume_options resume;
	struct ww_kernlog_options kernlog;
};

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
