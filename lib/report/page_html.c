/* SPDX-License-Identifier: MIT */
/* The page itself: what was measured, the verdict, and where each of its parts stands. */
#include "report/page.h"
#include "report/plot.h"
#include "report/resume.h"

#include <math.h>

static void open_part(struct ww_str *s, const char *id, const char *head)
{
	ww_str_addf(s, "<section id=\"%s\" aria-labelledby=\"h-%s\"><h2 id=\"h-%s\">%s</h2>\n", id,
		    id, id, head);
}

/* One digit more than the resolution where that is no finer than 0.1 ms. */
static int decimals(double resolution)
{
	int d = ww_decimals_for(resolution, 3);

	d = d < 2 && resolution < 100 ? d + 1 : d;
	return d > 3 ? 3 : d < 0 ? 0 : d;
}

static void put_or(struct ww_str *s, double v, int d, const char *infinite)
{
	if (isnan(v))
		ww_str_add(s, "\xe2\x80\x93");
	else if (isinf(v))
		ww_str_add(s, v < 0 ? "0" : infinite);
	else
		ww_str_fixed(s, v, d);
}

static void put_range(struct ww_str *s, const double v[2], int d)
{
	if (isnan(v[0]) || (isinf(v[0]) && isinf(v[1]))) {
		ww_str_add(s, "unbounded");
		return;
	}
	put_or(s, v[0], d, "never");
	ww_str_add(s, "\xe2\x80\x93");
	put_or(s, v[1], d, "\xe2\x88\x9e");
}

/* Too few cycles for 95 %: what they give, and how sure that is. */
static void put_few(struct ww_str *s, const struct ww_latency_summary *m, int d)
{
	put_range(s, m->actual_ci, d);
	ww_str_add(s, " (");
	ww_str_fixed(s, floor(m->actual_coverage * 100 + .5), 0);
	ww_str_add(s, " %)");
}

static void put_resolution(struct ww_str *s, double r)
{
	int d = ww_decimals_for(r, 3);

	if (isnan(r)) {
		ww_str_add(s, "\xe2\x80\x93");
		return;
	}
	ww_str_add(s, "\xc2\xb1");
	ww_str_fixed(s, ww_round_for(r, r), d > 3 ? 3 : d);
}

/* ---- verdict ---- */

static void card(struct ww_str *s, const char *head, const char *value, const char *under,
		 const char *class)
{
	ww_str_addf(s, "<div class=\"card %s\"><h3>%s</h3><p class=\"big\">", class, head);
	ww_str_markup(s, value);
	ww_str_add(s, "</p><p>");
	ww_str_markup(s, under);
	ww_str_add(s, "</p></div>\n");
}

static void main_card(struct ww_str *s, const struct ww_page *p)
{
	const struct ww_page_figure *g = &p->figure[p->main];
	const struct ww_latency_summary *m = &g->sum;
	struct ww_str value = {0}, under = {0};
	int d = decimals(m->resolution);

	if (2 * m->bounds > m->n && !isinf(m->median)) {
		ww_resume_at_most(&value, m->median_hi);
		ww_str_add(&value, " ms");
		ww_str_add(&under, "median: bounds only");
	} else {
		put_or(&value, m->median, d, "never");
		ww_str_add(&value, isfinite(m->median) ? " ms" : "");
		ww_str_add(&under, "median");
		if (m->n + m->failures >= 2 && isfinite(m->median_ci[0])) {
			ww_str_add(&under, ", 95 %: ");
			put_range(&under, m->median_ci, d);
		}
		if (m->n + m->failures >= 2 && isinf(m->median_ci[0]) && isinf(m->median_ci[1])) {
			ww_str_add(&under, ", ");
			put_few(&under, m, d);
		}
		ww_str_add(&under, "; resolution ");
		put_resolution(&under, m->resolution);
		ww_str_add(&under, " ms");
	}
	card(s, g->words, value.p ? value.p : "", under.p ? under.p : "", "main");
	s->bad = s->bad || value.bad || under.bad;
	ww_str_free(&value);
	ww_str_free(&under);
}

static void spread_card(struct ww_str *s, const struct ww_page *p)
{
	const struct ww_latency_summary *m = &p->figure[p->main].sum;
	struct ww_str value = {0}, under = {0};
	int d = decimals(m->resolution);

	if (m->n < 2)
		return;
	ww_str_fixed(&value, m->min, d);
	ww_str_add(&value, "\xe2\x80\x93");
	ww_str_fixed(&value, m->max, d);
	ww_str_add(&value, " ms");
	ww_str_add(&under, "of those that ended");
	if (m->n + m->failures >= 10) {
		ww_str_add(&under, "; 9 of 10 within ");
		put_or(&under, m->p90, d, "no");
		ww_str_add(&under, " ms, 19 of 20 within ");
		put_or(&under, m->p95, d, "no");
		ww_str_add(&under, " ms");
	}
	card(s, "shortest to longest", value.p ? value.p : "", under.p ? under.p : "", "");
	s->bad = s->bad || value.bad || under.bad;
	ww_str_free(&value);
	ww_str_free(&under);
}

