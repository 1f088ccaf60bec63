/* SPDX-License-Identifier: MIT */
/* ww_attribute as tables for a person with a wattmeter. */
#include "report/attribute.h"

#include <math.h>

enum { NAME, STATE, WATTS, VA, PF, REMARK, COLUMNS };
#define LABEL 160

static void put(struct ww_str *s, struct ww_quantity q, const char *unit)
{
	ww_put_quantity(s, q, unit, ww_plain_decimals(q.value) < 3 ? 1 : 2);
}

void ww_attribute_list(struct ww_str *s, const struct ww_attribute *a, const uint32_t *device,
		       size_t n)
{
	char label[LABEL];

	for (size_t i = 0; i < n; i++)
		ww_str_addf(s, "%s%s", i ? ", " : "",
			    ww_attr_label(a, device[i], label, sizeof(label)));
}

void ww_attribute_why(struct ww_str *s, const struct ww_attribute *a, size_t device)
{
	const struct ww_device *d = &a->device[device];
	const struct ww_device_group *g = d->group ? &a->group[d->group - 1] : NULL;
	uint32_t others[WW_ONOFF_DEVICES];
	size_t n = 0;

	if (d->estimable)
		return;
	for (size_t i = 0; g && i < g->count && n < WW_COUNTOF(others); i++)
		if (g->device[i] != device)
			others[n++] = g->device[i];
	if (d->readings == 0) {
		ww_str_add(s, "never on in a reading");
	} else if (!isnan(d->with_offset.value)) {
		ww_str_add(s, "with the meter's offset");
	} else if (n > 3) {
		ww_str_addf(s, "only together with %zu others", n);
	} else if (n) {
		ww_str_add(s, "only together with ");
		ww_attribute_list(s, a, others, n);
	} else {
		ww_str_add(s, "not to be told from these readings");
	}
}

/* As it was typed: 20, 20.5. */
static int typed_decimals(double v)
{
	int d = 0;

	while (d < 3 && fabs(v * pow(10, d) - round(v * pow(10, d))) > 1e-6)
		d++;
	return d;
}

static void device_row(struct ww_grid *g, const struct ww_attribute *a, size_t i)
{
	const struct ww_device *d = &a->device[i];
	struct ww_str *c = ww_grid_row(g);

	if (!c)
		return;
	ww_str_add(&c[NAME], d->name);
	ww_str_add(&c[STATE], d->state);
	put(&c[WATTS], d->estimable ? d->watts : d->with_offset, "W");
	if (!isnan(d->va)) {
		ww_str_fixed(&c[VA], d->va, typed_decimals(d->va));
		ww_str_add(&c[VA], " VA");
	}
	if (!isnan(d->pf))
		ww_str_fixed(&c[PF], d->pf, 2);
	ww_attribute_why(&c[REMARK], a, i);
}

static void sum_row(struct ww_grid *g, const char *name, const char *state, struct ww_quantity q,
		    const char *remark)
{
	struct ww_str *c = ww_grid_row(g);

	if (!c)
		return;
	ww_str_add(&c[NAME], name);
	ww_str_add(&c[STATE], state);
	put(&c[WATTS], q, "W");
	ww_str_add(&c[REMARK], remark);
}

static void pair_rows(struct ww_grid *g, const struct ww_attribute *a)
{
	char x[LABEL], y[LABEL];

	for (size_t i = 0; i < a->pairs; i++) {
		struct ww_str *c = ww_grid_row(g);

		if (!c)
			return;
		ww_str_addf(&c[NAME], "%s \xc3\x97 %s", ww_attr_label(a, a->pair[i].a, x, LABEL),
			    ww_attr_label(a, a->pair[i].b, y, LABEL));
		put(&c[WATTS], a->pair[i].extra, "W");
		ww_str_add(&c[REMARK], "beyond their sum");
	}
}

