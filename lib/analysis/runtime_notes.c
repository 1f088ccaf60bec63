/* SPDX-License-Identifier: MIT */
/* What was assumed, and what a figure does not hold. */
#include "analysis/runtime.h"

#include <math.h>

static void say(struct ww_runtime *r, struct ww_str *s)
{
	if (s->bad)
		r->notes.bad = true;
	else if (s->n)
		ww_note(&r->notes, "%s", s->p);
	ww_str_free(s);
}

/* As few digits as tell it: never 2e+01. */
static void plain(struct ww_str *s, double v)
{
	char text[400];
	int d = 0;

	do {
		ww_fixed_text(text, sizeof(text), v, d);
	} while (ww_strtod(text, NULL) != v && ++d < 9);
	ww_str_add(s, text);
}

static void put(struct ww_str *s, const char *name, double v, double u, const char *unit)
{
	ww_str_addf(s, "%s%s ",
		    !s->n				? "assumed: "
		    : strncmp(name, "for what", 8) == 0 ? "; "
							: ", ",
		    name);
	plain(s, v);
	if (u > 0) {
		ww_str_add(s, " \xc2\xb1 ");
		plain(s, 2 * u);
	}
	if (*unit)
		ww_str_addf(s, " %s", unit);
}

static bool uses(const struct ww_runtime *r, int method)
{
	for (size_t i = 0; i < r->rows; i++)
		if (r->row[i].method == method && !*r->row[i].why)
			return true;
	return false;
}

/* Everything that was not given, in one sentence. */
static void assumptions(struct ww_runtime_job *j)
{
	const struct ww_runtime_known *k = &j->known, *z = &j->sized;
	struct ww_runtime *r = j->r;
	bool battery = uses(r, WW_RUNTIME_BATTERY) ||
		       (uses(r, WW_RUNTIME_MEASURED) && k->given[WW_IN_CAPACITY] && j->implied);
	bool aged = k->in[WW_IN_AGEING] * k->in[WW_IN_TEMPERATURE] != 1;
	struct ww_str s = {0};

	if (!k->given[WW_IN_VOLTS] && (battery || r->has_need))
		put(&s, "battery of", k->in[WW_IN_VOLTS], 0, "V");
	if (!k->given[WW_IN_PEUKERT] && (battery || r->has_need || aged))
		put(&s, "Peukert's exponent", k->in[WW_IN_PEUKERT], k->u[WW_IN_PEUKERT], "");
	if (!(WW_OPT(j->o, rated_h, 0) > 0) && (battery || r->has_need))
		put(&s, "capacity rated over", j->battery.rated_h, 0, "h");
	if (!k->given[WW_IN_EFFICIENCY] && !j->implied && (battery || r->has_need))
		put(&s,
		    j->battery.direct ? "efficiency of the converter"
				      : "efficiency of the inverter",
		    k->in[WW_IN_EFFICIENCY], k->u[WW_IN_EFFICIENCY], "");
	if (!k->given[WW_IN_DEPTH] && battery && !r->has_need)
		put(&s, "depth of discharge", k->in[WW_IN_DEPTH], 0, "");
	if (r->has_need && !z->given[WW_IN_DEPTH])
		put(&s, "for what it takes, depth of discharge", z->in[WW_IN_DEPTH], 0, "");
	if (r->has_need && !z->given[WW_IN_AGEING])
		put(&s, "capacity left at the end of its life", z->in[WW_IN_AGEING], 0, "");
	say(r, &s);
	if (!k->given[WW_IN_OWN] && !j->implied && !j->battery.direct && (battery || r->has_need))
		ww_note(&r->notes,
			"the loss of the inverter without a load is taken as 0: at a light load it "
			"is "
			"most of what the battery gives; measure one runtime, or give --own");
	if (!k->given[WW_IN_TEMPERATURE] && (battery || r->has_need || uses(r, WW_RUNTIME_TABLE)))
		ww_note(&r->notes, "at 25 \xc2\xb0"
				   "C; in the cold a battery holds less: give --temperature");
}

static void implied(struct ww_runtime_job *j)
{
	const struct ww_runtime_case *row;
	struct ww_str s = {0};

	if (!j->implied)
		return;
	row = &j->r->row[j->r->rows - 1];
	ww_str_add(&s, "the measured runtime implies the watts from the battery, and these ");
	if (j->known.given[WW_IN_OWN])
		ww_str_add(&s, "the efficiency beside the own loss that was given");
	else if (row->own_W.value > 0)
		ww_str_add(&s, "an own loss beside the efficiency");
	else
		ww_str_add(&s, "no own loss, but an efficiency");
	if (row->points && j->known.in[WW_IN_POINT_W] < 0.5 * j->watts) {
		ww_str_add(
			&s,
			" (less than half of what it gave reached the load: is the battery worn, "
			"or its capacity another?)");
	}
	ww_str_add(&s,
		   "; the bounds are those of all the loss fixed and all of it in proportion to "
		   "the load. A runtime never grows as 1/P towards a lighter load");
	say(j->r, &s);
}

