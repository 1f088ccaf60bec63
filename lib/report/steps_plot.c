/* SPDX-License-Identifier: MIT */
/* ww_steps as a picture (SVG), and as one page with picture, table and notes (HTML). */
#include "report/plot.h"
#include "report/steps.h"

#include <math.h>
#include <stdio.h>

struct drawing {
	struct ww_plot plot;
	struct ww_plot_event *event;
	struct ww_plot_level *level;
	char **text; /* [2 steps] labels and tooltips */
	size_t texts;
	char *title;
};

static void free_drawing(struct drawing *d)
{
	for (size_t i = 0; d->text && i < d->texts; i++)
		free(d->text[i]);
	free(d->text);
	free(d->event);
	free(d->level);
	free(d->title);
}

/* "monitor +24.90 W" */
static void event_label(struct ww_str *s, const struct ww_step *p)
{
	int d = ww_decimals_for(p->delta.u * 5, 1);

	if (*p->label)
		ww_str_addf(s, "%s ", p->label);
	if (p->state == WW_STEP_UNRESOLVED) {
		ww_str_add(s, *p->label ? "(unresolved)" : "?");
		return;
	}
	ww_str_add(s, p->delta.value > 0 ? "+" : "");
	ww_str_fixed(s, p->delta.value, d);
	ww_str_add(s, " W");
}

static void event_tooltip(struct ww_str *s, const struct ww_steps *st, size_t i)
{
	const struct ww_step *p = &st->step[i];
	struct ww_str clock = {0};

	if (*p->label)
		ww_str_addf(s, "%s: ", p->label);
	ww_steps_put_change(s, p);
	ww_str_addf(s, " W (%s), at ", ww_steps_state(p->state));
	ww_steps_put_time(s, st, i);
	ww_str_add(s, " s");
	ww_steps_put_clock(&clock, st, (st->when[i].t_lo + st->when[i].t_hi) / 2);
	if (clock.n)
		ww_str_addf(s, ", %s", clock.p);
	s->bad = s->bad || clock.bad;
	ww_str_free(&clock);
	ww_str_add(s, "; from ");
	ww_put_quantity(s, p->before, "W", 2);
	ww_str_add(s, " to ");
	ww_put_quantity(s, p->after, "W", 2);
}

static int events(struct drawing *d, const struct ww_steps *st, struct ww_error *err)
{
	static const int tone[] = {[WW_STEP_DETECTED] = WW_PLOT_FOUND,
				   [WW_STEP_KNOWN_TIME] = WW_PLOT_KNOWN,
				   [WW_STEP_UNRESOLVED] = WW_PLOT_OPEN};

	for (size_t i = 0; i < st->steps; i++) {
		const struct ww_step *p = &st->step[i];
		struct ww_str label = {0}, tip = {0};
		int rc;

		event_label(&label, p);
		event_tooltip(&tip, st, i);
		rc = ww_str_take(&label, &d->text[2 * i], err);
		if (rc == 0)
			rc = ww_str_take(&tip, &d->text[2 * i + 1], err);
		ww_str_free(&label);
		ww_str_free(&tip);
		if (rc < 0)
			return rc;
		d->event[i] = (struct ww_plot_event){
			.t_lo = st->when[i].t_lo,
			.t_hi = st->when[i].t_hi,
			.weight = fabs(p->delta.value) + (*p->label ? 1e9 : 0),
			.label = d->text[2 * i],
			.tooltip = d->text[2 * i + 1],
			.tone = tone[p->state],
		};
	}
	return 0;
}

static void levels(struct drawing *d, const struct ww_steps *st)
{
	for (size_t i = 0; i < st->levels; i++) {
		const struct ww_level *l = &st->level[i];
		double t0 = ((double)l->from_ns - (double)st->origin_ns) / 1e9;
		double t1 = ((double)l->to_ns - (double)st->origin_ns) / 1e9;
		double half = l->slope / 3600 * (t1 - t0) / 2;

		d->level[i] = (struct ww_plot_level){t0, t1, l->watts.value - half,
						     l->watts.value + half, 2 * l->watts.u};
	}
}

