/* SPDX-License-Identifier: MIT */
#include "base/stats.h"
#include "report/plotimpl.h"

#include <math.h>

/*
 * A spike is cut where it lies this many spans above nearly all that was measured, and only
 * if all of them together are few and short. The load itself is never cut.
 */
#define SPIKE	   2.0
#define SPIKE_PART 0.002 /* of the readings */
#define NEARLY_ALL 0.995
#define LOOKED_AT  4096

/* Colours are told by class, once for light and once for dark. */
static const char style[] =
	"<style>\n"
	".ww-p text{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\n"
	".ww-p{font:12px system-ui,'DejaVu Sans',sans-serif;fill:#24292f}\n"
	".ww-bg{fill:#fff}.ww-grid{stroke:#d8dee4}.ww-axis{stroke:#57606a}\n"
	".ww-curve{stroke:#57606a;fill:none;stroke-linejoin:round}\n"
	".ww-level{stroke:#0b62c4;fill:none;stroke-width:1.8}\n"
	".ww-band{fill:#0b62c4;fill-opacity:.22}\n"
	".ww-0{stroke:#c2410c}text.ww-0{fill:#b13a09}\n"
	".ww-1{stroke:#7a3fb0;stroke-dasharray:5 3}text.ww-1{fill:#7a3fb0}\n"
	".ww-2{stroke:#6e7781;stroke-dasharray:1.5 3}text.ww-2{fill:#59636e}\n"
	".ww-cut{fill:#57606a}\n"
	".ww-when{fill-opacity:.16;stroke:none}\n"
	".ww-0 .ww-when{fill:#c2410c}.ww-1 .ww-when{fill:#7a3fb0}.ww-2 .ww-when{fill:#6e7781}\n"
	".ww-title{font-size:14px;font-weight:600}.ww-quiet{fill:#57606a}\n"
	"@media (prefers-color-scheme:dark){\n"
	".ww-p text{stroke:#0f1318}\n"
	".ww-p{fill:#e6edf3}.ww-bg{fill:#0f1318}.ww-grid{stroke:#2b323b}.ww-axis{stroke:#8b949e}\n"
	".ww-curve{stroke:#9aa4af}.ww-cut{fill:#9aa4af}.ww-level{stroke:#6cb2ff}.ww-band{fill:#"
	"6cb2ff}\n"
	".ww-0{stroke:#ff9457}text.ww-0{fill:#ff9f69}\n"
	".ww-1{stroke:#c99cf5}text.ww-1{fill:#c99cf5}\n"
	".ww-2{stroke:#8b949e}text.ww-2{fill:#a8b1bb}\n"
	".ww-0 .ww-when{fill:#ff9457}.ww-1 .ww-when{fill:#c99cf5}.ww-2 .ww-when{fill:#8b949e}\n"
	".ww-quiet{fill:#a8b1bb}}\n"
	"</style>\n";

/* No more than a decimal: a tenth of a pixel. */
static void put_num(struct ww_str *s, double v)
{
	char text[350], *end;

	ww_fixed_text(text, sizeof(text), v, 1);
	end = text + strlen(text);
	if (end - text > 2 && end[-1] == '0' && end[-2] == '.')
		end[-2] = '\0';
	ww_str_add(s, strcmp(text, "-0") == 0 ? "0" : text);
}

void ww_plot_line(struct ww_str *s, const char *class, double x0, double y0, double x1, double y1)
{
	const double v[] = {x0, y0, x1, y1};
	static const char *const name[] = {"x1", "y1", "x2", "y2"};

	ww_str_addf(s, "<line%s%s%s", *class ? " class=\"" : "", class, *class ? "\"" : "");
	for (size_t i = 0; i < 4; i++) {
		ww_str_addf(s, " %s=\"", name[i]);
		put_num(s, v[i]);
		ww_str_add(s, "\"");
	}
	ww_str_add(s, "/>\n");
}

void ww_plot_rect(struct ww_str *s, const char *class, double x, double y, double w, double h)
{
	const double v[] = {x, y, w, h};
	static const char *const name[] = {"x", "y", "width", "height"};

	ww_str_addf(s, "<rect class=\"%s\"", class);
	for (size_t i = 0; i < 4; i++) {
		ww_str_addf(s, " %s=\"", name[i]);
		put_num(s, v[i]);
		ww_str_add(s, "\"");
	}
	ww_str_add(s, "/>\n");
}

