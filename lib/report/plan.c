/* SPDX-License-Identifier: MIT */
/* A weighing design as a table to be filled in, which attribution reads, and as JSON. */
#include "analysis/plan.h"
#include "report/format.h"

static void ratio(struct ww_str *s, double v)
{
	ww_str_fixed(s, v, v < 10 ? 2 : 1);
}

static void text_report(struct ww_str *s, const struct ww_plan *p)
{
	const struct ww_plan_info *i = &p->info;

	ww_str_addf(s, "# %zu readings for %zu device%s, %llu plug%s to change", i->readings,
		    i->devices, i->devices == 1 ? "" : "s", (unsigned long long)i->flips,
		    i->flips == 1 ? "" : "s");
	ww_str_add(s, p->one_flip ? ", one at a time.\n" : ".\n");
	ww_str_add(s, "# Uncertainty of a device, by that of a reading: ");
	ratio(s, i->u / (i->u_onebyone / 1.4142135623730951));
	ww_str_add(s, i->hadamard ? ", the least there is for so many.\n" : ".\n");
	ww_str_addf(s, "# Plugging in one after the other: 1.41 with %zu readings. ",
		    i->devices + 1);
	ww_str_add(s, "No plan of these does\n# better than ");
	ratio(s, i->u_bound / (i->u_onebyone / 1.4142135623730951));
	ww_str_add(s, ".\n# Write each reading behind the last comma; then: pwrlog attribute "
		      "--table FILE\n");
	for (size_t d = 0; d < i->devices; d++) {
		ww_str_csv(s, p->name[d]);
		ww_str_add(s, ",");
	}
	ww_str_add(s, "W\n");
	for (size_t k = 0; k < i->readings; k++) {
		for (size_t d = 0; d < i->devices; d++)
			ww_str_add(s, p->state[k * i->devices + d] ? "1," : "0,");
		ww_str_add(s, "\n");
	}
}

static void json_report(struct ww_str *s, const struct ww_plan *p)
{
	const struct ww_plan_info *i = &p->info;
	struct ww_json j = {.s = s};
	struct ww_notes none = {0};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/plan/1");
	ww_json_open(&j, "devices", '[');
	for (size_t d = 0; d < i->devices; d++)
		ww_json_text(&j, NULL, p->name[d]);
	ww_json_close(&j, ']');
	ww_json_open(&j, "readings", '[');
	for (size_t k = 0; k < i->readings; k++) {
		ww_json_open(&j, NULL, '[');
		for (size_t d = 0; d < i->devices; d++)
			ww_json_int(&j, NULL, p->state[k * i->devices + d]);
		ww_json_close(&j, ']');
	}
	ww_json_close(&j, ']');
	ww_json_open(&j, "u_W", '[');
	for (size_t d = 0; d < i->devices; d++)
		ww_json_num(&j, NULL, p->u[d]);
	ww_json_close(&j, ']');
	ww_json_num(&j, "u_bound_W", i->u_bound);
	ww_json_num(&j, "u_one_by_one_W", i->u_onebyone);
	ww_json_int(&j, "flips", (int64_t)i->flips);
	ww_json_bool(&j, "hadamard", i->hadamard);
	ww_json_notes(&j, &none);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_plan_report(const struct ww_plan *p, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		json_report(&text, p);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, p);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