static void failure_card(struct ww_str *s, const struct ww_page *p)
{
	struct ww_str value = {0}, under = {0};
	uint64_t judged = p->good + p->bad;

	ww_str_addf(&value, "%llu of %llu", (unsigned long long)p->bad, (unsigned long long)judged);
	if (judged) {
		ww_str_add(&under, "95 %: ");
		ww_str_fixed(&under, 100 * p->fail_ci[0], 1);
		ww_str_add(&under, "\xe2\x80\x93");
		ww_str_fixed(&under, 100 * p->fail_ci[1], 1);
		ww_str_add(&under, " %");
	}
	if (p->cycles > judged)
		ww_str_addf(&under, "; %zu not judged", p->cycles - (size_t)judged);
	card(s, "failures", value.p ? value.p : "", under.p ? under.p : "", p->bad ? "failed" : "");
	s->bad = s->bad || value.bad || under.bad;
	ww_str_free(&value);
	ww_str_free(&under);
}

static void slow_card(struct ww_str *s, const struct ww_page *p)
{
	const struct ww_ksum_device *k = p->sum.devices ? &p->sum.device[0] : NULL;
	struct ww_str under = {0};
	double ms = k ? ww_ksum_median(&k->ms) : (double)NAN;

	if (!k || isnan(ms))
		return;
	ww_str_addf(&under, "%s%s%s: median ", k->driver, *k->driver ? ", " : "",
		    ww_page_phase(k->phase));
	ww_str_fixed(&under, ms, ms < 100 ? 2 : 1);
	ww_str_add(&under, " ms");
	card(s, "slowest device", k->name, under.p ? under.p : "", "name");
	s->bad = s->bad || under.bad;
	ww_str_free(&under);
}

/* ---- figures ---- */

static void figure_row(struct ww_str *s, const struct ww_page_figure *g)
{
	const struct ww_latency_summary *m = &g->sum;
	int d = decimals(m->resolution);
	bool bounds = 2 * m->bounds > m->n && !isinf(m->median);

	ww_str_addf(s,
		    "<tr data-key=\"%s\"><th scope=\"row\" class=\"l\">%s</th><td>%llu</td>"
		    "<td%s>%llu</td><td><b>",
		    g->key, g->words, (unsigned long long)m->n,
		    m->failures ? " class=\"badtext\"" : "", (unsigned long long)m->failures);
	if (bounds)
		ww_resume_at_most(s, m->median_hi);
	else
		put_or(s, m->median, d, "never");
	ww_str_add(s, "</b></td><td>");
	if (bounds || m->n + m->failures < 2)
		ww_str_add(s, "\xe2\x80\x93");
	else if (isinf(m->median_ci[0]) && isinf(m->median_ci[1]))
		put_few(s, m, d);
	else
		put_range(s, m->median_ci, d);
	ww_str_add(s, "</td><td>");
	put_resolution(s, m->resolution);
	for (size_t i = 0; i < 4; i++) {
		const double v[] = {m->p90, m->p95, m->min, m->max};

		ww_str_add(s, "</td><td>");
		if (i < 2 && m->n + m->failures < 10)
			ww_str_add(s, "\xe2\x80\x93");
		else
			put_or(s, v[i], d, "never");
	}
	ww_str_add(s, "</td></tr>\n");
}

static void bound_row(struct ww_str *s, const struct ww_page_figure *g)
{
	ww_str_addf(s,
		    "<tr data-key=\"%s\"><th scope=\"row\" class=\"l\">%s</th><td>0</td><td>0</td>"
		    "<td colspan=\"7\" class=\"l\">bounds only, in %llu cycle%s: ",
		    g->key, g->words, (unsigned long long)g->sum.bound_only,
		    g->sum.bound_only == 1 ? "" : "s");
	ww_resume_bound(s, g->sum.bound[0], g->sum.bound[1]);
	ww_str_add(s, "</td></tr>\n");
}

static bool has_figures(const struct ww_page *p)
{
	for (int f = 0; f < WW_PAGE_FIGURES; f++)
		if (p->figure[f].used &&
		    p->figure[f].sum.n + p->figure[f].sum.failures + p->figure[f].sum.bound_only)
			return true;
	return false;
}