void ww_plot_text(struct ww_str *s, double x, double y, const char *attributes, const char *text)
{
	ww_str_add(s, "<text x=\"");
	put_num(s, x);
	ww_str_add(s, "\" y=\"");
	put_num(s, y);
	ww_str_addf(s, "\"%s%s>", *attributes ? " " : "", attributes);
	ww_str_markup(s, text);
	ww_str_add(s, "</text>\n");
}

double ww_plot_x(const struct ww_frame *f, double t)
{
	return f->left + (t - f->t_lo) / (f->t_hi - f->t_lo) * (f->right - f->left);
}

double ww_plot_y(const struct ww_frame *f, double v)
{
	v = fmin(fmax(v, f->y_lo), f->y_hi);
	return f->bottom - (v - f->y_lo) / (f->y_hi - f->y_lo) * (f->bottom - f->top);
}

/* ---- what is measured ---- */

static void widen(double *lo, double *hi, double a, double b)
{
	*lo = fmin(*lo, fmin(a, b));
	*hi = fmax(*hi, fmax(a, b));
}

/* Bands of uncertainty too, unless one is wider than all there is to see. */
static void bands(const struct ww_plot *p, double span, double *lo, double *hi)
{
	for (size_t i = 0; i < p->levels; i++) {
		const struct ww_plot_level *l = &p->level[i];

		if (l->u < span)
			widen(lo, hi, fmin(l->y0, l->y1) - l->u, fmax(l->y0, l->y1) + l->u);
	}
}

/* Readings of a bin that lie outside, as far as it tells. */
static double outside(const struct ww_curve_bin *b, double lo, double hi)
{
	bool ends = b->first > hi || b->last > hi || b->first < lo || b->last < lo;

	if (b->hi <= hi && b->lo >= lo)
		return 0;
	if (b->lo > hi || b->hi < lo)
		return b->n;
	return ends ? (b->n + 1) / 2.0 : 1;
}

/* What may be cut off, if there is anything. @return whether it is little enough */
static bool spike_limits(const struct ww_curve *c, double *lo, double *hi)
{
	double v[LOOKED_AT], span, n = 0, out = 0;
	size_t every = 2 * c->n / LOOKED_AT + 1, m = 0;

	for (size_t i = 0; i < c->n && m + 2 <= LOOKED_AT; i += every) {
		v[m++] = c->bin[i].first;
		v[m++] = c->bin[i].last;
	}
	if (m == 0)
		return false;
	qsort(v, m, sizeof(*v), ww_cmp_double);
	*hi = v[(size_t)((double)(m - 1) * NEARLY_ALL)];
	*lo = v[(size_t)((double)(m - 1) * (1 - NEARLY_ALL))];
	span = fmax(*hi, 0) - fmin(*lo, 0);
	*hi += SPIKE * span;
	*lo -= SPIKE * span;
	for (size_t i = 0; i < c->n; i++) {
		n += c->bin[i].n;
		out += outside(&c->bin[i], *lo, *hi);
	}
	return span > 0 && out > 0 && out < SPIKE_PART * n;
}

/* Range of all that is measured, but for spikes that would leave nothing to be seen of it. */
static void curve_range(const struct ww_curve *c, double *lo, double *hi)
{
	double least = 0, most = 0;
	bool cut = spike_limits(c, &least, &most);

	for (size_t i = 0; i < c->n; i++) {
		const struct ww_curve_bin *b = &c->bin[i];
		const double v[] = {b->lo, b->hi, b->first, b->last};

		for (size_t k = 0; k < WW_COUNTOF(v); k++)
			if (!cut || (v[k] >= least && v[k] <= most))
				widen(lo, hi, v[k], v[k]);
	}
}

