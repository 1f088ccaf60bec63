/* SPDX-License-Identifier: MIT */
/*
 * How much work a command did, from what it printed: inside of `struct ww_work`.
 * Pure: bytes in, an amount out.
 */
#ifndef WW_TEXT_WORK_H
#define WW_TEXT_WORK_H

#include "base/base.h"

#include <regex.h>

#define WW_WORK_LINE 4096 /* with its NUL: longer lines are cut */
#define WW_WORK_UNIT 32

/* A unit of work, and whether it is one of throughput. */
struct ww_work_unit {
	double factor;
	bool rate;
	bool known; /* bytes, bits or frames: not just any word */
	char name[WW_WORK_UNIT];
};

/* "MB/s" is 1e6, a rate, "B"; "frames" is 1, "frame". An empty text is a count. */
bool ww_work_unit(const char *text, size_t n, struct ww_work_unit *out);

/* What the separators of a number are. */
enum ww_work_number {
	WW_WORK_WHOLE,	/* a whole number: all of them divide groups of three */
	WW_WORK_DECIMAL /* at most one is the decimal point or comma */
};
/*
 * The number that begins p[n], and what a one in its last digit is worth (0 for a
 * whole number). @return bytes of it, 0 none, -1 it can be read in two ways
 */
int ww_work_number(const char *p, size_t n, enum ww_work_number form, double *value, double *place);

/* Amounts or rates that were found. */
struct ww_work_tally {
	uint64_t n;
	double sum, u2, logs;
	char unit[WW_WORK_UNIT];
};

struct ww_work {
	const struct ww_work_format *format; /* NULL: an expression */
	regex_t regex;
	bool last; /* the last of all counts, not all */

	/* the output so far; all of it goes at a reset */
	struct ww_work_seen {
		struct ww_work_tally amount, rate, table;
		char why[160]; /* what cannot be added up */
		uint64_t lines;
		double block;  /* openssl: size of the blocks it tells of */
		bool armed;    /* the next line is what was announced */
		char name[64]; /* openssl: the algorithm and operation of the first line */
		char what;     /* hdparm: 'c' cached, 'd' disk; openssl: 'm' several processes */
		size_t n;
		char line[WW_WORK_LINE];
	} seen;
	char unit[WW_WORK_UNIT], why[160]; /* lent to the caller */
};

/* A program whose output is known. */
struct ww_work_format {
	const char *name;
	void (*line)(struct ww_work_seen *s, const char *line);
	bool geometric; /* rates of different things: their geometric mean */
};
/* NULL where there is none of that name. */
const struct ww_work_format *ww_work_format(const char *name);

void ww_work_add(struct ww_work_seen *s, struct ww_work_tally *t, double value, double u,
		 const char *unit);
/* What keeps the whole from being said; the first one stays. */
void ww_work_complain(struct ww_work_seen *s, const char *why);

#endif
