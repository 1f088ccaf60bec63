/* SPDX-License-Identifier: MIT */
/* What the figures of ww_stat leave out or assume, in sentences. */
#include "analysis/stat.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

struct num {
	char t[350];
};

/* A value as short as three digits carry it. */
static struct num num(double v)
{
	struct num n = {""};
	double a = fabs(v);

	ww_fixed_text(n.t, sizeof(n.t), v, a >= 100 ? 0 : a >= 10 ? 1 : a >= 0.1 ? 2 : 4);
	return n;
}

/* Energy in Wh, "(...)" for the reader who thinks in these. */
static struct num watt_hours(double joules)
{
	struct num n = {"?"};
	double v = joules / 3600;

	if (isfinite(v))
		ww_num_text(n.t, sizeof(n.t), round(v * 1e4) / 1e4);
	return n;
}

static void say_window(struct ww_stat *s, int *rc, const struct ww_stat_channel *c,
		       const char *name)
{
	int64_t begin = c->is_counter ? c->k.begin : c->w.begin;
	int64_t end = c->is_counter ? c->k.end : c->w.end;
	double before = ((double)begin - (double)c->want_lo) / 1e9;
	double after = ((double)c->want_hi - (double)end) / 1e9, limit = (double)c->limit / 1e9;

	if (begin > end)
		return;
	if (before > limit)
		ww_stat_say(s, rc,
			    "%s: no readings in the first %s s; the figures begin after these",
			    name, num(before).t);
	if (after > limit)
		ww_stat_say(s, rc, "%s: no readings in the last %s s; the figures end before these",
			    name, num(after).t);
}

static void say_method(struct ww_stat *s, int *rc, const struct ww_source_info *src,
		       const struct ww_stat_channel *c, const char *name)
{
	static const char *const method[] = {
		[WW_INSTANT] = "each value holds at its moment: integrated by trapezoids",
		[WW_AVERAGE] = "each value is the mean since the one before: integrated backwards",
		[WW_HOLD] = "each value holds until the next, the last for no time"};
	double d = ((double)src->delay_min_ns + (double)src->delay_max_ns) / 2e9;

	if (c->info.semantics >= 0 && (size_t)c->info.semantics < WW_COUNTOF(method))
		ww_stat_say(s, rc, "%s: %s", name, method[c->info.semantics]);
	if (d > 0 || src->window_ns > src->period_ns)
		ww_stat_say(
			s, rc,
			"%s: a value covers %s s and arrives %s s later (%s to %s s); --from, --to "
			"and --between are shifted by that",
			name, num((double)src->window_ns / 1e9).t, num(d).t,
			num((double)src->delay_min_ns / 1e9).t,
			num((double)src->delay_max_ns / 1e9).t);
}

/* The same gaps in all channels of a source are said once. */
static bool said_already(const struct ww_stat *s, const struct ww_source_info *src, size_t i)
{
	size_t n = strlen(src->name);

	for (size_t k = 0; k < i; k++) {
		const struct ww_channel_stat *o = &s->channel[k];

		if (strncmp(o->name, src->name, n) == 0 && o->name[n] == '.' &&
		    o->gaps == s->channel[i].gaps && o->gap_s == s->channel[i].gap_s)
			return true;
	}
	return false;
}

static void say_gaps(struct ww_stat *s, int *rc, const struct ww_source_info *src,
		     const struct ww_stat_channel *c, size_t i)
{
	const struct ww_integral *w = &c->w;
	struct num limit = num((double)c->limit / 1e9);
	bool filled = w->gaps_counted == w->gaps;

	if (w->gaps && !said_already(s, src, i))
		ww_stat_say(
			s, rc, "%s: %llu gap%s (recorded as such%s%s%s), %s s in all%s", src->name,
			(unsigned long long)w->gaps, w->gaps == 1 ? "" : "s",
			c->limit == INT64_MAX ? "" : ", or longer than ",
			c->limit == INT64_MAX ? "" : limit.t, c->limit == INT64_MAX ? "" : " s",
			num((double)w->gap_ns / 1e9).t,
			filled ? ""
			       : ": taken as the mean of the values on both sides, uncertain by "
				 "their difference or by the spread of the readings there, "
				 "whichever is more");
	if (w->gaps_counted)
		ww_stat_say(s, rc, "%s: %llu of %llu gap%s filled from the meter's own register%s",
			    s->channel[i].name, (unsigned long long)w->gaps_counted,
			    (unsigned long long)w->gaps, w->gaps == 1 ? "" : "s",
			    filled ? "" : " instead");
	if (w->thin)
		ww_stat_say(
			s, rc,
			"%s: readings are missing one by one, about %lld where one is due every "
			"%s s: the %s s they stood for are not covered",
			w->missing ? s->channel[i].name : src->name,
			(long long)llround((double)w->thin_ns / (double)w->period),
			num((double)w->period / 1e9).t, num((double)w->thin_ns / 1e9).t);
}

static void say_counter(struct ww_stat *s, int *rc, const struct ww_counter *k, const char *name)
{
	if (k->resets)
		ww_stat_say(
			s, rc,
			"%s: the register was reset %llu time%s; what it counted up to each reset "
			"is kept, what it counted between the last reading before and the next "
			"reading is lost",
			name, (unsigned long long)k->resets, k->resets == 1 ? "" : "s");
	if (k->turns_unknown)
		ww_stat_say(s, rc,
			    "%s: %llu time%s the readings lie so far apart that the register may "
			    "have passed its end more than once: the likeliest number is taken",
			    name, (unsigned long long)k->turns_unknown,
			    k->turns_unknown == 1 ? "" : "s");
	if (k->wraps)
		ww_stat_say(s, rc, "%s: the register passed its end %llu time%s", name,
			    (unsigned long long)k->wraps, k->wraps == 1 ? "" : "s");
}

