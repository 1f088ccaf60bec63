/* SPDX-License-Identifier: MIT */
/* Many suspends: a line each, and at the end what they have in common. */
#include "analysis/resume.h"
#include "report/format.h"
#include "report/kernlog.h"
#include "report/length.h"

#include <math.h>

#define WIDTH 100
/* Where the last column begins. */
#define AT 62

static void cell(struct ww_str *s, const struct ww_str *text, size_t width)
{
	size_t n = text->n ? ww_characters(text->p, text->n) : 1;

	ww_put_blanks(s, n < width ? width - n : 1);
	ww_str_add(s, text->n ? text->p : "-");
	s->bad = s->bad || text->bad;
}

static void length_cell(struct ww_str *s, struct ww_interval t, double res, bool seconds,
			size_t width)
{
	struct ww_str v = {0};

	if (seconds && ww_iv_ok(t) && t.lo_ns != WW_TIME_MIN && t.hi_ns != WW_TIME_MAX)
		ww_put_length(&v, (struct ww_interval){t.lo_ns / 1000, t.hi_ns / 1000}, res / 1000);
	else if (!seconds)
		ww_put_length(&v, t, res);
	cell(s, &v, width);
	ww_str_free(&v);
}

/* Names may be of any length: what does not fit ends in dots. */
static void clipped(struct ww_str *s, const struct ww_str *text, size_t width)
{
	size_t at = 0, n = 0, full = text->n ? ww_characters(text->p, text->n) : 0;

	s->bad = s->bad || text->bad;
	if (!text->n)
		return;
	while (at < text->n && n < (full > width ? width - 3 : width)) {
		at += ww_utf8_len((const unsigned char *)text->p + at, text->n - at) ?: 1;
		n++;
	}
	ww_str_addn(s, text->p, at);
	ww_str_add(s, full > width ? "..." : "");
}

void ww_kernlog_text_head(struct ww_str *s)
{
	ww_str_add(
		s,
		"cycle  mode     result      suspend ms  slept s    resume ms  slowest callback, "
		"or why not\n");
}

void ww_kernlog_text_row(struct ww_str *s, const struct ww_pm_cycle *c)
{
	const struct ww_pm_device *d = ww_pm_slowest(c);
	struct ww_str last = {0};

	ww_str_addf(s, "%5u  %-7s  %-9s", (unsigned)c->n,
		    c->mode == WW_PM_MODE_UNKNOWN ? "-" : ww_pm_mode_name(c->mode),
		    ww_pm_result_name(c->result));
	length_cell(s, c->suspend, c->stamp_res_ns, false, 13);
	length_cell(s, c->slept, c->stamp_res_ns, true, 9);
	length_cell(s, c->resume, c->stamp_res_ns, false, 13);
	if (c->result != WW_PM_OK && c->result != WW_PM_TEST) {
		ww_pm_why_brief(&last, c);
	} else if (d) {
		ww_put_length(&last, d->length, c->stamp_res_ns);
		ww_str_addf(&last, " %s%s", d->driver, *d->driver ? " " : "");
		ww_str_plain(&last, d->name);
		ww_str_addf(&last, ", %s", d->phase > 0 ? ww_pm_phase_name(d->phase) : "?");
	}
	ww_str_add(s, last.n ? "  " : "");
	clipped(s, &last, WIDTH - AT);
	ww_str_add(s, "\n");
	ww_str_free(&last);
}

/* ---- what they have in common ---- */

static void results(struct ww_str *s, const char *who, const struct ww_ksum *sum)
{
	const char *sep = "";

	ww_str_addf(s, "\n%llu cycle%s%s: ", (unsigned long long)sum->cycles,
		    sum->cycles == 1 ? "" : "s", who);
	for (int i = 0; i < WW_PM_RESULTS; i++) {
		if (sum->results[i] == 0)
			continue;
		ww_str_addf(s, "%s%llu %s", sep, (unsigned long long)sum->results[i],
			    ww_pm_result_name(i));
		sep = ", ";
	}
	ww_str_add(s, "\n");
	for (size_t i = 0; i < sum->reasons; i++) {
		struct ww_str line = {0};

		ww_str_addf(&line, "  %llu x ", (unsigned long long)sum->reason[i].n);
		ww_str_add(&line, sum->reason[i].text);
		ww_str_addf(&line, "; first cycle %u", (unsigned)sum->reason[i].first);
		s->bad = s->bad || line.bad;
		if (!line.bad)
			ww_put_wrapped(s, line.p, 6, 90);
		ww_str_free(&line);
	}
}

static void ms(struct ww_str *cell, double v)
{
	if (isfinite(v))
		ww_str_fixed(cell, v, v < 1000 ? 3 : 1);
}

enum { C_NAME, C_N, C_FAILED, C_MEDIAN, C_CI, C_MIN, C_MAX, C_WORST, C_COLUMNS };

