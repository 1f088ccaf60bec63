/* SPDX-License-Identifier: MIT */
/* One self-contained page of suspends: of kernel logs, and of a recording's cycles. */
#ifndef WW_REPORT_PAGE_H
#define WW_REPORT_PAGE_H

#include "base/base.h"

/* Reads all cycles. @return their number */
int64_t ww_page_kernlog(struct ww_kernlog *k, const struct ww_page_options *opt, int fd,
			struct ww_error *err);
/* t: may be NULL */
int ww_page_resume(const struct ww_resume *r, struct ww_trace *t, const struct ww_page_options *opt,
		   int fd, struct ww_error *err);

#endif
