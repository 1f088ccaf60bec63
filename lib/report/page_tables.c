/* SPDX-License-Identifier: MIT */
/* Tables of the page: cycles, devices, phases. The script sorts and filters their rows. */
#include "report/length.h"
#include "report/page.h"
#include "report/plot.h"
#include "report/resume.h"

#include <math.h>
#include <stdio.h>

const char *ww_page_phase(int phase)
{
	const char *name = phase > WW_PM_NO_PHASE ? ww_pm_phase_name(phase) : NULL;

	return name ? name : "";
}

void ww_page_phase_class(char *out, size_t n, const struct ww_pm_span *s)
{
	snprintf(out, n, "ph %s%s%s", s->phase <= WW_PM_MACHINE ? "down" : "up",
		 s->phase % 2 ? " alt" : "", s->failed ? " err" : "");
}

void ww_page_value(struct ww_str *s, const struct ww_page_cycle *c, int f)
{
	bool kernel = f >= WW_LAT_COUNT;

	if (!kernel && c->out)
		ww_resume_latency(s, c->out, f);
	else if (kernel && c->pm)
		ww_put_length(s, c->value[f], c->pm->stamp_res_ns);
}

/* What a column is sorted by: the middle, or the bound that there is. */
static void sort_key(struct ww_str *s, struct ww_interval t)
{
	double v = !ww_iv_ok(t)		    ? NAN
		   : t.hi_ns == WW_TIME_MAX ? (double)t.lo_ns
		   : t.lo_ns == WW_TIME_MIN ? (double)t.hi_ns
					    : (double)ww_iv_mid(t);

	if (isnan(v))
		return;
	ww_str_add(s, " data-v=\"");
	ww_str_fixed(s, v, 0);
	ww_str_add(s, "\"");
}

static void value_cell(struct ww_str *s, const struct ww_page_cycle *c, int f)
{
	struct ww_str text = {0};

	ww_page_value(&text, c, f);
	ww_str_add(s, "<td");
	sort_key(s, c->value[f]);
	ww_str_add(s, ">");
	ww_str_add(s, text.n ? text.p : "<span class=\"no\">\xe2\x80\x93</span>");
	ww_str_add(s, "</td>");
	s->bad = s->bad || text.bad;
	ww_str_free(&text);
}

static void quantity_cell(struct ww_str *s, struct ww_quantity q, const char *unit)
{
	struct ww_str text = {0};

	if (!isnan(q.value))
		ww_put_quantity(&text, q, unit, 2);
	ww_str_add(s, "<td");
	if (!isnan(q.value)) {
		ww_str_add(s, " data-v=\"");
		ww_str_fixed(s, q.value, 6);
		ww_str_add(s, "\"");
	}
	ww_str_add(s, ">");
	ww_str_add(s, text.n ? text.p : "<span class=\"no\">\xe2\x80\x93</span>");
	ww_str_add(s, "</td>");
	s->bad = s->bad || text.bad;
	ww_str_free(&text);
}

static bool has_energy(const struct ww_page *p, bool asleep)
{
	for (size_t i = 0; i < p->cycles; i++)
		if (p->cycle[i].out && !isnan(asleep ? p->cycle[i].out->c.asleep_watts.value
						     : p->cycle[i].out->c.energy_J.value))
			return true;
	return false;
}