static void total_rows(struct ww_grid *g, const struct ww_attribute *a)
{
	const struct ww_attribute_info *i = &a->info;
	size_t from = g->rows;

	if (a->devices < 2)
		; /* it is the sum */
	else if (isnan(i->total.value))
		sum_row(g, "all of them", "", i->total_shown,
			isnan(i->total_shown.value) ? "not to be told from these readings"
						    : "with the meter's offset");
	else
		sum_row(g, "all of them", "", i->total,
			i->total_synthetic ? "synthetic: never read together" : "");
	if (!g->bad && a->devices > 1 && !isnan(i->total_va)) {
		struct ww_str *c = &g->cell[from * g->columns];

		ww_str_fixed(&c[VA], i->total_va, typed_decimals(i->total_va));
		ww_str_add(&c[VA], " VA");
	}
	if (!g->bad && a->devices > 1 && !isnan(i->total_pf))
		ww_str_fixed(&g->cell[from * g->columns + PF], i->total_pf, 2);
	sum_row(g, a->base ? "base level" : "meter's offset", "", i->offset,
		isnan(i->offset.value) ? "not known"
		: a->calibrated	       ? "by the calibration"
		: a->offset_known      ? "as given"
		: a->base	       ? "and whatever else was on"
				       : "");
}

static void put_devices(struct ww_str *s, const struct ww_attribute *a)
{
	static const char *const head[COLUMNS] = {"device", "state", "watts", "VA", "PF", ""};
	struct ww_grid g = {.columns = COLUMNS, .left = 1u << NAME | 1u << STATE | 1u << REMARK};

	ww_grid_head(&g, head);
	for (size_t i = 0; i < a->devices; i++)
		device_row(&g, a, i);
	pair_rows(&g, a);
	total_rows(&g, a);
	ww_grid_print(s, &g);
}

static void put_groups(struct ww_str *s, const struct ww_attribute *a)
{
	for (size_t i = 0; i < a->groups; i++) {
		const struct ww_device_group *g = &a->group[i];
		struct ww_str line = {0};

		if (g->count < 2)
			continue;
		ww_str_add(&line, "not told apart: ");
		ww_attribute_list(&line, a, g->device, g->count);
		ww_str_add(&line, g->with_offset ? " and the meter's offset" : "");
		if (!isnan(g->sum.value)) {
			ww_str_add(&line, "; together ");
			put(&line, g->sum, "W");
		}
		ww_put_wrapped(s, line.bad ? "" : line.p, 2, 80);
		s->bad = s->bad || line.bad;
		ww_str_free(&line);
	}
}

static bool from_offset(const struct ww_attribute *a, uint32_t device)
{
	uint32_t g = a->device[device].group;

	return g && a->group[g - 1].with_offset;
}

static void put_next(struct ww_str *s, const struct ww_attribute *a)
{
	size_t shown = 0;

	for (size_t i = 0; i < a->nexts && shown < 3; i++) {
		const struct ww_device_next *n = &a->next[i];
		struct ww_str line = {0};

		if (n->rank_gain == 0)
			continue;
		ww_str_add(&line, shown++ ? "or with " : "a reading that would tell more: with ");
		if (n->on)
			ww_attribute_list(&line, a, n->device, n->on);
		ww_str_add(&line, n->on ? " on" : "all unplugged");
		if (n->separates) {
			ww_str_add(&line, ", which tells ");
			ww_attribute_list(&line, a, n->separate, n->separates);
			ww_str_add(&line, n->separates > 1 ? " apart"
					  : from_offset(a, n->separate[0])
						  ? " from the meter's offset"
						  : " from the others");
		}
		ww_put_wrapped(s, line.bad ? "" : line.p, 2, 80);
		s->bad = s->bad || line.bad;
		ww_str_free(&line);
	}
}

static void put_fit(struct ww_str *s, const struct ww_attribute *a)
{
	const struct ww_attribute_info *i = &a->info;

	ww_str_addf(s, "\n%llu reading%s", (unsigned long long)i->readings,
		    i->readings == 1 ? "" : "s");
	if (i->dof) {
		ww_str_addf(s, ", %llu more than needed: chi-square ", (unsigned long long)i->dof);
		ww_str_fixed(s, i->chi2, i->chi2 < 100 ? 1 : 0);
		ww_str_add(s, i->p < 0.001 ? ", p < " : ", p = ");
		ww_str_fixed(s, fmax(i->p, 0.001), i->p < 0.1 ? 3 : 2);
		ww_str_add(s, ", Birge ratio ");
		ww_str_fixed(s, i->birge, 2);
	}
	if (!isnan(i->drift.value)) {
		ww_str_add(s, "\ndrift ");
		put(s, i->drift, "W/h");
	}
	ww_str_add(s, "\n");
}