/* Range of the y axis: all that is drawn; from 0 where that is not far off. */
static void y_range(struct ww_frame *f, const struct ww_plot *p)
{
	double lo = INFINITY, hi = -INFINITY, l_lo = INFINITY, l_hi = -INFINITY, pad, least;

	if (p->curve)
		curve_range(p->curve, &lo, &hi);
	least = lo;
	for (size_t i = 0; i < p->levels; i++)
		if (!isnan(p->level[i].y0) && !isnan(p->level[i].y1))
			widen(&l_lo, &l_hi, p->level[i].y0, p->level[i].y1);
	if (l_lo <= l_hi) {
		widen(&lo, &hi, l_lo, l_hi);
		bands(p, l_hi - fmin(l_lo, fmax(lo, 0)), &lo, &hi);
	}
	if (!(lo <= hi))
		lo = 0, hi = 1;
	/* Down to 0 where that is not far, and no farther for what noise makes of a 0. */
	if ((lo > 0 && lo < 0.4 * hi) || (lo < 0 && least >= 0))
		lo = 0;
	pad = hi > lo ? 0.04 * (hi - lo) : fmax(0.02 * fabs(hi), 1e-3);
	f->y_lo = lo == 0 ? 0 : lo - pad;
	f->y_hi = hi + pad;
}

/* Triangles where something was cut off. @return the greatest of it, NaN none */
static double cut_off(struct ww_str *s, const struct ww_frame *f, const struct ww_curve *c)
{
	double most = NAN;

	ww_str_add(s, "<path class=\"ww-cut\" d=\"");
	for (size_t i = 0; i < c->n; i++) {
		const struct ww_curve_bin *b = &c->bin[i];
		bool above = b->hi > f->y_hi, below = b->lo < f->y_lo;
		double x = ww_plot_x(f, (b->t0 + b->t1) / 2);

		if (!above && !below)
			continue;
		ww_str_add(s, "M");
		put_num(s, x);
		ww_str_add(s, " ");
		put_num(s, above ? f->top : f->bottom);
		ww_str_add(s, above ? "l-4 7h8z" : "l-4-7h8z");
		if (above)
			most = fmax(most, b->hi);
	}
	ww_str_add(s, "\"/>\n");
	return most;
}

static void point(struct ww_str *s, const struct ww_frame *f, char how, double t, double v)
{
	ww_str_addn(s, &how, 1);
	put_num(s, ww_plot_x(f, t));
	ww_str_add(s, " ");
	put_num(s, ww_plot_y(f, v));
}

static void curve(struct ww_str *s, const struct ww_frame *f, const struct ww_curve *c)
{
	ww_str_addf(s, "<path class=\"ww-curve\" stroke-width=\"%s\" d=\"",
		    c->n > 400 ? ".8" : "1.2");
	for (size_t i = 0; i < c->n; i++) {
		const struct ww_curve_bin *b = &c->bin[i];
		bool apart = i == 0 || b->hole, lonely = i + 1 == c->n || b[1].hole;
		double mid = (b->t0 + b->t1) / 2, a = b->lo, z = b->hi;

		point(s, f, apart ? 'M' : 'L', b->t0, b->first);
		if (b->n > 1) {
			if (fabs(b->first - b->hi) < fabs(b->first - b->lo))
				a = b->hi, z = b->lo;
			point(s, f, 'L', mid, a);
			if (a != z)
				point(s, f, 'L', mid, z);
			point(s, f, 'L', b->t1, b->last);
		} else if (apart && lonely) {
			ww_str_add(s, "h1"); /* one reading between two gaps */
		}
	}
	ww_str_add(s, "\"/>\n");
}

static double within(const struct ww_frame *f, double y)
{
	return fmin(fmax(y, f->top), f->bottom);
}

static void levels(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p)
{
	for (size_t i = 0; i < p->levels; i++) {
		const struct ww_plot_level *l = &p->level[i];
		double x0 = ww_plot_x(f, l->t0), x1 = fmax(ww_plot_x(f, l->t1), x0 + 0.5);
		double y0 = ww_plot_y(f, l->y0), y1 = ww_plot_y(f, l->y1);
		double h = l->u / (f->y_hi - f->y_lo) * (f->bottom - f->top);

		if (isnan(y0) || isnan(y1))
			continue;
		if (h >= 0.5) {
			const double v[] = {x0, within(f, y0 - h), x1, within(f, y1 - h),
					    x1, within(f, y1 + h), x0, within(f, y0 + h)};

			ww_str_add(s, "<polygon class=\"ww-band\" points=\"");
			for (size_t k = 0; k < 8; k++) {
				ww_str_add(s, k ? " " : "");
				put_num(s, v[k]);
			}
			ww_str_add(s, "\"/>\n");
		}
		ww_plot_line(s, "ww-level", x0, y0, x1, y1);
	}
}

