/* SPDX-License-Identifier: MIT */
/*
 * How long each cycle took, as a picture without a script: a dot a cycle in their order,
 * failures in a band above, and beside them how many lie where. Places across are per cent.
 */
#include "report/page.h"
#include "report/plot.h"

#include <math.h>

#define TOP    26 /* band of those that never ended */
#define BOTTOM 240
#define HEIGHT 268
#define RIGHT  82.0 /* per cent; numbers stand left of 0, where the style leaves room */
#define HIST   84.0
#define BINS   36

struct scale {
	double lo, hi;
};

static double y_of(const struct scale *k, double ms)
{
	double part = (ms - k->lo) / (k->hi - k->lo);

	return BOTTOM - fmin(fmax(part, 0), 1) * (BOTTOM - TOP - 8);
}

static double x_of(const struct ww_page *p, size_t i)
{
	return RIGHT * ((double)i + .5) / (double)p->cycles;
}

static void num(struct ww_str *s, const char *name, double v, const char *unit)
{
	ww_str_addf(s, " %s=\"", name);
	ww_str_fixed(s, v, 2);
	ww_str_addf(s, "%s\"", unit);
}

static void ticks(struct ww_str *s, const struct scale *k)
{
	struct ww_ticks t;

	ww_ticks_plain(&t, k->lo, k->hi, 6);
	for (size_t i = 0; i < t.n; i++) {
		double y = y_of(k, t.at[i]);

		if (t.at[i] < k->lo || t.at[i] > k->hi)
			continue;
		ww_str_add(s, "<line class=\"grid\"");
		num(s, "x1", 0, "%");
		num(s, "x2", 100, "%");
		num(s, "y1", y, "");
		num(s, "y2", y, "");
		ww_str_add(s, "/><text class=\"tick\" text-anchor=\"end\" x=\"-6\"");
		num(s, "y", y + 4, "");
		ww_str_add(s, ">");
		ww_str_fixed(s, t.at[i], t.decimals);
		ww_str_add(s, "</text>\n");
	}
}

/* The median and where it may lie. */
static void middle(struct ww_str *s, const struct scale *k, const struct ww_latency_summary *m)
{
	double hi = isfinite(m->median_ci[1]) ? m->median_ci[1] : k->hi;
	double lo = isfinite(m->median_ci[0]) ? m->median_ci[0] : k->lo;

	if (!isfinite(m->median))
		return;
	if (isfinite(m->median_ci[0]) || isfinite(m->median_ci[1])) {
		ww_str_add(s, "<rect class=\"ci\"");
		num(s, "x", 0, "%");
		num(s, "width", RIGHT, "%");
		num(s, "y", y_of(k, hi), "");
		num(s, "height", fmax(y_of(k, lo) - y_of(k, hi), 1), "");
		ww_str_add(s, "/>");
	}
	ww_str_add(s, "<line class=\"median\"");
	num(s, "x1", 0, "%");
	num(s, "x2", 100, "%");
	num(s, "y1", y_of(k, m->median), "");
	num(s, "y2", y_of(k, m->median), "");
	ww_str_add(s, "/>\n");
}

static void dot(struct ww_str *s, const struct ww_page *p, const struct scale *k, size_t i)
{
	const struct ww_page_cycle *c = &p->cycle[i];
	struct ww_interval v = c->value[p->main];
	double ms = ww_pm_ms(v), x = x_of(p, i);
	struct ww_str text = {0};
	bool placed = !isnan(ms) && !c->bad;

	ww_page_value(&text, c, p->main);
	/* A link also without a script; with one, the picture of that cycle. */
	ww_str_addf(s, "<a href=\"#cycle-%u\" tabindex=\"-1\"><title>cycle %u: ", (unsigned)c->n,
		    (unsigned)c->n);
	ww_str_markup(s, c->result);
	if (text.n)
		ww_str_addf(s, ", %s ms", text.p);
	ww_str_add(s, "</title>");
	if (placed && v.hi_ns > v.lo_ns && p->cycles <= 200) {
		ww_str_add(s, "<line class=\"whisker\"");
		num(s, "x1", x, "%");
		num(s, "x2", x, "%");
		num(s, "y1", y_of(k, (double)v.hi_ns / 1e6), "");
		num(s, "y2", y_of(k, (double)v.lo_ns / 1e6), "");
		ww_str_add(s, "/>");
	}
	if (placed) {
		ww_str_add(s, "<circle class=\"dot\" r=\"3.5\"");
		num(s, "cx", x, "%");
		num(s, "cy", y_of(k, ms), "");
		ww_str_add(s, "/>");
	} else { /* a cross is told from a dot without its colour */
		ww_str_addf(s, "<svg class=\"%s\" overflow=\"visible\" y=\"%d\"",
			    c->bad ? "cross" : "unknown", TOP / 2);
		num(s, "x", x, "%");
		ww_str_add(s, "><path d=\"M-4-4L4 4M-4 4L4-4\"/></svg>");
	}
	ww_str_add(s, "</a>\n");
	s->bad = s->bad || text.bad;
	ww_str_free(&text);
}