static void values_row(struct ww_grid *g, const char *name, const struct ww_ksum_values *v)
{
	struct ww_str *row;

	if (v->n == 0 || !(row = ww_grid_row(g)))
		return;
	ww_str_addf(&row[C_NAME], "  %s", name);
	ww_str_addf(&row[C_N], "%llu", (unsigned long long)v->n);
	ms(&row[C_MEDIAN], ww_ksum_median(v));
	ms(&row[C_MIN], v->min);
	ms(&row[C_MAX], v->max);
	ww_str_addf(&row[C_WORST], "%u", (unsigned)v->max_cycle);
}

static void never_or(struct ww_str *cell, double v)
{
	if (isinf(v))
		ww_str_add(cell, "never");
	else
		ms(cell, v);
}

static bool sum_of(struct ww_str *s, const struct ww_ksum_whole *w, struct ww_latency_summary *out)
{
	if (w->n == 0)
		return false;
	if (ww_latency_summarise(w->v, w->n, w->failures, out, NULL) == 0)
		return true;
	s->bad = true;
	return false;
}

static void whole_row(struct ww_grid *g, struct ww_str *s, const char *name,
		      const struct ww_ksum_whole *w)
{
	struct ww_latency_summary m;
	struct ww_str *row;

	if (!sum_of(s, w, &m) || !(row = ww_grid_row(g)))
		return;
	ww_str_addf(&row[C_NAME], "  %s", name);
	ww_str_addf(&row[C_N], "%llu", (unsigned long long)w->n);
	if (w->failures)
		ww_str_addf(&row[C_FAILED], "%llu", (unsigned long long)w->failures);
	never_or(&row[C_MEDIAN], m.median);
	if (isfinite(m.median_ci[0]) && !isnan(m.median_ci[1])) {
		ms(&row[C_CI], m.median_ci[0]);
		ww_str_add(&row[C_CI], "\xe2\x80\x93");
		never_or(&row[C_CI], m.median_ci[1]);
	}
	ms(&row[C_MIN], m.min);
	ms(&row[C_MAX], m.max);
	if (w->most_cycle)
		ww_str_addf(&row[C_WORST], "%u", (unsigned)w->most_cycle);
}

/* A console that took no time leaves both figures alike. */
static bool differ(const struct ww_ksum *sum, int plain, int corrected)
{
	const struct ww_ksum_whole *p = &sum->total[plain], *c = &sum->total[corrected];

	for (size_t i = 0; p->n == c->n && i < p->n; i++)
		if (ww_pm_corrects(p->v[i], c->v[i]))
			return true;
	return false;
}

static void phases(struct ww_str *s, const struct ww_ksum *sum)
{
	static const char *const head[] = {"  ms",   "n",     "failed", "median",
					   "(95 %)", "least", "most",	"in cycle"};
	struct ww_grid g = {.columns = C_COLUMNS, .left = 1u << C_NAME};

	ww_grid_head(&g, head);
	whole_row(&g, s, "suspend, all of it", &sum->total[WW_KSUM_SUSPEND]);
	if (differ(sum, WW_KSUM_SUSPEND, WW_KSUM_SUSPEND_CORRECTED))
		whole_row(&g, s, "  without the console", &sum->total[WW_KSUM_SUSPEND_CORRECTED]);
	whole_row(&g, s, "resume, all of it", &sum->total[WW_KSUM_RESUME]);
	if (differ(sum, WW_KSUM_RESUME, WW_KSUM_RESUME_CORRECTED))
		whole_row(&g, s, "  without the console", &sum->total[WW_KSUM_RESUME_CORRECTED]);
	whole_row(&g, s, "slept", &sum->total[WW_KSUM_SLEPT]);
	for (int p = 1; p < WW_PM_PHASES; p++)
		values_row(&g, ww_pm_phase_name(p), &sum->phase[p]);
	ww_str_add(s, g.rows > 1 ? "\n" : "");
	ww_grid_print(s, &g);
}

enum { E_MEDIAN, E_MAX, E_WORST, E_CORRECTED, E_OWN, E_N, E_PHASE, E_ERRORS, E_NAME, E_COLUMNS };

static void device_row(struct ww_grid *g, const struct ww_ksum_device *d)
{
	double median = ww_ksum_median(&d->ms), corrected = ww_ksum_median(&d->corrected);
	struct ww_str *row = ww_grid_row(g);

	if (!row)
		return;
	ms(&row[E_MEDIAN], median);
	ms(&row[E_MAX], d->ms.n ? d->ms.max : (double)NAN);
	ww_str_addf(&row[E_WORST], "%u", (unsigned)d->ms.max_cycle);
	if (median - corrected >= .02)
		ms(&row[E_CORRECTED], corrected);
	ms(&row[E_OWN], ww_ksum_median(&d->own));
	ww_str_addf(&row[E_N], "%llu", (unsigned long long)d->ms.n);
	ww_str_add(&row[E_PHASE], d->phase > 0 ? ww_pm_phase_name(d->phase) : "?");
	if (d->errors)
		ww_str_addf(&row[E_ERRORS], "%llu x %d", (unsigned long long)d->errors,
			    (int)d->error);
	ww_str_addf(&row[E_NAME], "%s%s%s", d->driver, *d->driver ? " " : "", d->name);
}

