/* SPDX-License-Identifier: MIT */
/* What each line of a cycle cost on a synchronous console; internal. */
#ifndef WW_ANALYSIS_PMCONSOLE_H
#define WW_ANALYSIS_PMCONSOLE_H

#include "analysis/pmwork.h"

/* A FIFO may hold a line's end when its writer goes on: shorter than this is no waiting. */
#define WW_PM_TOO_FAST .9
#define WW_PM_PACE     .97 /* of a line's own time: no distance is shorter */

enum ww_pm_sent_state { WW_PM_SENT_OPEN = 0, WW_PM_SENT_FAST, WW_PM_SENT_BOUND };

/* A line that the kernel's console sent. */
struct ww_pm_sent {
	int64_t t_ns;
	int64_t any_ns, own_ns; /* from it to the next line, and to the next one of its task */
	double wire_ns;		/* time of its bytes */
	double lo_ns, hi_ns;	/* what it cost whoever printed it */
	uint32_t bytes, at;	/* at: index among the cycle's lines */
	uint32_t device;	/* index + 1: it is the call of this device */
	int32_t pid;
	uint8_t state;	   /* enum ww_pm_sent_state */
	uint8_t asleep;	   /* the console was suspended */
	uint8_t alone;	   /* no other task was in a callback */
	uint8_t next_free; /* the next line's task is unknown too */
};

struct ww_pm_sum {
	double *kept;		 /* what one CPU was kept for it, at most */
	double *all_hi;		 /* of each line before: at most */
	double *alone;		 /* at least, of those that nobody else's work could hide */
	double *free_hi;	 /* of lines of an unknown task: at most */
	double *free_lo;	 /* and what surely belongs to the one callback that ran */
	double *pid_lo, *pid_hi; /* in the order of by_pid */
};

struct ww_pm_sent_lines {
	struct ww_pm_sent *line; /* by time */
	size_t n;
	uint32_t baud;	/* 0: none found */
	int proof;	/* enum ww_pm_proof; with UNKNOWN and NONE no line has a cost */
	double over_ns; /* of a line, beside its bytes */
	uint64_t bound, judged;
	uint32_t *by_pid; /* indices by task and time */
	uint32_t *call;	  /* of each device: index + 1 of its call */
	double *block;
	struct ww_pm_sum sum;
};

/* Their costs. @return false: no memory */
bool ww_pm_sent_cost(const struct ww_pm_work *w, uint32_t baud, struct ww_pm_sent_lines *out);
void ww_pm_sent_free(struct ww_pm_sent_lines *l);
/* First line at or after t. */
size_t ww_pm_sent_from(const struct ww_pm_sent_lines *l, int64_t t_ns);
/* Sums of a task's lines from a to before b, in lines. */
void ww_pm_sent_of(const struct ww_pm_sent_lines *l, int32_t pid, size_t a, size_t b, double *lo,
		   double *hi);
/*
 * Did the writers of these lines wait until they were sent, and at which rate? told: the rate, 0
 * to be found; written: a console was there.
 * @return the rate, 0 none
 */
uint32_t ww_pm_prove(const struct ww_pm_sent *line, size_t n, uint32_t told, bool written,
		     int *proof);
/* Rate of a line by the time of a character; 0 unknown. */
uint32_t ww_pm_rate(double char_ns);
/* Is this distance just the time of so many bytes? */
bool ww_pm_sent_bound(double ns, double wire_ns);

#endif
