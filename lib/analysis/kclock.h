/* SPDX-License-Identifier: MIT */
/*
 * The kernel's printk clock on the bench's axis, by the bytes of a console: the first byte of a
 * line cannot come before printk() stamped it. One rate, an offset for each waking stretch.
 * Lines that waited (a suspended console, a queue) came late: they bound the offset from above
 * alone, as all do; those that surely did not wait bound it from below, too.
 */
#ifndef WW_ANALYSIS_KCLOCK_H
#define WW_ANALYSIS_KCLOCK_H

#include "analysis/resume.h"
#include "text/kline.h"

#define WW_KLINE_BYTES 512 /* of a line, whose times are kept */

struct ww_kpoint {
	int64_t stamp_ns;
	int64_t lo_ns, hi_ns; /* first byte: what its own line's pace leaves of its interval */
	uint32_t bytes;
	bool idle; /* the line was idle before it */
};

struct ww_kclock {
	int64_t char_ns; /* 0 unknown */
	struct ww_skew all, good, part[WW_SKEW_PARTS];
	double alpha, u_alpha;
	/* Lines that are read and not yet given to a stretch. */
	struct ww_kpoint *wait;
	size_t waits, waits_cap;
	int64_t last_stamp;
	bool begins, fresh;
	bool part_begins[WW_SKEW_PARTS], good_begins;
	uint64_t points;
	/* The good ones of each stretch have an index of their own: SIZE_MAX none. */
	size_t *good_of;
	size_t good_cap;
	int64_t *floor_ns; /* last byte before each stretch: it began no earlier */
	size_t floor_cap;
	int64_t last_byte_ns;
	/* The line being read. */
	struct ww_kline_state *state;
	size_t n, total;
	uint8_t byte[WW_KLINE_BYTES];
	int64_t lo[WW_KLINE_BYTES], hi[WW_KLINE_BYTES];
	int64_t before_hi_ns; /* last byte of the line before */
};

int ww_kclock_init(struct ww_kclock *k, int64_t char_ns, struct ww_error *err);
/* The bytes of the console, as they come. */
int ww_kclock_feed(struct ww_kclock *k, const uint8_t *data, size_t n, const int64_t *lo,
		   const int64_t *hi, struct ww_error *err);
/* Lines stamped up to `stamp` belong to the stretch that runs now. @return its index */
int ww_kclock_until(struct ww_kclock *k, int64_t stamp_ns, size_t *stretch, struct ww_error *err);
/* The next line begins a new stretch: the machine slept, or (fresh) booted. */
void ww_kclock_slept(struct ww_kclock *k, bool fresh);
/* All that waits; then the rate. */
int ww_kclock_end(struct ww_kclock *k, struct ww_error *err);
/*
 * A stamp on the bench's axis; lo WW_TIME_MIN: not bounded from below.
 * @return false: nothing aligns them
 */
bool ww_kclock_at(const struct ww_kclock *k, size_t stretch, int64_t stamp_ns,
		  struct ww_interval *out);
void ww_kclock_free(struct ww_kclock *k);

#endif
