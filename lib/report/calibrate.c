/* SPDX-License-Identifier: MIT */
/* ww_calibration as text and as the file that later measurements read. */
#include "analysis/calibrate.h"
#include "report/format.h"

#include <math.h>

/* All digits: a program goes on reckoning with them. */
static void exact(struct ww_json *j, const char *key, struct ww_quantity q)
{
	ww_json_open(j, key, '{');
	ww_json_num(j, "value", q.value);
	ww_json_num(j, "u", q.u);
	ww_json_close(j, '}');
}

static void json_report(struct ww_str *s, const struct ww_calibration *c)
{
	const struct ww_calibration_info *i = &c->info;
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	ww_json_text(&j, "schema", "wakewatt/calibration/1");
	ww_json_text(&j, "meter", i->meter);
	ww_json_text(&j, "model", "indication = offset_W + gain * power");
	ww_json_text(&j, "method", i->york ? "York" : "least squares");
	exact(&j, "offset_W", i->offset);
	exact(&j, "gain", i->gain);
	ww_json_num(&j, "covariance_W", i->cov);
	ww_json_num(&j, "residual_W", i->s);
	ww_json_num(&j, "resolution_W", i->resolution);
	ww_json_num(&j, "lowest_W", i->lo);
	ww_json_num(&j, "highest_W", i->hi);
	ww_json_int(&j, "n", (int64_t)i->n);
	ww_json_bool(&j, "dead_zone", i->dead_zone);
	if (!isnan(i->zero))
		exact(&j, "zero_W", (struct ww_quantity){i->zero, i->zero_u});
	if (c->asked) {
		exact(&j, "reading_W", c->reading);
		exact(&j, "corrected_W", c->corrected);
	}
	ww_json_notes(&j, &c->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}

static void row(struct ww_grid *g, const char *name, struct ww_quantity q, const char *unit)
{
	struct ww_str *c = ww_grid_row(g);

	if (!c)
		return;
	ww_str_add(&c[0], name);
	ww_put_quantity(&c[1], q, unit, 2);
}

/* As it was typed: 100, 12.5. */
static void put_load(struct ww_str *s, double v)
{
	int d = 0;

	while (d < 3 && fabs(v * pow(10, d) - round(v * pow(10, d))) > 1e-6)
		d++;
	ww_str_fixed(s, v, d);
}

static void text_report(struct ww_str *s, const struct ww_calibration *c)
{
	static const char *const head[] = {"", "value"};
	const struct ww_calibration_info *i = &c->info;
	struct ww_grid g = {.columns = 2, .left = 1};

	if (*i->meter)
		ww_str_addf(s, "%s\n", i->meter);
	ww_str_add(s, "the meter shows offset + gain \xc3\x97 watts\n");
	ww_grid_head(&g, head);
	row(&g, "offset", i->offset, "W");
	row(&g, "gain", i->gain, "1");
	if (!isnan(i->s))
		row(&g, "readings off the line by", (struct ww_quantity){i->s, 0}, "W");
	if (!isnan(i->zero))
		row(&g, "off the line without a load", (struct ww_quantity){i->zero, i->zero_u},
		    "W");
	ww_grid_print(s, &g);
	ww_put_legend(s);
	ww_str_addf(s, "%llu readings of loads from ", (unsigned long long)i->n);
	put_load(s, i->lo);
	ww_str_add(s, " to ");
	put_load(s, i->hi);
	ww_str_addf(s, " W, %s\n", i->york ? "fitted for errors of both (York)" : "least squares");
	ww_put_notes(s, &c->notes);
	if (c->asked) {
		ww_str_add(s, "\na reading of ");
		ww_str_num(s, c->reading.value);
		ww_str_add(s, " W is ");
		ww_put_quantity(s, c->corrected, "W", 3);
		ww_str_add(s, "\n");
	}
}

int ww_calibration_report(const struct ww_calibration *c, int form, char **out,
			  struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		json_report(&text, c);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, c);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
