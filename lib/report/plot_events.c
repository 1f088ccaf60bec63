/* SPDX-License-Identifier: MIT */
/*
 * Verticals, and their labels in lanes above the picture: the weightiest choose first,
 * so that what is left out is what matters least.
 */
#include "report/plotimpl.h"

#include <math.h>
#include <stdio.h>

#define TICK	   9
#define LABEL_MOST 30 /* characters; the tooltip has the rest */

double ww_plot_width(const char *text)
{
	double n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n * 7.2;
}

/* The label, cut; free it. */
static char *cut(const char *label)
{
	const unsigned char *p = (const unsigned char *)label;
	size_t left = strlen(label), n = 0, bytes = 0;
	char *out;

	while (bytes < left && n < LABEL_MOST) {
		size_t len = ww_utf8_len(p + bytes, left - bytes);

		bytes += len ? len : 1;
		n++;
	}
	out = malloc(bytes + 4);
	if (out)
		snprintf(out, bytes + 4, "%.*s%s", (int)bytes, label,
			 bytes < left ? "\xe2\x80\xa6" : "");
	return out;
}

struct place {
	size_t event;
	double weight;
	double x0, x1;
	size_t lane;
};

static int by_weight(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->event > y->event) - (x->event < y->event);
}

/* Labels stand right of their line, and left of it at the right edge. */
static bool flips(const struct ww_frame *f, double x, double width)
{
	return x + 4 + width > f->right + 8;
}

static void span_of(const struct ww_frame *f, const struct ww_plot_event *e, double width,
		    struct place *p)
{
	double x = ww_plot_x(f, (e->t_lo + e->t_hi) / 2);

	p->x0 = flips(f, x, width) ? x - 4 - width : x - 2;
	p->x1 = flips(f, x, width) ? x + 2 : x + 4 + width + 6;
}

/* The lowest lane in which it meets none of those placed before. */
static size_t free_lane(const struct place *placed, size_t n, const struct place *p)
{
	for (size_t lane = 0; lane < WW_PLOT_LANES_MAX; lane++) {
		bool clash = false;

		for (size_t i = 0; i < n && !clash; i++)
			clash = placed[i].lane == lane && p->x0 < placed[i].x1 &&
				placed[i].x0 < p->x1;
		if (!clash)
			return lane;
	}
	return WW_PLOT_NO_LANE;
}

size_t *ww_plot_lanes(struct ww_frame *f, const struct ww_plot *p)
{
	size_t *lane = calloc(p->events + 1, sizeof(*lane));
	struct place *place = calloc(p->events + 1, sizeof(*place));
	size_t placed = 0;

	f->t_lo = p->t_lo;
	f->t_hi = p->t_hi > p->t_lo ? p->t_hi : p->t_lo + 1;
	for (size_t i = 0; lane && place && i < p->events; i++)
		place[i] = (struct place){.event = i, .weight = p->event[i].weight};
	if (place)
		qsort(place, p->events, sizeof(*place), by_weight);
	for (size_t i = 0; lane && place && i < p->events; i++) {
		const struct ww_plot_event *e = &p->event[place[i].event];
		struct place try = place[i];
		char *text = cut(e->label);

		if (!text) {
			free(lane);
			lane = NULL;
			break;
		}
		lane[try.event] = WW_PLOT_NO_LANE;
		if (*text) {
			span_of(f, e, ww_plot_width(text), &try);
			try.lane = free_lane(place, placed, &try);
			lane[try.event] = try.lane;
		}
		free(text);
		/* Those placed gather at the front, where i has been already. */
		if (lane[try.event] != WW_PLOT_NO_LANE) {
			f->lanes = fmax(f->lanes, (double)try.lane + 1);
			place[placed++] = try;
		}
	}
	if (!place) {
		free(lane);
		lane = NULL;
	}
	free(place);
	return lane;
}

static void tooltip(struct ww_str *s, const char *text)
{
	if (!*text)
		return;
	ww_str_add(s, "<title>");
	ww_str_markup(s, text);
	ww_str_add(s, "</title>\n");
}

static void label(struct ww_str *s, const struct ww_frame *f, double x, double y, int tone,
		  const char *text)
{
	char *shown = cut(text), how[48];
	bool left = shown && flips(f, x, ww_plot_width(shown));

	s->bad = s->bad || !shown;
	snprintf(how, sizeof(how), "class=\"ww-%d\"%s", tone, left ? " text-anchor=\"end\"" : "");
	if (shown)
		ww_plot_text(s, left ? x - 4 : x + 4, y, how, shown);
	free(shown);
}

static double height(const struct ww_frame *f, size_t lane)
{
	return f->top - 6 - (double)lane * WW_PLOT_LANE;
}

size_t ww_plot_events(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p,
		      const size_t *lane)
{
	double drawn[WW_PLOT_TONES] = {-1, -1, -1};
	size_t unseen = 0;

	for (size_t i = 0; i < p->events; i++) {
		const struct ww_plot_event *e = &p->event[i];
		double x0 = ww_plot_x(f, e->t_lo), x1 = ww_plot_x(f, e->t_hi), x = (x0 + x1) / 2;
		bool has_lane = lane[i] != WW_PLOT_NO_LANE;

		unseen += *e->label && !has_lane;
		/* Two lines on one pixel are one; a picture stays small whatever the trace. */
		if (!has_lane && x - drawn[e->tone] < 0.5)
			continue;
		drawn[e->tone] = x;
		ww_str_addf(s, "<g class=\"ww-%d\">", e->tone);
		tooltip(s, e->tooltip);
		if (x1 - x0 > 1.5)
			ww_plot_rect(s, "ww-when", x0, f->top, x1 - x0, f->bottom - f->top);
		/* Where no label fits, lines would hide what they are about. */
		ww_plot_line(s, "", x, has_lane ? height(f, lane[i]) - 9 : f->bottom - TICK, x,
			     f->bottom);
		ww_str_add(s, "</g>\n");
	}
	/* Over all lines, so that none strikes a label out. */
	for (size_t i = 0; i < p->events; i++) {
		const struct ww_plot_event *e = &p->event[i];

		if (lane[i] != WW_PLOT_NO_LANE)
			label(s, f, ww_plot_x(f, (e->t_lo + e->t_hi) / 2), height(f, lane[i]),
			      e->tone, e->label);
	}
	return unseen;
}