static void put_order(struct ww_str *s, const struct ww_attribute *a)
{
	static const char *const head[] = {"in this order", "adds", "level", ""};
	struct ww_grid g = {.columns = 4, .left = 1u << 0 | 1u << 3};
	char label[LABEL];

	if (a->levels == 0)
		return;
	ww_str_add(s, "\n");
	ww_grid_head(&g, head);
	for (size_t i = 0; i < a->levels; i++) {
		struct ww_str *c = ww_grid_row(&g);

		if (!c)
			break;
		ww_str_add(&c[0], ww_attr_label(a, a->level[i].device, label, sizeof(label)));
		put(&c[1], a->level[i].added, "W");
		put(&c[2], a->level[i].watts, "W");
		ww_str_add(&c[3], isnan(a->level[i].watts.value) ? "not to be told"
				  : a->level[i].synthetic	 ? "synthetic"
								 : "read");
	}
	ww_grid_print(s, &g);
}

/* Nobody counts in parts of a cent, or of days: two decimals at most. */
static void put_plain(struct ww_str *s, struct ww_quantity q, const char *unit, int fallback)
{
	if (isnan(q.value) || !(q.u > 0) || ww_decimals_for(2 * q.u, 2) <= 2) {
		ww_put_quantity(s, q, unit, fallback);
		return;
	}
	ww_str_fixed(s, q.value, 2);
	ww_str_add(s, " \xc2\xb1 ");
	ww_str_fixed(s, fmax(2 * q.u, 0.01), 2);
	ww_str_addf(s, "%s%s", *unit ? " " : "", unit);
}

static void put_money(struct ww_str *s, const struct ww_saving *v, double value, double u)
{
	struct ww_quantity q = {value, u};

	put_plain(s, q, v->currency, 2);
}

static void put_years(struct ww_str *s, const struct ww_saving *v)
{
	ww_str_add(s, "pay-back of ");
	put_money(s, v, v->cost, 0);
	ww_str_add(s, ": ");
	if (isnan(v->payback_years.value)) {
		ww_str_add(s, "never\n");
		return;
	}
	put_plain(s, v->payback_years, "years", v->payback_years.value < 10 ? 1 : 0);
	if (isinf(v->payback_ci[1])) {
		ww_str_add(s, ", or never: the saving may be nothing; at least ");
		ww_str_fixed(s, v->payback_ci[0], 1);
		ww_str_add(s, " years");
	}
	ww_str_add(s, "\n");
}

static void put_saving(struct ww_str *s, const struct ww_attribute *a)
{
	const struct ww_saving *v = &a->saving;
	struct ww_grid g = {.columns = 2, .left = 1};
	bool shown = isnan(v->before.value) || isnan(v->now.value);
	struct ww_quantity value[3] = {shown ? v->before_shown : v->before,
				       shown ? v->now_shown : v->now, v->watts};
	static const char *const name[2][3] = {{"before", "now", "saved"},
					       {"before, as shown", "now, as shown", "saved"}};
	static const char *const head[] = {"saving", "watts"};

	ww_str_add(s, "\n");
	ww_grid_head(&g, head);
	for (size_t i = 0; i < 3; i++) {
		struct ww_str *c = ww_grid_row(&g);

		if (!c)
			break;
		ww_str_add(&c[0], name[shown][i]);
		put(&c[1], value[i], "W");
	}
	ww_grid_print(s, &g);
	if (isnan(v->watts.value))
		return;
	ww_str_add(s, "a year at ");
	ww_str_num(s, v->hours_per_day);
	ww_str_add(s, " h a day: ");
	put(s, v->kwh_year, "kWh");
	if (!isnan(v->money_year.value)) {
		ww_str_add(s, ", ");
		put_money(s, v, v->money_year.value, v->money_year.u);
	}
	ww_str_add(s, "\n");
	if (v->cost > 0 && !isnan(v->money_year.value))
		put_years(s, v);
}

static void text_report(struct ww_str *s, const struct ww_attribute *a)
{
	if (a->has_wall)
		ww_put_start(s, &a->wall);
	put_devices(s, a);
	ww_put_legend(s);
	put_groups(s, a);
	put_next(s, a);
	put_order(s, a);
	if (a->has_saving)
		put_saving(s, a);
	put_fit(s, a);
	ww_put_notes(s, &a->notes);
}

int ww_attribute_report(const struct ww_attribute *a, int form, char **out, struct ww_error *err)
{
	struct ww_str text = {0};

	if (form == WW_REPORT_JSON)
		ww_attribute_json(&text, a);
	else if (form == WW_REPORT_TEXT)
		text_report(&text, a);
	else
		return ww_fail(err, -EINVAL, "report form %d is unknown", form);
	return ww_str_take(&text, out, err);
}
