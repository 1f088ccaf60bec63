/* SPDX-License-Identifier: MIT */
/* What a comparison says, in words. */
#include "analysis/compare.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

/* From here on "2.4 times as much" reads better than "140 % more". */
#define TIMES 2.0

struct words {
	const char *verb;
	const char *less, *more, *times, *each;
};

static struct words words_for(const char *measure)
{
	if (strstr(measure, "per unit") || strncmp(measure, "energy per", 10) == 0)
		return (struct words){"needs", "less", "more", "times as much", "need"};
	if (strncmp(measure, "energy", 6) == 0)
		return (struct words){"uses", "less", "more", "times as much", "use"};
	if (strncmp(measure, "time", 4) == 0)
		return (struct words){"takes", "less", "more", "times as long", "take"};
	if (strstr(measure, "power"))
		return (struct words){"draws", "less", "more", "times as much", "draw"};
	return (struct words){"is", "lower", "higher", "times as high", "are"};
}

/* Decimals that show one digit of half a width. */
static int decimals(double width)
{
	int d = ww_decimals_for(width / 2, 3) - 1;

	return d < 0 ? 0 : d;
}

static void range(struct ww_str *s, double lo, double hi, int d)
{
	double least = fmin(lo, hi), most = fmax(lo, hi);

	ww_str_fixed(s, least, d);
	ww_str_add(s, least < 0 || most < 0 ? " to " : "-");
	ww_str_fixed(s, most, d);
}

static void conf_text(struct ww_str *s, double conf)
{
	ww_str_num(s, floor(conf * 1e6 + 0.5) / 1e4);
	ww_str_add(s, " %: ");
}

struct ww_compare_scale ww_compare_scale(const struct ww_comparison *r, double v)
{
	static const struct {
		double by;
		const char *text;
	} prefix[] = {{1e6, "M"},  {1e3, "k"},	       {1, ""},
		      {1e-3, "m"}, {1e-6, "\xc2\xb5"}, {1e-9, "n"}};
	struct ww_compare_scale s = {1, ""};
	size_t i = 0;

	/* Seconds alone stay seconds; of other units only joules and watts, and what they cost. */
	if ((*r->unit == 'J' || *r->unit == 'W' || strncmp(r->unit, "s/", 2) == 0) &&
	    (r->unit[1] == '/' || r->unit[1] == '\0') && v > 0) {
		while (i + 1 < WW_COUNTOF(prefix) && !(v >= 0.9995 * prefix[i].by))
			i++;
		s.by = prefix[i].by;
		snprintf(s.unit, sizeof(s.unit), "%s%s", prefix[i].text, r->unit);
	} else {
		snprintf(s.unit, sizeof(s.unit), "%s", r->unit);
	}
	return s;
}

/* "B uses 1.2 % less; 95 %: 1.1-1.4 %" */
static void differs(struct ww_str *s, const struct ww_comparison *r, const struct words *w,
		    double conf, const char *base)
{
	bool less = r->verdict == WW_VERDICT_LESS;
	double lo = r->ratio_ci[0], hi = r->ratio_ci[1];
	int d;

	ww_str_addf(s, "%s %s ", r->b, w->verb);
	if (r->ratio >= TIMES) {
		d = decimals(hi - lo);
		ww_str_fixed(s, r->ratio, d);
		ww_str_addf(s, " %s%s%s; ", w->times, base ? " as " : "", base ? base : "");
		conf_text(s, conf);
		range(s, lo, hi, d);
		return;
	}
	d = decimals(100 * (hi - lo));
	ww_str_fixed(s, 100 * fabs(r->ratio - 1), d);
	ww_str_addf(s, " %% %s%s%s; ", less ? w->less : w->more, base ? " than " : "",
		    base ? base : "");
	conf_text(s, conf);
	range(s, less ? 100 * (1 - hi) : 100 * (lo - 1), less ? 100 * (1 - lo) : 100 * (hi - 1), d);
	ww_str_add(s, " %");
}

/* Where there is no ratio: values around zero. */
static void differs_plain(struct ww_str *s, const struct ww_comparison *r, const struct words *w,
			  double conf, const char *base)
{
	struct ww_compare_scale k = ww_compare_scale(r, fabs(r->difference.value));
	double sign = r->verdict == WW_VERDICT_LESS ? -1 / k.by : 1 / k.by;
	int d = decimals((r->difference_ci[1] - r->difference_ci[0]) / k.by);

	ww_str_addf(s, "%s %s ", r->b, w->verb);
	ww_str_fixed(s, fabs(r->difference.value) / k.by, d);
	ww_str_addf(s, "%s%s %s%s%s; ", *r->unit ? " " : "", k.unit, sign < 0 ? w->less : w->more,
		    base ? " than " : "", base ? base : "");
	conf_text(s, conf);
	range(s, sign * r->difference_ci[0], sign * r->difference_ci[1], d);
	if (*r->unit)
		ww_str_addf(s, " %s", k.unit);
}

static void no_difference(struct ww_str *s, const struct ww_comparison *r)
{
	ww_str_addf(s, "%s and %s: no difference seen", r->a, r->b);
	if (isfinite(r->detectable)) {
		ww_str_add(s, "; one of ");
		ww_str_fixed(s, 100 * r->detectable, decimals(20 * r->detectable));
		ww_str_add(s, " % would have been");
	} else if (isfinite(r->detectable_abs)) {
		struct ww_compare_scale k = ww_compare_scale(r, r->detectable_abs);
		double v = r->detectable_abs / k.by;

		ww_str_add(s, "; one of ");
		ww_str_fixed(s, v, ww_decimals_for(v, 3));
		ww_str_addf(s, "%s%s would have been", *r->unit ? " " : "", k.unit);
	}
}

static void nothing(struct ww_str *s, const struct ww_comparison *r)
{
	if (r->n_a == 0 || r->n_b == 0)
		ww_str_addf(s, "%s has no values", r->n_a == 0 ? r->a : r->b);
	else if (r->method != WW_COMPARE_NONE)
		ww_str_addf(s, "%s and %s: nothing scatters, so that nothing can be told", r->a,
			    r->b);
	else
		ww_str_addf(s, "%s and %s: one run says nothing of the scatter; repeat them", r->a,
			    r->b);
}

int ww_compare_say(struct ww_compare *c, size_t i)
{
	const struct ww_comparison *r = &c->row[i];
	struct words w = words_for(r->measure);
	struct ww_str s = {0};

	switch (r->verdict) {
	case WW_VERDICT_LESS:
	case WW_VERDICT_MORE:
		(isfinite(r->ratio_ci[0]) && r->mean_a.value > 0 && r->mean_b.value > 0
			 ? differs
			 : differs_plain)(&s, r, &w, c->conf, c->variants > 1 ? r->a : NULL);
		break;
	case WW_VERDICT_SAME:
		no_difference(&s, r);
		break;
	case WW_VERDICT_UNRESOLVED:
		ww_str_addf(&s, "%s and %s %s alike within half a step of the values", r->a, r->b,
			    w.each);
		break;
	default:
		nothing(&s, r);
	}
	return ww_str_take(&s, &c->sentence[i], NULL);
}
