/* SPDX-License-Identifier: MIT */
/*
 * Conditions of --fail-if: "resume > 5% slower", "any device > 20 ms slower", "failures > 0",
 * "failures more". A condition on a shift is met when the whole 95 % interval lies beyond the
 * limit, not met when none of it does, else undecided.
 */
#include "analysis/shift.h"
#include "base/str.h"

#include <math.h>

#define HELP                                                                                       \
	"write 'NAME > LIMIT slower' ('resume > 5%% slower', 'phase resume_noirq > 10 ms "         \
	"slower', "                                                                                \
	"'any device > 20 ms slower'), 'NAME slower', 'failures > 0' or 'failures more'"

static const char *blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static bool word(const char **p, const char *w)
{
	const char *q = blanks(*p);
	size_t n = strlen(w);

	if (strncmp(q, w, n) != 0 || (q[n] && q[n] != ' ' && q[n] != '\t' && q[n] != '>'))
		return false;
	*p = blanks(q + n);
	return true;
}

/* "5%", "10 ms", "0.5 s": in percent, ms, J or W. */
static bool limit(struct ww_shift_cond *c, const char **p)
{
	static const struct {
		const char *unit, *in;
		double by;
	} units[] = {{"ms", "ms", 1},	{"s", "ms", 1000}, {"us", "ms", .001}, {"J", "J", 1},
		     {"mJ", "J", .001}, {"W", "W", 1},	   {"mW", "W", .001}};
	const char *end;
	double v = ww_strtod(*p, &end);

	if (end == *p || !isfinite(v) || v < 0)
		return false;
	*p = blanks(end);
	c->limit = v;
	if (**p == '%') {
		c->percent = true;
		*p = blanks(*p + 1);
		return true;
	}
	if (c->kind == WW_COND_FAILURES)
		return true;
	for (size_t i = 0; i < WW_COUNTOF(units); i++) {
		if (word(p, units[i].unit)) {
			c->limit = v * units[i].by;
			c->in = units[i].in;
			return true;
		}
	}
	return false;
}

static int failures(struct ww_shift_cond *c, const char *p, struct ww_error *err)
{
	if (word(&p, "more")) {
		c->kind = WW_COND_MORE_FAILURES;
	} else if (*p == '>') {
		p = blanks(p + 1);
		c->kind = WW_COND_FAILURES;
		if (!limit(c, &p))
			p = "?";
	} else {
		p = "?";
	}
	if (*p)
		return ww_fail(err, -EINVAL, "condition '%s': " HELP, c->text);
	return 0;
}

/* The words that end a condition, from its end. */
static bool cut_last(char *text, const char *w)
{
	size_t n = strlen(text), k = strlen(w);

	if (n <= k || strcmp(text + n - k, w) != 0)
		return false;
	if (text[n - k - 1] != ' ' && text[n - k - 1] != '%' && text[n - k - 1] != '\t')
		return false;
	for (n -= k; n && (text[n - 1] == ' ' || text[n - 1] == '\t');)
		n--;
	text[n] = 0;
	return true;
}

static bool cut_first(char *text, const char *w)
{
	const char *p = text;

	if (!word(&p, w))
		return false;
	memmove(text, p, strlen(p) + 1);
	return true;
}

static int parse_one(struct ww_shift_cond *c, struct ww_error *err)
{
	const char *p = c->text;
	char *text = c->subject, *more;

	if (word(&p, "failures") || word(&p, "failure"))
		return failures(c, p, err);
	if (cut_last(text, "faster") || cut_last(text, "less"))
		c->faster = true;
	else if (!cut_last(text, "slower") && !cut_last(text, "more"))
		return ww_fail(err, -EINVAL, "condition '%s': " HELP, c->text);
	c->median = cut_first(text, "median");
	more = strrchr(text, '>');
	if (more) {
		p = blanks(more + 1);
		if (!limit(c, &p) || *p)
			return ww_fail(err, -EINVAL,
				       "condition '%s': no limit such as 5%% or 10 ms after '>'",
				       c->text);
		while (more > text && (more[-1] == ' ' || more[-1] == '\t'))
			more--;
		*more = 0;
	}
	if (cut_last(text, "median"))
		c->median = true;
	if (strncmp(text, "any ", 4) == 0 && !ww_shift_kind(text + 4))
		return ww_fail(err, -EINVAL,
			       "condition '%s': 'any' is followed by device, phase, other, "
			       "latency, kernel or energy",
			       c->text);
	if (!*text)
		return ww_fail(err, -EINVAL, "condition '%s': " HELP, c->text);
	return 0;
}

