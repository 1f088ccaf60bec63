/* SPDX-License-Identifier: MIT */
/* Two sets of cycles beside each other, for those who watch builds: Markdown, JUnit. */
#include "report/plot.h"
#include "report/shift.h"

#include <math.h>

/* A cell of a table: what Markdown would take as its own is escaped. */
static void cell(struct ww_str *s, const char *text)
{
	struct ww_str plain = {0};

	ww_str_plain(&plain, text);
	ww_str_add(s, " ");
	for (const char *p = plain.p ? plain.p : ""; *p; p++) {
		if (strchr("|\\`*_<>[]&", *p))
			ww_str_add(s, "\\");
		ww_str_addn(s, p, 1);
	}
	ww_str_add(s, " |");
	s->bad |= plain.bad;
	ww_str_free(&plain);
}

/* A figure of two words stays on a line. */
static void figure(struct ww_str *s, struct ww_str *text)
{
	ww_str_add(s, " ");
	ww_str_add(s, text->p ? text->p : "");
	ww_str_add(s, " |");
	s->bad |= text->bad;
	ww_str_reset(text);
}

static void row(struct ww_str *s, const struct ww_shift_row *r, const char *name)
{
	struct ww_str t = {0};
	double grain = ww_shift_grain(r);

	ww_str_add(s, "|");
	cell(s, name);
	for (int i = 0; i < 2; i++) {
		ww_shift_put(&t, r->median[i], grain, false);
		if (isfinite(r->median[i]))
			ww_str_addf(&t, " %s", r->unit);
		figure(s, &t);
	}
	ww_shift_put(&t, r->shift, grain, true);
	if (isfinite(r->shift))
		ww_str_addf(&t, " %s", r->unit);
	figure(s, &t);
	ww_shift_put_percent(&t, r);
	figure(s, &t);
	ww_shift_put_ci(&t, r);
	figure(s, &t);
	ww_shift_put_p(&t, r->p_adjusted);
	if (t.p && t.p[0] == '<') {
		ww_str_reset(&t);
		ww_str_add(&t, "&lt;0.000001");
	}
	figure(s, &t);
	if (ww_shift_moved(r))
		ww_str_add(&t, "**");
	ww_shift_put_verdict(&t, r);
	if (ww_shift_moved(r))
		ww_str_add(&t, "**");
	figure(s, &t);
	ww_str_add(s, "\n");
	ww_str_free(&t);
}

static void sides(struct ww_str *s, const struct ww_shift *t)
{
	ww_str_add(s, "| | cycles | failed | 95 % |\n|:--|--:|--:|--:|\n");
	for (int i = 0; i < 2; i++) {
		const struct ww_shift_side *a = &t->side[i];
		struct ww_str name = {0};

		ww_str_addf(&name, "%c: %s", 'A' + i, a->name);
		ww_str_add(s, "|");
		cell(s, name.p ? name.p : "");
		ww_str_addf(s, " %llu | %llu | ", (unsigned long long)a->cycles,
			    (unsigned long long)a->failures);
		ww_str_fixed(s, 100 * a->rate_ci[0], 1);
		ww_str_add(s, "-");
		ww_str_fixed(s, 100 * a->rate_ci[1], 1);
		ww_str_add(s, " % |\n");
		s->bad |= name.bad;
		ww_str_free(&name);
	}
}

static void conditions(struct ww_str *s, const struct ww_shift *t)
{
	static const char *const mark[] = {"passed", "**failed**", "not decided"};

	if (!t->conds)
		return;
	ww_str_add(s, "\n| fail if | | |\n|:--|:--|:--|\n");
	for (size_t i = 0; i < t->conds; i++) {
		struct ww_str state = {0};

		ww_str_add(s, "|");
		cell(s, t->cond[i].text);
		ww_str_addf(s, " %s |", mark[t->cond[i].state]);
		ww_shift_put_state(&state, &t->cond[i]);
		cell(s, state.p ? state.p : "");
		ww_str_add(s, "\n");
		s->bad |= state.bad;
		ww_str_free(&state);
	}
}

void ww_shift_markdown(struct ww_str *s, const struct ww_shift *t)
{
	size_t moved,
		left[2] = {ww_shift_listed(t, false, &moved), ww_shift_listed(t, true, &moved)};

	sides(s, t);
	conditions(s, t);
	ww_str_add(s, "\n| median | A | B | B - A | | 95 % | p | verdict |\n"
		      "|:--|--:|--:|--:|--:|--:|--:|:--|\n");
	for (size_t i = 0; i < t->rows; i++) {
		const struct ww_shift_row *r = &t->row[i];
		bool device = ww_shift_device(r);

		if (!ww_shift_whole(r)) {
			if (!left[device])
				continue;
			left[device]--;
		}
		row(s, r, r->name);
	}
}

static void attribute(struct ww_str *s, const char *name, const char *value)
{
	ww_str_addf(s, " %s=\"", name);
	ww_str_markup(s, value);
	ww_str_add(s, "\"");
}

/* Each condition is a test case. */
void ww_shift_junit(struct ww_str *s, const struct ww_shift *t)
{
	size_t failed = 0, skipped = 0;
	struct ww_str of = {0}, state = {0};

	for (size_t i = 0; i < t->conds; i++) {
		failed += t->cond[i].state == WW_COND_MET;
		skipped += t->cond[i].state == WW_COND_UNDECIDED;
	}
	ww_str_addf(&of, "resumetime compare: %s and %s", t->side[0].name, t->side[1].name);
	ww_str_add(s, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite");
	attribute(s, "name", of.p ? of.p : "");
	ww_str_addf(s, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", t->conds,
		    failed, skipped);
	for (size_t i = 0; i < t->conds; i++) {
		const struct ww_shift_cond *c = &t->cond[i];

		ww_str_reset(&state);
		ww_shift_put_state(&state, c);
		ww_str_add(s, "<testcase classname=\"resumetime.compare\"");
		attribute(s, "name", c->text);
		if (c->state == WW_COND_NOT_MET) {
			ww_str_add(s, "/>\n");
			continue;
		}
		ww_str_addf(s, ">\n<%s", c->state == WW_COND_MET ? "failure" : "skipped");
		attribute(s, "message", state.p ? state.p : "");
		ww_str_add(s, "/>\n</testcase>\n");
	}
	ww_str_add(s, "</testsuite>\n</testsuites>\n");
	s->bad |= of.bad || state.bad;
	ww_str_free(&of);
	ww_str_free(&state);
}
