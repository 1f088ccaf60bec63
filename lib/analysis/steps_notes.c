/* SPDX-License-Identifier: MIT */
/* What goes with the steps: what was assumed, what limits them, what else was seen. */
#include "analysis/steps_info.h"
#include "base/str.h"

#include <math.h>

#define DRIFTS_SAID 3
#define MARKS_SAID  5

struct num {
	char t[350];
};

/* As few digits as a person needs. */
static struct num num(double v)
{
	struct num n = {""};
	double a = fabs(v);
	int d = a >= 100 ? 0 : a >= 10 ? 1 : a >= 0.1 ? 2 : 4;
	char *end;

	ww_fixed_text(n.t, sizeof(n.t), v, d);
	end = n.t + strlen(n.t);
	while (d > 0 && end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
	return n;
}

void ww_steps_plain(char *buf, size_t n, double v)
{
	double a = fabs(v);
	int d = a > 0 && isfinite(a) ? 5 - (int)floor(log10(a)) : 0;
	char *end;

	if (a >= 1e15 || (a > 0 && a < 1e-12)) {
		ww_num_text(buf, n, v);
		return;
	}
	ww_fixed_text(buf, n, v, d < 0 ? 0 : d > 12 ? 12 : d);
	end = buf + strlen(buf);
	while (strchr(buf, '.') && end[-1] == '0')
		*--end = '\0';
	if (end > buf && end[-1] == '.')
		end[-1] = '\0';
}

static struct num exact(double v)
{
	struct num n = {""};

	ww_steps_plain(n.t, sizeof(n.t), v);
	return n;
}

/* "12.3 s", "48 min", "5.2 h", "3.1 d" */
static struct num span(double s)
{
	static const struct {
		double least, seconds;
		const char *name;
	} units[] = {{172800, 86400, " d"},
		     {7200, 3600, " h"},
		     {120, 60, " min"},
		     {0.2, 1, " s"},
		     {0, 1e-3, " ms"}};
	size_t u = 0;
	struct num n;

