/* SPDX-License-Identifier: MIT */
/* ww_suspend_model as text and as JSON (schema wakewatt/suspend-model/1). */
#include "analysis/suspend_model.h"
#include "report/format.h"

#include <math.h>

/* Three digits that mean something. */
static void put3(struct ww_str *s, double v)
{
	int d = v != 0 && isfinite(v) ? 2 - (int)floor(log10(fabs(v))) : 0;

	ww_str_fixed(s, v, d < 0 ? 0 : d > 6 ? 6 : d);
}

static void line(struct ww_str *s, const char *name)
{
	ww_str_add(s, name);
	for (size_t n = strlen(name); n < 13; n++)
		ww_str_add(s, " ");
}

static void put_input(struct ww_str *s, struct ww_quantity q, const char *unit)
{
	ww_put_quantity(s, q, unit,
			ww_plain_decimals(q.value) < 3 ? ww_plain_decimals(q.value) : 3);
}

static void put_inputs(struct ww_str *s, const struct ww_suspend_model *m)
{
	const struct ww_suspend_options *o = &m->opt;

	line(s, "power");
	put_input(s, o->idle_watts, "W idle, ");
	put_input(s, o->suspended_watts, "W suspended\n");
	line(s, "transitions");
	ww_put_quantity(s, o->suspend_s, "s in, ", 3);
	ww_put_quantity(s, o->resume_s, "s out", 3);
	if (o->transition_watts.value > 0) {
		ww_str_add(s, ", at ");
		put_input(s, o->transition_watts, "W");
	}
	ww_str_add(s, "\n");
	line(s, "cost");
	ww_put_quantity(s, m->r.transition_J, "J", ww_plain_decimals(m->r.transition_J.value) - 2);
	ww_str_add(s, " for both transitions, beyond what it draws suspended\n");
	line(s, "break-even");
	if (m->unsaved) {
		ww_str_add(s, "not known: idle and suspended power are not told apart\n");
		return;
	}
	ww_put_quantity(s, m->r.break_even_s, "s", 3);
	ww_str_add(s, m->r.limited_by_latency ? ": the latencies\n" : "\n");
	if (m->r.break_even_cost_s > m->r.break_even_s.value) {
		line(s, "");
		ww_str_fixed(s, m->r.break_even_cost_s, 3);
		ww_str_add(s, " s with ");
		put3(s, o->visible_J);
		ww_str_add(s, " J for each wake that is noticed\n");
	}
}

static void put_gaps(struct ww_str *s, const struct ww_suspend_model *m)
{
	const struct ww_gap_law *g = &m->law;

	line(s, "idle gaps");
	switch (g->kind) {
	case WW_GAPS_FIXED:
		ww_str_add(s, "all of ");
		break;
	case WW_GAPS_EXPONENTIAL:
		ww_str_add(s, "exponential, mean ");
		break;
	case WW_GAPS_PARETO:
		ww_str_add(s, "Pareto, alpha ");
		put3(s, g->alpha);
		ww_str_add(s, ", least ");
		ww_put_span(s, g->least);
		if (isfinite(g->most)) {
			ww_str_add(s, ", most ");
			ww_put_span(s, g->most);
		}
		ww_str_add(s, ", mean ");
		break;
	default:
		ww_str_addf(s, "%zu recorded, ", g->n);
		ww_put_span(s, g->total);
		ww_str_add(s, " in all, mean ");
		break;
	}
	ww_put_span(s, g->mean);
	ww_str_add(s, "\n");
}

static void put_timeout(struct ww_str *s, const struct ww_policy_result *r)
{
	if (r->policy == WW_POLICY_CLAIRVOYANT)
		ww_str_add(s, "knows");
	else if (r->policy == WW_POLICY_RANDOM)
		ww_str_add(s, "random");
	else if (isinf(r->timeout_s))
		ww_str_add(s, "never");
	else {
		put3(s, r->timeout_s);
		ww_str_add(s, " s");
	}
}

static void put_delay(struct ww_str *s, double v)
{
	if (isnan(v))
		return;
	ww_str_fixed(s, v * 1000, 0);
	ww_str_add(s, " ms");
}