static char *trimmed(const char *p, size_t n)
{
	while (n && (*p == ' ' || *p == '\t')) {
		p++;
		n--;
	}
	while (n && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return strndup(p, n);
}

int ww_shift_conds_parse(struct ww_shift *s, const char *text, struct ww_error *err)
{
	size_t most = 1;
	int rc;

	for (const char *p = text; *p; p++)
		most += *p == ',';
	s->cond = calloc(most, sizeof(*s->cond));
	if (!s->cond)
		return ww_fail_nomem(err);
	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		struct ww_shift_cond *c = &s->cond[s->conds++];

		c->text = trimmed(p, n);
		c->subject = trimmed(p, n);
		if (!c->text || !c->subject)
			return ww_fail_nomem(err);
		rc = parse_one(c, err);
		if (rc < 0)
			return rc;
		p += n;
		if (!*p)
			return 0;
	}
}

/* What people say, and where it is found. */
static const char *alias(const struct ww_shift *s, const char *name)
{
	static const char *const of[][3] = {{"resume", "resume_to_user", "kernel resume"},
					    {"suspend", "suspend_entry", "kernel suspend"}};

	for (size_t i = 0; i < WW_COUNTOF(of); i++) {
		if (strcmp(name, of[i][0]) != 0)
			continue;
		for (size_t k = 0; k < s->rows; k++)
			if (strcmp(s->row[k].name, of[i][1]) == 0)
				return of[i][1];
		return of[i][2];
	}
	return name;
}

/* "any device", "any phase", "device 1-1" for all of its callbacks, or a name in full. */
static bool matches(const struct ww_shift *s, size_t i, const char *subject)
{
	const struct ww_shift_row *r = &s->row[i];
	size_t n = strlen(subject);

	if (strncmp(subject, "any ", 4) == 0)
		return strcmp(r->kind, subject + 4) == 0;
	if (strcmp(r->name, subject) == 0)
		return true;
	return strcmp(r->kind, "device") == 0 && strncmp(r->name, subject, n) == 0 &&
	       r->name[n] == ' ' && strncmp(subject, "device ", 7) == 0;
}

static uint64_t needed(const struct ww_shift_row *r, double from)
{
	double width = (r->ci[1] - r->ci[0]) / 2,
	       n = (double)(r->n[0] < r->n[1] ? r->n[0] : r->n[1]);
	double k = width / fabs(from);

	if (!isfinite(k) || !isfinite(r->shift))
		return 0;
	n = ceil(n * k * k);
	return n < 1e6 ? (uint64_t)n : 0;
}

/* One row against a condition: value, upper, against of `now` and its state. */
static void judge_row(const struct ww_shift_cond *c, const struct ww_shift_row *r, bool one_of_many,
		      struct ww_shift_cond *now)
{
	double sign = c->faster ? -1 : 1, est = sign * r->shift;

	now->against = c->percent ? c->limit / 100 * r->median[0] : c->limit;
	now->value = c->median ? est : sign * r->ci[c->faster];
	now->upper = c->median ? est : sign * r->ci[!c->faster];
	now->state = WW_COND_UNDECIDED;
	if (isnan(est) || isnan(now->against))
		return;
	if (c->median)
		now->state = est > now->against ? WW_COND_MET : WW_COND_NOT_MET;
	else if (now->upper <= now->against)
		now->state = WW_COND_NOT_MET;
	/* One of many that were looked at must stand the correction for that, too. */
	else if (now->value > now->against && r->verdict != WW_SHIFT_BELOW_RESOLUTION &&
		 (!one_of_many || r->p_adjusted <= WW_SHIFT_ALPHA))
		now->state = WW_COND_MET;
}

static int rank_of(int state)
{
	return state == WW_COND_MET ? 2 : state == WW_COND_UNDECIDED ? 1 : 0;
}