static void figures(struct ww_str *s, const struct ww_page *p)
{
	open_part(s, "figures", "Figures over all cycles");
	ww_str_add(s, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"table of "
		      "figures\"><table>\n<caption>ms</caption><thead><tr><th scope=\"col\" "
		      "class=\"l\">what</th><th scope=\"col\">n</th><th scope=\"col\">failures</th>"
		      "<th scope=\"col\">median</th><th scope=\"col\">95 %</th>"
		      "<th scope=\"col\">resolution</th><th scope=\"col\">p90</th>"
		      "<th scope=\"col\">p95</th><th scope=\"col\">least</th>"
		      "<th scope=\"col\">greatest</th></tr></thead>\n<tbody>\n");
	for (int f = 0; f < WW_PAGE_FIGURES; f++) {
		const struct ww_page_figure *g = &p->figure[f];

		if (g->used && g->sum.n + g->sum.failures)
			figure_row(s, g);
		else if (g->used && g->sum.bound_only)
			bound_row(s, g);
	}
	ww_str_add(s, "</tbody></table></div></section>\n");
}

/* ---- time lines ---- */

static void static_lines(struct ww_str *s, const struct ww_page *p)
{
	ww_str_add(s, "<div id=\"still\">\n");
	for (size_t k = 0; k < p->chosens; k++) {
		const struct ww_page_cycle *c = &p->cycle[p->chosen[k]];
		bool typical = k == 0 && p->has_typical;
		struct ww_str value = {0};

		ww_str_addf(s, "<figure><figcaption>%s cycle <b>%u</b>: ",
			    typical ? "A typical one," : "Worth a look,", (unsigned)c->n);
		ww_str_markup(s, c->result);
		if (p->main >= 0)
			ww_page_value(&value, c, p->main);
		if (value.n)
			ww_str_addf(s, ", %s %s ms", p->figure[p->main].words, value.p);
		if (*c->reason) {
			ww_str_add(s, "; ");
			ww_str_markup(s, c->reason);
		}
		s->bad = s->bad || value.bad;
		ww_str_free(&value);
		ww_str_add(s, "</figcaption>\n");
		ww_page_bars(s, p, p->chosen[k]);
		ww_str_addf(s, "<p class=\"quiet\">0 is %s%s</p></figure>\n", c->axis.zero_is,
			    c->axis.folded ? " (left of the fold: falling asleep)" : "");
	}
	ww_str_add(s, "</div>\n");
}

static void worst(struct ww_str *s, const struct ww_page *p)
{
	const char *sep = "";

	if (p->chosens < 2)
		return;
	ww_str_add(s, "<p>Worth a look:");
	for (size_t k = p->has_typical ? 1 : 0; k < p->chosens; k++) {
		const struct ww_page_cycle *c = &p->cycle[p->chosen[k]];
		struct ww_str value = {0};

		ww_str_addf(s, "%s <a href=\"#cycle-%u\">cycle %u</a> (", sep, (unsigned)c->n,
			    (unsigned)c->n);
		sep = ",";
		if (p->main >= 0 && c->good)
			ww_page_value(&value, c, p->main);
		if (value.n)
			ww_str_addf(s, "%s ms)", value.p);
		else
			ww_str_addf(s, "%s)", c->result);
		s->bad = s->bad || value.bad;
		ww_str_free(&value);
	}
	ww_str_add(s, ".</p>\n");
}

/* ---- head ---- */

static void fact(struct ww_str *s, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	ww_str_add(s, "<div><dt>");
	ww_str_markup(s, key);
	ww_str_add(s, "</dt><dd>");
	ww_str_markup(s, value);
	ww_str_add(s, "</dd></div>\n");
}

/* What a reader asks first; the rest is there on demand. */
static bool is_first(const char *key)
{
	static const char *const first[] = {"kernel",	 "board",	"firmware", "host",
					    "mem_sleep", "clocksource", "pm_test"};

	for (size_t i = 0; i < WW_COUNTOF(first); i++)
		if (strcmp(key, first[i]) == 0)
			return true;
	return false;
}

static void dut_facts(struct ww_str *s, const struct ww_resume *r, bool first)
{
	for (size_t i = 0; i < r->dut_n; i++)
		if (is_first(r->dut[2 * i]) == first)
			fact(s, r->dut[2 * i], r->dut[2 * i + 1]);
}

