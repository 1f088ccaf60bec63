/* SPDX-License-Identifier: MIT */
/*
 * What the page's script draws from, as JSON: moments in whole us from the cycle's zero,
 * lengths in ns as [lo, hi], names by their number in a list.
 */
#include "report/length.h"
#include "report/page.h"
#include "report/resume.h"

#include <math.h>

static int64_t us(const struct ww_page_axis *a, int64_t t)
{
	int64_t d = t - a->zero;

	return d >= 0 ? d / 1000 : -((999 - d) / 1000);
}

static void moment(struct ww_json *j, const struct ww_page_axis *a, int64_t t)
{
	if (t == WW_TIME_MIN || t == WW_TIME_MAX)
		ww_json_null(j, NULL);
	else
		ww_json_int(j, NULL, us(a, t));
}

static void length(struct ww_json *j, struct ww_interval t)
{
	bool known = ww_iv_ok(t);

	if (known && t.lo_ns != WW_TIME_MIN)
		ww_json_int(j, NULL, t.lo_ns);
	else
		ww_json_null(j, NULL);
	if (known && t.hi_ns != WW_TIME_MAX)
		ww_json_int(j, NULL, t.hi_ns);
	else
		ww_json_null(j, NULL);
}

static void name(struct ww_json *j, struct ww_page *p, const char *text)
{
	ww_json_int(j, NULL, ww_names_index(&p->names, text));
}

static void values(struct ww_json *j, const struct ww_page *p, const struct ww_page_cycle *c)
{
	ww_json_open(j, "v", '[');
	for (int f = 0; f < WW_PAGE_FIGURES; f++) {
		if (!p->figure[f].used || !ww_iv_ok(c->value[f]))
			continue;
		ww_json_open(j, NULL, '[');
		ww_json_int(j, NULL, f);
		length(j, c->value[f]);
		ww_json_close(j, ']');
	}
	ww_json_close(j, ']');
}

static void events(struct ww_json *j, struct ww_page *p, const struct ww_page_cycle *c)
{
	if (!c->out)
		return;
	ww_json_open(j, "ev", '[');
	for (int e = 0; e < WW_EV_COUNT; e++) {
		struct ww_interval t = c->out->c.event[e];

		if (!ww_iv_ok(t))
			continue;
		ww_json_open(j, NULL, '[');
		name(j, p, ww_event_name(e));
		moment(j, &c->axis, t.lo_ns);
		moment(j, &c->axis, t.hi_ns == WW_TIME_MAX ? t.hi_ns : t.hi_ns + 999);
		ww_json_close(j, ']');
	}
	ww_json_close(j, ']');
	ww_json_open(j, "st", '[');
	for (size_t i = 0; i < c->out->c.stalls; i++) {
		const struct ww_stall *s = &c->out->c.stall[i];

		ww_json_open(j, NULL, '[');
		moment(j, &c->axis, s->t.lo_ns);
		moment(j, &c->axis, s->t.hi_ns);
		length(j, s->length);
		ww_json_close(j, ']');
	}
	ww_json_close(j, ']');
}

static void spans(struct ww_json *j, struct ww_page *p, size_t at, const struct ww_page_cycle *c)
{
	ww_json_open(j, "ph", '[');
	for (size_t i = 0; i < c->pm->spans; i++) {
		const struct ww_pm_span *s = &c->pm->span[i];
		const char *verb = ww_pm_verb_name(s->verb);
		int64_t a = WW_TIME_MIN, b = WW_TIME_MAX;
		struct ww_quantity q;

		if (!ww_page_span(p, at, s, &a, &b)) {
			a = WW_TIME_MIN;
			b = WW_TIME_MAX;
		}
		ww_json_open(j, NULL, '[');
		ww_json_int(j, NULL, s->phase);
		name(j, p, verb ? verb : "");
		moment(j, &c->axis, a);
		moment(j, &c->axis, b);
		length(j, s->length);
		length(j, s->corrected);
		ww_json_int(j, NULL, (s->failed ? 1 : 0) | (s->nested ? 2 : 0));
		if (p->r && ww_resume_span_energy(p->r, at, s, &q)) {
			ww_json_trimmed(j, NULL, q.value, ww_decimals_for(q.u, 4) + 1);
			ww_json_trimmed(j, NULL, q.u, ww_decimals_for(q.u, 4) + 1);
		}
		ww_json_close(j, ']');
	}
	ww_json_close(j, ']');
}