static int same_unit(const struct ww_shift_cond *c, const struct ww_shift_row *r,
		     struct ww_error *err)
{
	if (!c->in || strcmp(c->in, r->unit) == 0)
		return 0;
	return ww_fail(err, -EINVAL, "condition '%s': its limit is in %s, but '%s' is in %s",
		       c->text, c->in, r->name, r->unit);
}

/* What its interval leaves of digits; where all are the same, a few. */
static double grain(const struct ww_shift_row *r)
{
	double width = (r->ci[1] - r->ci[0]) / 4, some = fabs(r->median[0]) / 100;

	if (isfinite(width) && width > 1e-9 * some)
		return width;
	return isfinite(some) ? fmax(r->resolution, some) : r->resolution;
}

static int judge_shift(struct ww_shift *s, struct ww_shift_cond *c, struct ww_error *err)
{
	const char *subject = alias(s, c->subject);
	bool many = strncmp(subject, "any ", 4) == 0;
	size_t found = 0;
	double best = -INFINITY;
	int rc = 0;

	for (size_t i = 0; i < s->rows; i++) {
		const struct ww_shift_row *r = &s->row[i];
		struct ww_shift_cond now = {.state = 0};
		double over;

		if (!matches(s, i, subject) || r->n[0] == 0 || r->n[1] == 0)
			continue;
		found++;
		if (rc == 0)
			rc = same_unit(c, r, err);
		judge_row(c, r, many, &now);
		over = (c->faster ? -r->shift : r->shift) - now.against;
		/* The worst is told: of those with the same state that which moved most. */
		if (c->of && (rank_of(now.state) < rank_of(c->state) ||
			      (now.state == c->state && !(over > best))))
			continue;
		best = over;
		c->state = now.state;
		c->value = now.value;
		c->upper = now.upper;
		c->against = now.against;
		c->of = r->name;
		c->unit = r->unit;
		c->grain = grain(r);
		c->needed = now.state == WW_COND_UNDECIDED ? needed(r, over) : 0;
	}
	if (!found && !many)
		return ww_fail(
			err, -ENODATA,
			"condition '%s': nothing is called '%s' in both; 'resumetime compare' "
			"without a condition lists the names",
			c->text, c->subject);
	/* Logs without a callback do not say that none was slower. */
	if (!found && strcmp(subject, "any device") == 0 && s->small_devices == 0)
		c->state = WW_COND_UNDECIDED;
	return rc;
}

static void judge_failures(const struct ww_shift *s, struct ww_shift_cond *c)
{
	const struct ww_shift_side *a = &s->side[0], *b = &s->side[1];
	double rate[2] = {(double)a->failures / (double)a->judged,
			  (double)b->failures / (double)b->judged};

	c->unit = "";
	c->against = c->limit;
	if (b->judged == 0 || (c->kind == WW_COND_MORE_FAILURES && a->judged == 0)) {
		c->state = WW_COND_UNDECIDED;
	} else if (c->kind == WW_COND_MORE_FAILURES) {
		c->value = s->failures_p;
		c->against = WW_SHIFT_ALPHA;
		c->state = !(rate[1] > rate[0])		     ? WW_COND_NOT_MET
			   : s->failures_p <= WW_SHIFT_ALPHA ? WW_COND_MET
							     : WW_COND_UNDECIDED;
	} else if (c->percent) {
		c->unit = "%";
		c->value = 100 * b->rate_ci[0];
		c->upper = 100 * b->rate_ci[1];
		c->state = 100 * b->rate_ci[0] > c->limit    ? WW_COND_MET
			   : 100 * b->rate_ci[1] <= c->limit ? WW_COND_NOT_MET
							     : WW_COND_UNDECIDED;
	} else {
		c->value = (double)b->failures;
		c->state = c->value > c->limit ? WW_COND_MET : WW_COND_NOT_MET;
	}
}

int ww_shift_conds_judge(struct ww_shift *s, struct ww_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->conds && rc == 0; i++) {
		if (s->cond[i].kind == WW_COND_SHIFT)
			rc = judge_shift(s, &s->cond[i], err);
		else
			judge_failures(s, &s->cond[i]);
	}
	return rc;
}
