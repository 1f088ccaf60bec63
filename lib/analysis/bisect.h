/* SPDX-License-Identifier: MIT */
/*
 * Good, bad or not decided yet, cycle by cycle, internal. A build is bad where more than
 * `part` of its cycles are slow (or fail). What is watched is a bet against the opposite: the
 * likelihood of what came under all parts on one side, mixed evenly, over that under `part`.
 * If the build is not on that side, this never grows beyond 1/a in more than a of all cases,
 * however often one looks (Ville 1939; Robbins, Ann. Math. Stat. 41, 1970): so cycles may be
 * added until it is decided.
 */
#ifndef WW_ANALYSIS_BISECT_H
#define WW_ANALYSIS_BISECT_H

#include "base/base.h"

/*
 * Natural logarithm of the bet that more (less) than `part` of the cycles are slow, k of n
 * having been so. 0 for n = 0.
 */
double ww_bet_more(uint64_t k, uint64_t n, double part);
double ww_bet_less(uint64_t k, uint64_t n, double part);

/* A cycle: not slow, slow, or not told apart from the threshold. */
enum ww_bet_cycle { WW_BET_FAST = 0, WW_BET_SLOW, WW_BET_EITHER };

struct ww_bet {
	double part, log_wanted; /* log(1/(1 - certainty)) */
	uint64_t n, slow, either;
	int verdict;	 /* enum ww_bisect_verdict, SKIP: not yet */
	uint64_t at;	 /* cycles when it was decided */
	double log_most; /* of the side that was decided, or that is ahead: best so far */
	bool both;	 /* later cycles said the opposite */
};

void ww_bet_begin(struct ww_bet *b, double part, double certainty);
void ww_bet_add(struct ww_bet *b, enum ww_bet_cycle c);
/* Cycles more, about, if they go on as they did; UINT64_MAX: too near to say. */
uint64_t ww_bet_more_cycles(const struct ww_bet *b);

#endif
