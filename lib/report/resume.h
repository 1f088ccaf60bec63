/* SPDX-License-Identifier: MIT */
#ifndef WW_REPORT_RESUME_H
#define WW_REPORT_RESUME_H

#include "analysis/resume.h"

/* The report for people. */
int ww_resume_text(struct ww_str *s, const struct ww_resume *r, struct ww_error *err);
/* "stream", "drain", "reopen", NULL unknown. */
const char *ww_beat_mode_name(const struct ww_resume *r);

#endif
