/* SPDX-License-Identifier: MIT */
/*
 * Edges of a GPIO line with the kernel's own stamps, one interface over
 * libgpiod 1.6 and 2.x. The stamps are CLOCK_MONOTONIC (CLOCK_REALTIME with
 * the first interface of kernels before 5.7); ww_gpio_shift moves them to the
 * axis of a trace.
 */
#ifndef WW_BUS_GPIO_H
#define WW_BUS_GPIO_H

#include "base/base.h"

struct ww_gpio;

enum ww_gpio_bias { WW_BIAS_AS_IS, WW_BIAS_OFF, WW_BIAS_UP, WW_BIAS_DOWN };

struct ww_gpio_line {
	const char *chip; /* "gpiochip0", "0", "/dev/gpiochip0" or the chip's label */
	const char *line; /* "17" or the line's name */
	enum ww_gpio_bias bias;
	bool active_low;
	int64_t debounce_ns; /* 0: none */
};

struct ww_gpio_edge {
	int64_t stamp_ns; /* as the kernel gave it */
	uint64_t seqno;	  /* counts this line's events from 1; 0 where the interface has none */
	int level;	  /* after the edge; 1 is active */
};

int ww_gpio_open(const struct ww_gpio_line *l, struct ww_gpio **out, struct ww_error *err);
void ww_gpio_close(struct ww_gpio *g); /* may be NULL */
int ww_gpio_fd(const struct ww_gpio *g);
/* What is waiting, at most max; 0 if nothing. Never blocks. Negative errno: gone. */
int ww_gpio_read(struct ww_gpio *g, struct ww_gpio_edge *edges, size_t max);
/* Level now, 0 or 1; negative errno. */
int ww_gpio_level(struct ww_gpio *g);
/* What the line is: "gpiochip0 17 \"WAKE\" (pinctrl-bcm2711)". */
const char *ww_gpio_text(const struct ww_gpio *g);

/* Where a line is, requested by nobody yet; for who drives it (drive.h). */
struct ww_gpio_place {
	char path[64]; /* "/dev/gpiochip0" */
	unsigned offset;
	bool used;	   /* it cannot be requested: a program or the kernel has it */
	bool output;	   /* as it is now */
	char consumer[40]; /* who has it, "" nobody or unknown */
	char text[160];	   /* as ww_gpio_text() */
};
int ww_gpio_find(const struct ww_gpio_line *l, struct ww_gpio_place *out, struct ww_error *err);

/* Of the chip at /dev/NAME: its label and number of lines. Opens it, requests nothing. */
int ww_gpio_chip(const char *name, char *label, size_t n, unsigned *lines);

/*
 * From the kernel's stamps to CLOCK_BOOTTIME. The two clocks differ by a
 * constant between two suspends of the bench; over one, by either constant, so
 * that a stamp from just then is as wide as the sleep.
 */
struct ww_gpio_clock {
	bool known;
	int64_t off_ns, width_ns;	  /* BOOTTIME - MONOTONIC now, and how well known */
	int64_t old_off_ns, old_width_ns; /* before the last suspend */
	int64_t old_until_ns;		  /* MONOTONIC up to which the old one surely held */
	int64_t new_from_ns;		  /* MONOTONIC from which the new one surely holds */
	int64_t seen_ns;		  /* MONOTONIC of the latest anchor */
};
/* An anchor taken now; call it before each batch and at least every few seconds. */
void ww_gpio_clock_anchor(struct ww_gpio_clock *c, const struct ww_anchor *a);
/*
 * Where on the axis a stamp lies. empty_ns: BOOTTIME at which no edge was
 * waiting, used where the stamp is of no clock that fits; a: anchor taken after
 * the read.
 */
struct ww_interval ww_gpio_shift(const struct ww_gpio_clock *c, const struct ww_anchor *a,
				 int64_t stamp_ns, int64_t empty_ns);

#endif
