/* SPDX-License-Identifier: MIT */
/* The reader's inside: a text becomes lines, lines become events, events cycles. */
#ifndef WW_ANALYSIS_KERNLOG_H
#define WW_ANALYSIS_KERNLOG_H

#include "analysis/pmbuild.h"
#include "text/ftline.h"
#include "text/kline.h"
#include "text/textin.h"

enum {
	WW_KL_AHEAD = 16,
	WW_KL_LINE_MAX = 65536,
	WW_KL_HEAD = 65536,
	WW_KL_JOIN = 2048,
	WW_KL_NAME = 160
};

struct ww_kl_input {
	struct ww_text *text;
	struct ww_pmbuild *build;
	struct ww_kline_state *state;
	bool ftrace, decided, ended, opened;
	/* A line that a piece began and did not end; with the bench's times of its bytes. */
	char *carry;
	int64_t *carry_lo;
	size_t carry_n;
	bool carry_timed;
	/* What was read to tell what it is. */
	char *head;
	size_t head_n;
	/* All of it, where its lines run backwards. */
	bool reverse;
	char *all;
	size_t all_n, all_cap;
	/* The begin of a sentence that the next line may complete. */
	struct {
		bool any;
		int parts;
		size_t n;
		char text[WW_KL_JOIN];
		struct ww_pmev ev;
		struct ww_pm_in in;
		bool means; /* its first line means something by itself */
	} held;
	/* What it turned out to be. */
	uint64_t lines, kernel_stamps, host_stamps, tagged, events, graphs, lost, bare;
	int64_t host_res_ns;
	char kind[WW_KL_NAME];
	bool told_none, told_coarse;
	struct ww_error cut; /* why it ended before its end; code 0: it did not */
};

struct ww_kernlog {
	struct ww_kernlog_options opt;
	struct ww_kl_input *in;
	size_t n, turn;
	bool pair, over;
	/* Of a pair: suspends of each that were read ahead of their other. */
	struct ww_pm_work *ahead[2][WW_KL_AHEAD];
	size_t aheads[2];
	int64_t offset_ns; /* of the trace's clock to the text's, at the last pair's begin */
	bool joined;
	uint32_t alone; /* so many had no other */
	struct ww_pm_work *lent;
	uint32_t cycles;
	struct ww_pm_console_sum console;
	struct ww_notes notes;
};

/* --- kernlog_read.c */
int ww_kl_input_open(struct ww_kl_input *in, struct ww_text *text,
		     const struct ww_kernlog_options *opt, struct ww_error *err);
void ww_kl_input_close(struct ww_kl_input *in);
/* Read on until there is a cycle or the end. @return 1 a cycle, 0 the end */
int ww_kl_input_cycle(struct ww_kl_input *in, struct ww_pm_work **out, struct ww_error *err);
const char *ww_kl_input_kind(struct ww_kl_input *in);

/* --- kernlog_line.c: one line without its end; times: of each byte, or NULL */
int ww_kl_line(struct ww_kl_input *in, const char *line, size_t n, const int64_t *lo,
	       int64_t end_lo, int64_t end_hi, struct ww_error *err);
int ww_kl_flush(struct ww_kl_input *in, struct ww_error *err);
/* tell: so many lines say what it is. @return 1 it does, 0 not */
int ww_kl_looks_like_ftrace(const char *text, size_t n, size_t *tell, struct ww_error *err);

/* --- kernlog_pair.c: the next suspend of a pair, of both where both have it. @return 1, 0 */
int ww_kl_paired(struct ww_kernlog *k, struct ww_pm_work **out, struct ww_error *err);
struct ww_pm_work *ww_kl_ahead_take(struct ww_kernlog *k, size_t of); /* NULL none */
void ww_kl_ahead_free(struct ww_kernlog *k);

/* --- kernlog_reverse.c */
bool ww_kl_runs_backwards(const char *text, size_t n, struct ww_kline_state *s);
int ww_kl_reverse_keep(struct ww_kl_input *in, const char *p, size_t n, struct ww_error *err);
int ww_kl_reverse_feed(struct ww_kl_input *in, struct ww_error *err);

#endif
