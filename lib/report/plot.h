/* SPDX-License-Identifier: MIT */
/*
 * A picture of watts over time as SVG: readings, levels, and what happened when. No
 * script, no font and no address of anybody else; light and dark by the reader's choice.
 */
#ifndef WW_PLOT_H
#define WW_PLOT_H

#include "analysis/curve.h"
#include "base/str.h"

enum ww_plot_tone { WW_PLOT_FOUND, WW_PLOT_KNOWN, WW_PLOT_OPEN, WW_PLOT_TONES };

/* A line from one moment to another, +- a band. */
struct ww_plot_level {
	double t0, t1;
	double y0, y1; /* at these */
	double u;      /* half of the band; NaN none */
};

/* A vertical. */
struct ww_plot_event {
	double t_lo, t_hi;
	double weight;	     /* where not all labels find room, the greatest have theirs */
	const char *label;   /* short, beside the line; "" none */
	const char *tooltip; /* "" none */
	int tone;	     /* enum ww_plot_tone */
};

struct ww_plot {
	const char *title;
	const char *y_title;	/* "power, W" */
	const char *time_title; /* where there is no wall time; NULL: "time" */
	double t_lo, t_hi;	/* s since the trace's first record */
	/* Wall time of t = 0, where it is known. */
	bool wall;
	int64_t real_ns;
	int32_t offset_s;
	const char *zone; /* "UTC+01:00", "Europe/Berlin" */
	const struct ww_curve *curve;
	const struct ww_plot_level *level;
	size_t levels;
	const struct ww_plot_event *event;
	size_t events;
	const char *level_name; /* for the legend */
	const char *tone_name[WW_PLOT_TONES];
};

/* alone: a file of its own; otherwise a part of an HTML page. */
void ww_plot_svg(struct ww_str *s, const struct ww_plot *p, bool alone);

/* Text for XML and HTML, also inside of an attribute; what is not UTF-8 becomes U+FFFD. */
void ww_str_markup(struct ww_str *s, const char *text);

/* Where the ticks of an axis stand. */
#define WW_TICKS_MAX 24
struct ww_ticks {
	size_t n;
	double at[WW_TICKS_MAX];
	double step;
	int decimals;
};
/* Multiples of 1, 2 or 5 times a power of ten, no more than `most`. */
void ww_ticks_plain(struct ww_ticks *k, double lo, double hi, size_t most);
/*
 * Of time in s: steps of a clock (1 2 5 10 15 30 s, min; 1 2 3 6 12 h; days). shift: a
 * moment 0 of the axis is `shift` s after a midnight.
 */
void ww_ticks_time(struct ww_ticks *k, double lo, double hi, double shift, size_t most);

#endif