static void histogram(struct ww_str *s, const struct ww_page *p, const struct scale *k)
{
	size_t n[BINS] = {0}, most = 1, bins;

	bins = (size_t)fmin(fmax(ceil(2.2 * cbrt((double)p->cycles)), 6), BINS);

	for (size_t i = 0; i < p->cycles; i++) {
		double ms = ww_pm_ms(p->cycle[i].value[p->main]);
		double part = (ms - k->lo) / (k->hi - k->lo) * (double)bins;
		size_t b;

		if (isnan(ms) || p->cycle[i].bad || part < 0)
			continue;
		b = part >= (double)bins ? bins - 1 : (size_t)part;
		n[b]++;
		most = n[b] > most ? n[b] : most;
	}
	for (size_t b = 0; b < bins; b++) {
		double h = (BOTTOM - TOP - 8.0) / (double)bins;

		if (!n[b])
			continue;
		ww_str_addf(s, "<rect class=\"hist\"");
		num(s, "x", HIST, "%");
		num(s, "width", (100 - HIST) * (double)n[b] / (double)most, "%");
		num(s, "y", BOTTOM - h * (double)(b + 1), "");
		num(s, "height", h - 1, "");
		ww_str_addf(s, "><title>%zu cycle%s</title></rect>\n", n[b], n[b] == 1 ? "" : "s");
	}
}

static bool limits(const struct ww_page *p, struct scale *k)
{
	double room;

	*k = (struct scale){INFINITY, -INFINITY};
	for (size_t i = 0; i < p->cycles; i++) {
		double ms = ww_pm_ms(p->cycle[i].value[p->main]);

		if (isnan(ms) || p->cycle[i].bad)
			continue;
		k->lo = fmin(k->lo, (double)p->cycle[i].value[p->main].lo_ns / 1e6);
		k->hi = fmax(k->hi, (double)p->cycle[i].value[p->main].hi_ns / 1e6);
	}
	if (k->lo > k->hi)
		return false;
	room = fmax(.06 * (k->hi - k->lo), 1e-3 * k->hi + 1e-6);
	k->lo = fmax(k->lo - room, 0);
	k->hi += room;
	return true;
}

void ww_page_dots(struct ww_str *s, const struct ww_page *p)
{
	struct scale k;
	size_t step = 1;

	if (p->main < 0 || !limits(p, &k)) {
		ww_str_add(s, "<p>No cycle has a time that could be drawn.</p>\n");
		return;
	}
	ww_str_addf(s,
		    "<svg id=\"dots\" width=\"100%%\" height=\"%d\" role=\"img\" "
		    "aria-label=\"%s of each cycle, ms\">\n",
		    HEIGHT, p->figure[p->main].words);
	if (p->bad)
		ww_str_addf(s,
			    "<rect class=\"band\" width=\"%d%%\" height=\"%d\"/><text "
			    "class=\"tick\" x=\"-6\" y=\"17\" text-anchor=\"end\">failed</text>\n",
			    (int)RIGHT, TOP);
	ticks(s, &k);
	middle(s, &k, &p->figure[p->main].sum);
	for (size_t i = 0; i < p->cycles; i++)
		dot(s, p, &k, i);
	histogram(s, p, &k);
	for (size_t n = 0; p->cycles / step > 8; n++) /* 1, 2, 5, 10 ... */
		step = n % 3 == 1 ? step / 2 * 5 : 2 * step;
	for (size_t i = 0; i < p->cycles; i++) {
		if (p->cycle[i].n % step)
			continue;
		ww_str_addf(s, "<text class=\"tick\" text-anchor=\"middle\" y=\"%d\"", BOTTOM + 18);
		num(s, "x", x_of(p, i), "%");
		ww_str_addf(s, ">%u</text>", (unsigned)p->cycle[i].n);
	}
	ww_str_add(s, "\n</svg>\n");
}