static void put_row(struct ww_str *c, const struct ww_policy_result *r)
{
	ww_str_add(&c[0], ww_policy_name(r->policy));
	put_timeout(&c[1], r);
	ww_put_quantity(&c[2], r->watts, "W", r->watts.value < 10 ? 3 : 2);
	ww_put_quantity(&c[3], r->life, "", 2);
	if (isfinite(r->joules))
		ww_str_fixed(&c[4], r->joules, r->joules < 1000 ? 1 : 0);
	if (r->wakes_per_hour > 0) {
		put3(&c[5], r->wakes_per_hour);
		put_delay(&c[6], r->delay_mean_s);
		put_delay(&c[7], r->delay_p95_s);
	}
}

static void put_more(struct ww_str *c, const struct ww_suspend_model *m,
		     const struct ww_policy_result *r)
{
	ww_str_add(&c[0], ww_policy_name(r->policy));
	ww_put_percent(&c[1], r->suspended_part);
	ww_put_percent(&c[2], r->gaps_part);
	if (isfinite(r->competitive))
		ww_str_fixed(&c[3], r->competitive, 2);
	if (m->opt.visible_J > 0)
		ww_str_fixed(&c[4], r->cost_watts, 3);
	if (isfinite(r->hours))
		ww_put_span(&c[5], r->hours * 3600);
	if (isfinite(r->ratio)) {
		ww_str_fixed(&c[6], r->ratio, 1);
		ww_str_add(&c[6], ":1");
	}
}

static void put_policies(struct ww_str *s, const struct ww_suspend_model *m)
{
	static const char *const first[] = {"policy", "time-out", "average", "life x",
					    "J",      "wakes/h",  "delay",   "p95"};
	static const char *const second[] = {"policy",	"asleep",  "of gaps",  "at worst",
					     "W+price", "battery", "generated"};
	struct ww_grid a = {.columns = 8, .left = 1}, b = {.columns = 7, .left = 1};

	ww_grid_head(&a, first);
	ww_grid_head(&b, second);
	for (int k = 0; k < WW_POLICY_COUNT; k++) {
		struct ww_str *row = ww_grid_row(&a);

		if (row)
			put_row(row, &m->policy[k]);
		row = ww_grid_row(&b);
		if (row)
			put_more(row, m, &m->policy[k]);
	}
	ww_str_add(s, "\n");
	ww_grid_print(s, &a);
	ww_str_add(s, "\n");
	ww_grid_print(s, &b);
}

static void put_power(struct ww_str *s, const struct ww_suspend_model *m)
{
	struct ww_str text = {0};

	if (!isfinite(m->r.needed_watts))
		return;
	ww_str_fixed(&text, m->opt.ratio, m->opt.ratio == floor(m->opt.ratio) ? 0 : 2);
	ww_str_add(&text, ":1 of ");
	put3(&text, m->opt.generated_watts);
	ww_str_add(&text, " W needs an average of ");
	put3(&text, m->r.needed_watts);
	ww_str_add(&text, " W: ");
	if (m->r.needed_part > 1) {
		ww_str_add(&text, "out of reach by suspending");
	} else {
		ww_str_add(&text, "suspended ");
		ww_put_percent(&text, m->r.needed_part);
		ww_str_add(&text, " of the time, transitions apart");
	}
	ww_str_add(s, "\n");
	if (!text.bad)
		ww_put_wrapped(s, text.p, 0, 80);
	s->bad = s->bad || text.bad;
	ww_str_free(&text);
}

static void text_report(struct ww_str *s, const struct ww_suspend_model *m)
{
	put_inputs(s, m);
	if (m->law.kind != WW_GAPS_NONE) {
		put_gaps(s, m);
		put_policies(s, m);
	}
	put_power(s, m);
	ww_put_legend(s);
	ww_put_notes(s, &m->notes);
}

/* ---- JSON ---- */

