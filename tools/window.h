/* SPDX-License-Identifier: MIT */
/* A stretch of a trace: --from, --to and --between. */
#ifndef TOOLS_WINDOW_H
#define TOOLS_WINDOW_H

#include "common.h"

/* As typed; NULL: not given. */
struct tool_window {
	const char *from, *to, *between;
};

/* On the axis; WW_TIME_MIN and WW_TIME_MAX where open. */
struct tool_span {
	int64_t from_ns, to_ns;
};

/* Lines of a help text. */
#define TOOL_WINDOW_HELP                                                                           \
	"  --from T, --to T      only this stretch; T counts from the first record (90s,\n"        \
	"                        1m30s), or back from the last one (-90s)\n"                       \
	"  --between MARK,MARK   from the end of one mark to the beginning of another\n"

/* What is wrong whatever the trace. @return 0, or TOOL_USAGE after it has said it */
int tool_window_check(const struct tool_window *w);
/*
 * Look it up in a trace. A stretch that holds nothing is a mistake, and better said
 * than printed. @return 0, TOOL_USAGE or TOOL_FAILED after it has said why
 */
int tool_window_find(struct ww_trace *t, const struct tool_window *w, struct tool_span *out);

#endif
