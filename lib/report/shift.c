/* SPDX-License-Identifier: MIT */
/* Two sets of cycles beside each other, as text. */
#include "report/shift.h"

#include <math.h>

#define LISTED_MOST 20

double ww_shift_grain(const struct ww_shift_row *r)
{
	double width = (r->ci[1] - r->ci[0]) / 4;
	double median = isfinite(r->median[0]) ? r->median[0] : r->median[1];

	if (isfinite(width) && width > 0)
		return width;
	/* Nothing tells how far the figure is sure: a few digits. */
	if (isfinite(median) && median != 0)
		return fmax(r->resolution, fabs(median) / 100);
	return r->resolution > 0 ? r->resolution : NAN;
}

void ww_shift_put(struct ww_str *s, double v, double grain, bool sign)
{
	if (isnan(v))
		return;
	if (sign && !(v < 0))
		ww_str_add(s, "+");
	if (isinf(v)) {
		ww_str_add(s, sign ? (v < 0 ? "-\xe2\x88\x9e" : "\xe2\x88\x9e") : "never");
		return;
	}
	/* Sums of printed figures end in noise of the binary fractions. */
	if (!(grain > 0))
		ww_str_fixed(s, v, ww_plain_decimals(v));
	else
		ww_str_fixed(s, ww_round_for(v, grain), ww_decimals_for(grain, 2));
}

void ww_shift_put_ci(struct ww_str *s, const struct ww_shift_row *r)
{
	double grain = ww_shift_grain(r);
	bool lo = isfinite(r->ci[0]), hi = isfinite(r->ci[1]);

	if (isnan(r->shift) || (!lo && !hi))
		return;
	if (!lo)
		ww_str_add(s, "at most ");
	if (!hi)
		ww_str_add(s, "at least ");
	if (lo)
		ww_shift_put(s, r->ci[0], grain, true);
	if (lo && hi)
		ww_str_add(s, " to ");
	if (hi)
		ww_shift_put(s, r->ci[1], grain, true);
}

void ww_shift_put_p(struct ww_str *s, double p)
{
	if (isnan(p))
		return;
	if (p < 1e-6)
		ww_str_add(s, "<0.000001");
	else
		ww_str_fixed(s, p, p < 0.1 ? ww_decimals_for(p, 2) : 2);
}

void ww_shift_put_percent(struct ww_str *s, const struct ww_shift_row *r)
{
	double part = 100 * r->shift / r->median[0];

	if (!isfinite(part))
		return;
	if (part >= 0)
		ww_str_add(s, "+");
	ww_str_fixed(s, part, fabs(part) < 99.5 ? 1 : 0);
	ww_str_add(s, " %");
}

void ww_shift_put_verdict(struct ww_str *s, const struct ww_shift_row *r)
{
	bool time = strcmp(r->unit, "ms") == 0;

	if (r->verdict == WW_SHIFT_SLOWER && !time)
		ww_str_add(s, "more");
	else if (r->verdict == WW_SHIFT_FASTER && !time)
		ww_str_add(s, "less");
	else
		ww_str_add(s, ww_shift_verdict_name(r->verdict));
	if (r->verdict == WW_SHIFT_BELOW_RESOLUTION) {
		ww_str_add(s, " (");
		ww_shift_put(s, r->resolution, r->resolution, false);
		ww_str_addf(s, " %s)", r->unit);
	} else if (r->verdict == WW_SHIFT_NONE && isfinite(r->mdd)) {
		ww_str_add(s, " (");
		ww_shift_put(s, r->mdd, r->mdd, false);
		ww_str_addf(s, " %s would show)", r->unit);
	}
}

bool ww_shift_moved(const struct ww_shift_row *r)
{
	return r->verdict == WW_SHIFT_SLOWER || r->verdict == WW_SHIFT_FASTER ||
	       r->verdict == WW_SHIFT_ONLY_A || r->verdict == WW_SHIFT_ONLY_B;
}

bool ww_shift_device(const struct ww_shift_row *r)
{
	return strcmp(r->kind, "device") == 0;
}

bool ww_shift_whole(const struct ww_shift_row *r)
{
	return !ww_shift_device(r) && strcmp(r->kind, "phase") != 0 &&
	       strcmp(r->kind, "other") != 0;
}

size_t ww_shift_listed(const struct ww_shift *s, bool devices, size_t *moved)
{
	size_t n = 0;

	*moved = 0;
	for (size_t i = 0; i < s->rows; i++) {
		if (ww_shift_whole(&s->row[i]) || ww_shift_device(&s->row[i]) != devices)
			continue;
		n++;
		*moved += ww_shift_moved(&s->row[i]);
	}
	if (s->top)
		return n < s->top ? n : s->top;
	return *moved < LISTED_MOST ? *moved : LISTED_MOST;
}