static void recording_facts(struct ww_str *s, const struct ww_resume *r)
{
	struct ww_str start = {0}, port = {0};
	const char *mode = ww_beat_mode_name(r);

	if (r->have_start) {
		ww_str_time(&start, r->start_real_ns, (int32_t)r->utc_offset_s);
		fact(s, "recorded", start.p);
	}
	if (r->scan.beats) {
		ww_str_addf(&port, "%s, %s beats%s%s", r->port,
			    r->scan.stamped ? "stamped" : "plain", mode ? ", mode " : "",
			    mode ? mode : "");
		fact(s, "heartbeat", port.p);
	}
	dut_facts(s, r, true);
	s->bad = s->bad || start.bad || port.bad;
	ww_str_free(&start);
	ww_str_free(&port);
}

static void facts(struct ww_str *s, const struct ww_page *p)
{
	ww_str_add(s, "<dl class=\"facts\">\n");
	if (p->r)
		recording_facts(s, p->r);
	else if (p->cycles && p->cycle[0].pm)
		fact(s, "kernel", p->cycle[0].pm->kernel);
	for (size_t i = 0; i < p->inputs.n; i++)
		fact(s, "read from", p->inputs.note[i]);
	ww_str_add(s, "</dl>\n");
	if (!p->r || p->r->dut_n == 0)
		return;
	ww_str_add(s, "<details><summary>what the machine said of itself</summary><dl "
		      "class=\"facts\">\n");
	dut_facts(s, p->r, false);
	ww_str_add(s, "</dl></details>\n");
}

/* In one line, for the title: "20 cycles, 2 failures". */
void ww_page_summary(struct ww_str *s, const struct ww_page *p)
{
	ww_str_addf(s, "%zu suspend/resume cycle%s, %llu failure%s", p->cycles,
		    p->cycles == 1 ? "" : "s", (unsigned long long)p->bad, p->bad == 1 ? "" : "s");
}

static void verdict(struct ww_str *s, const struct ww_page *p)
{
	ww_str_add(s, "<section id=\"verdict\" aria-label=\"verdict\"><div class=\"cards\">\n");
	if (p->main >= 0) {
		main_card(s, p);
		spread_card(s, p);
	}
	failure_card(s, p);
	slow_card(s, p);
	ww_str_add(s, "</div>\n");
	worst(s, p);
	ww_str_add(s, "</section>\n");
}

static bool has_phases(const struct ww_page *p)
{
	for (int i = 1; i < WW_PM_PHASES; i++)
		if (p->sum.phase[i].n)
			return true;
	return false;
}

static void parts(struct ww_str *s, const struct ww_page *p)
{
	if (p->main >= 0 && p->cycles > 1) {
		open_part(s, "distribution", "Distribution");
		ww_str_addf(s,
			    "<p class=\"quiet\">%s, ms, of each cycle in its order; beside it how "
			    "many lie where. The band: median and its 95&nbsp;%% interval.</p>\n",
			    p->figure[p->main].words);
		ww_page_dots(s, p);
		ww_str_add(s, "</section>\n");
	}
	if (p->cycles) {
		open_part(s, "timeline", "Time line");
		ww_str_add(s, "<div id=\"live\"></div>\n");
		static_lines(s, p);
		ww_str_add(s, "</section>\n");
		open_part(s, "cycles", "Cycles");
		ww_page_cycle_table(s, p);
		ww_str_add(s, "</section>\n");
	}
	if (p->sum.devices) {
		open_part(s, "devices", "Slowest devices");
		ww_page_device_table(s, p);
		ww_str_add(s, "</section>\n");
	}
	if (has_phases(p)) {
		open_part(s, "phases", "Phases");
		ww_page_phase_table(s, p);
		ww_str_add(s, "</section>\n");
	}
	if (has_figures(p))
		figures(s, p);
	open_part(s, "notes", "Notes");
	ww_str_add(s, p->notes.n ? "<ul>\n" : "<p>None.</p>\n");
	for (size_t i = 0; i < p->notes.n; i++) {
		ww_str_add(s, "<li>");
		ww_str_markup(s, p->notes.note[i]);
		ww_str_add(s, "</li>\n");
	}
	ww_str_add(s, p->notes.n ? "</ul>\n</section>\n" : "</section>\n");
}

void ww_page_html(struct ww_str *s, struct ww_page *p)
{
	ww_str_add(s, "<header><h1>");
	ww_str_markup(s, p->title);
	ww_str_add(s, "</h1>\n<p>");
	ww_page_summary(s, p);
	ww_str_add(s, ".</p>\n");
	facts(s, p);
	ww_str_add(s, "</header>\n<main>\n");
	verdict(s, p);
	parts(s, p);
	ww_str_addf(s, "</main>\n<footer>wakewatt %s, %s</footer>\n", ww_version(), p->what);
}
