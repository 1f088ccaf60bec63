/* SPDX-License-Identifier: MIT */
/* Suspends as the kernel saw them: one after the other, each written as soon as it is known. */
#ifndef WW_REPORT_KERNLOG_H
#define WW_REPORT_KERNLOG_H

#include "analysis/resume.h"
#include "base/notes.h"
#include "base/str.h"

/* Where a report goes: what has come together is written when there is enough, or at once. */
struct ww_sink {
	int fd;
	struct ww_str s;
};

/* Write what there is if it is at least so much. Want of memory shows here. */
int ww_sink_flush(struct ww_sink *k, size_t least, struct ww_error *err);

/* ----------------------------------------------------- figures over cycles */

#define WW_KSUM_KEPT 128

/* Values of one thing over many cycles, in bounded memory. */
struct ww_ksum_values {
	uint64_t n;
	double sum, max, min;
	uint32_t max_cycle;
	uint32_t kept;
	uint32_t every; /* of so many one is kept, for the median */
	double v[WW_KSUM_KEPT];
};

struct ww_ksum_device {
	char *name, *driver;
	int phase;
	bool failed;
	uint64_t errors;
	int32_t error; /* the last one */
	struct ww_ksum_values ms, corrected, own;
};

enum ww_ksum_total {
	WW_KSUM_SUSPEND,
	WW_KSUM_RESUME,
	WW_KSUM_SLEPT,
	WW_KSUM_SUSPEND_CORRECTED,
	WW_KSUM_RESUME_CORRECTED,
	WW_KSUM_TOTALS
};

/* All values: few bytes a cycle. Of cycles that are ok or pm_test. */
struct ww_ksum_whole {
	struct ww_interval *v;
	size_t n, cap;
	uint64_t failures; /* that never came to this: +infinity */
	int64_t most;
	uint32_t most_cycle;
};

struct ww_ksum_reason {
	char *text;
	uint64_t n;
	uint32_t first;
};

struct ww_ksum {
	uint64_t cycles, results[WW_PM_RESULTS];
	struct ww_ksum_whole total[WW_KSUM_TOTALS];
	struct ww_ksum_values phase[WW_PM_PHASES];
	struct ww_ksum_device *device;
	size_t devices, cap;
	uint32_t *hash; /* index + 1 */
	size_t hash_n;
	struct ww_ksum_reason *reason;
	size_t reasons;
	uint64_t unheard; /* devices beyond what is kept */
	bool bad;
};

void ww_ksum_add(struct ww_ksum *s, const struct ww_pm_cycle *c);
/* Of what was kept; NaN without. */
double ww_ksum_median(const struct ww_ksum_values *v);
/* Device i of those that took most time over all cycles; NULL past the end. Sorts once. */
void ww_ksum_sort(struct ww_ksum *s);
void ww_ksum_free(struct ww_ksum *s);

/* "error -16 EBUSY" */
void ww_put_errno(struct ww_str *s, int error);
/* Why it ended as it did, as one phrase: "usb 1-1 in suspend: error -16". */
void ww_pm_why(struct ww_str *s, const struct ww_pm_cycle *c);
/* The same where no result stands before it. */
const char *ww_pm_why_alone(const struct ww_str *why);

/* The same for a column: "suspend -16 EBUSY: usb 1-1". */
void ww_pm_why_brief(struct ww_str *s, const struct ww_pm_cycle *c);
/* The callback that took longest; NULL none. */
const struct ww_pm_device *ww_pm_slowest(const struct ww_pm_cycle *c);

/* ----------------------------------------------------------- one cycle each */

/* The members of a cycle of wakewatt/kernlog/1 into an object that is open. */
void ww_kernlog_json_cycle(struct ww_json *j, const struct ww_pm_cycle *c);
void ww_kernlog_json_summary(struct ww_json *j, const char *key, struct ww_ksum *s, size_t top);
/* Everything on one cycle. top: devices told. */
void ww_kernlog_text_cycle(struct ww_str *s, const struct ww_pm_cycle *c, size_t top);
/* Its parts: the slowest callbacks, and what is no device. */
void ww_kernlog_text_devices(struct ww_str *s, const struct ww_pm_cycle *c, size_t top);
void ww_kernlog_text_others(struct ww_str *s, const struct ww_pm_cycle *c, size_t top);
/* The middle of a length; NaN where it has none. */
double ww_pm_ms(struct ww_interval t);
/* Is what the console cost worth a figure of its own? */
bool ww_pm_corrects(struct ww_interval t, struct ww_interval corrected);
/* A text of somebody else's, broken between words; further lines indented. */
void ww_pm_wrapped(struct ww_str *s, size_t indent, const char *head, const char *text);
/* A line a cycle; n 0: the heads of the columns. */
void ww_kernlog_text_head(struct ww_str *s);
void ww_kernlog_text_row(struct ww_str *s, const struct ww_pm_cycle *c);
/* who: behind "cycles", "" or " by the kernel" */
void ww_kernlog_text_summary(struct ww_str *s, const char *who, struct ww_ksum *sum, size_t top);
/* A line a device. */
void ww_kernlog_csv_head(struct ww_str *s);
void ww_kernlog_csv_cycle(struct ww_str *s, const struct ww_pm_cycle *c);

#endif
