/* SPDX-License-Identifier: MIT */
#include "report/plotimpl.h"

#include <math.h>
#include <stdio.h>

/* Shorter stretches are told in seconds since the first record. */
#define WALL_LEAST_S 20

static void y_axis(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p)
{
	struct ww_ticks k;
	char at[48];

	ww_ticks_plain(&k, f->y_lo, f->y_hi, 8);
	for (size_t i = 0; i < k.n; i++) {
		double y = ww_plot_y(f, k.at[i]);
		char text[350];

		ww_fixed_text(text, sizeof(text), k.at[i], k.decimals);
		ww_plot_line(s, "ww-grid", f->left, y, f->right, y);
		ww_plot_text(s, f->left - 8, y + 4, "text-anchor=\"end\"", text);
	}
	snprintf(at, sizeof(at), "transform=\"rotate(-90 16 %d)\"",
		 (int)((f->top + f->bottom) / 2));
	ww_str_addf(s, "<g %s>", at);
	ww_plot_text(s, 16, floor((f->top + f->bottom) / 2), "text-anchor=\"middle\"", p->y_title);
	ww_str_add(s, "</g>\n");
}

/* "2026-11-30" and "14:16:51.250" of a moment of the axis. */
static bool clock_of(const struct ww_plot *p, double t, char date[16], char day_time[16])
{
	struct ww_str text = {0};
	bool ok;

	date[0] = day_time[0] = '\0';
	ww_str_time(&text, p->real_ns + (int64_t)llround(t * 1e9), p->offset_s);
	if (!text.bad && text.n >= 23) {
		snprintf(date, 16, "%.10s", text.p);
		snprintf(day_time, 16, "%.12s", text.p + 11);
	}
	ok = !text.bad;
	ww_str_free(&text);
	return ok;
}

/* Seconds of the axis since a midnight at t = 0. */
static double since_midnight(const struct ww_plot *p)
{
	int64_t day = 86400 * WW_NS_PER_S;
	int64_t local = p->real_ns + (int64_t)p->offset_s * WW_NS_PER_S;

	return (double)(((local % day) + day) % day) / 1e9;
}

static void wall_axis(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p)
{
	struct ww_ticks k;
	char last[16] = "", title[128];

	ww_ticks_time(&k, f->t_lo, f->t_hi, since_midnight(p), 11);
	for (size_t i = 0; i < k.n; i++) {
		double x = ww_plot_x(f, k.at[i]);
		char date[16], time[16];

		if (!clock_of(p, k.at[i], date, time))
			s->bad = true;
		time[k.step < 60 ? 8 : 5] = '\0';
		ww_plot_line(s, "ww-grid", x, f->top, x, f->bottom);
		ww_plot_line(s, "ww-axis", x, f->bottom, x, f->bottom + 5);
		ww_plot_text(s, fmin(x, f->width - 28), f->bottom + 19, "text-anchor=\"middle\"",
			     k.step < 86400 ? time : date);
		/* The day, where it is a new one. */
		if (k.step < 86400 && strcmp(date, last) != 0)
			ww_plot_text(s, fmin(x, f->width - 38), f->bottom + 34,
				     "text-anchor=\"middle\" class=\"ww-quiet\"", date);
		memcpy(last, date, sizeof(last));
	}
	snprintf(title, sizeof(title), "time of day%s%s", p->zone && *p->zone ? ", " : "",
		 p->zone ? p->zone : "");
	ww_plot_text(s, (f->left + f->right) / 2, f->bottom + 50, "text-anchor=\"middle\"", title);
}

static void plain_axis(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p)
{
	static const struct {
		double least, seconds;
		const char *name;
	} units[] = {{86400, 86400, "d"}, {3600, 3600, "h"}, {60, 60, "min"}, {0, 1, "s"}};
	struct ww_ticks k;
	size_t u = 0;
	char title[64];

	ww_ticks_time(&k, f->t_lo, f->t_hi, 0, 11);
	while (k.step < units[u].least)
		u++;
	for (size_t i = 0; i < k.n; i++) {
		double x = ww_plot_x(f, k.at[i]), v = k.at[i] / units[u].seconds;
		char text[350];

		ww_fixed_text(text, sizeof(text), fabs(v) < 1e-12 ? 0 : v, k.decimals);
		ww_plot_line(s, "ww-grid", x, f->top, x, f->bottom);
		ww_plot_line(s, "ww-axis", x, f->bottom, x, f->bottom + 5);
		ww_plot_text(s, x, f->bottom + 19, "text-anchor=\"middle\"", text);
	}
	snprintf(title, sizeof(title), "%s, %s", p->time_title ? p->time_title : "time",
		 units[u].name);
	ww_plot_text(s, (f->left + f->right) / 2, f->bottom + 42, "text-anchor=\"middle\"", title);
}

void ww_plot_axes(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p)
{
	y_axis(s, f, p);
	if (p->wall && f->t_hi - f->t_lo >= WALL_LEAST_S)
		wall_axis(s, f, p);
	else
		plain_axis(s, f, p);
	ww_plot_line(s, "ww-axis", f->left, f->bottom, f->right, f->bottom);
	ww_plot_line(s, "ww-axis", f->left, f->top, f->left, f->bottom);
}
