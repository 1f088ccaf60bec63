/* SPDX-License-Identifier: MIT */
/*
 * A cycle's time line as a picture without a script. Places are per cent of the width, so
 * that its text keeps its size on any screen.
 */
#include "report/length.h"
#include "report/page.h"
#include "report/plot.h"

#include <math.h>
#include <stdio.h>

enum {
	TICKS = 18,
	CAPTION = 15,
	EVENT = 14,
	SERIAL = 24,
	PHASE = 20,
	LANE = 17,
	WATTS = 64,
	GAP = 6
};
#define NAME_WIDE   0.017 /* of a character on a narrow screen, of the width */
#define LABEL_LEAST 0.05  /* of the width: narrower bars have no name in them */

struct canvas {
	struct ww_str *s;
	const struct ww_page *p;
	const struct ww_page_cycle *c;
	size_t i;
	int y;
};

static void num(struct ww_str *s, const char *name, double v, const char *unit)
{
	ww_str_addf(s, " %s=\"", name);
	ww_str_fixed(s, v, 2);
	ww_str_addf(s, "%s\"", unit);
}

static double clip(double u)
{
	return u < 0 ? 0 : u > 1 ? 1 : u;
}

static double at(const struct canvas *k, int64_t t)
{
	return clip(ww_page_u(&k->c->axis, t));
}

static void text_at(struct canvas *k, double u, int y, const char *class, const char *anchor,
		    const char *text)
{
	ww_str_addf(k->s, "<text class=\"%s\"", class);
	num(k->s, "x", 100 * u, "%");
	ww_str_addf(k->s, " y=\"%d\"%s%s%s>", y, *anchor ? " text-anchor=\"" : "", anchor,
		    *anchor ? "\"" : "");
	ww_str_markup(k->s, text);
	ww_str_add(k->s, "</text>\n");
}

static void line(struct canvas *k, const char *class, double u, int y0, int y1)
{
	ww_str_addf(k->s, "<line class=\"%s\"", class);
	num(k->s, "x1", 100 * u, "%");
	num(k->s, "x2", 100 * u, "%");
	ww_str_addf(k->s, " y1=\"%d\" y2=\"%d\"/>\n", y0, y1);
}

static void caption(struct canvas *k, const char *a, const char *b)
{
	struct ww_str t = {0};

	ww_str_addf(&t, "%s%s", a, b);
	k->s->bad = k->s->bad || t.bad;
	text_at(k, 0, k->y + 11, "cap", "", t.p ? t.p : "");
	k->y += CAPTION;
	ww_str_free(&t);
}

/* A bar and, where there is room, its name, cut off where the bar ends. */
static void bar(struct canvas *k, const char *class, double a, double b, int y, int height,
		const char *name, const char *tip)
{
	ww_str_addf(k->s, "<g class=\"%s\"><title>", class);
	ww_str_markup(k->s, tip);
	ww_str_add(k->s, "</title><rect");
	num(k->s, "x", 100 * a, "%");
	num(k->s, "width", fmax(100 * (b - a), .12), "%");
	ww_str_addf(k->s, " y=\"%d\" height=\"%d\"/>", y, height);
	if (b - a >= LABEL_LEAST) {
		ww_str_add(k->s, "<svg");
		num(k->s, "x", 100 * a, "%");
		num(k->s, "width", 100 * (b - a), "%");
		ww_str_addf(k->s, " y=\"%d\" height=\"%d\"><text x=\"4\" y=\"%d\">", y, height,
			    height - 5);
		ww_str_markup(k->s, name);
		ww_str_add(k->s, "</text></svg>");
	}
	ww_str_add(k->s, "</g>\n");
}

/* ---- axis ---- */

static double step_for(const struct ww_page_axis *a, int most)
{
	double rest = (double)(a->hi - a->lo) - (a->folded ? (double)(a->f1 - a->f0) : 0);
	double step = 1e3;

	for (int k = 0; rest / step > most; k++)
		step *= k % 3 == 1 ? 2.5 : 2;
	return step;
}

