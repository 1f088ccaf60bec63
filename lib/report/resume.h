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
/* Energy of one of the kernel's phases in cycle i; false where no meter tells. */
bool ww_resume_span_energy(const struct ww_resume *r, size_t i, const struct ww_pm_span *p,
			   struct ww_quantity *q);
/* A latency of a cycle, nothing where it was not observed. */
void ww_resume_latency(struct ww_str *s, const struct ww_cycle_out *o, int latency);
/* "resume to user space" */
const char *ww_resume_words(int latency);
/* A line a cycle. */
void ww_resume_csv(struct ww_str *s, const struct ww_resume *r);
/* What the kernel says of cycle i: member "kernel"; nothing where it says nothing. */
void ww_resume_json_kernel(struct ww_json *j, const struct ww_resume *r, size_t i);
/* The same of all cycles together. */
void ww_resume_json_kernels(struct ww_json *j, const struct ww_resume *r);
/* What the DUT told of cycle i: member "dut"; nothing where it told nothing. */
void ww_resume_json_dut(struct ww_json *j, const struct ww_resume *r, size_t i);
void ww_resume_text_dut(struct ww_str *s, const struct ww_resume *r);
void ww_resume_json_worst(struct ww_json *j, const struct ww_resume *r);
bool ww_resume_has_kernel(const struct ww_resume *r);
void ww_resume_text_kernel(struct ww_str *s, const struct ww_resume *r);
void ww_resume_text_worst(struct ww_str *s, const struct ww_resume *r);
/* A bound from above, rounded up to three digits. */
void ww_resume_at_most(struct ww_str *s, double ms);

#endif
