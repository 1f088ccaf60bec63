/* SPDX-License-Identifier: MIT */
/* Inside of the parsers of ftrace's lines. */
#ifndef WW_TEXT_FTPARTS_H
#define WW_TEXT_FTPARTS_H

#include "text/ftline.h"
#include "base/str.h"

static inline struct ww_slice ww_cut(const char *p, const char *end)
{
	return (struct ww_slice){p, end > p ? (size_t)(end - p) : 0};
}

static inline const char *ww_skip_spaces(const char *p, const char *end)
{
	while (p < end && *p == ' ')
		p++;
	return p;
}

/* A decimal number of at most 9 digits. @return behind it, NULL none */
const char *ww_ft_number(const char *p, const char *end, int32_t *out);
/* "550.702681" to ns; "550702681000" as it is, bare. @return behind it, NULL none */
const char *ww_ft_time(const char *p, const char *end, struct ww_ftline *out);
/* "123.456", microseconds, to ns. @return behind it, NULL none */
const char *ww_ft_micros(const char *p, const char *end, int64_t *ns);
/* Behind the time: "EVENT: ARGS", and what else stands there. */
void ww_ft_event(const char *p, const char *end, struct ww_ftline *out);
/* ftgraph.c: a line of function graph, from its column of time on. @return is it one? */
bool ww_ft_graph(const char *p, const char *end, struct ww_ftline *out);
/* "! 123.4 us  |  func() {": the columns from the duration on. */
bool ww_ft_graph_body(const char *p, const char *end, struct ww_ftline *out);

#endif