static int draw(struct drawing *d, const struct ww_steps *st, struct ww_error *err)
{
	const struct ww_wall *w = &st->wall;
	struct ww_str title = {0};
	int rc;

	d->texts = 2 * st->steps;
	d->text = calloc(d->texts + 1, sizeof(*d->text));
	d->event = calloc(st->steps + 1, sizeof(*d->event));
	d->level = calloc(st->levels + 1, sizeof(*d->level));
	if (!d->text || !d->event || !d->level)
		return ww_fail_nomem(err);
	ww_steps_put_summary(&title, st);
	rc = ww_str_take(&title, &d->title, err);
	if (rc == 0)
		rc = events(d, st, err);
	if (rc < 0)
		return rc;
	levels(d, st);
	d->plot = (struct ww_plot){
		.title = d->title,
		.y_title = "power, W",
		.t_lo = st->t_lo,
		.t_hi = st->t_hi,
		.time_title = st->own_time ? "time" : "time since the first record",
		.wall = w->known,
		.real_ns = w->real_ns,
		.offset_s = w->offset_s,
		.zone = *w->zone && w->has_offset ? w->zone : "UTC",
		.curve = &st->curve,
		.level = d->level,
		.levels = st->levels,
		.event = d->event,
		.events = st->steps,
		.level_name = "level \xc2\xb1 2u",
		.tone_name = {"step", "known time only", "unresolved"},
	};
	return 0;
}

/* ---- the page ---- */

static const char page_head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
	"<meta name=\"color-scheme\" content=\"light dark\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" "
	"content=\"default-src 'none';style-src 'unsafe-inline'\">\n";
static const char page_style[] =
	"<style>\n"
	"body{font:15px/1.45 system-ui,'DejaVu Sans',sans-serif;max-width:62rem;margin:1.5rem auto;"
	"padding:0 1rem;background:#fff;color:#24292f}\n"
	"h1{font-size:1.25rem}h2{font-size:1.05rem;margin-top:1.6rem}\n"
	"svg{width:100%;height:auto;border:1px solid #d8dee4;border-radius:6px}\n"
	".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
	"\n"
	"th,td{padding:.25rem .7rem;text-align:right;white-space:nowrap;"
	"border-bottom:1px solid #d8dee4}\n"
	".l{text-align:left;white-space:normal;overflow-wrap:anywhere}\n"
	"summary{cursor:pointer;margin:1rem 0 .4rem}\n"
	"footer{margin:2rem 0 1rem;font-size:.85rem;color:#57606a}\n"
	"@media (prefers-color-scheme:dark){body{background:#0f1318;color:#e6edf3}"
	"svg,th,td{border-color:#2b323b}footer{color:#a8b1bb}}\n"
	"</style>\n";

/* Columns of the table; one that would be empty is left out. */
enum { TIME, CLOCK, LABEL, CHANGE, BEFORE, AFTER, SETTLED, STATE, COLUMNS };

static void put_cell(struct ww_str *s, const struct ww_steps *st, size_t i, int column)
{
	const struct ww_step *p = &st->step[i];

	switch (column) {
	case TIME:
		ww_steps_put_time(s, st, i);
		break;
	case CLOCK:
		ww_steps_put_clock(s, st, (st->when[i].t_lo + st->when[i].t_hi) / 2);
		break;
	case LABEL:
		ww_str_add(s, p->label);
		break;
	case CHANGE:
		ww_steps_put_change(s, p);
		break;
	case BEFORE:
		ww_put_quantity(s, p->before, "", 2);
		break;
	case AFTER:
		ww_put_quantity(s, p->after, "", 2);
		break;
	case SETTLED:
		ww_steps_put_settled(s, st, i);
		break;
	default:
		ww_str_add(s, ww_steps_state(p->state));
	}
}

static bool used(struct ww_str *s, const struct ww_steps *st, int column)
{
	struct ww_str text = {0};
	bool yes = false;

	for (size_t i = 0; i < st->steps && !yes; i++) {
		put_cell(&text, st, i, column);
		yes = text.n > 0;
		s->bad = s->bad || text.bad;
		ww_str_reset(&text);
	}
	ww_str_free(&text);
	return yes;
}

static void page_row(struct ww_str *s, const struct ww_steps *st, size_t i, unsigned columns)
{
	struct ww_str text = {0};

	ww_str_add(s, "<tr>");
	for (int c = 0; c < COLUMNS; c++) {
		if (!(columns >> c & 1))
			continue;
		put_cell(&text, st, i, c);
		ww_str_add(s, c == LABEL || c == STATE ? "<td class=\"l\">" : "<td>");
		ww_str_markup(s, text.n ? text.p : "");
		ww_str_add(s, "</td>");
		s->bad = s->bad || text.bad;
		ww_str_reset(&text);
	}
	ww_str_add(s, "</tr>\n");
	ww_str_free(&text);
}

