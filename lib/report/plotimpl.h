/* SPDX-License-Identifier: MIT */
/* Inside of ww_plot_svg(). */
#ifndef WW_PLOTIMPL_H
#define WW_PLOTIMPL_H

#include "report/plot.h"

/* Where the axes lie, in user units, and what they span. */
struct ww_frame {
	double width, height;
	double left, right, top, bottom;
	double t_lo, t_hi, y_lo, y_hi;
	double lanes; /* rows of labels above the picture */
};

#define WW_PLOT_LANE	  15.0 /* height of one */
#define WW_PLOT_LANES_MAX 4
#define WW_PLOT_NO_LANE	  SIZE_MAX

double ww_plot_x(const struct ww_frame *f, double t);
double ww_plot_y(const struct ww_frame *f, double v);
void ww_plot_line(struct ww_str *s, const char *class, double x0, double y0, double x1, double y1);
void ww_plot_rect(struct ww_str *s, const char *class, double x, double y, double w, double h);
void ww_plot_text(struct ww_str *s, double x, double y, const char *attributes, const char *text);
/* Width of a text at 12 px, rather too much than too little: there is no font to ask. */
double ww_plot_width(const char *text);

void ww_plot_axes(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p);
/*
 * The lane of each event's label, WW_PLOT_NO_LANE where there is no room; sets
 * f->lanes. NULL without memory.
 */
size_t *ww_plot_lanes(struct ww_frame *f, const struct ww_plot *p);
/* @return labels left out */
size_t ww_plot_events(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p,
		      const size_t *lane);

#endif