static void tick_text(struct ww_str *s, double t, double step)
{
	bool ms = step < 1e9;
	double v = t / (ms ? 1e6 : 1e9);
	int d = step < 1e4 ? 3 : step < 1e5 ? 2 : step < 1e6 ? 1 : 0;

	if (fabs(t) < step / 2) {
		ww_str_add(s, "0");
		return;
	}
	ww_str_add(s, v < 0 ? "\xe2\x88\x92" : "+");
	ww_str_fixed(s, fabs(v), ms ? d : 0);
	ww_str_add(s, ms ? " ms" : " s");
}

/* Ticks of a stretch without a fold, from a zero; `last`: place of the label before. */
static void ticks_of(struct canvas *k, int64_t lo, int64_t hi, int64_t zero, double step,
		     int bottom, double *last)
{
	int64_t from = (int64_t)ceil((double)(lo - zero) / step);
	int64_t to = (int64_t)floor((double)(hi - zero) / step);

	for (int64_t n = from; n <= to; n++) {
		double t = (double)n * step, u = at(k, zero + llround(t));
		struct ww_str text = {0};

		line(k, "grid", u, TICKS, bottom);
		if (u - *last > .1 && u > .02 && u < .95) {
			tick_text(&text, t, step);
			text_at(k, u, 12, "tick", "middle", text.p ? text.p : "");
			*last = u;
		}
		k->s->bad = k->s->bad || text.bad;
		ww_str_free(&text);
	}
}

static void ticks(struct canvas *k, int bottom)
{
	const struct ww_page_axis *a = &k->c->axis;
	double step = step_for(a, 8), last = -1;

	if (!a->folded) {
		ticks_of(k, a->lo, a->hi, a->zero, step, bottom, &last);
		return;
	}
	ticks_of(k, a->lo, a->f0, a->asleep, step, bottom, &last);
	ticks_of(k, a->f1, a->hi, a->zero, step, bottom, &last);
	ww_str_add(k->s, "<g class=\"fold\"><title>asleep: folded</title><rect");
	num(k->s, "x", 100 * at(k, a->f0), "%");
	num(k->s, "width", 100 * WW_PAGE_FOLD, "%");
	ww_str_addf(k->s, " y=\"%d\" height=\"%d\"/></g>\n", TICKS, bottom - TICKS);
}

/* ---- rows ---- */

struct label {
	double u;
	const char *name;
};

static int by_place(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return (x->u > y->u) - (x->u < y->u);
}

/* A line for each; its name where one of the rows has room. */
static void events(struct canvas *k, int bottom)
{
	double taken[3] = {-1, -1, -1};
	struct label l[WW_EV_COUNT] = {0};
	size_t n = 0;

	for (int e = 0; k->c->out && e < WW_EV_COUNT; e++) {
		struct ww_interval t = k->c->out->c.event[e];
		int64_t m = t.lo_ns == WW_TIME_MIN ? t.hi_ns : t.lo_ns;

		if (ww_iv_ok(t) && m != WW_TIME_MAX && m <= k->c->axis.hi)
			l[n++] = (struct label){at(k, m), ww_event_name(e)};
	}
	if (n)
		qsort(l, n, sizeof(*l), by_place);
	for (size_t i = 0; i < n; i++) {
		double wide = NAME_WIDE * (double)(strlen(l[i].name) + 1);
		bool left = l[i].u + wide > 1;
		double from = left ? l[i].u - wide : l[i].u;
		size_t row = 0;

		while (row < 3 && from < taken[row])
			row++;
		line(k, "event", l[i].u, TICKS + (int)(row < 3 ? row : 2) * EVENT + 3, bottom);
		if (row == 3)
			continue;
		taken[row] = from + wide;
		text_at(k, l[i].u, TICKS + (int)row * EVENT + 12, "evt", left ? "end" : "",
			l[i].name);
	}
}

