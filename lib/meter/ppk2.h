/* SPDX-License-Identifier: MIT */
/* Parts of the PPK2's driver: its calibration, its words, its clock. */
#ifndef WW_METER_PPK2_H
#define WW_METER_PPK2_H

#include "meter/pace.h"

#define WW_PPK2_T_NS   INT64_C(10000) /* 100 000 samples a second */
#define WW_PPK2_RANGES 5

/* ----------------------------------------------- calibration (ppk2meta.c) */

struct ww_ppk2_cal {
	double r[WW_PPK2_RANGES], gs[WW_PPK2_RANGES], gi[WW_PPK2_RANGES], o[WW_PPK2_RANGES];
	double s[WW_PPK2_RANGES], i[WW_PPK2_RANGES], ug[WW_PPK2_RANGES];
	double vdd_mv, hw, ia; /* NaN: not told */
	unsigned lines, replaced;
	bool end;
	char first_replaced[24]; /* "R2: -nan" */
	char line[64];
	size_t line_n;
};

void ww_ppk2_defaults(struct ww_ppk2_cal *c);
/* A line of the metadata without its end; false: it is none. */
bool ww_ppk2_line(struct ww_ppk2_cal *c, const char *line);
/* The same from a stream of bytes. */
void ww_ppk2_meta_byte(struct ww_ppk2_cal *c, char byte);

/* Amperes of samples, with the averages that the maker's application takes at a range change. */
struct ww_ppk2_amps {
	double mult[WW_PPK2_RANGES], plus[WW_PPK2_RANGES];
	const struct ww_ppk2_cal *cal;
	bool any, filter;
	unsigned range, after, same;
	double mean, mean4;
};

void ww_ppk2_amps_init(struct ww_ppk2_amps *a, const struct ww_ppk2_cal *cal, double mv,
		       bool filter);
double ww_ppk2_amps(struct ww_ppk2_amps *a, uint32_t word);

/* -------------------------------------------------- its clock (ppk2clock.c) */

/*
 * Sample i was made at z + i * 10 µs for some z: no later than it came, and no more than
 * the longest wait before the port was last seen empty. Both bounds give way by the most
 * that two quartzes differ.
 */
struct ww_ppk2_clock {
	bool any;
	uint64_t next;	/* index of the next sample */
	int64_t zu, zl; /* bounds of z, as they are now */
	int64_t used_u,
		used_l;	    /* as they are aimed at: changed seldom, so that times are regular */
	int64_t is_u, is_l; /* as they are used: no jump may seem to be a hole */
	int64_t wait_ns;    /* longest wait of a sample before it comes */
	bool wait_told;
	int64_t last_lo, last_hi; /* times never go back */
	/* A loss of whole turns of the counter shows by the time alone. */
	uint64_t window_end;
	int64_t window_min, base, rise[3];
	unsigned strange;
	bool has_base;
};

void ww_ppk2_clock_init(struct ww_ppk2_clock *c);
/*
 * A read brought the next n samples in t. -> samples that vanished before them without a
 * sign in their counter (whole turns of it), 0 none; why is a constant.
 */
uint64_t ww_ppk2_clock_read(struct ww_ppk2_clock *c, struct ww_interval t, size_t n,
			    const char **why);
/* The next sample was made no earlier, and after the last one. */
int64_t ww_ppk2_clock_due(const struct ww_ppk2_clock *c);
/* The next sample's time. */
struct ww_interval ww_ppk2_clock_next(struct ww_ppk2_clock *c);
void ww_ppk2_clock_skip(struct ww_ppk2_clock *c, uint64_t lost);

/* -------------------------------------------------- its words (ppk2words.c) */

#define WW_PPK2_HELD 5
#define WW_PPK2_HUNT 12 /* words in sequence that prove an alignment */

static inline unsigned ww_ppk2_counter(uint32_t word)
{
	return word >> 18 & 63;
}

/* What the words of a stream turn out to be; implemented by ppk2.c. */
struct ww_ppk2_sink {
	void *ctx;
	void (*sample)(void *ctx, uint32_t word);
	/* n samples are missing here; why is a constant. */
	void (*lost)(void *ctx, uint64_t n, const char *why);
	void (*odd)(void *ctx, size_t n); /* words with a wrong counter, given all the same */
};

struct ww_ppk2_words {
	bool synced, was_synced;
	unsigned expect;
	uint8_t byte[4 * WW_PPK2_HUNT + 4]; /* of the word at hand, or of the hunt */
	size_t bytes;
	uint32_t held[WW_PPK2_HELD];
	size_t held_n;
	unsigned held_expect; /* counter that the first held one should have had */
	uint64_t dropped;     /* bytes since the alignment was lost */
};

void ww_ppk2_words_init(struct ww_ppk2_words *w);
void ww_ppk2_words_feed(struct ww_ppk2_words *w, const uint8_t *p, size_t n,
			const struct ww_ppk2_sink *sink);

#endif