static void devices(struct ww_str *s, struct ww_ksum *sum, size_t top)
{
	static const char *const head[] = {"  median ms", "most",     "in cycle",
					   "corrected",	  "critical", "n",
					   "phase",	  "errors",   "driver device"};
	struct ww_grid g = {.columns = E_COLUMNS, .left = 1u << E_PHASE | 1u << E_NAME};

	if (sum->devices == 0)
		return;
	ww_ksum_sort(sum);
	ww_grid_head(&g, head);
	for (size_t i = 0; i < sum->devices && i < top; i++)
		device_row(&g, &sum->device[i]);
	ww_str_add(s, "\n  callbacks that took most time over all cycles\n");
	ww_grid_print(s, &g);
}

void ww_kernlog_text_summary(struct ww_str *s, const char *who, struct ww_ksum *sum, size_t top)
{
	results(s, who, sum);
	phases(s, sum);
	devices(s, sum, top);
}

/* ---- the same as JSON ---- */

static void json_values(struct ww_json *j, const char *key, const struct ww_ksum_values *v)
{
	if (v->n == 0)
		return;
	ww_json_open(j, key, '{');
	ww_json_int(j, "n", (int64_t)v->n);
	ww_json_trimmed(j, "median", ww_ksum_median(v), 6);
	ww_json_trimmed(j, "min", v->min, 6);
	ww_json_trimmed(j, "max", v->max, 6);
	ww_json_int(j, "max_cycle", v->max_cycle);
	ww_json_close(j, '}');
}

static void json_whole(struct ww_json *j, const char *key, const struct ww_ksum_whole *w)
{
	struct ww_latency_summary m;

	if (!sum_of(j->s, w, &m))
		return;
	ww_json_open(j, key, '{');
	ww_json_int(j, "n", (int64_t)w->n);
	ww_json_int(j, "failures", (int64_t)w->failures);
	ww_json_trimmed(j, "median", m.median, 6);
	ww_json_open(j, "ci95", '[');
	ww_json_trimmed(j, NULL, m.median_ci[0], 6);
	ww_json_trimmed(j, NULL, m.median_ci[1], 6);
	ww_json_close(j, ']');
	ww_json_trimmed(j, "resolution", m.resolution, 6);
	ww_json_trimmed(j, "min", m.min, 6);
	ww_json_trimmed(j, "max", m.max, 6);
	ww_json_int(j, "max_cycle", w->most_cycle);
	ww_json_close(j, '}');
}

static void json_devices(struct ww_json *j, struct ww_ksum *s, size_t top)
{
	ww_ksum_sort(s);
	ww_json_open(j, "slowest", '[');
	for (size_t i = 0; i < s->devices && i < top; i++) {
		const struct ww_ksum_device *d = &s->device[i];

		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", d->name);
		ww_json_text(j, "driver", d->driver);
		ww_json_text(j, "phase", d->phase > 0 ? ww_pm_phase_name(d->phase) : NULL);
		json_values(j, "ms", &d->ms);
		json_values(j, "corrected_ms", &d->corrected);
		json_values(j, "critical_ms", &d->own);
		ww_json_int(j, "errors", (int64_t)d->errors);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

void ww_kernlog_json_summary(struct ww_json *j, const char *key, struct ww_ksum *s, size_t top)
{
	ww_json_open(j, key, '{');
	ww_json_int(j, "cycles", (int64_t)s->cycles);
	ww_json_open(j, "results", '{');
	for (int i = 0; i < WW_PM_RESULTS; i++)
		if (s->results[i])
			ww_json_int(j, ww_pm_result_name(i), (int64_t)s->results[i]);
	ww_json_close(j, '}');
	ww_json_open(j, "reasons", '[');
	for (size_t i = 0; i < s->reasons; i++) {
		ww_json_open(j, NULL, '{');
		ww_json_text(j, "text", s->reason[i].text);
		ww_json_int(j, "n", (int64_t)s->reason[i].n);
		ww_json_int(j, "first_cycle", s->reason[i].first);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
	json_whole(j, "suspend_ms", &s->total[WW_KSUM_SUSPEND]);
	json_whole(j, "resume_ms", &s->total[WW_KSUM_RESUME]);
	json_whole(j, "slept_ms", &s->total[WW_KSUM_SLEPT]);
	json_whole(j, "suspend_corrected_ms", &s->total[WW_KSUM_SUSPEND_CORRECTED]);
	json_whole(j, "resume_corrected_ms", &s->total[WW_KSUM_RESUME_CORRECTED]);
	ww_json_open(j, "phases", '{');
	for (int p = 1; p < WW_PM_PHASES; p++)
		json_values(j, ww_pm_phase_name(p), &s->phase[p]);
	ww_json_close(j, '}');
	json_devices(j, s, top);
	ww_json_close(j, '}');
}