static void json_inputs(struct ww_json *j, const struct ww_suspend_model *m)
{
	const struct ww_suspend_options *o = &m->opt;

	ww_json_quantity(j, "idle_W", o->idle_watts, NULL);
	ww_json_quantity(j, "suspended_W", o->suspended_watts, NULL);
	if (o->transition_watts.value > 0)
		ww_json_quantity(j, "transition_W", o->transition_watts, NULL);
	else
		ww_json_null(j, "transition_W");
	ww_json_quantity(j, "suspend_s", o->suspend_s, NULL);
	ww_json_quantity(j, "resume_s", o->resume_s, NULL);
	ww_json_quantity(j, "transition_J", m->r.transition_J, NULL);
	ww_json_quantity(j, "break_even_s", m->r.break_even_s,
			 m->unsaved ? "idle and suspended power are not told apart" : NULL);
	ww_json_bool(j, "limited_by_latency", m->r.limited_by_latency != 0);
	ww_json_num(j, "visible_J", o->visible_J);
	ww_json_bool(j, "visible", m->r.visible != 0);
	ww_json_num(j, "break_even_with_price_s", m->r.break_even_cost_s);
}

static void json_gaps(struct ww_json *j, const struct ww_gap_law *g)
{
	static const char *const kind[] = {"none", "fixed", "exponential", "pareto", "recorded"};

	ww_json_open(j, "gaps", '{');
	ww_json_text(j, "kind", kind[g->kind]);
	ww_json_num(j, "mean_s", g->mean);
	if (g->kind == WW_GAPS_PARETO) {
		ww_json_num(j, "alpha", g->alpha);
		ww_json_num(j, "least_s", g->least);
		ww_json_num(j, "most_s", g->most);
	}
	if (g->kind == WW_GAPS_RECORDED) {
		ww_json_int(j, "n", (int64_t)g->n);
		ww_json_num(j, "total_s", g->total);
	}
	ww_json_close(j, '}');
}

static void json_policy(struct ww_json *j, const struct ww_suspend_model *m,
			const struct ww_policy_result *r)
{
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "policy", ww_policy_name(r->policy));
	ww_json_num(j, "timeout_s", r->timeout_s);
	ww_json_quantity(j, "watts", r->watts, NULL);
	ww_json_quantity(j, "life_factor", r->life, NULL);
	if (m->law.kind == WW_GAPS_RECORDED) {
		ww_json_num(j, "energy_J", r->joules);
		ww_json_num(j, "wakes", r->wakes);
		/* Beyond what no policy can save. */
		ww_json_num(j, "excess_ratio",
			    (r->joules - m->power.asleep * m->law.total) /
				    (m->policy[WW_POLICY_CLAIRVOYANT].joules -
				     m->power.asleep * m->law.total));
	}
	ww_json_num(j, "cost_W", r->cost_watts);
	ww_json_num(j, "competitive", r->competitive);
	ww_json_num(j, "wakes_per_hour", r->wakes_per_hour);
	ww_json_num(j, "gaps_part", r->gaps_part);
	ww_json_num(j, "delay_mean_s", r->delay_mean_s);
	ww_json_num(j, "delay_p95_s", r->delay_p95_s);
	ww_json_num(j, "suspended_part", r->suspended_part);
	if (m->opt.battery_Wh > 0)
		ww_json_num(j, "battery_h", r->hours);
	if (m->opt.generated_watts > 0)
		ww_json_num(j, "generated_to_used", r->ratio);
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_suspend_model *m)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/suspend-model/1");
	json_inputs(&j, m);
	json_gaps(&j, &m->law);
	ww_json_open(&j, "policies", '[');
	for (int k = 0; k < WW_POLICY_COUNT && m->law.kind != WW_GAPS_NONE; k++)
		json_policy(&j, m, &m->policy[k]);
	ww_json_close(&j, ']');
	if (m->law.kind == WW_GAPS_RECORDED)
		ww_json_num(&j, "best_cross_validated_W", m->r.best_cross_watts);
	if (m->opt.generated_watts > 0) {
		ww_json_open(&j, "generated", '{');
		ww_json_num(&j, "watts", m->opt.generated_watts);
		ww_json_num(&j, "efficiency", m->opt.efficiency);
		ww_json_num(&j, "ratio", m->opt.ratio);
		ww_json_num(&j, "needed_W", m->r.needed_watts);
		ww_json_num(&j, "needed_suspended_part", m->r.needed_part);
		ww_json_close(&j, '}');
	}
	ww_json_notes(&j, &m->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_suspend_model_report(const struct ww_suspend_model *m, int form, char **out,
			    struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		json_report(&text, m);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, m);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
