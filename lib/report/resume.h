/* SPDX-License-Identifier: MIT */
#ifndef WW_REPORT_RESUME_H
#define WW_REPORT_RESUME_H

#include "analysis/resume.h"

/* Columns of a terminal that a report fits. */
#define WW_RESUME_WIDTH 100

/* The report for people. */
int ww_resume_text(struct ww_str *s, const struct ww_resume *r, struct ww_error *err);
/* "stream", "drain", "reopen", NULL unknown. */
const char *ww_beat_mode_name(const struct ww_resume *r);

/* Latencies in the order in which they happen. */
struct ww_resume_column {
	int latency;
	const char *head;
};
extern const struct ww_resume_column ww_resume_order[WW_LAT_COUNT];

/* Its tables: a row a cycle. */
int ww_resume_tables(struct ww_str *s, const struct ww_resume *r, struct ww_error *err);
/* Does a latency say what others of the report say already? */
bool ww_resume_repeats(const struct ww_resume *r, int latency);
/* Bounds and no more: rounded outwards to three digits. */
void ww_resume_bound(struct ww_str *s, double lo, double hi);
/* Milliseconds: middle and half-width with the digits that it has, or a bound. */
void ww_resume_ms(struct ww_str *s, struct ww_interval t);
/* A latency of a cycle, nothing where it was not observed. */
void ww_resume_latency(struct ww_str *s, const struct ww_cycle_out *o, int latency);
/* "resume to user space" */
const char *ww_resume_words(int latency);
/* A bound from above, rounded up to three digits. */
void ww_resume_at_most(struct ww_str *s, double ms);

#endif