/* The last that was seen of a cycle. */
static int64_t last_event(const struct ww_page_cycle *c)
{
	int64_t last = c->axis.lo;

	for (int e = 0; e < WW_EV_COUNT; e++) {
		struct ww_interval t = c->out->c.event[e];

		if (ww_iv_ok(t) && t.hi_ns != WW_TIME_MAX && t.hi_ns > last)
			last = t.hi_ns;
	}
	return last;
}

static void serial(struct canvas *k, const struct ww_page_series *s)
{
	double most = 0;

	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, s->point[i].hi);
	caption(k, "bytes: ", s->name);
	/* Each bin is a column of a path: places of it are no per cent, so it is stretched. */
	ww_str_addf(k->s,
		    "<svg y=\"%d\" height=\"%d\" viewBox=\"0 0 %d 100\" "
		    "preserveAspectRatio=\"none\"><path class=\"byte\" d=\"",
		    k->y, SERIAL, WW_PAGE_BINS);
	for (size_t i = 0; i < s->n; i++) {
		int h = (int)fmax(8, 100 * s->point[i].hi / most);

		ww_str_addf(k->s, "M%u 100v-%dh1v%dz", s->point[i].bin, h, h);
	}
	ww_str_add(k->s, "\"/></svg>\n");
	for (size_t i = 0; k->c->out && i < k->c->out->c.stalls; i++) {
		const struct ww_stall *q = &k->c->out->c.stall[i];
		int64_t a = ww_iv_mid(q->t);

		if (strcmp(s->name, k->p->r->port) == 0)
			bar(k, "stall", at(k, a), at(k, a + ww_iv_mid(q->length)), k->y, SERIAL, "",
			    "starvation");
	}
	if (k->c->out && k->c->out->c.result == WW_RES_HUNG && strcmp(s->name, k->p->r->port) == 0)
		bar(k, "stall", at(k, last_event(k->c)), 1, k->y, SERIAL, "no sign of life",
		    k->c->reason);
	k->y += SERIAL + GAP;
}

static void span_tip(struct ww_str *s, const char *name, struct ww_interval length,
		     struct ww_interval corrected, double res_ns)
{
	ww_str_addf(s, "%s: ", name);
	ww_put_length(s, length, res_ns);
	if (ww_iv_ok(corrected) && corrected.hi_ns != length.hi_ns) {
		ww_str_add(s, " ms, without the console ");
		ww_put_length(s, corrected, res_ns);
	}
	ww_str_add(s, " ms");
}

static void phases(struct canvas *k)
{
	const struct ww_pm_cycle *pm = k->c->pm;
	bool nested = false;

	caption(k, "phases", "");
	for (size_t i = 0; i < pm->spans; i++) {
		const struct ww_pm_span *s = &pm->span[i];
		struct ww_str tip = {0};
		int64_t a, b;
		char class[24];

		if (!ww_page_span(k->p, k->i, s, &a, &b))
			continue;
		span_tip(&tip, ww_page_phase(s->phase), s->length, s->corrected, pm->stamp_res_ns);
		k->s->bad = k->s->bad || tip.bad;
		ww_page_phase_class(class, sizeof(class), s);
		bar(k, class, at(k, a), at(k, b), k->y + (s->nested ? PHASE : 0), PHASE - 2,
		    ww_page_phase(s->phase), tip.p ? tip.p : "");
		nested |= s->nested;
		ww_str_free(&tip);
	}
	k->y += nested ? 2 * PHASE + GAP : PHASE + GAP;
}

