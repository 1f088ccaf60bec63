/* SPDX-License-Identifier: MIT */
/* What the cycles need of a trace, gathered once. */
#ifndef WW_ANALYSIS_RESUME_INPUT_H
#define WW_ANALYSIS_RESUME_INPUT_H

#include "analysis/resume.h"

struct ww_edge_list {
	struct ww_edge *e;
	size_t n, cap;
	const char *line, *other; /* source that they are of, and one that has the role too */
};

struct ww_resume_input {
	const struct ww_source_info *port, *console;
	const char *sign; /* what showed that it lived instead of a heartbeat; NULL: none */
	struct ww_edge_list off, woken, sleep;
	struct ww_gap *gap; /* of the port; reasons are copies */
	size_t gaps, gaps_cap;
};

int ww_resume_gather(struct ww_trace *t, const struct ww_resume_options *opt,
		     struct ww_resume_input *in, struct ww_error *err);
void ww_resume_input_free(struct ww_resume_input *in);
/* Read [from, to] of a serial source into a window, unclassified. */
int ww_resume_load(struct ww_trace *t, uint32_t source, int64_t from, int64_t to,
		   struct ww_window *w, struct ww_error *err);
/*
 * resume_control.c: a cycle without a heartbeat, by its marks, lines and console; its power
 * between them; and what is said of all.
 */
int ww_control_judge(const struct ww_cycle_in *in, const void *regex, struct ww_cycle_out *out,
		     struct ww_error *err);
int ww_control_notes(struct ww_resume *r, const char *sign, struct ww_error *err);
/* The notes of a finished analysis. */
int ww_resume_notes(struct ww_trace *t, struct ww_resume *r, const struct ww_resume_input *in,
		    struct ww_error *err);

#endif
