/* SPDX-License-Identifier: MIT */
/*
 * What the DUT told of each cycle: the first group of information lines after it, counters as
 * what they grew by.
 */
#include "analysis/resume.h"
#include "base/str.h"

/* Told as they are, or (sum) as what was added since they were told before. */
static const struct told_key {
	const char *key;
	bool sum;
} keys[] = {
	{"sleep_mode", false},	  {"wakeup_irq", false},	 {"wakeup_sources", false},
	{"wake_lock", false},	  {"hw_sleep_us", false},	 {"hw_sleep_total_us", true},
	{"s2idle_states", false}, {"s2idle_residency_us", true}, {"s2idle_cpu_us", true},
};

static int put(struct ww_cycle_out *o, const char *key, const char *value, struct ww_error *err)
{
	struct ww_told *t;
	int rc;

	if (!value || !*value)
		return 0;
	rc = ww_grow(&o->told, &o->told_cap, o->told_n, sizeof(*o->told), err);
	if (rc < 0)
		return rc;
	t = &o->told[o->told_n];
	*t = (struct ww_told){strdup(key), strdup(value)};
	if (!t->key || !t->value) {
		free(t->key);
		free(t->value);
		return ww_fail_nomem(err);
	}
	o->told_n++;
	return 0;
}

/* Value of NAME in "NAME:VALUE NAME:VALUE", its length in n; NULL none. */
static const char *of_name(const char *text, const char *name, size_t *n)
{
	size_t len = strlen(name);

	for (const char *p = text; p && *p; p += *p == ' ') {
		size_t word = strcspn(p, " ");

		if (word > len && p[len] == ':' && strncmp(p, name, len) == 0) {
			*n = word - len - 1;
			return p + len + 1;
		}
		p += word;
	}
	return NULL;
}

static int64_t count(const char *text, const char *name)
{
	size_t n;
	const char *p = of_name(text, name, &n);

	return p ? strtoll(p, NULL, 10) : 0;
}

static int put_count(struct ww_cycle_out *o, const char *key, int64_t v, struct ww_error *err)
{
	struct ww_str s = {0};
	int rc;

	ww_str_addf(&s, "%lld", (long long)v);
	rc = s.bad ? ww_fail_nomem(err) : put(o, key, s.p, err);
	ww_str_free(&s);
	return rc;
}

static int put_name(struct ww_cycle_out *o, const char *stats, const char *name,
		    struct ww_error *err)
{
	struct ww_str s = {0};
	size_t n;
	const char *p = of_name(stats, name, &n);
	int rc;

	if (!p)
		return 0;
	ww_str_addn(&s, p, n);
	rc = s.bad ? ww_fail_nomem(err) : put(o, name, s.p, err);
	ww_str_free(&s);
	return rc;
}

/* suspend_stats counts all attempts since the boot. */
static int attempts(struct ww_cycle_out *o, const char *now, const char *then, struct ww_error *err)
{
	static const char *const steps[] = {
		"failed_freeze",       "failed_prepare",       "failed_suspend",
		"failed_suspend_late", "failed_suspend_noirq", "failed_resume",
		"failed_resume_early", "failed_resume_noirq",
	};
	static const char *const last[] = {"last_failed_dev", "last_failed_errno",
					   "last_failed_step"};
	int64_t failed = count(now, "fail") - count(then, "fail");
	int rc = put_count(o, "attempts_ok", count(now, "success") - count(then, "success"), err);
	bool any = failed > 0;

	if (rc >= 0)
		rc = put_count(o, "attempts_failed", failed, err);
	for (size_t i = 0; rc >= 0 && i < WW_COUNTOF(steps); i++) {
		int64_t n = count(now, steps[i]) - count(then, steps[i]);

		any |= n > 0;
		if (n > 0)
			rc = put_count(o, steps[i], n, err);
	}
	for (size_t i = 0; rc >= 0 && any && i < WW_COUNTOF(last); i++)
		rc = put_name(o, now, last[i], err);
	return rc;
}

/* The first value of a key in [from, to). */
static const char *first_of(const struct ww_scan *s, const char *key, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (strcmp(s->info[i].key, key) == 0)
			return s->info[i].value;
	return NULL;
}

