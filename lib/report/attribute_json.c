/* SPDX-License-Identifier: MIT */
/* ww_attribute as JSON, schema wakewatt/attribute/1. */
#include "report/attribute.h"

#include <math.h>

static void names(struct ww_json *j, const char *key, const struct ww_attribute *a,
		  const uint32_t *device, size_t n)
{
	ww_json_open(j, key, '[');
	for (size_t i = 0; i < n; i++) {
		const struct ww_device *d = &a->device[device[i]];
		struct ww_str name = {0};

		/* As devices[] has it, and as a table would say it where it is not "on". */
		ww_str_add(&name, d->name);
		if (strcmp(d->state, "on") != 0)
			ww_str_addf(&name, "=%s", d->state);
		j->s->bad = j->s->bad || name.bad;
		ww_json_text(j, NULL, name.bad ? "" : name.p);
		ww_str_free(&name);
	}
	ww_json_close(j, ']');
}

static void number(struct ww_json *j, const char *key, double v)
{
	if (!isnan(v))
		ww_json_num(j, key, v);
}

static void one_device(struct ww_json *j, const struct ww_attribute *a, size_t i)
{
	const struct ww_device *d = &a->device[i];
	struct ww_str why = {0};

	ww_attribute_why(&why, a, i);
	j->s->bad = j->s->bad || why.bad;
	ww_json_open(j, NULL, '{');
	ww_json_text(j, "name", d->name);
	ww_json_text(j, "state", d->state);
	ww_json_quantity(j, "watts", d->watts, why.n ? why.p : "");
	ww_json_bool(j, "estimable", d->estimable);
	if (!d->estimable && !isnan(d->with_offset.value))
		ww_json_quantity(j, "with_offset_W", d->with_offset, "");
	ww_json_int(j, "readings", (int64_t)d->readings);
	number(j, "VA", d->va);
	number(j, "power_factor", d->pf);
	ww_json_close(j, '}');
	ww_str_free(&why);
}