static void devices(struct canvas *k)
{
	const struct ww_page_cycle *c = k->c;

	if (!c->lanes)
		return;
	caption(k, "devices", c->left_out ? " (the longest)" : "");
	for (size_t i = 0; i < c->pm->devices; i++) {
		const struct ww_pm_device *d = &c->pm->device[i];
		struct ww_str tip = {0};
		char class[32];

		if (c->lane[i] == UINT16_MAX)
			continue;
		ww_str_addf(&tip, "%s %s, ", d->driver, d->name);
		span_tip(&tip, ww_page_phase(d->phase), d->length, d->corrected,
			 c->pm->stamp_res_ns);
		if (d->error)
			ww_str_addf(&tip, ", error %d", (int)d->error);
		ww_str_addf(&tip, "%s%s", d->async == 1 ? ", asynchronous" : "",
			    d->critical == 1 ? ", on the critical path" : "");
		k->s->bad = k->s->bad || tip.bad;
		snprintf(class, sizeof(class), "dev%s%s%s", d->async == 1 ? " async" : "",
			 d->critical == 1 ? " crit" : "", d->error ? " err" : "");
		bar(k, class, at(k, c->start[i]), at(k, c->end[i]), k->y + c->lane[i] * LANE,
		    LANE - 2, d->name, tip.p ? tip.p : "");
		ww_str_free(&tip);
	}
	k->y += (int)c->lanes * LANE + GAP;
}

static void watts(struct canvas *k, const struct ww_page_series *s)
{
	double lo = 0, hi = 0;
	struct ww_str text = {0};

	for (size_t i = 0; i < s->n; i++) {
		lo = fmin(lo, s->point[i].lo);
		hi = fmax(hi, s->point[i].hi);
	}
	hi = hi > lo ? hi : lo + 1;
	ww_str_addf(&text, "%s, 0 to ", s->name);
	ww_str_fixed(&text, hi, hi < 10 ? 2 : 1);
	ww_str_addf(&text, " %s", s->unit);
	caption(k, "power: ", text.p ? text.p : "");
	ww_str_addf(k->s,
		    "<svg y=\"%d\" height=\"%d\" viewBox=\"0 0 1000 100\" "
		    "preserveAspectRatio=\"none\"><polyline class=\"watt\" points=\"",
		    k->y, WATTS);
	for (size_t i = 0; i < s->n; i++) {
		const struct ww_page_point *q = &s->point[i];
		const double v[] = {q->lo, q->hi};

		for (size_t m = 0; m < (q->lo < q->hi ? 2U : 1U); m++) {
			ww_str_add(k->s, i || m ? " " : "");
			ww_str_fixed(k->s, 1000 * (q->bin + .5) / WW_PAGE_BINS, 1);
			ww_str_add(k->s, ",");
			ww_str_fixed(k->s, 98 - 96 * (v[m] - lo) / (hi - lo), 1);
		}
	}
	ww_str_add(k->s, "\"/></svg>\n");
	k->s->bad = k->s->bad || text.bad;
	ww_str_free(&text);
	k->y += WATTS + GAP;
}

static void rows(struct canvas *k)
{
	const struct ww_page_cycle *c = k->c;

	k->y = TICKS + (c->out ? 3 * EVENT : 0) + GAP;
	for (size_t i = 0; i < c->serieses; i++)
		if (!*c->series[i].unit && c->series[i].n)
			serial(k, &c->series[i]);
	if (c->pm && c->placed) {
		phases(k);
		devices(k);
	}
	for (size_t i = 0; i < c->serieses; i++)
		if (*c->series[i].unit && c->series[i].n)
			watts(k, &c->series[i]);
}

void ww_page_bars(struct ww_str *s, const struct ww_page *p, size_t i)
{
	struct ww_str body = {0};
	struct canvas k = {.s = &body, .p = p, .c = &p->cycle[i], .i = i};
	struct canvas under = {.s = s, .p = p, .c = &p->cycle[i], .i = i};

	rows(&k);
	ww_str_addf(s,
		    "<svg class=\"bars\" width=\"100%%\" height=\"%d\" role=\"img\" "
		    "aria-label=\"time line of cycle %u\">\n",
		    k.y, (unsigned)p->cycle[i].n);
	ticks(&under, k.y);
	events(&under, k.y);
	ww_str_add(s, body.p ? body.p : "");
	s->bad = s->bad || body.bad;
	ww_str_add(s, "</svg>\n");
	ww_str_free(&body);
}