static void devices(struct ww_json *j, struct ww_page *p, const struct ww_page_cycle *c)
{
	ww_json_open(j, "dv", '[');
	for (size_t i = 0; i < c->pm->devices; i++) {
		const struct ww_pm_device *d = &c->pm->device[i];
		bool placed = c->lane && c->lane[i] != UINT16_MAX;

		ww_json_open(j, NULL, '[');
		name(j, p, d->name);
		name(j, p, d->driver);
		ww_json_int(j, NULL, d->phase);
		ww_json_int(j, NULL, placed ? c->lane[i] : -1);
		moment(j, &c->axis, placed ? c->start[i] : WW_TIME_MIN);
		moment(j, &c->axis, placed ? c->end[i] : WW_TIME_MAX);
		length(j, d->length);
		length(j, d->corrected);
		ww_json_int(j, NULL, d->error);
		ww_json_int(j, NULL,
			    (d->async == 1 ? 1 : 0) | (d->critical == 1 ? 2 : 0) |
				    (d->end_ns == WW_TIME_MAX && !ww_iv_ok(d->length) ? 4 : 0));
		ww_json_int(j, NULL, d->critical == 1 ? d->critical_ns : 0);
		name(j, p, d->func);
		name(j, p, d->parent);
		ww_json_close(j, ']');
	}
	ww_json_close(j, ']');
}

static void others(struct ww_json *j, struct ww_page *p, size_t at, const struct ww_page_cycle *c)
{
	ww_json_open(j, "ot", '[');
	for (size_t i = 0; i < c->pm->others; i++) {
		const struct ww_pm_other *o = &c->pm->other[i];
		int64_t a = WW_TIME_MIN;

		if (o->start_ns != WW_TIME_MIN && !ww_page_place(p, at, o->start_ns, &a))
			a = WW_TIME_MIN;
		ww_json_open(j, NULL, '[');
		name(j, p, o->what);
		moment(j, &c->axis, a);
		length(j, o->length);
		name(j, p, o->before);
		name(j, p, o->after);
		ww_json_close(j, ']');
	}
	ww_json_close(j, ']');
	ww_json_open(j, "er", '[');
	for (size_t i = 0; i < c->pm->errors; i++)
		ww_json_text(j, NULL, c->pm->error[i]);
	for (size_t i = 0; i < c->pm->contradictions; i++)
		ww_json_text(j, NULL, c->pm->contradiction[i]);
	ww_json_close(j, ']');
	if (c->left_out)
		ww_json_int(j, "lo", (int64_t)c->left_out);
}

/* A power of ten of which the greatest value has some thousand. */
static double step_of(const struct ww_page_series *s)
{
	double most = 0, step = 1e-9;

	for (size_t i = 0; i < s->n; i++)
		most = fmax(most, fmax(fabs(s->point[i].lo), fabs(s->point[i].hi)));
	while (step * 1e4 < most)
		step *= 10;
	return step;
}

static int64_t steps(double v, double step)
{
	return llround(step < 1 ? v * round(1 / step) : v / step);
}

/*
 * Runs of bins with something in them: [first bin, value, value ...]; of watts least and
 * width in turns, in whole steps.
 */
static void runs(struct ww_json *j, const struct ww_page_series *s, double step)
{
	for (size_t k = 0; k < s->n; k++) {
		const struct ww_page_point *q = &s->point[k];

		if (k == 0 || q->bin != q[-1].bin + 1) {
			if (k)
				ww_json_close(j, ']');
			ww_json_open(j, NULL, '[');
			ww_json_int(j, NULL, q->bin);
		}
		if (*s->unit) {
			ww_json_int(j, NULL, steps(q->lo, step));
			ww_json_int(j, NULL, steps(q->hi, step) - steps(q->lo, step));
		} else {
			ww_json_int(j, NULL, (int64_t)q->lo);
		}
	}
	ww_json_close(j, ']');
}