static void say_register(struct ww_stat *s, int *rc, const struct ww_stat_channel *c, size_t i)
{
	const struct ww_channel_stat *out = &s->channel[i];
	struct num z;

	if (!c->counter)
		return;
	if (c->one_way && out->min < 0)
		ww_stat_say(s, rc,
			    "%s: some flowed back, which its register does not count: they are not "
			    "compared",
			    out->name);
	ww_fixed_text(z.t, sizeof(z.t), out->register_z, 1);
	if (isfinite(out->register_z))
		ww_stat_say(
			s, rc,
			"%s: %sthe meter's own register counted %s Wh and the integral is %s Wh: "
			"the register %s the integral (z = %s)",
			out->name,
			c->pieces > 1 || c->counter->k.resets || c->w.gaps
				? "where both were read, gaps and resets left out, "
				: "between the same readings ",
			watt_hours(s->extra[i].pair_R).t, watt_hours(s->extra[i].pair_E).t,
			fabs(out->register_z) > 2 ? "DISAGREES with" : "agrees with", z.t);
	if (*s->extra[i].lost)
		ww_stat_say(s, rc, "%s: own register: %s", out->name, s->extra[i].lost);
}

static void say_noise(struct ww_stat *s, int *rc, const struct ww_source_info *src,
		      const struct ww_stat_channel *c, const char *name)
{
	struct ww_noise_fit fit = ww_noise_get(&c->w.noise);

	if (c->manual)
		ww_stat_say(
			s, rc,
			src->kind == WW_MANUAL
				? "%s: readings of a person differ because the load did: their "
				  "noise is not known and not in u"
				: "%s: readings from pulse to pulse differ because the load did: "
				  "there is no noise in u",
			src->name);
	else if (isnan(fit.sigma) || c->w.n < 2)
		ww_stat_say(s, rc, "%s: %s: their noise is not known and not in u", name,
			    c->w.n < 3 ? "fewer than three readings"
				       : "the load changed with nearly every reading");
	else if (isfinite(fit.df))
		ww_stat_say(
			s, rc,
			"%s: fewer than %d readings: their noise is taken for uncorrelated, and "
			"u is widened by Student's factor",
			src->name, WW_NOISE_LEAST);
	else if (fit.slow)
		ww_stat_say(
			s, rc,
			"%s: the noise seems correlated over %s readings, as many as it is found "
			"from: u is taken from the means of longer stretches where these say "
			"more, may hold changes of the load, and is rough with few readings",
			name, num(fit.tau).t);
}

void ww_stat_remarks(struct ww_stat *s, int *rc, const struct ww_source_info *src,
		     const struct ww_stat_channel *c, size_t i)
{
	const struct ww_channel_stat *out = &s->channel[i];
	const char *name = out->name;
	bool power = isfinite(out->energy_J.value) && !c->is_counter;

	if (power)
		say_method(s, rc, src, c, name);
	say_window(s, rc, c, name);
	if (!c->is_counter)
		say_gaps(s, rc, src, c, i);
	if (c->is_counter)
		say_counter(s, rc, &c->k, name);
	else
		say_register(s, rc, c, i);
	if (!c->is_counter && out->n)
		say_noise(s, rc, src, c, name);
	if (!c->is_counter && out->n && !(out->resolution > 0))
		ww_stat_say(
			s, rc,
			"%s: the meter's resolution is unknown; the step of the stored numbers is "
			"taken for it",
			name);
}

void ww_stat_common_remarks(struct ww_stat *s, int *rc, struct ww_trace *t)
{
	struct ww_str names = {0};
	bool va = false, pf = false;

	for (size_t i = 0; i < s->channels; i++) {
		va = va || strcmp(s->channel[i].quantity, "apparent_power") == 0;
		pf = pf || strcmp(s->channel[i].quantity, "power_factor") == 0;
		if (s->channel[i].n && !s->extra[i].accuracy_known)
			ww_str_addf(&names, "%s%s", names.n ? ", " : "", s->channel[i].name);
	}
	if (names.bad)
		*rc = -ENOMEM;
	if (names.n && !names.bad)
		ww_stat_say(
			s, rc,
			"the accuracy of the meter is unknown and not in u: add the maker's figure "
			"(%s)",
			names.p);
	ww_str_free(&names);
	if (va || pf)
		ww_stat_say(s, rc,
			    "watts, volt-amperes and power factor are each as the meter gave "
			    "them; none is derived from the others");
	for (size_t i = 0; *rc == 0 && ww_trace_warning(t, i); i++)
		ww_stat_say(s, rc, "warning: %s", ww_trace_warning(t, i));
	for (size_t i = 0; *rc == 0 && ww_import_note(t, i); i++)
		ww_stat_say(s, rc, "import: %s", ww_import_note(t, i));
	if (ww_trace_state(t) == WW_TRACE_LIVE)
		ww_stat_say(s, rc,
			    "the trace is still being recorded: figures up to its last commit");
	if (ww_trace_state(t) == WW_TRACE_UNCLOSED)
		ww_stat_say(s, rc, "the recording broke off: figures up to its last commit");
	if (s->channels == 0)
		ww_stat_say(s, rc, "no meter in this trace");
}