static void cycle_row(struct ww_str *s, const struct ww_page *p, const struct ww_page_cycle *c,
		      const bool energy[2])
{
	ww_str_addf(s,
		    "<tr id=\"cycle-%u\"><th scope=\"row\" data-v=\"%u\">"
		    "<a href=\"#cycle-%u\">%u</a></th><td class=\"l\">"
		    "<span class=\"res %s\">",
		    (unsigned)c->n, (unsigned)c->n, (unsigned)c->n, (unsigned)c->n,
		    c->good  ? "good"
		    : c->bad ? "bad"
			     : "none");
	ww_str_markup(s, c->result);
	ww_str_add(s, "</span></td>");
	for (int f = 0; f < WW_PAGE_FIGURES; f++)
		if (p->figure[f].used)
			value_cell(s, c, f);
	if (energy[0])
		quantity_cell(s, c->out->c.energy_J, "J");
	if (energy[1])
		quantity_cell(s, c->out->c.asleep_watts, "W");
	ww_str_add(s, "<td class=\"l why\">");
	ww_str_markup(s, c->reason);
	ww_str_add(s, "</td></tr>\n");
}

void ww_page_cycle_table(struct ww_str *s, const struct ww_page *p)
{
	bool energy[2] = {has_energy(p, false), has_energy(p, true)};

	ww_str_add(s, "<div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
		      "aria-label=\"table of cycles\"><table class=\"sort\" id=\"cycle-table\">\n"
		      "<caption>times in ms, middle \xc2\xb1 half-width of the sure interval"
		      "</caption>\n<thead><tr><th scope=\"col\">cycle</th>"
		      "<th scope=\"col\" class=\"l\">result</th>");
	for (int f = 0; f < WW_PAGE_FIGURES; f++)
		if (p->figure[f].used)
			ww_str_addf(s, "<th scope=\"col\" title=\"%s\">%s</th>", p->figure[f].words,
				    p->figure[f].head);
	if (energy[0])
		ww_str_add(s, "<th scope=\"col\">energy</th>");
	if (energy[1])
		ww_str_add(s, "<th scope=\"col\">asleep at</th>");
	ww_str_add(s, "<th scope=\"col\" class=\"l\">why</th></tr></thead>\n<tbody>\n");
	for (size_t i = 0; i < p->cycles; i++)
		cycle_row(s, p, &p->cycle[i], energy);
	ww_str_add(s, "</tbody></table></div>\n");
}

/* ---- devices and phases of all cycles ---- */

#define DEVICES_SHOWN 40

static void ms_cell(struct ww_str *s, double ms)
{
	if (isnan(ms)) {
		ww_str_add(s, "<td><span class=\"no\">\xe2\x80\x93</span></td>");
		return;
	}
	ww_str_add(s, "<td data-v=\"");
	ww_str_fixed(s, ms, 6);
	ww_str_add(s, "\">");
	ww_str_fixed(s, ms, ms < 1 ? 3 : ms < 100 ? 2 : 1);
	ww_str_add(s, "</td>");
}

static void longest(struct ww_str *s, const struct ww_ksum_values *v)
{
	ms_cell(s, v->n ? v->max : (double)NAN);
	ww_str_addf(s, "<td data-v=\"%u\"><a href=\"#cycle-%u\">%u</a></td><td>%llu</td>",
		    (unsigned)v->max_cycle, (unsigned)v->max_cycle, (unsigned)v->max_cycle,
		    (unsigned long long)v->n);
}

static bool any_corrected(const struct ww_ksum *t)
{
	for (size_t i = 0; i < t->devices; i++)
		if (fabs(ww_ksum_median(&t->device[i].corrected) -
			 ww_ksum_median(&t->device[i].ms)) >= .0005)
			return true;
	return false;
}

static void open_table(struct ww_str *s, const char *what, const char *first)
{
	ww_str_addf(s,
		    "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table of "
		    "%s\"><table class=\"sort\" id=\"%s-table\">\n<caption>over all cycles, "
		    "ms</caption>\n<thead><tr>%s<th scope=\"col\">median</th>",
		    what, what, first);
}