	while (fabs(s) < units[u].least && !(s == 0 && units[u].seconds == 1))
		u++;
	n = num(s / units[u].seconds);
	strncat(n.t, units[u].name, sizeof(n.t) - strlen(n.t) - 1);
	return n;
}

static void say_resolution(struct ww_steps *s, const struct ww_series *x)
{
	if (x->resolution_seen)
		ww_note(&s->notes,
			"the meter does not tell its resolution: %s W is found from the readings",
			exact(s->resolution).t);
	else if (!(x->resolution > 0) && x->n)
		ww_note(&s->notes,
			"no resolution of a display is to be seen in the readings: none is in u");
}

static void say_accuracy(struct ww_steps *s, const struct ww_series *x)
{
	double a = isnan(x->acc_abs) ? 0 : x->acc_abs, g = isnan(x->acc_rel) ? 0 : x->acc_rel;
	double most = 0;

	for (size_t i = 0; i < s->levels; i++)
		most = fmax(most, fabs(s->level[i].watts.value));
	if (isnan(x->acc_rel)) {
		ww_note(&s->notes,
			"the accuracy of the meter is unknown and in no u: add the maker's figure "
			"(an offset cancels in a change, an error of the gain does not)");
		return;
	}
	if (!(a > 0) && !(g > 0)) /* a simulated meter */
		return;
	ww_note(&s->notes,
		"u of a change holds the maker's bound of the gain, %s %% of the change; u of a "
		"level holds no accuracy of the meter: add the maker's %s W + %s %%, at %s W "
		"\xc2\xb1%s W",
		exact(g * 100).t, exact(a).t, exact(g * 100).t, num(most).t, num(a + g * most).t);
}

static void say_holes(struct ww_steps *s, const struct ww_series *x)
{
	double in = 0;

	for (size_t i = 1; i < x->n; i++)
		if (x->hole[i])
			in += ((double)x->t_ns[i] - (double)x->t_ns[i - 1]) / 1e9;
	if (x->holes)
		ww_note(&s->notes,
			"%zu gap%s, %s in all: of a change inside one is known that it lies inside",
			x->holes, x->holes == 1 ? "" : "s", span(in).t);
	if (x->missing)
		ww_note(&s->notes, "%llu reading%s without a value left out",
			(unsigned long long)x->missing, x->missing == 1 ? "" : "s");
}

static void say_noise(struct ww_steps *s, const struct ww_series *x, const struct ww_step_result *r)
{
	if (x->manual)
		ww_note(&s->notes,
			"a person read the meter: what was worth writing down is no noise, so that "
			"u holds the resolution alone where single readings stand for levels");
	if (r->block > 1 && r->mains_hz > 0)
		ww_note(&s->notes,
			"%zu readings each averaged over whole cycles of the %s Hz mains before "
			"looking",
			r->block, exact(r->mains_hz).t);
	else if (r->block > 1)
		ww_note(&s->notes, "%zu readings each averaged into one before looking", r->block);
	if (r->tau > 3)
		ww_note(&s->notes,
			"the noise is slow: %s readings in a row are worth one; u allows for it",
			num(r->tau).t);
}

static void say_limit(struct ww_steps *s, double spike_s)
{
	if (s->undithered && s->smallest <= s->resolution)
		ww_note(&s->notes,
			"the noise is too small to tell parts of the resolution of %s W: changes "
			"of no more than that are unresolved, and given with bounds",
			exact(s->resolution).t);
	else if (s->smallest > 1e-4)
		ww_note(&s->notes,
			"between two levels of %zu readings each, changes from %s W on would be "
			"found (noise %s W); smaller ones may be there",
			s->level_n, num(s->smallest).t, num(s->sigma).t);
	else if (!isfinite(s->smallest) && s->n)
		ww_note(&s->notes, "too few readings to say which changes would be found");
	if (s->n > 1)
		ww_note(&s->notes, "what lasts %s or less is taken for a spike (--spike)",
			span(spike_s > 0 ? spike_s : 3 * s->period_s).t);
}

static void say_cycling(struct ww_steps *s)
{
	const struct ww_cycling *c = &s->cycling;

	if (c->cycles == 0)
		return;
	ww_note(&s->notes,
		"a load of about %s W switches on and off by itself: %zu cycles of %s (\xc2\xb1%s) "
		"from "
		"%s to %s s, on for %s %% of the time",
		num(c->on).t, c->cycles, span(c->period).t, span(fmax(c->spread, s->period_s)).t,
		num(c->from).t, num(c->to).t, num(c->duty * 100).t);
}

static int by_drift(const void *a, const void *b)
{
	const struct ww_level *x = *(const struct ww_level *const *)a;
	const struct ww_level *y = *(const struct ww_level *const *)b;
	double dx = fabs(x->slope) * ((double)x->to_ns - (double)x->from_ns);
	double dy = fabs(y->slope) * ((double)y->to_ns - (double)y->from_ns);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Levels that drift, those that moved farthest first. */
static void say_drift(struct ww_steps *s)
{
	const struct ww_level **l = calloc(s->levels + 1, sizeof(const struct ww_level *));
	struct ww_str text = {0};
	size_t n = 0;

	if (!l) {
		s->notes.bad = true;
		return;
	}
	for (size_t i = 0; i < s->levels; i++)
		if (s->level[i].shape == WW_LEVEL_LINE)
			l[n++] = &s->level[i];
	qsort(l, n, sizeof(const struct ww_level *), by_drift);
	for (size_t i = 0; i < n && i < DRIFTS_SAID; i++)
		ww_str_addf(&text, "%s%s to %s s by %s W/h", i ? ", " : "",
			    num(((double)l[i]->from_ns - (double)s->origin_ns) / 1e9).t,
			    num(((double)l[i]->to_ns - (double)s->origin_ns) / 1e9).t,
			    num(l[i]->slope).t);
	if (n > DRIFTS_SAID)
		ww_str_addf(&text, ", and %zu more", n - DRIFTS_SAID);
	if (n)
		ww_note(&s->notes,
			"levels drift (%s): 'before' and 'after' are their values at the change",
			text.p ? text.p : "");
	s->notes.bad = s->notes.bad || text.bad;
	ww_str_free(&text);
	free(l);
}

static void say_marks(struct ww_steps *s)
{
	size_t known = 0, lost = 0;

	for (size_t i = 0; i < s->steps; i++)
		known += s->step[i].state == WW_STEP_KNOWN_TIME;
	if (known)
		ww_note(&s->notes,
			"known time: at %zu mark%s no change stands out of the noise; what is "
			"given "
			"there compares the levels before and after the mark",
			known, known == 1 ? "" : "s");
	for (size_t i = 0; i < s->labels; i++) {
		bool found = false;

		for (size_t k = 0; k < s->steps && !found; k++)
			found = s->step[k].mark == s->index[i];
		if (found)
			continue;
		if (lost++ < MARKS_SAID)
			ww_note(&s->notes,
				"mark '%s' at %s s: too few readings around it to say anything",
				s->label[i],
				num(((double)ww_iv_mid(s->mark[i].t) - (double)s->origin_ns) / 1e9)
					.t);
	}
	if (lost > MARKS_SAID)
		ww_note(&s->notes, "%zu further marks without readings", lost - MARKS_SAID);
}

static void say_trace(struct ww_steps *s, const struct ww_trace *t)
{
	for (size_t i = 0; ww_import_note(t, i); i++)
		ww_note(&s->notes, "import: %s", ww_import_note(t, i));
	for (size_t i = 0; ww_trace_warning(t, i); i++)
		ww_note(&s->notes, "warning: %s", ww_trace_warning(t, i));
	if (ww_trace_state(t) == WW_TRACE_LIVE)
		ww_note(&s->notes,
			"the trace is still being recorded: what is found near its end may change");
	if (ww_trace_state(t) == WW_TRACE_UNCLOSED)
		ww_note(&s->notes, "the recording broke off: steps up to its last commit");
}

void ww_steps_remarks(struct ww_steps *s, const struct ww_series *x, const struct ww_step_result *r,
		      const struct ww_steps_options *o, const struct ww_trace *t)
{
	if (x->n == 0)
		ww_note(&s->notes, "no readings in this time");
	say_cycling(s);
	say_drift(s);
	say_marks(s);
	if (x->n) {
		say_holes(s, x);
		say_noise(s, x, r);
		say_limit(s, (double)WW_OPT(o, spike_ns, 0) / 1e9);
		say_resolution(s, x);
		say_accuracy(s, x);
	}
	say_trace(s, t);
}
