/* SPDX-License-Identifier: MIT */
/* Two sets of cycles beside each other, as JSON: wakewatt/resume-compare/1. */
#include "report/shift.h"
#include "report/length.h"

#include <math.h>

static const char *state_name(int state)
{
	return state == WW_COND_MET ? "met" : state == WW_COND_UNDECIDED ? "undecided" : "not met";
}

/* Past a millionth of a unit nothing is known. */
static void pair(struct ww_json *j, const char *key, const double v[2])
{
	ww_json_open(j, key, '[');
	for (int i = 0; i < 2; i++)
		ww_json_trimmed(j, NULL, v[i], 6);
	ww_json_close(j, ']');
}

static void counts(struct ww_json *j, const char *key, const uint64_t v[2])
{
	ww_json_open(j, key, '[');
	for (int i = 0; i < 2; i++)
		ww_json_int(j, NULL, (int64_t)v[i]);
	ww_json_close(j, ']');
}

static void side(struct ww_json *j, const char *key, const struct ww_shift_side *a)
{
	ww_json_open(j, key, '{');
	ww_json_text(j, "name", a->name);
	ww_json_int(j, "cycles", (int64_t)a->cycles);
	ww_json_int(j, "judged", (int64_t)a->judged);
	ww_json_int(j, "failures", (int64_t)a->failures);
	pair(j, "failure_rate_ci95", a->rate_ci);
	ww_json_close(j, '}');
}

/* A median that failures reach is no number. */
static void median(struct ww_json *j, const struct ww_shift_row *r)
{
	pair(j, "median", r->median);
	if (isinf(r->median[0]) || isinf(r->median[1])) {
		ww_json_open(j, "median_never", '[');
		ww_json_bool(j, NULL, isinf(r->median[0]) != 0);
		ww_json_bool(j, NULL, isinf(r->median[1]) != 0);
		ww_json_close(j, ']');
	}
}

static void shift(struct ww_json *j, const struct ww_shift_row *r)
{
	if (r->n[0] == 0 || r->n[1] == 0) {
		ww_json_null(j, "shift");
		return;
	}
	ww_json_open(j, "shift", '{');
	ww_json_trimmed(j, "value", r->shift, 6);
	if (isinf(r->shift))
		ww_json_text(j, "infinite", r->shift > 0 ? "+" : "-");
	pair(j, "ci95", r->ci);
	ww_json_trimmed(j, "percent", 100 * r->shift / r->median[0], 3);
	ww_json_close(j, '}');
}

static void metric(struct ww_json *j, const struct ww_shift_row *r, const struct ww_shift_extra *x)
{
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", r->name);
	ww_json_text(j, "kind", r->kind);
	ww_json_text(j, "unit", r->unit);
	if (ww_shift_device(r)) {
		ww_json_text(j, "device", x->device);
		ww_json_text(j, "driver", x->driver);
		ww_json_text(j, "phase", x->phase);
	}
	counts(j, "n", r->n);
	counts(j, "failures", r->failures);
	median(j, r);
	shift(j, r);
	ww_json_num(j, "p", r->p);
	ww_json_num(j, "p_adjusted", r->p_adjusted);
	ww_json_trimmed(j, "resolution", r->resolution, 6);
	ww_json_trimmed(j, "mdd", r->mdd, 6);
	if (ww_shift_device(r))
		pair(j, "own_critical_ms", x->own);
	ww_json_text(j, "verdict", ww_shift_verdict_name(r->verdict));
	ww_json_close(j, '}');
}

static void condition(struct ww_json *j, const struct ww_shift_cond *c)
{
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "condition", c->text);
	ww_json_text(j, "state", state_name(c->state));
	if (c->kind == WW_COND_SHIFT) {
		ww_json_text(j, "of", c->of);
		ww_json_text(j, "by", c->median ? "estimate" : "bound");
	}
	if (c->kind != WW_COND_SHIFT || c->of) {
		if (c->kind == WW_COND_SHIFT ? !c->median : c->percent)
			pair(j, "ci95", (const double[2]){c->value, c->upper});
		else
			ww_json_trimmed(j, c->kind == WW_COND_MORE_FAILURES ? "p" : "value",
					c->value, 6);
		ww_json_trimmed(j, "limit", c->against, 6);
		ww_json_text(j, "unit", c->unit);
	}
	if (c->needed)
		ww_json_int(j, "cycles_needed", (int64_t)c->needed);
	ww_json_close(j, '}');
}

void ww_shift_json(struct ww_str *s, const struct ww_shift *t)
{
	struct ww_json j = {.s = s};
	int failed = ww_shift_failed(t);

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/resume-compare/1");
	side(&j, "a", &t->side[0]);
	side(&j, "b", &t->side[1]);
	ww_json_num(&j, "failures_p", t->failures_p);
	ww_json_open(&j, "metrics", '[');
	for (size_t i = 0; i < t->rows; i++)
		metric(&j, &t->row[i], &t->extra[i]);
	ww_json_close(&j, ']');
	ww_json_open(&j, "conditions", '[');
	for (size_t i = 0; i < t->conds; i++)
		condition(&j, &t->cond[i]);
	ww_json_close(&j, ']');
	ww_json_text(&j, "result", failed > 0 ? "failed" : failed < 0 ? "undecided" : "passed");
	ww_json_notes(&j, &t->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}