static void device_row(struct ww_str *s, const struct ww_ksum_device *d, bool corrected)
{
	ww_str_add(s, "<tr><th scope=\"row\" class=\"l name\">");
	ww_str_markup(s, d->name);
	ww_str_add(s, "</th><td class=\"l name\">");
	ww_str_markup(s, d->driver);
	ww_str_addf(s, "</td><td class=\"l\">%s</td>", ww_page_phase(d->phase));
	ms_cell(s, ww_ksum_median(&d->ms));
	if (corrected)
		ms_cell(s, ww_ksum_median(&d->corrected));
	ms_cell(s, ww_ksum_median(&d->own));
	longest(s, &d->ms);
	ww_str_addf(s, "<td%s>%llu</td></tr>\n", d->errors ? " class=\"badtext\"" : "",
		    (unsigned long long)d->errors);
}

void ww_page_device_table(struct ww_str *s, const struct ww_page *p)
{
	const struct ww_ksum *t = &p->sum;
	bool corrected = any_corrected(t);
	size_t n = t->devices < DEVICES_SHOWN ? t->devices : DEVICES_SHOWN;

	open_table(s, "slowest",
		   "<th scope=\"col\" class=\"l\">device</th><th scope=\"col\" class=\"l\">driver"
		   "</th><th scope=\"col\" class=\"l\">phase</th>");
	if (corrected)
		ww_str_add(s, "<th scope=\"col\" title=\"without what the console cost\">"
			      "corrected</th>");
	ww_str_add(s, "<th scope=\"col\" title=\"its own part of the critical path of its phase, "
		      "median\">critical</th><th scope=\"col\">longest</th><th scope=\"col\">in "
		      "cycle</th><th scope=\"col\">seen</th><th scope=\"col\">errors</th></tr>"
		      "</thead>\n<tbody>\n");
	for (size_t i = 0; i < n; i++)
		device_row(s, &t->device[i], corrected);
	ww_str_add(s, "</tbody></table></div>\n");
	if (n < t->devices)
		ww_str_addf(s, "<p class=\"quiet\">%zu more took less time over all cycles.</p>\n",
			    t->devices - n);
}

static bool any_energy(const struct ww_page *p)
{
	for (int i = 1; i < WW_PM_PHASES; i++)
		if (p->energy[i].n)
			return true;
	return false;
}

/* Mean energy and power, each with its sure digits. */
static void energy_cells(struct ww_str *s, const struct ww_page_energy *e)
{
	double n = (double)e->n;

	quantity_cell(s,
		      e->n ? (struct ww_quantity){e->J / n, e->u / n}
			   : (struct ww_quantity){(double)NAN, (double)NAN},
		      "J");
	quantity_cell(s,
		      e->n && e->seconds > 0
			      ? (struct ww_quantity){e->J / e->seconds, e->u / e->seconds}
			      : (struct ww_quantity){(double)NAN, (double)NAN},
		      "W");
}

void ww_page_phase_table(struct ww_str *s, const struct ww_page *p)
{
	bool energy = any_energy(p);

	open_table(s, "phase", "<th scope=\"col\" class=\"l\">phase</th>");
	ww_str_addf(s,
		    "<th scope=\"col\">longest</th><th scope=\"col\">in cycle</th>"
		    "<th scope=\"col\">seen</th>%s</tr></thead>\n<tbody>\n",
		    energy ? "<th scope=\"col\">mean energy</th><th scope=\"col\">mean power</th>"
			   : "");
	for (int i = 1; i < WW_PM_PHASES; i++) {
		const struct ww_ksum_values *v = &p->sum.phase[i];

		if (v->n == 0)
			continue;
		ww_str_addf(s, "<tr><th scope=\"row\" class=\"l\" data-v=\"%d\">%s</th>", i,
			    ww_page_phase(i));
		ms_cell(s, ww_ksum_median(v));
		longest(s, v);
		if (energy)
			energy_cells(s, &p->energy[i]);
		ww_str_add(s, "</tr>\n");
	}
	ww_str_add(s, "</tbody></table></div>\n");
	if (energy)
		ww_str_add(s, "<p class=\"quiet\">\xc2\xb1 of energy and power: k = 2.</p>\n");
}