static void groups(struct ww_json *j, const struct ww_attribute *a)
{
	ww_json_open(j, "inseparable", '[');
	for (size_t i = 0; i < a->groups; i++) {
		const struct ww_device_group *g = &a->group[i];

		ww_json_open(j, NULL, '{');
		names(j, "devices", a, g->device, g->count);
		ww_json_bool(j, "with_offset", g->with_offset);
		ww_json_quantity(j, "sum_W", g->sum, "not even their sum is known");
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

/* Those that gain rank; where nothing is left to tell apart, the one that helps most. */
static void nexts(struct ww_json *j, const struct ww_attribute *a)
{
	ww_json_open(j, "next", '[');
	for (size_t i = 0; i < a->nexts; i++) {
		const struct ww_device_next *n = &a->next[i];

		if (n->rank_gain == 0 && i > 0)
			break;
		ww_json_open(j, NULL, '{');
		names(j, "on", a, n->device, n->on);
		names(j, "separates", a, n->separate, n->separates);
		ww_json_int(j, "rank_gain", n->rank_gain);
		ww_json_int(j, "flips", n->flips);
		ww_json_fixed(j, "log_det_gain", n->gain, 4);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void pairs(struct ww_json *j, const struct ww_attribute *a)
{
	if (!a->interactions)
		return;
	ww_json_open(j, "interactions", '[');
	for (size_t i = 0; i < a->pairs; i++) {
		ww_json_open(j, NULL, '{');
		names(j, "devices", a, (uint32_t[]){a->pair[i].a, a->pair[i].b}, 2);
		ww_json_quantity(j, "extra_W", a->pair[i].extra, "not to be told");
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void levels(struct ww_json *j, const struct ww_attribute *a)
{
	ww_json_open(j, "synthetic", '[');
	for (size_t i = 0; i < a->levels; i++) {
		const struct ww_device_level *l = &a->level[i];

		ww_json_open(j, NULL, '{');
		ww_json_text(j, "name", a->device[l->device].name);
		ww_json_text(j, "state", a->device[l->device].state);
		ww_json_quantity(j, "added_W", l->added, "not to be told from these readings");
		ww_json_quantity(j, "level_W", l->watts, "not to be told from these readings");
		ww_json_bool(j, "synthetic", l->synthetic);
		ww_json_close(j, '}');
	}
	ww_json_close(j, ']');
}

static void saving(struct ww_json *j, const struct ww_attribute *a)
{
	const struct ww_saving *v = &a->saving;
	const char *why = "the meter's offset is not known";

	if (!a->has_saving)
		return;
	ww_json_open(j, "saving", '{');
	ww_json_quantity(j, "before_W", v->before, why);
	ww_json_quantity(j, "now_W", v->now, why);
	ww_json_quantity(j, "before_shown_W", v->before_shown, "not to be told");
	ww_json_quantity(j, "now_shown_W", v->now_shown, "not to be told");
	ww_json_quantity(j, "saving_W", v->watts, "not to be told");
	ww_json_num(j, "hours_per_day", v->hours_per_day);
	ww_json_quantity(j, "kWh_per_year", v->kwh_year, "not to be told");
	if (v->price > 0) {
		ww_json_num(j, "price_per_kWh", v->price);
		ww_json_text(j, "currency", v->currency);
		ww_json_quantity(j, "money_per_year", v->money_year, "not to be told");
	}
	if (v->price > 0 && v->cost > 0) {
		ww_json_num(j, "cost", v->cost);
		ww_json_quantity(j, "payback_years", v->payback_years, "the saving may be nothing");
		ww_json_pair(j, "payback_years_95", v->payback_ci[0], v->payback_ci[1]);
	}
	ww_json_close(j, '}');
}

static void fit(struct ww_json *j, const struct ww_attribute *a)
{
	const struct ww_attribute_info *i = &a->info;

	ww_json_open(j, "fit", '{');
	ww_json_int(j, "readings", (int64_t)i->readings);
	ww_json_int(j, "rank", (int64_t)i->rank);
	ww_json_int(j, "dof", (int64_t)i->dof);
	ww_json_num(j, "chi2", i->chi2);
	ww_json_num(j, "p", i->p);
	ww_json_num(j, "birge", i->birge);
	ww_json_num(j, "u_scaled_by", i->scale);
	if (i->resolution > 0)
		ww_json_num(j, "resolution_W", i->resolution);
	ww_json_close(j, '}');
}

void ww_attribute_json(struct ww_str *s, const struct ww_attribute *a)
{
	const struct ww_attribute_info *i = &a->info;
	struct ww_json j = {.s = s};

	ww_json_open(&j, NULL, '{');
	if (a->has_wall)
		ww_json_head(&j, "wakewatt/attribute/1", &a->wall);
	else
		ww_json_text(&j, "schema", "wakewatt/attribute/1");
	ww_json_quantity(&j, "offset_W", i->offset,
			 "nothing was read with all unplugged, and no offset was given");
	/* Nothing was read with all of it unplugged: it holds what else was on. */
	ww_json_bool(&j, "offset_is_base", a->base);
	ww_json_open(&j, "devices", '[');
	for (size_t k = 0; k < a->devices; k++)
		one_device(&j, a, k);
	ww_json_close(&j, ']');
	groups(&j, a);
	nexts(&j, a);
	pairs(&j, a);
	ww_json_quantity(&j, "total_W", i->total, "not to be told from these readings");
	ww_json_quantity(&j, "total_shown_W", i->total_shown, "not to be told from these readings");
	ww_json_bool(&j, "total_synthetic", i->total_synthetic);
	number(&j, "total_VA", i->total_va);
	number(&j, "total_power_factor", i->total_pf);
	if (!isnan(i->drift.value))
		ww_json_quantity(&j, "drift_W_per_h", i->drift, "");
	levels(&j, a);
	saving(&j, a);
	fit(&j, a);
	ww_json_notes(&j, &a->notes);
	ww_json_close(&j, '}');
	ww_str_add(s, "\n");
}