static void table(struct ww_runtime_job *j)
{
	struct ww_runtime *r = j->r;
	const struct ww_runtime_table *t = WW_OPT(j->o, table, NULL);
	struct ww_str s = {0};
	bool lighter = false, heavier = false;

	for (size_t i = 0; i < r->rows; i++) {
		lighter = lighter || (!*r->row[i].why && r->row[i].extrapolated < 0);
		heavier = heavier || (!*r->row[i].why && r->row[i].extrapolated > 0);
	}
	if (lighter)
		ww_note(&r->notes, "lighter than the lightest load that is stated: extrapolated by "
				   "the slope at "
				   "that end. The loss of the UPS itself does not shrink with the "
				   "load, so that "
				   "it lasts rather less long than that");
	if (lighter || heavier)
		ww_note(&r->notes, "between: no battery of such losses can do otherwise, with the "
				   "Peukert exponent that is given or assumed");
	if (heavier)
		ww_note(&r->notes,
			"heavier than the heaviest load that is stated: extrapolated; the UPS may "
			"switch off at once");
	if (!t)
		return;
	if (isfinite(r->error_log)) {
		ww_str_add(&s, "interpolated in logarithms: the table's own points, each from its "
			       "neighbours, come out ");
		ww_str_fixed(&s, 100 * r->error_log, ww_decimals_for(100 * r->error_log, 1));
		ww_str_add(&s, " % off on average (linearly ");
		ww_str_fixed(&s, 100 * r->error_linear, ww_decimals_for(100 * r->error_linear, 1));
		ww_str_add(&s, " %)");
		say(r, &s);
	}
	if (t->clock)
		ww_note(&r->notes, "%s: times such as 1:30 are taken as hours and minutes",
			t->name);
	if (j->known.in[WW_IN_AGEING] * j->known.in[WW_IN_TEMPERATURE] == 1)
		ww_note(&r->notes,
			"a maker's table is for new batteries: with --ageing 0.8 it is that "
			"of old ones");
}

static void number(struct ww_str *s, double v, const char *unit)
{
	ww_str_fixed(s, v, v < 10 ? 2 : v < 100 ? 1 : 0);
	ww_str_addf(s, " %s", unit);
}

static void rating(struct ww_runtime *r)
{
	struct ww_str s = {0};
	double w = fmax(r->peak_W, r->watts.value);

	if (r->rating_W > 0 && w > r->rating_W) {
		ww_str_add(&s, "overload: the load reaches ");
		number(&s, w, "W, the UPS is rated for ");
		number(&s, r->rating_W, "W");
	} else if (r->rating_VA > 0 && r->va.value > r->rating_VA) {
		ww_str_add(&s, "overload: the load takes ");
		number(&s, r->va.value, "VA, the UPS is rated for ");
		number(&s, r->rating_VA, "VA");
	} else if (r->rating_VA > 0 && w > r->rating_VA) {
		/* VA are never less than W. */
		ww_str_add(&s, "overload: the load reaches ");
		number(&s, w, "W, so at least as many VA, the UPS is rated for ");
		number(&s, r->rating_VA, "VA");
	} else if (r->rating_VA > 0 && isnan(r->va.value)) {
		ww_str_add(&s,
			   "whether the load is within the rating in VA is not known: its VA are "
			   "not");
	}
	say(r, &s);
	if (r->rating_W > 0 || r->rating_VA > 0) {
		if (!(r->peak_W > 0))
			ww_note(&r->notes,
				"the peak of the load is not known: only its mean was held "
				"against the rating");
	}
	if (r->peak_W > 0 && r->watts.value > 0 && r->peak_W > 1.5 * r->watts.value) {
		ww_str_add(&s, "the load is not steady (peak ");
		number(&s, r->peak_W,
		       "W): a runtime of its mean is too long, since by Peukert's law peaks cost "
		       "more "
		       "(a quarter too long where it is on for a third of the time)");
		say(r, &s);
	}
}

void ww_runtime_remarks(struct ww_runtime_job *j)
{
	table(j);
	implied(j);
	assumptions(j);
	rating(j->r);
}
