/* SPDX-License-Identifier: MIT */
/* Notes of a standby measurement: what was assumed, not observed or left out. */
#include "analysis/standby.h"
#include "base/str.h"

#include <math.h>

static void number(char *buf, size_t n, double v)
{
	int d = v != 0 && isfinite(v) ? 2 - (int)floor(log10(fabs(v))) : 0;

	ww_fixed_text(buf, n, v, d < 0 ? 0 : d > 6 ? 6 : d);
}

static void on_stability(struct ww_standby *s)
{
	const struct ww_standby_result *r = &s->r;
	char a[350], b[350], c[350];

	number(a, sizeof(a), r->slope_limit * 1000);
	number(b, sizeof(b), 2 * r->slope.u * 1000);
	if (r->verdict == WW_STANDBY_NOT_RESOLVED && s->cycle.found)
		ww_note(&s->notes,
			"the mean of whole cycles needs %d of them, so much alike that their "
			"slope shows: record longer",
			WW_STANDBY_CYCLES);
	else if (r->verdict == WW_STANDBY_NOT_RESOLVED && isfinite(r->slope.u))
		ww_note(&s->notes,
			"whether the slope keeps its limit of %s mW/h these readings cannot tell: "
			"2 u = %s mW/h%s; record longer, or take a meter with less noise or finer "
			"steps",
			a, b, fabs(r->slope.value) < r->slope_limit ? ", it is below by luck" : "");
	if (isfinite(r->lucky_s) && r->lucky_s < r->tested_s) {
		ww_fixed_text(c, sizeof(c), r->lucky_s, 0);
		ww_note(&s->notes,
			"after %s s already the slope lay below its limit, by luck: its "
			"uncertainty was larger than the limit",
			c);
	}
	if (r->verdict == WW_STANDBY_STABLE && isfinite(r->slope.u) &&
	    fabs(r->slope.value) + 2 * r->slope.u > r->slope_limit)
		ww_note(&s->notes, "the slope lies within 2 u of its limit: the procedure asks for "
				   "no more, but a repetition may fail");
	if (s->opt.procedure == WW_STANDBY_EDITION1 && r->verdict == WW_STANDBY_NOT_STABLE)
		ww_note(&s->notes,
			s->cycle.found ? "the mode cycles: energy over whole cycles by their "
					 "time"
				       : "never within 5 %% over 5 min: energy by time over all "
					 "of it");
	if (s->opt.procedure == WW_STANDBY_EDITION1 && r->verdict == WW_STANDBY_NOT_RESOLVED)
		ww_note(&s->notes, "one step of the meter is more than 5 %% of the reading: it "
				   "cannot show a variation of 5 %%");
}

/* What a test that had ended with the first flat part would have said. */
static void on_later(struct ww_standby *s)
{
	char after[350], watts[350];

	ww_fixed_text(after, sizeof(after), s->early_s, 0);
	number(watts, sizeof(watts), s->early_watts);
	ww_note(&s->notes,
		"after %s s the procedure would have said '%s' with %s W, but the stretch as a "
		"whole cycles, and that counts; where the cycles are not of the mode, end the "
		"stretch before them (--to)",
		after, ww_standby_verdict_name(s->early_verdict), watts);
	if (s->opt.procedure == WW_STANDBY_DIRECT)
		ww_note(&s->notes, "the direct method is for modes that do not cycle");
}

static void on_cycles(struct ww_standby *s)
{
	const struct ww_standby_cycle *c = &s->cycle;
	char p[350], spread[350], swing[350];

	if (s->later.found && isnan(s->early_s)) {
		number(p, sizeof(p), s->later.period);
		number(swing, sizeof(swing), s->later.swing);
		ww_note(&s->notes,
			"seen as a whole, this stretch cycles every %s s by %s W: if that belongs "
			"to the mode, its mean is that of whole cycles",
			p, swing);
	}
	if (!c->found && s->opt.cyclic)
		ww_note(&s->notes, "said to cycle, but no cycles were seen: record longer");
	if (!c->found)
		return;
	if (!isnan(s->early_s))
		on_later(s);
	number(p, sizeof(p), c->period);
	number(spread, sizeof(spread), c->spread);
	number(swing, sizeof(swing), c->swing);
	if (s->opt.procedure == WW_STANDBY_ENERGYSTAR)
		ww_note(&s->notes,
			"the mode cycles every %s s by %s W; the 5 min hold no whole number of "
			"cycles unless by chance",
			p, swing);
	else if (c->on_off && isfinite(c->spread) && c->spread > 0.1 * c->period)
		ww_note(&s->notes,
			"the mode comes and goes between two levels %s W apart, on average every "
			"%s s, irregularly (s = %s s): averaged from rise to rise",
			swing, p, spread);
	else
		ww_note(&s->notes, "the mode cycles every %s s by %s W: averaged over whole cycles",
			p, swing);
}

static void on_meter(struct ww_standby *s, const struct ww_standby_data *d)
{
	const struct ww_standby_result *r = &s->r;

	if (isnan(r->u_accuracy))
		ww_note(&s->notes, "the accuracy of the meter is not known and not in the "
				   "uncertainty: give it "
				   "with --accuracy (0.1%%+0.005W)");
	else if (r->expanded > r->expanded_limit)
		ww_note(&s->notes, "this meter is not good enough for the procedure");
	if (isnan(r->u_noise))
		ww_note(&s->notes, "so few cycles do not tell how much they differ: that is not in "
				   "the uncertainty");
	if (s->series.resolution_seen)
		ww_note(&s->notes, "the meter's resolution was found from its readings");
	if (s->series.missing)
		ww_note(&s->notes, "%llu readings had no value (missing or out of range)",
			(unsigned long long)s->series.missing);
	if (s->opt.procedure == WW_STANDBY_DIRECT && !(s->fit.s > 0))
		ww_note(&s->notes, "what single readings scatter by is not known and left out");
	if (isnan(r->mcr) && s->opt.procedure != WW_STANDBY_ENERGYSTAR &&
	    s->opt.procedure != WW_STANDBY_EDITION1)
		ww_note(&s->notes, "crest and power factor are not known: an MCR = CF/PF of 10 or "
				   "less was assumed for the allowed uncertainty");
	if (d->dt == 1 && s->series.period_s < 1 && s->series.period_s > 0)
		ww_note(&s->notes, "readings were averaged to whole seconds");
}

void ww_standby_remarks(struct ww_standby *s, const struct ww_standby_data *d)
{
	const struct ww_standby_result *r = &s->r;

	on_cycles(s);
	on_stability(s);
	on_meter(s, d);
	if (r->verdict == WW_STANDBY_TOO_SHORT)
		ww_note(&s->notes, "the trace is too short for the procedure: the mean is that of "
				   "what there is");
	if (d->live)
		ww_note(&s->notes, "the trace is still being recorded: judged up to its last "
				   "commit; a cycle longer than what it holds cannot be known yet");
	if (!isnan(r->limit_watts) && isnan(r->expanded))
		ww_note(&s->notes, "nothing is said about the limit without the meter's accuracy");
	if (s->opt.procedure == WW_STANDBY_ENERGYSTAR)
		ww_note(&s->notes, "the log-in is taken to be at the beginning of the stretch "
				   "(--from)");
	else
		ww_note(&s->notes, "the mode is taken to be entered at the beginning of the "
				   "stretch (--from)");
	ww_note(&s->notes, "figures of the standard are as commonly quoted, to be checked against "
			   "its text; clauses on the product's set-up are not in the list");
}