/* ---- the whole ---- */

static void legend_line(struct ww_str *s, double *x, double y, const char *class, bool upright,
			const char *text)
{
	double x1 = upright ? *x : *x + 20;

	ww_plot_line(s, class, upright ? *x + 10 : *x, upright ? y - 10 : y - 4,
		     upright ? *x + 10 : x1, upright ? y + 2 : y - 4);
	ww_plot_text(s, *x + 26, y, "", text);
	*x += 26 + ww_plot_width(text) + 22;
}

static void legend(struct ww_str *s, const struct ww_frame *f, const struct ww_plot *p,
		   size_t unseen, double cut)
{
	static const char *const tone[] = {"ww-0", "ww-1", "ww-2"};
	bool used[WW_PLOT_TONES] = {false}, thinned = false;
	double x = f->left, y = f->height - 12;

	for (size_t i = 0; i < p->events; i++)
		used[p->event[i].tone] = true;
	for (size_t i = 0; p->curve && i < p->curve->n; i++)
		thinned = thinned || p->curve->bin[i].n > 1;
	if (p->curve && p->curve->n)
		legend_line(s, &x, y, "ww-curve", false,
			    thinned ? "readings, least to greatest" : "readings");
	if (p->levels)
		legend_line(s, &x, y, "ww-level", false, p->level_name);
	for (size_t i = 0; i < WW_PLOT_TONES; i++)
		if (used[i] && p->tone_name[i])
			legend_line(s, &x, y, tone[i], true, p->tone_name[i]);
	if (cut > f->y_hi) {
		struct ww_str text = {0};

		ww_str_add(&text, "\xe2\x96\xb4 cut, up to ");
		put_num(&text, cut);
		ww_plot_text(s, x, y, "", text.p ? text.p : "");
		s->bad = s->bad || text.bad;
		ww_str_free(&text);
	}
	if (unseen) {
		struct ww_str text = {0};

		ww_str_addf(&text, "%zu of %zu labels had no room", unseen, p->events);
		ww_plot_text(s, f->right, f->top - 6 - f->lanes * WW_PLOT_LANE,
			     "class=\"ww-quiet\" text-anchor=\"end\"", text.p ? text.p : "");
		s->bad = s->bad || text.bad;
		ww_str_free(&text);
	}
}

void ww_plot_svg(struct ww_str *s, const struct ww_plot *p, bool alone)
{
	struct ww_frame f = {.width = 960, .height = 460, .left = 66, .right = 944, .bottom = 384};
	size_t *lane = ww_plot_lanes(&f, p), unseen;
	double cut = NAN;

	if (!lane) {
		s->bad = true;
		return;
	}
	f.top = 44 + f.lanes * WW_PLOT_LANE;
	f.t_lo = p->t_lo;
	f.t_hi = p->t_hi > p->t_lo ? p->t_hi : p->t_lo + 1;
	y_range(&f, p);
	if (alone)
		ww_str_add(s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	ww_str_addf(s,
		    "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 960 460\"%s "
		    "class=\"ww-p\" role=\"img\">\n<title>",
		    alone ? " width=\"960\" height=\"460\"" : "");
	ww_str_markup(s, p->title);
	ww_str_addf(s, "</title>\n%s", style);
	ww_plot_rect(s, "ww-bg", 0, 0, f.width, f.height);
	ww_plot_text(s, f.left, 22, "class=\"ww-title\"", p->title);
	ww_plot_axes(s, &f, p);
	unseen = ww_plot_events(s, &f, p, lane);
	if (p->curve) {
		curve(s, &f, p->curve);
		cut = cut_off(s, &f, p->curve);
	}
	levels(s, &f, p);
	legend(s, &f, p, unseen, cut);
	ww_str_add(s, "</svg>\n");
	free(lane);
}