static void put_rate(struct ww_str *s, const struct ww_shift_side *a)
{
	if (!a->failures)
		return;
	ww_str_addf(s, ", %llu failed (", (unsigned long long)a->failures);
	ww_str_fixed(s, 100 * (double)a->failures / (double)a->judged, 1);
	ww_str_add(s, " %; 95 %: ");
	ww_str_fixed(s, 100 * a->rate_ci[0], 1);
	ww_str_add(s, "-");
	ww_str_fixed(s, 100 * a->rate_ci[1], 1);
	ww_str_add(s, " %)");
}

static void put_side(struct ww_str *s, char letter, const struct ww_shift_side *a)
{
	ww_str_addf(s, "%c  ", letter);
	ww_str_plain(s, a->name);
	ww_str_addf(s, ": %llu cycle%s", (unsigned long long)a->cycles, a->cycles == 1 ? "" : "s");
	put_rate(s, a);
	ww_str_add(s, "\n");
}

static void put_failures(struct ww_str *s, const struct ww_shift *t)
{
	if (!t->side[0].failures && !t->side[1].failures)
		return;
	ww_str_addf(s, "failures: %llu of %llu and %llu of %llu",
		    (unsigned long long)t->side[0].failures, (unsigned long long)t->side[0].judged,
		    (unsigned long long)t->side[1].failures, (unsigned long long)t->side[1].judged);
	if (!isnan(t->failures_p)) {
		ww_str_add(s, ", p ");
		ww_shift_put_p(s, t->failures_p);
		ww_str_add(s, t->failures_p <= WW_SHIFT_ALPHA ? ": they differ"
							      : ": no difference seen");
	}
	ww_str_add(s, "\n");
}

static void unit(struct ww_str *s, double v, const char *name)
{
	if (isfinite(v))
		ww_str_addf(s, " %s", name);
}

static void row(struct ww_grid *g, const struct ww_shift_row *r, const char *name)
{
	struct ww_str *cell = ww_grid_row(g);
	double grain = ww_shift_grain(r);

	if (!cell)
		return;
	ww_str_plain(&cell[0], name);
	for (int i = 0; i < 2; i++) {
		ww_shift_put(&cell[1 + i], r->median[i], grain, false);
		unit(&cell[1 + i], r->median[i], r->unit);
	}
	ww_shift_put(&cell[3], r->shift, grain, true);
	unit(&cell[3], r->shift, r->unit);
	ww_shift_put_percent(&cell[4], r);
	ww_shift_put_ci(&cell[5], r);
	ww_shift_put_p(&cell[6], r->p_adjusted);
	ww_shift_put_verdict(&cell[7], r);
}

static void wholes(struct ww_str *s, const struct ww_shift *t)
{
	static const char *const head[] = {"median", "A", "B", "B - A", "", "95 %", "p", "verdict"};
	struct ww_grid g = {.columns = WW_COUNTOF(head), .left = 1 | 1 << 7};

	ww_grid_head(&g, head);
	for (size_t i = 0; i < t->rows; i++)
		if (ww_shift_whole(&t->row[i]))
			row(&g, &t->row[i], t->row[i].name);
	ww_str_add(s, "\n");
	ww_grid_print(s, &g);
}

static void part(struct ww_grid *g, const struct ww_shift_row *r, const struct ww_shift_extra *x)
{
	struct ww_str *cell = ww_grid_row(g);
	double grain = ww_shift_grain(r);

	if (!cell)
		return;
	ww_shift_put(&cell[0], r->shift, grain, true);
	ww_shift_put_ci(&cell[1], r);
	ww_shift_put(&cell[2], r->median[0], grain, false);
	ww_shift_put(&cell[3], r->median[1], grain, false);
	if (ww_shift_device(r) && (x->own[0] > 0 || x->own[1] > 0)) {
		ww_shift_put(&cell[4], x->own[0], grain, false);
		ww_shift_put(&cell[5], x->own[1], grain, false);
	}
	ww_shift_put_p(&cell[6], r->p_adjusted);
	ww_shift_put_verdict(&cell[7], r);
	if (ww_shift_device(r)) {
		ww_str_plain(&cell[8], x->device);
		ww_str_plain(&cell[9], x->driver);
		ww_str_plain(&cell[10], x->phase);
	} else {
		ww_str_plain(&cell[8], strchr(r->name, ' ') + 1);
	}
}

