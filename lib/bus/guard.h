/* SPDX-License-Identifier: MIT */
/*
 * The guard: a process of its own that holds a line while it is driven, times a pulse
 * by the kernel's clock, and puts the line back: when the time is over, when it is told,
 * and when our process ends by whatever signal.
 */
#ifndef WW_BUS_GUARD_H
#define WW_BUS_GUARD_H

#include "bus/drive.h"
#include "bus/worker.h"

/* How long a line may be driven without being asked for explicitly: see ww_pulse_judge(). */
#define WW_PULSE_LONG_NS (3 * WW_NS_PER_S)

enum ww_pulse_stage {
	WW_PULSE_ON = 1, /* it is driven now */
	WW_PULSE_OVER,	 /* it was, and is put back */
	WW_PULSE_CUT,	 /* likewise, before its time */
	WW_PULSE_FAILED
};

/* What the guard says. Times are CLOCK_BOOTTIME right before and after the call. */
struct ww_pulse {
	int32_t stage;
	int32_t code;  /* FAILED: negative errno */
	int32_t taken; /* FAILED: 0 while it was taken, 1 when it was set, 2 when put back */
	int32_t input; /* it was an input */
	int32_t level; /* and at this level */
	uint32_t id;   /* of the order */
	struct ww_interval on, off;
};

struct ww_guard {
	struct ww_worker worker;
	uint32_t id; /* of the newest order: only what is said of it is heard */
};

/* Starts the process; it waits for orders. */
int ww_guard_start(struct ww_guard *g, struct ww_error *err);
/*
 * Drive a line for a time, 0: until ww_guard_back(). fd: a tty that is lent, -1 none; it
 * is closed there once the line is back.
 */
int ww_guard_drive(struct ww_guard *g, const struct ww_drive *d, int fd, int64_t for_ns);
int ww_guard_back(struct ww_guard *g);
/* What it said. @return 1, -EAGAIN nothing, 0 it is gone */
int ww_guard_hear(struct ww_guard *g, struct ww_pulse *out);
/* Puts back what it drives and ends. */
void ww_guard_end(struct ww_guard *g);

/* Least and greatest time that it was driven. */
struct ww_interval ww_pulse_length(const struct ww_pulse *p);
/* May it take as long as it could become? 3 s at least are refused without `hold`. */
int64_t ww_pulse_most(int64_t asked_ns);

#endif
