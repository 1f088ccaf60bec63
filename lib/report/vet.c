/* SPDX-License-Identifier: MIT */
/* Callbacks with fixed delays, as text and JSON. */
#include "analysis/vet.h"
#include "report/format.h"
#include "report/length.h"

#include <math.h>

/* Of those that are long and vary, so many are named. */
#define VARYING_MOST 5

static void put_ms(struct ww_str *s, double v, int decimals)
{
	if (!isnan(v))
		ww_str_fixed(s, v, decimals);
}

static void put_row(struct ww_grid *g, const struct ww_vet_row *r)
{
	struct ww_str *cell = ww_grid_row(g);

	if (!cell)
		return;
	ww_str_plain(&cell[0], r->device);
	ww_str_plain(&cell[1], r->driver);
	ww_str_plain(&cell[2], r->func);
	ww_str_add(&cell[3], r->phase);
	ww_str_addf(&cell[4], "%llu", (unsigned long long)r->n);
	put_ms(&cell[5], r->median_ms, 1);
	put_ms(&cell[6], r->spread_ms, 2);
	put_ms(&cell[7], r->nearest_ms, 0);
	put_ms(&cell[8], r->saving_ms, 1);
}

static void table(struct ww_str *s, const struct ww_vet *v, size_t from, size_t to)
{
	static const char *const head[] = {"device", "driver", "callback", "phase", "n",
					   "ms",     "within", "written",  "saves"};
	struct ww_grid g = {.columns = WW_COUNTOF(head), .left = 15};

	ww_grid_head(&g, head);
	for (size_t i = from; i < to; i++)
		put_row(&g, &v->row[i]);
	ww_grid_print(s, &g);
}

static void text(struct ww_str *s, const struct ww_vet *v)
{
	size_t varying = v->rows - v->ticks;

	ww_str_addf(s, "%llu cycle%s", (unsigned long long)v->cycles, v->cycles == 1 ? "" : "s");
	for (size_t i = 0; i < v->sets.n; i++) {
		ww_str_add(s, i ? ", " : " of ");
		ww_str_plain(s, v->sets.note[i]);
	}
	ww_str_addf(s, "; %zu callback%s\n\n", v->callbacks, v->callbacks == 1 ? "" : "s");
	if (v->fixed) {
		ww_str_add(s, "Times that are the same whatever else happens, in ms\n\n");
		table(s, v, 0, v->fixed);
	}
	if (v->ticks > v->fixed) {
		if (v->fixed)
			ww_str_add(s, "\n");
		ww_str_add(s, "The same but for a tick of the timer, as sleeps are\n\n");
		table(s, v, v->fixed, v->ticks);
	}
	if (v->callbacks == 0) {
		ww_str_add(
			s,
			"No callback of a driver is in them, so nothing is known: they come from "
			"ftrace, or into\nthe log with `initcall_debug` on the kernel's command "
			"line.\n");
	} else if (v->ticks == 0) {
		ww_str_add(s, "No callback of ");
		ww_str_num(s, v->min_ms);
		ww_str_add(s, " ms and more took the same time in 9 of 10 cycles, within ");
		ww_str_num(s, v->spread_ms);
		ww_str_add(s, " ms.\n");
	}
	if (varying) {
		ww_str_addf(s, "\n%zu %s as long and var%s", varying,
			    varying == 1 ? "callback is" : "callbacks are",
			    varying == 1 ? "ies" : "y");
		if (varying > VARYING_MOST)
			ww_str_addf(s, "; first %d", VARYING_MOST);
		ww_str_add(s, "\n\n");
		table(s, v, v->ticks, varying > VARYING_MOST ? v->ticks + VARYING_MOST : v->rows);
	}
	ww_put_notes(s, &v->notes);
}

static void json(struct ww_str *s, const struct ww_vet *v)
{
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/vet/1");
	ww_json_open(&j, "inputs", '[');
	for (size_t i = 0; i < v->sets.n; i++)
		ww_json_text(&j, NULL, v->sets.note[i]);
	ww_json_close(&j, ']');
	ww_json_int(&j, "cycles", (int64_t)v->cycles);
	ww_json_num(&j, "min_ms", v->min_ms);
	ww_json_num(&j, "within_ms", v->spread_ms);
	ww_json_open(&j, "callbacks", '[');
	for (size_t i = 0; i < v->rows; i++) {
		const struct ww_vet_row *r = &v->row[i];

		ww_json_open(&j, NULL, '{');
		ww_json_text(&j, "device", r->device);
		ww_json_text(&j, "driver", r->driver);
		ww_json_text(&j, "callback", r->func);
		ww_json_text(&j, "phase", r->phase);
		ww_json_int(&j, "n", (int64_t)r->n);
		ww_json_bool(&j, "fixed", r->fixed == WW_VET_FIXED);
		ww_json_bool(&j, "within_tick", r->fixed != WW_VET_VARIES);
		ww_json_trimmed(&j, "median_ms", r->median_ms, 6);
		ww_json_trimmed(&j, "min_ms", r->min_ms, 6);
		ww_json_trimmed(&j, "max_ms", r->max_ms, 6);
		ww_json_trimmed(&j, "spread_ms", r->spread_ms, 6);
		ww_json_trimmed(&j, "written_ms", r->nearest_ms, 6);
		ww_json_trimmed(&j, "saves_ms", r->saving_ms, 6);
		ww_json_close(&j, '}');
	}
	ww_json_close(&j, ']');
	ww_json_notes(&j, &v->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

int ww_vet_report(const struct ww_vet *v, int form, char **out, struct ww_error *err)
{
	struct ww_str s = {0};

	*out = NULL;
	if (form != WW_REPORT_TEXT && form != WW_REPORT_JSON)
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	if (form == WW_REPORT_JSON)
		json(&s, v);
	else
		text(&s, v);
	return ww_str_take(&s, out, err);
}