static void parts(struct ww_str *s, const struct ww_shift *t, bool devices)
{
	const char *const head[] = {"B - A ms", "95 %",	      "A ms",
				    "B ms",	"critical A", "critical B",
				    "p",	"verdict",    devices ? "device" : "phase",
				    "driver",	"phase"};
	struct ww_grid g = {.columns = WW_COUNTOF(head), .left = 0x780};
	size_t moved, n = ww_shift_listed(t, devices, &moved), k = 0, all = 0, alone = 0;
	const char *what = devices ? "callbacks of devices" : "phases";

	for (size_t i = 0; i < t->rows; i++) {
		const struct ww_shift_row *r = &t->row[i];
		bool mine = !ww_shift_whole(r) && ww_shift_device(r) == devices;

		all += mine;
		alone += mine && (r->verdict == WW_SHIFT_ONLY_A || r->verdict == WW_SHIFT_ONLY_B);
	}
	if (!all)
		return;
	ww_str_addf(s, "\n%s that moved: %zu of %zu", what, moved - alone, all);
	if (alone)
		ww_str_addf(s, "; only in one of the two: %zu", alone);
	ww_str_add(s, "\n");
	ww_grid_head(&g, head);
	for (size_t i = 0; i < t->rows && k < n; i++) {
		if (ww_shift_whole(&t->row[i]) || ww_shift_device(&t->row[i]) != devices)
			continue;
		part(&g, &t->row[i], &t->extra[i]);
		k++;
	}
	ww_grid_print(s, &g);
}

/* What decided: the near end of the interval, or both where it holds the limit. */
static void put_found(struct ww_str *s, const struct ww_shift_cond *c)
{
	bool both = c->state == WW_COND_UNDECIDED && isfinite(c->value) && isfinite(c->upper);
	double v = c->state == WW_COND_NOT_MET || !isfinite(c->value) ? c->upper : c->value;

	ww_str_add(s, ": ");
	if (both) {
		ww_shift_put(s, c->value, c->grain, true);
		ww_str_add(s, " to ");
		v = c->upper;
	} else if (!c->median) {
		ww_str_add(s, v == c->upper ? "at most " : "at least ");
	}
	ww_shift_put(s, v, c->grain, true);
	unit(s, v, c->unit);
}

void ww_shift_put_state(struct ww_str *s, const struct ww_shift_cond *c)
{
	static const char *const names[] = {"not met", "met", "not decided"};

	ww_str_add(s, names[c->state]);
	if (c->kind == WW_COND_FAILURES && !c->percent) {
		ww_str_addf(s, ": %llu", (unsigned long long)c->value);
	} else if (c->kind == WW_COND_FAILURES) {
		ww_str_add(s, c->state == WW_COND_MET	    ? ": at least "
			      : c->state == WW_COND_NOT_MET ? ": at most "
							    : ": ");
		ww_str_fixed(s, c->state == WW_COND_NOT_MET ? c->upper : c->value, 1);
		if (c->state == WW_COND_UNDECIDED) {
			ww_str_add(s, " to ");
			ww_str_fixed(s, c->upper, 1);
		}
		ww_str_add(s, " %");
	} else if (c->kind == WW_COND_MORE_FAILURES) {
		ww_str_add(s, ": p ");
		ww_shift_put_p(s, c->value);
	} else if (c->of) {
		put_found(s, c);
		ww_str_add(s, ", limit ");
		ww_shift_put(s, c->against, c->grain, false);
		ww_str_addf(s, " %s, ", c->unit);
		ww_str_plain(s, c->of);
	} else if (c->state == WW_COND_UNDECIDED) {
		ww_str_add(s, ": no callback of a device is in both");
	}
	if (c->needed)
		ww_str_addf(s, "; about %llu cycles a side would decide it",
			    (unsigned long long)c->needed);
}

static void conditions(struct ww_str *s, const struct ww_shift *t)
{
	if (t->conds)
		ww_str_add(s, "\n");
	for (size_t i = 0; i < t->conds; i++) {
		ww_str_add(s, "fail if ");
		ww_str_plain(s, t->cond[i].text);
		ww_str_add(s, ": ");
		ww_shift_put_state(s, &t->cond[i]);
		ww_str_add(s, "\n");
	}
}

static void text_report(struct ww_str *s, const struct ww_shift *t)
{
	put_side(s, 'A', &t->side[0]);
	put_side(s, 'B', &t->side[1]);
	put_failures(s, t);
	wholes(s, t);
	parts(s, t, false);
	parts(s, t, true);
	conditions(s, t);
	ww_put_notes(s, &t->notes);
}

int ww_shift_report(const struct ww_shift *s, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};

	switch (form) {
	case WW_REPORT_TEXT:
		text_report(&text, s);
		break;
	case WW_REPORT_JSON:
		ww_shift_json(&text, s);
		break;
	case WW_REPORT_MARKDOWN:
		ww_shift_markdown(&text, s);
		break;
	case WW_REPORT_JUNIT:
		ww_shift_junit(&text, s);
		break;
	default:
		return ww_fail(err, -EINVAL, "a comparison has no report of form %d", form);
	}
	return ww_str_take(&text, out, err);
}
