/* SPDX-License-Identifier: MIT */
/* What the kernel said of the cycles found by beats; internal. */
#ifndef WW_ANALYSIS_RESUME_KERNEL_H
#define WW_ANALYSIS_RESUME_KERNEL_H

#include "analysis/kclock.h"
#include "analysis/pmwork.h"
#include "analysis/resume_input.h"

#define WW_KERNEL_DEVICES 200 /* of each cycle, kept */

/* A line of a console, as its cost needs it. */
struct ww_kernel_line {
	int64_t t_ns;
	uint32_t bytes;
	int32_t pid;
};

struct ww_kernel_cycle {
	struct ww_pm_cycle *c; /* a copy */
	struct ww_kernel_line *line;
	size_t lines;
	int64_t console_off_ns;
	size_t before, after; /* stretches of the clock; SIZE_MAX none */
	/* What beats and requests say of the offset, to sleep and back; each end may be open. */
	struct ww_interval tie[2];
	struct ww_interval begin, end; /* bench; lo > hi unknown */
	bool mine;		       /* told by a text that was read from the DUT */
	bool applied;		       /* its words are in the cycle's reason */
};

struct ww_kernel {
	struct ww_kclock clock;
	bool have_clock;
	struct ww_kernel_cycle *cycle;
	size_t n, cap;
	uint32_t *of; /* of each cycle of beats: index + 1, 0 none */
	struct ww_pm_console_sum sum;
	size_t lines;	    /* of all cycles, kept */
	uint64_t overruled; /* cycles that were ok after all */
};

/* Reads the console port, if there is one, and joins its cycles to those of r. */
int ww_kernel_read(struct ww_trace *t, struct ww_resume *r, const struct ww_resume_input *in,
		   struct ww_error *err);
/* Lines of the console for one more look at their cost: kept, and given back. */
int ww_kernel_keep_lines(struct ww_kernel *k, struct ww_kernel_cycle *kc,
			 const struct ww_pm_work *w, struct ww_error *err);
void ww_kernel_give_lines(const struct ww_kernel_cycle *kc, struct ww_pm_work *w);
/* r->kernel, also where there is no console. */
int ww_kernel_ready(struct ww_resume *r, struct ww_error *err);
/* Its begin and end on the bench's axis. */
void ww_kernel_place(const struct ww_kernel *k, struct ww_kernel_cycle *kc);
/* A cycle of the kernel's as one under construction again. NULL: no memory */
struct ww_pm_work *ww_pm_work_of(const struct ww_pm_cycle *c);
/* Results and reasons of r's cycles by the kernel's words; their events. */
int ww_kernel_apply(struct ww_resume *r, struct ww_error *err);
int ww_kernel_notes(const struct ww_resume *r, struct ww_notes *v, struct ww_error *err);
/* A stamp of kernel cycle k on the bench's axis. */
bool ww_kernel_at(const struct ww_kernel *kernel, const struct ww_kernel_cycle *k,
		  int64_t kernel_ns, struct ww_interval *out);
/* What the beats of cycle i say of its offset. */
void ww_kernel_tie(const struct ww_resume *r, size_t i, struct ww_kernel_cycle *kc);
/* Did the machine sleep, by the kernel's words? */
bool ww_kernel_slept(const struct ww_pm_cycle *c);
/* The same by the clock as it ran before its sleep, or after it. */
bool ww_kernel_at_side(const struct ww_kernel *kernel, const struct ww_kernel_cycle *k, bool after,
		       int64_t kernel_ns, struct ww_interval *out);
void ww_kernel_free(struct ww_kernel *k);

#endif
