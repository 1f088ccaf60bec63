/* SPDX-License-Identifier: MIT */
#ifndef WW_TRACE_COPY_H
#define WW_TRACE_COPY_H

#include "base/base.h"

/* Meta, but what is the writer's own, and anchors. */
int ww_copy_heads(const struct ww_trace *t, struct ww_writer *w, struct ww_error *err);
/* Rows of source `id` to source `to` of the writer. @return rows, or negative */
int64_t ww_copy_rows(struct ww_trace *t, uint32_t id, uint32_t to, struct ww_writer *w,
		     struct ww_error *err);

#endif