static int one(const struct ww_scan *s, struct ww_cycle_out *o, int64_t began, size_t from,
	       size_t to, struct ww_error *err)
{
	const char *stats = first_of(s, "suspend_stats", from, to);
	/* Far back are only those that are told at all. */
	const char *before = stats ? ww_scan_info(s, "suspend_stats", began - 1) : NULL;
	const char *boot = first_of(s, "boot_id", from, to);
	const char *old_boot = boot ? ww_scan_info(s, "boot_id", began - 1) : NULL;
	bool anew = boot && old_boot && strcmp(boot, old_boot) != 0;
	int rc = 0;

	if (stats && before && !anew)
		rc = attempts(o, stats, before, err);
	for (size_t i = 0; rc >= 0 && i < WW_COUNTOF(keys); i++) {
		const char *now = first_of(s, keys[i].key, from, to);
		const char *then =
			now && keys[i].sum ? ww_scan_info(s, keys[i].key, began - 1) : NULL;

		if (now && !keys[i].sum)
			rc = put(o, keys[i].key, now, err);
		else if (now && then && !anew)
			rc = put_count(o, keys[i].key,
				       strtoll(now, NULL, 10) - strtoll(then, NULL, 10), err);
	}
	return rc;
}

static int64_t began(const struct ww_resume *r, size_t i)
{
	const struct ww_interval *e;

	if (i >= r->cycles)
		return WW_TIME_MAX;
	e = r->cycle[i].c.event;
	if (ww_iv_ok(e[WW_EV_REQUEST]))
		return e[WW_EV_REQUEST].lo_ns;
	return ww_iv_ok(e[WW_EV_LAST_BEAT]) ? e[WW_EV_LAST_BEAT].lo_ns : WW_TIME_MAX;
}

/* Is it the line that opens a group of one that came back, or was refused? */
static bool opens(const struct ww_info_line *line)
{
	return strcmp(line->key, "info") == 0 &&
	       (strcmp(line->value, "resume") == 0 || strcmp(line->value, "refused") == 0);
}

int ww_resume_told(struct ww_resume *r, struct ww_error *err)
{
	const struct ww_scan *s = &r->scan;
	size_t at = 0;
	int rc = 0;

	for (size_t i = 0; rc >= 0 && i < r->cycles; i++) {
		int64_t from = began(r, i), to = began(r, i + 1);
		size_t end;

		while (at < s->infos && (s->info[at].t.lo_ns < from || !opens(&s->info[at])) &&
		       s->info[at].t.lo_ns < to)
			at++;
		for (end = at; end < s->infos && s->info[end].t.lo_ns < to; end++)
			if (end > at && strcmp(s->info[end].key, "info") == 0)
				break;
		if (end > at)
			rc = one(s, &r->cycle[i], from, at, end, err);
	}
	return rc;
}

int ww_resume_cycle_info_at(const struct ww_resume *r, size_t i, size_t j, const char **key,
			    const char **value)
{
	if (i >= r->cycles || j >= r->cycle[i].told_n)
		return 0;
	*key = r->cycle[i].told[j].key;
	*value = r->cycle[i].told[j].value;
	return 1;
}

/* What was told last of a key by then, NULL nothing. */
static const struct ww_info_line *told_by(const struct ww_scan *s, const char *key, int64_t at_ns)
{
	const struct ww_info_line *last = NULL;

	for (size_t i = 0; i < s->infos && s->info[i].t.lo_ns <= at_ns; i++)
		if (strcmp(s->info[i].key, key) == 0)
			last = &s->info[i];
	return last;
}

/* It booted, or its heartbeat was started, after from: what is told later may be of that. */
static bool began_anew(const struct ww_scan *s, const struct ww_trace *t, int64_t from, int64_t to)
{
	const struct ww_mark *m;

	for (size_t i = 0; i < s->infos; i++)
		if (s->info[i].t.lo_ns > from && s->info[i].t.lo_ns <= to &&
		    strcmp(s->info[i].key, "info") == 0 && strcmp(s->info[i].value, "start") == 0)
			return true;
	for (size_t i = 0; i < s->happenings; i++)
		if (s->happened[i].reset && s->happened[i].after.lo_ns > from &&
		    s->happened[i].after.lo_ns <= to)
			return true;
	for (size_t i = 0; (m = ww_trace_mark(t, i)) != NULL; i++)
		if (m->t.lo_ns > from && m->t.lo_ns <= to &&
		    strcmp(m->kind, WW_MARK_DUT_RESET) == 0)
			return true;
	return false;
}

bool ww_scan_booted(const struct ww_scan *s, const struct ww_trace *t, int64_t from, int64_t to)
{
	const struct ww_info_line *before = told_by(s, "boot_id", from), *after;

	after = told_by(s, "boot_id", to);
	return before && strcmp(before->value, after->value) != 0 &&
	       !began_anew(s, t, before->t.lo_ns, from);
}