static void series(struct ww_json *j, const struct ww_page_cycle *c)
{
	ww_json_open(j, "se", '[');
	for (size_t i = 0; i < c->serieses; i++) {
		const struct ww_page_series *s = &c->series[i];
		double step = step_of(s);

		if (s->n == 0)
			continue;
		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", s->name);
		ww_json_text(j, "unit", s->unit);
		if (*s->unit)
			ww_json_num(j, "d", step < 1 ? round(1 / step) : 1 / step);
		ww_json_open(j, "p", '[');
		runs(j, s, step);
		ww_json_close(j, ']');
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void cycle(struct ww_json *j, struct ww_page *p, size_t i)
{
	const struct ww_page_cycle *c = &p->cycle[i];

	ww_json_open(j, NULL, '{');
	ww_json_int(j, "n", c->n);
	ww_json_text(j, "r", c->result);
	ww_json_int(j, "g", c->good ? 1 : c->bad ? -1 : 0);
	ww_json_text(j, "why", c->reason);
	values(j, p, c);
	ww_json_open(j, "ax", '[');
	moment(j, &c->axis, c->axis.lo);
	moment(j, &c->axis, c->axis.hi);
	if (c->axis.folded) {
		moment(j, &c->axis, c->axis.f0);
		moment(j, &c->axis, c->axis.f1);
		moment(j, &c->axis, c->axis.asleep);
	}
	ww_json_close(j, ']');
	ww_json_text(j, "z", c->axis.zero_is);
	events(j, p, c);
	if (c->pm) {
		const char *mode = ww_pm_mode_name(c->pm->mode);

		ww_json_text(j, "mode", mode && c->pm->mode != WW_PM_MODE_UNKNOWN ? mode : "");
		ww_json_text(j, "kr", ww_pm_result_name(c->pm->result));
		if (ww_iv_ok(c->pm->firmware_suspend) || ww_iv_ok(c->pm->firmware_resume)) {
			ww_json_open(j, "fw", '[');
			length(j, c->pm->firmware_suspend);
			length(j, c->pm->firmware_resume);
			ww_json_close(j, ']');
		}
		spans(j, p, i, c);
		devices(j, p, c);
		others(j, p, i, c);
	}
	series(j, c);
	ww_json_close(j, '}');
}

static void figures(struct ww_json *j, const struct ww_page *p)
{
	ww_json_open(j, "figures", '{');
	for (int f = 0; f < WW_PAGE_FIGURES; f++) {
		const struct ww_page_figure *g = &p->figure[f];
		char key[16];

		if (!g->used)
			continue;
		ww_num_text(key, sizeof(key), f);
		ww_json_open(j, key, '{');
		ww_json_text(j, "key", g->key);
		ww_json_text(j, "head", g->head);
		ww_json_text(j, "words", g->words);
		ww_json_int(j, "n", (int64_t)g->sum.n);
		ww_json_int(j, "failures", (int64_t)g->sum.failures);
		ww_json_trimmed(j, "median", g->sum.median, 4);
		ww_json_open(j, "ci95", '[');
		ww_json_trimmed(j, NULL, g->sum.median_ci[0], 4);
		ww_json_trimmed(j, NULL, g->sum.median_ci[1], 4);
		ww_json_close(j, ']');
		ww_json_trimmed(j, "resolution", g->sum.resolution, 4);
		ww_json_trimmed(j, "p90", g->sum.p90, 4);
		ww_json_trimmed(j, "p95", g->sum.p95, 4);
		ww_json_trimmed(j, "min", g->sum.min, 4);
		ww_json_trimmed(j, "max", g->sum.max, 4);
		ww_json_close(j, '}');
	}
	ww_json_close(j, '}');
}

void ww_page_data(struct ww_str *s, struct ww_page *p)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/page/1");
	ww_json_int(&j, "main", p->main);
	ww_json_int(&j, "bins", WW_PAGE_BINS);
	figures(&j, p);
	ww_json_open(&j, "phases", '[');
	for (int i = 0; i < WW_PM_PHASES; i++)
		ww_json_text(&j, NULL, ww_page_phase(i));
	ww_json_close(&j, ']');
	ww_json_open(&j, "chosen", '[');
	for (size_t i = 0; i < p->chosens; i++)
		ww_json_int(&j, NULL, (int64_t)p->chosen[i]);
	ww_json_close(&j, ']');
	ww_json_bool(&j, "typical", p->has_typical);
	ww_json_open(&j, "cycles", '[');
	for (size_t i = 0; i < p->cycles; i++)
		cycle(&j, p, i);
	ww_json_close(&j, ']');
	/* Last, because the cycles add to it. */
	ww_json_open(&j, "names", '[');
	for (size_t i = 0; i < p->names.n; i++)
		ww_json_text(&j, NULL, p->names.text[i]);
	ww_json_close(&j, ']');
	ww_json_close(&j, '}');
}