static void page_table(struct ww_str *s, const struct ww_steps *st)
{
	static const char *const head[COLUMNS] = {"time, s",	"clock",     "label",
						  "change, W",	"before, W", "after, W",
						  "settled in", "state"};
	struct ww_str legend = {0};
	unsigned columns = 0;

	if (st->steps == 0) {
		ww_str_add(s, "<p>No steps.</p>\n");
		return;
	}
	ww_str_add(s, "<div class=\"scroll\"><table>\n<thead><tr>");
	for (int c = 0; c < COLUMNS; c++) {
		if (!used(s, st, c))
			continue;
		columns |= 1U << c;
		ww_str_addf(s, "<th%s>%s</th>", c == LABEL || c == STATE ? " class=\"l\"" : "",
			    head[c]);
	}
	ww_str_add(s, "</tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < st->steps; i++)
		page_row(s, st, i, columns);
	ww_str_add(s, "</tbody>\n</table></div>\n<p>");
	ww_steps_put_legend(&legend, st);
	ww_str_markup(s, legend.p ? legend.p : "");
	s->bad = s->bad || legend.bad;
	ww_str_free(&legend);
	ww_str_add(s, "</p>\n");
}

static void level_row(struct ww_str *s, const struct ww_steps *st, const struct ww_level *l)
{
	double t0 = ((double)l->from_ns - (double)st->origin_ns) / 1e9;
	double t1 = ((double)l->to_ns - (double)st->origin_ns) / 1e9;
	struct ww_str text = {0};

	ww_str_add(s, "<tr><td>");
	ww_str_fixed(s, t0, 1);
	if (st->wall.known) {
		ww_str_add(s, "</td><td>");
		ww_steps_put_clock(s, st, t0);
	}
	ww_str_add(s, "</td><td>");
	ww_put_span(&text, t1 - t0);
	ww_str_markup(s, text.n ? text.p : "");
	ww_str_add(s, "</td><td>");
	ww_put_quantity(s, l->watts, "", 2);
	ww_str_add(s, "</td><td>");
	if (l->shape == WW_LEVEL_LINE)
		ww_str_fixed(s, l->slope, fabs(l->slope) < 10 ? 2 : 0);
	ww_str_addf(s, "</td><td>%llu</td></tr>\n", (unsigned long long)l->n);
	s->bad = s->bad || text.bad;
	ww_str_free(&text);
}

/* What was drawn between the changes, for those who ask. */
static void page_levels(struct ww_str *s, const struct ww_steps *st)
{
	if (st->levels == 0)
		return;
	ww_str_addf(s,
		    "<details><summary>%zu level%s</summary>\n<div class=\"scroll\"><table>\n"
		    "<thead><tr><th>from, s</th>%s<th>lasts</th><th>level, W</th>"
		    "<th>drift, W/h</th><th>readings</th></tr></thead>\n<tbody>\n",
		    st->levels, st->levels == 1 ? "" : "s", st->wall.known ? "<th>clock</th>" : "");
	for (size_t i = 0; i < st->levels; i++)
		level_row(s, st, &st->level[i]);
	ww_str_add(s, "</tbody>\n</table></div>\n</details>\n");
}

static void page(struct ww_str *s, const struct ww_steps *st, const struct drawing *d)
{
	struct ww_str start = {0};

	ww_str_add(s, page_head);
	ww_str_add(s, "<title>");
	ww_str_markup(s, d->title);
	ww_str_addf(s, "</title>\n%s</head>\n<body>\n<h1>Steps of power</h1>\n<p>", page_style);
	ww_put_start(&start, &st->wall);
	ww_str_markup(s, start.n ? start.p : "");
	s->bad = s->bad || start.bad;
	ww_str_free(&start);
	ww_str_add(s, "</p>\n");
	ww_plot_svg(s, &d->plot, false);
	ww_str_add(s, "<h2>Steps</h2>\n");
	page_table(s, st);
	page_levels(s, st);
	ww_str_add(s, "<h2>Notes</h2>\n<ul>\n");
	for (size_t i = 0; i < st->notes.n; i++) {
		ww_str_add(s, "<li>");
		ww_str_markup(s, st->notes.note[i]);
		ww_str_add(s, "</li>\n");
	}
	ww_str_addf(s, "</ul>\n<footer>wakewatt %s, pwrlog steps</footer>\n</body>\n</html>\n",
		    ww_version());
}

int ww_steps_plot(const struct ww_steps *s, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};
	struct drawing d = {0};
	int rc;

	if (form != WW_PLOT_SVG && form != WW_PLOT_HTML)
		return ww_fail(err, -EINVAL, "plot form %d is unknown", form);
	rc = draw(&d, s, err);
	if (rc == 0 && form == WW_PLOT_SVG)
		ww_plot_svg(&text, &d.plot, true);
	else if (rc == 0)
		page(&text, s, &d);
	free_drawing(&d);
	return rc < 0 ? rc : ww_str_take(&text, out, err);
}
